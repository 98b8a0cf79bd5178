//! `billow surface`: the zero set of a level set as a mesh.

use super::sdf::{refused, single_precision};
use crate::args::SurfaceArgs;
use crate::failure::Failure;
use crate::output::Output;
use billow::geom::TriMesh;
use billow::io::export::{obj, ply, stl};
use billow::io::formats::vdb::{self, AnyVdbGrid, VdbClass};
use billow::io::{Attribute, Domain, Object, Shape, Values, atomic};
use billow::levelset::{Evolution, SparseGrid, marching_tets, surface_nets};
use billow::num::{Vec3, par};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

pub(crate) fn surface(args: &SurfaceArgs, output: Output) -> Result<(), Failure> {
    par::with_threads(args.common.threads, || extract(args, output))
}

fn extract(args: &SurfaceArgs, output: Output) -> Result<(), Failure> {
    let mut grid = load_level_set(&args.volume, args.grid.as_deref())?;
    if args.smooth > 0.0 {
        let time = 0.5 * args.smooth * args.smooth;
        grid.smooth(1.0, time, None, &Evolution::default()).map_err(refused(&args.volume))?;
    }
    let mesh = write_level_set_mesh(&args.output, &grid, args.manifold)?;
    output.say(format!(
        "{} vertices, {} triangles, volume {:.6} m³, area {:.6} m²; wrote {}",
        mesh.positions.len(),
        mesh.triangles.len(),
        mesh.volume(),
        mesh.area(),
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
fn load_level_set(path: &Path, name: Option<&str>) -> Result<SparseGrid, Failure> {
    let grids = vdb::read(path)?;
    let mut names = Vec::new();
    for grid in &grids {
        let (found, class) = match grid {
            AnyVdbGrid::Float(g) => (&g.name, &g.class),
            AnyVdbGrid::Vector(g) => (&g.name, &g.class),
        };
        names.push(format!("`{found}` ({})", class.name()));
        let wanted = name.map_or(*class == VdbClass::LevelSet, |n| n == found);
        if let (AnyVdbGrid::Float(g), true) = (grid, wanted) {
            return g.to_level_set().map_err(refused(path));
        }
    }
    Err(Failure::bad_input(
        match name {
            Some(name) => format!("{} has no float grid `{name}`", path.display()),
            None => format!("{} holds no level set", path.display()),
        },
        format!("it holds {}", if names.is_empty() { "no grids".into() } else { names.join(", ") }),
    ))
}

/// Extracts and writes the surface; returns it.
pub(super) fn write_level_set_mesh(
    path: &Path,
    grid: &SparseGrid,
    manifold: bool,
) -> Result<TriMesh, Failure> {
    let failed = |e: billow::levelset::LevelSetError| Failure::System(e.to_string());
    let (mesh, normals) = if manifold {
        let m = marching_tets(grid).map_err(failed)?;
        (m.mesh, m.normals)
    } else {
        let quads = surface_nets(grid).map_err(failed)?;
        (quads.triangulated(), quads.normals)
    };
    write_mesh(path, &mesh, &normals)?;
    Ok(mesh)
}

fn write_mesh(path: &Path, mesh: &TriMesh, normals: &[Vec3]) -> Result<(), Failure> {
    let shape = Shape::Triangles {
        positions: Arc::new(mesh.positions.clone()),
        triangles: Arc::new(mesh.triangles.clone()),
    };
    let mut object = Object::new("surface", shape);
    object.attributes.push(Attribute {
        name: "normal".into(),
        domain: Domain::Vertex,
        values: Values::Vector(Arc::new(single_precision(normals))),
    });
    let objects = [&object];
    let bytes =
        match path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase().as_str() {
            "ply" => ply::write(&objects, ply::Precision::Double),
            "stl" => stl::write(&objects),
            "obj" => {
                let mut text = String::new();
                obj::write(&mut text, &objects, 0);
                text.into_bytes()
            }
            _ => {
                return Err(Failure::bad_input(
                    format!("{} has no ending that says what to write", path.display()),
                    "end the name in .ply, .obj or .stl",
                ));
            }
        };
    Ok(atomic::write(path, &bytes)?)
}
