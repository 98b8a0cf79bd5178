//! One bit per sample of a block, and the signs of a whole grid in that form.
//!
//! Bits run x fastest, then y, then z: one word holds a block of 4³, eight words (one per z) a block of 8³. Shifting
//! a block's signs by one sample, with the neighbour's first layer moved in, shows at once for all cells of
//! the block what one of their corners is.

use crate::sparse::{FLAGS, INSIDE, SparseGrid};
use billow_num::par;

/// Bits of a block with `W` words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mask<const W: usize>(pub(super) [u64; W]);

impl<const W: usize> Mask<W> {
    pub(super) const NONE: Self = Self([0; W]);
    const ALL: Self = Self([u64::MAX; W]);

    /// Combines two masks bit by bit.
    #[inline(always)]
    pub(super) fn with(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|w| f(self.0[w], other.0[w])))
    }

    /// Number of bits set.
    #[inline]
    pub(super) fn count(&self) -> u32 {
        self.0.iter().map(|w| w.count_ones()).sum()
    }

    /// Number of bits set before bit `i`.
    #[inline]
    pub(super) fn rank(&self, i: usize) -> u32 {
        let (word, bit) = (i / 64, i % 64);
        let whole: u32 = self.0[..word].iter().map(|w| w.count_ones()).sum();
        whole + (self.0[word] & ((1u64 << bit) - 1)).count_ones()
    }

    /// Calls `f` with the number of every bit set, ascending.
    #[inline(always)]
    pub(super) fn for_each(&self, mut f: impl FnMut(usize)) {
        for (w, &word) in self.0.iter().enumerate() {
            let mut bits = word;
            while bits != 0 {
                f(64 * w + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
        }
    }

    /// The bits whose coordinate along `axis` is 0.
    #[inline(always)]
    pub(super) fn first_layer<const F: usize>(axis: usize) -> Self {
        match (F, axis) {
            (4, 0) => Self([0x1111_1111_1111_1111; W]),
            (4, 1) => Self([0x000F_000F_000F_000F; W]),
            (4, _) => Self([0xFFFF; W]),
            (_, 0) => Self([0x0101_0101_0101_0101; W]),
            (_, 1) => Self([0xFF; W]),
            _ => Self(std::array::from_fn(|w| if w == 0 { u64::MAX } else { 0 })),
        }
    }

    /// The bits one sample further along `axis`; those of `next`, the neighbour there, move in.
    #[inline(always)]
    pub(super) fn ahead<const F: usize>(self, next: Self, axis: usize) -> Self {
        if F == 8 && axis == 2 {
            return Self(std::array::from_fn(|w| if w + 1 < W { self.0[w + 1] } else { next.0[0] }));
        }
        let step = F.pow(axis as u32) as u32;
        let back = step * (F as u32 - 1);
        let first = Self::first_layer::<F>(axis).0[0];
        // What moves below the first layer belongs to the row before.
        self.with(next, |own, next| own >> step & !(first << back) | (next & first) << back)
    }
}

/// Which samples of a grid are inside, block by block. Zero counts as outside.
pub(super) struct Signs<const W: usize>(Vec<Mask<W>>);

impl<const W: usize> Signs<W> {
    pub(super) fn of(grid: &SparseGrid) -> Self {
        Self(par::map(grid.blocks().len(), |b| {
            let values = grid.block(b);
            Mask(std::array::from_fn(|w| pack(&values[64 * w..64 * (w + 1)])))
        }))
    }

    #[inline]
    fn of_slot(&self, slot: u32) -> Mask<W> {
        match slot {
            INSIDE => Mask::ALL,
            slot if slot >= FLAGS => Mask::NONE,
            slot => self.0[slot as usize],
        }
    }

    /// The eight corners of all cells of a block whose upper neighbours are `near` (bits x, y, z; itself first).
    #[inline]
    pub(super) fn corners<const F: usize>(&self, near: &[u32; 8]) -> [Mask<W>; 8] {
        let mut corner = near.map(|slot| self.of_slot(slot));
        for axis in 0..3 {
            // Corner n stands for the blocks ahead of n's zero bits too: after the last axis all are shifted.
            let old = corner;
            for n in (0..8).filter(|n| n >> axis & 1 == 1) {
                corner[n] = old[n & !(1 << axis)].ahead::<F>(old[n], axis);
            }
        }
        corner
    }
}

/// Bit i: whether value i of 64 is below zero.
#[inline]
fn pack(values: &[f32]) -> u64 {
    let mut word = 0;
    for (byte, eight) in values.chunks_exact(8).enumerate() {
        let bits = (0..8).fold(0u64, |bits, i| bits | u64::from(eight[i] < 0.0) << i);
        word |= bits << (8 * byte);
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bits ahead, one by one.
    fn plain<const F: usize, const W: usize>(own: Mask<W>, next: Mask<W>, axis: usize) -> Mask<W> {
        let mut out = Mask::NONE;
        for i in 0..F * F * F {
            let mut c = [i % F, i / F % F, i / (F * F)];
            c[axis] += 1;
            let from = if c[axis] == F { next } else { own };
            c[axis] %= F;
            let j = c[0] + F * (c[1] + F * c[2]);
            out.0[i / 64] |= (from.0[j / 64] >> (j % 64) & 1) << (i % 64);
        }
        out
    }

    fn check<const F: usize, const W: usize>() {
        let mut state = 7u64;
        let mut noise = || {
            Mask::<W>(std::array::from_fn(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                state ^ state >> 29
            }))
        };
        for _ in 0..50 {
            let (own, next) = (noise(), noise());
            for axis in 0..3 {
                assert_eq!(own.ahead::<F>(next, axis), plain::<F, W>(own, next, axis), "{F} {axis}");
            }
            let mut seen = 0;
            own.for_each(|i| {
                assert_eq!(own.rank(i), seen);
                seen += 1;
            });
            assert_eq!(own.count(), seen);
        }
    }

    #[test]
    fn shifted_blocks_show_the_next_samples() {
        check::<4, 1>();
        check::<8, 8>();
    }
}
