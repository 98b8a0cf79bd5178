//! What mesh conversion found out about the mesh.

use serde::{Deserialize, Serialize};

/// How samples were told inside from outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SignMethod {
    /// Winding numbers along lattice lines: exact, for closed meshes.
    #[default]
    Winding,
    /// Six axis rays per sample, inside if at least three meet a triangle from behind: for leaky meshes.
    Votes,
}

/// What mesh conversion found out about the mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeshReport {
    /// Triangles used.
    pub triangles: usize,
    /// Triangles left out because two corners coincide.
    pub degenerate: usize,
    /// Edges without an equal and opposite partner; 0 for a closed mesh.
    pub open_edges: usize,
    /// How inside was told from outside.
    pub method: SignMethod,
    /// Edges of the lattice that cross the surface, along x for closed meshes, along all axes for leaky ones.
    pub crossing_edges: usize,
    /// Samples on which the six rays did not agree; 0 for a closed mesh.
    pub split_votes: usize,
    /// Edges of the lattice that change sign without crossing a triangle: the area of the holes closed, in units of
    /// the spacing squared.
    pub leak_edges: usize,
    /// Sum of the triangles' areas [m²].
    pub mesh_area: f64,
}

impl MeshReport {
    /// Area of the membranes that closed holes, relative to the mesh's own [-].
    pub fn leakiness(&self) -> f64 {
        self.leak_edges as f64 / (self.crossing_edges as f64).max(1.0)
    }
}
