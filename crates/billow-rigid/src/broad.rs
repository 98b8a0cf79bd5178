//! Which bodies may meet: sorted boxes along the axis of greatest spread ([Bri03] 4.4).
//!
//! Boxes that cover the whole way of a step are sorted once and swept; pairs ascend, so that everything after them
//! has one order. The boxes are swept somewhat enlarged: until a body leaves its own, the pairs found serve all searches
//! of a step. Bodies that answer no impulse do not meet each other.

use billow_geom::Aabb;
use billow_num::{Vec3, par};

/// How much boxes are enlarged, as a part of their smallest side.
const ROOM: f64 = 0.25;

/// Pairs of enlarged boxes. What is asked of it does not depend on what it remembers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Broad {
    boxes: Vec<Aabb>,
    pairs: Vec<[u32; 2]>,
}

impl Broad {
    /// Pairs `[a, b]`, `a < b`, ascending, of overlapping boxes of which at least one is `live`.
    pub(crate) fn pairs(&mut self, boxes: &[Aabb], live: &[bool], out: &mut Vec<[u32; 2]>) {
        let holds = |b: &Aabb, fat: &Aabb| fat.min.cmple(b.min).all() && b.max.cmple(fat.max).all();
        if self.boxes.len() != boxes.len() || !boxes.iter().zip(&self.boxes).all(|(b, fat)| holds(b, fat)) {
            self.boxes = boxes.iter().map(|b| b.inflated(ROOM * b.size().min_element().max(0.0))).collect();
            self.pairs = sweep(&self.boxes, live);
        }
        out.clear();
        let meet = |[a, b]: [usize; 2]| (live[a] || live[b]) && boxes[a].overlaps(&boxes[b]);
        out.extend(self.pairs.iter().filter(|p| meet(p.map(|i| i as usize))));
    }
}

/// All pairs of overlapping boxes, ascending.
fn sweep(boxes: &[Aabb], live: &[bool]) -> Vec<[u32; 2]> {
    let axis = widest(boxes, live);
    let mut order: Vec<u32> = (0..boxes.len() as u32).filter(|i| !boxes[*i as usize].is_empty()).collect();
    order
        .sort_by(|a, b| boxes[*a as usize].min[axis].total_cmp(&boxes[*b as usize].min[axis]).then(a.cmp(b)));
    let sorted: Vec<Aabb> = order.iter().map(|i| boxes[*i as usize]).collect();
    let mut found = par::gather(order.len(), 64, |range, out| {
        for k in range {
            let (i, end) = (order[k], sorted[k].max[axis]);
            for (j, other) in order[k + 1..].iter().zip(&sorted[k + 1..]) {
                if other.min[axis] > end {
                    break;
                }
                if sorted[k].overlaps(other) {
                    out.push([i.min(*j), i.max(*j)]);
                }
            }
        }
    });
    found.sort_unstable();
    found
}

/// The axis along which the centres of live boxes spread most.
fn widest(boxes: &[Aabb], live: &[bool]) -> usize {
    let (mut sum, mut squares, mut n) = (Vec3::ZERO, Vec3::ZERO, 0.0);
    for (b, _) in boxes.iter().zip(live).filter(|(b, live)| **live && !b.is_empty()) {
        let c = b.centre();
        (sum, squares, n) = (sum + c, squares + c * c, n + 1.0);
    }
    let spread = squares - sum * sum / f64::max(n, 1.0);
    (0..3).fold(0, |best, k| if spread[k] > spread[best] { k } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_num::rng::Stream;

    #[test]
    fn the_sweep_finds_what_testing_all_pairs_finds_while_boxes_move() {
        let live: Vec<bool> = (0..400).map(|i| i % 3 != 0).collect();
        let mut broad = Broad::default();
        for time in 0..6 {
            let make = |i| {
                let mut d = Stream::new(4, 0).at(i);
                let c = Vec3::new(d.range(0.0, 9.0), d.range(0.0, 3.0), d.range(0.0, 3.0));
                let c = c + 0.01 * f64::from(time * time) * d.unit_vector();
                Aabb { min: c, max: c }.inflated(d.range(0.0, 0.8))
            };
            let boxes: Vec<Aabb> = (0..400).map(make).collect();
            let mut found = Vec::new();
            broad.pairs(&boxes, &live, &mut found);
            let mut truth = Vec::new();
            for i in 0..400u32 {
                for j in i + 1..400 {
                    let (a, b) = (i as usize, j as usize);
                    if (live[a] || live[b]) && boxes[a].overlaps(&boxes[b]) {
                        truth.push([i, j]);
                    }
                }
            }
            assert_eq!(found, truth);
            assert!(truth.len() > 500);
        }
    }
}
