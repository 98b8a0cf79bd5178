//! Smallest and largest value per cell, so that whole cells can be skipped ([Bri03] 4.4).

use super::ScalarGrid;
use crate::lattice::{Centring, Lattice};
use billow_num::par;

/// Which side of the surface a cell is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellLabel {
    /// φ < 0 at every corner.
    Inside,
    /// φ > 0 at every corner.
    Outside,
    /// The surface may pass through.
    Mixed,
}

/// Bounds of a trilinear function in every cell between the samples.
#[derive(Clone, Debug, PartialEq)]
pub struct CellLabels {
    /// The cells, one sample per cell at its centre.
    pub cells: Lattice,
    /// Smallest corner value of each cell.
    pub min: Vec<f64>,
    /// Largest corner value of each cell.
    pub max: Vec<f64>,
}

impl CellLabels {
    /// The labels of all cells between the samples of `grid`.
    pub fn new(grid: &ScalarGrid) -> Self {
        let l = &grid.lattice;
        let cells = Lattice {
            origin: l.origin + 0.5 * l.spacing,
            dims: l.dims.map(|d| d.saturating_sub(1)),
            centring: Centring::Cell,
            ..*l
        };
        let bounds = par::map(cells.len(), |c| {
            let corners = grid.corners(cells.coordinates(c));
            corners.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), &v| (lo.min(v), hi.max(v)))
        });
        let (min, max) = bounds.into_iter().unzip();
        Self { cells, min, max }
    }

    /// Which side of the surface cell `c` is on.
    pub fn label(&self, c: usize) -> CellLabel {
        if self.max[c] < 0.0 {
            CellLabel::Inside
        } else if self.min[c] > 0.0 {
            CellLabel::Outside
        } else {
            CellLabel::Mixed
        }
    }
}
