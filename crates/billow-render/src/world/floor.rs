//! The ground: a level plane that fades out with distance, so that it has no edge.

use crate::shape::{Point, Ray};
use crate::surface::Material;
use crate::vector::Vec3;

/// A plane with a material.
#[derive(Debug)]
pub(crate) struct Floor {
    pub(crate) up: Vec3,
    /// Height above the origin [m].
    pub(crate) height: f32,
    /// The middle of the subject; distances are taken from here.
    pub(crate) centre: Vec3,
    /// Where the floor starts to fade and where it is gone [m].
    pub(crate) fade: [f32; 2],
    pub(crate) material: Material,
}

impl Floor {
    /// Where a ray meets the floor, and how much of it is there.
    #[inline]
    pub(crate) fn meet(&self, ray: &Ray) -> Option<(f32, Point, f32)> {
        let down = ray.direction.dot(self.up);
        let above = ray.origin.dot(self.up) - self.height;
        let t = -above / down;
        if !(t > 0.0 && t < ray.t_max) || above.abs() < 1e-6 * (1.0 + t) {
            return None;
        }
        let position = ray.origin + ray.direction * t;
        let position = position + self.up * (self.height - position.dot(self.up));
        let opacity = self.opacity(position);
        let facet = self.up;
        let point = Point {
            position,
            lifted: position,
            facet,
            normal: facet,
            material: position,
            edge: f32::INFINITY,
            cut: false,
        };
        (opacity > 0.0).then_some((t, point, opacity))
    }

    #[inline]
    fn opacity(&self, p: Vec3) -> f32 {
        let [near, far] = self.fade;
        let s = ((p.distance(self.centre) - near) / (far - near)).clamp(0.0, 1.0);
        1.0 - s * s * (3.0 - 2.0 * s)
    }
}
