//! The contact graph: who rests on whom, and in which order contacts are worked off ([Gue06] 2.8.1).
//!
//! A body that its own forces would move into another rests on that other. Bodies that rest on each other in a
//! circle are one group (a strongly connected component); a group's level is the longest way from a body that
//! rests on nothing. Only groups that something immovable bears count as supported.

use billow_num::par;

/// Levels of bodies.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Levels {
    /// Level of each body; immovable ones have zero.
    pub(crate) of: Vec<u32>,
    /// Whether a body is borne by an immovable one.
    pub(crate) supported: Vec<bool>,
    /// Number of levels.
    pub(crate) count: u32,
}

/// Levels from the edges `[below, above]` among bodies; `fixed` says which are immovable.
pub(crate) fn levels(fixed: &[bool], edges: &mut Vec<[u32; 2]>) -> Levels {
    let n = fixed.len();
    edges.retain(|[_, above]| !fixed[*above as usize]);
    // Contacts of a pair follow one another: most repetitions go before sorting.
    edges.dedup();
    edges.sort_unstable();
    edges.dedup();
    let mut starts = vec![0u32; n + 1];
    edges.iter().for_each(|e| starts[e[0] as usize + 1] += 1);
    for k in 0..n {
        starts[k + 1] += starts[k];
    }
    let groups = components(n, &starts, edges);
    // Tarjan numbers a component after everything it leads to: descending numbers are a topological order.
    let count = groups.iter().map(|g| g + 1).max().unwrap_or(0) as usize;
    let all: Vec<u32> = (0..n as u32).collect();
    let (order, _) = par::bucketed(&all, count, |v| count - 1 - groups[*v as usize] as usize);
    let (mut level, mut borne) = (vec![0u32; count], vec![false; count]);
    for v in 0..n {
        borne[groups[v] as usize] |= fixed[v];
        if !fixed[v] {
            level[groups[v] as usize] = level[groups[v] as usize].max(1);
        }
    }
    for v in &order {
        let from = groups[*v as usize] as usize;
        for [_, above] in &edges[starts[*v as usize] as usize..starts[*v as usize + 1] as usize] {
            let to = groups[*above as usize] as usize;
            if to != from {
                level[to] = level[to].max(level[from] + 1);
                borne[to] |= borne[from];
            }
        }
    }
    let of: Vec<u32> = (0..n).map(|v| if fixed[v] { 0 } else { level[groups[v] as usize] }).collect();
    let supported = (0..n).map(|v| borne[groups[v] as usize]).collect();
    let count = of.iter().max().map_or(0, |m| m + 1);
    Levels { of, supported, count }
}

/// Number of the strongly connected component of each body (Tarjan, without recursion).
fn components(n: usize, starts: &[u32], edges: &[[u32; 2]]) -> Vec<u32> {
    const UNSEEN: u32 = u32::MAX;
    let (mut index, mut low, mut group) = (vec![UNSEEN; n], vec![0u32; n], vec![UNSEEN; n]);
    let (mut path, mut open): (Vec<(u32, u32)>, Vec<u32>) = (Vec::new(), Vec::new());
    let (mut next, mut groups) = (0, 0);
    for root in 0..n as u32 {
        if index[root as usize] != UNSEEN {
            continue;
        }
        path.push((root, starts[root as usize]));
        while let Some((v, edge)) = path.last_mut() {
            let at = *v as usize;
            if index[at] == UNSEEN {
                (index[at], low[at]) = (next, next);
                next += 1;
                open.push(*v);
            }
            if *edge < starts[at + 1] {
                let to = edges[*edge as usize][1];
                *edge += 1;
                if index[to as usize] == UNSEEN {
                    path.push((to, starts[to as usize]));
                } else if group[to as usize] == UNSEEN {
                    low[at] = low[at].min(index[to as usize]);
                }
                continue;
            }
            if low[at] == index[at] {
                while let Some(member) = open.pop() {
                    group[member as usize] = groups;
                    if member as usize == at {
                        break;
                    }
                }
                groups += 1;
            }
            path.pop();
            if let Some((below, _)) = path.last() {
                low[*below as usize] = low[*below as usize].min(low[at]);
            }
        }
    }
    group
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_is_numbered_from_the_ground_up() {
        let levels = levels(&[true, false, false, false], &mut vec![[1, 2], [0, 1], [2, 3], [3, 0]]);
        assert_eq!(levels.of, [0, 1, 2, 3]);
        assert!(levels.supported.iter().all(|s| *s));
    }

    #[test]
    fn a_ring_of_dominoes_is_one_level_above_the_ground() {
        let mut edges: Vec<[u32; 2]> = (1..=6).map(|k| [k, k % 6 + 1]).collect();
        edges.extend((1..=6).map(|k| [0, k]));
        edges.push([3, 7]);
        let levels = levels(&[true, false, false, false, false, false, false, false], &mut edges);
        assert_eq!(levels.of, [0, 1, 1, 1, 1, 1, 1, 2]);
        assert_eq!(levels.count, 3);
    }

    #[test]
    fn bodies_in_the_air_are_not_supported() {
        let levels = levels(&[true, false, false], &mut vec![[1, 2]]);
        assert_eq!((levels.of, levels.supported), (vec![0, 1, 2], vec![true, false, false]));
    }
}
