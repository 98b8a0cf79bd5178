//! Roots of continuous scalar functions between two points of opposite sign.
//!
//! The ITP method (Oliveira and Takahashi 2020): regula falsi, pushed towards the middle and projected so that
//! it never needs more evaluations than bisection plus one, and converges superlinearly on smooth functions.

use crate::NumError;

/// A root and its final bracket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bracketed {
    /// The best estimate of the root.
    pub root: f64,
    /// Lower end of the bracket; the function changes sign between the ends.
    pub lo: f64,
    /// Upper end of the bracket.
    pub hi: f64,
    /// Function evaluations used.
    pub evaluations: usize,
}

/// Finds a root of `f` in `[lo, hi]` to within `tolerance`, given opposite signs at the ends.
///
/// With `tolerance` 0 the bracket shrinks to neighbouring floating-point numbers.
pub fn solve_bracketed(
    mut f: impl FnMut(f64) -> f64,
    lo: f64,
    hi: f64,
    tolerance: f64,
) -> Result<Bracketed, NumError> {
    if !(lo <= hi && lo.is_finite() && hi.is_finite() && (hi - lo).is_finite()) {
        return Err(NumError::BadRange { lo, hi });
    }
    let mut value = |x: f64| {
        let y = f(x);
        if y.is_nan() { Err(NumError::NotANumber { at: x }) } else { Ok(y) }
    };
    let (mut a, mut b) = (lo, hi);
    let (mut fa, mut fb) = (value(a)?, value(b)?);
    let exact = |root, evaluations| Ok(Bracketed { root, lo: root, hi: root, evaluations });
    if fa == 0.0 {
        return exact(a, 2);
    }
    if fb == 0.0 {
        return exact(b, 2);
    }
    if fa.signum() == fb.signum() {
        return Err(NumError::NoSignChange { at_lo: fa, at_hi: fb });
    }
    // The number of halvings bisection would need bounds how far from the middle a step may stay.
    let finest = tolerance.max(f64::EPSILON * 0.5 * a.abs().max(b.abs())).max(f64::MIN_POSITIVE);
    let halvings = ((b - a) / (2.0 * finest)).log2().ceil().max(0.0) + 1.0;
    let mut reach = finest * halvings.exp2();
    let mut evaluations = 2;
    let k1 = 0.2 / (hi - lo);
    while b - a > 2.0 * tolerance {
        let middle = a + 0.5 * (b - a);
        if middle <= a || middle >= b {
            break;
        }
        let x = itp_point((a, fa), (b, fb), k1, reach - 0.5 * (b - a));
        let x = if x > a && x < b { x } else { middle };
        let y = value(x)?;
        evaluations += 1;
        reach *= 0.5;
        if y == 0.0 {
            return exact(x, evaluations);
        } else if y.signum() == fa.signum() {
            (a, fa) = (x, y);
        } else {
            (b, fb) = (x, y);
        }
    }
    let root = if fa.abs() < fb.abs() { a } else { b };
    let root = if tolerance > 0.0 { a + 0.5 * (b - a) } else { root };
    Ok(Bracketed { root, lo: a, hi: b, evaluations })
}

/// Interpolate, truncate towards the middle, project to within `radius` of the middle.
fn itp_point((a, fa): (f64, f64), (b, fb): (f64, f64), k1: f64, radius: f64) -> f64 {
    let middle = a + 0.5 * (b - a);
    let regula_falsi = a + (b - a) * (fa / (fa - fb));
    let towards = (middle - regula_falsi).signum();
    let truncation = k1 * (b - a) * (b - a);
    let truncated = if truncation <= (middle - regula_falsi).abs() {
        regula_falsi + towards * truncation
    } else {
        middle
    };
    if (truncated - middle).abs() <= radius.max(0.0) { truncated } else { middle - towards * radius.max(0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_roots_are_found_to_the_last_bit_or_the_tolerance() {
        type Case = (fn(f64) -> f64, f64, f64, f64);
        let cases: [Case; 5] = [
            (|x| x * x - 2.0, 0.0, 2.0, 2.0f64.sqrt()),
            (|x| x.cos() - x, 0.0, 1.0, 0.739_085_133_215_160_6),
            (|x| x.exp() - 1e6, 0.0, 100.0, 1e6f64.ln()),
            (|x| (x - 0.3).powi(9), 0.0, 1.0, 0.3),
            (|x| if x < 0.7 { -1.0 } else { 1.0 }, 0.0, 1.0, 0.7),
        ];
        for (f, lo, hi, truth) in cases {
            let exact = solve_bracketed(f, lo, hi, 0.0).unwrap();
            assert!((exact.root - truth).abs() <= 4.0 * f64::EPSILON * truth, "{exact:?}");
            let rough = solve_bracketed(f, lo, hi, 1e-6).unwrap();
            assert!((rough.root - truth).abs() <= 1e-6 && rough.lo <= truth && truth <= rough.hi);
            assert!(exact.evaluations <= 64 && rough.evaluations <= 32, "{exact:?} {rough:?}");
        }
    }

    #[test]
    fn smooth_functions_take_far_fewer_evaluations_than_bisection() {
        let f = |x: f64| x.exp() * x - 1.0;
        let found = solve_bracketed(f, 0.0, 1.0, 1e-14).unwrap();
        assert!((found.root - 0.567_143_290_409_783_8).abs() < 1e-14);
        assert!(found.evaluations <= 12, "{found:?}");
    }

    #[test]
    fn bad_brackets_are_errors() {
        assert!(matches!(
            solve_bracketed(|x| x * x + 1.0, -1.0, 1.0, 0.0),
            Err(NumError::NoSignChange { .. })
        ));
        assert!(matches!(
            solve_bracketed(|x| (x - 0.5).sqrt() - 0.1, 0.0, 1.0, 0.0),
            Err(NumError::NotANumber { .. })
        ));
        assert!(matches!(solve_bracketed(|x| x, 1.0, 0.0, 0.0), Err(NumError::BadRange { .. })));
        assert!(matches!(solve_bracketed(|x| x, f64::NAN, 0.0, 0.0), Err(NumError::BadRange { .. })));
        assert_eq!(solve_bracketed(|x| x, 0.0, 0.0, 0.0).unwrap().root, 0.0);
        assert_eq!(solve_bracketed(|x| x - 1.0, 0.0, 1.0, 0.0).unwrap().root, 1.0);
    }
}
