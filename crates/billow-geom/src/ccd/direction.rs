//! Separating directions of two elements at one time.
//!
//! The convex hull of the corner differences is a triangle for point and triangle, a parallelogram for two
//! edges; the best direction points from the origin to its closest point. Near contact that vector loses all
//! its digits, so it is rebuilt from the feature it belongs to: face normals by a cross product, edge
//! perpendiculars by projecting twice.

use billow_num::Vec3;

/// A hull of corner differences that can find its closest feature.
pub(super) trait Hull {
    /// Unit direction from the second element towards the first, or zero where none can be found.
    fn direction(&self) -> Vec3;
    /// Unnormalised normal of the hull, pointing away from the origin.
    fn face(&self) -> Vec3;
}

/// Differences `p − a`, `p − b`, `p − c` of a point and a triangle.
impl Hull for [Vec3; 3] {
    fn direction(&self) -> Vec3 {
        let [a, b, c] = *self;
        let n = (b - a).cross(c - a);
        // The origin projects inside when its three barycentric weights are positive.
        let inside = b.cross(c).dot(n) >= 0.0 && c.cross(a).dot(n) >= 0.0 && a.cross(b).dot(n) >= 0.0;
        if inside {
            let face = unit(facing(n, a));
            if face != Vec3::ZERO {
                return face;
            }
        }
        closest_edge([[a, b], [b, c], [c, a]])
    }

    fn face(&self) -> Vec3 {
        let [a, b, c] = *self;
        facing((b - a).cross(c - a), a)
    }
}

/// Differences `a0 − b0`, `a0 − b1`, `a1 − b0`, `a1 − b1` of two edges.
impl Hull for [Vec3; 4] {
    fn direction(&self) -> Vec3 {
        let [d00, d01, d10, d11] = *self;
        let (e, f) = (d10 - d00, d00 - d01);
        let n = e.cross(f);
        let n2 = n.length_squared();
        // d00 + a e − b f is parallel to n for a, b in [0, 1].
        let a = f.cross(d00).dot(n);
        let b = e.cross(d00).dot(n);
        if n2 > 0.0 && a >= 0.0 && a <= n2 && b >= 0.0 && b <= n2 {
            return unit(facing(n, d00));
        }
        closest_edge([[d00, d01], [d10, d11], [d00, d10], [d01, d11]])
    }

    fn face(&self) -> Vec3 {
        let [d00, d01, d10, _] = *self;
        facing((d10 - d00).cross(d00 - d01), d00)
    }
}

fn facing(n: Vec3, d: Vec3) -> Vec3 {
    if n.dot(d) < 0.0 { -n } else { n }
}

/// Unit vector to the closest point of the segments, perpendicular to its segment to the last digits.
fn closest_edge<const N: usize>(edges: [[Vec3; 2]; N]) -> Vec3 {
    let mut best = (f64::INFINITY, Vec3::ZERO);
    for [a, b] in edges {
        let e = b - a;
        let (s, l) = (-a.dot(e), e.length_squared());
        let r = match (s > 0.0, s < l) {
            (true, true) => a + (s / l) * e,
            (false, _) => a,
            (true, false) => b,
        };
        let d = r.length_squared();
        if d < best.0 {
            best = (d, if s > 0.0 && s < l { r - (r.dot(e) / l) * e } else { r });
        }
    }
    unit(best.1)
}

fn unit(v: Vec3) -> Vec3 {
    let l = v.length();
    if l > 1e-100 && l < f64::INFINITY { v / l } else { Vec3::ZERO }
}
