//! Why a run cannot be shown.

use std::fmt;
use std::net::SocketAddr;

/// Why a run cannot be shown.
#[derive(Debug)]
pub enum ViewError {
    /// The address cannot be listened on.
    Bind {
        /// The address asked for.
        address: SocketAddr,
        /// The system's answer.
        source: std::io::Error,
    },
    /// The folder holds no run that can be read.
    Run(billow_io::Error),
    /// The system gave no random numbers for the token, or no thread.
    System(String),
}

impl fmt::Display for ViewError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bind { address, source } => write!(
                f,
                "cannot listen on {address}: {source}; choose another address or port with --bind, or port 0 for a free one"
            ),
            Self::Run(error) => error.fmt(f),
            Self::System(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for ViewError {}

impl From<billow_io::Error> for ViewError {
    fn from(error: billow_io::Error) -> Self {
        Self::Run(error)
    }
}
