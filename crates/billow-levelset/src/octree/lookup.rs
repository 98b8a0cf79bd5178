//! Point location with a remembered path ([Bri03] 6): coherent queries climb only as far as they must.

use super::{LEAF, Octree};
use crate::lattice::trilinear;
use billow_num::Vec3;

/// Deepest tree supported.
pub(super) const MAX_DEPTH: usize = 20;

/// Remembers the path to the last leaf.
#[derive(Clone, Debug)]
pub struct OctreeCursor<'a> {
    tree: &'a Octree,
    /// Cells from the root to the last leaf.
    path: [u32; MAX_DEPTH + 1],
    level: usize,
    /// Coordinates of the last leaf, in cells of the finest level.
    at: [u32; 3],
    steps: u64,
}

impl<'a> OctreeCursor<'a> {
    /// A cursor at the root.
    pub fn new(tree: &'a Octree) -> Self {
        Self { tree, path: [0; MAX_DEPTH + 1], level: 0, at: [0; 3], steps: 0 }
    }

    /// Cells visited so far, up or down.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Value [m] and gradient [-] at a point of the domain.
    pub fn value_and_gradient(&mut self, x: Vec3) -> (f64, Vec3) {
        let tree = self.tree;
        let finest = tree.finest();
        let u = (x - tree.origin) / finest;
        let last = f64::from((1u32 << tree.depth) - 1);
        let c = u.to_array().map(|v| v.floor().clamp(0.0, last) as u32);
        self.locate(c);
        let shift = tree.depth as usize - self.level;
        let edge = f64::from(1u32 << shift);
        let corner = c.map(|v| f64::from(v >> shift << shift));
        let s = ((u - Vec3::from(corner)) / edge).clamp(Vec3::ZERO, Vec3::ONE);
        let leaf = &tree.cells[self.path[self.level] as usize];
        let v = tree.corners[leaf.corners as usize].map(|n| tree.values[n as usize]);
        let (value, gradient) = trilinear(v, s);
        (value, gradient / (edge * finest))
    }

    /// Moves to the leaf that holds a cell of the finest level.
    fn locate(&mut self, c: [u32; 3]) {
        let depth = self.tree.depth as usize;
        // Levels down to which the old and the new path are the same.
        let differ = (c[0] ^ self.at[0]) | (c[1] ^ self.at[1]) | (c[2] ^ self.at[2]);
        let shared = depth - (32 - differ.leading_zeros() as usize);
        let start = self.level;
        self.level = self.level.min(shared);
        self.steps += (start - self.level) as u64;
        self.at = c;
        loop {
            let cell = &self.tree.cells[self.path[self.level] as usize];
            if cell.children == LEAF {
                return;
            }
            let bit = depth - self.level - 1;
            let child = (c[0] >> bit & 1) | (c[1] >> bit & 1) << 1 | (c[2] >> bit & 1) << 2;
            self.level += 1;
            self.path[self.level] = cell.children + child;
            self.steps += 1;
        }
    }
}
