//! Reading `.vdb` files.

use super::bytes::{Cursor, bit};
use super::codec::{Codec, full_value};
use super::tree::{LEAF_SPAN, LOWER_BITS, LOWER_SPAN, UPPER_BITS, UPPER_SPAN, slot_origin};
use super::{AnyVdbGrid, LEAF_VOXELS, VdbClass, VdbGrid, VdbLeaf, VdbTile, VdbValue};
use crate::error::{Error, Result};
use billow_num::Vec3;
use std::path::Path;

/// Oldest file format read: the one that introduced masks for inactive values.
const OLDEST: u32 = 222;
/// Newest file format known.
const NEWEST: u32 = 225;

/// Reads the float and vector grids of a file; grids of other types are left out.
///
/// # Errors
/// If the file cannot be read, is damaged, or uses a transform that is not uniform scale and translation.
pub fn read(path: &Path) -> Result<Vec<AnyVdbGrid>> {
    let bytes = std::fs::read(path).map_err(Error::io("read", path))?;
    parse(path, &bytes)
}

/// Reads the bytes of a `.vdb` file; see [`read`].
///
/// # Errors
/// As [`read`].
pub fn parse(path: &Path, bytes: &[u8]) -> Result<Vec<AnyVdbGrid>> {
    let mut from = Cursor::new(path, bytes);
    if from.i64()? != 0x5644_4220 {
        return Err(from.corrupt("not an OpenVDB file: the first eight bytes are not `VDB`'s"));
    }
    let version = from.u32()?;
    if !(OLDEST..=NEWEST).contains(&version) {
        return Err(from.corrupt(format!("file format {version}; {OLDEST} to {NEWEST} are understood")));
    }
    from.take(8)?;
    let has_offsets = from.u8()? != 0;
    from.take(36)?;
    read_metadata(&mut from)?;
    let count = from.u32()?;
    let mut grids = Vec::new();
    for _ in 0..count {
        let name = from.string()?;
        let kind = from.string()?;
        let parent = from.string()?;
        let [start, _, end] = [from.i64()?, from.i64()?, from.i64()?];
        if !has_offsets || !parent.is_empty() {
            return Err(from.corrupt(
                "grids without offsets and instanced grids are not supported: save them again as plain grids",
            ));
        }
        from.seek(start as u64)?;
        // OpenVDB tells grids of one name apart by a suffix behind a control character.
        let name = name.split('\u{1e}').next().unwrap_or_default().to_string();
        let half = kind.ends_with("_HalfFloat");
        match kind.trim_end_matches("_HalfFloat") {
            f32::TREE => grids.push(AnyVdbGrid::Float(read_grid(&mut from, name, half)?)),
            <[f32; 3]>::TREE => grids.push(AnyVdbGrid::Vector(read_grid(&mut from, name, half)?)),
            _ => {}
        }
        from.seek(end as u64)?;
    }
    Ok(grids)
}

/// Metadata as (name, value bytes).
fn read_metadata(from: &mut Cursor<'_>) -> Result<Vec<(String, Vec<u8>)>> {
    let count = from.u32()?;
    let mut entries = Vec::new();
    for _ in 0..count {
        let name = from.string()?;
        let _kind = from.string()?;
        let size = from.u32()? as usize;
        entries.push((name, from.take(size)?.to_vec()));
    }
    Ok(entries)
}

fn read_grid<T: VdbValue>(from: &mut Cursor<'_>, name: String, half: bool) -> Result<VdbGrid<T>> {
    let flags = from.u32()?;
    let metadata = read_metadata(from)?;
    let class =
        metadata.iter().find(|(n, _)| n == "class").map(|(_, v)| String::from_utf8_lossy(v).into_owned());
    let (voxel_size, origin) = read_transform(from)?;
    let buffers = from.u32()?;
    if buffers != 1 {
        return Err(from.corrupt(format!("{buffers} value buffers per leaf; only 1 is understood")));
    }
    let background = full_value(from)?;
    let codec = Codec { flags, half, background };
    let mut grid = VdbGrid {
        name,
        class: VdbClass::from_name(class.as_deref().unwrap_or_default()),
        voxel_size,
        origin,
        background,
        leaves: Vec::new(),
        tiles: Vec::new(),
    };
    read_topology(from, &codec, &mut grid)?;
    for leaf in &mut grid.leaves {
        let active = from.mask(LEAF_VOXELS)?;
        leaf.active.copy_from_slice(&active);
        leaf.values = codec.get(from, LEAF_VOXELS, &active)?;
    }
    Ok(grid)
}

/// Voxel size and position of voxel 0.
fn read_transform(from: &mut Cursor<'_>) -> Result<(f64, Vec3)> {
    let kind = from.string()?;
    let vector =
        |from: &mut Cursor<'_>| -> Result<Vec3> { Ok(Vec3::new(from.f64()?, from.f64()?, from.f64()?)) };
    let (scale, origin) = match kind.as_str() {
        "UniformScaleMap" | "ScaleMap" => (vector(from)?, Vec3::ZERO),
        "UniformScaleTranslateMap" | "ScaleTranslateMap" => {
            let origin = vector(from)?;
            (vector(from)?, origin)
        }
        "TranslationMap" => return Ok((1.0, vector(from)?)),
        "AffineMap" => return read_affine(from),
        other => {
            return Err(from
                .corrupt(format!("transform `{other}`: only uniform scale and translation are supported")));
        }
    };
    // Voxel size and three derived vectors follow.
    from.take(4 * 24)?;
    uniform(from, scale).map(|h| (h, origin))
}

/// A 4 × 4 matrix acting on row vectors.
fn read_affine(from: &mut Cursor<'_>) -> Result<(f64, Vec3)> {
    let mut m = [0.0; 16];
    for v in &mut m {
        *v = from.f64()?;
    }
    let diagonal = [0, 5, 10, 15];
    if (0..12).any(|i| !diagonal.contains(&i) && m[i].abs() > 1e-12 * m[0].abs()) {
        return Err(from.corrupt(
            "the transform turns or shears the grid: only uniform scale and translation are supported",
        ));
    }
    uniform(from, Vec3::new(m[0], m[5], m[10])).map(|h| (h, Vec3::new(m[12], m[13], m[14])))
}

fn uniform(from: &Cursor<'_>, scale: Vec3) -> Result<f64> {
    let h = scale.x;
    if h > 0.0 && h.is_finite() && (scale - Vec3::splat(h)).abs().max_element() <= 1e-9 * h {
        return Ok(h);
    }
    Err(from.corrupt(format!("voxels of {scale} m: only cubes of positive size are supported")))
}

fn read_topology<T: VdbValue>(from: &mut Cursor<'_>, codec: &Codec<T>, grid: &mut VdbGrid<T>) -> Result<()> {
    let (tiles, children) = (from.u32()?, from.u32()?);
    for _ in 0..tiles {
        let origin = from.coordinates()?;
        let value = full_value(from)?;
        let active = from.u8()? != 0;
        keep_tile(grid, VdbTile { origin, edge: 1 << UPPER_SPAN, value, active });
    }
    for _ in 0..children {
        let origin = from.coordinates()?;
        let lower = read_inner(from, codec, grid, origin, (UPPER_BITS, UPPER_SPAN, LOWER_SPAN))?;
        for origin in lower {
            let leaves = read_inner(from, codec, grid, origin, (LOWER_BITS, LOWER_SPAN, LEAF_SPAN))?;
            for origin in leaves {
                from.take(LEAF_VOXELS / 8)?;
                grid.leaves.push(VdbLeaf { origin, active: [0; 8], values: Vec::new() });
            }
        }
    }
    Ok(())
}

/// Reads an inner node's masks and tiles; returns the places of its children.
fn read_inner<T: VdbValue>(
    from: &mut Cursor<'_>,
    codec: &Codec<T>,
    grid: &mut VdbGrid<T>,
    origin: [i32; 3],
    (bits, span, child_span): (u32, u32, u32),
) -> Result<Vec<[i32; 3]>> {
    let n = 1usize << (3 * bits);
    let children = from.mask(n)?;
    let active = from.mask(n)?;
    let values = codec.get(from, n, &active)?;
    let mut places = Vec::new();
    for (i, value) in values.into_iter().enumerate() {
        let at = slot_origin(origin, i, span, child_span);
        if bit(&children, i) {
            places.push(at);
        } else {
            keep_tile(grid, VdbTile { origin: at, edge: 1 << child_span, value, active: bit(&active, i) });
        }
    }
    Ok(places)
}

/// Keeps a tile unless it only repeats the background.
fn keep_tile<T: VdbValue>(grid: &mut VdbGrid<T>, tile: VdbTile<T>) {
    if tile.active || tile.value != grid.background {
        grid.tiles.push(tile);
    }
}
