//! `cargo xtask bench mesh [MESH [FRACTION…]]`: time and quality of tetrahedral meshes.
//!
//! MESH is a scan; without one a wavy ball stands in. Each FRACTION is the surface edge as a part of the diagonal
//! (80 means 1/80); halving it shows how time grows with size. Prints one JSON line per mesh: tetrahedra, quality, wall-clock
//! and processor seconds per stage, memory.

use crate::bench_levelset::timed;
use billow::geom::{Aabb, TriMesh};
use billow::io::read_mesh;
use billow::levelset::{Collider, MeshToSdf, mesh_to_sparse, surface_nets};
use billow::meshing::{Closeness, DistanceField, Mesher, Quality, Sizing, mesh};
use serde_json::json;
use std::path::Path;

/// Runs the benchmark named by the words after `bench mesh`.
pub(crate) fn run(words: &[&str]) -> Result<(), String> {
    let surface = match words.first() {
        Some(path) => read_mesh(Path::new(path)).map_err(|e| e.to_string())?.mesh,
        None => wavy_ball()?,
    };
    let mut fractions = Vec::new();
    for word in words.iter().skip(1) {
        fractions.push(word.parse::<f64>().map_err(|_| format!("`{word}` is not a number"))?);
    }
    if fractions.is_empty() {
        fractions = vec![40.0, 80.0, 160.0];
    }
    for fraction in fractions {
        one(&surface, fraction)?;
    }
    Ok(())
}

fn wavy_ball() -> Result<TriMesh, String> {
    let mut ball = billow::geom::shapes::icosphere(1.0, 96).map_err(|e| e.to_string())?;
    for x in &mut ball.positions {
        *x *= 1.0 + 0.15 * (7.0 * x.x).sin() * (6.0 * x.y).sin() * (8.0 * x.z).cos();
    }
    Ok(ball)
}

fn one(surface: &TriMesh, fraction: f64) -> Result<(), String> {
    let size = Aabb::of_points(&surface.positions).size();
    // Distances as fine as the finest edges, but not finer than the usual 300 needs.
    let mut settings = MeshToSdf::with_spacing(size.max_element() / 300f64.max(2.5 * fraction));
    settings.frame.half_width = 4.0;
    let (field, distance) =
        timed(|| mesh_to_sparse(surface, &settings).map(|(grid, _)| DistanceField::new(grid)));
    let field = field.map_err(|e| e.to_string())?;
    let edge = field.bounds(0.0).size().length() / fraction;
    let sizing = Sizing {
        curvature: 3.0,
        interpolation: 0.25,
        difference: settings.frame.spacing,
        ..Sizing::adaptive(0.5 * edge, edge, 5)
    };
    let (meshed, cost) = timed(|| mesh(&field, &Mesher::new(sizing)));
    let meshed = meshed.map_err(|e| e.to_string())?;
    let quality = Quality::new(&meshed.candidate.mesh);
    let reference = surface_nets(field.near()).map_err(|e| e.to_string())?.triangulated();
    let closeness = Closeness::new(&meshed.candidate.surface(), &reference);
    let stages: serde_json::Map<String, serde_json::Value> =
        meshed.stages.times().iter().map(|(n, t)| ((*n).into(), json!(t.elapsed.as_secs_f64()))).collect();
    println!(
        "{}",
        json!({
            "fraction": fraction, "tets": quality.tets, "max_aspect": quality.max_aspect,
            "mean_aspect": quality.mean_aspect, "min_dihedral": quality.min_dihedral,
            "max_dihedral": quality.max_dihedral, "edge_ratio": quality.edge_ratio,
            "hausdorff": closeness.relative(), "sound": meshed.soundness.is_sound(), "distances": distance,
            "meshing": cost, "microseconds_per_tet": cost["cpu"].as_f64().map(|s| s * 1e6 / quality.tets as f64),
            "stages": stages,
        })
    );
    Ok(())
}
