//! Names of pairs of elements: short, and in an order in which what is near is near in memory.
//!
//! An element is named by the triangle that speaks for it, by its place in the search tree, whose shape never changes.
//! The order of names therefore does not depend on how pairs were found, nor when.

use crate::facets::Facet;
use crate::pair::{Kind, Pair};
use billow_num::par;
use std::ops::Range;

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

    /// Its place among all kinds and first triangles, given the number of triangles; names ascend with it.
    #[inline(always)]
    pub(crate) fn shelf(self, facets: usize) -> usize {
        (self.0 >> 63) as usize * facets + self.facets()[0] as usize
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

/// All names that were found, ascending, given the number of triangles.
pub(crate) fn sorted(found: &[Vec<Name>], facets: usize) -> Vec<Name> {
    let count = found.iter().map(Vec::len).sum();
    if count < facets {
        let (parts, mut names): (Vec<&[Name]>, _) =
            (found.iter().map(|part| &part[..]).collect(), Vec::new());
        par::concat(&parts, Name::FIRST, &mut names);
        par::sort(&mut names);
        return names;
    }

    // Each goes to its shelf, then each shelf is sorted.
    let all = || found.iter().flatten();
    let mut ends = vec![0; 2 * facets];
    all().for_each(|name| ends[name.shelf(facets)] += 1);
    let mut sum = 0;
    ends.iter_mut().for_each(|end| sum += std::mem::replace(end, sum));
    let mut names = vec![Name::FIRST; count];
    for name in all() {
        let end = &mut ends[name.shelf(facets)];
        names[*end] = *name;
        *end += 1;
    }
    let (mut rest, mut first, mut pieces) = (&mut names[..], 0, Vec::new());
    for shelves in shelves(ends.len()) {
        let end = ends[shelves.end - 1];
        let (piece, others) = rest.split_at_mut(end - first);
        (rest, first) = (others, end);
        pieces.push((piece, shelves));
    }
    par::chunks_mut(&mut pieces, 1, |_, piece| {
        let (names, shelves) = &mut piece[0];
        let mut start = 0;
        let before = ends[shelves.end - 1] - names.len();
        for end in &ends[shelves.clone()] {
            names[start..end - before].sort_unstable();
            start = end - before;
        }
    });
    names
}

/// Shelves that one thread sorts at a time.
fn shelves(count: usize) -> impl Iterator<Item = Range<usize>> {
    const TOGETHER: usize = 1024;
    (0..count).step_by(TOGETHER).map(move |first| first..count.min(first + TOGETHER))
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_num::rng::Stream;

    #[test]
    fn few_and_many_names_ascend() {
        const FACETS: u64 = 3000;
        for count in [0, 1, 2999, 3000, 40_000] {
            let name = |k: u64| {
                let mut draws = Stream::new(7, 0).at(k);
                let mut facet = || draws.below(FACETS) as u32;
                let (a, b, side) = (facet(), facet(), facet() as usize);
                if k.is_multiple_of(3) {
                    Name::vertex_face((a, side % 3), b)
                } else {
                    Name::edge_edge((a, side % 3), (b, side / 3 % 3))
                }
            };
            let names: Vec<Name> = (0..count).map(name).collect();
            let mut truth = names.clone();
            truth.sort_unstable();
            let parts: Vec<Vec<Name>> = names.chunks(700).map(<[Name]>::to_vec).collect();
            assert_eq!(sorted(&parts, FACETS as usize), truth, "{count}");
        }
    }
}
