//! A filter for pairs of edges in single precision, four pairs at a time.
//!
//! Two directions are tried: across both edges, and along the shortest way between them at the start of the step. If
//! planes across one of them hold the edges apart at both ends of the step in the same order, they do so all the way,
//! because nodes move along straight lines. Any direction would do, so those two may be inexact.

use crate::corner::{Corner, ROUNDING, SMALLEST};
use crate::pair::{Kind, Pair};
use glam::{BVec4A, Mat4, Vec4};
use std::ops::{Add, Mul, Sub};

/// Pairs that are tested at once.
const FOUR: usize = 4;

/// A pair of elements that no filter holds apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) pair: Pair,
    /// If this is finite, the elements are two edges that at the start are certainly nearest where one of them ends, and no
    /// farther apart than this [m].
    pub(crate) at_end: f32,
    /// What the elements lack at most, at the nearer end of the step, of the distance they are to keep: positive, because
    /// nothing proves that they keep it [m].
    pub(crate) lack: f32,
}

/// Shows candidates, edges four at a time.
pub(crate) struct Sieve<'a> {
    corners: &'a [Corner],
    waiting: [Pair; FOUR],
    count: usize,
}

impl<'a> Sieve<'a> {
    pub(crate) fn new(corners: &'a [Corner]) -> Self {
        let nobody = Pair { kind: Kind::EdgeEdge, nodes: [0; 4] };
        Self { corners, waiting: [nobody; FOUR], count: 0 }
    }

    /// Takes a pair, and what is known of its [`Candidate::lack`]; it or others that waited may be shown.
    #[inline(always)]
    pub(crate) fn take(&mut self, pair: Pair, lack: f32, look: &mut impl FnMut(Candidate)) {
        match pair.kind {
            Kind::VertexFace => look(Candidate { pair, at_end: f32::INFINITY, lack }),
            Kind::EdgeEdge => {
                self.waiting[self.count] = pair;
                self.count += 1;
                if self.count == FOUR {
                    self.finish(look);
                }
            }
        }
    }

    /// Shows what still waits.
    pub(crate) fn finish(&mut self, look: &mut impl FnMut(Candidate)) {
        if self.count == 0 {
            return;
        }
        let Tested { apart, at_end, lack } = Edges::gather(self.corners, &self.waiting).test();
        for k in (0..self.count).filter(|k| apart >> k & 1 == 0) {
            look(Candidate { pair: self.waiting[k], at_end: at_end[k], lack: lack[k] });
        }
        self.count = 0;
    }
}

/// Four vectors.
#[derive(Clone, Copy, Debug)]
struct Vectors {
    x: Vec4,
    y: Vec4,
    z: Vec4,
}

impl Vectors {
    #[inline(always)]
    fn dot(self, b: Self) -> Vec4 {
        self.x * b.x + self.y * b.y + self.z * b.z
    }

    #[inline(always)]
    fn cross(self, b: Self) -> Self {
        Self {
            x: self.y * b.z - self.z * b.y,
            y: self.z * b.x - self.x * b.z,
            z: self.x * b.y - self.y * b.x,
        }
    }

    /// Sum of the sizes of the coordinates.
    #[inline(always)]
    fn size(self) -> Vec4 {
        self.x.abs() + self.y.abs() + self.z.abs()
    }
}

impl Add for Vectors {
    type Output = Self;
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self { x: self.x + b.x, y: self.y + b.y, z: self.z + b.z }
    }
}

impl Sub for Vectors {
    type Output = Self;
    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Self { x: self.x - b.x, y: self.y - b.y, z: self.z - b.z }
    }
}

impl Mul<Vec4> for Vectors {
    type Output = Self;
    #[inline(always)]
    fn mul(self, s: Vec4) -> Self {
        Self { x: self.x * s, y: self.y * s, z: self.z * s }
    }
}

/// Four pairs of edges at one end of the step: both edges, and the way from the start of the second to that of the first.
#[derive(Clone, Copy, Debug)]
struct Instant {
    e: Vectors,
    f: Vectors,
    g: Vectors,
}

/// Four pairs of edges.
struct Edges {
    start: Instant,
    end: Instant,
    /// Distance both keep, with its rounding [m].
    keep: Vec4,
    /// Rounding of positions [m].
    rounding: Vec4,
}

/// What is known of four pairs.
struct Tested {
    /// A bit for each that keeps its distance all the way.
    apart: u32,
    /// [`Candidate::at_end`].
    at_end: Vec4,
    /// [`Candidate::lack`].
    lack: Vec4,
}

/// Where the edges are along an axis at one end of the step, the second starting at zero.
#[derive(Clone, Copy)]
struct Along {
    e: Vec4,
    f: Vec4,
    g: Vec4,
}

impl Along {
    /// How far the first edge is above the second.
    #[inline(always)]
    fn above(self) -> Vec4 {
        self.g + self.e.min(Vec4::ZERO) - self.f.max(Vec4::ZERO)
    }

    /// How far it is below.
    #[inline(always)]
    fn below(self) -> Vec4 {
        self.f.min(Vec4::ZERO) - self.g - self.e.max(Vec4::ZERO)
    }
}

impl Instant {
    #[inline(always)]
    fn along(&self, axis: Vectors) -> Along {
        Along { e: self.e.dot(axis), f: self.f.dot(axis), g: self.g.dot(axis) }
    }
}

impl Edges {
    #[inline(always)]
    fn gather(corners: &[Corner], pairs: &[Pair; FOUR]) -> Self {
        let at = |pair: usize, k: usize| &corners[pairs[pair].nodes[k] as usize];
        let of = |k: usize| [at(0, k), at(1, k), at(2, k), at(3, k)];
        let start = |[a, b, c, d]: [&Corner; FOUR]| transpose([a.start, b.start, c.start, d.start]);
        let end = |[a, b, c, d]: [&Corner; FOUR]| transpose([a.end, b.end, c.end, d.end]).0;
        let (a, b, c, d) = (of(0), of(1), of(2), of(3));
        let ((a0, keep_a), (b0, keep_b), (c0, keep_c), (d0, keep_d)) =
            (start(a), start(b), start(c), start(d));
        let (a1, b1, c1, d1) = (end(a), end(b), end(c), end(d));
        let keep = keep_a.max(keep_b) + keep_c.max(keep_d);
        Self {
            start: Instant { e: b0 - a0, f: d0 - c0, g: a0 - c0 },
            end: Instant { e: b1 - a1, f: d1 - c1, g: a1 - c1 },
            keep,
            rounding: (a0.size() + b0.size() + c0.size() + d0.size()) * ROUNDING,
        }
    }

    #[inline(always)]
    fn test(&self) -> Tested {
        let all = (1 << FOUR) - 1;
        let far = |kept: Vec4| kept.cmpgt(self.keep).bitmask();
        let across = self.kept_across(self.start.e.cross(self.start.f));
        if far(across) == all {
            return Tested { apart: all, at_end: Vec4::INFINITY, lack: Vec4::ZERO };
        }
        let Way { way, at_end } = self.shortest();
        let kept = across.max(self.kept_across(way));
        let length = (way.dot(way).sqrt() + self.rounding) * (1.0 + ROUNDING);
        Tested {
            apart: far(kept),
            at_end: Vec4::select(at_end, length, Vec4::INFINITY),
            lack: self.keep - kept,
        }
    }

    /// Distance at which planes across `axis` hold the edges apart at both ends of the step in the same order; negative if
    /// they do not.
    #[inline(always)]
    fn kept_across(&self, axis: Vectors) -> Vec4 {
        let (start, end) = (self.start.along(axis), self.end.along(axis));
        let between = start.above().min(end.above()).max(start.below().min(end.below()));
        // Short axes have no exact length.
        let length2 = axis.dot(axis);
        let exact = length2.cmpgt(Vec4::splat(SMALLEST));
        Vec4::select(exact, between / length2.sqrt() * (1.0 - ROUNDING), Vec4::NEG_ONE)
    }

    /// The way from the second edge to the first at the start.
    #[inline(always)]
    fn shortest(&self) -> Way {
        // Square of the sine of the angle from which nearest points are well defined; how far outside of an edge, in its
        // lengths, is certainly outside; and how small rounding must be for that. It is named at least ten times too
        // large, and nearest points are off by it over the square of the sine.
        const CROSSED: f32 = 0.05;
        const OUTSIDE: f32 = 1e-2;
        const SHARP: f32 = 5e-3;
        let Instant { e, f, g } = self.start;
        let (ee, ef, ff, eg, fg) = (e.dot(e), e.dot(f), f.dot(f), e.dot(g), f.dot(g));
        let clamp = |s: Vec4| s.max(Vec4::ZERO).min(Vec4::ONE);
        let outside = |s: Vec4| (s - 0.5).abs().cmpgt(Vec4::splat(0.5 + OUTSIDE));
        // Nearest points of the lines, each in turn pulled back into its edge and the other to what is then nearest.
        let crossed = ee * ff - ef * ef;
        let a = clamp((ef * fg - ff * eg) / crossed);
        let b = (a * ef + fg) / ff;
        let a = (clamp(b) * ef - eg) / ee;
        let sharp = crossed.cmpgt(ee * ff * CROSSED)
            & (self.rounding * self.rounding).cmplt(ee.min(ff) * (SHARP * SHARP));
        Way { way: g + e * clamp(a) - f * clamp(b), at_end: sharp & (outside(a) | outside(b)) }
    }
}

/// About the shortest way between two edges.
struct Way {
    way: Vectors,
    /// Whether it certainly begins or ends where an edge does.
    at_end: BVec4A,
}

/// Four points as vectors, and the fourth numbers.
#[inline(always)]
fn transpose([a, b, c, d]: [Vec4; FOUR]) -> (Vectors, Vec4) {
    let rows = Mat4::from_cols(a, b, c, d).transpose();
    (Vectors { x: rows.x_axis, y: rows.y_axis, z: rows.z_axis }, rows.w_axis)
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_num::Vec3;
    use billow_num::rng::Stream;

    /// Six edges at random places.
    fn storm(k: u64, offset: Vec3) -> ([Vec3; 12], [Vec3; 12]) {
        let mut draws = Stream::new(33, 0).at(k);
        let mut vector = |size: f64| Vec3::from_array([0; 3].map(|_| draws.range(-size, size)));
        let x0 = [0; 12].map(|_| offset + vector(1.0));
        (x0, x0.map(|x| x + vector(0.4)))
    }

    fn pairs() -> Vec<Pair> {
        let edges = (0..6).flat_map(|e| (0..e).map(move |f| [2 * f, 2 * f + 1, 2 * e, 2 * e + 1]));
        edges.map(|nodes| Pair { kind: Kind::EdgeEdge, nodes }).collect()
    }

    fn shown(x0: &[Vec3], x1: &[Vec3], limit: f64) -> Vec<Candidate> {
        let corner = |i: usize| Corner::new(x0[i].to_array(), x1[i].to_array(), 0.5 * limit);
        let corners: Vec<Corner> = (0..x0.len()).map(corner).collect();
        let (mut shown, mut sieve) = (Vec::new(), Sieve::new(&corners));
        let mut look = |candidate| shown.push(candidate);
        pairs().into_iter().for_each(|pair| sieve.take(pair, 0.0, &mut look));
        sieve.finish(&mut look);
        shown
    }

    #[test]
    fn what_the_sieve_keeps_back_stays_beyond_its_distance() {
        let mut kept = 0;
        for k in 0..3000 {
            let (x0, x1) = storm(k, Vec3::splat([0.0, 5.0, 800.0][k as usize % 3]));
            let limit = 0.2;
            let shown = shown(&x0, &x1, limit);
            for pair in pairs().into_iter().filter(|pair| shown.iter().all(|s| s.pair != *pair)) {
                kept += 1;
                for t in 0..=10 {
                    let at = pair.nodes.map(|i| x0[i as usize].lerp(x1[i as usize], f64::from(t) / 10.0));
                    assert!(pair.nearest(&at).1 > limit, "{k} {pair:?}");
                }
            }
        }
        assert!(kept > 10_000, "{kept}");
    }

    #[test]
    fn what_the_sieve_says_of_distances_is_true() {
        let (mut ends, mut lacks, limit) = (0, 0, 0.5);
        for k in 0..3000 {
            let (x0, x1) = storm(k, Vec3::ZERO);
            for Candidate { pair, at_end, lack } in shown(&x0, &x1, limit) {
                let [x0, x1] = [&x0, &x1].map(|x| pair.nodes.map(|i| x[i as usize]));
                let (contact, distance) = pair.nearest(&x0);
                if at_end.is_finite() {
                    ends += 1;
                    assert!(contact.weights.contains(&0.0) && distance <= f64::from(at_end), "{k} {pair:?}");
                }
                if f64::from(lack) < limit {
                    lacks += 1;
                    for t in 0..=10 {
                        let at = std::array::from_fn(|i| x0[i].lerp(x1[i], f64::from(t) / 10.0));
                        assert!(pair.nearest(&at).1 >= limit - f64::from(lack), "{k} {pair:?} {lack}");
                    }
                }
            }
        }
        assert!(ends > 1000 && lacks > 1000, "{ends} {lacks}");
    }

    #[test]
    fn edges_without_length_and_bad_numbers_are_shown() {
        let (mut x0, x1) = storm(1, Vec3::ZERO);
        x0[1] = x0[0];
        let all = shown(&x0, &x1, 10.0);
        assert_eq!(all.len(), pairs().len());
        for bad in [f64::NAN, f64::INFINITY, 1e300] {
            let mut y = x0;
            y[3].z = bad;
            for shown in [shown(&y, &x1, 1e-3), shown(&x0, &y, 1e-3)] {
                assert_eq!(shown.iter().filter(|s| s.pair.nodes.contains(&3)).count(), 5);
            }
        }
    }
}
