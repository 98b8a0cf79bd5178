//! Level sets through a C² interpolant, [Bri03, section 6.2].
//!
//! The interpolating tricubic spline with natural ends is kept as B-spline coefficients: the same function as the
//! thesis's Hermite form, one number per node. A B-spline lies within the hull of its coefficients, so bricks whose
//! coefficients have one sign hold no surface, with certainty; in the others the ray is sampled at quarter cells and
//! a change of sign is refined. Optional noise perturbs the distance below the size of a pixel, which turns a mirror
//! into a glossy surface.

use super::{Hit, Point, Ray};
use crate::bvh::Bounds;
use crate::sample::mix;
use crate::vector::{Vec2, Vec3};

/// Cells along the side of a brick.
const BRICK: usize = 4;
/// Share of a cell between samples along a ray.
const STEP: f32 = 0.25;
/// Wavelength of the micro-facet noise in cells.
const NOISE_WAVELENGTH: f32 = 1.0 / 64.0;

/// A level set ready for tracing; positions in units of cells relative to the first node.
#[derive(Debug)]
pub(crate) struct LevelSet {
    origin: Vec3,
    spacing: f32,
    /// Nodes along each axis.
    dims: [usize; 3],
    /// B-spline coefficients, one layer wider than the nodes on every side.
    coefficients: Vec<f32>,
    bricks: [usize; 3],
    /// Whether a brick may hold a piece of the surface.
    occupied: Vec<bool>,
    /// Amplitude of the noise [m].
    noise: f32,
}

impl LevelSet {
    /// From node values, x fastest. At least two nodes along each axis; `values` has their product as length.
    pub(crate) fn new(origin: Vec3, spacing: f32, dims: [usize; 3], values: &[f32], noise: f32) -> Self {
        let coefficients = spline_coefficients(dims, values);
        let bricks = dims.map(|n| (n - 1).div_ceil(BRICK));
        let mut set = Self { origin, spacing, dims, coefficients, bricks, occupied: Vec::new(), noise };
        set.occupied = (0..bricks.iter().product()).map(|b| set.may_hold_surface(b)).collect();
        set
    }

    pub(crate) fn bounds(&self) -> Bounds {
        let size = Vec3::from_array(self.dims.map(|n| (n - 1) as f32)) * self.spacing;
        Bounds { lo: self.origin, hi: self.origin + size }
    }

    fn may_hold_surface(&self, brick: usize) -> bool {
        let [bx, by, _] = self.bricks;
        let at = [brick % bx, brick / bx % by, brick / (bx * by)].map(|b| b * BRICK);
        let end: [usize; 3] = std::array::from_fn(|k| (at[k] + BRICK).min(self.dims[k] - 1) + 2);
        let (mut least, mut most) = (f32::INFINITY, f32::NEG_INFINITY);
        for k in at[2]..=end[2] {
            for j in at[1]..=end[1] {
                for i in at[0]..=end[0] {
                    let c = self.coefficients[self.index(i, j, k)];
                    (least, most) = (least.min(c), most.max(c));
                }
            }
        }
        least <= 0.0 && most >= 0.0
    }

    /// Index of a coefficient, counted from the extra layer.
    #[inline]
    fn index(&self, i: usize, j: usize, k: usize) -> usize {
        i + (self.dims[0] + 2) * (j + (self.dims[1] + 2) * k)
    }

    /// Value [m] and gradient [-] at a point given in cells.
    fn sample(&self, x: Vec3) -> (f32, Vec3) {
        let mut cell = [0; 3];
        let mut weights = [([0.0; 4], [0.0; 4]); 3];
        for axis in 0..3 {
            let c = (x[axis].floor().max(0.0) as usize).min(self.dims[axis] - 2);
            cell[axis] = c;
            weights[axis] = bspline(x[axis] - c as f32);
        }
        let (mut value, mut gradient) = (0.0, Vec3::ZERO);
        for k in 0..4 {
            for j in 0..4 {
                let row = self.index(cell[0], cell[1] + j, cell[2] + k);
                let c = &self.coefficients[row..row + 4];
                let (wx, dx) = &weights[0];
                let line = wx[0] * c[0] + wx[1] * c[1] + wx[2] * c[2] + wx[3] * c[3];
                let slope = dx[0] * c[0] + dx[1] * c[1] + dx[2] * c[2] + dx[3] * c[3];
                let (wy, dy, wz, dz) = (weights[1].0[j], weights[1].1[j], weights[2].0[k], weights[2].1[k]);
                value += wy * wz * line;
                gradient += Vec3::new(wy * wz * slope, dy * wz * line, wy * dz * line);
            }
        }
        (value, gradient / self.spacing)
    }

    pub(crate) fn intersect(&self, ray: &Ray) -> Option<Hit> {
        let origin = (ray.origin - self.origin) / self.spacing;
        let direction = ray.direction / self.spacing;
        let speed = direction.length();
        let (mut t, t_end) = self.clip(origin, direction, ray.t_max)?;
        let value = |t: f32| self.sample(origin + direction * t).0;
        let mut previous: Option<(f32, f32)> = None;
        while t < t_end {
            let Some(brick_end) = self.skip_empty(origin, direction, t, speed) else {
                let f = value(t);
                if let Some((t0, f0)) = previous
                    && (f0 > 0.0) != (f > 0.0)
                {
                    let t = refine(&value, (t0, f0), (t, f));
                    return (t > 0.0 && t < ray.t_max).then_some(Hit { t, primitive: 0, uv: Vec2::ZERO });
                }
                previous = Some((t, f));
                t += (STEP / speed).max(0.5 * f.abs() / (self.spacing * speed));
                continue;
            };
            // The sample at the border of the empty bricks keeps its sign and starts the next bracket.
            previous = None;
            t = brick_end.max(t + 1e-3 / speed);
        }
        None
    }

    /// Interval of the ray inside the grid.
    fn clip(&self, origin: Vec3, direction: Vec3, t_max: f32) -> Option<(f32, f32)> {
        let (mut t0, mut t1) = (0.0f32, t_max);
        for axis in 0..3 {
            let size = (self.dims[axis] - 1) as f32;
            let (o, d) = (origin[axis], direction[axis]);
            if d.abs() < 1e-12 {
                if !(0.0..=size).contains(&o) {
                    return None;
                }
                continue;
            }
            let (a, b) = (-o / d, (size - o) / d);
            (t0, t1) = (t0.max(a.min(b)), t1.min(a.max(b)));
        }
        (t0 < t1).then_some((t0, t1))
    }

    /// If the brick at `t` is empty, where the ray leaves it.
    fn skip_empty(&self, origin: Vec3, direction: Vec3, t: f32, speed: f32) -> Option<f32> {
        let x = origin + direction * (t + 1e-3 / speed);
        let brick: [usize; 3] =
            std::array::from_fn(|k| ((x[k].max(0.0) as usize) / BRICK).min(self.bricks[k] - 1));
        if self.occupied[brick[0] + self.bricks[0] * (brick[1] + self.bricks[1] * brick[2])] {
            return None;
        }
        let mut exit = f32::INFINITY;
        for axis in 0..3 {
            let d = direction[axis];
            if d.abs() > 1e-12 {
                let side = (brick[axis] + usize::from(d > 0.0)) * BRICK;
                exit = exit.min((side as f32 - origin[axis]) / d);
            }
        }
        Some(exit)
    }

    pub(crate) fn point(&self, ray: &Ray, hit: &Hit) -> Point {
        let position = ray.origin + ray.direction * hit.t;
        let x = (position - self.origin) / self.spacing;
        let gradient = self.sample(x).1;
        let facet = gradient.normalize_or(-ray.direction);
        let normal = if self.noise > 0.0 {
            let slope =
                noise_gradient(x / NOISE_WAVELENGTH) * (self.noise / (self.spacing * NOISE_WAVELENGTH));
            (facet + slope).normalize_or(facet)
        } else {
            facet
        };
        Point {
            position,
            lifted: position,
            facet,
            normal,
            material: position,
            edge: f32::INFINITY,
            cut: false,
        }
    }
}

/// Coefficients of the interpolating spline: (c₋ + 4c + c₊)/6 = f along each axis, natural ends.
fn spline_coefficients(dims: [usize; 3], values: &[f32]) -> Vec<f32> {
    let wide = dims.map(|n| n + 2);
    let mut c = vec![0.0f32; wide.iter().product()];
    for k in 0..dims[2] {
        for j in 0..dims[1] {
            let to = 1 + wide[0] * (j + 1 + wide[1] * (k + 1));
            let from = dims[0] * (j + dims[1] * k);
            c[to..to + dims[0]].copy_from_slice(&values[from..from + dims[0]]);
        }
    }
    let strides = [1, wide[0], wide[0] * wide[1]];
    for axis in 0..3 {
        let (a, b) = ((axis + 1) % 3, (axis + 2) % 3);
        let mut line = vec![0.0f64; dims[axis]];
        for p in 0..wide[a] {
            for q in 0..wide[b] {
                let start = p * strides[a] + q * strides[b];
                let at = |i: usize| start + i * strides[axis];
                for (i, x) in line.iter_mut().enumerate() {
                    *x = f64::from(c[at(i + 1)]);
                }
                solve_line(&mut line);
                for (i, x) in line.iter().enumerate() {
                    c[at(i + 1)] = *x as f32;
                }
                // Natural ends: the second derivative vanishes, the coefficients continue in a straight line.
                let n = dims[axis];
                c[at(0)] = 2.0 * c[at(1)] - c[at(2)];
                c[at(n + 1)] = 2.0 * c[at(n)] - c[at(n - 1)];
            }
        }
    }
    c
}

/// Solves the tridiagonal system of a natural interpolating spline in place; both ends interpolate directly.
fn solve_line(f: &mut [f64]) {
    let n = f.len();
    if n < 3 {
        return;
    }
    let mut upper = vec![0.0; n];
    for i in 1..n - 1 {
        let before = if i == 1 { 0.0 } else { upper[i - 1] };
        let pivot = 4.0 - before;
        upper[i] = 1.0 / pivot;
        f[i] = (6.0 * f[i] - f[i - 1]) / pivot;
    }
    for i in (1..n - 1).rev() {
        f[i] -= upper[i] * f[i + 1];
    }
}

/// Weights of the four coefficients around a cell and their derivatives.
#[inline]
fn bspline(s: f32) -> ([f32; 4], [f32; 4]) {
    let r = 1.0 - s;
    let (s2, r2) = (s * s, r * r);
    let weights =
        [r2 * r / 6.0, (4.0 - 3.0 * s2 * (2.0 - s)) / 6.0, (4.0 - 3.0 * r2 * (2.0 - r)) / 6.0, s2 * s / 6.0];
    let slopes = [-0.5 * r2, s * (1.5 * s - 2.0), -r * (1.5 * r - 2.0), 0.5 * s2];
    (weights, slopes)
}

/// Root between two samples of different sign, by the Illinois variant of false position.
fn refine(value: &impl Fn(f32) -> f32, mut a: (f32, f32), mut b: (f32, f32)) -> f32 {
    for _ in 0..24 {
        let t = (a.0 * b.1 - b.0 * a.1) / (b.1 - a.1);
        let t = if t.is_finite() { t.clamp(a.0.min(b.0), a.0.max(b.0)) } else { 0.5 * (a.0 + b.0) };
        let f = value(t);
        if f == 0.0 || (b.0 - a.0).abs() <= 2.0 * f32::EPSILON * t.abs() {
            return t;
        }
        if (f > 0.0) == (b.1 > 0.0) {
            b = (t, f);
            a.1 *= 0.5;
        } else {
            a = b;
            b = (t, f);
        }
    }
    b.0
}

/// Gradient of a smooth random function with unit wavelength and values between -1 and 1.
fn noise_gradient(x: Vec3) -> Vec3 {
    let cell = x.floor();
    let s = x - cell;
    let corner = |dx: i32, dy: i32, dz: i32| {
        let key = (cell.x as i32 + dx).wrapping_mul(0x1f1f_1f1f)
            ^ (cell.y as i32 + dy).wrapping_mul(0x2545_f491)
            ^ (cell.z as i32 + dz).wrapping_mul(0x6c07_8965);
        mix(key as u32) as f32 * (2.0 / 4_294_967_296.0) - 1.0
    };
    let smooth = |t: f32| (t * t * (3.0 - 2.0 * t), 6.0 * t * (1.0 - t));
    let axes = [smooth(s.x), smooth(s.y), smooth(s.z)];
    let mut gradient = Vec3::ZERO;
    for k in 0..8usize {
        let bit = [k & 1, k >> 1 & 1, k >> 2];
        let value = corner(bit[0] as i32, bit[1] as i32, bit[2] as i32);
        let w: [f32; 3] = std::array::from_fn(|a| if bit[a] == 1 { axes[a].0 } else { 1.0 - axes[a].0 });
        let d: [f32; 3] = std::array::from_fn(|a| if bit[a] == 1 { axes[a].1 } else { -axes[a].1 });
        gradient += Vec3::new(d[0] * w[1] * w[2], w[0] * d[1] * w[2], w[0] * w[1] * d[2]) * value;
    }
    gradient
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sphere(n: usize, noise: f32) -> LevelSet {
        let h = 2.0 / (n - 1) as f32;
        let at = |i: usize| i as f32 * h - 1.0;
        let mut values = Vec::new();
        for k in 0..n {
            for j in 0..n {
                for i in 0..n {
                    values.push(Vec3::new(at(i), at(j), at(k)).length() - 0.6);
                }
            }
        }
        LevelSet::new(Vec3::splat(-1.0), h, [n; 3], &values, noise)
    }

    #[test]
    fn the_spline_interpolates_and_reproduces_straight_lines() {
        let mut values = Vec::new();
        for k in 0..5 {
            for j in 0..6 {
                for i in 0..7 {
                    values
                        .push(0.3 * i as f32 - 0.7 * j as f32 + 0.2 * k as f32 + ((i * j + k) as f32).sin());
                }
            }
        }
        let set = LevelSet::new(Vec3::ZERO, 0.5, [7, 6, 5], &values, 0.0);
        for (n, v) in values.iter().enumerate() {
            let x = Vec3::new((n % 7) as f32, (n / 7 % 6) as f32, (n / 42) as f32);
            assert!((set.sample(x).0 - v).abs() < 2e-5);
        }
        // Second derivatives are continuous across a node.
        let second = |x: f32| {
            let g = |x: f32| f64::from(set.sample(Vec3::new(x, 2.3, 1.7)).1.x);
            (g(x + 0.01) - g(x - 0.01)) / 0.02
        };
        assert!((second(2.98) - second(3.02)).abs() < 0.25 * second(3.0).abs().max(0.5));
    }

    #[test]
    fn gradients_match_finite_differences() {
        let set = sphere(17, 0.0);
        for x in [Vec3::new(3.2, 8.1, 7.7), Vec3::new(12.9, 4.4, 9.1)] {
            let e = 0.02;
            for axis in 0..3 {
                let mut step = Vec3::ZERO;
                step[axis] = e;
                let slope = (set.sample(x + step).0 - set.sample(x - step).0) / (2.0 * e * set.spacing);
                assert!((slope - set.sample(x).1[axis]).abs() < 2e-3);
            }
        }
    }

    /// Hits of a sphere converge to it at fourth order as the grid is refined.
    #[test]
    fn rays_hit_a_sphere_with_fourth_order_accuracy() {
        let error = |n: usize| {
            let set = sphere(n, 0.0);
            let mut worst = 0.0f32;
            for k in 0..500u32 {
                let mut s = crate::sample::Sampler::new(k, 0, 0).stream();
                let mut v = || Vec3::new(s.next(), s.next(), s.next()) * 2.0 - Vec3::ONE;
                let origin = v().normalize_or(Vec3::X) * 3.0;
                let ray = Ray { origin, direction: (v() * 0.3 - origin).normalize(), t_max: 1e9, time: 0.0 };
                let hit = set.intersect(&ray).expect("aimed at the sphere");
                let point = set.point(&ray, &hit);
                worst = worst.max((point.position.length() - 0.6).abs());
                assert!(point.normal.dot(point.position / 0.6) > 0.999);
            }
            worst
        };
        let (coarse, fine) = (error(13), error(25));
        assert!(fine < 1e-4 && coarse / fine > 10.0, "{coarse} {fine}");
    }

    #[test]
    fn rays_beside_the_sphere_miss_and_noise_roughens_normals() {
        let set = sphere(25, 0.0);
        let beside = Ray { origin: Vec3::new(-3.0, 0.62, 0.0), direction: Vec3::X, t_max: 1e9, time: 0.0 };
        assert!(set.intersect(&beside).is_none());
        let ray = Ray { origin: Vec3::new(-3.0, 0.1, 0.2), direction: Vec3::X, t_max: 1e9, time: 0.0 };
        let hit = set.intersect(&ray).unwrap();
        let rough = sphere(25, 1e-4);
        let normal = rough.point(&ray, &hit).normal;
        assert!(normal.dot(set.point(&ray, &hit).normal) < 0.9999);
    }
}
