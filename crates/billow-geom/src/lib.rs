//! Billow's geometry kernel: meshes, hierarchies, proximity, continuous collision and the exact audit.

mod aabb;
pub mod audit;
pub mod bvh;
pub mod ccd;
mod error;
pub mod hash_grid;
pub mod mass;
pub mod mesh;
pub mod predicates;
pub mod proximity;
pub mod shapes;
pub mod sweep_prune;
pub mod wedge;

pub use aabb::Aabb;
pub use error::GeomError;
pub use mesh::{TetMesh, TriMesh};
