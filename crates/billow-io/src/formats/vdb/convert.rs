//! Level sets and dense grids to and from `.vdb` grids.

use super::{LEAF_VOXELS, VdbClass, VdbGrid, VdbLeaf, VdbTile, leaf_index};
use crate::frame::Grid;
use billow_levelset::{BlockSize, Frame, INSIDE, Layout, LevelSetError, SparseGrid};
use billow_num::Vec3;
use std::collections::BTreeMap;

impl VdbGrid<f32> {
    /// A narrow-band level set. Active voxels are those closer to the surface than the half width.
    pub fn from_level_set(name: &str, level_set: &SparseGrid) -> Self {
        let frame = level_set.frame();
        let far = frame.background();
        let edge = level_set.edge() as i32;
        let mut leaves: BTreeMap<[i32; 3], VdbLeaf<f32>> = BTreeMap::new();
        let per_leaf = 8 / edge;
        for &block in level_set.blocks() {
            let origin = block.map(|c| c.div_euclid(per_leaf) * 8);
            leaves.entry(origin).or_insert_with(|| leaf_of(level_set, origin, far));
        }
        let mut tiles = Vec::new();
        level_set.for_each_inside_block(|block| {
            let origin = block.map(|c| c.div_euclid(per_leaf) * 8);
            // A leaf-sized tile for each eight small blocks that are inside together; the first one speaks.
            let first = (0..3).all(|a| block[a].rem_euclid(per_leaf) == 0);
            if first && !leaves.contains_key(&origin) {
                tiles.push(VdbTile { origin, edge: 8, value: -far, active: false });
            }
        });
        merge_tiles(&mut tiles);
        Self {
            name: name.into(),
            class: VdbClass::LevelSet,
            voxel_size: frame.spacing,
            origin: frame.origin,
            background: far,
            leaves: leaves.into_values().collect(),
            tiles,
        }
    }

    /// The sparse level set; its half width is the background over the voxel size.
    ///
    /// # Errors
    /// If background and voxel size do not make a band of at least two voxels.
    pub fn to_level_set(&self) -> Result<SparseGrid, LevelSetError> {
        let half_width = f64::from(self.background) / self.voxel_size;
        // Half widths are small whole numbers almost always: undo the rounding of the background.
        let whole = half_width.round();
        let half_width = if (half_width - whole).abs() < 1e-5 { whole } else { half_width };
        let frame = Frame { origin: self.origin, spacing: self.voxel_size, half_width };
        let layout = Layout { block: BlockSize::Four, ..Layout::default() };
        let mut grid = SparseGrid::empty(frame, layout)?;
        let mut values = Vec::with_capacity(64);
        for leaf in &self.leaves {
            for n in 0..8 {
                let first: [i32; 3] = std::array::from_fn(|a| leaf.origin[a] + 4 * (n >> a & 1));
                values.clear();
                values.extend((0..64).map(|i| {
                    let c = [first[0] + (i & 3), first[1] + (i >> 2 & 3), first[2] + (i >> 4)];
                    leaf.values[leaf_index(c)]
                }));
                grid.insert_block(first.map(|v| v >> 2), &values);
            }
        }
        for tile in self.tiles.iter().filter(|t| t.value < 0.0) {
            grid.insert_inside_cube(tile.origin, tile.edge);
        }
        grid.tidy();
        Ok(grid)
    }

    /// The inside of a level set as a fog volume: density 0 at the surface, rising to 1 at the half width inside.
    pub fn fog_of_level_set(name: &str, level_set: &SparseGrid) -> Self {
        let mut fog = Self::from_level_set(name, level_set);
        let far = fog.background;
        for leaf in &mut fog.leaves {
            leaf.active = [0; 8];
            for (i, v) in leaf.values.iter_mut().enumerate() {
                *v = (-*v / far).clamp(0.0, 1.0);
                leaf.active[i / 64] |= u64::from(*v > 0.0) << (i % 64);
            }
        }
        fog.leaves.retain(|leaf| leaf.active != [0; 8]);
        for tile in &mut fog.tiles {
            (tile.value, tile.active) = (1.0, true);
        }
        (fog.class, fog.background) = (VdbClass::FogVolume, 0.0);
        fog
    }

    /// A fog volume of a dense grid; zeros are left out.
    pub fn from_grid(name: &str, grid: &Grid) -> Self {
        let mut leaves: BTreeMap<[i32; 3], VdbLeaf<f32>> = BTreeMap::new();
        let [nx, ny, _] = grid.dims.map(|d| d as usize);
        for (i, &value) in grid.values.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            let c = [i % nx, i / nx % ny, i / (nx * ny)].map(|v| v as i32);
            let origin = c.map(|v| v & !7);
            let empty = || VdbLeaf { origin, active: [0; 8], values: vec![0.0; LEAF_VOXELS] };
            let leaf = leaves.entry(origin).or_insert_with(empty);
            let n = leaf_index(c);
            leaf.values[n] = value;
            leaf.active[n / 64] |= 1 << (n % 64);
        }
        Self {
            name: name.into(),
            class: VdbClass::FogVolume,
            voxel_size: grid.spacing,
            origin: grid.origin,
            background: 0.0,
            leaves: leaves.into_values().collect(),
            tiles: Vec::new(),
        }
    }

    /// Value of any voxel; slow, for tests and single lookups.
    pub fn value(&self, c: [i32; 3]) -> f32 {
        let origin = c.map(|v| v & !7);
        if let Some(leaf) = self.leaves.iter().find(|l| l.origin == origin) {
            return leaf.values[leaf_index(c)];
        }
        let holds = |t: &&VdbTile<f32>| (0..3).all(|a| (0..t.edge).contains(&(c[a] - t.origin[a])));
        self.tiles.iter().find(holds).map_or(self.background, |t| t.value)
    }

    /// Position of a voxel [m].
    pub fn position(&self, c: [i32; 3]) -> Vec3 {
        self.origin + self.voxel_size * Vec3::from(c.map(f64::from))
    }
}

/// The leaf at `origin`, from one or eight blocks.
fn leaf_of(level_set: &SparseGrid, origin: [i32; 3], far: f32) -> VdbLeaf<f32> {
    let mut leaf = VdbLeaf { origin, active: [0; 8], values: vec![far; LEAF_VOXELS] };
    let edge = level_set.edge() as i32;
    let n = 8 / edge;
    for part in 0..n.pow(3) {
        let o = [part % n, part / n % n, part / (n * n)];
        let slot = level_set.slot(std::array::from_fn(|a| origin[a] / edge + o[a]));
        let block = if slot < INSIDE { Some(level_set.block(slot as usize)) } else { None };
        for i in 0..edge.pow(3) {
            let c: [i32; 3] = [i % edge, i / edge % edge, i / (edge * edge)];
            let at = leaf_index(std::array::from_fn(|a| o[a] * edge + c[a]));
            let value = block.map_or(if slot == INSIDE { -far } else { far }, |b| b[i as usize]);
            leaf.values[at] = value;
            if value.abs() < far {
                leaf.active[at / 64] |= 1 << (at % 64);
            }
        }
    }
    leaf
}

/// Joins leaf-sized tiles that fill a whole lower node.
fn merge_tiles(tiles: &mut Vec<VdbTile<f32>>) {
    let mut by_node: BTreeMap<[i32; 3], Vec<VdbTile<f32>>> = BTreeMap::new();
    for tile in tiles.drain(..) {
        by_node.entry(tile.origin.map(|v| v & !127)).or_default().push(tile);
    }
    for (origin, group) in by_node {
        if group.len() == 16 * 16 * 16 {
            tiles.push(VdbTile { origin, edge: 128, ..group[0] });
        } else {
            tiles.extend(group);
        }
    }
}
