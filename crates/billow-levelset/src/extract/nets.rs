//! Surface nets: one vertex per cell the surface passes, one quad per lattice edge it cuts ([Bri03] 6.2).
//!
//! A vertex is the mean of the points where the surface cuts its cell's edges, moved once along the gradient of the
//! trilinear interpolant onto its zero set (kept inside the cell), which makes the surface smooth and second-order
//! accurate.

use super::masks::{BlockMask, SignRows};
use super::{QuadMesh, running_sums, take};
use crate::LevelSetError;
use crate::sparse::{Box1, FLAGS, SparseGrid};
use billow_num::{Vec3, par};

/// Blocks per parallel job.
const JOB: usize = 256;

/// What one block contributes.
#[derive(Clone, Copy, Default)]
struct Marks {
    /// Cells with surface.
    cells: BlockMask,
    /// Lattice edges along x, y, z that change sign.
    edges: [BlockMask; 3],
}

/// The zero set of `grid` as quads.
pub fn surface_nets(grid: &SparseGrid) -> Result<QuadMesh, LevelSetError> {
    match grid.edge() {
        4 => nets::<4>(grid),
        _ => nets::<8>(grid),
    }
}

/// A block with surface, and where its vertices and quads begin.
struct Work {
    block: u32,
    marks: Marks,
    vertex: u32,
    quad: u32,
}

fn nets<const F: usize>(grid: &SparseGrid) -> Result<QuadMesh, LevelSetError> {
    let marked: Vec<(u32, Marks)> = par::gather(grid.blocks().len(), JOB, |range, out| {
        let mut signs = SignRows::new();
        for b in range {
            signs.gather::<F>(grid, b);
            if !signs.uniform::<F>() {
                out.push((b as u32, mark::<F>(&signs)));
            }
        }
    });
    let too_many = || LevelSetError::Mismatch {
        operation: "surface extraction",
        problem: "the surface has more than 2^32 vertices: extract it in parts".into(),
    };
    let vertices = running_sums(marked.iter().map(|(_, m)| m.cells.count())).ok_or_else(too_many)?;
    let quads = running_sums(marked.iter().map(|(_, m)| m.edges.iter().map(BlockMask::count).sum()))
        .ok_or_else(too_many)?;
    // From block number to its work, for numbering vertices of neighbours.
    let mut work_of = vec![u32::MAX; grid.blocks().len()];
    let works: Vec<Work> = marked
        .into_iter()
        .enumerate()
        .map(|(w, (block, marks))| {
            work_of[block as usize] = w as u32;
            Work { block, marks, vertex: vertices[w], quad: quads[w] }
        })
        .collect();
    let mut mesh = QuadMesh {
        positions: vec![Vec3::ZERO; vertices[works.len()] as usize],
        normals: vec![Vec3::ZERO; vertices[works.len()] as usize],
        quads: vec![[0; 4]; quads[works.len()] as usize],
    };
    let (mut p, mut n, mut q) = (&mut mesh.positions[..], &mut mesh.normals[..], &mut mesh.quads[..]);
    let mut jobs: Vec<_> = works
        .chunks(JOB)
        .map(|part| {
            let last = &part[part.len() - 1];
            let count = (last.vertex + last.marks.cells.count() - part[0].vertex) as usize;
            let edges: u32 = last.marks.edges.iter().map(BlockMask::count).sum();
            (
                part,
                take(&mut p, count),
                take(&mut n, count),
                take(&mut q, (last.quad + edges - part[0].quad) as usize),
            )
        })
        .collect();
    par::chunks_mut(&mut jobs, 1, |_, job| {
        let (part, positions, normals, quads) = &mut job[0];
        let mut around = Box1::new();
        let (mut v, mut q) = (0, 0);
        for work in part.iter() {
            around.gather_upper::<F>(grid, grid.values(), work.block as usize);
            v += place_vertices::<F>(grid, work, &around.values, &mut positions[v..], &mut normals[v..]);
            q += connect::<F>(grid, &works, &work_of, work, &around.values, &mut quads[q..]);
        }
    });
    Ok(mesh)
}

/// Finds the cells and edges of a block that the surface cuts.
fn mark<const F: usize>(signs: &SignRows) -> Marks {
    let mut marks = Marks::default();
    let keep = (1u32 << F) - 1;
    for z in 0..F {
        for y in 0..F {
            let r = signs.row::<F>(y, z);
            let (ry, rz, ryz) =
                (signs.row::<F>(y + 1, z), signs.row::<F>(y, z + 1), signs.row::<F>(y + 1, z + 1));
            let (all, any) = (r & ry & rz & ryz, r | ry | rz | ryz);
            marks.cells.set_row::<F>(y, z, (any | any >> 1) & !(all & all >> 1) & keep);
            for (mask, changed) in marks.edges.iter_mut().zip([r ^ r >> 1, r ^ ry, r ^ rz]) {
                mask.set_row::<F>(y, z, changed & keep);
            }
        }
    }
    marks
}

/// Writes the vertices of a block; returns how many.
fn place_vertices<const F: usize>(
    grid: &SparseGrid,
    work: &Work,
    v: &[f32],
    positions: &mut [Vec3],
    normals: &mut [Vec3],
) -> usize {
    let base = grid.blocks()[work.block as usize].map(|c| c * F as i32);
    let frame = grid.frame();
    let mut count = 0;
    work.marks.cells.for_each::<F>(|i| {
        let c = [i % F, i / F % F, i / (F * F)];
        let at = c[0] + 1 + (F + 2) * (c[1] + 1 + (F + 2) * (c[2] + 1));
        let corner: [f32; 8] =
            std::array::from_fn(|n| v[at + (n & 1) + (F + 2) * ((n >> 1 & 1) + (F + 2) * (n >> 2))]);
        let (x, normal) = cell_vertex(&corner, frame.spacing as f32);
        let sample = std::array::from_fn(|a| base[a] + c[a] as i32);
        positions[count] = frame.position(sample) + frame.spacing * Vec3::from(x.map(f64::from));
        normals[count] = Vec3::from(normal.map(f64::from)).try_normalize().unwrap_or(Vec3::Z);
        count += 1;
    });
    count
}

/// The twelve edges of a cell as pairs of corners.
const EDGES: [(usize, usize); 12] =
    [(0, 1), (2, 3), (4, 5), (6, 7), (0, 2), (1, 3), (4, 6), (5, 7), (0, 4), (1, 5), (2, 6), (3, 7)];

/// Position within a cell (0 to 1) and gradient there.
#[inline]
pub(super) fn cell_vertex(c: &[f32; 8], h: f32) -> ([f32; 3], [f32; 3]) {
    let mut sum = [0.0f32; 3];
    let mut cuts = 0.0;
    for (a, b) in EDGES {
        if (c[a] < 0.0) != (c[b] < 0.0) {
            let t = c[a] / (c[a] - c[b]);
            let axis = (b - a).trailing_zeros() as usize;
            for d in 0..3 {
                sum[d] += if d == axis { t } else { (a >> d & 1) as f32 };
            }
            cuts += 1.0;
        }
    }
    let x = sum.map(|s| s / cuts);
    let (phi, g) = trilinear(c, x);
    // One step onto the zero set, at most half a cell and never out of it.
    let g2 = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
    let step = if g2 > 0.01 * h * h { phi / g2 } else { 0.0 };
    let moved = std::array::from_fn(|a| (x[a] - step * g[a]).clamp(0.0, 1.0));
    (moved, g)
}

/// Trilinear value and gradient (per cell) at a place within a cell.
#[inline]
pub(super) fn trilinear(c: &[f32; 8], x: [f32; 3]) -> (f32, [f32; 3]) {
    let mix = |a: f32, b: f32, s: f32| a + (b - a) * s;
    let lx: [f32; 4] = std::array::from_fn(|n| mix(c[2 * n], c[2 * n + 1], x[0]));
    let dx: [f32; 4] = std::array::from_fn(|n| c[2 * n + 1] - c[2 * n]);
    let (l0, l1) = (mix(lx[0], lx[1], x[1]), mix(lx[2], lx[3], x[1]));
    let g = [
        mix(mix(dx[0], dx[1], x[1]), mix(dx[2], dx[3], x[1]), x[2]),
        mix(lx[1] - lx[0], lx[3] - lx[2], x[2]),
        l1 - l0,
    ];
    (mix(l0, l1, x[2]), g)
}

/// Writes the quads of a block; returns how many.
fn connect<const F: usize>(
    grid: &SparseGrid,
    works: &[Work],
    work_of: &[u32],
    work: &Work,
    v: &[f32],
    quads: &mut [[u32; 4]],
) -> usize {
    // This block and its lower neighbours, by three bits.
    let block = grid.blocks()[work.block as usize];
    let near: [Option<&Work>; 8] = std::array::from_fn(|n| {
        if n == 0 {
            return Some(work);
        }
        let slot = grid.slot(std::array::from_fn(|a| block[a] - (n as i32 >> a & 1)));
        if slot >= FLAGS { None } else { works.get(work_of[slot as usize] as usize) }
    });
    let number = |c: [i32; 3]| {
        let n = (0..3).map(|a| usize::from(c[a] < 0) << a).sum::<usize>();
        let [x, y, z] = c.map(|v| (v & (F as i32 - 1)) as usize);
        // A cut edge has surface in all four cells around it, so the neighbour is there.
        near[n].map_or(0, |w| w.vertex + w.marks.cells.rank(x + F * (y + F * z)))
    };
    let mut count = 0;
    for axis in 0..3 {
        let (u, w) = ((axis + 1) % 3, (axis + 2) % 3);
        work.marks.edges[axis].for_each::<F>(|i| {
            let c = [i % F, i / F % F, i / (F * F)];
            let cell = |du: i32, dw: i32| {
                let mut c = c.map(|v| v as i32);
                c[u] -= du;
                c[w] -= dw;
                number(c)
            };
            let inside = v[c[0] + 1 + (F + 2) * (c[1] + 1 + (F + 2) * (c[2] + 1))] < 0.0;
            let (a, b, d, e) = (cell(0, 0), cell(1, 0), cell(1, 1), cell(0, 1));
            // Counter-clockwise about the edge if it leads out of the solid.
            quads[count] = if inside { [a, b, d, e] } else { [a, e, d, b] };
            count += 1;
        });
    }
    count
}
