//! Broad phase over whole meshes: which points may meet which triangles and which edges which edges.
//!
//! Candidates are exactly the pairs whose (outward rounded) boxes overlap, except points against triangles that
//! contain them and edges against edges that share an end point ([Bri03] 2.4).

use crate::Aabb;
use crate::bvh::{Adjacency, Bvh, PairTasks, dominant_frame};
use billow_num::{Mat3, Vec3, par};
use std::ops::Range;

/// Trees over the points, edges and triangles of a scene that move together through one step.
///
/// `BroadPhase<1>` uses axis-aligned swept boxes, the documents' choice. `BroadPhase<2>` uses separate boxes at
/// both ends of the step, in the frame of the principal directions of the surface normals: this keeps far fewer
/// candidates and loses none that can meet in linear motion.
#[derive(Clone, Debug)]
pub struct BroadPhase<const E: usize> {
    pub(super) points: Bvh<E>,
    pub(super) edges: Bvh<E>,
    pub(super) triangles: Bvh<E>,
    pub(super) tasks: [PairTasks; 2],
    /// Positions at both ends of the step in the frame of the boxes [m].
    local: Vec<[Vec3; 2]>,
}

/// Pairs that may meet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidates {
    /// Points and triangles.
    pub vertex_face: Vec<[u32; 2]>,
    /// Edges and edges, smaller index first.
    pub edge_edge: Vec<[u32; 2]>,
}

/// Index lists of a scene: what its points are connected to.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a> {
    /// End points of all edges that take part.
    pub edges: &'a [[u32; 2]],
    /// Corners of all triangles that take part.
    pub triangles: &'a [[u32; 3]],
}

/// Positions at both ends of a step.
#[derive(Clone, Copy, Debug)]
pub struct Motion<'a> {
    /// Positions at the start [m].
    pub start: &'a [Vec3],
    /// Positions at the end [m].
    pub end: &'a [Vec3],
}

impl<const E: usize> BroadPhase<E> {
    /// Shapes the trees after the mesh, for points at `positions` [m]; good however the mesh moves and folds.
    pub fn new(positions: &[Vec3], elements: Elements<'_>) -> Self {
        let Elements { edges, triangles } = elements;
        let centre = |corners: &[u32]| {
            corners.iter().map(|&i| positions[i as usize]).sum::<Vec3>() / corners.len() as f64
        };
        let edge_centres = par::map(edges.len(), |k| centre(&edges[k]));
        let triangle_centres = par::map(triangles.len(), |k| centre(&triangles[k]));
        Self {
            points: Bvh::from_adjacency(positions, &Adjacency::of_points(positions.len(), edges)),
            edges: Bvh::from_adjacency(&edge_centres, &Adjacency::of_edges(edges, triangles)),
            triangles: Bvh::from_adjacency(&triangle_centres, &Adjacency::of_triangles(triangles)),
            tasks: Default::default(),
            local: Vec::new(),
        }
    }

    /// Recomputes all boxes for a step, each grown by `thickness` [m]; pairs nearer than twice that are found.
    /// Positions must be finite.
    pub fn refit(&mut self, motion: Motion<'_>, elements: Elements<'_>, thickness: f64) {
        let Motion { start, end } = motion;
        let bounds = par::reduce(start.len(), par::CHUNK, |r| Aabb::of_points(&start[r]), Aabb::union);
        let origin = bounds.filter(|b| !b.is_empty()).map_or(Vec3::ZERO, |b| b.centre());
        let frame = if E == 1 {
            Mat3::IDENTITY
        } else {
            dominant_frame(elements.triangles.len(), |t| {
                Some(elements.triangles[t].map(|i| start[i as usize]))
            })
        };
        self.local.resize(start.len(), [Vec3::ZERO; 2]);
        par::fill(&mut self.local, |i| [frame * (start[i] - origin), frame * (end[i] - origin)]);
        // Turning loses a few units in the last place of the largest coordinate, and the frame is only nearly
        // orthogonal.
        let farthest = |r: Range<usize>| {
            r.fold(0.0, |m: f64, i| m.max((start[i] - origin).length()).max((end[i] - origin).length()))
        };
        let radius = par::reduce(start.len(), par::CHUNK, farthest, f64::max).unwrap_or(0.0);
        let slack = if E == 1 { 0.0 } else { 16.0 * f64::EPSILON * radius + 1e-11 * thickness };
        let local = &self.local;
        let thickness = thickness + slack;
        self.points.refit(Vec3::ZERO, |i| (boxes(local, [i as u32]), thickness));
        self.edges.refit(Vec3::ZERO, |i| (boxes(local, elements.edges[i]), thickness));
        self.triangles.refit(Vec3::ZERO, |i| (boxes(local, elements.triangles[i]), thickness));
    }

    /// All candidate pairs, in tree order.
    pub fn candidates(&self, elements: Elements<'_>) -> Candidates {
        let mut all = Candidates::default();
        let mut tasks = PairTasks::default();
        self.points.split_pairs(&self.triangles, &mut tasks);
        all.vertex_face = par::gather(tasks.tasks().len(), 1, |range, out| {
            for &task in &tasks.tasks()[range] {
                self.points.run_pairs(&self.triangles, &tasks, task, |p, t| {
                    if !elements.triangles[t as usize].contains(&p) {
                        out.push([p, t]);
                    }
                });
            }
        });
        self.edges.split_self(&mut tasks);
        all.edge_edge = par::gather(tasks.tasks().len(), 1, |range, out| {
            for &task in &tasks.tasks()[range] {
                self.edges.run_self(&tasks, task, |i, j| {
                    if apart(elements.edges[i as usize], elements.edges[j as usize]) {
                        out.push([i.min(j), i.max(j)]);
                    }
                });
            }
        });
        all
    }
}

/// Whether two edges have no end point in common.
pub(super) fn apart(a: [u32; 2], b: [u32; 2]) -> bool {
    (a[0] != b[0]) & (a[0] != b[1]) & (a[1] != b[0]) & (a[1] != b[1])
}

/// Boxes around some points: one swept box, or one for each end of the step.
#[inline(always)]
fn boxes<const E: usize, const N: usize>(local: &[[Vec3; 2]], corners: [u32; N]) -> [Aabb; E] {
    let around = |e: usize| corners.iter().fold(Aabb::EMPTY, |b, &i| b.with(local[i as usize][e]));
    let ends = [around(0), around(1)];
    if E == 1 { [ends[0].union(ends[1]); E] } else { std::array::from_fn(|e| ends[e.min(1)]) }
}
