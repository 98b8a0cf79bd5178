//! Which bodies may meet: boxes in the cells of a lattice that is never stored ([Bri03] 4.4).
//!
//! Boxes that cover the whole way of a step are written down for every cell they touch, and put into buckets by cell; each
//! is compared with those in its cells. Boxes of very many cells, like the ground, are compared with all. Pairs ascend, so
//! that everything after them has one order. The boxes are somewhat enlarged: until a body leaves its own, the pairs found
//! serve all searches of a step. Bodies that answer no impulse do not meet each other.

use billow_geom::Aabb;
use billow_num::{Vec3, par};

/// How much boxes are enlarged, as a part of their smallest side.
const ROOM: f64 = 0.06;

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
    /// Pairs `[a, b]`, `a < b`, ascending, of overlapping boxes of which at least one is `live` and which are `wanted`.
    pub(crate) fn pairs(
        &mut self,
        boxes: &[Aabb],
        live: &[bool],
        wanted: impl Fn(&[u32; 2]) -> bool + Sync + Send,
    ) -> Vec<[u32; 2]> {
        let holds = |b: &Aabb, fat: &Aabb| fat.min.cmple(b.min).all() && b.max.cmple(fat.max).all();
        let known = self.boxes.len() == boxes.len();
        let left = |i: &usize| !known || !holds(&boxes[*i], &self.boxes[*i]);
        let left: Vec<usize> =
            par::gather(boxes.len(), TOGETHER, |range, out| out.extend(range.filter(left)));
        if !known || left.len() > FEW {
            self.boxes = boxes.iter().map(enlarged).collect();
            self.pairs = meeting(&self.boxes, live);
        } else if !left.is_empty() {
            self.replace(&left, boxes);
        }
        let meet = |[a, b]: [usize; 2]| (live[a] || live[b]) && boxes[a].overlaps(&boxes[b]);
        par::gather(self.pairs.len(), TOGETHER, |range, out: &mut Vec<[u32; 2]>| {
            out.extend(self.pairs[range].iter().filter(|p| wanted(p) && meet(p.map(|i| i as usize))));
        })
    }

    /// All pairs of enlarged boxes, ascending.
    pub(crate) fn all(&self) -> &[[u32; 2]] {
        &self.pairs
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
/// Bodies per parallel piece of work.
const PIECE: usize = 128;

/// All pairs of overlapping boxes, ascending.
fn meeting(boxes: &[Aabb], live: &[bool]) -> Vec<[u32; 2]> {
    let lattice = Lattice::new(boxes, live);
    par::gather(boxes.len(), PIECE, |range, out| {
        let mut others = Vec::new();
        for i in range {
            lattice.later(i as u32, &mut others);
            out.extend(others.iter().map(|j| [i as u32, *j]));
        }
    })
}

/// A box in a cell, rounded outwards: most others in the cell are ruled out without looking elsewhere.
#[derive(Clone, Copy)]
struct Entry {
    bucket: u32,
    body: u32,
    low: [f32; 3],
    high: [f32; 3],
}

impl Entry {
    fn new(bucket: u32, body: u32, b: &Aabb) -> Self {
        let low = b.min.to_array().map(|x| (x as f32).next_down());
        let high = b.max.to_array().map(|x| (x as f32).next_up());
        Self { bucket, body, low, high }
    }

    fn meets(&self, other: &Self) -> bool {
        // All six are compared at once: most boxes of a cell do not meet, each for another reason.
        let apart = |k: usize| (self.low[k] > other.high[k]) | (other.low[k] > self.high[k]);
        !(apart(0) | apart(1) | apart(2))
    }
}

/// Boxes by the cells they touch. Several cells may share a bucket.
struct Lattice<'a> {
    boxes: &'a [Aabb],
    per_metre: f64,
    /// Boxes in buckets, those of earlier bodies first in each, and where each bucket ends.
    crowds: Vec<Entry>,
    ends: Vec<u32>,
    /// Bodies that are in no bucket because they touch too many cells, ascending.
    wide: Vec<u32>,
}

impl<'a> Lattice<'a> {
    fn new(boxes: &'a [Aabb], live: &[bool]) -> Self {
        let per_metre = 1.0 / cell_side(boxes, live);
        let mut lattice = Self { boxes, per_metre, crowds: Vec::new(), ends: Vec::new(), wide: Vec::new() };
        let there = |i: &u32| !boxes[*i as usize].is_empty();
        lattice.wide =
            (0..boxes.len() as u32).filter(there).filter(|i| lattice.cells(*i).is_none()).collect();
        let entries: Vec<Entry> = par::gather(boxes.len(), PIECE, |range, out| {
            for i in range.map(|i| i as u32).filter(there) {
                let Some(cells) = lattice.cells(i) else { continue };
                let entry = Entry::new(0, i, &boxes[i as usize]);
                cells.each(|c| out.push(Entry { bucket: bucket(c), ..entry }));
            }
        });
        // About two buckets for an entry, so that few cells share one.
        let buckets = entries.len().next_power_of_two();
        let of = |e: &Entry| e.bucket as usize & (buckets - 1);
        (lattice.crowds, lattice.ends) = par::bucketed(&entries, buckets, of);
        lattice
    }

    /// Cells that a box touches, unless they are too many to be told.
    fn cells(&self, i: u32) -> Option<Cells> {
        let b = &self.boxes[i as usize];
        let [low, high] = [b.min, b.max].map(|x| (x * self.per_metre).floor());
        let count = (high - low + 1.0).to_array().iter().product::<f64>();
        let whole = [low, high].iter().all(|x| x.abs().max_element() < f64::from(i32::MAX));
        let corner = |x: Vec3| x.to_array().map(|c| c as i32);
        (count <= MOST && whole).then(|| Cells { low: corner(low), high: corner(high) })
    }

    /// Bodies after `i` whose boxes overlap that of `i`, ascending.
    fn later(&self, i: u32, out: &mut Vec<u32>) {
        out.clear();
        let b = &self.boxes[i as usize];
        let meets = |j: &u32| *j > i && b.overlaps(&self.boxes[*j as usize]);
        if b.is_empty() {
            return;
        }
        let Some(cells) = self.cells(i) else {
            out.extend((i..self.boxes.len() as u32).filter(meets));
            return;
        };
        out.extend(self.wide.iter().filter(|j| meets(j)));
        let this = Entry::new(0, i, b);
        cells.each(|c| {
            let k = bucket(c) as usize & (self.ends.len() - 1);
            let start = if k == 0 { 0 } else { self.ends[k - 1] };
            let crowd = &self.crowds[start as usize..self.ends[k] as usize];
            for e in crowd.iter().rev().take_while(|e| e.body > i) {
                // Boxes meet in several cells.
                if e.meets(&this) && !out.contains(&e.body) && meets(&e.body) {
                    out.push(e.body);
                }
            }
        });
        out.sort_unstable();
    }
}

/// A block of cells.
struct Cells {
    low: [i32; 3],
    high: [i32; 3],
}

impl Cells {
    fn each(&self, mut visit: impl FnMut([i32; 3])) {
        let [x, y, z] = [0, 1, 2].map(|d| self.low[d]..=self.high[d]);
        for i in x {
            for j in y.clone() {
                z.clone().for_each(|k| visit([i, j, k]));
            }
        }
    }
}

/// A number that neighbouring cells do not share.
fn bucket(cell: [i32; 3]) -> u32 {
    let [x, y, z] = cell.map(|c| u64::from(c as u32));
    let mixed = x.wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ y.wrapping_mul(0xc2b2_ae3d_27d4_eb4f)
        ^ z.wrapping_mul(0x1656_67b1_9e37_79f9);
    (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
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
            let found = broad.pairs(&boxes, &live, |_| true);
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
