//! Projections that keep conjugate gradients inside the directions that may move.
//!
//! [Bri03] 2.3 and Baraff and Witkin (1998) hold nodes by filtering every residual and direction. The same hook
//! removes constants from pressure regions that have no free surface.

use crate::vector::Entry;
use crate::{Mat3, NumError, Vec3};

/// An orthogonal projection applied to residuals and search directions.
pub trait Filter<T: Entry>: Sync {
    /// Whether the projection changes nothing, so that passes over memory can be saved.
    const IDENTITY: bool = false;

    /// Removes the forbidden part of `v`.
    fn apply(&self, v: &mut [T]);
}

/// All directions are free.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unconstrained;

impl<T: Entry> Filter<T> for Unconstrained {
    const IDENTITY: bool = true;

    fn apply(&self, _: &mut [T]) {}
}

/// Nodes that may move only in a plane, along a line, or not at all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FixedDirections {
    projections: Vec<(u32, Mat3)>,
}

impl FixedDirections {
    /// Holds `node` completely.
    pub fn fix(&mut self, node: u32) {
        self.projections.push((node, Mat3::ZERO));
    }

    /// Holds `node` in the plane orthogonal to the unit vector `normal`.
    pub fn fix_along(&mut self, node: u32, normal: Vec3) {
        let outer = Mat3::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
        self.projections.push((node, Mat3::IDENTITY - outer));
    }

    /// Holds `node` on the line along the unit vector `axis`.
    pub fn fix_across(&mut self, node: u32, axis: Vec3) {
        self.projections.push((node, Mat3::from_cols(axis * axis.x, axis * axis.y, axis * axis.z)));
    }

    /// Removes all constraints, keeping the memory.
    pub fn clear(&mut self) {
        self.projections.clear();
    }
}

impl Filter<Vec3> for FixedDirections {
    fn apply(&self, v: &mut [Vec3]) {
        for (node, projection) in &self.projections {
            let x = &mut v[*node as usize];
            *x = *projection * *x;
        }
    }
}

/// Regions whose mean must stay zero: the null space of pure Neumann problems, one constant per region.
#[derive(Clone, Debug, PartialEq)]
pub struct MeanFree {
    regions: Vec<Vec<u32>>,
}

impl MeanFree {
    /// Disjoint regions of `size` unknowns; unknowns in no region are left alone.
    pub fn new(size: usize, regions: Vec<Vec<u32>>) -> Result<Self, NumError> {
        for (item, region) in regions.iter().enumerate() {
            if let Some(index) = region.iter().map(|i| *i as usize).find(|i| *i >= size) {
                return Err(NumError::IndexOutOfRange { item, index, count: size });
            }
        }
        Ok(Self { regions })
    }

    /// One region of all `size` unknowns.
    pub fn whole(size: usize) -> Self {
        Self { regions: vec![(0..size as u32).collect()] }
    }
}

impl<T: Entry> Filter<T> for MeanFree {
    fn apply(&self, v: &mut [T]) {
        for region in self.regions.iter().filter(|r| !r.is_empty()) {
            let mut mean = T::default();
            region.iter().for_each(|i| mean += v[*i as usize]);
            mean = mean * (1.0 / region.len() as f64);
            region.iter().for_each(|i| v[*i as usize] -= mean);
        }
    }
}
