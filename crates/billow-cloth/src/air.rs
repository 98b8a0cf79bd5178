//! Drag and lift of faces in moving air.
//!
//! A flat plate in a flow `u` feels a pressure along its normal, `½ ρ C (u·n) |u| A n` per face: drag when it faces the
//! flow, lift when it is inclined. The force grows with the square of the flow and vanishes edge-on.

use crate::Model;
use billow_num::Vec3;

/// Adds the air's forces on all garments to `f` [N].
pub(crate) fn add_forces(model: &Model, x: &[Vec3], v: &[Vec3], f: &mut [Vec3]) {
    let air = &model.air;
    if air.density == 0.0 {
        return;
    }
    for (t, corners) in model.triangles().iter().enumerate() {
        let coefficient = model.air_coefficients[t];
        if coefficient == 0.0 {
            continue;
        }
        let [a, b, c] = corners.map(|i| i as usize);
        let flow = air.wind - (v[a] + v[b] + v[c]) / 3.0;
        let normal = 0.5 * (x[b] - x[a]).cross(x[c] - x[a]);
        let area = normal.length();
        if area > 0.0 {
            let n = normal / area;
            let force = n * (0.5 * air.density * coefficient * area * flow.dot(n) * flow.length() / 3.0);
            for i in [a, b, c] {
                f[i] += force;
            }
        }
    }
}
