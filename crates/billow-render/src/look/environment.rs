//! What surrounds the subject: sky and ground.

use super::{Colour, require};
use serde::{Deserialize, Serialize};

/// The surroundings: light from all directions, a gradient from the horizon to the zenith.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sky {
    /// Radiance overhead.
    pub zenith: Colour,
    /// Radiance at and below the horizon.
    pub horizon: Colour,
    /// Factor on the light the sky casts on objects [-]; what the camera sees of the sky stays the same.
    pub light: f64,
}

impl Default for Sky {
    fn default() -> Self {
        Self { zenith: Colour([0.30, 0.42, 0.64]), horizon: Colour([0.62, 0.66, 0.71]), light: 0.7 }
    }
}

impl Sky {
    /// The same radiance from everywhere.
    pub fn uniform(radiance: f32) -> Self {
        Self { zenith: Colour::grey(radiance), horizon: Colour::grey(radiance), light: 1.0 }
    }

    pub(super) fn check(&self, found: &mut Vec<String>) {
        self.zenith.check(found, "sky.zenith", 1e6);
        self.horizon.check(found, "sky.horizon", 1e6);
        require(found, "sky.light", self.light, 0.0..=1e6);
    }
}

/// A level floor that fades into the horizon.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ground {
    /// Whether it is drawn.
    pub visible: bool,
    /// Its height along the up direction [m]; by default the lowest point of the frames shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<f64>,
    /// Its colour.
    pub colour: Colour,
    /// Second colour of checks on the ground; without one it is plain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checks: Option<Colour>,
    /// Side of a check [m]; by default a tenth of the subject's size, rounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check_size: Option<f64>,
    /// Roughness of its sheen [-]: 0 mirrors, 1 is dull.
    pub roughness: f64,
}

impl Default for Ground {
    fn default() -> Self {
        Self {
            visible: true,
            height: None,
            colour: Colour([0.46, 0.45, 0.44]),
            checks: None,
            check_size: None,
            roughness: 0.5,
        }
    }
}

impl Ground {
    pub(super) fn check(&self, found: &mut Vec<String>) {
        require(found, "ground.height", self.height.unwrap_or(0.0), -1e9..=1e9);
        require(found, "ground.check_size", self.check_size.unwrap_or(1.0), 1e-9..=1e9);
        require(found, "ground.roughness", self.roughness, 0.0..=1.0);
        self.colour.check(found, "ground.colour", 1.0);
        if let Some(colour) = self.checks {
            colour.check(found, "ground.checks", 1.0);
        }
    }
}
