//! Runs out to other programs: OBJ, PLY and STL files per frame, and animated USD.
//!
//! OBJ, PLY and STL hold world coordinates, one file per frame and object or one per frame. USD holds the whole
//! animation in one file. Files appear whole or not at all. Grids have no place in these formats; what was left
//! out is listed in the [`Summary`].

mod names;
pub mod obj;
pub mod ply;
mod sequence;
pub mod stl;
mod surface;
pub mod tets;
pub mod usd;

pub use sequence::{SequenceFormat, SequenceOptions, write_sequence};
pub use usd::{UsdOptions, write_usd};

use crate::cache::{Reader, UpAxis};
use crate::error::Result;
use crate::frame::Frame;
use std::path::PathBuf;

/// Somewhere frames come from, in any order.
pub trait FrameSource {
    /// Numbers of the frames, increasing.
    fn frames(&self) -> &[u32];
    /// One of them.
    ///
    /// # Errors
    /// If it cannot be read.
    fn frame(&self, index: u32) -> Result<Frame>;
    /// Frames per second [1/s].
    fn fps(&self) -> f64;
    /// Which way is up.
    fn up_axis(&self) -> UpAxis;
    /// Title of the scene.
    fn title(&self) -> &str;
}

impl FrameSource for Reader {
    fn frames(&self) -> &[u32] {
        self.frames()
    }

    fn frame(&self, index: u32) -> Result<Frame> {
        self.read(index)
    }

    fn fps(&self) -> f64 {
        self.manifest().fps
    }

    fn up_axis(&self) -> UpAxis {
        self.manifest().up_axis
    }

    fn title(&self) -> &str {
        &self.manifest().title
    }
}

/// What an export wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The files, in the order they were written.
    pub files: Vec<PathBuf>,
    /// Their total size [bytes].
    pub bytes: u64,
    /// Number of frames.
    pub frames: usize,
    /// Objects that the format cannot hold, by name, each with the reason.
    pub skipped: Vec<(String, &'static str)>,
}

impl Summary {
    fn skip(&mut self, object: &str, reason: &'static str) {
        if !self.skipped.iter().any(|(name, _)| name == object) {
            self.skipped.push((object.to_owned(), reason));
        }
    }
}
