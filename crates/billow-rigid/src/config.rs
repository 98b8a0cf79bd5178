//! Settings of the rigid body solver.

use serde::{Deserialize, Serialize};

/// Settings of [`crate::step`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// Passes of collision over all pairs, 1 to 100. More let a shock travel farther within one step.
    pub collision_passes: u32,
    /// Sweeps over all contacts, 1 to 1000. More resolve weight better.
    pub contact_sweeps: u32,
    /// Visits of contacts a step may spend on sweeping on until nothing changes; small scenes are solved to rounding.
    pub visits: u32,
    /// Sweeps within a level of the contact graph in the last, shock-propagating sweep; zero leaves it out.
    pub shock_sweeps: u32,
    /// Sweeps of first-order push-out within a level after the bodies moved; zero leaves it out.
    pub push_sweeps: u32,
    /// Times that contacts which the solved velocities lead into are added and solved again.
    pub rounds: u32,
    /// Distance at which contacts are taken up, as a part of the smaller body's half thickness [-].
    pub margin: f64,
    /// Largest way of one body relative to a near one in a part of a step, as a part of the thinner body's half
    /// thickness [-]; what is faster even in the smallest part is swept.
    pub stride: f64,
    /// Largest rotation of a body in a part of a step [rad].
    pub turn: f64,
    /// Most parts a step is divided into, 1 to 1000.
    pub parts: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            collision_passes: 5,
            contact_sweeps: 4,
            visits: 10_000,
            shock_sweeps: 2,
            push_sweeps: 4,
            rounds: 3,
            margin: 0.02,
            stride: 0.5,
            turn: 0.25,
            parts: 8,
        }
    }
}
