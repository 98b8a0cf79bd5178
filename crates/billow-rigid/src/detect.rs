//! All contacts of a step, at the places the velocities lead to ([Gue06] 2.4, 2.6).
//!
//! Slow pairs are looked at once, where they are predicted to be. A pair that moves farther than a fraction of
//! the thinner body is swept: it is advanced by as much as the distance between the two allows and looked at again,
//! until it touches or the step is over, so that nothing passes through anything however thin. This is the test
//! the documents leave open.

use crate::broad;
use crate::config::Config;
use crate::contact::{Contact, EXACT, Motion, Touch};
use crate::geometry::Geometry;
use crate::model::Model;
use crate::motion::advanced;
use crate::near::{Placed, Scratch, touches};
use crate::state::State;
use billow_geom::Aabb;
use billow_num::{Pose, par};

/// Pairs per parallel piece of work.
const PIECE: usize = 16;

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
        par::fill(out, |i| self.pose_at(motions, i, self.dt));
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

    /// Pairs of bodies whose ways overlap.
    pub(crate) fn pairs(&self, predicted: &[Pose], live: &[bool], out: &mut Vec<[u32; 2]>) {
        let boxes: Vec<Aabb> = par::map(predicted.len(), |i| {
            let shape = self.model.geometry(i);
            let margin = self.config.margin * shape.depth + shape.skin;
            let now = shape.bounds_at(&self.state.bodies[i].pose);
            now.union(shape.bounds_at(&predicted[i])).inflated(margin)
        });
        broad::pairs(&boxes, live, out);
    }

    /// Contacts of the given pairs, in their order.
    pub(crate) fn contacts(&self, motions: &[Motion], predicted: &[Pose], pairs: &[[u32; 2]]) -> Vec<Found> {
        par::gather(pairs.len(), PIECE, |range, out| {
            let mut scratch = Scratch::default();
            for pair in &pairs[range] {
                self.contacts_of(motions, predicted, *pair, &mut scratch, out);
            }
        })
    }

    fn contacts_of(
        &self,
        motions: &[Motion],
        predicted: &[Pose],
        pair: [u32; 2],
        scratch: &mut Scratch,
        out: &mut Vec<Found>,
    ) {
        let [a, b] = pair.map(|i| i as usize);
        let shapes = [self.model.geometry(a), self.model.geometry(b)];
        let margin = self.margin(pair[0], pair[1]);
        let speed = (motions[a].v - motions[b].v).length()
            + motions[a].w.length() * shapes[0].radius
            + motions[b].w.length() * shapes[1].radius;
        let stride = self.config.stride * shapes[0].depth.min(shapes[1].depth);
        let ends = [&predicted[a], &predicted[b]];
        let now = [self.state.bodies[a].pose, self.state.bodies[b].pose];
        let mut poses = now;
        let mut found;
        if speed * self.dt <= stride {
            // Slow: where they are, kept if the step brings them together.
            let view = View { shapes, poses, ends };
            let careful = speed * self.dt > 0.5 * margin;
            found = view.look(margin + speed * self.dt, scratch, |t| view.arrives(t, margin, careful));
        } else {
            // Fast: advanced as far as the distance allows until they touch.
            let mut t = 0.0;
            loop {
                poses = [self.pose_at(motions, a, t), self.pose_at(motions, b, t)];
                let view = View { shapes, poses, ends };
                let left = self.dt - t;
                found = view.look(margin + left * speed, scratch, |_| true);
                let Some(nearest) = found.iter().map(|s| s.gap).min_by(f64::total_cmp) else { return };
                if nearest <= margin {
                    break;
                }
                if left <= 0.0 {
                    return;
                }
                t = self.dt.min(t + (0.9 * nearest).max(stride) / speed);
            }
            found.retain(|touch| touch.gap <= margin + 0.25 * stride);
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

/// Two shapes now and at the end of the step.
#[derive(Clone, Copy)]
struct View<'a> {
    shapes: [&'a Geometry; 2],
    poses: [Pose; 2],
    ends: [&'a Pose; 2],
}

impl View<'_> {
    /// Places where the two are closer than `reach`.
    fn look(&self, reach: f64, scratch: &mut Scratch, keep: impl FnMut(&mut Touch) -> bool) -> Vec<Touch> {
        let boxes = [0, 1].map(|k| self.shapes[k].bounds_at(&self.poses[k]));
        if !boxes[0].inflated(reach).overlaps(&boxes[1]) {
            return Vec::new();
        }
        let placed = [0, 1].map(|k| Placed { shape: self.shapes[k], pose: self.poses[k] });
        touches(placed, reach, scratch, keep)
    }

    /// Whether a place closes during the step, up to `margin`; `careful` looks it up where it will be.
    fn arrives(&self, touch: &mut Touch, margin: f64, careful: bool) -> bool {
        let [a, b] = [self.poses[0].inverse_point(touch.on_a), self.poses[1].inverse_point(touch.on_b)];
        let [xa, xb] = [self.ends[0].point(a), self.ends[1].point(b)];
        touch.end = touch.normal.dot(xa - xb);
        if touch.end > margin {
            return false;
        }
        if !careful || touch.gap <= margin || touch.owner == EXACT {
            return true;
        }
        let (x, other) = if touch.owner == 0 { (xa, 1) } else { (xb, 0) };
        self.shapes[other].phi(self.ends[other].inverse_point(x)) <= margin
    }
}
