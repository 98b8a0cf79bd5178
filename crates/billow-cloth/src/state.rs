//! What a checkpoint of cloth holds.

use billow_num::Vec3;
use serde::{Deserialize, Serialize};

/// Positions and velocities of all nodes, obstacles included, and tensions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Simulated time [s].
    pub time: f64,
    /// Positions [m].
    pub x: Vec<Vec3>,
    /// Velocities [m/s].
    pub v: Vec<Vec3>,
    /// Tension of every spring at the end of the last step [N]; empty if it is not known. Springs at their strain limits
    /// pull more than their lengths tell, and need not find out anew in every step how much.
    pub tension: Vec<f64>,
}
