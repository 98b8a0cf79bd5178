//! What a run has done, and why it could not go on.

use super::advance::Stuck;
use crate::Problems;
use billow_num::Vec3;
use billow_num::stages::Stages;
use std::fmt;
use std::path::{Path, PathBuf};

/// One finished frame.
#[derive(Clone, Debug)]
pub struct FrameReport {
    /// Frame number.
    pub index: u32,
    /// Simulated time [s].
    pub time: f64,
    /// Sub-steps taken, halves counted singly.
    pub sub_steps: u32,
    /// Sub-steps that failed and were halved.
    pub retries: u32,
    /// Crossing pairs of elements found by the exact audit; `None` if the frame was not audited.
    pub crossings: Option<u64>,
    /// Wall-clock time per stage.
    pub stages: Stages,
    /// Wall-clock time of the whole frame [s].
    pub seconds: f64,
}

/// A run, or the part of it that this call computed.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// Run directory.
    pub dir: PathBuf,
    /// First frame computed by this call.
    pub first: u32,
    /// Last frame on disk.
    pub last: u32,
    /// Last frame the run is meant to have.
    pub target: u32,
    /// Whether it stopped because it was asked to.
    pub cancelled: bool,
    /// Frames written by this call.
    pub frames: u32,
    /// Sub-steps taken by this call.
    pub sub_steps: u64,
    /// Sub-steps that failed and were halved.
    pub retries: u64,
    /// Crossing pairs over all audited frames of this call.
    pub crossings: u64,
    /// Wall-clock time per stage.
    pub stages: Stages,
    /// Wall-clock time of this call [s].
    pub seconds: f64,
}

impl RunReport {
    /// A run in `dir` of which nothing has been computed yet by this call.
    pub(crate) fn start(dir: &Path, first: u32, last: u32, target: u32) -> Self {
        Self {
            dir: dir.to_owned(),
            first,
            last,
            target,
            cancelled: false,
            frames: 0,
            sub_steps: 0,
            retries: 0,
            crossings: 0,
            stages: Stages::default(),
            seconds: 0.0,
        }
    }

    /// Whether the run has all its frames.
    pub fn finished(&self) -> bool {
        self.last >= self.target
    }
}

/// Why a run could not start or go on.
#[derive(Debug)]
pub enum RunError {
    /// The scene (or the copy of it in the run directory) has problems.
    Scene(Problems),
    /// The cache could not be read or written.
    Cache(Box<billow_io::Error>),
    /// The run directory is unfit: it holds another run, was made by another version, is in use.
    Refused {
        /// Run directory.
        dir: PathBuf,
        /// What is wrong.
        reason: String,
        /// What to do.
        help: String,
    },
    /// A sub-step failed even at the smallest length allowed.
    Step {
        /// The frame being computed; frames before it are on disk.
        frame: u32,
        /// Simulated time at which the step failed [s].
        time: f64,
        /// Length of the last attempt [s].
        dt: f64,
        /// How often the sub-step was halved.
        halvings: u32,
        /// Body, if one is to blame.
        body: Option<String>,
        /// Element of the body, if one is to blame.
        element: Option<u64>,
        /// Place in the world, if there is one [m].
        place: Option<Vec3>,
        /// What failed.
        reason: String,
    },
    /// A frame has crossing elements and the scene says that this ends the run.
    Crossing {
        /// The frame that was refused; frames before it are on disk.
        frame: u32,
        /// Number of crossing pairs.
        pairs: u64,
        /// The first of them, in words.
        first: String,
    },
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scene(problems) => write!(f, "{problems}"),
            Self::Cache(error) => write!(f, "{error}"),
            Self::Refused { dir, reason, help } => write!(f, "{}: {reason}; {help}", dir.display()),
            Self::Step { frame, time, dt, halvings, body, element, place, reason } => {
                write!(f, "frame {frame}, t = {time} s: {reason}")?;
                if let Some(body) = body {
                    write!(f, " (body `{body}`")?;
                    if let Some(element) = element {
                        write!(f, ", element {element}")?;
                    }
                    if let Some(p) = place {
                        write!(f, ", at [{:.6}, {:.6}, {:.6}] m", p.x, p.y, p.z)?;
                    }
                    write!(f, ")")?;
                }
                if *halvings > 0 {
                    write!(f, "; the sub-step was halved {halvings} times, down to {dt:e} s")?;
                }
                Ok(())
            }
            Self::Crossing { frame, pairs, first } => {
                write!(f, "frame {frame} has {pairs} crossing pairs of elements, first {first}")
            }
        }
    }
}

impl std::error::Error for RunError {}

impl From<billow_io::Error> for RunError {
    fn from(error: billow_io::Error) -> Self {
        Self::Cache(Box::new(error))
    }
}

impl RunError {
    /// A sub-step of `frame` that failed at its smallest length.
    pub(crate) fn step(frame: u32, stuck: Stuck) -> Self {
        let Stuck { time, dt, halvings, error } = stuck;
        let reason = format!("{} in stage `{}`", error.reason, error.stage);
        let (body, element, place) = (error.body, error.element, error.place);
        Self::Step { frame, time, dt, halvings, body, element, place, reason }
    }
}
