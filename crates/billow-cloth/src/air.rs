//! Drag and lift of faces in moving air.
//!
//! A flat plate in a flow `u` feels a pressure along its normal, `½ ρ C (u·n) |u| A n` per face: drag when it faces the
//! flow, lift when it is inclined. The force grows with the square of the flow and vanishes edge-on.
//!
//! Light cloth in strong wind reaches the speed of the air within a step: the force is that of the end of the step,
//! `f / (1 + k Δt)` with `k = ½ ρ C |u| / ρ_A`, so that it never throws a face beyond the flow.

use crate::Model;
use billow_num::{Vec3, par};

/// Adds the air's forces on all garments to `f` [N]; `faces` is scratch.
pub(crate) fn add_forces(model: &Model, x: &[Vec3], v: &[Vec3], faces: &mut Vec<Vec3>, f: &mut [Vec3]) {
    if model.air.density == 0.0 {
        return;
    }
    faces.resize(model.air_coefficients.len(), Vec3::ZERO);
    par::fill(faces, |t| on_face(model, t, x, v));
    let topology = model.surface.topology();
    par::for_each_mut(f, |i, f| {
        for t in topology.vertex_triangles(i as u32) {
            *f += faces[*t as usize];
        }
    });
}

/// A third of the force on a triangle [N].
fn on_face(model: &Model, t: usize, x: &[Vec3], v: &[Vec3]) -> Vec3 {
    let (air, coefficient) = (&model.air, model.air_coefficients[t]);
    if coefficient == 0.0 {
        return Vec3::ZERO;
    }
    let [a, b, c] = model.triangles()[t].map(|i| i as usize);
    let flow = air.wind - (v[a] + v[b] + v[c]) / 3.0;
    let normal = 0.5 * (x[b] - x[a]).cross(x[c] - x[a]);
    let area = normal.length();
    if area == 0.0 {
        return Vec3::ZERO;
    }
    let n = normal / area;
    let pressure = 0.5 * air.density * coefficient * flow.length();
    let late = 1.0 + pressure / model.area_densities[t] * model.air_step;
    n * (pressure * area * flow.dot(n) / (3.0 * late))
}
