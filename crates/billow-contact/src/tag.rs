//! What decides whether two triangles are worth comparing, in one look at each.
//!
//! Most triangles whose boxes overlap are neighbours in a smooth part of the surface, or have nothing to tell.

use crate::facets::Facet;
use wide::u32x4;

/// The corners of a triangle around which elements keep away from each other anyway, by number, and what it speaks for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(align(16))]
pub(crate) struct Tag {
    /// A corner of the other kind has a number that nothing else has.
    corners: [u32; 3],
    kind: u32,
}

/// Numbers from here on are those of single corners.
const SINGLE: u32 = 1 << 31;

/// It has points, edges; it moves by itself.
const POINTS: u32 = 1;
const SIDES: u32 = 2;
const DYNAMIC: u32 = 4;

impl Tag {
    /// That of the triangle at a place, given which vertices are open, see [`crate::fans`].
    pub(crate) fn new(facet: &Facet, place: usize, open: &[bool]) -> Self {
        let corner = |k: usize| {
            let node = facet.nodes[k];
            if open[node as usize] { node } else { SINGLE | (3 * place + k) as u32 }
        };
        let bit = |holds: bool, bit: u32| if holds { bit } else { 0 };
        Self {
            corners: [corner(0), corner(1), corner(2)],
            kind: bit(facet.points != 0, POINTS) | bit(facet.sides != 0, SIDES) | bit(facet.dynamic, DYNAMIC),
        }
    }

    /// Whether two triangles have something to tell, one of them moves, and they are not neighbours in a smooth part of the
    /// surface. There are no branches, since nobody could foretell them.
    #[inline(always)]
    pub(crate) fn may_meet(&self, other: &Self) -> bool {
        let ([a, b, c], [d, e, f]) = (self.corners, other.corners);
        let own = u32x4::new([a, b, c, a]);
        let common =
            own.simd_eq(u32x4::splat(d)) | own.simd_eq(u32x4::splat(e)) | own.simd_eq(u32x4::splat(f));
        let (any, both) = (self.kind | other.kind, self.kind & other.kind);
        let speak = (any & POINTS) | (both & SIDES);
        (speak != 0) & (any & DYNAMIC != 0) & common.none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_meet_unless_what_they_share_is_open() {
        let facet = |nodes, points, sides, dynamic| Facet {
            nodes,
            edges: [0; 3],
            points,
            sides,
            face: true,
            dynamic,
        };
        let one = facet([0, 1, 2], 1, 7, true);
        for (other, open, meet) in [
            (facet([3, 4, 5], 0, 0, false), [true; 6], true),
            (facet([2, 4, 5], 0, 0, false), [true; 6], false),
            (facet([4, 0, 5], 0, 0, false), [true; 6], false),
            (facet([4, 5, 1], 0, 0, false), [true, false, true, true, true, true], true),
            (facet([4, 2, 1], 0, 0, false), [true, false, true, true, true, true], false),
        ] {
            let tags = [Tag::new(&one, 0, &open), Tag::new(&other, 1, &open)];
            assert_eq!(tags[0].may_meet(&tags[1]), meet, "{other:?}");
            assert_eq!(tags[1].may_meet(&tags[0]), meet, "{other:?}");
        }
        // Nothing to tell: no points, and edges of one alone; or nobody moves.
        let [mute, edges] = [facet([0, 1, 2], 0, 0, true), facet([3, 4, 5], 0, 1, true)];
        let [still, points] = [facet([0, 1, 2], 1, 1, false), facet([3, 4, 5], 1, 1, false)];
        for (a, b, meet) in
            [(mute, edges, false), (edges, edges, true), (still, points, false), (still, edges, true)]
        {
            assert_eq!(
                Tag::new(&a, 0, &[true; 6]).may_meet(&Tag::new(&b, 1, &[false; 6])),
                meet,
                "{a:?} {b:?}"
            );
        }
    }
}
