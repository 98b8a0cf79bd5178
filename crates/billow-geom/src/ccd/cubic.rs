//! The documents' continuous test: coplanarity cubic and proximity at its roots ([Bri03] 2.4, [BFA02] 6).
//!
//! Four points that move with constant velocity are coplanar at the roots of a cubic. Roots in the slightly
//! enlarged step are checked in increasing order by static proximity, and so is the end of the step. Collisions
//! are registered when the elements are closer than a rounding tolerance. With the documents' tolerances this
//! is reliable at the scale of clothing, but it is not a proof: motions coplanar throughout are only seen at the
//! end of the step, and no fixed tolerance covers all scales. The pipeline uses the certified queries instead.

use super::{Hit, Vec3};
use crate::proximity;
use billow_num::roots::cubic_roots_in;

/// Rounding tolerances of the documents' test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// How far outside the step roots still count, as a fraction of the step [-].
    pub time: f64,
    /// Distance below which elements collide [m].
    pub distance: f64,
}

impl Default for Tolerance {
    /// The documents' values, 1e-6 of the step and 1e-6 m.
    fn default() -> Self {
        Self { time: 1e-6, distance: 1e-6 }
    }
}

/// Moving point `x[0]` against moving triangle `x[1..4]` by the coplanarity cubic.
pub fn vertex_face(x0: &[Vec3; 4], x1: &[Vec3; 4], tolerance: Tolerance) -> Option<Hit> {
    first_contact(x0, x1, tolerance, |x| {
        let q = proximity::point_triangle(x[0], [x[1], x[2], x[3]]);
        let [a, b, c] = q.weights;
        (q.distance, q.normal, [1.0, -a, -b, -c])
    })
}

/// Moving edge `x[0..2]` against moving edge `x[2..4]` by the coplanarity cubic.
pub fn edge_edge(x0: &[Vec3; 4], x1: &[Vec3; 4], tolerance: Tolerance) -> Option<Hit> {
    first_contact(x0, x1, tolerance, |x| {
        let q = proximity::edge_edge([x[0], x[1]], [x[2], x[3]]);
        (q.distance, q.normal, [1.0 - q.a, q.a, q.b - 1.0, -q.b])
    })
}

fn first_contact(
    x0: &[Vec3; 4],
    x1: &[Vec3; 4],
    tolerance: Tolerance,
    closest: impl Fn([Vec3; 4]) -> (f64, Vec3, [f64; 4]),
) -> Option<Hit> {
    let roots = cubic_roots_in(coplanarity(x0, x1), -tolerance.time, 1.0 + tolerance.time);
    roots.iter().copied().chain([1.0]).find_map(|t| {
        let x = std::array::from_fn(|i| x0[i] + t * (x1[i] - x0[i]));
        let (distance, normal, weights) = closest(x);
        (distance < tolerance.distance).then(|| Hit { toi: t.clamp(0.0, 1.0), normal, weights })
    })
}

/// Coefficients of `(x₂₁ + t v₂₁) × (x₃₁ + t v₃₁) · (x₄₁ + t v₄₁)`, constant first.
pub fn coplanarity(x0: &[Vec3; 4], x1: &[Vec3; 4]) -> [f64; 4] {
    let v: [Vec3; 4] = std::array::from_fn(|i| x1[i] - x0[i]);
    let relative = |y: &[Vec3; 4]| [y[1] - y[0], y[2] - y[0], y[3] - y[0]];
    let ([a, b, c], [u, v, w]) = (relative(x0), relative(&v));
    let triple = |p: Vec3, q: Vec3, r: Vec3| p.cross(q).dot(r);
    [
        triple(a, b, c),
        triple(u, b, c) + triple(a, v, c) + triple(a, b, w),
        triple(a, v, w) + triple(u, b, w) + triple(u, v, c),
        triple(u, v, w),
    ]
}
