//! Bodies whose motion is prescribed: placed, keyframed and scripted ones. They have no state.

use super::{System, attribute, note_height};
use crate::driver::{StepError, StepErrorKind, StepReport};
use crate::resolve::Resolved;
use crate::scene::Body;
use crate::tables::BodyAttribute;
use billow_io::{Frame, Object};
use billow_num::Vec3;
use billow_num::stages::Stages;

/// The bodies with a prescribed motion.
pub(super) struct Prescribed {
    bodies: Vec<Body>,
    attributes: Vec<BodyAttribute>,
    up: Vec3,
}

impl Prescribed {
    pub(super) fn new(scene: &Resolved) -> Self {
        let bodies = scene.bodies.iter().filter(|b| b.motion.is_prescribed()).cloned().collect();
        Self { bodies, attributes: scene.output.attributes.clone(), up: scene.timing.up_vector() }
    }

    /// Only the formulas can fail.
    fn follow(&self, t: f64) -> Result<(), StepError> {
        for body in &self.bodies {
            if let Some(pose) = body.motion.pose(t)
                && !(pose.position.is_finite() && pose.rotation.is_finite())
            {
                let reason = format!("its prescribed pose at t = {t} s is not finite");
                let error = StepError::new(StepErrorKind::Hopeless, "prescribed motion", reason);
                return Err(error.body(&body.name));
            }
        }
        Ok(())
    }
}

impl System for Prescribed {
    fn name(&self) -> &'static str {
        "prescribed"
    }

    fn step(&mut self, t: f64, dt: f64) -> Result<StepReport, StepError> {
        let mut stages = Stages::default();
        stages.time("prescribed motion", || self.follow(t + dt))?;
        Ok(StepReport { stages })
    }

    fn mark(&mut self) {}

    fn rollback(&mut self) {}

    fn snapshot(&self, frame: &mut Frame) {
        for body in &self.bodies {
            let pose = body.motion.pose(frame.time).unwrap_or_default();
            let (velocity, spin) = body.motion.velocity(frame.time).unwrap_or_default();
            let mut object = Object::new(body.name.clone(), body.shape_at(frame.time));
            object.pose = pose;
            object.attributes =
                self.attributes.iter().filter_map(|a| attribute(*a, body, velocity, spin)).collect();
            frame.objects.push(object);
            note_height(frame, body, &pose, self.up);
        }
    }

    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), String> {
        if bytes.is_empty() { Ok(()) } else { Err(format!("it has {} bytes, but none belong", bytes.len())) }
    }

    fn state_format(&self) -> u32 {
        1
    }
}
