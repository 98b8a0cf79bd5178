//! Settings of the rigid body solver.

use serde::{Deserialize, Serialize};

/// How a step resolves contact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Method {
    /// Contacts found once, impulses carried from step to step, shock propagation that is remembered. The default.
    #[default]
    Persistent,
    /// The sequence of [Gue06] 2.11: contacts found anew in every sweep, impulses gradual and forgotten.
    Document,
}

/// How the collisions of a pair go on after the first impulse ([Gue06] 2.6). Used by [`Method::Document`]; the default
/// method searches again after every pass over all pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum CollisionGeometry {
    /// The places found first serve until all of them have separated once. The default.
    #[default]
    Lagged,
    /// The pair is moved and searched again after each impulse.
    Reevolved,
}

/// Settings of [`crate::step`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// How contact is resolved.
    pub method: Method,
    /// How collisions of a pair go on.
    pub collision_geometry: CollisionGeometry,
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
    /// Time a group of touching bodies must have been still before it is left to sleep [s]; zero, the default, never.
    pub sleep: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            method: Method::Persistent,
            collision_geometry: CollisionGeometry::Lagged,
            collision_passes: 5,
            contact_sweeps: 4,
            visits: 10_000,
            shock_sweeps: 2,
            push_sweeps: 8,
            rounds: 2,
            margin: 0.02,
            stride: 1.0,
            turn: 0.5,
            parts: 8,
            sleep: 0.0,
        }
    }
}

impl Config {
    /// What the documents ran their examples with: [`Method::Document`], 5 passes of collision, 10 sweeps of contact,
    /// one of shock propagation ([Gue06] 2.12).
    pub fn published() -> Self {
        crate::document::published()
    }
}
