//! PNG stills.

use super::{Image, write_whole};
use crate::error::RenderError;
use crate::settings::Settings;
use std::path::Path;

/// Writes an image as PNG, eight bits per channel, sRGB.
///
/// # Errors
/// If the file cannot be written.
pub fn write_png(path: impl AsRef<Path>, image: &Image) -> Result<(), RenderError> {
    let path = path.as_ref();
    let bytes = encode_still(image, Effort::Balanced)
        .map_err(|error| RenderError::Write { path: path.into(), reason: error.to_string() })?;
    write_whole(path, &bytes)
}

/// Reads an image from a PNG file of eight bits per channel without transparency, such as [`write_png`] makes.
///
/// # Errors
/// If the file cannot be read or is of another kind.
pub fn read_png(path: impl AsRef<Path>) -> Result<Image, RenderError> {
    let path = path.as_ref();
    let fail = |reason: String| RenderError::Read { path: path.into(), reason };
    let file = std::fs::File::open(path).map_err(|e| fail(e.to_string()))?;
    let mut reader =
        png::Decoder::new(std::io::BufReader::new(file)).read_info().map_err(|e| fail(e.to_string()))?;
    let info = reader.info();
    let (width, height) = (info.width, info.height);
    if (info.color_type, info.bit_depth) != (png::ColorType::Rgb, png::BitDepth::Eight) {
        let reason =
            format!("{:?} of {:?} bits; eight-bit RGB is read here", info.color_type, info.bit_depth);
        return Err(fail(reason));
    }
    let pixels = u64::from(width) * u64::from(height);
    if pixels > Settings::MOST_PIXELS {
        return Err(fail(format!("{pixels} pixels; at most {} are read", Settings::MOST_PIXELS)));
    }
    let mut bytes = vec![0; 3 * pixels as usize];
    reader.next_frame(&mut bytes).map_err(|e| fail(e.to_string()))?;
    Ok(Image { width, height, pixels: bytes.as_chunks().0.to_vec() })
}

/// How much time is given to compression.
#[derive(Clone, Copy, Debug)]
pub(super) enum Effort {
    /// As much as pays.
    Balanced,
    /// All that helps, for files that are kept.
    Smallest,
}

/// An image as the bytes of a PNG file.
pub(super) fn encode_still(image: &Image, effort: Effort) -> Result<Vec<u8>, png::EncodingError> {
    encode(image, effort, None, |writer| writer.write_image_data(image.pixels.as_flattened()))
}

/// Encodes with the given number of animation frames; `fill` writes them.
pub(super) fn encode(
    image: &Image,
    effort: Effort,
    frames: Option<(u32, u16)>,
    fill: impl FnOnce(&mut png::Writer<&mut Vec<u8>>) -> Result<(), png::EncodingError>,
) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, image.width, image.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(match effort {
        Effort::Balanced => png::Compression::Balanced,
        Effort::Smallest => png::Compression::High,
    });
    encoder.set_filter(png::Filter::Adaptive);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    if let Some((count, delay_ms)) = frames {
        encoder.set_animated(count, 0)?;
        encoder.set_frame_delay(delay_ms, 1000)?;
    }
    let mut writer = encoder.write_header()?;
    fill(&mut writer)?;
    writer.finish()?;
    Ok(bytes)
}
