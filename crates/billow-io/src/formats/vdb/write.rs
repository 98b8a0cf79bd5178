//! Writing `.vdb` files.

use super::bytes::{put_mask, put_string, set_bit};
use super::codec::{ACTIVE_MASK, Codec, ZIP, put_value};
use super::tree::{LOWER_BITS, Lower, TileSlot, Tree, UPPER_BITS};
use super::{AnyVdbGrid, VdbGrid, VdbValue};
use crate::atomic;
use crate::error::Result;
use std::path::Path;

/// How values are packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Plain numbers: fastest.
    None,
    /// Deflate: smaller files.
    #[default]
    Zip,
}

/// Writes grids to a file, which appears whole or not at all.
///
/// # Errors
/// If the file cannot be written.
pub fn write(path: &Path, grids: &[AnyVdbGrid], compression: Compression) -> Result<()> {
    atomic::write(path, &to_bytes(grids, compression))
}

/// The bytes of a file with the given grids.
pub fn to_bytes(grids: &[AnyVdbGrid], compression: Compression) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend(0x5644_4220u64.to_le_bytes());
    // File format 224, as written by library version 10.0; grid offsets follow.
    for v in [224u32, 10, 0] {
        out.extend(v.to_le_bytes());
    }
    out.push(1);
    // An identifier is required; equal contents shall give equal bytes, so it is a constant.
    out.extend(b"62696c6c-6f77-4000-8000-000000000001");
    out.extend(0u32.to_le_bytes());
    out.extend((grids.len() as u32).to_le_bytes());
    for grid in grids {
        match grid {
            AnyVdbGrid::Float(grid) => put_grid(&mut out, grid, compression),
            AnyVdbGrid::Vector(grid) => put_grid(&mut out, grid, compression),
        }
    }
    out
}

fn put_grid<T: VdbValue>(out: &mut Vec<u8>, grid: &VdbGrid<T>, compression: Compression) {
    put_string(out, &grid.name);
    put_string(out, T::TREE);
    put_string(out, "");
    let offsets = out.len();
    out.extend([0; 24]);
    let start = out.len();
    let flags = ACTIVE_MASK | if compression == Compression::Zip { ZIP } else { 0 };
    out.extend(flags.to_le_bytes());
    put_metadata(out, grid);
    put_transform(out, grid);
    let codec = Codec { flags, half: false, background: grid.background };
    let tree = Tree::new(grid);
    put_topology(out, &tree, &codec);
    let blocks = out.len();
    put_leaves(out, &tree, &codec);
    let end = out.len();
    for (i, v) in [start, blocks, end].into_iter().enumerate() {
        out[offsets + 8 * i..offsets + 8 * (i + 1)].copy_from_slice(&(v as u64).to_le_bytes());
    }
}

fn put_metadata<T: VdbValue>(out: &mut Vec<u8>, grid: &VdbGrid<T>) {
    let class = if grid.class.name().is_empty() { "unknown" } else { grid.class.name() };
    out.extend(4u32.to_le_bytes());
    for (name, value) in [("class", class), ("name", &grid.name), ("creator", "Billow")] {
        put_string(out, name);
        put_string(out, "string");
        put_string(out, value);
    }
    put_string(out, "file_voxel_count");
    put_string(out, "int64");
    out.extend(8u32.to_le_bytes());
    out.extend((grid.active_voxels() as i64).to_le_bytes());
}

fn put_transform<T>(out: &mut Vec<u8>, grid: &VdbGrid<T>) {
    let h = grid.voxel_size;
    let still = grid.origin == billow_num::Vec3::ZERO;
    put_string(out, if still { "UniformScaleMap" } else { "UniformScaleTranslateMap" });
    let mut put = |v: [f64; 3]| v.into_iter().for_each(|c| out.extend(c.to_le_bytes()));
    if !still {
        put(grid.origin.to_array());
    }
    for v in [h, h, 1.0 / h, 1.0 / (h * h), 0.5 / h] {
        put([v; 3]);
    }
}

fn put_topology<T: VdbValue>(out: &mut Vec<u8>, tree: &Tree<'_, T>, codec: &Codec<T>) {
    out.extend(1u32.to_le_bytes());
    put_value(out, codec.background);
    out.extend((tree.tiles.len() as u32).to_le_bytes());
    out.extend((tree.upper.len() as u32).to_le_bytes());
    let put_coordinates =
        |out: &mut Vec<u8>, c: &[i32; 3]| c.iter().for_each(|v| out.extend(v.to_le_bytes()));
    for tile in &tree.tiles {
        put_coordinates(out, &tile.origin);
        put_value(out, tile.value);
        out.push(u8::from(tile.active));
    }
    for (origin, upper) in &tree.upper {
        put_coordinates(out, origin);
        put_inner(out, UPPER_BITS, upper.lower.keys(), &upper.tiles, codec);
        for lower in upper.lower.values() {
            put_inner(out, LOWER_BITS, lower.leaves.keys(), &lower.tiles, codec);
            for leaf in lower.leaves.values() {
                put_mask(out, &leaf.active);
            }
        }
    }
}

/// Masks of children and of active tiles, then the tiles' values.
fn put_inner<'k, T: VdbValue>(
    out: &mut Vec<u8>,
    bits: u32,
    children: impl Iterator<Item = &'k usize>,
    tiles: &[TileSlot<T>],
    codec: &Codec<T>,
) {
    let n = 1 << (3 * bits);
    let (mut child_mask, mut active) = (vec![0; n / 64], vec![0; n / 64]);
    let mut values = vec![codec.background; n];
    children.for_each(|&c| set_bit(&mut child_mask, c));
    for &(slot, value, on) in tiles {
        values[slot] = value;
        if on {
            set_bit(&mut active, slot);
        }
    }
    put_mask(out, &child_mask);
    put_mask(out, &active);
    codec.put(out, &values, &active, &child_mask);
}

fn put_leaves<T: VdbValue>(out: &mut Vec<u8>, tree: &Tree<'_, T>, codec: &Codec<T>) {
    let lower: Vec<&Lower<'_, T>> = tree.upper.values().flat_map(|u| u.lower.values()).collect();
    let packed = billow_num::par::gather(lower.len(), 1, |range, parts: &mut Vec<Vec<u8>>| {
        for node in &lower[range] {
            let mut bytes = Vec::new();
            for leaf in node.leaves.values() {
                put_mask(&mut bytes, &leaf.active);
                codec.put(&mut bytes, &leaf.values, &leaf.active, &[]);
            }
            parts.push(bytes);
        }
    });
    for part in packed {
        out.extend(part);
    }
}
