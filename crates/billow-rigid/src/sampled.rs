//! Samples of one body in the distance of another: vertices, and the deepest points of edges ([Gue06] 2.4).
//!
//! Of the candidates that a search told, most are out of reach where the bodies are now. What was too far to have come close
//! is left out first, then what a cheap bound rules out; only what is left is looked up in the distance itself.

use crate::candidates::{Candidate, HALVINGS, Part, Side, least};
use crate::contact::Touch;
use crate::field::Field;
use crate::geometry::Geometry;
use crate::lanes::{Placement, ROUNDING};
use crate::near::{Meeting, Placed, Scratch};
use crate::samples::Samples;
use crate::slope::Slope;
use billow_num::{Mat3, Vec3};
use std::array::from_fn;
use wide::f32x4;

/// Adds the candidates of body `owner` of the two, searched for before they moved by `way`, that meet the other one. Tells
/// a distance [m] that none of them is within: at most `nearest`, and sharp only if that and they are beyond `apart`.
pub(crate) fn samples_of(
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
    let mut vertices = Vertices::new((samples, end), field, (slopes, !side.edges.is_empty()));
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
        let (x, phi, slope) = vertices.at(*v);
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
        let ends = edge.map(|v| vertices.at(v));
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
    let far = |c: &&Candidate| !may_meet(c);
    let bounded = |c: &Candidate| (c.0, slope.at_least(c.1.into(), way));
    let close = close.iter().map(|c| (c.0, f64::from(c.1)));
    let bounds = close.chain(side.vertices.iter().filter(far).map(bounded));
    nearest_of(&mut vertices, (bounds, side.edges.iter().map(bounded)), &slope, nearest)
}

/// The distance of the nearest of all vertices and edges, which come with bounds of theirs, and `nearest` [m]. What cannot be
/// nearer than the nearest so far is not looked at.
fn nearest_of(
    vertices: &mut Vertices<'_>,
    (points, edges): (impl Iterator<Item = (u32, f64)>, impl Iterator<Item = (u32, f64)>),
    slope: &Slope,
    mut nearest: f64,
) -> f64 {
    for (v, bound) in points {
        if bound < nearest {
            nearest = nearest.min(vertices.at(v).1);
        }
    }
    let (samples, field) = (vertices.samples, vertices.field);
    for (e, bound) in edges {
        if bound < nearest {
            let [(p, at_p, _), (q, at_q, _)] = samples.edges[e as usize].map(|v| vertices.at(v));
            let part = Part { ends: [0.0, 1.0], phi: [at_p, at_q], length: samples.lengths[e as usize] };
            let edge = least(&|t| field.phi(p.lerp(q, t)), part, (slope, nearest), HALVINGS);
            nearest = nearest.min(edge);
        }
    }
    nearest
}

/// Vertices in the frame of a distance.
struct Vertices<'a> {
    samples: &'a Samples,
    placed: (Mat3, Vec3),
    field: &'a Field,
    /// What was looked up already; only ends of edges are asked for several times.
    known: Option<&'a mut Once<(Vec3, f64, Vec3)>>,
}

impl<'a> Vertices<'a> {
    fn new(
        (samples, placed): (&'a Samples, (Mat3, Vec3)),
        field: &'a Field,
        (known, edges): (&'a mut Once<(Vec3, f64, Vec3)>, bool),
    ) -> Self {
        if edges {
            known.clear(samples.vertices.len());
        }
        Self { samples, placed, field, known: edges.then_some(known) }
    }

    /// Place, distance and slope of a vertex.
    #[inline]
    fn at(&mut self, v: u32) -> (Vec3, f64, Vec3) {
        let look = || {
            let x = self.placed.0 * self.samples.vertices[v as usize] + self.placed.1;
            let (phi, slope) = self.field.rise(x);
            (x, phi, slope)
        };
        match &mut self.known {
            Some(known) => known.get(v, look),
            None => look(),
        }
    }
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

/// Values of vertices, each computed once per use.
#[derive(Debug, Default)]
pub(crate) struct Once<T> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use billow_geom::shapes::{cylinder, torus};
    use billow_num::rng::Stream;
    use billow_num::{Pose, Quat};

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
