//! Compression by physics ([Bri03] 5.5): an elastic body whose boundary is driven to the surface.
//!
//! The rest shape is the lattice. Boundary nodes move along the mesh normal by a part of their distance and are free in the
//! tangent plane; all other motion follows the internal forces, of edge and altitude springs or of finite elements. Nodes
//! relax one after another in the order of the optimisation, each along its own force over its own stiffness, so sweeps are
//! parallel with identical results. No step may invert an element or strain it beyond the limit.

use billow_elastic::{TetMaterial, TetRest};
use billow_geom::mesh::TET_FACES;
use billow_num::Vec3;

/// Internal forces of the body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Body {
    /// Edge springs and altitude springs of equal stiffness.
    Springs,
    /// Co-rotational finite elements with this Poisson's ratio [-], and a limit on their principal stretches: they stay
    /// between `1 / limit` and `limit` [-].
    Elements {
        /// Poisson's ratio [-].
        poisson: f64,
        /// Largest principal stretch [-].
        limit: f64,
    },
}

impl Body {
    /// Finite elements as chosen for meshing: nearly free to change volume, stretched to two and a half times at most.
    pub const ELEMENTS: Self = Self::Elements { poisson: 0.2, limit: 2.5 };
}

/// Force on a node and its stiffness, summed over its elements.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pull {
    pub(crate) force: Vec3,
    pub(crate) stiffness: f64,
}

/// The pull of the element made of a node at `x` and the triangle `opposite` it; `rest` are their places at rest,
/// node first.
pub(crate) fn pull(body: &Body, rest: [Vec3; 4], now: [Vec3; 4]) -> Pull {
    match body {
        Body::Springs => springs(rest, now),
        Body::Elements { poisson, .. } => elements(*poisson, rest, now),
    }
}

/// Edge springs to the three corners and the spring of the shortest altitude, all with force per strain over rest length.
fn springs(rest: [Vec3; 4], now: [Vec3; 4]) -> Pull {
    let mut pull = Pull::default();
    for k in 1..4 {
        let (length0, d) = (rest[k].distance(rest[0]), now[k] - now[0]);
        let length = d.length();
        if length > 0.0 {
            pull.force += d * ((length - length0) / (length * length0));
            pull.stiffness += 1.0 / length0;
        }
    }
    // Only the altitude shortened most acts; it pushes its corner and, by weights, the opposite face.
    let altitude = |x: &[Vec3; 4], k: usize| {
        let [a, b, c] = TET_FACES[k].map(|c| x[c]);
        let normal = (b - a).cross(c - a);
        let size = normal.length();
        (normal.dot(a - x[k]) / size, normal / size, [a, b, c])
    };
    let part = |k: usize| altitude(&now, k).0 / altitude(&rest, k).0;
    let k = (1..4).fold(0, |best, k| if part(k) < part(best) { k } else { best });
    let (height0, (height, normal, triangle)) = (altitude(&rest, k).0, altitude(&now, k));
    if height0 > 0.0 && height.is_finite() {
        let foot = now[k] + height * normal;
        let weight = if k == 0 { 1.0 } else { -barycentric(foot, triangle, now[0]) };
        pull.force += normal * (weight * (height - height0) / height0);
        pull.stiffness += weight * weight / height0;
    }
    pull
}

/// The weight of the corner at `corner` in the point `p` of a triangle's plane.
fn barycentric(p: Vec3, triangle: [Vec3; 3], corner: Vec3) -> f64 {
    let Some(k) = triangle.iter().position(|x| *x == corner) else { return 0.0 };
    let (a, b, c) = (triangle[k], triangle[(k + 1) % 3], triangle[(k + 2) % 3]);
    let normal = (b - a).cross(c - a);
    (b - p).cross(c - p).dot(normal) / normal.length_squared()
}

fn elements(poisson: f64, rest: [Vec3; 4], now: [Vec3; 4]) -> Pull {
    let Some(shape) = TetRest::new(rest) else { return Pull::default() };
    let lame = TetMaterial { young: 1.0, poisson }.lame();
    let b2 = shape.shape_gradients()[0].length_squared();
    Pull { force: shape.forces(now, lame)[0], stiffness: shape.volume * (lame[0] + 2.0 * lame[1]) * b2 }
}

/// How far the principal stretches of an element are beyond the limit: at most 1 when within [-].
pub(crate) fn overstrain(body: &Body, rest: [Vec3; 4], now: [Vec3; 4]) -> f64 {
    let Body::Elements { limit, .. } = body else { return 0.0 };
    let Some(shape) = TetRest::new(rest) else { return 0.0 };
    let stretches = billow_num::mat3::svd(&shape.gradient(now)).sigma;
    let largest = stretches.max_element().max(stretches.min_element().max(1e-12).recip());
    largest / limit
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: [Vec3; 4] = [
        Vec3::new(0.3, 0.3, 1.0),
        Vec3::new(0.0, 0.0, 0.0),
        Vec3::new(0.0, 1.0, 0.0),
        Vec3::new(1.0, 0.0, 0.0),
    ];

    #[test]
    fn bodies_rest_at_rest_and_resist_flattening() {
        for body in [Body::Springs, Body::ELEMENTS] {
            assert!(pull(&body, REST, REST).force.length() < 1e-12, "{body:?}");
            let mut flat = REST;
            flat[0].z = 0.3;
            let found = pull(&body, REST, flat);
            assert!(found.force.z > 0.0 && found.stiffness > 0.0, "{body:?}");
        }
    }

    #[test]
    fn altitude_springs_resist_what_edges_allow() {
        // The apex moves sideways through the plane's normal direction of a flat element: edges alone barely resist.
        let mut flat = REST;
        flat[0].z = 0.05;
        let found = springs(REST, flat);
        let edges: Vec3 = (1..4)
            .map(|k| {
                let (l0, d) = (REST[k].distance(REST[0]), flat[k] - flat[0]);
                d * ((d.length() - l0) / (d.length() * l0))
            })
            .sum();
        assert!(found.force.z > edges.z + 0.5, "{} against {}", found.force.z, edges.z);
    }

    #[test]
    fn strain_is_measured_by_the_largest_principal_stretch() {
        let twice = REST.map(|x| x * Vec3::new(2.0, 1.0, 1.0));
        let body = Body::Elements { poisson: 0.2, limit: 2.0 };
        assert!((overstrain(&body, REST, twice) - 1.0).abs() < 1e-9);
        assert_eq!(overstrain(&Body::Springs, REST, twice), 0.0);
    }
}
