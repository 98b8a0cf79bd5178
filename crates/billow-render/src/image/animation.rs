//! Animated PNG and GIF.

use super::{Image, png, write_whole};
use crate::error::RenderError;
use std::collections::BTreeMap;
use std::path::Path;

/// Writes images as an animated PNG that repeats for ever.
///
/// # Errors
/// If there are no images, they differ in size, or the file cannot be written.
pub fn write_apng(path: impl AsRef<Path>, images: &[Image], fps: f64) -> Result<(), RenderError> {
    let path = path.as_ref();
    let first = first(path, images)?;
    let delay = (1000.0 / fps).round().clamp(1.0, 60_000.0) as u16;
    let bytes = png::encode(first, png::Effort::Balanced, Some((images.len() as u32, delay)), |writer| {
        images.iter().try_for_each(|image| writer.write_image_data(image.pixels.as_flattened()))
    })
    .map_err(|error| RenderError::Write { path: path.into(), reason: error.to_string() })?;
    write_whole(path, &bytes)
}

/// Writes images as an animated GIF that repeats for ever: one palette for all, with an ordered dither that stays put
/// from frame to frame.
///
/// # Errors
/// If there are no images, they differ in size or are larger than 65535 pixels, or the file cannot be written.
pub fn write_gif(path: impl AsRef<Path>, images: &[Image], fps: f64) -> Result<(), RenderError> {
    let path = path.as_ref();
    let first = first(path, images)?;
    let fail = |reason: String| RenderError::Write { path: path.into(), reason };
    let (Ok(width), Ok(height)) = (u16::try_from(first.width), u16::try_from(first.height)) else {
        return Err(fail(format!(
            "GIF holds at most 65535 × 65535 pixels, not {} × {}",
            first.width, first.height
        )));
    };
    let palette = palette(images);
    let mut nearest = BTreeMap::new();
    let mut bytes = Vec::new();
    let broken = |error: gif::EncodingError| fail(error.to_string());
    {
        let mut encoder =
            gif::Encoder::new(&mut bytes, width, height, palette.as_flattened()).map_err(broken)?;
        encoder.set_repeat(gif::Repeat::Infinite).map_err(broken)?;
        for image in images {
            let frame = gif::Frame {
                width,
                height,
                delay: (100.0 / fps).round().clamp(2.0, 6000.0) as u16,
                buffer: indices(image, &palette, &mut nearest).into(),
                ..gif::Frame::default()
            };
            encoder.write_frame(&frame).map_err(broken)?;
        }
    }
    write_whole(path, &bytes)
}

fn first<'a>(path: &Path, images: &'a [Image]) -> Result<&'a Image, RenderError> {
    let fail = |reason: &str| RenderError::Write { path: path.into(), reason: reason.into() };
    let first = images.first().ok_or_else(|| fail("an animation needs at least one image"))?;
    if images.iter().any(|i| (i.width, i.height) != (first.width, first.height)) {
        return Err(fail("the images of an animation must have the same size"));
    }
    Ok(first)
}

/// A box of colours with their counts.
struct Bucket {
    colours: Vec<([u8; 3], u32)>,
}

impl Bucket {
    /// The longest side and its length.
    fn longest(&self) -> (usize, u32) {
        (0..3)
            .map(|c| {
                let range = self.colours.iter().fold((255, 0), |(a, b), (p, _)| (p[c].min(a), p[c].max(b)));
                (c, u32::from(range.1.saturating_sub(range.0)))
            })
            .max_by_key(|(_, length)| *length)
            .unwrap_or((0, 0))
    }

    fn count(&self) -> u64 {
        self.colours.iter().map(|(_, n)| u64::from(*n)).sum()
    }

    /// Cuts the box at the median along its longest side.
    fn cut(mut self) -> [Self; 2] {
        let (axis, _) = self.longest();
        self.colours.sort_unstable_by_key(|(p, _)| (p[axis], *p));
        let half = self.count() / 2;
        let mut seen = 0;
        let middle = self.colours.iter().position(|(_, n)| {
            seen += u64::from(*n);
            seen > half
        });
        let at = middle.unwrap_or(0).clamp(1, self.colours.len() - 1);
        let upper = self.colours.split_off(at);
        [self, Self { colours: upper }]
    }

    fn mean(&self) -> [u8; 3] {
        let n = self.count().max(1);
        std::array::from_fn(|c| {
            let sum: u64 = self.colours.iter().map(|(p, k)| u64::from(p[c]) * u64::from(*k)).sum();
            ((sum + n / 2) / n) as u8
        })
    }
}

/// Up to 256 colours by median cut over at most about a million pixels, five bits per channel.
fn palette(images: &[Image]) -> Vec<[u8; 3]> {
    let total: usize = images.iter().map(|i| i.pixels.len()).sum();
    let stride = total.div_ceil(1 << 20).max(1);
    let mut counts: BTreeMap<[u8; 3], u32> = BTreeMap::new();
    for pixel in images.iter().flat_map(|i| &i.pixels).step_by(stride) {
        *counts.entry(pixel.map(|c| c & 0xf8 | c >> 5)).or_default() += 1;
    }
    let mut buckets = vec![Bucket { colours: counts.into_iter().collect() }];
    while buckets.len() < 256 {
        let weight =
            |b: &Bucket| if b.colours.len() < 2 { 0 } else { u64::from(b.longest().1) * b.count().isqrt() };
        let Some(k) =
            (0..buckets.len()).max_by_key(|k| weight(&buckets[*k])).filter(|k| weight(&buckets[*k]) > 0)
        else {
            break;
        };
        let halves = buckets.swap_remove(k).cut();
        buckets.extend(halves);
    }
    buckets.iter().map(Bucket::mean).collect()
}

/// Thresholds of a 4 × 4 ordered dither.
const DITHER: [[i16; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];

fn indices(image: &Image, palette: &[[u8; 3]], nearest: &mut BTreeMap<[u8; 3], u8>) -> Vec<u8> {
    let width = image.width as usize;
    let pick = |(k, pixel): (usize, &[u8; 3])| {
        let threshold = (DITHER[k / width % 4][k % width % 4] - 8) / 2;
        let shown = pixel.map(|c| (i16::from(c) + threshold).clamp(0, 255) as u8 & 0xfc);
        *nearest.entry(shown).or_insert_with(|| {
            let distance = |p: &[u8; 3]| -> i32 {
                // Green counts most, as for the eye.
                [2, 4, 1]
                    .iter()
                    .zip(p.iter().zip(shown))
                    .map(|(w, (a, b))| w * (i32::from(*a) - i32::from(b)).pow(2))
                    .sum()
            };
            (0..palette.len()).min_by_key(|i| distance(&palette[*i])).unwrap_or(0) as u8
        })
    };
    image.pixels.iter().enumerate().map(pick).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn images() -> Vec<Image> {
        (0..3u8)
            .map(|f| {
                let mut image = Image::filled(40, 30, [0, 0, 0]);
                for (k, p) in image.pixels.iter_mut().enumerate() {
                    *p = [(k % 40 * 6) as u8, (k / 40 * 8) as u8, 80 * f];
                }
                image
            })
            .collect()
    }

    #[test]
    fn an_animated_gif_comes_back_close_to_what_went_in() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.gif");
        write_gif(&path, &images(), 25.0).unwrap();
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut decoder = options.read_info(std::fs::File::open(&path).unwrap()).unwrap();
        for image in images() {
            let frame = decoder.read_next_frame().unwrap().unwrap();
            assert_eq!((frame.width, frame.height, frame.delay), (40, 30, 4));
            let worst = frame
                .buffer
                .chunks(4)
                .zip(&image.pixels)
                .flat_map(|(a, b)| (0..3).map(move |c| a[c].abs_diff(b[c])))
                .max();
            assert!(worst.unwrap() < 40, "{worst:?}");
        }
        assert!(decoder.read_next_frame().unwrap().is_none());
    }

    #[test]
    fn an_animated_png_holds_every_frame_exactly() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        write_apng(&path, &images(), 24.0).unwrap();
        let file = std::io::BufReader::new(std::fs::File::open(&path).unwrap());
        let mut reader = ::png::Decoder::new(file).read_info().unwrap();
        assert_eq!(reader.info().animation_control().unwrap().num_frames, 3);
        for image in images() {
            let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
            reader.next_frame(&mut buffer).unwrap();
            assert_eq!(buffer, image.pixels.as_flattened());
        }
    }

    #[test]
    fn animations_of_nothing_or_of_mixed_sizes_are_refused() {
        let path = Path::new("never-written.gif");
        assert!(write_gif(path, &[], 24.0).is_err());
        let mixed = [Image::filled(2, 2, [0; 3]), Image::filled(3, 2, [0; 3])];
        assert!(write_apng(path, &mixed, 24.0).unwrap_err().to_string().contains("same size"));
    }
}
