//! Small letters for labels: digits and the few others they need, five by seven dots.

use super::Image;

/// Width and height of a letter and the step to the next [dots].
pub(super) const WIDTH: u32 = 5;
pub(super) const HEIGHT: u32 = 7;
pub(super) const ADVANCE: u32 = 6;

/// Rows from the top, five bits each, the leftmost highest.
fn rows(letter: char) -> [u8; 7] {
    match letter {
        '0' => [0x0e, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0e],
        '1' => [0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e],
        '2' => [0x0e, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1f],
        '3' => [0x1f, 0x02, 0x04, 0x02, 0x01, 0x11, 0x0e],
        '4' => [0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02],
        '5' => [0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e],
        '6' => [0x06, 0x08, 0x10, 0x1e, 0x11, 0x11, 0x0e],
        '7' => [0x1f, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08],
        '8' => [0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e],
        '9' => [0x0e, 0x11, 0x11, 0x0f, 0x01, 0x02, 0x0c],
        '.' => [0x00, 0x00, 0x00, 0x00, 0x00, 0x0c, 0x0c],
        's' => [0x00, 0x00, 0x0e, 0x10, 0x0e, 0x01, 0x1e],
        '-' => [0x00, 0x00, 0x00, 0x1f, 0x00, 0x00, 0x00],
        _ => [0; 7],
    }
}

/// Writes text with its top left corner at (x, y), each dot `scale` pixels wide, on a darkened strip.
pub(super) fn write(image: &mut Image, text: &str, x: u32, y: u32, scale: u32) {
    let length = text.chars().count() as u32 * ADVANCE * scale;
    darken(
        image,
        x.saturating_sub(2 * scale),
        y.saturating_sub(2 * scale),
        length + 3 * scale,
        (HEIGHT + 4) * scale,
    );
    for (k, letter) in text.chars().enumerate() {
        for (row, bits) in rows(letter).into_iter().enumerate() {
            for column in (0..WIDTH).filter(|c| bits >> (WIDTH - 1 - c) & 1 == 1) {
                let left = x + (k as u32 * ADVANCE + column) * scale;
                dot(image, left, y + row as u32 * scale, scale);
            }
        }
    }
}

fn dot(image: &mut Image, x: u32, y: u32, scale: u32) {
    for (i, j) in (0..scale * scale).map(|k| (k % scale, k / scale)) {
        if x + i < image.width && y + j < image.height {
            image.pixels[((y + j) * image.width + x + i) as usize] = [0xf4, 0xf2, 0xee];
        }
    }
}

fn darken(image: &mut Image, x: u32, y: u32, width: u32, height: u32) {
    for j in y..(y + height).min(image.height) {
        for i in x..(x + width).min(image.width) {
            let pixel = &mut image.pixels[(j * image.width + i) as usize];
            *pixel = pixel.map(|c| c / 3 + 10);
        }
    }
}
