//! Which bodies may meet: boxes in the cells of a lattice that is never stored ([Bri03] 4.4).
//!
//! Boxes that cover the whole way of a step are written down for every cell they touch, and put into buckets by cell; those in
//! one cell are compared. Boxes of very many cells, like the ground, are compared with all. Pairs ascend, so that
//! everything after them has one order. The boxes are somewhat enlarged: until a body leaves its own, the pairs found
//! serve all searches of a step. Bodies that answer no impulse do not meet each other.

use billow_geom::Aabb;
use billow_num::{Vec3, par};

/// How much boxes are enlarged, as a part of their smallest side.
const ROOM: f64 = 0.25;

/// Most bodies that are compared with all others when they leave their boxes; if more do, all boxes are put into cells anew.
const FEW: usize = 64;

/// Pairs that are told apart at a time.
const TOGETHER: usize = 2048;

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
        let known = self.boxes.len() == boxes.len();
        let left = |i: &usize| !known || !holds(&boxes[*i], &self.boxes[*i]);
        let left: Vec<usize> = (0..boxes.len()).filter(left).collect();
        if !known || left.len() > FEW {
            self.boxes = boxes.iter().map(enlarged).collect();
            self.pairs = meeting(&self.boxes, live);
        } else if !left.is_empty() {
            self.replace(&left, boxes);
        }
        out.clear();
        let meet = |[a, b]: [usize; 2]| (live[a] || live[b]) && boxes[a].overlaps(&boxes[b]);
        out.extend(par::gather(self.pairs.len(), TOGETHER, |range, out: &mut Vec<[u32; 2]>| {
            out.extend(self.pairs[range].iter().filter(|p| meet(p.map(|i| i as usize))));
        }));
    }

    /// Enlarges the boxes of a few bodies anew and looks for what meets them among all.
    fn replace(&mut self, few: &[usize], boxes: &[Aabb]) {
        let mut new = vec![false; boxes.len()];
        for i in few {
            (self.boxes[*i], new[*i]) = (enlarged(&boxes[*i]), true);
        }
        self.pairs.retain(|p| p.iter().all(|i| !new[*i as usize]));
        let fat = &self.boxes;
        self.pairs.extend(par::gather(few.len(), 4, |range, out: &mut Vec<[u32; 2]>| {
            for i in &few[range] {
                // Of two that are new the later one finds the other.
                let meets = |j: &usize| j != i && !(new[*j] && j > i) && fat[*i].overlaps(&fat[*j]);
                out.extend((0..fat.len()).filter(meets).map(|j| [*i.min(&j) as u32, *i.max(&j) as u32]));
            }
        }));
        // Most are in order already, which this sort makes use of.
        self.pairs.sort();
    }
}

/// A box with room to move in.
fn enlarged(b: &Aabb) -> Aabb {
    b.inflated(ROOM * b.size().min_element().max(0.0))
}

/// Side of a cell, in mean longest sides of the boxes that move.
const CELL: f64 = 1.5;
/// Most cells of a box that is written down cell by cell.
const MOST: f64 = 64.0;

/// A cell of the lattice and a box in it.
type Entry = ([i32; 3], u32);

/// All pairs of overlapping boxes, ascending.
fn meeting(boxes: &[Aabb], live: &[bool]) -> Vec<[u32; 2]> {
    let per_metre = 1.0 / cell_side(boxes, live);
    let cells = |b: &Aabb| [b.min, b.max].map(|x| (x * per_metre).floor());
    let count = |[low, high]: [Vec3; 2]| (high - low + 1.0).to_array().iter().product::<f64>();
    // What has no number of cells is wide too.
    let there = |i: &u32| !boxes[*i as usize].is_empty();
    let (narrow, wide): (Vec<u32>, Vec<u32>) = (0..boxes.len() as u32).filter(there).partition(|i| {
        let span = cells(&boxes[*i as usize]);
        count(span) <= MOST && span.iter().all(|x| x.abs().max_element() < f64::from(i32::MAX))
    });
    let entries: Vec<Entry> = par::gather(narrow.len(), 512, |range, out| {
        for i in &narrow[range] {
            let [low, high] = cells(&boxes[*i as usize]).map(|x| x.to_array().map(|c| c as i32));
            for x in low[0]..=high[0] {
                for y in low[1]..=high[1] {
                    out.extend((low[2]..=high[2]).map(|z| ([x, y, z], *i)));
                }
            }
        }
    });
    let buckets = entries.len().next_power_of_two();
    let (entries, ends) = bucketed(&entries, buckets, |e| bucket(e.0) & (buckets - 1));
    let mut found = par::gather(buckets, 256, |range, out| {
        for k in range {
            let start = if k == 0 { 0 } else { ends[k - 1] };
            let crowd = &entries[start as usize..ends[k] as usize];
            for (k, (cell, i)) in crowd.iter().enumerate() {
                let a = &boxes[*i as usize];
                let with = |(other, j): &&Entry| {
                    let b = &boxes[*j as usize];
                    // Several cells share a bucket; of the cells that both boxes are in the first counts.
                    other == cell
                        && a.overlaps(b)
                        && (a.min.max(b.min) * per_metre).floor().to_array().map(|c| c as i32) == *cell
                };
                out.extend(crowd[k + 1..].iter().filter(with).map(|(_, j)| [*i, *j]));
            }
        }
    });
    for (k, i) in wide.iter().enumerate() {
        let meets = |j: &&u32| boxes[*i as usize].overlaps(&boxes[**j as usize]);
        let others = narrow.iter().chain(&wide[k + 1..]);
        found.extend(others.filter(meets).map(|j| [*i.min(j), *i.max(j)]));
    }
    ascending(&found, boxes.len())
}

/// Pairs of bodies below `count` in ascending order.
fn ascending(pairs: &[[u32; 2]], count: usize) -> Vec<[u32; 2]> {
    let (by_second, _) = bucketed(pairs, count, |p| p[1] as usize);
    bucketed(&by_second, count, |p| p[0] as usize).0
}

/// A number that neighbouring cells do not share.
fn bucket(cell: [i32; 3]) -> usize {
    let [x, y, z] = cell.map(|c| u64::from(c as u32));
    let mixed = x.wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ y.wrapping_mul(0xc2b2_ae3d_27d4_eb4f)
        ^ z.wrapping_mul(0x1656_67b1_9e37_79f9);
    (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize
}

/// Items by bucket, those of one bucket in the order in which they came, and where each bucket ends. Takes time in
/// proportion to both.
fn bucketed<T: Copy + Default>(items: &[T], buckets: usize, of: impl Fn(&T) -> usize) -> (Vec<T>, Vec<u32>) {
    let mut ends = vec![0u32; buckets + 1];
    items.iter().for_each(|item| ends[of(item) + 1] += 1);
    for k in 1..ends.len() {
        ends[k] += ends[k - 1];
    }
    let mut placed = vec![T::default(); items.len()];
    for item in items {
        let at = &mut ends[of(item)];
        placed[*at as usize] = *item;
        *at += 1;
    }
    (placed, ends)
}

/// Side of a cell that suits the boxes that move [m].
fn cell_side(boxes: &[Aabb], live: &[bool]) -> f64 {
    let moving = boxes.iter().zip(live).filter(|(b, live)| **live && !b.is_empty());
    let (sum, n) = moving.fold((0.0, 0.0), |(s, n), (b, _)| (s + b.size().max_element(), n + 1.0));
    let side = CELL * sum / f64::max(n, 1.0);
    if side > 0.0 && side.is_finite() { side } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_num::rng::Stream;

    #[test]
    fn pairs_ascend_however_they_came() {
        let pair = |i| {
            let mut draw = Stream::new(6, 1).at(i);
            [draw.range(0.0, 40.0) as u32, draw.range(0.0, 40.0) as u32]
        };
        let pairs: Vec<[u32; 2]> = (0..900).map(pair).collect();
        let mut truth = pairs.clone();
        truth.sort_unstable();
        assert_eq!(ascending(&pairs, 40), truth);
    }

    #[test]
    fn the_lattice_finds_what_testing_all_pairs_finds_while_boxes_move() {
        let live: Vec<bool> = (0..400).map(|i| i % 3 != 0).collect();
        let mut broad = Broad::default();
        for time in 0..9 {
            let make = |i| {
                let mut d = Stream::new(4, 0).at(i);
                let c = Vec3::new(d.range(0.0, 9.0), d.range(0.0, 3.0), d.range(0.0, 3.0));
                // All go a way together; later on one in twelve goes farther.
                let far = if time > 5 && i % 12 == 3 { f64::from(time) } else { 0.0 };
                let c = c + (0.01 * f64::from(time.min(5) * time.min(5)) + far) * d.unit_vector();
                // Some are wide, and one has no size.
                let wide = if i % 50 == 7 { 5.0 } else { 0.8 };
                Aabb { min: c, max: c }.inflated(if i == 3 { 0.0 } else { d.range(0.0, wide) })
            };
            let boxes: Vec<Aabb> = (0..400).map(make).collect();
            let kept = broad.boxes.get(5).copied();
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
            // What stays where it is keeps its box when a few others leave theirs.
            assert!(time <= 5 || kept == broad.boxes.get(5).copied());
            assert!(truth.len() > 500);
        }
    }
}
