//! Four vectors at a time in single precision.

use crate::corner::{Corner, ROUNDING, SMALLEST};
use crate::pair::Pair;
use glam::{BVec4A, Mat4, Vec4};
use std::ops::{Add, Mul, Sub};

/// Pairs that are tested at once.
pub(crate) const FOUR: usize = 4;

/// Four vectors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vectors {
    x: Vec4,
    y: Vec4,
    z: Vec4,
}

impl Vectors {
    #[inline(always)]
    pub(crate) fn dot(self, b: Self) -> Vec4 {
        self.x * b.x + self.y * b.y + self.z * b.z
    }

    #[inline(always)]
    pub(crate) fn cross(self, b: Self) -> Self {
        Self {
            x: self.y * b.z - self.z * b.y,
            y: self.z * b.x - self.x * b.z,
            z: self.x * b.y - self.y * b.x,
        }
    }

    /// Sum of the sizes of the coordinates.
    #[inline(always)]
    pub(crate) fn size(self) -> Vec4 {
        self.x.abs() + self.y.abs() + self.z.abs()
    }

    /// Where the condition holds these vectors, elsewhere others.
    #[inline(always)]
    pub(crate) fn or(self, holds: BVec4A, other: Self) -> Self {
        let select = |a: Vec4, b: Vec4| Vec4::select(holds, a, b);
        Self { x: select(self.x, other.x), y: select(self.y, other.y), z: select(self.z, other.z) }
    }
}

/// A node of each of four pairs.
pub(crate) struct Nodes {
    /// Where they are at the start of the step.
    pub(crate) start: Vectors,
    /// Where they are at its end.
    pub(crate) end: Vectors,
    /// Distances they keep around themselves [m].
    pub(crate) around: Vec4,
    /// Distances that their edges keep from others [m].
    pub(crate) around_edges: Vec4,
}

/// The nodes of four pairs.
#[inline(always)]
pub(crate) fn gather(corners: &[Corner], pairs: &[Pair; FOUR]) -> [Nodes; 4] {
    let at = |pair: usize, k: usize| &corners[pairs[pair].nodes[k] as usize];
    let of = |k: usize| {
        let [a, b, c, d] = [at(0, k), at(1, k), at(2, k), at(3, k)];
        let (start, around) = transpose([a.start, b.start, c.start, d.start]);
        let (end, around_edges) = transpose([a.end, b.end, c.end, d.end]);
        Nodes { start, end, around, around_edges }
    };
    [of(0), of(1), of(2), of(3)]
}

/// How far apart elements certainly are that are `between` apart along an axis of any length; negative if that is not known
/// [m].
#[inline(always)]
pub(crate) fn apart_along(axis: Vectors, between: Vec4) -> Vec4 {
    // Short axes have no exact length.
    let length2 = axis.dot(axis);
    let exact = length2.cmpgt(Vec4::splat(SMALLEST));
    Vec4::select(exact, between / length2.sqrt() * (1.0 - ROUNDING), Vec4::NEG_ONE)
}

/// What is in a segment that goes from zero to one.
#[inline(always)]
pub(crate) fn clamp(s: Vec4) -> Vec4 {
    s.max(Vec4::ZERO).min(Vec4::ONE)
}

impl Add for Vectors {
    type Output = Self;
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self { x: self.x + b.x, y: self.y + b.y, z: self.z + b.z }
    }
}

impl Sub for Vectors {
    type Output = Self;
    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Self { x: self.x - b.x, y: self.y - b.y, z: self.z - b.z }
    }
}

impl Mul<Vec4> for Vectors {
    type Output = Self;
    #[inline(always)]
    fn mul(self, s: Vec4) -> Self {
        Self { x: self.x * s, y: self.y * s, z: self.z * s }
    }
}

/// Four points as vectors, and the fourth numbers.
#[inline(always)]
fn transpose([a, b, c, d]: [Vec4; FOUR]) -> (Vectors, Vec4) {
    let rows = Mat4::from_cols(a, b, c, d).transpose();
    (Vectors { x: rows.x_axis, y: rows.y_axis, z: rows.z_axis }, rows.w_axis)
}
