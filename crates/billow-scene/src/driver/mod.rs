//! The driver: frames and sub-steps, retries, audit, cache, checkpoints, resume.
//!
//! After every kept frame the frame and the state are on disk, each whole or not at all, so that killing the process
//! at any moment loses at most the frame being computed. Resuming continues from the last checkpoint bit for bit.

mod advance;
mod audit;
mod bundle;
mod drive;
mod progress;
mod report;
mod simulation;

pub use audit::{Auditor, FrameAudit, ObjectCrossing, OnCrossing};
pub use bundle::stored_scene;
pub(crate) use bundle::{header, store_files};
pub use drive::{Plan, Watch, drive};
pub use progress::{Event, Progress, Silent};
pub use report::{FrameReport, RunError, RunReport};
pub use simulation::{Simulation, StepError, StepErrorKind, StepReport};

use crate::Scene;
use billow_io::cache::{Reader, Status, Writer};
use billow_num::par;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// How to run a scene.
pub struct RunOptions<'a> {
    /// Run directory; made if missing, refused if it already holds a run.
    pub out: PathBuf,
    /// First frame to keep; those before it are computed but not stored.
    pub first: u32,
    /// Last frame to compute; the scene's own number of frames if `None`.
    pub frames: Option<u32>,
    /// Threads to use, at most 256; 0 means one per core. Results do not depend on it.
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
    /// Threads to use, at most 256; 0 means one per core. Results do not depend on it.
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
    let plan = scene.plan(options.first, options.frames.unwrap_or(scene.frames()));
    if plan.first > plan.last {
        return Err(RunError::Refused {
            dir: options.out.clone(),
            reason: format!("its first frame {} would lie after its last, {}", plan.first, plan.last),
            help: "ask for frames that the scene has".into(),
        });
    }
    let header = bundle::header(scene, &plan);
    let mut writer = match options.overwrite || never_began(&options.out) {
        true => Writer::replace(&options.out, &header)?,
        false => Writer::create(&options.out, &header)?,
    };
    bundle::store_files(scene, &writer)?;
    let mut simulation = scene.world();
    let watch = Watch { progress: options.progress, cancel: options.cancel };
    let result = with_threads(options.threads, || drive(&mut simulation, &plan, 0, &mut writer, watch));
    close(writer, result)
}

/// Continues the run in `dir` from its last checkpoint, bit for bit as if it had never stopped.
pub fn resume(dir: &Path, options: &ResumeOptions<'_>) -> Result<RunReport, RunError> {
    let reader = Reader::open(dir)?;
    if never_began(dir) && stored_scene(&reader).is_err() {
        return Err(RunError::Refused {
            dir: dir.to_owned(),
            reason: "the run was killed before it began".into(),
            help: "run the scene again into the same directory".into(),
        });
    }
    let version = bundle::version_of(&reader)?;
    if version != bundle::VERSION && !options.accept_other_version {
        return Err(RunError::Refused {
            dir: dir.to_owned(),
            reason: format!("version {version} of the program began this run, this is {}", bundle::VERSION),
            help: "continue with that version, or accept frames that may differ in the last bits \
                   (--accept-other-version)"
                .into(),
        });
    }
    let scene = stored_scene(&reader)?;
    let last = options.frames.unwrap_or(reader.manifest().last_frame);
    let plan = scene.plan(reader.manifest().first_frame, last);
    let mut simulation = scene.world();
    let kept = match reader.latest_checkpoint()? {
        Some((frame, state)) => {
            drive::restore(&mut simulation, &plan, frame, &state).map_err(|reason| RunError::Refused {
                dir: dir.to_owned(),
                reason: format!("the checkpoint of frame {frame} cannot be used: {reason}"),
                help: "run the scene again into another directory".into(),
            })?;
            Some(frame)
        }
        None => None,
    };
    if let Some(frame) = kept.filter(|frame| *frame >= last) {
        return nothing_left(&reader, frame, last);
    }
    let mut writer = Writer::resume(dir, kept)?;
    if writer.manifest().last_frame != last {
        writer.set_last_frame(last)?;
    }
    let watch = Watch { progress: options.progress, cancel: options.cancel };
    let first = kept.map_or(0, |frame| frame + 1);
    let result = with_threads(options.threads, || drive(&mut simulation, &plan, first, &mut writer, watch));
    close(writer, result)
}

/// Runs `f` on so many threads; absurd numbers, which the operating system would refuse, are cut.
pub(crate) fn with_threads<R: Send>(threads: usize, f: impl FnOnce() -> R + Send) -> R {
    const MOST_THREADS: usize = 256;
    par::with_threads(threads.min(MOST_THREADS), f)
}

/// Whether a run stands in `dir` that was killed before it stored anything worth keeping.
fn never_began(dir: &Path) -> bool {
    Reader::open(dir).is_ok_and(|run| run.frames().is_empty() && run.status() == Status::Interrupted)
}

/// Writes how the run ended into its manifest.
fn close(writer: Writer, result: Result<RunReport, RunError>) -> Result<RunReport, RunError> {
    match result {
        Ok(report) if report.cancelled => {
            writer.finish(Status::Interrupted, Some("stopped on request"))?;
            Ok(report)
        }
        Ok(report) => {
            writer.finish(Status::Finished, None)?;
            Ok(report)
        }
        Err(error) => {
            // The first error is the one to report; a disk that is full may well refuse this too.
            let _ = writer.finish(Status::Failed, Some(&error.to_string()));
            Err(error)
        }
    }
}

/// The report on a run that already has all its frames.
fn nothing_left(reader: &Reader, frame: u32, last: u32) -> Result<RunReport, RunError> {
    if frame == last && reader.status() != Status::Finished {
        // Killed after its last checkpoint, before it could say so.
        Writer::resume(reader.dir(), frame)?.finish(Status::Finished, None)?;
    }
    Ok(RunReport::start(reader.dir(), frame + 1, frame, last))
}
