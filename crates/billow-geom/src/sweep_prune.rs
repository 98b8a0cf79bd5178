//! Broad phase by sweep and prune ([GCSO99] 3.1.1): which boxes touch, kept up to date as they move.
//!
//! The end points of all boxes stay sorted along each axis. From step to step they hardly change places, so
//! insertion sort restores the order in time proportional to n plus the number of exchanges, and only an
//! exchange of a lower with an upper end can begin or end an overlap. A new or much changed scene is swept
//! from scratch along the axis of greatest spread. Borders count: boxes that touch are a pair. Pairs ascend.
//!
//! The exchanges are those of the projections on the axes: a dense three-dimensional crowd in motion has many
//! more of them than pairs, and [`crate::hash_grid`] serves it better.

use crate::{Aabb, GeomError};
use std::collections::BTreeSet;

/// Work done since the structure was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SweepCounts {
    /// Exchanges of neighbouring end points.
    pub exchanges: u64,
    /// Box-against-box tests.
    pub tests: u64,
    /// Sweeps from scratch.
    pub sweeps: u64,
}

/// Sorted end points and touching pairs of a set of moving boxes.
#[derive(Clone, Debug, Default)]
pub struct SweepPrune {
    axes: [Vec<End>; 3],
    bodies: usize,
    pairs: BTreeSet<[u32; 2]>,
    counts: SweepCounts,
}

/// One end of a box along an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
struct End {
    at: f64,
    body: u32,
    upper: bool,
}

impl End {
    fn new(boxes: &[Aabb], axis: usize, body: u32, upper: bool) -> Self {
        let b = &boxes[body as usize];
        // Adding zero makes −0 and +0 alike.
        Self { at: 0.0 + if upper { b.max[axis] } else { b.min[axis] }, body, upper }
    }

    /// Whether this end belongs before `other`: at equal places lower ends come first, so touching counts.
    fn before(&self, other: &Self) -> bool {
        self.at < other.at || self.at == other.at && !self.upper && other.upper
    }
}

impl SweepPrune {
    /// Exchanges per end point beyond which sweeping from scratch is cheaper.
    const PATIENCE: u64 = 64;

    /// Brings the pairs up to date with `boxes`; body `i` is `boxes[i]`. Empty boxes touch nothing.
    ///
    /// # Errors
    /// When a coordinate is not a number; the pairs are then those of the last good update.
    pub fn update(&mut self, boxes: &[Aabb]) -> Result<(), GeomError> {
        if let Some(body) = boxes.iter().position(|b| b.min.is_nan() || b.max.is_nan()) {
            let Aabb { min, max } = boxes[body];
            let problem = format!("the box of body {body} is not a number ({min} to {max})");
            return Err(GeomError::Mesh { operation: "sweep and prune", problem });
        }
        if boxes.len() != self.bodies || !self.follow(boxes) {
            self.start_over(boxes);
        }
        Ok(())
    }

    /// The pairs `[a, b]`, `a < b`, of boxes that touch or overlap, ascending.
    pub fn pairs(&self) -> impl ExactSizeIterator<Item = [u32; 2]> {
        self.pairs.iter().copied()
    }

    /// Work done so far.
    pub fn counts(&self) -> SweepCounts {
        self.counts
    }

    /// Restores the order on each axis by insertion; gives up when too much has changed.
    fn follow(&mut self, boxes: &[Aabb]) -> bool {
        let limit = self.counts.exchanges + Self::PATIENCE * 6 * boxes.len() as u64;
        for axis in 0..3 {
            let mut ends = std::mem::take(&mut self.axes[axis]);
            ends.iter_mut().for_each(|e| *e = End::new(boxes, axis, e.body, e.upper));
            for i in 1..ends.len() {
                self.sink(&mut ends, i, boxes);
                if self.counts.exchanges > limit {
                    return false;
                }
            }
            self.axes[axis] = ends;
        }
        true
    }

    /// Moves end `i` down to its place, noting which overlaps begin and end.
    fn sink(&mut self, ends: &mut [End], mut i: usize, boxes: &[Aabb]) {
        while i > 0 && ends[i].before(&ends[i - 1]) {
            let (moving, passed) = (ends[i], ends[i - 1]);
            if moving.upper != passed.upper {
                let pair = [moving.body.min(passed.body), moving.body.max(passed.body)];
                if moving.upper {
                    self.pairs.remove(&pair);
                } else {
                    self.counts.tests += 1;
                    if pair[0] != pair[1] && boxes[pair[0] as usize].overlaps(&boxes[pair[1] as usize]) {
                        self.pairs.insert(pair);
                    }
                }
            }
            ends.swap(i, i - 1);
            self.counts.exchanges += 1;
            i -= 1;
        }
    }

    fn start_over(&mut self, boxes: &[Aabb]) {
        self.bodies = boxes.len();
        for axis in 0..3 {
            let bodies = 0..boxes.len() as u32;
            self.axes[axis] =
                bodies.flat_map(|b| [false, true].map(|upper| End::new(boxes, axis, b, upper))).collect();
            self.axes[axis].sort_by(|a, b| a.at.total_cmp(&b.at).then(a.upper.cmp(&b.upper)));
        }
        let (pairs, tests) = sweep(boxes);
        self.pairs = pairs.into_iter().collect();
        self.counts.tests += tests;
        self.counts.sweeps += 1;
    }
}

/// The pairs `[a, b]`, `a < b`, of boxes that touch or overlap, ascending, by one sweep from scratch.
///
/// Boxes with a coordinate that is not a number touch nothing.
pub fn sweep_pairs(boxes: &[Aabb]) -> Vec<[u32; 2]> {
    sweep(boxes).0
}

/// Pairs by one sweep along the axis of greatest spread, and the number of box tests.
fn sweep(boxes: &[Aabb]) -> (Vec<[u32; 2]>, u64) {
    let axis = axis_of_greatest_spread(boxes);
    let mut order: Vec<u32> = (0..boxes.len() as u32).filter(|&b| !boxes[b as usize].is_empty()).collect();
    order.sort_by(|&a, &b| boxes[a as usize].min[axis].total_cmp(&boxes[b as usize].min[axis]));
    let (mut pairs, mut tests) = (Vec::new(), 0);
    for (i, &a) in order.iter().enumerate() {
        let first = &boxes[a as usize];
        for &b in order[i + 1..].iter().take_while(|&&b| boxes[b as usize].min[axis] <= first.max[axis]) {
            tests += 1;
            if first.overlaps(&boxes[b as usize]) {
                pairs.push([a.min(b), a.max(b)]);
            }
        }
    }
    pairs.sort_unstable();
    (pairs, tests)
}

fn axis_of_greatest_spread(boxes: &[Aabb]) -> usize {
    let finite = || boxes.iter().map(Aabb::centre).filter(|c| c.is_finite());
    let n = finite().count().max(1) as f64;
    let mean = finite().sum::<billow_num::Vec3>() / n;
    let spread = finite().map(|c| (c - mean) * (c - mean)).sum::<billow_num::Vec3>();
    (0..3).fold(0, |best, k| if spread[k] > spread[best] { k } else { best })
}
