//! A referee that shares nothing with the solver: how deep do bodies overlap, measured on their exact meshes?
//!
//! Points of each surface (vertices and three points inside every edge) are measured against the other body's
//! triangles: exact distance through a box hierarchy, sign from the angle-weighted normal of the nearest feature.
//! Exact distances change no faster than points move, so a ball of points whose centre is far enough outside holds none
//! that overlaps: whole branches of points are left out at once. No level set, no contact list, no margin. Depths are lower bounds of the true penetration that converge with the
//! mesh. Circles stand in for rings when asking whether two of them are linked.

use crate::geometry::Geometry;
use crate::model::Model;
use crate::state::State;
use billow_geom::bvh::Bvh;
use billow_geom::proximity::point_triangle;
use billow_geom::{Aabb, TriMesh};
use billow_num::{Pose, Vec3, par};
use std::collections::BTreeMap;

/// Depths below this do not count as overlap [m]; it is far below what any solver resolves.
const LEAST: f64 = 1e-5;

/// What the meter found at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overlaps {
    /// Overlapping pairs with their depth [m], ascending by bodies.
    pub pairs: Vec<([u32; 2], f64)>,
}

impl Overlaps {
    /// Largest depth [m].
    pub fn largest(&self) -> f64 {
        self.pairs.iter().map(|p| p.1).fold(0.0, f64::max)
    }

    /// Sum of the depths [m].
    pub fn total(&self) -> f64 {
        self.pairs.iter().map(|p| p.1).sum()
    }
}

/// Exact surfaces of a model's shapes.
#[derive(Debug)]
pub struct Meter {
    shapes: Vec<Exact>,
}

/// A mesh that answers exact signed distances.
#[derive(Debug)]
struct Exact {
    mesh: TriMesh,
    tree: Bvh<1>,
    faces: Vec<Vec3>,
    /// Sums of adjacent normals: of edges by their two vertices, of vertices weighted by angle.
    edges: BTreeMap<[u32; 2], Vec3>,
    vertices: Vec<Vec3>,
    points: Cloud,
    bounds: Aabb,
    ball: f64,
    closed: bool,
}

impl Exact {
    fn new(shape: &Geometry) -> Self {
        let mesh = shape.mesh().clone();
        let boxes: Vec<Aabb> = (0..mesh.triangles.len()).map(|t| Aabb::of_points(&mesh.corners(t))).collect();
        let centres: Vec<Vec3> = boxes.iter().map(Aabb::centre).collect();
        let mut tree = Bvh::from_centres(&centres);
        tree.refit(Vec3::ZERO, |t| ([boxes[t]], 0.0));
        let faces: Vec<Vec3> =
            (0..mesh.triangles.len()).map(|t| mesh.area_vector(t).normalize_or_zero()).collect();
        let mut edges: BTreeMap<[u32; 2], Vec3> = BTreeMap::new();
        let mut vertices = vec![Vec3::ZERO; mesh.positions.len()];
        for (t, triangle) in mesh.triangles.iter().enumerate() {
            let x = mesh.corners(t);
            for k in 0..3 {
                let (i, j) = ((k + 1) % 3, (k + 2) % 3);
                vertices[triangle[k] as usize] += faces[t] * (x[i] - x[k]).angle_between(x[j] - x[k]);
                *edges.entry(key(triangle[i], triangle[j])).or_default() += faces[t];
            }
        }
        let mut points = mesh.positions.clone();
        for [a, b] in edges.keys().copied() {
            let [a, b] = [a, b].map(|v| mesh.positions[v as usize]);
            points.extend([0.25, 0.5, 0.75].map(|s| a.lerp(b, s)));
        }
        let ball = shape.ball;
        if ball > 0.0 {
            points = vec![Vec3::ZERO];
        }
        let points = Cloud::new(points);
        Self {
            bounds: shape.bounds,
            mesh,
            tree,
            faces,
            edges,
            vertices,
            points,
            ball,
            closed: shape.is_solid(),
        }
    }

    fn phi(&self, x: Vec3) -> f64 {
        if self.ball > 0.0 {
            return x.length() - self.ball;
        }
        let distance = |t: u32| point_triangle(x, self.mesh.corners(t as usize)).distance;
        let Some((t, d)) = self.tree.closest(x, f64::INFINITY, distance) else { return f64::INFINITY };
        let corners = self.mesh.corners(t as usize);
        let ids = self.mesh.triangles[t as usize];
        let w = point_triangle(x, corners).weights;
        let away = x - (corners[0] * w[0] + corners[1] * w[1] + corners[2] * w[2]);
        let on: Vec<usize> = (0..3).filter(|k| w[*k] > 0.0).collect();
        let normal = match on.as_slice() {
            [k] => self.vertices[ids[*k] as usize],
            [i, j] => self.edges[&key(ids[*i], ids[*j])],
            _ => self.faces[t as usize],
        };
        if away.dot(normal) < 0.0 { -d } else { d }
    }

    /// Greatest depth of this shape's points in another.
    fn depth_in(&self, pose: &Pose, other: &Self, other_pose: &Pose) -> f64 {
        if !other.closed {
            return 0.0;
        }
        let between = pose.then(&other_pose.inverse());
        // The shape is at least as far as the box around it.
        let outside = |y: Vec3| (y - y.clamp(other.bounds.min, other.bounds.max)).length();
        self.points.deepest(&|x, reach| {
            let y = between.point(x);
            let away = outside(y);
            if away > 0.0 && away - self.ball >= reach { reach } else { other.phi(y) - self.ball }
        })
    }
}

/// Points in a tree of balls.
#[derive(Debug)]
struct Cloud {
    /// In the order of the leaves.
    points: Vec<Vec3>,
    balls: Vec<PointBall>,
}

/// A ball of points, with the number of the ball after the last one inside it.
#[derive(Clone, Copy, Debug)]
struct PointBall {
    centre: Vec3,
    radius: f64,
    points: [u32; 2],
    skip: u32,
}

/// Points in a ball that is not divided.
const LEAF: usize = 8;

impl Cloud {
    fn new(mut points: Vec<Vec3>) -> Self {
        let mut balls = Vec::new();
        divide(&mut points, 0, &mut balls);
        Self { points, balls }
    }

    /// The largest −φ of all points, zero if none is inside. `phi(x, reach)` is the distance at `x`, or at least
    /// `reach` if it is beyond; it changes no faster than `x`.
    fn deepest(&self, phi: &dyn Fn(Vec3, f64) -> f64) -> f64 {
        let mut best: f64 = 0.0;
        let mut at = 0;
        while let Some(ball) = self.balls.get(at) {
            let reach = ball.radius - best;
            if phi(ball.centre, reach) >= reach {
                at = ball.skip as usize;
                continue;
            }
            at += 1;
            if at == ball.skip as usize {
                let [from, to] = ball.points.map(|k| k as usize);
                for x in &self.points[from..to] {
                    best = best.max(-phi(*x, -best));
                }
            }
        }
        best
    }
}

/// Divides points along the longest side of their box until few are left.
fn divide(points: &mut [Vec3], from: usize, balls: &mut Vec<PointBall>) {
    let bounds = Aabb::of_points(points.iter());
    let centre = bounds.centre();
    let radius = points.iter().map(|x| x.distance(centre)).fold(0.0, f64::max);
    let (own, to) = (balls.len(), from + points.len());
    balls.push(PointBall { centre, radius, points: [from as u32, to as u32], skip: 0 });
    if points.len() > LEAF {
        let size = bounds.size();
        let axis = (0..3).fold(0, |best, k| if size[k] > size[best] { k } else { best });
        let middle = points.len() / 2;
        points.select_nth_unstable_by(middle, |a, b| a[axis].total_cmp(&b[axis]));
        let (low, high) = points.split_at_mut(middle);
        divide(low, from, balls);
        divide(high, from + middle, balls);
    }
    balls[own].skip = balls.len() as u32;
}

fn key(a: u32, b: u32) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

impl Meter {
    /// Prepares the shapes of a model.
    pub fn new(model: &Model) -> Self {
        Self { shapes: model.geometries.iter().map(|g| Exact::new(g)).collect() }
    }

    /// Overlaps of all pairs of bodies of which one is dynamic.
    pub fn measure(&self, model: &Model, state: &State) -> Overlaps {
        let boxes: Vec<Aabb> =
            (0..model.len()).map(|i| model.geometry(i).bounds_at(&state.bodies[i].pose)).collect();
        let pairs = billow_geom::sweep_prune::sweep_pairs(&boxes);
        let moving = |p: &[u32; 2]| p.iter().any(|i| model.is_dynamic(*i as usize));
        let pairs: Vec<[u32; 2]> = pairs.into_iter().filter(moving).collect();
        let found = par::gather(pairs.len(), 8, |range, out| {
            for pair in &pairs[range] {
                let [a, b] = pair.map(|i| {
                    let i = i as usize;
                    (&self.shapes[model.bodies()[i].geometry], &state.bodies[i].pose)
                });
                let depth = a.0.depth_in(a.1, b.0, b.1).max(b.0.depth_in(b.1, a.0, a.1));
                if depth > LEAST {
                    out.push((*pair, depth));
                }
            }
        });
        Overlaps { pairs: found }
    }
}

/// A circle in space: the centre line of a ring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Circle {
    /// Centre [m].
    pub centre: Vec3,
    /// Unit normal of its plane.
    pub normal: Vec3,
    /// Radius [m].
    pub radius: f64,
}

/// Whether two circles are linked like the rings of a chain: one passes through the disk of the other exactly once.
pub fn linked(a: &Circle, b: &Circle) -> bool {
    let line = a.normal.cross(b.normal);
    let Some(along) = line.try_normalize() else { return false };
    // Points of circle a in the plane of b.
    let across = a.normal.cross(along);
    let slope = across.dot(b.normal);
    let offset = (b.centre - a.centre).dot(b.normal) / slope;
    let half = a.radius * a.radius - offset * offset;
    if half.is_nan() || half <= 0.0 {
        return false;
    }
    let inside = |s: f64| {
        let p = a.centre + across * offset + along * s;
        p.distance(b.centre) < b.radius
    };
    inside(half.sqrt()) != inside(-half.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Body, Drive, Settings};
    use billow_geom::shapes::{cuboid, torus};
    use std::sync::Arc;

    #[test]
    fn the_depth_of_a_box_sunk_into_another_is_measured_exactly() {
        let cube =
            Arc::new(Geometry::solid(&cuboid(Vec3::ONE, [1; 3]).unwrap(), &Settings::default()).unwrap());
        let mut below = Body::new("below", 0);
        below.drive = Drive::Static;
        let mut above = Body::new("above", 0);
        above.placement.position = Vec3::new(0.1, 0.2, 0.97);
        let model = Model::new(vec![cube], vec![below, above], Vec3::ZERO).unwrap();
        let found = Meter::new(&model).measure(&model, &model.start());
        assert_eq!(found.pairs.len(), 1);
        assert!((found.largest() - 0.03).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn leaving_out_balls_of_points_changes_no_depth() {
        let rings = [torus(0.3, 0.1, 16, 10).unwrap(), torus(0.35, 0.08, 20, 8).unwrap()];
        let [a, b] = rings.map(|m| Exact::new(&Geometry::solid(&m, &Settings::default()).unwrap()));
        let mut overlapping = 0;
        for k in 0..60 {
            let mut draw = billow_num::rng::Stream::new(5, 0).at(k);
            let rotation = billow_num::Quat::from_scaled_axis(draw.unit_vector() * 2.0);
            let pose = Pose { position: draw.unit_vector() * draw.range(0.1, 0.8), rotation };
            let every = |own: &Exact, other: &Exact, between: Pose| {
                own.points.points.iter().map(|x| -other.phi(between.point(*x))).fold(0.0, f64::max)
            };
            let (one, two) = (a.depth_in(&pose, &b, &Pose::IDENTITY), b.depth_in(&Pose::IDENTITY, &a, &pose));
            let (first, second) = (every(&a, &b, pose), every(&b, &a, pose.inverse()));
            assert!(
                (one - first).abs() < 1e-12 && (two - second).abs() < 1e-12,
                "{one} {first} {two} {second}"
            );
            overlapping += usize::from(one > 0.0);
        }
        assert!((10..50).contains(&overlapping), "{overlapping}");
    }

    #[test]
    fn signs_are_right_all_around_a_nonconvex_ring() {
        let mesh = torus(0.3, 0.1, 16, 10).unwrap();
        let ring = Exact::new(&Geometry::solid(&mesh, &Settings::default()).unwrap());
        for k in 0..16 {
            let a = f64::from(k) * 0.3;
            let out = Vec3::new(a.cos(), a.sin(), 0.0);
            assert!(ring.phi(out * 0.3) < -0.08 && ring.phi(out * 0.1) > 0.05 && ring.phi(out * 0.5) > 0.09);
        }
    }

    #[test]
    fn a_chain_is_linked_and_a_pile_is_not() {
        let a = Circle { centre: Vec3::ZERO, normal: Vec3::Z, radius: 1.0 };
        let link = Circle { centre: Vec3::X, normal: Vec3::Y, radius: 1.0 };
        assert!(linked(&a, &link) && linked(&link, &a));
        for (centre, normal) in [(Vec3::X * 2.5, Vec3::Y), (Vec3::Z * 0.2, Vec3::Z), (Vec3::ZERO, Vec3::Y)] {
            let other = Circle { centre, normal, radius: 0.5 };
            assert!(!linked(&a, &other) && !linked(&other, &a));
        }
    }
}
