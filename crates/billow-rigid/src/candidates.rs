//! Which vertices and edges of two bodies are close, remembered while the two hardly move.
//!
//! A search walks both sphere trees with a radius somewhat larger than asked for. What it finds is all that can be
//! within reach until the bodies have moved, relative to each other, by the difference; distances change no
//! faster than a constant that is known for every field, so nothing is missed, and a remembered search gives the same
//! contacts as a fresh one.

use crate::field::{Field, Slope};
use crate::lasting::Since;
use crate::near::{Placed, owners};
use crate::samples::Node;
use billow_num::Vec3;

/// Extra radius of a search, in half thicknesses of the thinner body.
const SLACK: f64 = 0.2;
/// Way of a step from which extra radius does not pay, as a part of it.
const WORTH: f64 = 2.0;
/// Times an edge is halved to find whether a part of it is close.
const HALVINGS: u32 = 3;

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
    /// The pair when searched.
    since: Since,
    /// Radius of the search [m].
    radius: f64,
    pub(crate) sides: [Side; 2],
}

impl Candidates {
    /// Searches for everything of `pair` within `reach`, and more if the two move so little in a step, by `pace` [m],
    /// that it will serve again.
    pub(crate) fn search(pair: [Placed<'_>; 2], (reach, pace): (f64, f64)) -> Self {
        let slack = SLACK * pair[0].shape.depth.min(pair[1].shape.depth);
        let radius = if pace <= WORTH * slack { reach + slack } else { reach };
        let arm = pair[0].shape.radius.min(pair[1].shape.radius) + radius;
        let apart = boxes_apart(&pair);
        if apart > radius {
            let radius = apart.min(4.0 * arm);
            return Self { since: Since::new(&pair, arm + radius), radius, sides: Default::default() };
        }
        let owners = owners(&pair);
        let of = |k: usize| {
            if owners.contains(&k) {
                side([pair[k], pair[1 - k]], radius)
            } else {
                (Side::default(), f64::INFINITY)
            }
        };
        let [a, b] = [of(0), of(1)];
        // Only what is near the smaller body counts, as far as it turns.
        let radius = a.1.min(b.1).min(4.0 * arm).max(radius);
        Self { since: Since::new(&pair, arm + radius), radius, sides: [a.0, b.0] }
    }

    /// Whether everything within `reach` at the present poses is among the candidates.
    pub(crate) fn cover(&self, pair: &[Placed<'_>; 2], reach: f64) -> bool {
        let way = self.since.way(pair);
        pair.iter().all(|p| p.shape.slope.at_least(self.radius, way) >= reach)
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

/// Vertices and edges of `owner` within `radius` of `other`, and a distance [m] that nothing else comes within.
fn side([owner, other]: [Placed<'_>; 2], radius: f64) -> (Side, f64) {
    let (mut found, mut clear) = (Side::default(), f64::INFINITY);
    let Some(field) = &other.shape.field else { return (found, clear) };
    let slope = other.shape.slope;
    let between = owner.pose.then(&other.pose.inverse());
    let (turn, shift) = (between.matrix(), between.position);
    let samples = &owner.shape.samples;
    let keep = |node: &Node| {
        let bound = slope.at_least(field.floor(turn * node.centre + shift), node.radius);
        if bound > radius {
            clear = clear.min(bound);
        }
        bound <= radius
    };
    let mut spare = f64::INFINITY;
    let place = |v: u32| turn * samples.vertices[v as usize] + shift;
    samples.visit(keep, |leaf| {
        for v in leaf.vertices.clone() {
            let x = place(v);
            let floor = field.floor(x);
            let phi = if floor > radius { floor } else { field.phi(x) };
            if phi <= radius {
                found.vertices.push(v);
            } else {
                spare = spare.min(phi);
            }
        }
        for e in leaf.edges.clone() {
            let [p, q] = samples.edges[e as usize].map(place);
            let least = least(field, (0.5 * (p + q), 0.5 * (q - p)), (&slope, radius), HALVINGS);
            if least <= radius {
                found.edges.push(e);
            } else {
                spare = spare.min(least);
            }
        }
    });
    (found, clear.min(spare))
}

/// A lower bound of φ on the edge from `middle − half` to `middle + half`; sharp enough to compare with the radius.
fn least(field: &Field, (middle, half): (Vec3, Vec3), (slope, radius): (&Slope, f64), halvings: u32) -> f64 {
    let length = half.length();
    let rough = slope.at_least(field.floor(middle), length);
    if rough > radius {
        return rough;
    }
    let phi = field.phi(middle);
    let bound = slope.at_least(phi, length);
    if bound > radius || phi <= radius || halvings == 0 {
        return bound;
    }
    let half = 0.5 * half;
    let first = least(field, (middle - half, half), (slope, radius), halvings - 1);
    if first > radius {
        first.min(least(field, (middle + half, half), (slope, radius), halvings - 1))
    } else {
        first
    }
}
