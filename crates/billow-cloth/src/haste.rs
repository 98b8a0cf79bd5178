//! Which steps are too long: those in which parts of a crowd rush past many layers, or fine cloth crumples past itself.
//!
//! The contacts of a step are those that nodes will have if they go on as they do. While a heap is hit, a node that goes on
//! would pass dozens of layers, and each of them is foreseen although the first one stops it. In half the time it passes
//! half as many, and what happens is foreseen so much better that no step need be repeated: two halves cost a sixth less
//! than one step that is done twice.
//!
//! A contact has one normal for the whole step. Where neighbours move so differently that the edge between them turns over
//! in a step, it points anywhere in the end, and pushes tear at the cloth instead of holding it. The shorter the edges, the
//! shorter the steps must be while the cloth crumples.

use crate::{Model, State};
use billow_num::{Vec3, par};

/// Thicknesses that nodes may come past the crowd in a step [-].
const LAYERS: f64 = 10.0;

/// If more than one node in this many is faster than that, they rush.
const RUSH: usize = 100;

/// Cloth is a crowd if it has a contact for so many nodes; loose cloth has nothing to rush into.
const CROWD: usize = 3;

/// How far the ends of a spring may come past each other in a step, in lengths of the spring [-].
const TURN: f64 = 2.0;

/// If the ends of more than one spring in this many come farther, the cloth crumples.
const CRUMPLE: usize = 500;

/// How often a step is cut in halves at most.
const MOST: u32 = 3;

/// Whether a step of length `dt` from that state had better be done in halves, after so many `halvings`. Rushing layers are
/// worth one of them: quarters cost more than they save.
pub(crate) fn hasty(model: &Model, state: &State, dt: f64, halvings: u32) -> bool {
    halvings == 0 && rushes(model, state, dt) || halvings < MOST && crumples(model, &state.v, dt)
}

/// Whether part of a crowd would come past many layers.
fn rushes(model: &Model, state: &State, dt: f64) -> bool {
    let (v, surface) = (&state.v, &model.surface);
    if state.lasting.pushes.len() * CROWD < v.len() {
        return false;
    }
    let sum = par::reduce(v.len(), par::CHUNK, |range| range.map(|i| v[i]).sum::<Vec3>(), |a, b| a + b);
    let mean = sum.unwrap_or(Vec3::ZERO) / v.len() as f64;
    let fast = |i: usize| (v[i] - mean).length() * dt > LAYERS * surface.thickness(i as u32);
    count(v.len(), fast) * RUSH > v.len()
}

/// Whether edges would turn over.
fn crumples(model: &Model, v: &[Vec3], dt: f64) -> bool {
    let (ends, rest) = (model.springs.ends(), model.springs.rest_lengths());
    let turns = |e: usize| {
        let [a, b] = ends[e].map(|i| v[i as usize]);
        (a - b).length_squared() * (dt * dt) > TURN * TURN * (rest[e] * rest[e])
    };
    count(ends.len(), turns) * CRUMPLE > ends.len()
}

/// How many of so many things are like that.
fn count(of: usize, like: impl Fn(usize) -> bool + Sync) -> usize {
    par::reduce(of, par::CHUNK, |range| range.filter(|k| like(*k)).count(), |a, b| a + b).unwrap_or(0)
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
            assert_eq!(
                hasty(&model, &state, dt, 0),
                expected,
                "{contacts} contacts, {some} nodes at {speed}"
            );
        }
    }

    #[test]
    fn cloth_whose_edges_turn_over_is_halved_until_they_do_not() {
        let model = model(40);
        let (edge, dt) = (1.0 / 39.0, 5e-3);
        // Every node of a row past the next, so that more than enough edges turn.
        let at = |lengths: f64| {
            let mut state = model.initial_state();
            state.v[400..480].iter_mut().step_by(2).for_each(|v| *v = Vec3::Z * (lengths * edge / dt));
            state
        };
        let halvings = |state: &State| {
            let hasty = |k: &u32| hasty(&model, state, dt * 0.5f64.powi(*k as i32), *k);
            (0..).find(|k| !hasty(k)).unwrap()
        };
        let needed = [0.5, 1.9, 2.9, 5.8, 11.5, 100.0].map(|lengths| halvings(&at(lengths)));
        assert_eq!(needed, [0, 0, 1, 2, 3, 3]);
        // A single node may do what it likes, and so may cloth that moves as one.
        let mut state = model.initial_state();
        state.v[820] = Vec3::Z * (20.0 * edge / dt);
        assert!(8 * CRUMPLE < model.springs.len() && halvings(&state) == 0);
        state.v.fill(Vec3::Z * 1e3);
        assert_eq!(halvings(&state), 0);
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
