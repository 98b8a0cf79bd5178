//! Two elements of the surface: a point and a triangle, or two edges.

use crate::{Contact, Surface};
use billow_geom::ccd::{self, Hit};
use billow_geom::proximity::{edge_edge, point_triangle};
use billow_num::Vec3;

/// What a pair consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A point and a triangle.
    VertexFace,
    /// Two edges.
    EdgeEdge,
}

/// Part of the thickness that edges keep. Points and faces hold layers apart where these are flat: edges that keep a little
/// less have nothing to do there, and four contacts in five would be theirs.
const KEPT_BY_EDGES: f64 = 0.9;

/// Distance, in what elements keep, within which pairs are taken for met; see [`crate::touch`].
pub(crate) const MET: f64 = 1.25;

/// The same for edges: less than the thickness, with what they keep.
pub(crate) const MET_BY_EDGES: f64 = 1.05;

impl Kind {
    /// Part of the thickness that such pairs keep [-].
    pub(crate) fn kept(self) -> f64 {
        match self {
            Self::VertexFace => 1.0,
            Self::EdgeEdge => KEPT_BY_EDGES,
        }
    }

    /// Distance, in what they keep, within which such pairs are taken for met [-].
    pub(crate) fn met(self) -> f64 {
        match self {
            Self::VertexFace => MET,
            Self::EdgeEdge => MET_BY_EDGES,
        }
    }
}

/// Distances, in thicknesses, within which elements are looked for [-].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reach {
    faces: f64,
    /// No more than that of points and faces.
    edges: f64,
}

impl Reach {
    /// All that may be contacts.
    pub(crate) const MET: Self = Self { faces: MET, edges: KEPT_BY_EDGES * MET_BY_EDGES };

    /// The same for all kinds.
    pub(crate) fn same(reach: f64) -> Self {
        Self { faces: reach, edges: reach }
    }

    /// That of pairs of a kind.
    #[inline(always)]
    pub(crate) fn of(&self, kind: Kind) -> f64 {
        match kind {
            Kind::VertexFace => self.faces,
            Kind::EdgeEdge => self.edges,
        }
    }
}

/// Two elements that have no node in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pair {
    pub(crate) kind: Kind,
    pub(crate) nodes: [u32; 4],
}

/// Straight trajectories of all nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path<'a> {
    /// Positions at the start of the step [m].
    pub(crate) x0: &'a [Vec3],
    /// Positions at its end [m].
    pub(crate) x1: &'a [Vec3],
}

impl Path<'_> {
    /// Where a pair's nodes start and end.
    #[inline(always)]
    pub(crate) fn of(&self, pair: &Pair) -> ([Vec3; 4], [Vec3; 4]) {
        let [a, b, c, d] = pair.nodes.map(|i| i as usize);
        (self.start(pair), [self.x1[a], self.x1[b], self.x1[c], self.x1[d]])
    }

    /// Where a pair's nodes start.
    #[inline(always)]
    pub(crate) fn start(&self, pair: &Pair) -> [Vec3; 4] {
        let [a, b, c, d] = pair.nodes.map(|i| i as usize);
        [self.x0[a], self.x0[b], self.x0[c], self.x0[d]]
    }
}

impl Pair {
    /// Stands where a pair may be put.
    pub(crate) const NOBODY: Self = Self { kind: Kind::EdgeEdge, nodes: [0; 4] };

    /// A point and a triangle, unless they belong together or are exempt.
    #[inline(always)]
    pub(crate) fn vertex_face(surface: &Surface, p: u32, [a, b, c]: [u32; 3]) -> Option<Self> {
        let apart = (p != a) & (p != b) & (p != c);
        let nodes = [p, a, b, c];
        (apart && !surface.is_exempt(false, &nodes)).then_some(Self { kind: Kind::VertexFace, nodes })
    }

    /// Two edges, unless they belong together or are exempt.
    #[inline(always)]
    pub(crate) fn edge_edge(surface: &Surface, [a, b]: [u32; 2], [c, d]: [u32; 2]) -> Option<Self> {
        let apart = (a != c) & (a != d) & (b != c) & (b != d);
        let nodes = [a, b, c, d];
        (apart && !surface.is_exempt(true, &nodes)).then_some(Self { kind: Kind::EdgeEdge, nodes })
    }

    /// One node of each element.
    pub(crate) fn ends(&self) -> (u32, u32) {
        match self.kind {
            Kind::VertexFace => (self.nodes[0], self.nodes[1]),
            Kind::EdgeEdge => (self.nodes[0], self.nodes[2]),
        }
    }

    /// Thickness of the elements together [m].
    pub(crate) fn gap(&self, surface: &Surface) -> f64 {
        let (first, second) = self.ends();
        surface.gap(first, second)
    }

    /// Distance the elements keep if nodes have only a part of their thickness, 0 to 1; all of it if `room` is empty [m].
    pub(crate) fn gap_within(&self, surface: &Surface, room: &[f64]) -> f64 {
        let part = |i: &u32| room.get(*i as usize).copied().unwrap_or(1.0);
        self.kind.kept() * self.gap(surface) * self.nodes.iter().map(part).fold(1.0, f64::min)
    }

    /// Distance within which the elements are a contact, if nodes have all of their thickness [m].
    pub(crate) fn touching(&self, surface: &Surface) -> f64 {
        Reach::MET.of(self.kind) * self.gap(surface)
    }

    /// Coulomb coefficient between them [-].
    pub(crate) fn friction(&self, surface: &Surface) -> f64 {
        let (first, second) = self.ends();
        surface.friction(first, second)
    }

    /// The nearest points of the elements when their nodes are at `x`, and their distance [m].
    pub(crate) fn nearest(&self, x: &[Vec3; 4]) -> (Contact, f64) {
        let nodes = self.nodes;
        match self.kind {
            Kind::VertexFace => {
                let near = point_triangle(x[0], [x[1], x[2], x[3]]);
                let [a, b, c] = near.weights;
                (Contact { nodes, weights: [1.0, -a, -b, -c], normal: near.normal }, near.distance)
            }
            Kind::EdgeEdge => {
                let near = edge_edge([x[0], x[1]], [x[2], x[3]]);
                let weights = [1.0 - near.a, near.a, near.b - 1.0, -near.b];
                (Contact { nodes, weights, normal: near.normal }, near.distance)
            }
        }
    }

    /// The distance for which the trajectories from `x0` to `x1` must be tested, unless planes hold the elements farther
    /// apart than `separation` all the way. Of what they have at the start elements need not keep more than a `part`.
    #[inline(always)]
    pub(crate) fn doubt(
        &self,
        x0: &[Vec3; 4],
        x1: &[Vec3; 4],
        (separation, part): (f64, f64),
    ) -> Option<f64> {
        if self.stay_beyond(x0, x1, separation) {
            return None;
        }
        let (contact, distance) = self.nearest(x0);
        let separation = separation.min(part * distance);
        (!self.kept_apart(contact.normal, x0, x1, separation)).then_some(separation)
    }

    /// When and how the elements come as close as `separation` while their nodes move from `x0` to `x1`.
    pub(crate) fn meet(&self, x0: &[Vec3; 4], x1: &[Vec3; 4], separation: f64) -> Option<Hit> {
        match self.kind {
            Kind::VertexFace => ccd::vertex_face(x0, x1, separation),
            Kind::EdgeEdge => ccd::edge_edge(x0, x1, separation),
        }
    }

    /// Whether the elements are certainly farther apart than `limit` all the way from `x0` to `x1`, by tests much cheaper
    /// than their distance; false says nothing.
    #[inline(always)]
    pub(crate) fn stay_beyond(&self, x0: &[Vec3; 4], x1: &[Vec3; 4], limit: f64) -> bool {
        let (across, between) = match self.kind {
            Kind::VertexFace => {
                let (e, f) = (x0[2] - x0[1], x0[3] - x0[1]);
                (e.cross(f), x0[0] - x0[1] - (e + f) * (1.0 / 3.0))
            }
            Kind::EdgeEdge => {
                let (e, f) = (x0[1] - x0[0], x0[3] - x0[2]);
                (e.cross(f), x0[0] - x0[2] + (e - f) * 0.5)
            }
        };
        self.kept_apart(across, x0, x1, limit)
            || self.kept_apart(between, x0, x1, limit)
            || [Vec3::X, Vec3::Y, Vec3::Z].into_iter().any(|axis| self.kept_apart(axis, x0, x1, limit))
    }

    /// Whether planes across `axis`, of any length, certainly hold the elements farther apart than `limit` all the way:
    /// they do if they do at both ends in the same order, because nodes move along straight lines.
    #[inline(always)]
    pub(crate) fn kept_apart(&self, axis: Vec3, x0: &[Vec3; 4], x1: &[Vec3; 4], limit: f64) -> bool {
        // Differences and products are rounded by less than 1e-15 of their size; the sum of both margins covers it.
        const OF_LIMIT: f64 = 1.0 + 1e-6;
        const OF_SIZE: f64 = 1e-24;
        let at = |x: &[Vec3; 4]| {
            let to = [x[1] - x[0], x[2] - x[0], x[3] - x[0]];
            let [a, b, c] = to.map(|d| d.dot(axis));
            let size2 = to[0].length_squared() + to[1].length_squared() + to[2].length_squared();
            match self.kind {
                Kind::VertexFace => (less(less(a, b), c), -more(more(a, b), c), size2),
                Kind::EdgeEdge => (less(b, c) - more(a, 0.0), less(a, 0.0) - more(b, c), size2),
            }
        };
        let ((up0, down0, size0), (up1, down1, size1)) = (at(x0), at(x1));
        let between = more(less(up0, up1), less(down0, down1));
        let least2 = OF_LIMIT * limit * limit + OF_SIZE * (size0 + size1);
        between > 0.0 && between * between > least2 * axis.length_squared()
    }

    /// How far the elements at most approach across the planes between them where they are nearest, with `normal` from the
    /// second to the first, when their nodes move from `x0` to `x1` [m].
    pub(crate) fn approach(&self, normal: Vec3, x0: &[Vec3; 4], x1: &[Vec3; 4]) -> f64 {
        let [a, b, c, d] = [0, 1, 2, 3].map(|k| (x1[k] - x0[k]).dot(normal));
        let approach = match self.kind {
            Kind::VertexFace => b.max(c).max(d) - a,
            Kind::EdgeEdge => c.max(d) - a.min(b),
        };
        approach.max(0.0)
    }
}

/// The smaller of two numbers. Other than [`f64::min`] it is one instruction, and does not care for not-a-number.
#[inline(always)]
fn less(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// The larger of two numbers.
#[inline(always)]
fn more(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_num::rng::Stream;

    #[test]
    fn pairs_said_to_stay_beyond_a_distance_do_so_all_the_way() {
        let mut rejected = [0; 2];
        for k in 0..20_000 {
            let mut draws = Stream::new(5, 0).at(k);
            let mut vector = |size: f64| Vec3::from_array([0; 3].map(|_| draws.range(-size, size)));
            let x0 = [0; 4].map(|_| vector(1.0));
            let x1 = x0.map(|x| x + vector(0.7));
            let limit = vector(0.3).x.abs();
            for kind in [Kind::VertexFace, Kind::EdgeEdge] {
                let pair = Pair { kind, nodes: [0, 1, 2, 3] };
                if pair.stay_beyond(&x0, &x1, limit) {
                    rejected[usize::from(kind == Kind::EdgeEdge)] += 1;
                    for t in 0..=20 {
                        let at = std::array::from_fn(|i| x0[i].lerp(x1[i], f64::from(t) / 20.0));
                        let distance = pair.nearest(&at).1;
                        assert!(distance > limit, "{kind:?} {k} at {t}: {distance} {limit}");
                    }
                }
            }
        }
        assert!(rejected.iter().all(|r| *r > 2000), "the test rejects something: {rejected:?}");
    }

    #[test]
    fn elements_approach_no_farther_than_said() {
        for k in 0..5000 {
            let mut draws = Stream::new(6, 0).at(k);
            let mut vector = |size: f64| Vec3::from_array([0; 3].map(|_| draws.range(-size, size)));
            let x0 = [0; 4].map(|_| vector(1.0));
            let x1 = x0.map(|x| x + vector(0.2));
            for kind in [Kind::VertexFace, Kind::EdgeEdge] {
                let pair = Pair { kind, nodes: [0, 1, 2, 3] };
                let (contact, before) = pair.nearest(&x0);
                let after = pair.nearest(&x1).1;
                assert!(before - after <= pair.approach(contact.normal, &x0, &x1) + 1e-12);
            }
        }
    }
}
