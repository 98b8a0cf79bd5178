//! Solids for the tests.

use billow_geom::Aabb;
use billow_levelset::Collider;
use billow_num::Vec3;
use billow_num::rng::Stream;

/// φ by a formula inside a box around the origin.
pub(crate) struct Formula<F> {
    half: Vec3,
    f: F,
}

impl<F: Fn(Vec3) -> f64 + Send + Sync> Formula<F> {
    pub(crate) fn new(half: f64, f: F) -> Self {
        Self { half: Vec3::splat(half), f }
    }

    pub(crate) fn within(half: Vec3, f: F) -> Self {
        Self { half, f }
    }
}

/// Unit gradient by central differences.
fn normal(f: impl Fn(Vec3) -> f64, x: Vec3) -> Vec3 {
    const H: f64 = 1e-5;
    let slope = |axis: Vec3| f(x + H * axis) - f(x - H * axis);
    Vec3::new(slope(Vec3::X), slope(Vec3::Y), slope(Vec3::Z)).try_normalize().unwrap_or(Vec3::Z)
}

impl<F: Fn(Vec3) -> f64 + Send + Sync> Collider for Formula<F> {
    fn phi(&self, x: Vec3, _: f64) -> f64 {
        (self.f)(x)
    }
    fn normal(&self, x: Vec3, _: f64) -> Vec3 {
        normal(&self.f, x)
    }
    fn bounds(&self, _: f64) -> Aabb {
        Aabb { min: -self.half, max: self.half }
    }
}

/// Balls blended smoothly.
pub(crate) struct Blobs(Vec<(Vec3, f64)>);

impl Blobs {
    pub(crate) fn random(seed: u64, count: u64) -> Self {
        let ball = |i| {
            let mut d = Stream::new(seed, 4).at(i);
            (0.6 * d.in_ball(), d.range(0.15, 0.4))
        };
        Self((0..count).map(ball).collect())
    }

    fn value(&self, x: Vec3) -> f64 {
        const SHARPNESS: f64 = 20.0;
        let sum: f64 = self.0.iter().map(|(c, r)| (-SHARPNESS * (x.distance(*c) - r)).exp()).sum();
        -sum.max(f64::MIN_POSITIVE).ln() / SHARPNESS
    }
}

impl Collider for Blobs {
    fn phi(&self, x: Vec3, _: f64) -> f64 {
        self.value(x)
    }
    fn normal(&self, x: Vec3, _: f64) -> Vec3 {
        normal(|x| self.value(x), x)
    }
    fn bounds(&self, _: f64) -> Aabb {
        Aabb { min: Vec3::splat(-1.1), max: Vec3::splat(1.1) }
    }
}
