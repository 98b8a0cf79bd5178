//! Lines drawn as capsules: segments with a radius.

use super::{Hit, Point, Ray, slabs};
use crate::bvh::{Bounds, Bvh, NONE, Stack};
use crate::vector::{Vec2, Vec3};

/// Capsules ready for tracing.
#[derive(Debug)]
pub(crate) struct Capsules {
    bvh: Bvh,
    /// End points when the shutter opens and their displacements until it closes.
    ends: Vec<[Vec3; 2]>,
    motion: Vec<[Vec3; 2]>,
    radius: f32,
}

impl Capsules {
    /// Capsules between pairs of points; `motion` over the shutter may be empty.
    pub(crate) fn new(ends: Vec<[Vec3; 2]>, motion: Vec<[Vec3; 2]>, radius: f32) -> Self {
        let boxes: Vec<Bounds> = ends
            .iter()
            .enumerate()
            .map(|(k, e)| {
                let moved = motion.get(k).map_or(*e, |m| [e[0] + m[0], e[1] + m[1]]);
                Bounds::of([e[0], e[1], moved[0], moved[1]]).grown(radius)
            })
            .collect();
        Self { bvh: Bvh::build(&boxes), ends, motion, radius }
    }

    pub(crate) fn bounds(&self) -> Bounds {
        self.bvh.bounds
    }

    fn at(&self, k: usize, time: f32) -> [Vec3; 2] {
        let [a, b] = self.ends[k];
        self.motion.get(k).map_or([a, b], |m| [a + m[0] * time, b + m[1] * time])
    }

    pub(crate) fn intersect(&self, ray: &Ray, any: bool, stack: &mut Stack) -> Option<Hit> {
        let mut best: Option<Hit> = None;
        self.bvh.visit(&slabs(ray), ray.t_max, stack, |b, mut t_max| {
            for k in self.bvh.blocks[b].into_iter().filter(|k| *k != NONE) {
                if let Some(t) = capsule(ray, self.at(k as usize, ray.time), self.radius)
                    && t < t_max
                {
                    t_max = t;
                    best = Some(Hit { t, primitive: k, uv: Vec2::ZERO });
                }
            }
            if any && best.is_some() { -1.0 } else { t_max }
        });
        best
    }

    pub(crate) fn point(&self, ray: &Ray, hit: &Hit) -> Point {
        let [a, b] = self.at(hit.primitive as usize, ray.time);
        let position = ray.origin + ray.direction * hit.t;
        let along =
            ((position - a).dot(b - a) / (b - a).length_squared().max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
        let normal = (position - a.lerp(b, along)).normalize_or(-ray.direction);
        Point {
            position,
            lifted: position,
            facet: normal,
            normal,
            material: position,
            edge: f32::INFINITY,
            cut: false,
        }
    }
}

/// Where a ray enters (or, from inside, leaves) a capsule.
fn capsule(ray: &Ray, [a, b]: [Vec3; 2], radius: f32) -> Option<f32> {
    // Start next to the capsule: the roots then lose no digits to a far origin.
    let middle = (a + b) * 0.5;
    let skip = (middle - ray.origin).dot(ray.direction);
    let (o, d) = (ray.origin + ray.direction * skip, ray.direction);
    let (axis, from_a) = (b - a, o - a);
    let length2 = axis.length_squared();
    let mut roots = Roots { first: f32::INFINITY, last: f32::NEG_INFINITY };
    if length2 > 0.0 {
        let (d_across, o_across) =
            (d - axis * (d.dot(axis) / length2), from_a - axis * (from_a.dot(axis) / length2));
        roots.add(d_across, o_across, radius, |t| (0.0..=length2).contains(&(from_a + d * t).dot(axis)));
    }
    roots.add(d, from_a, radius, |t| (from_a + d * t).dot(axis) <= 0.0);
    roots.add(d, o - b, radius, |t| (o + d * t - b).dot(axis) >= 0.0);
    let (first, last) = (roots.first + skip, roots.last + skip);
    if first > 0.0 && first.is_finite() {
        Some(first)
    } else {
        (last > 0.0 && last.is_finite()).then_some(last)
    }
}

/// The outermost crossings found so far.
struct Roots {
    first: f32,
    last: f32,
}

impl Roots {
    /// Adds the roots of |o + t d| = r that `belongs` accepts.
    fn add(&mut self, d: Vec3, o: Vec3, r: f32, belongs: impl Fn(f32) -> bool) {
        let (a, b, c) = (d.length_squared(), o.dot(d), o.length_squared() - r * r);
        let discriminant = b * b - a * c;
        if a <= 0.0 || discriminant < 0.0 {
            return;
        }
        let root = discriminant.sqrt();
        for t in [(-b - root) / a, (-b + root) / a] {
            if belongs(t) {
                self.first = self.first.min(t);
                self.last = self.last.max(t);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sampler;

    fn distance(p: Vec3, [a, b]: [Vec3; 2]) -> f32 {
        let s = ((p - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
        p.distance(a.lerp(b, s))
    }

    #[test]
    fn hits_lie_on_the_capsule_and_misses_pass_it() {
        let ends = [Vec3::new(-0.5, 0.1, 0.0), Vec3::new(0.6, -0.2, 0.3)];
        let mut s = Sampler::new(2, 2, 2).stream();
        let mut hits = 0;
        for _ in 0..2000 {
            let mut v = || Vec3::new(s.next(), s.next(), s.next()) * 2.0 - Vec3::ONE;
            let origin = v() * 3.0;
            let ray = Ray { origin, direction: (v() * 0.6 - origin).normalize(), t_max: 1e9, time: 0.0 };
            let closest = (0..4000)
                .map(|k| distance(origin + ray.direction * (k as f32 * 0.002), ends))
                .fold(9.0, f32::min);
            match capsule(&ray, ends, 0.2) {
                Some(t) => {
                    hits += 1;
                    assert!((distance(origin + ray.direction * t, ends) - 0.2).abs() < 1e-4);
                    let before = (0..99)
                        .map(|k| distance(origin + ray.direction * (t * k as f32 / 100.0), ends))
                        .fold(9.0, f32::min);
                    assert!(before > 0.2 - 1e-3 || distance(origin, ends) < 0.2, "{before}");
                }
                None => assert!(closest > 0.2 - 2e-3, "{closest}"),
            }
        }
        assert!(hits > 300);
    }
}
