//! What `run`, `resume` and `bench` say when they are done.

use crate::memory;
use crate::output::{bytes, duration};
use billow::scene::driver::RunReport;
use serde_json::{Map, Value, json};

/// The report as a JSON object: seconds per frame and per stage, counts, peak memory.
pub(crate) fn json(report: &RunReport) -> Value {
    let seconds = |t: std::time::Duration| json!(t.as_secs_f64());
    let stages: Map<String, Value> =
        report.stages.times().iter().map(|(name, t)| ((*name).to_string(), seconds(t.elapsed))).collect();
    let counts: Map<String, Value> =
        report.stages.counts().iter().map(|(name, n)| ((*name).to_string(), json!(n))).collect();
    json!({
        "ok": !report.cancelled,
        "run": report.dir.display().to_string(),
        "first_frame": report.first,
        "last_frame": report.last,
        "target_frame": report.target,
        "frames": report.frames,
        "finished": report.finished(),
        "seconds": report.seconds,
        "seconds_per_frame": per_frame(report),
        "seconds_per_stage": stages,
        "counts": counts,
        "sub_steps": report.sub_steps,
        "retries": report.retries,
        "crossing_pairs": report.crossings,
        "peak_memory_bytes": memory::peak_bytes(),
    })
}

/// The report in a few lines for a person.
pub(crate) fn lines(report: &RunReport) -> Vec<String> {
    let mut lines = vec![format!(
        "{} frames in {} ({} per frame), {} sub-steps{}{}",
        report.frames,
        duration(report.seconds),
        duration(per_frame(report)),
        report.sub_steps,
        if report.retries > 0 { format!(", {} retried", report.retries) } else { String::new() },
        memory::peak_bytes().map(|n| format!(", peak memory {}", bytes(n))).unwrap_or_default(),
    )];
    let total = report.stages.total().as_secs_f64();
    if total > 0.0 {
        let share = |t: f64| format!("{:.0} %", 100.0 * t / total);
        let parts: Vec<String> = report
            .stages
            .times()
            .iter()
            .map(|(name, t)| format!("{name} {}", share(t.elapsed.as_secs_f64())))
            .collect();
        lines.push(format!("time: {}", parts.join(", ")));
    }
    lines
}

fn per_frame(report: &RunReport) -> f64 {
    report.seconds / f64::from(report.frames.max(1))
}
