//! How a surface bends where it is touched: its shape operator, which rolling friction is scaled by ([Gue06] 2.9).
//!
//! Triangles are flat and their edges sharp, so curvature is that of the surface they stand for: the change of vertex
//! normals along the edges of each triangle, averaged at its vertices. Normals are not averaged across creases.
//! A crease does not bend but breaks: across it the radius is nothing, along it the surface bends as the crease
//! does. At a corner the radius is nothing either way. Positive is convex.

use billow_geom::mesh::Topology;
use billow_geom::proximity::point_triangle;
use billow_geom::{Aabb, TriMesh, bvh::Bvh};
use billow_num::{Mat3, Quat, Vec3, par};

/// Cosine of the angle from which two triangles meet at a crease: an octagon stands for something round, a hexagon has
/// edges. In between, 52.5°.
const CREASE: f64 = 0.608_761_429_008_720_7;
/// Distance from an edge or a vertex that counts as on it, as a part of the radius of the body: above rounding.
const ON: f64 = 1e-6;
/// Radius of curvature across a crease, as a part of the radius of the body: as good as none.
const BROKEN: f64 = 1e-9;

/// A place of a smooth surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Patch {
    /// Outward unit normal; at creases and corners, of those that it may have there, the nearest to how it is touched.
    pub(crate) normal: Vec3,
    /// Shape operator [1/m]: change of the normal per way along the surface.
    pub(crate) bend: Mat3,
}

impl Patch {
    /// Of a ball.
    pub(crate) fn of_ball(radius: f64, normal: Vec3) -> Self {
        Self { normal, bend: across(normal) * (1.0 / radius) }
    }

    /// The same in other coordinates.
    pub(crate) fn rotated(&self, r: Mat3) -> Self {
        Self { normal: r * self.normal, bend: r * self.bend * r.transpose() }
    }
}

/// How the surface of a mesh bends.
#[derive(Clone, Debug)]
pub(crate) struct Bend {
    tree: Bvh<1>,
    /// Normals and shape operators at the three corners of each triangle.
    corners: Vec<[(Vec3, Mat3); 3]>,
    /// Edges of each triangle that are creases; edge `k` joins corners `k` and `k + 1`.
    creased: Vec<[bool; 3]>,
    /// What creases make of each vertex.
    vertices: Vec<Break>,
    on: f64,
    sharp: f64,
}

/// What creases make of a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Break {
    /// Nothing: there is none.
    None,
    /// A point of a line: unit tangent and curvature vector [1/m], which points to where the line bends.
    Line(Vec3, Vec3),
    /// A corner or a tip.
    Corner,
}

impl Bend {
    /// Measures a mesh in its body frame, within `radius` [m] of the origin.
    pub(crate) fn of_mesh(mesh: &TriMesh, topology: &Topology, radius: f64) -> Self {
        let boxes: Vec<Aabb> = (0..mesh.triangles.len()).map(|t| Aabb::of_points(&mesh.corners(t))).collect();
        let faces = mesh.triangle_normals();
        let creases: Vec<Option<bool>> =
            par::map(topology.edge_count(), |e| crease(mesh, topology, &faces, e as u32));
        let fans = par::map(mesh.positions.len(), |v| fans(mesh, topology, (&faces, &creases), v as u32));
        let tip = |v: usize| fans[v].iter().any(|(t, n)| n.dot(faces[*t as usize]) < CREASE);
        let vertices = par::map(mesh.positions.len(), |v| {
            if tip(v) { Break::Corner } else { broken(mesh, topology, &creases, v as u32) }
        });
        let normals: Vec<[Vec3; 3]> = par::map(mesh.triangles.len(), |t| {
            mesh.triangles[t].map(|v| {
                let own = fans[v as usize].iter().find(|(f, _)| *f == t as u32);
                // The normal of a tip says nothing about the slopes around it.
                own.map(|f| f.1).filter(|n| n.dot(faces[t]) >= CREASE).unwrap_or(faces[t])
            })
        });
        let triangles = par::map(mesh.triangles.len(), |t| operator(mesh.corners(t), normals[t]));
        let corners = par::map(mesh.triangles.len(), |t| {
            [0, 1, 2].map(|k| {
                let (fan, normal) = (&fans[mesh.triangles[t][k] as usize], normals[t][k]);
                let own = fan.iter().find(|f| f.0 == t as u32).map_or(normal, |f| f.1);
                let same = fan.iter().filter(|f| f.1 == own).map(|f| f.0 as usize);
                (normal, averaged(mesh, (&faces, &triangles), normal, same))
            })
        });
        let creased =
            topology.triangle_edges().iter().map(|edges| edges.map(|e| creases[e as usize] == Some(true)));
        Self {
            tree: Bvh::of_boxes(Vec3::ZERO, &boxes),
            corners,
            creased: creased.collect(),
            vertices,
            on: ON * radius,
            sharp: 1.0 / (BROKEN * radius),
        }
    }

    /// The surface at its point nearest to `x`, touched along the outward unit vector `n`.
    pub(crate) fn at(&self, mesh: &TriMesh, x: Vec3, n: Vec3) -> Patch {
        let distance = |t: u32| point_triangle(x, mesh.corners(t as usize)).distance;
        let nearest = self.tree.closest(x, f64::INFINITY, distance);
        let Some(t) = nearest.map(|found| found.0 as usize) else {
            return Patch { normal: n, bend: Mat3::ZERO };
        };
        let (corners, w) = (mesh.corners(t), point_triangle(x, mesh.corners(t)).weights);
        let near = corners[0] * w[0] + corners[1] * w[1] + corners[2] * w[2];
        let ids = mesh.triangles[t].map(|v| v as usize);
        // On a vertex, on a crease, or in between.
        if let Some(k) = (0..3).find(|k| corners[*k].distance(near) < self.on) {
            match self.vertices[ids[k]] {
                Break::Corner => return Patch { normal: n, bend: across(n) * self.sharp },
                Break::Line(along, bends) => return self.line(along, bends, n),
                Break::None => {}
            }
        }
        for k in 0..3 {
            let [i, j] = [k, (k + 1) % 3];
            let edge = (corners[j] - corners[i]).normalize_or_zero();
            if self.creased[t][k] && (near - corners[i]).cross(edge).length() < self.on {
                let ends = [i, j].map(|k| match self.vertices[ids[k]] {
                    Break::Line(along, bends) => (along * along.dot(edge).signum(), bends),
                    _ => (edge, Vec3::ZERO),
                });
                let part = w[j] / (w[i] + w[j]).max(f64::MIN_POSITIVE);
                let along = ends[0].0.lerp(ends[1].0, part).normalize_or(edge);
                return self.line(along, ends[0].1.lerp(ends[1].1, part), n);
            }
        }
        let mean = |k: usize| (self.corners[t][k].0 * w[k], self.corners[t][k].1 * w[k]);
        let [(n0, s0), (n1, s1), (n2, s2)] = [mean(0), mean(1), mean(2)];
        let (normal, s) = ((n0 + n1 + n2).normalize_or(n), s0 + s1 + s2);
        // A shell is touched from either side.
        let side = if normal.dot(n) < 0.0 { -1.0 } else { 1.0 };
        Patch { normal: normal * side, bend: turned(s * side, normal * side, n) }
    }

    /// A crease that runs along a unit vector and bends towards another, touched along `n`.
    fn line(&self, along: Vec3, bends: Vec3, n: Vec3) -> Patch {
        let normal = (n - along * along.dot(n)).normalize_or(n);
        let side = normal.cross(along);
        let s = outer(along, along) * -normal.dot(bends) + outer(side, side) * self.sharp;
        Patch { normal, bend: turned(s, normal, n) }
    }
}

/// Projection to the plane across a unit vector.
fn across(n: Vec3) -> Mat3 {
    Mat3::IDENTITY - outer(n, n)
}

/// The product `a bᵀ`.
fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// An operator of the plane across `from` in the plane across `to`, both unit vectors.
fn turned(s: Mat3, from: Vec3, to: Vec3) -> Mat3 {
    let r = Mat3::from_quat(Quat::from_rotation_arc(from, to));
    r * s * r.transpose()
}

/// Whether triangles meet at a crease: a convex one or the border of a shell, if so; a concave one is met by neither body
/// but keeps normals apart (`Some(false)`).
fn crease(mesh: &TriMesh, topology: &Topology, faces: &[Vec3], edge: u32) -> Option<bool> {
    let Some([s, t]) = topology.edge_pair(edge) else { return Some(true) };
    if faces[s as usize].dot(faces[t as usize]) >= CREASE {
        return None;
    }
    let tip = topology.opposite_vertex(t, edge).map(|v| mesh.positions[v as usize]);
    let on = mesh.positions[topology.edges()[edge as usize][0] as usize];
    Some(tip.is_some_and(|tip| faces[s as usize].dot(tip - on) < 0.0))
}

/// The triangles at a vertex with the unit normal of the fan each belongs to: those not separated by creases, weighted by
/// their angles.
fn fans(
    mesh: &TriMesh,
    topology: &Topology,
    (faces, creases): (&[Vec3], &[Option<bool>]),
    v: u32,
) -> Vec<(u32, Vec3)> {
    let around = topology.vertex_triangles(v);
    let mut fan: Vec<usize> = (0..around.len()).collect();
    for e in topology.vertex_edges(v) {
        let pair = topology.edge_pair(*e).filter(|_| creases[*e as usize].is_none());
        let place = |t: u32| around.iter().position(|s| *s == t);
        if let Some([Some(i), Some(j)]) = pair.map(|p| p.map(place)) {
            let (kept, gone) = (fan[i].min(fan[j]), fan[i].max(fan[j]));
            fan.iter_mut().filter(|f| **f == gone).for_each(|f| *f = kept);
        }
    }
    let weighted = |t: u32| {
        let ids = mesh.triangles[t as usize];
        let k = ids.iter().position(|i| *i == v).unwrap_or(0);
        let [x, y, z] = [0, 1, 2].map(|i| mesh.positions[ids[(k + i) % 3] as usize]);
        let angle = (y - x).angle_between(z - x);
        if angle.is_finite() { faces[t as usize] * angle } else { Vec3::ZERO }
    };
    let normal = |f: usize| -> Vec3 {
        let own = (0..around.len()).filter(|i| fan[*i] == f);
        own.map(|i| weighted(around[i])).sum::<Vec3>().normalize_or_zero()
    };
    (0..around.len()).map(|i| (around[i], normal(fan[i]))).collect()
}

/// What the convex creases at a vertex make of it.
fn broken(mesh: &TriMesh, topology: &Topology, creases: &[Option<bool>], v: u32) -> Break {
    let at = |v: u32| mesh.positions[v as usize];
    let ends = topology.vertex_edges(v).iter().zip(topology.vertex_vertices(v));
    let ends: Vec<Vec3> =
        ends.filter(|(e, _)| creases[**e as usize] == Some(true)).map(|(_, w)| at(*w)).collect();
    match ends.as_slice() {
        [] => Break::None,
        [p, q] => {
            let (before, after) = (at(v) - *p, *q - at(v));
            let [from, to] = [before, after].map(Vec3::normalize_or_zero);
            if from.dot(to) < CREASE {
                return Break::Corner;
            }
            // The circle through three points at equal distances turns by this between the middles of two chords.
            let way = 0.5 * (before.length() + after.length());
            Break::Line((to + from).normalize_or_zero(), (to - from) / way.max(f64::MIN_POSITIVE))
        }
        _ => Break::Corner,
    }
}

/// The symmetric operator of a triangle's plane that best tells how normals change along its three edges.
fn operator([a, b, c]: [Vec3; 3], normals: [Vec3; 3]) -> Mat3 {
    let Some(n) = (b - a).cross(c - a).try_normalize() else { return Mat3::ZERO };
    let u = (b - a).normalize_or(n.any_orthonormal_vector());
    let v = n.cross(u);
    let edges = [b - a, c - b, a - c];
    // Least squares for (e, f, g) of [[e, f], [f, g]] with the two components of each change.
    let (mut m, mut r) = (Mat3::ZERO, Vec3::ZERO);
    for k in 0..3 {
        let (d, change) = (edges[k], normals[(k + 1) % 3] - normals[k]);
        let [x, y] = [d.dot(u), d.dot(v)];
        for (row, told) in [(Vec3::new(x, y, 0.0), change.dot(u)), (Vec3::new(0.0, x, y), change.dot(v))] {
            m += outer(row, row);
            r += row * told;
        }
    }
    let s = m.inverse() * r;
    if !s.is_finite() {
        return Mat3::ZERO;
    }
    outer(u, u) * s.x + (outer(u, v) + outer(v, u)) * s.y + outer(v, v) * s.z
}

/// The mean operator of some triangles, weighted by area, in the plane across `normal`.
fn averaged(
    mesh: &TriMesh,
    (faces, operators): (&[Vec3], &[Mat3]),
    normal: Vec3,
    triangles: impl Iterator<Item = usize>,
) -> Mat3 {
    let (mut sum, mut area) = (Mat3::ZERO, 0.0);
    for t in triangles {
        let part = mesh.area_vector(t).length();
        if part > 0.0 {
            sum += turned(operators[t], faces[t], normal) * part;
            area += part;
        }
    }
    if area > 0.0 { sum * (1.0 / area) } else { Mat3::ZERO }
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_geom::shapes::{cone, cuboid, cylinder, torus, uv_sphere};
    use billow_num::rng::Stream;

    /// Curvature [1/m] along a direction at a place of a mesh that is touched along `n`.
    fn curvature(mesh: &TriMesh, x: Vec3, n: Vec3, along: Vec3) -> f64 {
        let bend = Bend::of_mesh(mesh, &mesh.topology().expect("the mesh is closed"), 0.5);
        along.dot(bend.at(mesh, x, n).bend * along)
    }

    #[test]
    fn an_ellipsoid_bends_as_its_half_axes_say() {
        let half = Vec3::new(0.3, 0.2, 0.1);
        let ball = uv_sphere(1.0, 128, 64).unwrap();
        let mesh = TriMesh { positions: ball.positions.iter().map(|x| *x * half).collect(), ..ball };
        let bend = Bend::of_mesh(&mesh, &mesh.topology().unwrap(), 0.3);
        for k in 0..200 {
            // x²/a² + y²/b² + z²/c² = 1: the operator is the Hessian over the gradient, across it.
            let p = Stream::new(5, 5).at(k).unit_vector();
            let (n, steep) = ((p / half).normalize(), (p / half).length());
            let exact = across(n) * Mat3::from_diagonal((half * half).recip()) * across(n) * (1.0 / steep);
            let patch = bend.at(&mesh, p * half, n);
            let off = across(n) * patch.bend * across(n) - exact;
            let most = |m: Mat3| m.to_cols_array().iter().fold(0.0f64, |most, e| most.max(e.abs()));
            assert!(most(off) < 0.025 * most(exact), "{p}: {}", most(off) / most(exact));
            assert!(patch.normal.distance(n) < 5e-3, "{p}: {} {n}", patch.normal);
        }
    }

    #[test]
    fn round_shapes_bend_as_their_radii_say_however_coarse() {
        let r = 0.1;
        for segments in [8, 16, 200] {
            let mesh = cylinder(r, 0.4, segments, 2, true).unwrap();
            let x =
                mesh.positions.iter().copied().find(|x| x.z == 0.0 && x.truncate().length() > 0.0).unwrap();
            let n = x.normalize();
            assert!((curvature(&mesh, x, n, n.cross(Vec3::Z)) * r - 1.0).abs() < 1e-9, "{segments}");
            assert!(curvature(&mesh, x, n, Vec3::Z).abs() < 1e-9, "{segments}");
        }
        let ring = torus(0.3, r, 96, 48).unwrap();
        let out = curvature(&ring, Vec3::X * 0.4, Vec3::X, Vec3::Y);
        let tube = curvature(&ring, Vec3::X * 0.4, Vec3::X, Vec3::Z);
        let hole = curvature(&ring, Vec3::X * 0.2, -Vec3::X, Vec3::Y);
        assert!((out * 0.4 - 1.0).abs() < 0.01 && (tube * r - 1.0).abs() < 0.01, "{out} {tube}");
        assert!((hole * 0.2 + 1.0).abs() < 0.01, "concave: {hole}");
    }

    #[test]
    fn creases_bend_along_themselves_alone_and_corners_not_at_all() {
        const BROKEN: f64 = 1e6;
        let r = 0.1;
        // The rim of a cylinder, touched from the side and at half a right angle (Meusnier).
        let mesh = cylinder(r, 0.4, 64, 1, true).unwrap();
        let rim = Vec3::new(r, 0.0, 0.2);
        for n in [Vec3::X, (Vec3::X + Vec3::Z).normalize()] {
            assert!((curvature(&mesh, rim, n, Vec3::Y) * r - n.x).abs() < 1e-9, "{n}");
            assert!(curvature(&mesh, rim, n, Vec3::Y.cross(n)) > BROKEN, "{n}");
        }
        let cube = cuboid(Vec3::ONE, [1; 3]).unwrap();
        let (edge, n) = (Vec3::new(0.5, 0.1, 0.5), (Vec3::X + Vec3::Z).normalize());
        assert!(curvature(&cube, edge, n, Vec3::Y).abs() < 1e-9);
        assert!(curvature(&cube, edge, n, Vec3::Y.cross(n)) > BROKEN);
        assert!(curvature(&cube, Vec3::splat(0.5), Vec3::Z, Vec3::X) > BROKEN);
        assert!(curvature(&cube, Vec3::new(0.1, 0.2, 0.5), Vec3::Z, Vec3::X).abs() < 1e-9);
        let mesh = cone(0.1, 0.3, 48, 1, true).unwrap();
        assert!(curvature(&mesh, Vec3::Z * 0.3, Vec3::X, Vec3::Y) > BROKEN);
    }
}
