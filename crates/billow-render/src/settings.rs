//! How a picture is made.

use crate::error::RenderError;

/// Size and effort of a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Width of the picture [pixels], 1 to 32768.
    pub width: u32,
    /// Height of the picture [pixels], 1 to 32768.
    pub height: u32,
    /// Most samples per pixel [-], 1 to 1048576. Noise falls with the square root.
    pub samples: u32,
    /// Noise at which a pixel is left alone before it has all its samples [-]: the standard error of its brightness
    /// over the square root of its brightness. 0 gives every pixel all samples.
    pub noise: f32,
    /// Most bounces of a path [-]; 1 is the direct light of lamps and sky alone. Looking straight through up to eight
    /// clear surfaces takes none away.
    pub bounces: u32,
    /// Greatest brightness of a single indirect contribution [-], against lone bright dots; infinite is exact.
    pub clamp: f32,
    /// Traces light focused by glass and water. Without it clear bodies let lamps shine straight through, which is
    /// free of noise.
    pub caustics: bool,
    /// Smooths what noise is left, guided by colours and normals.
    pub denoise: bool,
    /// Chooses among all possible pictures of the same scene.
    pub seed: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            width: 960,
            height: 540,
            samples: 128,
            noise: 0.01,
            bounces: 8,
            clamp: 8.0,
            caustics: false,
            denoise: true,
            seed: 0,
        }
    }
}

impl Settings {
    /// Most pixels of a picture or a sheet of pictures: what a few gigabytes hold while it is made.
    pub const MOST_PIXELS: u64 = 1 << 25;

    /// Quick pictures: few samples, one bounce, smoothed.
    pub fn preview() -> Self {
        Self { samples: 2, noise: 0.0, bounces: 2, ..Self::default() }
    }

    /// The true mean of the light, without any limit or smoothing.
    pub fn exact(width: u32, height: u32, samples: u32) -> Self {
        Self {
            width,
            height,
            samples,
            noise: 0.0,
            bounces: 64,
            clamp: f32::INFINITY,
            caustics: true,
            denoise: false,
            seed: 0,
        }
    }

    /// Checks every value.
    ///
    /// # Errors
    /// Names the first value outside its range.
    pub fn check(&self) -> Result<(), RenderError> {
        let bad = |what: String| Err(RenderError::Settings(what));
        if !(1..=32_768).contains(&self.width) || !(1..=32_768).contains(&self.height) {
            return bad(format!(
                "a picture of {} × {} pixels; each must lie between 1 and 32768",
                self.width, self.height
            ));
        }
        let pixels = u64::from(self.width) * u64::from(self.height);
        if pixels > Self::MOST_PIXELS {
            return bad(format!(
                "a picture of {} × {} is {:.0} million pixels; at most {:.0} million fit",
                self.width,
                self.height,
                pixels as f64 * 1e-6,
                Self::MOST_PIXELS as f64 * 1e-6
            ));
        }
        if !(1..=1 << 20).contains(&self.samples) {
            return bad(format!("{} samples per pixel; use 1 to 1048576", self.samples));
        }
        if !(self.noise >= 0.0 && self.noise.is_finite()) {
            return bad(format!("a noise of {}; it must not be negative", self.noise));
        }
        if self.clamp.is_nan() || self.clamp <= 0.0 {
            return bad(format!("a limit of {} on indirect light; it must be positive", self.clamp));
        }
        if self.bounces == 0 {
            return bad("0 bounces; direct light needs 1".into());
        }
        Ok(())
    }
}
