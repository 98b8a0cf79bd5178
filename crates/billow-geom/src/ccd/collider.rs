//! Broad and narrow phase over a whole scene: every pair that may meet during a step.
//!
//! Trees with boxes at both ends of the step feed the exact-margin queries directly, so no candidate list is
//! stored. Results are the same for any number of threads.

use super::broad::{BroadPhase, Candidates, Elements, Motion, apart};
use super::query::{moving_edge_edge, moving_vertex_face};
use super::{Hit, Vec3};
use crate::GeomError;
use crate::bvh::PairTasks;
use billow_num::par;
use rayon::prelude::*;

/// Which elements met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pair {
    /// A point and a triangle.
    VertexFace {
        /// Index of the point.
        vertex: u32,
        /// Index of the triangle.
        face: u32,
    },
    /// Two edges, smaller index first.
    EdgeEdge {
        /// Indices of the edges.
        edges: [u32; 2],
    },
}

/// A pair that may meet during the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collision {
    /// The elements.
    pub pair: Pair,
    /// When and how they meet.
    pub hit: Hit,
}

/// What [`Collider::find`] saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Point–triangle pairs that reached the narrow phase.
    pub vertex_face: u64,
    /// Edge–edge pairs that reached the narrow phase.
    pub edge_edge: u64,
}

/// Collision detection of one scene, with everything it reuses between steps.
#[derive(Clone, Debug)]
pub struct Collider {
    broad: BroadPhase<2>,
    found: Vec<Part>,
    collisions: Vec<Collision>,
    moves: Vec<[Vec3; 2]>,
}

/// Result of one task.
#[derive(Clone, Debug, Default)]
struct Part {
    collisions: Vec<Collision>,
    candidates: u64,
}

impl Collider {
    /// Prepares a scene whose points are at `positions` [m].
    pub fn new(positions: &[Vec3], elements: Elements<'_>) -> Self {
        Self {
            broad: BroadPhase::new(positions, elements),
            found: Vec::new(),
            collisions: Vec::new(),
            moves: Vec::new(),
        }
    }

    /// All pairs that may touch or come as close as `separation` [m] during the step, earliest first.
    ///
    /// No pair that does is missing. The whole scene is proven free of such pairs up to the first `toi`.
    pub fn find(
        &mut self,
        motion: Motion<'_>,
        elements: Elements<'_>,
        separation: f64,
    ) -> Result<(&[Collision], Counts), GeomError> {
        check_finite(motion)?;
        self.broad.refit(motion, elements, 0.5 * separation.max(0.0));
        self.moves.resize(motion.start.len(), [Vec3::ZERO; 2]);
        par::fill(&mut self.moves, |i| [motion.start[i], motion.end[i]]);
        self.collisions.clear();
        let counts = Counts {
            vertex_face: self.vertex_faces(elements, separation),
            edge_edge: self.edge_edges(elements, separation),
        };
        self.collisions.sort_unstable_by(|a, b| a.hit.toi.total_cmp(&b.hit.toi).then(a.pair.cmp(&b.pair)));
        Ok((&self.collisions, counts))
    }

    /// The largest fraction of the step that is proven free of collisions: 1 if all of it is.
    pub fn largest_step(
        &mut self,
        motion: Motion<'_>,
        elements: Elements<'_>,
        separation: f64,
    ) -> Result<f64, GeomError> {
        let (collisions, _) = self.find(motion, elements, separation)?;
        Ok(collisions.first().map_or(1.0, |c| c.hit.toi))
    }

    fn vertex_faces(&mut self, elements: Elements<'_>, separation: f64) -> u64 {
        let BroadPhase { points, triangles, tasks: [tasks, _], .. } = &mut self.broad;
        points.split_pairs(triangles, tasks);
        let (tasks, moves) = (&*tasks, &self.moves);
        let count = run(tasks, &mut self.found, |k, part| {
            points.run_pairs(triangles, tasks, tasks.tasks()[k], |vertex, face| {
                let [a, b, c] = elements.triangles[face as usize];
                if vertex == a || vertex == b || vertex == c {
                    return;
                }
                part.candidates += 1;
                let (x0, x1) = corners(moves, [vertex, a, b, c]);
                if let Some(hit) = moving_vertex_face(x0, x1, separation, |_| {}) {
                    part.collisions.push(Collision { pair: Pair::VertexFace { vertex, face }, hit });
                }
            });
        });
        self.take_found(count)
    }

    fn edge_edges(&mut self, elements: Elements<'_>, separation: f64) -> u64 {
        let BroadPhase { edges, tasks: [_, tasks], .. } = &mut self.broad;
        edges.split_self(tasks);
        let (tasks, moves) = (&*tasks, &self.moves);
        let count = run(tasks, &mut self.found, |k, part| {
            edges.run_self(tasks, tasks.tasks()[k], |i, j| {
                let pair = [i.min(j), i.max(j)];
                let [a, b] = pair.map(|k| elements.edges[k as usize]);
                if !apart(a, b) {
                    return;
                }
                part.candidates += 1;
                let (x0, x1) = corners(moves, [a[0], a[1], b[0], b[1]]);
                if let Some(hit) = moving_edge_edge(x0, x1, separation, |_| {}) {
                    part.collisions.push(Collision { pair: Pair::EdgeEdge { edges: pair }, hit });
                }
            });
        });
        self.take_found(count)
    }

    /// Appends the collisions of the first `count` tasks; returns how many candidates they saw.
    fn take_found(&mut self, count: usize) -> u64 {
        let mut candidates = 0;
        for part in &mut self.found[..count] {
            self.collisions.append(&mut part.collisions);
            candidates += std::mem::take(&mut part.candidates);
        }
        candidates
    }
}

/// Narrow phase alone: the candidates that may touch or come as close as `separation` [m], in their order.
pub fn narrow_phase(
    candidates: &Candidates,
    motion: Motion<'_>,
    elements: Elements<'_>,
    separation: f64,
) -> Result<Vec<Collision>, GeomError> {
    check_finite(motion)?;
    let moves = par::map(motion.start.len(), |i| [motion.start[i], motion.end[i]]);
    let mut all = par::gather(candidates.vertex_face.len(), NARROW_CHUNK, |range, out| {
        for &[vertex, face] in &candidates.vertex_face[range] {
            let [a, b, c] = elements.triangles[face as usize];
            let (x0, x1) = corners(&moves, [vertex, a, b, c]);
            let hit = moving_vertex_face(x0, x1, separation, |_| {});
            out.extend(hit.map(|hit| Collision { pair: Pair::VertexFace { vertex, face }, hit }));
        }
    });
    all.append(&mut par::gather(candidates.edge_edge.len(), NARROW_CHUNK, |range, out| {
        for &edges in &candidates.edge_edge[range] {
            let [a, b] = edges.map(|k| elements.edges[k as usize]);
            let (x0, x1) = corners(&moves, [a[0], a[1], b[0], b[1]]);
            let hit = moving_edge_edge(x0, x1, separation, |_| {});
            out.extend(hit.map(|hit| Collision { pair: Pair::EdgeEdge { edges }, hit }));
        }
    }));
    Ok(all)
}

/// Candidates per parallel chunk.
const NARROW_CHUNK: usize = 4096;

/// Runs all tasks, each into its own part; returns their number.
fn run(tasks: &PairTasks, parts: &mut Vec<Part>, work: impl Fn(usize, &mut Part) + Sync) -> usize {
    let count = tasks.tasks().len();
    if parts.len() < count {
        parts.resize_with(count, Part::default);
    }
    parts[..count].par_iter_mut().enumerate().with_max_len(1).for_each(|(k, part)| work(k, part));
    count
}

#[inline(always)]
fn corners(moves: &[[Vec3; 2]], i: [u32; 4]) -> ([Vec3; 4], [Vec3; 4]) {
    let m = i.map(|i| moves[i as usize]);
    (m.map(|[start, _]| start), m.map(|[_, end]| end))
}

fn check_finite(motion: Motion<'_>) -> Result<(), GeomError> {
    for x in [motion.start, motion.end] {
        let first = |r: std::ops::Range<usize>| r.into_iter().find(|&i| !x[i].is_finite());
        if let Some(i) = par::reduce(x.len(), par::CHUNK, first, |a, b| a.or(b)).flatten() {
            return Err(GeomError::NotFinite { vertex: i, position: x[i] });
        }
    }
    Ok(())
}
