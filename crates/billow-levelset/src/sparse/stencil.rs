//! Blocks with their surroundings, gathered so that stencils need no branch per sample.
//!
//! [`Cross3`] holds a block and three layers of its six face neighbours, as lines along each axis: slab `p` of
//! axis `a` is all samples with coordinate `p − 3` along `a`, so a one-dimensional stencil combines whole slabs and
//! the compiler turns it into vector code. [`Box1`] holds a block and one layer all around.

use super::{FLAGS, SparseGrid};

/// Layers a fifth-order stencil reaches.
pub(crate) const REACH: usize = 3;
/// Samples in the largest slab.
const MAX_SLAB: usize = 64;
/// Slabs along an axis for the largest block.
const MAX_SLABS: usize = 8 + 2 * REACH;

/// A slab of up to 8² samples.
pub(crate) type Slab = [f32; MAX_SLAB];

/// A block and three layers of its face neighbours, slab by slab along each axis.
///
/// Within a slab of the x axis samples run over (y, z), of the y axis over (x, z), of the z axis over (x, y), the
/// first named fastest.
pub(crate) struct Cross3 {
    pub(crate) slabs: [[Slab; MAX_SLABS]; 3],
}

impl Cross3 {
    pub(crate) fn new() -> Self {
        Self { slabs: [[[0.0; MAX_SLAB]; MAX_SLABS]; 3] }
    }

    /// Gathers block `b` of `grid` from `values`, which may differ from the grid's own.
    pub(crate) fn gather<const F: usize>(&mut self, grid: &SparseGrid, values: &[f32], b: usize) {
        let n = F * F * F;
        let own = &values[b * n..(b + 1) * n];
        for axis in 0..3 {
            for p in 0..F {
                read_slab::<F>(own, axis, p, &mut self.slabs[axis][p + REACH]);
            }
            for up in [false, true] {
                let mut at = grid.blocks[b];
                at[axis] += if up { 1 } else { -1 };
                let slot = grid.directory.get(at);
                // The three layers of the neighbour that touch this block.
                for l in 0..REACH {
                    let (to, from) = if up { (F + REACH + l, l) } else { (l, F - REACH + l) };
                    let slab = &mut self.slabs[axis][to];
                    if slot >= FLAGS {
                        slab[..F * F].fill(grid.far_value(slot));
                    } else {
                        let s = slot as usize;
                        read_slab::<F>(&values[s * n..(s + 1) * n], axis, from, slab);
                    }
                }
            }
        }
    }
}

/// Copies the slab at coordinate `p` along `axis` out of a block.
#[inline(always)]
fn read_slab<const F: usize>(block: &[f32], axis: usize, p: usize, slab: &mut Slab) {
    match axis {
        0 => {
            for l in 0..F * F {
                slab[l] = block[p + F * l];
            }
        }
        1 => {
            for z in 0..F {
                for x in 0..F {
                    slab[x + F * z] = block[x + F * (p + F * z)];
                }
            }
        }
        _ => slab[..F * F].copy_from_slice(&block[F * F * p..F * F * (p + 1)]),
    }
}

/// Adds (by `f`) the slab at coordinate `p` along `axis` to a block.
#[inline(always)]
pub(crate) fn update_by_slab<const F: usize>(
    block: &mut [f32],
    axis: usize,
    p: usize,
    slab: &Slab,
    f: impl Fn(&mut f32, f32),
) {
    match axis {
        0 => {
            for l in 0..F * F {
                f(&mut block[p + F * l], slab[l]);
            }
        }
        1 => {
            for z in 0..F {
                for x in 0..F {
                    f(&mut block[x + F * (p + F * z)], slab[x + F * z]);
                }
            }
        }
        _ => {
            for l in 0..F * F {
                f(&mut block[F * F * p + l], slab[l]);
            }
        }
    }
}

/// Samples of the largest box: 8 + 2 along each edge.
const MAX_BOX: usize = 1000;

/// A block and one layer of samples all around, x fastest, (F + 2)³ of them.
pub(crate) struct Box1 {
    pub(crate) values: [f32; MAX_BOX],
}

impl Box1 {
    pub(crate) fn new() -> Self {
        Self { values: [0.0; MAX_BOX] }
    }

    /// Gathers block `b` of `grid` from `values`, which may differ from the grid's own.
    pub(crate) fn gather<const F: usize>(&mut self, grid: &SparseGrid, values: &[f32], b: usize) {
        for n in 0..27 {
            let side = [n % 3, n / 3 % 3, n / 9];
            self.gather_part::<F>(grid, values, b, side);
        }
    }

    /// Gathers only the block itself and the layers in the positive directions: what cells need.
    pub(crate) fn gather_upper<const F: usize>(&mut self, grid: &SparseGrid, values: &[f32], b: usize) {
        for n in 0..8 {
            self.gather_part::<F>(grid, values, b, [1 + (n & 1), 1 + (n >> 1 & 1), 1 + (n >> 2)]);
        }
    }

    /// Copies what the neighbour on one of the 27 sides (0 below, 1 here, 2 above) contributes.
    #[inline(always)]
    fn gather_part<const F: usize>(&mut self, grid: &SparseGrid, values: &[f32], b: usize, side: [usize; 3]) {
        let block = grid.blocks[b];
        let slot = if side == [1; 3] {
            b as u32
        } else {
            grid.directory.get(std::array::from_fn(|a| block[a] + side[a] as i32 - 1))
        };
        // Range in the box, and the first sample of the neighbour it shows.
        let range = |s: usize| [(0, 1, F - 1), (1, F + 1, 0), (F + 1, F + 2, 0)][s];
        let [(x0, x1, fx), (y0, y1, fy), (z0, z1, fz)] = side.map(range);
        let n = F * F * F;
        for z in z0..z1 {
            for y in y0..y1 {
                let row = (F + 2) * (y + (F + 2) * z);
                let to = &mut self.values[row + x0..row + x1];
                if slot >= FLAGS {
                    to.fill(grid.far_value(slot));
                } else {
                    let from = slot as usize * n + fx + F * (fy + y - y0 + F * (fz + z - z0));
                    to.copy_from_slice(&values[from..from + x1 - x0]);
                }
            }
        }
    }
}
