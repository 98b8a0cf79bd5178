//! What a step of the pipeline did, or why it could not.

use billow_num::Vec3;
use std::fmt;

/// Counts of one step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Pairs of elements whose distance was looked at.
    pub candidates: u64,
    /// Contacts within the thickness.
    pub contacts: u64,
    /// Pairs whose trajectories had to be tested, repeated ones counted again.
    pub tests: u64,
    /// Collisions found, over all rounds.
    pub collisions: u64,
    /// Rounds of collision impulses.
    pub rounds: u32,
    /// Sizes of the impact zones at the end.
    pub zones: Vec<usize>,
}

impl Report {
    /// What this step and the next did together; contacts are those of the next.
    #[must_use]
    pub fn followed_by(mut self, next: Self) -> Self {
        self.zones.extend(next.zones);
        Self {
            candidates: self.candidates + next.candidates,
            contacts: next.contacts,
            tests: self.tests + next.tests,
            collisions: self.collisions + next.collisions,
            rounds: self.rounds.max(next.rounds),
            zones: self.zones,
        }
    }
}

/// A collision that no allowed motion resolves: scripted nodes are driven through something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unresolved {
    /// Nodes of the two elements: point and triangle, or two edges.
    pub nodes: [u32; 4],
    /// Bodies of the two elements.
    pub bodies: [u32; 2],
    /// Where they meet [m].
    pub place: Vec3,
    /// When, as a fraction of the step [-].
    pub toi: f64,
}

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let p = self.place;
        write!(
            f,
            "bodies {} and {} are driven through each other at [{:.6}, {:.6}, {:.6}] m (nodes {:?})",
            self.bodies[0], self.bodies[1], p.x, p.y, p.z, self.nodes
        )
    }
}

impl std::error::Error for Unresolved {}
