//! The surface (or the inside, for fog) of one object.

use super::{Colour, require};
use serde::{Deserialize, Serialize};

/// How one object is shown. Every field may be left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Surface {
    /// What it is made of; by default fabric for what deforms, glossy for what does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish: Option<Finish>,
    /// Colour of the surface, of a metal's reflection, or of the light left after `depth` of glass or water.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub colour: Option<Colour>,
    /// Colour of the other side of a fabric; by default the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub back: Option<Colour>,
    /// Pattern between `colour` and `second`, fixed to the material.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Pattern>,
    /// Second colour of the pattern; by default a darker `colour`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second: Option<Colour>,
    /// Length of the pattern's repeat [m]; by default an eighth of the object's size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    /// Roughness of reflections [-]: 0 mirrors, 1 is dull.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roughness: Option<f64>,
    /// Share of the light that a fabric lets through, scattered [-], 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub translucency: Option<f64>,
    /// Index of refraction of glass or water [-], 1 to 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ior: Option<f64>,
    /// Length of glass or water after which white light has taken on `colour` [m].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<f64>,
    /// Radiance emitted by the surface.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emission: Option<Colour>,
    /// Radius of particles and lines [m]; by default from their spacing. Half the width of drawn `edges`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
    /// How a grid is shown; by default a surface if its values change sign, fog if not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grid: Option<GridKind>,
    /// Extinction of fog per unit of grid value [1/m]; by default chosen so that the fog reads well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    /// Forward scattering of fog [-], -0.95 (back) to 0.95 (forward).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anisotropy: Option<f64>,
    /// Amplitude of sub-pixel noise on a level set, which turns a mirror into a glossy surface [m].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise: Option<f64>,
    /// Shows only the tetrahedra behind a plane through the middle of the body, whose normal this is; triangles have no
    /// inside and stay whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<[f64; 3]>,
    /// Colour of what `cut` lays open; by default that of the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inside: Option<Colour>,
    /// Colour of the edges of triangles, `radius` to either side; by default they are not drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edges: Option<Colour>,
    /// Leaves the object out.
    #[serde(skip_serializing_if = "super::is_default")]
    pub hidden: bool,
    /// Keeps facets flat instead of smoothing normals over them.
    #[serde(skip_serializing_if = "super::is_default")]
    pub flat: bool,
}

/// What a surface is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Finish {
    /// Dull on both sides, with a soft sheen, letting some light through.
    Fabric,
    /// Dull like chalk.
    Matte,
    /// Coloured with a clear coat, like plastic or glazed pottery.
    Glossy,
    /// Polished or brushed metal.
    Metal,
    /// Clear and refracting.
    Glass,
    /// Clear, refracting less, tinted with depth.
    Water,
}

/// Patterns fixed to the material: to `uv` if the frames have it, else to where the object was in its first frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pattern {
    /// One colour.
    Plain,
    /// A chessboard.
    Checks,
    /// Threads over and under each other.
    Weave,
    /// Stripes.
    Stripes,
}

/// How a grid is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GridKind {
    /// The surface where the values are zero.
    Surface,
    /// Fog whose density is the value.
    Fog,
}

impl Surface {
    pub(super) fn check(&self, name: &str, found: &mut Vec<String>) {
        let mut number = |key: &str, value: Option<f64>, allowed: std::ops::RangeInclusive<f64>| {
            if let Some(value) = value {
                require(found, &format!("the look of {name}: {key}"), value, allowed);
            }
        };
        number("scale", self.scale, 1e-9..=1e9);
        number("roughness", self.roughness, 0.0..=1.0);
        number("translucency", self.translucency, 0.0..=1.0);
        number("ior", self.ior, 1.0..=4.0);
        number("depth", self.depth, 1e-9..=1e9);
        number("radius", self.radius, 1e-9..=1e9);
        number("density", self.density, 0.0..=1e9);
        number("anisotropy", self.anisotropy, -0.95..=0.95);
        number("noise", self.noise, 0.0..=1e9);
        for (key, colour) in [
            ("colour", self.colour),
            ("back", self.back),
            ("second", self.second),
            ("inside", self.inside),
            ("edges", self.edges),
        ] {
            if let Some(colour) = colour {
                colour.check(found, &format!("the look of {name}: {key}"), 1.0);
            }
        }
        if let Some(cut) = self.cut
            && !(cut.iter().all(|c| c.is_finite()) && cut.iter().any(|c| *c != 0.0))
        {
            found.push(format!("the look of {name}: cut is {cut:?}; it must be a direction"));
        }
        if let Some(colour) = self.emission {
            colour.check(found, &format!("the look of {name}: emission"), 1e6);
        }
    }
}
