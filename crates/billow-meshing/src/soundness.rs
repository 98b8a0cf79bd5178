//! The conditions every mesh must meet, checked from its tetrahedra alone ([Bri03] 5.4).
//!
//! Nothing here trusts how the mesh was made: faces are counted afresh, the boundary is what has one tetrahedron.

use billow_geom::TetMesh;
use billow_geom::mesh::TET_FACES;
use billow_geom::mesh::Topology;
use billow_num::par;

/// How a mesh stands against the conditions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Soundness {
    /// Tetrahedra without positive volume.
    pub inverted: usize,
    /// Faces with more than two tetrahedra.
    pub crowded_faces: usize,
    /// Boundary edges that have not exactly two boundary faces.
    pub pinched_edges: usize,
    /// Boundary nodes whose boundary faces do not form one fan.
    pub pinched_nodes: usize,
    /// Tetrahedra with all four nodes on the boundary.
    pub bad_tets: usize,
    /// Edges inside that join two boundary nodes.
    pub bad_edges: usize,
    /// Connected parts of the boundary.
    pub surfaces: usize,
    /// Handles of the boundary, summed over its parts.
    pub genus: u64,
    /// Boundary triangles.
    pub triangles: usize,
}

impl Soundness {
    /// Examines `mesh`.
    pub fn new(mesh: &TetMesh) -> Self {
        let n = mesh.tets.len();
        let boundary = boundary_faces(mesh);
        let mut on = vec![false; mesh.positions.len()];
        boundary.faces.iter().flatten().for_each(|v| on[*v as usize] = true);
        let mut edges: Vec<u64> =
            boundary.faces.iter().flat_map(|[a, b, c]| [pack(*a, *b), pack(*b, *c), pack(*c, *a)]).collect();
        par::sort_by_key(&mut edges, |e| *e);
        let pinched_edges = edges.chunk_by(|a, b| a == b).filter(|pair| pair.len() != 2).count();
        edges.dedup();
        let mut inner = par::gather(n, 4096, |range, out: &mut Vec<u64>| {
            for tet in &mesh.tets[range] {
                for k in 0..4 {
                    for l in 0..k {
                        let key = pack(tet[k], tet[l]);
                        if on[tet[k] as usize] && on[tet[l] as usize] && edges.binary_search(&key).is_err() {
                            out.push(key);
                        }
                    }
                }
            }
        });
        inner.sort_unstable();
        inner.dedup();
        let count = |f: &(dyn Fn(usize) -> bool + Sync)| par::sum(n, |t| f64::from(u8::from(f(t)))) as usize;
        let skin = Topology::new(mesh.positions.len(), &boundary.faces).ok();
        let surfaces = skin.as_ref().map_or(0, |s| s.components().count());
        // Vertices, edges and faces of the skin alone; each part contributes 2 − 2g.
        let vertices = on.iter().filter(|o| **o).count();
        let euler = vertices as i64 - edges.len() as i64 + boundary.faces.len() as i64;
        Self {
            inverted: count(&|t| mesh.tet_volume(t) <= 0.0 || mesh.tet_volume(t).is_nan()),
            crowded_faces: boundary.crowded,
            pinched_edges,
            pinched_nodes: skin.map_or(0, |s| s.non_manifold_vertices().len()),
            bad_tets: count(&|t| mesh.tets[t].iter().all(|v| on[*v as usize])),
            bad_edges: inner.len(),
            surfaces,
            genus: ((2 * surfaces as i64 - euler).max(0) / 2) as u64,
            triangles: boundary.faces.len(),
        }
    }

    /// Whether all conditions hold.
    pub fn is_sound(&self) -> bool {
        let faults = [
            self.inverted,
            self.crowded_faces,
            self.pinched_edges,
            self.pinched_nodes,
            self.bad_tets,
            self.bad_edges,
        ];
        self.triangles > 0 && faults.iter().all(|n| *n == 0)
    }

    /// What is wrong, in words.
    pub fn problem(&self) -> String {
        format!(
            "{} inverted tetrahedra, {} faces shared by more than two, {} pinched edges and {} pinched nodes on the boundary, {} \
             tetrahedra with four boundary nodes, {} inner edges between boundary nodes",
            self.inverted,
            self.crowded_faces,
            self.pinched_edges,
            self.pinched_nodes,
            self.bad_tets,
            self.bad_edges
        )
    }
}

struct BoundaryFaces {
    faces: Vec<[u32; 3]>,
    crowded: usize,
}

fn pack(a: u32, b: u32) -> u64 {
    u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}

/// Faces with one tetrahedron, outward.
fn boundary_faces(mesh: &TetMesh) -> BoundaryFaces {
    let mut keys: Vec<([u32; 3], u32)> = par::map(4 * mesh.tets.len(), |h| {
        let mut face = TET_FACES[h % 4].map(|c| mesh.tets[h / 4][c]);
        face.sort_unstable();
        (face, h as u32)
    });
    par::sort_by_key(&mut keys, |k| *k);
    let mut result = BoundaryFaces { faces: Vec::new(), crowded: 0 };
    for group in keys.chunk_by(|a, b| a.0 == b.0) {
        match group {
            [(_, h)] => {
                let (t, k) = (*h as usize / 4, *h as usize % 4);
                result.faces.push(TET_FACES[k].map(|c| mesh.tets[t][c]));
            }
            [_, _] => {}
            _ => result.crowded += 1,
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_num::Vec3;

    #[test]
    fn a_ball_of_tetrahedra_is_a_sphere_and_a_lone_tetrahedron_is_bad() {
        let ball = billow_geom::shapes::tet_ball(1.0, 4).unwrap();
        let found = Soundness::new(&ball);
        assert_eq!((found.surfaces, found.genus, found.inverted, found.pinched_edges), (1, 0, 0, 0));
        let positions = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        let lone = Soundness::new(&TetMesh { positions, tets: vec![[0, 1, 2, 3]] });
        assert_eq!((lone.bad_tets, lone.bad_edges, lone.inverted), (1, 0, 0));
        assert!(!lone.is_sound());
    }

    #[test]
    fn pinched_boundaries_are_found() {
        let (a, b, c, d) = (Vec3::X, Vec3::Y, Vec3::Z, Vec3::ZERO);
        // Two tetrahedra that share an edge, then only a node.
        let positions = vec![d, a, b, c, -b, -c];
        let shared_edge = TetMesh { positions: positions.clone(), tets: vec![[0, 1, 2, 3], [0, 1, 4, 5]] };
        assert_eq!(Soundness::new(&shared_edge).pinched_edges, 1);
        let positions = vec![d, a, b, c, -a, -b, -c];
        let shared_node = TetMesh { positions, tets: vec![[0, 1, 2, 3], [0, 4, 6, 5]] };
        let found = Soundness::new(&shared_node);
        assert_eq!((found.pinched_edges, found.pinched_nodes), (0, 1));
    }
}
