//! The sparse block grid of [Bri03] 6.1: signed distance stored only near the surface.
//!
//! Space is cut into blocks of f³ samples; only blocks with a sample closer to the surface than the band's half
//! width exist. All others are one flag, inside or outside. Values are `f32`, clamped to ± the half width.
//! Samples sit at `origin + spacing · (i, j, k)` for any integers; there is no domain to fall out of.

mod directory;
mod layout;
mod march;
mod sample;
mod stencil;
mod sweep;
mod track;

pub use directory::{INSIDE, OUTSIDE};
pub use layout::{BlockSize, Coarse, Layout};
pub use sample::Cursor;
pub use track::TrackReport;

pub(crate) use directory::{Directory, FLAGS};
pub(crate) use stencil::{Box1, Box3, Cross3, REACH, Slab, update_by_slab};

use crate::LevelSetError;
use crate::collider::Collider;
use crate::error::{finite, positive};
use billow_geom::Aabb;
use billow_num::{Vec3, par};

/// Signed distance near a surface, in blocks.
#[derive(Clone, Debug)]
pub struct SparseGrid {
    frame: Frame,
    layout: Layout,
    directory: Directory,
    /// Coordinates of each block, in blocks.
    blocks: Vec<[i32; 3]>,
    /// Values block by block, x fastest within a block [m].
    values: Vec<f32>,
    /// Lowest and highest coordinates of blocks.
    extent: [[i32; 3]; 2],
}

/// The extent of no blocks.
const NO_EXTENT: [[i32; 3]; 2] = [[i32::MAX; 3], [i32::MIN; 3]];

/// Where samples are and how far from the surface they go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Position of sample (0, 0, 0) [m].
    pub origin: Vec3,
    /// Distance between samples [m].
    pub spacing: f64,
    /// Half width of the band [samples].
    pub half_width: f64,
}

impl Frame {
    /// Checks that all numbers make sense: a positive spacing and a half width of at least 2 samples.
    pub fn validated(self) -> Result<Self, LevelSetError> {
        finite("sparse grid", "origin", self.origin)?;
        positive("sparse grid", "spacing", self.spacing)?;
        if !(self.half_width >= 2.0 && self.half_width <= 1000.0) {
            let (value, allowed) = (self.half_width, "between 2 and 1000 samples");
            return Err(LevelSetError::Parameter { of: "sparse grid", name: "half width", value, allowed });
        }
        Ok(self)
    }

    /// The largest stored distance [m].
    pub fn background(&self) -> f32 {
        (self.half_width * self.spacing) as f32
    }

    /// Position of a sample [m].
    pub fn position(&self, ijk: [i32; 3]) -> Vec3 {
        self.origin + self.spacing * Vec3::from(ijk.map(f64::from))
    }

    /// Position in units of samples.
    pub fn to_samples(&self, x: Vec3) -> Vec3 {
        (x - self.origin) / self.spacing
    }
}

impl SparseGrid {
    /// A grid in which everything is outside.
    pub fn empty(frame: Frame, layout: Layout) -> Result<Self, LevelSetError> {
        let directory = Directory::new(&layout, [0; 3], [0; 3]);
        let frame = frame.validated()?;
        Ok(Self { frame, layout, directory, blocks: Vec::new(), values: Vec::new(), extent: NO_EXTENT })
    }

    /// The band around a collider's surface at time `t`, found by descending from its bounds.
    ///
    /// The collider's φ must not exceed the true distance by more than rounding (all shapes and booleans of this
    /// crate qualify); its bounds must be finite.
    pub fn of_collider(
        frame: Frame,
        layout: Layout,
        solid: &impl Collider,
        t: f64,
    ) -> Result<Self, LevelSetError> {
        let mut grid = Self::empty(frame, layout)?;
        let bounds = solid.bounds(t);
        if bounds.is_empty() {
            return Ok(grid);
        }
        finite("sparse grid", "collider bounds", bounds.min)?;
        finite("sparse grid", "collider bounds", bounds.max)?;
        let edge = grid.edge() as f64;
        let block_of = |x: Vec3| frame.to_samples(x).to_array().map(|v| (v / edge).floor() as i32);
        let band = frame.half_width * frame.spacing;
        let (lo, hi) = (block_of(bounds.min - band), block_of(bounds.max + band));
        // Eight blocks at a time: a group whose centre is farther than its radius plus the band is uniform.
        let (glo, ghi) = (lo.map(|v| v >> 3), hi.map(|v| (v >> 3) + 1));
        let dims: [usize; 3] = std::array::from_fn(|a| (ghi[a] - glo[a]) as usize);
        let radius = |blocks: f64| 0.5 * blocks * edge * frame.spacing * 3f64.sqrt();
        let phi_at = |corner: [i32; 3], blocks: f64| {
            let centre = Vec3::from(corner.map(f64::from)) * edge + 0.5 * (blocks * edge - 1.0);
            solid.phi(frame.origin + frame.spacing * centre, t)
        };
        let found: Vec<([i32; 3], u32)> = par::gather(dims[0] * dims[1] * dims[2], 8, |range, out| {
            for g in range {
                let cell = [g % dims[0], g / dims[0] % dims[1], g / (dims[0] * dims[1])];
                let first: [i32; 3] = std::array::from_fn(|a| (glo[a] + cell[a] as i32) << 3);
                let phi = phi_at(first, 8.0);
                if phi.abs() > radius(8.0) + band {
                    if phi < 0.0 {
                        out.extend(blocks_in(first).map(|b| (b, INSIDE)));
                    }
                    continue;
                }
                for b in blocks_in(first) {
                    let phi = phi_at(b, 1.0);
                    if phi.abs() <= radius(1.0) + band {
                        out.push((b, 0));
                    } else if phi < 0.0 {
                        out.push((b, INSIDE));
                    }
                }
            }
        });
        for (block, slot) in found {
            if slot == INSIDE {
                grid.directory.set(block, INSIDE);
            } else {
                grid.push_block(block);
            }
        }
        grid.fill(|x| solid.phi(x, t));
        grid.release_far_blocks();
        Ok(grid)
    }

    /// Sets every stored sample to `f(position)`, clamped to the band.
    pub fn fill(&mut self, f: impl Fn(Vec3) -> f64 + Sync) {
        let (frame, edge, n) = (self.frame, self.edge(), self.layout.block.volume());
        let limit = f64::from(frame.background());
        let blocks = &self.blocks;
        par::chunks_mut(&mut self.values, n, |first, values| {
            let base = blocks[first / n].map(|c| c * edge as i32);
            for (i, v) in values.iter_mut().enumerate() {
                let ijk = [
                    base[0] + (i % edge) as i32,
                    base[1] + (i / edge % edge) as i32,
                    base[2] + (i / edge / edge) as i32,
                ];
                *v = f(frame.position(ijk)).clamp(-limit, limit) as f32;
            }
        });
    }

    /// Where the samples are.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// The shape of the structure.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Samples along a block's edge.
    pub fn edge(&self) -> usize {
        self.layout.block.edge()
    }

    /// Coordinates of the existing blocks, in blocks.
    pub fn blocks(&self) -> &[[i32; 3]] {
        &self.blocks
    }

    /// Values of block `b`, x fastest [m].
    pub fn block(&self, b: usize) -> &[f32] {
        let n = self.layout.block.volume();
        &self.values[b * n..(b + 1) * n]
    }

    /// All values, block by block [m].
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// All values, block by block, to change in place [m]. Follow changes that move the surface by
    /// [`SparseGrid::track`].
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    /// The slot of a block: its number, [`INSIDE`] or [`OUTSIDE`].
    pub fn slot(&self, block: [i32; 3]) -> u32 {
        self.directory.get(block)
    }

    /// Value of any sample, ± the half width away from the surface [m].
    pub fn at(&self, ijk: [i32; 3]) -> f32 {
        let bits = self.edge().trailing_zeros();
        match self.directory.get(ijk.map(|v| v >> bits)) {
            OUTSIDE => self.frame.background(),
            INSIDE => -self.frame.background(),
            b => self.block(b as usize)[self.in_block(ijk)],
        }
    }

    /// Number of a sample within its block.
    #[inline]
    pub(crate) fn in_block(&self, ijk: [i32; 3]) -> usize {
        let f = self.edge();
        let [x, y, z] = ijk.map(|v| v as usize & (f - 1));
        x + f * (y + f * z)
    }

    /// Adds a block filled with the far value of its flag; returns its number. The block must not exist yet.
    pub(crate) fn push_block(&mut self, block: [i32; 3]) -> usize {
        let far = self.far_value(self.directory.get(block));
        let b = self.blocks.len();
        self.enter(block);
        self.values.resize(self.values.len() + self.layout.block.volume(), far);
        b
    }

    /// Adds a block with the given values. The block must not exist yet.
    pub(crate) fn push_block_with(&mut self, block: [i32; 3], values: &[f32]) {
        self.enter(block);
        self.values.extend_from_slice(values);
    }

    /// Notes a new block under the next number.
    fn enter(&mut self, block: [i32; 3]) {
        self.directory.set(block, self.blocks.len() as u32);
        self.blocks.push(block);
        self.extent = widened(self.extent, block);
    }

    /// Flags an unpopulated block.
    pub(crate) fn set_flag(&mut self, block: [i32; 3], flag: u32) {
        self.directory.set(block, flag);
    }

    /// Flags 8³ unpopulated blocks at once, if the directory has groups.
    pub(crate) fn set_group_flag(&mut self, cell: [i32; 3], flag: u32) -> bool {
        let grouped = self.directory.grouped();
        if grouped {
            self.directory.set_group_flag(cell, flag);
        }
        grouped
    }

    /// Exchanges the values for others.
    pub(crate) fn swap_values(&mut self, other: &mut Vec<f32>) {
        std::mem::swap(&mut self.values, other);
    }

    /// Groups of 8³ blocks that are not simply outside, in order of coordinates.
    pub(crate) fn group_cells(&self) -> Vec<[i32; 3]> {
        self.directory.group_cells()
    }

    /// The flag of a whole group, where it is known without looking at its blocks.
    pub(crate) fn group_flag(&self, cell: [i32; 3]) -> Option<u32> {
        self.directory.group_flag(cell)
    }

    /// Exchanges the directory of a grid without blocks.
    pub(crate) fn replace_directory(&mut self, directory: Directory) {
        self.directory = directory;
    }

    /// Gives back memory held for growth.
    pub(crate) fn shrink(&mut self) {
        self.blocks.shrink_to_fit();
        self.values.shrink_to_fit();
    }

    /// Unpopulated blocks with a face neighbour, itself unpopulated, of the other sign.
    pub(crate) fn flag_borders(&self) -> Vec<[i32; 3]> {
        self.directory.flag_borders()
    }

    /// The value an unpopulated block stands for [m].
    #[inline]
    pub(crate) fn far_value(&self, flag: u32) -> f32 {
        if flag == INSIDE { -self.frame.background() } else { self.frame.background() }
    }

    /// Sets a block's values, clamped to the band; adds the block if it is missing. `values` holds the block's
    /// samples, x fastest.
    pub fn insert_block(&mut self, block: [i32; 3], values: &[f32]) {
        let b = match self.directory.get(block) {
            slot if slot < FLAGS => slot as usize,
            _ => self.push_block(block),
        };
        let (n, limit) = (self.layout.block.volume(), self.frame.background());
        for (to, from) in self.values[b * n..(b + 1) * n].iter_mut().zip(values) {
            *to = from.clamp(-limit, limit);
        }
    }

    /// Flags the unpopulated blocks of a cube of samples as inside; corner and edge must be multiples of the block's.
    pub fn insert_inside_cube(&mut self, first: [i32; 3], edge: i32) {
        let f = self.edge() as i32;
        let (lo, n) = (first.map(|v| v.div_euclid(f)), edge / f);
        // Whole groups of 8³ blocks at once where the directory has them.
        if n >= 8 && lo.iter().all(|v| v % 8 == 0) && self.directory.grouped() {
            let groups = n / 8;
            for g in 0..groups.pow(3) {
                let c = [g % groups, g / groups % groups, g / (groups * groups)];
                self.directory.set_group_flag(std::array::from_fn(|a| (lo[a] >> 3) + c[a]), INSIDE);
            }
            return;
        }
        for b in 0..n.pow(3) {
            let block = [lo[0] + b % n, lo[1] + b / n % n, lo[2] + b / (n * n)];
            if self.directory.get(block) >= FLAGS {
                self.directory.set(block, INSIDE);
            }
        }
    }

    /// Calls `f` with every block flagged inside, in order of coordinates.
    pub fn for_each_inside_block(&self, mut f: impl FnMut([i32; 3])) {
        for cell in self.directory.group_cells() {
            for block in blocks_in(cell.map(|v| v << 3)) {
                if self.directory.get(block) == INSIDE {
                    f(block);
                }
            }
        }
    }

    /// Releases blocks with nothing in the band and puts the rest in order.
    pub fn tidy(&mut self) {
        self.release_far_blocks();
        self.sort_blocks();
        self.shrink();
    }

    /// Bytes taken by values, coordinates and directory.
    pub fn bytes(&self) -> usize {
        self.values.len() * 4 + self.blocks.len() * 12 + self.directory.bytes()
    }

    /// Number of samples inside the band, |φ| below the half width.
    pub fn active_samples(&self) -> usize {
        self.count(|v, limit| v < limit * (1.0 - 1e-6))
    }

    /// Number of samples within half a spacing of the surface.
    pub fn surface_samples(&self) -> usize {
        let half = 0.5 * self.frame.spacing as f32;
        self.count(|v, _| v < half)
    }

    fn count(&self, test: impl Fn(f32, f32) -> bool + Sync) -> usize {
        let limit = self.frame.background();
        let tally =
            |r: std::ops::Range<usize>| self.values[r].iter().filter(|v| test(v.abs(), limit)).count();
        par::reduce(self.values.len(), 1 << 16, tally, |a, b| a + b).unwrap_or(0)
    }

    /// Box around the existing blocks, in samples; `None` if there are none.
    pub fn sample_bounds(&self) -> Option<([i32; 3], [i32; 3])> {
        let f = self.edge() as i32;
        let [lo, hi] = self.extent;
        (!self.blocks.is_empty()).then(|| (lo.map(|v| v * f), hi.map(|v| v * f + f - 1)))
    }

    /// The point nearest to `x` of a box around all stored samples; `x` itself if there are none.
    fn nearest_stored(&self, x: Vec3) -> Vec3 {
        let Some((lo, hi)) = self.sample_bounds() else { return x };
        x.clamp(self.frame.position(lo), self.frame.position(hi))
    }

    /// Box around the existing blocks [m].
    pub fn bounds(&self) -> Aabb {
        match self.sample_bounds() {
            None => Aabb::EMPTY,
            Some((lo, hi)) => Aabb { min: self.frame.position(lo), max: self.frame.position(hi) },
        }
    }

    /// Puts blocks in the order of their coordinates, group by group, so that neighbours lie close in memory.
    pub fn sort_blocks(&mut self) {
        let key = |b: &[i32; 3]| {
            let g = b.map(|v| v >> 3);
            ([g[2], g[1], g[0]], [b[2], b[1], b[0]])
        };
        if self.blocks.is_sorted_by_key(key) {
            return;
        }
        let n = self.layout.block.volume();
        let mut order: Vec<u32> = (0..self.blocks.len() as u32).collect();
        order.sort_unstable_by_key(|&b| key(&self.blocks[b as usize]));
        let mut values = vec![0.0; self.values.len()];
        let old = &*self;
        par::chunks_mut(&mut values, n, |first, out| {
            out.copy_from_slice(old.block(order[first / n] as usize))
        });
        self.blocks = order.iter().map(|&b| self.blocks[b as usize]).collect();
        self.values = values;
        for b in 0..self.blocks.len() {
            self.directory.set(self.blocks[b], b as u32);
        }
    }
}

/// The box `[lo, hi]` with `block` taken in.
fn widened([lo, hi]: [[i32; 3]; 2], block: [i32; 3]) -> [[i32; 3]; 2] {
    [std::array::from_fn(|a| lo[a].min(block[a])), std::array::from_fn(|a| hi[a].max(block[a]))]
}

/// Lowest and highest coordinates of blocks.
fn extent_of(blocks: &[[i32; 3]]) -> [[i32; 3]; 2] {
    blocks.iter().fold(NO_EXTENT, |extent, &block| widened(extent, block))
}

/// The 8³ blocks from `first` on.
fn blocks_in(first: [i32; 3]) -> impl Iterator<Item = [i32; 3]> {
    (0..512).map(move |i| [first[0] + (i & 7), first[1] + (i >> 3 & 7), first[2] + (i >> 6)])
}
