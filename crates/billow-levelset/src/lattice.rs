//! Regular arrangements of sample points in a box.
//!
//! A [`Lattice`] knows where samples are and how they are numbered (x fastest); grids add values. Samples sit
//! either at the corners of cells, borders included, or at their centres.

use crate::LevelSetError;
use crate::error::{finite, positive};
use billow_geom::Aabb;
use billow_num::Vec3;
use serde::{Deserialize, Serialize};

/// Bytes a grid may take unless the caller says otherwise: 4 GB.
pub const DEFAULT_MEMORY_LIMIT: u64 = 4_000_000_000;

/// Where in its cells a grid keeps its samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Centring {
    /// At the corners: the outermost samples lie on the domain's border.
    Node,
    /// At the centres: the domain reaches half a cell beyond the outermost samples.
    Cell,
}

/// Sample points `origin + spacing · (i, j, k)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lattice {
    /// Position of sample (0, 0, 0) [m].
    pub origin: Vec3,
    /// Distance between samples [m].
    pub spacing: f64,
    /// Samples along x, y, z.
    pub dims: [usize; 3],
    /// Whether samples are cell corners or centres.
    pub centring: Centring,
}

impl Lattice {
    /// A lattice whose domain covers `domain`, starting at its smallest corner.
    pub fn covering(domain: Aabb, spacing: f64, centring: Centring) -> Result<Self, LevelSetError> {
        positive("Lattice", "spacing", spacing)?;
        finite("Lattice", "domain", domain.min)?;
        finite("Lattice", "domain", domain.max)?;
        let size = domain.size();
        for s in size.to_array() {
            if !(s >= 0.0 && s / spacing < 1e15) {
                let allowed = "at least 0 and below 1e15 spacings";
                return Err(LevelSetError::Parameter {
                    of: "Lattice",
                    name: "domain size",
                    value: s,
                    allowed,
                });
            }
        }
        // Rounding must not cost a cell when the size is a multiple of the spacing.
        let cells = (size / spacing).to_array().map(|c| ((c - 1e-9).ceil() as usize).max(1));
        Ok(match centring {
            Centring::Node => Self { origin: domain.min, spacing, dims: cells.map(|c| c + 1), centring },
            Centring::Cell => Self { origin: domain.min + 0.5 * spacing, spacing, dims: cells, centring },
        })
    }

    /// Refuses grids of more than `limit` bytes at `bytes_per_sample`.
    pub fn check_memory(&self, bytes_per_sample: usize, limit: u64) -> Result<(), LevelSetError> {
        let dims = self.dims.map(|d| d as u64);
        let bytes = dims.iter().fold(bytes_per_sample as u64, |n, &d| n.saturating_mul(d));
        if bytes > limit { Err(LevelSetError::TooLarge { dims, bytes, limit }) } else { Ok(()) }
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.dims[0] * self.dims[1] * self.dims[2]
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of the sample (i, j, k).
    pub fn index(&self, [i, j, k]: [usize; 3]) -> usize {
        i + self.dims[0] * (j + self.dims[1] * k)
    }

    /// The sample (i, j, k) of a number.
    pub fn coordinates(&self, index: usize) -> [usize; 3] {
        let [nx, ny, _] = self.dims;
        [index % nx, index / nx % ny, index / (nx * ny)]
    }

    /// Position of a sample [m].
    pub fn position(&self, [i, j, k]: [usize; 3]) -> Vec3 {
        self.origin + self.spacing * Vec3::new(i as f64, j as f64, k as f64)
    }

    /// Distance in numbering between neighbours along x, y and z.
    pub fn strides(&self) -> [usize; 3] {
        [1, self.dims[0], self.dims[0] * self.dims[1]]
    }

    /// The region the samples stand for [m].
    pub fn domain(&self) -> Aabb {
        let last = self.position(self.dims.map(|d| d.saturating_sub(1)));
        let margin = if self.centring == Centring::Cell { 0.5 * self.spacing } else { 0.0 };
        Aabb { min: self.origin, max: last }.inflated(margin)
    }

    /// The point of the samples' hull nearest to `x`.
    pub fn clamp(&self, x: Vec3) -> Vec3 {
        x.clamp(self.origin, self.position(self.dims.map(|d| d.saturating_sub(1))))
    }

    /// The cube of samples around `x` and the position within it, clamped to the samples' hull.
    pub fn locate(&self, x: Vec3) -> ([usize; 3], Vec3) {
        let u = (x - self.origin) / self.spacing;
        let (mut cell, mut part) = ([0; 3], [0.0; 3]);
        for a in 0..3 {
            let last = self.dims[a].saturating_sub(2);
            // A NaN coordinate lands in cell 0; the fraction carries the NaN on.
            cell[a] = (u[a].max(0.0) as usize).min(last);
            part[a] = (u[a] - cell[a] as f64).clamp(0.0, if self.dims[a] > 1 { 1.0 } else { 0.0 });
        }
        (cell, part.into())
    }
}

/// Trilinear value and gradient (per cell) at a place within a cell (0 to 1), from the values at its corners, x fastest.
#[inline]
pub(crate) fn trilinear(c: [f64; 8], s: Vec3) -> (f64, Vec3) {
    let mix = |a: f64, b: f64, s: f64| a + (b - a) * s;
    // Collapse x, then y, then z, carrying each derivative along.
    let dx: [f64; 4] = std::array::from_fn(|n| c[2 * n + 1] - c[2 * n]);
    let lx: [f64; 4] = std::array::from_fn(|n| c[2 * n] + dx[n] * s.x);
    let (ly0, ly1) = (mix(lx[0], lx[1], s.y), mix(lx[2], lx[3], s.y));
    let gradient = Vec3::new(
        mix(mix(dx[0], dx[1], s.y), mix(dx[2], dx[3], s.y), s.z),
        mix(lx[1] - lx[0], lx[3] - lx[2], s.z),
        ly1 - ly0,
    );
    (mix(ly0, ly1, s.z), gradient)
}

/// The part of a gradient along axes in which a point has not left the samples by `out`.
pub(crate) fn slide(gradient: Vec3, out: Vec3) -> Vec3 {
    Vec3::select(out.cmpeq(Vec3::ZERO), gradient, Vec3::ZERO)
}
