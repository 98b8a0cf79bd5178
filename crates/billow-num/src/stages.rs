//! Time and counts per named stage of a step.
//!
//! Solvers time their stages with [`Stages::time`]; the driver adds the reports up. This is the only place
//! below the driver that reads a clock, and no result may depend on it.

use std::time::{Duration, Instant};

/// Seconds and calls of one stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageTime {
    /// Wall-clock time spent in the stage.
    pub elapsed: Duration,
    /// How often the stage ran.
    pub calls: u64,
}

/// Wall-clock time per stage and counts per event, in order of first use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stages {
    times: Vec<(&'static str, StageTime)>,
    counts: Vec<(&'static str, u64)>,
}

impl Stages {
    /// Runs `f` and books its time under `stage`.
    pub fn time<R>(&mut self, stage: &'static str, f: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = f();
        self.book(stage, start.elapsed(), 1);
        result
    }

    /// Adds `n` to the count named `event`.
    pub fn count(&mut self, event: &'static str, n: u64) {
        *entry(&mut self.counts, event) += n;
    }

    /// Adds another report to this one.
    pub fn absorb(&mut self, other: &Self) {
        for (stage, t) in &other.times {
            self.book(stage, t.elapsed, t.calls);
        }
        for (event, n) in &other.counts {
            self.count(event, *n);
        }
    }

    /// The stages in order of first use.
    pub fn times(&self) -> &[(&'static str, StageTime)] {
        &self.times
    }

    /// The counts in order of first use.
    pub fn counts(&self) -> &[(&'static str, u64)] {
        &self.counts
    }

    /// Time over all stages.
    pub fn total(&self) -> Duration {
        self.times.iter().map(|(_, t)| t.elapsed).sum()
    }

    fn book(&mut self, stage: &'static str, elapsed: Duration, calls: u64) {
        let slot = entry(&mut self.times, stage);
        slot.elapsed += elapsed;
        slot.calls += calls;
    }
}

fn entry<'a, T: Default>(list: &'a mut Vec<(&'static str, T)>, name: &'static str) -> &'a mut T {
    let k = list.iter().position(|(n, _)| *n == name).unwrap_or_else(|| {
        list.push((name, T::default()));
        list.len() - 1
    });
    &mut list[k].1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_add_up_in_order_of_first_use() {
        let mut a = Stages::default();
        assert_eq!(a.time("forces", || 3), 3);
        a.count("collisions", 2);
        let mut b = Stages::default();
        b.time("solve", || ());
        b.time("forces", || ());
        b.count("collisions", 5);
        a.absorb(&b);
        assert_eq!(
            a.times().iter().map(|(n, t)| (*n, t.calls)).collect::<Vec<_>>(),
            [("forces", 2), ("solve", 1)]
        );
        assert_eq!(a.counts(), [("collisions", 7)]);
        assert_eq!(a.total(), a.times().iter().map(|(_, t)| t.elapsed).sum());
    }
}
