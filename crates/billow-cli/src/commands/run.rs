//! `billow run`.

use super::{interrupt, render, summary, view};
use crate::args::RunArgs;
use crate::diagnostics;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Bar;
use billow::scene::driver::{self, Event, Progress, RunOptions, RunReport};
use billow::scene::{Loader, Scene, gallery};
use serde_json::{Map, Value, json};
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
    let page = args.view.then(|| view::LivePage::watch(&out, &args.page, output)).transpose()?;
    let outcome = {
        let bar = Bar::new(scene.name(), output.quiet);
        let progress = |event: &Event<'_>| {
            bar.event(event);
            if let (Some(page), Event::SubStep { frame, fraction, .. }) = (&page, event) {
                page.server().report_progress(*frame, *fraction);
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
    let report = match outcome {
        Ok(report) if !report.cancelled => report,
        Ok(report) => return finish(&report, Map::new(), output),
        Err(error) => {
            let failure = Failure::from(error);
            if let Some(page) = page.filter(|page| page.has_viewer()) {
                output.say(failure.plain());
                page.stay(output);
            }
            return Err(failure);
        }
    };
    match page {
        None => finish(&report, Map::new(), output),
        Some(page) => show(&page, &report, output),
    }
}

/// After a run with a page: without a screen a picture stands in for the browser, and the page stays for as long as
/// somebody can end it.
fn show(page: &view::LivePage, report: &RunReport, output: Output) -> Result<(), Failure> {
    let mut extra = Map::from_iter([("address".to_string(), json!(page.url()))]);
    if !page.opened() {
        let picture = render::overview(&report.dir, output)?;
        output.say(format!("picture: {}", picture.display()));
        extra.insert("picture".into(), json!(picture.display().to_string()));
    }
    finish(report, extra, output)?;
    if page.has_viewer() {
        page.stay(output);
    } else {
        output.say(format!(
            "nobody is here to look at the page; show it any time with: billow view {}",
            report.dir.display()
        ));
    }
    Ok(())
}

/// Says how a run ended and what can be done with it; an interrupted one is a failure with its own exit code. `extra`
/// joins the report that programs read.
pub(super) fn finish(report: &RunReport, extra: Map<String, Value>, output: Output) -> Result<(), Failure> {
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
    let mut result = summary::json(report);
    if let Value::Object(fields) = &mut result {
        fields.extend(extra);
    }
    output.result(&result);
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
