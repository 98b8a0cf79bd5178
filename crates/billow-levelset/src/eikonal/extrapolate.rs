//! Fields carried off a surface along its normal: ∇φ · ∇q = 0 ([Bri03] 2.1, [Gue06] 4.5).
//!
//! Away from the surface, each unknown sample takes the mean of its neighbours nearer to the surface, weighted by
//! how much nearer they are: the upwind discretisation of the equation. Samples are visited in order of
//! distance, so one pass suffices.

use crate::LevelSetError;
use crate::dense::{Dense, ScalarGrid};
use std::ops::{Add, Mul};

/// Fills the unknown samples of `field` within `limit` [m] of the surface of `phi` from the known ones; returns
/// which samples are known afterwards. Unknown samples with no known neighbour nearer to the surface stay as they are.
pub fn extrapolate<T: Copy + Add<Output = T> + Mul<f64, Output = T>>(
    phi: &ScalarGrid,
    field: &mut Dense<T>,
    known: &[bool],
    limit: f64,
) -> Result<Vec<bool>, LevelSetError> {
    if field.lattice != phi.lattice || known.len() != phi.values.len() {
        let problem = format!(
            "φ has {:?} samples, the field {:?}, and there are {} known flags",
            phi.lattice.dims,
            field.lattice.dims,
            known.len()
        );
        return Err(LevelSetError::Mismatch { operation: "extrapolation", problem });
    }
    let mut known = known.to_vec();
    let mut order: Vec<u32> = (0..known.len() as u32)
        .filter(|&i| !known[i as usize] && phi.values[i as usize].abs() <= limit)
        .collect();
    order.sort_by(|&a, &b| {
        phi.values[a as usize].abs().total_cmp(&phi.values[b as usize].abs()).then(a.cmp(&b))
    });
    // Samples next to the surface may only know neighbours on its other side: those come second best.
    for i in order {
        if let Some(q) = upwind_mean(phi, field, &known, i as usize) {
            field.values[i as usize] = q;
            known[i as usize] = true;
        }
    }
    Ok(known)
}

/// The mean of the known neighbours on the way to the surface, or across it.
fn upwind_mean<T: Copy + Add<Output = T> + Mul<f64, Output = T>>(
    phi: &ScalarGrid,
    field: &Dense<T>,
    known: &[bool],
    i: usize,
) -> Option<T> {
    let l = &phi.lattice;
    let ijk = l.coordinates(i);
    let own = phi.values[i];
    let side = 1f64.copysign(own);
    let mut total: Option<(T, f64)> = None;
    for a in 0..3 {
        let stride = l.strides()[a];
        // The nearer of the two neighbours, in the signed sense: across the surface counts as nearer still.
        let below = (ijk[a] > 0).then(|| i - stride);
        let above = (ijk[a] + 1 < l.dims[a]).then(|| i + stride);
        let nearer = [below, above]
            .into_iter()
            .flatten()
            .min_by(|&p, &q| (side * phi.values[p]).total_cmp(&(side * phi.values[q])));
        let Some(n) = nearer else { continue };
        let gain = side * (own - phi.values[n]);
        if gain > 0.0 && known[n] {
            let part = field.values[n] * gain;
            total = Some(total.map_or((part, gain), |(sum, weight)| (sum + part, weight + gain)));
        }
    }
    total.map(|(sum, weight)| sum * (1.0 / weight))
}
