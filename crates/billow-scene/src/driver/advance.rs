//! One sub-step, in as many halves as it takes.
//!
//! A sub-step is cut into 2^limit ticks. A failed step is taken back and tried with half its length; after each
//! success the length may grow again as soon as it is aligned. Times are computed from tick numbers, so that they do
//! not depend on the path taken.

use super::simulation::{Simulation, StepError};
use billow_num::stages::Stages;

/// An interval of time to cover.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubStep {
    /// Start [s].
    pub(crate) start: f64,
    /// End [s].
    pub(crate) end: f64,
    /// How often a step may be halved.
    pub(crate) max_halvings: u32,
}

/// What it took to cover a sub-step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Advance {
    pub(crate) steps: u32,
    pub(crate) retries: u32,
    pub(crate) stages: Stages,
}

/// A sub-step that failed at its smallest length.
#[derive(Clone, Debug)]
pub(crate) struct Stuck {
    pub(crate) time: f64,
    pub(crate) dt: f64,
    pub(crate) halvings: u32,
    pub(crate) error: StepError,
}

/// Largest limit on halvings: times of neighbouring ticks must stay distinct.
pub(crate) const MOST_HALVINGS: u32 = 24;

/// Takes `simulation` through the sub-step; `retry` hears of every failure that is tried again.
pub(crate) fn advance(
    simulation: &mut dyn Simulation,
    sub_step: SubStep,
    retry: &mut dyn FnMut(f64, f64, &StepError),
) -> Result<Advance, Box<Stuck>> {
    let limit = sub_step.max_halvings.min(MOST_HALVINGS);
    let ticks = 1_u64 << limit;
    let at = |tick: u64| {
        if tick == ticks {
            return sub_step.end;
        }
        sub_step.start + (sub_step.end - sub_step.start) * (tick as f64 / ticks as f64)
    };
    let mut done = Advance::default();
    let (mut tick, mut length) = (0, ticks);
    simulation.mark();
    while tick < ticks {
        let (t, dt) = (at(tick), at(tick + length) - at(tick));
        match simulation.step(t, dt) {
            Ok(report) => {
                done.stages.absorb(&report.stages);
                done.steps += 1;
                tick += length;
                while length < ticks && tick.is_multiple_of(2 * length) && tick < ticks {
                    length *= 2;
                }
                simulation.mark();
            }
            Err(error) if length > 1 && error.may_retry() => {
                simulation.rollback();
                length /= 2;
                done.retries += 1;
                retry(t, at(tick + length) - t, &error);
            }
            Err(error) => {
                simulation.rollback();
                let halvings = (ticks / length).trailing_zeros();
                return Err(Box::new(Stuck { time: t, dt, halvings, error }));
            }
        }
    }
    Ok(done)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::simulation::{StepErrorKind, StepReport};
    use super::*;
    use billow_io::Frame;

    /// Adds up the lengths of its steps; steps longer than `longest` fail while they overlap `bad`.
    pub(crate) struct Fussy {
        pub(crate) sum: f64,
        pub(crate) marked: f64,
        pub(crate) longest: f64,
        pub(crate) bad: std::ops::Range<f64>,
        pub(crate) kind: StepErrorKind,
        pub(crate) taken: Vec<(f64, f64)>,
    }

    impl Fussy {
        pub(crate) fn new(longest: f64, bad: std::ops::Range<f64>) -> Self {
            let kind = StepErrorKind::Unresolved;
            Self { sum: 0.0, marked: 0.0, longest, bad, kind, taken: Vec::new() }
        }
    }

    impl Simulation for Fussy {
        fn step(&mut self, t: f64, dt: f64) -> Result<StepReport, StepError> {
            self.sum += dt;
            if dt > self.longest && t < self.bad.end && t + dt > self.bad.start {
                let place = billow_num::Vec3::new(t, 0.0, 0.0);
                return Err(StepError::new(self.kind, "impacts", "2 contacts stay open")
                    .body("sheet")
                    .element(7, place));
            }
            self.taken.push((t, dt));
            Ok(StepReport::default())
        }

        fn mark(&mut self) {
            self.marked = self.sum;
        }

        fn rollback(&mut self) {
            self.sum = self.marked;
        }

        fn snapshot(&self, index: u32, time: f64) -> Frame {
            Frame { index, time, ..Frame::default() }
        }

        fn save(&self) -> Vec<u8> {
            self.sum.to_le_bytes().to_vec()
        }

        fn load(&mut self, bytes: &[u8]) -> Result<(), String> {
            self.sum = f64::from_le_bytes(bytes.try_into().map_err(|_| "eight bytes expected")?);
            Ok(())
        }

        fn state_format(&self) -> u32 {
            1
        }
    }

    const SUB_STEP: SubStep = SubStep { start: 1.0, end: 2.0, max_halvings: 6 };

    #[test]
    fn failed_steps_are_halved_around_the_trouble_only() {
        let mut fussy = Fussy::new(0.125, 1.3..1.4);
        let mut heard = 0;
        let done = advance(&mut fussy, SUB_STEP, &mut |_, _, _| heard += 1).expect("solvable");
        assert_eq!(done.retries, heard);
        assert_eq!(fussy.sum, 1.0);
        let mut t = 1.0;
        for (start, dt) in &fussy.taken {
            assert_eq!(*start, t);
            t += dt;
        }
        assert_eq!(t, 2.0);
        // 1–1.25 whole, then eighths until 1.5, then a half again.
        assert_eq!(fussy.taken.iter().map(|s| s.1).collect::<Vec<_>>(), [0.25, 0.125, 0.125, 0.5]);
    }

    #[test]
    fn at_the_limit_the_report_says_where_when_and_how_small() {
        let mut fussy = Fussy::new(1e-9, 1.3..1.4);
        let stuck = advance(&mut fussy, SUB_STEP, &mut |_, _, _| ()).expect_err("hopeless");
        assert_eq!((stuck.halvings, stuck.dt), (6, 1.0 / 64.0));
        assert!((1.28..1.31).contains(&stuck.time));
        assert_eq!((stuck.error.body.as_deref(), stuck.error.element), (Some("sheet"), Some(7)));
        // The state is the one at the time of the failure, not one half-way into the failed step.
        assert!((fussy.sum - (stuck.time - 1.0)).abs() < 1e-15);
    }

    #[test]
    fn hopeless_errors_are_not_tried_again() {
        let mut fussy = Fussy { kind: StepErrorKind::Hopeless, ..Fussy::new(1e-9, 1.3..1.4) };
        let stuck = advance(&mut fussy, SUB_STEP, &mut |_, _, _| ()).expect_err("hopeless");
        assert_eq!((stuck.halvings, stuck.time, fussy.sum), (0, 1.0, 0.0));
    }
}
