//! From a mesh to a sparse grid, tile by tile.

use super::crossing::{Event, Thickness, cross_triangle};
use super::distance::{TILE, TILE_VOLUME, lower_to_triangle};
use super::input::SampledMesh;
use super::report::{MeshReport, SignMethod};
use super::signs::Signs;
use super::votes::Mask;
use crate::LevelSetError;
use crate::sparse::{Directory, Frame, INSIDE, Layout, OUTSIDE, SparseGrid};
use billow_geom::TriMesh;
use billow_num::{Vec3, par};

/// Bytes a sparse grid takes per sample of surface area, as measured, rounded up: for refusing what will not fit.
const BYTES_PER_SURFACE_SAMPLE: f64 = 64.0;
/// Tiles converted before their blocks are moved into the grid, which bounds the memory in flight.
const BATCH: usize = 512;

/// Settings of mesh conversion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshToSdf {
    /// Where the samples are and how wide the band is.
    pub frame: Frame,
    /// The shape of the sparse structure.
    pub layout: Layout,
    /// How far a ray may miss a triangle of a leaky mesh and still hit it [samples]; 0.01 by default. Raise it for
    /// meshes with cracks between their triangles.
    pub thickness: f64,
    /// Bytes the result may take; [`crate::DEFAULT_MEMORY_LIMIT`] by default.
    pub memory_limit: u64,
}

impl MeshToSdf {
    /// Samples a distance of `spacing` [m] apart, a band of three on either side.
    pub fn with_spacing(spacing: f64) -> Self {
        Self {
            frame: Frame { origin: Vec3::ZERO, spacing, half_width: 3.0 },
            layout: Layout::default(),
            thickness: 0.01,
            memory_limit: crate::DEFAULT_MEMORY_LIMIT,
        }
    }
}

/// The signed distance to a mesh, near its surface ([Gue06] 2.3.1).
pub fn mesh_to_sparse(
    mesh: &TriMesh,
    settings: &MeshToSdf,
) -> Result<(SparseGrid, MeshReport), LevelSetError> {
    let frame = settings.frame.validated()?;
    let mut report = MeshReport::default();
    let sampled = SampledMesh::new(mesh, &frame, &mut report)?;
    report.mesh_area = sampled.area * frame.spacing * frame.spacing;
    report.method = if report.open_edges == 0 { SignMethod::Winding } else { SignMethod::Votes };
    check_memory(&sampled, settings)?;
    let mut tiles = bin(&sampled, frame.half_width);
    find_crossings(&sampled, &mut tiles, settings, report.method);
    report.crossing_edges = tiles.iter().flat_map(|t| &t.events).map(Vec::len).sum();
    let mut signs = Signs::new(&tiles, report.method);
    let mut grid = assemble(&sampled, &tiles, &mut signs, settings)?;
    report.split_votes = signs.split_votes();
    if !signs.any_inside() {
        return Err(LevelSetError::NoInterior { why: why_no_interior(&report, &signs, &frame) });
    }
    if report.method == SignMethod::Votes {
        report.leak_edges = super::seal::seal_leaks(&mut grid);
    }
    Ok((grid, report))
}

/// A tile near the surface.
#[derive(Default)]
pub(super) struct Tile {
    /// Coordinates in tiles.
    pub(super) cell: [i32; 3],
    /// Triangles that may come within the band of its samples.
    pub(super) triangles: Vec<u32>,
    /// Crossings of its lines along each axis.
    pub(super) events: [Vec<Event>; 3],
}

impl Tile {
    /// The tile's first sample.
    pub(super) fn first(&self) -> [i32; 3] {
        self.cell.map(|c| c * TILE as i32)
    }
}

fn check_memory(mesh: &SampledMesh, settings: &MeshToSdf) -> Result<(), LevelSetError> {
    let width = 2.0 * settings.frame.half_width + 6.0;
    let band = mesh.area * BYTES_PER_SURFACE_SAMPLE * width / 12.0;
    let size = mesh.bounds.inflated(settings.frame.half_width + 1.0).size();
    let tiles = (size / TILE as f64 + 1.0).floor();
    let bytes = band + 4.0 * tiles.x * tiles.y * tiles.z;
    if bytes > settings.memory_limit as f64 {
        let dims = size.to_array().map(|s| s as u64);
        return Err(LevelSetError::TooLarge { dims, bytes: bytes as u64, limit: settings.memory_limit });
    }
    Ok(())
}

/// Lists, tile by tile in the order of (z, y, x), the triangles within `reach` of it.
fn bin(mesh: &SampledMesh, reach: f64) -> Vec<Tile> {
    let size = TILE as f64;
    let reach = reach + 1.0;
    let half = Vec3::splat(0.5 * (size - 1.0) + reach);
    let mut pairs: Vec<([i32; 3], u32)> = par::gather(mesh.triangles.len(), 512, |range, out| {
        for t in range {
            let [a, b, c] = mesh.corners(t as u32);
            let lo = ((a.min(b).min(c) - reach) / size).floor();
            let hi = ((a.max(b).max(c) + reach) / size).floor();
            let n = (b - a).cross(c - a);
            let slab = half.dot(n.abs());
            for z in lo.z as i32..=hi.z as i32 {
                for y in lo.y as i32..=hi.y as i32 {
                    for x in lo.x as i32..=hi.x as i32 {
                        // The triangle's plane must pass the tile.
                        let centre = Vec3::from([x, y, z].map(f64::from)) * size + 0.5 * (size - 1.0);
                        if n.dot(centre - a).abs() <= slab {
                            out.push(([z, y, x], t as u32));
                        }
                    }
                }
            }
        }
    });
    pairs.sort_unstable();
    pairs
        .chunk_by(|a, b| a.0 == b.0)
        .map(|group| {
            let [z, y, x] = group[0].0;
            Tile { cell: [x, y, z], triangles: group.iter().map(|p| p.1).collect(), ..Tile::default() }
        })
        .collect()
}

/// Finds where the tiles' lines cross triangles, along x or along all axes.
fn find_crossings(mesh: &SampledMesh, tiles: &mut [Tile], settings: &MeshToSdf, method: SignMethod) {
    let (axes, thick) = match method {
        SignMethod::Winding => (1, Thickness(0.0)),
        SignMethod::Votes => (3, Thickness(settings.thickness.max(1e-9))),
    };
    par::chunks_mut(tiles, 4, |_, part| {
        for tile in part {
            let first = tile.first();
            for axis in 0..axes {
                let mut events = Vec::new();
                for &t in &tile.triangles {
                    cross_triangle(mesh, t, axis, first, thick, &mut events);
                }
                if method == SignMethod::Votes {
                    super::votes::sort_events(&mut events);
                }
                tile.events[axis] = events;
            }
        }
    });
}

/// The blocks of one tile.
struct Converted {
    cell: [i32; 3],
    /// Flag of each block, or `BLOCK` where values follow.
    slots: Vec<u32>,
    values: Vec<f32>,
}

/// Slot of a converted block that has values.
const BLOCK: u32 = 0;

/// Converts tile after tile and puts the grid together.
fn assemble(
    mesh: &SampledMesh,
    tiles: &[Tile],
    signs: &mut Signs,
    settings: &MeshToSdf,
) -> Result<SparseGrid, LevelSetError> {
    let mut grid = SparseGrid::empty(settings.frame, settings.layout)?;
    let per_tile = (TILE / grid.edge()) as i32;
    let (lo, hi) = signs.tile_box();
    let directory = Directory::new(&settings.layout, lo.map(|v| v * per_tile), hi.map(|v| v * per_tile));
    grid.replace_directory(directory);
    let reach = settings.frame.half_width;
    // Tiles with triangles, then those in which only votes change.
    let jobs = signs.jobs();
    for batch in jobs.chunks(BATCH) {
        let converted = par::gather(batch.len(), 2, |range, out| {
            let mut squared = vec![0.0; TILE_VOLUME];
            for &(cell, tile) in &batch[range] {
                let (mask, tally) = signs.mask(tiles, cell, tile);
                let nearby = tile.map_or(&[][..], |t| &tiles[t].triangles);
                out.push((
                    convert(mesh, cell, nearby, &mask, &settings.frame, grid.edge(), &mut squared, reach),
                    tally,
                ));
            }
        });
        for (part, tally) in converted {
            signs.add(tally);
            store(&mut grid, part, per_tile);
        }
    }
    for (cell, inside) in signs.uniform_tiles() {
        if inside {
            set_tile_flag(&mut grid, cell, INSIDE, per_tile);
        }
    }
    grid.shrink();
    Ok(grid)
}

/// Distances and signs of one tile, cut into blocks.
#[allow(clippy::too_many_arguments)] // one straight-line kernel
fn convert(
    mesh: &SampledMesh,
    cell: [i32; 3],
    triangles: &[u32],
    mask: &Mask,
    frame: &Frame,
    edge: usize,
    squared: &mut [f32],
    reach: f64,
) -> Converted {
    let limit2 = (reach * reach) as f32;
    squared.fill(limit2);
    let first = Vec3::from(cell.map(|c| f64::from(c * TILE as i32)));
    for &t in triangles {
        lower_to_triangle(squared, mesh.corners(t).map(|p| p - first), reach);
    }
    let n = TILE / edge;
    let (h, far) = (frame.spacing as f32, frame.background());
    let mut slots = Vec::with_capacity(n * n * n);
    let mut values = Vec::new();
    for b in 0..n * n * n {
        let base = [b % n, b / n % n, b / (n * n)].map(|c| c * edge);
        let bits = |y: usize, z: usize| mask[y + TILE * z] >> base[0] & ((1u64 << edge) - 1) as u32;
        let rows = || (0..edge * edge).map(|r| (base[1] + r % edge, base[2] + r / edge));
        let row = |y: usize, z: usize| {
            let at = base[0] + TILE * (y + TILE * z);
            &squared[at..at + edge]
        };
        let sign = bits(base[1], base[2]);
        let uniform =
            (sign == 0 || sign == ((1u64 << edge) - 1) as u32) && rows().all(|(y, z)| bits(y, z) == sign);
        if uniform && rows().all(|(y, z)| row(y, z).iter().all(|&d| d >= limit2)) {
            slots.push(if sign == 0 { OUTSIDE } else { INSIDE });
            continue;
        }
        slots.push(BLOCK);
        for (y, z) in rows() {
            let inside = bits(y, z);
            for (x, &d2) in row(y, z).iter().enumerate() {
                let d = (d2.sqrt() * h).min(far);
                values.push(if inside >> x & 1 == 1 { -d } else { d });
            }
        }
    }
    Converted { cell, slots, values }
}

/// Moves a converted tile into the grid.
fn store(grid: &mut SparseGrid, part: Converted, per_tile: i32) {
    let flag = part.slots[0];
    if part.values.is_empty() && part.slots.iter().all(|&s| s == flag) {
        if flag == INSIDE {
            set_tile_flag(grid, part.cell, flag, per_tile);
        }
        return;
    }
    let n = per_tile as usize;
    let volume = grid.layout().block.volume();
    let mut at = 0;
    for (b, &slot) in part.slots.iter().enumerate() {
        let c = [b % n, b / n % n, b / (n * n)];
        let block = std::array::from_fn(|a| part.cell[a] * per_tile + c[a] as i32);
        if slot == BLOCK {
            grid.push_block_with(block, &part.values[at..at + volume]);
            at += volume;
        } else {
            grid.set_flag(block, slot);
        }
    }
}

/// Flags all blocks of a tile.
fn set_tile_flag(grid: &mut SparseGrid, cell: [i32; 3], flag: u32, per_tile: i32) {
    // A tile of 8³ blocks is one cell of a grouped directory.
    if per_tile == 8 && grid.set_group_flag(cell, flag) {
        return;
    }
    for b in 0..per_tile.pow(3) {
        let c = [b % per_tile, b / per_tile % per_tile, b / (per_tile * per_tile)];
        grid.set_flag(std::array::from_fn(|a| cell[a] * per_tile + c[a]), flag);
    }
}

fn why_no_interior(report: &MeshReport, signs: &Signs, frame: &Frame) -> String {
    let open = report.open_edges;
    if report.method == SignMethod::Votes {
        return format!(
            "the mesh has {open} open edges (of about {}), and no sample meets triangles from behind on three of six \
             axis rays: close the mesh, or turn its triangles if they face inwards",
            report.triangles * 3 / 2
        );
    }
    if signs.lowest_winding() < 0 {
        return "the mesh is closed but its triangles face inwards: turn them around".into();
    }
    format!("the solid is thinner than the spacing of {} m everywhere: use a smaller one", frame.spacing)
}
