//! Which vertices and edges of two bodies are close, remembered while the two hardly move.
//!
//! A search walks both sphere trees with a radius somewhat larger than asked for. What it finds is all that can be
//! within reach until the bodies have moved, relative to each other, by the difference; distances change no
//! faster than a constant that is known for every field, so nothing is missed, and a remembered search gives the same
//! contacts as a fresh one.

use crate::geometry::Geometry;
use crate::near::{Once, Placed};
use crate::samples::Node;
use billow_geom::Aabb;
use billow_num::{Pose, Vec3};

/// Extra radius of a search, in half thicknesses of the thinner body.
const SLACK: f64 = 0.08;
/// Times an edge is halved to find whether a part of it is close.
const HALVINGS: u32 = 1;

/// What of one body is close to the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Side {
    pub(crate) vertices: Vec<u32>,
    pub(crate) edges: Vec<u32>,
}

impl Side {
    /// Whether nothing is close.
    pub(crate) fn is_empty(&self) -> bool {
        self.vertices.is_empty() && self.edges.is_empty()
    }
}

/// What of two bodies is close.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Candidates {
    /// Pose of the smaller body in the frame of the larger when searched.
    between: Pose,
    /// Radius of the search [m].
    radius: f64,
    /// Size of the smaller body plus the radius [m].
    arm: f64,
    pub(crate) sides: [Side; 2],
}

impl Candidates {
    /// Searches for everything of `pair` within `reach` and a little more, the more the longer the `way` of a step;
    /// `seen` is scratch.
    pub(crate) fn search(pair: [Placed<'_>; 2], (reach, way): (f64, f64), seen: &mut Once<f64>) -> Self {
        let slack = SLACK * pair[0].shape.depth.min(pair[1].shape.depth) + way;
        let radius = reach + slack;
        let arm = pair[0].shape.radius.min(pair[1].shape.radius) + radius;
        let apart = boxes_apart(&pair);
        if apart > radius {
            let radius = apart.min(4.0 * arm);
            return Self { between: relative(&pair), radius, arm: arm + radius, sides: Default::default() };
        }
        let [a, b] = [side(pair, radius, seen), side([pair[1], pair[0]], radius, seen)];
        // Only what is near the smaller body counts, as far as it turns.
        let radius = a.1.min(b.1).min(4.0 * arm).max(radius);
        Self { between: relative(&pair), radius, arm: arm + radius, sides: [a.0, b.0] }
    }

    /// Whether everything within `reach` at the present poses is among the candidates.
    pub(crate) fn cover(&self, pair: &[Placed<'_>; 2], reach: f64) -> bool {
        let now = relative(pair);
        // Half the angle of the turn has this sine; the angle is at most π times it, and close to twice if small.
        let d = now.rotation.dot(self.between.rotation);
        let sine = (1.0 - d * d).max(0.0).sqrt();
        let turn = if sine < 0.3 { 2.04 * sine } else { std::f64::consts::PI * sine };
        let way = now.position.distance(self.between.position) + turn * self.arm;
        let steep = pair[0].shape.steepness().max(pair[1].shape.steepness());
        reach + steep * way <= self.radius
    }
}

/// Pose of the smaller body in the frame of the larger.
fn relative(pair: &[Placed<'_>; 2]) -> Pose {
    let [a, b] = pair;
    let (small, large) = if a.shape.radius <= b.shape.radius { (a, b) } else { (b, a) };
    small.pose.then(&large.pose.inverse())
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

/// Vertices and edges of `owner` within `radius` of `other`, and a distance [m] that nothing else comes within.
fn side([owner, other]: [Placed<'_>; 2], radius: f64, seen: &mut Once<f64>) -> (Side, f64) {
    let (mut found, mut clear) = (Side::default(), f64::INFINITY);
    let Some(field) = &other.shape.field else { return (found, clear) };
    let steep = other.shape.steepness();
    let between = owner.pose.then(&other.pose.inverse());
    let (turn, shift) = (between.matrix(), between.position);
    let samples = &owner.shape.samples;
    let centre = between.inverse().position;
    let keep = |node: &Node| {
        let mut bound = outside(&node.bounds, centre) - other.shape.radius;
        if bound <= radius {
            bound = field.phi(turn * node.centre + shift) - steep * node.radius;
        }
        if bound > radius {
            clear = clear.min(bound);
        }
        bound <= radius
    };
    // Distances of vertices, each looked up once and only near the box.
    seen.clear(samples.vertices.len());
    let mut vertex = |v: u32| {
        let x = turn * samples.vertices[v as usize] + shift;
        let near = seen.get(v, || {
            let bound = outside(&other.shape.bounds, x);
            if bound > radius { bound } else { field.phi(x) }
        });
        (x, near)
    };
    let mut spare = f64::INFINITY;
    samples.visit(keep, |leaf| {
        for v in leaf.vertices.clone() {
            let phi = vertex(v).1;
            if phi <= radius {
                found.vertices.push(v);
            } else {
                spare = spare.min(phi);
            }
        }
        for e in leaf.edges.clone() {
            let ends = samples.edges[e as usize].map(&mut vertex);
            let least = least(&|x| field.phi(x), ends, (steep, radius), HALVINGS);
            if least <= radius {
                found.edges.push(e);
            } else {
                spare = spare.min(least);
            }
        }
    });
    (found, clear.min(spare))
}

/// Distance of a point from a box, zero inside [m].
fn outside(bounds: &Aabb, x: Vec3) -> f64 {
    (bounds.min - x).max(x - bounds.max).max(Vec3::ZERO).length()
}

/// A lower bound of φ on an edge, given by its ends and their distances; sharp enough to compare with the radius.
fn least(
    phi: &impl Fn(Vec3) -> f64,
    [p, q]: [(Vec3, f64); 2],
    (steep, radius): (f64, f64),
    halvings: u32,
) -> f64 {
    let bound = p.1.min(q.1).min(0.5 * (p.1 + q.1 - steep * p.0.distance(q.0)));
    if bound > radius || halvings == 0 || p.1.min(q.1) <= radius {
        return bound;
    }
    let x = 0.5 * (p.0 + q.0);
    let middle = (x, phi(x));
    let first = least(phi, [p, middle], (steep, radius), halvings - 1);
    if first <= radius { first } else { first.min(least(phi, [middle, q], (steep, radius), halvings - 1)) }
}

impl Geometry {
    /// Largest slope of the signed distance, at least one [-].
    pub(crate) fn steepness(&self) -> f64 {
        self.steep
    }
}
