//! Colours: linear red, green and blue, written as numbers or as `"#rrggbb"`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Linear light in the primaries of sRGB [-]. In files either `[r, g, b]` (linear) or `"#rrggbb"` (sRGB).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Colour(pub [f32; 3]);

impl Colour {
    /// Full reflection.
    pub const WHITE: Self = Self([1.0; 3]);
    /// No light.
    pub const BLACK: Self = Self([0.0; 3]);

    /// The same value in all three channels.
    pub const fn grey(value: f32) -> Self {
        Self([value; 3])
    }

    /// A colour as screens encode it.
    pub fn srgb(r: u8, g: u8, b: u8) -> Self {
        Self([r, g, b].map(|c| decode_srgb(f32::from(c) / 255.0)))
    }

    /// Reads `#rrggbb` or `#rgb`.
    pub fn parse(text: &str) -> Option<Self> {
        let digits: Vec<u8> = text
            .strip_prefix('#')?
            .chars()
            .map(|c| c.to_digit(16).map(|d| d as u8))
            .collect::<Option<_>>()?;
        match digits[..] {
            [r, g, b] => Some(Self::srgb(17 * r, 17 * g, 17 * b)),
            [a, b, c, d, e, f] => Some(Self::srgb(16 * a + b, 16 * c + d, 16 * e + f)),
            _ => None,
        }
    }

    /// The colour as screens encode it; what is brighter than white is cut off.
    pub fn to_srgb(self) -> [u8; 3] {
        self.0.map(|c| (encode_srgb(c.clamp(0.0, 1.0)) * 255.0).round() as u8)
    }

    pub(super) fn check(&self, found: &mut Vec<String>, key: &str, most: f32) {
        if !self.0.iter().all(|c| (0.0..=most).contains(c)) {
            found.push(format!("{key} = {:?} must have three values between 0 and {most}", self.0));
        }
    }
}

/// Linear light of an sRGB-encoded value.
pub(crate) fn decode_srgb(c: f32) -> f32 {
    if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

/// sRGB encoding of linear light.
pub(crate) fn encode_srgb(c: f32) -> f32 {
    if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 }
}

impl Serialize for Colour {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Through its shortest decimal form: 0.3 stays 0.3 in double precision.
        self.0.map(|c| c.to_string().parse::<f64>().unwrap_or_else(|_| f64::from(c))).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Colour {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a colour is [red, green, blue] or \"#rrggbb\"")]
        enum Form {
            Numbers([f32; 3]),
            Text(String),
        }
        match Form::deserialize(deserializer)? {
            Form::Numbers(rgb) => Ok(Self(rgb)),
            Form::Text(text) => Self::parse(&text).ok_or_else(|| {
                serde::de::Error::custom(format!(
                    "\"{text}\" is not a colour; write \"#rrggbb\" or [r, g, b]"
                ))
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_read_in_every_form() {
        assert_eq!(Colour::parse("#ffffff"), Some(Colour::WHITE));
        assert_eq!(Colour::parse("#f00"), Some(Colour([1.0, 0.0, 0.0])));
        assert_eq!(Colour::parse("red"), None);
        assert_eq!(serde_json::from_str::<Colour>("[0.5, 1, 2]").unwrap(), Colour([0.5, 1.0, 2.0]));
        assert_eq!(serde_json::from_str::<Colour>("\"#000000\"").unwrap(), Colour::BLACK);
        assert!(serde_json::from_str::<Colour>("\"#12345\"").unwrap_err().to_string().contains("#rrggbb"));
    }

    #[test]
    fn encoding_undoes_decoding() {
        for k in 0..=255u8 {
            let c = f32::from(k) / 255.0;
            assert!((encode_srgb(decode_srgb(c)) - c).abs() < 1e-5);
        }
    }
}
