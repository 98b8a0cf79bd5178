//! Separation certificates: planes that prove a piece of a motion clear in spite of rounding.
//!
//! Two convex elements with corners `a_i`, `b_j` stay farther apart than `δ` as long as some direction `n`
//! keeps `n·D_ij > δ|n|` for all corner differences `D_ij = a_i − b_j`. Differences of linear motions are
//! linear, so a fixed `n` need only be checked at both ends of a time interval, and a plane that turns linearly,
//! `n(τ) = (1−τ) n_s + τ n_e`, makes `n·D` a quadratic that is positive if its three Bernstein coefficients are.
//!
//! Only the corner differences enter, and each is exact up to one rounding, so the error bound scales with the
//! size of the pair and not with its distance from the origin.

use billow_num::Vec3;

/// Bound on the error of one coefficient relative to `|n|₁ max|D|`, twice over.
///
/// With u = 2⁻⁵³: one u for each difference, three for interpolating it to a time, one for that sum, three for
/// the dot product and one for adding two of them give less than 9u; 16u leaves room for the rounding of the
/// bound itself.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Covers every product that falls below the normal range of f64.
const UNDERFLOW: f64 = 1e-300;

/// Relative room for the rounding of a length, a product with it and a quotient.
const SLACK: f64 = 8.0 * f64::EPSILON;

/// A proof that two elements stay farther apart than the minimum separation for all times of an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Certificate {
    /// First time covered [-].
    pub start: f64,
    /// Last time covered [-].
    pub end: f64,
    /// Plane normal at the first time, from the second element towards the first [-].
    pub normal_start: Vec3,
    /// Plane normal at the last time; it turns linearly in between [-].
    pub normal_end: Vec3,
}

/// Corner differences of two elements at both ends of the step, by component: `start[c][k]`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Differences<const K: usize> {
    start: [[f64; K]; 3],
    end: [[f64; K]; 3],
    /// Largest component of all.
    size: f64,
    /// Minimum separation [m].
    pub(super) separation: f64,
}

impl<const K: usize> Differences<K> {
    pub(super) fn new(start: [Vec3; K], end: [Vec3; K], separation: f64) -> Self {
        let split = |d: [Vec3; K]| [d.map(|v| v.x), d.map(|v| v.y), d.map(|v| v.z)];
        let mut size = Vec3::ZERO;
        for k in 0..K {
            size = size.max(start[k].abs()).max(end[k].abs());
        }
        Self { start: split(start), end: split(end), size: size.max_element(), separation }
    }

    /// Whether every number that enters the bounds is finite.
    pub(super) fn is_finite(&self) -> bool {
        let sum: f64 = self.start.iter().chain(&self.end).flatten().map(|d| d.abs()).sum();
        sum.is_finite() && self.separation.is_finite()
    }

    /// Differences at time `t`, each component within `4u·size` of the true value.
    pub(super) fn at(&self, t: f64) -> [Vec3; K] {
        let s = 1.0 - t;
        std::array::from_fn(|k| {
            Vec3::new(
                s * self.start[0][k] + t * self.end[0][k],
                s * self.start[1][k] + t * self.end[1][k],
                s * self.start[2][k] + t * self.end[2][k],
            )
        })
    }

    /// A coordinate axis that separates the pair over the whole step.
    pub(super) fn clear_axis(&self) -> Option<Vec3> {
        let m = self.separation.max(0.0) * (1.0 + SLACK);
        (0..3).find_map(|c| {
            let (mut above, mut below) = (true, true);
            for k in 0..K {
                above &= self.start[c][k] > m && self.end[c][k] > m;
                below &= self.start[c][k] < -m && self.end[c][k] < -m;
            }
            (above || below).then(|| if above { Vec3::AXES[c] } else { -Vec3::AXES[c] })
        })
    }

    /// What `n·D` must exceed to prove `n·D > δ|n|`; infinite where `n` is too short to tell.
    pub(super) fn margin(&self, n: Vec3) -> f64 {
        let rounding = ROUNDING * ((n.x.abs() + n.y.abs() + n.z.abs()) * self.size) + UNDERFLOW;
        if self.separation <= 0.0 {
            return rounding;
        }
        let n2 = n.length_squared();
        let length = if n2 > 1e-200 { n2.sqrt() } else { f64::INFINITY };
        self.separation * length * (1.0 + SLACK) + rounding
    }

    /// Times `(lo, hi)` between which the fixed direction `n` separates the pair: proven for all `t` with
    /// `lo < t ≤ hi` inside `[0, 1]`, nothing if `lo ≥ hi`. `lo` is negative when `t = 0` is included.
    pub(super) fn reach(&self, n: Vec3) -> (f64, f64) {
        let m = self.margin(n);
        let (mut lo, mut hi) = (-1.0f64, 1.0f64);
        for k in 0..K {
            let p = n.x * self.start[0][k] + n.y * self.start[1][k] + n.z * self.start[2][k] - m;
            let q = n.x * self.end[0][k] + n.y * self.end[1][k] + n.z * self.end[2][k] - m;
            match (p > 0.0, q > 0.0) {
                (true, true) => {}
                // Same-sign sums: p/(p−q) is accurate to a few u.
                (true, false) => hi = hi.min(p / (p - q) * (1.0 - SLACK)),
                (false, true) => lo = lo.max(p / (p - q) * (1.0 + SLACK)),
                (false, false) => return (1.0, -1.0),
            }
        }
        if (lo + hi).is_finite() { (lo, hi) } else { (1.0, -1.0) }
    }

    /// Whether the fixed direction `n` separates the pair over the whole step.
    pub(super) fn clear_along(&self, n: Vec3) -> bool {
        let m = self.margin(n);
        let mut least = f64::INFINITY;
        for k in 0..K {
            let p = n.x * self.start[0][k] + n.y * self.start[1][k] + n.z * self.start[2][k];
            let q = n.x * self.end[0][k] + n.y * self.end[1][k] + n.z * self.end[2][k];
            least = if p < least { p } else { least };
            least = if q < least { q } else { least };
        }
        least > m && least < f64::INFINITY
    }

    /// Room left at time `t` along `n`: positive proves the pair farther apart than the separation there.
    pub(super) fn room(&self, t: f64, n: Vec3) -> f64 {
        let least = self.at(t).iter().fold(f64::INFINITY, |m, d| m.min(n.dot(*d)));
        least - self.margin(n)
    }

    /// Whether the plane turning from `normal_start` to `normal_end` separates the pair over the interval.
    pub(super) fn proves(&self, c: &Certificate) -> bool {
        let (m_s, m_e) = (self.margin(c.normal_start), self.margin(c.normal_end));
        let (d_s, d_e) = (self.at(c.start), self.at(c.end));
        (0..K).all(|k| {
            c.normal_start.dot(d_s[k]) > m_s
                && c.normal_end.dot(d_e[k]) > m_e
                && c.normal_start.dot(d_e[k]) + c.normal_end.dot(d_s[k]) > m_s + m_e
        })
    }
}
