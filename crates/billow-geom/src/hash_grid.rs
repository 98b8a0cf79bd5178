//! Broad phase by a hashed uniform grid ([Bri03] 4.4): which boxes may touch.
//!
//! Cells exist only where boxes are. Boxes of very different size live on grids whose cells double from level
//! to level, each on the level whose cells are just larger than it, so a box covers at most a few cells and
//! the cost stays proportional to the number of boxes and touching pairs. A box that stays in its cells is
//! updated in constant time. Every pair is found in exactly one cell, the one that holds the lower corner of
//! the common part; pairs are reported in ascending order, whatever the history of updates.

use crate::{Aabb, GeomError};
use billow_num::par;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Work done since the grid was made, for judging its cell size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GridCounts {
    /// Box-against-box tests by [`HashGrid::pairs`].
    pub tests: u64,
    /// Updates that changed cells.
    pub moves: u64,
}

/// A hashed grid of boxes numbered by the caller.
#[derive(Clone, Debug)]
pub struct HashGrid {
    cell: f64,
    cells: HashMap<Cell, Vec<u32>, BuildHasherDefault<CellHasher>>,
    bodies: Vec<Body>,
    /// How many boxes live on each level.
    population: Vec<u32>,
    /// Boxes without finite extent, ascending.
    unbounded: Vec<u32>,
    counts: GridCounts,
}

#[derive(Clone, Copy, Debug)]
struct Body {
    bounds: Aabb,
    place: Place,
}

/// Where a box is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Nowhere: never set, removed or empty.
    Absent,
    /// In the list of boxes without finite extent.
    Unbounded,
    /// In the cells `lo..=hi` of a level.
    Cells { level: u32, lo: [i64; 3], hi: [i64; 3] },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Cell {
    level: u32,
    at: [i64; 3],
}

impl HashGrid {
    /// Coarsest level; larger boxes count as unbounded.
    const LEVELS: u32 = 64;

    /// A grid whose smallest cells have edge length `cell` [m]; best is the size of a typical box.
    ///
    /// # Errors
    /// When `cell` is not positive and finite.
    pub fn new(cell: f64) -> Result<Self, GeomError> {
        if !(cell > 0.0 && cell.is_finite()) {
            let allowed = "positive and finite [m]; the size of a typical box is best".into();
            return Err(GeomError::Parameter { of: "HashGrid", name: "cell", value: cell, allowed });
        }
        Ok(Self {
            cell,
            cells: HashMap::default(),
            bodies: Vec::new(),
            population: vec![0; Self::LEVELS as usize],
            unbounded: Vec::new(),
            counts: GridCounts::default(),
        })
    }

    /// A good cell size for the given boxes [m]: the median of their largest edges, or 1 if that means
    /// nothing.
    pub fn suggested_cell(boxes: &[Aabb]) -> f64 {
        let mut sizes: Vec<f64> =
            boxes.iter().map(|b| b.size().max_element()).filter(|s| s.is_finite() && *s > 0.0).collect();
        sizes.sort_unstable_by(f64::total_cmp);
        sizes.get(sizes.len() / 2).copied().unwrap_or(1.0)
    }

    /// Puts body `body` at `bounds`, wherever it was before. Empty boxes touch nothing; infinite ones are
    /// allowed.
    ///
    /// # Errors
    /// When a coordinate is not a number.
    pub fn set(&mut self, body: u32, bounds: &Aabb) -> Result<(), GeomError> {
        if bounds.min.is_nan() || bounds.max.is_nan() {
            let problem =
                format!("the box of body {body} is not a number ({} to {})", bounds.min, bounds.max);
            return Err(GeomError::Mesh { operation: "hash grid", problem });
        }
        let place = self.place(bounds);
        if self.bodies.len() <= body as usize {
            self.bodies.resize(body as usize + 1, Body { bounds: Aabb::EMPTY, place: Place::Absent });
        }
        let old = std::mem::replace(&mut self.bodies[body as usize], Body { bounds: *bounds, place });
        if old.place != place {
            self.unlink(body, old.place);
            self.link(body, place);
            self.counts.moves += 1;
        }
        Ok(())
    }

    /// Takes body `body` out.
    pub fn remove(&mut self, body: u32) {
        if let Some(slot) = self.bodies.get_mut(body as usize) {
            let old = std::mem::replace(slot, Body { bounds: Aabb::EMPTY, place: Place::Absent });
            self.unlink(body, old.place);
        }
    }

    /// The box of body `body`, if it is in the grid.
    pub fn bounds(&self, body: u32) -> Option<&Aabb> {
        self.bodies.get(body as usize).filter(|b| b.place != Place::Absent).map(|b| &b.bounds)
    }

    /// Replaces `pairs` by all `[a, b]` with `a < b` whose boxes touch or overlap, ascending.
    pub fn pairs(&mut self, pairs: &mut Vec<[u32; 2]>) {
        let chunk = |range: std::ops::Range<usize>| {
            let (mut found, mut tests) = (Vec::new(), 0);
            for a in range.map(|a| a as u32) {
                self.partners(a, |b| found.push([a.min(b), a.max(b)]), &mut tests);
            }
            (found, tests)
        };
        let append = |mut a: (Vec<_>, u64), b: (Vec<_>, u64)| {
            a.0.extend(b.0);
            (a.0, a.1 + b.1)
        };
        let (found, tests) = par::reduce(self.bodies.len(), 256, chunk, append).unwrap_or_default();
        self.counts.tests += tests;
        *pairs = found;
        pairs.sort_unstable();
    }

    /// Calls `visit` with every body whose box touches `bounds`, ascending.
    pub fn overlapping(&self, bounds: &Aabb, mut visit: impl FnMut(u32)) {
        let mut found = Vec::new();
        for level in self.levels_in_use() {
            match self
                .cell_range(level, bounds)
                .filter(|(lo, hi)| cell_count(lo, hi) <= self.cells.len() as u128)
            {
                Some((lo, hi)) => self.in_cells(level, (lo, hi), bounds, |b| found.push(b), &mut 0),
                None => self.scan_level(level, bounds, |b| found.push(b)),
            }
        }
        found.extend(self.unbounded.iter().filter(|&&b| self.bodies[b as usize].bounds.overlaps(bounds)));
        found.sort_unstable();
        found.into_iter().for_each(&mut visit);
    }

    /// Work done so far.
    pub fn counts(&self) -> GridCounts {
        self.counts
    }

    fn levels_in_use(&self) -> impl Iterator<Item = u32> {
        (0..Self::LEVELS).filter(|&l| self.population[l as usize] > 0)
    }

    /// Every body that touches `a` and is found from `a`'s side: higher numbers on its level, any on coarser
    /// ones.
    fn partners(&self, a: u32, mut visit: impl FnMut(u32), tests: &mut u64) {
        let body = &self.bodies[a as usize];
        match body.place {
            Place::Absent => {}
            Place::Unbounded => {
                for &b in self.unbounded.iter().filter(|&&b| b > a) {
                    *tests += 1;
                    if self.bodies[b as usize].bounds.overlaps(&body.bounds) {
                        visit(b);
                    }
                }
            }
            Place::Cells { level, lo, hi } => {
                self.in_cells(
                    level,
                    (lo, hi),
                    &body.bounds,
                    |b| {
                        if b > a {
                            visit(b)
                        }
                    },
                    tests,
                );
                for coarser in self.levels_in_use().filter(|&l| l > level) {
                    if let Some(range) = self.cell_range(coarser, &body.bounds) {
                        self.in_cells(coarser, range, &body.bounds, &mut visit, tests);
                    }
                }
                for &b in &self.unbounded {
                    *tests += 1;
                    if self.bodies[b as usize].bounds.overlaps(&body.bounds) {
                        visit(b);
                    }
                }
            }
        }
    }

    /// Bodies of one level that touch `bounds`, whose cells there are `lo..=hi`; each once.
    fn in_cells(
        &self,
        level: u32,
        (lo, hi): ([i64; 3], [i64; 3]),
        bounds: &Aabb,
        mut visit: impl FnMut(u32),
        tests: &mut u64,
    ) {
        for_cells(lo, hi, |at| {
            let Some(residents) = self.cells.get(&Cell { level, at }) else { return };
            for &b in residents {
                *tests += 1;
                let other = &self.bodies[b as usize].bounds;
                if other.overlaps(bounds) && self.cell_of(level, other.min.max(bounds.min)) == at {
                    visit(b);
                }
            }
        });
    }

    /// Bodies of one level that touch `bounds`, by looking at all of them.
    fn scan_level(&self, wanted: u32, bounds: &Aabb, mut visit: impl FnMut(u32)) {
        for (b, body) in self.bodies.iter().enumerate() {
            let on_level = matches!(body.place, Place::Cells { level, .. } if level == wanted);
            if on_level && body.bounds.overlaps(bounds) {
                visit(b as u32);
            }
        }
    }

    fn place(&self, bounds: &Aabb) -> Place {
        if bounds.is_empty() {
            return Place::Absent;
        }
        // The level whose cells are just larger than the box.
        let doublings = (bounds.size().max_element() / self.cell).log2().ceil().max(0.0);
        if doublings >= f64::from(Self::LEVELS) {
            return Place::Unbounded;
        }
        let level = doublings as u32;
        match self.cell_range(level, bounds) {
            Some((lo, hi)) => Place::Cells { level, lo, hi },
            None => Place::Unbounded,
        }
    }

    /// The cells that `bounds` meets, unless it reaches beyond what cells can be numbered.
    fn cell_range(&self, level: u32, bounds: &Aabb) -> Option<([i64; 3], [i64; 3])> {
        let (lo, hi) = (self.cell_of(level, bounds.min), self.cell_of(level, bounds.max));
        let countable = |c: &[i64; 3]| c.iter().all(|x| x.unsigned_abs() < 1 << 62);
        (countable(&lo) && countable(&hi)).then_some((lo, hi))
    }

    fn cell_of(&self, level: u32, p: billow_num::Vec3) -> [i64; 3] {
        let edge = self.cell * (level as f64).exp2();
        (p / edge).floor().to_array().map(|x| x as i64)
    }

    fn link(&mut self, body: u32, place: Place) {
        match place {
            Place::Absent => {}
            Place::Unbounded => insert_sorted(&mut self.unbounded, body),
            Place::Cells { level, lo, hi } => {
                self.population[level as usize] += 1;
                for_cells(lo, hi, |at| {
                    insert_sorted(self.cells.entry(Cell { level, at }).or_default(), body)
                });
            }
        }
    }

    fn unlink(&mut self, body: u32, place: Place) {
        match place {
            Place::Absent => {}
            Place::Unbounded => remove_sorted(&mut self.unbounded, body),
            Place::Cells { level, lo, hi } => {
                self.population[level as usize] -= 1;
                for_cells(lo, hi, |at| {
                    let cell = Cell { level, at };
                    if let Some(residents) = self.cells.get_mut(&cell) {
                        remove_sorted(residents, body);
                        if residents.is_empty() {
                            self.cells.remove(&cell);
                        }
                    }
                });
            }
        }
    }
}

fn cell_count(lo: &[i64; 3], hi: &[i64; 3]) -> u128 {
    (0..3).map(|k| (hi[k] - lo[k]) as u128 + 1).fold(1, u128::saturating_mul)
}

fn for_cells(lo: [i64; 3], hi: [i64; 3], mut f: impl FnMut([i64; 3])) {
    for i in lo[0]..=hi[0] {
        for j in lo[1]..=hi[1] {
            for k in lo[2]..=hi[2] {
                f([i, j, k]);
            }
        }
    }
}

fn insert_sorted(list: &mut Vec<u32>, x: u32) {
    if let Err(at) = list.binary_search(&x) {
        list.insert(at, x);
    }
}

fn remove_sorted(list: &mut Vec<u32>, x: u32) {
    if let Ok(at) = list.binary_search(&x) {
        list.remove(at);
    }
}

/// Mixes cell numbers: fast, and the same in every run.
#[derive(Clone, Copy, Debug, Default)]
struct CellHasher(u64);

impl Hasher for CellHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&b| self.write_u64(u64::from(b)));
    }

    fn write_u64(&mut self, x: u64) {
        // Multiply and fold; the odd constant is 2⁶⁴ divided by the golden ratio.
        let wide =
            u128::from(self.0.rotate_left(23) ^ x ^ 0x9E37_79B9_7F4A_7C15) * 0x9E37_79B9_7F4A_7C15_u128;
        self.0 = (wide >> 64) as u64 ^ wide as u64;
    }

    fn write_u32(&mut self, x: u32) {
        self.write_u64(u64::from(x));
    }

    fn write_i64(&mut self, x: i64) {
        self.write_u64(x as u64);
    }

    fn write_usize(&mut self, x: usize) {
        self.write_u64(x as u64);
    }
}
