//! From linear light to what screens show.

use crate::image::Image;
use crate::look::Colour;
use crate::picture::Picture;
use billow_num::par;

/// Brightness up to which light is shown as it is.
const SHOULDER: f32 = 0.72;
/// How fast colours brighter than white turn pale.
const PALING: f32 = 0.12;

/// The picture for a screen: highlights are rolled off like film does, keeping their hue and
/// turning pale only when very bright; then encoded as sRGB.
pub fn develop(picture: &Picture) -> Image {
    let pixels = par::map(picture.radiance.len(), |k| Colour(film(picture.radiance[k])).to_srgb());
    Image { width: picture.width, height: picture.height, pixels }
}

/// The film's response to one colour.
fn film(colour: [f32; 3]) -> [f32; 3] {
    let colour = colour.map(|c| if c.is_finite() { c.max(0.0) } else { 0.0 });
    let peak = colour.iter().fold(0.0f32, |a, c| a.max(*c));
    if peak <= SHOULDER {
        return colour;
    }
    // A hyperbola that leaves the straight line smoothly at the shoulder and tends to one.
    let room = 1.0 - SHOULDER;
    let rolled = 1.0 - room * room / (peak + room - SHOULDER);
    let pale = 1.0 - 1.0 / (PALING * (peak - rolled) + 1.0);
    colour.map(|c| {
        let same_hue = c * rolled / peak;
        same_hue + (rolled - same_hue) * pale
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_film_is_continuous_rising_and_bounded() {
        let mut last = 0.0;
        for k in 0..4000 {
            let x = k as f32 * 0.005;
            let y = film([x, 0.5 * x, 0.1 * x])[0];
            assert!(y >= last && y - last < 0.006 && y < 1.0, "{x}: {y}");
            last = y;
        }
        assert_eq!(film([0.5, 0.2, 0.1]), [0.5, 0.2, 0.1]);
        assert_eq!(film([f32::NAN, -1.0, f32::INFINITY]), [0.0; 3]);
    }
}
