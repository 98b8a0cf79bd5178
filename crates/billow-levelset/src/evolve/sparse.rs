//! Evolution on sparse grids, block by block.

use super::rates::{Curvature, Flow, MAX, Normal, Rate, Renormalise, Scratch, sample_position};
use super::{Evolution, EvolutionReport, Reinit, TimeOrder, equal_steps};
use crate::LevelSetError;
use crate::sparse::SparseGrid;
use billow_num::{Vec3, par};

/// Blocks per parallel job.
const JOB: usize = 64;
/// How far the surface may move before blocks and distances are brought up to date [spacings].
const DRIFT: f32 = 0.3;

impl SparseGrid {
    /// Moves values towards a signed distance without moving the zero set, by PDE reinitialisation with WENO
    /// differences. Samples next to the surface are measured and held.
    pub fn reinitialise(&mut self, settings: &Reinit) -> Result<(), LevelSetError> {
        settings.validated()?;
        let dt = settings.cfl * self.frame().spacing;
        let held = Renormalise::anchored(self);
        for _ in 0..settings.steps {
            self.step(&held, dt, settings.time);
        }
        Ok(())
    }

    /// Moves the surface along its normal for a time [s] at a speed [m/s] given by position, outward if positive.
    pub fn move_along_normal(
        &mut self,
        speed: &(dyn Fn(Vec3) -> f64 + Sync),
        time: f64,
        settings: &Evolution,
    ) -> Result<EvolutionReport, LevelSetError> {
        let fastest = self.largest(|x| speed(x).abs())?;
        let limit = settings.cfl * self.frame().spacing / fastest;
        self.evolve(&Normal { speed }, time, limit, settings)
    }

    /// Motion by mean curvature for a time [s]: φₜ = b κ|∇φ| with strength b [m²/s], optionally weighted by position.
    /// A sphere shrinks as r² = r₀² − 4bt.
    pub fn smooth(
        &mut self,
        strength: f64,
        time: f64,
        weight: Option<&(dyn Fn(Vec3) -> f64 + Sync)>,
        settings: &Evolution,
    ) -> Result<EvolutionReport, LevelSetError> {
        crate::error::positive("smoothing", "strength", strength)?;
        let h = self.frame().spacing;
        let limit = settings.cfl * h * h / (6.0 * strength);
        self.evolve(&Curvature { strength, weight }, time, limit, settings)
    }

    /// Carries the surface with a steady flow [m/s] for a time [s].
    pub fn advect(
        &mut self,
        velocity: &(dyn Fn(Vec3) -> Vec3 + Sync),
        time: f64,
        settings: &Evolution,
    ) -> Result<EvolutionReport, LevelSetError> {
        let fastest = self.largest(|x| velocity(x).abs().element_sum())?;
        let limit = settings.cfl * self.frame().spacing / fastest;
        self.evolve(&Flow { velocity }, time, limit, settings)
    }

    fn evolve(
        &mut self,
        rate: &impl Rate,
        time: f64,
        largest: f64,
        settings: &Evolution,
    ) -> Result<EvolutionReport, LevelSetError> {
        settings.validated()?;
        let (steps, dt) = equal_steps(time, largest)?;
        let mut moved = 0.0;
        for step in 1..=steps {
            moved += self.step(rate, dt, settings.time);
            // The band needs care only once the surface has moved noticeably; doing less keeps it sharper.
            if moved > DRIFT * self.frame().spacing as f32 || step == steps {
                moved = 0.0;
                self.track();
                if let Some(reinit) = &settings.reinit {
                    self.reinitialise(reinit)?;
                }
            }
        }
        Ok(EvolutionReport { steps })
    }

    /// One Runge-Kutta step of φₜ = rate; returns the largest change of a sample next to the surface [m].
    fn step(&mut self, rate: &impl Rate, dt: f64, time: TimeOrder) -> f32 {
        match self.edge() {
            4 => self.step_blocks::<4>(rate, dt as f32, time),
            _ => self.step_blocks::<8>(rate, dt as f32, time),
        }
    }

    fn step_blocks<const F: usize>(&mut self, rate: &impl Rate, dt: f32, time: TimeOrder) -> f32 {
        let n = F * F * F;
        let limit = self.frame().background();
        let old = if time == TimeOrder::One { Vec::new() } else { self.values().to_vec() };
        let mut next = vec![0.0; self.values().len()];
        for &(keep, take) in time.stages() {
            let (keep, take) = (keep as f32, take as f32);
            let grid = &*self;
            par::chunks_mut(&mut next, JOB * n, |first, part| {
                let mut scratch = Scratch::new();
                let mut rates = [0.0; MAX];
                for (k, out) in part.chunks_mut(n).enumerate() {
                    let b = first / n + k;
                    rate.rate::<F>(grid, b, &mut scratch, &mut rates[..n]);
                    for (i, (out, now)) in out.iter_mut().zip(grid.block(b)).enumerate() {
                        let moved = now + dt * rates[i];
                        let value = if keep > 0.0 { keep * old[b * n + i] + take * moved } else { moved };
                        *out = value.clamp(-limit, limit);
                    }
                }
            });
            self.swap_values(&mut next);
        }
        let before = if time == TimeOrder::One { &next } else { &old };
        let (near, now) = (self.frame().spacing as f32, self.values());
        let change = |range: std::ops::Range<usize>| {
            let each = before[range.clone()].iter().zip(&now[range]);
            each.fold(0.0f32, |m, (a, b)| if a.abs() < near { m.max((b - a).abs()) } else { m })
        };
        par::reduce(now.len(), 1 << 16, change, f32::max).unwrap_or(0.0)
    }

    /// The largest value of a function over the stored samples.
    fn largest(&self, f: impl Fn(Vec3) -> f64 + Sync) -> Result<f64, LevelSetError> {
        let edge = self.edge();
        let of_blocks = |range: std::ops::Range<usize>| {
            let mut most = 0.0f64;
            for b in range {
                for i in 0..edge * edge * edge {
                    let x = if edge == 4 {
                        sample_position::<4>(self, b, i)
                    } else {
                        sample_position::<8>(self, b, i)
                    };
                    let v = f(x);
                    most = if v.is_nan() { f64::NAN } else { most.max(v) };
                }
            }
            most
        };
        let worst = |a: f64, b: f64| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) };
        let most = par::reduce(self.blocks().len(), JOB, of_blocks, worst).unwrap_or(0.0);
        if most.is_finite() {
            return Ok(most.max(f64::MIN_POSITIVE));
        }
        let allowed = "finite at every sample of the band";
        Err(LevelSetError::Parameter { of: "motion", name: "speed", value: most, allowed })
    }
}
