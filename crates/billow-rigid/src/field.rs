//! Signed distances in the body frame: how deep is a point, and which way is out ([Bri03] 4.3).
//!
//! Balls and convex bodies answer exactly. Everything else is sampled, once per shape, on a uniform grid of `f32`
//! that is small enough to stay in the cache; large shapes use the octree or sparse blocks of `billow-levelset`
//! through [`Collider`]. Value and gradient come from one pass.

use crate::floors::Floors;
use billow_geom::Aabb;
use billow_levelset::{Collider, ScalarGrid};
use billow_num::Vec3;
use std::fmt;
use std::sync::Arc;

/// A half-space `normal·x ≤ offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plane {
    pub(crate) normal: Vec3,
    pub(crate) offset: f64,
}

/// The signed distance of a shape in its body frame.
#[derive(Clone)]
pub(crate) enum Field {
    /// A ball about the origin.
    Ball(f64),
    /// The intersection of half-spaces; its zero set is exact, and it never exceeds the distance.
    Planes(Vec<Plane>),
    /// Trilinear samples.
    Grid(Grid),
    /// An octree, sparse grid or analytic solid.
    Solid(Arc<dyn Collider>),
}

impl fmt::Debug for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ball(r) => write!(f, "Ball({r})"),
            Self::Planes(p) => write!(f, "Planes({})", p.len()),
            Self::Grid(g) => write!(f, "Grid({:?})", g.dims),
            Self::Solid(_) => write!(f, "Solid"),
        }
    }
}

impl Field {
    /// Signed distance [m] at `x`.
    pub(crate) fn phi(&self, x: Vec3) -> f64 {
        match self {
            Self::Ball(r) => x.length() - r,
            Self::Planes(planes) => deepest_plane(planes, x).0,
            Self::Grid(grid) => grid.phi(x),
            Self::Solid(solid) => solid.phi(x, 0.0),
        }
    }

    /// Signed distance [m] and unit outward normal at `x`.
    pub(crate) fn sample(&self, x: Vec3) -> (f64, Vec3) {
        match self {
            Self::Ball(r) => {
                let d = x.length();
                (d - r, if d > 0.0 { x / d } else { Vec3::Z })
            }
            Self::Planes(planes) => {
                let phi = deepest_plane(planes, x).0;
                (phi, ridge_normal(planes, x, phi))
            }
            Self::Grid(grid) => grid.sample(x),
            Self::Solid(solid) => (solid.phi(x, 0.0), solid.normal(x, 0.0)),
        }
    }
}

impl Field {
    /// Signed distance [m] and its gradient at `x`; cheaper than [`Self::sample`] where it is interpolated.
    pub(crate) fn rise(&self, x: Vec3) -> (f64, Vec3) {
        match self {
            Self::Grid(grid) => grid.rise(x),
            other => other.sample(x),
        }
    }

    /// Unit outward normal where the gradient is known.
    pub(crate) fn outward(&self, gradient: Vec3) -> Vec3 {
        match self {
            Self::Grid(_) => unit(gradient),
            _ => gradient,
        }
    }
}

fn deepest_plane(planes: &[Plane], x: Vec3) -> (f64, usize) {
    let mut best = (f64::NEG_INFINITY, 0);
    for (k, p) in planes.iter().enumerate() {
        let d = p.normal.dot(x) - p.offset;
        if d > best.0 {
            best = (d, k);
        }
    }
    best
}

/// The normal of the plane nearest to a point at `phi`; on a ridge, where rounding would choose, the middle of all.
fn ridge_normal(planes: &[Plane], x: Vec3, phi: f64) -> Vec3 {
    let alike = |p: &&Plane| p.normal.dot(x) - p.offset >= phi - RIDGE * p.offset.abs();
    let sum: Vec3 = planes.iter().filter(alike).map(|p| p.normal).sum();
    sum.try_normalize().unwrap_or(Vec3::Z)
}

/// Differences of distances that count as rounding, as a part of the size.
const RIDGE: f64 = 1e-7;

/// Samples of a signed distance on a uniform lattice.
#[derive(Clone)]
pub(crate) struct Grid {
    origin: Vec3,
    spacing: f64,
    per_metre: f64,
    dims: [usize; 3],
    last: Vec3,
    values: Vec<f32>,
    pub(crate) floors: Floors,
}

impl Grid {
    /// Rounds the samples of a dense level set.
    pub(crate) fn new(dense: &ScalarGrid) -> Self {
        let lattice = &dense.lattice;
        let top = lattice.dims.map(|d| d as f64 - 1.0);
        let values: Vec<f32> = dense.values.iter().map(|v| *v as f32).collect();
        Self {
            origin: lattice.origin,
            spacing: lattice.spacing,
            per_metre: 1.0 / lattice.spacing,
            dims: lattice.dims,
            last: top.into(),
            floors: Floors::new(lattice.origin, lattice.spacing, lattice.dims, &values),
            values,
        }
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        4 * self.values.len()
    }

    /// Largest slope of the interpolant outside, at least one.
    pub(crate) fn steepest(&self) -> f64 {
        let [nx, ny, nz] = self.dims;
        let strides = [1, nx, nx * ny];
        let mut most = 0.0f64;
        for at in (0..nz - 1)
            .flat_map(|k| (0..ny - 1).map(move |j| nx * (j + ny * k)))
            .flat_map(|row| row..row + nx - 1)
        {
            let corner = |c: usize| at + (c & 1) + strides[1] * (c >> 1 & 1) + strides[2] * (c >> 2);
            let c: [f64; 8] = std::array::from_fn(|k| f64::from(self.values[corner(k)]));
            if c.iter().all(|v| *v <= 0.0) {
                continue;
            }
            // The square of the gradient is convex along each axis: it is largest in a corner of the cell.
            for k in 0..8 {
                most = most.max([1, 2, 4].iter().map(|axis| (c[k] - c[k ^ axis]).powi(2)).sum());
            }
        }
        (most.sqrt() * self.per_metre).max(1.0)
    }

    /// The box that is sampled.
    pub(crate) fn domain(&self) -> Aabb {
        Aabb { min: self.origin, max: self.origin + self.last * self.spacing }
    }

    /// Distance between samples [m].
    pub(crate) fn spacing(&self) -> f64 {
        self.spacing
    }

    /// Smallest sample [m].
    pub(crate) fn lowest(&self) -> f64 {
        f64::from(self.values.iter().copied().fold(f32::INFINITY, f32::min))
    }

    /// The eight samples around a point, the position within their cube, and the offset from the lattice.
    #[inline(always)]
    fn corners(&self, x: Vec3) -> ([f64; 8], Vec3, Vec3) {
        let u = (x - self.origin) * self.per_metre;
        let inside = u.clamp(Vec3::ZERO, self.last);
        let [nx, ny, nz] = self.dims;
        // Through i32: cheaper, and lattices are smaller than that.
        let i = (inside.x as i32 as usize).min(nx - 2);
        let j = (inside.y as i32 as usize).min(ny - 2);
        let k = (inside.z as i32 as usize).min(nz - 2);
        let part = inside - Vec3::new(i as f64, j as f64, k as f64);
        let at = i + nx * (j + ny * k);
        let low = &self.values[at..at + nx + 2];
        let high = &self.values[at + nx * ny..at + nx * ny + nx + 2];
        let c =
            [low[0], low[1], low[nx], low[nx + 1], high[0], high[1], high[nx], high[nx + 1]].map(f64::from);
        (c, part, (u - inside) * self.spacing)
    }

    pub(crate) fn phi(&self, x: Vec3) -> f64 {
        let (c, Vec3 { x: u, y: v, z: w }, beyond) = self.corners(x);
        let mix = |a: f64, b: f64, s: f64| a + (b - a) * s;
        let low = mix(mix(c[0], c[1], u), mix(c[2], c[3], u), v);
        let high = mix(mix(c[4], c[5], u), mix(c[6], c[7], u), v);
        let phi = mix(low, high, w);
        if beyond == Vec3::ZERO { phi } else { beyond_lattice(phi, beyond) }
    }

    /// Distance and gradient of the interpolant; off the lattice a lower bound and its direction.
    fn rise(&self, x: Vec3) -> (f64, Vec3) {
        let (c, Vec3 { x: u, y: v, z: w }, beyond) = self.corners(x);
        let mix = |a: f64, b: f64, s: f64| a + (b - a) * s;
        let du = [c[1] - c[0], c[3] - c[2], c[5] - c[4], c[7] - c[6]];
        let lu = [c[0] + du[0] * u, c[2] + du[1] * u, c[4] + du[2] * u, c[6] + du[3] * u];
        let [dv0, dv1] = [lu[1] - lu[0], lu[3] - lu[2]];
        let [lv0, lv1] = [lu[0] + dv0 * v, lu[2] + dv1 * v];
        let g = Vec3::new(mix(mix(du[0], du[1], v), mix(du[2], du[3], v), w), mix(dv0, dv1, w), lv1 - lv0);
        let (phi, g) = (mix(lv0, lv1, w), g * self.per_metre);
        if beyond == Vec3::ZERO {
            return (phi, g);
        }
        let outward = g * phi.max(0.0) + beyond;
        (beyond_lattice(phi, beyond), outward.try_normalize().unwrap_or(Vec3::Z))
    }

    fn sample(&self, x: Vec3) -> (f64, Vec3) {
        let (phi, g) = self.rise(x);
        (phi, unit(g))
    }
}

/// The direction of a gradient; up where there is none.
fn unit(gradient: Vec3) -> Vec3 {
    gradient.try_normalize().unwrap_or(Vec3::Z)
}

/// A lower bound of the distance of a point off the lattice whose nearest lattice point is at `phi`.
fn beyond_lattice(phi: f64, beyond: Vec3) -> f64 {
    let d = beyond.length();
    (phi.max(0.0).powi(2) + d * d).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_geom::Aabb;
    use billow_levelset::{Ball, Centring, Lattice};
    use billow_num::rng::Stream;

    fn ball_grid() -> Grid {
        let ball = Ball::new(Vec3::ZERO, 0.5).unwrap();
        let domain = Aabb { min: Vec3::splat(-0.6), max: Vec3::splat(0.6) };
        let lattice = Lattice::covering(domain, 0.02, Centring::Node).unwrap();
        Grid::new(&ScalarGrid::of_collider(lattice, &ball, 0.0).unwrap())
    }

    #[test]
    fn a_sampled_ball_is_the_ball_and_its_gradient_is_the_difference_quotient() {
        let grid = ball_grid();
        for i in 0..2000 {
            let mut draw = Stream::new(1, 1).at(i);
            let x = 0.59 * draw.unit_vector() * draw.range(0.6, 1.0);
            let (phi, normal) = grid.sample(x);
            assert!((phi - (x.length() - 0.5)).abs() < 4e-4 && (phi - grid.phi(x)).abs() < 1e-12);
            assert!(normal.dot(x.normalize()) > 0.995);
        }
    }

    #[test]
    fn floors_are_below_and_not_far() {
        let grid = ball_grid();
        for i in 0..2000 {
            let x = Stream::new(3, 1).at(i).unit_vector() * Stream::new(4, 1).at(i).range(0.0, 2.0);
            let (floor, phi) = (f64::from(grid.floors.at(&crate::lanes::point(x))), grid.phi(x));
            assert!(floor <= phi && (phi > 0.08 || floor >= phi - 0.07), "{x}: {floor} {phi}");
            assert!(x.length() < 0.25 || floor >= phi - 0.012, "{x}: {floor} {phi}");
        }
    }

    #[test]
    fn nothing_outside_is_nearer_than_its_slope_tells() {
        let mesh = billow_geom::shapes::torus(0.3, 0.1, 16, 10).unwrap();
        let shape = crate::Geometry::solid(&mesh, &crate::Settings::default()).unwrap();
        let mut close = 0;
        for i in 0..20_000 {
            let mut draw = Stream::new(5, 1).at(i);
            let x = Vec3::new(draw.range(-0.5, 0.5), draw.range(-0.5, 0.5), draw.range(-0.2, 0.2));
            let way = draw.range(0.0, 0.1);
            let (here, there) = (shape.phi(x), shape.phi(x + draw.unit_vector() * way));
            let bound = shape.slope.at_least(here, way);
            if bound > 0.0 {
                assert!(there >= bound - 1e-12, "{there} < {bound}, {way} from {here}");
                close += u32::from(there < bound + 0.5 * way);
            }
        }
        assert!(close > 100, "the bound is of use: {close}");
    }

    #[test]
    fn off_the_lattice_the_answer_is_a_positive_lower_bound_that_points_outward() {
        let grid = ball_grid();
        for i in 0..2000 {
            let x = Stream::new(2, 1).at(i).unit_vector() * 2.0;
            let (phi, normal) = grid.sample(x);
            assert!(phi > 0.0 && phi <= 1.5 + 1e-3, "{phi}");
            assert!(normal.dot(x.normalize()) > 0.5);
        }
    }

    #[test]
    fn planes_are_exact_inside_and_never_too_far_outside() {
        let faces = [Vec3::X, -Vec3::X, Vec3::Y, -Vec3::Y, Vec3::Z, -Vec3::Z];
        let cube = Field::Planes(faces.map(|normal| Plane { normal, offset: 1.0 }).to_vec());
        assert_eq!(cube.sample(Vec3::new(0.2, -0.9, 0.1)), (-0.09999999999999998, -Vec3::Y));
        assert!(cube.phi(Vec3::splat(2.0)) <= 3f64.sqrt());
    }
}
