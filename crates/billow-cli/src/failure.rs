//! How a command ends when it does not end well: a message and an exit code.

use crate::diagnostics;
use billow::io;
use billow::render::RenderError;
use billow::scene::Problems;
use billow::scene::driver::RunError;
use std::fmt::Display;
use std::process::ExitCode;

/// Why a command failed. Each kind has its own exit code, so scripts can tell them apart.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The disk or the system would not do what was asked.
    System(String),
    /// The user's input cannot be used.
    BadInput(String),
    /// The scene has problems, each with its place in a file.
    BadScene(Problems),
    /// A guarantee does not hold: crossing elements, an unresolved step, a damaged frame.
    Guarantee(String),
    /// Stopped by the user; the run can be resumed.
    Interrupted(String),
}

impl Failure {
    /// Bad input, with a sentence that says what to do about it.
    pub(crate) fn bad_input(what: impl Display, help: impl Display) -> Self {
        Self::BadInput(format!("{what}\n  help: {help}"))
    }

    /// The process's exit code.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::System(_) => 1,
            Self::BadInput(_) | Self::BadScene(_) => 2,
            Self::Guarantee(_) => 3,
            Self::Interrupted(_) => 130,
        }
    }

    /// One word for `--json`.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::System(_) => "system",
            Self::BadInput(_) | Self::BadScene(_) => "bad-input",
            Self::Guarantee(_) => "guarantee",
            Self::Interrupted(_) => "interrupted",
        }
    }

    /// The message without colours or source excerpts.
    pub(crate) fn plain(&self) -> String {
        match self {
            Self::System(m) | Self::BadInput(m) | Self::Guarantee(m) | Self::Interrupted(m) => m.clone(),
            Self::BadScene(problems) => problems.to_string(),
        }
    }

    /// Shows the message to a person and returns the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        match self {
            Self::BadScene(problems) => diagnostics::show(&problems.0),
            Self::Interrupted(message) => eprintln!("{message}"),
            other => eprintln!("{} {}", diagnostics::error_prefix(), other.plain()),
        }
        ExitCode::from(self.code())
    }
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Self {
        Self::BadScene(problems)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let message = error.to_string();
        match error {
            io::Error::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                Self::BadInput(message)
            }
            io::Error::Io { .. } | io::Error::DiskFull { .. } => Self::System(message),
            io::Error::RunExists { path } => Self::bad_input(
                message,
                format!("`billow resume {}` goes on with it, --overwrite replaces it", path.display()),
            ),
            _ => Self::BadInput(message),
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        let message = error.to_string();
        match error {
            RunError::Scene(problems) => Self::BadScene(problems),
            RunError::Cache(error) => (*error).into(),
            RunError::Refused { .. } => Self::BadInput(message),
            RunError::Step { .. } | RunError::Crossing { .. } => Self::Guarantee(message),
        }
    }
}

impl From<RenderError> for Failure {
    fn from(error: RenderError) -> Self {
        let message = error.to_string();
        match error {
            RenderError::Cache(_) | RenderError::Read { .. } | RenderError::Write { .. } => {
                Self::System(message)
            }
            RenderError::Settings(_) | RenderError::Look(_) | RenderError::Empty { .. } => {
                Self::BadInput(message)
            }
            RenderError::Frame { .. } => Self::Guarantee(message),
        }
    }
}
