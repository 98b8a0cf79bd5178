//! Closing the holes of leaky meshes.
//!
//! Where votes change sign without a triangle between, the surface jumps over a hole. Across a true crossing two
//! neighbours' distances add up to at most the spacing; where they add up to more, a membrane is put between them
//! and distances are swept away from it.

use crate::sparse::{Box1, FLAGS, SparseGrid};
use billow_num::par;

/// Distances may add up to this many spacings before a crossing counts as false.
const SLACK: f32 = 1.01;

/// Puts membranes across holes and repairs the distances near them; returns the number of lattice edges sealed.
pub(super) fn seal_leaks(grid: &mut SparseGrid) -> usize {
    allocate_between_flags(grid);
    let sealed = match grid.edge() {
        4 => membranes::<4>(grid),
        _ => membranes::<8>(grid),
    };
    let n = grid.layout().block.volume();
    let mut edges = 0;
    let mut changed = Vec::new();
    for (b, values, count) in sealed {
        grid.values_mut()[b as usize * n..(b as usize + 1) * n].copy_from_slice(&values);
        changed.push(b);
        edges += count;
    }
    if !changed.is_empty() {
        grid.relax_by(&changed, true, 0.05);
        grid.track();
        grid.sort_blocks();
    }
    edges / 2
}

/// Allocates unpopulated blocks that touch blocks of the other sign.
fn allocate_between_flags(grid: &mut SparseGrid) {
    let flagged = grid.flag_borders();
    for block in flagged {
        if grid.slot(block) >= FLAGS {
            grid.push_block(block);
        }
    }
}

/// New values of the blocks that touch a membrane, with the number of lattice edges it cuts as seen from each side.
fn membranes<const F: usize>(grid: &SparseGrid) -> Vec<(u32, Vec<f32>, usize)> {
    let h = grid.frame().spacing as f32;
    par::gather(grid.blocks().len(), 128, |range, out| {
        let mut around = Box1::new();
        for b in range {
            around.gather::<F>(grid, grid.values(), b);
            let mut values = grid.block(b).to_vec();
            let mut count = 0;
            for (i, value) in values.iter_mut().enumerate() {
                let p = 1 + i % F + (F + 2) * (1 + i / F % F + (F + 2) * (1 + i / (F * F)));
                let own = around.values[p];
                for s in [1, F + 2, (F + 2) * (F + 2)] {
                    for other in [around.values[p - s], around.values[p + s]] {
                        let sum = own.abs() + other.abs();
                        if (other < 0.0) != (own < 0.0) && sum > SLACK * h {
                            count += 1;
                            *value = value.abs().min(h * own.abs() / sum).copysign(own);
                        }
                    }
                }
            }
            if count > 0 {
                out.push((b as u32, values, count));
            }
        }
    })
}
