//! Problems of a scene shown the way rustc shows them: the line, the place, what is wrong and what to type.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use billow::scene::{Problem, Severity};
use std::io::IsTerminal;

/// Prints the problems to standard error, with colours if a person is watching.
pub(crate) fn show(problems: &[Problem]) {
    let renderer = if colours() { Renderer::styled() } else { Renderer::plain() };
    for problem in problems {
        eprintln!("{}\n", renderer.render(&[group(problem)]));
    }
    let errors = problems.iter().filter(|p| p.severity == Severity::Error).count();
    if errors > 1 {
        eprintln!("{} {errors} problems; nothing was run", error_prefix());
    }
}

/// "error:" in red where colours are welcome.
pub(crate) fn error_prefix() -> &'static str {
    if colours() { "\u{1b}[1;31merror:\u{1b}[0m" } else { "error:" }
}

fn group(problem: &Problem) -> Group<'_> {
    let level = match problem.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(problem.message.as_str());
    let group = if problem.source.is_empty() {
        Group::with_title(title).element(Level::NOTE.message(format!("in {}", problem.file)))
    } else {
        let mark = AnnotationKind::Primary.span(problem.span.clone()).label(problem.label.as_str());
        title.element(Snippet::source(&*problem.source).path(problem.file.as_str()).annotation(mark))
    };
    match &problem.help {
        Some(help) => group.element(Level::HELP.message(help.as_str())),
        None => group,
    }
}

fn colours() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_shows_its_line_its_place_and_the_help() {
        let source = "title = \"x\"\n[simulation]\nfraems = 3\n";
        let at = source.find("fraems").unwrap();
        let mut problem = Problem::new("shot.toml", source.into(), at..at + 6, "unknown key `fraems`");
        problem.help = Some("did you mean `frames`?".into());
        let text = Renderer::plain().render(&[group(&problem)]);
        for part in
            ["unknown key `fraems`", "shot.toml:3:1", "fraems = 3", "^^^^^^", "did you mean `frames`?"]
        {
            assert!(text.contains(part), "{part} is missing from\n{text}");
        }
    }
}
