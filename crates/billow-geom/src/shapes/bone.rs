//! A bone: a round shaft with two balls at each end, as one surface.
//!
//! Cut by a half-plane that turns about the shaft (the z axis), the end of the bone is a disc joined to a
//! strip: at angle θ from the balls, a ball of radius R at distance d from the axis shows as a disc of radius
//! √(R² − d²sin²θ) centred at radius d·|cos θ|. The vertices sample these outlines, so all of them lie on the
//! exact surface, and the crease between the balls falls on a meridian.

use super::lathe::{Rings, revolve, turn};
use super::{counts, fits, positive, require};
use crate::{GeomError, TriMesh};
use std::f64::consts::TAU;

/// A bone along z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bone {
    /// Distance between the centres of the two ends [m], above two knob radii; default 1.
    pub length: f64,
    /// Radius of the shaft [m]; default 0.1.
    pub shaft_radius: f64,
    /// Radius R of each of the four balls [m]; default 0.2.
    pub knob_radius: f64,
    /// Distance d of the balls' centres from the axis [m]; √(R² − d²) must exceed the shaft radius; default
    /// 0.15.
    pub knob_offset: f64,
    /// Segments about the axis, a multiple of 4; default 32.
    pub segments: u32,
    /// Bands over each end and along the shaft, at least 2; default 12.
    pub bands: u32,
}

impl Default for Bone {
    fn default() -> Self {
        Self { length: 1.0, shaft_radius: 0.1, knob_radius: 0.2, knob_offset: 0.15, segments: 32, bands: 12 }
    }
}

impl Bone {
    /// The bone, closed. Vertices: `segments·(3·bands−1) + 2`; triangles: `2·segments·(3·bands−1)`.
    ///
    /// # Errors
    /// When a parameter is outside the range stated at its field.
    pub fn mesh(&self) -> Result<TriMesh, GeomError> {
        self.check()?;
        let (n, segments) = (self.bands, self.segments);
        let rings = Rings { count: 3 * n + 1, segments, closed: false, first_pole: true, last_pole: true };
        Ok(revolve(rings, |i, j| {
            let angle = TAU * f64::from(j) / f64::from(segments);
            // On the crease the balls stand at equal distance; the exact zero keeps mirror images equal.
            let across = if (4 * j) % (2 * segments) == segments { 0.0 } else { angle.cos().abs() };
            let end = |k: u32| self.end_outline(across, f64::from(k) / f64::from(n));
            let (r, z) = if i <= n {
                let (r, z) = end(i);
                (r, -z)
            } else if i < 2 * n {
                let z = end(n).1;
                (self.shaft_radius, z * (2.0 * f64::from(i - n) / f64::from(n) - 1.0))
            } else {
                end(3 * n - i)
            };
            turn(r, angle, z)
        }))
    }

    /// Point (r, z) at fraction `s` of the way from the notch on the axis over the knob to the shaft, in the
    /// half-plane with |cos θ| = `across`.
    fn end_outline(&self, across: f64, s: f64) -> (f64, f64) {
        let (big_r, d, z) = (self.knob_radius, self.knob_offset, 0.5 * self.length);
        let centre = d * across;
        let radius = (big_r * big_r - d * d * (1.0 - across * across)).sqrt();
        if s == 0.0 {
            return (0.0, z + (big_r * big_r - d * d).sqrt());
        }
        // Angles from the disc's centre, measured from the direction away from the axis.
        let notch = (-centre / radius).acos();
        let shaft = -((self.shaft_radius - centre) / radius).acos();
        let a = notch + s * (shaft - notch);
        if s == 1.0 {
            (self.shaft_radius, z + radius * a.sin())
        } else {
            (centre + radius * a.cos(), z + radius * a.sin())
        }
    }

    fn check(&self) -> Result<(), GeomError> {
        const OF: &str = "Bone";
        let (big_r, d) = (self.knob_radius, self.knob_offset);
        positive(OF, &[("length", self.length), ("shaft_radius", self.shaft_radius)])?;
        positive(OF, &[("knob_radius", big_r), ("knob_offset", d)])?;
        counts(OF, &[("segments", self.segments, 4), ("bands", self.bands, 2)])?;
        fits(OF, 3 * u64::from(self.segments) * u64::from(self.bands))?;
        let segments = f64::from(self.segments);
        require(self.segments.is_multiple_of(4), OF, "segments", segments, "a multiple of 4")?;
        require(d < big_r, OF, "knob_offset", d, format!("below the knob radius {big_r}"))?;
        let neck = (big_r * big_r - d * d).sqrt();
        require(
            self.shaft_radius < neck,
            OF,
            "shaft_radius",
            self.shaft_radius,
            format!("below {neck}, where the balls meet"),
        )?;
        require(self.length > 2.0 * big_r, OF, "length", self.length, format!("above {}", 2.0 * big_r))
    }
}
