//! Polynomials in Bernstein form over [0, 1], with interval coefficients.
//!
//! The graph of a polynomial lies in the convex hull of its Bernstein coefficients. If all of them certainly have
//! one sign there is certainly no root in [0, 1]; if consecutive ones certainly rise (or fall) the polynomial is
//! monotone. Halving by de Casteljau sharpens both tests.

use crate::interval::Interval;

/// A polynomial of `N − 1`st degree on `[0, 1]`, as its `N` Bernstein coefficients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bernstein<const N: usize>(pub [Interval; N]);

impl<const N: usize> Bernstein<N> {
    /// The Bernstein form on `range` of `c[0] + c[1] t + c[2] t² + …`, the range mapped to `[0, 1]`.
    pub fn from_power(c: &[Interval; N], range: Interval) -> Self {
        // Taylor shift to the lower end, then scaling by the width: p(lo + w s).
        let mut shifted = *c;
        let (lo, width) =
            (Interval::point(range.lo()), Interval::point(range.hi()) - Interval::point(range.lo()));
        if range.lo() != 0.0 {
            for i in 0..N {
                for k in (i..N - 1).rev() {
                    shifted[k] = shifted[k] + lo * shifted[k + 1];
                }
            }
        }
        if range.lo() != 0.0 || range.hi() != 1.0 {
            let mut power = Interval::ONE;
            for s in shifted.iter_mut().skip(1) {
                power = power * width;
                *s = *s * power;
            }
        }
        Self::from_unit_power(&shifted)
    }

    /// The Bernstein form on `[0, 1]` of `c[0] + c[1] t + c[2] t² + …`: `b_i = Σ_k C(i,k)/C(n,k) c_k`.
    pub fn from_unit_power(c: &[Interval; N]) -> Self {
        // Dividing by the binomials first leaves Pascal's triangle of plain sums.
        let mut b = *c;
        let mut binomial = 1.0;
        for k in 1..N {
            binomial = binomial * (N - k) as f64 / k as f64;
            if binomial != 1.0 {
                b[k] = b[k] / Interval::point(binomial);
            }
        }
        for round in 1..N {
            for k in (round..N).rev() {
                b[k] = b[k] + b[k - 1];
            }
        }
        Self(b)
    }

    /// The sign the polynomial certainly keeps on all of `[0, 1]`: 1, −1, or 0 where none is certain.
    pub fn sign(&self) -> i32 {
        let first = self.0[0].sign();
        if self.0.iter().all(|b| b.sign() == first) { first } else { 0 }
    }

    /// Whether no coefficient can be told from zero: the polynomial is lost in its own uncertainty.
    pub fn is_lost(&self) -> bool {
        self.0.iter().all(Interval::contains_zero)
    }

    /// Encloses the derivative on all of `[0, 1]`.
    pub fn slope(&self) -> Interval {
        let degree = Interval::point((N - 1) as f64);
        let steps = self.0.windows(2).map(|pair| pair[1] - pair[0]);
        steps.reduce(Interval::hull).map_or(Interval::ZERO, |hull| hull * degree)
    }

    /// The left and the right half, each mapped to `[0, 1]` again.
    pub fn halves(&self) -> (Self, Self) {
        let mut right = self.0;
        let mut left = self.0;
        for round in 1..N {
            for k in 0..N - round {
                right[k] = right[k].average(right[k + 1]);
            }
            left[round] = right[0];
        }
        (Self(left), Self(right))
    }

    /// Encloses the value at `s` in `[0, 1]`.
    pub fn at(&self, s: f64) -> Interval {
        let (s, rest) = (Interval::point(s), Interval::ONE - Interval::point(s));
        let mut b = self.0;
        for round in 1..N {
            for k in 0..N - round {
                b[k] = b[k] * rest + b[k + 1] * s;
            }
        }
        b[0]
    }
}

/// Whether `c[0] + c[1] t + c[2] t² + c[3] t³` certainly has no root in `[0, 1]`, by plain arithmetic with an
/// error bound: the cheap filter before [`enclose_cubic`](super::enclose_cubic).
///
/// `error` bounds the error of every coefficient as given, for example from the arithmetic that produced it.
pub fn certainly_rootless(c: &[f64; 4], error: f64) -> bool {
    let b1 = c[0] + c[1] / 3.0;
    let b2 = c[0] + (2.0 * c[1] + c[2]) / 3.0;
    let b3 = c[0] + c[1] + c[2] + c[3];
    let size = c[0].abs() + c[1].abs() + c[2].abs() + c[3].abs();
    // Each b_i is at most six roundings of partial sums no larger than `size`, and carries at most 4 `error`s.
    let slack = 4.0 * error + 8.0 * f64::EPSILON * size + f64::MIN_POSITIVE;
    let (low, high) = (c[0].min(b1).min(b2.min(b3)), c[0].max(b1).max(b2.max(b3)));
    // An infinite or NaN slack fails both comparisons.
    slack < f64::INFINITY && (low > slack || high < -slack)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    fn horner(c: &[Interval; 4], t: Interval) -> Interval {
        c.iter().rev().fold(Interval::ZERO, |p, c| p * t + *c)
    }

    #[test]
    fn conversion_halving_and_evaluation_agree_with_the_power_form() {
        for i in 0..20_000 {
            let mut d = Stream::new(61, 0).at(i);
            let c: [Interval; 4] = std::array::from_fn(|_| Interval::point(d.normal()));
            let (lo, width) = (d.range(-2.0, 2.0), d.range(0.1, 3.0));
            let range = [Interval::UNIT, Interval::new(lo, lo + width)][d.below(2) as usize];
            let b = Bernstein::from_power(&c, range);
            let (left, right) = b.halves();
            let s = d.uniform();
            let w = Interval::point(range.hi()) - Interval::point(range.lo());
            let place = |s: f64| w * s + range.lo();
            for (form, t) in [(b, place(s)), (left, place(0.5 * s)), (right, place(0.5 + 0.5 * s))] {
                let value = form.at(s);
                // Both enclose the same number, so they overlap; and they are narrow.
                assert!(value.intersection(horner(&c, t)).is_some());
                assert!(value.width() < 1e-11, "{}", value.width());
            }
            let slope = (c[3] * 3.0 * place(s) + c[2] * 2.0) * place(s) + c[1];
            assert!(b.slope().intersection(slope * w).is_some());
            // The hull property: the polynomial stays within its coefficients, the derivative within its slopes.
            let hull = b.0.into_iter().reduce(Interval::hull).unwrap();
            assert!(hull.intersection(b.at(s)).is_some());
        }
    }

    #[test]
    fn rootless_filter_agrees_with_constructed_roots_and_catches_most_rootless_cubics() {
        let (mut caught, mut rootless) = (0, 0);
        for i in 0..50_000 {
            let mut d = Stream::new(62, 0).at(i);
            // A cubic with the root r in [0, 1]: (t − r)(q2 t² + q1 t + q0).
            let r = [d.uniform(), 1.0 - 1e-16 * d.uniform(), 1e-17 * d.uniform()][d.below(3) as usize];
            let q = [d.normal(), d.normal(), d.normal()];
            let c = [-r * q[0], q[0] - r * q[1], q[1] - r * q[2], q[2]];
            let error = f64::EPSILON * (q[0].abs() + q[1].abs() + q[2].abs());
            assert!(!certainly_rootless(&c, error), "lost the root {r}");
            // One that stays above 0.1 by construction.
            let (a, b) = (d.normal(), d.normal());
            let squares = [a * a + 0.1, 2.0 * a * b, b * b, 0.0];
            rootless += 1;
            caught += u32::from(certainly_rootless(&squares, 1e-15));
        }
        assert!(caught * 2 > rootless, "{caught} of {rootless}");
        assert!(!certainly_rootless(&[f64::NAN, 0.0, 0.0, 0.0], 0.0));
        assert!(!certainly_rootless(&[1.0, 0.0, 0.0, 0.0], f64::INFINITY));
        assert!(!certainly_rootless(&[0.0; 4], 0.0));
    }

    #[test]
    fn halving_keeps_the_sign_of_a_polynomial_with_touching_root_uncertain() {
        // (t − 1/2)² never has a certain sign on a part that holds 1/2.
        let c = [0.25, -1.0, 1.0].map(Interval::point);
        let (left, right) = Bernstein::from_unit_power(&c).halves();
        assert_eq!((left.sign(), right.sign()), (0, 0));
        assert_eq!(left.halves().0.sign(), 1);
        assert!(Bernstein([Interval::ZERO; 4]).is_lost());
    }
}
