//! Everything a frame shows, ready for tracing.

mod floor;
mod fog;
mod lamp;
mod lens;
mod sky;

pub(crate) use floor::Floor;
pub(crate) use fog::Fog;
pub(crate) use lamp::{Lamp, Lamps, Site};
pub(crate) use lens::Lens;
pub(crate) use sky::Dome;

use crate::bvh::{Bounds, Bvh, NONE, Slabs, Stack, new_stack};
use crate::sample::Stream;
use crate::shape::{Hit, Placement, Point, Ray, Shape};
use crate::surface::Material;
use crate::vector::{Mat3, Vec3};
use std::sync::Arc;

/// A frame with its surroundings, in metres relative to the middle of the run.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) instances: Vec<Instance>,
    tops: Bvh,
    pub(crate) floor: Option<Floor>,
    pub(crate) fogs: Vec<Fog>,
    pub(crate) lamps: Lamps,
    pub(crate) dome: Dome,
    /// Whether any surface lets light straight through.
    clear: bool,
}

/// A shape with its place and material.
#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) shape: Arc<Shape>,
    pub(crate) material: Material,
    /// Placement when the shutter opens and when it closes.
    placements: [Placement; 2],
    moving: bool,
    still: bool,
    rotation: Mat3,
}

impl Instance {
    /// A shape that moves from one placement to another while the shutter is open.
    pub(crate) fn new(shape: Arc<Shape>, material: Material, placements: [Placement; 2]) -> Self {
        let [a, b] = placements;
        let moving = a.position != b.position || a.rotation != b.rotation;
        let still = !moving && a.position == Vec3::ZERO && a.rotation == Placement::IDENTITY.rotation;
        Self { shape, material, placements, moving, still, rotation: a.matrix() }
    }

    fn placement(&self, time: f32) -> (Mat3, Vec3) {
        if self.moving {
            let p = self.placements[0].towards(&self.placements[1], time);
            (p.matrix(), p.position)
        } else {
            (self.rotation, self.placements[0].position)
        }
    }

    /// The ray in the shape's coordinates; lengths along it stay the same.
    #[inline]
    fn local(&self, ray: &Ray) -> Ray {
        if self.still {
            return *ray;
        }
        let (rotation, position) = self.placement(ray.time);
        let back = rotation.transpose();
        Ray { origin: back * (ray.origin - position), direction: back * ray.direction, ..*ray }
    }

    /// Box over the whole shutter: boxes at moments so close that what lies between stays within the padding.
    fn bounds(&self) -> Bounds {
        const MOMENTS: usize = 16;
        let local = self.shape.bounds();
        if local.is_empty() || self.still {
            return local;
        }
        let corners: [Vec3; 8] = std::array::from_fn(|k| {
            let pick =
                |bit: usize, axis: usize| if k >> bit & 1 == 1 { local.hi[axis] } else { local.lo[axis] };
            Vec3::new(pick(0, 0), pick(1, 1), pick(2, 2))
        });
        let reach = corners.iter().map(|c| c.length()).fold(0.0, f32::max);
        let turn = self.placements[0].rotation.angle_between(self.placements[1].rotation) / MOMENTS as f32;
        let rounding = 1e-6 * (reach + self.placements[0].position.length());
        let moments = if self.moving { MOMENTS } else { 0 };
        (0..=moments)
            .map(|k| {
                let (rotation, position) = self.placement(k as f32 / MOMENTS as f32);
                Bounds::of(corners.map(|c| rotation * c + position))
            })
            .fold(Bounds::EMPTY, Bounds::union)
            .grown(reach * (1.0 - (0.5 * turn).cos()) + rounding)
    }

    /// The surface at a hit, in world coordinates.
    fn point(&self, ray: &Ray, hit: &Hit) -> Point {
        let point = self.shape.point(&self.local(ray), hit);
        if self.still {
            return point;
        }
        let (rotation, position) = self.placement(ray.time);
        Point {
            position: rotation * point.position + position,
            lifted: rotation * point.lifted + position,
            facet: rotation * point.facet,
            normal: rotation * point.normal,
            material: point.material,
            edge: point.edge,
            cut: point.cut,
        }
    }
}

/// What a ray met first.
pub(crate) struct Meeting<'a> {
    pub(crate) t: f32,
    pub(crate) point: Point,
    pub(crate) material: &'a Material,
    /// Share of the surface that is there; the sky shows through the rest of a fading floor.
    pub(crate) opacity: f32,
}

/// Waiting nodes of both levels, kept between rays.
pub(crate) struct Scratch {
    upper: Stack,
    lower: Stack,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self { upper: new_stack(), lower: new_stack() }
    }
}

/// Rays leave a surface at this multiple of the rounding error of positions.
const OFFSET: f32 = 16.0 * f32::EPSILON;

/// A starting point just off a surface on the side `normal` points to.
#[inline]
pub(crate) fn off_surface(p: Vec3, normal: Vec3, t: f32) -> Vec3 {
    p + normal * (OFFSET * (p.abs().max_element() + t))
}

impl World {
    /// Puts the instances under one hierarchy.
    pub(crate) fn new(
        instances: Vec<Instance>,
        floor: Option<Floor>,
        fogs: Vec<Fog>,
        lamps: Lamps,
        dome: Dome,
    ) -> Self {
        let boxes: Vec<Bounds> = instances.iter().map(Instance::bounds).collect();
        let clear = instances.iter().any(|i| i.material.is_clear());
        Self { tops: Bvh::build(&boxes), instances, floor, fogs, lamps, dome, clear }
    }

    /// The first instance hit before `ray.t_max`, or any at all.
    #[inline]
    fn first_instance(&self, ray: &Ray, any: bool, scratch: &mut Scratch) -> Option<(u32, Hit)> {
        let mut best: Option<(u32, Hit)> = None;
        let Scratch { upper, lower } = scratch;
        self.tops.visit(&Slabs::new(ray.origin, ray.direction, 0.0), ray.t_max, upper, |block, mut t_max| {
            for k in self.tops.blocks[block] {
                if k == NONE {
                    break;
                }
                let instance = &self.instances[k as usize];
                let local = instance.local(&Ray { t_max, ..*ray });
                if let Some(hit) = instance.shape.intersect(&local, any, lower) {
                    t_max = hit.t;
                    best = Some((k, hit));
                    if any {
                        return -1.0;
                    }
                }
            }
            t_max
        });
        best
    }

    /// The first surface a ray meets.
    pub(crate) fn meet(&self, ray: &Ray, scratch: &mut Scratch) -> Option<Meeting<'_>> {
        let found = self.first_instance(ray, false, scratch);
        let t_max = found.as_ref().map_or(ray.t_max, |(_, hit)| hit.t);
        if let Some(floor) = &self.floor
            && let Some((t, point, opacity)) = floor.meet(&Ray { t_max, ..*ray })
        {
            return Some(Meeting { t, point, material: &floor.material, opacity });
        }
        found.map(|(k, hit)| {
            let instance = &self.instances[k as usize];
            Meeting { t: hit.t, point: instance.point(ray, &hit), material: &instance.material, opacity: 1.0 }
        })
    }

    /// Share of light that comes through along a ray up to `ray.t_max`. Clear bodies let it pass straight, tinted,
    /// unless `straight` is off.
    pub(crate) fn transmittance(
        &self,
        ray: &Ray,
        straight: bool,
        stream: &mut Stream,
        scratch: &mut Scratch,
    ) -> Vec3 {
        if let Some(floor) = &self.floor
            && floor.meet(ray).is_some()
        {
            return Vec3::ZERO;
        }
        let surfaces = if self.clear && straight {
            self.through_clear(*ray, scratch)
        } else if self.first_instance(ray, true, scratch).is_some() {
            Vec3::ZERO
        } else {
            Vec3::ONE
        };
        if surfaces == Vec3::ZERO {
            return surfaces;
        }
        surfaces * self.fogs.iter().map(|fog| fog.transmittance(ray, stream)).product::<f32>()
    }

    /// Light that passes clear bodies without bending.
    fn through_clear(&self, mut ray: Ray, scratch: &mut Scratch) -> Vec3 {
        const MOST_SURFACES: usize = 16;
        let mut light = Vec3::ONE;
        for _ in 0..MOST_SURFACES {
            let Some((k, hit)) = self.first_instance(&ray, false, scratch) else { return light };
            let instance = &self.instances[k as usize];
            if !instance.material.is_clear() {
                return Vec3::ZERO;
            }
            let point = instance.point(&ray, &hit);
            let cos = point.facet.dot(ray.direction);
            light *= 1.0 - instance.material.reflected(cos.abs());
            if cos > 0.0 {
                light *= instance.material.medium.transmittance(hit.t);
            }
            ray.origin = off_surface(point.position, point.facet * cos.signum(), hit.t);
            ray.t_max -= hit.t;
        }
        Vec3::ZERO
    }
}
