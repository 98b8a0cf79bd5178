//! The simulation of bodies that do not touch: placed, keyframed, scripted and flying ones.

use crate::driver::{Simulation, StepError, StepErrorKind, StepReport};
use crate::motion::{FlightState, Motion};
use crate::scene::{Body, Timing};
use crate::tables::BodyAttribute;
use billow_io::{Attribute, Domain, Frame, Object, Values};
use billow_num::stages::Stages;
use billow_num::{Pose, Vec3, par};
use std::sync::Arc;

/// Version of the saved state.
const STATE_FORMAT: u32 = 1;

/// All bodies of a scene and the state of those that fly.
#[derive(Clone, Debug)]
pub struct BodySimulation {
    bodies: Vec<Body>,
    timing: Timing,
    attributes: Vec<BodyAttribute>,
    /// One state per free body, in their order.
    state: Vec<FlightState>,
    marked: Vec<FlightState>,
}

impl BodySimulation {
    /// The bodies at t = 0.
    pub fn new(bodies: Vec<Body>, timing: Timing, attributes: Vec<BodyAttribute>) -> Self {
        let start = |body: &Body| match &body.motion {
            Motion::Free(flight) => Some(flight.start()),
            _ => None,
        };
        let state: Vec<_> = bodies.iter().filter_map(start).collect();
        Self { bodies, timing, attributes, marked: state.clone(), state }
    }

    /// Advances the flying bodies.
    fn fly(&mut self, dt: f64) -> Result<(), StepError> {
        let gravity = self.timing.gravity;
        let flying = self.bodies.iter().filter_map(|body| match &body.motion {
            Motion::Free(flight) => Some((body, flight.mass)),
            _ => None,
        });
        let flying: Vec<_> = flying.collect();
        let before = std::mem::take(&mut self.state);
        let after = par::map(before.len(), |i| {
            let mut state = before[i];
            state.step(&flying[i].1, gravity, dt).map(|()| state)
        });
        for (i, result) in after.into_iter().enumerate() {
            let name = &flying[i].0.name;
            match result {
                Ok(state) if state.centre.is_finite() && state.rotation.is_finite() => self.state.push(state),
                Ok(state) => {
                    let reason = format!("its centre of mass is {} after the step", state.centre);
                    return Err(StepError::new(StepErrorKind::NonFinite, "free flight", reason).body(name));
                }
                Err(steps) => {
                    let reason = format!("it spins too fast: the step would take {steps:.0} parts");
                    return Err(StepError::new(StepErrorKind::Unresolved, "free flight", reason).body(name));
                }
            }
        }
        Ok(())
    }

    /// Prescribed motions have no state; only their formulas can fail.
    fn follow(&self, t: f64) -> Result<(), StepError> {
        for body in &self.bodies {
            if let Some(pose) = body.motion.pose(t)
                && !(pose.position.is_finite() && pose.rotation.is_finite())
            {
                let reason = format!("its prescribed pose at t = {t} s is not finite");
                return Err(
                    StepError::new(StepErrorKind::Hopeless, "prescribed motion", reason).body(&body.name)
                );
            }
        }
        Ok(())
    }

    /// Pose, velocity of the reference point [m/s] and angular velocity [rad/s] of every body at time `t`.
    fn motions(&self, t: f64) -> Vec<(Pose, Vec3, Vec3)> {
        let mut states = self.state.iter();
        let mut motion = |body: &Body| match (&body.motion, body.motion.pose(t), body.motion.velocity(t)) {
            (Motion::Free(flight), ..) => {
                states.next().map_or((Pose::IDENTITY, Vec3::ZERO, Vec3::ZERO), |s| {
                    (s.pose(&flight.mass), s.velocity, s.angular_velocity(&flight.mass))
                })
            }
            (_, Some(pose), Some((velocity, spin))) => (pose, velocity, spin),
            (_, pose, _) => (pose.unwrap_or_default(), Vec3::ZERO, Vec3::ZERO),
        };
        self.bodies.iter().map(&mut motion).collect()
    }

    /// The statistics a frame of these bodies has, by name.
    pub fn statistic_names(bodies: &[Body]) -> Vec<String> {
        let mut names = vec!["energy".to_owned()];
        for body in bodies {
            names.push(format!("{}.height", body.name));
            if matches!(body.motion, Motion::Free(_)) {
                let own = ["energy", "spin-energy", "speed"].map(|s| format!("{}.{s}", body.name));
                names.extend(own);
                names.extend(["x", "y", "z"].map(|axis| format!("{}.angular-momentum-{axis}", body.name)));
            }
        }
        names
    }
}

impl Simulation for BodySimulation {
    fn step(&mut self, t: f64, dt: f64) -> Result<StepReport, StepError> {
        let mut stages = Stages::default();
        stages.time("free flight", || self.fly(dt))?;
        stages.time("prescribed motion", || self.follow(t + dt))?;
        Ok(StepReport { stages })
    }

    fn mark(&mut self) {
        self.marked.clone_from(&self.state);
    }

    fn rollback(&mut self) {
        self.state.clone_from(&self.marked);
    }

    fn snapshot(&self, index: u32, time: f64) -> Frame {
        let mut frame = Frame { index, time, ..Frame::default() };
        let up = self.timing.up_vector();
        let mut states = self.state.iter();
        let mut total = 0.0;
        for (body, (pose, velocity, spin)) in self.bodies.iter().zip(self.motions(time)) {
            let mut object = Object::new(body.name.clone(), body.shape.clone());
            object.pose = pose;
            object.attributes =
                self.attributes.iter().filter_map(|a| attribute(*a, body, velocity, spin)).collect();
            frame.objects.push(object);
            let mut note = |what: &str, x: f64| {
                frame.stats.insert(format!("{}.{what}", body.name), x);
            };
            let centre = body.mass.map_or(Vec3::ZERO, |m| m.centre);
            note("height", pose.point(centre).dot(up));
            if let (Motion::Free(flight), Some(state)) = (&body.motion, states.next_if_free(body)) {
                let (fall, spinning) = state.kinetic_energy(&flight.mass);
                let energy = fall + spinning - flight.mass.mass * self.timing.gravity.dot(state.centre);
                total += energy;
                note("energy", energy);
                note("spin-energy", spinning);
                note("speed", state.velocity.length());
                let momentum = momentum_of(&pose, &flight.mass, spin);
                note("angular-momentum-x", momentum.x);
                note("angular-momentum-y", momentum.y);
                note("angular-momentum-z", momentum.z);
            }
        }
        frame.stats.insert("energy".into(), total);
        frame
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_stdvec(&self.state).expect("plain data always serialises to memory")
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), String> {
        let state: Vec<FlightState> = postcard::from_bytes(bytes).map_err(|e| e.to_string())?;
        if state.len() != self.state.len() {
            return Err(format!("it has {} free bodies, the scene {}", state.len(), self.state.len()));
        }
        self.state = state;
        Ok(())
    }

    fn state_format(&self) -> u32 {
        STATE_FORMAT
    }
}

/// The next state, if `body` flies.
trait NextIfFree<'a> {
    fn next_if_free(&mut self, body: &Body) -> Option<&'a FlightState>;
}

impl<'a> NextIfFree<'a> for std::slice::Iter<'a, FlightState> {
    fn next_if_free(&mut self, body: &Body) -> Option<&'a FlightState> {
        if matches!(body.motion, Motion::Free(_)) { self.next() } else { None }
    }
}

/// Angular momentum of a body as its pose and angular velocity give it [kg m²/s].
fn momentum_of(pose: &Pose, mass: &crate::motion::MassModel, spin: Vec3) -> Vec3 {
    let to_world = pose.rotation * mass.axes;
    to_world * (mass.moments * (to_world.conjugate() * spin))
}

/// One of the data kept with a body.
fn attribute(kind: BodyAttribute, body: &Body, velocity: Vec3, spin: Vec3) -> Option<Attribute> {
    let vector = |v: Vec3| Values::Vector(Arc::new(vec![v.to_array().map(|x| x as f32)]));
    let values = match kind {
        BodyAttribute::Colour => vector(body.material.colour),
        BodyAttribute::Velocity => vector(velocity),
        BodyAttribute::AngularVelocity => vector(spin),
        BodyAttribute::Mass => Values::Scalar(Arc::new(vec![body.mass?.mass as f32])),
    };
    Some(Attribute { name: kind.word().replace('-', "_"), domain: Domain::Object, values })
}
