//! Doubling the resolution ([Bri03] 6.2).
//!
//! New samples follow from the tricubic B-spline subdivision rule: along each axis (1, 6, 1)/8 at old places and
//! (1, 1)/2 between. Linear functions stay as they are and the surface moves by O(h²) at most. On a sparse grid
//! either the coarse level is doubled (blocks keep their size) or the blocks are, whichever takes less memory.

use crate::LevelSetError;
use crate::dense::ScalarGrid;
use crate::lattice::{Centring, Lattice};
use crate::sparse::{BlockSize, Box1, Frame, INSIDE, Layout, SparseGrid};
use billow_num::par;
use serde::{Deserialize, Serialize};

/// Which part of a sparse grid was doubled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Doubled {
    /// Twice as many blocks along each axis, of the same size.
    Coarse,
    /// The same blocks with twice as many samples along each axis.
    Blocks,
}

/// Samples of a block and one layer around it, refined: up to 16 along an axis.
const MAX: usize = 16;

impl SparseGrid {
    /// The grid at half the spacing, in the way that takes less memory.
    pub fn refined(&self) -> Result<(Self, Doubled), LevelSetError> {
        let coarse = self.refined_by(Doubled::Coarse)?;
        if self.layout().block == BlockSize::Eight {
            return Ok((coarse, Doubled::Coarse));
        }
        let blocks = self.refined_by(Doubled::Blocks)?;
        Ok(if blocks.bytes() < coarse.bytes() {
            (blocks, Doubled::Blocks)
        } else {
            (coarse, Doubled::Coarse)
        })
    }

    /// The grid at half the spacing, doubled in the given way. Blocks of 8³ samples cannot be doubled.
    pub fn refined_by(&self, how: Doubled) -> Result<Self, LevelSetError> {
        let frame = Frame { spacing: 0.5 * self.frame().spacing, ..*self.frame() };
        match (how, self.layout().block) {
            (Doubled::Coarse, _) => self.refine_into(frame, *self.layout(), 2),
            (Doubled::Blocks, BlockSize::Four) => {
                self.refine_into(frame, Layout { block: BlockSize::Eight, ..*self.layout() }, 1)
            }
            (Doubled::Blocks, BlockSize::Eight) => Err(LevelSetError::Parameter {
                of: "refinement",
                name: "block size",
                value: 8.0,
                allowed: "4 for doubling the blocks: double the coarse level instead",
            }),
        }
    }

    /// Each old block becomes `parts`³ new ones.
    fn refine_into(&self, frame: Frame, layout: Layout, parts: i32) -> Result<Self, LevelSetError> {
        let mut fine = Self::empty(frame, layout)?;
        self.copy_flags(&mut fine, parts);
        let limit = frame.background();
        let old = self.edge();
        let new = layout.block.edge();
        type Piece = ([i32; 3], Option<Vec<f32>>, bool);
        let pieces: Vec<Piece> = par::gather(self.blocks().len(), 64, |range, out| {
            let mut around = Box1::new();
            for b in range {
                let doubled = match old {
                    4 => self.double_block::<4>(b, &mut around),
                    _ => self.double_block::<8>(b, &mut around),
                };
                for part in 0..parts.pow(3) {
                    let o = [part % parts, part / parts % parts, part / (parts * parts)];
                    let block = std::array::from_fn(|a| self.blocks()[b][a] * parts + o[a]);
                    let first = o.map(|c| c as usize * new);
                    let values: Vec<f32> = (0..new * new * new)
                        .map(|i| {
                            let c =
                                [first[0] + i % new, first[1] + i / new % new, first[2] + i / (new * new)];
                            doubled[c[0] + 2 * old * (c[1] + 2 * old * c[2])].clamp(-limit, limit)
                        })
                        .collect();
                    let near = values.iter().any(|v| v.abs() < limit * (1.0 - 1e-6));
                    let inside = values[0] < 0.0;
                    out.push((block, near.then_some(values), inside));
                }
            }
        });
        for (block, values, inside) in pieces {
            match values {
                Some(values) => fine.push_block_with(block, &values),
                None if inside => fine.set_flag(block, INSIDE),
                None => {}
            }
        }
        fine.sort_blocks();
        fine.shrink();
        Ok(fine)
    }

    /// Marks in `fine` what lies inside far from the surface.
    fn copy_flags(&self, fine: &mut Self, parts: i32) {
        for cell in self.group_cells() {
            let sub = |n: i32| [n % parts, n / parts % parts, n / (parts * parts)];
            if self.group_flag(cell) == Some(INSIDE) && fine.layout().third_level {
                for n in 0..parts.pow(3) {
                    fine.set_group_flag(std::array::from_fn(|a| cell[a] * parts + sub(n)[a]), INSIDE);
                }
                continue;
            }
            for i in 0..512 {
                let block = [cell[0] * 8 + (i & 7), cell[1] * 8 + (i >> 3 & 7), cell[2] * 8 + (i >> 6)];
                if self.slot(block) == INSIDE {
                    for n in 0..parts.pow(3) {
                        fine.set_flag(std::array::from_fn(|a| block[a] * parts + sub(n)[a]), INSIDE);
                    }
                }
            }
        }
    }

    /// The (2F)³ new samples of a block, x fastest.
    fn double_block<const F: usize>(&self, b: usize, around: &mut Box1) -> Vec<f32> {
        around.gather::<F>(self, self.values(), b);
        let mut dims = [F + 2; 3];
        let mut values = around.values[..(F + 2).pow(3)].to_vec();
        for axis in 0..3 {
            values = double_along(&values, dims, axis, F);
            dims[axis] = 2 * F;
        }
        debug_assert!(2 * F <= MAX);
        values
    }
}

/// Refines `inner` samples along an axis of an array that has one more on either side there.
fn double_along(v: &[f32], dims: [usize; 3], axis: usize, inner: usize) -> Vec<f32> {
    let mut to = dims;
    to[axis] = 2 * inner;
    let stride = [1, dims[0], dims[0] * dims[1]][axis];
    let mut out = Vec::with_capacity(to[0] * to[1] * to[2]);
    for z in 0..to[2] {
        for y in 0..to[1] {
            for x in 0..to[0] {
                let mut c = [x, y, z];
                let odd = c[axis] % 2 == 1;
                c[axis] = c[axis] / 2 + 1;
                let at = c[0] + dims[0] * (c[1] + dims[1] * c[2]);
                out.push(if odd {
                    0.5 * (v[at] + v[at + stride])
                } else {
                    0.125 * (v[at - stride] + 6.0 * v[at] + v[at + stride])
                });
            }
        }
    }
    out
}

impl ScalarGrid {
    /// The grid at half the spacing by the tricubic B-spline rule; node-centred grids only. At the border old samples
    /// keep their value along the missing direction.
    pub fn refined(&self) -> Result<Self, LevelSetError> {
        if self.lattice.centring != Centring::Node {
            let problem = "the rule places new samples between nodes: use a node-centred grid".into();
            return Err(LevelSetError::Mismatch { operation: "refinement", problem });
        }
        let mut grid = self.clone();
        for axis in 0..3 {
            grid = grid.refined_along(axis);
        }
        grid.lattice.spacing *= 0.5;
        Ok(grid)
    }

    fn refined_along(&self, axis: usize) -> Self {
        let mut dims = self.lattice.dims;
        if dims[axis] == 1 {
            return self.clone();
        }
        dims[axis] = 2 * dims[axis] - 1;
        let lattice = Lattice { dims, ..self.lattice };
        let last = self.lattice.dims[axis] - 1;
        let values = par::map(lattice.len(), |i| {
            let mut c = lattice.coordinates(i);
            let odd = c[axis] % 2 == 1;
            c[axis] /= 2;
            let shifted = |by: isize| {
                let mut d = c;
                d[axis] = d[axis].wrapping_add_signed(by);
                self.at(d)
            };
            if odd {
                0.5 * (shifted(0) + shifted(1))
            } else if c[axis] == 0 || c[axis] == last {
                shifted(0)
            } else {
                0.125 * (shifted(-1) + 6.0 * shifted(0) + shifted(1))
            }
        });
        Self { lattice, values }
    }
}
