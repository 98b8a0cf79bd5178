//! A filter for pairs of edges in single precision, four pairs at a time.
//!
//! Two directions are tried: across both edges, and along the shortest way between them at the start of the step. If
//! planes across one of them hold the edges apart at both ends of the step in the same order, they do so all the way,
//! because nodes move along straight lines. Any direction would do, so those two may be inexact.

use crate::corner::{Corner, ROUNDING};
use crate::four::{FOUR, Nodes, Vectors, apart_along, clamp, gather};
use crate::name::Name;
use crate::pair::{Kind, MET_BY_EDGES, Pair};
use glam::Vec4;

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
    /// A bit for each that does not touch and is not planned to, as far as contacts are concerned; see [`crate::touch`].
    pub(crate) missed: u32,
}

// How far edges may move before they are no longer nearest where one of them ends. Let the foot of the end p, nearest to
// it on the other edge f, be q at the distance d, and beyond p by σ along its edge e. If points of e move by at most η
// and those of f by θ, then q moves by at most θ + |f|/|f'| (η + θ + 2 θ d/|f'|), because squares of distances grow
// with |f|² around their minimum; and σ shrinks by at most |e'|/|e| (η + |q' − q|) + 2 η d/|e|. As long as η + θ is less
// than 4 % of both lengths, that is less than (2.26 + 2.6 d/l)(η + θ) with the shorter length l.
const SHORT: f32 = 0.1;
const TURN: f32 = 2.3;
const TURN_BY_DISTANCE: f32 = 2.7;

/// Distance, in what edges keep, at which the time when they meet is known well enough to tell where they are nearest.
const ABOUT: f32 = 1.25;

/// Tests four pairs of edges.
#[inline(always)]
pub(crate) fn test(corners: &[Corner], pairs: &[Pair; FOUR]) -> Tested {
    Edges::new(corners, pairs).test()
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

    /// Where the edges are at times between this and another, which are 0 and 1.
    #[inline(always)]
    fn towards(&self, end: &Self, t: Vec4) -> Self {
        let between = |a: Vectors, b: Vectors| a + (b - a) * t;
        Self { e: between(self.e, end.e), f: between(self.f, end.f), g: between(self.g, end.g) }
    }

    /// The way from the second edge to the first.
    ///
    /// Where one edge ends is certainly nearest if the other's foot of that end is on the far side of it: then no point
    /// of the edge is nearer to the foot, and the distance of two edges is a convex function.
    #[inline(always)]
    fn shortest(&self, rounding: Vec4) -> Way {
        let Instant { e, f, g } = *self;
        let (ee, ef, ff, eg, fg) = (e.dot(e), e.dot(f), f.dot(f), e.dot(g), f.dot(g));
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
        let (a, b) = (clamp(a), clamp(b));
        Way { a, b, way: g + e * a - f * b, beyond: beyond_e.max(beyond_f) - rounding }
    }
}

impl Edges {
    #[inline(always)]
    fn new(corners: &[Corner], pairs: &[Pair; FOUR]) -> Self {
        let [a, b, c, d] = gather(corners, pairs);
        let at = |of: fn(&Nodes) -> Vectors| Instant {
            e: of(&b) - of(&a),
            f: of(&d) - of(&c),
            g: of(&a) - of(&c),
        };
        let size = a.start.size() + b.start.size() + c.start.size() + d.start.size();
        Self {
            start: at(|nodes| nodes.start),
            end: at(|nodes| nodes.end),
            keep: a.around_edges.max(b.around_edges) + c.around_edges.max(d.around_edges),
            rounding: size * ROUNDING,
        }
    }

    #[inline(always)]
    fn test(&self) -> Tested {
        let all = (1 << FOUR) - 1;
        let far = |kept: Vec4| kept.cmpgt(self.keep).bitmask();
        let across = self.kept_across(self.start.e.cross(self.start.f));
        if far(across) == all {
            let lack = self.keep - across;
            return Tested { apart: all, end: Vec4::INFINITY, idle: Vec4::ZERO, lack, missed: 0 };
        }
        let nearest = self.start.shortest(self.rounding);
        let Way { way, beyond, .. } = nearest;
        let kept = across.max(self.kept_across(way));
        let length = (way.dot(way).sqrt() + self.rounding) * (1.0 + ROUNDING);
        let at_end = beyond.cmpgt(Vec4::ZERO);
        let end = Vec4::select(at_end, length, Vec4::INFINITY);
        let short = self.start.e.dot(self.start.e).min(self.start.f.dot(self.start.f)).sqrt();
        let idle = beyond.min(short * SHORT) / (length / short * TURN_BY_DISTANCE + TURN);
        let idle = Vec4::select(at_end, idle, Vec4::ZERO);
        let apart = far(kept);
        let missed = if apart == all { 0 } else { self.missed(&nearest) };
        Tested { apart, end, idle, lack: self.keep - kept, missed }
    }

    /// Those of the pairs that touch neither now nor at the time when they come about as near as they keep, if ever: edges
    /// nearest where one ends are left to points and faces. One step of Newton's method; what it leaves open is not told.
    #[inline(always)]
    fn missed(&self, Way { a, b, way, .. }: &Way) -> u32 {
        let Self { start, end, keep, rounding } = self;
        let (distance, gap) = (way.dot(*way).sqrt(), *keep / MET_BY_EDGES as f32);
        let moves = |from: Vectors, to: Vectors| (to - from).dot(*way);
        let approach =
            -(moves(start.g, end.g) + moves(start.e, end.e) * *a - moves(start.f, end.f) * *b) / distance;
        let off = distance.cmpgt(*keep);
        let t = (distance - gap) / approach;
        let late = !(t.cmple(Vec4::ONE) & approach.cmpgt(Vec4::ZERO));
        let then = start.towards(end, clamp(t)).shortest(*rounding);
        let met = then.way.dot(then.way).sqrt().cmplt(gap * ABOUT);
        (off & (late | (met & then.beyond.cmpgt(Vec4::ZERO)))).bitmask()
    }

    /// Distance at which planes across `axis` hold the edges apart at both ends of the step in the same order; negative if
    /// they do not.
    #[inline(always)]
    fn kept_across(&self, axis: Vectors) -> Vec4 {
        let (start, end) = (self.start.along(axis), self.end.along(axis));
        apart_along(axis, start.above().min(end.above()).max(start.below().min(end.below())))
    }
}

/// About the shortest way between two edges.
struct Way {
    /// Where it ends on the first edge, and where it starts on the second [-].
    a: Vec4,
    b: Vec4,
    way: Vectors,
    /// How far the foot is certainly beyond the nearest end of an edge, along it; not positive if it may not be [m].
    beyond: Vec4,
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
