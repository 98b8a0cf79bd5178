//! How one red tetrahedron is cut: eight red children, or one of three classes of green family ([Bri03] 5.3).
//!
//! Corners of a red tetrahedron come as two long edges, (0, 1) and (2, 3), positively oriented. A *mask* has one bit per
//! edge of [`EDGES`] that has a midpoint. Only the empty mask, one edge, two opposite edges, the three edges of a face,
//! and all six may stay; [`closed`] adds midpoints until that holds, so every triangle is whole, bisected or
//! quadrisected and neighbours always agree.

/// Edges of a red tetrahedron, long ones first.
pub(crate) const EDGES: [[usize; 2]; 6] = [[0, 1], [2, 3], [0, 2], [0, 3], [1, 2], [1, 3]];
/// Mask with all midpoints: red refinement.
pub(crate) const ALL: u8 = 63;

/// Edges of each face, as masks; face `k` lies opposite corner `k`.
const FACE_MASKS: [u8; 4] = [0b11_0010, 0b00_1110, 0b10_1001, 0b01_0101];
/// Pairs of opposite edges, as masks.
const OPPOSITE: [u8; 3] = [0b00_0011, 0b10_0100, 0b01_1000];

/// Which class a closed mask belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// No midpoint.
    Whole,
    /// One edge is bisected: two children.
    Edge(usize),
    /// Two opposite edges are bisected: four children.
    Opposite(usize, usize),
    /// The face opposite a corner is quadrisected: four children.
    Face(usize),
    /// Eight red children.
    Red,
}

/// The smallest allowed mask that contains `mask`: no face may have exactly two midpoints.
pub(crate) fn closed(mut mask: u8) -> u8 {
    loop {
        let before = mask;
        for face in FACE_MASKS {
            if (mask & face).count_ones() == 2 {
                mask |= face;
            }
        }
        if mask == before {
            return mask;
        }
    }
}

/// The class of a closed mask; `None` for masks that are not closed.
pub(crate) fn cut(mask: u8) -> Option<Cut> {
    let first = mask.trailing_zeros() as usize;
    match mask.count_ones() {
        0 => Some(Cut::Whole),
        1 => Some(Cut::Edge(first)),
        2 if OPPOSITE.contains(&mask) => {
            Some(Cut::Opposite(first, (mask & (mask - 1)).trailing_zeros() as usize))
        }
        3 => FACE_MASKS.iter().position(|f| *f == mask).map(Cut::Face),
        6 => Some(Cut::Red),
        _ => None,
    }
}

/// Calls `emit` for each child of a tetrahedron with corners `t`, positively oriented like `t` itself.
/// `mid(e)` is the midpoint of edge `e`.
pub(crate) fn children(cut: Cut, t: [u32; 4], mid: impl Fn(usize) -> u32, mut emit: impl FnMut([u32; 4])) {
    let with = |pairs: &[(usize, u32)]| {
        let mut child = t;
        pairs.iter().for_each(|(corner, node)| child[*corner] = *node);
        child
    };
    match cut {
        Cut::Whole => emit(t),
        Cut::Edge(e) => EDGES[e].iter().for_each(|c| emit(with(&[(*c, mid(e))]))),
        Cut::Opposite(e, f) => {
            for a in EDGES[e] {
                EDGES[f].iter().for_each(|b| emit(with(&[(a, mid(e)), (*b, mid(f))])));
            }
        }
        Cut::Face(apex) => {
            let [i, j, k] = [1, 2, 3].map(|s| (apex + s) % 4);
            let [ij, jk, ki] = [[i, j], [j, k], [k, i]].map(|[a, b]| mid(edge_between(a, b)));
            emit(with(&[(j, ij), (k, ki)]));
            emit(with(&[(i, ij), (k, jk)]));
            emit(with(&[(i, ki), (j, jk)]));
            // The middle triangle is the face turned by half a turn: same orientation.
            emit(with(&[(i, jk), (j, ki), (k, ij)]));
        }
        Cut::Red => red_children(t, [0, 1, 2, 3, 4, 5].map(mid)).into_iter().for_each(emit),
    }
}

/// The eight children of a red tetrahedron, long edges first, positively oriented. The octahedron between the corner
/// children is cut along its shortest diagonal, which joins the midpoints of the long edges.
pub(crate) fn red_children(t: [u32; 4], m: [u32; 6]) -> [[u32; 4]; 8] {
    let [m01, m23, m02, m03, m12, m13] = m;
    [
        [t[0], m01, m02, m03],
        [m01, t[1], m12, m13],
        [t[2], m23, m02, m12],
        [m23, t[3], m03, m13],
        [m01, m23, m12, m02],
        [m01, m23, m13, m12],
        [m01, m23, m03, m13],
        [m01, m23, m02, m03],
    ]
}

/// The edge that joins two corners.
pub(crate) fn edge_between(a: usize, b: usize) -> usize {
    EDGES.iter().position(|e| *e == [a.min(b), a.max(b)]).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_num::Vec3;

    #[test]
    fn closing_adds_the_fewest_midpoints_and_leaves_only_allowed_classes() {
        for mask in 0..=ALL {
            let shut = closed(mask);
            assert!(shut & mask == mask && cut(shut).is_some(), "{mask:06b}");
            // Brute force: no smaller allowed mask contains it.
            let smaller = (0..=ALL).filter(|m| m & mask == mask && cut(*m).is_some());
            assert_eq!(smaller.map(u8::count_ones).min(), Some(shut.count_ones()));
        }
        assert_eq!((0..=ALL).filter(|m| cut(*m).is_some()).count(), 1 + 6 + 3 + 4 + 1);
    }

    #[test]
    fn children_fill_the_parent_with_positive_volumes() {
        let corners = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [1.0, 1.0, 1.0], [1.0, -1.0, 1.0]].map(Vec3::from);
        let at = |n: u32| match n {
            0..4 => corners[n as usize],
            _ => EDGES[n as usize - 4].map(|c| corners[c]).iter().sum::<Vec3>() * 0.5,
        };
        let volume = |t: [u32; 4]| {
            let [a, b, c, d] = t.map(at);
            (b - a).cross(c - a).dot(d - a) / 6.0
        };
        let whole = volume([0, 1, 2, 3]);
        assert!(whole > 0.0);
        for class in (0..=ALL).filter_map(cut) {
            let mut sum = 0.0;
            children(
                class,
                [0, 1, 2, 3],
                |e| e as u32 + 4,
                |child| {
                    assert!(volume(child) > 0.0, "{class:?} {child:?}");
                    sum += volume(child);
                },
            );
            assert!((sum - whole).abs() < 1e-15, "{class:?}");
        }
    }
}
