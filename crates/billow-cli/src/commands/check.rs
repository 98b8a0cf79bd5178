//! `billow check`.

use crate::args::CheckArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Bar;
use billow::scene::check::{self, CheckReport};

/// Frames listed one by one before the rest is only counted.
const LISTED: usize = 10;

pub(crate) fn check(args: &CheckArgs, output: Output) -> Result<(), Failure> {
    let report = {
        let bar = Bar::new("check", output.quiet);
        check::check_run(&args.run, args.common.threads, &bar)?
    };
    for line in lines(&report) {
        output.say(line);
    }
    if report.passed() {
        output.result(&json(&report));
        Ok(())
    } else {
        output.result(&json(&report));
        Err(Failure::Guarantee(format!("{} does not pass its checks", args.run.display())))
    }
}

fn json(report: &CheckReport) -> serde_json::Value {
    let mut value = serde_json::to_value(report).unwrap_or_default();
    value["ok"] = report.passed().into();
    value
}

fn lines(report: &CheckReport) -> Vec<String> {
    let mut lines = vec![format!(
        "{} of {} frames audited: {} crossing pairs, {} frames with problems",
        report.frames,
        report.expected_frames,
        report.crossings,
        report.bad_frames.len()
    )];
    if let Some(found) = &report.overlaps {
        lines.push(format!(
            "rigid bodies: {} overlapping pairs, deepest {:.3e} m, mean {:.3e} m; {} rings linked or unlinked",
            found.pairs, found.largest, found.mean, found.relinked
        ));
    }
    lines.extend(report.cloth.iter().map(|cloth| {
        format!(
            "cloth `{}`: largest strain at the ends of frames {:.2} % (frame {}), {:.2} % beyond its limit of {:.1} %",
            cloth.name,
            100.0 * cloth.largest,
            cloth.frame,
            100.0 * cloth.beyond(),
            100.0 * cloth.limit
        )
    }));
    lines.extend(report.problems.iter().map(|p| format!("  {p}")));
    for frame in report.bad_frames.iter().take(LISTED) {
        lines.extend(frame.problems.iter().map(|p| format!("  frame {}: {p}", frame.frame)));
    }
    if report.bad_frames.len() > LISTED {
        lines.push(format!("  and {} more frames; --json lists them all", report.bad_frames.len() - LISTED));
    }
    for check in &report.checks {
        let verdict = match check.passed {
            Some(true) => "ok  ",
            Some(false) => "FAIL",
            None => "skip",
        };
        lines.push(format!("  {verdict} {}: {}", check.name, check.message));
    }
    lines
}
