//! Picture files: PNG and EXR stills, contact sheets, animated PNG and GIF.

mod animation;
mod exr;
mod font;
mod png;
mod sheet;

pub use animation::{write_apng, write_gif};
pub use exr::write_exr;
pub use png::write_png;
pub use sheet::Sheet;

use crate::error::RenderError;
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

    /// Writes a number with its top left corner at (x, y), light on a dark strip, letters `7 scale` pixels high.
    pub fn label(&mut self, text: &str, x: u32, y: u32, scale: u32) {
        font::write(self, text, x, y, scale);
    }
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
