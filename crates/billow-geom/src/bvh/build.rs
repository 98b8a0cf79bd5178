//! The two ways to shape a tree.
//!
//! *Pairing* ([Bri03] 2.4): sweep over the primitives and greedily pair off adjacent ones, sweep over the pairs
//! in the opposite direction, and so on until one root is left. Two sweeps make one level of four-wide nodes.
//! *Median splits*: cut at the median along the longest axis so that all nodes but the last of a level are
//! full.

use super::adjacency::{Adjacency, Level};
use super::node::{NONE, Node, WIDTH};
use super::{Aabb, Bvh, Vec3};

impl<const E: usize> Bvh<E> {
    /// Builds the tree from adjacency ([Bri03] 2.4): the best shape for meshes, since it follows the surface
    /// however that is folded. Parts that are not connected are joined by the nearness of their centres [m].
    ///
    /// Boxes are empty until the first [`Bvh::refit`].
    pub fn from_adjacency(centres: &[Vec3], adjacency: &Adjacency) -> Self {
        let n = centres.len().min(adjacency.len());
        let mut rank = vec![0; n];
        for (r, i) in spatial_order(&centres[..n]).into_iter().enumerate() {
            rank[i as usize] = r as u32;
        }
        let mut level = Level { adjacency: adjacency.clone(), rank };
        let mut levels = Vec::new();
        let mut forward = true;
        while n > 0 && (levels.is_empty() || level.rank.len() > 1) {
            // Two opposite sweeps join up to four elements under one node.
            let first = level.pair(forward);
            level = level.merged(&first);
            let second = level.pair(!forward);
            level = level.merged(&second);
            forward = !forward;
            levels.push(first.into_iter().map(|group| second[group as usize]).collect::<Vec<u32>>());
        }
        Self::from_groups(n, &levels)
    }

    /// Builds the tree by median splits of the primitives' centres [m].
    ///
    /// Boxes are empty until the first [`Bvh::refit`].
    pub fn from_centres(centres: &[Vec3]) -> Self {
        let n = centres.len();
        let order = spatial_order(centres);
        // Consecutive runs of four make a node, on every level.
        let mut levels = Vec::new();
        let mut count = n;
        let mut group = vec![0u32; n];
        for (rank, &i) in order.iter().enumerate() {
            group[i as usize] = (rank / WIDTH) as u32;
        }
        while count > 0 {
            count = count.div_ceil(WIDTH);
            levels.push(std::mem::take(&mut group));
            if count == 1 {
                break;
            }
            group = (0..count as u32).map(|k| k / WIDTH as u32).collect();
        }
        Self::from_groups(n, &levels)
    }

    /// Lays out nodes: `levels[l][k]` is the parent of element `k` of level `l` (primitives on level 0).
    fn from_groups(n: usize, levels: &[Vec<u32>]) -> Self {
        let mut nodes: Vec<Node<E>> = Vec::new();
        let mut starts = vec![0];
        let mut parent: Vec<u32> = Vec::new();
        let mut slot = vec![NONE; n];
        for (l, groups) in levels.iter().enumerate() {
            let start = nodes.len();
            let count = groups.iter().max().map_or(0, |&g| g as usize + 1);
            nodes.resize(start + count, Node::EMPTY);
            parent.resize(start + count, NONE);
            for (k, &g) in groups.iter().enumerate() {
                let node = &mut nodes[start + g as usize];
                let lane = node.child.iter().position(|&c| c == NONE).unwrap_or(0);
                let at = ((start + g as usize) * WIDTH + lane) as u32;
                if l == 0 {
                    node.child[lane] = k as u32;
                    slot[k] = at;
                } else {
                    let below = starts[l - 1] + k;
                    node.child[lane] = below as u32;
                    parent[below] = at;
                }
            }
            starts.push(nodes.len());
        }
        Self { nodes, levels: starts, slot, parent, origin: Vec3::ZERO, touched: Vec::new() }
    }
}

impl Bvh<1> {
    /// A tree over boxes that stay where they are, shaped by median splits and stored relative to `origin` [m].
    pub fn of_boxes(origin: Vec3, boxes: &[Aabb]) -> Self {
        let centres: Vec<Vec3> = boxes.iter().map(Aabb::centre).collect();
        let mut tree = Self::from_centres(&centres);
        tree.refit(origin, |k| ([boxes[k]], 0.0));
        tree
    }
}

/// All indices, ordered so that consecutive runs of four, sixteen, … are compact.
fn spatial_order(centres: &[Vec3]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..centres.len() as u32).collect();
    let mut capacity = WIDTH;
    while capacity < order.len() {
        capacity *= WIDTH;
    }
    median_split(&mut order, centres, capacity / WIDTH);
    order
}

/// Orders `items` so that consecutive runs of `capacity`, and of its quarters down to four, are compact.
fn median_split(items: &mut [u32], centres: &[Vec3], capacity: usize) {
    if capacity < WIDTH {
        return;
    }
    if items.len() <= capacity {
        return median_split(items, centres, capacity / WIDTH);
    }
    let runs = items.len().div_ceil(capacity);
    let left = runs.div_ceil(2) * capacity;
    let size = Aabb::of_points(items.iter().map(|&i| &centres[i as usize])).size();
    let axis = (0..3).fold(0, |best, c| if size[c] > size[best] { c } else { best });
    items.select_nth_unstable_by(left, |&i, &j| {
        centres[i as usize][axis].total_cmp(&centres[j as usize][axis]).then(i.cmp(&j))
    });
    let (a, b) = items.split_at_mut(left);
    let (mut split_a, mut split_b) =
        (|| median_split(a, centres, capacity), || median_split(b, centres, capacity));
    if runs * capacity > PARALLEL_SPLIT {
        rayon::join(split_a, split_b);
    } else {
        split_a();
        split_b();
    }
}

/// Smallest number of primitives worth a second thread.
const PARALLEL_SPLIT: usize = 4096;
