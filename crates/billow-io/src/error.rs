//! Everything that can go wrong with a file, told with path, numbers and a way out.

use crate::formats::MeshError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a file could not be read or written.
#[derive(Debug)]
pub enum Error {
    /// The operating system refused an operation.
    Io {
        /// What was being done, as in "cannot {action} {path}".
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The operating system's answer.
        source: io::Error,
    },
    /// The disk, or the user's share of it, is full. Nothing that was stored before is lost.
    DiskFull {
        /// The file that did not fit.
        path: PathBuf,
        /// Its size [bytes].
        size: u64,
        /// The operating system's answer.
        source: io::Error,
    },
    /// A directory holds something else than a Billow run.
    NotARun {
        /// The directory.
        path: PathBuf,
        /// What was found there.
        found: String,
    },
    /// A directory already holds a run.
    RunExists {
        /// The directory.
        path: PathBuf,
    },
    /// Another process is writing the run.
    Locked {
        /// The directory.
        path: PathBuf,
        /// The process that holds the lock, if it told.
        owner: Option<u32>,
    },
    /// A file was written by a newer version of the program.
    NewerFormat {
        /// The file.
        path: PathBuf,
        /// Its format version.
        found: u32,
        /// The newest version this program reads.
        supported: u32,
    },
    /// A file is damaged: truncated, altered, or not what its name says.
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A frame that the run does not hold.
    NoSuchFrame {
        /// The run's directory.
        path: PathBuf,
        /// The frame asked for.
        index: u32,
        /// First and last frame present.
        present: Option<(u32, u32)>,
    },
    /// A value that cannot be stored: an invalid frame, a wrong order of frames, an impossible frame rate.
    Invalid {
        /// Where it was going to be stored.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A mesh file that cannot be read.
    Mesh(Box<MeshError>),
}

impl Error {
    /// Wraps an operating system error; a full disk becomes [`Error::DiskFull`].
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_path_buf(), source }
    }

    /// Like [`Error::io`] for writing `size` bytes: a full disk gets a message of its own.
    pub(crate) fn writing(path: &Path, size: u64) -> impl Fn(io::Error) -> Self {
        move |source| {
            let path = path.to_path_buf();
            match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                    Self::DiskFull { path, size, source }
                }
                _ => Self::Io { action: "write", path, source },
            }
        }
    }

    pub(crate) fn corrupt(path: &Path, what: impl Into<String>) -> Self {
        Self::Corrupt { path: path.to_path_buf(), what: what.into() }
    }

    pub(crate) fn invalid(path: &Path, what: impl Into<String>) -> Self {
        Self::Invalid { path: path.to_path_buf(), what: what.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { action, path, source } => write!(f, "cannot {action} {}: {source}", path.display()),
            Self::DiskFull { path, size, source } => write!(
                f,
                "disk full: {} needs {size} bytes ({source}). Everything written before is intact; free some space and resume",
                path.display()
            ),
            Self::NotARun { path, found } => write!(
                f,
                "{} is not the directory of a Billow run: {found}. Choose a new or empty directory",
                path.display()
            ),
            Self::RunExists { path } => write!(
                f,
                "{} already holds a run. Resume it, replace it explicitly, or choose another directory",
                path.display()
            ),
            Self::Locked { path, owner: Some(pid) } => {
                write!(
                    f,
                    "{} is being written by process {pid}. Wait for it or stop it first",
                    path.display()
                )
            }
            Self::Locked { path, owner: None } => {
                write!(
                    f,
                    "{} is being written by another process. Wait for it or stop it first",
                    path.display()
                )
            }
            Self::NewerFormat { path, found, supported } => write!(
                f,
                "{} has format version {found}, this program reads versions up to {supported}. Use a newer Billow",
                path.display()
            ),
            Self::Corrupt { path, what } => write!(f, "{} is damaged: {what}", path.display()),
            Self::NoSuchFrame { path, index, present: Some((first, last)) } => {
                write!(f, "{} holds no frame {index}; it has frames {first} to {last}", path.display())
            }
            Self::NoSuchFrame { path, index, present: None } => {
                write!(f, "{} holds no frame {index}; it has no frames yet", path.display())
            }
            Self::Mesh(error) => error.fmt(f),
            Self::Invalid { path, what } => write!(f, "cannot store {}: {what}", path.display()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } | Self::DiskFull { source, .. } => Some(source),
            _ => None,
        }
    }
}
