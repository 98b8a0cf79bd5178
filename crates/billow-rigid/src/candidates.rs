//! Which vertices and edges of two bodies are close, remembered while the two hardly move.
//!
//! A search walks both sphere trees with a radius somewhat larger than asked for. What it finds is all that can be
//! within reach until the bodies have moved, relative to each other, by the difference; distances change no
//! faster than a constant that is known for every field, so nothing is missed, and a remembered search gives the same
//! contacts as a fresh one.

use crate::field::Field;
use crate::floors::Floors;
use crate::lanes::{Four, Placement, ROUNDING};
use crate::near::{Placed, owners};
use crate::since::{Moved, Since};
use crate::slope::Slope;
use crate::spheres::Spheres4;
use billow_num::Vec3;
use std::array::from_fn;
use std::ops::Range;
use wide::f32x4;

/// Extra radius of a search, in half thicknesses of the thinner body.
const SLACK: f64 = 0.2;
/// How much farther than the radius parts of two bodies are that may move farther than what is close, in the same unit.
const ROOM: f64 = 0.5;
/// Way of a step from which extra radius does not pay, as a part of it.
const WORTH: f64 = 2.0;
/// Times an edge is halved to find whether a part of it is close.
pub(crate) const HALVINGS: u32 = 2;

/// A vertex or an edge, and a distance [m] that it was not within when searched.
pub(crate) type Candidate = (u32, f32);

/// What of one body is close to the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side<'a> {
    pub(crate) vertices: &'a [Candidate],
    pub(crate) edges: &'a [Candidate],
}

impl Side<'_> {
    /// Whether nothing is close.
    pub(crate) fn is_empty(&self) -> bool {
        self.vertices.is_empty() && self.edges.is_empty()
    }
}

/// What of two bodies is close.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Candidates {
    /// The pair when searched.
    since: Since,
    /// Radius of the search [m].
    radius: f64,
    /// Distance that no candidate was within when searched, at most the radius [m].
    nearest: f64,
    /// Vertices and edges of the first body, then of the second: in one place, because memory is what looking waits for.
    list: Box<[Candidate]>,
    /// Where the first three of them end.
    ends: [usize; 3],
}

impl Candidates {
    /// Searches for everything of `pair` within `reach`, and more if the two move so little in a step, by `pace` [m],
    /// that it will serve again.
    pub(crate) fn search(pair: [Placed<'_>; 2], (reach, pace): (f64, f64), bounds: &mut Bounds) -> Self {
        let depth = pair[0].shape.depth.min(pair[1].shape.depth);
        let (slack, room) = (SLACK * depth, ROOM * depth);
        let radius = if pace <= WORTH * slack { reach + slack } else { reach };
        let arm = pair[0].shape.radius.min(pair[1].shape.radius) + radius;
        let apart = boxes_apart(&pair);
        if apart > radius {
            let radius = apart.min(4.0 * arm);
            let since = Since::new(&pair, radius + room);
            return Self { since, radius, nearest: radius, list: Box::default(), ends: [0; 3] };
        }
        bounds.list.clear();
        let (mut ends, mut clear) = ([0; 4], f64::INFINITY);
        let owners = owners(&pair);
        for k in 0..2 {
            ends[2 * k] = bounds.list.len();
            if owners.contains(&k) {
                let (end, beyond) = side([pair[k], pair[1 - k]], radius, bounds);
                (ends[2 * k], clear) = (end, clear.min(beyond));
            }
            ends[2 * k + 1] = bounds.list.len();
        }
        // Only what is near the smaller body counts, as far as it turns.
        let radius = clear.min(4.0 * arm).max(radius);
        let least = bounds.list.iter().map(|c| c.1).fold(f32::INFINITY, f32::min);
        Self {
            since: Since::new(&pair, radius + room),
            radius,
            nearest: radius.min(least.into()),
            list: bounds.list.as_slice().into(),
            ends: [ends[0], ends[1], ends[2]],
        }
    }

    /// What of one of the two is close to the other.
    pub(crate) fn side(&self, of: usize) -> Side<'_> {
        let [a, b, c] = self.ends;
        let (start, middle, end) = if of == 0 { (0, a, b) } else { (b, c, self.list.len()) };
        Side { vertices: &self.list[start..middle], edges: &self.list[middle..end] }
    }

    /// How much farther the two, which have `moved` since, may move past each other before anything may be within
    /// `reach` [m].
    pub(crate) fn room(&self, pair: &[Placed<'_>; 2], moved: &Moved, reach: f64) -> f64 {
        let room = |p: &Placed<'_>| p.shape.slope.room(self.nearest, reach) - moved.way;
        pair.iter().map(room).fold(moved.room(reach), f64::min)
    }

    /// The same if no candidate is within `nearest` [m] now.
    pub(crate) fn room_from(&self, nearest: f64, pair: &[Placed<'_>; 2], moved: &Moved, reach: f64) -> f64 {
        let room = |p: &Placed<'_>| {
            let slope = &p.shape.slope;
            slope.room(nearest.min(slope.at_least(self.radius, moved.way)), reach)
        };
        pair.iter().map(room).fold(moved.room(reach), f64::min)
    }

    /// How far the two have moved since, if everything within `reach` [m] at the present poses is among the candidates.
    #[inline]
    pub(crate) fn cover(&self, pair: &[Placed<'_>; 2], reach: f64) -> Option<Moved> {
        let moved = self.since.moved(pair);
        let listed = |p: &Placed<'_>| p.shape.slope.at_least(self.radius, moved.way) >= reach;
        (moved.room(reach) >= 0.0 && pair.iter().all(listed)).then_some(moved)
    }

    /// The two where they were searched.
    pub(crate) fn unmoved(&self) -> Moved {
        self.since.unmoved()
    }
}

/// A lower bound of the distance of the boxes of two bodies: the widest gap along a face's normal or across two edges.
fn boxes_apart(pair: &[Placed<'_>; 2]) -> f64 {
    let [a, b] = pair;
    let between = b.pose.then(&a.pose.inverse());
    let turn = between.matrix();
    let [ha, hb] = [a, b].map(|p| 0.5 * p.shape.bounds.size());
    let shift = between.point(b.shape.bounds.centre()) - a.shape.bounds.centre();
    let axes = [turn.x_axis, turn.y_axis, turn.z_axis];
    let extent = |n: Vec3| {
        ha.dot(n.abs())
            + hb.x * n.dot(axes[0]).abs()
            + hb.y * n.dot(axes[1]).abs()
            + hb.z * n.dot(axes[2]).abs()
    };
    let gap = |n: Vec3| shift.dot(n).abs() - extent(n);
    let mut apart = f64::NEG_INFINITY;
    for n in [Vec3::X, Vec3::Y, Vec3::Z, axes[0], axes[1], axes[2]] {
        apart = apart.max(gap(n));
    }
    for e in axes {
        for n in [Vec3::new(0.0, -e.z, e.y), Vec3::new(e.z, 0.0, -e.x), Vec3::new(-e.y, e.x, 0.0)] {
            let length = n.length();
            if length > 0.1 {
                apart = apart.max(gap(n) / length);
            }
        }
    }
    apart
}

/// Scratch of a search.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    /// Distances of vertices, or lower bounds of them [m]; more than there are vertices.
    phi: Vec<f32>,
    /// Edges of the leaves that are close.
    edges: Vec<Range<u32>>,
    /// Edges of which their ends do not tell enough, and what they tell [m].
    rough: Vec<(u32, f64)>,
    /// What was found so far.
    list: Vec<Candidate>,
}

/// Lists vertices, then edges, of the first body within `radius` of the second. Tells where edges begin and a distance [m]
/// that nothing else comes within.
fn side(pair: [Placed<'_>; 2], radius: f64, bounds: &mut Bounds) -> (usize, f64) {
    match &pair[1].shape.field {
        None => (bounds.list.len(), f64::INFINITY),
        Some(Field::Grid(grid)) => side_in(pair, &grid.floors, radius, bounds),
        Some(field) => side_in(pair, field, radius, bounds),
    }
}

/// Lower bounds of a distance [m] at four points.
trait Bound {
    fn at_four(&self, x: &Four) -> f32x4;
}

impl Bound for Floors {
    #[inline(always)]
    fn at_four(&self, x: &Four) -> f32x4 {
        Floors::at_four(self, x)
    }
}

impl Bound for Field {
    fn at_four(&self, x: &Four) -> f32x4 {
        let [x, y, z] = x.map(|axis| axis.to_array().map(f64::from));
        f32x4::new(from_fn(|k| self.phi(Vec3::new(x[k], y[k], z[k])) as f32))
    }
}

/// The same with a lower bound of the other's distance.
fn side_in(
    [owner, other]: [Placed<'_>; 2],
    phi: &impl Bound,
    radius: f64,
    bounds: &mut Bounds,
) -> (usize, f64) {
    let (slope, samples) = (other.shape.slope, &owner.shape.samples);
    let between = owner.pose.then(&other.pose.inverse());
    let place = Placement::new(&between.matrix(), between.position);
    let rounding = ROUNDING * (owner.shape.radius + between.position.length());
    let radius = radius + rounding;
    let (near, infinite) = ((radius as f32).next_up(), f32x4::splat(f32::INFINITY));
    // Distances of the vertices of close leaves, bounds for all others.
    let Bounds { phi: known, edges, rough, list } = bounds;
    edges.clear();
    known.resize(known.len().max(samples.vertices.len() + 3), 0.0);
    let (mut clear, mut pruned, edged) = (infinite, f32::INFINITY, !samples.edges.is_empty());
    let bound =
        |four: &Spheres4| phi.at_four(&place.of_four(&four.centres)) - slope.change_of_four(four.radii);
    samples.spheres.visit(bound, |node, bound| {
        if bound > near {
            pruned = pruned.min(bound);
            if edged {
                known[node.vertices.start as usize..node.vertices.end as usize].fill(bound);
            }
            return false;
        }
        if node.is_leaf() {
            for first in node.vertices.clone().step_by(4) {
                let from = first as usize;
                let phi = phi.at_four(&place.of_four(&samples.points.four_from(from)));
                // What follows the leaf is looked at as well, and counts when its own leaf comes.
                if edged {
                    known[from..from + 4].copy_from_slice(phi.as_array());
                }
                let listed = phi.simd_le(f32x4::splat(near));
                clear = clear.fast_min(listed.select(infinite, phi));
                let mut left = listed.to_bitmask() & ((1 << (node.vertices.end - first).min(4)) - 1);
                while left != 0 {
                    let k = left.trailing_zeros();
                    list.push((first + k, below(f64::from(phi.as_array()[k as usize]) - rounding)));
                    left &= left - 1;
                }
            }
            if !node.edges.is_empty() {
                edges.push(node.edges.clone());
            }
        }
        true
    });
    // Edges: what their ends tell is enough for most.
    let middle = list.len();
    let mut clear = f64::from(clear.to_array().into_iter().fold(pruned, f32::min));
    let told = |ends: [u32; 2]| ends.map(|v| f64::from(known[v as usize]));
    rough.clear();
    for e in edges.iter().cloned().flatten() {
        let bound = slope.between(told(samples.edges[e as usize]), samples.lengths[e as usize]);
        if bound < clear {
            rough.push((e, bound));
        }
    }
    // The others are looked at more closely, four at a time.
    for some in rough.chunks(4) {
        let four: [(u32, f64); 4] = from_fn(|k| some[k.min(some.len() - 1)]);
        let ends = four.map(|(e, _)| samples.edges[e as usize]);
        let at = |end: usize| place.of_four(&samples.points.four(ends.map(|both| both[end])));
        let part = |k: usize| Part {
            ends: [0.0, 1.0],
            phi: told(ends[k]),
            length: samples.lengths[four[k].0 as usize],
        };
        let parts = from_fn(|k| (part(k), four[k].1));
        let bounds = least_of_four(phi, [at(0), at(1)], &parts, (&slope, clear));
        for ((e, _), least) in some.iter().zip(bounds) {
            if least <= radius {
                list.push((*e, below(least - rounding)));
            } else {
                clear = clear.min(least);
            }
        }
    }
    (middle, clear - rounding)
}

/// A number in single precision that is not larger.
fn below(x: f64) -> f32 {
    (x as f32).next_down()
}

/// A part of an edge: where along the edge its ends are, lower bounds of φ there, and its length.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    pub(crate) ends: [f64; 2],
    pub(crate) phi: [f64; 2],
    pub(crate) length: f64,
}

/// A lower bound of φ on a part of an edge, given a lower bound along it: at least `enough`, or as sharp as a few halvings
/// make it.
#[inline]
pub(crate) fn least(
    along: &impl Fn(f64) -> f64,
    part: Part,
    (slope, enough): (&Slope, f64),
    halvings: u32,
) -> f64 {
    let bound = slope.between(part.phi, part.length);
    if bound >= enough { bound } else { sharper(along, (part, bound), (slope, enough), halvings) }
}

/// The same for a part of which a bound is known that is not enough.
pub(crate) fn sharper(
    along: &impl Fn(f64) -> f64,
    (part, bound): (Part, f64),
    (slope, enough): (&Slope, f64),
    halvings: u32,
) -> f64 {
    if halvings == 0 {
        return bound;
    }
    let Part { ends: [p, q], phi: [at_p, at_q], length } = part;
    let middle = 0.5 * (p + q);
    let here = along(middle);
    let half = |ends, phi| Part { ends, phi, length: 0.5 * length };
    let first = least(along, half([p, middle], [at_p, here]), (slope, enough), halvings - 1);
    let second = least(along, half([middle, q], [here, at_q]), (slope, enough), halvings - 1);
    first.min(second).max(bound)
}

/// The same with two halvings for four edges that lead from one place to another, given a bound of each that is not enough.
#[inline(always)]
fn least_of_four(
    phi: &impl Bound,
    [p, q]: [Four; 2],
    edges: &[(Part, f64); 4],
    (slope, enough): (&Slope, f64),
) -> [f64; 4] {
    let at = |t: f32| {
        let x = from_fn(|d| p[d] + f32x4::splat(t) * (q[d] - p[d]));
        phi.at_four(&x).to_array().map(f64::from)
    };
    let middle = at(0.5);
    let mut halves = [f64::INFINITY; 4];
    for (side, quarter) in [0.25, 0.75].into_iter().enumerate() {
        let ends = |k: usize| {
            let told = edges[k].0.phi;
            if side == 0 { [told[0], middle[k]] } else { [middle[k], told[1]] }
        };
        let mut bounds: [f64; 4] = from_fn(|k| slope.between(ends(k), 0.5 * edges[k].0.length));
        if bounds.iter().any(|b| *b < enough) {
            let here = at(quarter);
            bounds = from_fn(|k| {
                if bounds[k] >= enough {
                    return bounds[k];
                }
                let ([start, end], length) = (ends(k), 0.25 * edges[k].0.length);
                let quarters = [[start, here[k]], [here[k], end]].map(|ends| slope.between(ends, length));
                quarters[0].min(quarters[1]).max(bounds[k])
            });
        }
        halves = from_fn(|k| halves[k].min(bounds[k]));
    }
    from_fn(|k| halves[k].max(edges[k].1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{Points, point};
    use crate::{Geometry, Settings};
    use billow_geom::shapes::torus;
    use billow_num::rng::Stream;
    use billow_num::{Pose, Quat};

    /// Distance asked for [m].
    const REACH: f64 = 4e-3;

    #[test]
    fn nothing_within_the_radius_is_missed_and_little_else_is_found() {
        let ring = Geometry::solid(&torus(0.3, 0.1, 16, 10).unwrap(), &Settings::default()).unwrap();
        let (mut bounds, mut close, mut listed) = (Bounds::default(), 0, 0);
        for i in 0..400 {
            let mut draw = Stream::new(6, 2).at(i);
            let rotation = Quat::from_scaled_axis(draw.unit_vector() * draw.range(0.0, 3.0));
            let pose = Pose { position: draw.unit_vector() * draw.range(0.2, 0.8), rotation };
            let pair = [pose, Pose::IDENTITY].map(|pose| Placed { shape: &ring, pose });
            let found = Candidates::search(pair, (REACH, 1e-3), &mut bounds);
            // Far from the surface φ is below the distance that boxes tell.
            let radius = if boxes_apart(&pair) > 0.0 { REACH } else { found.radius };
            for (k, side) in [0, 1].map(|k| found.side(k)).into_iter().enumerate() {
                let between = pair[k].pose.then(&pair[1 - k].pose.inverse());
                let samples = &ring.samples;
                let phi = |v: u32| ring.phi(between.point(samples.vertices[v as usize]));
                let along = |[p, q]: [u32; 2], part: f64| {
                    let [p, q] = [p, q].map(|v| between.point(samples.vertices[v as usize]));
                    ring.phi(p.lerp(q, part))
                };
                for v in 0..samples.vertices.len() as u32 {
                    let in_list = side.vertices.iter().any(|c| c.0 == v && phi(v) >= c.1.into());
                    assert!(in_list || phi(v) >= radius, "vertex {v} of {i}: {}", phi(v));
                }
                for (e, ends) in samples.edges.iter().enumerate() {
                    let least =
                        (0..=32).map(|t| along(*ends, f64::from(t) / 32.0)).fold(f64::INFINITY, f64::min);
                    let in_list = side.edges.iter().any(|c| c.0 == e as u32 && least >= c.1.into());
                    assert!(in_list || least >= radius, "edge {e} of {i}: {least}");
                    close += usize::from(least <= radius);
                    listed += usize::from(in_list);
                }
            }
        }
        assert!(close > 1000 && listed < 2 * close, "{listed} listed, {close} close");
    }

    #[test]
    fn four_edges_are_told_what_each_is_told_alone() {
        let ring = Geometry::solid(&torus(0.3, 0.1, 16, 10).unwrap(), &Settings::default()).unwrap();
        let Some(Field::Grid(grid)) = &ring.field else { panic!("a ring is sampled uniformly") };
        let (floors, slope) = (&grid.floors, &ring.slope);
        let mut seen = [0; 2];
        for i in 0..2000 {
            let mut draw = Stream::new(6, 3).at(i);
            let ends: [[Vec3; 2]; 4] = from_fn(|_| {
                let from = draw.unit_vector() * draw.range(0.1, 0.6);
                [from, from + draw.unit_vector() * draw.range(0.0, 0.2)]
            });
            let enough = draw.range(0.0, 0.2);
            let part = |[p, q]: [Vec3; 2]| {
                let phi = [p, q].map(|x| f64::from(floors.at(&point(x))));
                Part { ends: [0.0, 1.0], phi, length: p.distance(q) }
            };
            let edges = ends.map(|e| (part(e), slope.between(part(e).phi, part(e).length)));
            let at = |end: usize| Points::new(&ends.map(|both| both[end])).four_from(0);
            let four = least_of_four(floors, [at(0), at(1)], &edges, (slope, enough));
            for k in 0..4 {
                let [p, q] = ends[k].map(point);
                let along = |t: f64| floors.at(&from_fn(|d| p[d] + t as f32 * (q[d] - p[d]))).into();
                let one = sharper(&along, edges[k], (slope, enough), HALVINGS);
                assert_eq!(four[k].to_bits(), one.to_bits(), "{} {one}", four[k]);
                seen[usize::from(one > edges[k].1)] += 1;
            }
        }
        assert!(seen.iter().all(|n| *n > 500), "{seen:?}");
    }
}
