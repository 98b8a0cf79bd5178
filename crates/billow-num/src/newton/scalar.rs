//! Newton's method for one equation, kept inside a bracket.

use crate::NumError;
use crate::roots::Bracketed;

/// Most evaluations: bisection alone needs about 1100 across the whole range of numbers.
const MAX_EVALUATIONS: usize = 1200;

/// Finds a root in `[lo, hi]`, where the function has opposite signs at the ends, to within `tolerance`.
///
/// `f` returns value and derivative. A Newton step that leaves the bracket, or does not halve the step before the
/// last, is replaced by bisection. With `tolerance` 0 it ends where steps are lost in rounding.
pub fn solve_scalar(
    mut f: impl FnMut(f64) -> (f64, f64),
    lo: f64,
    hi: f64,
    tolerance: f64,
) -> Result<Bracketed, NumError> {
    if !(lo <= hi && lo.is_finite() && hi.is_finite()) {
        return Err(NumError::BadRange { lo, hi });
    }
    let mut value = |x: f64| {
        let (y, slope) = f(x);
        if y.is_nan() { Err(NumError::NotANumber { at: x }) } else { Ok((y, slope)) }
    };
    let (at_lo, at_hi) = (value(lo)?.0, value(hi)?.0);
    for (root, y) in [(lo, at_lo), (hi, at_hi)] {
        if y == 0.0 {
            return Ok(Bracketed { root, lo: root, hi: root, evaluations: 2 });
        }
    }
    if at_lo.signum() == at_hi.signum() {
        return Err(NumError::NoSignChange { at_lo, at_hi });
    }
    let (mut a, mut b) = (lo, hi);
    let mut x = 0.5 * lo + 0.5 * hi;
    let (mut step, mut step_before) = (hi - lo, hi - lo);
    let mut evaluations = 2;
    while evaluations < MAX_EVALUATIONS {
        let (y, slope) = value(x)?;
        evaluations += 1;
        if y == 0.0 {
            return Ok(Bracketed { root: x, lo: x, hi: x, evaluations });
        }
        if y.signum() == at_lo.signum() {
            a = x;
        } else {
            b = x;
        }
        let newton = x - y / slope;
        // Steps of this size are below the tolerance or rounding of the function's value.
        if (newton - x).abs() <= tolerance.max(2.0 * f64::EPSILON * x.abs()) {
            x = newton.clamp(a, b);
            break;
        }
        let accepted = newton > a && newton < b && (newton - x).abs() <= 0.5 * step_before;
        let next = if accepted { newton } else { 0.5 * a + 0.5 * b };
        (step_before, step) = (step, (next - x).abs());
        x = next;
        if 0.5 * (b - a) <= tolerance || next <= a || next >= b {
            break;
        }
    }
    Ok(Bracketed { root: x, lo: a, hi: b, evaluations })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converges_where_undamped_newton_runs_away() {
        // From 3, undamped Newton on atan goes to −9.5, 124, −23905, …
        let mut x = 3.0f64;
        for _ in 0..5 {
            x -= x.atan() * (1.0 + x * x);
        }
        assert!(x.is_nan() || x.abs() > 1e6);
        let found = solve_scalar(|x| (x.atan(), 1.0 / (1.0 + x * x)), -1.0, 7.0, 1e-15).unwrap();
        assert!(found.root.abs() < 1e-15 && found.evaluations < 16, "{found:?}");
    }

    #[test]
    fn the_function_is_never_asked_outside_the_bracket() {
        for i in 0..20_000 {
            let mut d = crate::rng::Stream::new(84, 0).at(i);
            let (lo, root, steepness) =
                (d.range(-3.0, 0.0), d.range(0.0, 1.0), 10.0f64.powf(d.range(-1.0, 2.0)));
            let hi = root + 10.0f64.powf(d.range(-3.0, 1.0));
            let f = |x: f64| {
                assert!(lo <= x && x <= hi, "{x} is outside [{lo}, {hi}]");
                let (y, e) = (steepness * (x - root), (steepness * (x - lo)).exp());
                (y * e, steepness * e * (1.0 + y))
            };
            let found = solve_scalar(f, lo, hi, 1e-12).unwrap();
            assert!((found.root - root).abs() < 1e-11, "{found:?} instead of {root}");
        }
    }

    #[test]
    fn known_roots_in_few_evaluations() {
        let square = solve_scalar(|x| (x * x - 2.0, 2.0 * x), 0.0, 2.0, 0.0).unwrap();
        assert!((square.root - 2.0f64.sqrt()).abs() <= 5e-16 && square.evaluations <= 10, "{square:?}");
        // Kepler's equation, eccentric enough to defeat the plain method.
        let kepler = |e: f64| (e - 0.99 * e.sin() - 0.2, 1.0 - 0.99 * e.cos());
        let found = solve_scalar(kepler, 0.0, 3.2, 0.0).unwrap();
        assert!(kepler(found.root).0.abs() < 1e-15 && found.evaluations < 20, "{found:?}");
        // A derivative that is always wrong still ends in bisection.
        let found = solve_scalar(|x| (x - 0.3, f64::NAN), 0.0, 1.0, 1e-12).unwrap();
        assert!((found.root - 0.3).abs() < 1e-11);
        assert!(matches!(
            solve_scalar(|x| (x * x + 1.0, 2.0 * x), -1.0, 1.0, 0.0),
            Err(NumError::NoSignChange { .. })
        ));
        assert!(matches!(solve_scalar(|x| (x, 1.0), 1.0, -1.0, 0.0), Err(NumError::BadRange { .. })));
        assert!(matches!(
            solve_scalar(|_| (f64::NAN, 1.0), -1.0, 1.0, 0.0),
            Err(NumError::NotANumber { .. })
        ));
    }
}
