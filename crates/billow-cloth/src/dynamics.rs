//! Internal dynamics: candidate positions and velocities without collisions ([Bri03] 1.5).
//!
//! Each function is one of the document's lists, line by line. Scripted nodes carry their prescribed mean velocity
//! through every update.

use crate::config::Integrator;
use crate::forces::Forces;
use crate::strain::{self, Clamp, Quantity};
use crate::{Config, Model};
use billow_num::{Vec3, par};

/// Positions and velocities under way, with the scratch of their update.
pub(crate) struct Motion<'a> {
    pub(crate) model: &'a Model,
    pub(crate) config: &'a Config,
    pub(crate) forces: &'a mut Forces,
    pub(crate) scratch: &'a mut Scratch,
    /// Iterations of linear solves so far.
    pub(crate) iterations: u64,
}

/// Scratch vectors. Dropping them changes no result.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    acceleration: Vec<Vec3>,
    half: Vec<Vec3>,
    limited: Vec<Vec3>,
}

impl Motion<'_> {
    /// Advances `x` and `v` by `dt` with as many equal steps as the integrator needs. Scripted entries of `v` must
    /// hold their mean velocities over `dt`.
    pub(crate) fn advance(&mut self, x: &mut [Vec3], v: &mut [Vec3], dt: f64) {
        let steps = self.steps(dt);
        let h = dt / steps as f64;
        for _ in 0..steps {
            match self.config.integrator {
                Integrator::Coupled | Integrator::Implicit => self.implicit(x, v, h),
                Integrator::Central | Integrator::ExplicitMarch => self.central(x, v, h),
                Integrator::Staggered => self.staggered(x, v, h),
                Integrator::Monotone => self.monotone(x, v, h),
            }
        }
    }

    /// How many steps keep explicit elastic forces stable.
    fn steps(&self, dt: f64) -> u64 {
        if matches!(self.config.integrator, Integrator::Coupled | Integrator::Implicit) {
            return 1;
        }
        let limit = self.config.courant * self.model.springs.explicit_limit(&self.model.masses);
        (dt / limit).ceil().clamp(1.0, 1e6) as u64
    }

    /// Backward Euler on internal forces, trapezoidal rule on gravity.
    fn implicit(&mut self, x: &mut [Vec3], v: &mut [Vec3], h: f64) {
        self.forces.linearise(self.model, self.config, x, v);
        self.iterations += self.forces.implicit(self.model, self.config, h, [h * h, h], v).iterations as u64;
        let late = self.model.gravity * (0.5 * h);
        let inverse_masses = &self.model.inverse_masses;
        self.scratch.limited.clear();
        self.scratch
            .limited
            .extend(v.iter().zip(inverse_masses).map(|(v, w)| if *w > 0.0 { *v - late } else { *v }));
        let mut limited = std::mem::take(&mut self.scratch.limited);
        self.limit_strain(x, &mut limited, h);
        self.move_on(x, &limited, h);
        // What limiting changed belongs to the velocity too.
        par::for_each_mut(v, |i, v| {
            *v = if inverse_masses[i] > 0.0 { limited[i] + late } else { limited[i] }
        });
        self.scratch.limited = limited;
    }

    /// [Bri03] 1.5, first list.
    fn central(&mut self, x: &mut [Vec3], v: &mut [Vec3], h: f64) {
        // v½ = v + Δt/2 a(x, v)
        self.explicit_half(x, v, h);
        // Modify v½ to limit strain; x' = x + Δt ṽ½.
        let mut limited = std::mem::take(&mut self.scratch.limited);
        limited.clear();
        limited.extend_from_slice(v);
        self.limit_strain(x, &mut limited, h);
        self.move_on(x, &limited, h);
        self.scratch.limited = limited;
        // v' = v½ + Δt/2 a(x', v'), from the unmodified v½.
        self.implicit_half(x, v, h);
        self.limit_rate(x, v, h);
    }

    /// [Bri03] 1.5, second list.
    fn staggered(&mut self, x: &mut [Vec3], v: &mut [Vec3], h: f64) {
        self.implicit_half(x, v, h);
        self.limit_strain(x, v, h);
        self.move_on(x, v, h);
        self.explicit_half(x, v, h);
    }

    /// [Bri03] 1.5, third list.
    fn monotone(&mut self, x: &mut [Vec3], v: &mut [Vec3], h: f64) {
        let mut half = std::mem::take(&mut self.scratch.half);
        half.clear();
        half.extend_from_slice(v);
        let start: Vec<Vec3> = x.to_vec();
        self.implicit_half(x, &mut half, h);
        self.limit_strain(x, &mut half, h);
        self.move_on(x, &half, h);
        self.scratch.half = half;
        self.explicit_half(&start, v, h);
        self.implicit_half(x, v, h);
        self.limit_rate(x, v, h);
    }

    /// `v += Δt/2 a(x, v)`.
    fn explicit_half(&mut self, x: &[Vec3], v: &mut [Vec3], h: f64) {
        self.forces.linearise(self.model, self.config, x, v);
        self.forces.acceleration(self.model, v, &mut self.scratch.acceleration);
        let a = &self.scratch.acceleration;
        par::for_each_mut(v, |i, v| *v += a[i] * (0.5 * h));
    }

    /// `v' = v + Δt/2 a(x, v')`: the final solve of [Bri03] 1.5 and 2.3, or its explicit march ([BFA02] 7.6).
    pub(crate) fn implicit_half(&mut self, x: &[Vec3], v: &mut [Vec3], h: f64) {
        self.forces.linearise(self.model, self.config, x, v);
        let half = 0.5 * h;
        if self.config.integrator == Integrator::ExplicitMarch {
            self.march(v, half);
        } else {
            self.iterations +=
                self.forces.implicit(self.model, self.config, half, [0.0, half], v).iterations as u64;
        }
    }

    /// `u_{m+1} = u_m + k a(x, u_{m+1})` by fixed-point iteration, `k` small enough to contract ([BFA02] 7.6).
    fn march(&mut self, v: &mut [Vec3], duration: f64) {
        const ITERATIONS: u32 = 3;
        let steps = (duration / (0.5 * self.model.damping_limit())).ceil().clamp(1.0, 1e5);
        let k = duration / steps;
        let mut base = std::mem::take(&mut self.scratch.half);
        for _ in 0..steps as u32 {
            base.clear();
            base.extend_from_slice(v);
            for _ in 0..ITERATIONS {
                self.forces.acceleration(self.model, v, &mut self.scratch.acceleration);
                let a = &self.scratch.acceleration;
                par::for_each_mut(v, |i, v| *v = base[i] + a[i] * k);
            }
        }
        self.scratch.half = base;
    }

    fn limit_strain(&mut self, x: &[Vec3], v: &mut [Vec3], h: f64) -> bool {
        self.limit(Quantity::Strain, x, v, h, &|_, _| {})
    }

    pub(crate) fn limit_rate(&mut self, x: &[Vec3], v: &mut [Vec3], h: f64) -> bool {
        self.limit(Quantity::Rate, x, v, h, &|_, _| {})
    }

    fn limit(&self, quantity: Quantity, x: &[Vec3], v: &mut [Vec3], h: f64, clamp: Clamp<'_>) -> bool {
        let sweeps = (self.config.sweep, self.config.strain_sweeps);
        strain::limit(self.model, (quantity, clamp), sweeps, (x, h), v)
    }

    fn move_on(&self, x: &mut [Vec3], v: &[Vec3], h: f64) {
        par::for_each_mut(x, |i, x| *x += v[i] * h);
    }
}
