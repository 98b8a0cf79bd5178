//! Building an octree from a distance: refine, grade, number vertices, constrain hanging ones.

use super::lookup::MAX_DEPTH;
use super::{Cell, LEAF, Octree};
use crate::LevelSetError;
use crate::collider::Collider;
use crate::error::{finite, positive};
use billow_geom::Aabb;
use billow_num::{Vec3, par};
use std::collections::HashSet;

/// Where to refine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refinement {
    /// Edge of the smallest cells, reached everywhere on the surface [m].
    pub finest: f64,
    /// Cells away from the surface are refined until interpolation is this accurate at their centre [m]; infinite by
    /// default, which refines at the surface only.
    pub tolerance: f64,
    /// Bytes the tree may take; [`crate::DEFAULT_MEMORY_LIMIT`] by default.
    pub memory_limit: u64,
}

impl Refinement {
    /// Cells of edge `finest` [m] at the surface, growing away from it.
    pub fn at_surface(finest: f64) -> Self {
        Self { finest, tolerance: f64::INFINITY, memory_limit: crate::DEFAULT_MEMORY_LIMIT }
    }
}

type Coordinates = [u32; 3];

impl Octree {
    /// The tree of any collider at time `t` (another grid, say) over a cube around `domain`.
    ///
    /// Refinement trusts that φ is a distance: a cell is left alone when |φ| at its centre exceeds the distance to
    /// its corners.
    pub fn of_collider(
        domain: Aabb,
        refinement: &Refinement,
        solid: &impl Collider,
        t: f64,
    ) -> Result<Self, LevelSetError> {
        Self::of_function(domain, refinement, &|x| solid.phi(x, t))
    }

    /// The tree of a signed distance over a cube around `domain`.
    pub fn of_function(
        domain: Aabb,
        refinement: &Refinement,
        phi: &(impl Fn(Vec3) -> f64 + Sync),
    ) -> Result<Self, LevelSetError> {
        finite("Octree", "domain", domain.min)?;
        finite("Octree", "domain", domain.max)?;
        let finest = positive("Octree", "finest", refinement.finest)?;
        let edge = positive("Octree", "domain size", domain.size().max_element())?;
        let depth = (edge / finest - 1e-9).max(1.0).log2().ceil() as usize;
        if depth > MAX_DEPTH {
            let n = (edge / finest) as u64;
            let limit = refinement.memory_limit;
            return Err(LevelSetError::TooLarge {
                dims: [n; 3],
                bytes: n.saturating_mul(n).saturating_mul(100),
                limit,
            });
        }
        let size = finest * f64::from(1u32 << depth);
        let origin = domain.centre() - 0.5 * size;
        let frame = CellFrame { origin, size, depth };
        let mut split = refine(&frame, refinement, phi)?;
        grade(&mut split);
        let mut tree = layout(&frame, &split);
        number_vertices(&mut tree, &frame, phi);
        tree.label_cells();
        Ok(tree)
    }

    /// Least and greatest φ of every cell, from the leaves up.
    fn label_cells(&mut self) {
        for c in (0..self.cells.len()).rev() {
            let cell = self.cells[c];
            let widen = |(lo, hi): (f32, f32), (a, b): (f32, f32)| (lo.min(a), hi.max(b));
            let none = (f32::INFINITY, f32::NEG_INFINITY);
            let (min, max) = if cell.children == LEAF {
                self.corners[cell.corners as usize]
                    .iter()
                    .map(|&v| self.values[v as usize] as f32)
                    .fold(none, |b, v| widen(b, (v, v)))
            } else {
                (0..8)
                    .map(|n| self.cells[(cell.children + n) as usize])
                    .fold(none, |b, c| widen(b, (c.min, c.max)))
            };
            (self.cells[c].min, self.cells[c].max) = (min, max);
        }
    }
}

/// Sizes and places of cells.
struct CellFrame {
    origin: Vec3,
    size: f64,
    depth: usize,
}

impl CellFrame {
    fn edge(&self, level: usize) -> f64 {
        self.size / f64::from(1u32 << level)
    }

    /// Position at `part` (0 to 1) of the cell `c` of a level.
    fn position(&self, level: usize, c: Coordinates, part: Vec3) -> Vec3 {
        self.origin + self.edge(level) * (Vec3::from(c.map(f64::from)) + part)
    }
}

/// The cells to split, level by level.
fn refine(
    frame: &CellFrame,
    refinement: &Refinement,
    phi: &(impl Fn(Vec3) -> f64 + Sync),
) -> Result<Vec<HashSet<Coordinates>>, LevelSetError> {
    let mut split = Vec::new();
    let mut candidates = vec![[0; 3]];
    let mut cells = 0u64;
    for level in 0..frame.depth {
        let radius = 0.5 * 3f64.sqrt() * frame.edge(level);
        let wanted = par::map(candidates.len(), |i| {
            let centre = phi(frame.position(level, candidates[i], Vec3::splat(0.5)));
            centre.abs() <= radius * (1.0 + 1e-9)
                || interpolation_error(frame, level, candidates[i], centre, phi) > refinement.tolerance
        });
        let chosen: Vec<Coordinates> =
            candidates.iter().zip(wanted).filter(|(_, w)| *w).map(|(c, _)| *c).collect();
        cells += 8 * chosen.len() as u64;
        let bytes = cells * 100;
        if bytes > refinement.memory_limit {
            let dims = [1 << frame.depth; 3];
            return Err(LevelSetError::TooLarge { dims, bytes, limit: refinement.memory_limit });
        }
        candidates = chosen.iter().flat_map(|&c| (0..8).map(move |n| child(c, n))).collect();
        split.push(chosen.into_iter().collect());
    }
    Ok(split)
}

/// How far the mean of a cell's corners is from φ at its centre; zero if nobody asks.
fn interpolation_error(
    frame: &CellFrame,
    level: usize,
    c: Coordinates,
    centre: f64,
    phi: &(impl Fn(Vec3) -> f64 + Sync),
) -> f64 {
    let corner = |n: u32| phi(frame.position(level, c, Vec3::from(child([0; 3], n).map(f64::from))));
    ((0..8).map(corner).sum::<f64>() / 8.0 - centre).abs()
}

fn child([x, y, z]: Coordinates, n: u32) -> Coordinates {
    [2 * x + (n & 1), 2 * y + (n >> 1 & 1), 2 * z + (n >> 2)]
}

/// Splits further cells until neighbours, corner neighbours included, differ by at most one level.
fn grade(split: &mut [HashSet<Coordinates>]) {
    for level in (1..split.len()).rev() {
        let n = 1i64 << level;
        let needed: Vec<Coordinates> = split[level]
            .iter()
            .flat_map(|c| {
                let c = c.map(i64::from);
                (0..27i64).filter_map(move |o| {
                    let at = [c[0] + o % 3 - 1, c[1] + o / 3 % 3 - 1, c[2] + o / 9 - 1];
                    at.iter().all(|v| (0..n).contains(v)).then(|| at.map(|v| (v >> 1) as u32))
                })
            })
            .collect();
        split[level - 1].extend(needed);
    }
}

/// Lays the cells out level by level.
fn layout(frame: &CellFrame, split: &[HashSet<Coordinates>]) -> Octree {
    let mut cells = Vec::new();
    let mut corners = Vec::new();
    let mut level_cells = vec![[0; 3]];
    let mut first_child = 1u32;
    for level in 0..=frame.depth {
        let mut next = Vec::new();
        for &c in &level_cells {
            let divided = split.get(level).is_some_and(|s| s.contains(&c));
            if divided {
                cells.push(Cell { children: first_child, corners: LEAF, min: 0.0, max: 0.0 });
                first_child += 8;
                next.extend((0..8).map(|n| child(c, n)));
            } else {
                cells.push(Cell { children: LEAF, corners: corners.len() as u32, min: 0.0, max: 0.0 });
                corners.push([0; 8]);
            }
        }
        level_cells = next;
    }
    Octree {
        origin: frame.origin,
        size: frame.size,
        depth: frame.depth as u32,
        cells,
        corners,
        values: Vec::new(),
        hanging: 0,
    }
}

/// Numbers the corners of all leaves, evaluates φ there and constrains hanging vertices.
fn number_vertices(tree: &mut Octree, frame: &CellFrame, phi: &(impl Fn(Vec3) -> f64 + Sync)) {
    let leaves = leaf_places(tree);
    // A vertex is known by its coordinates in the finest level.
    let key = |c: Coordinates| u64::from(c[0]) | u64::from(c[1]) << 21 | u64::from(c[2]) << 42;
    let vertex = |&(level, c): &(usize, Coordinates), doubled: [u32; 3]| {
        // Corner (0 or 2) or middle (1) of the leaf along each axis.
        let shift = frame.depth - level;
        std::array::from_fn(|a| (c[a] << shift) + (doubled[a] << shift) / 2)
    };
    let corner = |n: u32| [2 * (n & 1), 2 * (n >> 1 & 1), 2 * (n >> 2)];
    let mut keys: Vec<u64> =
        leaves.iter().flat_map(|leaf| (0..8).map(|n| key(vertex(leaf, corner(n))))).collect();
    keys.sort_unstable();
    keys.dedup();
    let find = |c: Coordinates| keys.binary_search(&key(c)).ok();
    let numbers = par::map(leaves.len(), |l| {
        std::array::from_fn(|n| find(vertex(&leaves[l], corner(n as u32))).map_or(0, |v| v as u32))
    });
    tree.corners = numbers;
    let mask = (1u64 << 21) - 1;
    tree.values = par::map(keys.len(), |v| {
        let c = [keys[v] & mask, keys[v] >> 21 & mask, keys[v] >> 42].map(|c| c as u32);
        phi(frame.position(frame.depth, c, Vec3::ZERO))
    });
    // Coarse leaves first, so that what constrains is final. A leaf of the finest level has nothing hanging on it.
    let mut constrained = vec![false; keys.len()];
    for (leaf, corners) in leaves.iter().zip(&tree.corners) {
        if leaf.0 == frame.depth {
            continue;
        }
        let v = corners.map(|n| tree.values[n as usize]);
        for n in 0..27 {
            let place = [n % 3, n / 3 % 3, n / 9];
            let middles = place.iter().filter(|&&p| p == 1).count();
            if !(1..=2).contains(&middles) {
                continue;
            }
            if let Some(hanging) = find(vertex(leaf, place)) {
                // The mean of the two or four corners it lies between.
                let between =
                    (0..8u32).filter(|&k| (0..3).all(|a| place[a] == 1 || corner(k)[a] == place[a]));
                let sum: f64 = between.map(|k| v[k as usize]).sum();
                tree.values[hanging] = sum / f64::from(1u32 << middles);
                constrained[hanging] = true;
            }
        }
    }
    tree.hanging = constrained.iter().filter(|&&c| c).count();
}

/// Level and coordinates of every leaf, in the order of their corners: level by level.
fn leaf_places(tree: &Octree) -> Vec<(usize, Coordinates)> {
    let mut places = Vec::with_capacity(tree.corners.len());
    let mut current: Vec<(u32, Coordinates)> = vec![(0, [0; 3])];
    let mut level = 0;
    while !current.is_empty() {
        let mut next = Vec::new();
        for &(cell, c) in &current {
            let children = tree.cells[cell as usize].children;
            if children == LEAF {
                places.push((level, c));
            } else {
                next.extend((0..8).map(|n| (children + n, child(c, n))));
            }
        }
        current = next;
        level += 1;
    }
    places
}
