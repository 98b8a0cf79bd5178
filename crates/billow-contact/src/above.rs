//! A filter for points and faces in single precision, four pairs at a time.
//!
//! Two directions are tried: across the face, and along the shortest way from it to the point at the start of the step. If
//! planes across one of them hold them apart at both ends of the step in the same order, they do so all the way,
//! because nodes move along straight lines. Any direction would do, so those two may be inexact.

use crate::corner::Corner;
use crate::four::{FOUR, Nodes, Vectors, apart_along, clamp, gather};
use crate::pair::{MET, Pair};
use glam::{BVec4A, Vec4};

/// What is known of four pairs.
pub(crate) struct Tested {
    /// A bit for each that keeps its distance all the way.
    pub(crate) apart: u32,
    /// What each lacks at most, at the nearer end of the step, of the distance it is to keep: negative for those that keep
    /// more [m].
    pub(crate) lack: Vec4,
    /// A bit for each that does not touch and is not planned to, as far as contacts are concerned; see [`crate::touch`].
    pub(crate) missed: u32,
}

/// About the shortest way from a face to a point.
#[derive(Clone, Copy)]
struct Way {
    /// Where it starts, in sides of the face [-].
    a: Vec4,
    b: Vec4,
    way: Vectors,
}

impl Way {
    /// The shorter of two.
    #[inline(always)]
    fn shorter(self, other: Self) -> Self {
        self.or(self.way.dot(self.way).cmple(other.way.dot(other.way)), other)
    }

    /// Where the condition holds this way, elsewhere another.
    #[inline(always)]
    fn or(self, holds: BVec4A, other: Self) -> Self {
        Self {
            a: Vec4::select(holds, self.a, other.a),
            b: Vec4::select(holds, self.b, other.b),
            way: self.way.or(holds, other.way),
        }
    }
}

/// Four points and faces at one end of the step: two sides of the face and the way to the point from where they start.
struct Instant {
    e: Vectors,
    f: Vectors,
    g: Vectors,
}

impl Instant {
    /// How far the points are above and below the faces along an axis, if that is more than zero.
    #[inline(always)]
    fn along(&self, axis: Vectors) -> [Vec4; 2] {
        let (e, f, g) = (self.e.dot(axis), self.f.dot(axis), self.g.dot(axis));
        [g - e.max(f).max(Vec4::ZERO), e.min(f).min(Vec4::ZERO) - g]
    }

    /// About the shortest way from the faces to the points; `normal` is across the faces.
    #[inline(always)]
    fn shortest(&self, normal: Vectors) -> Way {
        let Self { e, f, g } = *self;
        let (ee, ef, ff, eg, fg) = (e.dot(e), e.dot(f), f.dot(f), e.dot(g), f.dot(g));
        let from = |a: Vec4, b: Vec4| Way { a, b, way: g - e * a - f * b };
        let size2 = normal.dot(normal);
        let foot = from((ff * eg - ef * fg) / size2, (ee * fg - ef * eg) / size2);
        let inside = foot.a.cmpge(Vec4::ZERO) & foot.b.cmpge(Vec4::ZERO) & (foot.a + foot.b).cmple(Vec4::ONE);

        // The nearest of the sides, if the foot is outside.
        let side = f - e;
        let across = clamp(side.dot(g - e) / side.dot(side));
        let sides = [
            from(clamp(eg / ee), Vec4::ZERO),
            from(Vec4::ZERO, clamp(fg / ff)),
            from(Vec4::ONE - across, across),
        ];
        foot.or(inside, sides[0].shorter(sides[1]).shorter(sides[2]))
    }

    /// Those of the pairs that are farther apart along the shortest way than they `keep` and do not come as near as they are
    /// to be before the end of the step, as things move now.
    #[inline(always)]
    fn missed(&self, end: &Self, Way { a, b, way }: Way, keep: Vec4) -> u32 {
        let distance = way.dot(way).sqrt();
        let moves = |from: Vectors, to: Vectors| (to - from).dot(way);
        let approach =
            (moves(self.e, end.e) * a + moves(self.f, end.f) * b - moves(self.g, end.g)) / distance;
        let meet = (distance - keep / MET as f32).cmple(approach);
        (distance.cmpgt(keep) & !meet).bitmask()
    }
}

/// Tests four pairs of points and faces.
#[inline(always)]
pub(crate) fn test(corners: &[Corner], pairs: &[Pair; FOUR]) -> Tested {
    let [p, a, b, c] = gather(corners, pairs);
    let at =
        |of: fn(&Nodes) -> Vectors| Instant { e: of(&b) - of(&a), f: of(&c) - of(&a), g: of(&p) - of(&a) };
    let (start, end) = (at(|nodes| nodes.start), at(|nodes| nodes.end));
    let keep = p.around + a.around.max(b.around).max(c.around);
    let kept_across = |axis: Vectors| {
        let ([above, below], [above_then, below_then]) = (start.along(axis), end.along(axis));
        apart_along(axis, above.min(above_then).max(below.min(below_then)))
    };
    let all = (1 << FOUR) - 1;
    let far = |kept: Vec4| kept.cmpgt(keep).bitmask();
    let normal = start.e.cross(start.f);
    let kept = kept_across(normal);
    if far(kept) == all {
        return Tested { apart: all, lack: keep - kept, missed: 0 };
    }
    let nearest = start.shortest(normal);
    let kept = kept.max(kept_across(nearest.way));
    Tested { apart: far(kept), lack: keep - kept, missed: start.missed(&end, nearest, keep) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pair::Kind;
    use billow_num::Vec3;
    use billow_num::rng::Stream;

    const PAIR: Pair = Pair { kind: Kind::VertexFace, nodes: [0, 1, 2, 3] };

    fn tested(x0: &[Vec3; 4], x1: &[Vec3; 4], limit: f64) -> (bool, f64) {
        let corner = |i: usize| Corner::new(x0[i].to_array(), x1[i].to_array(), [0.5 * limit, 0.0]);
        let Tested { apart, lack, .. } = test(&[corner(0), corner(1), corner(2), corner(3)], &[PAIR; FOUR]);
        assert!(apart == 0 || apart == 15);
        (apart == 15, limit - f64::from(lack[0]))
    }

    #[test]
    fn what_is_said_of_distances_is_true_and_tells_most_of_what_is_apart() {
        let (mut told, mut missed) = (0, 0);
        for k in 0..20_000 {
            let mut draws = Stream::new(35, 0).at(k);
            let offset = Vec3::splat([0.0, 5.0, 800.0][k as usize % 3]);
            let mut vector = |size: f64| Vec3::from_array([0; 3].map(|_| draws.range(-size, size)));
            let x0 = [0; 4].map(|_| offset + vector(1.0));
            let x1 = x0.map(|x| x + vector(0.1));
            let (apart, kept) = tested(&x0, &x1, 0.3);
            let at = |t: f64| PAIR.nearest(&std::array::from_fn(|i| x0[i].lerp(x1[i], t))).1;
            let least = (0..=10).map(|t| at(f64::from(t) / 10.0)).fold(f64::INFINITY, f64::min);
            assert!(least >= kept && (!apart || least > 0.3), "{k}: {kept} {least}");
            told += u32::from(apart);
            missed += u32::from(least > 0.32 && !apart);
        }
        assert!(told > 5000 && 20 * missed < told, "{told} {missed}");
    }

    #[test]
    fn faces_without_area_and_bad_numbers_are_never_told_to_be_apart() {
        let face = [Vec3::ZERO, Vec3::X, Vec3::Y];
        let at = |p: Vec3| [p, face[0], face[1], face[2]];
        assert!(tested(&at(Vec3::Z), &at(Vec3::Z), 0.5).0);
        assert!(tested(&at(Vec3::X * 2.0), &at(Vec3::X * 2.0), 0.5).0);
        assert!(!tested(&at(Vec3::Z), &at(-Vec3::Z), 0.5).0);
        for bad in [f64::NAN, f64::INFINITY, 1e300] {
            for k in 0..4 {
                let mut x = at(Vec3::Z);
                x[k].y = bad;
                assert!(!tested(&x, &at(Vec3::Z), 0.5).0 && !tested(&at(Vec3::Z), &x, 0.5).0);
            }
        }
        let point = [Vec3::Z, Vec3::ZERO, Vec3::ZERO, Vec3::ZERO];
        let _ = tested(&point, &point, 0.5);
    }
}
