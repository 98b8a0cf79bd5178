//! Free flight: bodies that fall and tumble and touch nothing.

use super::{System, attribute, note_height};
use crate::driver::{StepError, StepErrorKind, StepReport};
use crate::motion::{Flight, FlightState, MassModel, Motion};
use crate::resolve::Resolved;
use crate::scene::{Body, Timing};
use crate::tables::BodyAttribute;
use billow_io::{Frame, Object};
use billow_num::stages::Stages;
use billow_num::{Pose, Vec3, par};

/// Version of the saved state.
const STATE_FORMAT: u32 = 1;

/// The bodies in free flight.
pub(super) struct FreeFlight {
    bodies: Vec<(Body, Flight)>,
    timing: Timing,
    attributes: Vec<BodyAttribute>,
    /// One per body.
    state: Vec<FlightState>,
    marked: Vec<FlightState>,
}

/// The statistics of a body beyond its height, without its name.
pub(super) fn statistics(body: &Body) -> &'static [&'static str] {
    const FREE: &[&str] =
        &["energy", "spin-energy", "speed", "angular-momentum-x", "angular-momentum-y", "angular-momentum-z"];
    if matches!(body.motion, Motion::Free(_)) { FREE } else { &[] }
}

impl FreeFlight {
    pub(super) fn new(scene: &Resolved) -> Self {
        let flying = |body: &Body| match &body.motion {
            Motion::Free(flight) => Some((body.clone(), *flight)),
            _ => None,
        };
        let bodies: Vec<_> = scene.bodies.iter().filter_map(flying).collect();
        let state: Vec<_> = bodies.iter().map(|(_, flight)| flight.start()).collect();
        let (timing, attributes) = (scene.timing.clone(), scene.output.attributes.clone());
        Self { bodies, timing, attributes, marked: state.clone(), state }
    }

    fn fly(&mut self, t: f64, dt: f64) -> Result<(), StepError> {
        let (gravity, bodies) = (self.timing.gravity_at(t + 0.5 * dt), &self.bodies);
        let before = std::mem::take(&mut self.state);
        let after = par::map(before.len(), |i| {
            let mut state = before[i];
            state.step(&bodies[i].1.mass, gravity, dt).map(|()| state)
        });
        for (result, (body, _)) in after.into_iter().zip(bodies) {
            let (kind, reason) = match result {
                Ok(state) if state.centre.is_finite() && state.rotation.is_finite() => {
                    self.state.push(state);
                    continue;
                }
                Ok(state) => {
                    let reason = format!("its centre of mass is {} after the step", state.centre);
                    (StepErrorKind::NonFinite, reason)
                }
                Err(steps) => {
                    let reason = format!("it spins too fast: the step would take {steps:.0} parts");
                    (StepErrorKind::Unresolved, reason)
                }
            };
            return Err(StepError::new(kind, "free flight", reason).body(&body.name));
        }
        Ok(())
    }
}

impl System for FreeFlight {
    fn name(&self) -> &'static str {
        "free-flight"
    }

    fn step(&mut self, t: f64, dt: f64) -> Result<StepReport, StepError> {
        let mut stages = Stages::default();
        // Nothing flies while cloth settles before the start.
        if t >= 0.0 {
            stages.time("free flight", || self.fly(t, dt))?;
        }
        Ok(StepReport { stages })
    }

    fn mark(&mut self) {
        self.marked.clone_from(&self.state);
    }

    fn rollback(&mut self) {
        self.state.clone_from(&self.marked);
    }

    fn snapshot(&self, frame: &mut Frame) {
        for ((body, Flight { mass, .. }), state) in self.bodies.iter().zip(&self.state) {
            let (pose, spin) = (state.pose(mass), state.angular_velocity(mass));
            let mut object = Object::new(body.name.clone(), body.shape.clone());
            object.pose = pose;
            object.attributes =
                self.attributes.iter().filter_map(|a| attribute(*a, body, state.velocity, spin)).collect();
            frame.objects.push(object);
            note_height(frame, body, &pose, self.timing.up_vector());
            let (fall, spinning) = state.kinetic_energy(mass);
            let energy = fall + spinning - mass.mass * self.timing.gravity_at(frame.time).dot(state.centre);
            let momentum = momentum_of(&pose, mass, spin);
            let values = [energy, spinning, state.velocity.length(), momentum.x, momentum.y, momentum.z];
            for (what, value) in statistics(body).iter().zip(values) {
                frame.stats.insert(format!("{}.{what}", body.name), value);
            }
            *frame.stats.entry("energy".into()).or_default() += energy;
        }
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

/// Angular momentum of a body as its pose and angular velocity give it [kg m²/s].
fn momentum_of(pose: &Pose, mass: &MassModel, spin: Vec3) -> Vec3 {
    let to_world = pose.rotation * mass.axes;
    to_world * (mass.moments * (to_world.conjugate() * spin))
}
