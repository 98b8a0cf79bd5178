//! Exact answer to whether a moving point touches a moving triangle, or two moving edges touch, for some time
//! in [0, 1].
//!
//! Inputs are dyadic rationals, scaled to integers here. In the space of corner differences the question is when
//! the origin lies in a moving triangle or parallelogram. Coplanarity is a cubic in time; at its real roots,
//! isolated by Sturm sequences, signs of exact polynomials tell inside from outside. When the four points stay
//! coplanar for ever, contact can only begin at time 0 or where one of those polynomials changes sign. Interval
//! arithmetic decides the easy cases first.

mod dyadic;
mod poly;

use billow_geom::ccd::Certificate;
use billow_num::Vec3;
use billow_num::interval::{Interval, Interval3};
use billow_num::roots::enclose_roots;
use dyadic::{Dyadic, dot as exact_dot, length_bound};
use num_bigint::BigInt;
use poly::{Poly, Root};

/// Which pair a query is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    VertexFace,
    EdgeEdge,
}

/// Whether the elements share a point at some time in [0, 1].
pub(crate) fn touches(kind: Kind, x0: &[Vec3; 4], x1: &[Vec3; 4]) -> bool {
    by_intervals(kind, x0, x1).unwrap_or_else(|| exactly(kind, x0, x1))
}

/// Pairs of corners whose differences span the hull.
fn corner_pairs(kind: Kind) -> &'static [[usize; 2]] {
    match kind {
        Kind::VertexFace => &[[0, 1], [0, 2], [0, 3]],
        Kind::EdgeEdge => &[[0, 2], [0, 3], [1, 2], [1, 3]],
    }
}

/// The answer where interval arithmetic is certain.
pub(crate) fn by_intervals(kind: Kind, x0: &[Vec3; 4], x1: &[Vec3; 4]) -> Option<bool> {
    let difference = |x: &[Vec3; 4], [i, j]: [usize; 2]| Interval3::point(x[i]) - Interval3::point(x[j]);
    let d: Vec<[Interval3; 2]> = corner_pairs(kind)
        .iter()
        .map(|&p| {
            let start = difference(x0, p);
            [start, difference(x1, p) - start]
        })
        .collect();
    let vectors: [[Interval3; 2]; 3] = match kind {
        Kind::VertexFace => [d[0], d[1], d[2]],
        // The two edges and one difference: e, f, d00.
        Kind::EdgeEdge => {
            let minus = |a: [Interval3; 2], b: [Interval3; 2]| [a[0] - b[0], a[1] - b[1]];
            [minus(d[2], d[0]), minus(d[0], d[1]), d[0]]
        }
    };
    let [a, b, c] = vectors;
    let t = |i: usize, j: usize, k: usize| Interval3::triple(a[i], b[j], c[k]);
    let cubic =
        [t(0, 0, 0), t(1, 0, 0) + t(0, 1, 0) + t(0, 0, 1), t(0, 1, 1) + t(1, 0, 1) + t(1, 1, 0), t(1, 1, 1)];
    let mut certain = true;
    for root in enclose_roots(&cubic, Interval::UNIT).iter() {
        let scale = |v: Interval3| Interval3::new(v.x * root.span, v.y * root.span, v.z * root.span);
        let [a, b, c] = vectors.map(|[start, rate]| start + scale(rate));
        let weights = match kind {
            Kind::VertexFace => {
                let n = (b - a).cross(c - a);
                vec![b.cross(c).dot(n), c.cross(a).dot(n), a.cross(b).dot(n)]
            }
            Kind::EdgeEdge => {
                let n = a.cross(b);
                let (u, v) = (b.cross(c).dot(n), a.cross(c).dot(n));
                let all = n.length_squared();
                vec![u, all - u, v, all - v]
            }
        };
        if weights.iter().any(Interval::is_negative) {
            continue;
        }
        let inside = weights.iter().all(Interval::is_positive);
        let within = root.span.lo() > 0.0 && root.span.hi() < 1.0;
        if root.certain && inside && within {
            return Some(true);
        }
        certain = false;
    }
    certain.then_some(false)
}

/// The exact answer.
pub(crate) fn exactly(kind: Kind, x0: &[Vec3; 4], x1: &[Vec3; 4]) -> bool {
    let d = differences(kind, x0, x1);
    let conditions = Conditions::new(kind, d);
    let mut times = conditions.coplanar.roots();
    if conditions.coplanar.is_zero() {
        times.push(Root::zero());
        for p in conditions.all() {
            times.extend(p.roots());
        }
    }
    times.iter_mut().any(|t| conditions.hold_at(t))
}

type Vector = [Poly; 3];

/// Corner differences as linear polynomials in time with integer coefficients, scaled by a power of two.
fn differences(kind: Kind, x0: &[Vec3; 4], x1: &[Vec3; 4]) -> Vec<Vector> {
    let numbers = || x0.iter().chain(x1).flat_map(|p| p.to_array());
    let lowest = numbers().filter(|&x| x != 0.0).map(|x| decode(x).1).min().unwrap_or(0);
    let integer = |x: f64| {
        let (mantissa, exponent) = decode(x);
        BigInt::from(mantissa) << (exponent - lowest).max(0) as u64
    };
    corner_pairs(kind)
        .iter()
        .map(|&[i, j]| {
            std::array::from_fn(|c| {
                let start = integer(x0[i][c]) - integer(x0[j][c]);
                let end = integer(x1[i][c]) - integer(x1[j][c]);
                Poly::new(vec![start.clone(), end - start])
            })
        })
        .collect()
}

/// Mantissa and exponent of a finite number.
fn decode(x: f64) -> (i64, i32) {
    let bits = x.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32;
    let fraction = (bits & ((1 << 52) - 1)) as i64;
    let (m, e) = if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
    // Odd mantissas keep the integers small on coarse grids.
    let zeros = if m == 0 { 0 } else { m.trailing_zeros() };
    let m = m >> zeros;
    (if x < 0.0 { -m } else { m }, e + zeros as i32)
}

fn minus(a: &Vector, b: &Vector) -> Vector {
    std::array::from_fn(|c| a[c].sub(&b[c]))
}

fn plus(a: &Vector, b: &Vector) -> Vector {
    std::array::from_fn(|c| a[c].add(&b[c]))
}

fn cross(a: &Vector, b: &Vector) -> Vector {
    std::array::from_fn(|c| {
        let (i, j) = ((c + 1) % 3, (c + 2) % 3);
        a[i].mul(&b[j]).sub(&a[j].mul(&b[i]))
    })
}

fn dot(a: &Vector, b: &Vector) -> Poly {
    a[0].mul(&b[0]).add(&a[1].mul(&b[1])).add(&a[2].mul(&b[2]))
}

/// Polynomials whose signs decide whether the origin lies in the hull.
struct Conditions {
    /// Zero when the origin lies in the plane of the hull.
    coplanar: Poly,
    /// Normal of the hull.
    normal: Vector,
    /// Weights times the normal: all must point its way (or vanish).
    weights: Vec<Vector>,
    /// Cross products of all pairs of corners: all vanish when the hull lies on a line through the origin.
    pairs: Vec<Vector>,
    corners: Vec<Vector>,
}

impl Conditions {
    fn new(kind: Kind, d: Vec<Vector>) -> Self {
        let mut pairs = Vec::new();
        for i in 0..d.len() {
            for j in i + 1..d.len() {
                pairs.push(cross(&d[i], &d[j]));
            }
        }
        match kind {
            Kind::VertexFace => {
                let weights = vec![cross(&d[0], &d[1]), cross(&d[1], &d[2]), cross(&d[2], &d[0])];
                let normal = plus(&plus(&weights[0], &weights[1]), &weights[2]);
                Self { coplanar: dot(&weights[0], &d[2]), normal, weights, pairs, corners: d }
            }
            Kind::EdgeEdge => {
                let (e, f) = (minus(&d[2], &d[0]), minus(&d[0], &d[1]));
                let normal = cross(&e, &f);
                let (u, v) = (cross(&f, &d[0]), cross(&e, &d[0]));
                let weights = vec![u.clone(), minus(&normal, &u), v.clone(), minus(&normal, &v)];
                Self { coplanar: dot(&normal, &d[0]), normal, weights, pairs, corners: d }
            }
        }
    }

    fn all(&self) -> Vec<&Poly> {
        let vectors = self.weights.iter().chain(&self.pairs).chain(&self.corners);
        vectors.chain([&self.normal]).flatten().filter(|p| !p.is_zero()).collect()
    }

    /// Whether the origin lies in the hull at a time at which it is coplanar.
    fn hold_at(&self, t: &mut Root) -> bool {
        for c in 0..3 {
            let facing = t.sign_of(&self.normal[c]);
            if facing != 0 {
                return self.weights.iter().all(|w| t.sign_of(&w[c]) * facing >= 0);
            }
        }
        // The hull is a segment or a point. On a line through the origin?
        if self.pairs.iter().flatten().any(|p| t.sign_of(p) != 0) {
            return false;
        }
        (0..3).all(|c| {
            let signs: Vec<i32> = self.corners.iter().map(|d| t.sign_of(&d[c])).collect();
            !(signs.iter().all(|&s| s > 0) || signs.iter().all(|&s| s < 0))
        })
    }
}

/// Whether a certificate proves, in exact arithmetic, that the elements stay farther apart than `separation`.
pub(crate) fn certifies(
    certificate: &Certificate,
    kind: Kind,
    (x0, x1): (&[Vec3; 4], &[Vec3; 4]),
    separation: f64,
) -> bool {
    let Certificate { start, end, normal_start, normal_end } = *certificate;
    let delta = Dyadic::new(separation);
    let (needed_start, needed_end) =
        (delta.mul(&length_bound(normal_start)), delta.mul(&length_bound(normal_end)));
    corner_pairs(kind).iter().all(|&[i, j]| {
        let at = |t: f64| -> [Dyadic; 3] {
            let t = Dyadic::new(t);
            std::array::from_fn(|c| {
                let difference = |x: &[Vec3; 4]| Dyadic::new(x[i][c]).sub(&Dyadic::new(x[j][c]));
                let from = difference(x0);
                from.add(&t.mul(&difference(x1).sub(&from)))
            })
        };
        let (d_s, d_e) = (at(start), at(end));
        // The three Bernstein coefficients of n·D over the interval, the middle one twice.
        let middle = exact_dot(normal_start, &d_e).add(&exact_dot(normal_end, &d_s));
        exact_dot(normal_start, &d_s).sub(&needed_start).is_positive()
            && exact_dot(normal_end, &d_e).sub(&needed_end).is_positive()
            && middle.sub(&needed_start.add(&needed_end)).is_positive()
    })
}
