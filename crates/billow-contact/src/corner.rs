//! The points of the surface in single precision, for filters that need not be exact.
//!
//! Coordinates are relative to the middle of the scene. Each point has a distance that it keeps around itself, grown by
//! more than what rounding takes away: filters that find two elements farther apart than their distances are right.

use crate::way::Way;
use billow_geom::bvh::SingleBoxes;
use billow_num::Vec3;
use glam::{Vec3A, Vec4};

/// Part of a coordinate's size by which a filter may be off on each side of a comparison: rounding to single precision,
/// differences, products and sums of projections are less than sixteen half units.
pub(crate) const ROUNDING: f32 = 16.0 * f32::EPSILON;

/// A point at both ends of the step; the fourth numbers are the distance it keeps around itself, first in general, then that
/// of its edges from others [m].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Corner {
    pub(crate) start: Vec4,
    pub(crate) end: Vec4,
}

impl Corner {
    /// A point of which nothing is known.
    pub(crate) const ANYWHERE: Self = {
        let all = Vec4::new(0.0, 0.0, 0.0, f32::INFINITY);
        Self { start: all, end: all }
    };

    /// A point that moves from `x0` to `x1` and keeps a distance around itself, and its edges no more than that. One that is
    /// not finite may be anywhere.
    #[inline(always)]
    pub(crate) fn new(x0: [f64; 3], x1: [f64; 3], [distance, of_edges]: [f64; 2]) -> Self {
        let ([a, b, c], [d, e, f]) = (x0.map(|x| x as f32), x1.map(|x| x as f32));
        let size = a.abs() + b.abs() + c.abs() + (d.abs() + e.abs() + f.abs());
        let [around, edges] =
            [distance, of_edges].map(|distance| distance as f32 * (1.0 + ROUNDING) + size * ROUNDING);
        if around < f32::INFINITY {
            Self { start: Vec4::new(a, b, c, around), end: Vec4::new(d, e, f, edges) }
        } else {
            Self::ANYWHERE
        }
    }

    /// A node on its way, relative to `origin`.
    pub(crate) fn of(way: Way, origin: Vec3) -> Self {
        let [x0, x1] = [way.from - origin, way.to - origin].map(|x| x.to_array());
        Self::new(x0, x1, [way.around, way.around_edges])
    }

    /// Distance it keeps around itself [m].
    #[inline(always)]
    pub(crate) fn around(&self) -> f32 {
        self.start.w
    }

    /// How much less than that its edges keep from others [m].
    #[inline(always)]
    pub(crate) fn less_for_edges(&self) -> f32 {
        self.start.w - self.end.w
    }

    /// Where it is at the start [m].
    #[inline(always)]
    pub(crate) fn from(&self) -> Vec3A {
        Vec3A::from_vec4(self.start)
    }

    /// Where it is at the end [m].
    #[inline(always)]
    pub(crate) fn to(&self) -> Vec3A {
        Vec3A::from_vec4(self.end)
    }

    /// The boxes of a triangle at both ends of the step, with the distance it keeps around itself.
    #[inline(always)]
    pub(crate) fn boxes([a, b, c]: [&Self; 3]) -> SingleBoxes<2> {
        const MOST: Vec4 = Vec4::splat(f32::MAX);
        let around = Vec4::splat(a.around().max(b.around()).max(c.around()));
        [[a.start, b.start, c.start], [a.end, b.end, c.end]].map(|[a, b, c]| {
            let (low, high) = (a.min(b).min(c) - around, a.max(b).max(c) + around);
            [low.max(-MOST).truncate().to_array(), high.min(MOST).truncate().to_array()]
        })
    }
}

/// Directions are made this long, so that their own rounding never makes them longer than one.
const ALMOST_ONE: f32 = 1.0 - 1e-5;

/// Smallest squared length of a vector whose direction is good to single precision.
pub(crate) const SMALLEST: f32 = 1e-30;

/// A little less than the unit vector along `v`; zero if it is too short to have one.
#[inline(always)]
pub(crate) fn direction(v: Vec3A) -> Vec3A {
    let size2 = v.length_squared();
    if size2 > SMALLEST && size2 < f32::INFINITY { v * (ALMOST_ONE / size2.sqrt()) } else { Vec3A::ZERO }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_hold_triangles_and_what_they_keep_around_and_bad_numbers_have_no_bounds() {
        let x = [[0.1, 2.0, -3.3], [7.7, 1e-3, 0.0], [1.0 / 3.0, -5.0, 1e-20]];
        let y = x.map(|p: [f64; 3]| p.map(|c| 1.1 * c + 0.7));
        let corners: [Corner; 3] = std::array::from_fn(|k| Corner::new(x[k], y[k], [1e-3, 0.0]));
        let boxes = Corner::boxes(corners.each_ref());
        for c in 0..3 {
            for k in 0..3 {
                for (boxes, x) in boxes.iter().zip([x, y]) {
                    assert!(
                        f64::from(boxes[0][c]) <= x[k][c] - 1e-3 && f64::from(boxes[1][c]) >= x[k][c] + 1e-3
                    );
                }
            }
        }
        for bad in [f64::NAN, f64::INFINITY, 1e300] {
            let corner = Corner::new([0.0, bad, 0.0], [0.0; 3], [0.0; 2]);
            let boxes = Corner::boxes([&corners[0], &corner, &corners[1]]);
            assert_eq!(boxes, [[[-f32::MAX; 3], [f32::MAX; 3]]; 2]);
        }
    }
}
