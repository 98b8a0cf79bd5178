//! Signed distance on a graded octree ([Bri03] 4.3, 4.4).
//!
//! Cells are refined where the surface may pass. Neighbours, edge and corner neighbours included, differ by at most one level, so a vertex that
//! hangs on a coarser cell sits in the middle of one of its edges or faces; its value is constrained to the
//! interpolant there, which makes φ continuous. Each cell knows the least and greatest φ of the leaves below it.

mod build;
mod lookup;

pub use build::Refinement;
pub use lookup::OctreeCursor;

use crate::collider::{Collider, Sample, unit_or_z};
use crate::dense::CellLabel;
use billow_geom::Aabb;
use billow_num::Vec3;

/// No children.
pub(crate) const LEAF: u32 = u32::MAX;

/// A cube of the tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cell {
    /// First of eight children, x fastest, or [`LEAF`].
    pub(crate) children: u32,
    /// First of the eight corner numbers of a leaf in [`Octree::corners`].
    pub(crate) corners: u32,
    pub(crate) min: f32,
    pub(crate) max: f32,
}

/// Signed distance on a graded octree.
#[derive(Clone, Debug, PartialEq)]
pub struct Octree {
    /// Smallest corner of the root [m].
    pub(crate) origin: Vec3,
    /// Edge of the root [m].
    pub(crate) size: f64,
    /// Levels below the root.
    pub(crate) depth: u32,
    pub(crate) cells: Vec<Cell>,
    /// Eight vertex numbers per leaf, x fastest.
    pub(crate) corners: Vec<[u32; 8]>,
    /// φ at the vertices [m].
    pub(crate) values: Vec<f64>,
    /// How many vertices hang on coarser cells.
    pub(crate) hanging: usize,
}

impl Octree {
    /// Number of leaf cells.
    pub fn leaves(&self) -> usize {
        self.corners.len()
    }

    /// Number of vertices with their own value, hanging ones included.
    pub fn vertices(&self) -> usize {
        self.values.len()
    }

    /// Number of vertices whose value is constrained by a coarser cell.
    pub fn hanging_vertices(&self) -> usize {
        self.hanging
    }

    /// Edge of the smallest cells [m].
    pub fn finest(&self) -> f64 {
        self.size / f64::from(1u32 << self.depth)
    }

    /// Bytes taken.
    pub fn bytes(&self) -> usize {
        self.cells.len() * size_of::<Cell>() + self.corners.len() * 32 + self.values.len() * 8
    }

    /// Least φ of all vertices [m].
    pub fn lowest(&self) -> f64 {
        f64::from(self.cells[0].min)
    }

    /// The cube the tree covers [m].
    pub fn domain(&self) -> Aabb {
        Aabb { min: self.origin, max: self.origin + self.size }
    }

    /// Which side of the surface a box is on, as far as the labels of cells no smaller than its largest part tell.
    pub fn label(&self, region: &Aabb) -> CellLabel {
        let mut bounds = (f32::INFINITY, f32::NEG_INFINITY);
        self.bound_below(0, self.domain(), region, &mut bounds);
        let beyond = region.min.cmplt(self.domain().min).any() || region.max.cmpgt(self.domain().max).any();
        match bounds {
            (_, max) if max < 0.0 && !beyond => CellLabel::Inside,
            (min, _) if min > 0.0 => CellLabel::Outside,
            _ => CellLabel::Mixed,
        }
    }

    /// Widens `bounds` to the φ of the leaves that overlap `region`.
    fn bound_below(&self, cell: usize, at: Aabb, region: &Aabb, bounds: &mut (f32, f32)) {
        let c = &self.cells[cell];
        let covered = c.min >= bounds.0 && c.max <= bounds.1;
        if covered || !at.overlaps(region) {
            return;
        }
        let within = region.min.cmple(at.min).all() && at.max.cmple(region.max).all();
        if c.children == LEAF || within {
            *bounds = (bounds.0.min(c.min), bounds.1.max(c.max));
            return;
        }
        let half = 0.5 * at.size();
        for n in 0..8 {
            let o = Vec3::new(f64::from(n & 1), f64::from(n >> 1 & 1), f64::from(n >> 2));
            let min = at.min + half * o;
            self.bound_below((c.children + n) as usize, Aabb { min, max: min + half }, region, bounds);
        }
    }
}

impl Collider for Octree {
    fn phi(&self, x: Vec3, t: f64) -> f64 {
        self.sample(x, t).phi
    }

    fn normal(&self, x: Vec3, t: f64) -> Vec3 {
        self.sample(x, t).normal
    }

    fn sample(&self, x: Vec3, _: f64) -> Sample {
        let domain = self.domain();
        let inside = x.clamp(domain.min, domain.max);
        let (value, gradient) = OctreeCursor::new(self).value_and_gradient(inside);
        let out = x - inside;
        let far = out.length();
        let tangent = Vec3::select(out.cmpeq(Vec3::ZERO), gradient, Vec3::ZERO);
        let normal = if far > 0.0 { out / far + tangent } else { gradient };
        Sample { phi: value + far, normal: unit_or_z(normal), velocity: Vec3::ZERO }
    }

    fn bounds(&self, _: f64) -> Aabb {
        self.domain()
    }
}
