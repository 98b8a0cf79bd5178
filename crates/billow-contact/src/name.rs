//! Names of pairs of elements: short, and in an order in which what is near is near in memory.
//!
//! An element is named by the triangle that speaks for it, by its place in the search tree, whose shape never changes.
//! The order of names therefore does not depend on how pairs were found, nor when.

use crate::facets::Facet;
use crate::pair::{Kind, Pair};

/// The name of a pair: its kind, a point or an edge, and a face or another edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name(u64);

/// Bits for the corner or side of a triangle.
const SIDE: u32 = 2;

impl Name {
    /// Before all others.
    pub(crate) const FIRST: Self = Self(0);

    /// Corner `k` of the triangle at place `a`, and the face at place `b`.
    #[inline(always)]
    pub(crate) fn vertex_face((a, k): (u32, usize), b: u32) -> Self {
        Self(u64::from(a << SIDE | k as u32) << 32 | u64::from(b))
    }

    /// Sides of two triangles, given by their places.
    #[inline(always)]
    pub(crate) fn edge_edge((a, i): (u32, usize), (b, j): (u32, usize)) -> Self {
        let (e, f) = (a << SIDE | i as u32, b << SIDE | j as u32);
        Self(1 << 63 | u64::from(e.min(f)) << 32 | u64::from(e.max(f)))
    }

    /// The places of the two triangles.
    #[inline(always)]
    pub(crate) fn facets(self) -> [u32; 2] {
        let edges = (self.0 >> 63) as u32;
        [(self.0 >> (32 + SIDE)) as u32 & (u32::MAX >> (SIDE + 1)), self.0 as u32 >> (SIDE * edges)]
    }

    /// The pair, given all triangles by place.
    #[inline(always)]
    pub(crate) fn pair(self, facets: &[Facet]) -> Pair {
        let (first, second) = ((self.0 >> 32) as u32 & (u32::MAX >> 1), self.0 as u32);
        let side = |name: u32| {
            let (nodes, k) = (&facets[(name >> SIDE) as usize].nodes, name & 3);
            let (a, b) = match k {
                0 => (nodes[0], nodes[1]),
                1 => (nodes[1], nodes[2]),
                _ => (nodes[2], nodes[0]),
            };
            [a.min(b), a.max(b)]
        };
        if self.0 >> 63 == 0 {
            let p = facets[(first >> SIDE) as usize].nodes[(first & 3) as usize];
            let [a, b, c] = facets[second as usize].nodes;
            Pair { kind: Kind::VertexFace, nodes: [p, a, b, c] }
        } else {
            // Edges ascend by their ends.
            let (e, f) = (side(first), side(second));
            let ([a, b], [c, d]) = if e < f { (e, f) } else { (f, e) };
            Pair { kind: Kind::EdgeEdge, nodes: [a, b, c, d] }
        }
    }
}
