//! Queries with a box, a ray or segment, or a point against one tree.
//!
//! Rays and closest points visit children nearest first and stop as soon as nothing nearer is possible. The
//! primitive itself is tested by the caller's closure, so results are as exact as that test.

use super::node::{Lane, NONE, Node, WIDTH, round_out};
use super::{Aabb, Bvh, Vec3};

/// What a ray met first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit {
    /// Index of the primitive.
    pub primitive: u32,
    /// Ray parameter of the hit, in units of the direction's length [-].
    pub t: f64,
}

impl<const E: usize> Bvh<E> {
    /// Calls `visit(i)` for all primitives whose boxes overlap the query boxes, in tree order.
    pub fn overlapping(&self, boxes: &[Aabb; E], mut visit: impl FnMut(u32)) {
        let query = round_out(boxes, self.origin, 0.0);
        if let Some((root, level)) = self.root() {
            self.overlapping_below(root, level, &query, &mut visit);
        }
    }

    fn overlapping_below(&self, node: usize, level: usize, query: &Lane<E>, visit: &mut impl FnMut(u32)) {
        let node = &self.nodes[node];
        let mut mask = node.overlaps(query);
        while mask != 0 {
            let child = node.child[mask.trailing_zeros() as usize];
            mask &= mask - 1;
            if level == 0 {
                visit(child);
            } else {
                self.overlapping_below(child as usize, level - 1, query, visit);
            }
        }
    }
}

impl Bvh<1> {
    /// The first primitive that the ray `start + t direction`, `0 ≤ t ≤ t_max`, meets; a segment is a ray with
    /// `t_max = 1`.
    ///
    /// `test(i)` returns the parameter at which primitive `i` is met. Ties go to the smallest index.
    pub fn ray(
        &self,
        start: Vec3,
        direction: Vec3,
        t_max: f64,
        mut test: impl FnMut(u32) -> Option<f64>,
    ) -> Option<RayHit> {
        let slab = Slab::new(start - self.origin, direction);
        let mut best: Option<RayHit> = None;
        let entry = |node: &Node<1>, lane: usize, limit: f64| slab.entry(node, lane, limit);
        let mut visit = |i: u32, limit: f64| {
            let Some(t) = test(i).filter(|&t| (0.0..=limit).contains(&t)) else { return limit };
            if best.is_none_or(|b| t < b.t || (t == b.t && i < b.primitive)) {
                best = Some(RayHit { primitive: i, t });
            }
            t
        };
        if let Some((root, level)) = self.root() {
            self.nearest_below(root, level, t_max, &entry, &mut visit);
        }
        best
    }

    /// The primitive closest to `p` among those nearer than `bound` [m], and its distance [m].
    ///
    /// `distance(i)` returns the distance of primitive `i`. Ties go to the smallest index.
    pub fn closest(&self, p: Vec3, bound: f64, mut distance: impl FnMut(u32) -> f64) -> Option<(u32, f64)> {
        let q = p - self.origin;
        let mut best: Option<(u32, f64)> = None;
        let entry = |node: &Node<1>, lane: usize, limit: f64| {
            let d = distance_to_lane(node, lane, q);
            (d <= limit).then_some(d)
        };
        let mut visit = |i: u32, limit: f64| {
            let d = distance(i);
            if d < bound && best.is_none_or(|(k, b)| d < b || (d == b && i < k)) {
                best = Some((i, d));
            }
            best.map_or(limit, |(_, b)| b)
        };
        if let Some((root, level)) = self.root() {
            self.nearest_below(root, level, bound, &entry, &mut visit);
        }
        best
    }

    /// Visits primitives in order of `entry` while that does not exceed the limit `visit` returned last.
    fn nearest_below(
        &self,
        node: usize,
        level: usize,
        mut limit: f64,
        entry: &impl Fn(&Node<1>, usize, f64) -> Option<f64>,
        visit: &mut impl FnMut(u32, f64) -> f64,
    ) -> f64 {
        let node = &self.nodes[node];
        let mut order = [(f64::INFINITY, NONE); WIDTH];
        let mut count = 0;
        for lane in 0..WIDTH {
            if node.child[lane] == NONE {
                continue;
            }
            if let Some(t) = entry(node, lane, limit) {
                order[count] = (t, node.child[lane]);
                count += 1;
            }
        }
        order[..count].sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for &(t, child) in &order[..count] {
            if t > limit {
                break;
            }
            limit = if level == 0 {
                visit(child, limit)
            } else {
                self.nearest_below(child as usize, level - 1, limit, entry, visit)
            };
        }
        limit
    }
}

/// A lower bound of the distance from `q` (relative to the origin) to the box of a lane [m].
fn distance_to_lane(node: &Node<1>, lane: usize, q: Vec3) -> f64 {
    let mut d2 = 0.0;
    for c in 0..3 {
        let below = f64::from(node.lo[0][c][lane]) - q[c];
        let above = q[c] - f64::from(node.hi[0][c][lane]);
        let d = below.max(above).max(0.0);
        d2 += d * d;
    }
    // Below the true distance whatever the rounding of the few operations above.
    d2.sqrt() * (1.0 - 1e-14)
}

/// A ray prepared for slab tests.
struct Slab {
    start: Vec3,
    inverse: Vec3,
    /// More than the rounding of the start relative to the origin [m].
    slack: f64,
}

impl Slab {
    fn new(start: Vec3, direction: Vec3) -> Self {
        Self { start, inverse: direction.recip(), slack: 4.0 * f64::EPSILON * start.abs().max_element() }
    }

    /// Where the ray enters the box of a lane, if it does so before `limit`.
    fn entry(&self, node: &Node<1>, lane: usize, limit: f64) -> Option<f64> {
        let (mut near, mut far) = (0.0f64, limit);
        for c in 0..3 {
            let a = (f64::from(node.lo[0][c][lane]) - self.slack - self.start[c]) * self.inverse[c];
            let b = (f64::from(node.hi[0][c][lane]) + self.slack - self.start[c]) * self.inverse[c];
            // 0·∞ (a start on the slab's border, parallel to it) is not a number and leaves the range as it is.
            let (a, b) = if a <= b { (a, b) } else { (b, a) };
            // Widened by more than the rounding of the two operations.
            near = near.max(a - a.abs() * 1e-15);
            far = far.min(b + b.abs() * 1e-15);
        }
        (near <= far).then_some(near)
    }
}
