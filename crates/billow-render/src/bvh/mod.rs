//! Four-wide bounding volume hierarchy for rays.
//!
//! A node holds the boxes of four children as structure of arrays, so that one pass of four-lane arithmetic tests
//! them all. Leaves name blocks of four primitives; what a primitive is, the caller decides.

mod build;

use crate::vector::{Vec3, Vec4};

/// Primitives of one leaf block; [`NONE`] pads it.
pub(crate) type Block = [u32; 4];

/// Index that stands for no primitive.
pub(crate) const NONE: u32 = u32::MAX;

const LEAF: u32 = 1 << 31;
/// Bits of a leaf's word that count its blocks.
const COUNT_BITS: u32 = 3;

/// An axis-aligned box.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) lo: Vec3,
    pub(crate) hi: Vec3,
}

impl Bounds {
    pub(crate) const EMPTY: Self = Self { lo: Vec3::INFINITY, hi: Vec3::NEG_INFINITY };

    pub(crate) fn of(points: impl IntoIterator<Item = Vec3>) -> Self {
        points.into_iter().fold(Self::EMPTY, Self::with)
    }

    pub(crate) fn with(self, p: Vec3) -> Self {
        Self { lo: self.lo.min(p), hi: self.hi.max(p) }
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Self { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    pub(crate) fn grown(self, by: f32) -> Self {
        Self { lo: self.lo - Vec3::splat(by), hi: self.hi + Vec3::splat(by) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.lo.cmple(self.hi).all()
    }

    /// Half the surface area, what the surface-area heuristic compares.
    #[inline]
    fn half_area(&self) -> f32 {
        let d = (self.hi - self.lo).max(Vec3::ZERO);
        d.x * d.y + d.y * d.z + d.z * d.x
    }
}

#[derive(Clone, Debug)]
#[repr(align(64))]
struct Node {
    /// Lower and upper bounds: x lo, x hi, y lo, y hi, z lo, z hi of the four children.
    bounds: [Vec4; 6],
    children: [u32; 4],
}

/// The hierarchy over a set of primitives.
#[derive(Clone, Debug)]
pub(crate) struct Bvh {
    nodes: Vec<Node>,
    /// Primitives of each leaf block.
    pub(crate) blocks: Vec<Block>,
    /// Box around everything.
    pub(crate) bounds: Bounds,
}

/// Room for the deepest traversal: three waiting children per level, see `build::DEEPEST`.
pub(crate) const STACK: usize = 3 * build::DEEPEST + 2;

/// Nodes waiting during a traversal, kept between rays so that nothing is cleared per ray.
pub(crate) type Stack = [(u32, f32); STACK];

/// A ray prepared for box tests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slabs {
    origin: [Vec4; 3],
    inverse: [Vec4; 3],
    near: [usize; 3],
    t_min: f32,
}

/// The far side of a box is moved out by this factor: three roundings of (1 + 2⁻²⁴) and a margin.
const FAR_MARGIN: f32 = 1.0 + 4.0 * f32::EPSILON;

impl Slabs {
    #[inline]
    pub(crate) fn new(origin: Vec3, direction: Vec3, t_min: f32) -> Self {
        let d = direction.to_array().map(|x| if x.abs() < 1e-18 { 1e-18f32.copysign(x) } else { x });
        let o = origin.to_array();
        Self {
            origin: o.map(Vec4::splat),
            inverse: d.map(|x| Vec4::splat(1.0 / x)),
            near: [usize::from(d[0] < 0.0), 2 + usize::from(d[1] < 0.0), 4 + usize::from(d[2] < 0.0)],
            t_min,
        }
    }
}

impl Bvh {
    /// Builds the hierarchy over boxes, in parallel for large sets; the result depends on the boxes alone.
    pub(crate) fn build(boxes: &[Bounds]) -> Self {
        build::build(boxes)
    }

    /// Calls `leaf(block, t_max)` for the blocks the ray may hit before `t_max`, roughly front to back. `leaf`
    /// returns the new `t_max`; anything negative ends the traversal.
    #[inline(always)]
    pub(crate) fn visit(
        &self,
        ray: &Slabs,
        mut t_max: f32,
        stack: &mut Stack,
        mut leaf: impl FnMut(usize, f32) -> f32,
    ) {
        if self.nodes.is_empty() {
            return;
        }
        let mut top = 0;
        let mut current = 0u32;
        loop {
            if current & LEAF == 0 {
                if let Some(next) = self.descend(current, ray, t_max, stack, &mut top) {
                    current = next;
                    continue;
                }
            } else {
                let first = ((current & !LEAF) >> COUNT_BITS) as usize;
                for block in first..=first + (current & ((1 << COUNT_BITS) - 1)) as usize {
                    t_max = leaf(block, t_max);
                }
                if t_max < 0.0 {
                    return;
                }
            }
            loop {
                if top == 0 {
                    return;
                }
                top -= 1;
                let (node, t) = stack[top];
                if t <= t_max {
                    current = node;
                    break;
                }
            }
        }
    }

    /// Tests the children of a node; returns the nearest that is hit and pushes the others, farthest first.
    #[inline(always)]
    fn descend(&self, node: u32, ray: &Slabs, t_max: f32, stack: &mut Stack, top: &mut usize) -> Option<u32> {
        let node = &self.nodes[node as usize];
        let near = |k: usize| (node.bounds[ray.near[k]] - ray.origin[k]) * ray.inverse[k];
        let far = |k: usize| (node.bounds[ray.near[k] ^ 1] - ray.origin[k]) * ray.inverse[k];
        let t0 = near(0).max(near(1)).max(near(2).max(Vec4::splat(ray.t_min)));
        let t1 = far(0).min(far(1)).min(far(2)) * FAR_MARGIN;
        let mut hit = t0.cmple(t1.min(Vec4::splat(t_max))).bitmask();
        if hit == 0 {
            return None;
        }
        let t = t0.to_array();
        let first = hit.trailing_zeros() as usize;
        hit &= hit - 1;
        let (mut best, mut best_t) = (node.children[first], t[first]);
        let base = *top;
        while hit != 0 {
            let k = hit.trailing_zeros() as usize;
            hit &= hit - 1;
            let mut item = (node.children[k], t[k]);
            if item.1 < best_t {
                std::mem::swap(&mut item.0, &mut best);
                std::mem::swap(&mut item.1, &mut best_t);
            }
            // Insertion keeps the nearest of this node's children on top of the stack.
            let mut slot = *top;
            while slot > base && stack[slot - 1].1 < item.1 {
                stack[slot] = stack[slot - 1];
                slot -= 1;
            }
            stack[slot] = item;
            *top += 1;
        }
        Some(best)
    }
}

/// A stack to start with.
pub(crate) fn new_stack() -> Stack {
    [(0, 0.0); STACK]
}
