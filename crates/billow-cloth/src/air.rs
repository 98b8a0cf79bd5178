//! Drag and lift of cloth in moving air.
//!
//! A flat plate in a flow `u` feels a pressure along its normal, `½ ρ C (u·n) |u| A n`: drag when it faces the flow, lift
//! when it is inclined. The force grows with the square of the flow and vanishes edge-on. Each node carries a plate: a
//! third of the vector area of its triangles. Ripples as small as the mesh cancel in it, as they do in a real flow, whose
//! pressure does not follow them; evaluated face by face they would be blown up until the cloth frays.
//!
//! Light cloth in strong wind reaches the speed of the air within a step: the force is that of the end of the step,
//! `f / (1 + k Δt)` with `k = ½ ρ C |u| A / m`, so that it never throws a node beyond the flow.

use crate::Model;
use billow_num::{Vec3, par};

/// Adds the air's forces on all garments to `f` [N], to be held for `dt` [s]; `areas` is scratch.
pub(crate) fn add_forces(
    model: &Model,
    (x, v): (&[Vec3], &[Vec3]),
    dt: f64,
    areas: &mut Vec<Vec3>,
    f: &mut [Vec3],
) {
    if model.air.density == 0.0 {
        return;
    }
    areas.resize(model.air_coefficients.len(), Vec3::ZERO);
    par::fill(areas, |t| third_of_face(model, t, x));
    let topology = model.surface.topology();
    par::for_each_mut(f, |i, f| {
        let area: Vec3 = topology.vertex_triangles(i as u32).iter().map(|t| areas[*t as usize]).sum();
        *f += on_plate(model, area, model.air.wind - v[i], dt * model.inverse_masses[i]);
    });
}

/// A third of the vector area of a triangle times its drag coefficient [m²].
fn third_of_face(model: &Model, t: usize, x: &[Vec3]) -> Vec3 {
    let coefficient = model.air_coefficients[t];
    if coefficient == 0.0 {
        return Vec3::ZERO;
    }
    let [a, b, c] = model.triangles()[t].map(|i| i as usize);
    (x[b] - x[a]).cross(x[c] - x[a]) * (coefficient / 6.0)
}

/// The force on a plate with vector area `area` times drag coefficient in the given flow [N].
fn on_plate(model: &Model, area: Vec3, flow: Vec3, speed_per_force: f64) -> Vec3 {
    let size = area.length();
    if size == 0.0 {
        return Vec3::ZERO;
    }
    let normal = area / size;
    let push = 0.5 * model.air.density * flow.length() * size;
    normal * (push * flow.dot(normal) / (1.0 + push * speed_per_force))
}
