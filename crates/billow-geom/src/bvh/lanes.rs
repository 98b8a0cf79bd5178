//! Which lanes of two nodes overlap: sixteen pairs of boxes in four tests.

use super::node::{Node, WIDTH};
use glam::{BVec4A, Vec4, Vec4Swizzles};

/// A bit for each pair of lanes of two nodes, or of one with itself: `4 i + j` for lanes `i` and `j`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LanePairs(u32);

impl LanePairs {
    /// Each lane with those after it.
    pub(super) const LATER: Self = Self(0b0000_1000_1100_1110);

    /// The pairs of which one lane is set in a mask of the first node or one in that of the second.
    #[inline(always)]
    pub(super) fn any_of([first, second]: [u32; 2]) -> Self {
        Self(ROWS[first as usize & 15] | (second * 0x1111))
    }

    /// Each lane that is set in a mask with itself.
    #[inline(always)]
    pub(super) fn selves(lanes: u32) -> Self {
        Self(ROWS[lanes as usize & 15] & 0x8421)
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Calls `visit(i, j)` for all pairs in order.
    #[inline(always)]
    pub(super) fn for_each(self, mut visit: impl FnMut(usize, usize)) {
        let mut mask = self.0;
        while mask != 0 {
            let bit = mask.trailing_zeros() as usize;
            visit(bit / WIDTH, bit % WIDTH);
            mask &= mask - 1;
        }
    }
}

impl std::ops::BitAnd for LanePairs {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl std::ops::BitOr for LanePairs {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// All pairs of the lanes that are set in a mask.
const ROWS: [u32; 16] = {
    let mut rows = [0; 16];
    let mut mask = 0;
    while mask < 16 {
        let mut i = 0;
        while i < 4 {
            rows[mask] |= (mask as u32 >> i & 1) * (0b1111 << (4 * i));
            i += 1;
        }
        mask += 1;
    }
    rows
};

/// Those pairs of the lanes `i` that are set in a mask, each with lane `i + r`, beginning again after the last.
const TURNED: [[u32; 16]; WIDTH] = {
    let mut turned = [[0; 16]; WIDTH];
    let mut r = 0;
    while r < WIDTH {
        let mut mask = 0;
        while mask < 16 {
            let mut i = 0;
            while i < WIDTH {
                turned[r][mask] |= (mask as u32 >> i & 1) << (WIDTH * i + (i + r) % WIDTH);
                i += 1;
            }
            mask += 1;
        }
        r += 1;
    }
    turned
};

/// The pairs of lanes that no axis separates in the same order at all instants. Four pairs are tested at once, each lane of
/// one node with another of the other: turning lanes costs less than spreading one over all.
#[inline(always)]
pub(super) fn overlapping<const E: usize>(a: &Node<E>, b: &Node<E>) -> LanePairs {
    let turned = |turn: fn(Vec4) -> Vec4| {
        let mut hit = BVec4A::splat(true);
        for c in 0..3 {
            let (mut reaches_up, mut reaches_down) = (BVec4A::splat(false), BVec4A::splat(false));
            for e in 0..E {
                let of = |coordinates: &[[[f32; WIDTH]; 3]; E]| Vec4::from_array(coordinates[e][c]);
                reaches_up |= turn(of(&b.lo)).cmple(of(&a.hi));
                reaches_down |= turn(of(&b.hi)).cmpge(of(&a.lo));
            }
            hit &= reaches_up & reaches_down;
        }
        hit.bitmask() as usize
    };
    let masks = [turned(|v| v), turned(|v| v.yzwx()), turned(|v| v.zwxy()), turned(|v| v.wxyz())];
    LanePairs((0..WIDTH).fold(0, |all, r| all | TURNED[r][masks[r]]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_num::rng::Stream;

    #[test]
    fn all_pairs_of_lanes_are_those_that_single_lanes_have_in_order() {
        let mut found = 0;
        for k in 0..2000 {
            let mut draws = Stream::new(12, 7).at(k);
            let mut node = || {
                let mut node = Node::<2>::EMPTY;
                for lane in 0..draws.below(5) as usize {
                    node.child[lane] = lane as u32;
                    node.set(
                        lane,
                        &[0; 2].map(|_| {
                            let low = [0; 3].map(|_| draws.range(0.0, 1.0) as f32);
                            [low, low.map(|x| x + draws.range(0.0, 1.0) as f32)]
                        }),
                    );
                }
                node
            };
            let (a, b) = (node(), node());
            let one_by_one = (0..4).flat_map(|i| {
                let mask = b.overlaps(&a.lane(i));
                (0..4).filter(move |j| mask >> j & 1 == 1).map(move |j| (i, j))
            });
            let mut pairs = Vec::new();
            overlapping(&a, &b).for_each(|i, j| pairs.push((i, j)));
            assert!(pairs.iter().copied().eq(one_by_one), "{pairs:?}");
            found += pairs.len();
        }
        assert!(found > 2000 && found < 12_000, "{found}");
    }

    #[test]
    fn masks_of_pairs_hold_the_pairs_of_their_lanes() {
        let list = |pairs: LanePairs| {
            let mut list = Vec::new();
            pairs.for_each(|i, j| list.push((i, j)));
            list
        };
        assert_eq!(list(LanePairs::LATER), [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]);
        assert_eq!(list(LanePairs::selves(0b1010)), [(1, 1), (3, 3)]);
        let any = list(LanePairs::any_of([0b0010, 0b1000]));
        assert_eq!(any, [(0, 3), (1, 0), (1, 1), (1, 2), (1, 3), (2, 3), (3, 3)]);
        assert!(LanePairs::any_of([0; 2]).is_empty());
    }
}
