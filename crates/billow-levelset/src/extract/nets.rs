//! Surface nets: one vertex per cell the surface passes, one quad per lattice edge it cuts ([Bri03] 6.2).
//!
//! A vertex is the mean of the points where the surface cuts its cell's edges, moved once along the gradient of the
//! trilinear interpolant onto its zero set (kept inside the cell), which makes the surface smooth and second-order
//! accurate. A cell owns the three edges that end at its highest corner.

use super::QuadMesh;
use super::cell::{corners, trilinear, unit};
use super::masks::Mask;
use super::plan::{Marks, Place, Plan, Work};
use crate::LevelSetError;
use crate::sparse::{FLAGS, SparseGrid};
use billow_num::Vec3;

/// The zero set of `grid` as quads.
pub fn surface_nets(grid: &SparseGrid) -> Result<QuadMesh, LevelSetError> {
    match grid.edge() {
        4 => nets::<4, 1>(grid),
        _ => nets::<8, 8>(grid),
    }
}

fn nets<const F: usize, const W: usize>(grid: &SparseGrid) -> Result<QuadMesh, LevelSetError> {
    let plan = Plan::new::<F>(grid, mark::<F, W>)?;
    let parts = plan.run::<F, 4>(grid, |work, values, place| {
        let Place { positions, normals, faces } = place;
        let numbers = number_cells::<F, W>(&plan, work);
        place_vertices::<F, W>(grid, work, values, positions, normals);
        connect::<F, W>(work, values, &numbers, faces);
    });
    Ok(QuadMesh { positions: parts.positions, normals: parts.normals, quads: parts.faces })
}

/// Finds the edges that the surface cuts and a block's cells own.
fn mark<const F: usize, const W: usize>(
    cells: Mask<W>,
    corner: &[Mask<W>; 8],
    near: &[u32; 8],
) -> Marks<W, 3> {
    let edges = std::array::from_fn(|axis| {
        let mut edges = corner[7].with(corner[7 ^ (1 << axis)], |a, b| a ^ b);
        // Next to a block that is not there (a band cut off) the cells around the edge are not all there.
        let [u, w] = [1, 2].map(|k| (axis + k) % 3);
        let last = |axis: usize| Mask::NONE.ahead::<F>(Mask::first_layer::<F>(axis), axis);
        for (missing, layer) in [
            (near[1 << u], last(u)),
            (near[1 << w], last(w)),
            (near[1 << u | 1 << w], last(u).with(last(w), |a, b| a & b)),
        ] {
            if missing >= FLAGS {
                edges = edges.with(layer, |edges, layer| edges & !layer);
            }
        }
        edges
    });
    Marks { cells, edges, vertices: cells.count(), faces: edges.iter().map(Mask::count).sum() }
}

/// Cells of the largest block and one layer above.
const MAX_CELLS: usize = 729;

/// Vertex numbers of a block's cells and the layer above, (F + 1)³ of them.
#[inline]
fn number_cells<const F: usize, const W: usize>(plan: &Plan<W, 3>, work: &Work<W, 3>) -> [u32; MAX_CELLS] {
    let mut numbers = [0; MAX_CELLS];
    for n in 0..8 {
        let Some(near) = (if n == 0 { Some(work) } else { plan.work(work.near[n]) }) else { continue };
        let mut layer = near.marks.cells;
        for axis in (0..3).filter(|axis| n >> axis & 1 == 1) {
            layer = layer.with(Mask::first_layer::<F>(axis), |a, b| a & b);
        }
        let first = F * ((n & 1) + (F + 1) * ((n >> 1 & 1) + (F + 1) * (n >> 2)));
        layer.for_each(|i| {
            let at = first + i % F + (F + 1) * (i / F % F + (F + 1) * (i / (F * F)));
            numbers[at] = near.vertex + near.marks.cells.rank(i);
        });
    }
    numbers
}

/// Writes the vertices of a block.
#[inline]
fn place_vertices<const F: usize, const W: usize>(
    grid: &SparseGrid,
    work: &Work<W, 3>,
    values: &[f32; 729],
    positions: &mut [Vec3],
    normals: &mut [[f32; 3]],
) {
    let frame = grid.frame();
    let base = frame.position(grid.blocks()[work.block as usize].map(|c| c * F as i32));
    let mut out = positions.iter_mut().zip(normals);
    work.marks.cells.for_each(|i| {
        let c = [i % F, i / F % F, i / (F * F)];
        let (x, gradient) = cell_vertex(&corners::<F>(values, i), frame.spacing as f32);
        if let Some((position, normal)) = out.next() {
            let x: [f64; 3] = std::array::from_fn(|a| c[a] as f64 + f64::from(x[a]));
            *position = base + frame.spacing * Vec3::from(x);
            *normal = unit(gradient);
        }
    });
}

/// Position within a cell (0 to 1) and gradient there.
#[inline(always)]
fn cell_vertex(c: &[f32; 8], h: f32) -> ([f32; 3], [f32; 3]) {
    let mut sum = [0.0f32; 3];
    let mut cuts = 0.0;
    for axis in 0..3 {
        let (u, w) = ((axis + 1) % 3, (axis + 2) % 3);
        // The four edges along an axis at once; the two bits of k are their places along the other axes.
        let at = |k: usize| (k & 1) << u | (k >> 1) << w;
        let low: [f32; 4] = std::array::from_fn(|k| c[at(k)]);
        let high: [f32; 4] = std::array::from_fn(|k| c[at(k) | 1 << axis]);
        let cut: [bool; 4] = std::array::from_fn(|k| (low[k] < 0.0) != (high[k] < 0.0));
        let t: [f32; 4] = std::array::from_fn(|k| low[k] / (low[k] - high[k]));
        let t: [f32; 4] = std::array::from_fn(|k| if cut[k] { t[k] } else { 0.0 });
        let one: [f32; 4] = std::array::from_fn(|k| if cut[k] { 1.0 } else { 0.0 });
        sum[axis] += (t[0] + t[1]) + (t[2] + t[3]);
        sum[u] += one[1] + one[3];
        sum[w] += one[2] + one[3];
        cuts += (one[0] + one[1]) + (one[2] + one[3]);
    }
    let x = sum.map(|s| s / cuts);
    let (phi, g) = trilinear(c, x);
    // One step onto the zero set, never out of the cell.
    let g2 = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
    let step = if g2 > 0.01 * h * h { phi / g2 } else { 0.0 };
    (std::array::from_fn(|a| (x[a] - step * g[a]).clamp(0.0, 1.0)), g)
}

/// Writes the quads of a block.
#[inline]
fn connect<const F: usize, const W: usize>(
    work: &Work<W, 3>,
    values: &[f32; 729],
    numbers: &[u32; MAX_CELLS],
    quads: &mut [[u32; 4]],
) {
    let strides = [1, F + 1, (F + 1) * (F + 1)];
    let mut quads = quads.iter_mut();
    for (axis, edges) in work.marks.edges.iter().enumerate() {
        let (u, w) = (strides[(axis + 1) % 3], strides[(axis + 2) % 3]);
        edges.for_each(|i| {
            let cell = i % F + (F + 1) * (i / F % F + (F + 1) * (i / (F * F)));
            let inside = values[cell + u + w] < 0.0;
            let [a, b, c, d] = [cell + u + w, cell + w, cell, cell + u].map(|c| numbers[c]);
            // Counter-clockwise about the edge if it leads out of the solid.
            if let Some(quad) = quads.next() {
                *quad = if inside { [a, b, c, d] } else { [a, d, c, b] };
            }
        });
    }
}
