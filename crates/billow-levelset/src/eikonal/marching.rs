//! Fast marching, first and second order ([HFL00] 6.2, [Gue06] 4.5.1).
//!
//! Instead of a heap, trial samples wait in buckets of width h/√3. The upwind update never returns less than its
//! smallest neighbour plus h/√3, so once all earlier buckets are empty a bucket's samples depend only on finished
//! ones and on each other; repeating updates inside the bucket until nothing changes gives the same values
//! as strict marching order, in time linear in the number of samples. To second order, each finished bucket is
//! revisited in order of its values, with two-point differences where two monotone upwind values exist.

use super::first_order;
use crate::LevelSetError;
use crate::dense::ScalarGrid;
use crate::lattice::Lattice;
use serde::{Deserialize, Serialize};

/// Accuracy of the one-sided differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// First order.
    First,
    /// Second order where two upwind values exist, first order elsewhere.
    Second,
}

/// Fast marching.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct March {
    /// Accuracy of the differences; second by default.
    pub order: Order,
    /// Marching stops at this distance; samples beyond keep this value with their sign [m]. Infinite by default.
    pub limit: f64,
}

impl Default for March {
    fn default() -> Self {
        Self { order: Order::Second, limit: f64::INFINITY }
    }
}

impl March {
    /// Extends the distances of `known` samples to all others. Signs stay; values of unknown samples are ignored.
    pub fn run(&self, phi: &mut ScalarGrid, known: &[bool]) -> Result<(), LevelSetError> {
        if known.len() != phi.values.len() {
            let problem = format!("{} known flags for {} samples", known.len(), phi.values.len());
            return Err(LevelSetError::Mismatch { operation: "fast marching", problem });
        }
        let limit = self.checked_limit()?;
        let padded = Padded::new(&phi.lattice);
        let (t, flags) = padded.load(phi, known);
        let mut front = Front::new(&padded, phi.lattice.spacing, limit, t, flags);
        front.run(self.order);
        padded.store(&front.t, limit, phi);
        Ok(())
    }

    pub(crate) fn checked_limit(&self) -> Result<f64, LevelSetError> {
        crate::error::positive("March", "limit", self.limit.min(f64::MAX))
    }
}

/// Numbered samples that know their neighbours. A sample without one has a wall there.
pub(crate) trait Samples {
    /// The axes with more than one sample.
    fn axes(&self) -> &[usize];
    /// Number of the next sample along an axis.
    fn neighbour(&self, p: usize, axis: usize, up: bool) -> usize;
}

/// Samples around the lattice that are never touched; two, for the long differences.
const PAD: usize = 2;
/// The value is given.
pub(crate) const KNOWN: u8 = 1;
/// Not a sample.
pub(crate) const WALL: u8 = 2;
/// On the inner side.
pub(crate) const INSIDE: u8 = 4;
const QUEUED: u8 = 8;

/// A lattice with walls all around.
struct Padded {
    lattice: Lattice,
    strides: [usize; 3],
    axes: Vec<usize>,
}

impl Samples for Padded {
    fn axes(&self) -> &[usize] {
        &self.axes
    }

    #[inline(always)]
    fn neighbour(&self, p: usize, axis: usize, up: bool) -> usize {
        if up { p + self.strides[axis] } else { p - self.strides[axis] }
    }
}

impl Padded {
    fn new(lattice: &Lattice) -> Self {
        let [px, py, _] = lattice.dims.map(|d| d + 2 * PAD);
        let axes = (0..3).filter(|&a| lattice.dims[a] > 1).collect();
        Self { lattice: *lattice, strides: [1, px, px * py], axes }
    }

    /// Number of the sample (0, j, k).
    fn row(&self, j: usize, k: usize) -> usize {
        PAD + self.strides[1] * (j + PAD) + self.strides[2] * (k + PAD)
    }

    /// Unsigned distances, infinite where unknown, and flags.
    fn load(&self, phi: &ScalarGrid, known: &[bool]) -> (Vec<f64>, Vec<u8>) {
        let [nx, ny, nz] = self.lattice.dims;
        let n = self.strides[2] * (nz + 2 * PAD);
        let (mut t, mut flags) = (vec![f64::INFINITY; n], vec![WALL; n]);
        for k in 0..nz {
            for j in 0..ny {
                let (to, from) = (self.row(j, k), self.lattice.index([0, j, k]));
                for i in 0..nx {
                    let value = phi.values[from + i];
                    let inside = if value < 0.0 { INSIDE } else { 0 };
                    flags[to + i] = inside | if known[from + i] { KNOWN } else { 0 };
                    if known[from + i] {
                        t[to + i] = value.abs();
                    }
                }
            }
        }
        (t, flags)
    }

    fn store(&self, t: &[f64], limit: f64, phi: &mut ScalarGrid) {
        let [nx, ny, nz] = self.lattice.dims;
        for k in 0..nz {
            for j in 0..ny {
                let (from, to) = (self.row(j, k), self.lattice.index([0, j, k]));
                for i in 0..nx {
                    let value = &mut phi.values[to + i];
                    *value = t[from + i].min(limit).copysign(*value);
                }
            }
        }
    }
}

/// Unsigned distances, trial samples in buckets.
pub(crate) struct Front<'a, S> {
    samples: &'a S,
    h: f64,
    limit: f64,
    pub(crate) t: Vec<f64>,
    flags: Vec<u8>,
    /// Buckets in a ring, each with the samples that may finish in it.
    ring: Vec<Vec<u32>>,
    /// Second-order distances of finished samples; empty to first order.
    second: Vec<f64>,
}

impl<'a, S: Samples> Front<'a, S> {
    /// A front at the known samples. Unknown ones and walls must be infinite.
    pub(crate) fn new(samples: &'a S, h: f64, limit: f64, t: Vec<f64>, flags: Vec<u8>) -> Self {
        Self { samples, h, limit, t, flags, ring: Vec::new(), second: Vec::new() }
    }

    /// Marches outward.
    pub(crate) fn run(&mut self, order: Order) {
        if order == Order::Second {
            self.second = self.t.clone();
        }
        self.march();
        if order == Order::Second {
            self.t = std::mem::take(&mut self.second);
        }
    }

    /// First-order marching to the fixed point, bucket by bucket.
    fn march(&mut self) {
        let h = self.h;
        // A little less than h/√3, so that rounding cannot hide a dependence; a trial value is at most its
        // smallest neighbour plus h, hence a handful of open buckets suffices.
        let width = h * 0.577;
        self.ring = vec![Vec::new(); 4];
        // Known samples start in the bucket of their value, however far; those wait in order of value.
        let mut seeds: Vec<u32> =
            (0..self.t.len() as u32).filter(|&p| self.t[p as usize] < f64::INFINITY).collect();
        let bucket_of = |t: f64| (t / width) as usize;
        seeds.sort_by_key(|&p| bucket_of(self.t[p as usize]));
        let mut next_seed = 0;
        let mut current = seeds.first().map_or(0, |&p| bucket_of(self.t[p as usize]));
        let mut batch = Vec::new();
        loop {
            while next_seed < seeds.len() && bucket_of(self.t[seeds[next_seed] as usize]) <= current {
                batch.push(seeds[next_seed]);
                next_seed += 1;
            }
            let slot = current % self.ring.len();
            batch.append(&mut self.ring[slot]);
            let mut done = 0;
            while done < batch.len() {
                let p = batch[done] as usize;
                done += 1;
                self.flags[p] &= !QUEUED;
                self.relax_neighbours(p, width, current, &mut batch);
            }
            if !self.second.is_empty() {
                self.finish(&mut batch);
            }
            batch.clear();
            if self.ring.iter().all(Vec::is_empty) {
                match seeds.get(next_seed) {
                    Some(&p) => current = bucket_of(self.t[p as usize]),
                    None => break,
                }
            } else {
                current += 1;
            }
        }
    }

    /// Lowers the neighbours of `p` where `p` helps; lowered ones join their bucket.
    fn relax_neighbours(&mut self, p: usize, width: f64, current: usize, batch: &mut Vec<u32>) {
        let own = self.t[p];
        for side in 0..2 * self.samples.axes().len() {
            let q = self.samples.neighbour(p, self.samples.axes()[side / 2], side % 2 == 1);
            if self.flags[q] & (KNOWN | WALL) != 0 || self.t[q] <= own {
                continue;
            }
            let t = first_order(self.upwind(q), self.h);
            if t < self.t[q] && t <= self.limit {
                let bucket = ((t / width) as usize).max(current);
                let waits =
                    self.flags[q] & QUEUED != 0 && ((self.t[q] / width) as usize).max(current) == bucket;
                self.t[q] = t;
                self.flags[q] |= QUEUED;
                if !waits {
                    let slot = bucket % self.ring.len();
                    let list = if bucket == current { &mut *batch } else { &mut self.ring[slot] };
                    list.push(q as u32);
                }
            }
        }
    }

    /// The smaller neighbour along each axis.
    fn upwind(&self, q: usize) -> [f64; 3] {
        let mut a = [f64::INFINITY; 3];
        for &axis in self.samples.axes() {
            let [below, above] = [false, true].map(|up| self.t[self.samples.neighbour(q, axis, up)]);
            a[axis] = below.min(above);
        }
        a
    }

    /// Gives the samples of a finished bucket their second-order values, in order of the first-order ones.
    fn finish(&mut self, batch: &mut Vec<u32>) {
        batch.retain(|&p| self.flags[p as usize] & KNOWN == 0);
        // Distances are not negative, so their bits have their order.
        batch.sort_unstable_by_key(|&p| (self.t[p as usize].to_bits(), p));
        batch.dedup();
        for &p in &*batch {
            self.second[p as usize] = self.second_order(p as usize);
        }
    }

    /// The largest root of Σ αₐ²(T − bₐ)² = h² over the axes with an upwind neighbour: α = 1 and b = T₁ to first
    /// order, α = 3/2 and b = (4T₁ − T₂)/3 to second.
    fn second_order(&self, p: usize) -> f64 {
        let (h, first) = (self.h, &self.t);
        let mut terms = [(0.0, f64::INFINITY); 3];
        for &axis in self.samples.axes() {
            let [below, above] = [false, true].map(|up| self.samples.neighbour(p, axis, up));
            let up = first[below] >= first[above];
            let near = if up { above } else { below };
            if first[near] >= first[p] {
                continue;
            }
            let far = self.samples.neighbour(near, axis, up);
            let (t1, mut t2) = (self.second[near], self.second[far]);
            if (self.flags[far] ^ self.flags[p]) & INSIDE != 0 {
                t2 = -t2;
            }
            // Both values must be finished and fall towards the surface.
            terms[axis] =
                if t2 <= t1 && first[far] < first[p] { (1.5, (4.0 * t1 - t2) / 3.0) } else { (1.0, t1) };
        }
        terms.sort_by(|a, b| a.1.total_cmp(&b.1));
        // Add axes while the solution stays above the next one's value.
        let (mut a, mut b, mut c, mut t) = (0.0, 0.0, -h * h, f64::INFINITY);
        for (alpha, value) in terms {
            if t <= value {
                break;
            }
            let w = alpha * alpha;
            let shifted: f64 = value - terms[0].1;
            a += w;
            b += w * shifted;
            c += w * shifted * shifted;
            let d = b * b - a * c;
            if d < 0.0 {
                break;
            }
            t = terms[0].1 + (b + d.sqrt()) / a;
        }
        if t.is_finite() { t } else { first[p] }
    }
}
