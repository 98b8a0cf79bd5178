//! Particles drawn as spheres, four at a time.

use super::{Hit, Point, Ray, slabs};
use crate::bvh::{Bounds, Bvh, NONE, Stack};
use crate::vector::{Vec2, Vec3, Vec4};
use billow_num::par;

/// Spheres ready for tracing.
#[derive(Debug)]
pub(crate) struct Spheres {
    bvh: Bvh,
    packs: Vec<Pack>,
    centres: Vec<[f32; 3]>,
    displacements: Vec<[f32; 3]>,
}

/// Four spheres: centres, displacements over the shutter, radii; padding has radius zero.
#[derive(Clone, Debug)]
struct Pack {
    centre: [Vec4; 3],
    motion: [Vec4; 3],
    radius: Vec4,
}

impl Spheres {
    /// Spheres at `centres`; `displacements` over the shutter may be empty; one radius for all or one each.
    pub(crate) fn new(centres: Vec<[f32; 3]>, displacements: Vec<[f32; 3]>, radii: &[f32]) -> Self {
        let radius = |k: usize| radii[if radii.len() == 1 { 0 } else { k }];
        let moved = |k: usize| displacements.get(k).map_or(Vec3::ZERO, |d| Vec3::from_array(*d));
        let boxes = par::map(centres.len(), |k| {
            let c = Vec3::from_array(centres[k]);
            Bounds::of([c, c + moved(k)]).grown(radius(k))
        });
        let bvh = Bvh::build(&boxes);
        let packs = par::map(bvh.blocks.len(), |b| {
            let mut pack = Pack { centre: [Vec4::ZERO; 3], motion: [Vec4::ZERO; 3], radius: Vec4::ZERO };
            for (lane, k) in bvh.blocks[b].iter().enumerate().filter(|(_, k)| **k != NONE) {
                for axis in 0..3 {
                    pack.centre[axis][lane] = centres[*k as usize][axis];
                    pack.motion[axis][lane] = moved(*k as usize)[axis];
                }
                pack.radius[lane] = radius(*k as usize);
            }
            pack
        });
        Self { bvh, packs, centres, displacements }
    }

    pub(crate) fn bounds(&self) -> Bounds {
        self.bvh.bounds
    }

    pub(crate) fn intersect(&self, ray: &Ray, any: bool, stack: &mut Stack) -> Option<Hit> {
        let origin = ray.origin.to_array().map(Vec4::splat);
        let direction = ray.direction.to_array().map(Vec4::splat);
        let time = Vec4::splat(ray.time);
        let mut best: Option<Hit> = None;
        self.bvh.visit(&slabs(ray), ray.t_max, stack, |b, mut t_max| {
            let pack = &self.packs[b];
            let to: [Vec4; 3] = std::array::from_fn(|k| pack.centre[k] + pack.motion[k] * time - origin[k]);
            let middle = to[0] * direction[0] + to[1] * direction[1] + to[2] * direction[2];
            // The distance to the axis of the ray, from the perpendicular itself: no cancellation far away.
            let side: [Vec4; 3] = std::array::from_fn(|k| to[k] - direction[k] * middle);
            let off = side[0] * side[0] + side[1] * side[1] + side[2] * side[2];
            let inside = pack.radius * pack.radius - off;
            let mut lanes = inside.cmpgt(Vec4::ZERO).bitmask();
            while lanes != 0 {
                let lane = lanes.trailing_zeros() as usize;
                lanes &= lanes - 1;
                let half = inside[lane].sqrt();
                let t = if middle[lane] > half { middle[lane] - half } else { middle[lane] + half };
                if t > 0.0 && t < t_max {
                    t_max = t;
                    best = Some(Hit { t, primitive: self.bvh.blocks[b][lane], uv: Vec2::ZERO });
                }
            }
            if any && best.is_some() { -1.0 } else { t_max }
        });
        best
    }

    pub(crate) fn point(&self, ray: &Ray, hit: &Hit) -> Point {
        let k = hit.primitive as usize;
        let motion = self.displacements.get(k).map_or(Vec3::ZERO, |d| Vec3::from_array(*d) * ray.time);
        let centre = Vec3::from_array(self.centres[k]) + motion;
        let position = ray.origin + ray.direction * hit.t;
        let normal = (position - centre).normalize_or(-ray.direction);
        Point {
            position,
            lifted: position,
            facet: normal,
            normal,
            material: position - centre,
            edge: f32::INFINITY,
            cut: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bvh::new_stack;
    use crate::sample::Sampler;

    #[test]
    fn the_nearest_of_many_spheres_is_found() {
        let mut s = Sampler::new(4, 4, 4).stream();
        let mut v = || [0; 3].map(|_| s.next() * 2.0 - 1.0);
        let centres: Vec<[f32; 3]> = (0..500).map(|_| v()).collect();
        let rays: Vec<Ray> = (0..300)
            .map(|_| Ray {
                origin: Vec3::from_array(v()) * 2.0,
                direction: Vec3::from_array(v()).normalize_or(Vec3::Y),
                t_max: 1e9,
                time: 0.0,
            })
            .collect();
        let spheres = Spheres::new(centres.clone(), Vec::new(), &[0.07]);
        let mut hits = 0;
        for ray in &rays {
            let mut expected: Option<f32> = None;
            for c in &centres {
                let to = Vec3::from_array(*c) - ray.origin;
                let m = to.dot(ray.direction);
                let inside = 0.07f32.powi(2) - (to - ray.direction * m).length_squared();
                if inside > 0.0 {
                    let half = inside.sqrt();
                    let t = if m > half { m - half } else { m + half };
                    if t > 0.0 && expected.is_none_or(|e| t < e) {
                        expected = Some(t);
                    }
                }
            }
            let found = spheres.intersect(ray, false, &mut new_stack()).map(|h| h.t);
            assert_eq!(found, expected);
            hits += usize::from(found.is_some());
        }
        assert!(hits > 20, "{hits}");
    }
}
