//! Three-point light around the subject when the scene has no lights of its own.

use crate::look::{Colour, Light, LightKind, Look};
use crate::world::{Lamp, Lamps};
use billow_num::Vec3;

/// What is lit and from where it is seen.
pub(super) struct Subject {
    pub(super) centre: Vec3,
    pub(super) radius: f64,
    pub(super) up: Vec3,
    /// Viewing direction.
    pub(super) forward: Vec3,
    /// Origin of the tracer's coordinates.
    pub(super) origin: Vec3,
}

/// The lamps of a look.
pub(super) fn lamps(look: &Look, subject: &Subject) -> Lamps {
    let lights: Vec<Light> =
        if look.lights.is_empty() { three_point(subject) } else { look.lights.values().cloned().collect() };
    Lamps::new(lights.iter().map(|light| Lamp::new(light, subject.origin)).collect())
}

/// A warm key from the camera's left, a weak cool fill from its right, a rim from behind; all soft boxes whose size
/// and power follow the subject.
fn three_point(subject: &Subject) -> Vec<Light> {
    let level = subject.forward - subject.up * subject.forward.dot(subject.up);
    let ahead = level.try_normalize().unwrap_or_else(|| subject.up.any_orthonormal_vector());
    let right = ahead.cross(subject.up);
    let soft_box = |towards: Vec3, distance: f64, size: f64, colour: [f32; 3], irradiance: f64| {
        let distance = distance * subject.radius;
        Light {
            kind: LightKind::Disc,
            position: (subject.centre + towards.normalize() * distance).to_array(),
            target: subject.centre.to_array(),
            size: size * subject.radius,
            colour: Colour(colour),
            power: std::f64::consts::PI * irradiance * distance * distance,
        }
    };
    let up = subject.up;
    vec![
        soft_box(up * 1.15 - right * 0.95 - ahead * 0.75, 4.0, 1.1, [1.0, 0.93, 0.84], 2.6),
        soft_box(up * 0.55 + right * 1.1 - ahead * 0.55, 4.5, 1.8, [0.82, 0.90, 1.0], 0.5),
        soft_box(up * 0.9 + right * 0.5 + ahead * 1.0, 4.0, 0.8, [1.0, 0.97, 0.92], 1.5),
    ]
}
