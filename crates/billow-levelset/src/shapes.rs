//! Analytic solids with exact signed distances: half-space, ball, cuboid, capsule, cylinder, torus ([Bri03] 2.1).
//!
//! Each is given in a convenient frame; [`Moving`](crate::Moving) places and moves it. Distances are exact inside
//! and out, so any of them can serve as the reference in a convergence test.

use crate::LevelSetError;
use crate::collider::{Collider, EVERYWHERE, unit_or_z};
use crate::error::{finite, positive};
use billow_geom::Aabb;
use billow_num::Vec3;

/// Everything on one side of a plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfSpace {
    normal: Vec3,
    offset: f64,
}

impl HalfSpace {
    /// The half-space below the plane through `point`; `normal` points out of the solid and need not be a unit.
    pub fn new(point: Vec3, normal: Vec3) -> Result<Self, LevelSetError> {
        finite("HalfSpace", "point", point)?;
        positive("HalfSpace", "normal length", finite("HalfSpace", "normal", normal)?.length())?;
        let normal = normal.normalize();
        Ok(Self { normal, offset: normal.dot(point) })
    }
}

impl Collider for HalfSpace {
    fn phi(&self, x: Vec3, _: f64) -> f64 {
        self.normal.dot(x) - self.offset
    }

    fn normal(&self, _: Vec3, _: f64) -> Vec3 {
        self.normal
    }

    fn bounds(&self, _: f64) -> Aabb {
        // A floor ends somewhere, a slope nowhere.
        let mut bounds = EVERYWHERE;
        for (k, axis) in Vec3::AXES.into_iter().enumerate() {
            if self.normal == axis {
                bounds.max[k] = self.offset;
            } else if self.normal == -axis {
                bounds.min[k] = -self.offset;
            }
        }
        bounds
    }
}

/// A solid ball.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    centre: Vec3,
    radius: f64,
}

impl Ball {
    /// The ball of the given centre [m] and radius [m].
    pub fn new(centre: Vec3, radius: f64) -> Result<Self, LevelSetError> {
        Ok(Self { centre: finite("Ball", "centre", centre)?, radius: positive("Ball", "radius", radius)? })
    }
}

impl Collider for Ball {
    fn phi(&self, x: Vec3, _: f64) -> f64 {
        x.distance(self.centre) - self.radius
    }

    fn normal(&self, x: Vec3, _: f64) -> Vec3 {
        unit_or_z(x - self.centre)
    }

    fn bounds(&self, _: f64) -> Aabb {
        Aabb { min: self.centre, max: self.centre }.inflated(self.radius)
    }
}

/// An axis-aligned box about the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cuboid {
    half: Vec3,
}

impl Cuboid {
    /// The box with the given half edge lengths [m].
    pub fn new(half: Vec3) -> Result<Self, LevelSetError> {
        for h in half.to_array() {
            positive("Cuboid", "half edge", h)?;
        }
        Ok(Self { half })
    }
}

impl Collider for Cuboid {
    fn phi(&self, x: Vec3, _: f64) -> f64 {
        let q = x.abs() - self.half;
        q.max(Vec3::ZERO).length() + q.max_element().min(0.0)
    }

    fn normal(&self, x: Vec3, _: f64) -> Vec3 {
        let q = x.abs() - self.half;
        let sign = Vec3::ONE.copysign(x);
        let out = q.max(Vec3::ZERO);
        if out != Vec3::ZERO {
            return unit_or_z(out) * sign;
        }
        // Inside: towards the nearest face.
        let axis = if q.x >= q.y && q.x >= q.z {
            Vec3::X
        } else if q.y >= q.z {
            Vec3::Y
        } else {
            Vec3::Z
        };
        axis * sign
    }

    fn bounds(&self, _: f64) -> Aabb {
        Aabb { min: -self.half, max: self.half }
    }
}

/// All points within a distance of a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capsule {
    ends: [Vec3; 2],
    radius: f64,
}

impl Capsule {
    /// The capsule around the segment between two points [m]; a ball if they coincide.
    pub fn new(a: Vec3, b: Vec3, radius: f64) -> Result<Self, LevelSetError> {
        finite("Capsule", "a", a)?;
        finite("Capsule", "b", b)?;
        Ok(Self { ends: [a, b], radius: positive("Capsule", "radius", radius)? })
    }

    fn off_axis(&self, x: Vec3) -> Vec3 {
        let [a, b] = self.ends;
        let d = b - a;
        let s = (x - a).dot(d) / d.length_squared();
        x - (a + d * if s.is_nan() { 0.0 } else { s.clamp(0.0, 1.0) })
    }
}

impl Collider for Capsule {
    fn phi(&self, x: Vec3, _: f64) -> f64 {
        self.off_axis(x).length() - self.radius
    }

    fn normal(&self, x: Vec3, _: f64) -> Vec3 {
        let d = self.ends[1] - self.ends[0];
        self.off_axis(x).try_normalize().unwrap_or_else(|| unit_or_z(d.any_orthogonal_vector()))
    }

    fn bounds(&self, _: f64) -> Aabb {
        Aabb::of_points(&self.ends).inflated(self.radius)
    }
}

/// A solid of revolution about an axis, its distance known in the half-plane (distance along, distance from axis).
trait Revolved {
    /// A point on the axis and the unit axis.
    fn frame(&self) -> (Vec3, Vec3);
    /// Signed distance and its gradient at height `z` and radius `r`.
    fn profile(&self, z: f64, r: f64) -> (f64, f64, f64);
}

/// Height above the frame's point, radius, and the unit vector away from the axis.
fn cylindrical(shape: &impl Revolved, x: Vec3) -> (f64, f64, Vec3) {
    let (point, axis) = shape.frame();
    let d = x - point;
    let z = d.dot(axis);
    let radial = d - z * axis;
    let r = radial.length();
    (z, r, if r > 0.0 { radial / r } else { axis.any_orthonormal_vector() })
}

fn revolved_phi(shape: &impl Revolved, x: Vec3) -> f64 {
    let (z, r, _) = cylindrical(shape, x);
    shape.profile(z, r).0
}

fn revolved_normal(shape: &impl Revolved, x: Vec3) -> Vec3 {
    let (z, r, away) = cylindrical(shape, x);
    let (_, dz, dr) = shape.profile(z, r);
    unit_or_z(shape.frame().1 * dz + away * dr)
}

/// Half extent of a disk of radius `r` perpendicular to `axis`.
fn disk_extent(axis: Vec3, r: f64) -> Vec3 {
    (Vec3::ONE - axis * axis).max(Vec3::ZERO).to_array().map(f64::sqrt).map(|s| s * r).into()
}

/// A cylinder with flat ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cylinder {
    centre: Vec3,
    axis: Vec3,
    half_length: f64,
    radius: f64,
}

impl Cylinder {
    /// The cylinder whose end disks have centres `a` and `b` [m].
    pub fn new(a: Vec3, b: Vec3, radius: f64) -> Result<Self, LevelSetError> {
        finite("Cylinder", "a", a)?;
        let length = positive("Cylinder", "length", finite("Cylinder", "b", b)?.distance(a))?;
        Ok(Self {
            centre: 0.5 * (a + b),
            axis: (b - a) / length,
            half_length: 0.5 * length,
            radius: positive("Cylinder", "radius", radius)?,
        })
    }
}

impl Revolved for Cylinder {
    fn frame(&self) -> (Vec3, Vec3) {
        (self.centre, self.axis)
    }

    fn profile(&self, z: f64, r: f64) -> (f64, f64, f64) {
        let (qz, qr) = (z.abs() - self.half_length, r - self.radius);
        let side = 1f64.copysign(z);
        if qz > 0.0 && qr > 0.0 {
            let d = qz.hypot(qr);
            (d, side * qz / d, qr / d)
        } else if qz > qr {
            (qz, side, 0.0)
        } else {
            (qr, 0.0, 1.0)
        }
    }
}

impl Collider for Cylinder {
    fn phi(&self, x: Vec3, _: f64) -> f64 {
        revolved_phi(self, x)
    }

    fn normal(&self, x: Vec3, _: f64) -> Vec3 {
        revolved_normal(self, x)
    }

    fn bounds(&self, _: f64) -> Aabb {
        let e = self.axis.abs() * self.half_length + disk_extent(self.axis, self.radius);
        Aabb { min: self.centre - e, max: self.centre + e }
    }
}

/// A ring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Torus {
    centre: Vec3,
    axis: Vec3,
    major: f64,
    minor: f64,
}

impl Torus {
    /// The torus about `axis` whose tube of radius `minor` [m] runs at distance `major` [m] from the centre.
    pub fn new(centre: Vec3, axis: Vec3, major: f64, minor: f64) -> Result<Self, LevelSetError> {
        finite("Torus", "centre", centre)?;
        positive("Torus", "axis length", finite("Torus", "axis", axis)?.length())?;
        positive("Torus", "minor radius", minor)?;
        positive("Torus", "major radius minus minor radius", major - minor)?;
        Ok(Self { centre, axis: axis.normalize(), major, minor })
    }
}

impl Revolved for Torus {
    fn frame(&self) -> (Vec3, Vec3) {
        (self.centre, self.axis)
    }

    fn profile(&self, z: f64, r: f64) -> (f64, f64, f64) {
        let q = r - self.major;
        let d = z.hypot(q);
        if d > 0.0 { (d - self.minor, z / d, q / d) } else { (-self.minor, 1.0, 0.0) }
    }
}

impl Collider for Torus {
    fn phi(&self, x: Vec3, _: f64) -> f64 {
        revolved_phi(self, x)
    }

    fn normal(&self, x: Vec3, _: f64) -> Vec3 {
        revolved_normal(self, x)
    }

    fn bounds(&self, _: f64) -> Aabb {
        let e = disk_extent(self.axis, self.major) + self.minor;
        Aabb { min: self.centre - e, max: self.centre + e }
    }
}
