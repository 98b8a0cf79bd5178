//! Contact sheets: images side by side with their labels, as large as they are or as a file may be.

use super::png::{Effort, encode_still};
use super::{Image, font, write_whole};
use crate::error::RenderError;
use std::path::Path;

/// A sheet of equally large images.
#[derive(Clone, Debug)]
pub struct Sheet {
    columns: u32,
    rows: u32,
    cell: [u32; 2],
    images: Vec<(Image, String)>,
}

/// Space between images [pixels].
const GAP: u32 = 4;
/// Colour between them.
const BACKGROUND: [u8; 3] = [0x22, 0x23, 0x26];
/// Width below which nothing can be made out on an image [pixels].
const NARROWEST: u32 = 48;

impl Sheet {
    /// An empty sheet of `columns` by `rows` images of `width` by `height` pixels.
    pub fn new(columns: u32, rows: u32, width: u32, height: u32) -> Self {
        Self { columns, rows, cell: [width, height], images: Vec::new() }
    }

    /// Which of `count` frames a sheet shows: evenly spread, the first and the last among them.
    pub fn choose(columns: u32, rows: u32, count: usize) -> Vec<usize> {
        let cells = (columns * rows) as usize;
        if count <= cells {
            return (0..count).collect();
        }
        if cells == 1 {
            return vec![count - 1];
        }
        (0..cells).map(|k| (k * (count - 1) + (cells - 1) / 2) / (cells - 1)).collect()
    }

    /// Puts the next image on the sheet with a label in its lower left corner. A full sheet stays as it is.
    pub fn add(&mut self, image: Image, label: &str) {
        if self.images.len() < (self.columns * self.rows) as usize {
            self.images.push((image, label.to_owned()));
        }
    }

    /// The finished sheet; rows that stayed empty are left out.
    pub fn finish(&self) -> Image {
        self.lay_out(self.cell, |image| image.clone())
    }

    /// Writes the sheet as PNG of at most `most` bytes, with its images as large as that allows but not larger than
    /// they are. Labels stay sharp.
    ///
    /// # Errors
    /// If even images too small to make anything out take more, or the file cannot be written.
    pub fn write_png_within(&self, path: impl AsRef<Path>, most: usize) -> Result<(), RenderError> {
        let path = path.as_ref();
        let fail = |reason: String| RenderError::Write { path: path.into(), reason };
        let mut cell = self.cell;
        loop {
            let image = self.lay_out(cell, |image| image.shrunk(cell[0], cell[1]));
            let bytes = encode_still(&image, Effort::Smallest).map_err(|e| fail(e.to_string()))?;
            if bytes.len() <= most {
                return write_whole(path, &bytes);
            }
            // Bytes go with the area, or a little slower.
            let share = (most as f64 / bytes.len() as f64).sqrt();
            let width = ((f64::from(cell[0]) * share) as u32).min(cell[0] - 1);
            if width < NARROWEST {
                return Err(fail(format!(
                    "images of {} × {} pixels take {} bytes and {most} are allowed; put fewer on a sheet",
                    cell[0],
                    cell[1],
                    bytes.len()
                )));
            }
            cell = [width, (self.cell[1] * width).div_ceil(self.cell[0])];
        }
    }

    /// The images of a full sheet of `columns` by `rows`, with their labels.
    pub fn cells(sheet: &Image, columns: u32, rows: u32) -> Vec<Image> {
        let side = |whole: u32, n: u32| (whole.saturating_sub(GAP) / n.max(1)).saturating_sub(GAP);
        let (width, height) = (side(sheet.width, columns), side(sheet.height, rows));
        let corner = |k: u32| (GAP + k % columns * (width + GAP), GAP + k / columns * (height + GAP));
        (0..columns * rows).map(corner).map(|(x, y)| sheet.part(x, y, width, height)).collect()
    }

    /// The sheet with its images made `cell` large by `fit`.
    fn lay_out(&self, [width, height]: [u32; 2], fit: impl Fn(&Image) -> Image) -> Image {
        let side = |n: u32, size: u32| n * size + (n + 1) * GAP;
        let rows = (self.images.len() as u32).div_ceil(self.columns.max(1)).max(1);
        let mut sheet = Image::filled(side(self.columns, width), side(rows, height), BACKGROUND);
        let scale = (height / 120).clamp(1, 4);
        for (k, (image, label)) in (0u32..).zip(&self.images) {
            let x = GAP + k % self.columns * (width + GAP);
            let y = GAP + k / self.columns * (height + GAP);
            sheet.paste(&fit(image), x, y);
            font::write(
                &mut sheet,
                label,
                x + 4 * scale,
                (y + height).saturating_sub((font::HEIGHT + 4) * scale),
                scale,
            );
        }
        sheet
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_spread_evenly_with_both_ends() {
        assert_eq!(Sheet::choose(3, 1, 11), [0, 5, 10]);
        assert_eq!(Sheet::choose(3, 3, 5), [0, 1, 2, 3, 4]);
        assert_eq!(Sheet::choose(1, 1, 40), [39]);
        let many = Sheet::choose(4, 4, 241);
        assert_eq!((many.len(), many[0], many[15]), (16, 0, 240));
        assert!(many.windows(2).all(|w| (15..=17).contains(&(w[1] - w[0]))));
    }

    #[test]
    fn images_and_labels_land_in_their_cells() {
        let mut sheet = Sheet::new(2, 2, 60, 40);
        for grey in [50, 100, 150] {
            sheet.add(Image::filled(60, 40, [grey; 3]), "42");
        }
        let image = sheet.finish();
        assert_eq!((image.width, image.height), (2 * 60 + 3 * GAP, 2 * 40 + 3 * GAP));
        let at = |x: u32, y: u32| image.pixels[(x + y * image.width) as usize];
        assert_eq!((at(30, 10), at(100, 10), at(30, 60)), ([50; 3], [100; 3], [150; 3]));
        assert_eq!(at(100, 60), BACKGROUND);
        let cells = Sheet::cells(&image, 2, 2);
        assert_eq!(cells.len(), 4);
        assert!(cells.iter().all(|c| (c.width, c.height) == (60, 40)));
        let middle = [0, 1, 2, 3].map(|k: usize| cells[k].pixels[20 * 60 + 45]);
        assert_eq!(middle, [[50; 3], [100; 3], [150; 3], BACKGROUND]);
        let label: Vec<_> = image.pixels.iter().filter(|p| **p == [0xf4, 0xf2, 0xee]).collect();
        assert!(label.len() > 60, "{}", label.len());
    }

    /// Noise, which no compression shortens.
    fn noise(width: u32, height: u32, seed: u32) -> Image {
        let hash = |k: u32| {
            let k = (k ^ (k >> 16)).wrapping_mul(0x7feb_352d);
            let k = (k ^ (k >> 15)).wrapping_mul(0x846c_a68b);
            k ^ (k >> 16)
        };
        let pixel = |k: u32| hash(k + seed).to_be_bytes();
        let pixels = (0..width * height).map(|k| [pixel(k)[0], pixel(k)[1], pixel(k)[2]]).collect();
        Image { width, height, pixels }
    }

    fn size_of_png(path: &Path) -> [u32; 2] {
        let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
        let reader = png::Decoder::new(file).read_info().unwrap();
        [reader.info().width, reader.info().height]
    }

    #[test]
    fn a_sheet_shrinks_until_its_file_fits_and_no_further() {
        let folder = tempfile::tempdir().unwrap();
        let mut sheet = Sheet::new(2, 1, 160, 90);
        sheet.add(noise(160, 90, 0), "1");
        sheet.add(noise(160, 90, 99_999), "2");
        let file = folder.path().join("sheet.png");
        // Two images of noise take 2 · 160 · 90 · 3 bytes and a little more.
        sheet.write_png_within(&file, 100_000).unwrap();
        assert_eq!(size_of_png(&file), [2 * 160 + 3 * GAP, 90 + 2 * GAP]);
        for most in [80_000, 50_000, 20_000] {
            sheet.write_png_within(&file, most).unwrap();
            let bytes = std::fs::metadata(&file).unwrap().len() as usize;
            assert!(bytes <= most && bytes > most * 4 / 5, "{bytes} of {most}");
        }
        let refused = sheet.write_png_within(&file, 2_000).unwrap_err().to_string();
        assert!(refused.contains("2000 are allowed; put fewer on a sheet"), "{refused}");
    }
}
