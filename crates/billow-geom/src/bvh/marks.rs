//! Marks on some primitives, for queries about what is around them.
//!
//! A node's mark is a bit per lane, set if anything below is marked, so that a traversal leaves out whole subtrees
//! that have none.

use super::Bvh;
use super::node::{NONE, WIDTH};

/// Which primitives of a tree are marked.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// Bits of the lanes of every node.
    lanes: Vec<u8>,
    /// Nodes with a bit set.
    nodes: Vec<u32>,
}

/// Which lanes of a node a traversal is about.
pub(super) trait Wanted {
    /// A bit per lane.
    fn lanes(&self, node: usize) -> u32;
}

/// Everything is wanted.
pub(super) struct All;

impl All {
    /// All lanes of a node.
    pub(super) const LANES: u32 = (1 << WIDTH) - 1;
}

impl Wanted for All {
    #[inline(always)]
    fn lanes(&self, _: usize) -> u32 {
        Self::LANES
    }
}

impl Wanted for Marks {
    #[inline(always)]
    fn lanes(&self, node: usize) -> u32 {
        self.lanes[node].into()
    }
}

impl<const E: usize> Bvh<E> {
    /// Marks the given primitives and no others.
    pub fn mark(&self, primitives: impl IntoIterator<Item = u32>, marks: &mut Marks) {
        for node in marks.nodes.drain(..) {
            if let Some(lanes) = marks.lanes.get_mut(node as usize) {
                *lanes = 0;
            }
        }
        marks.lanes.resize(self.nodes.len(), 0);
        for i in primitives {
            let mut slot = self.slot.get(i as usize).copied().unwrap_or(NONE);
            // Upwards until somebody was there before.
            while slot != NONE {
                let (node, bit) = (slot as usize / WIDTH, 1 << (slot as usize % WIDTH));
                let lanes = &mut marks.lanes[node];
                if *lanes & bit != 0 {
                    break;
                }
                if *lanes == 0 {
                    marks.nodes.push(node as u32);
                }
                *lanes |= bit;
                slot = self.parent[node];
            }
        }
    }
}
