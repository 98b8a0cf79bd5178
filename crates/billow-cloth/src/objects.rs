//! Collision of nodes with thick smooth objects through their signed distance ([Bri03] 2.1).
//!
//! A node predicted to end inside is given the normal velocity that ends it exactly on the surface, and its tangential
//! velocity relative to the object is reduced by Coulomb friction, to exactly zero when it sticks.

use crate::Model;
use billow_contact::slide;
use billow_geom::Aabb;
use billow_num::{Vec3, par};

/// Corrects the velocities `v` with which the nodes at `x` would move for `dt` from time `t`. Returns the number of
/// nodes corrected.
pub(crate) fn collide(model: &Model, x: &[Vec3], (t, dt): (f64, f64), v: &mut [Vec3]) -> u64 {
    if model.solids.is_empty() {
        return 0;
    }
    let boxes: Vec<Aabb> =
        model.solids.iter().map(|s| s.shape.bounds(t).union(s.shape.bounds(t + dt))).collect();
    let inverse_masses = &model.inverse_masses;
    let counts = std::sync::atomic::AtomicU64::new(0);
    par::chunks_mut(v, par::CHUNK, |first, chunk| {
        let mut count = 0;
        for (k, v) in chunk.iter_mut().enumerate() {
            let i = first + k;
            if inverse_masses[i] == 0.0 {
                continue;
            }
            let reach = model.offsets[i] + v.length() * dt;
            for (solid, bounds) in model.solids.iter().zip(&boxes) {
                if bounds.inflated(reach).contains(x[i]) && respond(model, solid, (i, x[i]), (t, dt), v) {
                    count += 1;
                }
            }
        }
        counts.fetch_add(count, std::sync::atomic::Ordering::Relaxed);
    });
    counts.into_inner()
}

fn respond(
    model: &Model,
    solid: &crate::Solid,
    (i, x): (usize, Vec3),
    (t, dt): (f64, f64),
    v: &mut Vec3,
) -> bool {
    let sample = solid.shape.sample(x, t);
    let relative = *v - sample.velocity;
    let approach = relative.dot(sample.normal);
    // φ_new = φ + Δt (v_p − v)·N, measured from half the cloth's thickness.
    let phi_new = sample.phi - model.offsets[i] + dt * approach;
    if phi_new >= 0.0 {
        return false;
    }
    let dv = -phi_new / dt;
    let friction = (model.frictions[i] * solid.friction).sqrt();
    let tangential = slide(relative - sample.normal * approach, dv, friction);
    *v = sample.velocity + sample.normal * (approach + dv) + tangential;
    true
}
