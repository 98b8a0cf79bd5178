//! Deforming solids given as grids at a series of times ([Bri03] 2.1).
//!
//! Between two times φ is interpolated. With velocities each grid is first carried to the time asked for along its
//! own velocity, (1−s) φ₀(x − s Δt v₀) + s φ₁(x + (1−s) Δt v₁), so that motion larger than a feature does not make it
//! vanish half way; without, the values themselves are mixed. Velocities are known in the solid and
//! extrapolated along the normal to the rest of the grid.

use crate::LevelSetError;
use crate::collider::{Collider, Sample, unit_or_z};
use crate::dense::{ScalarGrid, VectorGrid};
use crate::eikonal::extrapolate;
use billow_geom::Aabb;
use billow_num::Vec3;

/// A solid at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyframe {
    /// Time [s].
    pub time: f64,
    /// Signed distance [m].
    pub phi: ScalarGrid,
    /// Velocity [m/s] on the same lattice, if known.
    pub velocity: Option<VectorGrid>,
}

impl Keyframe {
    /// A key frame whose velocity is known where φ ≤ 0 and is carried outward from there.
    pub fn with_extrapolated_velocity(
        time: f64,
        phi: ScalarGrid,
        mut velocity: VectorGrid,
    ) -> Result<Self, LevelSetError> {
        let known: Vec<bool> = phi.values.iter().map(|&v| v <= 0.0).collect();
        extrapolate(&phi, &mut velocity, &known, f64::INFINITY)?;
        Ok(Self { time, phi, velocity: Some(velocity) })
    }
}

/// Grids at increasing times; constant before the first and after the last.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    frames: Vec<Keyframe>,
}

impl Sequence {
    /// Checks that times increase and that lattices of φ and velocity agree.
    pub fn new(frames: Vec<Keyframe>) -> Result<Self, LevelSetError> {
        let refuse =
            |problem: String| Err(LevelSetError::Mismatch { operation: "sequence of grids", problem });
        if frames.is_empty() {
            return refuse("there are no grids".into());
        }
        for pair in frames.windows(2) {
            let [a, b] = [pair[0].time, pair[1].time];
            if !(a < b && b.is_finite()) {
                return refuse(format!("time {b} s follows {a} s: times must increase"));
            }
        }
        for f in &frames {
            if f.velocity.as_ref().is_some_and(|v| v.lattice != f.phi.lattice) {
                return refuse(format!("at {} s velocity and φ have different lattices", f.time));
            }
        }
        Ok(Self { frames })
    }

    /// The frames around `t` and the place between them.
    fn around(&self, t: f64) -> (&Keyframe, &Keyframe, f64) {
        let after = self.frames.partition_point(|f| f.time <= t);
        let a = &self.frames[after.saturating_sub(1)];
        let b = &self.frames[after.min(self.frames.len() - 1)];
        let s = if b.time > a.time { ((t - a.time) / (b.time - a.time)).clamp(0.0, 1.0) } else { 0.0 };
        (a, b, s)
    }

    /// Where the material at `x` at time `t` is at the times of the frames around.
    fn carried(&self, x: Vec3, t: f64) -> (&Keyframe, &Keyframe, f64, Vec3, Vec3) {
        let (a, b, s) = self.around(t);
        let velocity = |f: &Keyframe| f.velocity.as_ref().map_or(Vec3::ZERO, |v| v.value(x));
        let dt = b.time - a.time;
        (a, b, s, x - s * dt * velocity(a), x + (1.0 - s) * dt * velocity(b))
    }
}

impl Collider for Sequence {
    fn phi(&self, x: Vec3, t: f64) -> f64 {
        let (a, b, s, xa, xb) = self.carried(x, t);
        (1.0 - s) * a.phi.phi(xa, t) + s * b.phi.phi(xb, t)
    }

    fn normal(&self, x: Vec3, t: f64) -> Vec3 {
        let (a, b, s, xa, xb) = self.carried(x, t);
        unit_or_z((1.0 - s) * a.phi.value_and_gradient(xa).1 + s * b.phi.value_and_gradient(xb).1)
    }

    fn velocity(&self, x: Vec3, t: f64) -> Vec3 {
        let (a, b, s, xa, xb) = self.carried(x, t);
        let at = |f: &Keyframe, x: Vec3| f.velocity.as_ref().map_or(Vec3::ZERO, |v| v.value(x));
        (1.0 - s) * at(a, xa) + s * at(b, xb)
    }

    fn sample(&self, x: Vec3, t: f64) -> Sample {
        Sample { phi: self.phi(x, t), normal: self.normal(x, t), velocity: self.velocity(x, t) }
    }

    fn bounds(&self, t: f64) -> Aabb {
        let (a, b, _) = self.around(t);
        a.phi.lattice.domain().union(b.phi.lattice.domain())
    }
}
