//! What the driver tells whoever watches a run.

use super::report::FrameReport;

/// Something that happened in a run.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// The run begins or continues: frames `first..=last` will be computed.
    Started {
        /// First frame that will be written.
        first: u32,
        /// Last frame that will be written.
        last: u32,
    },
    /// A sub-step is done.
    SubStep {
        /// The frame being computed.
        frame: u32,
        /// How much of it is done [-], from 0 to 1.
        fraction: f64,
        /// Simulated time reached [s].
        time: f64,
    },
    /// A sub-step failed and is tried again in two halves.
    Retry {
        /// The frame being computed.
        frame: u32,
        /// Simulated time at the start of the failed sub-step [s].
        time: f64,
        /// Length of the next attempt [s].
        dt: f64,
        /// Why the sub-step failed.
        reason: &'a str,
    },
    /// A frame is on disk, with its checkpoint.
    Frame(&'a FrameReport),
}

/// Watches a run. Called from the driver's thread; must not block for long.
pub trait Progress: Sync {
    /// Takes note of an event.
    fn event(&self, event: &Event<'_>);
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn event(&self, _: &Event<'_>) {}
}

impl<F: Fn(&Event<'_>) + Sync> Progress for F {
    fn event(&self, event: &Event<'_>) {
        self(event);
    }
}
