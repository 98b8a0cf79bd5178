//! `cargo xtask tidy`: small things that should never land.
//!
//! Unfinished markers and ignored tests, source files too long to hold in one's head, relative links in Markdown
//! that lead nowhere, and absolute paths of somebody's machine.

use crate::{files_below, read};
use std::path::Path;

const LONGEST_FILE: usize = 900;

/// Everything untidy in the tree.
pub(crate) fn problems(root: &Path) -> Result<Vec<String>, String> {
    let mut problems = Vec::new();
    for path in files_below(root, ".rs") {
        let text = read(&path)?;
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        problems.extend(marked_lines(&text).into_iter().map(|(line, mark)| format!("{name}:{line}: {mark}")));
        let lines = text.lines().count();
        if lines > LONGEST_FILE {
            problems.push(format!("{name}: {lines} lines; split it below {LONGEST_FILE}"));
        }
    }
    for path in files_below(root, ".md") {
        let text = read(&path)?;
        let folder = path.parent().unwrap_or(root);
        let name = path.strip_prefix(root).unwrap_or(&path).display();
        problems.extend(
            relative_links(&text)
                .filter(|(_, link)| !folder.join(link).exists())
                .map(|(line, link)| format!("{name}:{line}: link to {link}, which does not exist")),
        );
    }
    Ok(problems)
}

/// Lines with a marker of unfinished work. The markers are spelt in halves so that this file passes.
fn marked_lines(text: &str) -> Vec<(usize, &'static str)> {
    const MARKS: [(&str, &str, &str); 6] = [
        ("FIX", "ME", "unfinished marker"),
        ("XX", "X", "unfinished marker"),
        ("todo", "!(", "unfinished code"),
        ("unimplem", "ented!(", "unfinished code"),
        ("#[ign", "ore", "ignored test"),
        ("/ho", "me/", "path of one machine"),
    ];
    let marks = MARKS.map(|(head, tail, meaning)| (format!("{head}{tail}"), meaning));
    let numbered = text.lines().enumerate();
    numbered
        .flat_map(|(k, line)| {
            marks.iter().filter(|(m, _)| line.contains(m.as_str())).map(move |(_, why)| (k + 1, *why))
        })
        .collect()
}

/// Link targets of `[text](target)` that are neither addresses nor anchors, with their line numbers.
fn relative_links(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().flat_map(|(k, line)| {
        line.split("](").skip(1).filter_map(move |rest| {
            let target = rest.split(')').next()?.split('#').next()?;
            (!target.is_empty() && !target.contains("://")).then_some((k + 1, target))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_and_dead_links_are_found() {
        let unfinished = format!("fn a() {{}}\n{}{}later\")", "todo", "!(\"");
        assert_eq!(marked_lines(&unfinished), [(2, "unfinished code")]);
        let links: Vec<_> =
            relative_links("see [a](docs/a.md#top), [b](#here) and [c](https://example.org)").collect();
        assert_eq!(links, [(1, "docs/a.md")]);
    }
}
