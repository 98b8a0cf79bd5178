//! Points in single precision, one or four at a time, for bounds that are asked hundreds of times for a pair of bodies.
//!
//! Four points are kept coordinate by coordinate, so that one instruction does for all of them what is done for one; the
//! arithmetic is that of a single point, bit by bit.

use billow_num::{Mat3, Vec3};
use std::array::from_fn;
use wide::f32x4;

/// A point in single precision; the fourth number is zero.
pub(crate) type Point = [f32; 4];

/// Four points, coordinate by coordinate.
pub(crate) type Four = [f32x4; 3];

/// A point rounded.
pub(crate) fn point(x: Vec3) -> Point {
    [x.x as f32, x.y as f32, x.z as f32, 0.0]
}

/// Largest part of a length that is lost by placing a point in single precision and looking up its bound.
pub(crate) const ROUNDING: f64 = 4e-6;

/// Points rounded, coordinate by coordinate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Points {
    /// The last is there four times, so that four can be read from any of them on.
    axes: [Vec<f32>; 3],
}

impl Points {
    pub(crate) fn new(points: &[Vec3]) -> Self {
        let last = points.last().map(|last| [*last; 3]);
        let axis = |d: usize| points.iter().chain(last.iter().flatten()).map(|x| x[d] as f32).collect();
        Self { axes: from_fn(axis) }
    }

    /// One of them.
    #[inline(always)]
    pub(crate) fn at(&self, i: usize) -> Point {
        [self.axes[0][i], self.axes[1][i], self.axes[2][i], 0.0]
    }

    /// Four that follow each other.
    #[inline(always)]
    pub(crate) fn four_from(&self, first: usize) -> Four {
        from_fn(|d| {
            let four = &self.axes[d][first..first + 4];
            f32x4::new([four[0], four[1], four[2], four[3]])
        })
    }

    /// Four of them.
    #[inline(always)]
    pub(crate) fn four(&self, of: [u32; 4]) -> Four {
        from_fn(|d| f32x4::new(of.map(|i| self.axes[d][i as usize])))
    }
}

/// A rotation and a shift in single precision.
#[derive(Clone, Copy)]
pub(crate) struct Placement {
    columns: [Point; 3],
    shift: Point,
    /// Columns and shift, each number four times.
    spread: [Four; 4],
}

impl Placement {
    pub(crate) fn new(turn: &Mat3, shift: Vec3) -> Self {
        let (columns, shift) = ([turn.x_axis, turn.y_axis, turn.z_axis].map(point), point(shift));
        let spread = [columns[0], columns[1], columns[2], shift].map(|c| from_fn(|d| f32x4::splat(c[d])));
        Self { columns, shift, spread }
    }

    /// Where the point is placed.
    #[inline(always)]
    pub(crate) fn of(&self, x: &Point) -> Point {
        let [a, b, c] = &self.columns;
        from_fn(|d| a[d] * x[0] + b[d] * x[1] + (c[d] * x[2] + self.shift[d]))
    }

    /// Where four points are placed.
    #[inline(always)]
    pub(crate) fn of_four(&self, x: &Four) -> Four {
        let [a, b, c, shift] = &self.spread;
        from_fn(|d| a[d] * x[0] + b[d] * x[1] + (c[d] * x[2] + shift[d]))
    }
}
