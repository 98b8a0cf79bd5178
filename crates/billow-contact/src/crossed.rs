//! A filter for pairs of edges in single precision, four pairs at a time.
//!
//! Two directions are tried: across both edges, and along the shortest way between them at the start of the step. If
//! planes across one of them hold the edges apart at both ends of the step in the same order, they do so all the way,
//! because nodes move along straight lines. Any direction would do, so those two may be inexact.

use crate::corner::{Corner, ROUNDING, SMALLEST};
use crate::name::Name;
use crate::pair::{Kind, Pair};
use glam::{Mat4, Vec4};
use std::ops::{Add, Mul, Sub};

/// Pairs that are tested at once.
pub(crate) const FOUR: usize = 4;

/// A pair of elements that no filter holds apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) pair: Pair,
    pub(crate) name: Name,
}

/// Shows candidates, edges four at a time.
pub(crate) struct Sieve<'a> {
    corners: &'a [Corner],
    waiting: [Pair; FOUR],
    names: [Name; FOUR],
    count: usize,
}

impl<'a> Sieve<'a> {
    pub(crate) fn new(corners: &'a [Corner]) -> Self {
        Self { corners, waiting: [Pair::NOBODY; FOUR], names: [Name::FIRST; FOUR], count: 0 }
    }

    /// Takes a pair; it or others that waited may be shown.
    #[inline(always)]
    pub(crate) fn take(&mut self, Candidate { pair, name }: Candidate, look: &mut impl FnMut(Candidate)) {
        match pair.kind {
            Kind::VertexFace => look(Candidate { pair, name }),
            Kind::EdgeEdge => {
                self.waiting[self.count] = pair;
                self.names[self.count] = name;
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
        let apart = test(self.corners, &self.waiting).apart;
        for k in (0..self.count).filter(|k| apart >> k & 1 == 0) {
            look(Candidate { pair: self.waiting[k], name: self.names[k] });
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
pub(crate) struct Tested {
    /// A bit for each that keeps its distance all the way.
    pub(crate) apart: u32,
    /// If this is finite, the edges are certainly nearest at the start where one of them ends, and no farther apart than
    /// this [m].
    pub(crate) end: Vec4,
    /// As long as both edges together move no farther than this, they are nearest at that end [m].
    pub(crate) idle: Vec4,
    /// What the edges lack at most, at the nearer end of the step, of the distance they are to keep: negative for those that
    /// keep more [m].
    pub(crate) lack: Vec4,
}

// How far edges may move before they are no longer nearest where one of them ends. Let the foot of the end p, nearest to
// it on the other edge f, be q at the distance d, and beyond p by σ along its edge e. If points of e move by at most η
// and those of f by θ, then q moves by at most θ + |f|/|f'| (η + θ + 2 θ d/|f'|), because squares of distances grow
// with |f|² around their minimum; and σ shrinks by at most |e'|/|e| (η + |q' − q|) + 2 η d/|e|. As long as η + θ is less
// than 4 % of both lengths, that is less than (2.26 + 2.6 d/l)(η + θ) with the shorter length l.
const SHORT: f32 = 0.1;
const TURN: f32 = 2.3;
const TURN_BY_DISTANCE: f32 = 2.7;

/// Tests four pairs of edges.
#[inline(always)]
pub(crate) fn test(corners: &[Corner], pairs: &[Pair; FOUR]) -> Tested {
    Edges::gather(corners, pairs).test()
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
        let start = |[a, b, c, d]: [&Corner; FOUR]| transpose([a.start, b.start, c.start, d.start]).0;
        let end = |[a, b, c, d]: [&Corner; FOUR]| transpose([a.end, b.end, c.end, d.end]);
        let (a, b, c, d) = (of(0), of(1), of(2), of(3));
        let (a0, b0, c0, d0) = (start(a), start(b), start(c), start(d));
        let ((a1, keep_a), (b1, keep_b), (c1, keep_c), (d1, keep_d)) = (end(a), end(b), end(c), end(d));
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
            return Tested { apart: all, end: Vec4::INFINITY, idle: Vec4::ZERO, lack: self.keep - across };
        }
        let Way { way, beyond } = self.shortest();
        let kept = across.max(self.kept_across(way));
        let length = (way.dot(way).sqrt() + self.rounding) * (1.0 + ROUNDING);
        let at_end = beyond.cmpgt(Vec4::ZERO);
        let end = Vec4::select(at_end, length, Vec4::INFINITY);
        let short = self.start.e.dot(self.start.e).min(self.start.f.dot(self.start.f)).sqrt();
        let idle = beyond.min(short * SHORT) / (length / short * TURN_BY_DISTANCE + TURN);
        let idle = Vec4::select(at_end, idle, Vec4::ZERO);
        Tested { apart: far(kept), end, idle, lack: self.keep - kept }
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
    ///
    /// Where one edge ends is certainly nearest if the other's foot of that end is on the far side of it: then no point
    /// of the edge is nearer to the foot, and the distance of two edges is a convex function.
    #[inline(always)]
    fn shortest(&self) -> Way {
        let Instant { e, f, g } = self.start;
        let (ee, ef, ff, eg, fg) = (e.dot(e), e.dot(f), f.dot(f), e.dot(g), f.dot(g));
        let clamp = |s: Vec4| s.max(Vec4::ZERO).min(Vec4::ONE);
        let outside = |s: Vec4| (s - 0.5).abs() - 0.5;
        // Nearest points of the lines, each in turn pulled back into its edge and the other to what is then nearest.
        let crossed = ee * ff - ef * ef;
        let first = clamp((ef * fg - ff * eg) / crossed);
        let b = (first * ef + fg) / ff;
        let a = (clamp(b) * ef - eg) / ee;
        let back = (clamp(a) * ef + fg) / ff;
        let same = |s: Vec4, t: Vec4| clamp(s).cmpeq(clamp(t));
        let beyond_e = Vec4::select(same(first, a), outside(a) * ee.sqrt(), Vec4::NEG_ONE);
        let beyond_f = Vec4::select(same(b, back), outside(back) * ff.sqrt(), Vec4::NEG_ONE);
        Way { way: g + e * clamp(a) - f * clamp(b), beyond: beyond_e.max(beyond_f) - self.rounding }
    }
}

/// About the shortest way between two edges.
struct Way {
    way: Vectors,
    /// How far the foot is certainly beyond the nearest end of an edge, along it; not positive if it may not be [m].
    beyond: Vec4,
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

    fn corners(x0: &[Vec3], x1: &[Vec3], limit: f64) -> Vec<Corner> {
        let corner = |i: usize| Corner::new(x0[i].to_array(), x1[i].to_array(), [limit, 0.5 * limit]);
        (0..x0.len()).map(corner).collect()
    }

    fn shown(x0: &[Vec3], x1: &[Vec3], limit: f64) -> Vec<Pair> {
        let corners = corners(x0, x1, limit);
        let (mut shown, mut sieve) = (Vec::new(), Sieve::new(&corners));
        let mut look = |candidate: Candidate| shown.push(candidate.pair);
        pairs().into_iter().for_each(|pair| sieve.take(Candidate { pair, name: Name::FIRST }, &mut look));
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
            for pair in pairs().into_iter().filter(|pair| !shown.contains(pair)) {
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
    fn what_is_said_of_distances_is_true() {
        let (mut ends, mut lacks, limit) = ([0; 2], 0, 0.5);
        for k in 0..4000 {
            let (mut x0, x1) = storm(k, Vec3::ZERO);
            // Every other time the edges are nearly parallel.
            let narrow = k % 2 == 1;
            for i in (1..12).step_by(2).filter(|_| narrow) {
                x0[i] = x0[i - 1] + Vec3::X + (x0[i] - x0[i - 1]) * 0.1;
            }
            let corners = corners(&x0, &x1, limit);
            for four in pairs().chunks_exact(FOUR) {
                let Tested { end, lack, .. } = test(&corners, four.try_into().unwrap());
                for (k, pair) in four.iter().enumerate() {
                    let [x0, x1] = [&x0, &x1].map(|x| pair.nodes.map(|i| x[i as usize]));
                    let (contact, distance) = pair.nearest(&x0);
                    if end[k].is_finite() {
                        ends[usize::from(narrow)] += 1;
                        assert!(contact.weights.contains(&0.0) && distance <= f64::from(end[k]), "{pair:?}");
                    }
                    let kept = limit - f64::from(lack[k]);
                    lacks += u32::from(kept > 0.0);
                    for t in 0..=10 {
                        let at = std::array::from_fn(|i| x0[i].lerp(x1[i], f64::from(t) / 10.0));
                        assert!(pair.nearest(&at).1 >= kept, "{pair:?} {kept}");
                    }
                }
            }
        }
        assert!(ends.iter().all(|count| *count > 1000) && lacks > 1000, "{ends:?} {lacks}");
    }

    #[test]
    fn edges_that_move_little_stay_nearest_where_one_ends() {
        let (mut idled, mut left) = (0, 0);
        for k in 0..4000 {
            let mut draws = Stream::new(34, 0).at(k);
            let mut vector = |size: f64| Vec3::from_array([0; 3].map(|_| draws.range(-size, size)));
            let narrow = if k % 2 == 1 { 0.05 } else { 1.0 };
            let mut x0 = [0; 4].map(|_| vector(1.0));
            x0[1] = x0[0] + Vec3::X + vector(narrow);
            x0[2] = x0[0].lerp(x0[1], 0.9) + vector(0.3);
            x0[3] = x0[2] + Vec3::X + vector(narrow);
            let pair = Pair { kind: Kind::EdgeEdge, nodes: [0, 1, 2, 3] };
            let Tested { end, idle, .. } = test(&corners(&x0, &x0, 0.5), &[pair; FOUR]);
            assert!(idle[0] <= 0.0 || end[0].is_finite());
            if idle[0] > 0.0 {
                idled += 1;
                let part = vector(0.5).x + 0.5;
                for _ in 0..20 {
                    let mut way = |part: f64| vector(1.0).normalize() * part * f64::from(idle[0]);
                    let near = [way(part), way(part), way(1.0 - part), way(1.0 - part)];
                    let at = |times: f64| std::array::from_fn(|i| x0[i] + near[i] * times);
                    assert!(pair.nearest(&at(1.0)).0.weights.contains(&0.0), "{k}");
                    left += u32::from(!pair.nearest(&at(12.0)).0.weights.contains(&0.0));
                }
            }
        }
        assert!(idled > 500 && left > 500, "{idled} {left}");
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
                assert_eq!(shown.iter().filter(|pair| pair.nodes.contains(&3)).count(), 5);
            }
        }
    }
}
