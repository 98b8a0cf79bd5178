//! Closest points between points, segments and triangles ([Bri03] 2.4, [BFA02] 6).
//!
//! The document solves normal equations for the two infinite lines (or the plane) and clamps. Here every
//! feature pair that can hold the closest points is evaluated and the smallest *actual* distance wins: the
//! weights always describe points of the two shapes, so the distance is that of a real pair of points even for
//! zero-length edges, parallel edges and triangles that are segments or points. Interior solutions get one
//! step of iterative refinement, which keeps slivers accurate.
//!
//! Invariant: weights are non-negative and sum to one on each side, whatever the input.

use billow_num::Vec3;

/// Closest points of a point and a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointTriangle {
    /// Weights of the triangle's corners at the closest point [-].
    pub weights: [f64; 3],
    /// Distance [m].
    pub distance: f64,
    /// Unit vector from the triangle to the point; the triangle's normal when they touch, and zero when that
    /// does not exist either [-].
    pub normal: Vec3,
}

/// Closest points of two segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdgeEdge {
    /// Position along the first segment, 0 at its start [-].
    pub a: f64,
    /// Position along the second segment, 0 at its start [-].
    pub b: f64,
    /// Distance [m].
    pub distance: f64,
    /// Unit vector from the second segment to the first; the common perpendicular when they touch, and zero
    /// when that does not exist either [-].
    pub normal: Vec3,
}

/// Position in `[0, 1]` along the segment `a b` of the point closest to `p`.
pub fn point_segment(p: Vec3, a: Vec3, b: Vec3) -> f64 {
    let e = b - a;
    let s = (p - a).dot(e);
    let l = e.length_squared();
    // Also right for a zero-length segment (0/0) and for non-finite input: any end will do.
    if s > 0.0 && l > 0.0 { (s / l).min(1.0) } else { 0.0 }
}

/// Closest point of the triangle `a b c` to the point `p` ([Bri03] 2.4).
pub fn point_triangle(p: Vec3, [a, b, c]: [Vec3; 3]) -> PointTriangle {
    let at = |w: [f64; 3]| w[0] * (a - p) + w[1] * (b - p) + w[2] * (c - p);
    let done = |(weights, r): ([f64; 3], Vec3)| {
        let (distance, normal) = length_and_unit(-r, || (b - a).cross(c - a));
        PointTriangle { weights, distance, normal }
    };
    // Foot of the perpendicular: nothing is closer if it is well inside.
    let foot = foot_in_triangle(p, [a, b, c]);
    if let Some((w, true)) = foot {
        return done((w, at(w)));
    }
    // Closest point of each edge.
    let (s_ab, s_bc, s_ca) = (point_segment(p, a, b), point_segment(p, b, c), point_segment(p, c, a));
    let edges = [[1.0 - s_ab, s_ab, 0.0], [0.0, 1.0 - s_bc, s_bc], [s_ca, 0.0, 1.0 - s_ca]];
    let mut best = (edges[0], at(edges[0]));
    for w in &edges[1..] {
        keep_closer(&mut best, *w, at(*w));
    }
    if let Some((w, _)) = foot {
        keep_closer(&mut best, w, at(w));
    }
    done(best)
}

/// Closest points of the segments `a0 a1` and `b0 b1` ([Bri03] 2.4).
pub fn edge_edge([a0, a1]: [Vec3; 2], [b0, b1]: [Vec3; 2]) -> EdgeEdge {
    // Relative to one end point so that the result does not depend on the distance to the origin.
    let (e, f, g) = (a1 - a0, b1 - b0, b0 - a0);
    let at = |[a, b]: [f64; 2]| g + b * f - a * e;
    let done = |([a, b], r): ([f64; 2], Vec3)| {
        let (distance, normal) = length_and_unit(-r, || e.cross(f));
        EdgeEdge { a, b, distance, normal }
    };
    // Common perpendicular of the two lines: nothing is closer if it meets both segments well inside.
    let perpendicular = common_perpendicular(e, f, g);
    if let Some((w, true)) = perpendicular {
        return done((w, at(w)));
    }
    // Each end point against the other segment.
    let mut best = ([0.0, point_segment(a0, b0, b1)], Vec3::ZERO);
    best.1 = at(best.0);
    let ends = [
        [1.0, point_segment(a1, b0, b1)],
        [point_segment(b0, a0, a1), 0.0],
        [point_segment(b1, a0, a1), 1.0],
    ];
    for w in ends {
        keep_closer(&mut best, w, at(w));
    }
    if let Some((w, _)) = perpendicular {
        keep_closer(&mut best, w, at(w));
    }
    done(best)
}

/// Weights from here are well inside, if the directions are crossed: far above their rounding.
const INSIDE: f64 = 1e-6;
/// Square of the sine of the angle between two directions from which they count as crossed.
const CROSSED: f64 = 1e-6;

fn keep_closer<const N: usize>(best: &mut ([f64; N], Vec3), w: [f64; N], r: Vec3) {
    if r.length_squared() < best.1.length_squared() {
        *best = (w, r);
    }
}

/// Weights of the foot of the perpendicular from `p` on the plane of the triangle, if all are positive, and whether they
/// certainly are.
fn foot_in_triangle(p: Vec3, [a, b, c]: [Vec3; 3]) -> Option<([f64; 3], bool)> {
    let (e, f) = (b - a, c - a);
    let n = e.cross(f);
    let n2 = n.length_squared();
    // r = u e + v f in the plane: Cramer's rule written with the normal.
    let over = n2.recip();
    let solve = |r: Vec3| [r.cross(f).dot(n) * over, e.cross(r).dot(n) * over];
    let [mut u, mut v] = solve(p - a);
    let [du, dv] = solve((p - a) - u * e - v * f);
    u += du;
    v += dv;
    let w = 1.0 - u - v;
    let crossed = n2 > CROSSED * e.length_squared() * f.length_squared();
    let certain = crossed && u > INSIDE && v > INSIDE && w > INSIDE;
    (u > 0.0 && v > 0.0 && w > 0.0 && n2 > 0.0).then_some(([w, u, v], certain))
}

/// Positions along two lines with directions `e` and `f`, offset `g`, if both lie inside the segments, and whether they
/// certainly do.
fn common_perpendicular(e: Vec3, f: Vec3, g: Vec3) -> Option<([f64; 2], bool)> {
    let n = e.cross(f);
    let n2 = n.length_squared();
    // g + b f − a e parallel to n.
    let over = n2.recip();
    let solve = |g: Vec3| [g.cross(f).dot(n) * over, g.cross(e).dot(n) * over];
    let [mut a, mut b] = solve(g);
    let [da, db] = solve(g + b * f - a * e);
    a += da;
    b += db;
    let crossed = n2 > CROSSED * e.length_squared() * f.length_squared();
    let inside = |s: f64| s > INSIDE && s < 1.0 - INSIDE;
    let certain = crossed && inside(a) && inside(b);
    (a > 0.0 && a < 1.0 && b > 0.0 && b < 1.0 && n2 > 0.0).then_some(([a, b], certain))
}

/// Squares of lengths in between are far from where numbers end.
const ORDINARY: std::ops::Range<f64> = 1e-200..1e200;

/// Length of `v`, and `v` scaled to length one; `fallback` scaled to length one where `v` is zero, and zero where both are.
#[inline(always)]
fn length_and_unit(v: Vec3, fallback: impl Fn() -> Vec3) -> (f64, Vec3) {
    let length2 = v.length_squared();
    if ORDINARY.contains(&length2) {
        let length = length2.sqrt();
        return (length, v / length);
    }
    let unit = |v: Vec3| {
        // Scaling first keeps the squares of tiny and huge vectors in range.
        let m = v.abs().max_element();
        if m > 0.0 && m.is_finite() { Some((v / m).normalize()) } else { None }
    };
    (v.length(), unit(v).or_else(|| unit(fallback())).unwrap_or(Vec3::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: [Vec3; 3] = [Vec3::ZERO, Vec3::new(2.0, 0.0, 0.0), Vec3::new(0.0, 2.0, 0.0)];

    #[test]
    fn point_above_the_face_an_edge_and_a_corner() {
        let q = point_triangle(Vec3::new(0.5, 0.5, 3.0), T);
        assert_eq!((q.weights, q.distance, q.normal), ([0.5, 0.25, 0.25], 3.0, Vec3::Z));
        let q = point_triangle(Vec3::new(1.0, -2.0, 0.0), T);
        assert_eq!((q.weights, q.distance, q.normal), ([0.5, 0.5, 0.0], 2.0, Vec3::NEG_Y));
        let q = point_triangle(Vec3::new(5.0, 0.0, 4.0), T);
        assert_eq!((q.weights, q.distance), ([0.0, 1.0, 0.0], 5.0));
        let q = point_triangle(Vec3::new(0.5, 0.5, 0.0), T);
        assert_eq!((q.distance, q.normal), (0.0, Vec3::Z));
    }

    #[test]
    fn crossed_parallel_and_zero_length_edges() {
        let (x, y, z) = (Vec3::X, Vec3::Y, Vec3::Z);
        let q = edge_edge([-x, x], [z - y, z + y]);
        assert_eq!((q.a, q.b, q.distance, q.normal), (0.5, 0.5, 1.0, Vec3::NEG_Z));
        let q = edge_edge([Vec3::ZERO, x], [0.5 * x + y, 2.0 * x + y]);
        assert_eq!((q.distance, q.normal), (1.0, Vec3::NEG_Y));
        let q = edge_edge([z, z], [-x, x]);
        assert_eq!((q.b, q.distance, q.normal), (0.5, 1.0, Vec3::Z));
        let q = edge_edge([z, z], [z, z]);
        assert_eq!((q.distance, q.normal), (0.0, Vec3::ZERO));
    }

    #[test]
    fn non_finite_input_gives_weights_of_a_real_point() {
        let bad = Vec3::new(f64::NAN, f64::INFINITY, 0.0);
        let q = point_triangle(bad, T);
        assert_eq!(q.weights.iter().sum::<f64>(), 1.0);
        let q = edge_edge([bad, Vec3::X], [Vec3::Y, Vec3::Z]);
        assert!((0.0..=1.0).contains(&q.a) && (0.0..=1.0).contains(&q.b));
    }
}
