//! Cup and funnel, each with walls of real thickness or as an open shell.

use super::lathe::lathe;
use super::round::line;
use super::{counts, positive, require};
use crate::{GeomError, TriMesh};
use billow_num::Vec2;

/// A cup that stands on z = 0 and opens upward.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cup {
    /// Outer radius at the bottom [m]; default 0.035.
    pub bottom_radius: f64,
    /// Outer radius at the rim [m]; default 0.045.
    pub top_radius: f64,
    /// Height [m]; default 0.1.
    pub height: f64,
    /// Thickness of wall (measured along the radius) and floor [m], below both radii and the height; default
    /// 0.004.
    pub thickness: f64,
    /// Segments about the axis, at least 3; default 48.
    pub segments: u32,
    /// Bands up the wall, at least 1; default 8.
    pub stacks: u32,
}

impl Default for Cup {
    fn default() -> Self {
        Self {
            bottom_radius: 0.035,
            top_radius: 0.045,
            height: 0.1,
            thickness: 0.004,
            segments: 48,
            stacks: 8,
        }
    }
}

impl Cup {
    /// The cup with walls, closed. Vertices: `2·segments·(stacks+1) + 2`; triangles: `4·segments·(stacks+1)`.
    ///
    /// # Errors
    /// When a parameter is outside the range stated at its field.
    pub fn mesh(&self) -> Result<TriMesh, GeomError> {
        self.check()?;
        let (t, inner) = (self.thickness, self.wall_radius(self.thickness) - self.thickness);
        let mut profile = vec![Vec2::ZERO];
        profile.extend(self.outer_wall());
        let rim = Vec2::new(self.top_radius - t, self.height);
        profile.extend(line(rim, Vec2::new(inner, t), self.stacks));
        profile.push(Vec2::new(0.0, t));
        lathe(&profile, self.segments, false)
    }

    /// The outer surface alone, open at the top and without thickness. Vertices: `segments·(stacks+1) + 1`;
    /// triangles: `segments·(2·stacks+1)`.
    ///
    /// # Errors
    /// When a parameter is outside the range stated at its field.
    pub fn shell(&self) -> Result<TriMesh, GeomError> {
        self.check()?;
        let mut profile = vec![Vec2::ZERO];
        profile.extend(self.outer_wall());
        lathe(&profile, self.segments, false)
    }

    fn check(&self) -> Result<(), GeomError> {
        const OF: &str = "Cup";
        let t = self.thickness;
        let (bottom, top, height) = (self.bottom_radius, self.top_radius, self.height);
        positive(
            OF,
            &[("bottom_radius", bottom), ("top_radius", top), ("height", height), ("thickness", t)],
        )?;
        counts(OF, &[("segments", self.segments, 3), ("stacks", self.stacks, 1)])?;
        let most = bottom.min(top).min(height);
        require(t < most, OF, "thickness", t, format!("below {most}, the smallest radius and the height"))
    }

    fn outer_wall(&self) -> Vec<Vec2> {
        line(Vec2::new(self.bottom_radius, 0.0), Vec2::new(self.top_radius, self.height), self.stacks)
    }

    /// Outer radius at height `z`.
    fn wall_radius(&self, z: f64) -> f64 {
        self.bottom_radius + (self.top_radius - self.bottom_radius) * z / self.height
    }
}

/// A funnel: a cone that narrows into a spout reaching down to z = 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Funnel {
    /// Inner radius of the spout [m]; default 0.1.
    pub spout_radius: f64,
    /// Inner radius of the rim [m], above that of the spout; default 0.5.
    pub rim_radius: f64,
    /// Length of the spout [m]; default 0.2.
    pub spout_length: f64,
    /// Height of the cone above the spout [m]; default 0.4.
    pub cone_height: f64,
    /// Thickness of the wall, measured along the radius [m]; default 0.03.
    pub thickness: f64,
    /// Segments about the axis, at least 3; default 48.
    pub segments: u32,
}

impl Default for Funnel {
    fn default() -> Self {
        Self {
            spout_radius: 0.1,
            rim_radius: 0.5,
            spout_length: 0.2,
            cone_height: 0.4,
            thickness: 0.03,
            segments: 48,
        }
    }
}

impl Funnel {
    /// Bands along the cone; the spout has half as many.
    const CONE_BANDS: u32 = 8;

    /// The funnel with walls, closed and of genus one. Vertices: `26·segments`; triangles: `52·segments`.
    ///
    /// # Errors
    /// When a parameter is outside the range stated at its field.
    pub fn mesh(&self) -> Result<TriMesh, GeomError> {
        self.check()?;
        let inner = self.inner_wall();
        let outer = inner.iter().map(|p| *p + Vec2::new(self.thickness, 0.0));
        let profile: Vec<Vec2> = outer.chain(inner.iter().rev().copied()).collect();
        lathe(&profile, self.segments, true)
    }

    /// The inner wall alone, open at both ends and without thickness, facing away from the axis. Vertices:
    /// `13·segments`; triangles: `24·segments`.
    ///
    /// # Errors
    /// When a parameter is outside the range stated at its field.
    pub fn shell(&self) -> Result<TriMesh, GeomError> {
        self.check()?;
        lathe(&self.inner_wall(), self.segments, false)
    }

    fn check(&self) -> Result<(), GeomError> {
        const OF: &str = "Funnel";
        let (spout, rim) = (self.spout_radius, self.rim_radius);
        positive(OF, &[("spout_radius", spout), ("rim_radius", rim), ("spout_length", self.spout_length)])?;
        positive(OF, &[("cone_height", self.cone_height), ("thickness", self.thickness)])?;
        require(spout < rim, OF, "spout_radius", spout, format!("below the rim radius {rim}"))
    }

    fn inner_wall(&self) -> Vec<Vec2> {
        let waist = Vec2::new(self.spout_radius, self.spout_length);
        let rim = Vec2::new(self.rim_radius, self.spout_length + self.cone_height);
        let mut wall = line(Vec2::new(self.spout_radius, 0.0), waist, Self::CONE_BANDS / 2);
        wall.extend(line(waist, rim, Self::CONE_BANDS).into_iter().skip(1));
        wall
    }
}
