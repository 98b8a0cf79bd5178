//! Axis-aligned boxes.

use billow_num::Vec3;
use serde::{Deserialize, Serialize};

/// An axis-aligned box; empty when any `min` exceeds its `max`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Aabb {
    /// Smallest corner [m].
    pub min: Vec3,
    /// Largest corner [m].
    pub max: Vec3,
}

impl Default for Aabb {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl Aabb {
    /// The box that contains nothing and is the identity of [`Aabb::union`].
    pub const EMPTY: Self = Self { min: Vec3::INFINITY, max: Vec3::NEG_INFINITY };

    /// The smallest box around the points.
    pub fn of_points<'a>(points: impl IntoIterator<Item = &'a Vec3>) -> Self {
        points.into_iter().fold(Self::EMPTY, |b, &p| b.with(p))
    }

    /// The box grown to hold `p`.
    pub fn with(self, p: Vec3) -> Self {
        Self { min: self.min.min(p), max: self.max.max(p) }
    }

    /// The smallest box around both.
    pub fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// The box grown by `r` on every side [m].
    pub fn inflated(self, r: f64) -> Self {
        Self { min: self.min - r, max: self.max + r }
    }

    /// Whether the two boxes share a point, borders included.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.min.cmple(other.max).all() && other.min.cmple(self.max).all()
    }

    /// Whether `p` lies in the box, borders included.
    pub fn contains(&self, p: Vec3) -> bool {
        self.min.cmple(p).all() && p.cmple(self.max).all()
    }

    /// Whether the box holds no point.
    pub fn is_empty(&self) -> bool {
        self.min.cmpgt(self.max).any()
    }

    /// Edge lengths [m].
    pub fn size(&self) -> Vec3 {
        self.max - self.min
    }

    /// Midpoint [m].
    pub fn centre(&self) -> Vec3 {
        0.5 * (self.min + self.max)
    }
}
