//! Which steps are too long: those in which parts of a crowd rush past many layers.
//!
//! The contacts of a step are those that nodes will have if they go on as they do. While a heap is hit, a node that goes on
//! would pass dozens of layers, and each of them is foreseen although the first one stops it. In half the time it passes
//! half as many, and what happens is foreseen so much better that no step need be repeated: two halves cost a fifth less
//! than one step that is done twice.

use crate::{Model, State};
use billow_num::{Vec3, par};

/// Thicknesses that nodes may come past the crowd in a step [-].
const LAYERS: f64 = 10.0;

/// If more than one node in this many is faster than that, they rush.
const RUSH: usize = 100;

/// Cloth is a crowd if it has a contact for so many nodes; loose cloth has nothing to rush into.
const CROWD: usize = 3;

/// Whether a step of length `dt` from that state had better be done in halves.
pub(crate) fn hasty(model: &Model, state: &State, dt: f64) -> bool {
    let (v, surface) = (&state.v, &model.surface);
    if state.lasting.pushes.len() * CROWD < v.len() {
        return false;
    }
    let sum = par::reduce(v.len(), par::CHUNK, |range| range.map(|i| v[i]).sum::<Vec3>(), |a, b| a + b);
    let mean = sum.unwrap_or(Vec3::ZERO) / v.len() as f64;
    let fast = |i: &usize| (v[*i] - mean).length() * dt > LAYERS * surface.thickness(*i as u32);
    let fast = par::reduce(v.len(), par::CHUNK, |range| range.filter(fast).count(), |a, b| a + b);
    fast.unwrap_or(0) * RUSH > v.len()
}
