//! The independent referee: which triangles of a soup intersect, decided by exact predicates.
//!
//! All pairs with overlapping boxes are classified; nothing is rounded on the way ([`crate::predicates`]).
//! * [`Contact::Crossing`]: the triangles are not coplanar and their interiors share a point. Always a failure.
//! * [`Contact::Coplanar`]: they lie in one plane and overlap with an area, such as two triangles folded flat
//!   onto each other across their shared edge.
//! * [`Contact::Touching`]: they share points other than their common vertices and edges, but no interior
//!   point: a vertex resting on a face, an edge lying in a face, two edges that meet.
//!
//! Adjacent triangles naturally share their common vertices; only contact beyond those counts. Triangles without
//! area are listed and take part as the segments they are. Triangles with a corner that is not finite are listed
//! and left out. A surface that passes through a vertex or edge of another exactly shows up as touching pairs
//! only, so a strict audit asks for no finding at all ([`Audit::is_clean`]).

mod classify;
mod thin;

pub use classify::classify;

use crate::bvh::{Adjacency, Bvh, PairTasks, dominant_frame};
use crate::predicates::projection_axis;
use crate::{Aabb, TriMesh};
use billow_num::{Vec3, par};

/// How two triangles meet beyond their common vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Contact {
    /// Interiors share a point, planes differ.
    Crossing,
    /// Interiors share an area.
    Coplanar,
    /// Only borders are shared.
    Touching,
}

/// One pair of triangles that meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The two triangles, smaller index first.
    pub triangles: [u32; 2],
    /// How they meet.
    pub contact: Contact,
}

/// Result of an audit, sorted by triangle index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// All pairs that meet.
    pub findings: Vec<Finding>,
    /// Triangles without area.
    pub degenerate: Vec<u32>,
    /// Triangles with a corner that is not finite or does not exist; they were not examined.
    pub invalid: Vec<u32>,
}

impl Audit {
    /// Number of pairs of a kind.
    pub fn count(&self, contact: Contact) -> usize {
        self.findings.iter().filter(|f| f.contact == contact).count()
    }

    /// No triangle passes through or lies on another and all could be examined; touching is allowed.
    pub fn is_intersection_free(&self) -> bool {
        self.invalid.is_empty() && self.findings.iter().all(|f| f.contact == Contact::Touching)
    }

    /// No two triangles share any point beyond their common vertices, and all could be examined.
    pub fn is_clean(&self) -> bool {
        self.invalid.is_empty() && self.findings.is_empty()
    }
}

/// Audits one triangle soup.
pub fn audit(positions: &[Vec3], triangles: &[[u32; 3]]) -> Audit {
    Auditor::new(positions, triangles).run(positions, triangles)
}

/// A place in one of several meshes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Element {
    /// Index of the mesh.
    pub mesh: u32,
    /// Index of the triangle in its mesh.
    pub triangle: u32,
}

/// Meshes put together for a joint audit, with the way back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Soup {
    /// Positions of all meshes [m].
    pub positions: Vec<Vec3>,
    /// Triangles of all meshes, indices into `positions`.
    pub triangles: Vec<[u32; 3]>,
    /// First triangle of each mesh.
    first: Vec<u32>,
}

impl Soup {
    /// Puts meshes together in order.
    pub fn new<'a>(meshes: impl IntoIterator<Item = &'a TriMesh>) -> Self {
        let mut soup = Self::default();
        for mesh in meshes {
            soup.push(&mesh.positions, &mesh.triangles);
        }
        soup
    }

    /// Appends one mesh.
    pub fn push(&mut self, positions: &[Vec3], triangles: &[[u32; 3]]) {
        let base = self.positions.len() as u32;
        self.first.push(self.triangles.len() as u32);
        self.positions.extend_from_slice(positions);
        // An index outside its own mesh must not reach into the next one.
        let shift = |i: u32| if (i as usize) < positions.len() { i + base } else { u32::MAX };
        self.triangles.extend(triangles.iter().map(|t| t.map(shift)));
    }

    /// Which mesh a triangle of the soup came from.
    pub fn element(&self, triangle: u32) -> Element {
        let mesh = self.first.partition_point(|&f| f <= triangle).max(1) - 1;
        Element { mesh: mesh as u32, triangle: triangle - self.first.get(mesh).copied().unwrap_or(0) }
    }

    /// Audits all meshes against themselves and each other.
    pub fn audit(&self) -> Audit {
        audit(&self.positions, &self.triangles)
    }
}

/// Tree and scratch for repeated audits of the same triangles.
#[derive(Clone, Debug)]
pub struct Auditor {
    bvh: Bvh<1>,
    tasks: PairTasks,
    shape: Vec<Shape>,
}

/// What a triangle is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Proper,
    Thin,
    Invalid,
}

impl Auditor {
    /// Shapes the tree for these positions; it stays valid, if slower, when they move.
    pub fn new(positions: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        let centres: Vec<Vec3> = triangles
            .iter()
            .map(|t| corners(positions, t).map_or(Vec3::ZERO, |[a, b, c]| (a + b + c) / 3.0))
            .collect();
        let bvh = Bvh::from_adjacency(&centres, &Adjacency::of_triangles(triangles));
        Self { bvh, tasks: PairTasks::default(), shape: Vec::new() }
    }

    /// Audits the triangles the tree was shaped for at the given positions.
    pub fn run(&mut self, positions: &[Vec3], triangles: &[[u32; 3]]) -> Audit {
        self.shape = par::map(triangles.len(), |i| shape(positions, &triangles[i]));
        let shapes = &self.shape;
        let of_kind = |kind| (0..shapes.len() as u32).filter(|&i| shapes[i as usize] == kind).collect();
        let corners = |i: usize| match shapes.get(i) {
            Some(Shape::Proper | Shape::Thin) => corners(positions, &triangles[i]),
            _ => None,
        };
        let bounds = Aabb::of_points(positions.iter().filter(|p| p.is_finite()));
        let origin = if bounds.is_empty() { Vec3::ZERO } else { bounds.centre() };
        let frame = dominant_frame(triangles.len(), corners);
        // More than the rounding of turning a point into the frame.
        let slack = if bounds.is_empty() { 0.0 } else { 16.0 * f64::EPSILON * bounds.size().length() };
        self.bvh.refit(Vec3::ZERO, |i| {
            let turned = corners(i).map(|c| c.map(|p| frame * (p - origin)));
            ([turned.map_or(Aabb::EMPTY, |c| Aabb::of_points(&c))], slack)
        });
        self.bvh.split_self(&mut self.tasks);
        let (bvh, tasks) = (&self.bvh, &self.tasks);
        let mut findings = par::gather(tasks.tasks().len(), 1, |range, out| {
            for &task in &tasks.tasks()[range] {
                bvh.run_self(tasks, task, |i, j| {
                    let pair = [i.min(j), i.max(j)];
                    let thin = pair.map(|k| shapes[k as usize] == Shape::Thin);
                    let [a, b] = pair.map(|k| &triangles[k as usize]);
                    let contact = match thin {
                        [false, false] => classify::proper(positions, a, b),
                        _ => thin::contact(positions, [a, b], thin),
                    };
                    out.extend(contact.map(|contact| Finding { triangles: pair, contact }));
                });
            }
        });
        findings.sort_unstable();
        Audit { findings, degenerate: of_kind(Shape::Thin), invalid: of_kind(Shape::Invalid) }
    }
}

fn corners(positions: &[Vec3], t: &[u32; 3]) -> Option<[Vec3; 3]> {
    let at = |i: u32| positions.get(i as usize).copied().filter(|p| p.is_finite());
    Some([at(t[0])?, at(t[1])?, at(t[2])?])
}

fn shape(positions: &[Vec3], t: &[u32; 3]) -> Shape {
    match corners(positions, t) {
        None => Shape::Invalid,
        Some([a, b, c]) if projection_axis(a, b, c).is_none() => Shape::Thin,
        Some(_) => Shape::Proper,
    }
}
