//! Integration tests of the rigid body solver.

mod crowd;
mod document;
mod laws;
mod rest;
mod rolling;
mod stacks;
mod supports;

use billow_rigid::{Config, Model, State, StepReport, Workspace, step};

/// Runs a model and calls `each` after every step.
pub(crate) fn run(
    model: &Model,
    config: &Config,
    dt: f64,
    steps: usize,
    mut each: impl FnMut(f64, &State, &StepReport),
) -> State {
    let (mut state, mut work) = (model.start(), Workspace::default());
    for _ in 0..steps {
        let report = step(model, &mut state, &mut work, config, dt).expect("the step succeeds");
        each(state.time, &state, &report);
    }
    state
}
