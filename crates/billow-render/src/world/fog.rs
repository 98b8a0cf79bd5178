//! Fog volumes: smoke, clouds and mist given as density on a grid.
//!
//! Free paths are drawn by delta tracking and shadows by ratio tracking, both without bias, against the largest
//! density of each brick of the grid. Overlapping fogs are independent: the first collision of any of them counts.

use crate::sample::Stream;
use crate::shape::Ray;
use crate::vector::{Basis, Vec2, Vec3};
use std::f32::consts::{PI, TAU};

/// Cells along the side of a brick.
const BRICK: usize = 8;

/// A fog ready for tracing; positions in cells relative to the first node.
#[derive(Clone, Debug)]
pub(crate) struct Fog {
    origin: Vec3,
    spacing: f32,
    dims: [usize; 3],
    /// Extinction at the nodes [1/m].
    extinction: Vec<f32>,
    bricks: [usize; 3],
    /// Largest extinction in each brick [1/m].
    largest: Vec<f32>,
    /// Share of the light that is scattered and not absorbed.
    pub(crate) albedo: Vec3,
    /// Mean cosine of scattering.
    pub(crate) anisotropy: f32,
}

impl Fog {
    /// From extinction at nodes, x fastest; at least two nodes along each axis.
    pub(crate) fn new(
        origin: Vec3,
        spacing: f32,
        dims: [usize; 3],
        extinction: Vec<f32>,
        albedo: Vec3,
        anisotropy: f32,
    ) -> Self {
        let bricks = dims.map(|n| (n - 1).div_ceil(BRICK));
        let mut largest = vec![0.0f32; bricks.iter().product()];
        for (b, most) in largest.iter_mut().enumerate() {
            let at =
                [b % bricks[0], b / bricks[0] % bricks[1], b / (bricks[0] * bricks[1])].map(|x| x * BRICK);
            let end: [usize; 3] = std::array::from_fn(|k| (at[k] + BRICK).min(dims[k] - 1));
            for k in at[2]..=end[2] {
                for j in at[1]..=end[1] {
                    let row = dims[0] * (j + dims[1] * k);
                    let values = &extinction[row + at[0]..=row + end[0]];
                    *most = values.iter().fold(*most, |a, v| a.max(*v));
                }
            }
        }
        Self { origin, spacing, dims, extinction, bricks, largest, albedo, anisotropy }
    }

    /// Extinction at a point in cells, trilinear.
    #[inline]
    fn at(&self, x: Vec3) -> f32 {
        let mut cell = [0; 3];
        let mut s = [0.0; 3];
        for axis in 0..3 {
            let c = (x[axis].max(0.0) as usize).min(self.dims[axis] - 2);
            cell[axis] = c;
            s[axis] = (x[axis] - c as f32).clamp(0.0, 1.0);
        }
        let value = |i: usize, j: usize, k: usize| {
            self.extinction[cell[0] + i + self.dims[0] * (cell[1] + j + self.dims[1] * (cell[2] + k))]
        };
        let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
        let line = |j: usize, k: usize| mix(value(0, j, k), value(1, j, k), s[0]);
        let plane = |k: usize| mix(line(0, k), line(1, k), s[1]);
        mix(plane(0), plane(1), s[2])
    }

    /// Distance to the first collision along the ray before `t_max`, if there is one.
    pub(crate) fn collision(&self, ray: &Ray, t_max: f32, stream: &mut Stream) -> Option<f32> {
        let mut found = None;
        self.walk(ray, t_max, |x_at, from, to, most| {
            let mut t = from;
            loop {
                t -= (1.0 - stream.next()).ln() / most;
                if t >= to {
                    return true;
                }
                if stream.next() * most < self.at(x_at(t)) {
                    found = Some(t);
                    return false;
                }
            }
        });
        found
    }

    /// An unbiased estimate of the share of light that passes along the ray up to `ray.t_max`.
    pub(crate) fn transmittance(&self, ray: &Ray, stream: &mut Stream) -> f32 {
        let mut light = 1.0;
        self.walk(ray, ray.t_max, |x_at, from, to, most| {
            let mut t = from;
            loop {
                t -= (1.0 - stream.next()).ln() / most;
                if t >= to {
                    return true;
                }
                light *= 1.0 - self.at(x_at(t)) / most;
                if light < 0.05 {
                    // Russian roulette keeps the mean.
                    if stream.next() < 0.5 {
                        light = 0.0;
                        return false;
                    }
                    light *= 2.0;
                }
            }
        });
        light
    }

    /// Calls `visit(position at t, from, to, largest extinction)` for the bricks with fog along the ray, in order,
    /// until it returns false.
    fn walk(
        &self,
        ray: &Ray,
        t_max: f32,
        mut visit: impl FnMut(&dyn Fn(f32) -> Vec3, f32, f32, f32) -> bool,
    ) {
        let o = (ray.origin - self.origin) / self.spacing;
        let d = ray.direction / self.spacing;
        let position = |t: f32| o + d * t;
        let (mut t, mut end) = (0.0f32, t_max);
        for axis in 0..3 {
            let size = (self.dims[axis] - 1) as f32;
            let safe = if d[axis].abs() < 1e-12 { 1e-12f32.copysign(d[axis]) } else { d[axis] };
            let (a, b) = (-o[axis] / safe, (size - o[axis]) / safe);
            (t, end) = (t.max(a.min(b)), end.min(a.max(b)));
        }
        let nudge = 1e-3 / d.length();
        while t < end {
            let x = position(t + nudge);
            let brick: [usize; 3] =
                std::array::from_fn(|k| ((x[k].max(0.0) as usize) / BRICK).min(self.bricks[k] - 1));
            let mut exit = end;
            for axis in 0..3 {
                if d[axis].abs() > 1e-12 {
                    let side = (brick[axis] + usize::from(d[axis] > 0.0)) * BRICK;
                    exit = exit.min((side as f32 - o[axis]) / d[axis]);
                }
            }
            let exit = exit.max(t + nudge);
            let most = self.largest[brick[0] + self.bricks[0] * (brick[1] + self.bricks[1] * brick[2])];
            if most > 0.0 && !visit(&position, t, exit.min(end), most) {
                return;
            }
            t = exit;
        }
    }

    /// A scattered direction and nothing else: its weight is the albedo (Henyey and Greenstein).
    pub(crate) fn scatter(&self, direction: Vec3, u: Vec2) -> Vec3 {
        let g = self.anisotropy;
        let cos = if g.abs() < 1e-3 {
            1.0 - 2.0 * u.x
        } else {
            let s = (1.0 - g * g) / (1.0 - g + 2.0 * g * u.x);
            (1.0 + g * g - s * s) / (2.0 * g)
        };
        let sin = (1.0 - cos * cos).max(0.0).sqrt();
        let (s, c) = (TAU * u.y).sin_cos();
        Basis::around(direction).world(Vec3::new(c * sin, s * sin, cos))
    }

    /// Density of scattering from one direction of travel to another [1/sr].
    pub(crate) fn phase(&self, from: Vec3, to: Vec3) -> f32 {
        let g = self.anisotropy;
        let d = 1.0 + g * g - 2.0 * g * from.dot(to);
        (1.0 - g * g) / (4.0 * PI * d.max(1e-6) * d.max(1e-6).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sampler;

    fn ramp() -> Fog {
        // Density grows linearly along x from 0 to 3 per metre over 2 m.
        let dims = [21, 9, 9];
        let values = (0..dims.iter().product()).map(|k: usize| (k % 21) as f32 * 0.15).collect();
        Fog::new(Vec3::ZERO, 0.1, dims, values, Vec3::ONE, 0.4)
    }

    fn along(direction: Vec3) -> Ray {
        Ray { origin: Vec3::new(-1.0, 0.37, 0.41), direction, t_max: f32::INFINITY, time: 0.0 }
    }

    #[test]
    fn both_trackers_follow_beer_and_lambert_through_a_ramp() {
        let fog = ramp();
        for slope in [0.0f32, 0.12] {
            let ray = along(Vec3::new(1.0, slope, 0.0).normalize());
            // ∫₀² 1.5 x dx / cos = 3 / cos.
            let expected = f64::from((-3.0 * (1.0 + slope * slope).sqrt()).exp());
            let n = 200_000;
            let (mut free, mut light) = (0.0, 0.0);
            for k in 0..n {
                let mut stream = Sampler::new(k, 0, 0).stream();
                free += f64::from(u8::from(fog.collision(&ray, f32::INFINITY, &mut stream).is_none()));
                light += f64::from(fog.transmittance(&ray, &mut stream));
            }
            let (free, light) = (free / f64::from(n), light / f64::from(n));
            assert!(
                (free - expected).abs() < 3e-3 && (light - expected).abs() < 3e-3,
                "{free} {light} {expected}"
            );
        }
    }

    #[test]
    fn the_phase_function_is_normalised_and_sampled_as_it_says() {
        let fog = ramp();
        let (mut mean, mut sum, n) = (0.0f64, 0.0f64, 100_000);
        for k in 0..n {
            let u = Sampler::new(0, 0, k).pair();
            mean += f64::from(fog.scatter(Vec3::Y, u).dot(Vec3::Y));
            let cos = 2.0 * u.x - 1.0;
            sum += f64::from(fog.phase(Vec3::Y, Vec3::new((1.0 - cos * cos).sqrt(), cos, 0.0)))
                * 4.0
                * std::f64::consts::PI;
        }
        assert!((mean / f64::from(n) - 0.4).abs() < 3e-3, "{mean}");
        assert!((sum / f64::from(n) - 1.0).abs() < 5e-3, "{sum}");
    }
}
