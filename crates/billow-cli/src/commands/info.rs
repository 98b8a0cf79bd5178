//! `billow info`: what a run, a scene file or a mesh file holds.

use super::run;
use crate::args::InfoArgs;
use crate::failure::Failure;
use crate::output::{Output, bytes};
use billow::geom::mesh::MeshReport;
use billow::geom::{Aabb, TriMesh};
use billow::io::cache::{MANIFEST_FILE, Reader};
use billow::io::{Frame, Object, Shape, read_mesh};
use billow::num::Vec3;
use serde_json::{Value, json};
use std::path::Path;

pub(crate) fn info(args: &InfoArgs, output: Output) -> Result<(), Failure> {
    let path = &args.path;
    if path.is_dir() || path.join(MANIFEST_FILE).exists() {
        run_info(path, output)
    } else if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml")) {
        scene_info(path, output)
    } else {
        mesh_info(path, output)
    }
}

fn run_info(path: &Path, output: Output) -> Result<(), Failure> {
    let reader = Reader::open(path)?;
    let manifest = reader.manifest();
    let frames = reader.frames();
    let last = frames.last().map(|k| reader.read(*k)).transpose()?;
    let size = folder_size(path);
    let status = serde_json::to_value(reader.status()).unwrap_or_default();
    output.say(format!("{}, made by {}", manifest.title, manifest.program));
    output.say(format!(
        "{}: {} of {} frames at {} frames/s, {} on disk",
        status.as_str().unwrap_or_default(),
        frames.len(),
        manifest.last_frame - manifest.first_frame + 1,
        manifest.fps,
        bytes(size)
    ));
    if let Some(message) = &manifest.message {
        output.say(message);
    }
    let objects = last.iter().flat_map(|f| &f.objects);
    for line in folded(objects.map(|o| (o.name.as_str(), description(o)))) {
        output.say(line);
    }
    output.result(&json!({
        "ok": true,
        "kind": "run",
        "title": manifest.title,
        "program": manifest.program,
        "status": status,
        "message": manifest.message,
        "fps": manifest.fps,
        "up_axis": manifest.up_axis,
        "first_frame": manifest.first_frame,
        "last_frame": manifest.last_frame,
        "frames": frames.len(),
        "last_frame_on_disk": frames.last(),
        "bytes": size,
        "objects": last.as_ref().map(objects_json).unwrap_or_default(),
        "stats": last.map(|f| f.stats).unwrap_or_default(),
    }));
    Ok(())
}

fn objects_json(frame: &Frame) -> Vec<Value> {
    let describe = |object: &Object| {
        let bounds = world_bounds(object);
        json!({
            "name": object.name,
            "kind": kind(&object.shape),
            "vertices": object.shape.vertex_count(),
            "elements": object.shape.element_count(),
            "position": object.pose.position.to_array(),
            "bounds": bounds_json(&bounds),
            "attributes": object.attributes.iter().map(|a| a.name.as_str()).collect::<Vec<_>>(),
        })
    };
    frame.objects.iter().map(describe).collect()
}

fn description(object: &Object) -> String {
    let (shape, vertices) = (&object.shape, object.shape.vertex_count());
    format!("{}, {vertices} vertices, {} elements", kind(shape), shape.element_count())
}

/// One line per object; copies of one thing, which follow each other and are alike, share one.
fn folded<'a>(objects: impl Iterator<Item = (&'a str, String)>) -> Vec<String> {
    let stem = |name: &'a str| name.rsplit_once('-').map_or(name, |parts| parts.0);
    let mut runs: Vec<(&str, &str, String, usize)> = Vec::new();
    for (name, what) in objects {
        match runs.last_mut() {
            Some((first, last, same, count)) if *same == what && stem(first) == stem(name) => {
                (*last, *count) = (name, *count + 1);
            }
            _ => runs.push((name, name, what, 1)),
        }
    }
    let line = |(first, last, what, count): (&str, &str, String, usize)| match count {
        1 => format!("  {first}: {what}"),
        _ => format!("  {first} … {last}: {count} × {what}"),
    };
    runs.into_iter().map(line).collect()
}

fn kind(shape: &Shape) -> &'static str {
    match shape {
        Shape::Triangles { .. } => "triangles",
        Shape::Tets { .. } => "tetrahedra",
        Shape::Points { .. } => "points",
        Shape::Lines { .. } => "lines",
        Shape::Grid(_) => "grid",
    }
}

fn world_bounds(object: &Object) -> Aabb {
    object.shape.positions().iter().fold(Aabb::EMPTY, |b, x| b.with(object.pose.point(*x)))
}

fn scene_info(path: &Path, output: Output) -> Result<(), Failure> {
    let scene = run::load(&path.to_string_lossy(), &[])?;
    let timing = scene.timing();
    output.say(format!("{}: {}", scene.title(), scene.description().trim()));
    output.say(format!(
        "{} frames at {} frames/s, {} sub-steps each",
        timing.frames, timing.fps, timing.substeps
    ));
    let bodies = scene.bodies().iter().map(|b| {
        let (vertices, elements) = (b.shape.vertex_count(), b.shape.element_count());
        (b.name.as_str(), format!("{vertices} vertices, {elements} elements"))
    });
    for line in folded(bodies) {
        output.say(line);
    }
    for cloth in scene.cloths() {
        output.say(format!(
            "  {}: cloth of {} nodes, {} triangles, {} pinned",
            cloth.name,
            cloth.shape.vertex_count(),
            cloth.shape.element_count(),
            cloth.pinned
        ));
    }
    let cloth = |c: &billow::scene::Cloth| json!({"name": c.name, "vertices": c.shape.vertex_count(), "elements": c.shape.element_count(), "pinned": c.pinned});
    let body = |b: &billow::scene::Body| json!({"name": b.name, "vertices": b.shape.vertex_count(), "elements": b.shape.element_count()});
    output.result(&json!({
        "ok": true,
        "kind": "scene",
        "name": scene.name(),
        "title": scene.title(),
        "description": scene.description(),
        "frames": timing.frames,
        "fps": timing.fps,
        "substeps": timing.substeps,
        "gravity": timing.gravity.to_array(),
        "bodies": scene.bodies().iter().map(body).collect::<Vec<_>>(),
        "cloths": scene.cloths().iter().map(cloth).collect::<Vec<_>>(),
        "warnings": scene.warnings().iter().map(ToString::to_string).collect::<Vec<_>>(),
    }));
    Ok(())
}

fn mesh_info(path: &Path, output: Output) -> Result<(), Failure> {
    let imported = read_mesh(path)?;
    let mesh = &imported.mesh;
    let report = MeshReport::new(mesh);
    let bounds = mesh.bounds();
    let crossings = billow::geom::audit::audit(&mesh.positions, &mesh.triangles).findings.len();
    for warning in &imported.warnings {
        output.say(format!("note: {warning}"));
    }
    output.say(report.to_string());
    output.say(format!(
        "size {} m, area {:.6} m²{}",
        size_text(&bounds),
        mesh.area(),
        volume_text(mesh, &report)
    ));
    output.say(format!("{crossings} pairs of triangles cross or touch beyond their shared corners"));
    output.result(&json!({
        "ok": true,
        "kind": "mesh",
        "vertices": report.vertices,
        "triangles": report.triangles,
        "components": report.components,
        "parts": imported.parts.iter().map(|p| json!({"name": p.name, "triangles": p.triangles.len()})).collect::<Vec<_>>(),
        "closed": report.is_closed(),
        "manifold": report.is_manifold(),
        "oriented": report.is_oriented(),
        "solid": report.is_solid(),
        "clean": report.is_clean(),
        "bounds": bounds_json(&bounds),
        "area": mesh.area(),
        "volume": report.is_closed().then(|| mesh.volume()),
        "boundary_edges": report.boundary_edges.len(),
        "non_manifold_edges": report.non_manifold_edges.len(),
        "degenerate_triangles": report.zero_area.len() + report.repeated_index.len(),
        "crossing_pairs": crossings,
        "warnings": imported.warnings,
    }));
    Ok(())
}

fn size_text(bounds: &Aabb) -> String {
    let s = if bounds.is_empty() { Vec3::ZERO } else { bounds.size() };
    format!("{:.4} × {:.4} × {:.4}", s.x, s.y, s.z)
}

fn volume_text(mesh: &TriMesh, report: &MeshReport) -> String {
    if report.is_closed() { format!(", volume {:.6} m³", mesh.volume()) } else { String::new() }
}

fn bounds_json(bounds: &Aabb) -> Value {
    if bounds.is_empty() { Value::Null } else { json!([bounds.min.to_array(), bounds.max.to_array()]) }
}

/// Bytes of all files below a folder; what cannot be read counts nothing.
fn folder_size(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries
        .filter_map(Result::ok)
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => folder_size(&entry.path()),
            Ok(meta) => meta.len(),
            Err(_) => 0,
        })
        .sum()
}
