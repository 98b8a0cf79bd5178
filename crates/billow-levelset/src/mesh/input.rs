//! A mesh made ready for scan conversion: validated, in units of samples, with coincident vertices identified.

use super::report::MeshReport;
use crate::LevelSetError;
use crate::sparse::Frame;
use billow_geom::{Aabb, TriMesh};
use billow_num::{Vec3, par};

/// Coordinates beyond this many samples from the origin are refused: 32-bit numbering ends there.
const MAX_COORDINATE: f64 = 1e9;

/// Triangles in units of samples.
pub(super) struct SampledMesh {
    /// Vertex positions [samples].
    pub(super) positions: Vec<Vec3>,
    /// Corners; coincident vertices share one number, degenerate triangles are gone.
    pub(super) triangles: Vec<[u32; 3]>,
    /// Box around the vertices in use [samples].
    pub(super) bounds: Aabb,
    /// Sum of the triangles' areas [samples²].
    pub(super) area: f64,
}

impl SampledMesh {
    /// Checks and converts a mesh; notes what it found in the report.
    pub(super) fn new(mesh: &TriMesh, frame: &Frame, report: &mut MeshReport) -> Result<Self, LevelSetError> {
        validate(mesh)?;
        let positions: Vec<Vec3> = par::map(mesh.positions.len(), |v| frame.to_samples(mesh.positions[v]));
        if let Some(p) = positions.iter().find(|p| p.abs().max_element() > MAX_COORDINATE) {
            let value = p.abs().max_element();
            let allowed = "below 1e9 samples: use a larger spacing or move the mesh towards the origin";
            return Err(LevelSetError::Parameter {
                of: "mesh to distance",
                name: "coordinate",
                value,
                allowed,
            });
        }
        let same = coincident(&positions);
        let mut triangles = mesh.triangles.clone();
        for t in &mut triangles {
            *t = t.map(|v| same[v as usize]);
        }
        triangles.retain(|&[a, b, c]| a != b && b != c && c != a);
        report.triangles = triangles.len();
        report.degenerate = mesh.triangles.len() - triangles.len();
        report.open_edges = open_edges(&triangles);
        if triangles.is_empty() {
            return Err(LevelSetError::EmptyMesh { vertices: mesh.positions.len() });
        }
        let bounds = Aabb::of_points(triangles.iter().flatten().map(|&v| &positions[v as usize]));
        let area = par::sum(triangles.len(), |t| {
            let [a, b, c] = triangles[t].map(|v| positions[v as usize]);
            0.5 * (b - a).cross(c - a).length()
        });
        Ok(Self { positions, triangles, bounds, area })
    }

    pub(super) fn corners(&self, t: u32) -> [Vec3; 3] {
        self.triangles[t as usize].map(|v| self.positions[v as usize])
    }
}

fn validate(mesh: &TriMesh) -> Result<(), LevelSetError> {
    let vertices = mesh.positions.len();
    if mesh.triangles.is_empty() {
        return Err(LevelSetError::EmptyMesh { vertices });
    }
    for (triangle, t) in mesh.triangles.iter().enumerate() {
        if let Some(&index) = t.iter().find(|&&v| v as usize >= vertices) {
            return Err(LevelSetError::Index { triangle, index, vertices });
        }
        for &v in t {
            let p = mesh.positions[v as usize];
            if !p.is_finite() {
                return Err(LevelSetError::NotFinite { vertex: v as usize, position: p.to_array() });
            }
        }
    }
    Ok(())
}

/// For each vertex the first one at the same place, so that meshes with split vertices are closed where they look
/// closed.
fn coincident(positions: &[Vec3]) -> Vec<u32> {
    let key = |v: u32| (positions[v as usize] + 0.0).to_array().map(f64::to_bits); // + 0 joins ±0
    let mut order: Vec<u32> = (0..positions.len() as u32).collect();
    order.sort_unstable_by_key(|&v| (key(v), v));
    let mut same: Vec<u32> = (0..positions.len() as u32).collect();
    for pair in order.windows(2) {
        if key(pair[0]) == key(pair[1]) {
            same[pair[1] as usize] = same[pair[0] as usize];
        }
    }
    same
}

/// How many times an edge is passed in one direction more than in the other, summed over edges. Zero means that
/// every line crosses the surface inward as often as outward.
fn open_edges(triangles: &[[u32; 3]]) -> usize {
    let mut halves: Vec<(u64, i32)> = Vec::with_capacity(3 * triangles.len());
    for t in triangles {
        for e in 0..3 {
            let (a, b) = (t[e], t[(e + 1) % 3]);
            let key = u64::from(a.min(b)) << 32 | u64::from(a.max(b));
            halves.push((key, if a < b { 1 } else { -1 }));
        }
    }
    halves.sort_unstable();
    halves
        .chunk_by(|a, b| a.0 == b.0)
        .map(|edge| edge.iter().map(|h| h.1).sum::<i32>().unsigned_abs() as usize)
        .sum()
}
