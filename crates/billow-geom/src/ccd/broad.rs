//! Broad phase over whole meshes: which points may meet which triangles and which edges which edges.
//!
//! Candidates are exactly the pairs whose (outward rounded) boxes overlap, except points against triangles that
//! contain them and edges against edges that share an end point ([Bri03] 2.4).

use crate::Aabb;
use crate::bvh::{Bvh, PairTasks};
use billow_num::{Vec3, par};

/// Trees over the points, edges and triangles of a scene that move together through one step.
///
/// `BroadPhase<1>` uses swept boxes, the documents' choice; `BroadPhase<2>` separate boxes at both ends of the
/// step, which keeps fewer candidates and loses none that can meet in linear motion.
#[derive(Clone, Debug)]
pub struct BroadPhase<const E: usize> {
    pub(super) points: Bvh<E>,
    pub(super) edges: Bvh<E>,
    pub(super) triangles: Bvh<E>,
    pub(super) tasks: [PairTasks; 2],
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
    /// Shapes the trees for points at `positions` [m] by median splits. They stay valid, if slower, as the points
    /// move.
    pub fn new(positions: &[Vec3], elements: Elements<'_>) -> Self {
        let centre = |corners: &[u32]| {
            corners.iter().map(|&i| positions[i as usize]).sum::<Vec3>() / corners.len() as f64
        };
        Self {
            points: Bvh::from_centres(positions),
            edges: Bvh::from_centres(&par::map(elements.edges.len(), |k| centre(&elements.edges[k]))),
            triangles: Bvh::from_centres(&par::map(elements.triangles.len(), |k| {
                centre(&elements.triangles[k])
            })),
            tasks: Default::default(),
        }
    }

    /// Recomputes all boxes for a step, each grown by `thickness` [m]; pairs nearer than twice that are found.
    /// Positions must be finite.
    pub fn refit(&mut self, motion: Motion<'_>, elements: Elements<'_>, thickness: f64) {
        let bounds = par::reduce(
            motion.start.len(),
            par::CHUNK,
            |r| Aabb::of_points(motion.start[r].iter().filter(|p| p.is_finite())),
            Aabb::union,
        );
        let origin = bounds.filter(|b| !b.is_empty()).map_or(Vec3::ZERO, |b| b.centre());
        self.points.refit(origin, |i| (motion.boxes([i as u32]), thickness));
        self.edges.refit(origin, |i| (motion.boxes(elements.edges[i]), thickness));
        self.triangles.refit(origin, |i| (motion.boxes(elements.triangles[i]), thickness));
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

impl Motion<'_> {
    /// Boxes around some points: one swept box, or one for each end of the step.
    #[inline(always)]
    fn boxes<const E: usize, const N: usize>(&self, corners: [u32; N]) -> [Aabb; E] {
        let around = |x: &[Vec3]| corners.iter().fold(Aabb::EMPTY, |b, &i| b.with(x[i as usize]));
        let ends = [around(self.start), around(self.end)];
        if E == 1 { [ends[0].union(ends[1]); E] } else { std::array::from_fn(|e| ends[e.min(1)]) }
    }
}
