//! Convex polyhedra: recognised from raw triangles, met face to face.
//!
//! Point samples of a level set say little about two flat faces that meet edge on edge, so pairs of convex bodies
//! take the exact way: the axis of greatest separation, then the incident face clipped by the reference face. It
//! is the vertices of the contact region that [Gue06] 2.8 names as the alternative to point sampling. Nobody has
//! to ask for it: a mesh is recognised as convex by its dihedral angles, and coplanar triangles become one face.

use crate::contact::Touch;
use crate::field::Plane;
use billow_geom::TriMesh;
use billow_geom::mesh::Topology;
use billow_num::{Pose, Vec3};

/// Most faces of a body that is treated as a convex polyhedron.
const MAX_FACES: usize = 64;
/// Sine of the angle up to which neighbouring triangles count as coplanar.
const FLAT: f64 = 1e-6;

/// A convex polyhedron in its body frame.
#[derive(Clone, Debug)]
pub(crate) struct Convex {
    pub(crate) planes: Vec<Plane>,
    /// Corners that are not inside a face or an edge.
    corners: Vec<Vec3>,
    /// Corners of each face, counter-clockwise from outside.
    loops: Vec<Vec<u32>>,
    /// Directions of the edges, parallel ones once.
    directions: Vec<Vec3>,
    edges: Vec<[u32; 2]>,
}

impl Convex {
    /// The polyhedron of a closed mesh, unless it is not convex or has too many faces.
    pub(crate) fn of_mesh(mesh: &TriMesh, topology: &Topology) -> Option<Self> {
        let size = mesh.bounds().size().length();
        let mut planes: Vec<Plane> = Vec::new();
        let mut members: Vec<Vec<u32>> = Vec::new();
        for t in 0..mesh.triangles.len() {
            let normal = mesh.area_vector(t).try_normalize()?;
            let offset = normal.dot(mesh.corners(t)[0]);
            let same = |p: &Plane| p.normal.cross(normal).length() < FLAT && p.normal.dot(normal) > 0.0;
            let k = planes.iter().position(same).unwrap_or_else(|| {
                planes.push(Plane { normal, offset });
                members.push(Vec::new());
                planes.len() - 1
            });
            if planes.len() > MAX_FACES || (planes[k].offset - offset).abs() > FLAT * size {
                return None;
            }
            members[k].extend(mesh.triangles[t]);
        }
        let outside = |p: &Plane| mesh.positions.iter().any(|x| p.normal.dot(*x) > p.offset + FLAT * size);
        if topology.boundary_edges().is_empty() && !planes.iter().any(outside) {
            Some(Self::from_faces(mesh, planes, &members))
        } else {
            None
        }
    }

    fn from_faces(mesh: &TriMesh, planes: Vec<Plane>, members: &[Vec<u32>]) -> Self {
        let rings: Vec<Vec<u32>> =
            planes.iter().zip(members).map(|(plane, m)| outline(mesh, plane, m)).collect();
        let mut used: Vec<u32> = rings.concat();
        used.sort_unstable();
        used.dedup();
        let number = |v: &u32| used.binary_search(v).expect("every corner is listed") as u32;
        let loops: Vec<Vec<u32>> = rings.iter().map(|r| r.iter().map(number).collect()).collect();
        let corners: Vec<Vec3> = used.iter().map(|v| mesh.positions[*v as usize]).collect();
        let mut edges: Vec<[u32; 2]> = Vec::new();
        let mut directions: Vec<Vec3> = Vec::new();
        for ring in &loops {
            for k in 0..ring.len() {
                let [a, b] = [ring[k], ring[(k + 1) % ring.len()]];
                if a < b {
                    edges.push([a, b]);
                }
                let d = (corners[b as usize] - corners[a as usize]).normalize_or_zero();
                if d != Vec3::ZERO && !directions.iter().any(|e| e.cross(d).length() < 1e-6) {
                    directions.push(d);
                }
            }
        }
        Self { planes, corners, loops, directions, edges }
    }

    /// Largest distance of the centre of mass from a face, taken over the nearest face [m].
    pub(crate) fn inner_radius(&self) -> f64 {
        self.planes.iter().map(|p| p.offset).fold(f64::INFINITY, f64::min)
    }

    fn support(&self, direction: Vec3) -> f64 {
        self.corners.iter().map(|c| c.dot(direction)).fold(f64::NEG_INFINITY, f64::max)
    }
}

/// Corners of a face in order, without those in the middle of a straight edge.
fn outline(mesh: &TriMesh, plane: &Plane, members: &[u32]) -> Vec<u32> {
    let mut ids = members.to_vec();
    ids.sort_unstable();
    ids.dedup();
    let at = |v: u32| mesh.positions[v as usize];
    let centre = ids.iter().map(|v| at(*v)).sum::<Vec3>() / ids.len() as f64;
    let u = plane.normal.any_orthonormal_vector();
    let w = plane.normal.cross(u);
    let angle = |v: u32| (at(v) - centre).dot(w).atan2((at(v) - centre).dot(u));
    ids.sort_by(|a, b| angle(*a).total_cmp(&angle(*b)));
    // What lies inside the face or one of its edges is no corner; once it is gone, its neighbours are looked at again.
    loop {
        let n = ids.len();
        let corner = |k: &usize| {
            let [a, b, c] = [at(ids[(k + n - 1) % n]), at(ids[*k]), at(ids[(k + 1) % n])];
            (b - a).cross(c - b).dot(plane.normal) > 1e-7 * (b - a).length() * (c - b).length()
        };
        let kept: Vec<u32> = (0..n).filter(corner).map(|k| ids[k]).collect();
        if kept.len() == n || kept.len() < 3 {
            return ids;
        }
        ids = kept;
    }
}

/// How two polyhedra are separated best.
#[derive(Clone, Copy)]
enum Axis {
    FaceOfA(usize),
    FaceOfB(usize),
    Edges(Vec3),
}

/// Contacts of two convex bodies closer than `reach`; normals point from `b` to `a`.
pub(crate) fn meet(a: (&Convex, &Pose), b: (&Convex, &Pose), reach: f64, out: &mut Vec<Touch>) {
    // B in the frame of A: small numbers wherever the bodies are.
    let between = b.1.then(&a.1.inverse());
    let first = out.len();
    let Some((axis, separation)) = best_axis(a.0, b.0, &between) else { return };
    if separation > reach {
        return;
    }
    match axis {
        Axis::FaceOfA(f) => clip((a.0, f), (b.0, &between), reach, |on_ref, on_other, n, gap| {
            out.push(Touch { on_a: on_ref, on_b: on_other, normal: -n, gap, end: gap });
        }),
        Axis::FaceOfB(f) => {
            let back = between.inverse();
            clip((b.0, f), (a.0, &back), reach, |on_ref, on_other, n, gap| {
                let [on_a, on_b] = [between.point(on_other), between.point(on_ref)];
                out.push(Touch { on_a, on_b, normal: between.vector(n), gap, end: gap });
            });
        }
        Axis::Edges(n) => out.extend(cross_edges(a.0, (b.0, &between), n, separation)),
    }
    for touch in &mut out[first..] {
        touch.on_a = a.1.point(touch.on_a);
        touch.on_b = a.1.point(touch.on_b);
        touch.normal = a.1.vector(touch.normal);
    }
}

/// The axis of greatest separation; faces win ties with edges. None when the bodies are far apart.
fn best_axis(a: &Convex, b: &Convex, between: &Pose) -> Option<(Axis, f64)> {
    let back = between.inverse();
    let mut best = (Axis::FaceOfA(0), f64::NEG_INFINITY);
    for (k, p) in a.planes.iter().enumerate() {
        let d = back.vector(p.normal);
        let s = between.position.dot(p.normal) - b.support(-d) - p.offset;
        if s > best.1 {
            best = (Axis::FaceOfA(k), s);
        }
    }
    let size = a.inner_radius().min(b.inner_radius());
    for (k, p) in b.planes.iter().enumerate() {
        let d = between.vector(p.normal);
        let s = back.position.dot(p.normal) - a.support(-d) - p.offset;
        if s > best.1 + 1e-6 * size {
            best = (Axis::FaceOfB(k), s);
        }
    }
    let faces = best.1;
    for u in &a.directions {
        for w in &b.directions {
            let w = between.vector(*w);
            let cross = u.cross(w);
            if cross.length_squared() < 1e-4 {
                continue;
            }
            for n in [cross.normalize(), -cross.normalize()] {
                let s = between.position.dot(n) - b.support(-back.vector(n)) - a.support(n);
                if s > best.1 && s > faces + 1e-3 * size + 0.02 * faces.abs() {
                    best = (Axis::Edges(n), s);
                }
            }
        }
    }
    best.1.is_finite().then_some(best)
}

/// Clips the face of `other` that looks at the reference face by the sides of the latter. Calls
/// `emit(on reference, on other, reference normal, gap)` in the reference body's frame; `other`'s points in the
/// frame of the reference too.
fn clip(
    (reference, face): (&Convex, usize),
    (other, pose): (&Convex, &Pose),
    reach: f64,
    mut emit: impl FnMut(Vec3, Vec3, Vec3, f64),
) {
    let plane = reference.planes[face];
    let looking = pose.rotation.conjugate() * plane.normal;
    let most = |x: &Plane, y: &Plane| x.normal.dot(looking).total_cmp(&y.normal.dot(looking));
    let Some((incident, _)) = other.planes.iter().enumerate().min_by(|x, y| most(x.1, y.1)) else { return };
    let mut polygon: Vec<Vec3> =
        other.loops[incident].iter().map(|v| pose.point(other.corners[*v as usize])).collect();
    let ring = &reference.loops[face];
    let mut next = Vec::with_capacity(polygon.len() + ring.len());
    for k in 0..ring.len() {
        let [p, q] = [ring[k], ring[(k + 1) % ring.len()]].map(|v| reference.corners[v as usize]);
        let side = (q - p).cross(plane.normal).normalize_or_zero();
        cut(&polygon, side, side.dot(p), &mut next);
        std::mem::swap(&mut polygon, &mut next);
    }
    for x in polygon {
        let gap = plane.normal.dot(x) - plane.offset;
        if gap <= reach {
            emit(x - gap * plane.normal, x, plane.normal, gap);
        }
    }
}

/// The part of a polygon with `side·x ≤ offset`.
fn cut(polygon: &[Vec3], side: Vec3, offset: f64, out: &mut Vec<Vec3>) {
    out.clear();
    for k in 0..polygon.len() {
        let [p, q] = [polygon[k], polygon[(k + 1) % polygon.len()]];
        let [dp, dq] = [side.dot(p) - offset, side.dot(q) - offset];
        if dp <= 0.0 {
            out.push(p);
        }
        if (dp < 0.0 && dq > 0.0) || (dp > 0.0 && dq < 0.0) {
            out.push(p + (q - p) * (dp / (dp - dq)));
        }
    }
}

/// The contact of the two edges that reach farthest along and against `n`, which points from `a` to `b`.
fn cross_edges(a: &Convex, (b, pose): (&Convex, &Pose), n: Vec3, separation: f64) -> Option<Touch> {
    let back = pose.rotation.conjugate() * n;
    let top = |c: &Convex, d: Vec3| {
        let height = |e: &[u32; 2]| e.iter().map(|v| c.corners[*v as usize].dot(d)).sum::<f64>();
        c.edges.iter().copied().max_by(|x, y| height(x).total_cmp(&height(y)))
    };
    let ea = top(a, n)?.map(|v| a.corners[v as usize]);
    let eb = top(b, -back)?.map(|v| pose.point(b.corners[v as usize]));
    let near = billow_geom::proximity::edge_edge(ea, eb);
    let on_a = ea[0].lerp(ea[1], near.a);
    let on_b = eb[0].lerp(eb[1], near.b);
    let middle = 0.5 * (on_a + on_b);
    Some(Touch {
        on_a: middle - 0.5 * separation * n,
        on_b: middle + 0.5 * separation * n,
        normal: -n,
        gap: separation,
        end: separation,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_geom::shapes::{cuboid, cylinder};

    #[test]
    fn vertices_inside_a_face_are_no_corners() {
        // A cap is a fan about its centre; the sides of a box are cut into cells.
        let cases = [
            (cylinder(0.1, 0.2, 24, 3, true).unwrap(), 48, 24),
            (cuboid(Vec3::new(1.0, 2.0, 3.0), [2, 3, 4]).unwrap(), 8, 4),
        ];
        for (mesh, corners, widest) in cases {
            let convex = Convex::of_mesh(&mesh, &mesh.topology().unwrap()).unwrap();
            assert_eq!(convex.corners.len(), corners);
            assert_eq!(convex.loops.iter().map(Vec::len).max(), Some(widest));
            assert_eq!(convex.edges.len(), convex.corners.len() + convex.loops.len() - 2, "Euler");
        }
    }
}
