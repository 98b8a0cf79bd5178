//! `billow bench`.

use super::{interrupt, run, summary};
use crate::args::BenchArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Bar;
use billow::scene::driver::{self, RunOptions};
use billow::scene::gallery;
use serde_json::{Value, json};
use std::path::PathBuf;

pub(crate) fn bench(args: &BenchArgs, output: Output) -> Result<(), Failure> {
    let names: Vec<String> = if args.scenes.is_empty() {
        gallery::list().iter().map(|s| s.name.to_string()).collect()
    } else {
        args.scenes.clone()
    };
    let scratch = Scratch::new()?;
    output.say(format!(
        "{:20} {:>8} {:>12} {:>10} {:>10}",
        "scene", "frames", "s/frame", "sub-steps", "crossings"
    ));
    let mut results = Vec::new();
    for name in &names {
        let report = measure(name, args, &scratch, output)?;
        output.say(format!(
            "{name:20} {:>8} {:>12.5} {:>10} {:>10}",
            report["frames"],
            report["seconds_per_frame"].as_f64().unwrap_or(0.0),
            report["sub_steps"],
            report["crossing_pairs"],
        ));
        results.push(report);
    }
    output.result(&json!({"ok": true, "threads": args.common.threads, "scenes": results}));
    Ok(())
}

/// Runs one scene into a scratch folder, its files included, and returns the report with the scene's name.
fn measure(name: &str, args: &BenchArgs, scratch: &Scratch, output: Output) -> Result<Value, Failure> {
    let scene = run::load(name, &[])?;
    let bar = Bar::new(name, output.quiet);
    let last = args.frames.last.unwrap_or(scene.frames()).min(scene.frames());
    let options = RunOptions {
        out: scratch.folder.join(scene.name()),
        first: 0,
        frames: Some(last),
        threads: args.common.threads,
        overwrite: true,
        progress: &bar,
        cancel: interrupt::flag(),
    };
    let report = driver::run(&scene, &options)?;
    if report.cancelled {
        return Err(Failure::Interrupted("interrupted".into()));
    }
    let mut value = summary::json(&report);
    value["scene"] = name.into();
    Ok(value)
}

/// A folder that goes away with the value.
struct Scratch {
    folder: PathBuf,
}

impl Scratch {
    fn new() -> Result<Self, Failure> {
        let folder = std::env::temp_dir().join(format!("billow-bench-{}", std::process::id()));
        std::fs::create_dir_all(&folder)
            .map_err(|error| Failure::System(format!("cannot make {}: {error}", folder.display())))?;
        Ok(Self { folder })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Best effort: a scratch folder that stays behind does no harm.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
