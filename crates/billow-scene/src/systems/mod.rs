//! The solvers of a scene, each a [`System`] of one [`World`].
//!
//! One file per solver. Systems advance one after the other in the order of the list: bodies with a prescribed motion
//! know where they are at any time and are obstacles to every solver that follows; a solver sees the others through
//! the scene's bodies only.

mod cloth;
mod flight;
mod prescribed;
mod rigid;
mod world;

pub use world::World;

use crate::cloth::ClothPlan;
use crate::driver::{StepError, StepReport};
use crate::motion::Motion;
use crate::resolve::Resolved;
use crate::scene::Body;
use crate::tables::BodyAttribute;
use billow_io::{Attribute, Domain, Frame, Values};
use billow_num::Vec3;
use std::sync::Arc;

/// One solver with its state. The rules are those of [`crate::driver::Simulation`].
pub(crate) trait System: Send {
    /// Name in checkpoints.
    fn name(&self) -> &'static str;

    /// Advances the state from time `t` by `dt` [s]. After an error the state is undefined until
    /// [`System::rollback`].
    fn step(&mut self, t: f64, dt: f64) -> Result<StepReport, StepError>;

    /// Remembers the present state.
    fn mark(&mut self);

    /// Returns to the state last remembered.
    fn rollback(&mut self);

    /// Adds its objects and statistics at the frame's time. What several systems have, such as `energy`, is summed.
    fn snapshot(&self, frame: &mut Frame);

    /// The state as bytes.
    fn save(&self) -> Vec<u8>;

    /// Takes over a saved state; says what is wrong with bytes that are not one.
    fn load(&mut self, bytes: &[u8]) -> Result<(), String>;

    /// Time it needs to settle before frame 0 [s].
    fn preroll(&self) -> f64 {
        0.0
    }

    /// Version of the bytes of [`System::save`]; to be raised whenever their meaning changes.
    fn state_format(&self) -> u32;
}

/// All systems that the scene needs, in the order in which they advance.
fn systems(scene: &Resolved) -> Vec<Box<dyn System>> {
    let mut all: Vec<Box<dyn System>> =
        vec![Box::new(prescribed::Prescribed::new(scene)), Box::new(flight::FreeFlight::new(scene))];
    if let Some(rigid) = rigid::RigidSystem::new(scene) {
        all.push(Box::new(rigid));
    }
    if let Some(cloth) = cloth::ClothSystem::new(scene) {
        all.push(Box::new(cloth));
    }
    all
}

/// The statistics that frames of the scene have, by name.
pub(crate) fn statistic_names(bodies: &[Body], cloth: Option<&ClothPlan>) -> Vec<String> {
    let mut names = vec!["energy".to_owned()];
    rigid::statistic_names(bodies, &mut names);
    for body in bodies.iter().filter(|b| !matches!(b.motion, Motion::Rigid(_))) {
        names.push(format!("{}.height", body.name));
        names.extend(flight::statistics(body).iter().map(|what| format!("{}.{what}", body.name)));
    }
    if let Some(plan) = cloth {
        names.extend(cloth::STATISTICS.map(str::to_owned));
        for piece in &plan.pieces {
            names.extend(cloth::PIECE_STATISTICS.map(|what| format!("{}.{what}", piece.name)));
        }
    }
    names
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

/// Adds the height of a body's centre of mass (of its origin, if it bounds no solid).
fn note_height(frame: &mut Frame, body: &Body, pose: &billow_num::Pose, up: Vec3) {
    let centre = body.mass.map_or(Vec3::ZERO, |m| m.centre);
    frame.stats.insert(format!("{}.height", body.name), pose.point(centre).dot(up));
}
