//! `billow sdf`: signed distance of a mesh, with booleans and smoothing.

use super::surface::write_mesh;
use crate::args::{SdfArgs, SdfOperation};
use crate::failure::Failure;
use crate::output::{Output, bytes, duration, measure};
use crate::progress::Stages;
use billow::geom::{Aabb, TriMesh};
use billow::io::formats::vdb::{self, AnyVdbGrid, VdbGrid};
use billow::io::read_mesh;
use billow::levelset::{
    Csg, Evolution, LevelSetError, MeshReport, MeshToSdf, QuadMesh, Reinit, SignMethod, SparseGrid,
    mesh_to_sparse, surface_nets,
};
use billow::num::par;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;

pub(crate) fn sdf(args: &SdfArgs, output: Output) -> Result<(), Failure> {
    par::with_threads(args.common.threads, || convert(args, output))
}

fn convert(args: &SdfArgs, output: Output) -> Result<(), Failure> {
    check(args)?;
    let stages = Stages::new(format!("reading {}", args.mesh.display()), output.quiet);
    let mesh = load(&args.mesh)?;
    let settings = settings(args, &mesh)?;
    stages.enter("measuring distances");
    let start = Instant::now();
    let (mut grid, report) = mesh_to_sparse(&mesh, &settings).map_err(refused(&args.mesh))?;
    let seconds = start.elapsed().as_secs_f64();
    for (operation, path) in operations(args) {
        stages.enter(format!("combining with {}", path.display()));
        let other = load(path)?;
        let (other, _) = mesh_to_sparse(&other, &settings).map_err(refused(path))?;
        grid = grid.combined(operation, &other).map_err(refused(path))?;
        grid.reinitialise(&Reinit::default()).map_err(refused(path))?;
        grid.track();
    }
    if args.offset != 0.0 {
        stages.enter("offsetting");
        let speed = args.offset.signum();
        grid.move_along_normal(&|_| speed, args.offset.abs(), &Evolution::default())
            .map_err(refused(&args.mesh))?;
    }
    if args.smooth > 0.0 {
        stages.enter("smoothing");
        smooth(&mut grid, args.smooth).map_err(refused(&args.mesh))?;
    }
    stages.enter("extracting the surface");
    let surface = surface_nets(&grid).map_err(|e| Failure::System(e.to_string()))?;
    if surface.quads.is_empty() {
        return Err(nothing_left(args, grid.frame().spacing));
    }
    stages.enter(format!("writing {}", args.output.display()));
    write(args, &grid, &surface)?;
    let summary = summary(&mesh, &grid, &surface.triangulated(), &report, seconds);
    drop(stages);
    for line in sentences(args, &summary, &report) {
        output.say(line);
    }
    output.say(format!("wrote {}", args.output.display()));
    output.result(&summary);
    Ok(())
}

/// Refuses numbers and names that cannot be used, before any work is done.
fn check(args: &SdfArgs) -> Result<(), Failure> {
    check_output(&args.output, &["vdb", "json", "ply", "obj", "stl"])?;
    check_size("--smooth", args.smooth)?;
    if !args.offset.is_finite() {
        return Err(Failure::bad_input(
            format!("--offset is {}", args.offset),
            "give a distance in metres, negative to shrink",
        ));
    }
    if args.resolution == Some(0) {
        return Err(Failure::bad_input(
            "--resolution is 0",
            "give the voxels along the mesh's longest side, 256 say",
        ));
    }
    if args.half_width.is_nan() || args.half_width < 2.0 {
        return Err(Failure::bad_input(
            format!("a band of {} voxels is too narrow", args.half_width),
            "give --half-width at least 2; level-set tools expect 3",
        ));
    }
    if args.fog && ending(&args.output) != "vdb" {
        return Err(Failure::bad_input(
            format!("{} cannot hold a fog volume", args.output.display()),
            "end the name in .vdb, or leave out --fog",
        ));
    }
    Ok(())
}

/// Refuses a size that is negative or no number.
pub(super) fn check_size(name: &str, size: f64) -> Result<(), Failure> {
    if size >= 0.0 && size.is_finite() {
        return Ok(());
    }
    Err(Failure::bad_input(format!("{name} is {size}"), "give a size in metres, at least 0"))
}

/// Refuses a file name that does not say what to write, or lies in a folder that is not there.
pub(super) fn check_output(path: &Path, endings: &[&str]) -> Result<(), Failure> {
    if !endings.contains(&ending(path).as_str()) {
        let (last, rest) = endings.split_last().unwrap_or((&"", &[]));
        let rest: Vec<String> = rest.iter().map(|e| format!(".{e}")).collect();
        return Err(Failure::bad_input(
            format!("{} has no ending that says what to write", path.display()),
            format!("end the name in {} or .{last}", rest.join(", ")),
        ));
    }
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => Err(Failure::bad_input(
            format!("cannot write {}: there is no folder {}", path.display(), folder.display()),
            "make the folder, or choose another place",
        )),
        _ => Ok(()),
    }
}

/// What follows the last dot of a file's name, in small letters.
pub(super) fn ending(path: &Path) -> String {
    path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase()
}

/// Mean-curvature motion that rounds off features of a size [m]: over time t those of size √(2t) go.
pub(super) fn smooth(grid: &mut SparseGrid, size: f64) -> Result<(), LevelSetError> {
    grid.smooth(1.0, 0.5 * size * size, None, &Evolution::default()).map(|_| ())
}

/// The refusal of a result without any inside.
fn nothing_left(args: &SdfArgs, spacing: f64) -> Failure {
    let cause = if args.offset < 0.0 || args.smooth > 0.0 || !operations(args).is_empty() {
        "use a smaller offset, less smoothing or other booleans"
    } else {
        "use smaller voxels"
    };
    Failure::bad_input(
        format!("{}: nothing is left inside on voxels of {spacing} m", args.mesh.display()),
        cause,
    )
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
        (None, n) => size / f64::from(n.unwrap_or(256)),
    };
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

fn write(args: &SdfArgs, grid: &SparseGrid, surface: &QuadMesh) -> Result<(), Failure> {
    let path = &args.output;
    let name = path.file_stem().and_then(|s| s.to_str()).unwrap_or("surface");
    match ending(path).as_str() {
        "vdb" => {
            let make = if args.fog { VdbGrid::fog_of_level_set } else { VdbGrid::from_level_set };
            Ok(vdb::write(path, &[AnyVdbGrid::Float(make(name, grid))], vdb::Compression::Zip)?)
        }
        "json" => write_json(path, grid),
        _ => write_mesh(path, &surface.triangulated(), &surface.normals),
    }
}

/// Blocks with coordinates and values, for programs without a VDB reader.
fn write_json(path: &Path, grid: &SparseGrid) -> Result<(), Failure> {
    let block = |b: usize| json!({"at": grid.blocks()[b], "values": grid.block(b)});
    let mut inside = Vec::new();
    grid.for_each_inside_block(|block| inside.push(block));
    let value = json!({
        "kind": "billow sparse level set",
        "spacing": grid.frame().spacing,
        "origin": grid.frame().origin.to_array(),
        "half_width": grid.frame().half_width,
        "block_edge": grid.edge(),
        "inside": inside,
        "blocks": (0..grid.blocks().len()).map(block).collect::<Vec<_>>(),
    });
    Ok(billow::io::atomic::write(path, value.to_string().as_bytes())?)
}

fn summary(mesh: &TriMesh, grid: &SparseGrid, surface: &TriMesh, report: &MeshReport, seconds: f64) -> Value {
    let bounds = grid.sample_bounds();
    let dims = bounds.map_or([0; 3], |(lo, hi)| std::array::from_fn(|a| hi[a] - lo[a] + 1));
    json!({
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
    })
}

fn sentences(args: &SdfArgs, summary: &Value, report: &MeshReport) -> Vec<String> {
    let number = |path: &str| summary.pointer(path).and_then(Value::as_f64).unwrap_or(0.0);
    let dims: Vec<String> = (0..3).map(|a| number(&format!("/dims/{a}")).to_string()).collect();
    let changed = args.offset != 0.0 || args.smooth > 0.0 || !operations(args).is_empty();
    let before = if changed { " before" } else { "" };
    // The volume of an open mesh depends on where the origin is.
    let mesh_volume = match report.open_edges {
        0 => format!("{}{before}", measure(number("/mesh/volume"))),
        _ => "open".into(),
    };
    let mut lines = vec![
        format!(
            "{} voxels of {} m, {:.0} active, {} in {}",
            dims.join(" × "),
            measure(number("/voxel_size")),
            number("/active_voxels"),
            bytes(number("/bytes") as u64),
            duration(number("/seconds"))
        ),
        format!(
            "volume {} m³ (mesh {mesh_volume}), area {} m² (mesh {}{before})",
            measure(number("/surface/volume")),
            measure(number("/surface/area")),
            measure(number("/mesh/area"))
        ),
    ];
    if report.open_edges > 0 {
        lines.push(format!(
            "the mesh leaks: {} open edges, {} samples on which rays disagree, holes of {} m² closed ({:.2} % of the \
             area)",
            report.open_edges,
            report.split_votes,
            measure(number("/leak_area")),
            100.0 * number("/leak_area") / number("/mesh/area").max(f64::MIN_POSITIVE)
        ));
    }
    if report.degenerate > 0 {
        lines.push(format!("{} triangles without area were left out", report.degenerate));
    }
    lines
}
