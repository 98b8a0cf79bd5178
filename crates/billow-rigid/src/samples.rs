//! The points of a surface that are tested against other bodies: vertices and sharp edges, in a sphere tree.
//!
//! A sphere whose centre is farther from the other body than its radius holds nothing that touches, so one
//! distance prunes a whole branch ([Bri03] 4.4). Flat and reflex edges never touch first and are left out.

use billow_geom::mesh::Topology;
use billow_geom::{Aabb, TriMesh};
use billow_num::Vec3;
use std::ops::Range;

/// Longest piece of an edge, in radii of the body.
const LONGEST: f64 = 0.35;
/// Most pieces of an edge.
const MOST_PIECES: u32 = 8;
/// Most vertices of a leaf.
const LEAF: usize = 4;
/// Sine of the dihedral angle from which an edge counts as sharp.
const SHARP: f64 = 1e-3;

/// Vertices and sharp convex edges of a surface in its body frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples {
    /// Vertex positions, in the order of the leaves [m].
    pub(crate) vertices: Vec<Vec3>,
    /// Edges as pairs of `vertices`, in the order of the leaves.
    pub(crate) edges: Vec<[u32; 2]>,
    nodes: Vec<Node>,
    /// Largest distance between neighbouring samples of a smooth surface [m]; infinite for others.
    spacing: f64,
}

/// A sphere and a box around vertices and edges.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node {
    pub(crate) centre: Vec3,
    pub(crate) radius: f64,
    pub(crate) bounds: Aabb,
    /// First child; the second follows the first one's subtree. Zero for a leaf.
    second: u32,
    pub(crate) vertices: Range<u32>,
    pub(crate) edges: Range<u32>,
}

impl Samples {
    /// All vertices, and the edges where two triangles meet at a convex angle, but for those that stand out from the
    /// surface between their ends by less than `fine` [m].
    pub(crate) fn of_mesh(mesh: &TriMesh, topology: &Topology, fine: f64) -> Self {
        let mut order: Vec<u32> = mesh.triangles.concat();
        order.sort_unstable();
        order.dedup();
        let mut samples = Self { spacing: f64::INFINITY, ..Self::default() };
        let mut mesh = mesh.clone();
        let sharp = sharp_edges(&mesh, topology, fine);
        if sharp.is_empty() && fine > 0.0 {
            samples.spacing = longest_edge(&mesh, topology);
        }
        let sharp = cut_long(&mut mesh, &sharp, &mut order);
        let mut owner = vec![0u32; mesh.positions.len()];
        samples.split(&mesh, &mut order[..]);
        for (k, v) in order.iter().enumerate() {
            owner[*v as usize] = k as u32;
        }
        samples.vertices = order.iter().map(|v| mesh.positions[*v as usize]).collect();
        let mut edges: Vec<[u32; 2]> = sharp
            .iter()
            .map(|[a, b]| {
                let [a, b] = [owner[*a as usize], owner[*b as usize]];
                [a.min(b), a.max(b)]
            })
            .collect();
        edges.sort_unstable();
        samples.edges = edges;
        samples.fit();
        samples
    }

    /// A single point at the origin: a ball's centre.
    pub(crate) fn centre() -> Self {
        let node = Node { vertices: 0..1, ..Node::default() };
        Self { vertices: vec![Vec3::ZERO], edges: Vec::new(), nodes: vec![node], spacing: f64::INFINITY }
    }

    /// Whether no edge stands out.
    pub(crate) fn is_smooth(&self) -> bool {
        self.spacing.is_finite()
    }

    /// Largest distance between neighbouring samples of a smooth surface [m].
    pub(crate) fn fineness(&self) -> f64 {
        self.spacing
    }

    fn split(&mut self, mesh: &TriMesh, order: &mut [u32]) {
        self.split_at(mesh, order, 0);
    }

    fn split_at(&mut self, mesh: &TriMesh, order: &mut [u32], first: u32) {
        let id = self.nodes.len();
        let vertices = first..first + order.len() as u32;
        self.nodes.push(Node { vertices, ..Node::default() });
        if order.len() <= LEAF {
            return;
        }
        let at = |v: &u32| mesh.positions[*v as usize];
        let bounds = order.iter().map(at).fold(Aabb::of_points(&[]), |b, p| b.with(p));
        let size = bounds.size();
        let axis = (0..3).fold(0, |best, k| if size[k] > size[best] { k } else { best });
        order.sort_by(|a, b| at(a)[axis].total_cmp(&at(b)[axis]).then(a.cmp(b)));
        let (low, high) = order.split_at_mut(order.len() / 2);
        let middle = first + low.len() as u32;
        self.split_at(mesh, low, first);
        self.nodes[id].second = self.nodes.len() as u32;
        self.split_at(mesh, high, middle);
    }

    /// Spheres around vertices and around the edges that start at them.
    fn fit(&mut self) {
        for k in 0..self.nodes.len() {
            let v = self.nodes[k].vertices.clone();
            let start = self.edges.partition_point(|e| e[0] < v.start) as u32;
            let end = self.edges.partition_point(|e| e[0] < v.end) as u32;
            let mut points: Vec<Vec3> = self.vertices[v.start as usize..v.end as usize].to_vec();
            points.extend(
                self.edges[start as usize..end as usize].iter().map(|e| self.vertices[e[1] as usize]),
            );
            let bounds = Aabb::of_points(&points);
            let centre = bounds.centre();
            let radius = points.iter().map(|p| p.distance(centre)).fold(0.0, f64::max);
            let node = &mut self.nodes[k];
            (node.centre, node.radius, node.bounds, node.edges) = (centre, radius, bounds, start..end);
        }
    }

    /// Calls `leaf` for every leaf none of whose ancestors `keep` refuses.
    pub(crate) fn visit(&self, mut keep: impl FnMut(&Node) -> bool, mut leaf: impl FnMut(&Node)) {
        let mut stack = [0u32; 64];
        let mut depth = usize::from(!self.nodes.is_empty());
        while depth > 0 {
            depth -= 1;
            let at = stack[depth];
            let node = &self.nodes[at as usize];
            if !keep(node) {
                continue;
            }
            if node.second == 0 {
                leaf(node);
            } else {
                stack[depth] = node.second;
                stack[depth + 1] = at + 1;
                depth += 2;
            }
        }
    }
}

/// Cuts long edges, so that each piece meets another body in one place at most, nearly always.
fn cut_long(mesh: &mut TriMesh, edges: &[[u32; 2]], order: &mut Vec<u32>) -> Vec<[u32; 2]> {
    let longest = LONGEST * 0.5 * mesh.bounds().size().length();
    let mut pieces = Vec::with_capacity(edges.len());
    for [a, b] in edges.iter().copied() {
        let [p, q] = [a, b].map(|v| mesh.positions[v as usize]);
        let n = ((p.distance(q) / longest).ceil() as u32).clamp(1, MOST_PIECES);
        let mut last = a;
        for k in 1..n {
            let new = mesh.positions.len() as u32;
            mesh.positions.push(p.lerp(q, f64::from(k) / f64::from(n)));
            order.push(new);
            pieces.push([last, new]);
            last = new;
        }
        pieces.push([last, b]);
    }
    pieces
}

fn longest_edge(mesh: &TriMesh, topology: &Topology) -> f64 {
    let length = |e: &[u32; 2]| mesh.positions[e[0] as usize].distance(mesh.positions[e[1] as usize]);
    topology.edges().iter().map(length).fold(0.0, f64::max)
}

/// Edges whose two triangles meet at a convex, not flat angle, and the rim of open surfaces.
fn sharp_edges(mesh: &TriMesh, topology: &Topology, fine: f64) -> Vec<[u32; 2]> {
    let normals = mesh.triangle_normals();
    let keep = |e: &usize| {
        let Some([s, t]) = topology.edge_pair(*e as u32) else { return true };
        let [a, b] = topology.edges()[*e];
        let middle = 0.5 * (mesh.positions[a as usize] + mesh.positions[b as usize]);
        let rise = |of: u32, from: u32| {
            let c = mesh.corners(of as usize).iter().sum::<Vec3>() / 3.0 - middle;
            normals[from as usize].dot(c.normalize_or_zero())
        };
        // On a smooth surface triangles meet at an angle of length over radius, and the chord's height is an eighth
        // of their product.
        let bend = normals[s as usize].cross(normals[t as usize]).length();
        let length = mesh.positions[a as usize].distance(mesh.positions[b as usize]);
        rise(s, t) < -SHARP && rise(t, s) < -SHARP && 0.125 * bend * length > fine
    };
    (0..topology.edge_count()).filter(keep).map(|e| topology.edges()[e]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_geom::shapes::{Ring, cuboid};

    #[test]
    fn a_box_has_twelve_sharp_edges_and_no_diagonals() {
        let mesh = cuboid(Vec3::ONE, [1; 3]).unwrap();
        let samples = Samples::of_mesh(&mesh, &mesh.topology().unwrap(), 0.0);
        // Each edge in four pieces.
        assert_eq!((samples.vertices.len(), samples.edges.len()), (8 + 3 * 12, 4 * 12));
    }

    #[test]
    fn every_vertex_and_edge_is_in_one_leaf_and_inside_its_spheres() {
        let mesh = Ring::default().mesh().unwrap();
        let samples = Samples::of_mesh(&mesh, &mesh.topology().unwrap(), 0.0);
        let (mut vertices, mut edges) = (0, 0);
        samples.visit(
            |node| {
                let near = |v: u32| samples.vertices[v as usize].distance(node.centre) <= node.radius + 1e-12;
                assert!(node.vertices.clone().all(near));
                assert!(node.edges.clone().all(|e| samples.edges[e as usize].iter().all(|v| near(*v))));
                true
            },
            |leaf| {
                vertices += leaf.vertices.len();
                edges += leaf.edges.len();
            },
        );
        assert_eq!((vertices, edges), (samples.vertices.len(), samples.edges.len()));
    }
}
