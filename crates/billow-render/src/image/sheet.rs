//! Contact sheets: frames side by side with their numbers.

use super::{Image, font};

/// A sheet of equally large images.
#[derive(Clone, Debug)]
pub struct Sheet {
    columns: u32,
    rows: u32,
    image: Image,
    cell: [u32; 2],
    filled: u32,
}

/// Space between images [pixels].
const GAP: u32 = 4;

impl Sheet {
    /// An empty sheet of `columns` by `rows` images of `width` by `height` pixels.
    pub fn new(columns: u32, rows: u32, width: u32, height: u32) -> Self {
        let side = |n: u32, size: u32| n * size + (n + 1) * GAP;
        let image = Image::filled(side(columns, width), side(rows, height), [0x22, 0x23, 0x26]);
        Self { columns, rows, image, cell: [width, height], filled: 0 }
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
    pub fn add(&mut self, image: &Image, label: &str) {
        if self.filled >= self.columns * self.rows {
            return;
        }
        let (column, row) = (self.filled % self.columns, self.filled / self.columns);
        let x = GAP + column * (self.cell[0] + GAP);
        let y = GAP + row * (self.cell[1] + GAP);
        self.image.paste(image, x, y);
        let scale = (self.cell[1] / 120).clamp(1, 4);
        font::write(
            &mut self.image,
            label,
            x + 4 * scale,
            y + self.cell[1] - (font::HEIGHT + 4) * scale,
            scale,
        );
        self.filled += 1;
    }

    /// The finished sheet; rows that stayed empty are cut off.
    pub fn finish(self) -> Image {
        let rows = self.filled.div_ceil(self.columns).max(1);
        let height = rows * self.cell[1] + (rows + 1) * GAP;
        let mut image = Image::filled(self.image.width, height, [0; 3]);
        image.paste(
            &Image { height, pixels: self.image.pixels[..image.pixels.len()].to_vec(), ..self.image },
            0,
            0,
        );
        image
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
            sheet.add(&Image::filled(60, 40, [grey; 3]), "42");
        }
        let image = sheet.finish();
        assert_eq!((image.width, image.height), (2 * 60 + 3 * GAP, 2 * 40 + 3 * GAP));
        let at = |x: u32, y: u32| image.pixels[(x + y * image.width) as usize];
        assert_eq!((at(30, 10), at(100, 10), at(30, 60)), ([50; 3], [100; 3], [150; 3]));
        let label: Vec<_> = image.pixels.iter().filter(|p| **p == [0xf4, 0xf2, 0xee]).collect();
        assert!(label.len() > 60, "{}", label.len());
    }
}
