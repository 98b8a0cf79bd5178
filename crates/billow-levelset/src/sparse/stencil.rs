//! Blocks with their surroundings, gathered so that stencils need no branch per sample.
//!
//! [`Cross3`] holds a block and three layers of its six face neighbours, as lines along each axis: slab `p` of
//! axis `a` is all samples with coordinate `p − 3` along `a`, so a one-dimensional stencil combines whole slabs and
//! the compiler turns it into vector code. [`Box1`] and [`Box3`] hold a block and one or three layers all around.

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

impl Cross3 {
    /// Value `by` samples (three at most) along `axis` from sample `i` of the block.
    #[inline(always)]
    pub(crate) fn value<const F: usize>(&self, i: usize, axis: usize, by: i32) -> f32 {
        let c = [i % F, i / F % F, i / (F * F)];
        let place = [c[1] + F * c[2], c[0] + F * c[2], c[0] + F * c[1]][axis];
        self.slabs[axis][(c[axis] + REACH).wrapping_add_signed(by as isize)][place]
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

/// Number of sample `i` of a block within the padded box.
#[inline(always)]
pub(crate) fn padded<const F: usize>(i: usize) -> usize {
    let (x, y, z) = (i % F, i / F % F, i / (F * F));
    x + 1 + (F + 2) * (y + 1 + (F + 2) * (z + 1))
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
        gather_box::<F, 1>(&mut self.values, grid, values, b);
    }

    /// Value at an offset of at most one sample along each axis from sample `i` of the block.
    #[inline(always)]
    pub(crate) fn value<const F: usize>(&self, i: usize, offset: [i32; 3]) -> f32 {
        let g = F as i32 + 2;
        self.values
            [padded::<F>(i).wrapping_add_signed((offset[0] + g * (offset[1] + g * offset[2])) as isize)]
    }

    /// Whether a face neighbour of sample `i` of the block has the other sign.
    #[inline(always)]
    pub(crate) fn crossed<const F: usize>(&self, i: usize) -> bool {
        let p = padded::<F>(i);
        let inside = self.values[p] < 0.0;
        let differs = |q: usize| (self.values[q] < 0.0) != inside;
        [1, F + 2, (F + 2) * (F + 2)].into_iter().any(|s| differs(p - s) || differs(p + s))
    }
}

/// Samples of the largest wide box: 8 + 6 along each edge.
const MAX_WIDE: usize = 2744;

/// A block and three layers of samples all around, x fastest, (F + 6)³ of them.
pub(crate) struct Box3 {
    pub(crate) values: [f32; MAX_WIDE],
}

impl Box3 {
    pub(crate) fn new() -> Self {
        Self { values: [0.0; MAX_WIDE] }
    }

    /// Gathers block `b` of `grid` from `values`, which may differ from the grid's own.
    pub(crate) fn gather<const F: usize>(&mut self, grid: &SparseGrid, values: &[f32], b: usize) {
        gather_box::<F, REACH>(&mut self.values, grid, values, b);
    }

    /// Distances between neighbours along x, y and z.
    #[inline(always)]
    pub(crate) fn strides<const F: usize>() -> [usize; 3] {
        let g = F + 2 * REACH;
        [1, g, g * g]
    }

    /// Number of sample `i` of the block within the box.
    #[inline(always)]
    pub(crate) fn index<const F: usize>(i: usize) -> usize {
        let [x, y, z] = Self::strides::<F>();
        (i % F + REACH) * x + (i / F % F + REACH) * y + (i / (F * F) + REACH) * z
    }
}

/// Copies a block and `R` layers around it, (F + 2R)³ values.
fn gather_box<const F: usize, const R: usize>(to: &mut [f32], grid: &SparseGrid, values: &[f32], b: usize) {
    let (g, n) = (F + 2 * R, F * F * F);
    let block = grid.blocks[b];
    // First place in the box, how many, and the first sample of the neighbour shown: below, here and above.
    let ranges = [(0, R, F - R), (R, F, 0), (R + F, R, 0)];
    for side in 0..27 {
        let side = [side % 3, side / 3 % 3, side / 9];
        let slot = grid.directory.get(std::array::from_fn(|a| block[a] + side[a] as i32 - 1));
        let from =
            if slot < FLAGS { Some(&values[slot as usize * n..(slot as usize + 1) * n]) } else { None };
        let far = grid.far_value(slot);
        let [(x, _, fx), (y0, ny, fy), (z0, nz, fz)] = side.map(|s| ranges[s]);
        for z in 0..nz {
            for y in 0..ny {
                let to = &mut to[x + g * (y0 + y + g * (z0 + z))..];
                let from = from.map(|v| &v[fx + F * (fy + y + F * (fz + z))..]);
                if side[0] == 1 { copy::<F>(to, from, far) } else { copy::<R>(to, from, far) }
            }
        }
    }
}

/// Copies `N` values, or `far` where there are none; the known length makes it a few moves.
#[inline(always)]
fn copy<const N: usize>(to: &mut [f32], from: Option<&[f32]>, far: f32) {
    match from {
        Some(from) => {
            for (to, from) in to[..N].iter_mut().zip(&from[..N]) {
                *to = *from;
            }
        }
        None => to[..N].fill(far),
    }
}
