//! Distances next to the surface ([Gue06] 4.5.1).
//!
//! A sample with a neighbour of the other sign measures, along each axis that has one, how far away the zero is;
//! if a plane cuts the axes at distances d₁, d₂, d₃ its own distance is (1/d₁² + 1/d₂² + 1/d₃²)^(−1/2).

use crate::dense::ScalarGrid;
use billow_num::par;

/// Replaces the values of samples that have a neighbour of the other sign by their distance to the zero set, and
/// returns which samples those are. Zero counts as outside.
pub fn interface_distances(phi: &mut ScalarGrid) -> Vec<bool> {
    let measured = {
        let phi = &*phi;
        par::map(phi.values.len(), |i| measure(phi, i))
    };
    let mut known = vec![false; measured.len()];
    for (i, m) in measured.into_iter().enumerate() {
        if let Some(distance) = m {
            phi.values[i] = distance;
            known[i] = true;
        }
    }
    known
}

fn measure(phi: &ScalarGrid, index: usize) -> Option<f64> {
    let l = &phi.lattice;
    let ijk = l.coordinates(index);
    let strides = l.strides();
    let own = phi.values[index];
    let mut inverse_squares = 0.0;
    for a in 0..3 {
        let mut nearest = f64::INFINITY;
        let mut look = |other: f64| {
            if (other < 0.0) != (own < 0.0) {
                nearest = nearest.min(own / (own - other));
            }
        };
        if ijk[a] > 0 {
            look(phi.values[index - strides[a]]);
        }
        if ijk[a] + 1 < l.dims[a] {
            look(phi.values[index + strides[a]]);
        }
        inverse_squares += 1.0 / (nearest * nearest);
    }
    (inverse_squares > 0.0).then(|| (l.spacing / inverse_squares.sqrt()).copysign(own))
}
