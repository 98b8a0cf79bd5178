//! Billow's geometry kernel: meshes, hierarchies, proximity, continuous collision and the exact audit.

mod aabb;
pub mod mesh;

pub use aabb::Aabb;
pub use mesh::{TetMesh, TriMesh};
