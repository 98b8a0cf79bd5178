//! How far each body has come, so that pairs with room between them need not be looked at.
//!
//! Two bodies that were farther apart than matters by some distance cannot meet before their odometers together show
//! that much more. Asking costs two look-ups; only what runs out of room is looked at, where how far the two moved
//! past each other is told more sharply.

use crate::detect::BODIES;
use crate::model::Model;
use crate::state::State;
use billow_num::{Pose, par};

/// Ways of all bodies so far. What is asked of it does not depend on when it began.
#[derive(Clone, Debug, Default)]
pub(crate) struct Odometer {
    last: Vec<Pose>,
    shown: Vec<f64>,
}

/// How far from its centre what is near a body turns with it, in radii of the body.
const ARM: f64 = 1.5;

impl Odometer {
    /// Whether it was running for this many bodies.
    pub(crate) fn runs(&self, bodies: usize) -> bool {
        self.last.len() == bodies
    }

    /// Follows all bodies from where they were last to where they are and on to where they are predicted to be.
    pub(crate) fn follow(&mut self, model: &Model, state: &State, predicted: &[Pose]) {
        if !self.runs(predicted.len()) {
            self.last = predicted.to_vec();
            self.shown = vec![0.0; predicted.len()];
        }
        par::zip_chunks_mut(&mut self.last, &mut self.shown, BODIES, |first, last, shown| {
            for (k, (last, shown)) in last.iter_mut().zip(shown).enumerate() {
                let i = first + k;
                let arm = ARM * model.geometry(i).radius;
                let (now, end) = (&state.bodies[i].pose, &predicted[i]);
                *shown += way(last, now, arm) + way(now, end, arm);
                *last = *end;
            }
        });
    }

    /// What the odometers of two bodies show together [m].
    #[inline]
    pub(crate) fn of(&self, [a, b]: [usize; 2]) -> f64 {
        self.shown[a] + self.shown[b]
    }
}

/// A bound of how far points within `arm` of the centre move from one pose to another [m].
pub(crate) fn way(from: &Pose, to: &Pose, arm: f64) -> f64 {
    if from == to { 0.0 } else { from.position.distance(to.position) + turn(from, to) * arm }
}

/// A bound of the angle from one pose to another [rad].
#[inline]
pub(crate) fn turn(from: &Pose, to: &Pose) -> f64 {
    // Half the angle of the turn has this sine; the angle is at most π times it, and close to twice if small.
    let d = to.rotation.dot(from.rotation);
    let sine = (1.0 - d * d).max(0.0).sqrt();
    if sine < 0.3 { 2.04 * sine } else { std::f64::consts::PI * sine }
}
