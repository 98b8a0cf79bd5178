//! What is wrong with a scene, and where.
//!
//! Reading a scene never stops at the first mistake: every [`Problem`] is collected with the file, the bytes it
//! concerns, what was found, what is allowed and what to type instead. Rendering (colours, source excerpts) is the
//! caller's business; [`std::fmt::Display`] gives the plain `file:line:column: message` form.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// How much a [`Problem`] matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The scene can run, but probably does not mean what it says.
    Warning,
    /// The scene cannot run.
    Error,
}

/// One problem of a scene, with the place it concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Whether the scene can still run.
    pub severity: Severity,
    /// The file as the user would name it, or `--set` for an override on the command line.
    pub file: String,
    /// The whole text of that file, for source excerpts; empty when it could not be read.
    pub source: Arc<str>,
    /// The bytes of `source` that are wrong; always within it and on character borders.
    pub span: Range<usize>,
    /// Line of the span's start, counted from 1.
    pub line: usize,
    /// Column of the span's start in characters, counted from 1.
    pub column: usize,
    /// What is wrong, one sentence without a full stop.
    pub message: String,
    /// A few words to write under the marked bytes; may be empty.
    pub label: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Problem {
    /// A problem at `span` of `source`, an error without label or help.
    pub fn new(
        file: impl Into<String>,
        source: Arc<str>,
        span: Range<usize>,
        message: impl Into<String>,
    ) -> Self {
        let span = clamp(&source, span);
        let (line, column) = line_and_column(&source, span.start);
        Self {
            severity: Severity::Error,
            file: file.into(),
            source,
            span,
            line,
            column,
            message: message.into(),
            label: String::new(),
            help: None,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.severity == Severity::Error { "error" } else { "warning" };
        write!(f, "{}:{}:{}: {kind}: {}", self.file, self.line, self.column, self.message)?;
        if !self.label.is_empty() {
            write!(f, " ({})", self.label)?;
        }
        match &self.help {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

/// All problems of a scene, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl Problems {
    /// Whether any of them keeps the scene from running.
    pub fn any_errors(&self) -> bool {
        self.0.iter().any(|p| p.severity == Severity::Error)
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.0.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// The nearest valid range of `text`: inside it, on character borders.
fn clamp(text: &str, span: Range<usize>) -> Range<usize> {
    let floor = |i: usize| (0..=i.min(text.len())).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
    let start = floor(span.start);
    start..floor(span.end).max(start)
}

/// Line and column (in characters) of a byte, both counted from 1.
fn line_and_column(text: &str, byte: usize) -> (usize, usize) {
    let before = &text[..byte];
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_lines_and_characters() {
        let text: Arc<str> = "a = 1\nß = \"öä\"\n".into();
        let at = text.find("öä").expect("is there");
        let p = Problem::new("x.toml", text.clone(), at..at + 2, "wrong");
        assert_eq!((p.line, p.column), (2, 6));
        assert_eq!(p.to_string(), "x.toml:2:6: error: wrong");
        let beyond = Problem::new("x.toml", text.clone(), at + 1..999, "wrong");
        assert_eq!(beyond.span, at..text.len());
    }
}
