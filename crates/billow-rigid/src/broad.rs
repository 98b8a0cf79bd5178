//! Which bodies may meet: sorted boxes along the axis of greatest spread ([Bri03] 4.4).
//!
//! Boxes that cover the whole way of a step are sorted once and swept; pairs ascend, so that everything after them
//! has one order. Bodies that answer no impulse do not meet each other.

use billow_geom::Aabb;
use billow_num::{Vec3, par};

/// Pairs `[a, b]`, `a < b`, of overlapping boxes of which at least one is `live`.
pub(crate) fn pairs(boxes: &[Aabb], live: &[bool], out: &mut Vec<[u32; 2]>) {
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
                if (live[i as usize] || live[*j as usize]) && sorted[k].overlaps(other) {
                    out.push([i.min(*j), i.max(*j)]);
                }
            }
        }
    });
    found.sort_unstable();
    out.clear();
    out.append(&mut found);
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
    fn the_sweep_finds_what_testing_all_pairs_finds() {
        let make = |i| {
            let mut d = Stream::new(4, 0).at(i);
            let c = Vec3::new(d.range(0.0, 9.0), d.range(0.0, 3.0), d.range(0.0, 3.0));
            Aabb { min: c, max: c }.inflated(d.range(0.0, 0.8))
        };
        let boxes: Vec<Aabb> = (0..400).map(make).collect();
        let live: Vec<bool> = (0..400).map(|i| i % 3 != 0).collect();
        let mut found = Vec::new();
        pairs(&boxes, &live, &mut found);
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
