//! Motion by formulas of the time.

use super::pose_about;
use crate::expr::Expr;
use billow_num::{Pose, Quat, Vec3};

/// A pose given by formulas: turn by `degrees` about `axis` through `pivot`, after the body's own `rotation`, then
/// move by `position`.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// Position of the body's origin [m].
    pub position: [Expr; 3],
    /// Axis of the turn, a unit vector.
    pub axis: Vec3,
    /// Angle of the turn [°].
    pub degrees: Expr,
    /// Orientation before the turn.
    pub rotation: Quat,
    /// Point of the body that the turn leaves in place [m].
    pub pivot: Vec3,
}

impl Script {
    /// The pose at time `t` [s]; not finite where a formula is not.
    pub fn pose(&self, t: f64) -> Pose {
        let position = Vec3::from_array([0, 1, 2].map(|k| self.position[k].eval(t)));
        // Whole turns are taken out first, so that a wheel which has turned for an hour is still exact.
        let angle = (self.degrees.eval(t) % 360.0).to_radians();
        let rotation = (Quat::from_axis_angle(self.axis, angle) * self.rotation).normalize();
        pose_about(self.pivot, position, rotation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pivot_stays_in_place_and_the_rest_turns_about_it() {
        let parse = |text: &str| Expr::parse(text, &[]).expect(text);
        let script = Script {
            position: [parse("t"), parse("0"), parse("2")],
            axis: Vec3::Z,
            degrees: parse("90*t"),
            rotation: Quat::IDENTITY,
            pivot: Vec3::new(1.0, 0.0, 0.0),
        };
        let pose = script.pose(1.0);
        assert!(pose.point(Vec3::X).distance(Vec3::new(2.0, 0.0, 2.0)) < 1e-15);
        assert!(pose.point(2.0 * Vec3::X).distance(Vec3::new(2.0, 1.0, 2.0)) < 1e-15);
        let far = script.pose(4.0 * 3600.0 + 1.0);
        assert!(far.rotation.angle_between(pose.rotation) < 1e-15);
    }
}
