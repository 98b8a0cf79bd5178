//! Picture files: PNG and EXR stills, contact sheets, animated PNG and GIF.

mod animation;
mod exr;
mod font;
mod png;
mod sheet;

pub use animation::{write_apng, write_gif};
pub use exr::write_exr;
pub use png::{read_png, write_png};
pub use sheet::Sheet;

use crate::error::RenderError;
use crate::look::Colour;
use std::path::Path;

/// Bytes for a screen: red, green and blue per pixel, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Width [pixels].
    pub width: u32,
    /// Height [pixels].
    pub height: u32,
    /// The pixels, `width · height` of them.
    pub pixels: Vec<[u8; 3]>,
}

impl Image {
    /// An image of one colour.
    pub fn filled(width: u32, height: u32, colour: [u8; 3]) -> Self {
        Self { width, height, pixels: vec![colour; width as usize * height as usize] }
    }

    /// Copies another image with its top left corner at (x, y); what stands out is cut off.
    pub fn paste(&mut self, other: &Self, x: u32, y: u32) {
        for row in 0..other.height.min(self.height.saturating_sub(y)) {
            let width = other.width.min(self.width.saturating_sub(x)) as usize;
            let from = (row * other.width) as usize;
            let to = ((y + row) * self.width + x) as usize;
            self.pixels[to..to + width].copy_from_slice(&other.pixels[from..from + width]);
        }
    }

    /// A part of the image with its top left corner at (x, y); what would stand out is black.
    pub fn part(&self, x: u32, y: u32, width: u32, height: u32) -> Self {
        let mut part = Self::filled(width, height, [0; 3]);
        let across = width.min(self.width.saturating_sub(x)) as usize;
        for row in 0..height.min(self.height.saturating_sub(y)) {
            let from = ((y + row) * self.width + x) as usize;
            let to = (row * width) as usize;
            part.pixels[to..to + across].copy_from_slice(&self.pixels[from..from + across]);
        }
        part
    }

    /// The image made smaller: every pixel is the mean light of what it covers.
    pub fn shrunk(&self, width: u32, height: u32) -> Self {
        if (width, height) == (self.width, self.height) {
            return self.clone();
        }
        let columns = spans(self.width, width);
        let rows = spans(self.height, height);
        let pixels = rows.iter().flat_map(|row| columns.iter().map(|column| self.mean(column, row)));
        Self { width, height, pixels: pixels.collect() }
    }

    /// Mean light over pixels with the given weights along x and y.
    fn mean(&self, columns: &[(u32, f32)], rows: &[(u32, f32)]) -> [u8; 3] {
        let mut sum = [0.0; 3];
        let mut weights = 0.0;
        for ((x, a), (y, b)) in rows.iter().flat_map(|r| columns.iter().map(move |c| (c, r))) {
            let [red, green, blue] = self.pixels[(y * self.width + x) as usize];
            for (s, light) in sum.iter_mut().zip(Colour::srgb(red, green, blue).0) {
                *s += a * b * light;
            }
            weights += a * b;
        }
        Colour(sum.map(|s| s / weights)).to_srgb()
    }

    /// How much there is to see: the mean difference between neighbours along rows [-], 0 to 255.
    pub fn detail(&self) -> f64 {
        let rows = self.pixels.chunks_exact(self.width.max(1) as usize);
        let pairs = rows.flat_map(|row| row.windows(2));
        let steps = pairs.map(|p| p[0].iter().zip(p[1]).map(|(a, b)| u64::from(a.abs_diff(b))).sum::<u64>());
        steps.sum::<u64>() as f64 / (3 * self.pixels.len().max(1)) as f64
    }

    /// Writes letters with their top left corner at (x, y), light on a dark strip, letters `7 scale` pixels high.
    pub fn label(&mut self, text: &str, x: u32, y: u32, scale: u32) {
        font::write(self, text, x, y, scale);
    }
}

/// For each of `to` equal parts of `from` pixels: the pixels it covers and how much of each.
fn spans(from: u32, to: u32) -> Vec<Vec<(u32, f32)>> {
    let step = f64::from(from) / f64::from(to);
    let span = |k: u32| {
        let (start, end) = (f64::from(k) * step, f64::from(k + 1) * step);
        let last = (end.ceil() as u32).clamp(1, from);
        let covered = |i: u32| (f64::from(i + 1).min(end) - f64::from(i).max(start)) as f32;
        (start as u32..last).map(|i| (i, covered(i))).filter(|(_, w)| *w > 0.0).collect()
    };
    (0..to).map(span).collect()
}

/// Writes a file aside and renames it, so that it is complete or absent.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), RenderError> {
    let fail = |error: std::io::Error| RenderError::Write { path: path.into(), reason: error.to_string() };
    if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(fail)?;
    }
    let mut aside = path.as_os_str().to_owned();
    aside.push(".part");
    std::fs::write(&aside, bytes).and_then(|()| std::fs::rename(&aside, path)).map_err(fail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shrinking_keeps_the_mean_light_and_the_places_of_things() {
        // White and black in turn: half the light, which is more than half of the scale of a screen.
        let pixels = (0..90 * 60).map(|k| [255 * ((k + k / 90) % 2) as u8; 3]).collect();
        let grey = Image { width: 90, height: 60, pixels }.shrunk(45, 30);
        assert!(grey.pixels.iter().all(|p| *p == [188; 3]), "{:?}", grey.pixels[0]);
        let mut image = Image::filled(90, 60, [10, 60, 120]);
        image.paste(&Image::filled(45, 60, [200, 30, 0]), 45, 0);
        for (width, height) in [(60, 40), (37, 23), (1, 1), (90, 7)] {
            let small = image.shrunk(width, height);
            assert_eq!(small.pixels.len() as u32, width * height);
            if width > 2 {
                assert_eq!(
                    (small.pixels[0], small.pixels[width as usize - 1]),
                    ([10, 60, 120], [200, 30, 0])
                );
            }
        }
        assert_eq!(image.shrunk(90, 60), image);
        assert_eq!(image.part(44, 3, 2, 1).pixels, [[10, 60, 120], [200, 30, 0]]);
        assert_eq!(image.part(89, 59, 2, 2).pixels, [[200, 30, 0], [0; 3], [0; 3], [0; 3]]);
    }

    #[test]
    fn pictures_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.png");
        let mut image = Image::filled(30, 20, [1, 2, 3]);
        image.paste(&Image::filled(10, 10, [250, 0, 7]), 5, 5);
        write_png(&file, &image).unwrap();
        assert_eq!(read_png(&file).unwrap(), image);
        std::fs::write(&file, "no picture").unwrap();
        let refused = read_png(&file).unwrap_err().to_string();
        assert!(refused.starts_with("cannot read ") && refused.contains("a.png: "), "{refused}");
    }

    #[test]
    fn edges_are_detail_and_plain_colours_are_none() {
        let plain = Image::filled(20, 10, [70; 3]);
        assert_eq!(plain.detail(), 0.0);
        let mut edge = plain.clone();
        edge.paste(&Image::filled(10, 10, [90; 3]), 10, 0);
        assert!((edge.detail() - 1.0).abs() < 1e-12, "{}", edge.detail());
    }
}
