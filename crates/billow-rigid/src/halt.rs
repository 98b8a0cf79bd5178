//! What would pass through a surface without an inside waits before it.
//!
//! Contacts are solved a limited number of times, and a shell that is hit hard may be sent into something else by the
//! last of them, or pushed into it. Solids come out again; of shells nothing tells afterwards on which side they were.
//! Bodies that went through a shell are therefore led back to where they collided. Velocities stay, so the next step
//! finds the contact that was missing.

use crate::detect::{Search, meeting, with_scratch};
use crate::model::Model;
use crate::odometer::way;
use crate::shell;
use crate::state::State;
use crate::{broad::Broad, config::Config};
use billow_num::{Pose, par};

/// Part of the distance kept that a pair may move without being looked at: contacts see it long before it has passed.
const SLOW: f64 = 0.05;

/// Part of the way to a collision that bodies go.
const BEFORE: f64 = 0.9;

/// Rounds in which ways are shortened; what collides even then stays where it was.
const ROUNDS: u32 = 8;

/// Scratch: where bodies were, and how far they may go. Without shells it stays empty.
#[derive(Debug, Default)]
pub(crate) struct Halt {
    before: Vec<Pose>,
    pairs: Vec<[u32; 2]>,
    /// Part of its way that each body goes.
    parts: Vec<f64>,
}

impl Halt {
    /// Notes where bodies are before they move.
    pub(crate) fn note(&mut self, model: &Model, state: &State) {
        self.before.clear();
        if (0..model.len()).any(|i| !model.geometry(i).is_solid()) {
            self.before.extend(state.bodies.iter().map(|b| b.pose));
        }
    }

    /// Leads bodies that are `live` back to where they collided with a shell, or it with them; tells how many.
    pub(crate) fn hold(
        &mut self,
        (model, config): (&Model, &Config),
        live: &[bool],
        broad: &mut Broad,
        state: &mut State,
    ) -> u64 {
        let Self { before, pairs, parts } = self;
        if before.is_empty() {
            return 0;
        }
        let search = Search { model, state, config, dt: 0.0 };
        *pairs = search.pairs(before, live, broad, |p| search.may_pass(before, *p));
        parts.clear();
        parts.resize(before.len(), 1.0);
        for round in 0.. {
            let hits = par::map(pairs.len(), |k| search.collide(before, pairs[k], parts));
            let mut changed = false;
            for (pair, hit) in pairs.iter().zip(&hits) {
                let Some(part) = hit else { continue };
                for i in pair.map(|i| i as usize) {
                    if live[i] && parts[i] > 0.0 {
                        parts[i] = if round < ROUNDS { parts[i] * BEFORE * part } else { 0.0 };
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        let mut held = 0;
        for (i, part) in parts.iter().enumerate().filter(|(_, part)| **part < 1.0) {
            state.bodies[i].pose = between(&before[i], &state.bodies[i].pose, *part);
            held += 1;
        }
        held
    }
}

impl Search<'_> {
    /// Whether one of a pair is a shell and the two moved by more than contacts are sure to see.
    fn may_pass(&self, before: &[Pose], pair: [u32; 2]) -> bool {
        let shapes = pair.map(|i| self.model.geometry(i as usize));
        let moved: f64 = pair
            .map(|i| i as usize)
            .map(|i| way(&before[i], &self.state.bodies[i].pose, self.model.geometry(i).radius))
            .iter()
            .sum();
        shapes.iter().any(|s| !s.is_solid()) && moved > SLOW * (shapes[0].skin + shapes[1].skin)
    }

    /// When a pair collides if each goes a part of its way from where it was, as a part of that.
    fn collide(&self, before: &[Pose], pair: [u32; 2], parts: &[f64]) -> Option<f64> {
        let bodies = pair.map(|i| i as usize);
        let now = bodies.map(|i| before[i]);
        let end = bodies.map(|i| between(&before[i], &self.state.bodies[i].pose, parts[i]));
        let ahead = meeting(bodies.map(|i| self.model.geometry(i)), now, end, (0.0, 0.0));
        with_scratch(|scratch| shell::collide(&ahead, &mut scratch.shells))
    }
}

/// A pose part of the way from one to another.
fn between(from: &Pose, to: &Pose, part: f64) -> Pose {
    if part >= 1.0 {
        return *to;
    }
    let rotation = from.rotation.slerp(to.rotation, part).normalize();
    Pose { position: from.position.lerp(to.position, part), rotation }
}
