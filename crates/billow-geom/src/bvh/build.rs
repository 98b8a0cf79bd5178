//! The two ways to shape a tree.
//!
//! *Pairing* ([Bri03] 2.4): sweep over the primitives and greedily pair off adjacent ones, sweep over the pairs
//! in the opposite direction, and so on until one root is left. Two sweeps make one level of four-wide nodes.
//! *Median splits*: cut at the median along the longest axis so that all nodes but the last of a level are
//! full.

use super::node::{NONE, Node, WIDTH};
use super::{Aabb, Bvh, Vec3};

impl<const E: usize> Bvh<E> {
    /// Builds the tree from adjacency: `neighbours(i)` lists primitives adjacent to `i` ([Bri03] 2.4).
    ///
    /// Boxes are empty until the first [`Bvh::refit`].
    pub fn from_adjacency<N: IntoIterator<Item = u32>>(n: usize, neighbours: impl Fn(usize) -> N) -> Self {
        let mut adjacency = Adjacency::new(n, neighbours);
        let mut levels = Vec::new();
        let mut forward = true;
        while levels.is_empty() || adjacency.len() > 1 {
            if n == 0 {
                break;
            }
            // Two opposite sweeps join up to four elements under one node.
            let first = adjacency.pair(forward);
            adjacency = adjacency.merged(&first);
            let second = adjacency.pair(!forward);
            adjacency = adjacency.merged(&second);
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
        let mut order: Vec<u32> = (0..n as u32).collect();
        let mut capacity = WIDTH;
        while capacity < n {
            capacity *= WIDTH;
        }
        median_split(&mut order, centres, capacity / WIDTH);
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

/// Which elements of a level touch which, in compressed rows.
struct Adjacency {
    start: Vec<u32>,
    neighbour: Vec<u32>,
}

impl Adjacency {
    fn new<N: IntoIterator<Item = u32>>(n: usize, neighbours: impl Fn(usize) -> N) -> Self {
        let mut a = Self { start: vec![0], neighbour: Vec::new() };
        for i in 0..n {
            a.neighbour.extend(neighbours(i).into_iter().filter(|&j| (j as usize) < n && j as usize != i));
            a.start.push(a.neighbour.len() as u32);
        }
        a
    }

    fn len(&self) -> usize {
        self.start.len() - 1
    }

    fn of(&self, i: usize) -> &[u32] {
        &self.neighbour[self.start[i] as usize..self.start[i + 1] as usize]
    }

    /// One greedy sweep: the pair each element joins, pairs numbered in order of their first element.
    fn pair(&self, forward: bool) -> Vec<u32> {
        let n = self.len();
        let mut partner = vec![NONE; n];
        let mut singles = Vec::new();
        for k in 0..n {
            let i = if forward { k } else { n - 1 - k };
            if partner[i] != NONE {
                continue;
            }
            // The free neighbour with the fewest free neighbours of its own leaves the fewest singles.
            let free = |j: &u32| partner[*j as usize] == NONE;
            let choice = self
                .of(i)
                .iter()
                .copied()
                .filter(free)
                .min_by_key(|&j| (self.of(j as usize).iter().filter(|k| free(k)).count(), j));
            partner[i] = choice.unwrap_or(i as u32);
            match choice {
                Some(j) => partner[j as usize] = i as u32,
                None => singles.push(i as u32),
            }
        }
        // Many loose parts: join the leftovers in sweep order, so that every sweep shrinks the level.
        if 2 * singles.len() > n {
            for pair in singles.chunks_exact(2) {
                partner[pair[0] as usize] = pair[1];
                partner[pair[1] as usize] = pair[0];
            }
        }
        let mut group = vec![NONE; n];
        let mut count = 0;
        for i in 0..n {
            if group[i] == NONE {
                group[i] = count;
                group[partner[i] as usize] = count;
                count += 1;
            }
        }
        group
    }

    /// Adjacency of the groups.
    fn merged(&self, group: &[u32]) -> Self {
        let count = group.iter().max().map_or(0, |&g| g as usize + 1);
        let mut members = vec![[NONE; 2]; count];
        for (i, &g) in group.iter().enumerate() {
            let m = &mut members[g as usize];
            m[usize::from(m[0] != NONE)] = i as u32;
        }
        let mut a = Self { start: vec![0], neighbour: Vec::new() };
        for (g, m) in members.iter().enumerate() {
            let row = a.neighbour.len();
            for &i in m.iter().filter(|&&i| i != NONE) {
                a.neighbour.extend(self.of(i as usize).iter().map(|&j| group[j as usize]));
            }
            a.neighbour[row..].sort_unstable();
            let mut kept = row;
            for k in row..a.neighbour.len() {
                let j = a.neighbour[k];
                if j as usize != g && (kept == row || a.neighbour[kept - 1] != j) {
                    a.neighbour[kept] = j;
                    kept += 1;
                }
            }
            a.neighbour.truncate(kept);
            a.start.push(kept as u32);
        }
        a
    }
}
