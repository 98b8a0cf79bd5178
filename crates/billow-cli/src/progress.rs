//! What a person sees while a run computes: a bar with the time left, or nothing.

use billow::scene::driver::{Event, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// Bars move in thousandths of a frame, so that slow frames show progress too.
const PARTS: u64 = 1000;

/// A bar over the frames of a run, drawn on standard error.
pub(crate) struct Bar {
    bar: ProgressBar,
    quiet: bool,
}

impl Bar {
    /// A bar labelled `what`; an invisible one if `quiet`.
    pub(crate) fn new(what: &str, quiet: bool) -> Self {
        let target =
            if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(10) };
        let bar = ProgressBar::with_draw_target(None, target);
        let style = ProgressStyle::with_template("{prefix} {wide_bar} {msg}  {elapsed} gone, {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸ "));
        bar.set_prefix(what.to_string());
        bar.enable_steady_tick(Duration::from_millis(250));
        Self { bar, quiet }
    }

    /// Prints a line above the bar, unless quiet.
    pub(crate) fn note(&self, line: &str) {
        // Nothing inside may ask the bar: it is locked meanwhile.
        if !self.quiet {
            self.bar.suspend(|| eprintln!("{line}"));
        }
    }

    /// Moves the bar to item `done` of `total`.
    pub(crate) fn set(&self, done: u64, total: u64) {
        self.bar.set_length(total * PARTS);
        self.bar.set_position(done * PARTS);
        self.bar.set_message(format!("{done}/{total}"));
    }

    /// Moves the bar to item `done` of `total` and a share of the next one.
    pub(crate) fn set_share(&self, done: u64, share: f64, total: u64) {
        self.bar.set_length(total * PARTS);
        self.bar.set_position(done * PARTS + (share * PARTS as f64) as u64);
        self.bar.set_message(format!("{done}/{total}"));
    }

    /// Moves the bar to a share of a whole, 0 to 1, and names the stage.
    pub(crate) fn stage(&self, stage: &'static str, share: f64) {
        self.bar.set_length(PARTS);
        self.bar.set_position((share * PARTS as f64) as u64);
        self.bar.set_message(stage);
    }

    /// Takes the bar away.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.clear();
    }
}

/// A line on standard error that names the stage a long command is in and the seconds gone; nothing if standard error
/// is no terminal.
pub(crate) struct Stages(ProgressBar);

impl Stages {
    /// A line for the first stage; an invisible one if `quiet`.
    pub(crate) fn new(first: impl Into<String>, quiet: bool) -> Self {
        let target =
            if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(10) };
        let line = ProgressBar::with_draw_target(None, target);
        let style = ProgressStyle::with_template("{spinner} {msg}, {elapsed} gone");
        line.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        line.set_message(first.into());
        line.enable_steady_tick(Duration::from_millis(250));
        Self(line)
    }

    /// Names the next stage.
    pub(crate) fn enter(&self, stage: impl Into<String>) {
        self.0.set_message(stage.into());
    }
}

impl Drop for Stages {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

impl Progress for Bar {
    fn event(&self, event: &Event<'_>) {
        match event {
            Event::Started { first, last } => {
                self.bar.set_length(u64::from(*last) * PARTS);
                self.bar.set_position(u64::from(*first) * PARTS);
                self.bar.reset_eta();
                self.bar.set_message(format!("frame {first}/{last}"));
            }
            Event::SubStep { frame, fraction, .. } => {
                let parts = (f64::from(frame.saturating_sub(1)) + fraction) * PARTS as f64;
                self.bar.set_position(parts as u64);
            }
            Event::Retry { frame, time, dt, reason } => {
                self.note(&format!(
                    "frame {frame}, t = {time:.5} s: {reason}; trying again with steps of {dt:.2e} s"
                ));
            }
            Event::Frame(frame) => {
                let last = self.bar.length().unwrap_or(0) / PARTS;
                self.bar.set_position(u64::from(frame.index) * PARTS);
                self.bar.set_message(format!("frame {}/{last}", frame.index));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_above_the_bar_returns() {
        // A bar that is asked for anything while it is suspended waits for itself.
        let (said, heard) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            Bar::new("test", false).note("a step is tried again");
            said.send(()).ok();
        });
        assert!(heard.recv_timeout(Duration::from_secs(20)).is_ok());
    }
}
