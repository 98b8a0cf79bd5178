//! Choosing the tetrahedra to keep ([Bri03] 5.4).
//!
//! Nodes well inside are *enveloped*, all tetrahedra at an enveloped node are kept, and repairs envelope more nodes until
//! the boundary is a manifold and no edge inside joins two of its nodes. Adding nodes can only end: there are finitely many.
//! A node at the border of the lattice cannot be enveloped; the enveloped nodes around it are given up instead, for
//! good.

mod boundary;

pub(crate) use boundary::{Boundary, Faults};

use crate::sizing::SPARE_LEVELS;
use crate::{LeafMesh, MeshingError, RedGreen};
use billow_geom::{TetMesh, TriMesh};
use billow_levelset::Collider;
use billow_num::par::Incidence;
use billow_num::{Vec3, par};

/// How tetrahedra are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Selection {
    /// Least part of every edge at an enveloped node that lies inside; 0.25 by default, between 0 and 1. Raising it
    /// shrinks the candidate mesh [-].
    pub inside: f64,
    /// How often places that break the conditions are refined before nodes are added by force; [`SPARE_LEVELS`] by default.
    pub refinements: u32,
    /// Whether boundary nodes with three boundary faces are enveloped, which avoids triangles with angles above 120°;
    /// true by default.
    pub remove_degree_three: bool,
}

impl Default for Selection {
    fn default() -> Self {
        Self { inside: 0.25, refinements: SPARE_LEVELS, remove_degree_three: true }
    }
}

/// What selection did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SelectionReport {
    /// Edges bisected because the first choice broke a condition.
    pub bisected: usize,
    /// Passes that added nodes.
    pub passes: usize,
    /// Nodes added by repairs.
    pub added: usize,
    /// Nodes given up because a neighbour at the border of the lattice could not be enveloped.
    pub given_up: usize,
    /// Nodes inside the solid that no kept tetrahedron has: parts thinner than the lattice.
    pub lost_nodes: usize,
    /// Nodes next to a part of the surface that is far from every kept tetrahedron: sheets and threads that slip through the
    /// lattice without a node inside.
    pub unresolved: usize,
    /// Where one of the lost or unresolved nodes is [m].
    pub lost_at: Option<[f64; 3]>,
}

/// The kept tetrahedra before they are moved.
#[derive(Clone, Debug, Default)]
pub struct Candidate {
    /// The kept part of the lattice.
    pub mesh: TetMesh,
    /// Outward faces of the boundary.
    pub boundary: Vec<[u32; 3]>,
    /// Node of the forest for each node.
    pub nodes: Vec<u32>,
    /// Red tetrahedron of the forest for each tetrahedron.
    pub red: Vec<u32>,
}

/// Passes after which repairs must have ended; each adds a node at least, and two are typical.
const MOST_PASSES: usize = 200;

/// The leaves of a forest with φ at their nodes.
pub(crate) struct Background {
    pub(crate) leaves: LeafMesh,
    pub(crate) phi: Vec<f64>,
    pub(crate) stars: Incidence,
}

impl Background {
    fn new(forest: &RedGreen, solid: &dyn Collider, mut phi: Vec<f64>) -> Result<Self, MeshingError> {
        let first = phi.len();
        phi.extend(par::map(forest.node_count() - first, |k| {
            solid.phi(forest.position((first + k) as u32), 0.0)
        }));
        if let Some(bad) = (first..phi.len()).find(|n| !phi[*n].is_finite()) {
            return Err(MeshingError::NotFinite { at: forest.position(bad as u32).to_array() });
        }
        let leaves = forest.leaf_mesh();
        let stars = Incidence::new(phi.len(), &leaves.tets)
            .map_err(|e| MeshingError::Topology { problem: e.to_string() })?;
        Ok(Self { leaves, phi, stars })
    }

    /// Nodes inside whose every edge has at least the part `inside` within the surface.
    fn enveloped(&self, inside: f64) -> Vec<bool> {
        par::map(self.phi.len(), |n| {
            let phi = self.phi[n];
            let deep = |m: u32| {
                let other = self.phi[m as usize];
                other <= 0.0 || phi / (phi - other) >= inside
            };
            let star = self.stars.of(n);
            phi < 0.0
                && !star.is_empty()
                && star.iter().all(|&(t, _)| self.leaves.tets[t as usize].iter().all(|m| deep(*m)))
        })
    }

    /// Whether every face at a node has two tetrahedra.
    fn is_complete(&self, n: u32) -> bool {
        let mut faces: Vec<[u32; 2]> = Vec::new();
        for &(t, corner) in self.stars.of(n as usize) {
            let tet = self.leaves.tets[t as usize];
            let others = [1, 2, 3].map(|k| tet[(corner as usize + k) % 4]);
            for [a, b] in [[0, 1], [1, 2], [2, 0]] {
                faces.push([others[a].min(others[b]), others[a].max(others[b])]);
            }
        }
        faces.sort_unstable();
        faces.chunk_by(|a, b| a == b).all(|pair| pair.len() == 2)
    }
}

/// Chooses tetrahedra of `forest` for `solid`, refining it where the choice would be unsound.
///
/// # Errors
/// If nothing is inside, or φ is not finite, or the conditions cannot be met.
pub fn select(
    forest: &mut RedGreen,
    solid: &dyn Collider,
    config: &Selection,
) -> Result<(Candidate, SelectionReport), MeshingError> {
    if !(config.inside >= 0.0 && config.inside < 1.0) {
        let allowed = "at least 0 and below 1";
        return Err(MeshingError::Setting { name: "inside", value: config.inside, allowed });
    }
    let mut report = SelectionReport::default();
    let mut background = Background::new(forest, solid, Vec::new())?;
    let mut enveloped = background.enveloped(config.inside);
    for _ in 0..config.refinements {
        let bisected = refine_faults(forest, &background, &enveloped);
        if bisected == 0 {
            break;
        }
        report.bisected += bisected;
        background = Background::new(forest, solid, std::mem::take(&mut background.phi))?;
        enveloped = background.enveloped(config.inside);
    }
    if !enveloped.iter().any(|e| *e) {
        let deepest = background.phi.iter().copied().fold(f64::INFINITY, f64::min);
        return Err(MeshingError::Empty { finest: forest.edge_length(forest.depth()), deepest });
    }
    let boundary = repair(&background, &mut enveloped, config, &mut report)?;
    if boundary.faces.is_empty() {
        let problem = "no boundary is left".into();
        return Err(MeshingError::Topology { problem });
    }
    let candidate = compact(forest, &background, &enveloped, &boundary);
    report_losses(forest, &background, &candidate, &mut report);
    Ok((candidate, report))
}

/// Bisects all edges at pinched nodes and all bridges ([Bri03] 5.4, first pass). Returns how many.
fn refine_faults(forest: &mut RedGreen, background: &Background, enveloped: &[bool]) -> usize {
    let Background { leaves, stars, .. } = background;
    let faults = Boundary::new(&leaves.tets, stars, enveloped).faults(&leaves.tets, stars, enveloped);
    let mut bisected = 0;
    for &n in &faults.pinched {
        for &(t, corner) in stars.of(n as usize) {
            for k in 1..4 {
                let other = leaves.tets[t as usize][(corner as usize + k) % 4];
                bisected += usize::from(forest.bisect(leaves.red[t as usize], n, other));
            }
        }
    }
    for &[a, b] in &faults.bridges {
        let holder = stars.of(a as usize).iter().find(|(t, _)| leaves.tets[*t as usize].contains(&b));
        if let Some(&(t, _)) = holder {
            bisected += usize::from(forest.bisect(leaves.red[t as usize], a, b));
        }
    }
    bisected
}

/// Envelopes nodes until nothing is wrong.
fn repair(
    background: &Background,
    enveloped: &mut [bool],
    config: &Selection,
    report: &mut SelectionReport,
) -> Result<Boundary, MeshingError> {
    let Background { leaves, stars, phi } = background;
    let mut banned = vec![false; phi.len()];
    let mut faults = Faults::default();
    while report.passes < MOST_PASSES {
        let boundary = Boundary::new(&leaves.tets, stars, enveloped);
        faults = boundary.faults(&leaves.tets, stars, enveloped);
        let mut wanted = faults.pinched.clone();
        let lower = |[a, b]: &[u32; 2]| if phi[*b as usize] < phi[*a as usize] { *b } else { *a };
        wanted.extend(faults.bridges.iter().map(lower));
        if wanted.is_empty() && config.remove_degree_three {
            let degrees = boundary.degrees();
            wanted.extend((0..degrees.len()).filter(|k| degrees[*k] == 3).map(|k| boundary.nodes[k]));
            // Corners that cannot be enveloped stay: they are ugly, not wrong.
            wanted.retain(|n| !banned[*n as usize] && background.is_complete(*n));
        }
        wanted.sort_unstable();
        wanted.dedup();
        if wanted.is_empty() {
            return Ok(boundary);
        }
        report.passes += 1;
        for n in wanted {
            if banned[n as usize] || !background.is_complete(n) {
                report.given_up += give_up_around(background, n, enveloped, &mut banned);
            } else if !enveloped[n as usize] {
                enveloped[n as usize] = true;
                report.added += 1;
            }
        }
    }
    let problem = format!(
        "after {MOST_PASSES} passes {} boundary nodes are pinched and {} edges bridge the inside",
        faults.pinched.len(),
        faults.bridges.len()
    );
    Err(MeshingError::Topology { problem })
}

/// Takes the neighbours of a node out of the enveloped set for good.
fn give_up_around(background: &Background, n: u32, enveloped: &mut [bool], banned: &mut [bool]) -> usize {
    banned[n as usize] = true;
    let mut given_up = usize::from(std::mem::take(&mut enveloped[n as usize]));
    for &(t, _) in background.stars.of(n as usize) {
        for m in background.leaves.tets[t as usize] {
            if std::mem::take(&mut enveloped[m as usize]) {
                banned[m as usize] = true;
                given_up += 1;
            }
        }
    }
    given_up
}

/// Numbers kept nodes in the order of the forest and kept tetrahedra in the order of the leaves.
fn compact(forest: &RedGreen, background: &Background, enveloped: &[bool], boundary: &Boundary) -> Candidate {
    const ABSENT: u32 = u32::MAX;
    let leaves = &background.leaves;
    let kept: Vec<usize> =
        (0..leaves.tets.len()).filter(|t| leaves.tets[*t].iter().any(|n| enveloped[*n as usize])).collect();
    let mut number = vec![ABSENT; background.phi.len()];
    kept.iter().flat_map(|t| leaves.tets[*t]).for_each(|n| number[n as usize] = 0);
    let mut nodes = Vec::new();
    for n in 0..number.len() {
        if number[n] == 0 {
            number[n] = nodes.len() as u32;
            nodes.push(n as u32);
        }
    }
    let renamed = |n: u32| number[n as usize];
    Candidate {
        mesh: TetMesh {
            positions: nodes.iter().map(|n| forest.position(*n)).collect(),
            tets: kept.iter().map(|t| leaves.tets[*t].map(renamed)).collect(),
        },
        boundary: boundary.faces.iter().map(|f| f.map(renamed)).collect(),
        red: kept.iter().map(|t| leaves.red[*t]).collect(),
        nodes,
    }
}

/// Steps within which the surface next to a node has kept tetrahedra if it is meshed at all.
const REACH: u8 = 3;

/// Counts nodes inside that no kept tetrahedron has, and nodes by a part of the surface that none is near.
fn report_losses(
    forest: &RedGreen,
    background: &Background,
    candidate: &Candidate,
    report: &mut SelectionReport,
) {
    let Background { leaves, phi, .. } = background;
    let mut steps = vec![u8::MAX; phi.len()];
    candidate.nodes.iter().for_each(|n| steps[*n as usize] = 0);
    for step in 0..REACH {
        for tet in &leaves.tets {
            if tet.iter().any(|n| steps[*n as usize] == step) {
                tet.iter().for_each(|n| steps[*n as usize] = steps[*n as usize].min(step + 1));
            }
        }
    }
    let mut seen = vec![false; phi.len()];
    for (tet, red) in leaves.tets.iter().zip(&leaves.red) {
        // The surface passes within half an edge.
        let near = 0.5 * forest.edge_length(forest.level(*red));
        for &n in tet {
            let (inside, unseen) = (phi[n as usize] < 0.0, phi[n as usize].abs() < near);
            let lost = inside && steps[n as usize] > 0;
            let unresolved = !inside && unseen && steps[n as usize] > REACH;
            if (lost || unresolved) && !std::mem::replace(&mut seen[n as usize], true) {
                report.lost_nodes += usize::from(lost);
                report.unresolved += usize::from(unresolved);
                report.lost_at.get_or_insert(forest.position(n).to_array());
            }
        }
    }
}

impl Candidate {
    /// Whether each node is on the boundary.
    pub fn on_boundary(&self) -> Vec<bool> {
        let mut on = vec![false; self.mesh.positions.len()];
        self.boundary.iter().flatten().for_each(|n| on[*n as usize] = true);
        on
    }

    /// The boundary as a mesh of its own.
    pub fn surface(&self) -> TriMesh {
        let all = TriMesh { positions: self.mesh.positions.clone(), triangles: self.boundary.clone() };
        let every: Vec<u32> = (0..self.boundary.len() as u32).collect();
        all.extract(&every).mesh
    }

    /// Positions of the boundary nodes.
    pub fn boundary_positions(&self) -> Vec<Vec3> {
        let on = self.on_boundary();
        (0..on.len()).filter(|n| on[*n]).map(|n| self.mesh.positions[n]).collect()
    }
}
