//! Booleans of level sets on grids: minimum and maximum of the values.

use crate::LevelSetError;
use crate::dense::ScalarGrid;
use crate::sparse::{INSIDE, OUTSIDE, SparseGrid};
use serde::{Deserialize, Serialize};

/// A set operation on solids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Csg {
    /// What is inside either.
    Union,
    /// What is inside both.
    Intersection,
    /// What is inside the first and not inside the second.
    Difference,
}

impl Csg {
    fn apply_f32(self, a: f32, b: f32) -> f32 {
        match self {
            Self::Union => a.min(b),
            Self::Intersection => a.max(b),
            Self::Difference => a.max(-b),
        }
    }
}

impl ScalarGrid {
    /// Combines with another grid on the same lattice.
    pub fn combine(&mut self, operation: Csg, other: &Self) -> Result<(), LevelSetError> {
        if self.lattice != other.lattice {
            let problem = "the grids have different lattices: resample one of them first".into();
            return Err(LevelSetError::Mismatch { operation: "boolean of grids", problem });
        }
        for (a, &b) in self.values.iter_mut().zip(&other.values) {
            *a = match operation {
                Csg::Union => a.min(b),
                Csg::Intersection => a.max(b),
                Csg::Difference => a.max(-b),
            };
        }
        Ok(())
    }
}

impl SparseGrid {
    /// The boolean of two grids with the same frame and block size. Away from the new edges values remain distances;
    /// follow with [`SparseGrid::reinitialise`] to repair the rest.
    pub fn combined(&self, operation: Csg, other: &Self) -> Result<Self, LevelSetError> {
        if self.frame() != other.frame() || self.edge() != other.edge() {
            let problem = format!(
                "spacing {} m, origin {}, half width {}, blocks of {}³ against {} m, {}, {}, {}³: convert both alike",
                self.frame().spacing,
                self.frame().origin,
                self.frame().half_width,
                self.edge(),
                other.frame().spacing,
                other.frame().origin,
                other.frame().half_width,
                other.edge()
            );
            return Err(LevelSetError::Mismatch { operation: "boolean of sparse grids", problem });
        }
        let mut result = Self::empty(*self.frame(), *self.layout())?;
        let mut cells = self.group_cells();
        if operation == Csg::Union {
            cells.extend(other.group_cells());
            cells.sort_unstable_by_key(|&[x, y, z]| [z, y, x]);
            cells.dedup();
        }
        let mut values = Vec::new();
        for cell in cells {
            if let (Some(a), Some(b)) = (self.group_flag(cell), other.group_flag(cell)) {
                if result.flag(operation, a, b) == INSIDE {
                    result.set_group_flag(cell, INSIDE);
                }
                continue;
            }
            for i in 0..512 {
                let block = [cell[0] * 8 + (i & 7), cell[1] * 8 + (i >> 3 & 7), cell[2] * 8 + (i >> 6)];
                let (a, b) = (self.slot(block), other.slot(block));
                if a >= INSIDE && b >= INSIDE {
                    let flag = result.flag(operation, a, b);
                    result.set_flag(block, flag);
                    continue;
                }
                let side = |grid: &Self, slot: u32, i: usize| {
                    if slot >= INSIDE { grid.far_value(slot) } else { grid.block(slot as usize)[i] }
                };
                values.clear();
                values.extend(
                    (0..self.layout().block.volume())
                        .map(|i| operation.apply_f32(side(self, a, i), side(other, b, i))),
                );
                result.push_block_with(block, &values);
            }
        }
        result.release_far_blocks();
        Ok(result)
    }

    fn flag(&self, operation: Csg, a: u32, b: u32) -> u32 {
        if operation.apply_f32(self.far_value(a), self.far_value(b)) < 0.0 { INSIDE } else { OUTSIDE }
    }
}
