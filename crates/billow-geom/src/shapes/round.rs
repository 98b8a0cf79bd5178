//! Sphere, torus, cylinder, capsule, cone, ring and gear: rings of vertices about the z axis.

use super::lathe::{Rings, lathe, revolve, turn};
use super::{counts, fits, positive, require};
use crate::{GeomError, TriMesh};
use billow_num::Vec2;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// A sphere of radius `radius` [m] with `segments` meridians and `rings` bands between the poles.
///
/// Vertices: `segments·(rings−1) + 2`; triangles: `2·segments·(rings−1)`.
///
/// # Errors
/// When the radius is not positive, or there are fewer than three segments or two rings.
pub fn uv_sphere(radius: f64, segments: u32, rings: u32) -> Result<TriMesh, GeomError> {
    positive("uv_sphere", &[("radius", radius)])?;
    counts("uv_sphere", &[("segments", segments, 3), ("rings", rings, 2)])?;
    let profile: Vec<Vec2> =
        (0..=rings).map(|i| arc(radius, PI * f64::from(i) / f64::from(rings) - FRAC_PI_2)).collect();
    lathe(&on_axis_at_ends(profile), segments, false)
}

/// A torus about z: a tube of radius `tube_radius` whose centre line has radius `radius` [m].
///
/// Vertices: `segments·tube_segments`; triangles: `2·segments·tube_segments`.
///
/// # Errors
/// When a radius is not positive, the tube would fill the hole, or there are fewer than three segments.
pub fn torus(radius: f64, tube_radius: f64, segments: u32, tube_segments: u32) -> Result<TriMesh, GeomError> {
    const OF: &str = "torus";
    positive(OF, &[("radius", radius), ("tube_radius", tube_radius)])?;
    counts(OF, &[("segments", segments, 3), ("tube_segments", tube_segments, 3)])?;
    require(tube_radius < radius, OF, "tube_radius", tube_radius, format!("below the radius {radius}"))?;
    let profile: Vec<Vec2> = (0..tube_segments)
        .map(|i| Vec2::new(radius, 0.0) + arc(tube_radius, TAU * f64::from(i) / f64::from(tube_segments)))
        .collect();
    lathe(&profile, segments, true)
}

/// A cylinder about z of radius `radius` and length `height` [m], its side cut into `stacks` bands.
///
/// With `caps` the ends are closed by fans about a centre vertex. Vertices: `segments·(stacks+1)`, and 2 with
/// caps; triangles: `2·segments·stacks`, and `2·segments` with caps.
///
/// # Errors
/// When a length is not positive, or there are fewer than three segments or no stack.
pub fn cylinder(
    radius: f64,
    height: f64,
    segments: u32,
    stacks: u32,
    caps: bool,
) -> Result<TriMesh, GeomError> {
    const OF: &str = "cylinder";
    positive(OF, &[("radius", radius), ("height", height)])?;
    counts(OF, &[("segments", segments, 3), ("stacks", stacks, 1)])?;
    let half = 0.5 * height;
    let mut profile = line(Vec2::new(radius, -half), Vec2::new(radius, half), stacks);
    if caps {
        profile.insert(0, Vec2::new(0.0, -half));
        profile.push(Vec2::new(0.0, half));
    }
    lathe(&profile, segments, false)
}

/// A capsule about z: a cylinder of length `length` between two half balls of radius `radius` [m].
///
/// Each half ball has `rings` bands, the cylinder one. Vertices: `2·segments·rings + 2`; triangles:
/// `4·segments·rings`.
///
/// # Errors
/// When a length is not positive, or there are fewer than three segments or no ring.
pub fn capsule(radius: f64, length: f64, segments: u32, rings: u32) -> Result<TriMesh, GeomError> {
    const OF: &str = "capsule";
    positive(OF, &[("radius", radius), ("length", length)])?;
    counts(OF, &[("segments", segments, 3), ("rings", rings, 1)])?;
    let quarter = |i: u32| arc(radius, FRAC_PI_2 * f64::from(i) / f64::from(rings));
    let top = (0..=rings).map(|i| quarter(i) + Vec2::new(0.0, 0.5 * length));
    let bottom = top.clone().rev().map(|p| Vec2::new(p.x, -p.y));
    lathe(&on_axis_at_ends(bottom.chain(top).collect()), segments, false)
}

/// A cone about z with base radius `radius` at z = 0 and its tip at z = `height` [m], the side cut into
/// `stacks` bands.
///
/// With `cap` the base is closed by a fan about a centre vertex. Vertices: `segments·stacks + 1`, and 1 with
/// a cap; triangles: `segments·(2·stacks−1)`, and `segments` with a cap.
///
/// # Errors
/// When a length is not positive, or there are fewer than three segments or no stack.
pub fn cone(radius: f64, height: f64, segments: u32, stacks: u32, cap: bool) -> Result<TriMesh, GeomError> {
    const OF: &str = "cone";
    positive(OF, &[("radius", radius), ("height", height)])?;
    counts(OF, &[("segments", segments, 3), ("stacks", stacks, 1)])?;
    let mut profile = line(Vec2::new(radius, 0.0), Vec2::new(0.0, height), stacks);
    if cap {
        profile.insert(0, Vec2::ZERO);
    }
    lathe(&profile, segments, false)
}

/// A flat ring about z with bevelled edges, the nonconvex body to stack or to drop over a peg.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ring {
    /// Radius of the hole [m]; default 0.5.
    pub inner_radius: f64,
    /// Outer radius [m], above the inner; default 1.
    pub outer_radius: f64,
    /// Height [m]; default 0.3.
    pub height: f64,
    /// Width of the bevel [m], below half the height and half the width of the ring; default 0.08.
    pub bevel: f64,
    /// Segments about the axis, at least 3; default 20.
    pub segments: u32,
}

impl Default for Ring {
    fn default() -> Self {
        Self { inner_radius: 0.5, outer_radius: 1.0, height: 0.3, bevel: 0.08, segments: 20 }
    }
}

impl Ring {
    /// The ring, closed. Vertices: `8·segments`; triangles: `16·segments` (320 by default).
    ///
    /// # Errors
    /// When a parameter is outside the range stated at its field.
    pub fn mesh(&self) -> Result<TriMesh, GeomError> {
        const OF: &str = "Ring";
        let Self { inner_radius: a, outer_radius: b, height, bevel, segments } = *self;
        positive(OF, &[("inner_radius", a), ("outer_radius", b), ("height", height), ("bevel", bevel)])?;
        require(a < b, OF, "inner_radius", a, format!("below the outer radius {b}"))?;
        let most = 0.5 * height.min(b - a);
        require(
            bevel < most,
            OF,
            "bevel",
            bevel,
            format!("below {most}, half the height and half the width"),
        )?;
        let h = 0.5 * height;
        let outer = [(b - bevel, -h), (b, bevel - h), (b, h - bevel), (b - bevel, h)];
        let inner = [(a + bevel, h), (a, h - bevel), (a, bevel - h), (a + bevel, -h)];
        let profile: Vec<Vec2> = outer.into_iter().chain(inner).map(Vec2::from).collect();
        lathe(&profile, segments, true)
    }
}

/// A spur gear about z with straight-flanked teeth and an optional bore.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gear {
    /// Number of teeth, at least 3; default 12.
    pub teeth: u32,
    /// Radius at the bottom of the teeth [m]; default 0.8.
    pub root_radius: f64,
    /// Radius at the top of the teeth [m], above the root radius; default 1.
    pub tip_radius: f64,
    /// Radius of the bore [m], below the root radius; 0 for none; default 0.3.
    pub bore_radius: f64,
    /// Height [m]; default 0.3.
    pub height: f64,
}

impl Default for Gear {
    fn default() -> Self {
        Self { teeth: 12, root_radius: 0.8, tip_radius: 1.0, bore_radius: 0.3, height: 0.3 }
    }
}

impl Gear {
    /// Share of a pitch taken by the tip and by each flank; the gap at the root takes the rest.
    const TIP: f64 = 0.3;
    const FLANK: f64 = 0.15;

    /// The gear, closed. Each tooth has four angles: with a bore `16·teeth` vertices and `32·teeth`
    /// triangles, without `8·teeth + 2` and `16·teeth`.
    ///
    /// # Errors
    /// When a parameter is outside the range stated at its field.
    pub fn mesh(&self) -> Result<TriMesh, GeomError> {
        const OF: &str = "Gear";
        let Self { teeth, root_radius: root, tip_radius: tip, bore_radius: bore, height } = *self;
        positive(OF, &[("root_radius", root), ("tip_radius", tip), ("height", height)])?;
        counts(OF, &[("teeth", teeth, 3)])?;
        require(root < tip, OF, "root_radius", root, format!("below the tip radius {tip}"))?;
        require(
            (0.0..root).contains(&bore),
            OF,
            "bore_radius",
            bore,
            format!("at least 0 and below the root radius {root}"),
        )?;
        fits(OF, 16 * u64::from(teeth))?;
        let angles = [0.0, Self::TIP, Self::TIP + Self::FLANK, 1.0 - Self::FLANK];
        let outline = |j: u32| {
            let radius = if j % 4 < 2 { tip } else { root };
            (radius, TAU * (f64::from(j / 4) + angles[j as usize % 4]) / f64::from(teeth))
        };
        let h = 0.5 * height;
        let solid = bore == 0.0;
        let rings =
            Rings { count: 4, segments: 4 * teeth, closed: !solid, first_pole: solid, last_pole: solid };
        // Profile: bottom inside, bottom outside, top outside, top inside.
        Ok(revolve(rings, |i, j| {
            let (radius, angle) = outline(j);
            turn(if i == 0 || i == 3 { bore } else { radius }, angle, if i < 2 { -h } else { h })
        }))
    }
}

fn arc(radius: f64, angle: f64) -> Vec2 {
    radius * Vec2::new(angle.cos(), angle.sin())
}

/// The points of a straight profile cut into `n` parts.
pub(super) fn line(from: Vec2, to: Vec2, n: u32) -> Vec<Vec2> {
    (0..=n).map(|i| from.lerp(to, f64::from(i) / f64::from(n))).collect()
}

/// Puts the ends of a profile exactly on the axis.
fn on_axis_at_ends(mut profile: Vec<Vec2>) -> Vec<Vec2> {
    if let [first, .., last] = profile.as_mut_slice() {
        (first.x, last.x) = (0.0, 0.0);
    }
    profile
}
