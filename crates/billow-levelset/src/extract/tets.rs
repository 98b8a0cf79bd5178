//! Marching tetrahedra: a surface that is a manifold whatever the values.
//!
//! Each cell is cut into the six tetrahedra around its main diagonal, the same way everywhere, so the tetrahedra
//! fill space without gaps. On each the interpolant is linear, and the zero set of a continuous piecewise
//! linear function with no zero at a vertex is a manifold; zero counts as outside, which is a shift by an
//! infinitesimal amount and moves no vertex. Vertices sit on the seven kinds of edges that leave a sample upward.

use super::NormalMesh;
use super::cell::{corners, trilinear, unit};
use super::masks::Mask;
use super::plan::{Marks, Plan, Work};
use crate::LevelSetError;
use crate::sparse::SparseGrid;
use billow_geom::TriMesh;
use billow_num::Vec3;

/// The paths of axes from a cell's lowest to its highest corner, even permutations first.
const PATHS: [[usize; 3]; 6] = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [1, 0, 2], [2, 1, 0]];

/// Triangles of a positively oriented tetrahedron by its inside corners (bits): pairs of corners, outward
/// counter-clockwise.
const CASES: [&[[(usize, usize); 3]]; 16] = [
    &[],
    &[[(0, 1), (0, 2), (0, 3)]],
    &[[(1, 0), (1, 3), (1, 2)]],
    &[[(0, 2), (0, 3), (1, 3)], [(0, 2), (1, 3), (1, 2)]],
    &[[(2, 3), (2, 0), (2, 1)]],
    &[[(0, 3), (0, 1), (2, 1)], [(0, 3), (2, 1), (2, 3)]],
    &[[(1, 0), (1, 3), (2, 3)], [(1, 0), (2, 3), (2, 0)]],
    &[[(3, 0), (3, 1), (3, 2)]],
    &[[(3, 2), (3, 1), (3, 0)]],
    &[[(0, 1), (0, 2), (3, 2)], [(0, 1), (3, 2), (3, 1)]],
    &[[(1, 2), (1, 0), (3, 0)], [(1, 2), (3, 0), (3, 2)]],
    &[[(2, 1), (2, 0), (2, 3)]],
    &[[(2, 0), (2, 1), (3, 1)], [(2, 0), (3, 1), (3, 0)]],
    &[[(1, 2), (1, 3), (1, 0)]],
    &[[(0, 3), (0, 2), (0, 1)]],
    &[],
];

/// The zero set of `grid` as a manifold of triangles.
pub fn marching_tets(grid: &SparseGrid) -> Result<NormalMesh, LevelSetError> {
    match grid.edge() {
        4 => march::<4, 1>(grid),
        _ => march::<8, 8>(grid),
    }
}

fn march<const F: usize, const W: usize>(grid: &SparseGrid) -> Result<NormalMesh, LevelSetError> {
    let plan = Plan::new::<F>(grid, mark::<W>)?;
    let parts = plan.run::<F, 3>(grid, |work, values, place| {
        place_vertices::<F, W>(grid, work, values, place.positions, place.normals);
        connect::<F, W>(&plan, work, values, place.faces);
    });
    let mesh = TriMesh { positions: parts.positions, triangles: parts.faces };
    Ok(NormalMesh { mesh, normals: parts.normals })
}

/// The corners of the n-th tetrahedron of a cell, positively oriented.
#[inline(always)]
fn tetrahedron(n: usize) -> [usize; 4] {
    let path = PATHS[n];
    let (a, b) = (1 << path[0], 1 << path[0] | 1 << path[1]);
    // Odd paths give a mirrored tetrahedron: exchange two corners.
    if n < 3 { [0, a, b, 7] } else { [0, b, a, 7] }
}

/// Finds the edges of a block that the surface cuts, by direction, and counts triangles.
fn mark<const W: usize>(cells: Mask<W>, corner: &[Mask<W>; 8], _: &[u32; 8]) -> Marks<W, 7> {
    let xor = |a: Mask<W>, b: Mask<W>| a.with(b, |a, b| a ^ b);
    let edges: [Mask<W>; 7] = std::array::from_fn(|d| xor(corner[0], corner[d + 1]));
    let mut faces = 0;
    for n in 0..6 {
        let [a, b, c, d] = tetrahedron(n).map(|k| corner[k]);
        // One or three corners inside make one triangle, two make two.
        let odd = xor(xor(a, b), xor(c, d));
        let differ = xor(a, b).with(xor(a, c), |p, q| p | q).with(xor(a, d), |p, q| p | q);
        faces += odd.count() + 2 * differ.with(odd, |differ, odd| differ & !odd).count();
    }
    Marks { cells, edges, vertices: edges.iter().map(Mask::count).sum(), faces }
}

/// Writes the vertices of a block.
fn place_vertices<const F: usize, const W: usize>(
    grid: &SparseGrid,
    work: &Work<W, 7>,
    values: &[f32; 729],
    positions: &mut [Vec3],
    normals: &mut [[f32; 3]],
) {
    let frame = grid.frame();
    let base = frame.position(grid.blocks()[work.block as usize].map(|c| c * F as i32));
    let mut out = positions.iter_mut().zip(normals);
    for direction in 1..8usize {
        work.marks.edges[direction - 1].for_each(|i| {
            let corner = corners::<F>(values, i);
            let (a, b) = (corner[0], corner[direction]);
            let t = a / (a - b);
            let x: [f32; 3] = std::array::from_fn(|d| if direction >> d & 1 == 1 { t } else { 0.0 });
            let c = [i % F, i / F % F, i / (F * F)];
            if let Some((position, normal)) = out.next() {
                let place: [f64; 3] = std::array::from_fn(|a| c[a] as f64 + f64::from(x[a]));
                *position = base + frame.spacing * Vec3::from(place);
                *normal = unit(trilinear(&corner, x).1);
            }
        });
    }
}

/// Writes the triangles of a block's cells.
fn connect<const F: usize, const W: usize>(
    plan: &Plan<W, 7>,
    work: &Work<W, 7>,
    values: &[f32; 729],
    triangles: &mut [[u32; 3]],
) {
    let near: [Option<&Work<W, 7>>; 8] =
        std::array::from_fn(|n| if n == 0 { Some(work) } else { plan.work(work.near[n]) });
    // Number of the first vertex of each kind of edge in each of the blocks.
    let first: [[u32; 7]; 8] = near.map(|w| {
        let mut next = w.map_or(0, |w| w.vertex);
        std::array::from_fn(|d| {
            next += w.map_or(0, |w| w.marks.edges[d].count());
            next - w.map_or(0, |w| w.marks.edges[d].count())
        })
    });
    // Number of the vertex between corners p < q (bits) of the cell at c.
    let number = |c: [usize; 3], p: usize, q: usize| {
        let owner: [usize; 3] = std::array::from_fn(|a| c[a] + (p >> a & 1));
        let n = (0..3).map(|a| usize::from(owner[a] == F) << a).sum::<usize>();
        let [x, y, z] = owner.map(|v| v % F);
        let d = (p ^ q) - 1;
        near[n].map_or(0, |w| first[n][d] + w.marks.edges[d].rank(x + F * (y + F * z)))
    };
    let mut triangles = triangles.iter_mut();
    work.marks.cells.for_each(|i| {
        let c = [i % F, i / F % F, i / (F * F)];
        let corner = corners::<F>(values, i);
        for n in 0..6 {
            let k = tetrahedron(n);
            let case = (0..4).map(|j| usize::from(corner[k[j]] < 0.0) << j).sum::<usize>();
            for edges in CASES[case] {
                if let Some(triangle) = triangles.next() {
                    *triangle = edges.map(|(a, b)| number(c, k[a].min(k[b]), k[a].max(k[b])));
                }
            }
        }
    });
}
