//! Fast marching over blocks.

use super::{FLAGS, SparseGrid};
use crate::LevelSetError;
use crate::eikonal::{Front, INSIDE, KNOWN, March, Samples, WALL};
use billow_num::par;

/// The samples of a sparse grid, block by block, and one wall behind the last.
struct BlockSamples {
    edge: usize,
    /// Face neighbours of each block, below and above along each axis.
    near: Vec<[u32; 6]>,
    wall: usize,
}

impl Samples for BlockSamples {
    fn axes(&self) -> &[usize] {
        &[0, 1, 2]
    }

    #[inline]
    fn neighbour(&self, p: usize, axis: usize, up: bool) -> usize {
        if p == self.wall {
            return p;
        }
        let (f, bits) = (self.edge, self.edge.trailing_zeros());
        let stride = 1 << (bits as usize * axis);
        let c = p >> (bits as usize * axis) & (f - 1);
        match (up, c) {
            (true, c) if c + 1 < f => p + stride,
            (false, c) if c > 0 => p - stride,
            _ => {
                let slot = self.near[p >> (3 * bits)][2 * axis + usize::from(up)];
                if slot >= FLAGS {
                    return self.wall;
                }
                let within = p & ((1 << (3 * bits)) - 1);
                let turned = if up { within - (f - 1) * stride } else { within + (f - 1) * stride };
                ((slot as usize) << (3 * bits)) + turned
            }
        }
    }
}

impl SparseGrid {
    /// Makes all values distances again by fast marching, keeping the zero set: samples next to the surface are
    /// measured along the axes ([Gue06] 4.5.1), the rest of the band is marched.
    pub fn march(&mut self, march: &March) -> Result<(), LevelSetError> {
        let limit = march.checked_limit()?.min(f64::from(self.frame.background()));
        self.reset_to_interface();
        let far = self.frame.background();
        let samples =
            BlockSamples { edge: self.edge(), near: self.face_neighbours(), wall: self.values.len() };
        let known = |v: f32| v.abs() < far;
        let mut t: Vec<f64> = par::map(self.values.len(), |i| {
            let v = self.values[i];
            if known(v) { f64::from(v.abs()) } else { f64::INFINITY }
        });
        let mut flags: Vec<u8> = par::map(self.values.len(), |i| {
            let v = self.values[i];
            (if v < 0.0 { INSIDE } else { 0 }) | if known(v) { KNOWN } else { 0 }
        });
        t.push(f64::INFINITY);
        flags.push(WALL);
        let mut front = Front::new(&samples, self.frame.spacing, limit, t, flags);
        front.run(march.order);
        let t = &front.t;
        par::chunks_mut(&mut self.values, 1 << 14, |first, part| {
            for (i, v) in part.iter_mut().enumerate() {
                *v = (t[first + i].min(limit) as f32).min(far).copysign(*v);
            }
        });
        Ok(())
    }

    /// Slots of the blocks below and above each block along each axis.
    fn face_neighbours(&self) -> Vec<[u32; 6]> {
        par::map(self.blocks.len(), |b| {
            std::array::from_fn(|side| {
                let mut at = self.blocks[b];
                at[side / 2] += if side % 2 == 0 { -1 } else { 1 };
                self.directory.get(at)
            })
        })
    }
}
