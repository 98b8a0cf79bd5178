//! What contacts push with, carried from one step to the next.
//!
//! A stack needs many sweeps to find out what its lower layers carry, and a step has few. Contacts that last begin with
//! the forces they ended the step before with.

use billow_num::Vec3;
use serde::{Deserialize, Serialize};

/// The force of one contact at the end of a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Push {
    /// Nodes of the contact.
    pub nodes: [u32; 4],
    /// Along the normal [N].
    pub normal: f64,
    /// Across it [N].
    pub friction: Vec3,
}

/// Pushes by the first node of their contacts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pushes {
    /// Where the pushes of each node begin in `order`, and the end.
    first: Vec<u32>,
    order: Vec<u32>,
}

impl Pushes {
    /// Sorts the pushes of contacts among so many nodes; those of other nodes are left out.
    pub(crate) fn index(&mut self, nodes: usize, pushes: &[Push]) {
        let known = |push: &Push| (push.nodes[0] as usize) < nodes;
        self.first.clear();
        self.first.resize(nodes + 1, 0);
        pushes.iter().filter(|push| known(push)).for_each(|push| self.first[push.nodes[0] as usize] += 1);
        let mut end = 0;
        for first in &mut self.first {
            end += *first;
            *first = end;
        }
        self.order.clear();
        self.order.resize(end as usize, 0);
        // From the back: every end becomes a beginning.
        for (k, push) in pushes.iter().enumerate().rev().filter(|(_, push)| known(push)) {
            let first = &mut self.first[push.nodes[0] as usize];
            *first -= 1;
            self.order[*first as usize] = k as u32;
        }
    }

    /// The push of a contact between these nodes.
    pub(crate) fn of<'a>(&self, pushes: &'a [Push], nodes: &[u32; 4]) -> Option<&'a Push> {
        let i = nodes[0] as usize;
        let mine = &self.order[self.first[i] as usize..self.first[i + 1] as usize];
        mine.iter().map(|k| &pushes[*k as usize]).find(|push| push.nodes == *nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_push_is_found_by_its_nodes_and_no_other() {
        let push = |nodes: [u32; 4]| Push { nodes, normal: f64::from(nodes[1]), friction: Vec3::ZERO };
        let pushes = [[4, 1, 2, 3], [0, 7, 8, 9], [4, 5, 6, 7], [9, 2, 3, 4], [99, 1, 2, 3]].map(push);
        let mut index = Pushes::default();
        for _ in 0..2 {
            index.index(10, &pushes);
            for known in &pushes[..4] {
                assert_eq!(index.of(&pushes, &known.nodes), Some(known));
            }
            assert_eq!(index.of(&pushes, &[4, 1, 2, 5]), None);
            assert_eq!(index.of(&pushes, &[5, 1, 2, 3]), None);
        }
        index.index(10, &[]);
        assert_eq!(index.of(&[], &[4, 1, 2, 3]), None);
    }
}
