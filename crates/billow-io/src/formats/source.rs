//! A mesh file being read: its bytes, and errors that say where in it things went wrong.

use crate::error::{Error, Result};
use std::fmt;
use std::path::{Path, PathBuf};

/// Where in a file something was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// Line of a text file, from 1.
    Line(usize),
    /// Offset in a binary file [bytes].
    Byte(usize),
    /// Nowhere in particular.
    File,
}

/// Why a mesh file could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeshError {
    /// The file.
    pub path: PathBuf,
    /// Where in the file.
    pub position: Position,
    /// What belongs there.
    pub expected: String,
    /// What is there.
    pub found: String,
}

impl fmt::Display for MeshError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        match self.position {
            Position::Line(line) => write!(f, ", line {line}")?,
            Position::Byte(byte) => write!(f, ", byte {byte}")?,
            Position::File => {}
        }
        write!(f, ": expected {}, found {}", self.expected, self.found)
    }
}

/// The path of a file, for messages.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) path: &'a Path,
}

impl Source<'_> {
    pub(crate) fn error(
        self,
        position: Position,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Error {
        Error::Mesh(Box::new(MeshError {
            path: self.path.to_path_buf(),
            position,
            expected: expected.into(),
            found: found.into(),
        }))
    }

    /// A finite number written in text.
    pub(crate) fn number(self, position: Position, token: Option<&[u8]>) -> Result<f64> {
        let value = token.and_then(|t| std::str::from_utf8(t).ok()).and_then(|t| t.parse::<f64>().ok());
        match value {
            Some(value) if value.is_finite() => Ok(value),
            Some(_) => Err(self.error(position, "a finite number", quote(token))),
            None => Err(self.error(position, "a number", quote(token))),
        }
    }

    /// Vertex numbers are 32 bits wide; a file with more vertices cannot be used.
    pub(crate) fn vertex_index(self, position: Position, index: usize) -> Result<u32> {
        u32::try_from(index)
            .map_err(|_| self.error(position, "fewer than 4294967296 vertices", format!("vertex {index}")))
    }
}

/// Text of a file as it can be printed: short, one line, no control characters.
pub(crate) fn quote(token: Option<&[u8]>) -> String {
    const LONGEST: usize = 40;
    let Some(token) = token else { return "the end of the line".into() };
    let text = String::from_utf8_lossy(&token[..token.len().min(LONGEST)]);
    let dots = if token.len() > LONGEST { "..." } else { "" };
    format!("\"{}{dots}\"", text.escape_debug())
}

/// White-space separated words with the line they stand on.
pub(crate) struct Words<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> Words<'a> {
    /// Words of `bytes`, whose first line is number `line`.
    pub(crate) fn new(bytes: &'a [u8], line: usize) -> Self {
        Self { bytes, at: 0, line }
    }

    /// Line of the word returned last.
    pub(crate) fn here(&self) -> Position {
        Position::Line(self.line)
    }

    /// What was not returned yet.
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// The rest of the current line, which is consumed.
    pub(crate) fn rest_of_line(&mut self) -> &'a [u8] {
        let rest = self.rest();
        let end = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
        self.at += end;
        rest[..end].trim_ascii()
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        while let Some(byte) = self.bytes.get(self.at).filter(|b| b.is_ascii_whitespace()) {
            self.line += usize::from(*byte == b'\n');
            self.at += 1;
        }
        let rest = self.rest();
        let len = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        self.at += len;
        (len > 0).then_some(&rest[..len])
    }
}
