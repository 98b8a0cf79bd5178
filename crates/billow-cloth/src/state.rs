//! What a checkpoint of cloth holds.

use billow_num::Vec3;
use serde::{Deserialize, Serialize};

/// Positions and velocities of all nodes, obstacles included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Simulated time [s].
    pub time: f64,
    /// Positions [m].
    pub x: Vec<Vec3>,
    /// Velocities [m/s].
    pub v: Vec<Vec3>,
}
