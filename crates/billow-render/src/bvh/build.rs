//! Building the hierarchy: binned surface-area heuristic, four children per node.
//!
//! Each node starts as one range of primitives; three times the range with the largest box is cut where the
//! surface-area heuristic over sixteen bins says. Large subtrees are built side by side and joined in a fixed order,
//! so the result does not depend on the number of threads.

use super::{Block, Bounds, Bvh, COUNT_BITS, LEAF, NONE, Node};
use crate::vector::{Vec3, Vec4};
use billow_num::par;

const BINS: usize = 16;
/// Ranges up to one block become leaves.
const LEAF_SIZE: usize = 4;
/// Subtrees with more primitives than this are built in parallel.
const PARALLEL: usize = 4096;
/// From this depth on ranges are halved by count, which needs at most 16 more levels for 2³² primitives.
const HEURISTIC_DEPTH: usize = 32;
/// No tree is deeper than this.
pub(super) const DEEPEST: usize = HEURISTIC_DEPTH + 17;

#[derive(Clone, Copy)]
struct Item {
    bounds: Bounds,
    index: u32,
}

impl Item {
    /// Twice the centre of the box.
    #[inline]
    fn centre(&self) -> Vec3 {
        self.bounds.lo + self.bounds.hi
    }
}

/// Nodes and blocks of a subtree, numbered from zero.
#[derive(Default)]
struct Subtree {
    nodes: Vec<Node>,
    blocks: Vec<Block>,
}

pub(super) fn build(boxes: &[Bounds]) -> Bvh {
    let mut items: Vec<Item> = boxes
        .iter()
        .enumerate()
        .filter(|(_, b)| !b.is_empty())
        .map(|(k, b)| Item { bounds: *b, index: k as u32 })
        .collect();
    let bounds = enclosing(&items);
    let mut tree = Subtree::default();
    if !items.is_empty() {
        tree.node(&mut items, 0);
    }
    Bvh { nodes: tree.nodes, blocks: tree.blocks, bounds }
}

fn enclosing(items: &[Item]) -> Bounds {
    items.iter().fold(Bounds::EMPTY, |all, item| all.union(item.bounds))
}

impl Subtree {
    /// Appends the subtree over `items` and returns the word that refers to it.
    fn node(&mut self, items: &mut [Item], depth: usize) -> u32 {
        let ranges = cut_in_four(items, depth);
        let me = self.nodes.len();
        let mut node = empty_node();
        for (lane, (_, bounds)) in ranges.iter().enumerate() {
            set_lane(&mut node, lane, bounds);
        }
        self.nodes.push(node);
        let words = if ranges.iter().map(|(r, _)| r.len()).sum::<usize>() > PARALLEL {
            self.children_side_by_side(ranges, depth)
        } else {
            ranges.into_iter().map(|(range, _)| self.child(range, depth)).collect()
        };
        self.nodes[me].children[..words.len()].copy_from_slice(&words);
        me as u32
    }

    fn child(&mut self, range: &mut [Item], depth: usize) -> u32 {
        if range.len() <= LEAF_SIZE { self.leaf(range) } else { self.node(range, depth + 1) }
    }

    fn leaf(&mut self, range: &[Item]) -> u32 {
        let mut block = [NONE; 4];
        for (slot, item) in block.iter_mut().zip(range) {
            *slot = item.index;
        }
        self.blocks.push(block);
        LEAF | ((self.blocks.len() - 1) as u32) << COUNT_BITS
    }

    fn children_side_by_side(&mut self, ranges: Vec<(&mut [Item], Bounds)>, depth: usize) -> Vec<u32> {
        struct Job<'a> {
            range: &'a mut [Item],
            tree: Subtree,
            root: u32,
        }
        let mut jobs: Vec<Job<'_>> =
            ranges.into_iter().map(|(range, _)| Job { range, tree: Self::default(), root: 0 }).collect();
        par::chunks_mut(&mut jobs, 1, |_, jobs| {
            for job in jobs {
                job.root = job.tree.child(job.range, depth);
            }
        });
        jobs.into_iter().map(|job| self.append(job.tree, job.root)).collect()
    }

    /// Appends a finished subtree, renumbering its nodes and blocks; returns the new word of its root.
    fn append(&mut self, tree: Self, root: u32) -> u32 {
        let nodes = self.nodes.len() as u32;
        let blocks = (self.blocks.len() as u32) << COUNT_BITS;
        let moved = |word: u32| if word & LEAF == 0 { word + nodes } else { word + blocks };
        self.nodes.extend(tree.nodes.into_iter().map(|mut node| {
            // Unused lanes have empty boxes and are never followed.
            node.children = node.children.map(moved);
            node
        }));
        self.blocks.extend(tree.blocks);
        moved(root)
    }
}

fn empty_node() -> Node {
    let (lo, hi) = (Vec4::INFINITY, Vec4::NEG_INFINITY);
    Node { bounds: [lo, hi, lo, hi, lo, hi], children: [0; 4] }
}

fn set_lane(node: &mut Node, lane: usize, bounds: &Bounds) {
    for axis in 0..3 {
        node.bounds[2 * axis][lane] = bounds.lo[axis];
        node.bounds[2 * axis + 1][lane] = bounds.hi[axis];
    }
}

/// Cuts a range into up to four, always the one with the largest box that is more than a leaf.
fn cut_in_four(items: &mut [Item], depth: usize) -> Vec<(&mut [Item], Bounds)> {
    let all = enclosing(items);
    let mut ranges = vec![(items, all)];
    while ranges.len() < 4 {
        let widest = (0..ranges.len())
            .filter(|k| ranges[*k].0.len() > LEAF_SIZE)
            .max_by(|a, b| ranges[*a].1.half_area().total_cmp(&ranges[*b].1.half_area()));
        let Some(widest) = widest else { break };
        let (range, bounds) = ranges.swap_remove(widest);
        let middle = if depth < HEURISTIC_DEPTH { cut(range) } else { None };
        let middle = middle.unwrap_or_else(|| halve(range, &bounds));
        let (a, b) = range.split_at_mut(middle);
        for half in [a, b] {
            let bounds = enclosing(half);
            ranges.push((half, bounds));
        }
    }
    ranges
}

/// Half of the items on each side of the median along the longest axis.
fn halve(items: &mut [Item], bounds: &Bounds) -> usize {
    let size = bounds.hi - bounds.lo;
    let axis = (0..3).max_by(|a, b| size[*a].total_cmp(&size[*b])).unwrap_or(0);
    let middle = items.len() / 2;
    items.select_nth_unstable_by(middle, |a, b| {
        a.centre()[axis].total_cmp(&b.centre()[axis]).then(a.index.cmp(&b.index))
    });
    middle
}

/// Reorders the items around the best plane of the binned heuristic; none if all centres coincide.
fn cut(items: &mut [Item]) -> Option<usize> {
    let centres = Bounds::of(items.iter().map(Item::centre));
    let size = centres.hi - centres.lo;
    if !(size.max_element() > 0.0 && size.max_element().is_finite()) {
        return None;
    }
    let scale = (BINS as f32 * 0.999_99) / size.max(Vec3::splat(f32::MIN_POSITIVE));
    let bin_of = |item: &Item| (item.centre() - centres.lo) * scale;
    let mut bins = [[(Bounds::EMPTY, 0u32); BINS]; 3];
    for item in items.iter() {
        let bin = bin_of(item);
        for axis in 0..3 {
            let slot = &mut bins[axis][(bin[axis] as usize).min(BINS - 1)];
            slot.0 = slot.0.union(item.bounds);
            slot.1 += 1;
        }
    }
    let (axis, plane) = (0..3)
        .filter(|axis| size[*axis] > 0.0)
        .filter_map(|axis| best_plane(&bins[axis]).map(|(cost, plane)| (cost, axis, plane)))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, axis, plane)| (axis, plane))?;
    Some(partition(items, |item| (bin_of(item)[axis] as usize).min(BINS - 1) < plane))
}

/// The cheapest plane between bins and its cost, counting whole blocks.
fn best_plane(bins: &[(Bounds, u32); BINS]) -> Option<(f32, usize)> {
    let cost = |bounds: &Bounds, n: u32| bounds.half_area() * n.div_ceil(LEAF_SIZE as u32) as f32;
    let mut right = [0.0f32; BINS];
    let (mut bounds, mut n) = (Bounds::EMPTY, 0);
    for k in (1..BINS).rev() {
        bounds = bounds.union(bins[k].0);
        n += bins[k].1;
        right[k] = if n == 0 { f32::INFINITY } else { cost(&bounds, n) };
    }
    let (mut bounds, mut n) = (Bounds::EMPTY, 0);
    let mut best: Option<(f32, usize)> = None;
    for k in 1..BINS {
        bounds = bounds.union(bins[k - 1].0);
        n += bins[k - 1].1;
        let total = if n == 0 { f32::INFINITY } else { cost(&bounds, n) + right[k] };
        if total.is_finite() && best.is_none_or(|(least, _)| total < least) {
            best = Some((total, k));
        }
    }
    best
}

/// Moves the items that satisfy `left` to the front; returns how many.
fn partition(items: &mut [Item], left: impl Fn(&Item) -> bool) -> usize {
    let mut count = 0;
    for k in 0..items.len() {
        if left(&items[k]) {
            items.swap(k, count);
            count += 1;
        }
    }
    count
}
