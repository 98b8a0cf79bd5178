//! Reading a sparse grid at arbitrary points.

use super::{FLAGS, SparseGrid};
use crate::collider::{Collider, Sample, unit_or_z};
use crate::lattice::{slide, trilinear};
use billow_geom::Aabb;
use billow_num::Vec3;

/// Remembers the block of the last query, so that coherent queries skip the directory.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    grid: &'a SparseGrid,
    block: [i32; 3],
    slot: u32,
}

impl<'a> Cursor<'a> {
    /// A cursor that has seen nothing yet.
    pub fn new(grid: &'a SparseGrid) -> Self {
        Self { grid, block: [0; 3], slot: grid.directory.get([0; 3]) }
    }

    /// Value of any sample [m].
    #[inline]
    pub fn at(&mut self, ijk: [i32; 3]) -> f32 {
        let bits = self.grid.edge().trailing_zeros();
        let block = ijk.map(|v| v >> bits);
        if block != self.block {
            (self.block, self.slot) = (block, self.grid.directory.get(block));
        }
        if self.slot >= FLAGS {
            self.grid.far_value(self.slot)
        } else {
            self.grid.block(self.slot as usize)[self.grid.in_block(ijk)]
        }
    }

    /// The eight values around a point, x fastest, and the position among them.
    pub fn corners(&mut self, x: Vec3) -> ([f64; 8], Vec3) {
        let u = self.grid.frame.to_samples(x);
        let cell = u.floor();
        let c = cell.to_array().map(|v| v as i32);
        let f = self.grid.edge() as i32;
        let local = c.map(|v| v & (f - 1));
        let corner = |n: i32| [n & 1, n >> 1 & 1, n >> 2];
        // All eight in one block: one lookup serves them all.
        let values = if local.iter().all(|&v| v + 1 < f) {
            let first = self.at(c);
            if self.slot >= FLAGS {
                [f64::from(first); 8]
            } else {
                let (block, at) = (self.grid.block(self.slot as usize), self.grid.in_block(c));
                let f = f as usize;
                std::array::from_fn(|n| f64::from(block[at + (n & 1) + (n >> 1 & 1) * f + (n >> 2) * f * f]))
            }
        } else {
            std::array::from_fn(|n| {
                let o = corner(n as i32);
                f64::from(self.at(std::array::from_fn(|a| c[a].wrapping_add(o[a]))))
            })
        };
        (values, u - cell)
    }

    /// Trilinear value [m].
    pub fn value(&mut self, x: Vec3) -> f64 {
        self.value_and_gradient(x).0
    }

    /// Trilinear value [m] and gradient [-].
    pub fn value_and_gradient(&mut self, x: Vec3) -> (f64, Vec3) {
        let (c, s) = self.corners(x);
        let (value, gradient) = trilinear(c, s);
        (value, gradient / self.grid.frame.spacing)
    }
}

impl Collider for SparseGrid {
    /// Trilinear in the band, ± the half width beyond it, and growing with the distance from the stored blocks:
    /// always the right sign, never more than the distance.
    fn phi(&self, x: Vec3, _: f64) -> f64 {
        let near = self.nearest_stored(x);
        with_distance(Cursor::new(self).value(near), x - near)
    }

    fn normal(&self, x: Vec3, t: f64) -> Vec3 {
        self.sample(x, t).normal
    }

    fn sample(&self, x: Vec3, _: f64) -> Sample {
        let near = self.nearest_stored(x);
        let out = x - near;
        let (value, gradient) = Cursor::new(self).value_and_gradient(near);
        // The gradient of √(value² + out²).
        let normal = if out == Vec3::ZERO { gradient } else { out + value * slide(gradient, out) };
        Sample { phi: with_distance(value, out), normal: unit_or_z(normal), velocity: Vec3::ZERO }
    }

    fn bounds(&self, _: f64) -> Aabb {
        SparseGrid::bounds(self)
    }
}

/// φ at `out` from a box that holds all of the surface, with `value` at the nearest point of the box: seen from
/// there, no point of the surface lies on the side of `out`, so squares add up to a lower bound.
fn with_distance(value: f64, out: Vec3) -> f64 {
    if value < 0.0 { value } else { value.hypot(out.length()) }
}
