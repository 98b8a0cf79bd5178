//! Connectivity of tetrahedral meshes: faces, edges, stars, boundary surface.
//!
//! Face `k` of a tetrahedron lies opposite its corner `k`; edge `k` joins the corners of [`TET_EDGES`]`[k]`.
//! Numbering depends only on the input: faces and edges ascend by their sorted vertices. Positions play no
//! part, so the boundary is oriented outward exactly when the tetrahedra are positively oriented.

use super::csr::{Csr, Groups, Incidence, NONE};
use super::topology::check_elements;
use super::{TetMesh, TriMesh};
use crate::GeomError;

/// Corners of each face of a tetrahedron, counter-clockwise seen from outside; face `k` lies opposite corner
/// `k`.
pub const TET_FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// Corners of each edge of a tetrahedron.
pub const TET_EDGES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

/// Connectivity of a tetrahedral mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TetTopology {
    faces: Vec<[u32; 3]>,
    tet_faces: Vec<[u32; 4]>,
    face_tets: Incidence,
    edges: Vec<[u32; 2]>,
    tet_edges: Vec<[u32; 6]>,
    edge_tets: Csr,
    vertex_tets: Csr,
    vertex_edges: Csr,
}

/// The outer skin of a tetrahedral mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoundarySurface {
    /// The skin, oriented outward when the tetrahedra are positively oriented.
    pub mesh: TriMesh,
    /// Vertex of the tetrahedral mesh for each vertex of the skin, ascending.
    pub vertices: Vec<u32>,
    /// Tetrahedron behind each triangle of the skin.
    pub tets: Vec<u32>,
}

impl TetTopology {
    /// Connectivity of `tets` over `vertices` vertices.
    ///
    /// # Errors
    /// When a tetrahedron names a vertex that does not exist or one vertex twice, or when there are too many
    /// for 32-bit numbering.
    pub fn new(vertices: usize, tets: &[[u32; 4]]) -> Result<Self, GeomError> {
        check_elements("tetrahedron", vertices, tets)?;
        // Faces: half-face 4t + k is opposite corner k of tetrahedron t.
        let corners = |h: usize| TET_FACES[h % 4].map(|c| tets[h / 4][c]);
        let half_faces = Groups::new(vertices, 4 * tets.len(), |h| {
            let mut f = corners(h);
            f.sort_unstable();
            (f[0], u64::from(f[1]) << 32 | u64::from(f[2]))
        });
        let faces = half_faces.members.rows().map(|row| corners(row[0] as usize)).collect();
        let face_tets = Incidence::from_lists(half_faces.members.rows(), |h| h / 4);

        // Edges: half-edge 6t + k is edge k of tetrahedron t.
        let half_edges = Groups::new(vertices, 6 * tets.len(), |h| {
            let [a, b] = TET_EDGES[h % 6].map(|c| tets[h / 6][c]);
            (a.min(b), a.max(b))
        });
        let edges: Vec<[u32; 2]> = half_edges.keys.iter().map(|&(a, b)| [a, b]).collect();
        let vertex_edges = Csr::group(vertices, 2 * edges.len(), |i| edges[i / 2][i % 2]).mapped(|i| i / 2);
        Ok(Self {
            faces,
            tet_faces: half_faces.group_of.as_chunks().0.to_vec(),
            face_tets,
            edges,
            tet_edges: half_edges.group_of.as_chunks().0.to_vec(),
            edge_tets: half_edges.members.mapped(|h| h / 6),
            vertex_tets: Csr::group(vertices, 4 * tets.len(), |h| tets[h / 4][h % 4]).mapped(|h| h / 4),
            vertex_edges,
        })
    }

    /// Corners of each face, counter-clockwise seen from outside its lowest tetrahedron.
    pub fn faces(&self) -> &[[u32; 3]] {
        &self.faces
    }

    /// The four faces of each tetrahedron; face `k` lies opposite corner `k`.
    pub fn tet_faces(&self) -> &[[u32; 4]] {
        &self.tet_faces
    }

    /// The tetrahedra at a face, ascending: one at the boundary, two inside, more where faulty.
    pub fn face_tets(&self, face: u32) -> &[u32] {
        self.face_tets.row(face as usize)
    }

    /// The two end vertices of each edge, the smaller first; edges ascend.
    pub fn edges(&self) -> &[[u32; 2]] {
        &self.edges
    }

    /// The six edges of each tetrahedron, in the order of [`TET_EDGES`].
    pub fn tet_edges(&self) -> &[[u32; 6]] {
        &self.tet_edges
    }

    /// The tetrahedra around an edge, ascending.
    pub fn edge_tets(&self, edge: u32) -> &[u32] {
        self.edge_tets.row(edge as usize)
    }

    /// The tetrahedra at a vertex, ascending.
    pub fn vertex_tets(&self, vertex: u32) -> &[u32] {
        self.vertex_tets.row(vertex as usize)
    }

    /// The edges at a vertex, ascending.
    pub fn vertex_edges(&self, vertex: u32) -> &[u32] {
        self.vertex_edges.row(vertex as usize)
    }

    /// Faces of exactly one tetrahedron, ascending.
    pub fn boundary_faces(&self) -> Vec<u32> {
        (0..self.faces.len() as u32).filter(|&f| self.face_tets(f).len() == 1).collect()
    }

    /// Faces of more than two tetrahedra, ascending.
    pub fn crowded_faces(&self) -> Vec<u32> {
        (0..self.faces.len() as u32).filter(|&f| self.face_tets(f).len() > 2).collect()
    }

    /// V − E + F − T, counting only vertices in use.
    pub fn euler_characteristic(&self) -> i64 {
        let used = self.vertex_tets.rows().filter(|r| !r.is_empty()).count();
        used as i64 - self.edges.len() as i64 + self.faces.len() as i64 - self.tet_faces.len() as i64
    }
}

impl TetMesh {
    /// Connectivity of the mesh.
    ///
    /// # Errors
    /// See [`TetTopology::new`].
    pub fn topology(&self) -> Result<TetTopology, GeomError> {
        TetTopology::new(self.positions.len(), &self.tets)
    }

    /// The outer skin of the mesh, given its connectivity.
    pub fn boundary_surface(&self, topology: &TetTopology) -> BoundarySurface {
        let faces = topology.boundary_faces();
        let mut number = vec![NONE; self.positions.len()];
        for &f in &faces {
            topology.faces[f as usize].iter().for_each(|&v| number[v as usize] = 0);
        }
        let vertices: Vec<u32> = (0..number.len() as u32).filter(|&v| number[v as usize] == 0).collect();
        for (n, &v) in vertices.iter().enumerate() {
            number[v as usize] = n as u32;
        }
        let mesh = TriMesh {
            positions: vertices.iter().map(|&v| self.positions[v as usize]).collect(),
            triangles: faces
                .iter()
                .map(|&f| topology.faces[f as usize].map(|v| number[v as usize]))
                .collect(),
        };
        let tets = faces.iter().map(|&f| topology.face_tets(f)[0]).collect();
        BoundarySurface { mesh, vertices, tets }
    }
}
