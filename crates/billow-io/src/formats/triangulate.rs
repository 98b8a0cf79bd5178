//! Polygons in space to triangles: ear clipping in the plane the polygon comes closest to.
//!
//! The polygon is projected along the largest component of its Newell normal. Ears are found with exact
//! orientation tests; only reflex corners can lie in an ear, and those sit in a tree of boxes, so that polygons of
//! many corners take about n log n time. Whatever the input, a polygon of n corners gives n − 2 triangles.

use billow_num::{Vec2, Vec3};
use robust::{Coord, orient2d};
use std::collections::VecDeque;

/// Corner tests one polygon may cost before it counts as too complex: about a second.
const BUDGET: u64 = 200_000_000;

/// Ears whose area is below this part of their longest edge squared are left for last.
const SLIVER: f64 = 1e-12;

/// The polygon's outline crosses itself so often that no triangulation was found in reasonable time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooComplex;

/// Appends the triangles of the polygon with these corners, oriented like it.
pub(crate) fn triangulate(
    positions: &[Vec3],
    corners: &[u32],
    out: &mut Vec<[u32; 3]>,
) -> Result<(), TooComplex> {
    match *corners {
        [] | [_] | [_, _] => Ok(()),
        [a, b, c] => {
            out.push([a, b, c]);
            Ok(())
        }
        [a, b, c, d] => {
            out.extend(quad(positions, [a, b, c, d]));
            Ok(())
        }
        _ => Clipper::new(positions, corners).run(out),
    }
}

/// Splits a quadrilateral along the diagonal that lies inside; along the shorter one if both do.
fn quad(positions: &[Vec3], corners: [u32; 4]) -> [[u32; 3]; 2] {
    let [a, b, c, d] = corners;
    let p = corners.map(|v| positions[v as usize]);
    let q = project(&p);
    let inside = |k: usize| {
        let [i, j, l, m] = [k, k + 1, k + 2, k + 3].map(|n| q[n % 4]);
        turn(i, j, l) > 0.0 && turn(l, m, i) > 0.0
    };
    let shorter = p[0].distance_squared(p[2]) <= p[1].distance_squared(p[3]);
    let along_ac = match (inside(0), inside(1)) {
        (true, false) => true,
        (false, true) => false,
        _ => shorter,
    };
    if along_ac { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] }
}

/// The polygon in its best coordinate plane, counter-clockwise.
fn project(points: &[Vec3]) -> Vec<Vec2> {
    let normal = newell_normal(points);
    let a = normal.abs();
    let flat = |p: &Vec3| match (a.x > a.y && a.x > a.z, a.y > a.z) {
        (true, _) => Vec2::new(p.y, p.z),
        (false, true) => Vec2::new(p.z, p.x),
        (false, false) => Vec2::new(p.x, p.y),
    };
    let along = match (a.x > a.y && a.x > a.z, a.y > a.z) {
        (true, _) => normal.x,
        (false, true) => normal.y,
        (false, false) => normal.z,
    };
    let mirror = if along < 0.0 { -1.0 } else { 1.0 };
    points.iter().map(|p| flat(p) * Vec2::new(mirror, 1.0)).collect()
}

/// Twice the vector area of a closed polygon; exact normal of a planar one.
fn newell_normal(points: &[Vec3]) -> Vec3 {
    let origin = points[0];
    let pairs = points.iter().zip(points.iter().cycle().skip(1));
    pairs.map(|(p, q)| (*p - origin).cross(*q - origin)).sum()
}

/// Twice the signed area of a triangle; the sign is exact.
fn turn(a: Vec2, b: Vec2, c: Vec2) -> f64 {
    let coord = |p: Vec2| Coord { x: p.x, y: p.y };
    orient2d(coord(a), coord(b), coord(c))
}

struct Clipper<'a> {
    corners: &'a [u32],
    points: Vec<Vec2>,
    prev: Vec<usize>,
    next: Vec<usize>,
    /// Corners that do not turn left; only they can spoil an ear.
    reflex: Vec<bool>,
    tree: Tree,
    /// Place of each reflex corner in the tree.
    place: Vec<u32>,
    /// Ears must be larger than this part of their longest edge squared; 0 once slivers are all that is left.
    sharpest: f64,
    budget: u64,
}

impl<'a> Clipper<'a> {
    fn new(positions: &[Vec3], corners: &'a [u32]) -> Self {
        let n = corners.len();
        let points = project(&corners.iter().map(|v| positions[*v as usize]).collect::<Vec<_>>());
        let mut clipper = Self {
            corners,
            prev: (0..n).map(|i| (i + n - 1) % n).collect(),
            next: (0..n).map(|i| (i + 1) % n).collect(),
            reflex: vec![false; n],
            tree: Tree::default(),
            place: vec![0; n],
            points,
            sharpest: SLIVER,
            budget: BUDGET,
        };
        for i in 0..n {
            clipper.reflex[i] = clipper.turns(i) <= 0.0;
        }
        let reflex = (0..n).filter(|i| clipper.reflex[*i]).map(|i| i as u32).collect();
        clipper.tree = Tree::new(&clipper.points, reflex);
        for (place, id) in clipper.tree.ids.iter().enumerate() {
            clipper.place[*id as usize] = place as u32;
        }
        clipper
    }

    fn run(mut self, out: &mut Vec<[u32; 3]>) -> Result<(), TooComplex> {
        let mut left = self.corners.len();
        let mut start = 0;
        // Corners to look at. A corner whose neighbour was clipped goes to the back and its older entry lapses,
        // which spreads the triangles instead of fanning them.
        let mut queue: VecDeque<(usize, u32)> = VecDeque::new();
        let mut entry = vec![0u32; left];
        while left > 3 {
            let before = left;
            let mut i = start;
            for _ in 0..left {
                queue.push_back((i, entry[i]));
                i = self.next[i];
            }
            while let Some((i, number)) = queue.pop_front().filter(|_| left > 3) {
                if number != entry[i] || !self.is_ear(i)? {
                    continue;
                }
                start = self.next[i];
                for k in [self.prev[i], start] {
                    entry[k] += 1;
                    queue.push_back((k, entry[k]));
                }
                entry[i] += 1;
                self.clip(i, out);
                left -= 1;
            }
            if left == before && self.sharpest > 0.0 {
                self.sharpest = 0.0;
            } else if left == before {
                // No ear, slivers included: the outline crosses itself or has no area, and any corner will do.
                let i = start;
                start = self.next[i];
                entry[i] += 1;
                self.clip(i, out);
                left -= 1;
            }
        }
        self.clip(start, out);
        Ok(())
    }

    fn turns(&self, i: usize) -> f64 {
        turn(self.points[self.prev[i]], self.points[i], self.points[self.next[i]])
    }

    fn is_ear(&mut self, i: usize) -> Result<bool, TooComplex> {
        self.budget = self.budget.checked_sub(1).ok_or(TooComplex)?;
        let ids = [self.prev[i], i, self.next[i]];
        let t = ids.map(|k| self.points[k]);
        let long =
            t[0].distance_squared(t[1]).max(t[1].distance_squared(t[2])).max(t[2].distance_squared(t[0]));
        if self.reflex[i] || turn(t[0], t[1], t[2]) <= self.sharpest * long {
            return Ok(false);
        }
        let blocks = |k: usize| {
            let p = self.points[k];
            self.reflex[k] && !ids.contains(&k) && !t.contains(&p) && in_triangle(t, p)
        };
        let (found, cost) = self.tree.any(t, blocks);
        self.budget = self.budget.checked_sub(cost).ok_or(TooComplex)?;
        Ok(!found)
    }

    fn clip(&mut self, i: usize, out: &mut Vec<[u32; 3]>) {
        let (p, n) = (self.prev[i], self.next[i]);
        out.push([self.corners[p], self.corners[i], self.corners[n]]);
        (self.next[p], self.prev[n]) = (n, p);
        for k in [p, i, n] {
            // Corners only become convex when an ear goes; the tree needs no additions.
            if self.reflex[k] && (k == i || self.turns(k) > 0.0) {
                self.reflex[k] = false;
                self.tree.remove(self.place[k]);
            }
        }
    }
}

/// Whether `p` is in the closed counter-clockwise triangle.
fn in_triangle(t: [Vec2; 3], p: Vec2) -> bool {
    turn(t[0], t[1], p) >= 0.0 && turn(t[1], t[2], p) >= 0.0 && turn(t[2], t[0], p) >= 0.0
}

/// Points sorted along a space-filling curve under a binary tree of boxes, from which points can be removed.
#[derive(Default)]
struct Tree {
    /// The points in order, [`LEAF`] to a leaf.
    ids: Vec<u32>,
    /// Root at 1, children of `k` at `2k` and `2k + 1`, leaves in the second half: low corner, high corner, and
    /// number of points left.
    nodes: Vec<(Vec2, Vec2, u32)>,
}

/// Points per leaf.
const LEAF: usize = 8;

impl Tree {
    fn new(points: &[Vec2], mut ids: Vec<u32>) -> Self {
        let bounds = |ids: &[u32]| {
            let box_of =
                |b: (Vec2, Vec2), k: &u32| (b.0.min(points[*k as usize]), b.1.max(points[*k as usize]));
            ids.iter().fold((Vec2::INFINITY, Vec2::NEG_INFINITY), box_of)
        };
        let (low, high) = bounds(&ids);
        ids.sort_by_cached_key(|k| curve(points[*k as usize], low, high));
        let leaves = ids.len().div_ceil(LEAF).next_power_of_two();
        let mut nodes = vec![(Vec2::INFINITY, Vec2::NEG_INFINITY, 0); 2 * leaves];
        for (k, leaf) in ids.chunks(LEAF).enumerate() {
            let (low, high) = bounds(leaf);
            nodes[leaves + k] = (low, high, leaf.len() as u32);
        }
        for k in (1..leaves).rev() {
            let (a, b) = (nodes[2 * k], nodes[2 * k + 1]);
            nodes[k] = (a.0.min(b.0), a.1.max(b.1), a.2 + b.2);
        }
        Self { ids, nodes }
    }

    /// Takes out the point at this place in the order.
    fn remove(&mut self, place: u32) {
        let mut node = self.nodes.len() / 2 + place as usize / LEAF;
        while node > 0 {
            self.nodes[node].2 -= 1;
            node /= 2;
        }
    }

    /// Whether `f` holds for a point near the triangle, and how many nodes and points were looked at.
    fn any(&self, t: [Vec2; 3], f: impl Fn(usize) -> bool) -> (bool, u64) {
        let (low, high) = (t[0].min(t[1]).min(t[2]), t[0].max(t[1]).max(t[2]));
        let leaves = self.nodes.len() / 2;
        let (mut stack, mut top, mut cost) = ([1usize; 64], 1, 1);
        while top > 0 {
            top -= 1;
            let node = stack[top];
            cost += 1;
            let (a, b, count) = self.nodes[node];
            if count == 0 || a.cmpgt(high).any() || b.cmplt(low).any() || beyond_an_edge(t, a, b) {
                continue;
            }
            if node < leaves {
                (stack[top], stack[top + 1]) = (2 * node, 2 * node + 1);
                top += 2;
                continue;
            }
            let first = (node - leaves) * LEAF;
            let leaf = &self.ids[first..self.ids.len().min(first + LEAF)];
            cost += leaf.len() as u64;
            if leaf.iter().any(|k| f(*k as usize)) {
                return (true, cost);
            }
        }
        (false, cost)
    }
}

/// Whether the box is surely on the outer side of one of the triangle's edges.
fn beyond_an_edge(t: [Vec2; 3], low: Vec2, high: Vec2) -> bool {
    /// Far above the rounding error of the few operations below, relative to the numbers that go in.
    const MARGIN: f64 = 1e-12;
    (0..3).any(|k| {
        let (a, e) = (t[k], t[(k + 1) % 3] - t[k]);
        let inward = Vec2::new(-e.y, e.x);
        // The corner of the box that is furthest inward.
        let p = Vec2::select(inward.cmpgt(Vec2::ZERO), high, low);
        inward.dot(p - a) < -MARGIN * inward.abs().dot(p.abs() + a.abs())
    })
}

/// Place of a point on a Morton curve over the box.
fn curve(p: Vec2, low: Vec2, high: Vec2) -> u64 {
    let q = (p - low) / (high - low) * f64::from(u32::MAX);
    // Casting saturates and turns NaN to 0.
    spread(q.x as u32) | spread(q.y as u32) << 1
}

/// Puts a zero between the bits of `x`.
fn spread(x: u32) -> u64 {
    let mut x = u64::from(x);
    for (shift, mask) in [
        (16, 0x0000_ffff_0000_ffff),
        (8, 0x00ff_00ff_00ff_00ff),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ] {
        x = (x | x << shift) & mask;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(t: [Vec3; 3]) -> Vec3 {
        (t[1] - t[0]).cross(t[2] - t[0]) / 2.0
    }

    /// Triangulates and checks: n − 2 triangles of positive area that add up to the polygon's.
    fn check(points: &[Vec3]) -> Vec<[u32; 3]> {
        let corners: Vec<u32> = (0..points.len() as u32).collect();
        let mut out = Vec::new();
        triangulate(points, &corners, &mut out).unwrap();
        assert_eq!(out.len(), points.len() - 2);
        let total = newell_normal(points) / 2.0;
        let areas = out.iter().map(|t| area(t.map(|v| points[v as usize])).dot(total.normalize()));
        assert!(areas.clone().all(|a| a > -1e-15), "{out:?}");
        assert!((areas.sum::<f64>() - total.length()).abs() < 1e-9 * total.length());
        out
    }

    fn tilted(outline: &[(f64, f64)]) -> Vec<Vec3> {
        let (u, v) = (Vec3::new(0.2, 0.9, -0.4), Vec3::new(-0.7, 0.3, 0.5));
        outline.iter().map(|(x, y)| *x * u + *y * v + Vec3::ONE).collect()
    }

    #[test]
    fn concave_polygons_are_covered_exactly_in_any_plane_and_direction() {
        let arrow = [(0.0, 0.0), (2.0, -1.0), (0.5, 0.0), (2.0, 1.0)];
        let comb: Vec<(f64, f64)> = (0..20)
            .map(|k| (f64::from(k), if k % 2 == 0 { 0.0 } else { 5.0 }))
            .chain([(19.0, -1.0), (0.0, -1.0)].map(|p: (f64, f64)| p))
            .collect();
        let edges = [(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (2.0, 2.0), (1.0, 2.0), (0.0, 2.0), (0.0, 1.0)];
        for outline in [&arrow[..], &comb, &edges] {
            let mut points = tilted(outline);
            for _ in 0..points.len() {
                points.rotate_left(1);
                check(&points);
            }
            points.reverse();
            check(&points);
        }
    }

    #[test]
    fn a_quad_is_split_inside_and_along_the_shorter_diagonal() {
        let dart = tilted(&[(0.0, 0.0), (2.0, -1.0), (0.5, 0.0), (2.0, 1.0)]);
        assert_eq!(check(&dart), [[0, 1, 2], [0, 2, 3]]);
        let kite = tilted(&[(0.0, 0.0), (3.0, -0.4), (6.0, 0.0), (3.0, 0.4)]);
        assert_eq!(check(&kite), [[0, 1, 3], [1, 2, 3]]);
    }

    #[test]
    fn many_corners_take_little_time() {
        let n = 1_000_000;
        let spiky = |k: usize| {
            let angle = k as f64 / n as f64 * std::f64::consts::TAU;
            let r = if k.is_multiple_of(2) { 1.0 } else { 0.999 } + 0.3 * (7.0 * angle).sin();
            (r * angle.cos(), r * angle.sin())
        };
        let start = std::time::Instant::now();
        check(&tilted(&(0..n).map(spiky).collect::<Vec<_>>()));
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    }

    #[test]
    fn nonsense_ends() {
        let n = 3000;
        let mut state = 7u64;
        let noise: Vec<Vec3> = (0..n)
            .map(|_| {
                let mut next = || {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (state >> 40) as f64
                };
                Vec3::new(next(), next(), next())
            })
            .collect();
        let same = vec![Vec3::ONE; n];
        let line: Vec<Vec3> = (0..n).map(|k| Vec3::X * k as f64).collect();
        let huge: Vec<Vec3> = noise.iter().map(|p| *p * 1e300).collect();
        for points in [noise, same, line, huge] {
            let mut out = Vec::new();
            let corners: Vec<u32> = (0..n as u32).collect();
            if triangulate(&points, &corners, &mut out).is_ok() {
                assert_eq!(out.len(), n - 2);
            }
        }
    }
}
