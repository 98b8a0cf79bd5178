//! Signs of a block's samples as bits.

use crate::sparse::{FLAGS, INSIDE, SparseGrid};

/// Words of a mask over the samples of a block: one for 4³, eight for 8³.
pub(crate) const WORDS: usize = 8;

/// One bit per sample of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BlockMask(pub(crate) [u64; WORDS]);

impl BlockMask {
    /// Number of bits set before bit `i`.
    #[inline]
    pub(crate) fn rank(&self, i: usize) -> u32 {
        let (word, bit) = (i / 64, i % 64);
        let whole: u32 = self.0[..word].iter().map(|w| w.count_ones()).sum();
        whole + (self.0[word] & ((1u64 << bit) - 1)).count_ones()
    }

    pub(crate) fn count(&self) -> u32 {
        self.0.iter().map(|w| w.count_ones()).sum()
    }

    /// Sets the F bits of the row (y, z).
    #[inline]
    pub(crate) fn set_row<const F: usize>(&mut self, y: usize, z: usize, bits: u32) {
        let at = F * (y + F * z);
        self.0[at / 64] |= u64::from(bits) << (at % 64);
    }

    /// Calls `f` with the number of every bit set, ascending.
    #[inline]
    pub(crate) fn for_each<const F: usize>(&self, mut f: impl FnMut(usize)) {
        for w in 0..F * F * F / 64 {
            let mut bits = self.0[w];
            while bits != 0 {
                f(64 * w + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
        }
    }
}

/// Bit x of row (y, z): whether the sample is inside; F + 1 samples along each axis, the last from the neighbours.
pub(crate) struct SignRows {
    rows: [u32; 81],
}

impl SignRows {
    pub(crate) fn new() -> Self {
        Self { rows: [0; 81] }
    }

    #[inline]
    pub(crate) fn row<const F: usize>(&self, y: usize, z: usize) -> u32 {
        self.rows[y + (F + 1) * z]
    }

    /// Reads the signs of block `b` and its upper neighbours.
    pub(crate) fn gather<const F: usize>(&mut self, grid: &SparseGrid, b: usize) {
        let block = grid.blocks()[b];
        for n in 0..8usize {
            let up = [n & 1, n >> 1 & 1, n >> 2];
            let slot =
                if n == 0 { b as u32 } else { grid.slot(std::array::from_fn(|a| block[a] + up[a] as i32)) };
            let range = |a: usize| if up[a] == 1 { F..F + 1 } else { 0..F };
            for z in range(2) {
                for y in range(1) {
                    let bits = if slot >= FLAGS {
                        if slot == INSIDE { u32::MAX } else { 0 }
                    } else {
                        let at = F * (y % F + F * (z % F));
                        sign_bits::<F>(&grid.block(slot as usize)[at..at + F], up[0] == 1)
                    };
                    let row = &mut self.rows[y + (F + 1) * z];
                    let keep = (1 << F) - 1;
                    *row = if up[0] == 1 { *row & keep | (bits & 1) << F } else { bits & keep };
                }
            }
        }
    }

    /// Whether no cell of the block can hold surface.
    pub(crate) fn uniform<const F: usize>(&self) -> bool {
        let first = self.rows[0];
        (first == 0 || first == (1 << (F + 1)) - 1)
            && self.rows[..(F + 1) * (F + 1)].iter().all(|&r| r == first)
    }
}

#[inline]
fn sign_bits<const F: usize>(row: &[f32], first_only: bool) -> u32 {
    if first_only {
        return u32::from(row[0] < 0.0);
    }
    let mut bits = 0;
    for x in 0..F {
        bits |= u32::from(row[x] < 0.0) << x;
    }
    bits
}
