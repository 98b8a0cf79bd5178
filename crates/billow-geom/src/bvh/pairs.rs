//! All overlapping pairs of one tree with itself or of two trees.
//!
//! The traversal is cut into independent tasks near the root. Tasks and the order of pairs inside each depend
//! on the trees alone, so whoever combines task results in task order gets the same answer on any number of
//! threads.

use super::lanes::{LanePairs, overlapping};
use super::marks::{All, Marks, Wanted};
use super::node::{NONE, Node};
use super::{Bvh, par};

/// A pair of nodes whose primitives are still to be compared; equal nodes mean a node with itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    a: u32,
    b: u32,
}

/// The independent parts of a pair query, kept between queries so that nothing is allocated anew.
#[derive(Clone, Debug, Default)]
pub struct PairTasks {
    tasks: Vec<Task>,
    next: Vec<Task>,
    level: usize,
}

/// Tasks to aim for: enough to balance the threads of a desktop machine.
const ENOUGH_TASKS: usize = 384;

impl PairTasks {
    /// The tasks in order.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }
}

impl<const E: usize> Bvh<E> {
    /// Calls `visit(i, j)` for all pairs of primitives of this tree whose boxes overlap, each pair once.
    pub fn self_pairs(&self, mut visit: impl FnMut(u32, u32)) {
        if let Some((root, level)) = self.root() {
            self.within(root, level, &All, &mut visit);
        }
    }

    /// Calls `visit(i, j)` for all overlapping pairs of a primitive `i` of this and `j` of the other tree.
    pub fn pairs(&self, other: &Self, mut visit: impl FnMut(u32, u32)) {
        if self.origin != other.origin {
            return self.pairs(&other.moved_to(self.origin), visit);
        }
        let (Some((a, la)), Some((b, lb))) = (self.root(), other.root()) else { return };
        self.between(other, [a, b], [la, lb], &All, &mut visit);
    }

    /// All overlapping pairs of this tree with itself, found in parallel, in tree order.
    pub fn collect_self_pairs(&self) -> Vec<[u32; 2]> {
        let mut tasks = PairTasks::default();
        self.split_self(&mut tasks);
        par::gather(tasks.tasks.len(), 1, |range, out| {
            for task in &tasks.tasks[range] {
                self.run_self(&tasks, *task, |i, j| out.push([i, j]));
            }
        })
    }

    /// All overlapping pairs of this and another tree, found in parallel, in tree order.
    pub fn collect_pairs(&self, other: &Self) -> Vec<[u32; 2]> {
        if self.origin != other.origin {
            return self.collect_pairs(&other.moved_to(self.origin));
        }
        let mut tasks = PairTasks::default();
        self.split_pairs(other, &mut tasks);
        par::gather(tasks.tasks.len(), 1, |range, out| {
            for task in &tasks.tasks[range] {
                self.run_pairs(other, &tasks, *task, |i, j| out.push([i, j]));
            }
        })
    }

    /// Cuts [`Bvh::self_pairs`] into tasks for [`Bvh::run_self`].
    pub fn split_self(&self, tasks: &mut PairTasks) {
        self.split(&All, tasks);
    }

    /// The pairs of one task of [`Bvh::split_self`].
    pub fn run_self(&self, tasks: &PairTasks, task: Task, mut visit: impl FnMut(u32, u32)) {
        self.run(&All, tasks, task, &mut visit);
    }

    /// The same as [`Bvh::split_self`] for those pairs alone of which at least one primitive is marked.
    pub fn split_marked(&self, marks: &Marks, tasks: &mut PairTasks) {
        self.split(marks, tasks);
    }

    /// The pairs of one task of [`Bvh::split_marked`].
    pub fn run_marked(&self, marks: &Marks, tasks: &PairTasks, task: Task, mut visit: impl FnMut(u32, u32)) {
        self.run(marks, tasks, task, &mut visit);
    }

    fn split(&self, wanted: &impl Wanted, tasks: &mut PairTasks) {
        tasks.tasks.clear();
        let Some((root, level)) = self.root() else { return };
        tasks.level = level;
        tasks.tasks.push(Task { a: root as u32, b: root as u32 });
        while tasks.level > 0 && tasks.tasks.len() < ENOUGH_TASKS {
            tasks.next.clear();
            for t in &tasks.tasks {
                let (a, b) = (t.a as usize, t.b as usize);
                let next = &mut tasks.next;
                let mut push = |a, b| next.push(Task { a, b });
                if a == b {
                    lanes_within(&self.nodes[a], wanted.lanes(a), true, &mut push);
                } else {
                    let lanes = [wanted.lanes(a), wanted.lanes(b)];
                    lanes_between(&self.nodes[a], &self.nodes[b], lanes, &mut push);
                }
            }
            std::mem::swap(&mut tasks.tasks, &mut tasks.next);
            tasks.level -= 1;
        }
    }

    fn run(&self, wanted: &impl Wanted, tasks: &PairTasks, task: Task, visit: &mut impl FnMut(u32, u32)) {
        let (a, b) = (task.a as usize, task.b as usize);
        if a == b {
            self.within(a, tasks.level, wanted, visit);
        } else {
            self.between(self, [a, b], [tasks.level; 2], wanted, visit);
        }
    }

    /// Cuts [`Bvh::pairs`] into tasks for [`Bvh::run_pairs`]. Both trees must share their origin.
    pub fn split_pairs(&self, other: &Self, tasks: &mut PairTasks) {
        tasks.tasks.clear();
        let (Some((a, la)), Some((b, lb))) = (self.root(), other.root()) else { return };
        // Bring the deeper tree down to the level of the other.
        tasks.level = la.min(lb);
        self.descend(a, la - tasks.level, &mut |a| {
            other.descend(b, lb - tasks.level, &mut |b| tasks.tasks.push(Task { a, b }));
        });
        while tasks.level > 0 && tasks.tasks.len() < ENOUGH_TASKS {
            tasks.next.clear();
            for t in &tasks.tasks {
                let next = &mut tasks.next;
                let (a, b) = (&self.nodes[t.a as usize], &other.nodes[t.b as usize]);
                lanes_between(a, b, [All::LANES; 2], &mut |a, b| next.push(Task { a, b }));
            }
            std::mem::swap(&mut tasks.tasks, &mut tasks.next);
            tasks.level -= 1;
        }
    }

    /// The pairs of one task of [`Bvh::split_pairs`].
    pub fn run_pairs(&self, other: &Self, tasks: &PairTasks, task: Task, mut visit: impl FnMut(u32, u32)) {
        self.between(other, [task.a as usize, task.b as usize], [tasks.level; 2], &All, &mut visit);
    }

    fn within(&self, node: usize, level: usize, wanted: &impl Wanted, visit: &mut impl FnMut(u32, u32)) {
        let (a, lanes) = (&self.nodes[node], wanted.lanes(node));
        if level == 0 {
            return lanes_within(a, lanes, false, visit);
        }
        lanes_within(a, lanes, true, &mut |i, j| {
            if i == j {
                self.within(i as usize, level - 1, wanted, visit);
            } else {
                self.between(self, [i as usize, j as usize], [level - 1; 2], wanted, visit);
            }
        });
    }

    /// Overlapping pairs below two nodes; `wanted` is about this tree, and about the other if that is the same.
    fn between(
        &self,
        other: &Self,
        at: [usize; 2],
        level: [usize; 2],
        wanted: &impl Wanted,
        visit: &mut impl FnMut(u32, u32),
    ) {
        let (a, b) = (&self.nodes[at[0]], &other.nodes[at[1]]);
        let lanes = at.map(|node| wanted.lanes(node));
        match level {
            [0, 0] => lanes_between(a, b, lanes, visit),
            [la, lb] if la > lb => {
                for &i in a.child.iter().filter(|&&i| i != NONE) {
                    self.between(other, [i as usize, at[1]], [la - 1, lb], wanted, visit);
                }
            }
            [la, lb] if la < lb => {
                for &j in b.child.iter().filter(|&&j| j != NONE) {
                    self.between(other, [at[0], j as usize], [la, lb - 1], wanted, visit);
                }
            }
            [la, lb] => lanes_between(a, b, lanes, &mut |i, j| {
                self.between(other, [i as usize, j as usize], [la - 1, lb - 1], wanted, visit);
            }),
        }
    }

    fn descend(&self, node: usize, levels: usize, visit: &mut impl FnMut(u32)) {
        if levels == 0 {
            return visit(node as u32);
        }
        for &child in self.nodes[node].child.iter().filter(|&&c| c != NONE) {
            self.descend(child as usize, levels - 1, visit);
        }
    }
}

/// Overlapping lanes of one node of which at least one is wanted; with `selves` also each wanted lane with itself.
#[inline(always)]
fn lanes_within<const E: usize>(a: &Node<E>, wanted: u32, selves: bool, visit: &mut impl FnMut(u32, u32)) {
    let later = overlapping(a, a) & LanePairs::any_of([wanted; 2]) & LanePairs::LATER;
    let selves = LanePairs::selves(if selves { wanted & a.lanes() } else { 0 });
    (later | selves).for_each(|i, j| visit(a.child[i], a.child[j]));
}

/// Overlapping lanes of two nodes of which at least one is wanted.
#[inline(always)]
fn lanes_between<const E: usize>(
    a: &Node<E>,
    b: &Node<E>,
    wanted: [u32; 2],
    visit: &mut impl FnMut(u32, u32),
) {
    let wanted = LanePairs::any_of(wanted);
    if !wanted.is_empty() {
        (overlapping(a, b) & wanted).for_each(|i, j| visit(a.child[i], b.child[j]));
    }
}
