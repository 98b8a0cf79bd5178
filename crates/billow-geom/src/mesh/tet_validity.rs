//! What is wrong with a tetrahedral mesh, element by element.

use super::validity::{Problem, duplicate_vertices, numbers};
use super::{TET_FACES, TetMesh, TetTopology};
use crate::predicates::orient3d;

/// Everything found in a tetrahedral mesh. Each list ascends; an empty list means no such problem.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TetReport {
    /// Number of vertices.
    pub vertices: usize,
    /// Number of tetrahedra.
    pub tets: usize,
    /// Tetrahedra that name vertices that do not exist.
    pub out_of_range: Vec<u32>,
    /// Vertices whose position is not finite.
    pub non_finite: Vec<u32>,
    /// Tetrahedra that name one vertex twice.
    pub repeated_index: Vec<u32>,
    /// Tetrahedra with negative volume.
    pub inverted: Vec<u32>,
    /// Tetrahedra whose corners lie exactly in a plane.
    pub flat: Vec<u32>,
    /// Vertices at exactly the position of an earlier one, which follows: `[later, earliest]`.
    pub duplicate_vertices: Vec<[u32; 2]>,
    /// Vertices that no tetrahedron uses.
    pub unused_vertices: Vec<u32>,
    /// Faces of more than two tetrahedra.
    pub crowded_faces: Vec<[u32; 3]>,
    /// Faces whose two tetrahedra lie on the same side of it.
    pub folded_faces: Vec<[u32; 3]>,
}

impl TetReport {
    /// Examines a mesh.
    pub fn new(mesh: &TetMesh) -> Self {
        let n = mesh.positions.len();
        let in_range = |t: &[u32; 4]| t.iter().all(|&v| (v as usize) < n);
        let distinct = |t: &[u32; 4]| (1..4).all(|k| !t[..k].contains(&t[k]));
        let good: Vec<u32> = numbers(&mesh.tets, |t| in_range(t) && distinct(t));
        let sign = |t: u32| {
            let [a, b, c, d] = mesh.corners(t as usize);
            orient3d(a, b, c, d)
        };
        let finite = |t: &u32| mesh.corners(*t as usize).iter().all(|p| p.is_finite());
        let mut report = Self {
            vertices: n,
            tets: mesh.tets.len(),
            out_of_range: numbers(&mesh.tets, |t| !in_range(t)),
            non_finite: numbers(&mesh.positions, |p| !p.is_finite()),
            repeated_index: numbers(&mesh.tets, |t| in_range(t) && !distinct(t)),
            inverted: good.iter().copied().filter(finite).filter(|&t| sign(t) < 0).collect(),
            flat: good.iter().copied().filter(finite).filter(|&t| sign(t) == 0).collect(),
            duplicate_vertices: duplicate_vertices(&mesh.positions),
            ..Self::default()
        };
        report.judge_connectivity(mesh, &good);
        report
    }

    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.problems().is_empty()
    }

    fn judge_connectivity(&mut self, mesh: &TetMesh, good: &[u32]) {
        let tets: Vec<[u32; 4]> = good.iter().map(|&t| mesh.tets[t as usize]).collect();
        let Ok(topology) = TetTopology::new(mesh.positions.len(), &tets) else { return };
        self.unused_vertices =
            (0..mesh.positions.len() as u32).filter(|&v| topology.vertex_tets(v).is_empty()).collect();
        self.crowded_faces = topology.crowded_faces().iter().map(|&f| topology.faces()[f as usize]).collect();
        // The face as the second tetrahedron sees it must run the other way round.
        let even = |a: [u32; 3], b: [u32; 3]| (0..3).any(|k| [a[k], a[(k + 1) % 3], a[(k + 2) % 3]] == b);
        self.folded_faces = (0..topology.faces().len())
            .filter(|&f| match *topology.face_tets(f as u32) {
                [_, second] => {
                    let k = topology.tet_faces()[second as usize]
                        .iter()
                        .position(|&g| g == f as u32)
                        .unwrap_or(0);
                    let seen = TET_FACES[k].map(|c| tets[second as usize][c]);
                    even(seen, topology.faces()[f])
                }
                _ => false,
            })
            .map(|f| topology.faces()[f])
            .collect();
    }

    fn problems(&self) -> Vec<Problem> {
        let face = |f: &[u32; 3]| format!("{}–{}–{}", f[0], f[1], f[2]);
        let crowded: Vec<String> = self.crowded_faces.iter().map(face).collect();
        let folded: Vec<String> = self.folded_faces.iter().map(face).collect();
        let rows = [
            Problem::of("tetrahedra name missing vertices", &self.out_of_range, "correct the indices"),
            Problem::of("vertices are not finite", &self.non_finite, "correct the positions"),
            Problem::of("tetrahedra name a vertex twice", &self.repeated_index, "remove them"),
            Problem::of(
                "tetrahedra are inverted",
                &self.inverted,
                "swap two of their corners (`repair::orient_tets`) or mend the positions",
            ),
            Problem::of("tetrahedra are flat", &self.flat, "remesh"),
            Problem::of_pairs(
                "vertices repeat an earlier position",
                &self.duplicate_vertices,
                " repeats ",
                "use the earlier one",
            ),
            Problem::of("vertices are unused", &self.unused_vertices, "remove them"),
            Problem::of("faces have more than two tetrahedra", &crowded, "remove the overlapping tetrahedra"),
            Problem::of("faces have both tetrahedra on one side", &folded, "orient or remesh there"),
        ];
        rows.into_iter().filter(|p| p.count > 0).collect()
    }
}

impl std::fmt::Display for TetReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} vertices, {} tetrahedra", self.vertices, self.tets)?;
        let problems = self.problems();
        if problems.is_empty() {
            return write!(f, "; no problems");
        }
        problems.iter().try_for_each(|p| write!(f, "\n{p}"))
    }
}
