//! Block-coupled fast sweeping ([Bri03] 6.1).
//!
//! Each block is swept in the eight diagonal orders with its surroundings held; then neighbours whose surroundings
//! changed are swept again, as in domain decomposition. All blocks of a round see the values before the round, so
//! the result does not depend on the number of threads. Magnitudes only fall.

use super::stencil::padded;
use super::{Box1, SparseGrid};
use crate::eikonal::first_order;
use billow_num::par;

/// Rounds before stopping; information crosses a block per round, and a band is a few blocks wide.
const MAX_ROUNDS: usize = 64;
/// Changes below this part of the spacing do not wake neighbours: the rounding of `f32` values.
const REST: f32 = 1e-5;

impl SparseGrid {
    /// Makes all values distances again, first order, keeping the zero set: samples next to the surface are measured
    /// along the axes ([Gue06] 4.5.1), all others are swept.
    pub fn redistance(&mut self) {
        self.reset_to_interface();
        let all: Vec<u32> = (0..self.blocks.len() as u32).collect();
        self.relax(&all, true);
    }

    /// Lowers magnitudes in the given blocks until |∇φ| = 1 holds upwind; with `spread`, in any block reached.
    pub(crate) fn relax(&mut self, first: &[u32], spread: bool) {
        self.relax_by(first, spread, REST);
    }

    /// As [`SparseGrid::relax`], but only where a magnitude falls by at least `least` spacings.
    pub(crate) fn relax_by(&mut self, first: &[u32], spread: bool, least: f32) {
        let mut member = vec![spread; self.blocks.len()];
        for &b in first {
            member[b as usize] = true;
        }
        let mut active = first.to_vec();
        let n = self.layout.block.volume();
        for _ in 0..MAX_ROUNDS {
            if active.is_empty() {
                break;
            }
            let changes = match self.edge() {
                4 => self.sweep_round::<4>(&active, least),
                _ => self.sweep_round::<8>(&active, least),
            };
            let mut next = Vec::new();
            for (b, values) in changes {
                self.values[b as usize * n..(b as usize + 1) * n].copy_from_slice(&values);
                next.push(b);
                for side in 0..6 {
                    let mut at = self.blocks[b as usize];
                    at[side / 2] += if side % 2 == 0 { -1 } else { 1 };
                    let slot = self.directory.get(at);
                    if slot < super::FLAGS && member[slot as usize] {
                        next.push(slot);
                    }
                }
            }
            next.sort_unstable();
            next.dedup();
            active = next;
        }
    }

    /// New values of the active blocks that changed.
    fn sweep_round<const F: usize>(&self, active: &[u32], least: f32) -> Vec<(u32, Vec<f32>)> {
        par::gather(active.len(), 64, |range, out| {
            let mut around = Box1::new();
            for &b in &active[range] {
                around.gather::<F>(self, &self.values, b as usize);
                if sweep_block::<F>(&mut around.values, self.frame.spacing as f32, least) {
                    out.push((b, interior::<F>(&around.values)));
                }
            }
        })
    }

    /// Replaces values next to the surface by distances measured along the axes, all others by ± the half width.
    pub(super) fn reset_to_interface(&mut self) {
        let values = match self.edge() {
            4 => self.interface_values::<4>(),
            _ => self.interface_values::<8>(),
        };
        self.values = values;
    }

    fn interface_values<const F: usize>(&self) -> Vec<f32> {
        let n = F * F * F;
        let mut values = vec![0.0; self.values.len()];
        let far = self.frame.background();
        let h = self.frame.spacing as f32;
        par::chunks_mut(&mut values, 64 * n, |first, part| {
            let mut around = Box1::new();
            for (k, out) in part.chunks_mut(n).enumerate() {
                around.gather::<F>(self, &self.values, first / n + k);
                for (i, out) in out.iter_mut().enumerate() {
                    *out = measure::<F>(&around.values, padded::<F>(i), h, far);
                }
            }
        });
        values
    }
}

/// Distance of a sample with a neighbour of the other sign, the far value for others.
fn measure<const F: usize>(v: &[f32], p: usize, h: f32, far: f32) -> f32 {
    let own = v[p];
    let mut inverse_squares = 0.0;
    for s in [1, F + 2, (F + 2) * (F + 2)] {
        let mut nearest = f32::INFINITY;
        for other in [v[p - s], v[p + s]] {
            if (other < 0.0) != (own < 0.0) {
                nearest = nearest.min(own / (own - other));
            }
        }
        inverse_squares += 1.0 / (nearest * nearest);
    }
    if inverse_squares > 0.0 {
        (h / inverse_squares.sqrt()).min(far).copysign(own)
    } else {
        far.copysign(own)
    }
}

/// Eight sweeps over the inner samples of a padded block; whether any magnitude fell.
fn sweep_block<const F: usize>(v: &mut [f32], h: f32, least: f32) -> bool {
    let mut changed = false;
    for direction in 0..8 {
        let at = |c: usize, bit: usize| if direction >> bit & 1 == 1 { F - c } else { c + 1 };
        for k in 0..F {
            for j in 0..F {
                for i in 0..F {
                    let p = at(i, 0) + (F + 2) * (at(j, 1) + (F + 2) * at(k, 2));
                    changed |= lower::<F>(v, p, h, least);
                }
            }
        }
    }
    changed
}

/// Lowers one magnitude if its neighbours allow it.
#[inline]
fn lower<const F: usize>(v: &mut [f32], p: usize, h: f32, least: f32) -> bool {
    let own = v[p];
    let side = 1f32.copysign(own);
    let strides = [1, F + 2, (F + 2) * (F + 2)];
    let near = strides.map(|s| (side * v[p - s]).min(side * v[p + s]));
    if near[0].min(near[1]).min(near[2]) >= own.abs() {
        return false;
    }
    // A neighbour across the surface leaves this sample to the surface measurement.
    if near.iter().any(|&a| a < 0.0) {
        return false;
    }
    let new = first_order(near.map(f64::from), f64::from(h)) as f32;
    if new < own.abs() - least * h {
        v[p] = side * new;
        return true;
    }
    false
}

fn interior<const F: usize>(v: &[f32]) -> Vec<f32> {
    (0..F * F * F).map(|i| v[padded::<F>(i)]).collect()
}
