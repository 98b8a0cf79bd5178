//! Interval arithmetic with outward rounding: the true result always lies inside the computed interval.
//!
//! Every operation rounds to nearest and then moves each end one or two floating-point numbers outward, so an
//! [`Interval`] encloses the exact result for all choices of operands inside the operand intervals. Undefined
//! cases (division by an interval that holds zero, NaN operands) give the whole line instead of a wrong answer.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// A closed interval of real numbers, `lo ≤ hi`, possibly unbounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    lo: f64,
    hi: f64,
}

impl Interval {
    /// The interval that holds exactly zero.
    pub const ZERO: Self = Self { lo: 0.0, hi: 0.0 };
    /// The interval that holds exactly one.
    pub const ONE: Self = Self { lo: 1.0, hi: 1.0 };
    /// The interval `[0, 1]`.
    pub const UNIT: Self = Self { lo: 0.0, hi: 1.0 };
    /// The whole real line.
    pub const ENTIRE: Self = Self { lo: f64::NEG_INFINITY, hi: f64::INFINITY };

    /// The interval between two numbers given in any order; NaN gives [`Interval::ENTIRE`].
    pub fn new(a: f64, b: f64) -> Self {
        if a <= b {
            Self { lo: a, hi: b }
        } else if b < a {
            Self { lo: b, hi: a }
        } else {
            Self::ENTIRE
        }
    }

    /// The interval that holds exactly `x` (the whole line for NaN).
    pub fn point(x: f64) -> Self {
        Self::new(x, x)
    }

    /// The numbers within `radius` of `centre`.
    pub fn around(centre: f64, radius: f64) -> Self {
        outward(centre - radius.abs(), centre + radius.abs())
    }

    /// Lower end.
    pub fn lo(&self) -> f64 {
        self.lo
    }

    /// Upper end.
    pub fn hi(&self) -> f64 {
        self.hi
    }

    /// An upper bound of `hi − lo`.
    pub fn width(&self) -> f64 {
        if self.lo == self.hi { 0.0 } else { (self.hi - self.lo).next_up() }
    }

    /// A number inside the interval, its middle up to rounding.
    pub fn mid(&self) -> f64 {
        match (self.lo == f64::NEG_INFINITY, self.hi == f64::INFINITY) {
            (true, true) => 0.0,
            (true, false) => self.hi.min(f64::MIN),
            (false, true) => self.lo.max(f64::MAX),
            _ => (0.5 * self.lo + 0.5 * self.hi).clamp(self.lo, self.hi),
        }
    }

    /// The largest absolute value in the interval.
    pub fn magnitude(&self) -> f64 {
        self.lo.abs().max(self.hi.abs())
    }

    /// Whether `x` lies in the interval.
    pub fn contains(&self, x: f64) -> bool {
        self.lo <= x && x <= self.hi
    }

    /// Whether zero lies in the interval.
    pub fn contains_zero(&self) -> bool {
        self.contains(0.0)
    }

    /// Whether `other` lies in the interval.
    pub fn encloses(&self, other: Self) -> bool {
        self.lo <= other.lo && other.hi <= self.hi
    }

    /// Whether every number of the interval is above zero.
    pub fn is_positive(&self) -> bool {
        self.lo > 0.0
    }

    /// Whether every number of the interval is below zero.
    pub fn is_negative(&self) -> bool {
        self.hi < 0.0
    }

    /// The sign all numbers of the interval share: 1, −1, or 0 where it is not certain.
    pub fn sign(&self) -> i32 {
        i32::from(self.is_positive()) - i32::from(self.is_negative())
    }

    /// The smallest interval that holds both.
    pub fn hull(self, other: Self) -> Self {
        Self { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    /// What both share, if anything.
    pub fn intersection(self, other: Self) -> Option<Self> {
        let (lo, hi) = (self.lo.max(other.lo), self.hi.min(other.hi));
        (lo <= hi).then_some(Self { lo, hi })
    }

    /// Absolute values of the numbers in the interval (exact).
    pub fn abs(self) -> Self {
        if self.lo >= 0.0 {
            self
        } else if self.hi <= 0.0 {
            -self
        } else {
            Self { lo: 0.0, hi: self.magnitude() }
        }
    }

    /// Squares of the numbers in the interval; tighter than `self * self`.
    pub fn sqr(self) -> Self {
        let a = self.abs();
        let square = outward(a.lo * a.lo, a.hi * a.hi);
        Self { lo: square.lo.max(0.0), hi: square.hi }
    }

    /// Cubes of the numbers in the interval.
    pub fn cube(self) -> Self {
        // x³ is increasing, so the ends decide.
        let end = |x: f64| Self::point(x).sqr() * Self::point(x);
        Self { lo: end(self.lo).lo, hi: end(self.hi).hi }
    }

    /// Square roots of the non-negative numbers in the interval; `None` if there are none.
    pub fn sqrt(self) -> Option<Self> {
        let part = self.intersection(Self { lo: 0.0, hi: f64::INFINITY })?;
        let root = outward(part.lo.sqrt(), part.hi.sqrt());
        Some(Self { lo: root.lo.max(0.0), hi: root.hi })
    }

    /// Reciprocals; the whole line if zero is in the interval.
    pub fn recip(self) -> Self {
        if self.contains_zero() { Self::ENTIRE } else { outward(1.0 / self.hi, 1.0 / self.lo) }
    }

    /// Averages of a number of each interval.
    #[inline(always)]
    pub fn average(self, other: Self) -> Self {
        // Halving is exact, or underflows by less than the outward step.
        outward(0.5 * (self.lo + other.lo), 0.5 * (self.hi + other.hi))
    }

    /// Smaller of each pair.
    pub fn min(self, other: Self) -> Self {
        Self { lo: self.lo.min(other.lo), hi: self.hi.min(other.hi) }
    }

    /// Larger of each pair.
    pub fn max(self, other: Self) -> Self {
        Self { lo: self.lo.max(other.lo), hi: self.hi.max(other.hi) }
    }
}

/// Moves the rounded ends outward past the neighbouring floating-point number, without branches
/// (Rump, Zimmermann, Boldo and Melquiond 2009): at most two steps, at least one. The added smallest normal number
/// covers underflow. Where an end is NaN or has overflowed past its partner, the whole line is returned.
#[inline(always)]
fn outward(lo: f64, hi: f64) -> Interval {
    const UNIT: f64 = 0.5 * f64::EPSILON * (1.0 + f64::EPSILON);
    let lo = lo - (lo.abs() * UNIT + f64::MIN_POSITIVE);
    let hi = hi + (hi.abs() * UNIT + f64::MIN_POSITIVE);
    if lo <= hi { Interval { lo, hi } } else { Interval::ENTIRE }
}

impl From<f64> for Interval {
    fn from(x: f64) -> Self {
        Self::point(x)
    }
}

impl Neg for Interval {
    type Output = Self;
    fn neg(self) -> Self {
        Self { lo: -self.hi, hi: -self.lo }
    }
}

impl Add for Interval {
    type Output = Self;
    #[inline]
    fn add(self, b: Self) -> Self {
        outward(self.lo + b.lo, self.hi + b.hi)
    }
}

impl Sub for Interval {
    type Output = Self;
    #[inline]
    fn sub(self, b: Self) -> Self {
        outward(self.lo - b.hi, self.hi - b.lo)
    }
}

impl Mul for Interval {
    type Output = Self;
    #[inline]
    fn mul(self, b: Self) -> Self {
        // A NaN stands for 0 · ∞, which is 0 between ends: `min` and `max` pass over it, and zero is either among
        // the other products or the ends are infinite on both sides.
        let (p, q, r, s) = (self.lo * b.lo, self.lo * b.hi, self.hi * b.lo, self.hi * b.hi);
        outward(p.min(q).min(r.min(s)), p.max(q).max(r.max(s)))
    }
}

impl Div for Interval {
    type Output = Self;
    fn div(self, b: Self) -> Self {
        if b.contains_zero() {
            return Self::ENTIRE;
        }
        let (p, q, r, s) = (self.lo / b.lo, self.lo / b.hi, self.hi / b.lo, self.hi / b.hi);
        if p.is_nan() || q.is_nan() || r.is_nan() || s.is_nan() {
            return Self::ENTIRE;
        }
        outward(p.min(q).min(r.min(s)), p.max(q).max(r.max(s)))
    }
}

impl Mul<f64> for Interval {
    type Output = Self;
    fn mul(self, b: f64) -> Self {
        self * Self::point(b)
    }
}

impl Add<f64> for Interval {
    type Output = Self;
    fn add(self, b: f64) -> Self {
        self + Self::point(b)
    }
}

impl Sub<f64> for Interval {
    type Output = Self;
    fn sub(self, b: f64) -> Self {
        self - Self::point(b)
    }
}

/// A vector of intervals: a box known to hold the true vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval3 {
    /// First component.
    pub x: Interval,
    /// Second component.
    pub y: Interval,
    /// Third component.
    pub z: Interval,
}

impl Interval3 {
    /// The box with these components.
    pub fn new(x: Interval, y: Interval, z: Interval) -> Self {
        Self { x, y, z }
    }

    /// The box that holds exactly `v`.
    pub fn point(v: crate::Vec3) -> Self {
        Self { x: v.x.into(), y: v.y.into(), z: v.z.into() }
    }

    /// Encloses the scalar product.
    pub fn dot(self, b: Self) -> Interval {
        self.x * b.x + self.y * b.y + self.z * b.z
    }

    /// Encloses the vector product.
    pub fn cross(self, b: Self) -> Self {
        Self {
            x: self.y * b.z - self.z * b.y,
            y: self.z * b.x - self.x * b.z,
            z: self.x * b.y - self.y * b.x,
        }
    }

    /// Encloses the determinant `a · (b × c)`.
    pub fn triple(a: Self, b: Self, c: Self) -> Interval {
        a.dot(b.cross(c))
    }

    /// Encloses the squared length.
    pub fn length_squared(self) -> Interval {
        self.x.sqr() + self.y.sqr() + self.z.sqr()
    }
}

impl Add for Interval3 {
    type Output = Self;
    fn add(self, b: Self) -> Self {
        Self { x: self.x + b.x, y: self.y + b.y, z: self.z + b.z }
    }
}

impl Sub for Interval3 {
    type Output = Self;
    fn sub(self, b: Self) -> Self {
        Self { x: self.x - b.x, y: self.y - b.y, z: self.z - b.z }
    }
}

impl Mul<Interval> for Interval3 {
    type Output = Self;
    fn mul(self, b: Interval) -> Self {
        Self { x: self.x * b, y: self.y * b, z: self.z * b }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Vec3, rng::Stream};

    /// Numbers of very different size, with zeros and exact powers of two among them.
    fn number(d: &mut crate::rng::Draws) -> f64 {
        match d.below(10) {
            0 => 0.0,
            1 => 2.0f64.powi(d.below(40) as i32 - 20),
            _ => d.normal() * 2.0f64.powi(d.below(80) as i32 - 40),
        }
    }

    /// Sign of `a·b − c`, exact because a fused multiply-add rounds once.
    fn product_minus(a: f64, b: f64, c: f64) -> f64 {
        a.mul_add(b, -c)
    }

    /// Sign of `a + b − c`, exact by way of the rounding error of the first sum.
    fn sum_minus(a: f64, b: f64, c: f64) -> f64 {
        let s = a + b;
        let t = s - a;
        let error = (a - (s - t)) + (b - t);
        (s - c) + error
    }

    #[test]
    fn operations_on_points_enclose_the_exact_result_tightly() {
        for i in 0..100_000 {
            let mut d = Stream::new(11, 0).at(i);
            let (a, b) = (number(&mut d), number(&mut d));
            let (x, y) = (Interval::point(a), Interval::point(b));
            let sum = x + y;
            assert!(sum_minus(a, b, sum.lo) >= 0.0 && sum_minus(a, b, sum.hi) <= 0.0);
            let difference = x - y;
            assert!(sum_minus(a, -b, difference.lo) >= 0.0 && sum_minus(a, -b, difference.hi) <= 0.0);
            let product = x * y;
            assert!(product_minus(a, b, product.lo) >= 0.0 && product_minus(a, b, product.hi) <= 0.0);
            let square = x.sqr();
            assert!(product_minus(a, a, square.lo) >= 0.0 && product_minus(a, a, square.hi) <= 0.0);
            assert!(square.lo >= 0.0);
            if b != 0.0 {
                let quotient = x / y;
                let sign = b.signum();
                assert!(sign * product_minus(quotient.lo, b, a) <= 0.0);
                assert!(sign * product_minus(quotient.hi, b, a) >= 0.0);
                assert!(quotient.width() <= 8.0 * f64::EPSILON * quotient.magnitude() + 1e-300);
            }
            if let Some(root) = x.sqrt() {
                assert!(
                    product_minus(root.lo, root.lo, a) <= 0.0 && product_minus(root.hi, root.hi, a) >= 0.0
                );
            } else {
                assert!(a < 0.0);
            }
            assert!(product.width() <= 8.0 * f64::EPSILON * product.magnitude() + 1e-300);
        }
    }

    #[test]
    fn operations_on_wide_intervals_enclose_every_choice_of_operands() {
        let pick = |d: &mut crate::rng::Draws, x: Interval| {
            let t = [0.0, 1.0, d.uniform()][d.below(3) as usize];
            (x.lo + t * (x.hi - x.lo)).clamp(x.lo, x.hi)
        };
        for i in 0..100_000 {
            let mut d = Stream::new(12, 0).at(i);
            let x = Interval::new(number(&mut d), number(&mut d));
            let y = Interval::new(number(&mut d), number(&mut d));
            let (a, b) = (pick(&mut d, x), pick(&mut d, y));
            assert!((x + y).encloses(Interval::point(a) + Interval::point(b)));
            assert!((x - y).encloses(Interval::point(a) - Interval::point(b)));
            assert!((x * y).encloses(Interval::point(a) * Interval::point(b)));
            assert!(x.sqr().encloses(Interval::point(a).sqr()));
            assert!(x.cube().encloses(Interval::point(a).cube()));
            assert!(x.cube().contains(a * a * a) && x.abs().contains(a.abs()));
            assert!((x * x).encloses(x.sqr()));
            assert!((x / y).contains(a / b) || b == 0.0);
            assert!(x.contains(x.mid()) && x.hull(y).contains(a) && x.hull(y).contains(b));
            assert!(
                x.average(y).encloses((Interval::point(a) + Interval::point(b)) * 0.5)
                    || x.average(y).contains(0.5 * (a + b))
            );
            assert_eq!(x.intersection(y).is_some(), x.lo.max(y.lo) <= x.hi.min(y.hi));
        }
    }

    #[test]
    fn undefined_and_unbounded_cases_stay_sound() {
        let huge = Interval::point(f64::MAX);
        assert_eq!(Interval::point(f64::NAN), Interval::ENTIRE);
        assert_eq!(Interval::ONE / Interval::new(-1.0, 1.0), Interval::ENTIRE);
        assert_eq!(Interval::ZERO.recip(), Interval::ENTIRE);
        assert!((Interval::ZERO * Interval::ENTIRE).contains_zero());
        assert!((huge + huge).lo <= f64::MAX && (huge + huge).hi == f64::INFINITY);
        assert!((huge * huge).lo <= f64::MAX && (-huge - huge).hi >= -f64::MAX);
        assert_eq!((huge + huge) - (huge + huge), Interval::ENTIRE);
        let tiny = Interval::point(5e-324);
        assert!((tiny * tiny).hi > 0.0 && tiny.average(tiny).contains(5e-324));
        for (a, b) in [(-1.0, 0.0), (0.0, 2.0), (0.0, 0.0), (-1.0, 1.0), (1.0, 2.0)] {
            for (c, d) in [(1.0, f64::INFINITY), (0.0, f64::INFINITY), (f64::NEG_INFINITY, -1.0)] {
                let product = Interval::new(a, b) * Interval::new(c, d);
                for (x, y) in [(a, c.max(-9.0)), (a, d.min(9.0)), (b, c.max(-9.0)), (b, d.min(9.0))] {
                    assert!(product.contains(x * y), "[{a}, {b}] times [{c}, {d}]");
                }
            }
        }
        assert!(Interval::new(0.0, 1.0) * Interval::ENTIRE == Interval::ENTIRE);
        assert!(Interval::ENTIRE.mid() == 0.0 && Interval::new(3.0, f64::INFINITY).mid().is_finite());
        assert_eq!(Interval::new(2.0, 1.0), Interval::new(1.0, 2.0));
        assert_eq!(Interval::new(-2.0, -1.0).sqrt(), None);
    }

    #[test]
    fn the_outward_step_passes_the_neighbour_of_every_number() {
        let mut d = Stream::new(19, 0).at(0);
        for exponent in -1074..1024 {
            for _ in 0..8 {
                let x = 2.0f64.powi(exponent)
                    * [1.0, 1.0 + d.uniform(), -1.0, -1.0 - d.uniform()][d.below(4) as usize];
                let out = outward(x, x);
                assert!(out.lo <= x.next_down() && out.hi >= x.next_up(), "{x:e}");
                assert!(out.width() <= 4.1 * f64::EPSILON * x.abs() + 5e-308);
            }
        }
    }

    #[test]
    fn vector_products_enclose_exact_integer_results() {
        for i in 0..20_000 {
            let mut d = Stream::new(13, 0).at(i);
            let mut coordinate = || d.below(1 << 40) as i64 - (1 << 39);
            let v: [[i64; 3]; 3] = std::array::from_fn(|_| std::array::from_fn(|_| coordinate()));
            let wide = v.map(|row| row.map(i128::from));
            let [a, b, c] = v.map(|r| Interval3::point(Vec3::new(r[0] as f64, r[1] as f64, r[2] as f64)));
            let holds = |x: Interval, truth: i128| x.lo as i128 <= truth && truth <= x.hi as i128;
            let [p, q, r] = wide;
            assert!(holds(a.dot(b), p[0] * q[0] + p[1] * q[1] + p[2] * q[2]));
            assert!(holds(a.cross(b).z, p[0] * q[1] - p[1] * q[0]));
            let cross = [q[1] * r[2] - q[2] * r[1], q[2] * r[0] - q[0] * r[2], q[0] * r[1] - q[1] * r[0]];
            assert!(holds(Interval3::triple(a, b, c), p[0] * cross[0] + p[1] * cross[1] + p[2] * cross[2]));
            assert!(holds(a.length_squared(), p[0] * p[0] + p[1] * p[1] + p[2] * p[2]));
        }
    }
}
