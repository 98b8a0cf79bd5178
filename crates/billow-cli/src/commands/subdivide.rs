//! `billow subdivide`.

use crate::args::SubdivideArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Bar;
use billow::scene::refine::{RefineOptions, refine_run};
use serde_json::json;
use std::path::PathBuf;

pub(crate) fn subdivide(args: &SubdivideArgs, output: Output) -> Result<(), Failure> {
    let out = args.output.clone().unwrap_or_else(|| beside(args));
    let options = RefineOptions {
        out: out.clone(),
        levels: args.levels,
        crease: args.crease,
        threads: args.common.threads,
        overwrite: args.overwrite,
    };
    let report = {
        let bar = Bar::new("subdivide", output.quiet);
        refine_run(&args.run, &options, &bar)?
    };
    output.say(format!(
        "{} frames of {} triangles into {}: {} nodes pushed out of bodies, {} stopped before they would meet something, {} crossing pairs",
        report.frames, report.triangles, out.display(), report.pushed, report.stopped, report.crossings
    ));
    output.result(&json!({
        "ok": report.crossings == 0,
        "run": out.display().to_string(),
        "levels": args.levels,
        "frames": report.frames,
        "triangles": report.triangles,
        "pushed": report.pushed,
        "stopped": report.stopped,
        "crossings": report.crossings,
    }));
    match report.first_crossing {
        None => Ok(()),
        Some(first) => Err(Failure::Guarantee(format!(
            "{} has {} crossing pairs, first {first}",
            out.display(),
            report.crossings
        ))),
    }
}

/// The folder beside the run.
fn beside(args: &SubdivideArgs) -> PathBuf {
    let run = args.run.canonicalize().unwrap_or_else(|_| args.run.clone());
    let name = run.file_name().map_or_else(|| "run".into(), |n| n.to_string_lossy().into_owned());
    args.run.with_file_name(format!("{name}-fine"))
}
