//! A forest of red tetrahedra over a coarse lattice, and the conforming mesh of its leaves ([Bri03] 5.3).
//!
//! Only red tetrahedra are stored. A leaf remembers which of its edges have midpoints; its green family follows from
//! that and is made when the mesh is read off, so "removing a green family and refining its red parent" is merely
//! refining a leaf. Invariants after every public call: the midpoint of an edge is a node exactly if the edge is split in all
//! tetrahedra around it, and every leaf's mask is one of the allowed classes. The forest stays usable: a simulation may
//! refine it further at any time.

use super::green::{ALL, Cut, EDGES, children, closed, cut, red_children};
use super::keys::{COORDINATE_LIMIT, KeyMap, NONE, Place, key};
use super::{around_edge, centre, half_edge, midpoint};
use crate::MeshingError;
use billow_geom::Aabb;
use billow_num::Vec3;

/// A red tetrahedron.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Red {
    nodes: [u32; 4],
    /// First of eight children, or [`NONE`].
    children: u32,
    level: u8,
    /// Edges with midpoints; meaningful for leaves.
    mask: u8,
    /// Must be refined, and may find finer midpoints on its border when it is.
    forced: bool,
}

/// A lattice node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Node {
    at: Place,
    /// The level whose lattice first has this node.
    level: u8,
    /// Ends of the edge it is the midpoint of; [`NONE`] for nodes of level 0.
    parents: [u32; 2],
}

/// A refinable body-centred cubic lattice over a box.
#[derive(Clone, Debug)]
pub struct RedGreen {
    origin: Vec3,
    unit: f64,
    depth: u32,
    nodes: Vec<Node>,
    node_at: KeyMap,
    reds: Vec<Red>,
    red_at: KeyMap,
    /// Tetrahedra to look at again, by level.
    pending: Vec<Vec<u32>>,
}

/// The conforming mesh of a forest's leaves.
#[derive(Clone, Debug, Default)]
pub struct LeafMesh {
    /// Corners of each tetrahedron, positively oriented; numbers of forest nodes.
    pub tets: Vec<[u32; 4]>,
    /// The red tetrahedron each comes from: itself, or the parent of its green family.
    pub red: Vec<u32>,
}

impl RedGreen {
    /// A lattice with long edges of length `cell` [m] around `domain`, refinable `depth` times. Tetrahedra are left out
    /// when `phi` at all four corners exceeds their longest edge: if φ is a distance they lie outside ([Bri03] 5.4).
    ///
    /// # Errors
    /// If the domain is not finite or needs more coordinates than there are.
    pub fn new(domain: Aabb, cell: f64, depth: u32, phi: impl Fn(Vec3) -> f64) -> Result<Self, MeshingError> {
        let size = domain.size();
        if !(cell > 0.0 && cell.is_finite() && size.is_finite() && domain.min.is_finite()) {
            return Err(MeshingError::Domain {
                min: domain.min.to_array(),
                max: domain.max.to_array(),
                cell,
            });
        }
        let s = half_edge(depth.min(18), 0);
        // A whole cell of margin on every side, so that nodes near the surface have complete stars.
        let cells = (size / cell).to_array().map(|n| n.ceil().max(0.0) + 3.0);
        let most = f64::from(COORDINATE_LIMIT / (2 * s) - 2);
        if depth > 18 || cells.iter().any(|n| *n > most) {
            return Err(MeshingError::TooFine { cells, depth, most });
        }
        let cells = cells.map(|n| n as i32);
        let extent = Vec3::from_array(cells.map(f64::from)) * cell;
        let mut forest = Self {
            origin: domain.centre() - 0.5 * extent,
            unit: cell / f64::from(2 * s),
            depth,
            nodes: Vec::new(),
            node_at: KeyMap::default(),
            reds: Vec::new(),
            red_at: KeyMap::default(),
            pending: vec![Vec::new(); depth as usize + 1],
        };
        forest.fill_box(cells, s, phi);
        Ok(forest)
    }

    /// Number of nodes, those of discarded tetrahedra excepted.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Number of red tetrahedra, refined ones included.
    pub fn red_count(&self) -> usize {
        self.reds.len()
    }

    /// Position of a node [m].
    #[inline]
    pub fn position(&self, node: u32) -> Vec3 {
        let at = self.nodes[node as usize].at.map(f64::from);
        self.origin + self.unit * Vec3::from_array(at)
    }

    /// Positions of all nodes from `first` on [m].
    pub fn positions_from(&self, first: usize) -> Vec<Vec3> {
        (first..self.nodes.len()).map(|n| self.position(n as u32)).collect()
    }

    /// Length of the long edges of a level [m].
    pub fn edge_length(&self, level: u32) -> f64 {
        self.unit * f64::from(2 * half_edge(self.depth, level))
    }

    /// How often the lattice may be refined.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Corners of a red tetrahedron.
    #[inline]
    pub fn corners(&self, red: u32) -> [u32; 4] {
        self.reds[red as usize].nodes
    }

    /// Refinement level of a red tetrahedron.
    #[inline]
    pub fn level(&self, red: u32) -> u32 {
        u32::from(self.reds[red as usize].level)
    }

    /// Whether a red tetrahedron has no red children.
    #[inline]
    pub fn is_leaf(&self, red: u32) -> bool {
        self.reds[red as usize].children == NONE
    }

    /// Whether a leaf is cut into a green family.
    pub fn is_green(&self, red: u32) -> bool {
        self.is_leaf(red) && self.reds[red as usize].mask != 0
    }

    /// The eight red children of a refined tetrahedron.
    pub fn children(&self, red: u32) -> Option<[u32; 8]> {
        let first = self.reds[red as usize].children;
        (first != NONE).then(|| std::array::from_fn(|k| first + k as u32))
    }

    /// The node halfway between two others, if there is one.
    pub fn midpoint(&self, a: u32, b: u32) -> Option<u32> {
        let m = midpoint(self.nodes[a as usize].at, self.nodes[b as usize].at);
        let n = self.node_at.get(key(m));
        (n != NONE).then_some(n)
    }

    /// Refines each of `reds` that still is a leaf above the finest level into eight red children, and whatever
    /// else that entails.
    pub fn refine(&mut self, reds: impl IntoIterator<Item = u32>) {
        for red in reds {
            if self.is_leaf(red) && self.level(red) < self.depth {
                self.refine_red(red);
                self.settle();
            }
        }
    }

    /// Bisects the edge between nodes `a` and `b` of the leaf mesh, given a red tetrahedron it belongs to. An edge of a
    /// green family is bisected by refining the red parent. False if the finest level is reached.
    pub fn bisect(&mut self, red: u32, a: u32, b: u32) -> bool {
        if !self.is_leaf(red) {
            return true;
        }
        if self.level(red) >= self.depth {
            return false;
        }
        let nodes = self.corners(red);
        let edge = EDGES.iter().find(|e| {
            let ends = e.map(|c| nodes[c]);
            ends == [a, b] || ends == [b, a]
        });
        match edge {
            Some(_) if self.midpoint(a, b).is_some() => {}
            Some(_) => {
                self.split_edge(a, b, self.level(red));
                self.settle();
            }
            None => {
                self.refine([red]);
                // An edge on the parent's border may live on among its red children.
                let has_both = |c: &u32| [a, b].iter().all(|n| self.corners(*c).contains(n));
                if let Some(child) = self.children(red).and_then(|c| c.into_iter().find(has_both)) {
                    return self.bisect(child, a, b);
                }
            }
        }
        true
    }

    /// The conforming mesh: red leaves and green families.
    pub fn leaf_mesh(&self) -> LeafMesh {
        let mut mesh = LeafMesh::default();
        for (r, red) in self.reds.iter().enumerate() {
            if red.children != NONE {
                continue;
            }
            let class = cut(red.mask).unwrap_or(Cut::Whole);
            let mid = |e: usize| {
                let [a, b] = EDGES[e].map(|c| red.nodes[c]);
                self.midpoint(a, b).unwrap_or(NONE)
            };
            children(class, red.nodes, mid, |tet| {
                mesh.tets.push(tet);
                mesh.red.push(r as u32);
            });
        }
        mesh
    }

    /// The tetrahedra of level 0: four around each inner face of the cubic cells.
    fn fill_box(&mut self, cells: [i32; 3], s: i32, phi: impl Fn(Vec3) -> f64) {
        let longest = f64::from(2 * s) * self.unit;
        let mut values = Vec::new();
        for z in 0..=cells[2] {
            for y in 0..=cells[1] {
                for x in 0..=cells[0] {
                    for axis in 0..3 {
                        let (i, j) = ((axis + 1) % 3, (axis + 2) % 3);
                        let cell = [x, y, z];
                        let inner = cell[axis] > 0 && cell[axis] < cells[axis];
                        if !inner || cell[i] == cells[i] || cell[j] == cells[j] {
                            continue;
                        }
                        let corner = cell.map(|c| 2 * s * c);
                        let offset = |di: i32, dj: i32, dk: i32| {
                            let mut p = corner;
                            (p[i], p[j], p[axis]) = (p[i] + di, p[j] + dj, p[axis] + dk);
                            p
                        };
                        let ring = [
                            offset(0, 0, 0),
                            offset(2 * s, 0, 0),
                            offset(2 * s, 2 * s, 0),
                            offset(0, 2 * s, 0),
                        ];
                        let (below, above) = (offset(s, s, -s), offset(s, s, s));
                        for k in 0..4 {
                            let corners = [ring[k], ring[(k + 1) % 4], below, above];
                            self.add_coarse(corners, longest, &mut values, &phi);
                        }
                    }
                }
            }
        }
    }

    /// Adds a tetrahedron of level 0 unless it is surely outside.
    fn add_coarse(
        &mut self,
        mut corners: [Place; 4],
        longest: f64,
        values: &mut Vec<f64>,
        phi: &impl Fn(Vec3) -> f64,
    ) {
        let nodes = corners.map(|at| self.node(at, 0, [NONE; 2]));
        while values.len() < self.nodes.len() {
            values.push(phi(self.position(values.len() as u32)));
        }
        if nodes.iter().all(|n| values[*n as usize] > longest) {
            return;
        }
        let mut nodes = nodes;
        if !positive(corners) {
            nodes.swap(2, 3);
            corners.swap(2, 3);
        }
        self.add_red(nodes, 0);
    }

    /// The node at a place, made if need be.
    fn node(&mut self, at: Place, level: u32, parents: [u32; 2]) -> u32 {
        let found = self.node_at.get(key(at));
        if found != NONE {
            return found;
        }
        let n = self.nodes.len() as u32;
        self.nodes.push(Node { at, level: level as u8, parents });
        self.node_at.insert(key(at), n);
        n
    }

    fn add_red(&mut self, nodes: [u32; 4], level: u32) -> u32 {
        let r = self.reds.len() as u32;
        let at = centre(nodes.map(|n| self.nodes[n as usize].at));
        self.red_at.insert(key(at), r);
        self.reds.push(Red { nodes, children: NONE, level: level as u8, mask: 0, forced: false });
        r
    }

    /// Works off the pending lists: closes masks, refines what must be refined. Coarse levels come first: whatever a
    /// split forces in the level above exists before anything finer is split.
    fn settle(&mut self) {
        while let Some(red) = self.pending.iter_mut().find_map(Vec::pop) {
            if !self.is_leaf(red) {
                continue;
            }
            let Red { nodes, level, mask, forced, .. } = self.reds[red as usize];
            let shut = closed(mask);
            if forced || shut == ALL {
                self.refine_red(red);
                continue;
            }
            for e in 0..6 {
                if (shut & !mask) >> e & 1 == 1 {
                    let [a, b] = EDGES[e].map(|c| nodes[c]);
                    self.split_edge(a, b, u32::from(level));
                }
            }
        }
    }

    /// Replaces a leaf by its eight children.
    fn refine_red(&mut self, red: u32) {
        let Red { nodes, level, forced, .. } = self.reds[red as usize];
        let level = u32::from(level);
        let mids = EDGES.map(|e| self.split_edge(nodes[e[0]], nodes[e[1]], level));
        self.reds[red as usize].children = self.reds.len() as u32;
        for child in red_children(nodes, mids) {
            let c = self.add_red(child, level + 1);
            if forced {
                let mut mask = 0;
                for (e, ends) in EDGES.iter().enumerate() {
                    mask |= u8::from(self.midpoint(child[ends[0]], child[ends[1]]).is_some()) << e;
                }
                self.reds[c as usize].mask = mask;
                if mask != 0 {
                    self.pending[level as usize + 1].push(c);
                }
            }
        }
    }

    /// The midpoint of an edge of the lattice of `level`. If it is new, the tetrahedra around the edge learn of it, and
    /// coarser leaves on whose border the edge lies are to be refined.
    fn split_edge(&mut self, a: u32, b: u32, level: u32) -> u32 {
        let (pa, pb) = (self.nodes[a as usize].at, self.nodes[b as usize].at);
        let at = midpoint(pa, pb);
        let found = self.node_at.get(key(at));
        if found != NONE {
            return found;
        }
        let n = self.node(at, level + 1, [a, b]);
        let s = half_edge(self.depth, level);
        around_edge(pa, pb, s, |c| {
            let r = self.red_at.get(key(c));
            if r == NONE {
                return;
            }
            let red = &mut self.reds[r as usize];
            let e = EDGES.iter().position(|e| {
                let ends = e.map(|c| red.nodes[c]);
                ends == [a, b] || ends == [b, a]
            });
            if let (Some(e), NONE) = (e, red.children) {
                red.mask |= 1 << e;
                if closed(red.mask) != red.mask || red.mask == ALL {
                    self.pending[level as usize].push(r);
                }
            }
        });
        if level > 0 {
            self.force_coarser(a, b, level);
        }
        n
    }

    /// Marks the leaves of the level above whose border contains the edge from `a` to `b` of `level`.
    fn force_coarser(&mut self, a: u32, b: u32, level: u32) {
        // One end at least is new in this level: the midpoint of a coarser edge.
        let (new, other) = if u32::from(self.nodes[b as usize].level) == level { (b, a) } else { (a, b) };
        let ends = self.nodes[new as usize].parents;
        let Node { level: other_level, parents, .. } = self.nodes[other as usize];
        // The coarser tetrahedron contains the other end if it has it as a corner, or both ends of its edge.
        let support = if u32::from(other_level) == level { parents } else { [other; 2] };
        let [pa, pb] = ends.map(|n| self.nodes[n as usize].at);
        let s = half_edge(self.depth, level - 1);
        around_edge(pa, pb, s, |c| {
            let r = self.red_at.get(key(c));
            if r != NONE {
                let red = &mut self.reds[r as usize];
                if red.children == NONE && support.iter().all(|n| red.nodes.contains(n)) {
                    red.forced = true;
                    self.pending[level as usize - 1].push(r);
                }
            }
        });
    }
}

/// Whether four places are positively oriented.
fn positive([a, b, c, d]: [Place; 4]) -> bool {
    let v = |p: Place| -> [i64; 3] { std::array::from_fn(|k| i64::from(p[k]) - i64::from(a[k])) };
    let (u, v, w) = (v(b), v(c), v(d));
    let minor = |i: usize, j: usize| v[i] * w[j] - v[j] * w[i];
    u[0] * minor(1, 2) + u[1] * minor(2, 0) + u[2] * minor(0, 1) > 0
}
