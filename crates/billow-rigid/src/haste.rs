//! How fast bodies move past each other, and into how many parts a step is divided for it.
//!
//! A bound tells most pairs to be slow. For the others the places are looked up that may meet within the step: what turns
//! fast while it rolls is slow where it touches, and what flies past at a distance is not in the way.

use crate::candidates::Candidates;
use crate::contact::{Motion, Touch};
use crate::detect::{Search, meeting, with_scratch};
use crate::memory::Memory;
use crate::near::{Known, Scratch, sampled, touches};
use crate::since::{by_size, region};
use billow_num::{Vec3, par};
use std::sync::Arc;

/// How much farther sampled bodies may move past each other. A sample that was outside of the other body is still in it after
/// moving by twice its half thickness, and is led back to the side on which it was; others may have left it again.
const THROUGH: f64 = 2.0;

/// Hasty pairs looked at together.
const HASTY: usize = 16;

impl Search<'_> {
    /// Bound of the speed at which points of two bodies that may meet within the step pass each other [m/s].
    ///
    /// They meet where the balls around them overlap: the relative velocity at the middle of that lens, and how much
    /// it varies within. If that is too fast, only what can come within the margin counts.
    pub(crate) fn speed(&self, motions: &[Motion], pair: [u32; 2]) -> f64 {
        let [a, b] = pair.map(|i| i as usize);
        let still = |i: usize| if self.model.geometry(i).ball > 0.0 { Vec3::ZERO } else { motions[i].w };
        let (wa, wb) = (still(a), still(b));
        let [xa, xb] = [a, b].map(|i| self.state.bodies[i].pose.position);
        let [ra, rb] = [a, b].map(|i| self.model.geometry(i).radius);
        let d = xa.distance(xb);
        // How far from a the plane of the lens is; the lens is all of a ball whose centre lies beyond it.
        let x = 0.5 * (d + (ra * ra - rb * rb) / d);
        let (middle, half) = if x.is_nan() || x <= 0.0 {
            if ra < rb { (xa, ra) } else { (xb, rb) }
        } else if x >= d {
            (xb, rb)
        } else {
            (xa + (xb - xa) * (x / d), (ra * ra - x * x).max(0.0).sqrt())
        };
        let within = |(middle, half): (Vec3, f64)| {
            let at = |i: usize, w: Vec3| motions[i].v + w.cross(middle - self.state.bodies[i].pose.position);
            (at(a, wa) - at(b, wb)).length() + (wa - wb).length() * half
        };
        let mut speed = within((middle, half));
        for _ in 0..if self.sampled(pair) { 2 } else { 0 } {
            if speed * self.dt <= self.stride(pair) {
                break;
            }
            let [small, large] = by_size([a, b], |i| self.model.geometry(i).radius);
            let [p, q] = [small, large].map(|i| self.state.bodies[i].pose);
            let shapes = [small, large].map(|i| self.model.geometry(i));
            let reach = self.margin(pair[0], pair[1]) + speed * self.dt;
            let (middle, half) = region(shapes, &p.then(&q.inverse()), reach);
            speed = speed.min(within((q.point(middle), half)));
        }
        speed
    }

    /// Farthest that a pair may move past each other in a step that is not divided [m].
    pub(crate) fn stride(&self, pair: [u32; 2]) -> f64 {
        let far = if self.sampled(pair) { THROUGH } else { 1.0 };
        far * self.half_stride(pair)
    }

    /// Farthest that a pair is swept at a time, so that it is seen on the side from which it came [m].
    pub(crate) fn half_stride(&self, pair: [u32; 2]) -> f64 {
        let [a, b] = pair.map(|i| self.model.geometry(i as usize).depth);
        self.config.stride * a.min(b)
    }

    fn sampled(&self, pair: [u32; 2]) -> bool {
        sampled(pair.map(|i| self.model.geometry(i as usize)))
    }

    /// How many times too far one of a pair turns in the step.
    fn turns(&self, motions: &[Motion], pair: [u32; 2]) -> f64 {
        let turn = |i: u32| {
            let m = &motions[i as usize];
            let turns = m.inverse_mass > 0.0 && self.model.geometry(i as usize).ball == 0.0;
            if turns { m.w.length() * self.dt / self.config.turn } else { 0.0 }
        };
        turn(pair[0]).max(turn(pair[1]))
    }

    /// How many times too far the hastiest pair that may meet within the step moves past each other, or one of the two
    /// turns; at least one.
    pub(crate) fn hastiest(&self, motions: &[Motion], pairs: &[[u32; 2]], memory: &Memory) -> f64 {
        let bound = |pair: [u32; 2]| {
            (self.speed(motions, pair) * self.dt / self.stride(pair)).max(self.turns(motions, pair))
        };
        // Most bodies are so slow that no pair of them is hasty.
        let pace: Vec<f64> = par::map(motions.len(), |i| {
            let m = &motions[i];
            (m.v.length() + m.w.length() * self.model.geometry(i).radius) * self.dt
        });
        let slow = |p: &[u32; 2]| {
            let [a, b] = p.map(|i| i as usize);
            pace[a] + pace[b] <= self.stride(*p) && self.turns(motions, *p) <= 1.0
        };
        let mut hasty: Vec<(f64, [u32; 2])> = par::gather(pairs.len(), 1024, |range, out| {
            let hasty = pairs[range].iter().filter(|p| !slow(p)).map(|p| (bound(*p), *p));
            out.extend(hasty.filter(|h| h.0 > 1.0));
        });
        hasty.sort_unstable_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
        // Many at a time, those first that may be hastiest, until the others cannot change the number of parts.
        let mut most: f64 = 1.0;
        for some in hasty.chunks(HASTY) {
            let some = &some[..some.partition_point(|h| h.0.ceil() > most.ceil())];
            if some.is_empty() {
                break;
            }
            let of = |k: usize| {
                let pair = some[k].1;
                let haste = with_scratch(|scratch| self.haste(motions, pair, (memory.near(pair), scratch)));
                if haste > 0.0 { haste.max(self.turns(motions, pair)) } else { 0.0 }
            };
            most = par::map(some.len(), of).into_iter().fold(most, f64::max);
        }
        most
    }

    /// How many times too far a pair moves past each other in the step where the two may meet.
    pub(crate) fn haste(
        &self,
        motions: &[Motion],
        pair: [u32; 2],
        (near, scratch): (Option<Arc<Candidates>>, &mut Scratch),
    ) -> f64 {
        let [a, b] = pair.map(|i| i as usize);
        let shapes = [self.model.geometry(a), self.model.geometry(b)];
        let now = [self.state.bodies[a].pose, self.state.bodies[b].pose];
        let margin = self.margin(pair[0], pair[1]);
        let reach = margin + self.speed(motions, pair) * self.dt;
        let mut known = Known { near, ..Known::default() };
        let meet = !touches(&meeting(shapes, now, now, (reach, 0.0)), &mut known, scratch).is_empty();
        if !self.sampled(pair) {
            // Not all places are told.
            return if meet { (reach - margin) / self.stride(pair) } else { 0.0 };
        }
        let of = |t: &Touch| {
            let [ra, rb] = [t.on_a - now[0].position, t.on_b - now[1].position];
            let way = (motions[a].at(ra) - motions[b].at(rb)).length() * self.dt;
            if t.gap <= margin + way { way / self.stride(pair) } else { 0.0 }
        };
        scratch.found().iter().map(of).fold(0.0, f64::max)
    }
}
