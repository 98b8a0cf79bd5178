//! How a run is shown: plain data that scene files fill in and a run's manifest carries.
//!
//! Every field may be left out; what is open is chosen from the frames to be shown (see `framing`). Lengths are in
//! metres of the scene. Colours are linear light; scene files may write them as `"#rrggbb"`.

mod camera;
mod colour;
mod environment;
mod light;
mod surface;

pub use camera::Camera;
pub use colour::Colour;
pub use environment::{Ground, Sky};
pub use light::{Light, LightKind};
pub use surface::{Finish, GridKind, Pattern, Surface};

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Camera, lights, surroundings and surfaces of a run. The default shows anything well.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Look {
    /// Where the viewer stands; what is left open is framed automatically.
    #[serde(skip_serializing_if = "is_default")]
    pub camera: Camera,
    /// Lights by name. None at all means three-point light around the subject.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub lights: BTreeMap<String, Light>,
    /// The surroundings.
    #[serde(skip_serializing_if = "is_default")]
    pub sky: Sky,
    /// The ground.
    #[serde(skip_serializing_if = "is_default")]
    pub ground: Ground,
    /// Surfaces by object name; objects not named here get a finish and colour by their kind and order.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub objects: BTreeMap<String, Surface>,
}

impl Look {
    /// Key of the look in the driver's part of a run's manifest.
    pub const MANIFEST_KEY: &'static str = "look";

    /// Everything in this look that cannot be shown, each with the key, the value and what is allowed.
    pub fn problems(&self) -> Vec<String> {
        let mut found = Vec::new();
        self.camera.check(&mut found);
        for (name, light) in &self.lights {
            light.check(&format!("light.{name}"), &mut found);
        }
        self.sky.check(&mut found);
        self.ground.check(&mut found);
        for (name, surface) in &self.objects {
            surface.check(name, &mut found);
        }
        found
    }
}

/// Keeps manifests short: what is as usual is left out.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Notes a value outside its range.
fn require(found: &mut Vec<String>, key: &str, value: f64, allowed: std::ops::RangeInclusive<f64>) {
    if !allowed.contains(&value) {
        found.push(format!("{key} = {value} must lie between {} and {}", allowed.start(), allowed.end()));
    }
}

/// Notes a vector with a bad number in it.
fn require_finite(found: &mut Vec<String>, key: &str, value: [f64; 3]) {
    if !value.iter().all(|x| x.is_finite()) {
        found.push(format!("{key} = {value:?} must be three finite numbers"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_survives_the_trip_through_json_and_empty_json_is_the_default() {
        let mut look = Look::default();
        look.lights.insert("key".into(), Light { power: 30.0, ..Light::default() });
        look.objects.insert(
            "flag".into(),
            Surface {
                finish: Some(Finish::Fabric),
                colour: Some(Colour::srgb(0xd9, 0x4f, 0x3d)),
                ..Surface::default()
            },
        );
        let text = serde_json::to_string(&look).unwrap();
        assert_eq!(serde_json::from_str::<Look>(&text).unwrap(), look);
        assert_eq!(serde_json::from_str::<Look>("{}").unwrap(), Look::default());
        assert!(Look::default().problems().is_empty() && look.problems().is_empty());
    }

    #[test]
    fn unknown_keys_and_impossible_values_are_refused() {
        assert!(serde_json::from_str::<Look>(r#"{"camera": {"fow": 30}}"#).is_err());
        let bad =
            r#"{"camera": {"fov": 300, "up": [0, 0, 0]}, "objects": {"a": {"roughness": 2, "ior": 0}}}"#;
        let problems = serde_json::from_str::<Look>(bad).unwrap().problems();
        assert_eq!(problems.len(), 4, "{problems:?}");
        assert!(problems.iter().any(|p| p.contains("camera.fov = 300")));
    }
}
