//! Values on a full lattice: signed distances, velocities, densities.
//!
//! Trilinear interpolation gives value and gradient in one pass ([Bri03] 4.3); [`Tricubic`] is the C² interpolant
//! of [Bri03] 6.2; curvatures come from central differences. Beyond the samples a signed distance continues with
//! the distance to the nearest sampled point added.

mod curvature;
mod labels;
mod tricubic;

pub use curvature::{Curvature, curvature_of_derivatives};
pub use labels::{CellLabel, CellLabels};
pub use tricubic::Tricubic;

use crate::collider::{Collider, Sample, unit_or_z};
use crate::lattice::{Lattice, slide, trilinear};
use crate::{DEFAULT_MEMORY_LIMIT, LevelSetError};
use billow_geom::Aabb;
use billow_num::{Vec3, par};
use serde::{Deserialize, Serialize};
use std::ops::{Add, Mul};

/// A value at every sample of a lattice, x fastest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dense<T> {
    /// Where the samples are.
    pub lattice: Lattice,
    /// One value per sample.
    pub values: Vec<T>,
}

/// Scalars on a full lattice, usually signed distances [m].
pub type ScalarGrid = Dense<f64>;
/// Vectors on a full lattice, usually velocities [m/s].
pub type VectorGrid = Dense<Vec3>;

impl<T: Copy + Send + Sync> Dense<T> {
    /// The grid of `f(position)` [m] on `lattice`, refused beyond `limit` bytes.
    pub fn sampled_within(
        limit: u64,
        lattice: Lattice,
        f: impl Fn(Vec3) -> T + Sync,
    ) -> Result<Self, LevelSetError> {
        lattice.check_memory(size_of::<T>(), limit)?;
        Ok(Self { lattice, values: par::map(lattice.len(), |i| f(lattice.position(lattice.coordinates(i)))) })
    }

    /// The grid of `f(position)` [m] on `lattice`, refused beyond [`DEFAULT_MEMORY_LIMIT`].
    pub fn sampled(lattice: Lattice, f: impl Fn(Vec3) -> T + Sync) -> Result<Self, LevelSetError> {
        Self::sampled_within(DEFAULT_MEMORY_LIMIT, lattice, f)
    }

    /// Value of the sample (i, j, k).
    pub fn at(&self, ijk: [usize; 3]) -> T {
        self.values[self.lattice.index(ijk)]
    }

    /// Value of the sample nearest to (i, j, k), which may lie outside the lattice.
    pub fn at_clamped(&self, ijk: [isize; 3]) -> T {
        let d = self.lattice.dims;
        self.at([0, 1, 2].map(|a| ijk[a].clamp(0, d[a] as isize - 1) as usize))
    }
}

impl<T: Copy + Send + Sync + Add<Output = T> + Mul<f64, Output = T>> Dense<T> {
    /// Trilinear interpolation at `x` [m], constant beyond the samples.
    pub fn value(&self, x: Vec3) -> T {
        let (cell, Vec3 { x: u, y: v, z: w }) = self.lattice.locate(x);
        let c = self.corners(cell);
        let mix = |a: T, b: T, s: f64| a * (1.0 - s) + b * s;
        mix(mix(mix(c[0], c[1], u), mix(c[2], c[3], u), v), mix(mix(c[4], c[5], u), mix(c[6], c[7], u), v), w)
    }

    /// The eight values around a cell, x fastest; a lattice one sample thick repeats it.
    fn corners(&self, cell: [usize; 3]) -> [T; 8] {
        let s = self.lattice.strides();
        let step = [0, 1, 2].map(|a| if self.lattice.dims[a] > 1 { s[a] } else { 0 });
        let base = self.lattice.index(cell);
        std::array::from_fn(|n| {
            self.values[base + (n & 1) * step[0] + (n >> 1 & 1) * step[1] + (n >> 2) * step[2]]
        })
    }
}

impl ScalarGrid {
    /// The signed distance of a collider at time `t`, sampled on `lattice`.
    pub fn of_collider(lattice: Lattice, solid: &impl Collider, t: f64) -> Result<Self, LevelSetError> {
        Self::sampled(lattice, |x| solid.phi(x, t))
    }

    /// Trilinear value and gradient [1/m] in one pass, constant beyond the samples.
    pub fn value_and_gradient(&self, x: Vec3) -> (f64, Vec3) {
        let (cell, place) = self.lattice.locate(x);
        let (value, gradient) = trilinear(self.corners(cell), place);
        (value, gradient / self.lattice.spacing)
    }

    /// Central difference gradient at a sample, one-sided at the border [1/m].
    pub fn gradient_at(&self, ijk: [usize; 3]) -> Vec3 {
        let mut g = Vec3::ZERO;
        for a in 0..3 {
            let n = self.lattice.dims[a];
            let (mut lo, mut hi) = (ijk, ijk);
            lo[a] = ijk[a].saturating_sub(1);
            hi[a] = (ijk[a] + 1).min(n - 1);
            let steps = hi[a] - lo[a];
            if steps > 0 {
                g[a] = (self.at(hi) - self.at(lo)) / (steps as f64 * self.lattice.spacing);
            }
        }
        g
    }

    /// Distance beyond the samples and the offset it was measured along.
    fn beyond(&self, x: Vec3) -> Vec3 {
        x - self.lattice.clamp(x)
    }
}

impl Collider for ScalarGrid {
    fn phi(&self, x: Vec3, _: f64) -> f64 {
        self.value(x) + self.beyond(x).length()
    }

    fn normal(&self, x: Vec3, t: f64) -> Vec3 {
        self.sample(x, t).normal
    }

    fn sample(&self, x: Vec3, _: f64) -> Sample {
        let (value, gradient) = self.value_and_gradient(x);
        let out = self.beyond(x);
        let far = out.length();
        let normal = if far > 0.0 { out / far + slide(gradient, out) } else { gradient };
        Sample { phi: value + far, normal: unit_or_z(normal), velocity: Vec3::ZERO }
    }

    fn bounds(&self, _: f64) -> Aabb {
        self.lattice.domain()
    }
}
