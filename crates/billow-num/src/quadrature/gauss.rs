//! Rules on an interval.

use std::f64::consts::PI;

/// Nodes and weights of the Gauss–Legendre rule with `n` points on `[−1, 1]`, exact to degree `2n − 1`.
///
/// Nodes are in increasing order and exactly symmetric. Each is found by Newton's method on the Legendre
/// recurrence from an asymptotic guess, in the distance from the end of the interval, which keeps full accuracy
/// where nodes crowd.
pub fn gauss_legendre(n: usize) -> Vec<(f64, f64)> {
    let mut rule = vec![(0.0, 0.0); n];
    for k in 0..n.div_ceil(2) {
        let end_distance = if 2 * k + 1 == n { 1.0 } else { node(n, k) };
        let slope = legendre(n, end_distance).1;
        let weight = 2.0 / (end_distance * (2.0 - end_distance) * slope * slope);
        rule[n - 1 - k] = (1.0 - end_distance, weight);
        rule[k] = (end_distance - 1.0, weight);
    }
    rule
}

/// The distance `1 − x` of the `k`-th largest node from the end.
fn node(n: usize, k: usize) -> f64 {
    // Tricomi's guess, good to O(n⁻⁴).
    let (nf, kf) = (n as f64, k as f64);
    let shrink = 1.0 - (nf - 1.0) / (8.0 * nf * nf * nf);
    let mut distance = 1.0 - shrink * (PI * (kf + 0.75) / (nf + 0.5)).cos();
    for _ in 0..10 {
        let (p, slope) = legendre(n, distance);
        distance += p / slope;
        if (p / slope).abs() <= f64::EPSILON * distance {
            break;
        }
    }
    distance
}

/// `P_n(x)` and its derivative at `x = 1 − distance`, by the recurrence for the differences `P_k − P_{k−1}`.
fn legendre(n: usize, distance: f64) -> (f64, f64) {
    let (mut p, mut difference, mut before) = (1.0, 0.0, 1.0);
    for k in 0..n {
        let kf = k as f64;
        // (k+1)(P_{k+1} − P_k) = (2k+1)(x − 1) P_k + k (P_k − P_{k−1})
        difference = (kf * difference - (2.0 * kf + 1.0) * distance * p) / (kf + 1.0);
        before = p;
        p += difference;
    }
    (p, n as f64 * (before - p + distance * p) / (distance * (2.0 - distance)))
}

/// The integral of `f` from `a` to `b` by the given rule on `[−1, 1]`.
pub fn integrate(rule: &[(f64, f64)], a: f64, b: f64, mut f: impl FnMut(f64) -> f64) -> f64 {
    let (middle, half) = (0.5 * a + 0.5 * b, 0.5 * (b - a));
    rule.iter().map(|(x, w)| w * f(middle + half * x)).sum::<f64>() * half
}

/// The integral of `f` from `a` to `b` by Simpson's rule on `intervals` pairs of equal steps (at least one).
pub fn simpson(a: f64, b: f64, intervals: usize, mut f: impl FnMut(f64) -> f64) -> f64 {
    let pairs = intervals.max(1);
    let at = |k: usize| a + (b - a) * (k as f64 / (2 * pairs) as f64);
    let odd: f64 = (0..pairs).map(|k| f(at(2 * k + 1))).sum();
    let even: f64 = (1..pairs).map(|k| f(at(2 * k))).sum();
    (f(a) + f(b) + 4.0 * odd + 2.0 * even) * (b - a) / (6 * pairs) as f64
}

/// The integral of `f` from `a` to `b` to within about `tolerance`, by Simpson's rule refined where it is needed.
pub fn simpson_adaptive(a: f64, b: f64, tolerance: f64, mut f: impl FnMut(f64) -> f64) -> f64 {
    let middle = 0.5 * a + 0.5 * b;
    let ends = [f(a), f(middle), f(b)];
    refine(&mut f, (a, b), ends, tolerance, 50)
}

fn refine(
    f: &mut impl FnMut(f64) -> f64,
    (a, b): (f64, f64),
    y: [f64; 3],
    tolerance: f64,
    depth: u32,
) -> f64 {
    let middle = 0.5 * a + 0.5 * b;
    let (left, right) = (f(0.5 * a + 0.5 * middle), f(0.5 * middle + 0.5 * b));
    let whole = (b - a) / 6.0 * (y[0] + 4.0 * y[1] + y[2]);
    let parts = (b - a) / 12.0 * (y[0] + 4.0 * left + 2.0 * y[1] + 4.0 * right + y[2]);
    let error = (parts - whole) / 15.0;
    // Bad numbers end the recursion too.
    if depth == 0 || error.is_nan() || error.abs() <= tolerance {
        return parts + error;
    }
    refine(f, (a, middle), [y[0], left, y[1]], 0.5 * tolerance, depth - 1)
        + refine(f, (middle, b), [y[1], right, y[2]], 0.5 * tolerance, depth - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_nodes_and_weights() {
        assert_eq!(gauss_legendre(0), []);
        assert_eq!(gauss_legendre(1), [(0.0, 2.0)]);
        let two = gauss_legendre(2);
        assert!((two[1].0 - 1.0 / 3.0f64.sqrt()).abs() < 2e-16 && (two[1].1 - 1.0).abs() < 4e-16);
        let three = gauss_legendre(3);
        assert!((three[2].0 - 0.6f64.sqrt()).abs() < 2e-16 && (three[1].1 - 8.0 / 9.0).abs() < 4e-16);
        // Computed with 40 digits by other means.
        for (n, k, x, w) in REFERENCE {
            let (node, weight) = gauss_legendre(n)[k];
            assert!((node - x).abs() < 4e-16 && (weight / w - 1.0).abs() < 2e-14, "{n} {k}");
        }
    }

    #[test]
    fn monomials_are_integrated_exactly_up_to_degree_2n_minus_1_and_not_beyond() {
        for n in 1..=40 {
            let rule = gauss_legendre(n);
            let integral = |degree: i32| integrate(&rule, -1.0, 1.0, |x| x.powi(degree));
            for degree in 0..2 * n as i32 {
                let truth = if degree % 2 == 0 { 2.0 / f64::from(degree + 1) } else { 0.0 };
                assert!((integral(degree) - truth).abs() < 2e-15, "{n} points, degree {degree}");
            }
            let beyond = 2 * n as i32;
            if n < 12 {
                assert!((integral(beyond) - 2.0 / f64::from(beyond + 1)).abs() > 1e-10);
            }
            assert!(rule.windows(2).all(|w| w[0].0 < w[1].0) && rule.iter().all(|(_, w)| *w > 0.0));
        }
    }

    #[test]
    fn large_rules_keep_their_accuracy() {
        for n in [100, 1001] {
            let rule = gauss_legendre(n);
            assert!((rule.iter().map(|(_, w)| w).sum::<f64>() - 2.0).abs() < 1e-13);
            assert!((integrate(&rule, 0.0, 30.0, f64::cos) - 30.0f64.sin()).abs() < 1e-13);
        }
    }

    #[test]
    fn simpson_is_of_fourth_order_and_exact_for_cubics() {
        assert!((simpson(-1.0, 3.0, 1, |x| x * x * x - x + 1.0) - 20.0).abs() < 1e-14);
        let error = |n| (simpson(0.0, 1.0, n, f64::exp) - (1.0f64.exp() - 1.0)).abs();
        assert!(((error(8) / error(16)).log2() - 4.0).abs() < 0.01);
        let rough = simpson_adaptive(0.0, 1.0, 1e-10, |x| x.sqrt());
        assert!((rough - 2.0 / 3.0).abs() < 1e-9);
        assert!(simpson_adaptive(0.0, 1.0, 1e-10, |_| f64::NAN).is_nan());
    }

    const REFERENCE: [(usize, usize, f64, f64); 10] = [
        (5, 3, 0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
        (5, 4, 0.906_179_845_938_664, 0.236_926_885_056_189_08),
        (16, 8, 0.095_012_509_837_637_44, 0.189_450_610_455_068_5),
        (16, 15, 0.989_400_934_991_649_9, 0.027_152_459_411_754_096),
        (64, 32, 0.024_350_292_663_424_433, 0.048_690_957_009_139_724),
        (64, 50, 0.783_972_358_943_341_4, 0.030_234_657_072_402_478),
        (64, 63, 0.999_305_041_735_772_2, 0.001_783_280_721_696_433),
        (100, 50, 0.015_628_984_421_543_084, 0.031_255_423_453_863_354),
        (100, 75, 0.715_338_117_573_056_4, 0.021_843_002_416_247_388),
        (100, 99, 0.999_713_726_773_441_3, 0.000_734_634_490_505_671_7),
    ];
}
