//! Keeping the blocks where the surface is ([Bri03] 6.1).
//!
//! A block farther than the half width from the surface is released and becomes a flag with the sign of its
//! values. Where the border of a block is well inside the band and its neighbour is missing, the neighbour is
//! allocated and filled by sweeping; existing blocks are its boundary conditions and are not changed.

use super::{FLAGS, INSIDE, OUTSIDE, SparseGrid, extent_of};
use billow_num::par;

/// What [`SparseGrid::track`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrackReport {
    /// Blocks allocated.
    pub allocated: usize,
    /// Blocks released.
    pub released: usize,
    /// Rounds of allocation until the band was full.
    pub rounds: usize,
}

/// Rounds of allocation before giving up on reaching the full width; a block is at least four samples wide, so
/// bands up to 64 samples fill in fewer.
const MAX_ROUNDS: usize = 24;

impl SparseGrid {
    /// Follows the surface after values changed: clamps to the band, allocates and fills missing blocks, releases
    /// those no longer near.
    pub fn track(&mut self) -> TrackReport {
        self.clamp_to_band();
        let mut report = TrackReport::default();
        while report.rounds < MAX_ROUNDS {
            let missing = self.missing_blocks();
            if missing.is_empty() {
                break;
            }
            report.rounds += 1;
            report.allocated += missing.len();
            let fresh: Vec<u32> = missing.into_iter().map(|b| self.push_block(b) as u32).collect();
            self.relax(&fresh, false);
        }
        report.released = self.release_far_blocks();
        report
    }

    /// Cuts all values to ± the half width.
    fn clamp_to_band(&mut self) {
        let limit = self.frame.background();
        par::chunks_mut(&mut self.values, 1 << 14, |_, part| {
            for v in part {
                *v = v.clamp(-limit, limit);
            }
        });
    }

    /// Unpopulated face neighbours of blocks whose border there is in the band by at least one spacing.
    fn missing_blocks(&self) -> Vec<[i32; 3]> {
        let near = self.frame.background() - self.frame.spacing as f32 * 1.0001;
        let mut missing = par::gather(self.blocks.len(), 256, |range, out| {
            for b in range {
                for axis in 0..3 {
                    for up in [false, true] {
                        let mut at = self.blocks[b];
                        at[axis] += if up { 1 } else { -1 };
                        if self.directory.get(at) >= FLAGS && self.face_is_near(b, axis, up, near) {
                            out.push(at);
                        }
                    }
                }
            }
        });
        missing.sort_unstable_by_key(|&[x, y, z]| [z, y, x]);
        missing.dedup();
        missing
    }

    fn face_is_near(&self, b: usize, axis: usize, up: bool, near: f32) -> bool {
        let f = self.edge();
        let strides = [1, f, f * f];
        let first = if up { (f - 1) * strides[axis] } else { 0 };
        let (u, v) = (strides[(axis + 1) % 3], strides[(axis + 2) % 3]);
        let block = self.block(b);
        (0..f * f).any(|n| block[first + n % f * u + n / f * v].abs() < near)
    }

    /// Turns blocks with no sample in the band into flags; returns how many.
    pub(crate) fn release_far_blocks(&mut self) -> usize {
        let limit = self.frame.background() * (1.0 - 1e-6);
        let n = self.layout.block.volume();
        let far: Vec<bool> = {
            let this = &*self;
            par::map(self.blocks.len(), |b| this.block(b).iter().all(|v| v.abs() >= limit))
        };
        // Keep the order of the rest.
        let mut kept = 0;
        for b in 0..self.blocks.len() {
            if far[b] {
                let flag = if self.values[b * n] < 0.0 { INSIDE } else { OUTSIDE };
                self.directory.set(self.blocks[b], flag);
            } else {
                if kept != b {
                    self.blocks[kept] = self.blocks[b];
                    self.values.copy_within(b * n..(b + 1) * n, kept * n);
                    self.directory.set(self.blocks[kept], kept as u32);
                }
                kept += 1;
            }
        }
        let released = self.blocks.len() - kept;
        self.blocks.truncate(kept);
        self.values.truncate(kept * n);
        if released > 0 {
            self.extent = extent_of(&self.blocks);
        }
        released
    }
}
