//! Right-hand sides φₜ = rate(φ) on the blocks of sparse grids.

use super::anchor::measured;
use super::weno::weno5_f32;
use crate::sparse::{Box1, Box3, Cross3, REACH, Slab, SparseGrid, update_by_slab};
use billow_num::{Vec3, par};

/// Blocks per parallel job.
const JOB: usize = 64;
/// Samples of the largest block.
pub(super) const MAX: usize = 512;

/// Scratch of one job.
pub(super) struct Scratch {
    cross: Cross3,
    around: Box1,
    wide: Box3,
    /// One-sided slopes below and above, per axis, in the block's order.
    slopes: [[[f32; MAX]; 2]; 3],
}

impl Scratch {
    pub(super) fn new() -> Self {
        Self { cross: Cross3::new(), around: Box1::new(), wide: Box3::new(), slopes: [[[0.0; MAX]; 2]; 3] }
    }
}

/// A right-hand side φₜ = rate(φ).
pub(super) trait Rate: Sync {
    /// Writes the rates of block `b` [m/s].
    fn rate<const F: usize>(&self, grid: &SparseGrid, b: usize, s: &mut Scratch, out: &mut [f32]);
}

/// φₜ = S(φ)(1 − |∇φ|), S = φ/√(φ² + |∇φ|²h²), with the samples next to the surface held.
pub(super) struct Renormalise {
    /// One bit per sample.
    held: Vec<u64>,
}

impl Renormalise {
    /// Sets samples next to the surface to their distance, to be held.
    pub(super) fn anchored(grid: &mut SparseGrid) -> Self {
        let found = match grid.edge() {
            4 => measure_blocks::<4>(grid),
            _ => measure_blocks::<8>(grid),
        };
        let values = grid.values_mut();
        let mut held = vec![0; values.len() / 64];
        for (i, distance) in found {
            values[i as usize] = distance;
            held[i as usize / 64] |= 1 << (i % 64);
        }
        Self { held }
    }
}

/// The distances of samples next to the surface that can be measured, and their numbers.
fn measure_blocks<const F: usize>(grid: &SparseGrid) -> Vec<(u64, f32)> {
    let h = grid.frame().spacing;
    // Next to the surface magnitudes are at most the spacing times a slope that is seldom above two.
    let near = 2.0 * h as f32;
    // What was cut off at the end of the band has since moved into it by up to a step.
    let limit = f64::from(grid.frame().background()) - h;
    par::gather(grid.blocks().len(), JOB, |range, out| {
        let mut s = Scratch::new();
        for b in range {
            let block = grid.block(b);
            if block.iter().all(|v| v.abs() > near) {
                continue;
            }
            s.around.gather::<F>(grid, grid.values(), b);
            let crossed = |i: &usize| block[*i].abs() <= near && s.around.crossed::<F>(*i);
            let Some(first) = (0..F * F * F).find(crossed) else { continue };
            s.cross.gather::<F>(grid, grid.values(), b);
            for i in (first..F * F * F).filter(crossed) {
                let at = |o: [i32; 3]| f64::from(s.around.value::<F>(i, o));
                let along = |axis: usize, by: i32| f64::from(s.cross.value::<F>(i, axis, by));
                let distance = measured(h, limit, at, along);
                out.extend(distance.map(|d| ((b * F * F * F + i) as u64, d as f32)));
            }
        }
    })
}

impl Rate for Renormalise {
    fn rate<const F: usize>(&self, grid: &SparseGrid, b: usize, s: &mut Scratch, out: &mut [f32]) {
        let h = grid.frame().spacing as f32;
        let own = grid.block(b);
        s.cross.gather::<F>(grid, grid.values(), b);
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
        for (w, word) in self.held[b * F * F * F / 64..(b + 1) * F * F * F / 64].iter().enumerate() {
            let mut bits = *word;
            while bits != 0 {
                out[64 * w + bits.trailing_zeros() as usize] = 0.0;
                bits &= bits - 1;
            }
        }
    }
}

/// One-sided slopes below and above the sample of slab `p` and place `l`.
#[inline(always)]
fn sides(slabs: &[Slab], p: usize, l: usize, inverse_h: f32) -> [f32; 2] {
    let v: [f32; 7] = std::array::from_fn(|i| slabs[p + i][l]);
    let d: [f32; 6] = std::array::from_fn(|i| (v[i + 1] - v[i]) * inverse_h);
    [weno5_f32([d[0], d[1], d[2], d[3], d[4]]), weno5_f32([d[5], d[4], d[3], d[2], d[1]])]
}

/// Godunov's square of the slope along an axis, for motion away from the zero set.
#[inline(always)]
fn upwind_squares<const F: usize>(slabs: &[Slab], p: usize, inverse_h: f32) -> Slab {
    let mut squares = [0.0; 64];
    for l in 0..F * F {
        let [below, above] = sides(slabs, p, l, inverse_h);
        let side = if slabs[p + REACH][l] < 0.0 { -1.0 } else { 1.0 };
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
                [below[l], above[l]] = sides(slabs, p, l, inverse_h);
            }
            update_by_slab::<F>(&mut s.slopes[axis][0], axis, p, &below, |out, v| *out = v);
            update_by_slab::<F>(&mut s.slopes[axis][1], axis, p, &above, |out, v| *out = v);
        }
    }
}

/// φₜ = −a|∇φ| with the speed a a function of position.
pub(super) struct Normal<'a> {
    pub(super) speed: &'a (dyn Fn(Vec3) -> f64 + Sync),
}

impl Rate for Normal<'_> {
    fn rate<const F: usize>(&self, grid: &SparseGrid, b: usize, s: &mut Scratch, out: &mut [f32]) {
        s.cross.gather::<F>(grid, grid.values(), b);
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
pub(super) struct Flow<'a> {
    pub(super) velocity: &'a (dyn Fn(Vec3) -> Vec3 + Sync),
}

impl Rate for Flow<'_> {
    fn rate<const F: usize>(&self, grid: &SparseGrid, b: usize, s: &mut Scratch, out: &mut [f32]) {
        s.cross.gather::<F>(grid, grid.values(), b);
        one_sided_slopes::<F>(s, 1.0 / grid.frame().spacing as f32);
        for (i, rate) in out.iter_mut().enumerate() {
            let u = (self.velocity)(sample_position::<F>(grid, b, i)).to_array();
            *rate = -(0..3).map(|a| u[a] as f32 * s.slopes[a][usize::from(u[a] < 0.0)][i]).sum::<f32>();
        }
    }
}

/// φₜ = b κ|∇φ|, with κ limited to what the grid can show, 2/h.
///
/// Farther than a sample from the surface κ is taken from where the surface is nearest. Distances then stay distances,
/// and differences never touch values cut off at the end of the band, whose error would diffuse to the surface.
pub(super) struct Curvature<'a> {
    pub(super) strength: f64,
    pub(super) weight: Option<&'a (dyn Fn(Vec3) -> f64 + Sync)>,
}

impl Rate for Curvature<'_> {
    fn rate<const F: usize>(&self, grid: &SparseGrid, b: usize, s: &mut Scratch, out: &mut [f32]) {
        s.wide.gather::<F>(grid, grid.values(), b);
        let h = grid.frame().spacing as f32;
        let limit = grid.frame().background();
        let v = &s.wide.values;
        for (i, rate) in out.iter_mut().enumerate() {
            let p = Box3::index::<F>(i);
            // Values cut off wait for the reinitialisation to bring them into the band.
            *rate = if v[p].abs() < limit {
                self.strength as f32 * bending::<F>(v, towards_surface::<F>(v, p, h), h)
            } else {
                0.0
            };
        }
        if let Some(weight) = self.weight {
            for (i, rate) in out.iter_mut().enumerate() {
                *rate *= weight(sample_position::<F>(grid, b, i)) as f32;
            }
        }
    }
}

/// The sample next to the surface on the way there from `p`, at most two samples away along each axis.
#[inline]
fn towards_surface<const F: usize>(v: &[f32], p: usize, h: f32) -> usize {
    let own = v[p].abs();
    if own <= h {
        return p;
    }
    let strides = Box3::strides::<F>();
    let side = 1f32.copysign(v[p]);
    // Down the upwind slope: towards the smaller neighbour along each axis.
    let fall = strides.map(|s| {
        let (low, high) = (own - side * v[p - s], own - side * v[p + s]);
        if high > low { high.max(0.0) } else { -low.max(0.0) }
    });
    let length = (fall[0] * fall[0] + fall[1] * fall[1] + fall[2] * fall[2]).sqrt();
    if length == 0.0 {
        return p;
    }
    // Half a sample short of the surface.
    let scale = (own / h - 0.5) / length;
    let mut q = p as isize;
    for a in 0..3 {
        q += (fall[a] * scale).clamp(-2.0, 2.0).round_ties_even() as isize * strides[a] as isize;
    }
    q as usize
}

/// κ|∇φ| = (|g|² tr H − gᵀHg)/|g|² at a sample.
#[inline]
fn bending<const F: usize>(v: &[f32], p: usize, h: f32) -> f32 {
    let [sx, sy, sz] = Box3::strides::<F>();
    let (first, second) = (0.5 / h, 1.0 / (h * h));
    let c = 2.0 * v[p];
    let (gx, gy, gz) =
        ((v[p + sx] - v[p - sx]) * first, (v[p + sy] - v[p - sy]) * first, (v[p + sz] - v[p - sz]) * first);
    let (xx, yy, zz) = (
        (v[p + sx] + v[p - sx] - c) * second,
        (v[p + sy] + v[p - sy] - c) * second,
        (v[p + sz] + v[p - sz] - c) * second,
    );
    let mixed =
        |s: usize, t: usize| (v[p + s + t] + v[p - s - t] - v[p + s - t] - v[p - s + t]) * (0.25 * second);
    let (xy, xz, yz) = (mixed(sx, sy), mixed(sx, sz), mixed(sy, sz));
    let g2 = gx * gx + gy * gy + gz * gz;
    let bend = gx * gx * (yy + zz) + gy * gy * (xx + zz) + gz * gz * (xx + yy)
        - 2.0 * (gx * gy * xy + gx * gz * xz + gy * gz * yz);
    let rate = if g2 > 1e-6 { bend / g2 } else { 0.0 };
    let limit = 2.0 / h * g2.sqrt();
    rate.clamp(-limit, limit)
}

/// Position of sample `i` of block `b` [m].
#[inline]
pub(super) fn sample_position<const F: usize>(grid: &SparseGrid, b: usize, i: usize) -> Vec3 {
    let c = [i % F, i / F % F, i / (F * F)];
    let block = grid.blocks()[b];
    grid.frame().position(std::array::from_fn(|a| block[a] * F as i32 + c[a] as i32))
}
