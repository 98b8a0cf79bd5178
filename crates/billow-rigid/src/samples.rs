//! The points of a surface that are tested against other bodies: vertices and sharp edges, in a tree of spheres.
//!
//! A sphere whose centre is farther from the other body than its radius holds nothing that touches, so one
//! distance prunes a whole branch ([Bri03] 4.4). Flat and reflex edges never touch first and are left out, and so are
//! edges of finely cut smooth surfaces, which hardly stand out from the chords of their neighbours.

use crate::lanes::Points;
use crate::spheres::{Item, Spheres};
use billow_geom::TriMesh;
use billow_geom::mesh::Topology;
use billow_num::Vec3;

/// Longest piece of an edge, in radii of the body.
const LONGEST: f64 = 0.35;
/// Most pieces of an edge.
const MOST_PIECES: u32 = 8;
/// Sine of the dihedral angle from which an edge counts as sharp.
const SHARP: f64 = 1e-3;

/// Vertices and sharp convex edges of a surface in its body frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples {
    /// Vertex positions, in the order of the leaves [m].
    pub(crate) vertices: Vec<Vec3>,
    /// The same in single precision, for bounds.
    pub(crate) points: Points,
    /// Edges as pairs of `vertices`, in the order of the leaves.
    pub(crate) edges: Vec<[u32; 2]>,
    /// Lengths of `edges` [m].
    pub(crate) lengths: Vec<f64>,
    pub(crate) spheres: Spheres,
    /// Largest distance between neighbouring samples of a smooth surface [m]; infinite for others.
    spacing: f64,
}

impl Samples {
    /// All vertices, and the edges where two triangles meet at a convex angle, but for those that stand out from the
    /// surface between their ends by less than `fine` [m].
    pub(crate) fn of_mesh(mesh: &TriMesh, topology: &Topology, fine: f64) -> Self {
        let mut mesh = mesh.clone();
        let mut vertices: Vec<u32> = mesh.triangles.concat();
        vertices.sort_unstable();
        vertices.dedup();
        let sharp = sharp_edges(&mesh, topology, fine);
        let smooth = sharp.is_empty() && fine > 0.0;
        let spacing = if smooth { longest_edge(&mesh, topology) } else { f64::INFINITY };
        let edges = cut_long(&mut mesh, &sharp, &mut vertices);
        let vertex = |v: &u32| Item { id: *v, ends: [mesh.positions[*v as usize]; 2], edge: false };
        let edge = |(k, e): (usize, &[u32; 2])| Item {
            id: k as u32,
            ends: e.map(|v| mesh.positions[v as usize]),
            edge: true,
        };
        let mut items: Vec<Item> =
            vertices.iter().map(vertex).chain(edges.iter().enumerate().map(edge)).collect();
        let spheres = Spheres::new(&mut items);
        // Vertices and edges in the order of the leaves.
        let mut number = vec![0u32; mesh.positions.len()];
        let points = items.iter().filter(|i| !i.edge);
        points.clone().enumerate().for_each(|(k, i)| number[i.id as usize] = k as u32);
        let cuts = items.iter().filter(|i| i.edge);
        let vertices: Vec<Vec3> = points.map(|i| i.ends[0]).collect();
        Self {
            points: Points::new(&vertices),
            vertices,
            lengths: cuts.clone().map(|i| i.ends[0].distance(i.ends[1])).collect(),
            edges: cuts.map(|i| edges[i.id as usize].map(|v| number[v as usize])).collect(),
            spheres,
            spacing,
        }
    }

    /// A single point at the origin: a ball's centre.
    pub(crate) fn centre() -> Self {
        let mut items = [Item { id: 0, ends: [Vec3::ZERO; 2], edge: false }];
        Self {
            vertices: vec![Vec3::ZERO],
            points: Points::new(&[Vec3::ZERO]),
            spheres: Spheres::new(&mut items),
            spacing: f64::INFINITY,
            ..Self::default()
        }
    }

    /// Whether no edge stands out.
    pub(crate) fn is_smooth(&self) -> bool {
        self.spacing.is_finite()
    }

    /// Largest distance between neighbouring samples of a smooth surface [m].
    pub(crate) fn fineness(&self) -> f64 {
        self.spacing
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
    use billow_geom::shapes::cuboid;

    #[test]
    fn a_box_has_twelve_sharp_edges_and_no_diagonals() {
        let mesh = cuboid(Vec3::ONE, [1; 3]).unwrap();
        let samples = Samples::of_mesh(&mesh, &mesh.topology().unwrap(), 0.0);
        // Each edge in four pieces.
        assert_eq!((samples.vertices.len(), samples.edges.len()), (8 + 3 * 12, 4 * 12));
    }

    #[test]
    fn a_fine_bone_is_smooth_and_a_ring_of_320_triangles_is_not() {
        let bone =
            billow_geom::shapes::Bone { segments: 56, bands: 17, ..Default::default() }.mesh().unwrap();
        let ring = billow_geom::shapes::torus(0.3, 0.1, 16, 10).unwrap();
        let of = |mesh: &TriMesh, depth: f64| Samples::of_mesh(mesh, &mesh.topology().unwrap(), 0.01 * depth);
        let bone = of(&bone, 0.5 * bone.bounds().size().min_element());
        assert!(bone.is_smooth() && bone.edges.is_empty() && !bone.vertices.is_empty());
        let ring = of(&ring, 0.1);
        assert!(!ring.is_smooth() && ring.edges.len() > 200, "{}", ring.edges.len());
    }
}
