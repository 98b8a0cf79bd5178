//! The viewer: a thin-lens camera.

use super::{require, require_finite};
use serde::{Deserialize, Serialize};

/// A thin-lens camera. Without a position it stands where everything shown just fits the picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Camera {
    /// Where the camera stands [m]; by default far enough along `-direction` to see everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<[f64; 3]>,
    /// The point it looks at [m]; by default the middle of what is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<[f64; 3]>,
    /// Viewing direction used while the position is open; by default three quarters from the front, from above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<[f64; 3]>,
    /// Direction that points up in the picture; by default the run's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up: Option<[f64; 3]>,
    /// Angle between the lower and upper edges of the picture [°], 0.1 to 170.
    pub fov: f64,
    /// Room left around the subject when framed automatically, as a share of the picture [-], 0 to 0.45.
    pub margin: f64,
    /// Radius of the lens [m]; 0 keeps everything sharp, larger blurs what is away from the focus.
    pub lens: f64,
    /// Distance of sharp focus [m]; by default that of the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focus: Option<f64>,
    /// Share of the time between frames during which the shutter is open [-], 0 to 1; 0 freezes motion.
    pub shutter: f64,
    /// Exposure in stops [-]: each one doubles the brightness.
    pub exposure: f64,
}

impl Default for Camera {
    fn default() -> Self {
        Self {
            position: None,
            target: None,
            direction: None,
            up: None,
            fov: 30.0,
            margin: 0.06,
            lens: 0.0,
            focus: None,
            shutter: 0.5,
            exposure: 0.0,
        }
    }
}

impl Camera {
    pub(super) fn check(&self, found: &mut Vec<String>) {
        for (key, value) in [("position", self.position), ("target", self.target)] {
            if let Some(value) = value {
                require_finite(found, &format!("camera.{key}"), value);
            }
        }
        for (key, value) in [("direction", self.direction), ("up", self.up)] {
            if let Some(v) = value
                && !(v.iter().all(|x| x.is_finite()) && v.iter().any(|x| *x != 0.0))
            {
                found.push(format!("camera.{key} = {v:?} must be finite and not zero"));
            }
        }
        require(found, "camera.fov", self.fov, 0.1..=170.0);
        require(found, "camera.margin", self.margin, 0.0..=0.45);
        require(found, "camera.lens", self.lens, 0.0..=1e6);
        require(found, "camera.focus", self.focus.unwrap_or(1.0), 1e-9..=1e12);
        require(found, "camera.shutter", self.shutter, 0.0..=1.0);
        require(found, "camera.exposure", self.exposure, -30.0..=30.0);
    }
}
