//! Triangle meshes: watertight intersection, smooth normals, motion.
//!
//! Four triangles of a leaf are tested at once in coordinates where the ray runs along z: the three edge functions
//! of a shared edge are exact negatives of each other in both triangles, so no ray slips between neighbours; when one
//! is exactly zero it is computed again in double precision. Moving vertices are displaced linearly over the shutter.

use super::{Hit, Point, Ray, slabs};
use crate::bvh::{Block, Bounds, Bvh, NONE, Stack};
use crate::vector::{Vec2, Vec3, Vec4};
use billow_num::par;

/// Corners of four triangles: x, y, z of the first, second and third corners.
#[derive(Clone, Debug)]
struct Quad {
    corners: [[Vec4; 3]; 3],
}

/// A mesh ready for tracing.
#[derive(Debug)]
pub(crate) struct Triangles {
    bvh: Bvh,
    quads: Vec<Quad>,
    /// Displacement of the corners over the shutter; empty when nothing moves.
    motion: Vec<Quad>,
    triangles: Vec<[u32; 3]>,
    positions: Vec<[f32; 3]>,
    displacements: Vec<[f32; 3]>,
    normals: Normals,
    /// Material coordinates per vertex; empty means the positions themselves.
    material: Vec<[f32; 3]>,
    /// Triangles from here on were laid open by a cut.
    cut_from: usize,
}

/// What a mesh is made from. All vertex arrays are as long as `positions`, or empty.
pub(crate) struct MeshSource {
    /// Vertices when the shutter opens.
    pub(crate) positions: Vec<[f32; 3]>,
    /// How far each vertex moves until it closes.
    pub(crate) displacements: Vec<[f32; 3]>,
    pub(crate) triangles: Vec<[u32; 3]>,
    pub(crate) material: Vec<[f32; 3]>,
    /// Triangles from here on were laid open by a cut.
    pub(crate) cut_from: usize,
    /// Where the surface is smooth.
    pub(crate) smooth: Smooth,
}

/// Which edges look smooth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Smooth {
    /// None: flat facets.
    Nowhere,
    /// Those whose facets turn by less than [`CREASE`]; sharper ones are creases.
    BelowCrease,
    /// All, as on cloth.
    Everywhere,
}

/// Cosine of the angle between facets that makes an edge a crease: 40°.
const CREASE: f32 = 0.766;

/// Smooth normals.
#[derive(Debug)]
enum Normals {
    Facets,
    /// Per vertex.
    Vertices(Vec<[f32; 3]>),
    /// Per corner of each triangle.
    Corners(Vec<[[f32; 3]; 3]>),
}

impl Normals {
    fn new(positions: &[[f32; 3]], triangles: &[[u32; 3]], smooth: Smooth) -> Self {
        match smooth {
            Smooth::Nowhere => Self::Facets,
            Smooth::Everywhere => Self::Vertices(vertex_normals(positions, triangles)),
            Smooth::BelowCrease => Self::Corners(corner_normals(positions, triangles)),
        }
    }

    /// Normals at the corners of a triangle; none for flat facets.
    #[inline]
    fn of(&self, triangle: usize, ids: [u32; 3]) -> Option<[Vec3; 3]> {
        match self {
            Self::Facets => None,
            Self::Vertices(list) => Some(ids.map(|v| Vec3::from_array(list[v as usize]))),
            Self::Corners(list) => Some(list[triangle].map(Vec3::from_array)),
        }
    }
}

impl Triangles {
    pub(crate) fn new(source: MeshSource) -> Self {
        let MeshSource { positions, displacements, triangles, material, cut_from, smooth } = source;
        let corner = |v: u32| Vec3::from_array(positions[v as usize]);
        let moved =
            |v: u32| corner(v) + displacements.get(v as usize).map_or(Vec3::ZERO, |d| Vec3::from_array(*d));
        let boxes = par::map(triangles.len(), |k| {
            let t = triangles[k];
            let still = Bounds::of(t.map(corner));
            if displacements.is_empty() { still } else { still.union(Bounds::of(t.map(moved))) }
        });
        let bvh = Bvh::build(&boxes);
        let pack = |points: &[[f32; 3]]| {
            par::map(bvh.blocks.len(), |b| Quad::new(&bvh.blocks[b], &triangles, points))
        };
        let quads = pack(&positions);
        let motion = if displacements.is_empty() { Vec::new() } else { pack(&displacements) };
        let normals = Normals::new(&positions, &triangles, smooth);
        Self { bvh, quads, motion, triangles, positions, displacements, normals, material, cut_from }
    }

    pub(crate) fn bounds(&self) -> Bounds {
        self.bvh.bounds
    }

    #[inline]
    pub(crate) fn intersect(&self, ray: &Ray, any: bool, stack: &mut Stack) -> Option<Hit> {
        let shear = Shear::new(ray);
        if self.motion.is_empty() {
            return self.trace(ray, any, stack, |b, t_max| shear.intersect(&self.quads[b].corners, t_max));
        }
        let time = Vec4::splat(ray.time);
        self.trace(ray, any, stack, |b, t_max| {
            let (still, motion) = (&self.quads[b].corners, &self.motion[b].corners);
            let now = std::array::from_fn(|c| std::array::from_fn(|x| still[c][x] + motion[c][x] * time));
            shear.intersect(&now, t_max)
        })
    }

    #[inline(always)]
    fn trace(
        &self,
        ray: &Ray,
        any: bool,
        stack: &mut Stack,
        test: impl Fn(usize, f32) -> Option<(usize, f32, Vec2)>,
    ) -> Option<Hit> {
        let mut best: Option<Hit> = None;
        self.bvh.visit(&slabs(ray), ray.t_max, stack, |b, t_max| {
            let Some((lane, t, uv)) = test(b, t_max) else { return t_max };
            best = Some(Hit { t, primitive: self.bvh.blocks[b][lane], uv });
            if any { -1.0 } else { t }
        });
        best
    }

    /// The surface at a hit.
    pub(crate) fn point(&self, ray: &Ray, hit: &Hit) -> Point {
        let ids = self.triangles[hit.primitive as usize];
        let weights = [1.0 - hit.uv.x - hit.uv.y, hit.uv.x, hit.uv.y];
        let corners = ids.map(|v| self.vertex(v, ray.time));
        let position = blend(corners, weights);
        let facet = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or(-ray.direction);
        let material = match self.material.is_empty() {
            true => blend(ids.map(|v| Vec3::from_array(self.positions[v as usize])), weights),
            false => blend(ids.map(|v| Vec3::from_array(self.material[v as usize])), weights),
        };
        let edge = edge_distance(corners, weights);
        let cut = hit.primitive as usize >= self.cut_from;
        let Some(normals) = self.normals.of(hit.primitive as usize, ids) else {
            return Point { position, lifted: position, facet, normal: facet, material, edge, cut };
        };
        let normal = blend(normals, weights).normalize_or(facet);
        let side = if ray.direction.dot(facet) > 0.0 { -1.0 } else { 1.0 };
        let lifted = lift(position, corners, normals, weights, side);
        Point { position, lifted, facet, normal, material, edge, cut }
    }

    fn vertex(&self, v: u32, time: f32) -> Vec3 {
        let still = Vec3::from_array(self.positions[v as usize]);
        match self.displacements.get(v as usize) {
            Some(d) => still + Vec3::from_array(*d) * time,
            None => still,
        }
    }
}

impl Quad {
    fn new(block: &Block, triangles: &[[u32; 3]], points: &[[f32; 3]]) -> Self {
        // Padding repeats the first triangle, which can only repeat its hit.
        let mut corners = [[Vec4::ZERO; 3]; 3];
        for lane in 0..4 {
            let triangle = triangles[if block[lane] == NONE { block[0] } else { block[lane] } as usize];
            for corner in 0..3 {
                for axis in 0..3 {
                    corners[corner][axis][lane] = points[triangle[corner] as usize][axis];
                }
            }
        }
        Self { corners }
    }
}

/// The coordinates in which a ray runs along z from the origin.
#[derive(Clone, Copy)]
struct Shear {
    axes: [usize; 3],
    origin: [Vec4; 3],
    shear: [Vec4; 2],
    scale: Vec4,
}

impl Shear {
    #[inline]
    fn new(ray: &Ray) -> Self {
        let size = ray.direction.abs();
        let z = if size.x > size.y && size.x > size.z {
            0
        } else if size.y > size.z {
            1
        } else {
            2
        };
        let axes = [(z + 1) % 3, (z + 2) % 3, z];
        let d = axes.map(|a| ray.direction[a]);
        Self {
            axes,
            origin: axes.map(|a| Vec4::splat(ray.origin[a])),
            shear: [Vec4::splat(d[0] / d[2]), Vec4::splat(d[1] / d[2])],
            scale: Vec4::splat(1.0 / d[2]),
        }
    }

    /// The nearest hit of four triangles before `t_max`: lane, distance and barycentric coordinates.
    #[inline(always)]
    fn intersect(&self, corners: &[[Vec4; 3]; 3], t_max: f32) -> Option<(usize, f32, Vec2)> {
        let [a, b, c] = [self.apply(&corners[0]), self.apply(&corners[1]), self.apply(&corners[2])];
        let mut u = c[0] * b[1] - c[1] * b[0];
        let mut v = a[0] * c[1] - a[1] * c[0];
        let mut w = b[0] * a[1] - b[1] * a[0];
        let on_edge = u.cmpeq(Vec4::ZERO) | v.cmpeq(Vec4::ZERO) | w.cmpeq(Vec4::ZERO);
        if on_edge.any() {
            u = exact_edge(&c, &b);
            v = exact_edge(&a, &c);
            w = exact_edge(&b, &a);
        }
        let least = u.min(v).min(w);
        let most = u.max(v).max(w);
        let inside = least.cmpge(Vec4::ZERO) | most.cmple(Vec4::ZERO);
        let det = u + v + w;
        let live = inside & det.cmpne(Vec4::ZERO);
        if !live.any() {
            return None;
        }
        let inverse = det.recip();
        let t = (u * a[2] + v * b[2] + w * c[2]) * self.scale * inverse;
        let mut hits = (live & t.cmpgt(Vec4::ZERO) & t.cmplt(Vec4::splat(t_max))).bitmask();
        let mut best = None;
        let mut nearest = t_max;
        while hits != 0 {
            let lane = hits.trailing_zeros() as usize;
            hits &= hits - 1;
            if t[lane] < nearest {
                nearest = t[lane];
                best = Some(lane);
            }
        }
        best.map(|lane| (lane, nearest, Vec2::new(v[lane] * inverse[lane], w[lane] * inverse[lane])))
    }

    #[inline(always)]
    fn apply(&self, corner: &[Vec4; 3]) -> [Vec4; 3] {
        let [x, y, z] = [0, 1, 2].map(|k| corner[self.axes[k]] - self.origin[k]);
        [x - self.shear[0] * z, y - self.shear[1] * z, z]
    }
}

/// Edge functions in double precision, where products of two singles are exact.
#[cold]
fn exact_edge(p: &[Vec4; 3], q: &[Vec4; 3]) -> Vec4 {
    Vec4::from_array(std::array::from_fn(|k| {
        (f64::from(p[0][k]) * f64::from(q[1][k]) - f64::from(p[1][k]) * f64::from(q[0][k])) as f32
    }))
}

#[inline]
fn blend(values: [Vec3; 3], weights: [f32; 3]) -> Vec3 {
    values[0] * weights[0] + values[1] * weights[1] + values[2] * weights[2]
}

/// Distance from the point with the given weights to the nearest edge of its triangle.
#[inline]
fn edge_distance([a, b, c]: [Vec3; 3], [u, v, w]: [f32; 3]) -> f32 {
    let (ab, bc, ca) = (b - a, c - b, a - c);
    let area2 = ab.cross(-ca).length();
    (u * area2 / bc.length()).min(v * area2 / ca.length()).min(w * area2 / ab.length())
}

/// Moves a point of a facet out to the smooth surface that the vertex normals describe: the blend of its projections
/// on the tangent planes it lies below. Shadow rays from there do not see the facets' own corners.
fn lift(p: Vec3, corners: [Vec3; 3], normals: [Vec3; 3], weights: [f32; 3], side: f32) -> Vec3 {
    let shift = |k: usize| normals[k] * side * (p - corners[k]).dot(normals[k] * side).min(0.0) * weights[k];
    p - (shift(0) + shift(1) + shift(2))
}

/// Unit normal of a triangle and its angles, by which normals are weighted: the mean then does not depend on how the
/// surface is cut into triangles.
fn facet(positions: &[[f32; 3]], t: [u32; 3]) -> (Vec3, [f32; 3]) {
    let p = t.map(|v| Vec3::from_array(positions[v as usize]));
    let n = (p[1] - p[0]).cross(p[2] - p[0]).normalize_or_zero();
    (n, std::array::from_fn(|k| corner_angle(p[(k + 1) % 3] - p[k], p[(k + 2) % 3] - p[k])))
}

/// Mean normals over all triangles at a vertex.
fn vertex_normals(positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> Vec<[f32; 3]> {
    let mut normals = vec![Vec3::ZERO; positions.len()];
    for t in triangles {
        let (n, angles) = facet(positions, *t);
        for k in 0..3 {
            normals[t[k] as usize] += n * angles[k];
        }
    }
    normals.into_iter().map(|n| n.normalize_or_zero().to_array()).collect()
}

/// Mean normals over the triangles at a vertex that turn little against the one the corner belongs to.
fn corner_normals(positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> Vec<[[f32; 3]; 3]> {
    let facets = par::map(triangles.len(), |k| facet(positions, triangles[k]));
    let mut starts = vec![0u32; positions.len() + 1];
    for v in triangles.iter().flatten() {
        starts[*v as usize + 1] += 1;
    }
    for v in 1..starts.len() {
        starts[v] += starts[v - 1];
    }
    let mut next = starts.clone();
    let mut around = vec![(0u32, 0u8); 3 * triangles.len()];
    for (t, ids) in triangles.iter().enumerate() {
        for (corner, v) in ids.iter().enumerate() {
            around[next[*v as usize] as usize] = (t as u32, corner as u8);
            next[*v as usize] += 1;
        }
    }
    par::map(triangles.len(), |t| {
        let own = facets[t].0;
        triangles[t].map(|v| {
            let near = &around[starts[v as usize] as usize..starts[v as usize + 1] as usize];
            let sum = near.iter().fold(Vec3::ZERO, |sum, (other, corner)| {
                let (n, angles) = &facets[*other as usize];
                if n.dot(own) > CREASE { sum + *n * angles[*corner as usize] } else { sum }
            });
            sum.normalize_or(own).to_array()
        })
    })
}

fn corner_angle(a: Vec3, b: Vec3) -> f32 {
    a.cross(b).length().atan2(a.dot(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bvh::new_stack;
    use crate::sample::Sampler;

    fn random_mesh(n: u32, moving: bool) -> Triangles {
        let mut s = Sampler::new(1, 2, 3).stream();
        let mut point = |size: f32| [0; 3].map(|_| size * (s.next() - 0.5));
        let mut positions = Vec::new();
        for _ in 0..n {
            let centre = point(2.0);
            for _ in 0..3 {
                let offset = point(0.3);
                positions.push([centre[0] + offset[0], centre[1] + offset[1], centre[2] + offset[2]]);
            }
        }
        let displacements = if moving { positions.iter().map(|_| point(0.2)).collect() } else { Vec::new() };
        let triangles = (0..n).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
        Triangles::new(MeshSource {
            positions,
            displacements,
            triangles,
            material: Vec::new(),
            cut_from: usize::MAX,
            smooth: Smooth::Everywhere,
        })
    }

    fn random_ray(s: &mut crate::sample::Stream) -> Ray {
        let mut v = || Vec3::new(s.next(), s.next(), s.next()) * 2.0 - Vec3::ONE;
        let (origin, direction) = (v() * 2.0, v().normalize_or(Vec3::X));
        Ray { origin, direction, t_max: f32::INFINITY, time: s.next() }
    }

    /// Möller and Trumbore's test in double precision.
    fn brute_force(mesh: &Triangles, ray: &Ray) -> Option<(u32, f64)> {
        let d3 = |v: Vec3| glam::DVec3::new(v.x.into(), v.y.into(), v.z.into());
        let (o, d) = (d3(ray.origin), d3(ray.direction));
        let mut best: Option<(u32, f64)> = None;
        for (k, t) in mesh.triangles.iter().enumerate() {
            let [a, b, c] = t.map(|v| d3(mesh.vertex(v, ray.time)));
            let (e1, e2) = (b - a, c - a);
            let p = d.cross(e2);
            let det = e1.dot(p);
            let s = o - a;
            let q = s.cross(e1);
            let (u, v, t) = (s.dot(p) / det, d.dot(q) / det, e2.dot(q) / det);
            if u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t > 0.0 && best.is_none_or(|(_, least)| t < least) {
                best = Some((k as u32, t));
            }
        }
        best
    }

    #[test]
    fn edge_distances_are_altitudes_at_corners_and_zero_on_edges() {
        let corners = [Vec3::ZERO, Vec3::X * 4.0, Vec3::Y * 3.0];
        // The centre of a 3-4-5 triangle is a third of each altitude from its edges: 1, 4/3 and 4/5.
        let centre = edge_distance(corners, [1.0 / 3.0; 3]);
        assert!((centre - 0.8).abs() < 1e-6, "{centre}");
        assert!(edge_distance(corners, [0.5, 0.5, 0.0]).abs() < 1e-7);
    }

    #[test]
    fn the_hierarchy_finds_what_brute_force_finds() {
        let mut stack = new_stack();
        for (n, moving) in [(1, false), (5, true), (3000, false), (6000, true)] {
            let mesh = random_mesh(n, moving);
            let mut s = Sampler::new(9, 9, 9).stream();
            let mut hits = 0;
            for _ in 0..400 {
                let ray = random_ray(&mut s);
                let (found, expected) = (mesh.intersect(&ray, false, &mut stack), brute_force(&mesh, &ray));
                assert_eq!(found.is_some(), expected.is_some());
                assert_eq!(mesh.intersect(&ray, true, &mut stack).is_some(), expected.is_some());
                if let (Some(hit), Some((k, t))) = (found, expected) {
                    hits += 1;
                    assert!(
                        hit.primitive == k && (f64::from(hit.t) - t).abs() < 1e-4 * t.max(1.0),
                        "{hit:?} {k} {t}"
                    );
                    let point = mesh.point(&ray, &hit).position;
                    assert!(point.distance(ray.origin + ray.direction * hit.t) < 1e-4);
                }
            }
            assert!(n < 10 || hits > 50, "{hits}");
        }
    }

    /// Rays from inside a closed fan aimed exactly at vertices and edge points must all hit.
    #[test]
    fn no_ray_slips_through_edges_or_vertices() {
        let n = 200u32;
        let ring = |k: u32| {
            let a = k as f32 * std::f32::consts::TAU / n as f32;
            [a.cos(), a.sin(), 0.1 * (7.0 * a).sin()]
        };
        let mut positions: Vec<[f32; 3]> = (0..n).map(ring).collect();
        positions.extend([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]);
        let mut triangles = Vec::new();
        for k in 0..n {
            triangles.push([k, (k + 1) % n, n]);
            triangles.push([(k + 1) % n, k, n + 1]);
        }
        let targets: Vec<Vec3> = triangles
            .iter()
            .flat_map(|t| {
                let p = t.map(|v| Vec3::from_array(positions[v as usize]));
                [p[0], (p[0] + p[1]) * 0.5, (p[1] + p[2]) * 0.5, p[0].lerp(p[2], 0.3)]
            })
            .collect();
        let mesh = Triangles::new(MeshSource {
            positions,
            displacements: Vec::new(),
            triangles,
            material: Vec::new(),
            cut_from: usize::MAX,
            smooth: Smooth::Nowhere,
        });
        let mut stack = new_stack();
        for target in targets {
            let origin = Vec3::new(0.01, 0.02, 0.03);
            let ray =
                Ray { origin, direction: (target - origin).normalize(), t_max: f32::INFINITY, time: 0.0 };
            assert!(mesh.intersect(&ray, false, &mut stack).is_some(), "{target}");
        }
    }

    /// On a cube every corner keeps its facet's normal; on a finely cut sphere creases change nothing.
    #[test]
    fn creases_stay_sharp_and_round_surfaces_stay_smooth() {
        let single = |mesh: &billow_geom::TriMesh| -> Vec<[f32; 3]> {
            mesh.positions.iter().map(|p| p.as_vec3().to_array()).collect()
        };
        let cube = billow_geom::shapes::cuboid(billow_num::Vec3::ONE, [2, 2, 2]).unwrap();
        for (t, normals) in cube.triangles.iter().zip(corner_normals(&single(&cube), &cube.triangles)) {
            let n = facet(&single(&cube), *t).0;
            assert!(normals.iter().all(|m| Vec3::from_array(*m).distance(n) < 1e-6));
        }
        let ball = billow_geom::shapes::icosphere(1.0, 8).unwrap();
        let smooth = vertex_normals(&single(&ball), &ball.triangles);
        for (t, normals) in ball.triangles.iter().zip(corner_normals(&single(&ball), &ball.triangles)) {
            for (v, n) in t.iter().zip(normals) {
                assert!(Vec3::from_array(n).distance(Vec3::from_array(smooth[*v as usize])) < 1e-5);
            }
        }
    }

    #[test]
    fn lifted_points_of_a_coarse_sphere_lie_on_it_or_outside_the_facet() {
        // An octahedron stands for the unit sphere: the middle of a facet must move out by less than to the sphere.
        let positions =
            vec![[1., 0., 0.], [0., 1., 0.], [0., 0., 1.], [-1., 0., 0.], [0., -1., 0.], [0., 0., -1.]];
        let triangles =
            vec![[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]];
        let mesh = Triangles::new(MeshSource {
            positions,
            displacements: Vec::new(),
            triangles,
            material: Vec::new(),
            cut_from: usize::MAX,
            smooth: Smooth::Everywhere,
        });
        let ray =
            Ray { origin: Vec3::splat(2.0), direction: Vec3::splat(-1.0).normalize(), t_max: 9.0, time: 0.0 };
        let hit = mesh.intersect(&ray, false, &mut new_stack()).unwrap();
        let point = mesh.point(&ray, &hit);
        assert!((point.position.length() - 1.0 / 3f32.sqrt()).abs() < 1e-5);
        let out = point.lifted.length();
        assert!(out > point.position.length() + 0.2 && out <= 1.0 + 1e-5, "{out}");
        assert!(point.normal.dot(Vec3::splat(1.0 / 3f32.sqrt())) > 0.999);
    }
}
