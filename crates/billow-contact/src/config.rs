//! Settings of the pipeline.

use crate::ZoneMotion;
use serde::{Deserialize, Serialize};

/// How repulsion impulses are applied ([BFA02] 7.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Update {
    /// One contact after the other, each seeing the velocities the last one left. The default.
    #[default]
    Sequential,
    /// All contacts from the same velocities, in parallel, their impulses multiplied by a relaxation factor.
    Parallel {
        /// Factor on every impulse; the document uses 0.25 [-].
        relaxation: f64,
    },
}

/// Settings of [`crate::resolve`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// Stiffness of the repulsion spring per node; the document matches the cloth's stretch springs [N/m].
    /// Larger values push overlapping layers apart faster.
    pub repulsion_stiffness: f64,
    /// Part of an overlap that repulsion may remove in one sub-step, 0 to 1; the document uses 0.1 [-].
    pub recovery: f64,
    /// Fastest separation by repulsion: what overlaps deeply comes apart at this speed and no faster [m/s].
    pub recovery_speed: f64,
    /// Passes over the contacts. One is the document's; more carry forces and friction through stacked layers [-].
    pub repulsion_passes: u32,
    /// How repulsion impulses are applied.
    pub update: Update,
    /// Distance, as a fraction of the thickness, that is never undercut during a step, 0 to 0.5; the document uses
    /// 1 µm for 1 mm, that is 0.001 [-].
    pub separation: f64,
    /// Rounds of collision impulses before impact zones take over [-].
    pub collision_rounds: u32,
    /// How the nodes of an impact zone move together.
    pub zone_motion: ZoneMotion,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            repulsion_stiffness: 50.0,
            recovery: 0.2,
            recovery_speed: 0.3,
            repulsion_passes: 4,
            update: Update::Sequential,
            separation: 1e-3,
            collision_rounds: 30,
            zone_motion: ZoneMotion::RigidExact,
        }
    }
}
