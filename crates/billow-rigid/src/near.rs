//! The places where two bodies touch or are about to ([Gue06] 2.4, [Bri03] 4.4).
//!
//! Vertices of each body, and the deepest points of its sharp edges, are looked up in the signed distance of the
//! other. Balls and pairs of convex bodies are exact. Many places are thinned to a few that are deep and far
//! apart: what an impulse at the others could do, those can.

use crate::candidates::{Bounds, Candidate, Candidates};
use crate::contact::Touch;
use crate::convex;
use crate::field::Field;
use crate::geometry::Geometry;
use crate::lasting::Lasting;
use crate::sampled::{Once, samples_of};
use crate::shell;
use billow_geom::proximity::point_triangle;
use billow_num::{Pose, Vec3};
use std::sync::Arc;

/// Most places kept for a pair of bodies.
pub(crate) const MOST: usize = 8;

/// What is remembered of a pair.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// Vertices and edges that are close: results are the same without it.
    pub(crate) near: Option<Arc<Candidates>>,
    /// Places that serve for a while, as the state holds them.
    pub(crate) lasting: Option<Box<Lasting>>,
    /// How far the two moved past each other in a part of a step, at most [m].
    pub(crate) pace: f64,
    /// How much farther the two may move before anything of them may meet or last, if they do not now [m].
    pub(crate) room: f64,
    /// What the odometers of both together show when they have moved that far [m].
    pub(crate) free: f64,
}

/// Scratch of [`touches`].
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) found: Vec<Touch>,
    pub(crate) slopes: Once<(Vec3, f64, Vec3)>,
    /// Vertices that may meet the other body, and distances that they are not within [m].
    pub(crate) close: Vec<Candidate>,
    bounds: Bounds,
    pub(crate) shells: shell::Scratch,
}

impl Scratch {
    /// All places that the last look found, before they were thinned.
    pub(crate) fn found(&self) -> &[Touch] {
        &self.found
    }
}

/// A shape at a pose.
#[derive(Clone, Copy)]
pub(crate) struct Placed<'a> {
    pub(crate) shape: &'a Geometry,
    pub(crate) pose: Pose,
}

/// Two bodies now and at the end of the step.
#[derive(Clone, Copy)]
pub(crate) struct Meeting<'a> {
    pub(crate) now: [Placed<'a>; 2],
    pub(crate) end: [Placed<'a>; 2],
    /// Distance within which they count as meeting at the end [m].
    pub(crate) margin: f64,
    /// Distance from which on places do not count that are not kept [m]; at most the margin.
    pub(crate) sought: f64,
    /// Distance they may approach each other until then [m].
    pub(crate) way: f64,
    /// How far they move past each other in a part of a step, at most [m]: places of slow pairs last.
    pub(crate) pace: f64,
    /// Whether lasting places serve only while they are fresh.
    pub(crate) fresh: bool,
}

/// The places where two bodies meet at the end of the step, as they are now; at most [`MOST`]. Normals point from the
/// second body to the first. Candidates in `known` are used if they still serve and replaced if not.
pub(crate) fn touches(meeting: &Meeting<'_>, known: &mut Known, scratch: &mut Scratch) -> Vec<Touch> {
    let found = &mut scratch.found;
    found.clear();
    known.room = f64::NEG_INFINITY;
    let ([a, b], margin) = (meeting.now, meeting.margin);
    let reach = margin + meeting.way;
    if let (Some(ca), Some(cb)) = (&a.shape.convex, &b.shape.convex) {
        convex::meet((ca, &a.pose), (cb, &b.pose), reach, found);
        found.retain_mut(|t| meeting.arrives(t));
    } else if b.shape.ball > 0.0 {
        ball(b, a, reach, found);
        found.iter_mut().for_each(|t| {
            (t.on_a, t.on_b, t.normal) = (t.on_b, t.on_a, -t.normal);
        });
        shell::meet(meeting, &mut scratch.shells, found);
        found.retain_mut(|t| meeting.arrives(t));
    } else if a.shape.ball > 0.0 {
        ball(a, b, reach, found);
        shell::meet(meeting, &mut scratch.shells, found);
        found.retain_mut(|t| meeting.arrives(t));
    } else {
        let solid = a.shape.field.is_some() && b.shape.field.is_some();
        let extra = Lasting::reach(&meeting.now);
        let slow = solid && 2.0 * meeting.pace <= extra;
        if let Some(lasting) = known.lasting.as_ref().filter(|l| l.serves(meeting)) {
            return lasting.touches(meeting);
        }
        if slow {
            let (end, margin) = (meeting.now, margin + extra);
            let still = Meeting { end, margin, sought: margin, ..*meeting };
            sampled_both(&still, margin, known, scratch);
            if scratch.found.is_empty() {
                known.lasting = None;
                return Vec::new();
            }
            let lasting = Lasting::new(&meeting.now, &thin(&scratch.found, a.shape.depth.min(b.shape.depth)));
            let touches = lasting.touches(meeting);
            known.lasting = Some(Box::new(lasting));
            return touches;
        }
        known.lasting = None;
        sampled_both(meeting, margin + extra, known, scratch);
        let found = &mut scratch.found;
        if !solid {
            known.room = f64::NEG_INFINITY;
            let sampled = found.len();
            shell::meet(meeting, &mut scratch.shells, found);
            let mut k = 0;
            found.retain_mut(|t| {
                k += 1;
                k <= sampled || meeting.arrives(t)
            });
        }
    }
    let found = &scratch.found;
    let size = a.shape.depth.min(b.shape.depth);
    thin(found, size)
}

/// Whether two shapes meet by samples of each in the distance of the other.
pub(crate) fn sampled([a, b]: [&Geometry; 2]) -> bool {
    let smooth = a.ball > 0.0 || b.ball > 0.0 || a.convex.is_some() && b.convex.is_some();
    !smooth && a.field.is_some() && b.field.is_some()
}

/// Samples of both bodies that meet the other, among the remembered candidates if they still serve.
/// From `apart` [m] on the two neither meet nor have places that last.
fn sampled_both(meeting: &Meeting<'_>, apart: f64, known: &mut Known, scratch: &mut Scratch) {
    let covered = |near: Arc<Candidates>| near.cover(&meeting.end, meeting.margin).map(|moved| (near, moved));
    let (near, moved) = known.near.take().and_then(covered).unwrap_or_else(|| {
        let near = Candidates::search(meeting.end, (meeting.margin, known.pace), &mut scratch.bounds);
        let moved = near.unmoved();
        (Arc::new(near), moved)
    });
    // What is as far apart as this need not be looked at.
    known.room = near.room(&meeting.end, &moved, apart);
    if known.room <= 0.0 {
        let mut nearest = f64::INFINITY;
        for owner in owners(&meeting.now) {
            let side = (near.side(owner), moved.way);
            let least = samples_of(meeting, owner, side, (nearest, apart), scratch);
            nearest = nearest.min(least);
        }
        // Looking told how far they are, more sharply than the search did.
        known.room = near.room_from(nearest, &meeting.end, &moved, apart);
    }
    known.near = Some(near);
}

/// The bodies whose samples are looked up in the other: of two smooth ones the more finely sampled is enough.
pub(crate) fn owners([a, b]: &[Placed<'_>; 2]) -> std::ops::Range<usize> {
    match [a, b].map(|p| &p.shape.samples) {
        [p, q] if p.is_smooth() && q.is_smooth() => {
            if p.fineness() <= q.fineness() {
                0..1
            } else {
                1..2
            }
        }
        _ => 0..2,
    }
}

impl Meeting<'_> {
    /// Whether a place closes during the step, up to the margin, if the velocities stay.
    pub(crate) fn arrives(&self, touch: &mut Touch) -> bool {
        let on_a = self.end[0].pose.point(self.now[0].pose.inverse_point(touch.on_a));
        let on_b = self.end[1].pose.point(self.now[1].pose.inverse_point(touch.on_b));
        touch.end = touch.normal.dot(on_a - on_b);
        touch.end <= self.margin
    }
}

/// A ball against anything with an inside.
fn ball(ball: Placed<'_>, other: Placed<'_>, reach: f64, out: &mut Vec<Touch>) {
    let Some(field) = &other.shape.field else { return };
    let x = other.pose.inverse_point(ball.pose.position);
    let (phi, normal) = distance(other.shape, field, x);
    let gap = phi - ball.shape.ball;
    if gap <= reach {
        let normal = other.pose.vector(normal);
        let on_a = ball.pose.position - normal * ball.shape.ball;
        out.push(Touch { on_a, on_b: on_a - normal * gap, normal, gap, end: gap });
    }
}

/// Distance and direction from a shape; for convex bodies the true ones outside too.
fn distance(shape: &Geometry, field: &Field, x: Vec3) -> (f64, Vec3) {
    let (phi, normal) = field.sample(x);
    if phi <= 0.0 || shape.convex.is_none() {
        return (phi, normal);
    }
    let nearest = (0..shape.mesh.triangles.len()).map(|t| {
        let corners = shape.mesh.corners(t);
        let near = point_triangle(x, corners);
        (
            near.distance,
            corners[0] * near.weights[0] + corners[1] * near.weights[1] + corners[2] * near.weights[2],
        )
    });
    let Some((d, p)) = nearest.min_by(|s, t| s.0.total_cmp(&t.0)) else { return (phi, normal) };
    (d, (x - p).try_normalize().unwrap_or(normal))
}

/// Keeps the deepest place and those farthest from the ones kept, up to [`MOST`]; normals count as places too. The order
/// stays, so that rounding does not choose which of two places as deep comes first.
fn thin(found: &[Touch], size: f64) -> Vec<Touch> {
    let deepest = (0..found.len()).min_by(|s, t| found[*s].end.total_cmp(&found[*t].end));
    let Some(deepest) = deepest else { return Vec::new() };
    let mut kept = Vec::with_capacity(found.len().min(MOST));
    kept.push(deepest);
    let apart = |s: &Touch, t: &Touch| {
        s.on_a.distance_squared(t.on_a) + size * size * s.normal.distance_squared(t.normal)
    };
    let mut far: Vec<f64> = found.iter().map(|t| apart(t, &found[deepest])).collect();
    let same = (1e-2 * size).powi(2);
    while kept.len() < MOST {
        let Some(next) = (0..found.len()).max_by(|s, t| far[*s].total_cmp(&far[*t]).then(t.cmp(s))) else {
            break;
        };
        if far[next] <= same {
            break;
        }
        // Of the places around the farthest, the deepest.
        let near = 0.1 * far[next];
        let pick = (0..found.len())
            .filter(|k| apart(&found[*k], &found[next]) <= near && far[*k] > same)
            .min_by(|s, t| found[*s].end.total_cmp(&found[*t].end).then(s.cmp(t)))
            .unwrap_or(next);
        kept.push(pick);
        for (f, t) in far.iter_mut().zip(found) {
            *f = f.min(apart(t, &found[pick]));
        }
    }
    kept.sort_unstable();
    kept.into_iter().map(|k| found[k]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use billow_geom::shapes::torus;
    use billow_num::Quat;
    use billow_num::rng::Stream;

    /// Of what is found within the margin all that is sought is told, and nothing else.
    #[test]
    fn what_is_farther_than_sought_is_left_out() {
        let ring = Geometry::solid(&torus(0.3, 0.1, 16, 10).unwrap(), &Settings::default()).unwrap();
        let (margin, sought, mut scratch) = (4e-3, 1.5e-3, Scratch::default());
        let (mut all, mut told) = (0, 0);
        for i in 0..600 {
            let mut draw = Stream::new(18, 3).at(i);
            let rotation = Quat::from_scaled_axis(draw.unit_vector() * draw.range(0.0, 3.0));
            let pose = Pose { position: draw.unit_vector() * draw.range(0.3, 0.7), rotation };
            let now = [pose, Pose::IDENTITY].map(|pose| Placed { shape: &ring, pose });
            let mut look = |sought: f64| {
                let pace = f64::INFINITY;
                let meeting = Meeting { now, end: now, margin, sought, way: 0.0, pace, fresh: true };
                touches(&meeting, &mut Known::default(), &mut scratch);
                scratch.found.clone()
            };
            let (within, few) = (look(margin), look(sought));
            assert!(few.iter().all(|t| t.end <= sought && within.contains(t)), "{i}");
            all += within.iter().filter(|t| t.end <= sought).count();
            told += few.len();
        }
        assert!(told == all && told > 1000, "{told} of {all}");
    }

    /// Rings that were looked at and do not meet: none is nearer than told, wherever the candidates were searched for.
    #[test]
    fn the_room_told_by_looking_is_there_and_sharper_than_by_searching() {
        let ring = Geometry::solid(&torus(0.3, 0.1, 16, 10).unwrap(), &Settings::default()).unwrap();
        let (reach, mut scratch, mut looked, mut sharper) = (4e-3, Scratch::default(), 0, 0);
        for i in 0..1500 {
            let mut draw = Stream::new(17, 3).at(i);
            let rotation = Quat::from_scaled_axis(draw.unit_vector() * draw.range(0.0, 3.0));
            let then = Pose { position: draw.unit_vector() * draw.range(0.3, 0.7), rotation };
            let shift = draw.unit_vector() * draw.range(0.0, 0.01);
            let now = Pose { position: then.position + shift, ..then };
            let at = |pose| [pose, Pose::IDENTITY].map(|pose| Placed { shape: &ring, pose });
            let meet = |now| Meeting {
                now,
                end: now,
                margin: reach,
                sought: reach,
                way: 0.0,
                pace: 0.0,
                fresh: true,
            };
            let mut known = Known::default();
            sampled_both(&meet(at(then)), reach, &mut known, &mut scratch);
            let near = known.near.clone().expect("they were searched");
            let Some(moved) = near.cover(&at(now), reach) else { continue };
            scratch.found.clear();
            sampled_both(&meet(at(now)), reach, &mut known, &mut scratch);
            if near.room(&at(now), &moved, reach) > 0.0 || !scratch.found.is_empty() {
                continue;
            }
            looked += 1;
            sharper += u32::from(known.room > near.room(&at(now), &moved, reach) + 2e-3);
            let mut nearest = f64::INFINITY;
            for pose in [now, now.inverse()] {
                for e in &ring.samples.edges {
                    let [p, q] = e.map(|v| pose.point(ring.samples.vertices[v as usize]));
                    let along = (0..=16).map(|k| ring.phi(p.lerp(q, f64::from(k) / 16.0)));
                    nearest = along.fold(nearest, f64::min);
                }
            }
            assert!(nearest >= reach + known.room.max(0.0), "{i}: {nearest} m, {} m of room", known.room);
        }
        assert!(looked > 30 && 2 * sharper > looked, "{sharper} of {looked}");
    }
}
