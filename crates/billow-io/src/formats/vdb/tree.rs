//! The inner nodes of a tree: 32³ children of 128³ voxels under each root entry, 16³ leaves under each of those.

use super::{VdbGrid, VdbLeaf, VdbTile, VdbValue};
use std::collections::BTreeMap;

/// Children along the edge of an inner node, as powers of two: upper and lower nodes.
pub(super) const UPPER_BITS: u32 = 5;
pub(super) const LOWER_BITS: u32 = 4;
/// Voxels along an edge, as powers of two.
pub(super) const UPPER_SPAN: u32 = 12;
pub(super) const LOWER_SPAN: u32 = 7;
pub(super) const LEAF_SPAN: u32 = 3;

/// What a slot of an inner node holds: a tile's value and activity.
pub(super) type TileSlot<T> = (usize, T, bool);

/// A lower node: its leaves and tiles by slot.
pub(super) struct Lower<'a, T> {
    pub(super) leaves: BTreeMap<usize, &'a VdbLeaf<T>>,
    pub(super) tiles: Vec<TileSlot<T>>,
}

/// An upper node: lower nodes and tiles by slot.
pub(super) struct Upper<'a, T> {
    pub(super) lower: BTreeMap<usize, Lower<'a, T>>,
    pub(super) tiles: Vec<TileSlot<T>>,
}

/// The whole tree; coordinates of upper nodes are multiples of 4096.
pub(super) struct Tree<'a, T> {
    pub(super) upper: BTreeMap<[i32; 3], Upper<'a, T>>,
    pub(super) tiles: Vec<&'a VdbTile<T>>,
}

/// First voxel of the node of the given span that holds a voxel.
pub(super) fn node_origin(c: [i32; 3], span: u32) -> [i32; 3] {
    c.map(|v| v >> span << span)
}

/// Slot of a voxel's child within its node: x slowest.
pub(super) fn slot(c: [i32; 3], span: u32, child_span: u32) -> usize {
    let bits = span - child_span;
    let [x, y, z] = c.map(|v| (v >> child_span) as usize & ((1 << bits) - 1));
    x << (2 * bits) | y << bits | z
}

/// First voxel of a slot.
pub(super) fn slot_origin(node: [i32; 3], slot: usize, span: u32, child_span: u32) -> [i32; 3] {
    let bits = span - child_span;
    let mask = (1 << bits) - 1;
    let c = [slot >> (2 * bits), slot >> bits & mask, slot & mask];
    std::array::from_fn(|a| node[a] + ((c[a] as i32) << child_span))
}

impl<'a, T: VdbValue> Tree<'a, T> {
    pub(super) fn new(grid: &'a VdbGrid<T>) -> Self {
        let mut tree = Self { upper: BTreeMap::new(), tiles: Vec::new() };
        for leaf in &grid.leaves {
            let n = slot(leaf.origin, LOWER_SPAN, LEAF_SPAN);
            tree.lower(leaf.origin).leaves.insert(n, leaf);
        }
        for tile in &grid.tiles {
            match tile.edge {
                8 => {
                    let n = slot(tile.origin, LOWER_SPAN, LEAF_SPAN);
                    tree.lower(tile.origin).tiles.push((n, tile.value, tile.active));
                }
                128 => {
                    let n = slot(tile.origin, UPPER_SPAN, LOWER_SPAN);
                    tree.upper(tile.origin).tiles.push((n, tile.value, tile.active));
                }
                _ => tree.tiles.push(tile),
            }
        }
        tree
    }

    fn upper(&mut self, c: [i32; 3]) -> &mut Upper<'a, T> {
        let new = || Upper { lower: BTreeMap::new(), tiles: Vec::new() };
        self.upper.entry(node_origin(c, UPPER_SPAN)).or_insert_with(new)
    }

    fn lower(&mut self, c: [i32; 3]) -> &mut Lower<'a, T> {
        let new = || Lower { leaves: BTreeMap::new(), tiles: Vec::new() };
        self.upper(c).lower.entry(slot(c, UPPER_SPAN, LOWER_SPAN)).or_insert_with(new)
    }
}
