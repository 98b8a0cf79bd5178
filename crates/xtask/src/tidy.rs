//! `cargo xtask tidy`: small things that should never land.
//!
//! Unfinished markers and ignored tests, source files too long to hold in one's head, relative links in Markdown
//! that lead nowhere, absolute paths of somebody's machine, and pictures too large to keep with the sources.

use crate::{files_below, read};
use std::path::Path;

const LONGEST_FILE: usize = 900;
/// Largest picture, and largest sum of all of them [bytes].
const LARGEST_PICTURE: u64 = 300_000;
const ALL_PICTURES: u64 = 8_000_000;

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
    problems.extend(large_pictures(&pictures(root)?));
    Ok(problems)
}

/// The pictures of the tree with their sizes in bytes.
fn pictures(root: &Path) -> Result<Vec<(String, u64)>, String> {
    let endings = [".png", ".gif", ".jpg", ".exr", ".mp4", ".webm"];
    let all = endings.iter().flat_map(|ending| files_below(root, ending));
    all.filter(|path| !path.strip_prefix(root).is_ok_and(|p| p.starts_with("out")))
        .map(|path| {
            let size = std::fs::metadata(&path).map_err(|e| format!("{}: {e}", path.display()))?.len();
            Ok((path.strip_prefix(root).unwrap_or(&path).display().to_string(), size))
        })
        .collect()
}

/// What is wrong with the sizes of pictures.
fn large_pictures(pictures: &[(String, u64)]) -> Vec<String> {
    let large = pictures.iter().filter(|(_, size)| *size > LARGEST_PICTURE);
    let mut problems: Vec<String> = large
        .map(|(name, size)| format!("{name}: {size} bytes; keep pictures below {LARGEST_PICTURE}"))
        .collect();
    let total: u64 = pictures.iter().map(|(_, size)| size).sum();
    if total > ALL_PICTURES {
        problems.push(format!("all pictures take {total} bytes; keep them below {ALL_PICTURES}"));
    }
    problems
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
    fn pictures_too_large_to_keep_are_found() {
        let small = |n: u64| (0..n).map(|k| (format!("{k}.png"), 290_000)).collect::<Vec<_>>();
        assert!(large_pictures(&small(20)).is_empty());
        assert_eq!(large_pictures(&small(30)), ["all pictures take 8700000 bytes; keep them below 8000000"]);
        let found = large_pictures(&[("a.png".into(), 300_001)]);
        assert_eq!(found, ["a.png: 300001 bytes; keep pictures below 300000"]);
    }

    #[test]
    fn markers_and_dead_links_are_found() {
        let unfinished = format!("fn a() {{}}\n{}{}later\")", "todo", "!(\"");
        assert_eq!(marked_lines(&unfinished), [(2, "unfinished code")]);
        let links: Vec<_> =
            relative_links("see [a](docs/a.md#top), [b](#here) and [c](https://example.org)").collect();
        assert_eq!(links, [(1, "docs/a.md")]);
    }
}
