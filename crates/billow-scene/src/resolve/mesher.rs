//! Meshes made anew: filled with tetrahedra, or given an even surface, by the mesher ([Bri03] 5).

use super::find;
use super::mesh::MeshEntry;
use crate::read::log::Log;
use crate::tables::mesher::{Make, MesherTable};
use crate::tables::{AnyMesh, SceneTable};
use billow_geom::TriMesh;
use billow_io::Shape;
use billow_levelset::Collider;
use billow_meshing::{DistanceField, Mesher, Sizing, Trim, mesh, trim};
use std::sync::Arc;

/// Most tetrahedra of a lattice, those outside the shape and those refined included.
const MOST_TETRAHEDRA: usize = 5_000_000;

/// The mesh of entry `k` made anew, if the scene asks for it; `Err` if it cannot be, which the log then says.
pub(super) fn made_anew(
    table: &SceneTable,
    all: &[Option<MeshEntry>],
    k: usize,
    log: &mut Log,
) -> Option<Result<AnyMesh, ()>> {
    let (name, entry) = &table.mesh.entries[k];
    let settings = entry.mesher.value.as_ref()?;
    let old = all[k].as_ref()?;
    let made = remake(table, all, (old, settings), log);
    Some(made.map_err(|message| {
        if let Some(message) = message {
            log.error(entry.mesher.span, format!("the mesh `{}`: {message}", name.value));
        }
    }))
}

/// The new mesh; `Err(None)` if the log already knows why there is none.
fn remake(
    table: &SceneTable,
    all: &[Option<MeshEntry>],
    (old, settings): (&MeshEntry, &MesherTable),
    log: &mut Log,
) -> Result<AnyMesh, Option<String>> {
    let solid = level_set(old, settings)?;
    let meshed = mesh(&*solid, &Mesher::new(sizing(&*solid, settings))).map_err(|e| Some(e.to_string()))?;
    let Some(knife) = &settings.trim.value else {
        return Ok(match settings.make.value {
            Make::Tetrahedra => AnyMesh::Tets(meshed.candidate.mesh),
            Make::Surface => AnyMesh::Triangles(meshed.candidate.surface()),
        });
    };
    if settings.make.value == Make::Tetrahedra {
        log.error(settings.trim.span, "only a surface can be trimmed").help("add make = \"surface\"");
        return Err(None);
    }
    let knife = find(&knife.0, settings.trim.span, "mesh", &table.mesh, log).ok_or(None)?;
    let knife = level_set(all[knife].as_ref().ok_or(None)?, settings)?;
    trim(&meshed.candidate.surface(), &*solid, &*knife, &Trim::default())
        .map(AnyMesh::Triangles)
        .map_err(|e| Some(e.to_string()))
}

/// The distance to a shape: by its formula, or sampled.
fn level_set(entry: &MeshEntry, settings: &MesherTable) -> Result<Arc<dyn Collider>, Option<String>> {
    if let Some(exact) = &entry.exact {
        return Ok(Arc::clone(&exact.shape));
    }
    let Shape::Triangles { positions, triangles } = &entry.shape else {
        return Err(Some("it has tetrahedra already".into()));
    };
    if entry.solid.is_none() {
        return Err(Some(format!(
            "only closed shapes have an inside, and this one has {}",
            entry.open_reason
        )));
    }
    let surface = TriMesh { positions: positions.to_vec(), triangles: triangles.to_vec() };
    let field = DistanceField::of_mesh(&surface, f64::from(settings.resolution.value));
    Ok(Arc::new(field.map_err(|e| Some(e.to_string()))?))
}

fn sizing(solid: &dyn Collider, settings: &MesherTable) -> Sizing<'static> {
    let size = solid.bounds(0.0).size();
    let surface = settings.size.unwrap_or(size.length() / 40.0);
    let finest = surface / f64::from(1u32 << settings.finer.value);
    let levels = settings.finer.value + settings.coarser.value;
    Sizing {
        curvature: settings.curvature.value,
        interpolation: 0.25,
        difference: (size.max_element() / f64::from(settings.resolution.value)).min(0.5 * surface),
        limit: MOST_TETRAHEDRA,
        ..Sizing::adaptive(finest, surface, levels)
    }
}
