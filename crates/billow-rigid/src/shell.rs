//! Surfaces without an inside: points against triangles and edges against edges, kept a thickness apart.
//!
//! What has no inside has no signed distance, so the features themselves meet: the distance is unsigned and the
//! thickness keeps it from reaching zero, which is all that tells one side from the other. Only local minima of
//! the distance count, so that bodies slide over the seams of a triangulation without being caught.

use crate::contact::Touch;
use crate::near::Placed;
use billow_geom::bvh::Bvh;
use billow_geom::mesh::Topology;
use billow_geom::proximity::{edge_edge, point_triangle};
use billow_geom::{Aabb, TriMesh};
use billow_num::Vec3;

/// Slope of the distance along a surface up to which a place counts as a local minimum.
const LEVEL: f64 = 1e-3;

/// Trees over the triangles and edges of a surface in its body frame.
#[derive(Clone, Debug)]
pub(crate) struct Features {
    triangles: Bvh<1>,
    edges: Vec<[u32; 2]>,
    edge_tree: Bvh<1>,
    /// Directions from each edge into its triangles, perpendicular to the edge; zero where there is none.
    inward: Vec<[Vec3; 2]>,
}

impl Features {
    /// Prepares a mesh.
    pub(crate) fn new(mesh: &TriMesh, topology: &Topology) -> Self {
        let edges = topology.edges().to_vec();
        let inward = (0..edges.len() as u32).map(|e| inward(mesh, topology, e)).collect();
        let edge_boxes: Vec<Aabb> = edges.iter().map(|e| Aabb::of_points(&ends(mesh, *e))).collect();
        let boxes: Vec<Aabb> = (0..mesh.triangles.len()).map(|t| Aabb::of_points(&mesh.corners(t))).collect();
        Self { triangles: tree(&boxes), edges, edge_tree: tree(&edge_boxes), inward }
    }
}

pub(crate) fn tree(boxes: &[Aabb]) -> Bvh<1> {
    let centres: Vec<Vec3> = boxes.iter().map(Aabb::centre).collect();
    let mut tree = Bvh::from_centres(&centres);
    tree.refit(Vec3::ZERO, |k| ([boxes[k]], 0.0));
    tree
}

fn ends(mesh: &TriMesh, edge: [u32; 2]) -> [Vec3; 2] {
    edge.map(|v| mesh.positions[v as usize])
}

fn inward(mesh: &TriMesh, topology: &Topology, e: u32) -> [Vec3; 2] {
    let [p, q] = ends(mesh, topology.edges()[e as usize]);
    let along = (q - p).normalize_or_zero();
    let mut into = [Vec3::ZERO; 2];
    for (k, t) in topology.edge_triangles(e).iter().take(2).enumerate() {
        let middle = mesh.corners(*t as usize).iter().sum::<Vec3>() / 3.0 - p;
        into[k] = (middle - along * middle.dot(along)).normalize_or_zero();
    }
    into
}

/// Places where two surfaces, one of which has no inside, come within `reach`: vertices of each near triangles of the
/// other, and edges that cross. A signed distance, where there is one, is asked by the caller.
pub(crate) fn meet([a, b]: [Placed<'_>; 2], reach: f64, out: &mut Vec<Touch>) {
    let (Some(fa), Some(fb)) = (&a.shape.features, &b.shape.features) else { return };
    if b.shape.field.is_none() {
        points((a, b, fb), reach, |on_a, on_b, normal, gap| Touch { on_a, on_b, normal, gap, end: gap }, out);
    }
    if a.shape.field.is_none() {
        let flip = |on_b, on_a, n: Vec3, gap| Touch { on_a, on_b, normal: -n, gap, end: gap };
        points((b, a, fa), reach, flip, out);
    }
    if a.shape.field.is_none() && b.shape.field.is_none() {
        edges([(a, fa), (b, fb)], reach, out);
    }
}

/// A ball and a surface without an inside.
pub(crate) fn ball(ball: Placed<'_>, shell: Placed<'_>, reach: f64, out: &mut Vec<Touch>) {
    let Some(features) = &shell.shape.features else { return };
    let r = ball.shape.ball;
    let centre = shell.pose.inverse_point(ball.pose.position);
    near(shell, features, centre, reach + r, &mut |on, normal, distance| {
        let normal = shell.pose.vector(normal);
        let (on_a, on_b) = (ball.pose.position - normal * r, shell.pose.point(on));
        let gap = distance - r;
        out.push(Touch { on_a, on_b, normal, gap, end: gap });
    });
}

/// Vertices of `owner` near triangles of `other`; `make` takes the points on both, the normal to the owner, and the gap.
fn points(
    (owner, other, features): (Placed<'_>, Placed<'_>, &Features),
    reach: f64,
    make: impl Fn(Vec3, Vec3, Vec3, f64) -> Touch,
    out: &mut Vec<Touch>,
) {
    let between = owner.pose.then(&other.pose.inverse());
    let (turn, shift) = (between.matrix(), between.position);
    let close = other.shape.bounds.inflated(reach);
    for v in &owner.shape.mesh.positions {
        let x = turn * *v + shift;
        if close.contains(x) {
            near(other, features, x, reach, &mut |on, normal, distance| {
                let normal = other.pose.vector(normal);
                out.push(make(other.pose.point(x), other.pose.point(on), normal, distance));
            });
        }
    }
}

/// Calls `found` with the point, normal and distance of the triangles within `reach` of `x` whose insides are nearest,
/// and of the nearest of all.
fn near(
    shell: Placed<'_>,
    features: &Features,
    x: Vec3,
    reach: f64,
    found: &mut impl FnMut(Vec3, Vec3, f64),
) {
    let mut nearest: Option<(f64, Vec3, Vec3)> = None;
    features.triangles.overlapping(&[Aabb { min: x, max: x }.inflated(reach)], |t| {
        let corners = shell.shape.mesh.corners(t as usize);
        let p = point_triangle(x, corners);
        if p.distance > reach {
            return;
        }
        let on = corners[0] * p.weights[0] + corners[1] * p.weights[1] + corners[2] * p.weights[2];
        if p.weights.iter().all(|w| *w > 0.0) {
            found(on, p.normal, p.distance);
        }
        if nearest.is_none_or(|n| p.distance < n.0) {
            nearest = Some((p.distance, on, p.normal));
        }
    });
    if let Some((distance, on, normal)) = nearest {
        found(on, normal, distance);
    }
}

/// Edges that cross at a local minimum of their distance.
fn edges([(a, fa), (b, fb)]: [(Placed<'_>, &Features); 2], reach: f64, out: &mut Vec<Touch>) {
    let between = b.pose.then(&a.pose.inverse());
    let (turn, shift) = (between.matrix(), between.position);
    let close = a.shape.bounds.inflated(reach);
    for (k, edge) in fb.edges.iter().enumerate() {
        let eb = ends(&b.shape.mesh, *edge).map(|x| turn * x + shift);
        let query = Aabb::of_points(&eb).inflated(reach);
        if !close.overlaps(&query) {
            continue;
        }
        fa.edge_tree.overlapping(&[query], |e| {
            let ea = ends(&a.shape.mesh, fa.edges[e as usize]);
            let c = edge_edge(ea, eb);
            let inner = |s: f64| s > 0.0 && s < 1.0;
            let level = fa.inward[e as usize].iter().all(|m| m.dot(c.normal) >= -LEVEL)
                && fb.inward[k].iter().all(|m| (turn * *m).dot(c.normal) <= LEVEL);
            if c.distance <= reach && inner(c.a) && inner(c.b) && level {
                let [on_a, on_b] = [ea[0].lerp(ea[1], c.a), eb[0].lerp(eb[1], c.b)].map(|x| a.pose.point(x));
                let normal = a.pose.vector(c.normal);
                out.push(Touch { on_a, on_b, normal, gap: c.distance, end: c.distance });
            }
        });
    }
}
