//! `billow run`.

use super::{interrupt, summary, view};
use crate::args::RunArgs;
use crate::diagnostics;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Bar;
use billow::scene::driver::{self, Event, Progress, RunOptions, RunReport};
use billow::scene::{Loader, Scene, gallery};
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &RunArgs, output: Output) -> Result<(), Failure> {
    let scene = load(&args.scene, &args.set)?;
    if !output.quiet {
        diagnostics::show(scene.warnings());
    }
    let out = match &args.output {
        Some(dir) => dir.clone(),
        None => fresh_folder(scene.output_directory().unwrap_or(&Path::new("out").join(scene.name()))),
    };
    let (first, last) = (args.frames.map_or(0, |range| range.first), last_frame(args, &scene));
    output.say(format!("{}: frames {first} to {last} into {}", scene.title(), out.display()));
    let page = args.view.then(|| view::watch(&out, &args.page, output)).transpose()?;
    let outcome = {
        let bar = Bar::new(scene.name(), output.quiet);
        let progress = |event: &Event<'_>| {
            bar.event(event);
            if let (Some(page), Event::SubStep { frame, fraction, .. }) = (&page, event) {
                page.report_progress(*frame, *fraction);
            }
        };
        driver::run(
            &scene,
            &RunOptions {
                out: out.clone(),
                first,
                frames: args.frames.and_then(|range| range.last),
                threads: args.common.threads,
                overwrite: args.overwrite,
                progress: &progress,
                cancel: interrupt::flag(),
            },
        )
    };
    let interrupted = outcome.as_ref().is_ok_and(|report| report.cancelled);
    let outcome = outcome.map_err(Failure::from).and_then(|report| finish(&report, output));
    if let (Some(page), false) = (&page, interrupted) {
        if let Err(failure) = &outcome {
            output.say(failure.plain());
        }
        output.say(format!("still showing it at {}; Ctrl-C ends it", page.url()));
        interrupt::wait();
    }
    outcome
}

/// Says how a run ended and what can be done with it; an interrupted one is a failure with its own exit code.
pub(super) fn finish(report: &RunReport, output: Output) -> Result<(), Failure> {
    let dir = report.dir.display();
    for line in summary::lines(report) {
        output.say(line);
    }
    if report.cancelled {
        return Err(Failure::Interrupted(format!(
            "interrupted after frame {} of {}; go on with: billow resume {dir}",
            report.last, report.target
        )));
    }
    output.say(format!("next: billow view {dir}    billow render {dir}    billow check {dir}"));
    output.result(&summary::json(report));
    Ok(())
}

/// A scene by gallery name or file; a name that is neither gets advice.
pub(super) fn load(name: &str, overrides: &[String]) -> Result<Scene, Failure> {
    let loader = if looks_like_file(name) {
        Loader::file(name)
    } else {
        if let Err(nearest) = gallery::get(name) {
            let hint = nearest.map(|n| format!("did you mean `{n}`? ")).unwrap_or_default();
            return Err(Failure::bad_input(
                format!("there is no gallery scene `{name}` and no such file"),
                format!("{hint}`billow gallery` lists the built-in scenes; scene files end in .toml"),
            ));
        }
        Loader::gallery(name)
    };
    Ok(loader.set(overrides.iter().cloned()).load()?)
}

fn looks_like_file(name: &str) -> bool {
    let path = Path::new(name);
    path.extension().is_some() || path.components().count() > 1 || path.is_file()
}

fn last_frame(args: &RunArgs, scene: &Scene) -> u32 {
    args.frames.and_then(|range| range.last).unwrap_or(scene.frames())
}

/// `wanted`, or `wanted-2`, `wanted-3` … if that already exists: nothing is ever written over by default.
fn fresh_folder(wanted: &Path) -> PathBuf {
    if !wanted.exists() {
        return wanted.to_path_buf();
    }
    let name = wanted.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let numbered = (2u32..).map(|k| wanted.with_file_name(format!("{name}-{k}")));
    numbered.into_iter().find(|dir| !dir.exists()).unwrap_or_else(|| wanted.to_path_buf())
}
