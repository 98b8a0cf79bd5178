//! Subdivision of triangle meshes: each triangle becomes four, then all vertices move to smoother places
//! ([Bri03] 3.2, [BFA02] 8; rules in [`rules`]).
//!
//! A [`Subdivision`] knows one step as weights; it is made once per mesh and serves all frames. Old vertices keep their
//! numbers, the vertex on edge `e` is number `vertices + e`. Weights are never negative and sum to one, so new
//! vertices stay in the convex hull of those they come from.
//!
//! Borders are cubic B-splines of border vertices alone, so that pieces cut along a line still fit; corners stay. Edges
//! tagged as creases follow the same rules inside the surface: a vertex on one crease moves along it, one at which three or
//! more end stays, and one at the end of a crease is smooth ([GCSO99] 4).

pub mod rules;

use crate::GeomError;
use crate::mesh::{Topology, VertexKind};
use billow_num::{Vec3, par};
use rules::Fan;
use std::collections::BTreeMap;

/// One step of subdivision.
#[derive(Clone, Debug)]
pub struct Subdivision {
    vertices: usize,
    edges: Vec<[u32; 2]>,
    triangles: Vec<[u32; 3]>,
    /// Where the stencil of each new vertex begins.
    starts: Vec<u32>,
    stencils: Vec<(u32, f64)>,
    limits: Vec<Limit>,
    neighbours: Vec<u32>,
    corners: Vec<u32>,
    /// Edges of the finer mesh that are creases.
    creases: Vec<[u32; 2]>,
}

/// The limit rule of an old vertex after one step: its own weight, the rest shared by vertices on its edges.
#[derive(Clone, Debug)]
struct Limit {
    own: f64,
    neighbours: std::ops::Range<u32>,
}

impl Subdivision {
    /// The step for a mesh with this connectivity; `corners` are border vertices that stay where they are.
    ///
    /// # Errors
    /// When more than two triangles share an edge, or several fans a vertex.
    pub fn new(topology: &Topology, corners: &[u32]) -> Result<Self, GeomError> {
        Self::with_creases(topology, corners, &[])
    }

    /// The same for a mesh in which the given edges stay creased. `corners` may be on creases too; what is not an edge of the
    /// mesh is ignored.
    ///
    /// # Errors
    /// When more than two triangles share an edge, or several fans a vertex.
    pub fn with_creases(
        topology: &Topology,
        corners: &[u32],
        creases: &[[u32; 2]],
    ) -> Result<Self, GeomError> {
        let kinds = topology.vertex_kinds();
        if let Some(vertex) = kinds.iter().position(|k| *k == VertexKind::NonManifold) {
            let problem = format!("vertex {vertex} does not have one fan of triangles: split it first");
            return Err(GeomError::Mesh { operation: "subdivision", problem });
        }
        let vertices = topology.vertex_count();
        let count = vertices + topology.edge_count();
        if count > u32::MAX as usize / 8 {
            return Err(GeomError::TooLarge { what: "vertices", count, limit: u32::MAX as usize / 8 });
        }
        let mut build = Build::new(topology, corners, creases);
        for vertex in 0..vertices as u32 {
            build.vertex(vertex);
        }
        for edge in 0..topology.edge_count() as u32 {
            build.edge(edge);
        }
        let Build { starts, stencils, limits, neighbours, crease, .. } = build;
        let halves = (0..topology.edge_count()).filter(|e| crease[*e]).flat_map(|e| {
            let ([a, b], middle) = (topology.edges()[e], (vertices + e) as u32);
            [[a, middle], [middle, b]]
        });
        let creases = halves.collect();
        let (edges, triangles) = (topology.edges().to_vec(), split(topology));
        Ok(Self {
            vertices,
            edges,
            triangles,
            starts,
            stencils,
            limits,
            neighbours,
            corners: corners.to_vec(),
            creases,
        })
    }

    /// The creases afterwards, to be given to the next step.
    pub fn creases(&self) -> &[[u32; 2]] {
        &self.creases
    }

    /// Number of vertices afterwards.
    pub fn vertex_count(&self) -> usize {
        self.vertices + self.edges.len()
    }

    /// The triangles afterwards; triangle `t` has become `4t … 4t + 3`.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The vertices that stay where they are; they keep their numbers.
    pub fn corners(&self) -> &[u32] {
        &self.corners
    }

    /// Every new vertex on the middle of its edge: the same surface, cut finer.
    pub fn midpoints(&self, x: &[Vec3]) -> Vec<Vec3> {
        par::map(self.vertex_count(), |i| match i.checked_sub(self.vertices) {
            None => x[i],
            Some(e) => {
                let [a, b] = self.edges[e];
                0.5 * (x[a as usize] + x[b as usize])
            }
        })
    }

    /// A value per vertex carried over the same way as [`Subdivision::midpoints`].
    pub fn interpolated<T: Copy + Send + Sync>(
        &self,
        values: &[T],
        mean: impl Fn(T, T) -> T + Sync + Send,
    ) -> Vec<T> {
        par::map(self.vertex_count(), |i| match i.checked_sub(self.vertices) {
            None => values[i],
            Some(e) => {
                let [a, b] = self.edges[e];
                mean(values[a as usize], values[b as usize])
            }
        })
    }

    /// Every vertex where the rules put it.
    pub fn smoothed(&self, x: &[Vec3]) -> Vec<Vec3> {
        par::map(self.vertex_count(), |i| {
            let range = self.starts[i] as usize..self.starts[i + 1] as usize;
            self.stencils[range].iter().map(|(j, w)| x[*j as usize] * *w).sum()
        })
    }

    /// Where the old vertices end up after endless subdivision.
    pub fn limits(&self, x: &[Vec3]) -> Vec<Vec3> {
        // After one step irregular vertices are apart, and the fan around each follows its own rule alone.
        let x = self.smoothed(x);
        par::map(self.vertices, |i| {
            let Limit { own, neighbours } = &self.limits[i];
            let ring = &self.neighbours[neighbours.start as usize..neighbours.end as usize];
            if ring.is_empty() {
                return x[i];
            }
            let mean = ring.iter().map(|j| x[*j as usize]).sum::<Vec3>() / ring.len() as f64;
            x[i] * *own + mean * (1.0 - own)
        })
    }
}

/// Border vertices at which the surface itself has an angle below 135°: bending does not change it, so that the
/// corners of a sheet are the same in every frame.
pub fn border_corners(topology: &Topology, x: &[Vec3]) -> Vec<u32> {
    const STRAIGHT: f64 = 0.75 * std::f64::consts::PI;
    let angle = |vertex: u32| -> f64 {
        let at = |t: &u32| {
            let corners = topology.triangles()[*t as usize];
            let k = corners.iter().position(|c| *c == vertex).unwrap_or(0);
            let [o, a, b] = [0, 1, 2].map(|s| x[corners[(k + s) % 3] as usize]);
            (a - o).angle_between(b - o)
        };
        topology.vertex_triangles(vertex).iter().map(at).sum()
    };
    let border = |v: &u32| topology.vertex_kinds()[*v as usize] == VertexKind::Boundary;
    (0..topology.vertex_count() as u32).filter(|v| border(v) && angle(*v) < STRAIGHT).collect()
}

/// Edges at which the surface turns by more than `angle` [rad].
pub fn sharp_edges(topology: &Topology, x: &[Vec3], angle: f64) -> Vec<[u32; 2]> {
    let normal = |t: u32| {
        let [a, b, c] = topology.triangles()[t as usize].map(|i| x[i as usize]);
        (b - a).cross(c - a)
    };
    let sharp =
        |e: &u32| topology.edge_pair(*e).is_some_and(|[s, t]| normal(s).angle_between(normal(t)) > angle);
    (0..topology.edge_count() as u32).filter(sharp).map(|e| topology.edges()[e as usize]).collect()
}

/// Each triangle cut into three at its corners and one in the middle.
fn split(topology: &Topology) -> Vec<[u32; 3]> {
    let first = topology.vertex_count() as u32;
    let pieces = |([a, b, c], [ab, bc, ca]): (&[u32; 3], &[u32; 3])| {
        let [ab, bc, ca] = [ab, bc, ca].map(|e| first + e);
        [[*a, ab, ca], [ab, *b, bc], [ca, bc, *c], [ab, bc, ca]]
    };
    topology.triangles().iter().zip(topology.triangle_edges()).flat_map(pieces).collect()
}

/// Stencils under construction.
struct Build<'a> {
    topology: &'a Topology,
    corner: Vec<bool>,
    /// Which edges inside the surface are creases.
    crease: Vec<bool>,
    fans: BTreeMap<usize, Fan>,
    starts: Vec<u32>,
    stencils: Vec<(u32, f64)>,
    limits: Vec<Limit>,
    neighbours: Vec<u32>,
}

impl<'a> Build<'a> {
    fn new(topology: &'a Topology, corners: &[u32], creases: &[[u32; 2]]) -> Self {
        let mut crease = vec![false; topology.edge_count()];
        for [a, b] in creases.iter().filter(|c| c.iter().all(|v| (*v as usize) < topology.vertex_count())) {
            let joins = |e: &&u32| topology.edges()[**e as usize].contains(b);
            if let Some(e) = topology.vertex_edges(*a).iter().find(joins) {
                crease[*e as usize] = topology.edge_pair(*e).is_some();
            }
        }
        let mut corner = vec![false; topology.vertex_count()];
        for c in corners {
            if let Some(slot) = corner.get_mut(*c as usize) {
                *slot = true;
            }
        }
        let valences = (0..topology.vertex_count() as u32).map(|v| topology.vertex_vertices(v).len());
        let fans = valences.filter(|n| *n >= 3).map(|n| (n, ())).collect::<BTreeMap<_, _>>();
        let fans = fans.into_keys().map(|n| (n, Fan::new(n))).collect();
        let (starts, stencils, limits, neighbours) = (vec![0], Vec::new(), Vec::new(), Vec::new());
        Self { topology, corner, crease, fans, starts, stencils, limits, neighbours }
    }

    fn close(&mut self) {
        self.starts.push(self.stencils.len() as u32);
    }

    fn limit(&mut self, own: f64, edges: impl Iterator<Item = u32>) {
        let (start, vertices) = (self.neighbours.len() as u32, self.topology.vertex_count() as u32);
        self.neighbours.extend(edges.map(|e| vertices + e));
        self.limits.push(Limit { own, neighbours: start..self.neighbours.len() as u32 });
    }

    /// The stencil of an old vertex.
    fn vertex(&mut self, v: u32) {
        let topology = self.topology;
        let ring = topology.vertex_vertices(v);
        let sharp = self.sharp_edges_at(v);
        match sharp.len() {
            0 | 1 if ring.len() >= 3 => {
                let fan = &self.fans[&ring.len()];
                let (own, share) = (fan.vertex, (1.0 - fan.vertex) / ring.len() as f64);
                let limit = fan.limit();
                self.stencils.push((v, own));
                self.stencils.extend(ring.iter().map(|j| (*j, share)));
                self.limit(limit, topology.vertex_edges(v).iter().copied());
            }
            2 if !self.corner[v as usize] => {
                let other = |e: &u32| topology.edges()[*e as usize].into_iter().find(|end| *end != v);
                self.stencils.push((v, 0.75));
                self.stencils.extend(sharp.iter().filter_map(other).map(|j| (j, 0.125)));
                self.limit(2.0 / 3.0, sharp.into_iter());
            }
            _ => {
                self.stencils.push((v, 1.0));
                self.limit(1.0, std::iter::empty());
            }
        }
        self.close();
    }

    /// The edges of a vertex along the border or a crease.
    fn sharp_edges_at(&self, v: u32) -> Vec<u32> {
        let sharp = |e: &u32| self.crease[*e as usize] || self.topology.edge_triangles(*e).len() == 1;
        self.topology.vertex_edges(v).iter().copied().filter(sharp).collect()
    }

    /// The stencil of the vertex on an edge: the mean of what its two ends ask for.
    fn edge(&mut self, e: u32) {
        let [a, b] = self.topology.edges()[e as usize];
        let Some(pair) = self.topology.edge_pair(e).filter(|_| !self.crease[e as usize]) else {
            self.stencils.extend([(a, 0.5), (b, 0.5)]);
            return self.close();
        };
        let special = |v: u32| {
            let n = self.topology.vertex_vertices(v).len();
            let inside = self.topology.vertex_kinds()[v as usize] == VertexKind::Interior;
            inside && n != 6 && n >= 3 && self.sharp_edges_at(v).len() < 2
        };
        let asking: Vec<(u32, u32)> = [(a, b), (b, a)].into_iter().filter(|(v, _)| special(*v)).collect();
        if asking.is_empty() {
            self.stencils.extend([(a, 0.375), (b, 0.375)]);
            let opposite = pair.iter().filter_map(|t| self.topology.opposite_vertex(*t, e));
            self.stencils.extend(opposite.map(|c| (c, 0.125)));
            return self.close();
        }
        let part = 1.0 / asking.len() as f64;
        for (v, end) in asking {
            let ring = self.topology.vertex_vertices(v);
            let fan = &self.fans[&ring.len()];
            let first = ring.iter().position(|j| *j == end).unwrap_or(0);
            self.stencils.push((v, part * fan.centre));
            let turned = (0..ring.len()).map(|j| (ring[(first + j) % ring.len()], part * fan.ring[j]));
            self.stencils.extend(turned.filter(|s| s.1 != 0.0));
        }
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TriMesh, shapes};

    fn step(mesh: &TriMesh) -> (Subdivision, TriMesh) {
        let topology = Topology::new(mesh.positions.len(), &mesh.triangles).unwrap();
        let corners = border_corners(&topology, &mesh.positions);
        let step = Subdivision::new(&topology, &corners).unwrap();
        let positions = step.smoothed(&mesh.positions);
        let triangles = step.triangles().to_vec();
        (step, TriMesh { positions, triangles })
    }

    #[test]
    fn midpoints_leave_the_surface_as_it_is() {
        let mesh = shapes::torus(1.0, 0.4, 9, 7).unwrap();
        let (step, _) = step(&mesh);
        let fine =
            TriMesh { positions: step.midpoints(&mesh.positions), triangles: step.triangles().to_vec() };
        assert_eq!(fine.triangles.len(), 4 * mesh.triangles.len());
        assert!((fine.area() - mesh.area()).abs() < 1e-12 * mesh.area());
        let topology = Topology::new(fine.positions.len(), &fine.triangles).unwrap();
        assert_eq!(topology.genus(), Some(1));
        assert!(topology.is_oriented());
    }

    #[test]
    fn straight_lines_and_planes_stay_what_they_are() {
        // A sheet with interior vertices of valence 4 and 8, sheared and lifted by a linear map.
        let mut mesh = shapes::cloth_grid(2.0, 1.0, 9, 6).unwrap();
        for p in &mut mesh.positions {
            p.z = 0.3 * p.x - 0.7 * p.y + 0.1;
        }
        let (_, fine) = step(&mesh);
        for p in &fine.positions {
            assert!((p.z - (0.3 * p.x - 0.7 * p.y + 0.1)).abs() < 1e-14, "{p}");
            assert!(p.x.abs() <= 1.0 + 1e-15 && p.y.abs() <= 0.5 + 1e-15);
        }
        // The four corners stay, the border stays straight.
        let bounds = fine.bounds();
        assert_eq!(bounds, mesh.bounds());
        assert!((fine.area() - mesh.area()).abs() < 1e-12);
    }

    #[test]
    fn the_border_does_not_know_the_inside() {
        let mesh = shapes::cloth_grid(1.0, 1.0, 7, 7).unwrap();
        let mut bulged = mesh.clone();
        let topology = Topology::new(mesh.positions.len(), &mesh.triangles).unwrap();
        for (p, kind) in bulged.positions.iter_mut().zip(topology.vertex_kinds()) {
            if *kind == VertexKind::Interior {
                p.z += 0.5;
            }
        }
        let corners = border_corners(&topology, &mesh.positions);
        assert_eq!(corners.len(), 4);
        let rule = Subdivision::new(&topology, &corners).unwrap();
        let (a, b) = (rule.smoothed(&mesh.positions), rule.smoothed(&bulged.positions));
        let fine = Topology::new(a.len(), rule.triangles()).unwrap();
        for (i, kind) in fine.vertex_kinds().iter().enumerate() {
            assert_eq!(a[i] == b[i], *kind == VertexKind::Boundary, "{i}");
        }
    }

    #[test]
    fn vertices_run_to_their_limits() {
        let ball = shapes::icosphere(1.0, 2).unwrap();
        let sheet = {
            let mut sheet = shapes::cloth_grid(1.0, 1.0, 5, 5).unwrap();
            for (i, p) in sheet.positions.iter_mut().enumerate() {
                p.z = 0.1 * (i as f64 * 1.7).sin();
            }
            sheet
        };
        for mesh in [ball, sheet] {
            let (rule, mut fine) = step(&mesh);
            let limits = rule.limits(&mesh.positions);
            for _ in 0..5 {
                fine = step(&fine).1;
            }
            for (i, limit) in limits.iter().enumerate() {
                let distance = fine.positions[i].distance(*limit);
                assert!(distance < 2e-4, "vertex {i} is {distance} from its limit");
            }
            // Each step comes closer by λ² or better, so that five steps leave below a thousandth.
            let first = mesh.positions.iter().zip(&limits).map(|(p, l)| p.distance(*l)).fold(0.0, f64::max);
            assert!(first > 1e-2);
        }
    }

    #[test]
    fn smoothing_stays_in_the_hull_and_makes_rough_things_smoother() {
        let ball = shapes::icosphere(1.0, 1).unwrap();
        let mut mesh = ball;
        for _ in 0..4 {
            mesh = step(&mesh).1;
            assert!(mesh.positions.iter().all(|p| p.length() <= 1.0));
        }
        let radii = mesh.positions.iter().map(|p| p.length());
        let (low, high) = radii.fold((f64::MAX, 0.0f64), |(l, h), r| (l.min(r), h.max(r)));
        // The limit surface of an icosahedron is nearly round.
        assert!(high / low < 1.05, "{low} … {high}");
    }

    #[test]
    fn creases_stay_sharp_ends_of_creases_are_smooth_and_corners_of_boxes_stay() {
        // All edges of a box are creases: it stays the box, with its corners.
        let mut mesh = shapes::cuboid(Vec3::ONE, [2, 2, 2]).unwrap();
        let topology = Topology::new(mesh.positions.len(), &mesh.triangles).unwrap();
        let mut creases = sharp_edges(&topology, &mesh.positions, 0.7);
        assert_eq!(creases.len(), 24);
        let (volume, bounds) = (mesh.volume(), mesh.bounds());
        for level in 1..4 {
            let topology = Topology::new(mesh.positions.len(), &mesh.triangles).unwrap();
            let rule = Subdivision::with_creases(&topology, &[], &creases).unwrap();
            mesh =
                TriMesh { positions: rule.smoothed(&mesh.positions), triangles: rule.triangles().to_vec() };
            creases = rule.creases().to_vec();
            assert_eq!(creases.len(), 24 << level);
            assert!((mesh.volume() - volume).abs() < 1e-12 && mesh.bounds() == bounds);
        }
        // Without them it is rounded off.
        let topology = Topology::new(mesh.positions.len(), &mesh.triangles).unwrap();
        let round = Subdivision::new(&topology, &[]).unwrap().smoothed(&mesh.positions);
        let round =
            TriMesh { positions: round, triangles: Subdivision::new(&topology, &[]).unwrap().triangles };
        assert!(round.volume() < volume - 1e-4);
        // A crease of one edge ends at both vertices: these follow the smooth rule, only its middle stays on the edge.
        let sheet = shapes::cloth_grid(1.0, 1.0, 7, 7).unwrap();
        let topology = Topology::new(sheet.positions.len(), &sheet.triangles).unwrap();
        let edge = (0..topology.edge_count() as u32)
            .find(|e| {
                let inside = |v: u32| topology.vertex_kinds()[v as usize] == VertexKind::Interior;
                topology.edges()[*e as usize].into_iter().all(inside)
            })
            .unwrap();
        let [a, b] = topology.edges()[edge as usize];
        let mut x = sheet.positions.clone();
        x[a as usize].z = 1.0;
        let smooth = Subdivision::new(&topology, &[]).unwrap().smoothed(&x);
        let creased = Subdivision::with_creases(&topology, &[], &[[b, a]]).unwrap().smoothed(&x);
        assert!(smooth[a as usize] == creased[a as usize] && smooth[b as usize] == creased[b as usize]);
        assert!((creased[sheet.positions.len() + edge as usize].z - 0.5).abs() < 1e-15);
    }

    #[test]
    fn meshes_that_are_no_surface_are_refused() {
        let fin = [[0, 1, 2], [0, 1, 3], [0, 1, 4]];
        let topology = Topology::new(5, &fin).unwrap();
        let error = Subdivision::new(&topology, &[]).unwrap_err().to_string();
        assert!(error.contains("fan"), "{error}");
    }
}
