//! `billow surface`: the zero set of a level set as a mesh.

use super::sdf::{check_output, check_size, ending, refused, smooth};
use crate::args::SurfaceArgs;
use crate::failure::Failure;
use crate::output::{Output, measure};
use crate::progress::Stages;
use billow::geom::TriMesh;
use billow::io::export::{obj, ply, stl};
use billow::io::formats::vdb::{self, AnyVdbGrid, VdbClass};
use billow::io::{Attribute, Domain, Object, Shape, Values, atomic};
use billow::levelset::{BlockSize, Frame, Layout, LevelSetError, SparseGrid, marching_tets, surface_nets};
use billow::num::{Vec3, par};
use serde::Deserialize;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

pub(crate) fn surface(args: &SurfaceArgs, output: Output) -> Result<(), Failure> {
    par::with_threads(args.common.threads, || extract(args, output))
}

fn extract(args: &SurfaceArgs, output: Output) -> Result<(), Failure> {
    check_output(&args.output, &["ply", "obj", "stl"])?;
    check_size("--smooth", args.smooth)?;
    let stages = Stages::new(format!("reading {}", args.volume.display()), output.quiet);
    let mut grid = match ending(&args.volume).as_str() {
        "json" => read_json(&args.volume)?,
        _ => load_level_set(&args.volume, args.grid.as_deref())?,
    };
    if args.smooth > 0.0 {
        stages.enter("smoothing");
        smooth(&mut grid, args.smooth).map_err(refused(&args.volume))?;
    }
    stages.enter("extracting the surface");
    let (mesh, normals) = surface_of(&grid, args.manifold)?;
    if mesh.triangles.is_empty() {
        return Err(Failure::BadInput(format!("{}: the level set has no surface", args.volume.display())));
    }
    stages.enter(format!("writing {}", args.output.display()));
    write_mesh(&args.output, &mesh, &normals)?;
    drop(stages);
    output.say(format!(
        "{} vertices, {} triangles, volume {} m³, area {} m²; wrote {}",
        mesh.positions.len(),
        mesh.triangles.len(),
        measure(mesh.volume()),
        measure(mesh.area()),
        args.output.display()
    ));
    output.result(&json!({
        "ok": true,
        "vertices": mesh.positions.len(),
        "triangles": mesh.triangles.len(),
        "volume": mesh.volume(),
        "area": mesh.area(),
    }));
    Ok(())
}

/// The level set of a `.vdb` file: the one named, or the first.
pub(super) fn load_level_set(path: &Path, name: Option<&str>) -> Result<SparseGrid, Failure> {
    let grids = vdb::read(path)?;
    let mut names = Vec::new();
    for grid in &grids {
        let (found, class) = match grid {
            AnyVdbGrid::Float(g) => (&g.name, &g.class),
            AnyVdbGrid::Vector(g) => (&g.name, &g.class),
        };
        names.push(format!("`{found}` ({})", class.name()));
        let wanted = name.map_or(*class == VdbClass::LevelSet, |n| n == found);
        match grid {
            AnyVdbGrid::Float(g) if wanted && *class == VdbClass::LevelSet => {
                return g.to_level_set().map_err(refused(path));
            }
            _ if wanted => {
                return Err(Failure::bad_input(
                    format!("{}: the grid `{found}` is no level set but {}", path.display(), class.name()),
                    "only level sets have a surface here: a fog volume does not say where its border is",
                ));
            }
            _ => {}
        }
    }
    Err(Failure::bad_input(
        match name {
            Some(name) => format!("{} has no grid `{name}`", path.display()),
            None => format!("{} holds no level set", path.display()),
        },
        format!("it holds {}", if names.is_empty() { "no grids".into() } else { names.join(", ") }),
    ))
}

/// What `billow sdf` writes as JSON.
#[derive(Deserialize)]
struct JsonGrid {
    spacing: f64,
    origin: [f64; 3],
    half_width: f64,
    block_edge: usize,
    inside: Vec<[i32; 3]>,
    blocks: Vec<JsonBlock>,
}

#[derive(Deserialize)]
struct JsonBlock {
    at: [i32; 3],
    values: Vec<f32>,
}

/// The level set of a `.json` file.
fn read_json(path: &Path) -> Result<SparseGrid, Failure> {
    let damaged = |what: String| {
        Failure::bad_input(format!("{}: {what}", path.display()), "give a file that `billow sdf` wrote")
    };
    let text = std::fs::read_to_string(path)
        .map_err(|e| Failure::BadInput(format!("cannot read {}: {e}", path.display())))?;
    let json: JsonGrid = serde_json::from_str(&text).map_err(|e| damaged(format!("no level set: {e}")))?;
    let block = match json.block_edge {
        4 => BlockSize::Four,
        8 => BlockSize::Eight,
        other => return Err(damaged(format!("blocks of {other}³ samples, not 4³ or 8³"))),
    };
    let frame = Frame { origin: Vec3::from(json.origin), spacing: json.spacing, half_width: json.half_width };
    let mut grid = SparseGrid::empty(frame, Layout { block, ..Layout::default() }).map_err(refused(path))?;
    let far = i32::MAX / 16;
    for JsonBlock { at, values } in &json.blocks {
        if values.len() != block.volume()
            || values.iter().any(|v| v.is_nan())
            || at.iter().any(|c| c.abs() > far)
        {
            return Err(damaged(format!("the block at {at:?} does not hold {} numbers", block.volume())));
        }
        grid.insert_block(*at, values);
    }
    for &at in json.inside.iter().filter(|at| at.iter().all(|c| c.abs() <= far)) {
        let edge = json.block_edge as i32;
        grid.insert_inside_cube(at.map(|c| c * edge), edge);
    }
    Ok(grid)
}

/// The surface and its normals.
fn surface_of(grid: &SparseGrid, manifold: bool) -> Result<(TriMesh, Vec<[f32; 3]>), Failure> {
    let failed = |e: LevelSetError| Failure::System(e.to_string());
    if manifold {
        let m = marching_tets(grid).map_err(failed)?;
        return Ok((m.mesh, m.normals));
    }
    let quads = surface_nets(grid).map_err(failed)?;
    Ok((quads.triangulated(), quads.normals))
}

pub(super) fn write_mesh(path: &Path, mesh: &TriMesh, normals: &[[f32; 3]]) -> Result<(), Failure> {
    let shape = Shape::Triangles {
        positions: Arc::new(mesh.positions.clone()),
        triangles: Arc::new(mesh.triangles.clone()),
    };
    let mut object = Object::new("surface", shape);
    object.attributes.push(Attribute {
        name: "normal".into(),
        domain: Domain::Vertex,
        values: Values::Vector(Arc::new(normals.to_vec())),
    });
    let objects = [&object];
    let bytes = match ending(path).as_str() {
        "ply" => ply::write(&objects, ply::Precision::Double),
        "stl" => stl::write(&objects),
        _ => {
            let mut text = String::new();
            obj::write(&mut text, &objects, 0);
            text.into_bytes()
        }
    };
    Ok(atomic::write(path, &bytes)?)
}
