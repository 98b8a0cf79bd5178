//! Real roots of polynomials up to the third degree as plain numbers.
//!
//! Coefficients are balanced by powers of two first, the discriminant of the quadratic is formed without
//! cancellation, and cubics are solved between their critical points, where they are monotone, so every
//! root is as good as its conditioning allows. A multiple root is listed once. Coefficients are given from
//! the constant term upwards.

/// Up to three roots in increasing order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RootList {
    items: [f64; 3],
    len: usize,
}

impl RootList {
    /// Appends a root unless it is not finite, equals the last one within rounding, or the list is full.
    fn push(&mut self, root: f64) {
        let same = |last: &f64| (root - last).abs() <= 8.0 * f64::EPSILON * root.abs().max(last.abs());
        if root.is_finite() && self.len < 3 && !self.last().is_some_and(same) {
            self.items[self.len] = root;
            self.len += 1;
        }
    }

    fn only_within(&self, lo: f64, hi: f64) -> Self {
        let mut kept = Self::default();
        self.iter().filter(|r| (lo..=hi).contains(*r)).for_each(|r| kept.push(*r));
        kept
    }
}

impl std::ops::Deref for RootList {
    type Target = [f64];
    fn deref(&self) -> &[f64] {
        &self.items[..self.len]
    }
}

/// The root of `c[0] + c[1] t`, if there is one.
pub fn linear_root(c: [f64; 2]) -> Option<f64> {
    let root = -c[0] / c[1];
    root.is_finite().then_some(root)
}

/// The real roots of `c[0] + c[1] t + c[2] t²`.
pub fn quadratic_roots(c: [f64; 3]) -> RootList {
    let mut roots = RootList::default();
    let (c, unit) = balanced(c);
    let [c0, c1, c2] = c;
    if c2 == 0.0 {
        roots.push(linear_root([c0, c1]).unwrap_or(f64::NAN) * unit);
        return roots;
    }
    let discriminant = difference_of_products(c1, c1, 4.0 * c2, c0);
    if discriminant.is_nan() || discriminant < 0.0 {
        return roots;
    }
    // The root of larger size without cancellation, the other from the product of roots.
    let q = -0.5 * (c1 + discriminant.sqrt().copysign(c1));
    let (a, b) = (q / c2, if q == 0.0 { 0.0 } else { c0 / q });
    roots.push(a.min(b) * unit);
    roots.push(a.max(b) * unit);
    roots
}

/// The real roots of `c[0] + c[1] t + c[2] t²` in `[lo, hi]`.
pub fn quadratic_roots_in(c: [f64; 3], lo: f64, hi: f64) -> RootList {
    quadratic_roots(c).only_within(lo, hi)
}

/// The real roots of `c[0] + c[1] t + c[2] t² + c[3] t³`.
pub fn cubic_roots(c: [f64; 4]) -> RootList {
    let (c, unit) = balanced(c);
    let reversed = [c[3], c[2], c[1], c[0]];
    // Roots of size at most one from the cubic itself, larger ones as reciprocals of the reversed cubic's.
    let small = cubic_roots_in(c, -1.0, 1.0);
    let large = cubic_roots_in(reversed, -1.0, 1.0);
    let mut roots = RootList::default();
    large.iter().rev().filter(|u| **u < 0.0).for_each(|u| roots.push(unit / u));
    small.iter().for_each(|t| roots.push(unit * t));
    large.iter().rev().filter(|u| **u > 0.0).for_each(|u| roots.push(unit / u));
    roots
}

/// The real roots of `c[0] + c[1] t + c[2] t² + c[3] t³` in `[lo, hi]`.
pub fn cubic_roots_in(c: [f64; 4], lo: f64, hi: f64) -> RootList {
    let mut roots = RootList::default();
    if c.iter().any(|x| !x.is_finite()) || lo.partial_cmp(&hi).is_none_or(|o| o.is_gt()) || c == [0.0; 4] {
        return roots;
    }
    // Monotone pieces end at the critical points. A value lost in rounding counts as a root, once.
    let critical = quadratic_roots_in([c[1], 2.0 * c[2], 3.0 * c[3]], lo, hi);
    let ends = critical.iter().copied().chain([hi]);
    let (mut a, mut at_a) = (lo, sign_at(&c, lo));
    if at_a == 0.0 {
        roots.push(a);
    }
    for b in ends {
        let at_b = sign_at(&c, b);
        if at_b == 0.0 && at_a != 0.0 {
            roots.push(b);
        } else if at_a * at_b < 0.0 {
            roots.push(monotone_root(&c, a, b, at_a));
        }
        (a, at_a) = (b, at_b);
    }
    roots
}

/// The root between `a` and `b` of a cubic that has the sign `at_a` at `a` and changes it once:
/// Newton's method, bisection where that leaves the bracket or converges slowly.
fn monotone_root(c: &[f64; 4], mut a: f64, mut b: f64, at_a: f64) -> f64 {
    let mut x = 0.5 * (a + b);
    let mut last_step = b - a;
    for _ in 0..200 {
        let (p, slope) = value_and_slope(c, x);
        if p == 0.0 {
            return x;
        }
        if p * at_a > 0.0 {
            a = x;
        } else {
            b = x;
        }
        let newton = x - p / slope;
        // Steps of this size are rounding of the cubic's value.
        if (newton - x).abs() <= f64::EPSILON * x.abs() {
            return newton.clamp(a, b);
        }
        let fast = (newton - x).abs() <= 0.5 * last_step;
        let next = if newton > a && newton < b && fast { newton } else { 0.5 * (a + b) };
        if next <= a || next >= b {
            return next;
        }
        last_step = (next - x).abs();
        x = next;
    }
    x
}

/// Sign of the cubic at `t`, or 0 where rounding hides it.
fn sign_at(c: &[f64; 4], t: f64) -> f64 {
    let p = value_and_slope(c, t).0;
    let size = c.iter().rev().fold(0.0, |s, c| s * t.abs() + c.abs());
    if p.abs() <= 4.0 * f64::EPSILON * size { 0.0 } else { p.signum() }
}

fn value_and_slope(c: &[f64; 4], t: f64) -> (f64, f64) {
    let value = ((c[3] * t + c[2]) * t + c[1]) * t + c[0];
    let slope = (3.0 * c[3] * t + 2.0 * c[2]) * t + c[1];
    (value, slope)
}

/// The coefficients of `p(unit · s)` scaled so that the largest is about one, `unit` being the power of two that
/// brings the first and the last to about one size.
fn balanced<const N: usize>(c: [f64; N]) -> ([f64; N], f64) {
    if c.iter().any(|x| !x.is_finite()) {
        return (c, 1.0);
    }
    // From the bits; subnormal numbers count as the smallest normal ones.
    let exponent = |x: f64| if x == 0.0 { None } else { Some(((x.to_bits() >> 52) & 0x7ff) as i32 - 1023) };
    let shift = match (exponent(c[0]), exponent(c[N - 1])) {
        (Some(first), Some(last)) => ((first - last) / (N as i32 - 1)).clamp(-1000, 1000),
        _ => 0,
    };
    // Exponents of c_k unit^k; dividing by the largest first keeps everything in range.
    let sizes: [i32; N] =
        std::array::from_fn(|k| exponent(c[k]).map_or(i32::MIN / 2, |e| e + shift * k as i32));
    let largest = sizes.into_iter().max().unwrap_or(0);
    if largest == i32::MIN / 2 {
        return (c, 1.0);
    }
    (std::array::from_fn(|k| times_power(c[k], shift * k as i32 - largest)), 2.0f64.powi(shift))
}

/// `x · 2^n`, by steps that stay within the range of the exponent.
fn times_power(mut x: f64, mut n: i32) -> f64 {
    while n.abs() > 1000 && x != 0.0 && x.is_finite() {
        x *= 2.0f64.powi(1000 * n.signum());
        n -= 1000 * n.signum();
    }
    x * 2.0f64.powi(n.clamp(-1000, 1000))
}

/// `a b − c d` with the rounding errors of both products put back.
fn difference_of_products(a: f64, b: f64, c: f64, d: f64) -> f64 {
    let ((p, p_error), (q, q_error)) = (product(a, b), product(c, d));
    (p - q) + (p_error - q_error)
}

/// Product and its rounding error (Dekker), for factors far from overflow.
fn product(a: f64, b: f64) -> (f64, f64) {
    let halves = |x: f64| {
        let t = 134_217_729.0 * x;
        let high = t - (t - x);
        (high, x - high)
    };
    let p = a * b;
    let ((ah, al), (bh, bl)) = (halves(a), halves(b));
    (p, ((ah * bh - p) + ah * bl + al * bh) + al * bl)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    fn assert_roots(found: &RootList, truth: &[f64], tolerance: f64) {
        assert_eq!(found.len(), truth.len(), "{found:?} instead of {truth:?}");
        for (f, t) in found.iter().zip(truth) {
            assert!((f - t).abs() <= tolerance * t.abs().max(1e-300), "{found:?} instead of {truth:?}");
        }
    }

    #[test]
    fn quadratics_keep_full_accuracy_where_the_textbook_formula_fails() {
        assert_roots(&quadratic_roots([1.0, -1e8, 1.0]), &[1e-8, 1e8], 1e-15);
        assert_roots(&quadratic_roots([1e-300, -1.0, 1e-300]), &[1e-300, 1e300], 1e-15);
        assert_roots(&quadratic_roots([-1e300, 0.0, 1e-300]), &[-1e300, 1e300], 1e-15);
        assert_roots(&quadratic_roots([2.0, -3.0, 0.0]), &[2.0 / 3.0], 1e-15);
        assert_roots(&quadratic_roots([0.0, 0.0, 4.0]), &[0.0], 1e-15);
        assert_roots(&quadratic_roots([0.0, -2.0, 4.0]), &[0.0, 0.5], 1e-15);
        // Kahan's example: the discriminant cancels to its last bits.
        let (a, b, c) = (94_906_265.625, 94_906_267.0, 94_906_268.375);
        assert_roots(&quadratic_roots([c, -2.0 * b, a]), &[1.0, 1.000_000_028_975_958], 1e-15);
        for none in [[1.0, 0.0, 1.0], [1.0, 0.0, 0.0], [f64::NAN, 1.0, 1.0], [0.0; 3]] {
            assert!(quadratic_roots(none).is_empty());
        }
        assert_roots(&quadratic_roots_in([-1.0, 0.0, 1.0], 0.0, 1.0), &[1.0], 1e-15);
    }

    #[test]
    fn cubics_with_constructed_roots_are_solved_to_their_conditioning() {
        for i in 0..50_000 {
            let mut d = Stream::new(81, 0).at(i);
            let scale = 10.0f64.powi(d.below(61) as i32 - 30);
            let mut r: [f64; 3] = std::array::from_fn(|_| d.range(-1.0, 1.0));
            r.sort_by(f64::total_cmp);
            let lead = d.normal();
            let c = [
                -r[0] * r[1] * r[2] * scale.powi(3) * lead,
                (r[0] * r[1] + r[1] * r[2] + r[2] * r[0]) * scale.powi(2) * lead,
                -(r[0] + r[1] + r[2]) * scale * lead,
                lead,
            ];
            let gap = (r[1] - r[0]).min(r[2] - r[1]);
            if gap > 1e-3 {
                let found = cubic_roots(c);
                assert_eq!(found.len(), 3, "{r:?} {found:?}");
                for (f, t) in found.iter().zip(r) {
                    assert!((f / scale - t).abs() <= 1e-15 / (gap * gap), "{r:?} {found:?}");
                }
            }
        }
    }

    #[test]
    fn cubics_with_one_root_agree_with_the_factored_form() {
        for i in 0..50_000 {
            let mut d = Stream::new(82, 0).at(i);
            // (t − r)((t − u)² + v²)
            let (r, u, v) = (d.normal(), d.normal(), d.range(0.1, 2.0));
            let q = [u * u + v * v, -2.0 * u, 1.0];
            let c = [-r * q[0], q[0] - r * q[1], q[1] - r, 1.0];
            let found = cubic_roots(c);
            assert!(found.len() == 1 && (found[0] - r).abs() < 1e-11, "{r} {found:?}");
        }
    }

    #[test]
    fn touching_roots_are_not_lost_to_rounding() {
        for i in 0..20_000 {
            let mut d = Stream::new(83, 0).at(i);
            // lead (t − a)² (t − b): rounding moves the touching value to either side of zero.
            let (a, b, lead) = (d.range(-1.0, 1.0), d.range(2.0, 3.0), d.normal());
            let c = [-a * a * b * lead, (a * a + 2.0 * a * b) * lead, -(2.0 * a + b) * lead, lead];
            let found = cubic_roots_in(c, -1.5, 1.5);
            assert!(found.iter().any(|r| (r - a).abs() < 1e-6), "lost {a}: {found:?}");
        }
    }

    #[test]
    fn multiple_and_extreme_roots_are_found_once() {
        assert_roots(&cubic_roots([-1.0, 3.0, -3.0, 1.0]), &[1.0], 1e-5);
        let double = cubic_roots([-0.25, 1.25, -2.0, 1.0]); // (t − 1/2)² (t − 1)
        assert_roots(&double, &[0.5, 1.0], 1e-7);
        assert_roots(&cubic_roots([0.0, 0.0, 0.0, 3.0]), &[0.0], 1e-15);
        assert_roots(&cubic_roots([8.0, 0.0, 0.0, 1.0]), &[-2.0], 1e-15);
        assert_roots(&cubic_roots([1.0, 0.0, 0.0, 1e-300]), &[-1e100], 1e-14);
        assert_roots(&cubic_roots([-6.0, 11.0, -6.0, 1.0]), &[1.0, 2.0, 3.0], 1e-14);
        assert_roots(&cubic_roots([-1.0, 1.0, 0.0, 0.0]), &[1.0], 1e-15);
        assert_roots(&cubic_roots([0.0, -1.0, 0.0, 1.0]), &[-1.0, 0.0, 1.0], 1e-15);
        assert_roots(&cubic_roots_in([0.0, -1.0, 0.0, 1.0], 0.0, 1.0), &[0.0, 1.0], 1e-15);
        assert!(cubic_roots([0.0; 4]).is_empty() && cubic_roots([f64::INFINITY; 4]).is_empty());
        assert!(cubic_roots_in([0.0, 1.0, 0.0, 0.0], 1.0, -1.0).is_empty());
    }
}
