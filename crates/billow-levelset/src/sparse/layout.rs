//! How a sparse block grid is laid out: block size, kind of coarse level, optional third level ([Bri03] 6.1).
//!
//! For n³ effective resolution and two levels, memory c³ + c²f³ with n = cf is least for f = n^(1/4): blocks of
//! 4³ up to n ≈ 1000, of 8³ beyond, rounded to powers of two so that a block row fills vector registers and a
//! block whole cache lines. With a third level the coarse grid stops mattering and 4³ blocks win at any n.

use serde::{Deserialize, Serialize};

/// Samples along the edge of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BlockSize {
    /// 4³ samples, 256 bytes.
    Four,
    /// 8³ samples, 2 kB.
    Eight,
}

impl BlockSize {
    /// Samples along an edge.
    pub fn edge(self) -> usize {
        match self {
            Self::Four => 4,
            Self::Eight => 8,
        }
    }

    /// Samples in a block.
    pub fn volume(self) -> usize {
        self.edge().pow(3)
    }
}

/// What finds a block from its coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Coarse {
    /// An array over the bounding box.
    Dense,
    /// A hash table; blocks outside the surface far away take no space, and the domain has no limits.
    Hashed,
}

/// The shape of the structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Samples along a block's edge.
    pub block: BlockSize,
    /// Kind of coarse level.
    pub coarse: Coarse,
    /// Whether 8³ blocks are grouped under one coarse cell.
    pub third_level: bool,
}

impl Default for Layout {
    fn default() -> Self {
        Self { block: BlockSize::Four, coarse: Coarse::Dense, third_level: true }
    }
}

impl Layout {
    /// The two-level layout of the document for about `n` samples across.
    pub fn two_level(n: usize) -> Self {
        // n^(1/4) against the geometric mean of 4 and 8.
        let block = if (n as f64).powf(0.25) < 32f64.sqrt() { BlockSize::Four } else { BlockSize::Eight };
        Self { block, coarse: Coarse::Dense, third_level: false }
    }
}
