//! Motion along keyframes.
//!
//! Positions and orientations pass through their keys exactly. `smooth` is a monotone cubic Hermite curve: velocity is
//! continuous and no coordinate leaves the range of its neighbouring keys, so a body that rests between two equal keys
//! really rests. Orientations are interpolated the same way in quaternion space and normalised. Between two keys a body
//! turns the short way round.

use super::pose_about;
use crate::read::keyword::keyword;
use billow_num::{Pose, Quat, Vec3};

keyword! {
    /// What happens between two keys.
    pub enum Interpolation {
        /// Straight lines at constant speed.
        "linear" Linear,
        /// A curve without corners or jerks in speed.
        "smooth" Smooth,
        /// Nothing until the next key, then a jump.
        "step" Step,
    }
}

keyword! {
    /// What happens before the first and after the last key.
    pub enum Extrapolation {
        /// Stay at the nearest key.
        "hold" Hold,
        /// Begin again at the first key.
        "repeat" Repeat,
        /// Go back and forth.
        "ping-pong" PingPong,
    }
}

/// Keys of a motion; times increase strictly.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// Times of the keys [s].
    pub times: Vec<f64>,
    /// Position of the body's origin at each key [m].
    pub positions: Vec<Vec3>,
    /// Orientation at each key, neighbours in the same hemisphere.
    pub rotations: Vec<Quat>,
    /// Point of the body that turning leaves in place [m].
    pub pivot: Vec3,
    /// What happens between keys.
    pub interpolation: Interpolation,
    /// What happens outside them.
    pub extrapolation: Extrapolation,
}

impl Track {
    /// Makes neighbouring orientations lie in the same hemisphere, so that turning takes the short way.
    pub fn align(mut self) -> Self {
        for k in 1..self.rotations.len() {
            if self.rotations[k].dot(self.rotations[k - 1]) < 0.0 {
                self.rotations[k] = -self.rotations[k];
            }
        }
        self
    }

    /// The pose at time `t` [s].
    pub fn pose(&self, t: f64) -> Pose {
        let t = self.fold(t);
        let k = self.times.partition_point(|key| *key <= t).clamp(1, self.times.len().max(2) - 1);
        let position = |k: usize| self.positions[k].to_array();
        let rotation = |k: usize| self.rotations[k].to_array();
        let position = Vec3::from_array(self.curve(k, t, &position));
        let rotation = match self.interpolation {
            Interpolation::Linear if self.times.len() > 1 => {
                let s = ((t - self.times[k - 1]) / (self.times[k] - self.times[k - 1])).clamp(0.0, 1.0);
                self.rotations[k - 1].slerp(self.rotations[k], s)
            }
            _ => Quat::from_array(self.curve(k, t, &rotation)),
        };
        pose_about(self.pivot, position, rotation.normalize())
    }

    /// The time within the keys that stands for `t`.
    fn fold(&self, t: f64) -> f64 {
        let (first, last) = (self.times[0], self.times[self.times.len() - 1]);
        let length = last - first;
        if (first..=last).contains(&t) || length <= 0.0 {
            return t.clamp(first, last);
        }
        match self.extrapolation {
            Extrapolation::Hold => t.clamp(first, last),
            Extrapolation::Repeat => first + (t - first).rem_euclid(length),
            Extrapolation::PingPong => {
                let s = (t - first).rem_euclid(2.0 * length);
                first + s.min(2.0 * length - s)
            }
        }
    }

    /// The value at `t` between keys `k − 1` and `k`, component by component.
    fn curve<const N: usize>(&self, k: usize, t: f64, key: &dyn Fn(usize) -> [f64; N]) -> [f64; N] {
        let last = self.times.len() - 1;
        if t >= self.times[last] {
            return key(last);
        }
        let (x0, x1) = (key(k - 1), key(k));
        let h = self.times[k] - self.times[k - 1];
        let s = (t - self.times[k - 1]) / h;
        match self.interpolation {
            Interpolation::Step => x0,
            Interpolation::Linear => std::array::from_fn(|c| x0[c] + (x1[c] - x0[c]) * s),
            Interpolation::Smooth => {
                let (m0, m1) = (self.slope(k - 1, key), self.slope(k, key));
                let (s2, s3) = (s * s, s * s * s);
                std::array::from_fn(|c| {
                    x0[c]
                        + (x1[c] - x0[c]) * (3.0 * s2 - 2.0 * s3)
                        + h * (m0[c] * (s3 - 2.0 * s2 + s) + m1[c] * (s3 - s2))
                })
            }
        }
    }

    /// Slope at key `k`: the weighted harmonic mean of the slopes on both sides (Fritsch and Butland 1984), zero at
    /// turning points, plateaus and ends. The curve then never leaves the range of neighbouring keys.
    fn slope<const N: usize>(&self, k: usize, key: &dyn Fn(usize) -> [f64; N]) -> [f64; N] {
        if k == 0 || k + 1 == self.times.len() {
            return [0.0; N];
        }
        let (h0, h1) = (self.times[k] - self.times[k - 1], self.times[k + 1] - self.times[k]);
        let (before, here, after) = (key(k - 1), key(k), key(k + 1));
        std::array::from_fn(|c| {
            let (d0, d1) = ((here[c] - before[c]) / h0, (after[c] - here[c]) / h1);
            if d0 * d1 <= 0.0 {
                return 0.0;
            }
            let (w0, w1) = (2.0 * h1 + h0, h1 + 2.0 * h0);
            (w0 + w1) / (w0 / d0 + w1 / d1)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(interpolation: Interpolation, extrapolation: Extrapolation) -> Track {
        let turn = |degrees: f64| Quat::from_rotation_z(degrees.to_radians());
        Track {
            times: vec![0.0, 1.0, 3.0, 4.0],
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::new(1.0, 2.0, 0.0), Vec3::Z],
            rotations: vec![turn(0.0), -turn(90.0), turn(160.0), turn(200.0)],
            pivot: Vec3::ZERO,
            interpolation,
            extrapolation,
        }
        .align()
    }

    #[test]
    fn every_interpolation_passes_through_the_keys() {
        for way in [Interpolation::Linear, Interpolation::Smooth, Interpolation::Step] {
            let track = track(way, Extrapolation::Hold);
            for (k, t) in track.times.iter().enumerate() {
                let pose = track.pose(*t);
                assert!(pose.position.distance(track.positions[k]) < 1e-15, "{way:?} {t}");
                assert!(pose.rotation.angle_between(track.rotations[k]) < 1e-7);
            }
            assert_eq!(track.pose(-5.0), track.pose(0.0));
            assert_eq!(track.pose(50.0), track.pose(4.0));
        }
    }

    #[test]
    fn smooth_motion_has_no_jump_in_velocity_and_linear_has() {
        let jump = |way, t: f64| {
            let track = track(way, Extrapolation::Hold);
            let v = |a: f64, b: f64| (track.pose(b).position - track.pose(a).position) / (b - a);
            (v(t, t + 1e-6) - v(t - 1e-6, t)).length()
        };
        assert!(jump(Interpolation::Smooth, 1.0) < 1e-4 && jump(Interpolation::Smooth, 3.0) < 1e-4);
        assert!(jump(Interpolation::Linear, 1.0) > 0.5);
    }

    #[test]
    fn smooth_motion_stays_between_neighbouring_keys() {
        let heights = [0.0, 1.0, 1.0, -0.5, 0.7, 0.8, 3.0, 2.9];
        let track = Track {
            times: vec![0.0, 1.0, 3.0, 3.1, 3.3, 4.0, 4.5, 6.0],
            positions: heights.iter().map(|z| Vec3::Z * *z).collect(),
            rotations: vec![Quat::IDENTITY; 8],
            ..track(Interpolation::Smooth, Extrapolation::Hold)
        };
        for k in 1..8 {
            for s in 0..=50 {
                let t = track.times[k - 1] + (track.times[k] - track.times[k - 1]) * f64::from(s) / 50.0;
                let (z, low, high) = (
                    track.pose(t).position.z,
                    heights[k - 1].min(heights[k]),
                    heights[k - 1].max(heights[k]),
                );
                assert!(z >= low - 1e-15 && z <= high + 1e-15, "z = {z} at t = {t}, keys {low} … {high}");
            }
        }
    }

    #[test]
    fn motion_repeats_or_goes_back_and_forth() {
        let repeat = track(Interpolation::Smooth, Extrapolation::Repeat);
        let back = track(Interpolation::Smooth, Extrapolation::PingPong);
        for t in [0.25, 1.5, 3.75] {
            assert!(repeat.pose(t + 8.0).position.distance(repeat.pose(t).position) < 1e-12);
            assert!(back.pose(8.0 - t).position.distance(back.pose(t).position) < 1e-12);
            assert!(back.pose(-t).position.distance(back.pose(t).position) < 1e-12);
        }
        let half = track(Interpolation::Linear, Extrapolation::Hold).pose(0.5);
        assert!(half.rotation.angle_between(Quat::from_rotation_z(45_f64.to_radians())) < 1e-7);
        assert_eq!(track(Interpolation::Step, Extrapolation::Hold).pose(2.9).position, Vec3::X);
    }
}
