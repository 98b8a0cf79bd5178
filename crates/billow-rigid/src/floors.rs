//! Lower bounds of a sampled distance, cheap enough to be asked hundreds of times for a pair of bodies.
//!
//! Cells of a coarse lattice hold their eight corners side by side, lowered by as much as the coarse interpolant exceeds
//! the fine one anywhere in the cell: one line of cache tells a bound that is sharp to about a millimetre per decimetre
//! of curvature. Everything here is single precision; what rounding can do is subtracted.

use crate::lanes::{Four, Point, ROUNDING, point};
use billow_num::Vec3;
use std::array::from_fn;
use wide::f32x4;

/// Cells of the fine lattice along a side of a coarse cell.
const BLOCK: usize = 4;

/// A coarse lattice of lower bounds.
#[derive(Clone)]
pub(crate) struct Floors {
    origin: Point,
    /// Side of a cell [m] and its inverse.
    side: f32,
    per_metre: f32,
    /// Where the fine lattice ends, in cells.
    last: Point,
    /// Cells in a row and in a layer.
    strides: [usize; 2],
    cells: Vec<[f32; 8]>,
}

impl Floors {
    /// Bounds of the interpolant of samples on a lattice of `fine` points from `origin`, `spacing` [m] apart.
    ///
    /// The difference of two interpolants is trilinear in every fine cell, so it is largest at a fine sample.
    pub(crate) fn new(origin: Vec3, spacing: f64, fine: [usize; 3], values: &[f32]) -> Self {
        let count = fine.map(|n| (n - 1) / BLOCK + 1);
        let sample = |at: [usize; 3]| {
            let [i, j, k]: [usize; 3] = from_fn(|d| at[d].min(fine[d] - 1));
            f64::from(values[i + fine[0] * (j + fine[1] * k)])
        };
        let lost = ROUNDING * spacing * fine.iter().copied().max().unwrap_or(0) as f64;
        let cell = |cell: [usize; 3]| {
            let corner = |k: usize| [cell[0] + (k & 1), cell[1] + (k >> 1 & 1), cell[2] + (k >> 2)];
            let c: [f64; 8] = from_fn(|k| sample(corner(k).map(|i| BLOCK * i)));
            let excess = |at: [usize; 3]| {
                let point: [usize; 3] = from_fn(|d| BLOCK * cell[d] + at[d]);
                let inside = (0..3).all(|d| point[d] < fine[d]);
                if inside { trilinear(&c, at.map(|k| k as f64 / BLOCK as f64)) - sample(point) } else { 0.0 }
            };
            let most = points([BLOCK + 1; 3]).map(excess).fold(0.0, f64::max);
            c.map(|v| (v - most - lost) as f32)
        };
        let last = fine.map(|n| (n - 1) as f32 / BLOCK as f32);
        let side = spacing * BLOCK as f64;
        Self {
            origin: point(origin),
            side: side as f32,
            per_metre: (1.0 / side) as f32,
            last: [last[0], last[1], last[2], 0.0],
            strides: [count[0], count[0] * count[1]],
            cells: points(count).map(cell).collect(),
        }
    }

    /// A lower bound of the distance [m].
    #[cfg(test)]
    pub(crate) fn at(&self, x: &Point) -> f32 {
        let u: Point = from_fn(|d| (x[d] - self.origin[d]) * self.per_metre);
        let u_low: Point = from_fn(|d| if u[d] > 0.0 { u[d] } else { 0.0 });
        let inside: Point = from_fn(|d| if u_low[d] < self.last[d] { u_low[d] } else { self.last[d] });
        // Adding a number whose last bit is one rounds to whole cells.
        let whole: Point = from_fn(|d| (inside[d] - 0.5) + WHOLE);
        let part: Point = from_fn(|d| inside[d] - (whole[d] - WHOLE));
        let [i, j, k, _] = whole.map(|w| (w.to_bits() & 0x3f_ffff) as usize);
        let c = &self.cells[i + self.strides[0] * j + self.strides[1] * k];
        let m: [f32; 4] = from_fn(|q| c[q] + (c[q + 4] - c[q]) * part[2]);
        let [p, q] = [m[0] + (m[2] - m[0]) * part[1], m[1] + (m[3] - m[1]) * part[1]];
        let least = p + (q - p) * part[0];
        let over: Point = from_fn(|d| u[d] - inside[d]);
        let square = over[0] * over[0] + over[1] * over[1] + over[2] * over[2];
        let off = if least > 0.0 { least } else { 0.0 };
        let off = (square * self.side * self.side + off * off).sqrt() * SHORT;
        if square == 0.0 { least } else { off }
    }

    /// Lower bounds of the distance [m] at four points.
    #[inline(always)]
    pub(crate) fn at_four(&self, x: &Four) -> f32x4 {
        let [zero, whole_cells, side] = [0.0, WHOLE, self.side].map(f32x4::splat);
        let u: Four = from_fn(|d| (x[d] - f32x4::splat(self.origin[d])) * f32x4::splat(self.per_metre));
        let inside: Four = from_fn(|d| u[d].fast_max(zero).fast_min(f32x4::splat(self.last[d])));
        // Adding a number whose last bit is one rounds to whole cells.
        let whole: Four = from_fn(|d| ((inside[d] - f32x4::splat(0.5)) + whole_cells) - whole_cells);
        let part: Four = from_fn(|d| inside[d] - whole[d]);
        // Numbers of cells are whole in single precision too: there are fewer than 2²⁴.
        let [row, layer] = self.strides.map(|s| f32x4::splat(s as f32));
        let cells = (whole[0] + row * whole[1] + layer * whole[2]).fast_trunc_int().to_array();
        let heights = part[2].to_array();
        // Between the lower and the upper corners of each cell, then among points.
        let mixed = |l: usize| {
            let c = &self.cells[cells[l] as usize];
            let [low, high] = [f32x4::new([c[0], c[1], c[2], c[3]]), f32x4::new([c[4], c[5], c[6], c[7]])];
            low + (high - low) * f32x4::splat(heights[l])
        };
        let m = f32x4::transpose([mixed(0), mixed(1), mixed(2), mixed(3)]);
        let [p, q] = [m[0] + (m[2] - m[0]) * part[1], m[1] + (m[3] - m[1]) * part[1]];
        let least = p + (q - p) * part[0];
        let over: Four = from_fn(|d| u[d] - inside[d]);
        let square = over[0] * over[0] + over[1] * over[1] + over[2] * over[2];
        let on = square.simd_eq(zero);
        if on.all() {
            return least;
        }
        // Off the lattice the nearest point of it is where the bound was looked up.
        let off = least.fast_max(zero);
        let off = (square * side * side + off * off).sqrt() * f32x4::splat(SHORT);
        on.select(least, off)
    }
}

/// 1.5·2²³: numbers around it are whole.
const WHOLE: f32 = 12_582_912.0;
/// One less what rounding may add to a length.
const SHORT: f32 = 1.0 - 4e-6;

/// All points of a lattice, the first coordinate fastest.
fn points([nx, ny, nz]: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
    (0..nz).flat_map(move |k| (0..ny).flat_map(move |j| (0..nx).map(move |i| [i, j, k])))
}

/// The value inside a cell with the given corners.
fn trilinear(c: &[f64; 8], part: [f64; 3]) -> f64 {
    let mix = |a: f64, b: f64, s: f64| a + (b - a) * s;
    let low = mix(mix(c[0], c[1], part[0]), mix(c[2], c[3], part[0]), part[1]);
    let high = mix(mix(c[4], c[5], part[0]), mix(c[6], c[7], part[0]), part[1]);
    mix(low, high, part[2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::{Field, Grid};
    use crate::lanes::Points;
    use crate::{Geometry, Settings};
    use billow_num::rng::Stream;

    /// The smallest sample of φ in the coarse cell around a point: what labels of these cells would know of it.
    fn least_in_cell(grid: &Grid, x: Vec3) -> f64 {
        let (from, h) = (grid.domain().min, grid.spacing());
        let cell = ((x - from) / (h * BLOCK as f64)).floor() * BLOCK as f64;
        let corner = |at: [usize; 3]| cell + Vec3::from(at.map(|i| i as f64));
        let inside = |at: &Vec3| (*at * h).cmple(grid.domain().size() + 0.5 * h).all();
        let all = points([BLOCK + 1; 3]).map(corner).filter(inside);
        all.map(|at| grid.phi(from + at * h)).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn bounds_of_a_ring_are_never_above_its_distance_and_rule_out_more_than_labels_of_cells() {
        let mesh = billow_geom::shapes::torus(0.3, 0.1, 16, 10).unwrap();
        let ring = Geometry::solid(&mesh, &Settings::default()).unwrap();
        let Some(Field::Grid(grid)) = &ring.field else { panic!("a ring is sampled uniformly") };
        let size = grid.domain().size();
        let (mut outside, mut labelled, mut bounded) = (0, 0, 0);
        for i in 0..20_000 {
            let mut draw = Stream::new(8, 1).at(i);
            let part = Vec3::new(draw.range(0.0, 1.0), draw.range(0.0, 1.0), draw.range(0.0, 1.0));
            let x = grid.domain().min + part * size;
            let (floor, phi) = (f64::from(grid.floors.at(&point(x))), grid.phi(x));
            assert!(floor <= phi, "{x}: {floor} {phi}");
            // Off the lattice as well.
            let far = x * draw.range(1.0, 4.0);
            assert!(f64::from(grid.floors.at(&point(far))) <= grid.phi(far), "{far}");
            if phi > 0.0 {
                outside += 1;
                labelled += i32::from(least_in_cell(grid, x) > 0.0);
                bounded += i32::from(floor > 0.0);
            }
        }
        assert!(outside > 8000 && 100 * bounded > 95 * outside, "{bounded} of {outside}");
        assert!(4 * (outside - bounded) < outside - labelled, "labels: {labelled}, bounds: {bounded}");
    }

    /// On the lattice and off it, all four on the same side of its border and not.
    #[test]
    fn four_points_are_told_what_each_is_told_alone() {
        let mesh = billow_geom::shapes::torus(0.3, 0.1, 16, 10).unwrap();
        let ring = Geometry::solid(&mesh, &Settings::default()).unwrap();
        let Some(Field::Grid(grid)) = &ring.field else { panic!("a ring is sampled uniformly") };
        let (mut on, mut off) = (0, 0);
        for i in 0..4000 {
            let mut draw = Stream::new(8, 2).at(i);
            let size = draw.range(0.2, 1.2);
            let points: Vec<Vec3> = (0..4).map(|_| draw.unit_vector() * draw.range(0.0, size)).collect();
            let told = grid.floors.at_four(&Points::new(&points).four_from(0)).to_array();
            for (x, told) in points.iter().zip(told) {
                assert_eq!(told.to_bits(), grid.floors.at(&point(*x)).to_bits(), "{x}");
                *if grid.domain().contains(*x) { &mut on } else { &mut off } += 1;
            }
        }
        assert!(on > 2000 && off > 2000, "{on} {off}");
    }
}
