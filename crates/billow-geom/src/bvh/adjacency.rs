//! Which primitives touch which, and the greedy pairing of them ([Bri03] 2.4).

use super::node::NONE;

/// Neighbours of every primitive, in compressed rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adjacency {
    start: Vec<u32>,
    neighbour: Vec<u32>,
}

impl Adjacency {
    /// Collects `neighbours(i)` for all `n` primitives; numbers out of range are ignored.
    pub fn new<N: IntoIterator<Item = u32>>(n: usize, neighbours: impl Fn(usize) -> N) -> Self {
        let mut a = Self { start: vec![0], neighbour: Vec::new() };
        for i in 0..n {
            a.neighbour.extend(neighbours(i).into_iter().filter(|&j| (j as usize) < n && j as usize != i));
            a.start.push(a.neighbour.len() as u32);
        }
        a
    }

    /// Makes primitives neighbours that have a key in common, given all `(key, primitive)`.
    pub fn from_shared(n: usize, mut keys: Vec<(u64, u32)>) -> Self {
        keys.sort_unstable();
        keys.dedup();
        let mut links = Vec::with_capacity(2 * keys.len());
        for group in keys.chunk_by(|a, b| a.0 == b.0) {
            // All pairs of small groups; large ones as a chain, to stay linear.
            for (k, &(_, i)) in group.iter().enumerate() {
                let reach = if group.len() <= 4 { group.len() } else { k + 2 };
                for &(_, j) in &group[k + 1..reach.min(group.len())] {
                    links.extend([(i, j), (j, i)]);
                }
            }
        }
        links.retain(|&(i, j)| (i as usize) < n && (j as usize) < n);
        links.sort_unstable();
        links.dedup();
        let mut start = vec![0u32; n + 1];
        for &(i, _) in &links {
            start[i as usize + 1] += 1;
        }
        for i in 0..n {
            start[i + 1] += start[i];
        }
        Self { start, neighbour: links.into_iter().map(|(_, j)| j).collect() }
    }

    /// Triangles that have a side in common.
    pub fn of_triangles(triangles: &[[u32; 3]]) -> Self {
        let sides = triangles.iter().enumerate().flat_map(|(t, c)| sides(c).map(|side| (side, t as u32)));
        Self::from_shared(triangles.len(), sides.collect())
    }

    /// Points joined by an edge.
    pub fn of_points(n: usize, edges: &[[u32; 2]]) -> Self {
        let ends = edges.iter().enumerate().flat_map(|(e, p)| p.map(|p| (e as u64, p)));
        Self::from_shared(n, ends.collect())
    }

    /// Edges that are sides of one triangle; edges without triangle if they have an end point in common.
    pub fn of_edges(edges: &[[u32; 2]], triangles: &[[u32; 3]]) -> Self {
        let mut by_side: Vec<(u64, u32)> =
            edges.iter().enumerate().map(|(e, p)| (side(*p), e as u32)).collect();
        by_side.sort_unstable();
        let mut keys = Vec::with_capacity(3 * triangles.len());
        let mut alone = vec![true; edges.len()];
        for (t, c) in triangles.iter().enumerate() {
            for side in sides(c) {
                let first = by_side.partition_point(|&(s, _)| s < side);
                for &(_, e) in by_side[first..].iter().take_while(|&&(s, _)| s == side) {
                    keys.push((t as u64, e));
                    alone[e as usize] = false;
                }
            }
        }
        for (e, ends) in edges.iter().enumerate().filter(|&(e, _)| alone[e]) {
            keys.extend(ends.map(|p| (u64::MAX - u64::from(p), e as u32)));
        }
        Self::from_shared(edges.len(), keys)
    }

    /// Number of primitives.
    pub fn len(&self) -> usize {
        self.start.len() - 1
    }

    /// Whether there is no primitive.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Neighbours of primitive `i`.
    pub fn of(&self, i: usize) -> &[u32] {
        &self.neighbour[self.start[i] as usize..self.start[i + 1] as usize]
    }
}

fn side([a, b]: [u32; 2]) -> u64 {
    u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}

fn sides(&[a, b, c]: &[u32; 3]) -> [u64; 3] {
    [side([a, b]), side([b, c]), side([c, a])]
}

/// One level of the growing tree.
pub(super) struct Level {
    pub(super) adjacency: Adjacency,
    /// Position of each element in a compact order of space.
    pub(super) rank: Vec<u32>,
}

impl Level {
    /// One greedy sweep: the pair each element joins, pairs numbered in order of their first element.
    pub(super) fn pair(&self, forward: bool) -> Vec<u32> {
        let n = self.rank.len();
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
                .adjacency
                .of(i)
                .iter()
                .copied()
                .filter(free)
                .min_by_key(|&j| (self.adjacency.of(j as usize).iter().filter(|k| free(k)).count(), j));
            partner[i] = choice.unwrap_or(i as u32);
            match choice {
                Some(j) => partner[j as usize] = i as u32,
                None => singles.push(i as u32),
            }
        }
        // Many loose parts: join neighbours in space, so that every sweep shrinks the level.
        if 2 * singles.len() > n {
            singles.sort_unstable_by_key(|&i| self.rank[i as usize]);
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

    /// The level of the groups.
    pub(super) fn merged(&self, group: &[u32]) -> Self {
        let count = group.iter().max().map_or(0, |&g| g as usize + 1);
        let mut members = vec![[NONE; 2]; count];
        for (i, &g) in group.iter().enumerate() {
            let m = &mut members[g as usize];
            m[usize::from(m[0] != NONE)] = i as u32;
        }
        let mut rank = vec![NONE; count];
        for (i, &g) in group.iter().enumerate() {
            rank[g as usize] = rank[g as usize].min(self.rank[i]);
        }
        let mut a = Adjacency { start: vec![0], neighbour: Vec::new() };
        for (g, m) in members.iter().enumerate() {
            let row = a.neighbour.len();
            for &i in m.iter().filter(|&&i| i != NONE) {
                a.neighbour.extend(self.adjacency.of(i as usize).iter().map(|&j| group[j as usize]));
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
        Self { adjacency: a, rank }
    }
}
