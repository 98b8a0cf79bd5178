//! How a scene is shown, for the renderer: the tables of the look, with finishes that follow from materials.

use crate::read::log::Log;
use crate::read::values::MaterialName;
use crate::scene::Body;
use crate::tables::look::{
    CameraTable, Finish, GridLook, GroundTable, Lamp, LightTable, Motif, Rgb, SkyTable, SurfaceTable,
};
use crate::tables::{Preset, SceneTable};
use billow_render::{Camera, Colour, GridKind, Ground, Light, LightKind, Look, Pattern, Sky, Surface};
use std::collections::BTreeMap;

/// The look of a scene.
pub(super) fn look(table: &SceneTable, made: &[Body], log: &mut Log) -> Look {
    refuse_keys_of_volumes(table, log);
    let look = Look {
        camera: camera(&table.camera),
        lights: table.light.entries.iter().map(|(name, l)| (name.value.clone(), light(l))).collect(),
        sky: sky(&table.sky),
        ground: ground(&table.ground),
        objects: bodies(table, made).into_iter().chain(others(table, log)).collect(),
    };
    // The tables have checked every number; what is left concerns pairs of them.
    for problem in look.problems() {
        let at = table.light.entries.first().map_or(table.camera.span, |(name, _)| name.span);
        log.error(at, problem);
    }
    look
}

/// The surfaces of bodies and cloth about which anything is said.
fn bodies(table: &SceneTable, made: &[Body]) -> Vec<(String, Surface)> {
    let surfaces: BTreeMap<&str, Surface> = (table.body.entries.iter())
        .map(|(name, body)| {
            (name.value.as_str(), material_surface(table, &body.material, &body.look, Preset::Plastic))
        })
        .collect();
    let bodies = made.iter().filter_map(|body| {
        let mut surface = surfaces.get(body.group.as_str())?.clone();
        if let Some(colour) = body.colour {
            surface.colour = Some(Colour(colour.to_array().map(|c| c as f32)));
        }
        Some((body.name.clone(), surface))
    });
    let cloths = table.cloth.entries.iter().map(|(name, cloth)| {
        (name.value.clone(), material_surface(table, &cloth.material, &cloth.look, Preset::Cotton))
    });
    bodies.chain(cloths).filter(|(_, surface)| *surface != unspecified()).collect()
}

/// Keys that say nothing about a mesh do not belong to bodies.
fn refuse_keys_of_volumes(table: &SceneTable, log: &mut Log) {
    let bodies = table.body.entries.iter().map(|(name, body)| ("body", name, &body.look));
    let cloths = table.cloth.entries.iter().map(|(name, cloth)| ("cloth", name, &cloth.look));
    for (what, name, look) in bodies.chain(cloths) {
        for (key, given, span) in [
            ("radius", look.radius.given, look.radius.span),
            ("grid", look.grid.given, look.grid.span),
            ("density", look.density.given, look.density.span),
            ("anisotropy", look.anisotropy.given, look.anisotropy.span),
            ("noise", look.noise.given, look.noise.span),
        ] {
            if given {
                log.error(
                    span,
                    format!("`{key}` says nothing about the {what} `{}`, which is a mesh", name.value),
                )
                .help("it is for particles, threads and grids, by their names: [look.NAME]");
            }
        }
    }
}

/// The surfaces of objects that are not bodies.
fn others(table: &SceneTable, log: &mut Log) -> Vec<(String, Surface)> {
    for (name, _) in &table.look.entries {
        if table.body.names().any(|body| body == name.value) {
            log.error(name.span, format!("`{}` is a body", name.value))
                .help(format!("say how it is shown in [body.{}.look]", name.value));
        }
    }
    table.look.entries.iter().map(|(name, look)| (name.value.clone(), surface(look))).collect()
}

fn camera(table: &CameraTable) -> Camera {
    let default = Camera::default();
    Camera {
        position: table.position.map(|v| v.to_array()),
        target: table.target.map(|v| v.to_array()),
        direction: table.direction.map(|v| v.to_array()),
        up: None,
        fov: table.fov.unwrap_or(default.fov),
        margin: table.margin.unwrap_or(default.margin),
        lens: table.lens.unwrap_or(default.lens),
        focus: table.focus.value,
        shutter: table.shutter.unwrap_or(default.shutter),
        exposure: table.exposure.unwrap_or(default.exposure),
    }
}

fn light(table: &LightTable) -> Light {
    let default = Light::default();
    let (kind, power) = match table.kind.value {
        Lamp::Disc => (LightKind::Disc, default.power),
        Lamp::Sphere => (LightKind::Sphere, default.power),
        Lamp::Sun => (LightKind::Sun, 3.0),
    };
    Light {
        kind,
        position: table.position.to_array(),
        target: table.target.to_array(),
        size: table.size.unwrap_or(default.size),
        colour: colour(&table.colour).unwrap_or(default.colour),
        power: table.power.unwrap_or(power),
    }
}

fn sky(table: &SkyTable) -> Sky {
    let default = Sky::default();
    Sky {
        zenith: colour(&table.zenith).unwrap_or(default.zenith),
        horizon: colour(&table.horizon).unwrap_or(default.horizon),
        light: table.light.unwrap_or(default.light),
    }
}

fn ground(table: &GroundTable) -> Ground {
    let default = Ground::default();
    Ground {
        visible: table.visible.value,
        height: table.height.value,
        colour: colour(&table.colour).unwrap_or(default.colour),
        checks: colour(&table.checks),
        check_size: table.check_size.value,
        roughness: table.roughness.unwrap_or(default.roughness),
    }
}

fn colour(value: &Option<Rgb>) -> Option<Colour> {
    value.map(|c| c.0)
}

/// The surface of a body or cloth: its material's finish and colour, with what its `look` says instead.
fn material_surface(
    scene: &SceneTable,
    material: &Option<MaterialName>,
    look: &SurfaceTable,
    plain: Preset,
) -> Surface {
    let said = surface(look);
    let material =
        material.as_ref().and_then(|name| scene.material.entries.iter().find(|m| m.0.value == name.0));
    let preset = material.map_or(plain, |(_, m)| m.preset.value);
    let base = finish_of(preset);
    let tint = material
        .and_then(|(_, m)| m.colour.value)
        .unwrap_or(crate::material::Material::preset(preset).colour);
    let clear = matches!(base.0, billow_render::Finish::Glass | billow_render::Finish::Water);
    Surface {
        // The tint of clear materials is the renderer's choice: their colour is what one sees in a thin sheet.
        colour: said.colour.or((!clear).then(|| Colour(tint.to_array().map(|c| c as f32)))),
        roughness: said.roughness.or(if said.finish.is_none() { base.1 } else { None }),
        finish: said.finish.or(Some(base.0)),
        ..said
    }
}

/// What a table says, and nothing else.
fn surface(table: &SurfaceTable) -> Surface {
    Surface {
        finish: table.finish.map(finish),
        colour: colour(&table.colour),
        back: colour(&table.back),
        pattern: table.pattern.map(pattern),
        second: colour(&table.second),
        scale: table.scale.value,
        roughness: table.roughness.value,
        translucency: table.translucency.value,
        ior: table.ior.value,
        depth: table.depth.value,
        emission: colour(&table.emission),
        radius: table.radius.value,
        grid: table.grid.map(|kind| match kind {
            GridLook::Surface => GridKind::Surface,
            GridLook::Fog => GridKind::Fog,
        }),
        density: table.density.value,
        anisotropy: table.anisotropy.value,
        noise: table.noise.value,
        cut: table.cut.map(|v| v.to_array()),
        inside: colour(&table.inside),
        edges: colour(&table.edges),
        hidden: table.hidden.value,
        flat: table.flat.value,
    }
}

/// The surface of a body about which nothing is said; the renderer knows it without being told.
fn unspecified() -> Surface {
    let base = finish_of(Preset::Plastic);
    let tint = crate::material::Material::default().colour;
    Surface {
        finish: Some(base.0),
        roughness: base.1,
        colour: Some(Colour(tint.to_array().map(|c| c as f32))),
        ..Surface::default()
    }
}

/// Finish and roughness of a material.
fn finish_of(preset: Preset) -> (billow_render::Finish, Option<f64>) {
    use billow_render::Finish as F;
    match preset {
        Preset::Aluminium => (F::Metal, Some(0.35)),
        Preset::Brass => (F::Metal, Some(0.25)),
        Preset::Steel => (F::Metal, Some(0.2)),
        Preset::Cotton | Preset::Denim | Preset::Wool => (F::Fabric, None),
        Preset::Silk => (F::Fabric, None),
        Preset::Glass | Preset::Ice => (F::Glass, None),
        Preset::Water => (F::Water, None),
        Preset::Leather => (F::Glossy, Some(0.5)),
        Preset::Plastic => (F::Glossy, Some(0.3)),
        Preset::Rubber => (F::Glossy, Some(0.6)),
        Preset::Stone => (F::Glossy, Some(0.55)),
        Preset::Wood => (F::Glossy, Some(0.45)),
    }
}

fn finish(word: Finish) -> billow_render::Finish {
    match word {
        Finish::Fabric => billow_render::Finish::Fabric,
        Finish::Matte => billow_render::Finish::Matte,
        Finish::Glossy => billow_render::Finish::Glossy,
        Finish::Metal => billow_render::Finish::Metal,
        Finish::Glass => billow_render::Finish::Glass,
        Finish::Water => billow_render::Finish::Water,
    }
}

fn pattern(word: Motif) -> Pattern {
    match word {
        Motif::Plain => Pattern::Plain,
        Motif::Checks => Pattern::Checks,
        Motif::Weave => Pattern::Weave,
        Motif::Stripes => Pattern::Stripes,
    }
}
