//! A first filter between two triangles in single precision: the slabs of one against the corners of the other.
//!
//! A triangle fills a slab across each of four directions: its normal at the start of the step and, in its plane, the
//! normals of its three sides. A corner beyond one side of a slab at the start and on the same side of it at the end
//! was beyond it all the way, because everything moves along straight lines. What holds for both ends of an edge or
//! all corners of a triangle holds for the whole of it. Four directions are tested at once.
//!
//! Any directions no longer than one would do, so they may be inexact. Nothing is beyond a corner that may be anywhere.

use crate::corner::{Corner, direction};
use glam::Vec4;

/// Slabs of a triangle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slabs {
    /// Coordinates of the four directions.
    x: Vec4,
    y: Vec4,
    z: Vec4,
    /// Upper ends of the slabs at the start and end of the step, with the distance the triangle keeps around itself.
    top: [Vec4; 2],
    /// Lower ends.
    bottom: [Vec4; 2],
}

/// Where the corners of a triangle are in the slabs of another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// How far each is above the slabs, negative if it is not all the way.
    above: [Vec4; 3],
    /// How far it is below them.
    below: [Vec4; 3],
}

impl Slabs {
    /// A triangle without slabs: nothing is beyond them.
    pub(crate) const NONE: Self = Self {
        x: Vec4::ZERO,
        y: Vec4::ZERO,
        z: Vec4::ZERO,
        top: [Vec4::INFINITY; 2],
        bottom: [Vec4::NEG_INFINITY; 2],
    };

    /// The slabs of a triangle.
    #[inline(always)]
    pub(crate) fn new(corners: [&Corner; 3]) -> Self {
        let [a, b, c] = corners.map(Corner::from);
        let sides = [b - a, c - b, a - c];
        let normal = direction(sides[0].cross(sides[1]));
        let [p, q, r] = sides.map(|side| direction(side.cross(normal)));
        let mut slabs = Self {
            x: Vec4::new(normal.x, p.x, q.x, r.x),
            y: Vec4::new(normal.y, p.y, q.y, r.y),
            z: Vec4::new(normal.z, p.z, q.z, r.z),
            ..Self::NONE
        };
        slabs.fit(corners);
        slabs
    }

    /// Fits the slabs in their directions.
    #[inline(always)]
    fn fit(&mut self, corners: [&Corner; 3]) {
        let around = Vec4::splat(corners[0].around().max(corners[1].around()).max(corners[2].around()));
        let [start, end] = [
            corners.map(|corner| self.project(corner.start)),
            corners.map(|corner| self.project(corner.end)),
        ];
        self.top = [start, end].map(|[a, b, c]| a.max(b).max(c) + around);
        self.bottom = [start, end].map(|[a, b, c]| a.min(b).min(c) - around);
    }

    #[inline(always)]
    fn project(&self, x: Vec4) -> Vec4 {
        self.x * Vec4::splat(x.x) + self.y * Vec4::splat(x.y) + self.z * Vec4::splat(x.z)
    }

    /// Whether a corner certainly stays beyond some slab.
    #[inline(always)]
    pub(crate) fn beyond(&self, corner: &Corner) -> bool {
        let (above, below) = self.off(corner);
        beyond(above, below)
    }

    /// How far a corner is above and below the slabs, negative if it is not all the way.
    #[inline(always)]
    fn off(&self, corner: &Corner) -> (Vec4, Vec4) {
        let (start, end) = (self.project(corner.start), self.project(corner.end));
        let around = Vec4::splat(corner.around());
        (
            (start - self.top[0]).min(end - self.top[1]) - around,
            (self.bottom[0] - start).min(self.bottom[1] - end) - around,
        )
    }

    /// Where the corners of another triangle are.
    #[inline(always)]
    pub(crate) fn see(&self, corners: [&Corner; 3]) -> Seen {
        let [(a, d), (b, e), (c, f)] = corners.map(|corner| self.off(corner));
        Seen { above: [a, b, c], below: [d, e, f] }
    }
}

impl Seen {
    /// Whether the whole triangle stays beyond a slab.
    #[inline(always)]
    pub(crate) fn apart(&self) -> bool {
        let [a, b, c] = self.above;
        let [d, e, f] = self.below;
        beyond(a.min(b).min(c), d.min(e).min(f))
    }

    /// Those of the corners, a bit for each, that do not stay beyond a slab.
    #[inline(always)]
    pub(crate) fn points(&self, mask: u8) -> u8 {
        let near = |k: usize| u8::from(!beyond(self.above[k], self.below[k])) << k;
        mask & (near(0) | near(1) | near(2))
    }

    /// Those of the sides, a bit for each, that do not stay beyond a slab; side `k` is that of corners `k` and `k + 1`. Sides
    /// keep so much `less` from each other than the triangles do [m].
    #[inline(always)]
    pub(crate) fn sides(&self, mask: u8, less: f32) -> u8 {
        let ([a, b, c], [d, e, f]) = (self.above, self.below);
        let near = |k: u8, above: Vec4, below: Vec4| {
            u8::from(!above.max(below).cmpgt(Vec4::splat(-less)).any()) << k
        };
        mask & (near(0, a.min(b), d.min(e)) | near(1, b.min(c), e.min(f)) | near(2, c.min(a), f.min(d)))
    }
}

#[inline(always)]
fn beyond(above: Vec4, below: Vec4) -> bool {
    above.max(below).cmpgt(Vec4::ZERO).any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pair::{Kind, Pair};
    use billow_num::Vec3;
    use billow_num::rng::Stream;

    /// Slabs of the first triangle and where they see the second, for corners that go from `x0` to `x1`.
    fn seen(x0: &[Vec3; 6], x1: &[Vec3; 6], distance: f64) -> Seen {
        let corners: Vec<Corner> =
            (0..6).map(|k| Corner::new(x0[k].to_array(), x1[k].to_array(), [0.5 * distance; 2])).collect();
        let [a, b, c, d, e, f] = std::array::from_fn(|k| &corners[k]);
        Slabs::new([a, b, c]).see([d, e, f])
    }

    /// Smallest distance of two elements on their way.
    fn distance(kind: Kind, x0: [Vec3; 4], x1: [Vec3; 4]) -> f64 {
        let pair = Pair { kind, nodes: [0, 1, 2, 3] };
        let at = |t: f64| pair.nearest(&std::array::from_fn(|i| x0[i].lerp(x1[i], t))).1;
        (0..=20).map(|t| at(f64::from(t) / 20.0)).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn what_is_beyond_a_slab_stays_farther_than_the_distance() {
        let mut beyond = [0; 3];
        for k in 0..20_000 {
            let mut draws = Stream::new(15, 0).at(k);
            let offset = Vec3::splat([0.0, 3.0, 1000.0][k as usize % 3]);
            let mut vector = |size: f64| Vec3::from_array([0; 3].map(|_| draws.range(-size, size)));
            let x0 = [0; 6].map(|_| offset + vector(1.0));
            let x1 = x0.map(|x| x + vector(0.5));
            let limit = vector(0.3).x.abs();
            let seen = seen(&x0, &x1, limit);
            let of = |nodes: [usize; 4]| (nodes.map(|i| x0[i]), nodes.map(|i| x1[i]));
            for p in 0..3 {
                if seen.points(1 << p) == 0 {
                    beyond[0] += 1;
                    let (x0, x1) = of([3 + p, 0, 1, 2]);
                    assert!(distance(Kind::VertexFace, x0, x1) > limit, "point {p} of {k}");
                }
                for q in (0..3).filter(|_| seen.sides(1 << p, 0.0) == 0) {
                    beyond[1] += 1;
                    let (x0, x1) = of([3 + p, 3 + (p + 1) % 3, q, (q + 1) % 3]);
                    assert!(distance(Kind::EdgeEdge, x0, x1) > limit, "sides {p} {q} of {k}");
                }
            }
            if seen.apart() {
                beyond[2] += 1;
                assert!(seen.points(7) == 0 && seen.sides(7, 0.0) == 0);
            }
        }
        assert!(beyond.iter().all(|count| *count > 2000), "{beyond:?}");
    }

    #[test]
    fn a_point_above_a_face_or_beside_it_is_beyond_and_one_within_is_not() {
        let face = [Vec3::ZERO, Vec3::X, Vec3::Y];
        let at =
            |p: Vec3| seen(&[face[0], face[1], face[2], p, p, p], &[face[0], face[1], face[2], p, p, p], 0.1);
        for (p, apart) in [
            (Vec3::new(0.2, 0.2, 0.11), true),
            (Vec3::new(0.2, 0.2, 0.09), false),
            (Vec3::new(0.2, 0.2, -0.11), true),
            (Vec3::new(0.2, -0.11, 0.0), true),
            (Vec3::new(0.2, -0.09, 0.0), false),
            (Vec3::new(0.6, 0.6, 0.0), true),
        ] {
            assert_eq!(at(p).points(1) == 0, apart, "{p}");
            assert_eq!(at(p).apart(), apart, "{p}");
        }
    }

    #[test]
    fn degenerate_triangles_and_bad_numbers_hold_nothing_apart() {
        let far = Vec3::new(3.0, 4.0, 5.0);
        let bad = [f64::NAN, f64::INFINITY, 1e300];
        let p = [far; 3];
        for line in [[Vec3::ZERO; 3], [Vec3::ZERO, Vec3::X * 1e-20, Vec3::Y * 1e-20]] {
            let x = [line[0], line[1], line[2], p[0], p[1], p[2]];
            assert!(!seen(&x, &x, 0.1).apart());
        }
        let good = [Vec3::ZERO, Vec3::X, Vec3::Y, far, far, far];
        assert!(seen(&good, &good, 0.1).apart());
        for value in bad {
            for k in 0..6 {
                let mut x = good;
                x[k].y = value;
                let (start, end) = (seen(&x, &good, 0.1), seen(&good, &x, 0.1));
                let corner = k.saturating_sub(3);
                assert!(start.points(1 << corner) != 0 && end.points(1 << corner) != 0, "{value} {k}");
                assert!(!start.apart() && !end.apart(), "{value} {k}");
            }
        }
    }
}
