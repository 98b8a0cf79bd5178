//! Preconditioned conjugate gradients that trust only the true residual.
//!
//! The residual kept by recurrence drifts from `b − A x`. When it claims convergence the true one is formed; if
//! that is still too large the iteration restarts from it. With a [`Filter`] this is the modified method of
//! Baraff and Witkin (1998): `x` keeps its constrained part and only free directions are searched.

use super::{Filter, Identity, LinearOperator, Preconditioner, Unconstrained};
use crate::par::Partials;
use crate::vector::{self, Entry};

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CgConfig {
    /// Residual norm relative to the right-hand side of the free unknowns, 0 to 1 [-]. Raising it saves
    /// iterations and loses accuracy.
    pub relative: f64,
    /// Residual norm that always suffices, in units of the right-hand side.
    pub absolute: f64,
    /// Most iterations.
    pub max_iterations: usize,
}

impl Default for CgConfig {
    fn default() -> Self {
        Self { relative: 1e-8, absolute: 0.0, max_iterations: 1000 }
    }
}

/// Why the iteration stopped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CgStop {
    /// The true residual is within the target.
    Converged,
    /// The iterations ran out.
    MaxIterations,
    /// The operator is not positive definite: along [`CgWorkspace::direction`] the curvature `p·Ap / p·p` is this.
    Indefinite {
        /// The curvature, zero or negative.
        curvature: f64,
    },
    /// The preconditioner is not positive definite, or the right-hand side is outside the operator's range.
    Breakdown,
    /// Restarts from the true residual no longer reduce it: rounding, or an incompatible right-hand side.
    Stagnated,
    /// A number became infinite or NaN; `x` holds the last finite iterate where there was one.
    NonFinite,
}

/// What a solve did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CgReport {
    /// Iterations done.
    pub iterations: usize,
    /// Norm of the true filtered residual `b − A x`.
    pub residual: f64,
    /// Norm that counted as converged.
    pub target: f64,
    /// Restarts because the recurrence had drifted from the true residual.
    pub restarts: usize,
    /// Why it stopped.
    pub stop: CgStop,
}

impl CgReport {
    /// Whether the true residual is within the target.
    pub fn converged(&self) -> bool {
        self.stop == CgStop::Converged
    }
}

/// Scratch vectors; reuse it and repeated solves allocate nothing.
#[derive(Clone, Debug, Default)]
pub struct CgWorkspace<T> {
    r: Vec<T>,
    z: Vec<T>,
    p: Vec<T>,
    q: Vec<T>,
    partials: Partials,
}

impl<T: Entry> CgWorkspace<T> {
    /// The last search direction: the direction of non-positive curvature after [`CgStop::Indefinite`].
    pub fn direction(&self) -> &[T] {
        &self.p
    }

    fn resize(&mut self, n: usize) {
        for v in [&mut self.r, &mut self.z, &mut self.p, &mut self.q] {
            v.resize(n, T::default());
        }
    }
}

/// A system to solve: operator, preconditioner and filter.
#[derive(Clone, Copy, Debug)]
pub struct Cg<'a, A, M = Identity, F = Unconstrained> {
    operator: &'a A,
    preconditioner: &'a M,
    filter: &'a F,
}

impl<'a, A> Cg<'a, A> {
    /// Plain conjugate gradients on `operator`.
    pub fn new(operator: &'a A) -> Self {
        Self { operator, preconditioner: &Identity, filter: &Unconstrained }
    }
}

/// Restarts without progress after which the true residual is as small as it gets.
const PATIENCE: usize = 3;

impl<'a, A, M, F> Cg<'a, A, M, F> {
    /// The same system with another preconditioner.
    pub fn preconditioner<N>(self, preconditioner: &'a N) -> Cg<'a, A, N, F> {
        Cg { operator: self.operator, preconditioner, filter: self.filter }
    }

    /// The same system with another filter.
    pub fn filter<G>(self, filter: &'a G) -> Cg<'a, A, M, G> {
        Cg { operator: self.operator, preconditioner: self.preconditioner, filter }
    }

    /// Solves `A x = b` from the given `x`; constrained parts of `x` stay as they are.
    ///
    /// # Panics
    /// If the lengths of `b` and `x` are not the operator's size.
    pub fn solve<T: Entry>(
        &self,
        b: &[T],
        x: &mut [T],
        config: &CgConfig,
        work: &mut CgWorkspace<T>,
    ) -> CgReport
    where
        A: LinearOperator<T>,
        M: Preconditioner<T>,
        F: Filter<T>,
    {
        let n = self.operator.size();
        assert!(b.len() == n && x.len() == n, "{n} unknowns, but b has {} and x {}", b.len(), x.len());
        work.resize(n);
        let target = (config.relative * self.load(b, x, work)).max(config.absolute);
        let mut rr = self.true_residual(b, x, work);
        let mut best = rr;
        let mut report =
            CgReport { iterations: 0, residual: rr.sqrt(), target, restarts: 0, stop: CgStop::Converged };
        let mut without_progress = 0;
        report.stop = loop {
            report.residual = rr.sqrt();
            if !rr.is_finite() {
                break CgStop::NonFinite;
            }
            if report.residual <= target {
                break CgStop::Converged;
            }
            if report.iterations >= config.max_iterations {
                break CgStop::MaxIterations;
            }
            let halted = self.run(x, target, config.max_iterations, work, &mut report.iterations);
            rr = self.true_residual(b, x, work);
            report.residual = rr.sqrt();
            if let Some(stop) = halted.filter(|_| report.residual.is_nan() || report.residual > target) {
                break stop;
            }
            if report.residual > target && report.iterations < config.max_iterations {
                report.restarts += 1;
                without_progress = if rr < 0.25 * best { 0 } else { without_progress + 1 };
                if without_progress >= PATIENCE {
                    break CgStop::Stagnated;
                }
            }
            best = best.min(rr);
        };
        report
    }

    /// Iterates from the residual in `work.r` until the recurrence claims convergence (`None`), the iterations run
    /// out (`None`) or something breaks.
    fn run<T: Entry>(
        &self,
        x: &mut [T],
        target: f64,
        max_iterations: usize,
        work: &mut CgWorkspace<T>,
        iterations: &mut usize,
    ) -> Option<CgStop>
    where
        A: LinearOperator<T>,
        M: Preconditioner<T>,
        F: Filter<T>,
    {
        let mut rz = self.precondition(work);
        work.p.copy_from_slice(&work.z);
        while *iterations < max_iterations {
            if !rz.is_finite() {
                return Some(CgStop::NonFinite);
            }
            if rz <= 0.0 {
                return Some(CgStop::Breakdown);
            }
            let curvature = self.product(work);
            if !curvature.is_finite() {
                return Some(CgStop::NonFinite);
            }
            if curvature <= 0.0 {
                let pp = vector::dot(&work.p, &work.p, &mut work.partials);
                return Some(CgStop::Indefinite { curvature: curvature / pp });
            }
            let alpha = rz / curvature;
            if !alpha.is_finite() {
                return Some(CgStop::NonFinite);
            }
            let CgWorkspace { r, p, q, partials, .. } = work;
            let rr = vector::descend(alpha, (p, q), (x, r), partials);
            *iterations += 1;
            if !rr.is_finite() {
                vector::axpy(-alpha, &work.p, x);
                return Some(CgStop::NonFinite);
            }
            if rr.sqrt() <= target {
                return None;
            }
            let next = self.precondition(work);
            vector::xpay(&work.z, next / rz, &mut work.p);
            rz = next;
        }
        None
    }

    /// `q = S A p`, returning `p · q`.
    fn product<T: Entry>(&self, work: &mut CgWorkspace<T>) -> f64
    where
        A: LinearOperator<T>,
        F: Filter<T>,
    {
        let CgWorkspace { p, q, partials, .. } = work;
        if F::IDENTITY {
            return self.operator.apply_dot(p, q, partials);
        }
        self.operator.apply(p, q);
        self.filter.apply(q);
        vector::dot(p, q, partials)
    }

    /// `z = S M⁻¹ r`, returning `r · z`.
    fn precondition<T: Entry>(&self, work: &mut CgWorkspace<T>) -> f64
    where
        M: Preconditioner<T>,
        F: Filter<T>,
    {
        self.preconditioner.apply(&work.r, &mut work.z);
        self.filter.apply(&mut work.z);
        vector::dot(&work.r, &work.z, &mut work.partials)
    }

    /// `r = S (b − A x)`, returning `r · r`.
    fn true_residual<T: Entry>(&self, b: &[T], x: &[T], work: &mut CgWorkspace<T>) -> f64
    where
        A: LinearOperator<T>,
        F: Filter<T>,
    {
        self.operator.apply(x, &mut work.r);
        vector::subtract_from(b, &mut work.r);
        self.filter.apply(&mut work.r);
        vector::dot(&work.r, &work.r, &mut work.partials)
    }

    /// The norm of the right-hand side that the free unknowns see: `S (b − A x_fixed)`.
    fn load<T: Entry>(&self, b: &[T], x: &[T], work: &mut CgWorkspace<T>) -> f64
    where
        A: LinearOperator<T>,
        F: Filter<T>,
    {
        if F::IDENTITY {
            return vector::norm(b, &mut work.partials);
        }
        // The fixed part is what the filter removes from x.
        work.p.copy_from_slice(x);
        self.filter.apply(&mut work.p);
        vector::subtract_from(x, &mut work.p);
        self.operator.apply(&work.p, &mut work.q);
        vector::subtract_from(b, &mut work.q);
        self.filter.apply(&mut work.q);
        vector::norm(&work.q, &mut work.partials)
    }
}
