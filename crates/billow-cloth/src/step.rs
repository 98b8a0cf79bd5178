//! One collision step ([Bri03] 2.3).

use crate::coupled::{Coupled, Span};
use crate::dynamics::{Motion, Scratch};
use crate::forces::Forces;
use crate::haste::hasty;
use crate::objects::ObjectContacts;
use crate::strain::{self, Quantity};
use crate::{Config, Integrator, Lasting, Model, State};
use billow_contact::{Pipeline, Report, Step, Unresolved, resolve};
use billow_num::stages::Stages;
use billow_num::{Vec3, par};
use std::fmt;

/// How often collisions and strain limits answer each other.
const LIMIT_ROUNDS: u32 = 6;

/// Scratch of the solver. Dropping it between steps changes no result.
#[derive(Debug, Default)]
pub struct Workspace {
    forces: Forces,
    scratch: Scratch,
    contact: billow_contact::Workspace,
    coupled: Coupled,
    objects: ObjectContacts,
    x_bar: Vec<Vec3>,
    v_bar: Vec<Vec3>,
    v_mid: Vec<Vec3>,
    lasting: Lasting,
}

impl Workspace {
    /// How many contacts pushed at each node at the end of the last step: with surfaces and with thick objects.
    pub fn contacts_per_node(&self, nodes: usize) -> Vec<u32> {
        let mut counts = vec![0; nodes];
        self.contact.count_contacts(&mut counts);
        self.coupled.count_contacts(&mut counts);
        self.objects.count(&mut counts);
        counts
    }
}

/// What a step did.
#[derive(Clone, Debug, Default)]
pub struct StepReport {
    /// Counts of the collision pipeline.
    pub contact: Report,
    /// Nodes corrected by thick objects.
    pub object_contacts: u64,
    /// Iterations of linear solves.
    pub iterations: u64,
    /// Time per stage.
    pub stages: Stages,
}

impl StepReport {
    /// What this step and the next did together; contacts are those of the next.
    fn followed_by(self, mut next: Self) -> Self {
        next.contact = self.contact.followed_by(next.contact);
        next.iterations += self.iterations;
        let mut stages = self.stages;
        stages.absorb(&next.stages);
        Self { stages, ..next }
    }
}

/// Why a step could not be done.
#[derive(Clone, Debug, PartialEq)]
pub enum StepError {
    /// Scripted nodes are driven through something.
    Unresolved(Unresolved),
    /// A number stopped being finite.
    NotFinite {
        /// Stage in which it was noticed.
        stage: &'static str,
        /// Part it belongs to.
        part: String,
        /// Node within the part.
        node: usize,
    },
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unresolved(unresolved) => write!(f, "{unresolved}"),
            Self::NotFinite { stage, part, node } => {
                write!(f, "node {node} of `{part}` is not finite after {stage}")
            }
        }
    }
}

impl std::error::Error for StepError {}

/// Advances `state` by one collision step of length `dt` [s]; on error the state is unchanged.
pub fn step(
    model: &Model,
    state: &mut State,
    work: &mut Workspace,
    config: &Config,
    dt: f64,
) -> Result<StepReport, StepError> {
    if config.integrator == Integrator::Coupled && hasty(model, state, dt) {
        return in_halves(model, state, work, config, dt);
    }
    whole(model, state, work, config, dt)
}

/// A step in two halves, of which none is repeated.
fn in_halves(
    model: &Model,
    state: &mut State,
    work: &mut Workspace,
    config: &Config,
    dt: f64,
) -> Result<StepReport, StepError> {
    let (before, config) = (state.clone(), Config { attempts: 0, ..*config });
    let mut half = || whole(model, state, work, &config, 0.5 * dt);
    let report = half().and_then(|first| Ok(first.followed_by(half()?)));
    match report {
        Ok(_) => state.time = before.time + dt,
        Err(_) => *state = before,
    }
    report
}

/// One step as long as it is.
fn whole(
    model: &Model,
    state: &mut State,
    work: &mut Workspace,
    config: &Config,
    dt: f64,
) -> Result<StepReport, StepError> {
    let mut report = match config.integrator {
        Integrator::Coupled => coupled_step(model, state, work, config, dt),
        _ => split_step(model, state, work, config, dt),
    }?;
    report.stages.count("steps", 1);
    std::mem::swap(&mut state.x, &mut work.x_bar);
    std::mem::swap(&mut state.v, &mut work.v_bar);
    state.lasting = std::mem::take(&mut work.lasting);
    state.time += dt;
    Ok(report)
}

/// The default step: internal forces, contacts and objects in common small steps, then collisions.
fn coupled_step(
    model: &Model,
    state: &State,
    work: &mut Workspace,
    config: &Config,
    dt: f64,
) -> Result<StepReport, StepError> {
    let mut report = StepReport::default();
    let mut stages = Stages::default();
    let Workspace { coupled, contact, x_bar, v_bar, v_mid, lasting, .. } = work;
    start_over(model, state, dt, (x_bar, v_bar));

    // Contacts and pairs that may meet, for nodes that go on as they are.
    let expected = model.gravity * (0.5 * dt);
    v_mid.resize(state.x.len(), Vec3::ZERO);
    par::fill(v_mid, |i| if model.inverse_masses[i] > 0.0 { v_bar[i] + expected } else { v_bar[i] });
    let mut pipeline =
        Pipeline::new(&model.surface, Step { x: &state.x, dt, config: &config.contact }, contact);
    let room = stages.time("objects", || coupled.make_room(model, &state.x, state.time));
    stages.time("proximity", || pipeline.find_within(v_mid, room));

    // Candidate positions and velocities, again while there are collisions to learn of.
    let x = &state.x;
    for attempt in 0.. {
        let (time, lasting, repeated) = (state.time, &state.lasting, attempt > 0);
        let span = Span { model, config, time, dt, lasting, repeated };
        report.object_contacts = coupled.advance(span, (x_bar, v_bar), &mut pipeline, &mut stages);
        stages.time("limits", || {
            v_mid.clone_from(x_bar);
            coupled.limit(config.strain_sweeps, &mut pipeline, x_bar);
            par::for_each_mut(v_bar, |i, v| *v += (x_bar[i] - v_mid[i]) / dt);
        });
        finite(model, "dynamics", x_bar)?;
        par::fill(v_mid, |i| (x_bar[i] - x[i]) / dt);
        stages.count("attempts", 1);
        if attempt == config.attempts || !stages.time("learn", || pipeline.learn(v_mid)) {
            break;
        }
        start_over(model, state, dt, (x_bar, v_bar));
    }

    // Collisions and impact zones correct the mean velocity; what they change belongs to the final one too.
    par::for_each_mut(v_bar, |i, v| *v -= v_mid[i]);
    for round in 1.. {
        let collisions = stages.time("collisions", || coupled.collide(&mut pipeline, (x, dt), v_mid));
        let collisions = collisions.map_err(StepError::Unresolved)?;
        if collisions == 0 || round == LIMIT_ROUNDS {
            break;
        }
        // What was pushed away drags its surroundings along.
        par::fill(x_bar, |i| x[i] + v_mid[i] * dt);
        stages.time("limits", || coupled.limit(config.strain_sweeps, &mut pipeline, x_bar));
        par::fill(v_mid, |i| (x_bar[i] - x[i]) / dt);
    }
    par::for_each_mut(v_bar, |i, v| *v += v_mid[i]);

    // Final positions, exactly those the pipeline approved.
    par::fill(x_bar, |i| x[i] + v_mid[i] * dt);
    finite(model, "collisions", x_bar)?;
    coupled.remember(model, &pipeline, lasting);
    report.contact = pipeline.into_report();
    report.stages = stages;
    Ok(report)
}

/// The documents' step: dynamics alone, then the mean velocity corrected stage by stage.
fn split_step(
    model: &Model,
    state: &State,
    work: &mut Workspace,
    config: &Config,
    dt: f64,
) -> Result<StepReport, StepError> {
    let mut report = StepReport::default();
    let mut stages = Stages::default();
    let Workspace { forces, scratch, contact, objects, x_bar, v_bar, v_mid, lasting, .. } = work;
    *lasting = Lasting::default();
    let mut motion = Motion { model, config, forces, scratch, iterations: 0 };

    // Advance to candidate positions and velocities with internal dynamics.
    start_over(model, state, dt, (x_bar, v_bar));
    stages.time("dynamics", || motion.advance(x_bar, v_bar, dt));
    finite(model, "dynamics", x_bar)?;

    // Mean velocity.
    v_mid.resize(state.x.len(), Vec3::ZERO);
    let x = &state.x;
    par::fill(v_mid, |i| (x_bar[i] - x[i]) / dt);
    follow_scripts(model, state, dt, v_mid);
    let planned = v_mid.clone();

    // Objects, repulsions, strain limits, collisions and impact zones give the final mid-step velocity.
    stages.time("objects", || {
        objects.find(model, x, (state.time, dt), v_mid);
        objects.index(x.len());
    });
    let limit_and_collide = |v: &mut [Vec3]| {
        let sweeps = (config.sweep, config.strain_sweeps.div_ceil(config.contact.repulsion_passes.max(1)));
        let clamp = |i: usize, v: &mut Vec3| objects.clamp(i, (x[i], dt, state.time + dt), v);
        strain::limit(model, (Quantity::Strain, &clamp), sweeps, (x, dt), v);
        objects.accumulate(x, dt, v);
    };
    let step = Step { x, dt, config: &config.contact };
    report.contact = resolve(&model.surface, step, v_mid, limit_and_collide, contact, &mut stages)
        .map_err(StepError::Unresolved)?;
    report.object_contacts = objects.active();

    // Final positions, exactly those the pipeline approved.
    par::fill(x_bar, |i| x[i] + v_mid[i] * dt);
    finite(model, "collisions", x_bar)?;

    // Final velocity.
    stages.time("final velocity", || {
        if *v_mid != planned {
            finish_velocity(&mut motion, x_bar, v_mid, v_bar, dt);
            objects.find(model, x_bar, (state.time + dt, dt), v_bar);
            objects.accumulate(x_bar, dt, v_bar);
        }
    });
    report.iterations = motion.iterations;
    report.stages = stages;
    Ok(report)
}

/// `v' = v½ + Δt/2 a(x', v')`, then the strain rate is limited.
fn finish_velocity(motion: &mut Motion<'_>, x: &[Vec3], v_mid: &[Vec3], v: &mut [Vec3], dt: f64) {
    v.copy_from_slice(v_mid);
    if motion.config.integrator == crate::Integrator::Implicit {
        // Backward Euler's internal forces are already those of the end of the step; gravity's second half is not.
        let (late, inverse_masses) = (motion.model.gravity * (0.5 * dt), &motion.model.inverse_masses);
        par::for_each_mut(v, |i, v| {
            if inverse_masses[i] > 0.0 {
                *v += late;
            }
        });
    } else {
        motion.implicit_half(x, v, dt);
    }
    motion.limit_rate(x, v, dt);
}

/// Candidates as they are before a step: the state, with scripted nodes on their way.
fn start_over(model: &Model, state: &State, dt: f64, (x, v): (&mut Vec<Vec3>, &mut Vec<Vec3>)) {
    x.clone_from(&state.x);
    v.clone_from(&state.v);
    follow_scripts(model, state, dt, v);
}

/// Gives scripted nodes the mean velocity that takes them to their next position.
fn follow_scripts(model: &Model, state: &State, dt: f64, v: &mut [Vec3]) {
    for (node, script) in &model.scripts {
        let i = *node as usize;
        v[i] = (script.position(model.rest[i], state.time + dt) - state.x[i]) / dt;
    }
}

fn finite(model: &Model, stage: &'static str, x: &[Vec3]) -> Result<(), StepError> {
    let Some(bad) = x.iter().position(|x| !x.is_finite()) else { return Ok(()) };
    let part = model.parts.iter().find(|p| p.nodes.contains(&bad));
    Err(StepError::NotFinite {
        stage,
        part: part.map_or_else(String::new, |p| p.name.clone()),
        node: bad - part.map_or(0, |p| p.nodes.start),
    })
}
