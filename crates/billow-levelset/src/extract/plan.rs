//! Which blocks hold surface, what each contributes, and where it goes.
//!
//! Counting bits before anything is written gives every block its place in the result, so that blocks are then filled
//! in parallel and agree on shared vertices without talking to each other.

use super::masks::{Mask, Signs};
use crate::LevelSetError;
use crate::sparse::{FLAGS, SparseGrid};
use billow_num::{Vec3, par};

/// Blocks per parallel job.
const JOB: usize = 256;
/// Samples of the largest block with one layer above.
const MAX_UPPER: usize = 729;

/// What a method makes of a block: `E` kinds of edges it looks at.
pub(super) struct Marks<const W: usize, const E: usize> {
    /// Cells with surface.
    pub(super) cells: Mask<W>,
    /// Edges that change sign, by kind, at the cell or sample that owns them.
    pub(super) edges: [Mask<W>; E],
    /// Vertices of the block.
    pub(super) vertices: u32,
    /// Faces of the block.
    pub(super) faces: u32,
}

/// A block with surface.
pub(super) struct Work<const W: usize, const E: usize> {
    /// Its number.
    pub(super) block: u32,
    /// Slots of the block and its upper neighbours (bits x, y, z).
    pub(super) near: [u32; 8],
    pub(super) marks: Marks<W, E>,
    /// Number of its first vertex.
    pub(super) vertex: u32,
}

/// All blocks with surface.
pub(super) struct Plan<const W: usize, const E: usize> {
    works: Vec<Work<W, E>>,
    /// From block numbers to works.
    work_of: Vec<u32>,
    vertices: usize,
    faces: usize,
}

/// Vertices with normals, and faces of `K` corners.
pub(super) struct Parts<const K: usize> {
    pub(super) positions: Vec<Vec3>,
    pub(super) normals: Vec<[f32; 3]>,
    pub(super) faces: Vec<[u32; K]>,
}

/// Where a block's contribution goes.
pub(super) struct Place<'a, const K: usize> {
    pub(super) positions: &'a mut [Vec3],
    pub(super) normals: &'a mut [[f32; 3]],
    pub(super) faces: &'a mut [[u32; K]],
}

impl<'a, const K: usize> Place<'a, K> {
    /// Cuts off the first vertices and faces.
    fn take(&mut self, vertices: usize, faces: usize) -> Place<'a, K> {
        Place {
            positions: take(&mut self.positions, vertices),
            normals: take(&mut self.normals, vertices),
            faces: take(&mut self.faces, faces),
        }
    }
}

impl<const W: usize, const E: usize> Plan<W, E> {
    /// Finds the blocks with surface; `mark` sees a block's cells with surface, the eight corners of all
    /// its cells and the slots around it.
    pub(super) fn new<const F: usize>(
        grid: &SparseGrid,
        mark: impl Fn(Mask<W>, &[Mask<W>; 8], &[u32; 8]) -> Marks<W, E> + Sync,
    ) -> Result<Self, LevelSetError> {
        let signs = Signs::<W>::of(grid);
        let mut works = par::gather(grid.blocks().len(), JOB, |range, out| {
            for b in range {
                let near = upper_slots(grid, b);
                let corner = signs.corners::<F>(&near);
                let all = corner[1..].iter().fold(corner[0], |a, &b| a.with(b, |a, b| a & b));
                let any = corner[1..].iter().fold(corner[0], |a, &b| a.with(b, |a, b| a | b));
                if any != all {
                    let cells = any.with(all, |any, all| any & !all);
                    let marks = mark(cells, &corner, &near);
                    out.push(Work { block: b as u32, near, marks, vertex: 0 });
                }
            }
        });
        let mut work_of = vec![u32::MAX; grid.blocks().len()];
        let (mut vertices, mut faces) = (0u32, 0u32);
        for (w, work) in works.iter_mut().enumerate() {
            work_of[work.block as usize] = w as u32;
            work.vertex = vertices;
            let (Some(v), Some(f)) =
                (vertices.checked_add(work.marks.vertices), faces.checked_add(work.marks.faces))
            else {
                let problem = "the surface has more than 2^32 vertices or faces: extract it in parts".into();
                return Err(LevelSetError::Mismatch { operation: "surface extraction", problem });
            };
            (vertices, faces) = (v, f);
        }
        Ok(Self { works, work_of, vertices: vertices as usize, faces: faces as usize })
    }

    /// The work of a slot, if there is surface in it.
    #[inline]
    pub(super) fn work(&self, slot: u32) -> Option<&Work<W, E>> {
        if slot >= FLAGS { None } else { self.works.get(self.work_of[slot as usize] as usize) }
    }

    /// Lets `fill` write each block's vertices and faces. It is given the block's values and the layer above them,
    /// (F + 1)³ of them, x fastest.
    pub(super) fn run<const F: usize, const K: usize>(
        &self,
        grid: &SparseGrid,
        fill: impl Fn(&Work<W, E>, &[f32; MAX_UPPER], Place<'_, K>) + Sync,
    ) -> Parts<K> {
        // Written by all threads, so that none waits for the system to hand out memory.
        let mut parts = Parts {
            positions: par::map(self.vertices, |_| Vec3::ZERO),
            normals: vec![[0.0; 3]; self.vertices],
            faces: vec![[0; K]; self.faces],
        };
        let mut rest =
            Place { positions: &mut parts.positions, normals: &mut parts.normals, faces: &mut parts.faces };
        let count = |part: &[Work<W, E>]| {
            part.iter().fold((0, 0), |(v, f), w| (v + w.marks.vertices as usize, f + w.marks.faces as usize))
        };
        let mut jobs: Vec<_> = self
            .works
            .chunks(JOB)
            .map(|part| {
                let (vertices, faces) = count(part);
                (part, rest.take(vertices, faces))
            })
            .collect();
        par::chunks_mut(&mut jobs, 1, |_, job| {
            let (part, place) = &mut job[0];
            let mut values = [0.0; MAX_UPPER];
            for work in part.iter() {
                upper_values::<F>(grid, &work.near, &mut values);
                fill(work, &values, place.take(work.marks.vertices as usize, work.marks.faces as usize));
            }
        });
        parts
    }
}

/// Slots of a block and its seven upper neighbours.
fn upper_slots(grid: &SparseGrid, b: usize) -> [u32; 8] {
    let block = grid.blocks()[b];
    std::array::from_fn(|n| {
        if n == 0 {
            return b as u32;
        }
        grid.slot(std::array::from_fn(|a| block[a] + (n as i32 >> a & 1)))
    })
}

/// The values of a block and the layer above it, (F + 1)³ of them.
#[inline(always)]
fn upper_values<const F: usize>(grid: &SparseGrid, near: &[u32; 8], out: &mut [f32; MAX_UPPER]) {
    let g = F + 1;
    for (n, &slot) in near.iter().enumerate() {
        let block = if slot < FLAGS { Some(grid.block(slot as usize)) } else { None };
        let far = grid.far_value(slot);
        let size = |axis: usize| if n >> axis & 1 == 1 { 1 } else { F };
        let first = [0, 1, 2].map(|axis| (n >> axis & 1) * F);
        for z in 0..size(2) {
            for y in 0..size(1) {
                let to = first[0] + g * (first[1] + y + g * (first[2] + z));
                let from = F * (y + F * z);
                if n & 1 == 1 {
                    out[to] = block.map_or(far, |v| v[from]);
                } else {
                    match block {
                        Some(v) => out[to..to + F].copy_from_slice(&v[from..from + F]),
                        None => out[to..to + F].fill(far),
                    }
                }
            }
        }
    }
}

/// Hands out consecutive pieces of a slice.
fn take<'a, T>(rest: &mut &'a mut [T], n: usize) -> &'a mut [T] {
    let (head, tail) = std::mem::take(rest).split_at_mut(n);
    *rest = tail;
    head
}
