//! OpenVDB files (`.vdb`): level sets, fog volumes and vector grids, in and out.
//!
//! The file layout is OpenVDB's version 224 with the usual 5-4-3 tree: a root of 4096³ nodes, 128³ nodes, and leaves
//! of 8³ voxels, each with a mask of active voxels. A [`VdbGrid`] keeps the leaves and the uniform tiles between them;
//! the inner nodes are rebuilt on writing. Written files are uncompressed or zipped; files compressed with zip or
//! with Blosc's LZ4 are read, as are half-precision grids. Transforms must be uniform scale and translation.

mod bytes;
mod codec;
mod convert;
mod read;
mod tree;
mod write;

pub use read::{parse, read};
pub use write::{Compression, to_bytes, write};

use billow_num::Vec3;

/// Voxels along a leaf's edge.
pub const LEAF: i32 = 8;
/// Voxels in a leaf.
pub const LEAF_VOXELS: usize = 512;

/// What the values of a grid mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VdbClass {
    /// Signed distances in a narrow band.
    LevelSet,
    /// Densities, zero outside.
    FogVolume,
    /// Anything else, with the name the file gives it (may be empty).
    Other(String),
}

impl VdbClass {
    /// The name in the file.
    pub fn name(&self) -> &str {
        match self {
            Self::LevelSet => "level set",
            Self::FogVolume => "fog volume",
            Self::Other(name) => name,
        }
    }

    fn from_name(name: &str) -> Self {
        match name {
            "level set" => Self::LevelSet,
            "fog volume" => Self::FogVolume,
            other => Self::Other(other.into()),
        }
    }
}

/// A voxel type a file can hold.
pub trait VdbValue: Copy + PartialEq + Send + Sync + 'static {
    /// The tree's name in the file.
    const TREE: &'static str;
    /// Numbers per value.
    const NUMBERS: usize;
    /// The value whose numbers are given.
    fn from_numbers(numbers: &[f32]) -> Self;
    /// Appends the value's numbers.
    fn push_numbers(self, out: &mut Vec<f32>);
    /// The value with all signs turned.
    fn negated(self) -> Self;
}

impl VdbValue for f32 {
    const TREE: &'static str = "Tree_float_5_4_3";
    const NUMBERS: usize = 1;

    fn from_numbers(numbers: &[f32]) -> Self {
        numbers[0]
    }

    fn push_numbers(self, out: &mut Vec<f32>) {
        out.push(self);
    }

    fn negated(self) -> Self {
        -self
    }
}

impl VdbValue for [f32; 3] {
    const TREE: &'static str = "Tree_vec3s_5_4_3";
    const NUMBERS: usize = 3;

    fn from_numbers(numbers: &[f32]) -> Self {
        [numbers[0], numbers[1], numbers[2]]
    }

    fn push_numbers(self, out: &mut Vec<f32>) {
        out.extend(self);
    }

    fn negated(self) -> Self {
        self.map(|v| -v)
    }
}

/// A block of 8³ voxels, z fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct VdbLeaf<T> {
    /// Coordinates of the first voxel; multiples of eight.
    pub origin: [i32; 3],
    /// One bit per voxel: whether it is active.
    pub active: [u64; 8],
    /// 512 values.
    pub values: Vec<T>,
}

/// A cube of equal voxels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VdbTile<T> {
    /// Coordinates of the first voxel.
    pub origin: [i32; 3],
    /// Voxels along an edge: 8, 128 or 4096.
    pub edge: i32,
    /// The value of all voxels.
    pub value: T,
    /// Whether the voxels are active.
    pub active: bool,
}

/// A sparse grid of one value type.
#[derive(Clone, Debug, PartialEq)]
pub struct VdbGrid<T> {
    /// Name, for example `surface` or `density`.
    pub name: String,
    /// What the values mean.
    pub class: VdbClass,
    /// Edge of a voxel [m].
    pub voxel_size: f64,
    /// Position of voxel (0, 0, 0) [m].
    pub origin: Vec3,
    /// Value where there is neither leaf nor tile.
    pub background: T,
    /// Blocks of voxels.
    pub leaves: Vec<VdbLeaf<T>>,
    /// Uniform regions that differ from the background.
    pub tiles: Vec<VdbTile<T>>,
}

impl<T> VdbGrid<T> {
    /// Number of active voxels, those of tiles included.
    pub fn active_voxels(&self) -> u64 {
        let leaves: u64 = self.leaves.iter().flat_map(|l| l.active).map(|w| u64::from(w.count_ones())).sum();
        let tiles: u64 = self.tiles.iter().filter(|t| t.active).map(|t| (t.edge as u64).pow(3)).sum();
        leaves + tiles
    }
}

/// A grid of any type this program knows.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyVdbGrid {
    /// Scalars.
    Float(VdbGrid<f32>),
    /// Vectors.
    Vector(VdbGrid<[f32; 3]>),
}

/// Number of a voxel within its leaf.
pub(crate) fn leaf_index([x, y, z]: [i32; 3]) -> usize {
    ((x & 7) << 6 | (y & 7) << 3 | (z & 7)) as usize
}
