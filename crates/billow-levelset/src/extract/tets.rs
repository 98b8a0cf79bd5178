//! Marching tetrahedra: a surface that is a manifold whatever the values.
//!
//! Each cell is cut into the six tetrahedra around its main diagonal, the same way everywhere, so the tetrahedra
//! fill space without gaps. On each the interpolant is linear, and the zero set of a continuous piecewise
//! linear function with no zero at a vertex is a manifold; zero counts as outside, which is a shift by an
//! infinitesimal amount and moves no vertex. Vertices sit on the seven kinds of edges that leave a sample upward.

use super::masks::{BlockMask, SignRows};
use super::nets::trilinear;
use super::{NormalMesh, running_sums, take};
use crate::LevelSetError;
use crate::sparse::{Box1, FLAGS, SparseGrid};
use billow_geom::TriMesh;
use billow_num::{Vec3, par};

/// Blocks per parallel job.
const JOB: usize = 256;

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

/// A block with surface: its cut cells, its cut edges by direction (bits of the direction minus one), and where its
/// vertices begin.
struct Work {
    block: u32,
    cells: BlockMask,
    edges: [BlockMask; 7],
    vertex: u32,
}

/// The zero set of `grid` as a manifold of triangles.
pub fn marching_tets(grid: &SparseGrid) -> Result<NormalMesh, LevelSetError> {
    match grid.edge() {
        4 => march::<4>(grid),
        _ => march::<8>(grid),
    }
}

fn march<const F: usize>(grid: &SparseGrid) -> Result<NormalMesh, LevelSetError> {
    let mut works: Vec<Work> = par::gather(grid.blocks().len(), JOB, |range, out| {
        let mut signs = SignRows::new();
        for b in range {
            signs.gather::<F>(grid, b);
            if !signs.uniform::<F>() {
                out.push(mark::<F>(&signs, b as u32));
            }
        }
    });
    let counts = works.iter().map(|w| w.edges.iter().map(BlockMask::count).sum());
    let Some(vertices) = running_sums(counts) else {
        let problem = "the surface has more than 2^32 vertices: extract it in parts".into();
        return Err(LevelSetError::Mismatch { operation: "surface extraction", problem });
    };
    let mut work_of = vec![u32::MAX; grid.blocks().len()];
    for (w, work) in works.iter_mut().enumerate() {
        work.vertex = vertices[w];
        work_of[work.block as usize] = w as u32;
    }
    let total = vertices[works.len()] as usize;
    let (mut positions, mut normals) = (vec![Vec3::ZERO; total], vec![Vec3::ZERO; total]);
    let (mut p, mut n) = (&mut positions[..], &mut normals[..]);
    let mut jobs: Vec<_> = works
        .chunks(JOB)
        .enumerate()
        .map(|(c, part)| {
            let count = (vertices[c * JOB + part.len()] - vertices[c * JOB]) as usize;
            (part, take(&mut p, count), take(&mut n, count))
        })
        .collect();
    par::chunks_mut(&mut jobs, 1, |_, job| {
        let (part, positions, normals) = &mut job[0];
        let mut around = Box1::new();
        let mut v = 0;
        for work in part.iter() {
            around.gather_upper::<F>(grid, grid.values(), work.block as usize);
            v += place_vertices::<F>(grid, work, &around.values, &mut positions[v..], &mut normals[v..]);
        }
    });
    let triangles = par::gather(works.len(), JOB, |range, out| {
        let mut around = Box1::new();
        for work in &works[range] {
            around.gather_upper::<F>(grid, grid.values(), work.block as usize);
            connect::<F>(grid, &works, &work_of, work, &around.values, out);
        }
    });
    Ok(NormalMesh { mesh: TriMesh { positions, triangles }, normals })
}

/// Finds the cells and edges of a block that the surface cuts.
fn mark<const F: usize>(signs: &SignRows, block: u32) -> Work {
    let mut work = Work { block, cells: BlockMask::default(), edges: Default::default(), vertex: 0 };
    let keep = (1u32 << F) - 1;
    for z in 0..F {
        for y in 0..F {
            let r = [0, 1, 2, 3].map(|n| signs.row::<F>(y + (n & 1), z + (n >> 1)));
            let (all, any) = (r[0] & r[1] & r[2] & r[3], r[0] | r[1] | r[2] | r[3]);
            work.cells.set_row::<F>(y, z, (any | any >> 1) & !(all & all >> 1) & keep);
            for direction in 1..8 {
                let other = r[direction >> 1] >> (direction & 1);
                work.edges[direction - 1].set_row::<F>(y, z, (r[0] ^ other) & keep);
            }
        }
    }
    work
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
    for direction in 1..8usize {
        work.edges[direction - 1].for_each::<F>(|i| {
            let c = [i % F, i / F % F, i / (F * F)];
            let corner = cell_corners::<F>(v, c);
            let (a, b) = (corner[0], corner[direction]);
            let t = a / (a - b);
            let x = std::array::from_fn(|d| if direction >> d & 1 == 1 { t } else { 0.0 });
            let (_, g) = trilinear(&corner, x);
            let sample = std::array::from_fn(|a| base[a] + c[a] as i32);
            positions[count] = frame.position(sample) + frame.spacing * Vec3::from(x.map(f64::from));
            normals[count] = Vec3::from(g.map(f64::from)).try_normalize().unwrap_or(Vec3::Z);
            count += 1;
        });
    }
    count
}

/// The eight values of the cell at `c`, x fastest.
#[inline]
fn cell_corners<const F: usize>(v: &[f32], c: [usize; 3]) -> [f32; 8] {
    let at = c[0] + 1 + (F + 2) * (c[1] + 1 + (F + 2) * (c[2] + 1));
    std::array::from_fn(|n| v[at + (n & 1) + (F + 2) * ((n >> 1 & 1) + (F + 2) * (n >> 2))])
}

/// Appends the triangles of a block's cells.
fn connect<const F: usize>(
    grid: &SparseGrid,
    works: &[Work],
    work_of: &[u32],
    work: &Work,
    v: &[f32],
    out: &mut Vec<[u32; 3]>,
) {
    let block = grid.blocks()[work.block as usize];
    let near: [Option<&Work>; 8] = std::array::from_fn(|n| {
        if n == 0 {
            return Some(work);
        }
        let slot = grid.slot(std::array::from_fn(|a| block[a] + (n as i32 >> a & 1)));
        if slot >= FLAGS { None } else { works.get(work_of[slot as usize] as usize) }
    });
    // Number of the vertex between corners p < q (bits) of the cell at c.
    let number = |c: [usize; 3], p: usize, q: usize| {
        let owner: [usize; 3] = std::array::from_fn(|a| c[a] + (p >> a & 1));
        let n = (0..3).map(|a| usize::from(owner[a] == F) << a).sum::<usize>();
        let [x, y, z] = owner.map(|v| v % F);
        let direction = (p ^ q) - 1;
        near[n].map_or(0, |w| {
            let before: u32 = w.edges[..direction].iter().map(BlockMask::count).sum();
            w.vertex + before + w.edges[direction].rank(x + F * (y + F * z))
        })
    };
    work.cells.for_each::<F>(|i| {
        let c = [i % F, i / F % F, i / (F * F)];
        let corner = cell_corners::<F>(v, c);
        for (n, path) in PATHS.iter().enumerate() {
            let k = [0, 1 << path[0], 1 << path[0] | 1 << path[1], 7];
            // Odd paths give a mirrored tetrahedron: exchange two corners.
            let k = if n < 3 { k } else { [k[0], k[2], k[1], k[3]] };
            let case = (0..4).map(|j| usize::from(corner[k[j]] < 0.0) << j).sum::<usize>();
            for triangle in CASES[case] {
                out.push(triangle.map(|(a, b)| number(c, k[a].min(k[b]), k[a].max(k[b]))));
            }
        }
    });
}
