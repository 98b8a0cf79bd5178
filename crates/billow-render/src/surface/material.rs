//! Materials: a finish with its numbers and texture, turned into a scattering function at each point.

use super::bsdf::{Bsdf, Top};
use super::{Texture, ggx};
use crate::look::Finish;
use crate::shape::Point;
use crate::vector::Vec3;

/// A finish ready for shading.
#[derive(Clone, Debug)]
pub(crate) struct Material {
    pub(crate) finish: Finish,
    pub(crate) texture: Texture,
    /// Texture of the other side of fabrics.
    pub(crate) back: Option<Texture>,
    pub(crate) roughness: f32,
    pub(crate) translucency: f32,
    pub(crate) ior: f32,
    pub(crate) emission: Vec3,
    /// What light crosses inside glass and water.
    pub(crate) medium: Medium,
    /// Colour of facets that a cut laid open, if another.
    pub(crate) inside: Option<Vec3>,
    /// Colour and half width [m] of the edges of facets, if they are drawn.
    pub(crate) edges: Option<(Vec3, f32)>,
}

/// The inside of a transparent body.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Medium {
    /// Absorption [1/m].
    pub(crate) absorption: Vec3,
}

impl Medium {
    /// White light takes on `colour` after `depth` metres.
    pub(crate) fn tinted(colour: Vec3, depth: f32) -> Self {
        Self { absorption: -colour.max(Vec3::splat(1e-4)).map(f32::ln) / depth }
    }

    /// What is left of light after a distance (Beer and Lambert).
    #[inline]
    pub(crate) fn transmittance(&self, distance: f32) -> Vec3 {
        (-self.absorption * distance).map(f32::exp)
    }
}

/// Sheen of fabrics.
const FABRIC_SHEEN: f32 = 0.35;

impl Material {
    /// Dull grey.
    pub(crate) fn matte(colour: Vec3) -> Self {
        Self {
            finish: Finish::Matte,
            texture: Texture::plain(colour),
            back: None,
            roughness: 1.0,
            translucency: 0.0,
            ior: 1.5,
            emission: Vec3::ZERO,
            medium: Medium::default(),
            inside: None,
            edges: None,
        }
    }

    /// Whether light passes straight through on its way to a lamp, tinted.
    #[inline]
    pub(crate) fn is_clear(&self) -> bool {
        matches!(self.finish, Finish::Glass | Finish::Water)
    }

    /// Share of light a clear body reflects.
    pub(crate) fn reflected(&self, cos: f32) -> f32 {
        super::fresnel::dielectric(cos, self.ior).0
    }

    /// Whether light from behind counts at this surface.
    pub(crate) fn is_translucent(&self) -> bool {
        self.finish == Finish::Fabric && self.translucency > 0.0
    }

    /// The scattering function at a point seen from outside (or inside).
    pub(crate) fn bsdf(&self, point: &Point, outside: bool) -> Bsdf {
        let alpha = (self.roughness * self.roughness).clamp(ggx::SMOOTHEST, 1.0);
        let colour = || self.colour(&self.texture, point);
        match self.finish {
            Finish::Matte => Bsdf::Layered { base: colour(), through: Vec3::ZERO, top: Top::Bare },
            Finish::Fabric => self.fabric(point, outside),
            Finish::Glossy => Bsdf::Layered { base: colour(), through: Vec3::ZERO, top: Top::Coat(alpha) },
            Finish::Metal => Bsdf::Metal { f0: colour(), alpha },
            Finish::Glass | Finish::Water => {
                let eta = if outside { self.ior } else { 1.0 / self.ior };
                Bsdf::Glass { eta, alpha: self.roughness * self.roughness }
            }
        }
    }

    /// The colour at a point: of an edge, of a cut, or of the texture.
    #[inline]
    fn colour(&self, texture: &Texture, point: &Point) -> Vec3 {
        match (self.edges, self.inside) {
            (Some((colour, width)), _) if point.edge < width => colour,
            (_, Some(inside)) if point.cut => inside,
            _ => texture.at(point.material),
        }
    }

    fn fabric(&self, point: &Point, outside: bool) -> Bsdf {
        let front = self.colour(&self.texture, point);
        let back = self.back.as_ref().map_or(front, |t| self.colour(t, point));
        let facing = if outside { front } else { back };
        // Light that comes through has met the dyes of both sides.
        let through = (front * back).map(f32::sqrt);
        Bsdf::Layered {
            base: facing * (1.0 - self.translucency),
            through: through * self.translucency,
            top: Top::Sheen(FABRIC_SHEEN),
        }
    }
}
