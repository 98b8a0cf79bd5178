//! The driver: frames and sub-steps, retries, audit, cache, checkpoints, resume.

mod progress;
mod report;

pub use progress::{Event, Progress, Silent};
pub use report::{FrameReport, RunError, RunReport};

use crate::Scene;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// How to run a scene.
pub struct RunOptions<'a> {
    /// Run directory; made if missing, refused if it already holds a run.
    pub out: PathBuf,
    /// Last frame to compute; the scene's own number of frames if `None`.
    pub frames: Option<u32>,
    /// Threads to use; 0 means one per core. Results do not depend on it.
    pub threads: usize,
    /// Replace a run that is already in `out`.
    pub overwrite: bool,
    /// Told about every sub-step and frame.
    pub progress: &'a dyn Progress,
    /// Set it to stop after the current sub-step; the run can then be resumed.
    pub cancel: &'a AtomicBool,
}

/// How to continue a run.
pub struct ResumeOptions<'a> {
    /// New last frame (to extend a finished run); the stored one if `None`.
    pub frames: Option<u32>,
    /// Threads to use; 0 means one per core. Results do not depend on it.
    pub threads: usize,
    /// Continue although another version of the program began the run: the rest may then differ in the last bits.
    pub accept_other_version: bool,
    /// Told about every sub-step and frame.
    pub progress: &'a dyn Progress,
    /// Set it to stop after the current sub-step; the run can then be resumed.
    pub cancel: &'a AtomicBool,
}

/// Runs `scene` from its initial state into `options.out`.
pub fn run(scene: &Scene, options: &RunOptions<'_>) -> Result<RunReport, RunError> {
    let _ = scene;
    Err(RunError::Cache(format!("{}: not connected yet", options.out.display())))
}

/// Continues the run in `dir` from its last checkpoint, bit for bit as if it had never stopped.
pub fn resume(dir: &Path, options: &ResumeOptions<'_>) -> Result<RunReport, RunError> {
    let _ = options;
    Err(RunError::Cache(format!("{}: not connected yet", dir.display())))
}
