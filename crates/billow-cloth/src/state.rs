//! What a checkpoint of cloth holds.

use billow_contact::Push;
use billow_num::Vec3;
use serde::{Deserialize, Serialize};

/// Positions and velocities of all nodes, obstacles included, and the forces that last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Simulated time [s].
    pub time: f64,
    /// Positions [m].
    pub x: Vec<Vec3>,
    /// Velocities [m/s].
    pub v: Vec<Vec3>,
    /// Forces at the end of the last step.
    pub lasting: Lasting,
}

/// Forces that a step ended with and that the next begins with. Springs at their strain limits pull more than their
/// lengths tell, and the lower layers of a stack push more than their own weight: neither need be found out anew in every
/// step. Empty, they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lasting {
    /// Tension of every spring [N].
    pub tension: Vec<f64>,
    /// Contacts between surfaces.
    pub pushes: Vec<Push>,
}
