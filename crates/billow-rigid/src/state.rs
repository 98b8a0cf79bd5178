//! What a checkpoint of rigid bodies holds.

use billow_num::{Pose, Vec3};
use serde::{Deserialize, Serialize};

/// Pose and momentum of a body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BodyState {
    /// Pose of the body frame: centre of mass and principal axes.
    pub pose: Pose,
    /// Velocity of the centre of mass [m/s].
    pub velocity: Vec3,
    /// Angular momentum about the centre of mass, in world axes [kg·m²/s].
    pub angular_momentum: Vec3,
    /// Time for which it has been still [s]; what has been still long enough may sleep.
    #[serde(default)]
    pub still: f64,
}

/// An impulse remembered for the next step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Carried {
    /// First body.
    pub a: u32,
    /// Second body.
    pub b: u32,
    /// Where it acted, in the frame of the first body that answers impulses [m].
    pub at: Vec3,
    /// The impulse on the first body, per second of force it stood for [N].
    pub force: Vec3,
}

/// Where two bodies meet, as a point of each.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// Anchors in both body frames [m].
    pub anchors: [Vec3; 2],
    /// Unit vector from the second body to the first, in the frame of the second.
    pub normal: Vec3,
}

/// Two bodies whose places were looked for, and serve until the two have moved past each other by a little.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Met {
    /// First body.
    pub a: u32,
    /// Second body.
    pub b: u32,
    /// Pose of the smaller body in the frame of the larger when they were looked at.
    pub between: Pose,
    /// How many of [`State::places`], in order, belong to the two.
    pub places: u32,
}

/// Everything that changes during a run.
///
/// Velocities live half a step behind the positions, so that constant accelerations are integrated exactly:
/// [`State::owed`] is how much of the last step's forces they have not felt yet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Simulated time [s].
    pub time: f64,
    /// Poses and momenta.
    pub bodies: Vec<BodyState>,
    /// Time for which forces have not acted on the velocities yet [s].
    pub owed: f64,
    /// Steps done; the order of collisions depends on it.
    pub steps: u64,
    /// Impulses of the last step, by pair of bodies.
    pub carried: Vec<Carried>,
    /// Bodies that are near each other and hardly move past each other, ascending.
    pub met: Vec<Met>,
    /// Where they meet.
    pub places: Vec<Place>,
}
