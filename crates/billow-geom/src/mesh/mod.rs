//! Triangle and tetrahedral meshes and their connectivity.

mod boundary;
mod csr;
mod facing;
mod ops;
pub mod repair;
mod tet_topology;
mod tet_validity;
mod topology;
mod validity;

pub use boundary::{BoundaryLoop, Components};
pub use csr::{Csr, Incidence};
pub use ops::SubMesh;
pub use tet_topology::{BoundarySurface, TET_EDGES, TET_FACES, TetTopology};
pub use tet_validity::TetReport;
pub(crate) use topology::check_indices;
pub use topology::{Topology, VertexKind};
pub use validity::{MeshReport, SLIVER_ASPECT, Sliver};

use crate::GeomError;
use billow_num::Vec3;
use serde::{Deserialize, Serialize};

/// A triangle mesh: positions and counter-clockwise (seen from outside) corner indices.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TriMesh {
    /// Vertex positions [m].
    pub positions: Vec<Vec3>,
    /// Corner indices of each triangle.
    pub triangles: Vec<[u32; 3]>,
}

/// A tetrahedral mesh with positively oriented elements: `(b−a)×(c−a)·(d−a) > 0`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TetMesh {
    /// Vertex positions [m].
    pub positions: Vec<Vec3>,
    /// Corner indices of each tetrahedron.
    pub tets: Vec<[u32; 4]>,
}

impl TriMesh {
    /// Connectivity of the mesh.
    ///
    /// # Errors
    /// See [`Topology::new`].
    pub fn topology(&self) -> Result<Topology, GeomError> {
        Topology::new(self.positions.len(), &self.triangles)
    }
}
