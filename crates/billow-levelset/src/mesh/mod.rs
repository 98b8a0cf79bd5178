//! Signed distance from a triangle mesh ([Gue06] 2.3.1).
//!
//! Space is cut into tiles of 32³ samples. In each tile near the surface, triangles are scan-converted twice:
//! once for the exact distance of every sample within the band, once for the lattice lines they cross. On a closed
//! mesh the crossings give the winding number of every sample exactly; on a leaky one six axis rays per sample
//! vote, each by the side on which it meets its first triangle. Tiles are independent, so the work is parallel
//! and the full volume is never stored.

mod crossing;
mod distance;
mod full;
mod input;
mod pipeline;
mod report;
mod seal;
mod signs;
mod votes;

pub use full::{mesh_to_dense, mesh_to_octree};
pub use pipeline::{MeshToSdf, mesh_to_sparse};
pub use report::{MeshReport, SignMethod};
