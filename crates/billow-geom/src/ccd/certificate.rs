//! Separation certificates: planes that prove a piece of a motion clear in spite of rounding.
//!
//! Two convex elements with corners `a_i`, `b_j` stay farther apart than `δ` as long as some direction `n`
//! keeps `n·D_ij > δ|n|` for all corner differences `D_ij = a_i − b_j`. Differences of linear motions are
//! linear, so a fixed `n` need only be checked at both ends of a time interval, and a plane that turns linearly,
//! `n(τ) = (1−τ) n_s + τ n_e`, makes `n·D` a quadratic that is positive if its three Bernstein coefficients are.
//!
//! Only the corner differences enter, and each is exact up to one rounding, so the error bound scales with the
//! size of the pair and not with its distance from the origin. Input must be finite; overflow on the way makes
//! a margin infinite or undefined, which proves nothing.

use billow_num::Vec3;

/// Bound on the error of one coefficient relative to `|n|₁ max|D|`, nearly twice over.
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

/// Number of corner differences; point and triangle have three and repeat one.
const K: usize = 4;

/// Corner differences of two elements at both ends of the step, by component: `start[c][k]`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Differences {
    start: [[f64; K]; 3],
    end: [[f64; K]; 3],
    /// Smallest and largest of each component.
    lo: Vec3,
    hi: Vec3,
    /// Minimum separation, not negative [m].
    separation: f64,
}

impl Differences {
    #[inline(always)]
    pub(super) fn new(start: [Vec3; K], end: [Vec3; K], separation: f64) -> Self {
        let split = |d: [Vec3; K]| [d.map(|v| v.x), d.map(|v| v.y), d.map(|v| v.z)];
        let (start, end) = (split(start), split(end));
        let (mut lo, mut hi) = ([0.0; 3], [0.0; 3]);
        for c in 0..3 {
            let (mut least, mut most) = ([0.0; K], [0.0; K]);
            for k in 0..K {
                least[k] = min(start[c][k], end[c][k]);
                most[k] = max(start[c][k], end[c][k]);
            }
            lo[c] = min(min(least[0], least[2]), min(least[1], least[3]));
            hi[c] = max(max(most[0], most[2]), max(most[1], most[3]));
        }
        let (lo, hi) = (Vec3::from_array(lo), Vec3::from_array(hi));
        Self { start, end, lo, hi, separation: max(separation, 0.0) }
    }

    /// Differences at time `t`, each component within 4u of the largest from the true value.
    pub(super) fn at(&self, t: f64) -> [Vec3; K] {
        self.blend(1.0 - t, t)
    }

    /// Twice the differences at mid-step.
    #[inline(always)]
    pub(super) fn middle(&self) -> [Vec3; K] {
        self.blend(1.0, 1.0)
    }

    #[inline(always)]
    fn blend(&self, s: f64, t: f64) -> [Vec3; K] {
        let at = |c: usize, k: usize| s * self.start[c][k] + t * self.end[c][k];
        [0, 1, 2, 3].map(|k| Vec3::new(at(0, k), at(1, k), at(2, k)))
    }

    /// A coordinate axis that separates the pair over the whole step.
    #[inline(always)]
    pub(super) fn clear_axis(&self) -> Option<Vec3> {
        let m = self.separation * (1.0 + SLACK);
        let (above, below) = (self.lo.cmpgt(Vec3::splat(m)), self.hi.cmplt(Vec3::splat(-m)));
        if !(above | below).any() {
            return None;
        }
        (0..3).find_map(|c| match (above.test(c), below.test(c)) {
            (true, _) => Some(Vec3::AXES[c]),
            (_, true) => Some(-Vec3::AXES[c]),
            _ => None,
        })
    }

    /// What `n·D` must exceed to prove `n·D > δ|n|`; infinite where `n` is too short to tell.
    #[inline(always)]
    pub(super) fn margin(&self, n: Vec3) -> f64 {
        let size = self.hi.max(-self.lo).max_element();
        let rounding = ROUNDING * ((n.x.abs() + n.y.abs() + n.z.abs()) * size) + UNDERFLOW;
        if self.separation <= 0.0 {
            return rounding;
        }
        let n2 = n.length_squared();
        let length = if n2 > 1e-200 { n2.sqrt() } else { f64::INFINITY };
        self.separation * length * (1.0 + SLACK) + rounding
    }

    /// `n·D` for all differences at the start and at the end.
    #[inline(always)]
    fn along(&self, n: Vec3) -> [[f64; K]; 2] {
        let (mut p, mut q) = ([0.0; K], [0.0; K]);
        for k in 0..K {
            p[k] = n.x * self.start[0][k] + n.y * self.start[1][k] + n.z * self.start[2][k];
            q[k] = n.x * self.end[0][k] + n.y * self.end[1][k] + n.z * self.end[2][k];
        }
        [p, q]
    }

    /// Whether the fixed direction `n` separates the pair over the whole step.
    #[inline(always)]
    pub(super) fn clear_along(&self, n: Vec3) -> bool {
        let [p, q] = self.along(n);
        let mut least = [0.0; K];
        for k in 0..K {
            least[k] = min(p[k], q[k]);
        }
        // Undefined products come with an infinite or undefined margin.
        min(min(least[0], least[2]), min(least[1], least[3])) > self.margin(n)
    }

    /// Times `(lo, hi)` between which the fixed direction `n` separates the pair: proven for all `t` with
    /// `lo < t ≤ hi` inside `[0, 1]`, nothing if `lo ≥ hi`. `lo` is negative when `t = 0` is included.
    #[inline(always)]
    pub(super) fn reach(&self, n: Vec3) -> (f64, f64) {
        let m = self.margin(n);
        let [p, q] = self.along(n);
        let (mut lo, mut hi) = (-1.0f64, 1.0f64);
        for k in 0..K {
            let (p, q) = (p[k] - m, q[k] - m);
            match (p > 0.0, q > 0.0) {
                (true, true) => {}
                // Sums of one sign: p/(p−q) is accurate to a few u.
                (true, false) => hi = hi.min(p / (p - q) * (1.0 - SLACK)),
                (false, true) => lo = lo.max(p / (p - q) * (1.0 + SLACK)),
                (false, false) => return (1.0, -1.0),
            }
        }
        (lo, hi)
    }

    /// Room left at time `t` along `n`: positive proves the pair farther apart than the separation there.
    pub(super) fn room(&self, t: f64, n: Vec3) -> f64 {
        self.support(t, n) - self.margin(n)
    }

    /// The smallest `n·D` at time `t`.
    pub(super) fn support(&self, t: f64, n: Vec3) -> f64 {
        let d = self.at(t).map(|d| n.dot(d));
        min(min(d[0], d[1]), min(d[2], d[3]))
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

/// One instruction each; the second number where one is not a number.
#[inline(always)]
fn min(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

#[inline(always)]
fn max(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}
