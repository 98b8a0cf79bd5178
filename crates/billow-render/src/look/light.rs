//! Lights with an extent, so that shadows are soft.

use super::{Colour, require, require_finite};
use serde::{Deserialize, Serialize};

/// One light.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Light {
    /// Its shape.
    pub kind: LightKind,
    /// Where it stands [m]; for a sun only the direction towards the target counts.
    pub position: [f64; 3],
    /// The point it shines at [m].
    pub target: [f64; 3],
    /// Radius of the disc or sphere [m], or of a sun as seen from the scene [°]; larger is softer.
    pub size: f64,
    /// Colour; its brightness multiplies the power.
    pub colour: Colour,
    /// Emitted power [W]; for a sun the power arriving per area facing it [W/m²].
    pub power: f64,
}

/// Shapes of lights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LightKind {
    /// A disc that shines from its front, like a soft box.
    #[default]
    Disc,
    /// A sphere that shines in all directions.
    Sphere,
    /// A distant disc, like the sun: parallel light with slightly soft shadows.
    Sun,
}

impl Default for Light {
    fn default() -> Self {
        Self {
            kind: LightKind::Disc,
            position: [2.0, -2.0, 4.0],
            target: [0.0; 3],
            size: 0.5,
            colour: Colour::WHITE,
            power: 100.0,
        }
    }
}

impl Light {
    pub(super) fn check(&self, key: &str, found: &mut Vec<String>) {
        require_finite(found, &format!("{key}.position"), self.position);
        require_finite(found, &format!("{key}.target"), self.target);
        if self.position == self.target {
            found.push(format!("{key}: position and target are both {:?}; move one", self.position));
        }
        let largest = if self.kind == LightKind::Sun { 80.0 } else { 1e6 };
        require(found, &format!("{key}.size"), self.size, 1e-4..=largest);
        require(found, &format!("{key}.power"), self.power, 0.0..=1e12);
        self.colour.check(found, &format!("{key}.colour"), 1e6);
    }
}
