//! Minimisation of an energy by Newton's method with backtracking line search.

use crate::par::Partials;
use crate::vector::{self, Entry};

/// A smooth energy to be minimised. The caller owns how the Newton system is solved.
pub trait Energy<T: Entry> {
    /// The energy at `x`; infinite or NaN where `x` is not admissible, which makes the line search shorten.
    fn value(&self, x: &[T]) -> f64;

    /// The gradient at `x`.
    fn gradient(&self, x: &[T], g: &mut [T]);

    /// A step `d ≈ −H⁻¹ g`, exact or not; anything that does not descend is replaced by `−g`.
    fn direction(&mut self, x: &[T], g: &[T], d: &mut [T]);

    /// The largest multiple of `d` that may be tried, for example before an element inverts.
    fn step_limit(&self, _x: &[T], _d: &[T]) -> f64 {
        f64::INFINITY
    }
}

/// When to stop and what counts as progress.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MinimiseConfig {
    /// Gradient norm that counts as converged, in units of the gradient.
    pub gradient_tolerance: f64,
    /// Most Newton steps.
    pub max_iterations: usize,
    /// Share of the predicted decrease a step must achieve (Armijo), 0 to ½ [-].
    pub sufficient_decrease: f64,
    /// Smallest cosine between step and downhill direction that counts as descent, 0 to 1 [-].
    pub least_descent: f64,
}

impl Default for MinimiseConfig {
    fn default() -> Self {
        Self {
            gradient_tolerance: 1e-8,
            max_iterations: 100,
            sufficient_decrease: 1e-4,
            least_descent: 1e-10,
        }
    }
}

/// Why the minimisation stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MinimiseStop {
    /// The gradient norm is within the tolerance.
    Converged,
    /// The iterations ran out.
    MaxIterations,
    /// Rounding hides any further decrease of the energy; the gradient is as small as it gets.
    Precision,
    /// No step length lowers the energy, not even straight downhill: energy and gradient disagree.
    NoDescent,
    /// Energy or gradient at the start, or the gradient at an accepted point, is not finite.
    NonFinite,
}

/// What a minimisation did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MinimiseReport {
    /// Steps taken.
    pub iterations: usize,
    /// Energies evaluated.
    pub evaluations: usize,
    /// Steps that had to go straight downhill instead of along the Newton direction.
    pub fallbacks: usize,
    /// Energy at the end.
    pub value: f64,
    /// Gradient norm at the end.
    pub gradient: f64,
    /// Why it stopped.
    pub stop: MinimiseStop,
}

/// Scratch vectors; reuse it and repeated calls allocate nothing.
#[derive(Clone, Debug, Default)]
pub struct MinimiseWorkspace<T> {
    g: Vec<T>,
    d: Vec<T>,
    trial: Vec<T>,
    partials: Partials,
}

/// Halvings of a step before the direction is given up: 2⁻⁶⁰ of a step is lost in rounding.
const MAX_HALVINGS: usize = 60;
/// Energy differences below this multiple of the energy are rounding.
const ROUNDING: f64 = 32.0 * f64::EPSILON;
/// Predicted decreases below this multiple of the energy can drown in rounding of long sums.
const NEARLY_ROUNDING: f64 = 1e4 * f64::EPSILON;

/// Minimises `energy` from `x` in place.
pub fn minimise<T: Entry>(
    energy: &mut impl Energy<T>,
    x: &mut [T],
    config: &MinimiseConfig,
    work: &mut MinimiseWorkspace<T>,
) -> MinimiseReport {
    for v in [&mut work.g, &mut work.d, &mut work.trial] {
        v.resize(x.len(), T::default());
    }
    let value = energy.value(x);
    energy.gradient(x, &mut work.g);
    let mut report = MinimiseReport {
        iterations: 0,
        evaluations: 1,
        fallbacks: 0,
        value,
        gradient: vector::norm(&work.g, &mut work.partials),
        stop: MinimiseStop::Converged,
    };
    report.stop = loop {
        if !report.value.is_finite() || !report.gradient.is_finite() {
            break MinimiseStop::NonFinite;
        }
        if report.gradient <= config.gradient_tolerance {
            break MinimiseStop::Converged;
        }
        if report.iterations >= config.max_iterations {
            break MinimiseStop::MaxIterations;
        }
        // Newton direction, or straight downhill if that does not descend or leads nowhere.
        energy.direction(x, &work.g, &mut work.d);
        let newton = is_descent(config, work, report.gradient);
        let predicted = newton.unwrap_or(-report.gradient * report.gradient);
        let mut step = newton.and_then(|slope| line_search(energy, x, slope, config, work, &mut report));
        if step.is_none() {
            report.fallbacks += 1;
            vector::zip_with(&mut work.d, &work.g, |d, g| *d = g * -1.0);
            let slope = -report.gradient * report.gradient;
            step = line_search(energy, x, slope, config, work, &mut report);
        }
        let Some(Step { value, visible }) = step else {
            let hidden = -predicted <= NEARLY_ROUNDING * report.value.abs();
            break if hidden { MinimiseStop::Precision } else { MinimiseStop::NoDescent };
        };
        x.copy_from_slice(&work.trial);
        report.iterations += 1;
        report.value = value;
        energy.gradient(x, &mut work.g);
        let before = report.gradient;
        report.gradient = vector::norm(&work.g, &mut work.partials);
        // Steps the energy cannot see must at least reduce the gradient.
        if !visible && report.gradient > config.gradient_tolerance && report.gradient > 0.5 * before {
            break MinimiseStop::Precision;
        }
    };
    report
}

/// An accepted trial point.
struct Step {
    value: f64,
    /// Whether the decrease stands out from rounding.
    visible: bool,
}

/// The slope `g · d` if the direction descends clearly enough.
fn is_descent<T: Entry>(
    config: &MinimiseConfig,
    work: &mut MinimiseWorkspace<T>,
    gradient: f64,
) -> Option<f64> {
    let slope = vector::dot(&work.g, &work.d, &mut work.partials);
    let length = vector::norm(&work.d, &mut work.partials);
    (slope.is_finite() && slope < -config.least_descent * gradient * length).then_some(slope)
}

/// Shortens the step until the energy falls by the asked share of the predicted decrease.
fn line_search<T: Entry>(
    energy: &impl Energy<T>,
    x: &[T],
    slope: f64,
    config: &MinimiseConfig,
    work: &mut MinimiseWorkspace<T>,
    report: &mut MinimiseReport,
) -> Option<Step> {
    let mut alpha = energy.step_limit(x, &work.d).min(1.0);
    if alpha.is_nan() || alpha <= 0.0 {
        return None;
    }
    let noise = ROUNDING * report.value.abs();
    for halvings in 0..MAX_HALVINGS {
        work.trial.copy_from_slice(x);
        vector::axpy(alpha, &work.d, &mut work.trial);
        let value = energy.value(&work.trial);
        report.evaluations += 1;
        let predicted = alpha * slope;
        if value <= report.value + config.sufficient_decrease * predicted && -predicted > noise {
            return Some(Step { value, visible: true });
        }
        if -predicted <= noise {
            // Only a whole step may hide in rounding; one shortened that far has failed.
            let hidden = halvings == 0 && value <= report.value + noise;
            return hidden.then_some(Step { value, visible: false });
        }
        // The minimiser of the parabola through what is known, kept between a tenth and a half.
        let parabola = -0.5 * predicted / (value - report.value - predicted);
        alpha *= if parabola.is_finite() { parabola.clamp(0.1, 0.5) } else { 0.5 };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::krylov::{Cg, CgConfig, CgWorkspace};
    use crate::sparse::Csr;

    /// A function of few variables by value, gradient and exact Newton step.
    struct Plain<V, G, D>(V, G, D);

    impl<V: Fn(&[f64]) -> f64, G: Fn(&[f64], &mut [f64]), D: Fn(&[f64], &[f64], &mut [f64])> Energy<f64>
        for Plain<V, G, D>
    {
        fn value(&self, x: &[f64]) -> f64 {
            (self.0)(x)
        }
        fn gradient(&self, x: &[f64], g: &mut [f64]) {
            (self.1)(x, g);
        }
        fn direction(&mut self, x: &[f64], g: &[f64], d: &mut [f64]) {
            (self.2)(x, g, d);
        }
    }

    fn run(energy: &mut impl Energy<f64>, x: &mut [f64]) -> MinimiseReport {
        minimise(energy, x, &MinimiseConfig::default(), &mut MinimiseWorkspace::default())
    }

    #[test]
    fn converges_where_undamped_newton_diverges() {
        // √(1 + x²): the Newton step maps x to −x³.
        let mut e = Plain(
            |x: &[f64]| (1.0 + x[0] * x[0]).sqrt(),
            |x: &[f64], g: &mut [f64]| g[0] = x[0] / (1.0 + x[0] * x[0]).sqrt(),
            |x: &[f64], g: &[f64], d: &mut [f64]| d[0] = -g[0] * (1.0 + x[0] * x[0]).powf(1.5),
        );
        let mut x = [2.0];
        let report = run(&mut e, &mut x);
        assert!(report.stop == MinimiseStop::Converged && x[0].abs() < 1e-8, "{report:?} {x:?}");
        assert!(report.evaluations > report.iterations + 1, "the line search must have worked");
    }

    #[test]
    fn rosenbrock_valley() {
        let mut e = Plain(
            |x: &[f64]| (1.0 - x[0]).powi(2) + 100.0 * (x[1] - x[0] * x[0]).powi(2),
            |x: &[f64], g: &mut [f64]| {
                let v = x[1] - x[0] * x[0];
                g[0] = -2.0 * (1.0 - x[0]) - 400.0 * x[0] * v;
                g[1] = 200.0 * v;
            },
            |x: &[f64], g: &[f64], d: &mut [f64]| {
                let (a, b, c) = (2.0 - 400.0 * (x[1] - 3.0 * x[0] * x[0]), -400.0 * x[0], 200.0);
                let det = a * c - b * b;
                d[0] = -(c * g[0] - b * g[1]) / det;
                d[1] = -(a * g[1] - b * g[0]) / det;
            },
        );
        let mut x = [-1.2, 1.0];
        let report = run(&mut e, &mut x);
        assert!(report.stop == MinimiseStop::Converged && report.iterations < 40, "{report:?}");
        assert!((x[0] - 1.0).abs() < 1e-8 && (x[1] - 1.0).abs() < 1e-8);
    }

    #[test]
    fn ascending_directions_are_replaced_and_minima_found_from_a_concave_start() {
        // x⁴ − x²: at 0.1 the Hessian is negative and Newton climbs to the maximum at 0.
        let mut e = Plain(
            |x: &[f64]| x[0].powi(4) - x[0] * x[0],
            |x: &[f64], g: &mut [f64]| g[0] = 4.0 * x[0].powi(3) - 2.0 * x[0],
            |x: &[f64], g: &[f64], d: &mut [f64]| d[0] = -g[0] / (12.0 * x[0] * x[0] - 2.0),
        );
        let mut x = [0.1];
        let report = run(&mut e, &mut x);
        assert!(report.stop == MinimiseStop::Converged && report.fallbacks > 0, "{report:?}");
        assert!((x[0] - 0.5f64.sqrt()).abs() < 1e-8);
    }

    #[test]
    fn barriers_are_not_crossed_and_step_limits_are_kept() {
        struct Barrier(std::cell::Cell<f64>);
        impl Energy<f64> for Barrier {
            fn value(&self, x: &[f64]) -> f64 {
                self.0.set(self.0.get().min(x[0]));
                x[0] - x[0].ln()
            }
            fn gradient(&self, x: &[f64], g: &mut [f64]) {
                g[0] = 1.0 - 1.0 / x[0];
            }
            fn direction(&mut self, x: &[f64], g: &[f64], d: &mut [f64]) {
                d[0] = -g[0] * x[0] * x[0];
            }
            fn step_limit(&self, x: &[f64], d: &[f64]) -> f64 {
                if d[0] < 0.0 { 0.9 * x[0] / -d[0] } else { f64::INFINITY }
            }
        }
        let mut x = [30.0];
        let mut e = Barrier(std::cell::Cell::new(f64::INFINITY));
        let report = run(&mut e, &mut x);
        assert!(report.stop == MinimiseStop::Converged && (x[0] - 1.0).abs() < 1e-8, "{report:?}");
        assert!(e.0.get() > 0.0, "no inadmissible point was even tried");
    }

    #[test]
    fn quadratic_energies_take_one_step_with_a_krylov_direction() {
        let n = 300;
        let mut entries: Vec<(u32, u32, f64)> = (0..n).map(|i| (i, i, 2.5)).collect();
        entries.extend((1..n).flat_map(|i| [(i, i - 1, -1.0), (i - 1, i, -1.0)]));
        let a = Csr::from_triplets(n as usize, n as usize, &entries).unwrap();
        struct Quadratic {
            a: Csr,
            work: CgWorkspace<f64>,
        }
        impl Energy<f64> for Quadratic {
            fn value(&self, x: &[f64]) -> f64 {
                let mut ax = vec![0.0; x.len()];
                self.a.multiply(x, &mut ax);
                (0..x.len()).map(|i| 0.5 * x[i] * ax[i] - x[i]).sum()
            }
            fn gradient(&self, x: &[f64], g: &mut [f64]) {
                self.a.multiply(x, g);
                g.iter_mut().for_each(|g| *g -= 1.0);
            }
            fn direction(&mut self, _: &[f64], g: &[f64], d: &mut [f64]) {
                let b: Vec<f64> = g.iter().map(|g| -g).collect();
                d.fill(0.0);
                let config = CgConfig { relative: 1e-12, ..Default::default() };
                assert!(Cg::new(&self.a).solve(&b, d, &config, &mut self.work).converged());
            }
        }
        let mut x = vec![0.0; n as usize];
        let report = run(&mut Quadratic { a, work: CgWorkspace::default() }, &mut x);
        assert!(report.stop == MinimiseStop::Converged && report.iterations == 1, "{report:?}");
    }

    #[test]
    fn precision_lies_and_bad_numbers_are_told_apart() {
        // A large constant hides the last digits of the parabola.
        let mut e = Plain(
            |x: &[f64]| 1e12 + (x[0] - 1.0).powi(2),
            |x: &[f64], g: &mut [f64]| g[0] = 2.0 * (x[0] - 1.0) + 1e-6 * (1e9 * x[0]).sin(),
            |_: &[f64], g: &[f64], d: &mut [f64]| d[0] = -0.5 * g[0],
        );
        let mut x = [1.5];
        let report = run(&mut e, &mut x);
        assert!(report.stop == MinimiseStop::Precision && (x[0] - 1.0).abs() < 1e-3, "{report:?} {x:?}");
        // A gradient of the wrong sign cannot be descended along.
        let mut e = Plain(
            |x: &[f64]| x[0] * x[0],
            |x: &[f64], g: &mut [f64]| g[0] = -2.0 * x[0],
            |_: &[f64], g: &[f64], d: &mut [f64]| d[0] = -g[0],
        );
        assert_eq!(run(&mut e, &mut [1.0]).stop, MinimiseStop::NoDescent);
        assert_eq!(run(&mut e, &mut [f64::NAN]).stop, MinimiseStop::NonFinite);
    }
}
