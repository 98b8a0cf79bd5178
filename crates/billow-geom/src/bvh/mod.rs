//! Hierarchy of axis-aligned boxes over triangles, edges, points or anything with a box ([Bri03] 2.4).
//!
//! The shape of the tree is built once, bottom-up from mesh adjacency as the document does
//! ([`Bvh::from_adjacency`]) or by spatial median splits ([`Bvh::from_centres`]); each step only refits the
//! boxes, in O(n), in parallel, or for the touched primitives alone. Nodes are four wide and stored level by
//! level. Every primitive has `E` boxes:
//! * `Bvh<1>`: one box, static or around the start and end positions (the document's swept box);
//! * `Bvh<2>`: one box at the start and one at the end of a linear motion. Two primitives can only meet if no
//!   axis separates them in the same order at both ends, which keeps far fewer pairs than swept boxes when
//!   things move together.
//!
//! Queries return conservative supersets in an order that depends on the tree alone, never on the threads.

mod adjacency;
mod build;
mod frame;
mod lanes;
mod marks;
mod node;
mod pairs;
mod query;

pub use adjacency::Adjacency;
pub(crate) use frame::dominant_frame;
pub use marks::Marks;
pub use pairs::{PairTasks, Task};
pub use query::RayHit;

use crate::Aabb;
use billow_num::{Vec3, par};
use node::{NONE, Node, WIDTH, round_out};

/// Boxes of one primitive at `E` instants in single precision: lower and upper corner, relative to a tree's origin [m].
pub type SingleBoxes<const E: usize> = [[[f32; 3]; 2]; E];

/// A box hierarchy with `E` boxes per primitive.
#[derive(Clone, Debug)]
pub struct Bvh<const E: usize> {
    /// Nodes level by level, the parents of the primitives first and the root last.
    nodes: Vec<Node<E>>,
    /// Start of each level in `nodes`; one more entry for the end.
    levels: Vec<usize>,
    /// Where each primitive sits: `node * 4 + lane`.
    slot: Vec<u32>,
    /// Where each node sits in its parent: `node * 4 + lane`; `NONE` for the root.
    parent: Vec<u32>,
    /// Boxes are stored relative to this point [m].
    origin: Vec3,
    /// Nodes to refit, per level (scratch of partial refits).
    touched: Vec<u32>,
}

impl<const E: usize> Bvh<E> {
    /// Number of primitives.
    pub fn len(&self) -> usize {
        self.slot.len()
    }

    /// Whether there is no primitive at all.
    pub fn is_empty(&self) -> bool {
        self.slot.is_empty()
    }

    /// The point boxes are stored relative to [m].
    pub fn origin(&self) -> Vec3 {
        self.origin
    }

    /// Recomputes all boxes: `leaf(i)` gives the boxes of primitive `i` and the thickness to grow them by [m].
    ///
    /// Boxes are stored in single precision relative to `origin`; the middle of the scene is a good choice.
    /// Trees can only be queried against each other quickly if they share it.
    pub fn refit(&mut self, origin: Vec3, leaf: impl Fn(usize) -> ([Aabb; E], f64) + Sync) {
        self.refit_single(origin, |i| {
            let (boxes, thickness) = leaf(i);
            round_out(&boxes, origin, thickness)
        });
    }

    /// The same with boxes that are in single precision relative to `origin` already; what has no bounds reaches to the
    /// largest finite number.
    pub fn refit_single(&mut self, origin: Vec3, leaf: impl Fn(usize) -> SingleBoxes<E> + Sync) {
        self.origin = origin;
        let Some(&leaves) = self.levels.get(1) else { return };
        par::chunks_mut(&mut self.nodes[..leaves], REFIT_CHUNK, |_, nodes| {
            for node in nodes {
                refit_leaves(node, &leaf);
            }
        });
        for l in 1..self.levels.len() - 1 {
            let (below, level) = self.nodes.split_at_mut(self.levels[l]);
            let below = &*below;
            let size = self.levels[l + 1] - self.levels[l];
            par::chunks_mut(&mut level[..size], REFIT_CHUNK, |_, nodes| {
                for node in nodes {
                    refit_inner(node, below);
                }
            });
        }
    }

    /// Recomputes the boxes of the given primitives and of their ancestors; the origin stays.
    pub fn refit_some(
        &mut self,
        primitives: impl IntoIterator<Item = u32>,
        leaf: impl Fn(usize) -> ([Aabb; E], f64),
    ) {
        let origin = self.origin;
        self.refit_some_single(primitives, |i| {
            let (boxes, thickness) = leaf(i);
            round_out(&boxes, origin, thickness)
        });
    }

    /// The same with boxes that are in single precision relative to the origin already.
    pub fn refit_some_single(
        &mut self,
        primitives: impl IntoIterator<Item = u32>,
        leaf: impl Fn(usize) -> SingleBoxes<E>,
    ) {
        let mut touched = std::mem::take(&mut self.touched);
        touched.clear();
        for i in primitives {
            let Some(&slot) = self.slot.get(i as usize) else { continue };
            let node = slot / WIDTH as u32;
            self.nodes[node as usize].set(slot as usize % WIDTH, &leaf(i as usize));
            touched.push(node);
        }
        // Level by level, each touched parent once.
        while !touched.is_empty() {
            touched.sort_unstable();
            touched.dedup();
            touched.retain_mut(|node| {
                let slot = self.parent[*node as usize];
                if slot == NONE {
                    return false;
                }
                let boxes = self.nodes[*node as usize].union();
                self.nodes[slot as usize / WIDTH].set(slot as usize % WIDTH, &boxes);
                *node = slot / WIDTH as u32;
                true
            });
        }
        self.touched = touched;
    }

    /// All primitives in the order of the tree: what follows one another is near.
    pub fn order(&self) -> impl Iterator<Item = u32> + '_ {
        let leaves = self.levels.get(1).copied().unwrap_or(0);
        self.nodes[..leaves].iter().flat_map(|node| node.child).filter(|i| *i != NONE)
    }

    /// Index of the root and its level; `None` for an empty tree.
    fn root(&self) -> Option<(usize, usize)> {
        self.nodes.len().checked_sub(1).map(|root| (root, self.levels.len() - 2))
    }
}

/// Nodes per parallel chunk of a refit.
const REFIT_CHUNK: usize = 512;

fn refit_leaves<const E: usize>(node: &mut Node<E>, leaf: impl Fn(usize) -> SingleBoxes<E>) {
    for lane in 0..WIDTH {
        if node.child[lane] != NONE {
            node.set(lane, &leaf(node.child[lane] as usize));
        }
    }
}

fn refit_inner<const E: usize>(node: &mut Node<E>, below: &[Node<E>]) {
    for lane in 0..WIDTH {
        if node.child[lane] != NONE {
            node.set(lane, &below[node.child[lane] as usize].union());
        }
    }
}

impl<const E: usize> Bvh<E> {
    /// The same tree with boxes relative to another origin, a little looser.
    fn moved_to(&self, origin: Vec3) -> Self {
        let mut moved = self.clone();
        moved.origin = origin;
        // More than the rounding of going to world coordinates and back.
        let slack = 4.0 * f64::EPSILON * (self.origin.abs() + origin.abs()).max_element();
        for node in &mut moved.nodes {
            for lane in 0..WIDTH {
                if node.child[lane] == NONE {
                    continue;
                }
                let corner = |c: [f32; 3]| Vec3::from_array(c.map(f64::from)) + self.origin;
                let boxes = node.lane(lane).map(|[lo, hi]| Aabb { min: corner(lo), max: corner(hi) });
                node.set(lane, &round_out(&boxes, origin, slack));
            }
        }
        moved
    }
}
