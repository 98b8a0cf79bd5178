//! Points in single precision, four at a time, for bounds that are asked hundreds of times for a pair of bodies.
//!
//! Four points are kept coordinate by coordinate, so that one instruction does for all of them what it would do for one.

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
    /// Columns of the rotation and the shift, each number four times.
    spread: [Four; 4],
}

impl Placement {
    pub(crate) fn new(turn: &Mat3, shift: Vec3) -> Self {
        let columns = [turn.x_axis, turn.y_axis, turn.z_axis, shift].map(point);
        Self { spread: columns.map(|c| from_fn(|d| f32x4::splat(c[d]))) }
    }

    /// Where four points are placed.
    #[inline(always)]
    pub(crate) fn of_four(&self, x: &Four) -> Four {
        let [a, b, c, shift] = &self.spread;
        from_fn(|d| a[d] * x[0] + b[d] * x[1] + (c[d] * x[2] + shift[d]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_num::Pose;
    use billow_num::rng::Stream;

    #[test]
    fn four_points_are_placed_where_each_is_up_to_rounding() {
        let mut draw = Stream::new(9, 7).at(1);
        let all: Vec<Vec3> = (0..9).map(|_| draw.unit_vector()).collect();
        let rotation = billow_num::Quat::from_scaled_axis(draw.unit_vector());
        let pose = Pose { position: draw.unit_vector(), rotation };
        let (place, points) = (Placement::new(&pose.matrix(), pose.position), Points::new(&all));
        // Any four, and four that follow each other; beyond the last that is repeated.
        for first in 0..9u32 {
            let following = [0, 1, 2, 3].map(|k| (first + k).min(8));
            let scattered = [first, 8 - first, 3, first / 2];
            for (of, four) in
                [(following, points.four_from(first as usize)), (scattered, points.four(scattered))]
            {
                let placed = place.of_four(&four).map(|axis| axis.to_array());
                for (k, i) in of.into_iter().enumerate() {
                    let x = Vec3::from(placed.map(|axis| f64::from(axis[k])));
                    assert!(x.distance(pose.point(all[i as usize])) < 0.25 * ROUNDING);
                }
            }
        }
    }
}
