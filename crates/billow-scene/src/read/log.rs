//! The texts a scene was read from and the problems found in them.

use crate::{Problem, Problems, Severity};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most problems one load reports; a file of garbage should not fill the terminal.
const MOST_PROBLEMS: usize = 100;

/// Some bytes of one of the files of a [`Log`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Span {
    /// Index of the file.
    pub(crate) file: usize,
    /// First byte.
    pub(crate) start: usize,
    /// One past the last byte.
    pub(crate) end: usize,
}

/// A text that was read.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// What the user calls it.
    pub(crate) name: String,
    /// Where it is; relative paths inside it start from its folder.
    pub(crate) path: PathBuf,
    /// The text.
    pub(crate) text: Arc<str>,
}

/// Collects sources and problems while a scene is read.
#[derive(Debug, Default)]
pub(crate) struct Log {
    sources: Vec<Source>,
    problems: Vec<(Span, Problem)>,
    left_out: usize,
}

impl Log {
    /// Adds a text and returns its index.
    pub(crate) fn add_source(&mut self, name: String, path: &Path, text: &str) -> usize {
        self.sources.push(Source { name, path: path.to_owned(), text: text.into() });
        self.sources.len() - 1
    }

    /// The text with index `file`.
    pub(crate) fn source(&self, file: usize) -> &Source {
        &self.sources[file]
    }

    /// The bytes of a span.
    pub(crate) fn text(&self, span: Span) -> &str {
        self.sources[span.file].text.get(span.start..span.end).unwrap_or("")
    }

    /// Notes an error at `span`; the returned problem may be given a label and help.
    pub(crate) fn error(&mut self, span: Span, message: impl Into<String>) -> &mut Problem {
        let source = &self.sources[span.file];
        let problem = Problem::new(source.name.clone(), source.text.clone(), span.start..span.end, message);
        if self.problems.len() >= MOST_PROBLEMS {
            self.left_out += 1;
            self.problems.truncate(MOST_PROBLEMS);
        }
        self.problems.push((span, problem));
        &mut self.problems.last_mut().expect("just pushed").1
    }

    /// Notes a warning at `span`.
    pub(crate) fn warning(&mut self, span: Span, message: impl Into<String>) -> &mut Problem {
        let problem = self.error(span, message);
        problem.severity = Severity::Warning;
        problem
    }

    /// Whether anything keeps the scene from running.
    pub(crate) fn has_errors(&self) -> bool {
        self.problems.iter().any(|p| p.1.severity == Severity::Error)
    }

    /// All problems, ordered by file and place.
    pub(crate) fn into_problems(mut self) -> Problems {
        self.problems.truncate(MOST_PROBLEMS);
        self.problems.sort_by_key(|(span, _)| (span.file, span.start, span.end));
        self.problems.dedup();
        let mut list: Vec<Problem> = self.problems.into_iter().map(|p| p.1).collect();
        if let (Some(last), 1..) = (list.last_mut(), self.left_out) {
            let more = format!("{} more problems are not shown; solve these first", self.left_out);
            last.help = Some(last.help.take().map_or(more.clone(), |h| format!("{h}; {more}")));
        }
        Problems(list)
    }
}

impl Problem {
    /// Sets the words under the marked bytes.
    pub(crate) fn label(&mut self, label: impl Into<String>) -> &mut Self {
        self.label = label.into();
        self
    }

    /// Sets the advice.
    pub(crate) fn help(&mut self, help: impl Into<String>) -> &mut Self {
        self.help = Some(help.into());
        self
    }
}

/// The candidate nearest to `wrong`, if one is near enough to be what was meant.
pub(crate) fn nearest<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wrong_lower = wrong.to_lowercase();
    let near = |c: &&str| {
        let d = strsim::osa_distance(&wrong_lower, &c.to_lowercase());
        let (a, b) = (c.chars().count(), wrong.chars().count());
        let close = d <= 1 + a.min(b) / 3 && d < a.max(b);
        (close || (wrong.len() >= 3 && c.starts_with(&wrong_lower))).then_some(d)
    };
    if wrong.len() > 200 {
        return None;
    }
    candidates.into_iter().filter_map(|c| near(&c).map(|d| (d, c))).min().map(|best| best.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses_are_recognised_and_far_ones_are_not() {
        let keys = ["frames", "fps", "gravity", "substeps"];
        assert_eq!(nearest("frame", keys), Some("frames"));
        assert_eq!(nearest("Gravty", keys), Some("gravity"));
        assert_eq!(nearest("sub", keys), Some("substeps"));
        assert_eq!(nearest("colour", keys), None);
        assert_eq!(nearest("x", ["e", "t"]), None);
    }

    #[test]
    fn a_flood_of_problems_is_cut_and_counted() {
        let mut log = Log::default();
        let file = log.add_source("a".into(), Path::new("a"), &"x".repeat(500));
        for i in 0..300 {
            log.error(Span { file, start: i, end: i + 1 }, format!("p{i}"));
        }
        let problems = log.into_problems();
        assert_eq!(problems.0.len(), MOST_PROBLEMS);
        assert!(problems.to_string().contains("200 more problems"));
    }
}
