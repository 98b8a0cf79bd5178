//! The places where two bodies touch or are about to ([Gue06] 2.4, [Bri03] 4.4).
//!
//! Vertices of each body, and the deepest points of its sharp edges, are looked up in the signed distance of the
//! other. Balls and pairs of convex bodies are exact. Many places are thinned to a few that are deep and far
//! apart: what an impulse at the others could do, those can.

use crate::contact::{EXACT, Touch};
use crate::convex;
use crate::field::Field;
use crate::geometry::Geometry;
use crate::samples::Node;
use billow_geom::proximity::point_triangle;
use billow_num::{Pose, Vec3};

/// Most places kept for a pair of bodies.
pub(crate) const MOST: usize = 8;

/// Scratch of [`touches`].
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    found: Vec<Touch>,
    values: Vec<(f64, Vec3, Vec3)>,
}

/// A shape at a pose.
#[derive(Clone, Copy)]
pub(crate) struct Placed<'a> {
    pub(crate) shape: &'a Geometry,
    pub(crate) pose: Pose,
}

/// The places where `a` and `b` are closer than `reach` and that `keep` keeps, at most [`MOST`]; normals point from
/// `b` to `a`. `keep` may set the gap at the end of the step, by which the deepest are chosen.
pub(crate) fn touches(
    [a, b]: [Placed<'_>; 2],
    reach: f64,
    scratch: &mut Scratch,
    keep: impl FnMut(&mut Touch) -> bool,
) -> Vec<Touch> {
    let found = &mut scratch.found;
    found.clear();
    if let (Some(ca), Some(cb)) = (&a.shape.convex, &b.shape.convex) {
        convex::meet((ca, &a.pose), (cb, &b.pose), reach, found);
    } else if b.shape.ball > 0.0 {
        ball(b, a, reach, found);
        found.iter_mut().for_each(|t| {
            (t.on_a, t.on_b, t.normal) = (t.on_b, t.on_a, -t.normal);
        });
    } else if a.shape.ball > 0.0 {
        ball(a, b, reach, found);
    } else {
        sampled(a, b, reach, &mut scratch.values, |on_owner, on_field, normal, gap| {
            found.push(Touch { on_a: on_owner, on_b: on_field, normal, gap, end: gap, owner: 0 });
        });
        sampled(b, a, reach, &mut scratch.values, |on_owner, on_field, normal, gap| {
            found.push(Touch { on_a: on_field, on_b: on_owner, normal: -normal, gap, end: gap, owner: 1 });
        });
    }
    found.retain_mut(keep);
    let size = a.shape.depth.min(b.shape.depth);
    thin(found, size)
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
        out.push(Touch { on_a, on_b: on_a - normal * gap, normal, gap, end: gap, owner: EXACT });
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

/// Samples of `owner` inside `reach` of `other`: calls `emit(on owner, on other, normal towards owner, gap)` in world
/// coordinates.
fn sampled(
    owner: Placed<'_>,
    other: Placed<'_>,
    reach: f64,
    values: &mut Vec<(f64, Vec3, Vec3)>,
    mut emit: impl FnMut(Vec3, Vec3, Vec3, f64),
) {
    let Some(field) = &other.shape.field else { return };
    let between = owner.pose.then(&other.pose.inverse());
    let (turn, shift) = (between.matrix(), between.position);
    let samples = &owner.shape.samples;
    let inside = other.shape.bounds.inflated(reach);
    let world = other.pose.matrix();
    let mut send = |x: Vec3, phi: f64, n: Vec3| {
        let (on_owner, normal) = (world * x + other.pose.position, world * n);
        emit(on_owner, on_owner - normal * phi, normal, phi);
    };
    let keep = |node: &Node| {
        let centre = turn * node.centre + shift;
        inside.inflated(node.radius).contains(centre) && field.phi(centre) <= node.radius + reach
    };
    samples.visit(keep, |leaf| {
        values.clear();
        for v in leaf.vertices.clone() {
            let x = turn * samples.vertices[v as usize] + shift;
            let (phi, n) = field.sample(x);
            values.push((phi, n, x));
            if phi <= reach {
                send(x, phi, n);
            }
        }
        for e in leaf.edges.clone() {
            let [p, q] = samples.edges[e as usize];
            let start = values[(p - leaf.vertices.start) as usize];
            let end = if leaf.vertices.contains(&q) {
                values[(q - leaf.vertices.start) as usize]
            } else {
                let x = turn * samples.vertices[q as usize] + shift;
                let (phi, n) = field.sample(x);
                (phi, n, x)
            };
            if let Some((phi, n, x)) = deepest(field, start, end, reach) {
                send(x, phi, n);
            }
        }
    });
}

/// The deepest point inside an edge, if it is deeper than both ends and within `reach`.
fn deepest(
    field: &Field,
    start: (f64, Vec3, Vec3),
    end: (f64, Vec3, Vec3),
    reach: f64,
) -> Option<(f64, Vec3, Vec3)> {
    let along = end.2 - start.2;
    let length = along.length();
    // Distances change no faster than places.
    if start.0 + end.0 - length > 2.0 * reach {
        return None;
    }
    let d = along / length;
    // The deepest point is inside where φ falls at the start and rises at the end.
    let (mut lo, mut hi) = ((0.0, start.0, start.1.dot(d)), (length, end.0, end.1.dot(d)));
    if lo.2 >= 0.0 || hi.2 <= 0.0 {
        return None;
    }
    let mut best: Option<(f64, Vec3, Vec3)> = None;
    for _ in 0..4 {
        // Where the tangents at both ends of the bracket meet.
        let t = ((hi.1 - lo.1 - hi.2 * hi.0 + lo.2 * lo.0) / (lo.2 - hi.2))
            .clamp(lo.0 + 0.05 * (hi.0 - lo.0), hi.0 - 0.05 * (hi.0 - lo.0));
        let x = start.2 + d * t;
        let (phi, n) = field.sample(x);
        if best.is_none_or(|b| phi < b.0) {
            best = Some((phi, n, x));
        }
        let slope = n.dot(d);
        if slope.abs() < 0.05 {
            break;
        }
        if slope < 0.0 {
            lo = (t, phi, slope);
        } else {
            hi = (t, phi, slope);
        }
    }
    let margin = 1e-3 * length;
    best.filter(|b| b.0 <= reach && b.0 < start.0.min(end.0) - 1e-4 * margin)
}

/// Keeps the deepest place and those farthest from the ones kept, up to [`MOST`]; normals count as places too.
fn thin(found: &[Touch], size: f64) -> Vec<Touch> {
    let Some(deepest) = found.iter().min_by(|s, t| s.end.total_cmp(&t.end)) else { return Vec::new() };
    let mut kept = Vec::with_capacity(found.len().min(MOST));
    kept.push(*deepest);
    let apart = |s: &Touch, t: &Touch| {
        s.on_a.distance_squared(t.on_a) + size * size * s.normal.distance_squared(t.normal)
    };
    let mut far: Vec<f64> = found.iter().map(|t| apart(t, deepest)).collect();
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
        kept.push(found[pick]);
        for (f, t) in far.iter_mut().zip(found) {
            *f = f.min(apart(t, &found[pick]));
        }
    }
    kept
}
