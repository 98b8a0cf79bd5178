//! Rigid bodies that fall, collide, rub and stack.

use super::{System, attribute};
use crate::driver::{StepError, StepErrorKind, StepReport};
use crate::motion::Motion;
use crate::resolve::Resolved;
use crate::rigid::RigidPlan;
use crate::scene::{Body, Timing};
use crate::tables::BodyAttribute;
use billow_io::{Frame, Object};
use billow_num::Vec3;
use billow_rigid::{Method, Model, State, Workspace, step};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Version of the saved state.
const STATE_FORMAT: u32 = 3;

/// The statistics of all rigid bodies together.
pub(super) const STATISTICS: [&str; 7] = [
    "rigid-contacts",
    "rigid-impacts",
    "rigid-levels",
    "rigid-parts",
    "rigid-pushes",
    "rigid-asleep",
    "rigid-overlap",
];

/// The statistic of each body or array that bears others: the force on it along gravity [N].
pub(super) const LOAD: &str = "load";

/// The statistics of each body or array beyond the height, without its name.
pub(super) const GROUP_STATISTICS: [&str; 6] =
    ["lowest", "highest", "speed", "spin", "energy", "kinetic-energy"];

/// What a checkpoint holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Saved {
    rigid: State,
    tally: Tally,
}

/// What the steps of the present frame have done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Tally {
    /// The frame they lead to.
    frame: u32,
    contacts: u64,
    impacts: u64,
    levels: u64,
    parts: u64,
    pushes: u64,
    asleep: u64,
    overlap: f64,
}

/// The rigid bodies of the scene.
pub(super) struct RigidSystem {
    plan: Arc<RigidPlan>,
    timing: Timing,
    attributes: Vec<BodyAttribute>,
    /// The scene's bodies that contact moves, with their number in the model.
    bodies: Vec<(usize, Body)>,
    /// Numbers in the model of the others, ascending, with the name of their body in the scene file.
    supports: Vec<(usize, String)>,
    /// The model, if its gravity is not that of the plan.
    model: Option<Model>,
    state: Saved,
    marked: Saved,
    work: Workspace,
}

impl RigidSystem {
    /// The rigid bodies at the start, if the scene has any.
    pub(super) fn new(scene: &Resolved) -> Option<Self> {
        let plan = Arc::clone(scene.rigid.as_ref()?);
        let members = plan.members.iter().enumerate().filter(|(_, m)| m.dynamic);
        let others = plan.members.iter().enumerate().filter(|(_, m)| !m.dynamic);
        let supports = others.map(|(k, m)| (k, scene.bodies[m.body].group.clone())).collect();
        let bodies = members.map(|(k, m)| (k, scene.bodies[m.body].clone())).collect();
        let state = Saved { rigid: plan.model.start(), tally: Tally::default() };
        Some(Self {
            timing: scene.timing.clone(),
            attributes: scene.output.attributes.clone(),
            bodies,
            supports,
            model: scene.timing.varying_gravity.is_some().then(|| plan.model.clone()),
            marked: state.clone(),
            state,
            plan,
            work: Workspace::default(),
        })
    }

    fn advance(&mut self, t: f64, dt: f64) -> Result<billow_rigid::StepReport, StepError> {
        let gravity = self.timing.gravity_at(t + 0.5 * dt);
        if !gravity.is_finite() {
            let reason = format!("gravity {gravity} m/s² is not finite");
            return Err(StepError::new(StepErrorKind::Hopeless, "forces", reason));
        }
        if let Some(model) = &mut self.model {
            model.set_gravity(gravity);
        }
        let model = self.model.as_ref().unwrap_or(&self.plan.model);
        self.state.rigid.time = t;
        step(model, &mut self.state.rigid, &mut self.work, &self.plan.config, dt).map_err(|error| match error
        {
            billow_rigid::StepError::NotFinite { stage, body } => {
                let reason = "its position or velocity is not finite";
                StepError::new(StepErrorKind::NonFinite, stage, reason).body(body)
            }
            other => StepError::new(StepErrorKind::Hopeless, "rigid bodies", other.to_string()),
        })
    }

    fn tally(&mut self, t: f64, report: &billow_rigid::StepReport) {
        // The frame that the step leads to; half a step of slack for rounding is harmless.
        let frame = (t * self.timing.fps + 1e-6).floor().max(-1.0) as i64 + 1;
        let tally = &mut self.state.tally;
        if tally.frame != frame as u32 {
            *tally = Tally { frame: frame as u32, ..Tally::default() };
        }
        tally.contacts = report.contacts;
        tally.impacts += report.collisions;
        tally.levels = report.levels;
        tally.parts += report.substeps;
        tally.pushes += report.pushes;
        tally.asleep = report.asleep;
        tally.overlap = tally.overlap.max(report.overlap);
    }

    /// Force of contacts on the bodies that contact does not move, along gravity (or downward without), by group [N].
    fn loads(&self, gravity: Vec3) -> BTreeMap<&str, f64> {
        let down = gravity.try_normalize().unwrap_or(-self.timing.up_vector());
        let mut loads: BTreeMap<&str, f64> =
            self.supports.iter().map(|(_, group)| (group.as_str(), 0.0)).collect();
        for c in &self.state.rigid.carried {
            for (body, force) in [(c.a, c.force), (c.b, -c.force)] {
                if let Ok(k) = self.supports.binary_search_by_key(&(body as usize), |s| s.0)
                    && let Some(load) = loads.get_mut(self.supports[k].1.as_str())
                {
                    *load += force.dot(down);
                }
            }
        }
        loads
    }

    /// Velocities at the time of the positions: those of bodies without contact have not felt the last half step yet.
    fn velocities(&self, gravity: Vec3) -> Vec<Vec3> {
        let State { bodies, carried, owed, .. } = &self.state.rigid;
        // The published method remembers no contacts: its velocities are shown as they are.
        let mut touched = vec![self.plan.config.method == Method::Document; bodies.len()];
        for c in carried {
            (touched[c.a as usize], touched[c.b as usize]) = (true, true);
        }
        let late = |(b, touched): (&billow_rigid::BodyState, &bool)| {
            if *touched { b.velocity } else { b.velocity + gravity * *owed }
        };
        bodies.iter().zip(&touched).map(late).collect()
    }
}

/// What is known of the bodies of one array.
#[derive(Clone, Copy)]
struct Sum {
    lowest: f64,
    highest: f64,
    height: f64,
    mass: f64,
    speed: f64,
    spin: f64,
    energy: f64,
    kinetic: f64,
}

impl Default for Sum {
    fn default() -> Self {
        let (lowest, highest) = (f64::INFINITY, f64::NEG_INFINITY);
        Self { lowest, highest, height: 0.0, mass: 0.0, speed: 0.0, spin: 0.0, energy: 0.0, kinetic: 0.0 }
    }
}

impl System for RigidSystem {
    fn name(&self) -> &'static str {
        "rigid"
    }

    fn step(&mut self, t: f64, dt: f64) -> Result<StepReport, StepError> {
        // Nothing falls while cloth settles before the start.
        if t < 0.0 {
            return Ok(StepReport::default());
        }
        let report = self.advance(t, dt)?;
        self.tally(t, &report);
        Ok(StepReport { stages: report.stages })
    }

    fn mark(&mut self) {
        self.marked.clone_from(&self.state);
    }

    fn rollback(&mut self) {
        self.state.clone_from(&self.marked);
    }

    fn snapshot(&self, frame: &mut Frame) {
        let (gravity, up) = (self.timing.gravity_at(frame.time), self.timing.up_vector());
        let (model, state) = (&self.plan.model, &self.state.rigid);
        let velocities = self.velocities(gravity);
        let mut groups: BTreeMap<&str, Sum> = BTreeMap::new();
        for (k, body) in &self.bodies {
            let (pose, velocity, spin) = (self.plan.pose(state, *k), velocities[*k], model.spin(state, *k));
            let mut object = Object::new(body.name.clone(), body.shape.clone());
            object.pose = pose;
            object.attributes =
                self.attributes.iter().filter_map(|a| attribute(*a, body, velocity, spin)).collect();
            frame.objects.push(object);
            let (mass, centre) = (model.mass(*k), state.bodies[*k].pose.position);
            let kinetic =
                0.5 * (mass * velocity.length_squared() + spin.dot(state.bodies[*k].angular_momentum));
            let sum = groups.entry(&body.group).or_default();
            let height = centre.dot(up);
            (sum.lowest, sum.highest) = (sum.lowest.min(height), sum.highest.max(height));
            (sum.mass, sum.height) = (sum.mass + mass, sum.height + mass * height);
            (sum.speed, sum.spin) = (sum.speed.max(velocity.length()), sum.spin.max(spin.length()));
            (sum.energy, sum.kinetic) =
                (sum.energy + kinetic - mass * gravity.dot(centre), sum.kinetic + kinetic);
        }
        for (name, sum) in groups {
            let values = [sum.lowest, sum.highest, sum.speed, sum.spin, sum.energy, sum.kinetic];
            frame.stats.insert(format!("{name}.height"), sum.height / sum.mass);
            for (what, value) in GROUP_STATISTICS.iter().zip(values) {
                frame.stats.insert(format!("{name}.{what}"), value);
            }
            *frame.stats.entry("energy".into()).or_default() += sum.energy;
        }
        for (name, load) in self.loads(gravity) {
            frame.stats.insert(format!("{name}.{LOAD}"), load);
        }
        let Tally { contacts, impacts, levels, parts, pushes, asleep, overlap, .. } = self.state.tally;
        let counts = [contacts, impacts, levels, parts, pushes, asleep].map(|c| c as f64);
        for (what, value) in STATISTICS.iter().zip(counts.into_iter().chain([overlap])) {
            frame.stats.insert((*what).to_owned(), value);
        }
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_stdvec(&self.state).expect("plain data always serialises to memory")
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), String> {
        let state: Saved = postcard::from_bytes(bytes).map_err(|e| e.to_string())?;
        let (found, expected) = (state.rigid.bodies.len(), self.plan.model.len());
        if found != expected {
            return Err(format!("it has {found} rigid bodies, the scene {expected}"));
        }
        self.state = state;
        Ok(())
    }

    fn state_format(&self) -> u32 {
        STATE_FORMAT
    }
}

/// Names of the statistics of the scene's rigid bodies.
pub(super) fn statistic_names(bodies: &[Body], names: &mut Vec<String>) {
    let mut last = "";
    for body in bodies.iter().filter(|b| matches!(b.motion, Motion::Rigid(_))) {
        if body.group != last {
            last = &body.group;
            names.push(format!("{last}.height"));
            names.extend(GROUP_STATISTICS.map(|what| format!("{last}.{what}")));
        }
    }
    let meets = |b: &&Body| b.meets_rigid && b.motion.is_prescribed();
    for body in bodies.iter().filter(meets).filter(|_| !last.is_empty()) {
        let name = format!("{}.{LOAD}", body.group);
        if names.last() != Some(&name) {
            names.push(name);
        }
    }
    if !last.is_empty() {
        names.extend(STATISTICS.map(str::to_owned));
    }
}
