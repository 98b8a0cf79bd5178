//! What can go wrong when pictures are made.

use std::fmt;
use std::path::PathBuf;

/// Why there is no picture.
#[derive(Debug)]
pub enum RenderError {
    /// A value of [`Settings`](crate::Settings) is out of range.
    Settings(String),
    /// The look of the run cannot be shown.
    Look(Vec<String>),
    /// A frame cannot be shown.
    Frame {
        /// Number of the frame.
        frame: u32,
        /// Name of the object.
        object: String,
        /// What is wrong with it.
        reason: String,
    },
    /// There is nothing to see.
    Empty {
        /// What was looked at.
        what: String,
    },
    /// The run could not be read.
    Cache(billow_io::Error),
    /// A picture could not be read.
    Read {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A picture could not be written.
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
}

impl fmt::Display for RenderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings(what) => write!(f, "{what}"),
            Self::Look(problems) => {
                write!(f, "the look of this run cannot be shown: {}", problems.join("; "))
            }
            Self::Frame { frame, object, reason } => write!(f, "frame {frame}, object `{object}`: {reason}"),
            Self::Empty { what } => write!(f, "{what}"),
            Self::Cache(error) => error.fmt(f),
            Self::Read { path, reason } => write!(f, "cannot read {}: {reason}", path.display()),
            Self::Write { path, reason } => write!(f, "cannot write {}: {reason}", path.display()),
        }
    }
}

impl std::error::Error for RenderError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Cache(error) => Some(error),
            _ => None,
        }
    }
}

impl From<billow_io::Error> for RenderError {
    fn from(error: billow_io::Error) -> Self {
        Self::Cache(error)
    }
}
