//! Colliders placed, moved and scaled.
//!
//! A rigid motion needs no extrapolated velocities: the velocity v + ω × (x − p) is known everywhere
//! ([Bri03] 2.1), so a moving shape is exact at any time.

use crate::collider::{Collider, EVERYWHERE, Sample, Still};
use crate::{LevelSetError, error::positive};
use billow_geom::Aabb;
use billow_num::{Pose, Quat, Vec3};

/// Linear and angular velocity of a rigid body.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Twist {
    /// Velocity of the body's origin [m/s].
    pub linear: Vec3,
    /// Angular velocity in world axes [rad/s].
    pub angular: Vec3,
}

/// A rigid placement as a function of time.
pub trait Motion: Send + Sync {
    /// Placement at time `t` [s].
    fn pose(&self, t: f64) -> Pose;
    /// Velocities at time `t` [s]: the derivative of [`Motion::pose`].
    fn twist(&self, t: f64) -> Twist;
}

impl Motion for Pose {
    fn pose(&self, _: f64) -> Pose {
        *self
    }

    fn twist(&self, _: f64) -> Twist {
        Twist::default()
    }
}

/// Motion with constant linear and angular velocity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// Placement at time 0.
    pub start: Pose,
    /// The constant velocities.
    pub twist: Twist,
}

impl Motion for Steady {
    fn pose(&self, t: f64) -> Pose {
        let turn = Quat::from_scaled_axis(self.twist.angular * t);
        Pose {
            position: self.start.position + self.twist.linear * t,
            rotation: (turn * self.start.rotation).normalize(),
        }
    }

    fn twist(&self, _: f64) -> Twist {
        self.twist
    }
}

/// A collider that follows a rigid motion.
#[derive(Clone, Debug)]
pub struct Moving<C, M> {
    /// The solid in its own frame.
    pub body: C,
    /// Where that frame is.
    pub motion: M,
}

impl Twist {
    /// Velocity at `x` of what has the velocity `own` in the frame of a body at `pose` that moves like this [m/s].
    fn carry(&self, pose: &Pose, x: Vec3, own: Vec3) -> Vec3 {
        self.linear + self.angular.cross(x - pose.position) + pose.vector(own)
    }

    /// What a body at `pose` says of `x`, given what it says in its own frame.
    fn carry_sample(&self, pose: &Pose, x: Vec3, own: Sample) -> Sample {
        Sample { phi: own.phi, normal: pose.vector(own.normal), velocity: self.carry(pose, x, own.velocity) }
    }
}

impl<C: Collider, M: Motion> Collider for Moving<C, M> {
    fn phi(&self, x: Vec3, t: f64) -> f64 {
        self.body.phi(self.motion.pose(t).inverse_point(x), t)
    }

    fn normal(&self, x: Vec3, t: f64) -> Vec3 {
        let pose = self.motion.pose(t);
        pose.vector(self.body.normal(pose.inverse_point(x), t))
    }

    fn velocity(&self, x: Vec3, t: f64) -> Vec3 {
        let pose = self.motion.pose(t);
        self.motion.twist(t).carry(&pose, x, self.body.velocity(pose.inverse_point(x), t))
    }

    fn sample(&self, x: Vec3, t: f64) -> Sample {
        let pose = self.motion.pose(t);
        self.motion.twist(t).carry_sample(&pose, x, self.body.sample(pose.inverse_point(x), t))
    }

    fn at_time(&self, t: f64) -> Still<'_> {
        let (pose, twist, body) = (self.motion.pose(t), self.motion.twist(t), self.body.at_time(t));
        Box::new(move |x| twist.carry_sample(&pose, x, body(pose.inverse_point(x))))
    }

    fn bounds(&self, t: f64) -> Aabb {
        let pose = self.motion.pose(t);
        let own = self.body.bounds(t);
        if own.is_empty() {
            return own;
        }
        if !own.size().is_finite() {
            let shifted = Aabb { min: own.min + pose.position, max: own.max + pose.position };
            return if pose.rotation == Quat::IDENTITY { shifted } else { EVERYWHERE };
        }
        let m = pose.matrix();
        let half = 0.5 * own.size();
        let e = m.x_axis.abs() * half.x + m.y_axis.abs() * half.y + m.z_axis.abs() * half.z;
        let c = pose.point(own.centre());
        Aabb { min: c - e, max: c + e }
    }
}

/// A collider enlarged about its origin.
#[derive(Clone, Debug)]
pub struct Scaled<C> {
    body: C,
    factor: f64,
}

impl<C: Collider> Scaled<C> {
    /// `body` enlarged by `factor` about the origin.
    pub fn new(body: C, factor: f64) -> Result<Self, LevelSetError> {
        Ok(Self { body, factor: positive("Scaled", "factor", factor)? })
    }
}

impl<C: Collider> Collider for Scaled<C> {
    fn phi(&self, x: Vec3, t: f64) -> f64 {
        self.factor * self.body.phi(x / self.factor, t)
    }

    fn normal(&self, x: Vec3, t: f64) -> Vec3 {
        self.body.normal(x / self.factor, t)
    }

    fn velocity(&self, x: Vec3, t: f64) -> Vec3 {
        self.factor * self.body.velocity(x / self.factor, t)
    }

    fn bounds(&self, t: f64) -> Aabb {
        let b = self.body.bounds(t);
        Aabb { min: b.min * self.factor, max: b.max * self.factor }
    }
}
