//! Exact arithmetic with floating-point numbers: integers times powers of two.

use super::decode;
use super::poly::sign;
use billow_num::Vec3;
use num_bigint::BigInt;

/// `m · 2^e`, exactly.
#[derive(Clone, Debug)]
pub(crate) struct Dyadic(BigInt, i64);

impl Dyadic {
    pub(crate) fn new(x: f64) -> Self {
        let (m, e) = decode(x);
        Self(m.into(), e.into())
    }

    pub(crate) fn add(&self, b: &Self) -> Self {
        let e = self.1.min(b.1);
        Self((&self.0 << (self.1 - e) as u64) + (&b.0 << (b.1 - e) as u64), e)
    }

    pub(crate) fn sub(&self, b: &Self) -> Self {
        self.add(&Self(-&b.0, b.1))
    }

    pub(crate) fn mul(&self, b: &Self) -> Self {
        Self(&self.0 * &b.0, self.1 + b.1)
    }

    pub(crate) fn is_positive(&self) -> bool {
        sign(&self.0) > 0
    }
}

/// `n·d`, exactly.
pub(crate) fn dot(n: Vec3, d: &[Dyadic; 3]) -> Dyadic {
    (0..3).fold(Dyadic::new(0.0), |s, c| s.add(&Dyadic::new(n[c]).mul(&d[c])))
}

/// A number that is at least the length of `n`, checked exactly.
pub(crate) fn length_bound(n: Vec3) -> Dyadic {
    let bound = Dyadic::new(n.length() * (1.0 + 4.0 * f64::EPSILON));
    let square = dot(n, &n.to_array().map(Dyadic::new));
    assert!(!square.sub(&bound.mul(&bound)).is_positive(), "bound below the length of {n}");
    bound
}
