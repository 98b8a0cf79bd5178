//! Separating directions of two elements at one time.
//!
//! The convex hull of the corner differences is a triangle for point and triangle, a parallelogram for two
//! edges; the best direction points from the origin to its closest point. Near contact that vector loses all
//! its digits, so it is rebuilt from the feature it belongs to: face normals by a cross product, edge
//! perpendiculars by projecting twice.

use billow_num::Vec3;

/// What the corner differences are those of.
pub(super) trait Hull {
    /// Corner differences at one time from the four corners; there are always four of them.
    fn differences(x: [Vec3; 4]) -> [Vec3; 4];
    /// Unnormalised normal of the hull, pointing away from the origin.
    fn face(d: &[Vec3; 4]) -> Vec3;
    /// A multiple of the vector between the middles of the elements.
    fn mean(d: &[Vec3; 4]) -> Vec3;
    /// Unit direction from the second element towards the first, or zero where none can be found.
    fn direction(d: &[Vec3; 4]) -> Vec3;
}

/// A point and a triangle: `p − a`, `p − b`, `p − c`, and `p − a` again.
pub(super) struct PointTriangle;

impl Hull for PointTriangle {
    #[inline(always)]
    fn differences([p, a, b, c]: [Vec3; 4]) -> [Vec3; 4] {
        [p - a, p - b, p - c, p - a]
    }

    #[inline(always)]
    fn face([a, b, c, _]: &[Vec3; 4]) -> Vec3 {
        facing((b - a).cross(c - a), *a)
    }

    #[inline(always)]
    fn mean([a, b, c, _]: &[Vec3; 4]) -> Vec3 {
        *a + *b + *c
    }

    fn direction(&[a, b, c, _]: &[Vec3; 4]) -> Vec3 {
        let n = (b - a).cross(c - a);
        // The origin projects inside when its three barycentric weights are positive.
        if b.cross(c).dot(n) >= 0.0 && c.cross(a).dot(n) >= 0.0 && a.cross(b).dot(n) >= 0.0 {
            let face = unit(facing(n, a));
            if face != Vec3::ZERO {
                return face;
            }
        }
        closest_edge([[a, b], [b, c], [c, a]])
    }
}

/// Two edges: `a0 − b0`, `a0 − b1`, `a1 − b0`, `a1 − b1`.
pub(super) struct TwoEdges;

impl Hull for TwoEdges {
    #[inline(always)]
    fn differences([a0, a1, b0, b1]: [Vec3; 4]) -> [Vec3; 4] {
        [a0 - b0, a0 - b1, a1 - b0, a1 - b1]
    }

    #[inline(always)]
    fn face([d00, d01, d10, _]: &[Vec3; 4]) -> Vec3 {
        facing((d10 - d00).cross(d00 - d01), *d00)
    }

    #[inline(always)]
    fn mean([d00, _, _, d11]: &[Vec3; 4]) -> Vec3 {
        *d00 + *d11
    }

    fn direction(&[d00, d01, d10, d11]: &[Vec3; 4]) -> Vec3 {
        let (e, f) = (d10 - d00, d00 - d01);
        let n = e.cross(f);
        let n2 = n.length_squared();
        // d00 + a e − b f is parallel to n for a, b in [0, 1].
        let (a, b) = (f.cross(d00).dot(n), e.cross(d00).dot(n));
        if n2 > 0.0 && a >= 0.0 && a <= n2 && b >= 0.0 && b <= n2 {
            return unit(facing(n, d00));
        }
        closest_edge([[d00, d01], [d10, d11], [d00, d10], [d01, d11]])
    }
}

#[inline(always)]
fn facing(n: Vec3, d: Vec3) -> Vec3 {
    if n.dot(d) < 0.0 { -n } else { n }
}

/// Unit vector to the closest point of the segments, perpendicular to its segment to the last digits.
fn closest_edge<const N: usize>(edges: [[Vec3; 2]; N]) -> Vec3 {
    let mut best = (f64::INFINITY, Vec3::ZERO);
    for [a, b] in edges {
        let e = b - a;
        let (s, l) = (-a.dot(e), e.length_squared());
        let inside = s > 0.0 && s < l;
        let r = if inside {
            a + (s / l) * e
        } else if s > 0.0 {
            b
        } else {
            a
        };
        let d = r.length_squared();
        if d < best.0 {
            best = (d, if inside { r - (r.dot(e) / l) * e } else { r });
        }
    }
    unit(best.1)
}

fn unit(v: Vec3) -> Vec3 {
    let l = v.length();
    if l > 1e-100 && l < f64::INFINITY { v / l } else { Vec3::ZERO }
}
