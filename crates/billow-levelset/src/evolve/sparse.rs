//! Evolution on sparse grids, block by block.

use super::weno::weno5_f32;
use super::{Evolution, EvolutionReport, Reinit, TimeOrder, equal_steps};
use crate::LevelSetError;
use crate::sparse::{Box1, Cross3, REACH, Slab, SparseGrid, update_by_slab};
use billow_num::{Vec3, par};

/// Blocks per parallel job.
const JOB: usize = 64;
/// How far the surface may move before blocks and distances are brought up to date [spacings].
const DRIFT: f32 = 0.3;
/// Samples of the largest block.
const MAX: usize = 512;

/// Scratch of one job.
struct Scratch {
    cross: Cross3,
    around: Box1,
    /// One-sided slopes below and above, per axis, in the block's order.
    slopes: [[[f32; MAX]; 2]; 3],
}

impl Scratch {
    fn new() -> Self {
        Self { cross: Cross3::new(), around: Box1::new(), slopes: [[[0.0; MAX]; 2]; 3] }
    }
}

/// A right-hand side φₜ = rate(φ).
trait Rate: Sync {
    /// Writes the rates of block `b` of `values` [m/s].
    fn rate<const F: usize>(
        &self,
        grid: &SparseGrid,
        values: &[f32],
        b: usize,
        s: &mut Scratch,
        out: &mut [f32],
    );
}

/// φₜ = S(φ₀)(1 − |∇φ|), S = φ/√(φ² + |∇φ|²h²).
struct Renormalise;

impl Rate for Renormalise {
    fn rate<const F: usize>(
        &self,
        grid: &SparseGrid,
        values: &[f32],
        b: usize,
        s: &mut Scratch,
        out: &mut [f32],
    ) {
        let h = grid.frame().spacing as f32;
        let own = &values[b * F * F * F..(b + 1) * F * F * F];
        s.cross.gather::<F>(grid, values, b);
        out.fill(0.0);
        for axis in 0..3 {
            for p in 0..F {
                let squares = upwind_squares::<F>(&s.cross.slabs[axis], p, 1.0 / h);
                update_by_slab::<F>(out, axis, p, &squares, |sum, g| *sum += g);
            }
        }
        for (rate, &phi) in out.iter_mut().zip(own) {
            let g2 = *rate;
            *rate = phi / (phi * phi + g2 * h * h + f32::MIN_POSITIVE).sqrt() * (1.0 - g2.sqrt());
        }
    }
}

/// Godunov's square of the slope along an axis, for motion away from the zero set.
#[inline(always)]
fn upwind_squares<const F: usize>(slabs: &[Slab], p: usize, inverse_h: f32) -> Slab {
    let mut squares = [0.0; 64];
    for l in 0..F * F {
        let v: [f32; 7] = std::array::from_fn(|i| slabs[p + i][l]);
        let d: [f32; 6] = std::array::from_fn(|i| (v[i + 1] - v[i]) * inverse_h);
        let below = weno5_f32([d[0], d[1], d[2], d[3], d[4]]);
        let above = weno5_f32([d[5], d[4], d[3], d[2], d[1]]);
        let side = if v[REACH] < 0.0 { -1.0 } else { 1.0 };
        let (a, b) = ((side * below).max(0.0), (-side * above).max(0.0));
        let g = if a > b { a } else { b };
        squares[l] = g * g;
    }
    squares
}

/// Fills the one-sided slopes of a block.
#[inline(always)]
fn one_sided_slopes<const F: usize>(s: &mut Scratch, inverse_h: f32) {
    for axis in 0..3 {
        for p in 0..F {
            let slabs = &s.cross.slabs[axis];
            let (mut below, mut above) = ([0.0; 64], [0.0; 64]);
            for l in 0..F * F {
                let v: [f32; 7] = std::array::from_fn(|i| slabs[p + i][l]);
                let d: [f32; 6] = std::array::from_fn(|i| (v[i + 1] - v[i]) * inverse_h);
                below[l] = weno5_f32([d[0], d[1], d[2], d[3], d[4]]);
                above[l] = weno5_f32([d[5], d[4], d[3], d[2], d[1]]);
            }
            update_by_slab::<F>(&mut s.slopes[axis][0], axis, p, &below, |out, v| *out = v);
            update_by_slab::<F>(&mut s.slopes[axis][1], axis, p, &above, |out, v| *out = v);
        }
    }
}

/// φₜ = −a|∇φ| with the speed a a function of position.
struct Normal<'a> {
    speed: &'a (dyn Fn(Vec3) -> f64 + Sync),
}

impl Rate for Normal<'_> {
    fn rate<const F: usize>(
        &self,
        grid: &SparseGrid,
        values: &[f32],
        b: usize,
        s: &mut Scratch,
        out: &mut [f32],
    ) {
        s.cross.gather::<F>(grid, values, b);
        one_sided_slopes::<F>(s, 1.0 / grid.frame().spacing as f32);
        for (i, rate) in out.iter_mut().enumerate() {
            let a = (self.speed)(sample_position::<F>(grid, b, i)) as f32;
            let side = 1f32.copysign(a);
            let squares = |axis: usize| {
                let [below, above] = &s.slopes[axis];
                let g = (side * below[i]).max(0.0).max((-side * above[i]).max(0.0));
                g * g
            };
            *rate = -a * (squares(0) + squares(1) + squares(2)).sqrt();
        }
    }
}

/// φₜ = −u·∇φ.
struct Flow<'a> {
    velocity: &'a (dyn Fn(Vec3) -> Vec3 + Sync),
}

impl Rate for Flow<'_> {
    fn rate<const F: usize>(
        &self,
        grid: &SparseGrid,
        values: &[f32],
        b: usize,
        s: &mut Scratch,
        out: &mut [f32],
    ) {
        s.cross.gather::<F>(grid, values, b);
        one_sided_slopes::<F>(s, 1.0 / grid.frame().spacing as f32);
        for (i, rate) in out.iter_mut().enumerate() {
            let u = (self.velocity)(sample_position::<F>(grid, b, i)).to_array();
            *rate = -(0..3).map(|a| u[a] as f32 * s.slopes[a][usize::from(u[a] < 0.0)][i]).sum::<f32>();
        }
    }
}

/// φₜ = b κ|∇φ|, with κ limited to what the grid can show, 2/h.
struct Curvature<'a> {
    strength: f64,
    weight: Option<&'a (dyn Fn(Vec3) -> f64 + Sync)>,
}

impl Rate for Curvature<'_> {
    fn rate<const F: usize>(
        &self,
        grid: &SparseGrid,
        values: &[f32],
        b: usize,
        s: &mut Scratch,
        out: &mut [f32],
    ) {
        s.around.gather::<F>(grid, values, b);
        let h = grid.frame().spacing as f32;
        let strength = self.strength as f32;
        curvature_rates::<F>(&s.around.values, h, strength, out);
        if let Some(weight) = self.weight {
            for (i, rate) in out.iter_mut().enumerate() {
                *rate *= weight(sample_position::<F>(grid, b, i)) as f32;
            }
        }
    }
}

/// κ|∇φ| = (|g|² tr H − gᵀHg)/|g|² at every sample of a block, times `strength`.
fn curvature_rates<const F: usize>(v: &[f32], h: f32, strength: f32, out: &mut [f32]) {
    let (sx, sy, sz) = (1, F + 2, (F + 2) * (F + 2));
    let (first, second) = (0.5 / h, 1.0 / (h * h));
    for z in 0..F {
        for y in 0..F {
            let row = 1 + (F + 2) * (y + 1 + (F + 2) * (z + 1));
            for x in 0..F {
                let p = row + x;
                let c = 2.0 * v[p];
                let (gx, gy, gz) = (
                    (v[p + sx] - v[p - sx]) * first,
                    (v[p + sy] - v[p - sy]) * first,
                    (v[p + sz] - v[p - sz]) * first,
                );
                let (xx, yy, zz) = (
                    (v[p + sx] + v[p - sx] - c) * second,
                    (v[p + sy] + v[p - sy] - c) * second,
                    (v[p + sz] + v[p - sz] - c) * second,
                );
                let mixed = |s: usize, t: usize| {
                    (v[p + s + t] + v[p - s - t] - v[p + s - t] - v[p - s + t]) * (0.25 * second)
                };
                let (xy, xz, yz) = (mixed(sx, sy), mixed(sx, sz), mixed(sy, sz));
                let g2 = gx * gx + gy * gy + gz * gz;
                let bend = gx * gx * (yy + zz) + gy * gy * (xx + zz) + gz * gz * (xx + yy)
                    - 2.0 * (gx * gy * xy + gx * gz * xz + gy * gz * yz);
                let rate = if g2 > 1e-6 { bend / g2 } else { 0.0 };
                let limit = 2.0 / h * g2.sqrt();
                out[x + F * (y + F * z)] = strength * rate.clamp(-limit, limit);
            }
        }
    }
}

/// Position of sample `i` of block `b` [m].
#[inline]
fn sample_position<const F: usize>(grid: &SparseGrid, b: usize, i: usize) -> Vec3 {
    let c = [i % F, i / F % F, i / (F * F)];
    let block = grid.blocks()[b];
    grid.frame().position(std::array::from_fn(|a| block[a] * F as i32 + c[a] as i32))
}

impl SparseGrid {
    /// Moves values towards a signed distance without moving the zero set, by PDE reinitialisation with WENO
    /// differences.
    pub fn reinitialise(&mut self, settings: &Reinit) -> Result<(), LevelSetError> {
        settings.validated()?;
        let dt = settings.cfl * self.frame().spacing;
        for _ in 0..settings.steps {
            self.step(&Renormalise, dt, settings.time);
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
                    rate.rate::<F>(grid, grid.values(), b, &mut scratch, &mut rates[..n]);
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
