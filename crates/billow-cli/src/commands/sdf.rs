//! `billow sdf`: signed distance of a mesh, with booleans and smoothing.

use super::surface::write_level_set_mesh;
use crate::args::{SdfArgs, SdfOperation};
use crate::failure::Failure;
use crate::output::{Output, bytes, duration};
use billow::geom::{Aabb, TriMesh};
use billow::io::formats::vdb::{self, AnyVdbGrid, VdbGrid};
use billow::io::read_mesh;
use billow::levelset::{
    Csg, Evolution, LevelSetError, MeshReport, MeshToSdf, Reinit, SignMethod, SparseGrid,
};
use billow::levelset::{mesh_to_sparse, surface_nets};
use billow::num::{Vec3, par};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;

pub(crate) fn sdf(args: &SdfArgs, output: Output) -> Result<(), Failure> {
    par::with_threads(args.common.threads, || convert(args, output))
}

fn convert(args: &SdfArgs, output: Output) -> Result<(), Failure> {
    let mesh = load(&args.mesh)?;
    let settings = settings(args, &mesh)?;
    let start = Instant::now();
    let (mut grid, report) = mesh_to_sparse(&mesh, &settings).map_err(refused(&args.mesh))?;
    let seconds = start.elapsed().as_secs_f64();
    for (operation, path) in operations(args) {
        let other = load(path)?;
        let (other, _) = mesh_to_sparse(&other, &settings).map_err(refused(path))?;
        grid = grid.combined(operation, &other).map_err(refused(path))?;
        grid.reinitialise(&Reinit::default()).map_err(refused(path))?;
        grid.track();
    }
    if args.offset != 0.0 {
        let speed = args.offset.signum();
        grid.move_along_normal(&|_| speed, args.offset.abs(), &Evolution::default())
            .map_err(refused(&args.mesh))?;
    }
    if args.smooth > 0.0 {
        // Mean-curvature motion over time t rounds off features of size √(2t).
        let time = 0.5 * args.smooth * args.smooth;
        grid.smooth(1.0, time, None, &Evolution::default()).map_err(refused(&args.mesh))?;
    }
    write(&args.output, &grid)?;
    let summary = summary(&mesh, &grid, &report, seconds)?;
    for line in sentences(&summary, &report) {
        output.say(line);
    }
    output.say(format!("wrote {}", args.output.display()));
    output.result(&summary);
    Ok(())
}

fn load(path: &Path) -> Result<TriMesh, Failure> {
    Ok(read_mesh(path)?.mesh)
}

/// Turns a refusal into a message that names the file.
pub(super) fn refused(path: &Path) -> impl Fn(LevelSetError) -> Failure {
    let path = path.display().to_string();
    move |error| Failure::BadInput(format!("{path}: {error}"))
}

fn settings(args: &SdfArgs, mesh: &TriMesh) -> Result<MeshToSdf, Failure> {
    let size = Aabb::of_points(&mesh.positions).size().max_element();
    let spacing = match (args.voxel_size, args.resolution) {
        (Some(h), _) => h,
        (None, n) => size / f64::from(n.unwrap_or(256).max(1)),
    };
    if args.half_width < 2.0 {
        return Err(Failure::bad_input(
            format!("a band of {} voxels is too narrow", args.half_width),
            "give --half-width at least 2; level-set tools expect 3",
        ));
    }
    let mut settings = MeshToSdf::with_spacing(spacing);
    settings.frame.half_width = args.half_width;
    settings.thickness = args.thickness;
    settings.memory_limit = (args.max_memory * 1e9) as u64;
    Ok(settings)
}

/// The booleans asked for: unions, then intersections, then differences.
fn operations(args: &SdfArgs) -> Vec<(Csg, &Path)> {
    let SdfOperation { union, intersect, subtract } = &args.operation;
    let each = [(Csg::Union, union), (Csg::Intersection, intersect), (Csg::Difference, subtract)];
    each.into_iter().flat_map(|(op, paths)| paths.iter().map(move |p| (op, p.as_path()))).collect()
}

fn write(path: &Path, grid: &SparseGrid) -> Result<(), Failure> {
    let name = path.file_stem().and_then(|s| s.to_str()).unwrap_or("surface");
    match path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase().as_str() {
        "vdb" => {
            let grid = AnyVdbGrid::Float(VdbGrid::from_level_set(name, grid));
            Ok(vdb::write(path, &[grid], vdb::Compression::Zip)?)
        }
        "json" => write_json(path, grid),
        "ply" | "obj" | "stl" => write_level_set_mesh(path, grid, false).map(|_| ()),
        _ => Err(Failure::bad_input(
            format!("{} has no ending that says what to write", path.display()),
            "end the name in .vdb, .json, .ply, .obj or .stl",
        )),
    }
}

/// Blocks with coordinates and values, for programs without a VDB reader.
fn write_json(path: &Path, grid: &SparseGrid) -> Result<(), Failure> {
    let block = |b: usize| json!({"at": grid.blocks()[b], "values": grid.block(b)});
    let value = json!({
        "kind": "billow sparse level set",
        "spacing": grid.frame().spacing,
        "origin": grid.frame().origin.to_array(),
        "half_width": grid.frame().half_width,
        "block_edge": grid.edge(),
        "blocks": (0..grid.blocks().len()).map(block).collect::<Vec<_>>(),
    });
    Ok(billow::io::atomic::write(path, value.to_string().as_bytes())?)
}

fn summary(mesh: &TriMesh, grid: &SparseGrid, report: &MeshReport, seconds: f64) -> Result<Value, Failure> {
    let surface = surface_nets(grid).map_err(|e| Failure::System(e.to_string()))?.triangulated();
    let bounds = grid.sample_bounds();
    let dims = bounds.map_or([0; 3], |(lo, hi)| std::array::from_fn(|a| hi[a] - lo[a] + 1));
    Ok(json!({
        "ok": true,
        "voxel_size": grid.frame().spacing,
        "dims": dims,
        "blocks": grid.blocks().len(),
        "active_voxels": grid.active_samples(),
        "surface_voxels": grid.surface_samples(),
        "bytes": grid.bytes(),
        "seconds": seconds,
        "mesh": {
            "triangles": report.triangles,
            "degenerate": report.degenerate,
            "open_edges": report.open_edges,
            "volume": mesh.volume(),
            "area": report.mesh_area,
        },
        "surface": {"volume": surface.volume(), "area": surface.area()},
        "sign": if report.method == SignMethod::Winding { "winding" } else { "votes" },
        "split_votes": report.split_votes,
        "leak_edges": report.leak_edges,
        "leak_area": report.leak_edges as f64 * grid.frame().spacing.powi(2),
    }))
}

fn sentences(summary: &Value, report: &MeshReport) -> Vec<String> {
    let number = |path: &str| summary.pointer(path).and_then(Value::as_f64).unwrap_or(0.0);
    let dims: Vec<String> = (0..3).map(|a| number(&format!("/dims/{a}")).to_string()).collect();
    let mut lines = vec![
        format!(
            "{} voxels of {} m, {:.0} active, {} in {}",
            dims.join(" × "),
            number("/voxel_size"),
            number("/active_voxels"),
            bytes(number("/bytes") as u64),
            duration(number("/seconds"))
        ),
        format!(
            "volume {:.6} m³ (mesh {:.6}), area {:.6} m² (mesh {:.6})",
            number("/surface/volume"),
            number("/mesh/volume"),
            number("/surface/area"),
            number("/mesh/area")
        ),
    ];
    if report.open_edges > 0 {
        lines.push(format!(
            "the mesh leaks: {} open edges, {} samples on which rays disagree, holes of {:.3e} m² closed ({:.2} % of the \
             area)",
            report.open_edges,
            report.split_votes,
            number("/leak_area"),
            100.0 * number("/leak_area") / number("/mesh/area").max(f64::MIN_POSITIVE)
        ));
    }
    if report.degenerate > 0 {
        lines.push(format!("{} triangles without area were left out", report.degenerate));
    }
    lines
}

/// Where a mesh's normals go: kept here for `surface`.
pub(super) fn single_precision(v: &[Vec3]) -> Vec<[f32; 3]> {
    v.iter().map(|n| n.to_array().map(|c| c as f32)).collect()
}
