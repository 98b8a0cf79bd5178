//! Materials from surfaces: defaults by kind of object, a palette, patterns fixed to the reference shape.

use super::{Finish, Look, Material, Record, Surface, survey::Kind};
use crate::look::{Colour, Pattern};
use crate::surface::{Medium, Texture};
use crate::vector::Vec3;
use std::collections::BTreeMap;

/// Colours of objects that have none of their own, in order of appearance.
const PALETTE: [[u8; 3]; 8] = [
    [0xc8, 0x55, 0x3d],
    [0x2f, 0x66, 0x90],
    [0xe3, 0xb2, 0x3c],
    [0x4f, 0x8f, 0x86],
    [0x8d, 0x4a, 0x6b],
    [0x7f, 0x97, 0x4f],
    [0xd9, 0x8a, 0x52],
    [0x5b, 0x5f, 0x97],
];
/// What stands still is a neutral light grey.
const STATIC: [u8; 3] = [0xb9, 0xb4, 0xaa];

fn colour_of(record: &Record) -> Colour {
    if let Some(colour) = record.colour {
        return Colour(colour.map(|c| c.clamp(0.0, 1.0)));
    }
    let [r, g, b] = if record.kind == Kind::Static { STATIC } else { PALETTE[record.order % PALETTE.len()] };
    Colour::srgb(r, g, b)
}

/// The material of an object.
pub(super) fn material(surface: &Surface, record: &Record) -> Material {
    let finish = surface.finish.unwrap_or(if record.kind == Kind::Deforming {
        Finish::Fabric
    } else {
        Finish::Glossy
    });
    let tinted = matches!(finish, Finish::Glass | Finish::Water);
    let own = match finish {
        Finish::Glass => Colour([0.92, 0.97, 0.95]),
        Finish::Water => Colour([0.62, 0.86, 0.90]),
        Finish::Metal => Colour::srgb(0xd8, 0xd4, 0xcc),
        _ => colour_of(record),
    };
    let colour = Vec3::from_array(surface.colour.unwrap_or(own).0);
    let second = surface.second.map_or(colour * 0.35, |c| Vec3::from_array(c.0));
    let texture = |first: Vec3, second: Vec3| texture(surface, record, first, second);
    let depth = surface.depth.unwrap_or((0.5 * record.extent).max(1e-6)) as f32;
    Material {
        finish,
        texture: texture(colour, second),
        back: surface.back.map(|c| {
            let back = Vec3::from_array(c.0);
            texture(back, if surface.second.is_some() { second } else { back * 0.35 })
        }),
        roughness: surface.roughness.map_or(default_roughness(finish), |r| r as f32),
        translucency: surface.translucency.unwrap_or(0.25) as f32,
        ior: surface.ior.unwrap_or(if finish == Finish::Water { 1.333 } else { 1.5 }) as f32,
        emission: surface.emission.map_or(Vec3::ZERO, |c| Vec3::from_array(c.0)),
        inside: surface.inside.map(|c| Vec3::from_array(c.0)),
        edges: surface.edges.map(|c| {
            let width = surface.radius.unwrap_or(record.extent / 1500.0);
            (Vec3::from_array(c.0), width as f32)
        }),
        medium: if tinted { Medium::tinted(colour, depth) } else { Medium::default() },
    }
}

fn default_roughness(finish: Finish) -> f32 {
    match finish {
        Finish::Glossy => 0.35,
        Finish::Metal => 0.3,
        Finish::Glass | Finish::Water => 0.0,
        Finish::Fabric | Finish::Matte => 1.0,
    }
}

/// A pattern fixed to the reference shape: in the plane of a sheet, through the body of anything else.
fn texture(surface: &Surface, record: &Record, first: Vec3, second: Vec3) -> Texture {
    let pattern = surface.pattern.unwrap_or(Pattern::Plain);
    let repeat = surface.scale.unwrap_or(if record.extent > 0.0 { record.extent / 8.0 } else { 1.0 });
    let axes = match record.plane {
        Some(n) => {
            let u = if n.x.abs() < 0.9 { billow_num::Vec3::X } else { billow_num::Vec3::Y };
            let u = (u - n * u.dot(n)).normalize_or(billow_num::Vec3::X);
            [u, n.cross(u), billow_num::Vec3::ZERO]
        }
        None => [billow_num::Vec3::X, billow_num::Vec3::Y, billow_num::Vec3::Z],
    };
    Texture {
        pattern,
        first,
        second,
        centre: record.middle.as_vec3a(),
        axes: axes.map(|a| (a / repeat).as_vec3a()),
    }
}

/// The material of the ground; a floor object lends its own surface.
pub(super) fn ground(look: &Look, records: &BTreeMap<String, Record>, up: Vec3, radius: f32) -> Material {
    let ground = &look.ground;
    let floor = records.iter().find(|(_, r)| r.is_floor).and_then(|(name, _)| look.objects.get(name));
    let given = records.values().find(|r| r.is_floor).and_then(|r| r.colour.map(Colour));
    let colour = floor.and_then(|s| s.colour).or(given).unwrap_or(ground.colour);
    let first = Vec3::from_array(colour.0);
    let mut material = Material::matte(first);
    let roughness = floor.and_then(|s| s.roughness).unwrap_or(ground.roughness);
    if roughness < 1.0 {
        material.finish = Finish::Glossy;
        material.roughness = roughness as f32;
    }
    if let Some(second) = ground.checks {
        let side = ground.check_size.map_or_else(|| round_size(0.25 * radius), |s| s as f32);
        let u = if up.x.abs() < 0.9 { Vec3::X } else { Vec3::Y };
        let v = up.cross(u);
        material.texture = Texture {
            pattern: Pattern::Checks,
            first,
            second: Vec3::from_array(second.0),
            centre: Vec3::ZERO,
            axes: [u, v, Vec3::ZERO].map(|a| a / (2.0 * side)),
        };
    }
    material
}

/// The nearest of 1, 2 or 5 times a power of ten.
fn round_size(size: f32) -> f32 {
    let power = 10f32.powf(size.log10().floor());
    let digit = size / power;
    power
        * if digit < 1.5 {
            1.0
        } else if digit < 3.5 {
            2.0
        } else if digit < 7.5 {
            5.0
        } else {
            10.0
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_sizes_are_round() {
        for (size, round) in [(0.13, 0.1), (0.21, 0.2), (4.0, 5.0), (80.0, 100.0)] {
            assert!((round_size(size) / round - 1.0f32).abs() < 1e-5, "{size}: {}", round_size(size));
        }
    }
}
