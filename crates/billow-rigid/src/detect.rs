//! All contacts of a step, at the places the velocities lead to ([Gue06] 2.4, 2.6).
//!
//! Slow pairs are looked at once, where they are predicted to be. A pair that moves farther than a fraction of
//! the thinner body is swept: it is advanced by as much as the distance between the two allows and looked at again,
//! until it touches or the step is over, so that nothing passes through anything however thin. This is the test
//! the documents leave open.

use crate::broad::Broad;
use crate::config::Config;
use crate::contact::{Contact, Motion};
use crate::geometry::Geometry;
use crate::memory::{Look, Memory, seek};
use crate::model::Model;
use crate::motion::advanced;
use crate::near::{Known, Meeting, Placed, Scratch, touches};
use crate::shell;
use crate::state::State;
use billow_geom::Aabb;
use billow_num::{Pose, par};
use std::cell::RefCell;

/// Bodies per parallel piece of work.
pub(crate) const BODIES: usize = 128;

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Lends the scratch of the thread.
pub(crate) fn with_scratch<R>(f: impl FnOnce(&mut Scratch) -> R) -> R {
    SCRATCH.with_borrow_mut(f)
}

/// What a search needs to know.
#[derive(Clone, Copy)]
pub(crate) struct Search<'a> {
    pub(crate) model: &'a Model,
    pub(crate) state: &'a State,
    pub(crate) config: &'a Config,
    pub(crate) dt: f64,
}

/// A contact as found: where the bodies will be when they meet it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) contact: Contact,
    /// Gap at the pose it was found at, less the distance kept [m].
    pub(crate) gap: f64,
}

impl Search<'_> {
    /// Poses at the end of the step if the velocities stay.
    pub(crate) fn predict(&self, motions: &[Motion], out: &mut Vec<Pose>) {
        out.resize(motions.len(), Pose::IDENTITY);
        par::chunks_mut(out, BODIES, |first, poses| {
            poses.iter_mut().enumerate().for_each(|(k, p)| *p = self.pose_at(motions, first + k, self.dt));
        });
    }

    fn pose_at(&self, motions: &[Motion], i: usize, t: f64) -> Pose {
        let m = &motions[i];
        advanced(&self.state.bodies[i].pose, &self.model.inertias[i], m.v, m.w, t)
    }

    /// Distance at which contacts of a pair are taken up [m].
    pub(crate) fn margin(&self, a: u32, b: u32) -> f64 {
        let [a, b] = [a, b].map(|i| self.model.geometry(i as usize));
        self.config.margin * a.depth.min(b.depth) + a.skin + b.skin
    }

    /// Pairs of bodies whose ways overlap, those of them that are `wanted`.
    pub(crate) fn pairs(
        &self,
        predicted: &[Pose],
        live: &[bool],
        broad: &mut Broad,
        wanted: impl Fn(&[u32; 2]) -> bool + Sync + Send,
    ) -> Vec<[u32; 2]> {
        let boxes: Vec<Aabb> = par::map(predicted.len(), |i| {
            let shape = self.model.geometry(i);
            let margin = self.config.margin * shape.depth + shape.skin;
            let now = shape.bounds_at(&self.state.bodies[i].pose);
            now.union(shape.bounds_at(&predicted[i])).inflated(margin)
        });
        broad.pairs(&boxes, live, wanted)
    }

    /// Contacts of the given pairs, in their order. `memory` holds the candidates of earlier searches by pair, in
    /// ascending order, and is brought up to date.
    pub(crate) fn contacts(
        &self,
        motions: &[Motion],
        predicted: &[Pose],
        pairs: &[[u32; 2]],
        memory: &mut Memory,
    ) -> Vec<Found> {
        let look = memory.look;
        let (odometer, mut pieces) = memory.pieces((self.model, self.state), predicted, pairs);
        par::chunks_mut(&mut pieces, 1, |_, pieces| {
            for piece in pieces {
                let mut at = 0;
                for pair in piece.pairs {
                    at += seek(&piece.keys[at..], *pair);
                    let known = &mut piece.known[at];
                    let (shown, start) = odometer.of(self.model, pair.map(|i| i as usize));
                    if shown < known.free {
                        continue;
                    }
                    with_scratch(|scratch| {
                        let at = (motions, predicted, look);
                        self.contacts_of(at, *pair, (known, scratch), &mut piece.found);
                    });
                    known.free = start + known.room;
                }
            }
        });
        let mut all = Vec::with_capacity(pieces.iter().map(|p| p.found.len()).sum());
        pieces.iter().for_each(|p| all.extend_from_slice(&p.found));
        all
    }

    fn contacts_of(
        &self,
        (motions, predicted, look): (&[Motion], &[Pose], Look),
        pair: [u32; 2],
        (known, scratch): (&mut Known, &mut Scratch),
        out: &mut Vec<Found>,
    ) {
        let [a, b] = pair.map(|i| i as usize);
        let shapes = [self.model.geometry(a), self.model.geometry(b)];
        let margin = self.margin(pair[0], pair[1]);
        let fresh = matches!(look, Look::There | Look::After);
        if fresh && known.lasting.is_some() {
            // Of what rests nothing is too deep.
            let here =
                meeting(shapes, [predicted[a], predicted[b]], [predicted[a], predicted[b]], (margin, 0.0));
            if known.lasting.as_ref().is_some_and(|l| l.shallow(&here)) {
                known.room = f64::NEG_INFINITY;
                return;
            }
        }
        let speed = self.speed(motions, pair);
        known.pace = speed * self.dt;
        let stride = self.stride(pair);
        let now = [self.state.bodies[a].pose, self.state.bodies[b].pose];
        let mut poses = now;
        let mut found;
        let way = if fresh { 0.0 } else { known.pace };
        if way <= stride || self.haste(motions, pair, (known.near.clone(), scratch)) <= 1.0 {
            // Slow: what meets at the end of the step, as it is now.
            let end = [predicted[a], predicted[b]];
            let meeting = Meeting {
                fresh,
                pace: known.pace,
                sought: look.sought(shapes, margin),
                ..meeting(shapes, now, end, (margin, way))
            };
            found = touches(&meeting, known, scratch);
        } else {
            // Fast: advanced as far as the distance allows until they touch.
            known.lasting = None;
            let stride = self.half_stride(pair);
            let (mut t, mut collide) = (0.0, false);
            let at = |t: f64| [self.pose_at(motions, a, t), self.pose_at(motions, b, t)];
            let nearest = loop {
                poses = at(t);
                let left = self.dt - t;
                let here = meeting(shapes, poses, poses, (margin + left * speed, 0.0));
                found = touches(&here, known, scratch);
                known.room = f64::NEG_INFINITY;
                let Some(nearest) = found.iter().map(|s| s.gap).min_by(f64::total_cmp) else { return };
                if nearest <= margin || collide {
                    break nearest;
                }
                if left <= 0.0 {
                    return;
                }
                let next = self.dt.min(t + (0.9 * nearest).max(stride) / speed);
                // What has no inside is not seen any more once it is passed.
                let ahead = meeting(shapes, poses, at(next), (margin, 0.0));
                let hit = shell::collide(&ahead, &mut scratch.shells);
                (t, collide) = hit.map_or((next, false), |part| (t + part * (next - t), true));
            };
            found.retain(|touch| touch.gap <= margin.max(nearest) + 0.25 * stride);
            known.lasting = None;
        }
        let skin = shapes[0].skin + shapes[1].skin;
        out.extend(found.iter().map(|touch| {
            let anchors = [poses[0].inverse_point(touch.on_a), poses[1].inverse_point(touch.on_b)];
            // Impulses act on both bodies at one point of the present: that conserves angular momentum.
            let mut arms = [touch.on_a - poses[0].position, touch.on_b - poses[1].position];
            let apart = now[0].position + arms[0] - now[1].position - arms[1];
            arms[0] -= 0.5 * apart;
            arms[1] += 0.5 * apart;
            let contact = Contact { a: pair[0], b: pair[1], anchors, arms, normal: touch.normal, skin };
            Found { contact, gap: touch.gap - skin }
        }));
    }
}

/// A search that looks at one pair at a time, with the velocities of the moment.
pub(crate) struct Pairwise<'a> {
    pub(crate) search: &'a Search<'a>,
    pub(crate) pairs: Vec<[u32; 2]>,
    trial: Vec<Motion>,
    predicted: Vec<Pose>,
    scratch: Scratch,
}

impl<'a> Search<'a> {
    /// Prepares a pairwise search over the pairs that may meet when forces act for `kick`.
    pub(crate) fn pairwise(&'a self, motions: &[Motion], kick: f64, live: &[bool]) -> Pairwise<'a> {
        let (mut trial, mut predicted) = (Vec::new(), Vec::new());
        crate::persistent::kicked(self, kick, motions, &mut trial);
        self.predict(&trial, &mut predicted);
        let pairs = self.pairs(&predicted, live, &mut Broad::default(), |_| true);
        Pairwise { search: self, pairs, trial, predicted, scratch: Scratch::default() }
    }
}

impl Pairwise<'_> {
    /// Contacts of one pair when forces act on the present velocities for `kick`.
    pub(crate) fn of(&mut self, motions: &[Motion], pair: [u32; 2], kick: f64) -> Vec<Found> {
        for i in pair.map(|i| i as usize) {
            self.trial[i] = motions[i];
            if motions[i].inverse_mass > 0.0 {
                self.trial[i].v += self.search.model.gravity * kick;
            }
            self.predicted[i] = self.search.pose_at(&self.trial, i, self.search.dt);
        }
        let mut found = Vec::new();
        let at = (self.trial.as_slice(), self.predicted.as_slice(), Look::There);
        self.search.contacts_of(at, pair, (&mut Known::default(), &mut self.scratch), &mut found);
        // Sweeps that forget work the deepest first.
        found.sort_by(|f, g| f.gap.total_cmp(&g.gap));
        found
    }

    /// Contacts of all pairs.
    pub(crate) fn all(&mut self, motions: &[Motion], kick: f64) -> Vec<Found> {
        let pairs = self.pairs.clone();
        pairs.iter().flat_map(|p| self.of(motions, *p, kick)).collect()
    }
}

/// Two shapes at two times.
pub(crate) fn meeting<'a>(
    shapes: [&'a Geometry; 2],
    now: [Pose; 2],
    end: [Pose; 2],
    (margin, way): (f64, f64),
) -> Meeting<'a> {
    let place = |poses: [Pose; 2]| [0, 1].map(|k| Placed { shape: shapes[k], pose: poses[k] });
    Meeting {
        now: place(now),
        end: place(end),
        margin,
        sought: margin,
        way,
        pace: f64::INFINITY,
        fresh: true,
    }
}
