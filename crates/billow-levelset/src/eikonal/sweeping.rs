//! Fast sweeping ([Bri03] 6.1): Gauss-Seidel in the eight diagonal orders, linear in the number of samples.
//!
//! The lattice is cut into 16³ tiles. For a given diagonal order, tiles with the same I + J + K do not depend on
//! each other, so they are swept in parallel and the result equals the serial sweep bit for bit. A tile whose
//! surroundings did not change since it came to rest is skipped.

use super::first_order;
use crate::LevelSetError;
use crate::dense::ScalarGrid;
use crate::lattice::Lattice;
use billow_num::par;
use serde::{Deserialize, Serialize};

/// Fast sweeping.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// Values beyond are cut to this distance [m]. Infinite by default.
    pub limit: f64,
    /// Rounds of eight sweeps at most; 16 by default. Two suffice unless the surface is very rough.
    pub max_rounds: usize,
}

impl Default for Sweep {
    fn default() -> Self {
        Self { limit: f64::INFINITY, max_rounds: 16 }
    }
}

/// How the sweeps ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepReport {
    /// Rounds of eight sweeps done.
    pub rounds: usize,
    /// Whether the last round changed nothing.
    pub converged: bool,
}

/// Samples along a tile's edge.
const TILE: usize = 16;
/// A tile with one layer of its surroundings.
const PADDED: usize = TILE + 2;

impl Sweep {
    /// Extends the distances of `known` samples to all others. Signs stay; values of unknown samples are ignored.
    pub fn run(&self, phi: &mut ScalarGrid, known: &[bool]) -> Result<SweepReport, LevelSetError> {
        if known.len() != phi.values.len() {
            let problem = format!("{} known flags for {} samples", known.len(), phi.values.len());
            return Err(LevelSetError::Mismatch { operation: "fast sweeping", problem });
        }
        let limit = crate::error::positive("Sweep", "limit", self.limit.min(f64::MAX))?;
        let mut tiles = Tiles::new(phi, known);
        let mut report = SweepReport { rounds: 0, converged: false };
        while report.rounds < self.max_rounds && !report.converged {
            report.rounds += 1;
            report.converged = !tiles.round();
        }
        tiles.store(phi, limit);
        Ok(report)
    }
}

/// One tile: unsigned distances, infinite where nothing is known yet.
#[derive(Default)]
struct Tile {
    t: Vec<f64>,
    fixed: Vec<bool>,
    /// Sweeps in a row that changed nothing here or next door; eight mean rest.
    quiet: u8,
}

struct Tiles {
    lattice: Lattice,
    /// Tiles along each axis.
    dims: [usize; 3],
    tiles: Vec<Tile>,
}

impl Tiles {
    fn new(phi: &ScalarGrid, known: &[bool]) -> Self {
        let lattice = phi.lattice;
        let dims = lattice.dims.map(|d| d.div_ceil(TILE));
        let tiles = par::map(dims[0] * dims[1] * dims[2], |n| {
            let base = tile_base(dims, n);
            let mut tile =
                Tile { t: vec![f64::INFINITY; TILE.pow(3)], fixed: vec![true; TILE.pow(3)], quiet: 0 };
            for_samples(&lattice, base, |here, global| {
                tile.fixed[here] = known[global];
                if known[global] {
                    tile.t[here] = phi.values[global].abs();
                }
            });
            tile
        });
        Self { lattice, dims, tiles }
    }

    /// Eight sweeps; whether anything changed.
    fn round(&mut self) -> bool {
        let mut changed = false;
        for direction in 0..8 {
            changed |= self.sweep(direction);
        }
        changed
    }

    /// One sweep from the corner given by the bits of `direction`.
    fn sweep(&mut self, direction: usize) -> bool {
        let [bx, by, bz] = self.dims;
        let mut any = false;
        for diagonal in 0..bx + by + bz - 2 {
            let mut wave: Vec<(usize, Tile)> = Vec::new();
            for k in 0..bz.min(diagonal + 1) {
                for j in 0..by.min(diagonal - k + 1) {
                    let i = diagonal - k - j;
                    if i >= bx {
                        continue;
                    }
                    let flip = |v: usize, n: usize, bit: usize| {
                        if direction >> bit & 1 == 1 { n - 1 - v } else { v }
                    };
                    let n = flip(i, bx, 0) + bx * (flip(j, by, 1) + by * flip(k, bz, 2));
                    if self.tiles[n].quiet < 8 {
                        wave.push((n, std::mem::take(&mut self.tiles[n])));
                    }
                }
            }
            let changed = {
                let this = &*self;
                let mut changed = vec![false; wave.len()];
                let mut jobs: Vec<_> = wave.iter_mut().zip(&mut changed).collect();
                par::chunks_mut(&mut jobs, 1, |_, job| {
                    let ((n, tile), changed) = &mut job[0];
                    **changed = this.sweep_tile(*n, tile, direction);
                });
                changed
            };
            for ((n, tile), changed) in wave.into_iter().zip(changed) {
                self.tiles[n] = tile;
                if changed {
                    any = true;
                    self.wake(n);
                } else {
                    self.tiles[n].quiet += 1;
                }
            }
        }
        any
    }

    /// Restarts the rest count of a tile and its neighbours.
    fn wake(&mut self, n: usize) {
        self.tiles[n].quiet = 0;
        for a in 0..3 {
            for up in [false, true] {
                if let Some(m) = self.neighbour(n, a, up) {
                    self.tiles[m].quiet = 0;
                }
            }
        }
    }

    fn neighbour(&self, n: usize, axis: usize, up: bool) -> Option<usize> {
        let [bx, by, _] = self.dims;
        let c = [n % bx, n / bx % by, n / (bx * by)][axis];
        let stride = [1, bx, bx * by][axis];
        if up { (c + 1 < self.dims[axis]).then_some(n + stride) } else { (c > 0).then(|| n - stride) }
    }

    /// Sweeps one tile, its surroundings held; whether a value fell.
    fn sweep_tile(&self, n: usize, tile: &mut Tile, direction: usize) -> bool {
        let mut t = [f64::INFINITY; PADDED * PADDED * PADDED];
        self.gather(n, tile, &mut t);
        let h = self.lattice.spacing;
        let mut changed = false;
        let at = |v: usize, bit: usize| if direction >> bit & 1 == 1 { TILE - 1 - v } else { v };
        for k in 0..TILE {
            for j in 0..TILE {
                for i in 0..TILE {
                    let (x, y, z) = (at(i, 0), at(j, 1), at(k, 2));
                    let here = x + TILE * (y + TILE * z);
                    if tile.fixed[here] {
                        continue;
                    }
                    let p = 1 + x + PADDED * (1 + y + PADDED * (1 + z));
                    let a = [1, PADDED, PADDED * PADDED].map(|s| t[p - s].min(t[p + s]));
                    // Cheap refusal: the value can never fall below its smallest neighbour.
                    if a[0].min(a[1]).min(a[2]) >= t[p] {
                        continue;
                    }
                    let new = first_order(a, h);
                    if new < t[p] {
                        t[p] = new;
                        tile.t[here] = new;
                        changed = true;
                    }
                }
            }
        }
        changed
    }

    /// Copies a tile and one layer of its face neighbours.
    fn gather(&self, n: usize, tile: &Tile, t: &mut [f64; PADDED * PADDED * PADDED]) {
        for z in 0..TILE {
            for y in 0..TILE {
                let (from, to) = (TILE * (y + TILE * z), 1 + PADDED * (1 + y + PADDED * (1 + z)));
                t[to..to + TILE].copy_from_slice(&tile.t[from..from + TILE]);
            }
        }
        for a in 0..3 {
            for (up, own, other) in [(false, 0, TILE - 1), (true, PADDED - 1, 0)] {
                let Some(m) = self.neighbour(n, a, up) else { continue };
                let (tile, strides) = (&self.tiles[m].t, [1, TILE, TILE * TILE]);
                let padded = [1, PADDED, PADDED * PADDED];
                let (b, c) = ((a + 1) % 3, (a + 2) % 3);
                for v in 0..TILE {
                    for u in 0..TILE {
                        t[own * padded[a] + (u + 1) * padded[b] + (v + 1) * padded[c]] =
                            tile[other * strides[a] + u * strides[b] + v * strides[c]];
                    }
                }
            }
        }
    }

    fn store(&self, phi: &mut ScalarGrid, limit: f64) {
        for (n, tile) in self.tiles.iter().enumerate() {
            for_samples(&self.lattice, tile_base(self.dims, n), |here, global| {
                let value = &mut phi.values[global];
                *value = tile.t[here].min(limit).copysign(*value);
            });
        }
    }
}

/// First sample of tile `n`.
fn tile_base(dims: [usize; 3], n: usize) -> [usize; 3] {
    [n % dims[0], n / dims[0] % dims[1], n / (dims[0] * dims[1])].map(|c| c * TILE)
}

/// Calls `f(number in the tile, number in the lattice)` for the tile's samples that exist.
fn for_samples(l: &Lattice, base: [usize; 3], mut f: impl FnMut(usize, usize)) {
    let size = [0, 1, 2].map(|a| TILE.min(l.dims[a] - base[a]));
    for z in 0..size[2] {
        for y in 0..size[1] {
            let global = l.index([base[0], base[1] + y, base[2] + z]);
            for x in 0..size[0] {
                f(x + TILE * (y + TILE * z), global + x);
            }
        }
    }
}
