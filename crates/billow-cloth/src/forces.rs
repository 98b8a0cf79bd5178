//! All forces of the cloth at one configuration, and implicit solves with them.

use crate::{Config, Model};
use billow_elastic::{AltitudeTangent, BendingTangent, SpringTangent};
use billow_num::krylov::{Cg, CgConfig, CgReport, CgWorkspace, FixedDirections, MatrixFree, Preconditioner};
use billow_num::{Vec3, par};
use std::sync::Mutex;

/// Forces linearised about a configuration, and the scratch of solves. Dropping it changes no result.
#[derive(Debug, Default)]
pub(crate) struct Forces {
    springs: SpringTangent,
    altitude: AltitudeTangent,
    bending: BendingTangent,
    /// Elastic and external forces [N].
    pub(crate) elastic: Vec<Vec3>,
    /// Scratch.
    faces: Vec<Vec3>,
    rhs: Vec<Vec3>,
    change: Vec<Vec3>,
    diagonal: Diagonal,
    cg: CgWorkspace<Vec3>,
    products: Mutex<Vec<f64>>,
    fixed: Option<FixedDirections>,
}

/// Inverse of the system's diagonal.
#[derive(Debug, Default)]
struct Diagonal(Vec<Vec3>);

impl Preconditioner<Vec3> for Diagonal {
    fn apply(&self, r: &[Vec3], z: &mut [Vec3]) {
        par::fill(z, |i| self.0[i] * r[i]);
    }
}

impl Forces {
    /// Evaluates everything at positions `x`; `v` enters the air's drag only.
    pub(crate) fn linearise(&mut self, model: &Model, config: &Config, x: &[Vec3], v: &[Vec3]) {
        self.elastic.resize(x.len(), Vec3::ZERO);
        let gravity = model.gravity;
        par::fill(&mut self.elastic, |i| (gravity - v[i] * config.drag) * model.masses[i]);
        model.springs.linearise(x, &mut self.springs);
        model.springs.add_elastic(&self.springs, &mut self.elastic);
        model.bending.linearise(x, &mut self.bending);
        model.bending.add_elastic(&self.bending, &mut self.elastic);
        if let Some(altitude) = &model.altitude {
            altitude.linearise(x, &mut self.altitude);
            altitude.add_elastic(&self.altitude, &mut self.elastic);
        }
        crate::air::add_forces(model, (x, v), model.air_step, &mut self.faces, &mut self.elastic);
    }

    /// `y += (stiffness ∂f/∂x + damping ∂f/∂v) v` for all internal forces.
    fn add_product(&self, model: &Model, factors: [f64; 2], v: &[Vec3], y: &mut [Vec3]) {
        model.springs.add_product(&self.springs, factors, v, y);
        let mut scratch = self.products.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        model.bending.add_product(&self.bending, factors, v, y, &mut scratch);
        if let Some(altitude) = &model.altitude {
            altitude.add_product(&self.altitude, factors, v, y, &mut scratch);
        }
    }

    /// Accelerations of free nodes with the damping of velocities `v` [m/s²]; scripted ones have none.
    pub(crate) fn acceleration(&self, model: &Model, v: &[Vec3], a: &mut Vec<Vec3>) {
        a.clone_from(&self.elastic);
        self.add_product(model, [0.0, 1.0], v, a);
        par::for_each_mut(a, |i, a| *a *= model.inverse_masses[i]);
    }

    /// Solves `M v' = M v + c f + (stiffness K + damping D) v'` for `v'` from `v`, in place; with
    /// `[stiffness, damping] = [0, c]` this is the implicit half step of [Bri03] 1.5, with `[c², c]` backward Euler.
    pub(crate) fn implicit(
        &mut self,
        model: &Model,
        config: &Config,
        c: f64,
        factors: [f64; 2],
        v: &mut [Vec3],
    ) -> CgReport {
        let n = v.len();
        let mut rhs = std::mem::take(&mut self.rhs);
        rhs.resize(n, Vec3::ZERO);
        par::fill(&mut rhs, |i| self.elastic[i] * c);
        self.add_product(model, factors, v, &mut rhs);
        self.precondition(model, factors);
        let fixed = self.fixed.take().unwrap_or_else(|| {
            let mut fixed = FixedDirections::default();
            model.scripts.iter().for_each(|(node, _)| fixed.fix(*node));
            fixed
        });
        let (mut change, mut cg) = (std::mem::take(&mut self.change), std::mem::take(&mut self.cg));
        change.clear();
        change.resize(n, Vec3::ZERO);
        let report = {
            let system = MatrixFree::new(n, |x: &[Vec3], y: &mut [Vec3]| {
                par::fill(y, |_| Vec3::ZERO);
                self.add_product(model, factors, x, y);
                par::for_each_mut(y, |i, y| *y = x[i] * model.masses[i] - *y);
            });
            let stop =
                CgConfig { relative: config.tolerance, absolute: 0.0, max_iterations: config.max_iterations };
            Cg::new(&system).preconditioner(&self.diagonal).filter(&fixed).solve(
                &rhs,
                &mut change,
                &stop,
                &mut cg,
            )
        };
        restore_momentum(model, &rhs, &mut change);
        par::for_each_mut(v, |i, v| *v += change[i]);
        (self.rhs, self.change, self.cg, self.fixed) = (rhs, change, cg, Some(fixed));
        report
    }

    fn precondition(&mut self, model: &Model, factors: [f64; 2]) {
        let mut diagonal = std::mem::take(&mut self.diagonal.0);
        diagonal.resize(model.masses.len(), Vec3::ZERO);
        par::fill(&mut diagonal, |i| Vec3::splat(model.masses[i]));
        model.springs.add_diagonal(&self.springs, factors, &mut diagonal);
        model.bending.add_diagonal(&self.bending, factors, &mut diagonal);
        if let Some(altitude) = &model.altitude {
            altitude.add_diagonal(&self.altitude, factors, &mut diagonal);
        }
        par::for_each_mut(&mut diagonal, |_, d| *d = d.recip());
        self.diagonal.0 = diagonal;
    }
}

/// Internal forces cannot change the momentum of a garment that nothing holds; an unfinished solve can. Moves each such
/// garment by the uniform velocity that makes its momentum change equal to the impulse of the right-hand side.
fn restore_momentum(model: &Model, rhs: &[Vec3], change: &mut [Vec3]) {
    for part in &model.parts[..model.garments] {
        let nodes = part.nodes.clone();
        if model.inverse_masses[nodes.clone()].contains(&0.0) {
            continue;
        }
        let mass: f64 = model.masses[nodes.clone()].iter().sum();
        let missing: Vec3 = nodes.clone().map(|i| rhs[i] - change[i] * model.masses[i]).sum();
        change[nodes].iter_mut().for_each(|c| *c += missing / mass);
    }
}
