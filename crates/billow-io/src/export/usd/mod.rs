//! Animated USD: the whole run in one `.usda` (text) or `.usdc` (binary) file.
//!
//! One pass over the frames. Every value that changes is stored as soon as it is seen, and only its place is kept,
//! so memory does not grow with the length of the run: the text form collects values in a temporary file beside
//! the target, the binary form writes them where they stay. A value that stays the same is written once.

mod binary;
mod layer;
mod text;
mod track;
mod value;

use super::{FrameSource, Summary};
use crate::error::{Error, Result};
use layer::{Backend, Layer, Prim};
use std::path::Path;
use track::Tracks;

/// How a USD file is written.
#[derive(Clone, Debug, PartialEq)]
pub struct UsdOptions {
    /// Objects to write, by name; empty for all.
    pub objects: Vec<String>,
    /// Width of points that have no attribute `radius` [m]; positive.
    pub point_width: f32,
    /// Width of lines [m]; positive.
    pub line_width: f32,
}

impl Default for UsdOptions {
    fn default() -> Self {
        Self { objects: Vec::new(), point_width: 0.01, line_width: 0.005 }
    }
}

/// Writes all frames of a run into one USD file: text if its name ends in `.usda`, binary if in `.usdc` or `.usd`.
/// `progress` hears the number of each frame done.
///
/// # Errors
/// If there are no frames, one cannot be read, or the file cannot be written; nothing is left behind then.
pub fn write_usd(
    source: &impl FrameSource,
    path: impl AsRef<Path>,
    options: &UsdOptions,
    progress: impl FnMut(u32),
) -> Result<Summary> {
    let path = path.as_ref();
    let width_fits = |width: f32| width.is_finite() && width > 0.0;
    if !width_fits(options.point_width) || !width_fits(options.line_width) {
        let what = format!("widths {} and {} must be positive", options.point_width, options.line_width);
        return Err(Error::invalid(path, what));
    }
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
    match ending.as_str() {
        "usda" => write_with(text::TextBackend::create(path)?, source, path, options, progress),
        "usd" | "usdc" => write_with(binary::BinaryBackend::create(path)?, source, path, options, progress),
        _ => Err(Error::invalid(path, "USD files are called .usda (text), .usdc or .usd (binary)")),
    }
}

fn write_with<B: Backend>(
    mut backend: B,
    source: &impl FrameSource,
    path: &Path,
    options: &UsdOptions,
    mut progress: impl FnMut(u32),
) -> Result<Summary> {
    let (Some(first), Some(last)) = (source.frames().first(), source.frames().last()) else {
        return Err(Error::invalid(path, "the run has no frames"));
    };
    let mut summary = Summary::default();
    let mut tracks = Tracks::new(*first, options);
    for index in source.frames() {
        let frame = source.frame(*index)?;
        tracks.frame(&frame, &mut backend, &mut summary)?;
        summary.frames += 1;
        progress(*index);
    }
    let layer = Layer {
        documentation: format!("Billow run {:?}", source.title()),
        up_axis: source.up_axis(),
        fps: source.fps(),
        start: f64::from(*first),
        end: f64::from(*last),
        root: Prim {
            name: "World".into(),
            type_name: "Xform",
            display_name: None,
            attributes: Vec::new(),
            children: tracks.finish(&mut backend)?,
        },
    };
    summary.bytes = backend.finish(&layer)?;
    summary.files.push(path.to_path_buf());
    Ok(summary)
}
