//! Which steps are too long: those in which parts of a crowd rush past many layers.
//!
//! The contacts of a step are those that nodes will have if they go on as they do. While a heap is hit, a node that goes on
//! would pass dozens of layers, and each of them is foreseen although the first one stops it. In half the time it passes
//! half as many, and what happens is foreseen so much better that no step need be repeated: two halves cost a sixth less
//! than one step that is done twice.

use crate::{Model, State};
use billow_num::{Vec3, par};

/// Thicknesses that nodes may come past the crowd in a step [-].
const LAYERS: f64 = 10.0;

/// If more than one node in this many is faster than that, they rush.
const RUSH: usize = 100;

/// Cloth is a crowd if it has a contact for so many nodes; loose cloth has nothing to rush into.
const CROWD: usize = 3;

/// Whether a step of length `dt` from that state had better be done in halves.
pub(crate) fn hasty(model: &Model, state: &State, dt: f64) -> bool {
    let (v, surface) = (&state.v, &model.surface);
    if state.lasting.pushes.len() * CROWD < v.len() {
        return false;
    }
    let sum = par::reduce(v.len(), par::CHUNK, |range| range.map(|i| v[i]).sum::<Vec3>(), |a, b| a + b);
    let mean = sum.unwrap_or(Vec3::ZERO) / v.len() as f64;
    let fast = |i: &usize| (v[*i] - mean).length() * dt > LAYERS * surface.thickness(*i as u32);
    let fast = par::reduce(v.len(), par::CHUNK, |range| range.filter(fast).count(), |a, b| a + b);
    fast.unwrap_or(0) * RUSH > v.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::tests::model;
    use crate::{Config, Workspace, step};
    use billow_contact::Push;

    /// A sheet of 20 × 20 nodes with so many contacts, of which some nodes have that speed [m/s].
    fn state(model: &Model, contacts: usize, (some, speed): (usize, f64)) -> State {
        let mut state = model.initial_state();
        let push = |i: usize| Push { nodes: [i as u32; 4], normal: 0.0, friction: Vec3::ZERO };
        state.lasting.pushes = (0..contacts).map(push).collect();
        state.v[..some].fill(Vec3::Z * speed);
        state
    }

    #[test]
    fn a_part_of_a_crowd_that_passes_many_layers_is_hasty() {
        let (model, dt) = (model(20), 5e-3);
        let layers = LAYERS * model.surface.thickness(0) / dt;
        for (contacts, some, speed, expected) in [
            (400, 20, 1.2 * layers, true),
            (140, 20, 1.2 * layers, true),
            // Loose cloth, a few nodes, slow ones, and a crowd that is fast together.
            (120, 20, 1.2 * layers, false),
            (400, 3, 1.2 * layers, false),
            (400, 20, 0.9 * layers, false),
            (400, 400, 9.0 * layers, false),
        ] {
            let state = state(&model, contacts, (some, speed));
            assert_eq!(hasty(&model, &state, dt), expected, "{contacts} contacts, {some} nodes at {speed}");
        }
    }

    #[test]
    fn a_hasty_step_is_two_halves_that_are_not_repeated_and_ends_on_time() {
        let (model, dt) = (model(20), 5e-3);
        let start = state(&model, 400, (20, 3.0));
        let config = Config::default();
        let (mut state, mut work) = (start.clone(), Workspace::default());
        let report = step(&model, &mut state, &mut work, &config, dt).unwrap();
        let counted = |name: &str| report.stages.counts().iter().find(|count| count.0 == name).map(|c| c.1);
        assert_eq!((counted("steps"), counted("attempts")), (Some(2), Some(2)));
        // Nobody asks whether to repeat them.
        assert!(report.stages.times().iter().all(|stage| stage.0 != "learn"));
        assert_eq!(state.time, start.time + dt);

        let (mut halves, once) = (start, Config { attempts: 0, ..config });
        for _ in 0..2 {
            step(&model, &mut halves, &mut Workspace::default(), &once, 0.5 * dt).unwrap();
        }
        assert_eq!((&state.x, &state.v, &state.lasting), (&halves.x, &halves.v, &halves.lasting));
    }

    #[test]
    fn a_hasty_step_whose_second_half_fails_changes_nothing() {
        let (mut model, dt) = (model(20), 5e-3);
        let lost = move |rest: Vec3, t: f64| if t < 0.75 * dt { rest } else { Vec3::NAN };
        model.scripts.push((0, std::sync::Arc::new(lost)));
        let start = state(&model, 400, (20, 3.0));
        let (mut state, mut work) = (start.clone(), Workspace::default());
        assert!(step(&model, &mut state, &mut work, &Config::default(), dt).is_err());
        assert_eq!(state, start);
    }
}
