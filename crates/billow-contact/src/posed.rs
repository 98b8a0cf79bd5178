//! Where two surfaces at given poses are near each other.
//!
//! The answer is places, not impulses: whoever asks knows how its bodies move. What near means is decided where cloth
//! decides it, by the nearest points of two elements (`pair.rs`). Of those, only local minima of the distance
//! between the surfaces are told, so that what slides over the seams of a triangulation is not caught by them.

use crate::pair::{Kind, Pair};
use crate::shape::{Element, Shape};
use billow_geom::Aabb;
use billow_num::{Pose, Vec3};

/// Slope of the distance along a surface up to which a place counts as a local minimum.
const LEVEL: f64 = 1e-3;

/// Sines, and parts of lengths, from which directions are known far better than [`LEVEL`] asks for.
const CERTAIN: f64 = 1e-6;

/// A point and a triangle, or two edges, whose corners are given along with them.
pub(crate) const POINT_FACE: Pair = Pair { kind: Kind::VertexFace, nodes: [0, 1, 2, 3] };
pub(crate) const TWO_EDGES: Pair = Pair { kind: Kind::EdgeEdge, nodes: [0, 1, 2, 3] };

/// A surface on its way through a step.
#[derive(Clone, Copy, Debug)]
pub struct Posed<'a> {
    /// What it looks like, shared by all that look the same.
    pub shape: &'a Shape,
    /// Where it is at the start of the step.
    pub now: Pose,
    /// Where it is at the end.
    pub end: Pose,
    /// Thickness: surfaces keep half of each side's apart [m].
    pub thickness: f64,
}

/// What to look for between two surfaces.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    /// Whether points of the first and of the second surface may meet faces of the other.
    pub points: [bool; 2],
    /// Whether edges may meet edges.
    pub edges: bool,
    /// Distance beyond the thickness within which elements are near [m].
    pub near: f64,
    /// How far the thickness may be entered before elements collide [m].
    pub overlap: f64,
}

/// The part of one surface at a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Foot {
    /// Which element it is on.
    pub element: Element,
    /// Weights of the element's corners, not negative, of sum one; zero for corners it does not have [-].
    pub weights: [f64; 3],
    /// Where it is at the start of the step [m].
    pub at: Vec3,
}

/// A place where two surfaces are near each other or will collide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// The points that meet, on the first and on the second surface.
    pub feet: [Foot; 2],
    /// Unit vector from the second surface to the first as they meet; zero if they touch and have none [-].
    pub normal: Vec3,
    /// Distance along the normal at the start of the step, the thickness not taken off [m].
    pub distance: f64,
    /// When, as a fraction of the step: zero for what is near already [-].
    pub when: f64,
}

/// Room for computations, to be kept between calls; it holds nothing that matters.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// Vertices of one surface in coordinates of the other.
    moved: Vec<Vec3>,
    /// Ways of the vertices of both.
    pub(crate) ways: [Vec<[Vec3; 2]>; 2],
}

/// Adds the places where two surfaces are near each other at the start of the step. Points come before edges.
///
/// A point has a place at every face within reach above which it stands, and at the nearest of all faces within reach; two
/// edges have one if they cross where no neighbouring face of either is nearer. The nearest points of two surfaces that do
/// not cross are always among them, if all elements are asked for. Returns their distance, or how far is looked [m].
pub fn proximities(pair: &[Posed<'_>; 2], ask: &Ask, scratch: &mut Scratch, out: &mut Vec<Place>) -> f64 {
    let (first, reach) = (out.len(), kept(pair) + ask.near);
    let [a, b] = pair;
    for (owner, other, k) in [(a, b, 0), (b, a, 1)] {
        if ask.points[k] || k == 1 && ask.edges {
            between(owner, other, &mut scratch.moved);
        }
        if ask.points[k] {
            points(other, k, &scratch.moved, reach, out);
        }
    }
    if ask.edges {
        edges(pair, &scratch.moved, reach, out);
    }
    out[first..].iter().map(|place| place.distance).fold(reach, f64::min)
}

/// Distance that two surfaces keep [m].
pub(crate) fn kept([a, b]: &[Posed<'_>; 2]) -> f64 {
    0.5 * (a.thickness + b.thickness)
}

/// Vertices of `owner` in the coordinates of `other` at the start of the step.
fn between(owner: &Posed<'_>, other: &Posed<'_>, moved: &mut Vec<Vec3>) {
    let between = owner.now.then(&other.now.inverse());
    let (turn, shift) = (between.matrix(), between.position);
    moved.clear();
    moved.extend(owner.shape.positions.iter().map(|x| turn * *x + shift));
}

/// Points of surface `k` of the two near faces of the `other`, in whose coordinates they are given.
fn points(other: &Posed<'_>, k: usize, moved: &[Vec3], reach: f64, out: &mut Vec<Place>) {
    let close = other.shape.bounds.inflated(reach);
    for (v, x) in moved.iter().enumerate().filter(|(_, x)| close.contains(**x)) {
        let mut send = |face: u32, foot: &Above| {
            let on = Foot {
                element: Element::Face(face),
                weights: foot.weights,
                at: other.now.point(other.shape.at(Element::Face(face), foot.weights)),
            };
            let at = other.now.point(*x);
            let point = Foot { element: Element::Point(v as u32), weights: [1.0, 0.0, 0.0], at };
            let normal = other.now.vector(foot.normal);
            let (feet, normal) = if k == 0 { ([point, on], normal) } else { ([on, point], -normal) };
            out.push(Place { feet, normal, distance: foot.distance, when: 0.0 });
        };
        above(other.shape, *x, reach, &mut send);
    }
}

/// The nearest point of a face to a point.
struct Above {
    weights: [f64; 3],
    normal: Vec3,
    distance: f64,
}

/// Calls `found` with the faces within `reach` above which `x` stands, and with the nearest of all.
fn above(shape: &Shape, x: Vec3, reach: f64, found: &mut impl FnMut(u32, &Above)) {
    let mut nearest: Option<(u32, Above)> = None;
    let mut told = false;
    shape.faces.overlapping(&[Aabb { min: x, max: x }.inflated(reach)], |t| {
        let [a, b, c] = shape.face(t);
        let corners = [x, a, b, c];
        if POINT_FACE.kept_apart((b - a).cross(c - a), &corners, &corners, reach) {
            return;
        }
        let (contact, distance) = POINT_FACE.nearest(&corners);
        if distance > reach {
            return;
        }
        let [_, a, b, c] = contact.weights.map(|w| -w);
        let foot = Above { weights: [a, b, c], normal: contact.normal, distance };
        let stands = foot.weights.iter().all(|w| *w > 0.0);
        if stands {
            found(t, &foot);
        }
        if nearest.as_ref().is_none_or(|n| foot.distance < n.1.distance) {
            (nearest, told) = (Some((t, foot)), stands);
        }
    });
    if let Some((t, foot)) = nearest.filter(|_| !told) {
        found(t, &foot);
    }
}

/// Edges that cross at a local minimum of the distance, those of the second surface given in coordinates of the first.
fn edges([a, b]: &[Posed<'_>; 2], moved: &[Vec3], reach: f64, out: &mut Vec<Place>) {
    let turn = b.now.then(&a.now.inverse()).matrix();
    let close = a.shape.bounds.inflated(reach);
    for (f, ends) in b.shape.edges.iter().enumerate() {
        let second = ends.map(|v| moved[v as usize]);
        let query = Aabb::of_points(&second).inflated(reach);
        if !close.overlaps(&query) {
            continue;
        }
        let around = b.shape.inward[f].map(|m| turn * m);
        a.shape.sides.overlapping(&[query], |e| {
            let first = a.shape.side(e);
            let Some((weights, normal, distance)) =
                crossing([first, second], (&a.shape.inward[e as usize], &around), reach)
            else {
                return;
            };
            let foot = |element, [p, q]: [Vec3; 2], s: f64| Foot {
                element,
                weights: [1.0 - s, s, 0.0],
                at: a.now.point(p.lerp(q, s)),
            };
            let feet = [
                foot(Element::Edge(e), first, weights[0]),
                foot(Element::Edge(f as u32), second, weights[1]),
            ];
            out.push(Place { feet, normal: a.now.vector(normal), distance, when: 0.0 });
        });
    }
}

/// Where along two edges, in which direction and how far apart they cross, if within `reach` and at a local minimum.
#[inline(always)]
fn crossing(
    [[p, q], [r, s]]: [[Vec3; 2]; 2],
    (into_first, into_second): (&[Vec3; 2], &[Vec3; 2]),
    reach: f64,
) -> Option<([f64; 2], Vec3, f64)> {
    let level = |normal: Vec3, slope: f64| {
        into_first.iter().all(|m| m.dot(normal) >= -slope)
            && into_second.iter().all(|m| m.dot(normal) <= slope)
    };
    // Edges that cross do so along their common perpendicular: most are told not to by that alone.
    let x = [p, q, r, s];
    let (e, f, g) = (q - p, s - r, p - r);
    let across = e.cross(f);
    if TWO_EDGES.kept_apart(across, &x, &x, reach) {
        return None;
    }
    let (size2, rise) = (across.length_squared(), across.dot(g));
    let crossed = size2 > CERTAIN * e.length_squared() * f.length_squared();
    let apart = rise * rise > CERTAIN * CERTAIN * size2 * g.length_squared();
    if crossed && apart && !level(across * rise.signum(), 2.0 * LEVEL * size2.sqrt()) {
        return None;
    }
    let (contact, distance) = TWO_EDGES.nearest(&x);
    let [a, b] = [contact.weights[1], -contact.weights[3]];
    let inner = |s: f64| s > 0.0 && s < 1.0;
    let told = distance <= reach && inner(a) && inner(b) && level(contact.normal, LEVEL);
    told.then_some(([a, b], contact.normal, distance))
}
