//! Light from all around.

use crate::vector::Vec3;

/// A gradient from the horizon to the zenith.
#[derive(Clone, Debug)]
pub(crate) struct Dome {
    pub(crate) up: Vec3,
    pub(crate) zenith: Vec3,
    pub(crate) horizon: Vec3,
    /// Factor on the light that falls on objects.
    pub(crate) light: f32,
}

impl Dome {
    /// Radiance from a direction.
    #[inline]
    pub(crate) fn radiance(&self, direction: Vec3) -> Vec3 {
        let low = 1.0 - direction.dot(self.up).clamp(0.0, 1.0);
        self.zenith + (self.horizon - self.zenith) * (low * low * low)
    }
}
