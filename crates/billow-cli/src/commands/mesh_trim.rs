//! `billow mesh --trim`: the part of a surface inside a second level set ([Bri03] 5.7).

use super::mesh::failed;
use crate::failure::Failure;
use billow::geom::TriMesh;
use billow::levelset::Collider;
use billow::meshing::{Candidate, Trim, trim};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// The trimmed boundary and what there is to say about it.
pub(super) fn trimmed(
    input: &Path,
    candidate: &Candidate,
    solid: &dyn Collider,
    knife: &dyn Collider,
) -> Result<(TriMesh, Value), Failure> {
    let surface =
        trim(&candidate.surface(), solid, knife, &Trim::default()).map_err(|e| failed(input, &e))?;
    let topology = surface.topology().map_err(|e| Failure::System(e.to_string()))?;
    let mut angles = [180.0f64, 0.0];
    for t in 0..surface.triangles.len() {
        let x = surface.corners(t);
        for k in 0..3 {
            let angle = (x[(k + 1) % 3] - x[k]).angle_between(x[(k + 2) % 3] - x[k]).to_degrees();
            angles = [angles[0].min(angle), angles[1].max(angle)];
        }
    }
    let border: Vec<u32> =
        topology.boundary_edges().iter().flat_map(|e| topology.edges()[*e as usize]).collect();
    let largest = |nodes: &mut dyn Iterator<Item = usize>, of: &dyn Collider| {
        nodes.map(|n| of.phi(surface.positions[n], 0.0).abs()).fold(0.0, f64::max)
    };
    let report = json!({
        "ok": true,
        "triangles": surface.triangles.len(),
        "borders": topology.boundary_loops().len(),
        "manifold": topology.is_manifold(),
        "min_angle": angles[0],
        "max_angle": angles[1],
        "border_gap": largest(&mut border.iter().map(|n| *n as usize), knife),
        "surface_gap": largest(&mut (0..surface.positions.len()), solid),
    });
    Ok((surface, report))
}

/// The report for people.
pub(super) fn sentence(report: &Value) -> String {
    let number = |key: &str| report[key].as_f64().unwrap_or(f64::NAN);
    format!(
        "{} triangles with {} borders, angles {:.1}° to {:.1}°; the border is within {:.2e} m of the trim curve, the rest within \
         {:.2e} m of the surface",
        report["triangles"],
        report["borders"],
        number("min_angle"),
        number("max_angle"),
        number("border_gap"),
        number("surface_gap")
    )
}

/// The text of an OBJ file.
pub(super) fn surface_text(mesh: &TriMesh) -> String {
    let mut text = String::new();
    for p in &mesh.positions {
        let _ = writeln!(text, "v {} {} {}", p.x, p.y, p.z);
    }
    for [a, b, c] in &mesh.triangles {
        let _ = writeln!(text, "f {} {} {}", a + 1, b + 1, c + 1);
    }
    text
}
