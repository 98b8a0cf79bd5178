//! Evolution on dense grids.

use super::anchor::measured;
use super::weno::weno5;
use super::{Evolution, EvolutionReport, Reinit, TimeOrder, equal_steps};
use crate::LevelSetError;
use crate::dense::{ScalarGrid, VectorGrid};
use billow_num::{Vec3, par};

/// One-sided WENO slopes at a sample along an axis, below and above [-].
fn slopes(phi: &ScalarGrid, ijk: [usize; 3], axis: usize) -> [f64; 2] {
    let l = &phi.lattice;
    let n = l.dims[axis] as isize;
    if n == 1 {
        return [0.0; 2];
    }
    let stride = l.strides()[axis];
    let base = l.index(ijk) - ijk[axis] * stride;
    let at = |c: isize| phi.values[base + c as usize * stride];
    // Beyond the border the function continues along its last slope.
    let value = |c: isize| {
        if c < 0 {
            at(0) + (at(1) - at(0)) * c as f64
        } else if c >= n {
            at(n - 1) + (at(n - 1) - at(n - 2)) * (c - n + 1) as f64
        } else {
            at(c)
        }
    };
    let v: [f64; 7] = std::array::from_fn(|i| value(ijk[axis] as isize + i as isize - 3));
    let d: [f64; 6] = std::array::from_fn(|i| (v[i + 1] - v[i]) / l.spacing);
    [weno5([d[0], d[1], d[2], d[3], d[4]]), weno5([d[5], d[4], d[3], d[2], d[1]])]
}

/// Godunov's |∇φ| for motion in the direction of `side`.
fn upwind_gradient(phi: &ScalarGrid, ijk: [usize; 3], side: f64) -> f64 {
    let mut sum = 0.0;
    for axis in 0..3 {
        let [below, above] = slopes(phi, ijk, axis);
        let g = (side * below).max(0.0).max(-side * above);
        sum += g * g;
    }
    sum.sqrt()
}

impl ScalarGrid {
    /// Moves values towards a signed distance without moving the zero set, by PDE reinitialisation with WENO
    /// differences. Samples next to the surface are measured and held.
    pub fn reinitialise(&mut self, settings: &Reinit) -> Result<(), LevelSetError> {
        settings.validated()?;
        let h = self.lattice.spacing;
        let held = self.anchor();
        let rate = |phi: &ScalarGrid, ijk: [usize; 3]| {
            if held[phi.lattice.index(ijk)] {
                return 0.0;
            }
            let value = phi.at(ijk);
            let g = upwind_gradient(phi, ijk, 1f64.copysign(value));
            value / (value * value + g * g * h * h + f64::MIN_POSITIVE).sqrt() * (1.0 - g)
        };
        for _ in 0..settings.steps {
            self.step(&rate, settings.cfl * h, settings.time);
        }
        Ok(())
    }

    /// Moves the surface along its normal for a time [s] at a speed [m/s] given per sample, outward if positive.
    pub fn move_along_normal(
        &mut self,
        speed: &ScalarGrid,
        time: f64,
        settings: &Evolution,
    ) -> Result<EvolutionReport, LevelSetError> {
        self.check_lattice(speed.lattice == self.lattice, "motion along the normal")?;
        let fastest = speed.values.iter().fold(f64::MIN_POSITIVE, |m, v| m.max(v.abs()));
        let rate = |phi: &ScalarGrid, ijk: [usize; 3]| {
            let a = speed.at(ijk);
            -a * upwind_gradient(phi, ijk, 1f64.copysign(a))
        };
        self.evolve(&rate, time, settings.cfl * self.lattice.spacing / fastest, settings)
    }

    /// Motion by mean curvature for a time [s]: φₜ = b κ|∇φ| with strength b [m²/s].
    pub fn smooth(
        &mut self,
        strength: f64,
        time: f64,
        settings: &Evolution,
    ) -> Result<EvolutionReport, LevelSetError> {
        crate::error::positive("smoothing", "strength", strength)?;
        let h = self.lattice.spacing;
        let rate = |phi: &ScalarGrid, ijk: [usize; 3]| {
            let g = phi.gradient_at(ijk).length();
            strength * phi.curvature_at(ijk).mean_sum.clamp(-2.0 / h, 2.0 / h) * g
        };
        self.evolve(&rate, time, settings.cfl * h * h / (6.0 * strength), settings)
    }

    /// Carries the surface with a steady flow [m/s], given per sample, for a time [s].
    pub fn advect(
        &mut self,
        velocity: &VectorGrid,
        time: f64,
        settings: &Evolution,
    ) -> Result<EvolutionReport, LevelSetError> {
        self.check_lattice(velocity.lattice == self.lattice, "advection")?;
        let fastest = velocity.values.iter().fold(f64::MIN_POSITIVE, |m, v| m.max(v.abs().element_sum()));
        let rate = |phi: &ScalarGrid, ijk: [usize; 3]| {
            let u = velocity.at(ijk);
            -(0..3)
                .map(|a| if u[a] == 0.0 { 0.0 } else { u[a] * slopes(phi, ijk, a)[usize::from(u[a] < 0.0)] })
                .sum::<f64>()
        };
        self.evolve(&rate, time, settings.cfl * self.lattice.spacing / fastest, settings)
    }

    /// Carries the field with a flow [m/s] over one step [s] by following characteristics backward with Heun's
    /// method and interpolating ([Gue06] 4.5.1): first-order accurate, stable for any step.
    pub fn advect_semi_lagrangian(&self, velocity: &(dyn Fn(Vec3) -> Vec3 + Sync), dt: f64) -> Self {
        let l = self.lattice;
        let values = par::map(l.len(), |i| {
            let x = l.position(l.coordinates(i));
            let v = velocity(x);
            self.value(x - 0.5 * dt * (v + velocity(x - dt * v)))
        });
        Self { lattice: l, values }
    }

    /// Sets samples next to the surface to their distance; tells which those are.
    fn anchor(&mut self) -> Vec<bool> {
        let grid = &*self;
        let l = &grid.lattice;
        let measured = par::map(l.len(), |i| {
            let c = l.coordinates(i).map(|v| v as isize);
            // The stencil must lie on the lattice.
            let fits = (0..3).all(|a| l.dims[a] == 1 || (2..l.dims[a] as isize - 2).contains(&c[a]));
            let at = |o: [i32; 3]| grid.at_clamped([0, 1, 2].map(|a| c[a] + o[a] as isize));
            let along = |axis: usize, by: i32| at([0, 1, 2].map(|a| if a == axis { by } else { 0 }));
            if fits { measured(l.spacing, f64::INFINITY, at, along) } else { None }
        });
        let mut held = vec![false; measured.len()];
        for (i, distance) in measured.into_iter().enumerate() {
            if let Some(distance) = distance {
                (self.values[i], held[i]) = (distance, true);
            }
        }
        held
    }

    fn check_lattice(&self, same: bool, operation: &'static str) -> Result<(), LevelSetError> {
        let problem = "the field is sampled on another lattice than φ: resample it first".into();
        if same { Ok(()) } else { Err(LevelSetError::Mismatch { operation, problem }) }
    }

    fn evolve(
        &mut self,
        rate: &(impl Fn(&ScalarGrid, [usize; 3]) -> f64 + Sync),
        time: f64,
        largest: f64,
        settings: &Evolution,
    ) -> Result<EvolutionReport, LevelSetError> {
        settings.validated()?;
        let (steps, dt) = equal_steps(time, largest)?;
        for _ in 0..steps {
            self.step(rate, dt, settings.time);
            if let Some(reinit) = &settings.reinit {
                self.reinitialise(reinit)?;
            }
        }
        Ok(EvolutionReport { steps })
    }

    /// One Runge-Kutta step of φₜ = rate.
    fn step(&mut self, rate: &(impl Fn(&ScalarGrid, [usize; 3]) -> f64 + Sync), dt: f64, time: TimeOrder) {
        let old = if time == TimeOrder::One { Vec::new() } else { self.values.clone() };
        let mut next = vec![0.0; self.values.len()];
        for &(keep, take) in time.stages() {
            let grid = &*self;
            par::fill(&mut next, |i| {
                let moved = grid.values[i] + dt * rate(grid, grid.lattice.coordinates(i));
                if keep > 0.0 { keep * old[i] + take * moved } else { moved }
            });
            std::mem::swap(&mut self.values, &mut next);
        }
    }
}
