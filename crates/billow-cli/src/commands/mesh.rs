//! `billow mesh`: tetrahedra inside a surface or a level set.

use super::mesh_pictures::{cutaway, histogram};
use super::mesh_trim::{sentence, surface_text, trimmed};
use super::sdf::refused;
use super::surface::load_level_set;
use crate::args::{MeshArgs, Method};
use crate::failure::Failure;
use crate::memory::peak_bytes;
use crate::output::{Output, bytes, duration};
use crate::progress::Bar;
use billow::geom::{Aabb, TriMesh};
use billow::io::export::tets::{self, TetFormat};
use billow::io::{atomic, read_mesh};
use billow::levelset::{Collider, Evolution, MeshToSdf, SparseGrid, mesh_to_sparse, surface_nets};
use billow::meshing::{
    Body, Closeness, Compression, DistanceField, Meshed, Mesher, MeshingError, Quality, Sizing, mesh,
};
use billow::num::par;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;

/// Sweeps of the physical ways of compression.
const SIMULATED_SWEEPS: u32 = 120;
/// Typical shares of the time that are gone when the distances are known, and when the report begins.
const DISTANCES: f64 = 0.15;
const REPORT: f64 = 0.92;

pub(crate) fn run(args: &MeshArgs, output: Output) -> Result<(), Failure> {
    par::with_threads(args.common.threads, || make(args, output))
}

fn make(args: &MeshArgs, output: Output) -> Result<(), Failure> {
    let format = format(args)?;
    let start = Instant::now();
    let bar = Bar::new("mesh", output.quiet);
    bar.stage("distances", 0.0);
    let (grid, surface) = load(&args.input, args)?;
    let field = DistanceField::new(grid);
    let loaded = start.elapsed().as_secs_f64();
    let progress = |stage, share: f64| bar.stage(stage, DISTANCES + (REPORT - DISTANCES) * share);
    let mesher = Mesher { progress: Some(&progress), ..mesher(args, &field) };
    let meshed = mesh(&field, &mesher).map_err(|e| failed(&args.input, &e))?;
    let seconds = start.elapsed().as_secs_f64();
    let quality = Quality::new(&meshed.candidate.mesh);
    if let Some(knife) = &args.trim {
        bar.stage("trimming", REPORT);
        let knife = DistanceField::new(load(knife, args)?.0);
        let (trimmed, mut summary) = trimmed(&args.input, &meshed.candidate, &field, &knife)?;
        summary["seconds"] = json!(start.elapsed().as_secs_f64());
        atomic::write(&args.output, surface_text(&trimmed).as_bytes())?;
        drop(bar);
        output.say(sentence(&summary));
        output.say(format!("wrote {}", args.output.display()));
        return finish(args, output, &meshed, &quality, &summary);
    }
    atomic::write(&args.output, &tets::write(&meshed.candidate.mesh, &meshed.candidate.boundary, format))?;
    bar.stage("measuring", REPORT);
    let reference = surface_nets(field.near()).map_err(refused(&args.input))?.triangulated();
    let boundary = meshed.candidate.surface();
    let closeness = Closeness::new(&boundary, &reference);
    let mut summary = summary(&meshed, &quality, &closeness, &reference, [loaded, seconds]);
    // The file itself may have scraps and inner sheets that bound nothing, so it is measured apart.
    let file = surface.map(|surface| Closeness::new(&boundary, &surface));
    summary["seconds_with_report"] = json!(start.elapsed().as_secs_f64());
    drop(bar);
    sentences(&summary, &meshed, &closeness).iter().for_each(|line| output.say(line));
    if let Some(file) = file {
        summary["input_hausdorff_to"] = json!(file.out_to_in);
        summary["input_hausdorff_from"] = json!(file.in_to_out);
        let [to, from] = [file.out_to_in, file.in_to_out].map(|d| 100.0 * d / file.diagonal);
        output.say(format!("distance to the file's triangles {to:.4} %, from all of them {from:.4} %"));
    }
    output.say(format!("wrote {}", args.output.display()));
    finish(args, output, &meshed, &quality, &summary)
}

/// The format that the output's name asks for; a trimmed result is a surface.
fn format(args: &MeshArgs) -> Result<TetFormat, Failure> {
    let ending = args.output.extension().and_then(|e| e.to_str()).unwrap_or_default();
    match TetFormat::of_ending(ending) {
        Some(format) if args.trim.is_none() || format == TetFormat::Obj => Ok(format),
        Some(_) => {
            let what = format!("{} holds tetrahedra, --trim leaves a surface", args.output.display());
            Err(Failure::bad_input(what, "end the name in .obj"))
        }
        None => {
            let what = format!("{} has no ending that says what to write", args.output.display());
            Err(Failure::bad_input(what, "end the name in .vtu, .msh, .mesh, or .obj for the boundary alone"))
        }
    }
}

/// Pictures, then the JSON object.
fn finish(
    args: &MeshArgs,
    output: Output,
    meshed: &Meshed,
    quality: &Quality,
    summary: &Value,
) -> Result<(), Failure> {
    if let Some(path) = &args.histogram {
        histogram(path, quality)?;
        output.say(format!("wrote {}", path.display()));
    }
    if let Some(path) = &args.cutaway {
        cutaway(path, &meshed.candidate.mesh)?;
        output.say(format!("wrote {}", path.display()));
    }
    output.result(summary);
    Ok(())
}

/// The level set of a file, and its surface if it is a mesh.
fn load(input: &Path, args: &MeshArgs) -> Result<(SparseGrid, Option<TriMesh>), Failure> {
    let is_volume = input.extension().is_some_and(|e| e.eq_ignore_ascii_case("vdb"));
    let (mut grid, surface) = if is_volume {
        (load_level_set(input, args.grid.as_deref())?, None)
    } else {
        let surface = read_mesh(input)?.mesh;
        let longest = Aabb::of_points(&surface.positions).size().max_element();
        let mut settings = MeshToSdf::with_spacing(longest / f64::from(args.resolution.max(4)));
        settings.frame.half_width = 4.0;
        (mesh_to_sparse(&surface, &settings).map_err(refused(input))?.0, Some(surface))
    };
    if args.smooth > 0.0 {
        // Mean-curvature motion over time t rounds off features of size √(2t).
        let time = 0.5 * args.smooth * args.smooth;
        grid.smooth(1.0, time, None, &Evolution::default()).map_err(refused(input))?;
    }
    Ok((grid, surface))
}

fn mesher(args: &MeshArgs, field: &DistanceField) -> Mesher<'static> {
    let diagonal = field.bounds(0.0).size().length();
    let surface = args.size.unwrap_or(diagonal / 80.0);
    let finest = surface / f64::from(1u32 << args.finer.min(15));
    let mut sizing = Sizing::adaptive(finest, surface, (args.finer + args.coarser).min(16));
    sizing.curvature = args.curvature;
    sizing.interpolation = args.interpolation;
    sizing.difference = field.near().frame().spacing;
    sizing.limit = args.max_tets.saturating_mul(4);
    let simulate = |body| Compression::Simulate { body, sweeps: SIMULATED_SWEEPS };
    let compression = match args.method {
        Method::Optimise => Compression::Optimise,
        Method::Springs => simulate(Body::Springs),
        Method::Elements => simulate(Body::ELEMENTS),
    };
    let mut mesher = Mesher { compression, ..Mesher::new(sizing) };
    mesher.selection.remove_degree_three = !args.keep_degree_three;
    mesher.optimisation.sharp = args.sharp;
    mesher
}

pub(super) fn failed(path: &Path, error: &MeshingError) -> Failure {
    let text = format!("{}: {error}", path.display());
    match error {
        MeshingError::Topology { .. } => Failure::Guarantee(text),
        _ => Failure::BadInput(text),
    }
}

fn summary(
    meshed: &Meshed,
    quality: &Quality,
    closeness: &Closeness,
    reference: &TriMesh,
    [loaded, total]: [f64; 2],
) -> Value {
    let sound = &meshed.soundness;
    let stages: serde_json::Map<String, Value> =
        meshed.stages.times().iter().map(|(n, t)| ((*n).into(), json!(t.elapsed.as_secs_f64()))).collect();
    json!({
        "ok": true,
        "tets": quality.tets,
        "nodes": quality.nodes,
        "boundary_triangles": sound.triangles,
        "max_aspect": quality.max_aspect,
        "mean_aspect": quality.mean_aspect,
        "min_dihedral": quality.min_dihedral,
        "max_dihedral": quality.max_dihedral,
        "edge_ratio": quality.edge_ratio,
        "shortest_edge": quality.shortest_edge,
        "longest_edge": quality.longest_edge,
        "inverted": sound.inverted,
        "bad_tets": sound.bad_tets,
        "bad_edges": sound.bad_edges,
        "pinched_edges": sound.pinched_edges,
        "pinched_nodes": sound.pinched_nodes,
        "surfaces": sound.surfaces,
        "genus": sound.genus,
        "hausdorff_to_surface": closeness.out_to_in,
        "hausdorff_from_surface": closeness.in_to_out,
        "hausdorff_relative": closeness.relative(),
        "worst_at": closeness.worst_at.to_array(),
        "mean_distance": closeness.mean,
        "diagonal": closeness.diagonal,
        "volume": quality.volume,
        "volume_error": quality.volume / reference.volume() - 1.0,
        "boundary_gap": meshed.optimisation.largest_gap,
        "lost_nodes": meshed.selection.lost_nodes,
        "unresolved_nodes": meshed.selection.unresolved,
        "sweeps": meshed.optimisation.sweeps,
        "aspects": quality.aspects,
        "dihedrals": quality.dihedrals,
        "seconds": total,
        "seconds_loading": loaded,
        "stages": stages,
        "peak_memory": peak_bytes(),
    })
}

fn sentences(summary: &Value, meshed: &Meshed, closeness: &Closeness) -> Vec<String> {
    let number = |key: &str| summary[key].as_f64().unwrap_or(f64::NAN);
    let mut lines = vec![
        format!(
            "{} tetrahedra, {} nodes, {} boundary triangles in {}, {} of memory",
            summary["tets"],
            summary["nodes"],
            summary["boundary_triangles"],
            duration(number("seconds")),
            bytes(number("peak_memory").max(0.0) as u64)
        ),
        format!(
            "aspect ratio {:.2} at most, {:.2} on average; dihedral angles {:.1}° to {:.1}°; longest over shortest edge {:.1}",
            number("max_aspect"),
            number("mean_aspect"),
            number("min_dihedral"),
            number("max_dihedral"),
            number("edge_ratio")
        ),
        format!(
            "{} closed surfaces with {} handles; no inverted tetrahedron, none with four boundary nodes, no inner edge between \
             boundary nodes",
            summary["surfaces"], summary["genus"]
        ),
        format!(
            "distance to the zero set {:.4} % of the diagonal, from it {:.4} %; volume {:+.3} %",
            100.0 * closeness.out_to_in / closeness.diagonal,
            100.0 * closeness.in_to_out / closeness.diagonal,
            100.0 * number("volume_error")
        ),
    ];
    let lost = meshed.selection.lost_nodes + meshed.selection.unresolved;
    let finest = meshed.forest.edge_length(meshed.forest.depth());
    if lost > 0 || closeness.in_to_out > 8.0 * finest.max(0.002 * closeness.diagonal) {
        let [x, y, z] = meshed.selection.lost_at.unwrap_or(closeness.worst_at.to_array());
        lines.push(format!(
            "parts thinner than the lattice are missing, for example at ({x:.4}, {y:.4}, {z:.4}): the surface is up to {:.3e} m \
             away, {lost} lattice nodes in or by it are far from the mesh; use a smaller --size or more --finer",
            closeness.in_to_out
        ));
    }
    lines
}
