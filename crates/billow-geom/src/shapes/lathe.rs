//! Surfaces swept around the z axis: the common part of most round shapes.
//!
//! A profile is a polyline in the half-plane (r, z). Turned about the axis it gives one ring of vertices per
//! point, or a single vertex where the profile touches the axis. Walk the profile with the outside on the
//! right, for instance up along an outer wall.

use super::{counts, fits, require};
use crate::{GeomError, TriMesh};
use billow_num::{Vec2, Vec3};
use std::f64::consts::TAU;

/// Turns the `profile` of points (radius, height) [m] about the z axis in `segments` steps.
///
/// The ends of the profile may lie on the axis (radius exactly 0), inner points may not. With `closed` the
/// last point joins the first, which gives a torus-like surface. Both ends on the axis, or `closed`, give a
/// closed surface.
///
/// Vertices: `segments` per point off the axis, one per point on it. Triangles: `2·segments` per profile
/// segment, `segments` where one end is on the axis.
///
/// # Errors
/// When there are fewer than three segments or too few points, a radius is negative or not finite, or a point
/// other than an end lies on the axis.
pub fn lathe(profile: &[Vec2], segments: u32, closed: bool) -> Result<TriMesh, GeomError> {
    const OF: &str = "lathe";
    counts(OF, &[("segments", segments, 3)])?;
    let least = if closed { 3 } else { 2 };
    let n = profile.len();
    require(n >= least, OF, "profile points", n as f64, format!("at least {least}"))?;
    for (i, p) in profile.iter().enumerate() {
        let end = !closed && (i == 0 || i + 1 == n);
        require(
            p.x > 0.0 || end && p.x == 0.0,
            OF,
            "radius",
            p.x,
            "positive, or 0 at an end of an open profile",
        )?;
        require(p.is_finite(), OF, "profile", p.y, "finite")?;
    }
    fits(OF, n as u64 * u64::from(segments))?;
    let on_axis = |i: usize| profile[i].x == 0.0;
    Ok(revolve(
        Rings { count: n as u32, segments, closed, first_pole: on_axis(0), last_pole: on_axis(n - 1) },
        |i, j| {
            let Vec2 { x: r, y: z } = profile[i as usize];
            turn(r, TAU * f64::from(j) / f64::from(segments), z)
        },
    ))
}

/// The point at radius `r`, angle `angle` and height `z`.
pub(super) fn turn(r: f64, angle: f64, z: f64) -> Vec3 {
    Vec3::new(r * angle.cos(), r * angle.sin(), z)
}

/// How the rings of a swept surface hang together.
#[derive(Clone, Copy)]
pub(super) struct Rings {
    /// Number of rings, poles included.
    pub(super) count: u32,
    /// Vertices per ring.
    pub(super) segments: u32,
    /// Whether the last ring joins the first.
    pub(super) closed: bool,
    /// Whether the first ring is a single vertex.
    pub(super) first_pole: bool,
    /// Whether the last ring is a single vertex.
    pub(super) last_pole: bool,
}

impl Rings {
    fn is_pole(&self, i: u32) -> bool {
        i == 0 && self.first_pole || i + 1 == self.count && self.last_pole
    }

    /// Number of vertex `j` of ring `i`.
    fn vertex(&self, i: u32, j: u32) -> u32 {
        match (i, self.is_pole(i)) {
            (0, true) => 0,
            (_, pole) => {
                let first = i * self.segments - if self.first_pole { self.segments - 1 } else { 0 };
                first + if pole { 0 } else { j % self.segments }
            }
        }
    }
}

/// Joins rings of vertices `position(ring, segment)` into a surface; see the module notes for the
/// orientation.
pub(super) fn revolve(rings: Rings, position: impl Fn(u32, u32) -> Vec3) -> TriMesh {
    let mut mesh = TriMesh::default();
    for i in 0..rings.count {
        let vertices = if rings.is_pole(i) { 1 } else { rings.segments };
        mesh.positions.extend((0..vertices).map(|j| position(i, j)));
    }
    let strips = if rings.closed { rings.count } else { rings.count - 1 };
    for i in 0..strips {
        let next = (i + 1) % rings.count;
        for j in 0..rings.segments {
            let [a, b] = [rings.vertex(i, j), rings.vertex(i, j + 1)];
            let [d, c] = [rings.vertex(next, j), rings.vertex(next, j + 1)];
            if !rings.is_pole(i) {
                mesh.triangles.push([a, b, c]);
            }
            if !rings.is_pole(next) {
                mesh.triangles.push([a, c, d]);
            }
        }
    }
    mesh
}
