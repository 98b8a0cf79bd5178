//! How bodies move: placed, keyframed, scripted, in free flight, or as rigid bodies.

mod flight;
mod morph;
mod script;
mod track;

pub use flight::{Flight, FlightState, MassModel};
pub use morph::Morph;
pub use script::Script;
pub use track::{Extrapolation, Interpolation, Track};

use billow_num::{Pose, Quat, Vec3};

/// How a body moves.
#[derive(Clone, Debug, PartialEq)]
pub enum Motion {
    /// Never.
    Static(Pose),
    /// Along keyframes.
    Keyframed(Track),
    /// By formulas of the time.
    Scripted(Script),
    /// Ballistic flight under gravity with torque-free tumbling.
    Free(Flight),
    /// As a rigid body among others.
    Rigid(Launch),
}

/// How a rigid body begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Launch {
    /// Pose at t = 0.
    pub pose: Pose,
    /// Velocity of the centre of mass at t = 0 [m/s].
    pub velocity: Vec3,
    /// Angular velocity at t = 0, in world coordinates [rad/s].
    pub angular_velocity: Vec3,
}

impl Motion {
    /// Whether the pose is a function of the time alone, so that the body is an obstacle to every solver.
    pub fn is_prescribed(&self) -> bool {
        !matches!(self, Self::Free(_) | Self::Rigid(_))
    }

    /// The pose at time `t` [s] of a body whose motion is prescribed; `None` for others.
    pub fn pose(&self, t: f64) -> Option<Pose> {
        match self {
            Self::Static(pose) => Some(*pose),
            Self::Keyframed(track) => Some(track.pose(t)),
            Self::Scripted(script) => Some(script.pose(t)),
            Self::Free(_) | Self::Rigid(_) => None,
        }
    }

    /// Velocity of the body's origin [m/s] and angular velocity [rad/s] at time `t` of a prescribed motion, by
    /// central differences over 0.2 ms.
    pub fn velocity(&self, t: f64) -> Option<(Vec3, Vec3)> {
        const H: f64 = 1e-4;
        let (a, b) = (self.pose(t - H)?, self.pose(t + H)?);
        let turn = b.rotation * a.rotation.conjugate();
        let turn = if turn.w < 0.0 { -turn } else { turn };
        Some(((b.position - a.position) / (2.0 * H), turn.to_scaled_axis() / (2.0 * H)))
    }
}

/// The pose that turns by `rotation` about `pivot` and then moves by `position`.
pub(crate) fn pose_about(pivot: Vec3, position: Vec3, rotation: Quat) -> Pose {
    Pose { position: position + pivot - rotation * pivot, rotation }
}
