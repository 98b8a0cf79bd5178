//! How far each body has come, so that pairs with room between them need not be looked at.
//!
//! Two bodies that were farther apart than matters by some distance cannot meet before their odometers together show
//! that much more. Asking costs two look-ups; only what runs out of room is looked at, where how far the two moved
//! past each other is told more sharply.

use crate::detect::BODIES;
use crate::model::Model;
use crate::state::State;
use billow_num::{Pose, Vec3, par};
use std::ops::Range;

/// Ways of all bodies so far. What is asked of it does not depend on when it began.
///
/// Ways are told in two frames: the world, and one that goes along with what moves on average. Bodies that fall side by
/// side, or that gravity is about to pull at, go nowhere in the second.
#[derive(Clone, Debug, Default)]
pub(crate) struct Odometer {
    last: Vec<Pose>,
    bodies: Vec<Ways>,
}

/// Ways of a body, in the world and along with the others [m].
#[derive(Clone, Copy, Debug, Default)]
struct Ways {
    /// From where it began to where it is.
    come: [f64; 2],
    /// From where it is to where it is predicted to be.
    ahead: [f64; 2],
}

/// How far from its centre what is near a body turns with it, in radii of the body.
const ARM: f64 = 1.5;

/// Bodies whose ways are added up together.
const SUM: usize = 512;

impl Odometer {
    /// Whether it was running for this many bodies.
    pub(crate) fn runs(&self, bodies: usize) -> bool {
        self.last.len() == bodies
    }

    /// Follows all bodies from where they were last to where they are, and looks ahead to where they are predicted to be.
    pub(crate) fn follow(&mut self, model: &Model, state: &State, predicted: &[Pose]) {
        let now = |i: usize| &state.bodies[i].pose;
        if !self.runs(predicted.len()) {
            self.last = (0..predicted.len()).map(|i| *now(i)).collect();
            self.bodies = vec![Ways::default(); predicted.len()];
        }
        // How many move, and how far on average.
        let (last, dynamic) = (&self.last, |i: &usize| model.is_dynamic(*i));
        let shifts =
            |i: usize| (1.0, now(i).position - last[i].position, predicted[i].position - now(i).position);
        let add = |s: (f64, Vec3, Vec3), t: (f64, Vec3, Vec3)| (s.0 + t.0, s.1 + t.1, s.2 + t.2);
        let sum = |range: Range<usize>| range.filter(dynamic).map(shifts).reduce(add).unwrap_or_default();
        let (count, come, ahead) = par::reduce(last.len(), SUM, sum, add).unwrap_or_default();
        let [come, ahead] = [come, ahead].map(|sum| sum / count.max(1.0));
        par::zip_chunks_mut(&mut self.last, &mut self.bodies, BODIES, |first, last, bodies| {
            for (k, (last, body)) in last.iter_mut().zip(bodies).enumerate() {
                let i = first + k;
                let arm = ARM * model.geometry(i).radius;
                let more = ways([last, now(i)], come, arm);
                body.come = [0, 1].map(|f| body.come[f] + more[f]);
                body.ahead = ways([now(i), &predicted[i]], ahead, arm);
                *last = *now(i);
            }
        });
    }

    /// What the odometers of two bodies show together where they are predicted to be [m], and what they showed if the two
    /// were there from the start.
    #[inline]
    pub(crate) fn of(&self, model: &Model, pair: [usize; 2]) -> (f64, f64) {
        let frame = usize::from(pair.iter().all(|i| model.is_dynamic(*i)));
        let [a, b] = pair.map(|i| &self.bodies[i]);
        let (come, ahead) = (a.come[frame] + b.come[frame], a.ahead[frame] + b.ahead[frame]);
        (come + ahead, come - ahead)
    }
}

/// A bound of how far points within `arm` of the centre move from one pose to another [m].
pub(crate) fn way(from: &Pose, to: &Pose, arm: f64) -> f64 {
    if from == to { 0.0 } else { from.position.distance(to.position) + turn(from, to) * arm }
}

/// Bounds of how far points within `arm` of the centre move from one pose to another [m]: in the world, and in a frame
/// that moves by `along`.
fn ways([from, to]: [&Pose; 2], along: Vec3, arm: f64) -> [f64; 2] {
    let shift = to.position - from.position;
    let turn = if from.rotation == to.rotation { 0.0 } else { turn(from, to) * arm };
    [shift.length() + turn, (shift - along).length() + turn]
}

/// A bound of the angle from one pose to another [rad].
#[inline]
pub(crate) fn turn(from: &Pose, to: &Pose) -> f64 {
    // Half the angle of the turn has this sine; the angle is at most π times it, and close to twice if small.
    let d = to.rotation.dot(from.rotation);
    let sine = (1.0 - d * d).max(0.0).sqrt();
    if sine < 0.3 { 2.04 * sine } else { std::f64::consts::PI * sine }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::stack;
    use billow_num::Quat;
    use billow_num::rng::Stream;

    /// Points of two bodies come no nearer to each other than their odometers tell, whatever both frames do.
    #[test]
    fn distances_change_by_no_more_than_odometers_show() {
        let model = stack(3).unwrap();
        let (mut state, mut odometer) = (model.start(), Odometer::default());
        let mut draw = Stream::new(21, 7).at(0);
        let mut wander = |pose: &Pose, moves: bool| {
            if !moves {
                return *pose;
            }
            let turn = Quat::from_scaled_axis(draw.unit_vector() * draw.range(0.0, 0.2));
            // All fall, and each goes a way of its own.
            let shift = Vec3::new(0.0, 0.0, -0.3) + draw.unit_vector() * draw.range(0.0, 0.1);
            Pose { position: pose.position + shift, rotation: (turn * pose.rotation).normalize() }
        };
        let mut seen: Vec<(Vec<Pose>, Vec<f64>)> = Vec::new();
        let pairs: Vec<[usize; 2]> = (0..model.len()).flat_map(|b| (0..b).map(move |a| [a, b])).collect();
        let mut sharp = 0;
        for _ in 0..12 {
            for (i, body) in state.bodies.iter_mut().enumerate() {
                body.pose = wander(&body.pose, model.is_dynamic(i));
            }
            let ahead = |(i, b): (usize, &crate::state::BodyState)| wander(&b.pose, model.is_dynamic(i));
            let predicted: Vec<Pose> = state.bodies.iter().enumerate().map(ahead).collect();
            odometer.follow(&model, &state, &predicted);
            for (then, starts) in &seen {
                for (pair, start) in pairs.iter().zip(starts) {
                    let room = odometer.of(&model, *pair).0 - start;
                    for k in 0..8 {
                        let mut draw = Stream::new(5, 5).at(k);
                        let points = pair.map(|i| draw.unit_vector() * ARM * model.geometry(i).radius);
                        let distance = |poses: &[Pose]| {
                            let [x, y] = [0, 1].map(|e| poses[pair[e]].point(points[e]));
                            x.distance(y)
                        };
                        let change = (distance(&predicted) - distance(then)).abs();
                        assert!(change <= room + 1e-12, "{pair:?}: {change} m, {room} m shown");
                        sharp += u32::from(change > 0.3 * room);
                    }
                }
            }
            let starts = pairs.iter().map(|p| odometer.of(&model, *p).1).collect();
            seen.push((predicted, starts));
        }
        assert!(sharp > 50, "{sharp}");
    }

    #[test]
    fn what_falls_or_is_pulled_at_together_goes_nowhere_past_each_other() {
        let model = stack(2).unwrap();
        let (mut state, mut odometer) = (model.start(), Odometer::default());
        let moving: Vec<usize> = (0..model.len()).filter(|i| model.is_dynamic(*i)).collect();
        let mut starts = None;
        for _ in 0..10 {
            let mut predicted: Vec<Pose> = state.bodies.iter().map(|b| b.pose).collect();
            moving.iter().for_each(|i| predicted[*i].position.z -= 1e-3);
            odometer.follow(&model, &state, &predicted);
            let (shown, start) = odometer.of(&model, [moving[0], moving[1]]);
            assert!(shown - *starts.get_or_insert(start) < 1e-12);
            moving.iter().for_each(|i| state.bodies[*i].pose.position.z -= 0.1);
        }
    }
}
