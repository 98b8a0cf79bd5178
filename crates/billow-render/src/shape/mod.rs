//! What rays can hit: triangle meshes, spheres, capsules and level sets, each in its own coordinates.

pub(crate) mod capsules;
pub(crate) mod levelset;
pub(crate) mod spheres;
pub(crate) mod triangles;

use crate::bvh::{Bounds, Slabs, Stack};
use crate::vector::{Mat3, Quat, Vec2, Vec3};
use capsules::Capsules;
use levelset::LevelSet;
use spheres::Spheres;
use triangles::Triangles;

/// A ray with the moment it is cast, 0 when the shutter opens and 1 when it closes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ray {
    pub(crate) origin: Vec3,
    pub(crate) direction: Vec3,
    pub(crate) t_max: f32,
    pub(crate) time: f32,
}

/// Where a ray met a shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    pub(crate) t: f32,
    /// Triangle, sphere or capsule number within its shape.
    pub(crate) primitive: u32,
    /// Barycentric coordinates of the second and third corner; unused by other shapes.
    pub(crate) uv: Vec2,
}

/// The surface at a hit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    /// The point itself.
    pub(crate) position: Vec3,
    /// Where rays towards lights start: off the facets, on the smooth surface they stand for.
    pub(crate) lifted: Vec3,
    /// Normal of the facet, unit, outward.
    pub(crate) facet: Vec3,
    /// Normal of the smooth surface, unit.
    pub(crate) normal: Vec3,
    /// Position in the material: texture coordinates, or where the point was in the first frame.
    pub(crate) material: Vec3,
    /// Distance to the nearest edge of the facet; infinite where there are no facets [m].
    pub(crate) edge: f32,
    /// Whether a cut laid the facet open.
    pub(crate) cut: bool,
}

/// Geometry in its own coordinates.
#[derive(Debug)]
pub(crate) enum Shape {
    Triangles(Triangles),
    Spheres(Spheres),
    Capsules(Capsules),
    LevelSet(LevelSet),
}

impl Shape {
    /// Box over the whole shutter.
    pub(crate) fn bounds(&self) -> Bounds {
        match self {
            Self::Triangles(s) => s.bounds(),
            Self::Spheres(s) => s.bounds(),
            Self::Capsules(s) => s.bounds(),
            Self::LevelSet(s) => s.bounds(),
        }
    }

    /// The first hit closer than `ray.t_max`; any hit at all if `any`.
    #[inline]
    pub(crate) fn intersect(&self, ray: &Ray, any: bool, stack: &mut Stack) -> Option<Hit> {
        match self {
            Self::Triangles(s) => s.intersect(ray, any, stack),
            Self::Spheres(s) => s.intersect(ray, any, stack),
            Self::Capsules(s) => s.intersect(ray, any, stack),
            Self::LevelSet(s) => s.intersect(ray),
        }
    }

    /// The surface at a hit.
    pub(crate) fn point(&self, ray: &Ray, hit: &Hit) -> Point {
        match self {
            Self::Triangles(s) => s.point(ray, hit),
            Self::Spheres(s) => s.point(ray, hit),
            Self::Capsules(s) => s.point(ray, hit),
            Self::LevelSet(s) => s.point(ray, hit),
        }
    }
}

/// A rigid placement in single precision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    pub(crate) rotation: Quat,
    pub(crate) position: Vec3,
}

impl Placement {
    pub(crate) const IDENTITY: Self = Self { rotation: Quat::IDENTITY, position: Vec3::ZERO };

    /// The placement a fraction of the way to another, turning evenly.
    pub(crate) fn towards(&self, other: &Self, fraction: f32) -> Self {
        Self {
            rotation: self.rotation.slerp(other.rotation, fraction),
            position: self.position.lerp(other.position, fraction),
        }
    }

    pub(crate) fn matrix(&self) -> Mat3 {
        Mat3::from_quat(self.rotation)
    }
}

/// Prepares the box tests of a ray.
#[inline]
pub(crate) fn slabs(ray: &Ray) -> Slabs {
    Slabs::new(ray.origin, ray.direction, 0.0)
}
