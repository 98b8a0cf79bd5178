//! Four-wide tree nodes with single-precision boxes.
//!
//! Boxes are stored relative to the tree's origin and rounded outwards, so a test in f32 never loses an overlap
//! of the true boxes; four children are tested at once from contiguous lanes.

use super::{Aabb, Vec3};
use glam::{BVec4A, Vec4};

/// Lanes per node.
pub(super) const WIDTH: usize = 4;
/// Marks a lane without child.
pub(super) const NONE: u32 = u32::MAX;

/// Boxes of up to four children at `E` instants; lanes without child hold empty boxes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node<const E: usize> {
    /// `lo[e][c][lane]`: smallest coordinate `c` at instant `e` [m].
    pub(super) lo: [[[f32; WIDTH]; 3]; E],
    /// Largest coordinates [m].
    pub(super) hi: [[[f32; WIDTH]; 3]; E],
    /// Node indices, or primitive indices on the lowest level.
    pub(super) child: [u32; WIDTH],
}

/// One child's boxes.
pub(super) type Lane<const E: usize> = super::SingleBoxes<E>;

impl<const E: usize> Node<E> {
    pub(super) const EMPTY: Self = Self {
        lo: [[[f32::INFINITY; WIDTH]; 3]; E],
        hi: [[[f32::NEG_INFINITY; WIDTH]; 3]; E],
        child: [NONE; WIDTH],
    };

    /// A bit for each lane with a child.
    pub(super) fn lanes(&self) -> u32 {
        (0..WIDTH).fold(0, |lanes, i| lanes | u32::from(self.child[i] != NONE) << i)
    }

    pub(super) fn set(&mut self, lane: usize, boxes: &Lane<E>) {
        for e in 0..E {
            for c in 0..3 {
                self.lo[e][c][lane] = boxes[e][0][c];
                self.hi[e][c][lane] = boxes[e][1][c];
            }
        }
    }

    pub(super) fn lane(&self, lane: usize) -> Lane<E> {
        let mut boxes = [[[0.0; 3]; 2]; E];
        for e in 0..E {
            for c in 0..3 {
                boxes[e][0][c] = self.lo[e][c][lane];
                boxes[e][1][c] = self.hi[e][c][lane];
            }
        }
        boxes
    }

    /// The boxes around all lanes.
    pub(super) fn union(&self) -> Lane<E> {
        let mut boxes = [[[0.0; 3]; 2]; E];
        for e in 0..E {
            for c in 0..3 {
                boxes[e][0][c] = Vec4::from_array(self.lo[e][c]).min_element();
                boxes[e][1][c] = Vec4::from_array(self.hi[e][c]).max_element();
            }
        }
        boxes
    }

    /// Bit `j` is set unless some axis separates the given boxes from lane `j`, in the same order at all
    /// instants: then linear motion in between keeps them apart too.
    #[inline(always)]
    pub(super) fn overlaps(&self, with: &Lane<E>) -> u32 {
        let mut hit = BVec4A::splat(true);
        for c in 0..3 {
            let (mut reaches_up, mut reaches_down) = (BVec4A::splat(false), BVec4A::splat(false));
            for e in 0..E {
                let (lo, hi) = (Vec4::from_array(self.lo[e][c]), Vec4::from_array(self.hi[e][c]));
                reaches_up |= lo.cmple(Vec4::splat(with[e][1][c]));
                reaches_down |= Vec4::splat(with[e][0][c]).cmple(hi);
            }
            hit &= reaches_up & reaches_down;
        }
        hit.bitmask()
    }
}

/// Boxes relative to `origin`, grown by `thickness`, rounded outwards; not-a-number becomes unbounded.
#[inline(always)]
pub(super) fn round_out<const E: usize>(boxes: &[Aabb; E], origin: Vec3, thickness: f64) -> Lane<E> {
    let r = thickness as f32;
    let r = r + r.abs() * GROW;
    let mut lane = [[[0.0; 3]; 2]; E];
    for e in 0..E {
        let (lo, hi) = ((boxes[e].min - origin).to_array(), (boxes[e].max - origin).to_array());
        for c in 0..3 {
            lane[e][0][c] = down(down(narrow(lo[c])) - r);
            lane[e][1][c] = up(up(-narrow(-hi[c])) + r);
        }
    }
    lane
}

/// More than the half unit in the last place lost by one rounding to f32 and one in f64.
const GROW: f32 = 2.0 * f32::EPSILON;
/// The same for numbers below the normal range.
const TINY: f32 = 1e-37;

/// To single precision; finite numbers beyond its range must not become infinite upwards.
#[inline(always)]
fn narrow(x: f64) -> f32 {
    if x > f64::from(f32::MAX) && x < f64::INFINITY { f32::MAX } else { x as f32 }
}

/// Unbounded is the largest finite number, so that it does not meet empty boxes, which are infinite.
#[inline(always)]
fn down(x: f32) -> f32 {
    let y = x - (x.abs() * GROW + TINY);
    if x == f32::INFINITY {
        x
    } else if y > -f32::MAX {
        y
    } else {
        -f32::MAX
    }
}

#[inline(always)]
fn up(x: f32) -> f32 {
    -down(-x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_outwards_for_all_magnitudes_and_never_loses_a_nan() {
        for m in [0.0, 1e-300, 1e-40, 1e-7, 0.1, 1.0, 1.0 / 3.0, 12_345.678_9, 1e30, 1e38] {
            for x in [m, -m] {
                for r in [0.0, 1e-9, 1e-3] {
                    let b = Aabb { min: Vec3::splat(x), max: Vec3::splat(x) };
                    let [[lo, hi]] = round_out(&[b], Vec3::ZERO, r);
                    assert!(
                        f64::from(lo[0]) <= x - r && f64::from(hi[2]) >= x + r,
                        "{x} ± {r}: {lo:?} {hi:?}"
                    );
                }
            }
        }
        let nan = Aabb { min: Vec3::NAN, max: Vec3::NAN };
        assert_eq!(round_out(&[nan], Vec3::ZERO, 0.0), [[[-f32::MAX; 3], [f32::MAX; 3]]]);
    }
}
