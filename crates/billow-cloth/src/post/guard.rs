//! Nodes that go towards a goal and stop before they meet anything ([Bri03] 3.2).
//!
//! The way from where a node is to where it should be is treated like the motion of a step; certified collision
//! detection finds the pairs that would meet. Their nodes stop short of the meeting and everything is tested again;
//! nodes that keep meeting after a few rounds stay where they began.

use billow_geom::GeomError;
use billow_geom::ccd::{Collider, Elements, Motion, Pair};
use billow_geom::mesh::Topology;
use billow_num::{Vec3, par};

/// Rounds in which nodes stop short of a meeting; after them they stay where they began.
const ROUNDS: u32 = 4;
/// Part of the way to a meeting that is gone.
const SHORT: f64 = 0.8;

/// The pieces and obstacles of a frame as one scene.
pub struct Guard {
    edges: Vec<[u32; 2]>,
    triangles: Vec<[u32; 3]>,
    /// Number of vertices of each piece.
    sizes: Vec<usize>,
}

/// Where the nodes got to.
pub struct Guarded {
    /// Positions [m].
    pub x: Vec<Vec3>,
    /// Nodes that did not get where they should.
    pub stopped: u64,
}

impl Guard {
    /// A scene of pieces (vertices and triangles) and of obstacles that do not move.
    ///
    /// # Errors
    /// When a triangle names a vertex that does not exist.
    pub fn new(
        pieces: &[(usize, Vec<[u32; 3]>)],
        obstacles: &[(usize, &[[u32; 3]])],
    ) -> Result<Self, GeomError> {
        let mut triangles = Vec::new();
        let mut first = 0;
        let meshes = pieces.iter().map(|(n, t)| (*n, t.as_slice())).chain(obstacles.iter().copied());
        for (vertices, mesh) in meshes {
            triangles.extend(mesh.iter().map(|t| t.map(|i| i + first)));
            first += vertices as u32;
        }
        let topology = Topology::new(first as usize, &triangles)?;
        let edges = topology.edges().to_vec();
        Ok(Self { edges, triangles, sizes: pieces.iter().map(|p| p.0).collect() })
    }

    /// Moves the pieces from `start` towards `goal`; see [`Guard::advance`].
    ///
    /// # Errors
    /// When a position is not finite.
    pub fn go(
        &self,
        start: Vec<Vec<Vec3>>,
        goal: Vec<Vec<Vec3>>,
        obstacles: &[Vec<Vec3>],
        separation: f64,
        stopped: &mut u64,
    ) -> Result<Vec<Vec<Vec3>>, GeomError> {
        let joined = |pieces: Vec<Vec<Vec3>>| -> Vec<Vec3> {
            pieces.into_iter().flatten().chain(obstacles.iter().flatten().copied()).collect()
        };
        let (start, goal) = (joined(start), joined(goal));
        let Guarded { x, stopped: count } = self.advance(&start, &goal, separation)?;
        *stopped += count;
        let mut rest = x.as_slice();
        let mut pieces = Vec::new();
        for size in &self.sizes {
            let (piece, after) = rest.split_at(*size);
            pieces.push(piece.to_vec());
            rest = after;
        }
        Ok(pieces)
    }

    /// Moves all nodes from `start` towards `goal`, keeping `separation` [m] between everything that keeps it at the
    /// start.
    ///
    /// # Errors
    /// When a position is not finite.
    pub fn advance(&self, start: &[Vec3], goal: &[Vec3], separation: f64) -> Result<Guarded, GeomError> {
        let elements = Elements { edges: &self.edges, triangles: &self.triangles };
        let mut collider = Collider::new(start, elements);
        let mut part = vec![1.0f64; start.len()];
        let mut x = goal.to_vec();
        for round in 0.. {
            let (found, _) = collider.find(Motion { start, end: &x }, elements, separation)?;
            let (before, mut changed) = (part.clone(), false);
            for collision in found {
                let nodes = nodes(&collision.pair, elements);
                let keep = if round < ROUNDS { SHORT * collision.hit.toi } else { 0.0 };
                for i in nodes.map(|i| i as usize) {
                    // Of nodes that rest nothing more can be asked.
                    if part[i] > 0.0 && start[i] != goal[i] {
                        part[i] = part[i].min(before[i] * keep);
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
            par::fill(&mut x, |i| match part[i] {
                1.0 => goal[i],
                part => start[i] + (goal[i] - start[i]) * part,
            });
        }
        let stopped = part.iter().filter(|p| **p < 1.0).count() as u64;
        Ok(Guarded { x, stopped })
    }
}

/// The four nodes of a pair.
fn nodes(pair: &Pair, elements: Elements<'_>) -> [u32; 4] {
    match pair {
        Pair::VertexFace { vertex, face } => {
            let [a, b, c] = elements.triangles[*face as usize];
            [*vertex, a, b, c]
        }
        Pair::EdgeEdge { edges } => {
            let [[a, b], [c, d]] = edges.map(|e| elements.edges[e as usize]);
            [a, b, c, d]
        }
    }
}
