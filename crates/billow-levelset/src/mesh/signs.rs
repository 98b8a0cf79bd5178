//! What lines know when they enter a tile, for all tiles of the bounding box.
//!
//! Closed meshes carry winding numbers along x from tile to tile. Leaky meshes carry, along each axis and in both
//! directions, the answer of the last triangle met; the planes of answers are shared by all tiles between two that
//! have crossings.

use super::pipeline::Tile;
use super::report::SignMethod;
use super::votes::{Mask, Plane, ROWS, add_windings, pass_plane, vote, winding_mask};
use billow_num::par;
use std::collections::HashMap;

/// Number of the plane in which no ray is inside, and of the one in which all are.
const NONE: u32 = 0;
const ALL: u32 = 1;

/// What a tile adds to the report.
#[derive(Clone, Copy, Default)]
pub(super) struct Tally {
    split: usize,
    inside: bool,
    lowest: i16,
}

/// Signs of all samples near and far.
pub(super) struct Signs {
    method: SignMethod,
    min: [i32; 3],
    dims: [usize; 3],
    /// Number of the tile at each cell of the box, or `u32::MAX`.
    tile_at: Vec<u32>,
    /// Winding numbers before each tile (closed meshes), where any is not zero.
    windings: Vec<Option<Box<[i16; ROWS]>>>,
    /// Cells without a tile that lie inside (closed meshes).
    inside_cells: Vec<[i32; 3]>,
    planes: Vec<Plane>,
    /// Plane numbers per axis and cell, for rays towards − and + (leaky meshes).
    minus: [Vec<u32>; 3],
    plus: [Vec<u32>; 3],
    total: Tally,
}

impl Signs {
    pub(super) fn new(tiles: &[Tile], method: SignMethod) -> Self {
        let (mut min, mut max) = ([i32::MAX; 3], [i32::MIN; 3]);
        for t in tiles {
            for a in 0..3 {
                min[a] = min[a].min(t.cell[a]);
                max[a] = max[a].max(t.cell[a] + 1);
            }
        }
        let dims: [usize; 3] = std::array::from_fn(|a| (max[a] - min[a]) as usize);
        let mut signs = Self {
            method,
            min,
            dims,
            tile_at: vec![u32::MAX; dims[0] * dims[1] * dims[2]],
            windings: Vec::new(),
            inside_cells: Vec::new(),
            planes: vec![[0; 32], [u32::MAX; 32]],
            minus: Default::default(),
            plus: Default::default(),
            total: Tally::default(),
        };
        for (n, t) in tiles.iter().enumerate() {
            let at = signs.index(t.cell);
            signs.tile_at[at] = n as u32;
        }
        match method {
            SignMethod::Winding => signs.carry_windings(tiles),
            SignMethod::Votes => signs.carry_planes(tiles),
        }
        signs
    }

    fn index(&self, cell: [i32; 3]) -> usize {
        let [x, y, z] = [0, 1, 2].map(|a| (cell[a] - self.min[a]) as usize);
        x + self.dims[0] * (y + self.dims[1] * z)
    }

    fn cell(&self, index: usize) -> [i32; 3] {
        let [nx, ny, _] = self.dims;
        let c = [index % nx, index / nx % ny, index / (nx * ny)];
        std::array::from_fn(|a| self.min[a] + c[a] as i32)
    }

    /// The box of tiles.
    pub(super) fn tile_box(&self) -> ([i32; 3], [i32; 3]) {
        (self.min, std::array::from_fn(|a| self.min[a] + self.dims[a] as i32))
    }

    /// Adds up crossings from tile to tile; tiles come in the order of (z, y, x).
    fn carry_windings(&mut self, tiles: &[Tile]) {
        let mut running = [0i16; ROWS];
        let mut previous: Option<[i32; 3]> = None;
        for tile in tiles {
            let same_line = previous.is_some_and(|p| p[1..] == tile.cell[1..]);
            if !same_line {
                running = [0; ROWS];
            } else if let Some(p) = previous
                && running[0] > 0
            {
                // No triangle is near the tiles between, so one line speaks for all.
                self.inside_cells.extend((p[0] + 1..tile.cell[0]).map(|x| [x, p[1], p[2]]));
            }
            self.windings.push(running.iter().any(|&w| w != 0).then(|| Box::new(running)));
            add_windings(&tile.events[0], &mut running);
            previous = Some(tile.cell);
        }
    }

    /// Carries the answers of rays from tile to tile, along each axis and both ways.
    fn carry_planes(&mut self, tiles: &[Tile]) {
        let strides = [1, self.dims[0], self.dims[0] * self.dims[1]];
        let mut known: HashMap<Plane, u32> = HashMap::new();
        for axis in 0..3 {
            let n = self.dims[axis];
            let cells = self.tile_at.len();
            let (mut minus, mut plus) = (vec![NONE; cells], vec![NONE; cells]);
            let starts: Vec<usize> = (0..cells).filter(|&c| (c / strides[axis]).is_multiple_of(n)).collect();
            for start in starts {
                for towards_minus in [true, false] {
                    let mut plane = NONE;
                    for step in 0..n {
                        // A ray towards − has learnt from what lies below, so carry upward, and the reverse.
                        let i = if towards_minus { step } else { n - 1 - step };
                        let c = start + i * strides[axis];
                        if towards_minus { &mut minus[c] } else { &mut plus[c] }.clone_from(&plane);
                        let tile = self.tile_at[c];
                        if tile != u32::MAX && !tiles[tile as usize].events[axis].is_empty() {
                            let mut next = self.planes[plane as usize];
                            pass_plane(&tiles[tile as usize].events[axis], &mut next, towards_minus);
                            plane = self.number(next, &mut known);
                        }
                    }
                }
            }
            (self.minus[axis], self.plus[axis]) = (minus, plus);
        }
    }

    /// The number of a plane, shared by equal ones.
    fn number(&mut self, plane: Plane, known: &mut HashMap<Plane, u32>) -> u32 {
        if plane == self.planes[NONE as usize] {
            return NONE;
        }
        if plane == self.planes[ALL as usize] {
            return ALL;
        }
        *known.entry(plane).or_insert_with(|| {
            self.planes.push(plane);
            self.planes.len() as u32 - 1
        })
    }

    /// Cells that need a closer look: those with triangles, and those in which rays do not all agree.
    pub(super) fn jobs(&self) -> Vec<([i32; 3], Option<usize>)> {
        par::gather(self.tile_at.len(), 4096, |range, out| {
            for c in range {
                if self.tile_at[c] != u32::MAX {
                    out.push((self.cell(c), Some(self.tile_at[c] as usize)));
                } else if self.method == SignMethod::Votes && self.uniform(c).is_none() {
                    out.push((self.cell(c), None));
                }
            }
        })
    }

    /// The common sign of a cell without triangles, if every plane there is constant.
    fn uniform(&self, c: usize) -> Option<bool> {
        let mut votes = 0;
        for axis in 0..3 {
            for plane in [self.minus[axis][c], self.plus[axis][c]] {
                if plane > ALL {
                    return None;
                }
                votes += plane;
            }
        }
        Some(votes >= 3)
    }

    /// Cells left out by [`Signs::jobs`], with their sign.
    pub(super) fn uniform_tiles(&self) -> Vec<([i32; 3], bool)> {
        match self.method {
            SignMethod::Winding => self.inside_cells.iter().map(|&c| (c, true)).collect(),
            SignMethod::Votes => (0..self.tile_at.len())
                .filter(|&c| self.tile_at[c] == u32::MAX)
                .filter_map(|c| Some((self.cell(c), self.uniform(c)?)))
                .collect(),
        }
    }

    /// Which samples of a cell are inside.
    pub(super) fn mask(&self, tiles: &[Tile], cell: [i32; 3], tile: Option<usize>) -> (Box<Mask>, Tally) {
        let (mask, split, lowest) = match (self.method, tile) {
            (SignMethod::Winding, None) => (Box::new([0; ROWS]), 0, 0),
            (SignMethod::Winding, Some(t)) => {
                let zero = [0; ROWS];
                let before = self.windings[t].as_deref().unwrap_or(&zero);
                let (mask, lowest) = winding_mask(&tiles[t].events[0], before);
                (mask, 0, lowest)
            }
            (SignMethod::Votes, _) => {
                let c = self.index(cell);
                let plane = |ids: &[Vec<u32>; 3], a: usize| &self.planes[ids[a][c] as usize];
                let none = Default::default();
                let events = tile.map_or(&none, |t| &tiles[t].events);
                let (mask, split) = vote(
                    events,
                    [0, 1, 2].map(|a| plane(&self.minus, a)),
                    [0, 1, 2].map(|a| plane(&self.plus, a)),
                );
                (mask, split, 0)
            }
        };
        let inside = mask.iter().any(|&m| m != 0);
        (mask, Tally { split, inside, lowest })
    }

    pub(super) fn add(&mut self, tally: Tally) {
        self.total.split += tally.split;
        self.total.inside |= tally.inside;
        self.total.lowest = self.total.lowest.min(tally.lowest);
    }

    pub(super) fn split_votes(&self) -> usize {
        self.total.split
    }

    pub(super) fn any_inside(&self) -> bool {
        self.total.inside
    }

    pub(super) fn lowest_winding(&self) -> i16 {
        self.total.lowest
    }
}
