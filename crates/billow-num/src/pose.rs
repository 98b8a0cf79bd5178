//! Rigid placement of a body: rotation followed by translation.

use crate::{Mat3, Quat, Vec3};
use serde::{Deserialize, Serialize};

/// A rigid transform `x ↦ R x + p`, orientation kept as a unit quaternion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pose {
    /// Position of the body's origin in the world [m].
    pub position: Vec3,
    /// Orientation, a unit quaternion [-].
    pub rotation: Quat,
}

impl Default for Pose {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Pose {
    /// The pose that leaves every point where it is.
    pub const IDENTITY: Self = Self { position: Vec3::ZERO, rotation: Quat::IDENTITY };

    /// World position of a body point.
    #[inline]
    pub fn point(&self, x: Vec3) -> Vec3 {
        self.rotation * x + self.position
    }

    /// World direction of a body direction.
    #[inline]
    pub fn vector(&self, v: Vec3) -> Vec3 {
        self.rotation * v
    }

    /// Body coordinates of a world point.
    #[inline]
    pub fn inverse_point(&self, x: Vec3) -> Vec3 {
        self.rotation.conjugate() * (x - self.position)
    }

    /// The pose that applies `self` first and then `next`.
    #[inline]
    pub fn then(&self, next: &Self) -> Self {
        Self { position: next.point(self.position), rotation: (next.rotation * self.rotation).normalize() }
    }

    /// The pose that undoes this one.
    #[inline]
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.conjugate();
        Self { position: -(rotation * self.position), rotation }
    }

    /// The rotation as a matrix.
    #[inline]
    pub fn matrix(&self) -> Mat3 {
        Mat3::from_quat(self.rotation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn composition_and_inverse_agree_with_point_by_point_application() {
        let a = Pose { position: Vec3::new(1.0, -2.0, 0.5), rotation: Quat::from_rotation_x(0.7) };
        let b = Pose { position: Vec3::new(-0.3, 4.0, 2.0), rotation: Quat::from_rotation_z(-1.9) };
        let x = Vec3::new(0.2, 0.3, -0.9);
        assert!(a.then(&b).point(x).distance(b.point(a.point(x))) < 1e-14);
        assert!(a.inverse().point(a.point(x)).distance(x) < 1e-14);
        assert!(a.inverse_point(a.point(x)).distance(x) < 1e-14);
    }
}
