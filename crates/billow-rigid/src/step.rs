//! One step: the documents' list, one call per line ([Gue06] 2.11).

use crate::broad::Broad;
use crate::config::{Config, Method};
use crate::contact::{Contact, Motion};
use crate::detect::{Found, Search};
use crate::error::StepError;
use crate::graph::Levels;
use crate::halt::Halt;
use crate::memory::{Look, Memory};
use crate::model::Model;
use crate::solve::Row;
use crate::state::{Carried, State};
use crate::{document, lasting, motion, near, persistent, push, sleep};
use billow_num::stages::Stages;
use billow_num::{Pose, par};

/// Scratch of the solver. Dropping it between steps changes no result.
#[derive(Debug, Default)]
pub struct Workspace {
    pub(crate) motions: Vec<Motion>,
    pub(crate) trial: Vec<Motion>,
    pub(crate) predicted: Vec<Pose>,
    pub(crate) broad: Broad,
    pub(crate) pairs: Vec<[u32; 2]>,
    pub(crate) memory: Memory,
    pub(crate) contacts: Vec<Contact>,
    pub(crate) rows: Vec<Row>,
    pub(crate) order: Vec<u32>,
    pub(crate) levels: Levels,
    pub(crate) carried: Vec<Carried>,
    /// Which bodies move.
    pub(crate) live: Vec<bool>,
    /// Where bodies were that must not pass through shells.
    pub(crate) halt: Halt,
}

/// What a step did.
#[derive(Clone, Debug, Default)]
pub struct StepReport {
    /// Parts the step was divided into.
    pub substeps: u64,
    /// Elastic impulses, and contacts of the default method that closed faster than forces alone explain.
    pub collisions: u64,
    /// Contacts of the last part.
    pub contacts: u64,
    /// Contacts that were found only after velocities were solved.
    pub late_contacts: u64,
    /// Levels of the contact graph of the last part.
    pub levels: u64,
    /// Bodies asleep.
    pub asleep: u64,
    /// Times that a body was led back because it had gone through a thin shell, or that through it.
    pub held: u64,
    /// Position corrections.
    pub pushes: u64,
    /// Largest overlap left between the anchors of a contact [m].
    pub overlap: f64,
    /// Time per stage.
    pub stages: Stages,
}

/// Advances `state` by `dt` [s]; on error the state is unchanged.
///
/// # Errors
/// When the state does not belong to the model, `dt` is not positive, or a number stops being finite.
pub fn step(
    model: &Model,
    state: &mut State,
    work: &mut Workspace,
    config: &Config,
    dt: f64,
) -> Result<StepReport, StepError> {
    if state.bodies.len() != model.len() {
        return Err(StepError::Mismatch { model: model.len(), state: state.bodies.len() });
    }
    if !(dt > 0.0 && dt.is_finite()) {
        return Err(StepError::Length(dt));
    }
    par::inside(|| advance(model, state, work, config, dt))
}

/// All parts of a step, and what follows the last.
fn advance(
    model: &Model,
    state: &mut State,
    work: &mut Workspace,
    config: &Config,
    dt: f64,
) -> Result<StepReport, StepError> {
    let mut report = StepReport::default();
    // Where bodies meet is handed from step to step by the memory.
    let (bodies, carried) = (state.bodies.clone(), state.carried.clone());
    let mut next = State { bodies, carried, met: Vec::new(), places: Vec::new(), ..*state };
    work.live = match config.method {
        Method::Persistent => sleep::awake(model, &next, config),
        Method::Document => (0..model.len()).map(|i| model.is_dynamic(i)).collect(),
    };
    let parts = report.stages.time("divide", || divisions(model, state, work, config, dt));
    for _ in 0..parts {
        part(model, &mut next, work, config, dt / parts as f64, &mut report);
        finite(model, &next)?;
    }
    report.held +=
        report.stages.time("clear", || clear_up(model, &mut next, work, config, dt / parts as f64));
    report.stages.time("end", || work.memory.end(&mut next));
    sleep::watch(model, &mut next, &work.live, dt);
    report.asleep = (0..model.len()).filter(|i| model.is_dynamic(*i) && !work.live[*i]).count() as u64;
    next.time = state.time + dt;
    next.steps += 1;
    report.substeps = parts;
    *state = next;
    Ok(report)
}

/// One part of a step.
fn part(
    model: &Model,
    state: &mut State,
    work: &mut Workspace,
    config: &Config,
    dt: f64,
    report: &mut StepReport,
) {
    // Velocities live at the middle of steps: they owe half the last one and take half this one.
    let kick = state.owed + 0.5 * dt;
    motion::velocities(model, state, &work.live, dt, &mut work.motions);

    // Collisions, contact graph, forces, contacts, shock propagation.
    let search = Search { model, state, config, dt };
    match config.method {
        Method::Persistent => persistent::solve(&search, kick, work, report),
        Method::Document => document::solve(&search, kick, work, report),
    }

    // Advance bodies to their new positions.
    work.halt.note(model, state);
    report.stages.time("advance", || persistent::advance(dt, work, model, state));
    state.owed = 0.5 * dt;
    state.time += dt;
    state.carried = std::mem::take(&mut work.carried);

    // Push apart what still overlaps.
    let order = (&work.levels, work.order.as_slice());
    report.pushes += report.stages.time("push", || {
        push::push_apart(model, state, &work.contacts, order, &work.live, config.push_sweeps)
    });
    report.held +=
        report.stages.time("halt", || work.halt.hold((model, config), &work.live, &mut work.broad, state));
    let gap = |c: &Contact| c.gap(&state.bodies[c.a as usize].pose, &state.bodies[c.b as usize].pose);
    report.overlap = report.overlap.max(par::max(work.contacts.len(), |k| -gap(&work.contacts[k])));
}

/// Looks for all places once more where the bodies ended and pushes apart what overlaps: what turns while it slides
/// past another body can end deeper than contacts found before the motion tell. The next step begins with the places
/// found here. Tells how many bodies were led back before a shell.
fn clear_up(model: &Model, state: &mut State, work: &mut Workspace, config: &Config, dt: f64) -> u64 {
    if config.push_sweeps == 0 || config.method == Method::Document {
        return 0;
    }
    let mut held = 0;
    let all = std::mem::take(&mut work.pairs);
    let mut pairs = all.clone();
    work.memory.look = Look::After;
    for time in 1..=CLEARINGS {
        let search = Search { model, state, config, dt };
        work.predicted.clear();
        work.predicted.extend(state.bodies.iter().map(|b| b.pose));
        let found = search.contacts(&work.motions, &work.predicted, &pairs, &mut work.memory);
        let contacts: Vec<Contact> = found.iter().filter_map(|f| too_deep(model, f)).collect();
        if contacts.is_empty() {
            break;
        }
        let order = persistent::level_order(&work.levels, &contacts);
        work.halt.note(model, state);
        push::push_apart(model, state, &contacts, (&work.levels, &order), &work.live, config.push_sweeps);
        held += work.halt.hold((model, config), &work.live, &mut work.broad, state);
        // Only what was pushed is looked at again, with everything around it.
        let moved: Vec<bool> =
            state.bodies.iter().zip(&work.predicted).map(|(b, then)| b.pose != *then).collect();
        let moved = |i: &u32| moved[*i as usize];
        let again = |p: &[u32; 2]| time < EXACT || near::sampled(p.map(|i| model.geometry(i as usize)));
        pairs.clear();
        pairs.extend(all.iter().filter(|p| p.iter().any(moved) && again(p)));
    }
    work.pairs = all;
    held
}

/// A contact that overlaps too much, so that pushing it apart undoes what is too much: how far it is pushed is then
/// continuous in how deep it is.
fn too_deep(model: &Model, found: &Found) -> Option<Contact> {
    let Contact { a, b, skin, .. } = found.contact;
    let shapes = [a, b].map(|i| model.geometry(i as usize));
    let allowed = lasting::allowed(shapes);
    let kept = skin - (allowed - lasting::unmoved(shapes));
    (found.gap < -allowed).then_some(Contact { skin: kept, ..found.contact })
}

/// Times that bodies are pushed apart after a step, at most: each time what was pushed may reach one body farther. After six
/// times one pair of a thousand falling rings was left 0.15 mm deep in one of 120 frames, after twelve none.
const CLEARINGS: u32 = 12;
/// The same where contacts are exact. Pushing a heap over and over shakes it: the floor of the tallest silo in the gallery bore
/// 5.5 kN instead of 3.5 when balls were pushed six times.
const EXACT: u32 = 3;

/// Parts a step is divided into, so that no body turns too far in one and near bodies move little past each other.
fn divisions(model: &Model, state: &State, work: &mut Workspace, config: &Config, dt: f64) -> u64 {
    let search = Search { model, state, config, dt };
    motion::velocities(model, state, &work.live, dt, &mut work.trial);
    let mut motions = Vec::new();
    persistent::kicked(&search, state.owed + 0.5 * dt, &work.trial, &mut motions);
    search.predict(&motions, &mut work.predicted);
    work.pairs = search.pairs(&work.predicted, &work.live, &mut work.broad, |_| true);
    work.memory.begin(model, state, (work.broad.all(), &work.pairs));
    let parts = search.hastiest(&motions, &work.pairs, &work.memory).ceil();
    if parts.is_finite() { (parts as u64).clamp(1, u64::from(config.parts.max(1))) } else { 1 }
}

fn finite(model: &Model, state: &State) -> Result<(), StepError> {
    let good = |b: &crate::state::BodyState| {
        b.pose.position.is_finite()
            && b.pose.rotation.is_finite()
            && b.velocity.is_finite()
            && b.angular_momentum.is_finite()
    };
    match state.bodies.iter().position(|b| !good(b)) {
        None => Ok(()),
        Some(i) => Err(StepError::NotFinite { stage: "contact", body: model.bodies[i].name.clone() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::Builder;
    use crate::{Surface, meter::Meter};
    use billow_geom::TriMesh;
    use billow_geom::shapes::{cuboid, torus};
    use billow_num::Vec3;

    /// Bodies of one shape that lie on each other, `apart` of each other and all of them `sunk` into the ground, and what
    /// clearing up needs to know of them. Only the lowest overlaps anything.
    fn sunk_stack(mesh: &TriMesh, count: u32, (apart, sunk): (f64, f64)) -> (Model, State, Workspace) {
        let mut b = Builder::default();
        b.ground(Surface::default()).unwrap();
        let shape = b.mesh(mesh).unwrap();
        let height = mesh.bounds().size().z;
        for k in 0..count {
            b.body("body", shape, Vec3::Z * (0.5 * height - sunk + (height + apart) * f64::from(k)));
        }
        let model = b.model().unwrap();
        let (state, mut work) = (model.start(), Workspace::default());
        work.live = (0..model.len()).map(|i| model.is_dynamic(i)).collect();
        motion::velocities(&model, &state, &work.live, 0.01, &mut work.motions);
        work.pairs = (1..=count).map(|i| [i - 1, i]).collect();
        work.levels =
            Levels { of: (0..=count).collect(), supported: vec![true; model.len()], count: count + 1 };
        (model, state, work)
    }

    #[test]
    fn what_is_pushed_into_a_neighbour_pushes_that_into_the_next() {
        let sunk = 0.01;
        let ring = torus(0.3, 0.1, 16, 10).unwrap();
        let (model, mut state, mut work) = sunk_stack(&ring, 3, (2e-3, sunk));
        let deepest = |state: &State| {
            let pairs = Meter::new(&model).measure(&model, state).pairs;
            pairs.iter().map(|p| p.1).fold(0.0, f64::max)
        };
        let before = deepest(&state);
        clear_up(&model, &mut state, &mut work, &Config::default(), 0.01);
        let after = deepest(&state);
        assert!(before > 0.9 * sunk && after < 0.3 * sunk, "{before} m deep, then {after} m");
    }

    /// Each time one body more is pushed into the next.
    #[test]
    fn sampled_bodies_are_pushed_twelve_times_and_exact_ones_three() {
        let moved = |mesh: &TriMesh| {
            let (model, mut state, mut work) = sunk_stack(mesh, 20, (2e-3, 0.04));
            let before = state.clone();
            clear_up(&model, &mut state, &mut work, &Config::default(), 0.01);
            before.bodies.iter().zip(&state.bodies).filter(|(b, a)| b.pose != a.pose).count()
        };
        assert_eq!(moved(&torus(0.3, 0.1, 16, 10).unwrap()), 12);
        assert_eq!(moved(&cuboid(Vec3::new(0.6, 0.6, 0.2), [1; 3]).unwrap()), 3);
    }
}
