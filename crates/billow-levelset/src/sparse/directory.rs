//! From block coordinates to blocks.
//!
//! A slot is a block's number or one of two flags: unpopulated inside, unpopulated outside. The coarse level is
//! dense or hashed; with a third level each coarse cell is a flag or a group of 8³ slots.

use super::layout::{Coarse, Layout};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Slot of an unpopulated block outside the surface.
pub const OUTSIDE: u32 = u32::MAX;
/// Slot of an unpopulated block inside the surface.
pub const INSIDE: u32 = u32::MAX - 1;
/// Slots from here on are flags.
pub(crate) const FLAGS: u32 = INSIDE;

/// Slots of a group along an edge, as a power of two.
const GROUP_BITS: i32 = 3;
const GROUP: usize = 1 << (3 * GROUP_BITS);

/// Mixes the three coordinates; the table is never iterated, so no result depends on it.
#[derive(Clone, Copy, Default)]
pub(crate) struct CoordinateHasher(u64);

impl Hasher for CoordinateHasher {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.write_u32(u32::from(b));
        }
    }

    fn write_u32(&mut self, v: u32) {
        self.0 = (self.0.rotate_left(21) ^ u64::from(v)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn write_i32(&mut self, v: i32) {
        self.write_u32(v as u32);
    }

    fn write_usize(&mut self, _: usize) {} // the length of an array: always three
}

type Table = HashMap<[i32; 3], u32, BuildHasherDefault<CoordinateHasher>>;

/// A map from integer coordinates to slots; outside where nothing was set.
#[derive(Clone, Debug)]
enum CoarseLevel {
    Dense { min: [i32; 3], dims: [usize; 3], slots: Vec<u32> },
    Hashed(Table),
}

impl CoarseLevel {
    fn new(kind: Coarse, min: [i32; 3], max: [i32; 3]) -> Self {
        match kind {
            Coarse::Hashed => Self::Hashed(Table::default()),
            Coarse::Dense => {
                let dims = std::array::from_fn(|a| (max[a] - min[a]).max(0) as usize);
                Self::Dense { min, dims, slots: vec![OUTSIDE; dims[0] * dims[1] * dims[2]] }
            }
        }
    }

    #[inline]
    fn get(&self, c: [i32; 3]) -> u32 {
        match self {
            Self::Dense { min, dims, slots } => {
                let [x, y, z] = [0, 1, 2].map(|a| c[a].wrapping_sub(min[a]) as u32 as usize);
                if x < dims[0] && y < dims[1] && z < dims[2] {
                    slots[x + dims[0] * (y + dims[1] * z)]
                } else {
                    OUTSIDE
                }
            }
            Self::Hashed(table) => table.get(&c).copied().unwrap_or(OUTSIDE),
        }
    }

    fn set(&mut self, c: [i32; 3], slot: u32) {
        match self {
            Self::Dense { min, dims, slots } => {
                let [x, y, z] = [0, 1, 2].map(|a| c[a].wrapping_sub(min[a]) as u32 as usize);
                if x < dims[0] && y < dims[1] && z < dims[2] {
                    slots[x + dims[0] * (y + dims[1] * z)] = slot;
                } else if slot != OUTSIDE {
                    self.grow_to(c);
                    self.set(c, slot);
                }
            }
            Self::Hashed(table) => {
                if slot == OUTSIDE {
                    table.remove(&c);
                } else {
                    table.insert(c, slot);
                }
            }
        }
    }

    /// Enlarges a dense level to hold `c`, with room to grow further.
    fn grow_to(&mut self, c: [i32; 3]) {
        let Self::Dense { min, dims, slots } = &*self else { return };
        let (old_min, old_dims) = (*min, *dims);
        let empty = slots.is_empty();
        let (mut lo, mut hi) = (c, c.map(|v| v + 1));
        for a in 0..3 {
            if !empty {
                let old_hi = old_min[a] + old_dims[a] as i32;
                let room = 1 + old_dims[a] as i32 / 4;
                lo[a] = if c[a] < old_min[a] { c[a] - room } else { old_min[a] };
                hi[a] = if c[a] >= old_hi { c[a] + 1 + room } else { old_hi };
            }
        }
        let mut larger = Self::new(Coarse::Dense, lo, hi);
        for (i, &slot) in slots.iter().enumerate() {
            let x = (i % old_dims[0].max(1)) as i32;
            let y = (i / old_dims[0].max(1) % old_dims[1].max(1)) as i32;
            let z = (i / (old_dims[0] * old_dims[1]).max(1)) as i32;
            larger.set([old_min[0] + x, old_min[1] + y, old_min[2] + z], slot);
        }
        *self = larger;
    }

    /// Calls `f` for every cell that is not simply outside, in no particular order.
    fn for_each_cell(&self, mut f: impl FnMut([i32; 3], u32)) {
        match self {
            Self::Dense { min, dims, slots } => {
                for (i, &slot) in slots.iter().enumerate().filter(|(_, s)| **s != OUTSIDE) {
                    let c = [i % dims[0], i / dims[0] % dims[1], i / (dims[0] * dims[1])];
                    f(std::array::from_fn(|a| min[a] + c[a] as i32), slot);
                }
            }
            Self::Hashed(table) => table.iter().for_each(|(&c, &slot)| f(c, slot)),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Dense { slots, .. } => slots.len() * 4,
            // Key, value and one control byte per bucket.
            Self::Hashed(table) => table.capacity() * 8 / 7 * 17,
        }
    }
}

/// From block coordinates to slots.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    coarse: CoarseLevel,
    /// The groups of the third level; `None` without one.
    groups: Option<Vec<[u32; GROUP]>>,
}

impl Directory {
    /// An empty directory; a dense one expects blocks in `min..max`.
    pub(crate) fn new(layout: &Layout, min: [i32; 3], max: [i32; 3]) -> Self {
        if layout.third_level {
            let (min, max) = (min.map(|v| v >> GROUP_BITS), max.map(|v| (v + 7) >> GROUP_BITS));
            Self { coarse: CoarseLevel::new(layout.coarse, min, max), groups: Some(Vec::new()) }
        } else {
            Self { coarse: CoarseLevel::new(layout.coarse, min, max), groups: None }
        }
    }

    /// The slot of a block.
    #[inline]
    pub(crate) fn get(&self, block: [i32; 3]) -> u32 {
        match &self.groups {
            None => self.coarse.get(block),
            Some(groups) => match self.coarse.get(block.map(|v| v >> GROUP_BITS)) {
                flag if flag >= FLAGS => flag,
                group => groups[group as usize][in_group(block)],
            },
        }
    }

    /// Sets the slot of a block.
    pub(crate) fn set(&mut self, block: [i32; 3], slot: u32) {
        let Some(groups) = &mut self.groups else { return self.coarse.set(block, slot) };
        let cell = block.map(|v| v >> GROUP_BITS);
        let mut group = self.coarse.get(cell);
        if group >= FLAGS {
            if group == slot {
                return;
            }
            groups.push([group; GROUP]);
            group = groups.len() as u32 - 1;
            self.coarse.set(cell, group);
        }
        groups[group as usize][in_group(block)] = slot;
    }

    /// Sets all 8³ slots of a group that holds no blocks; needs a third level.
    pub(crate) fn set_group_flag(&mut self, cell: [i32; 3], flag: u32) {
        self.coarse.set(cell, flag);
    }

    /// Coordinates, in groups of 8³ blocks, of all cells that are not simply outside; sorted.
    pub(crate) fn group_cells(&self) -> Vec<[i32; 3]> {
        let mut cells = Vec::new();
        let shift = if self.groups.is_some() { 0 } else { GROUP_BITS };
        self.coarse.for_each_cell(|c, _| cells.push(c.map(|v| v >> shift)));
        cells.sort_unstable_by_key(|&[x, y, z]| [z, y, x]);
        cells.dedup();
        cells
    }

    /// The flag of a whole group, where it is known without looking at its blocks.
    pub(crate) fn group_flag(&self, cell: [i32; 3]) -> Option<u32> {
        self.groups.as_ref()?;
        Some(self.coarse.get(cell)).filter(|&s| s >= FLAGS)
    }

    /// Whether there is a third level.
    pub(crate) fn grouped(&self) -> bool {
        self.groups.is_some()
    }

    /// Unpopulated blocks with a face neighbour, itself unpopulated, of the other sign, in order of coordinates.
    pub(crate) fn flag_borders(&self) -> Vec<[i32; 3]> {
        let mut found = Vec::new();
        self.coarse.for_each_cell(|cell, slot| match &self.groups {
            None => self.collect_border(cell, slot, &mut found),
            Some(groups) => {
                let first = cell.map(|v| v << GROUP_BITS);
                // Inside a uniform group only the outermost blocks can touch another sign.
                for i in 0..GROUP as i32 {
                    let c = [i & 7, i >> 3 & 7, i >> 6];
                    if slot < FLAGS || c.iter().any(|&v| v == 0 || v == 7) {
                        let block = std::array::from_fn(|a| first[a] + c[a]);
                        let own = if slot >= FLAGS { slot } else { groups[slot as usize][in_group(block)] };
                        self.collect_border(block, own, &mut found);
                    }
                }
            }
        });
        found.sort_unstable_by_key(|&[x, y, z]| [z, y, x]);
        found.dedup();
        found
    }

    /// Notes an inside block and those of its neighbours that are flagged outside.
    fn collect_border(&self, block: [i32; 3], slot: u32, found: &mut Vec<[i32; 3]>) {
        if slot != INSIDE {
            return;
        }
        for side in 0..6 {
            let mut at = block;
            at[side / 2] += if side % 2 == 0 { -1 } else { 1 };
            if self.get(at) == OUTSIDE {
                found.push(block);
                found.push(at);
            }
        }
    }

    /// Bytes taken.
    pub(crate) fn bytes(&self) -> usize {
        self.coarse.bytes() + self.groups.as_ref().map_or(0, |g| g.len() * GROUP * 4)
    }
}

#[inline]
fn in_group(block: [i32; 3]) -> usize {
    let [x, y, z] = block.map(|v| (v & 7) as usize);
    x | y << 3 | z << 6
}

#[cfg(test)]
mod tests {
    use super::super::layout::BlockSize;
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_kind_of_directory_remembers_what_a_plain_map_does() {
        for (coarse, third_level) in
            [(Coarse::Dense, false), (Coarse::Dense, true), (Coarse::Hashed, false), (Coarse::Hashed, true)]
        {
            let layout = Layout { block: BlockSize::Four, coarse, third_level };
            let mut directory = Directory::new(&layout, [-2, 0, 0], [5, 3, 3]);
            let mut plain = BTreeMap::new();
            let mut state = 1u64;
            let mut next = |n: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 33) % n
            };
            for step in 0..4000u32 {
                let c = [0; 3].map(|_| next(60) as i32 - 30);
                let slot = [step % 700, OUTSIDE, INSIDE][next(3) as usize];
                directory.set(c, slot);
                plain.insert(c, slot);
            }
            for x in -31..31 {
                for y in -31..31 {
                    for z in -31..31 {
                        let c = [x, y, z];
                        let want = plain.get(&c).copied().unwrap_or(OUTSIDE);
                        assert_eq!(directory.get(c), want, "{layout:?} at {c:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_block_in_a_flagged_group_leaves_the_rest_of_the_group_flagged() {
        for coarse in [Coarse::Dense, Coarse::Hashed] {
            let layout = Layout { block: BlockSize::Four, coarse, third_level: true };
            let mut directory = Directory::new(&layout, [0; 3], [16; 3]);
            directory.set_group_flag([1, 0, 0], INSIDE);
            directory.set([9, 2, 3], 5);
            assert_eq!(directory.get([9, 2, 3]), 5);
            assert_eq!(directory.get([15, 7, 7]), INSIDE, "{coarse:?}");
            assert_eq!(directory.get([7, 2, 3]), OUTSIDE);
        }
    }
}
