//! Damped Newton for systems of equations.

use crate::par::Partials;
use crate::vector::{self, Entry};

/// Equations `r(x) = 0`. The caller owns how the linear system is solved.
pub trait System<T: Entry> {
    /// The residual at `x`; not finite where `x` is not admissible, which makes the step shorter.
    fn residual(&self, x: &[T], r: &mut [T]);

    /// The Newton step `d` with `J(x) d ≈ −r`; false if it cannot be computed.
    fn step(&mut self, x: &[T], r: &[T], d: &mut [T]) -> bool;
}

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SystemConfig {
    /// Residual norm that counts as solved, in units of the residual.
    pub tolerance: f64,
    /// Most Newton steps.
    pub max_iterations: usize,
    /// Share of the predicted reduction of the residual norm a step must achieve, 0 to 1 [-].
    pub sufficient_decrease: f64,
}

impl Default for SystemConfig {
    fn default() -> Self {
        Self { tolerance: 1e-10, max_iterations: 100, sufficient_decrease: 1e-4 }
    }
}

/// Why the solve stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemStop {
    /// The residual norm is within the tolerance.
    Converged,
    /// The iterations ran out.
    MaxIterations,
    /// No part of the Newton step reduces the residual: a local minimum of its norm, or rounding.
    NoProgress,
    /// The Newton step could not be computed.
    SingularStep,
    /// The residual at the start is not finite.
    NonFinite,
}

/// What a solve did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SystemReport {
    /// Steps taken.
    pub iterations: usize,
    /// Residuals evaluated.
    pub evaluations: usize,
    /// Residual norm at the end.
    pub residual: f64,
    /// Why it stopped.
    pub stop: SystemStop,
}

/// Scratch vectors; reuse it and repeated solves allocate nothing.
#[derive(Clone, Debug, Default)]
pub struct SystemWorkspace<T> {
    r: Vec<T>,
    d: Vec<T>,
    trial: Vec<T>,
    partials: Partials,
}

/// Halvings of a step before it is given up.
const MAX_HALVINGS: usize = 40;

/// Solves `r(x) = 0` from `x` in place; every accepted step reduces the residual norm.
pub fn solve_system<T: Entry>(
    system: &mut impl System<T>,
    x: &mut [T],
    config: &SystemConfig,
    work: &mut SystemWorkspace<T>,
) -> SystemReport {
    for v in [&mut work.r, &mut work.d, &mut work.trial] {
        v.resize(x.len(), T::default());
    }
    system.residual(x, &mut work.r);
    let residual = vector::norm(&work.r, &mut work.partials);
    let mut report = SystemReport { iterations: 0, evaluations: 1, residual, stop: SystemStop::Converged };
    report.stop = loop {
        if !report.residual.is_finite() {
            break SystemStop::NonFinite;
        }
        if report.residual <= config.tolerance {
            break SystemStop::Converged;
        }
        if report.iterations >= config.max_iterations {
            break SystemStop::MaxIterations;
        }
        if !system.step(x, &work.r, &mut work.d) {
            break SystemStop::SingularStep;
        }
        if !shorten(system, x, config, work, &mut report) {
            break SystemStop::NoProgress;
        }
        x.copy_from_slice(&work.trial);
        report.iterations += 1;
    };
    report
}

/// Halves the step until the residual norm falls by the asked share; leaves residual and trial point accepted.
fn shorten<T: Entry>(
    system: &impl System<T>,
    x: &[T],
    config: &SystemConfig,
    work: &mut SystemWorkspace<T>,
    report: &mut SystemReport,
) -> bool {
    let mut alpha = 1.0;
    for _ in 0..MAX_HALVINGS {
        work.trial.copy_from_slice(x);
        vector::axpy(alpha, &work.d, &mut work.trial);
        system.residual(&work.trial, &mut work.r);
        report.evaluations += 1;
        let residual = vector::norm(&work.r, &mut work.partials);
        if residual < (1.0 - config.sufficient_decrease * alpha) * report.residual {
            report.residual = residual;
            return true;
        }
        alpha *= 0.5;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::Lu;

    /// A system of few equations by residual and row-major Jacobian.
    struct Dense<R, J>(R, J);

    impl<R: Fn(&[f64], &mut [f64]), J: Fn(&[f64]) -> Vec<f64>> System<f64> for Dense<R, J> {
        fn residual(&self, x: &[f64], r: &mut [f64]) {
            (self.0)(x, r);
        }
        fn step(&mut self, x: &[f64], r: &[f64], d: &mut [f64]) -> bool {
            d.iter_mut().zip(r).for_each(|(d, r)| *d = -r);
            Lu::factor(x.len(), &(self.1)(x)).map(|lu| lu.solve(d)).is_ok()
        }
    }

    fn run(system: &mut impl System<f64>, x: &mut [f64]) -> SystemReport {
        solve_system(system, x, &SystemConfig::default(), &mut SystemWorkspace::default())
    }

    #[test]
    fn circle_meets_hyperbola_with_quadratic_convergence() {
        let mut s = Dense(
            |x: &[f64], r: &mut [f64]| {
                r[0] = x[0] * x[0] + x[1] * x[1] - 4.0;
                r[1] = x[0] * x[1] - 1.0;
            },
            |x: &[f64]| vec![2.0 * x[0], 2.0 * x[1], x[1], x[0]],
        );
        let mut x = [2.0, 0.3];
        let report = run(&mut s, &mut x);
        // x + y = √6 and x − y = √2.
        let truth = [(6.0f64.sqrt() + 2.0f64.sqrt()) / 2.0, (6.0f64.sqrt() - 2.0f64.sqrt()) / 2.0];
        assert!(report.stop == SystemStop::Converged && report.iterations <= 6, "{report:?}");
        assert!((x[0] - truth[0]).abs() < 1e-10 && (x[1] - truth[1]).abs() < 1e-10);
    }

    #[test]
    fn damping_converges_where_the_plain_iteration_diverges() {
        let residual = |x: &[f64], r: &mut [f64]| {
            r[0] = x[0].atan();
            r[1] = x[1] - x[0];
        };
        let jacobian = |x: &[f64]| vec![1.0 / (1.0 + x[0] * x[0]), 0.0, -1.0, 1.0];
        let mut s = Dense(residual, jacobian);
        let mut plain = [3.0, 0.0];
        for _ in 0..5 {
            let (mut r, mut d) = ([0.0; 2], [0.0; 2]);
            residual(&plain, &mut r);
            s.step(&plain, &r, &mut d);
            plain = [plain[0] + d[0], plain[1] + d[1]];
        }
        assert!(plain[0].is_nan() || plain[0].abs() > 1e6);
        let mut x = [3.0, 0.0];
        let report = run(&mut s, &mut x);
        assert!(report.stop == SystemStop::Converged && x[0].abs() < 1e-10, "{report:?}");
    }

    #[test]
    fn unsolvable_systems_say_why() {
        let mut s = Dense(|x: &[f64], r: &mut [f64]| r[0] = x[0] * x[0] + 1.0, |x: &[f64]| vec![2.0 * x[0]]);
        let stop = run(&mut s, &mut [1.0]).stop;
        assert!(matches!(
            stop,
            SystemStop::NoProgress | SystemStop::SingularStep | SystemStop::MaxIterations
        ));
        assert_eq!(run(&mut s, &mut [0.0]).stop, SystemStop::SingularStep);
        assert_eq!(run(&mut s, &mut [f64::NAN]).stop, SystemStop::NonFinite);
        // The logarithm is not admissible left of 0; the step is shortened until it is.
        let mut s = Dense(|x: &[f64], r: &mut [f64]| r[0] = x[0].ln(), |x: &[f64]| vec![1.0 / x[0]]);
        let mut x = [20.0];
        assert!(run(&mut s, &mut x).stop == SystemStop::Converged && (x[0] - 1.0).abs() < 1e-9);
    }
}
