//! Reading a sparse grid at arbitrary points.

use super::{FLAGS, SparseGrid};
use crate::collider::{Collider, Sample, unit_or_z};
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
        let mix = |a: f64, b: f64, s: f64| a + (b - a) * s;
        let lx: [f64; 4] = std::array::from_fn(|n| mix(c[2 * n], c[2 * n + 1], s.x));
        let dx: [f64; 4] = std::array::from_fn(|n| c[2 * n + 1] - c[2 * n]);
        let (ly0, ly1) = (mix(lx[0], lx[1], s.y), mix(lx[2], lx[3], s.y));
        let gradient = Vec3::new(
            mix(mix(dx[0], dx[1], s.y), mix(dx[2], dx[3], s.y), s.z),
            mix(lx[1] - lx[0], lx[3] - lx[2], s.z),
            ly1 - ly0,
        );
        (mix(ly0, ly1, s.z), gradient / self.grid.frame.spacing)
    }
}

impl Collider for SparseGrid {
    /// Trilinear in the band, ± the half width beyond: always the right sign, never more than the distance.
    fn phi(&self, x: Vec3, _: f64) -> f64 {
        Cursor::new(self).value(x)
    }

    fn normal(&self, x: Vec3, _: f64) -> Vec3 {
        unit_or_z(Cursor::new(self).value_and_gradient(x).1)
    }

    fn sample(&self, x: Vec3, _: f64) -> Sample {
        let (phi, gradient) = Cursor::new(self).value_and_gradient(x);
        Sample { phi, normal: unit_or_z(gradient), velocity: Vec3::ZERO }
    }

    fn bounds(&self, _: f64) -> Aabb {
        SparseGrid::bounds(self)
    }
}
