//! The places where two bodies touch or are about to ([Gue06] 2.4, [Bri03] 4.4).
//!
//! Vertices of each body, and the deepest points of its sharp edges, are looked up in the signed distance of the
//! other. Balls and pairs of convex bodies are exact. Many places are thinned to a few that are deep and far
//! apart: what an impulse at the others could do, those can.

use crate::candidates::{Bounds, Candidate, Candidates, HALVINGS, Part, Side, least};
use crate::contact::Touch;
use crate::convex;
use crate::field::Field;
use crate::geometry::Geometry;
use crate::lanes::{Placement, ROUNDING};
use crate::lasting::Lasting;
use crate::shell;
use billow_geom::proximity::point_triangle;
use billow_num::{Mat3, Pose, Vec3};
use std::array::from_fn;
use std::sync::Arc;
use wide::f32x4;

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
    found: Vec<Touch>,
    slopes: Once<(Vec3, f64, Vec3)>,
    /// Vertices that may meet the other body, and distances that they are not within [m].
    close: Vec<Candidate>,
    bounds: Bounds,
    pub(crate) shells: shell::Scratch,
}

impl Scratch {
    /// All places that the last look found, before they were thinned.
    pub(crate) fn found(&self) -> &[Touch] {
        &self.found
    }
}

/// Values of vertices, each computed once per use.
#[derive(Debug, Default)]
struct Once<T> {
    values: Vec<(u64, T)>,
    turn: u64,
}

impl<T: Copy + Default> Once<T> {
    /// Forgets all values and makes room for `count`.
    fn clear(&mut self, count: usize) {
        self.turn += 1;
        if self.values.len() < count {
            self.values.resize(count, (0, T::default()));
        }
    }

    /// The value of `at`, computed if it is not known.
    fn get(&mut self, at: u32, compute: impl FnOnce() -> T) -> T {
        let slot = &mut self.values[at as usize];
        if slot.0 != self.turn {
            *slot = (self.turn, compute());
        }
        slot.1
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

/// Adds the candidates of body `owner` of the two, searched for before they moved by `way`, that meet the other one. Tells
/// a distance [m] that none of them is within: at most `nearest`, and sharp only if that and they are beyond `apart`.
fn samples_of(
    meeting: &Meeting<'_>,
    owner: usize,
    (side, way): (Side<'_>, f64),
    (mut nearest, apart): (f64, f64),
    scratch: &mut Scratch,
) -> f64 {
    let Scratch { slopes, found, close, .. } = scratch;
    let other = 1 - owner;
    let Some(field) = &meeting.now[other].shape.field else { return f64::INFINITY };
    if side.is_empty() {
        return f64::INFINITY;
    }
    let placed = |at: [Placed<'_>; 2]| {
        let between = at[owner].pose.then(&at[other].pose.inverse());
        (between.matrix(), between.position)
    };
    let end = placed(meeting.end);
    let stays = [0, 1].iter().all(|k| meeting.now[*k].pose == meeting.end[*k].pose);
    let now = if stays { end } else { placed(meeting.now) };
    let samples = &meeting.now[owner].shape.samples;
    let pose = &meeting.now[other].pose;
    let world = pose.matrix();
    // A place at the present, with the distance of the other body and its normal there.
    let mut send = |x: Vec3, (gap, normal): (f64, Vec3), end: f64| {
        let (on_owner, normal) = (world * x + pose.position, world * normal);
        let on_other = on_owner - normal * gap;
        found.push(if owner == 0 {
            Touch { on_a: on_owner, on_b: on_other, normal, gap, end }
        } else {
            Touch { on_a: on_other, on_b: on_owner, normal: -normal, gap, end }
        });
    };
    let present = |local: Vec3| now.0 * local + now.1;
    // Place, distance and slope of vertices at the end of the step; those of edges are asked for several times.
    slopes.clear(if side.edges.is_empty() { 0 } else { samples.vertices.len() });
    let mut vertex = |v: u32| {
        let look = || {
            let x = end.0 * samples.vertices[v as usize] + end.1;
            let (phi, slope) = field.rise(x);
            (x, phi, slope)
        };
        if side.edges.is_empty() { look() } else { slopes.get(v, look) }
    };
    // What was too far to come close enough meanwhile need not be looked up.
    let (slope, sought) = (meeting.now[other].shape.slope, meeting.sought);
    let may_meet = |c: &&Candidate| slope.at_least(c.1.into(), way) <= sought;
    close.clear();
    close.extend(side.vertices.iter().filter(may_meet).map(|c| (c.0, f32::NEG_INFINITY)));
    // Where there are edges, their ends are looked up all the same.
    if side.edges.is_empty() {
        sharpen(close, field, meeting.now[owner].shape, end);
    }
    for (v, _) in close.iter().filter(|c| f64::from(c.1) <= sought) {
        let (x, phi, slope) = vertex(*v);
        nearest = nearest.min(phi);
        if phi <= sought {
            if stays {
                send(x, (phi, field.outward(slope)), phi);
            } else {
                let x = present(samples.vertices[*v as usize]);
                send(x, field.sample(x), phi);
            }
        }
    }
    for (e, _) in side.edges.iter().filter(may_meet) {
        let edge = samples.edges[*e as usize];
        let ends = edge.map(&mut vertex);
        nearest = nearest.min(ends[0].1).min(ends[1].1);
        if let Some((phi, part)) = deepest(field, ends, sought) {
            let [p, q] = edge.map(|v| samples.vertices[v as usize]);
            let x = present(p.lerp(q, part));
            send(x, field.sample(x), phi);
        }
    }
    if !found.is_empty() || nearest <= apart {
        return f64::NEG_INFINITY;
    }
    // The nearest of all; what cannot be nearer than the nearest so far is not looked at.
    for (v, bound) in close.iter() {
        if f64::from(*bound) < nearest {
            nearest = nearest.min(vertex(*v).1);
        }
    }
    for (v, bound) in side.vertices.iter().filter(|c| !may_meet(c)) {
        if slope.at_least(f64::from(*bound), way) < nearest {
            nearest = nearest.min(vertex(*v).1);
        }
    }
    for (e, bound) in side.edges {
        if slope.at_least(f64::from(*bound), way) < nearest {
            let [(p, at_p, _), (q, at_q, _)] = samples.edges[*e as usize].map(&mut vertex);
            let part = Part { ends: [0.0, 1.0], phi: [at_p, at_q], length: samples.lengths[*e as usize] };
            let edge = least(&|t| field.phi(p.lerp(q, t)), part, (&slope, nearest), HALVINGS);
            nearest = nearest.min(edge);
        }
    }
    nearest
}

/// Tells for vertices of a shape, placed in the frame of a sampled distance, what that is not below. Most that once were close
/// are not any more, and a bound costs a fraction of the distance and its slope.
fn sharpen(vertices: &mut [Candidate], field: &Field, shape: &Geometry, (turn, shift): (Mat3, Vec3)) {
    let Field::Grid(grid) = field else { return };
    let place = Placement::new(&turn, shift);
    let rounding = f32x4::splat((ROUNDING * (shape.radius + shift.length())) as f32);
    for four in vertices.chunks_mut(4) {
        let of = from_fn(|k| four[k.min(four.len() - 1)].0);
        let bounds = grid.floors.at_four(&place.of_four(&shape.samples.points.four(of))) - rounding;
        four.iter_mut().zip(bounds.to_array()).for_each(|(c, bound)| c.1 = bound);
    }
}

/// Depth of the deepest point inside an edge and where along it that is, if deeper than both ends and within `reach`.
/// Ends come with their distance and its slope.
fn deepest(
    field: &Field,
    [(p, start, n_p), (q, end, n_q)]: [(Vec3, f64, Vec3); 2],
    reach: f64,
) -> Option<(f64, f64)> {
    // The deepest point is inside where φ falls at the start and rises at the end.
    let way = q - p;
    let [fall, rise] = [n_p.dot(way), n_q.dot(way)];
    if fall >= 0.0 || rise <= 0.0 {
        return None;
    }
    // Where the surface is convex φ is above its tangents.
    if (end * fall - start * rise - fall * rise) / (fall - rise) > reach {
        return None;
    }
    let length = way.length();
    let d = way / length;
    let mut lo = (0.0, start, fall / length);
    let mut hi = (length, end, rise / length);
    let mut best: Option<(f64, f64)> = None;
    for look in 0..LOOKS {
        // Where the tangents at both ends of the bracket meet, φ is not lower if it is convex.
        let meet = (hi.1 - lo.1 - hi.2 * hi.0 + lo.2 * lo.0) / (lo.2 - hi.2);
        let floor = lo.1 + lo.2 * (meet - lo.0);
        if best.is_some_and(|b| b.0 - floor <= SHARPNESS * length) {
            break;
        }
        // That is the place on flat facets; on curved ones it is where the slope vanishes.
        let level = lo.0 - lo.2 * (hi.0 - lo.0) / (hi.2 - lo.2);
        let short = 0.05 * (hi.0 - lo.0);
        let t = if look % 2 == 0 { meet } else { level }.clamp(lo.0 + short, hi.0 - short);
        let (phi, n) = field.rise(p + d * t);
        if best.is_none_or(|b| phi < b.0) {
            best = Some((phi, t / length));
        }
        let slope = n.dot(d);
        if slope < 0.0 {
            lo = (t, phi, slope);
        } else {
            hi = (t, phi, slope);
        }
    }
    let margin = 1e-3 * length;
    best.filter(|b| b.0 <= reach && b.0 < start.min(end) - 1e-4 * margin)
}

/// Most looks at φ along an edge.
const LOOKS: u32 = 12;
/// How sharply the deepest point of an edge is told, as a part of its length.
const SHARPNESS: f64 = 3e-4;

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
    use billow_geom::shapes::{cylinder, torus};
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

    /// Bounds that are sharper than those remembered, and below the distance all the same.
    #[test]
    fn vertices_that_came_close_are_not_nearer_than_their_sharpened_bounds() {
        let bone = billow_geom::shapes::Bone { segments: 24, bands: 9, ..Default::default() };
        let bone = Geometry::solid(&bone.mesh().unwrap(), &Settings::default()).unwrap();
        let field = bone.field.as_ref().unwrap();
        let (mut all, mut sharp) = (0, 0);
        for i in 0..60 {
            let mut draw = Stream::new(19, 3).at(i);
            let rotation = Quat::from_scaled_axis(draw.unit_vector() * draw.range(0.0, 3.0));
            let between = Pose { position: draw.unit_vector() * draw.range(0.1, 0.4), rotation };
            // All vertices but the first, so that they do not come in fours.
            let mut close: Vec<Candidate> =
                (1..bone.samples.vertices.len() as u32).map(|v| (v, f32::NEG_INFINITY)).collect();
            sharpen(&mut close, field, &bone, (between.matrix(), between.position));
            for (v, bound) in close {
                let phi = bone.phi(between.point(bone.samples.vertices[v as usize]));
                assert!(f64::from(bound) <= phi, "{v} of {i}: {bound} m, {phi} m");
                all += 1;
                sharp += u32::from(f64::from(bound) > phi - 0.01);
            }
        }
        assert!(10 * sharp > 8 * all, "{sharp} of {all}");
    }

    /// Edges of rings that lie across facets of a pole, all of which are nearly as deep, and the other way round.
    #[test]
    fn the_deepest_point_of_an_edge_is_the_deepest() {
        let pole = Geometry::solid(&cylinder(0.1, 3.0, 22, 19, true).unwrap(), &Settings::default()).unwrap();
        let ring = Geometry::solid(&torus(0.3, 0.1, 16, 10).unwrap(), &Settings::default()).unwrap();
        let (mut convex, mut errors) = (0.0f64, Vec::new());
        for i in 0..400 {
            let mut draw = Stream::new(9, 3).at(i);
            let rotation = Quat::from_scaled_axis(draw.unit_vector() * draw.range(0.0, 3.0));
            let between = Pose { position: draw.unit_vector() * draw.range(0.1, 0.5), rotation };
            for [owner, other] in [[&ring, &pole], [&pole, &ring]] {
                let between = if std::ptr::eq(owner, &pole) { between.inverse() } else { between };
                let field = other.field.as_ref().unwrap();
                for edge in &owner.samples.edges {
                    let [p, q] = edge.map(|v| between.point(owner.samples.vertices[v as usize]));
                    let ends = [p, q].map(|x| {
                        let (phi, slope) = field.rise(x);
                        (x, phi, slope)
                    });
                    let Some((phi, _)) = deepest(field, ends, 2e-3).filter(|d| d.0 > -0.02) else { continue };
                    let truth = (0..=400).map(|k| field.phi(p.lerp(q, f64::from(k) / 400.0)));
                    let error = phi - truth.fold(f64::INFINITY, f64::min);
                    if other.convex.is_some() {
                        convex = convex.max(error);
                    } else {
                        errors.push(error);
                    }
                }
            }
        }
        // Where the other body is not convex an edge may have several deepest points.
        errors.sort_by(f64::total_cmp);
        let nearly_all = errors[errors.len() * 9 / 10];
        assert!(convex < 5e-5 && nearly_all < 5e-5, "{convex} m, {nearly_all} m of {}", errors.len());
    }
}
