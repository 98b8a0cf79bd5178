//! The frame loop: sub-steps, snapshot, audit, frame, checkpoint, report.

use super::advance::{SubStep, advance};
use super::audit::{Auditor, OnCrossing};
use super::progress::{Event, Progress};
use super::report::{FrameReport, RunError, RunReport};
use super::simulation::Simulation;
use billow_io::cache::Writer;
use billow_io::{Frame, Shape};
use billow_num::stages::Stages;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What to compute, once the scene and the command line have been heard.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Frames per second of simulated time [1/s].
    pub fps: f64,
    /// Sub-steps per frame.
    pub substeps: u32,
    /// How often a failed sub-step may be halved.
    pub max_halvings: u32,
    /// First frame to keep; those before it are computed but not stored.
    pub first: u32,
    /// Last frame.
    pub last: u32,
    /// Keep every so many frames; the last one always.
    pub every: u32,
    /// Stop, resumably, after so much wall-clock time.
    pub time_limit: Option<Duration>,
    /// What to do about crossing elements.
    pub on_crossing: OnCrossing,
    /// Pairs of objects that may cross.
    pub may_cross: Vec<[String; 2]>,
    /// Objects that the audit leaves out.
    pub unaudited: Vec<String>,
    /// Fingerprint of the scene; a state of another scene is refused.
    pub scene: u64,
}

impl Plan {
    /// Whether frame `k` is kept.
    pub fn keeps(&self, k: u32) -> bool {
        k >= self.first && (k.is_multiple_of(self.every) || k == self.last)
    }

    /// Time of sub-step `s` of the frame that ends with frame `k` [s].
    fn time(&self, k: u32, s: u32) -> f64 {
        (f64::from(k - 1) * f64::from(self.substeps) + f64::from(s)) / (self.fps * f64::from(self.substeps))
    }

    /// Time of frame `k` [s].
    pub fn frame_time(&self, k: u32) -> f64 {
        f64::from(k) / self.fps
    }
}

/// Who watches and who may stop the run.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Told about every sub-step and frame.
    pub progress: &'a dyn Progress,
    /// Ends the run after the current sub-step.
    pub cancel: &'a AtomicBool,
}

/// What a checkpoint holds besides the solver's own bytes.
#[derive(Serialize, Deserialize)]
struct Checkpoint {
    format: u32,
    scene: u64,
    frame: u32,
    state: Vec<u8>,
}

/// The checkpoint of `simulation` at `frame`.
fn checkpoint_bytes(simulation: &dyn Simulation, plan: &Plan, frame: u32) -> Vec<u8> {
    let checkpoint =
        Checkpoint { format: simulation.state_format(), scene: plan.scene, frame, state: simulation.save() };
    postcard::to_stdvec(&checkpoint).expect("plain data always serialises to memory")
}

/// Puts `simulation` into a stored state.
pub(crate) fn restore(
    simulation: &mut dyn Simulation,
    plan: &Plan,
    frame: u32,
    bytes: &[u8],
) -> Result<(), String> {
    let checkpoint: Checkpoint =
        postcard::from_bytes(bytes).map_err(|e| format!("it cannot be decoded ({e})"))?;
    let format = simulation.state_format();
    if checkpoint.format != format {
        return Err(format!("it has state format {}, this program uses {format}", checkpoint.format));
    }
    if checkpoint.scene != plan.scene || checkpoint.frame != frame {
        return Err("it belongs to another scene or frame".into());
    }
    simulation.load(&checkpoint.state)
}

/// Computes frames `first..=plan.last` into `writer`. `first` is 0 for a new run; otherwise the simulation holds the
/// state of frame `first − 1`.
pub fn drive(
    simulation: &mut dyn Simulation,
    plan: &Plan,
    first: u32,
    writer: &mut Writer,
    watch: Watch<'_>,
) -> Result<RunReport, RunError> {
    let began = Instant::now();
    let mut run = Run {
        plan,
        watch,
        auditor: Auditor::new(&plan.may_cross).leave_out(&plan.unaudited),
        report: RunReport::start(writer.dir(), first, first.saturating_sub(1), plan.last),
    };
    watch.progress.event(&Event::Started { first, last: plan.last });
    for k in first..=plan.last {
        let stop = || {
            watch.cancel.load(Ordering::Relaxed)
                || plan.time_limit.is_some_and(|limit| began.elapsed() >= limit)
        };
        if !run.frame(simulation, k, writer, &stop)? {
            run.report.cancelled = true;
            break;
        }
    }
    run.report.seconds = began.elapsed().as_secs_f64();
    Ok(run.report)
}

/// A run in progress.
struct Run<'a> {
    plan: &'a Plan,
    watch: Watch<'a>,
    auditor: Auditor,
    report: RunReport,
}

impl Run<'_> {
    /// Computes and stores frame `k`; `false` if it was told to stop before the frame was complete.
    fn frame(
        &mut self,
        simulation: &mut dyn Simulation,
        k: u32,
        writer: &mut Writer,
        stop: &dyn Fn() -> bool,
    ) -> Result<bool, RunError> {
        let began = Instant::now();
        let mut frame_report = FrameReport {
            index: k,
            time: self.plan.frame_time(k),
            sub_steps: 0,
            retries: 0,
            crossings: None,
            stages: Stages::default(),
            seconds: 0.0,
        };
        let whole = match k {
            0 => self.preroll(simulation, &mut frame_report, stop)?,
            _ => self.sub_steps(simulation, &mut frame_report, stop)?,
        };
        if !whole {
            return Ok(false);
        }
        if self.plan.keeps(k) {
            let frame = frame_report.stages.time("snapshot", || simulation.snapshot(k, frame_report.time));
            finite(&frame)?;
            self.audit(&frame, &mut frame_report)?;
            let stored = &mut frame_report.stages;
            stored.time("write frame", || writer.write_frame(&frame))?;
            stored.time("checkpoint", || {
                writer.write_checkpoint(k, &checkpoint_bytes(simulation, self.plan, k))
            })?;
            self.report.frames += 1;
            self.report.last = k;
        }
        frame_report.seconds = began.elapsed().as_secs_f64();
        writer.append_report(&line(&frame_report))?;
        self.report.stages.absorb(&frame_report.stages);
        self.watch.progress.event(&Event::Frame(&frame_report));
        Ok(true)
    }

    /// Lets the simulation settle before frame 0.
    fn preroll(
        &mut self,
        simulation: &mut dyn Simulation,
        frame: &mut FrameReport,
        stop: &dyn Fn() -> bool,
    ) -> Result<bool, RunError> {
        let (plan, duration) = (self.plan, simulation.preroll());
        let steps = (duration * plan.fps * f64::from(plan.substeps)).ceil() as u64;
        let at = |s: u64| -duration * (steps - s) as f64 / steps as f64;
        for s in 0..steps {
            if stop() {
                return Ok(false);
            }
            self.sub_step(simulation, frame, (at(s), at(s + 1)))?;
            let fraction = (s + 1) as f64 / steps as f64;
            self.watch.progress.event(&Event::SubStep { frame: 0, fraction, time: at(s + 1) });
        }
        Ok(true)
    }

    /// Covers one sub-step, halving it where it fails.
    fn sub_step(
        &mut self,
        simulation: &mut dyn Simulation,
        frame: &mut FrameReport,
        (start, end): (f64, f64),
    ) -> Result<(), RunError> {
        let (k, progress) = (frame.index, self.watch.progress);
        let sub_step = SubStep { start, end, max_halvings: self.plan.max_halvings };
        let mut retry = |time: f64, dt: f64, error: &super::StepError| {
            progress.event(&Event::Retry { frame: k, time, dt, reason: &error.to_string() });
        };
        let done = advance(simulation, sub_step, &mut retry).map_err(|stuck| RunError::step(k, *stuck))?;
        frame.sub_steps += done.steps;
        frame.retries += done.retries;
        frame.stages.absorb(&done.stages);
        self.report.sub_steps += u64::from(done.steps);
        self.report.retries += u64::from(done.retries);
        Ok(())
    }

    /// Takes the simulation from frame `k − 1` to frame `k`.
    fn sub_steps(
        &mut self,
        simulation: &mut dyn Simulation,
        frame: &mut FrameReport,
        stop: &dyn Fn() -> bool,
    ) -> Result<bool, RunError> {
        let (k, plan, progress) = (frame.index, self.plan, self.watch.progress);
        for s in 0..plan.substeps {
            if stop() {
                return Ok(false);
            }
            let (start, end) = (plan.time(k, s), plan.time(k, s + 1));
            self.sub_step(simulation, frame, (start, end))?;
            let fraction = f64::from(s + 1) / f64::from(plan.substeps);
            progress.event(&Event::SubStep { frame: k, fraction, time: end });
        }
        Ok(true)
    }

    /// Judges the frame before it is stored.
    fn audit(&mut self, frame: &Frame, report: &mut FrameReport) -> Result<(), RunError> {
        if self.plan.on_crossing == OnCrossing::Off {
            return Ok(());
        }
        let found = report.stages.time("audit", || self.auditor.audit(frame));
        report.crossings = Some(found.pairs);
        self.report.crossings += found.pairs;
        match found.first {
            Some(first) if self.plan.on_crossing == OnCrossing::Fail => {
                Err(RunError::Crossing { frame: frame.index, pairs: found.pairs, first })
            }
            _ => Ok(()),
        }
    }
}

/// Refuses frames with numbers that are not finite: whatever the solver missed ends here.
fn finite(frame: &Frame) -> Result<(), RunError> {
    for object in &frame.objects {
        let pose = &object.pose;
        let wrong = match &object.shape {
            Shape::Grid(grid) => grid.values.iter().position(|x| !x.is_finite()),
            shape => shape.positions().iter().position(|x| !x.is_finite()),
        };
        let (what, element) = if !(pose.position.is_finite() && pose.rotation.is_finite()) {
            ("its pose is not finite".to_owned(), None)
        } else if let Some(vertex) = wrong {
            (format!("vertex {vertex} is not finite"), Some(vertex as u64))
        } else {
            continue;
        };
        return Err(RunError::Step {
            frame: frame.index,
            time: frame.time,
            dt: 0.0,
            halvings: 0,
            body: Some(object.name.clone()),
            element,
            place: None,
            reason: format!("{what} in stage `snapshot`"),
        });
    }
    Ok(())
}

/// The frame's line of `report.jsonl`.
fn line(frame: &FrameReport) -> serde_json::Value {
    let stages: serde_json::Map<_, _> = frame
        .stages
        .times()
        .iter()
        .map(|(name, time)| ((*name).to_owned(), json!(time.elapsed.as_secs_f64())))
        .collect();
    json!({
        "frame": frame.index,
        "time": frame.time,
        "seconds": frame.seconds,
        "sub_steps": frame.sub_steps,
        "retries": frame.retries,
        "crossings": frame.crossings,
        "stages": stages,
    })
}
