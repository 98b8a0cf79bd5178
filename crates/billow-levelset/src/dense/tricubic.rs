//! The C² interpolating tricubic spline of [Bri03] 6.2.
//!
//! In one dimension a piecewise cubic through the samples f is C² when its node slopes d satisfy
//! d₍i−1₎ + 4dᵢ + d₍i+1₎ = 3(f₍i+1₎ − f₍i−1₎)/h. Starting from the Catmull-Rom slopes (f₍i+1₎ − f₍i−1₎)/2h, Gauss-Seidel
//! divides the error by about four per sweep. The tensor product needs the slopes of slopes: eight numbers per
//! sample, each found by solving along lines. End slopes are one-sided fourth-order differences, so the
//! interpolant is fourth-order accurate up to the border.

use super::{Curvature, ScalarGrid, curvature_of_derivatives};
use crate::lattice::Lattice;
use crate::{LevelSetError, collider::Collider};
use billow_geom::Aabb;
use billow_num::{Mat3, Vec3, par};

/// Sweeps allowed before the solve counts as failed; 30 reach the last bit from a Catmull-Rom start.
const MAX_SWEEPS: usize = 100;
/// Largest slope change of the last sweep, relative to the largest value on the line.
const TOLERANCE: f64 = 4.0 * f64::EPSILON;

/// Value and its derivatives f, fx, fy, fxy, fz, fxz, fyz, fxyz at each sample, in units of the spacing.
#[derive(Clone, Debug, PartialEq)]
pub struct Tricubic {
    lattice: Lattice,
    nodes: Vec<[f64; 8]>,
    sweeps: usize,
}

impl Tricubic {
    /// The spline through the samples of `grid`, which needs at least five along each axis.
    pub fn new(grid: &ScalarGrid) -> Result<Self, LevelSetError> {
        let lattice = grid.lattice;
        if let Some(&n) = lattice.dims.iter().find(|&&n| n < 5) {
            let allowed = "at least 5 along each axis";
            return Err(LevelSetError::Parameter {
                of: "Tricubic",
                name: "samples",
                value: n as f64,
                allowed,
            });
        }
        lattice.check_memory(64, crate::DEFAULT_MEMORY_LIMIT)?;
        let mut nodes: Vec<[f64; 8]> = grid.values.iter().map(|&f| [f, 0., 0., 0., 0., 0., 0., 0.]).collect();
        let mut sweeps = 0;
        // Slopes along x of f; along y of f and fx; along z of all four.
        for axis in 0..3 {
            for known in 0..1 << axis {
                sweeps = sweeps.max(solve_along(&lattice, &mut nodes, axis, known)?);
            }
        }
        Ok(Self { lattice, nodes, sweeps })
    }

    /// Gauss-Seidel sweeps the slowest line took.
    pub fn sweeps(&self) -> usize {
        self.sweeps
    }

    /// The sample points.
    pub fn lattice(&self) -> &Lattice {
        &self.lattice
    }

    /// Value, gradient [1/m] and Hessian [1/m²] at `x`, clamped to the samples' hull.
    pub fn derivatives(&self, x: Vec3) -> (f64, Vec3, Mat3) {
        let (cell, part) = self.lattice.locate(x);
        let h = 1.0 / self.lattice.spacing;
        let basis: [[[f64; 4]; 3]; 3] = std::array::from_fn(|a| hermite(part[a]));
        let at = |o: [usize; 3]| self.combine(cell, &basis, o);
        let value = at([0, 0, 0]);
        let g = Vec3::new(at([1, 0, 0]), at([0, 1, 0]), at([0, 0, 1]));
        let (xx, yy, zz) = (at([2, 0, 0]), at([0, 2, 0]), at([0, 0, 2]));
        let (xy, xz, yz) = (at([1, 1, 0]), at([1, 0, 1]), at([0, 1, 1]));
        let hessian = Mat3::from_cols(Vec3::new(xx, xy, xz), Vec3::new(xy, yy, yz), Vec3::new(xz, yz, zz));
        (value, g * h, hessian * (h * h))
    }

    /// Value at `x`.
    pub fn value(&self, x: Vec3) -> f64 {
        let (cell, part) = self.lattice.locate(x);
        let basis: [[[f64; 4]; 3]; 3] = std::array::from_fn(|a| hermite(part[a]));
        self.combine(cell, &basis, [0, 0, 0])
    }

    /// Value and gradient [1/m] at `x`.
    pub fn value_and_gradient(&self, x: Vec3) -> (f64, Vec3) {
        let (cell, part) = self.lattice.locate(x);
        let basis: [[[f64; 4]; 3]; 3] = std::array::from_fn(|a| hermite(part[a]));
        let at = |o: [usize; 3]| self.combine(cell, &basis, o);
        (at([0, 0, 0]), Vec3::new(at([1, 0, 0]), at([0, 1, 0]), at([0, 0, 1])) / self.lattice.spacing)
    }

    /// Curvatures of the level surface through `x`.
    pub fn curvature(&self, x: Vec3) -> Curvature {
        let (_, g, hessian) = self.derivatives(x);
        curvature_of_derivatives(g, hessian)
    }

    /// Sum over the cell's eight corners; `order` counts derivatives along each axis.
    fn combine(&self, cell: [usize; 3], basis: &[[[f64; 4]; 3]; 3], order: [usize; 3]) -> f64 {
        let s = self.lattice.strides();
        let base = self.lattice.index(cell);
        let [bx, by, bz] = [basis[0][order[0]], basis[1][order[1]], basis[2][order[2]]];
        let mut sum = 0.0;
        for corner in 0..8 {
            let (i, j, k) = (corner & 1, corner >> 1 & 1, corner >> 2);
            let n = &self.nodes[base + i * s[0] + j * s[1] + k * s[2]];
            // bx[i] weighs the value at end i, bx[2 + i] the slope there.
            let along_x = |m: usize| bx[i] * n[m] + bx[2 + i] * n[m + 1];
            let along_y = |m: usize| by[j] * along_x(m) + by[2 + j] * along_x(m + 2);
            sum += bz[k] * along_y(0) + bz[2 + k] * along_y(4);
        }
        sum
    }
}

impl Collider for Tricubic {
    fn phi(&self, x: Vec3, _: f64) -> f64 {
        self.value(x) + (x - self.lattice.clamp(x)).length()
    }

    fn normal(&self, x: Vec3, _: f64) -> Vec3 {
        let out = x - self.lattice.clamp(x);
        let (_, g) = self.value_and_gradient(x);
        let far = out.length();
        crate::collider::unit_or_z(if far > 0.0 { out / far + super::slide(g, out) } else { g })
    }

    fn bounds(&self, _: f64) -> Aabb {
        self.lattice.domain()
    }
}

/// Cubic Hermite weights of (value 0, value 1, slope 0, slope 1) and their first and second derivatives.
fn hermite(t: f64) -> [[f64; 4]; 3] {
    let (t2, t3) = (t * t, t * t * t);
    [
        [2.0 * t3 - 3.0 * t2 + 1.0, 3.0 * t2 - 2.0 * t3, t3 - 2.0 * t2 + t, t3 - t2],
        [6.0 * (t2 - t), 6.0 * (t - t2), 3.0 * t2 - 4.0 * t + 1.0, 3.0 * t2 - 2.0 * t],
        [12.0 * t - 6.0, 6.0 - 12.0 * t, 6.0 * t - 4.0, 6.0 * t - 2.0],
    ]
}

/// Fills component `known + 2^axis` of all nodes with the spline slopes of component `known` along `axis`; returns
/// the most sweeps a line took.
fn solve_along(
    l: &Lattice,
    nodes: &mut [[f64; 8]],
    axis: usize,
    known: usize,
) -> Result<usize, LevelSetError> {
    let n = l.dims[axis];
    let stride = l.strides()[axis];
    let lines = l.len() / n;
    let first = |line: usize| line % stride + line / stride * stride * n;
    let solved = {
        let nodes = &*nodes;
        par::map(lines, |line| {
            let f: Vec<f64> = (0..n).map(|i| nodes[first(line) + i * stride][known]).collect();
            spline_slopes(&f)
        })
    };
    let mut most = 0;
    for (line, (slopes, sweeps, residual)) in solved.into_iter().enumerate() {
        if sweeps == MAX_SWEEPS {
            let operation = "tricubic spline";
            return Err(LevelSetError::NotConverged { operation, iterations: sweeps, residual });
        }
        most = most.max(sweeps);
        for (i, d) in slopes.into_iter().enumerate() {
            nodes[first(line) + i * stride][known + (1 << axis)] = d;
        }
    }
    Ok(most)
}

/// Slopes (per sample) of the C² cubic spline through `f`, sweeps used, and the last change.
fn spline_slopes(f: &[f64]) -> (Vec<f64>, usize, f64) {
    let n = f.len();
    let scale = f.iter().fold(f64::MIN_POSITIVE, |m, v| m.max(v.abs()));
    let end = |a: [f64; 5]| (-25.0 * a[0] + 48.0 * a[1] - 36.0 * a[2] + 16.0 * a[3] - 3.0 * a[4]) / 12.0;
    let mut d = vec![0.0; n];
    d[0] = end(std::array::from_fn(|i| f[i]));
    d[n - 1] = -end(std::array::from_fn(|i| f[n - 1 - i]));
    // Catmull-Rom start.
    for i in 1..n - 1 {
        d[i] = 0.5 * (f[i + 1] - f[i - 1]);
    }
    let mut change = 0.0f64;
    for sweep in 1..=MAX_SWEEPS {
        change = 0.0;
        for i in 1..n - 1 {
            let new = 0.25 * (3.0 * (f[i + 1] - f[i - 1]) - d[i - 1] - d[i + 1]);
            change = change.max((new - d[i]).abs());
            d[i] = new;
        }
        if change <= TOLERANCE * scale {
            return (d, sweep, change);
        }
    }
    (d, MAX_SWEEPS, change)
}
