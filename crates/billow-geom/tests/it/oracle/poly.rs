//! Polynomials with integer coefficients, their real roots in [0, 1], and signs of other polynomials there.

use num_bigint::{BigInt, Sign};

/// Coefficients, constant first, without leading zeros; empty for the zero polynomial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Poly(pub(crate) Vec<BigInt>);

/// A real root: the only one of the square-free `of` in the half-open interval `(lo, hi]` over `2^bits`, or
/// exactly `hi` if that is one.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    of: Poly,
    lo: BigInt,
    hi: BigInt,
    bits: u64,
}

impl Poly {
    pub(crate) fn new(mut c: Vec<BigInt>) -> Self {
        while c.last().is_some_and(|c| c.sign() == Sign::NoSign) {
            c.pop();
        }
        Self(c)
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn add(&self, b: &Self) -> Self {
        self.combine(b, |x, y| x + y)
    }

    pub(crate) fn sub(&self, b: &Self) -> Self {
        self.combine(b, |x, y| x - y)
    }

    fn combine(&self, b: &Self, f: impl Fn(BigInt, BigInt) -> BigInt) -> Self {
        let at = |p: &Self, i: usize| p.0.get(i).cloned().unwrap_or_default();
        Self::new((0..self.0.len().max(b.0.len())).map(|i| f(at(self, i), at(b, i))).collect())
    }

    pub(crate) fn mul(&self, b: &Self) -> Self {
        if self.is_zero() || b.is_zero() {
            return Self(Vec::new());
        }
        let mut c = vec![BigInt::default(); self.0.len() + b.0.len() - 1];
        for (i, x) in self.0.iter().enumerate() {
            for (j, y) in b.0.iter().enumerate() {
                c[i + j] += x * y;
            }
        }
        Self::new(c)
    }

    fn derivative(&self) -> Self {
        Self::new(self.0.iter().enumerate().skip(1).map(|(i, c)| c * BigInt::from(i)).collect())
    }

    /// A positive multiple of the remainder of division by `b`, with small coefficients.
    fn remainder(&self, b: &Self) -> Self {
        let mut r = self.clone();
        let lead = b.0.last().expect("division by a polynomial that is not zero");
        while r.0.len() >= b.0.len() {
            let shift = r.0.len() - b.0.len();
            let top = r.0.last().expect("not zero while longer than the divisor").clone();
            // Multiply by |lead| so that the division stays in integers and signs stay.
            let sign = if lead.sign() == Sign::Minus { -1 } else { 1 };
            for c in &mut r.0 {
                *c *= lead * sign;
            }
            for (i, c) in b.0.iter().enumerate() {
                r.0[i + shift] -= c * &top * sign;
            }
            r = Self::new(r.0);
        }
        r.reduced()
    }

    /// The same polynomial without common powers of two.
    fn reduced(self) -> Self {
        let zeros = self.0.iter().filter_map(BigInt::trailing_zeros).min().unwrap_or(0);
        if zeros > 0 { Self(self.0.into_iter().map(|c| c >> zeros).collect()) } else { self }
    }

    fn gcd(&self, b: &Self) -> Self {
        let (mut a, mut b) = (self.clone(), b.clone());
        while !b.is_zero() {
            (a, b) = (b.clone(), a.remainder(&b));
        }
        a.reduced()
    }

    /// Exact quotient by a divisor, up to a constant factor.
    fn quotient(&self, b: &Self) -> Self {
        let mut r = self.clone();
        let lead = b.0.last().expect("division by a polynomial that is not zero").clone();
        let mut q = vec![BigInt::default(); (self.0.len() + 1).saturating_sub(b.0.len())];
        while r.0.len() >= b.0.len() {
            let shift = r.0.len() - b.0.len();
            let top = r.0.last().expect("not zero while longer than the divisor").clone();
            for c in r.0.iter_mut().chain(&mut q) {
                *c *= &lead;
            }
            for (i, c) in b.0.iter().enumerate() {
                r.0[i + shift] -= c * &top;
            }
            q[shift] += top;
            r = Self::new(r.0);
        }
        Self::new(q).reduced()
    }

    /// Sign of the value at `n / 2^bits`.
    fn sign_at(&self, n: &BigInt, bits: u64) -> i32 {
        let mut value = BigInt::default();
        for (i, c) in self.0.iter().rev().enumerate() {
            value = value * n + (c << (bits * i as u64));
        }
        sign(&value)
    }

    /// The sequence of negated remainders that starts with `self` and `second`.
    fn signed_remainders(&self, second: Self) -> Vec<Self> {
        let mut chain = vec![self.clone()];
        let mut next = second;
        while !next.is_zero() {
            let r = chain[chain.len() - 1].remainder(&next);
            chain.push(next);
            next = Self(r.0.into_iter().map(|c| -c).collect());
        }
        chain
    }

    /// All real roots in [0, 1]; none for the zero polynomial.
    pub(crate) fn roots(&self) -> Vec<Root> {
        let mut roots = Vec::new();
        if self.0.len() < 2 {
            return roots;
        }
        let repeated = self.gcd(&self.derivative());
        let of = if repeated.0.len() > 1 { self.quotient(&repeated) } else { self.clone() };
        if of.sign_at(&0.into(), 0) == 0 {
            roots.push(Root { of: of.clone(), lo: (-1).into(), hi: 0.into(), bits: 0 });
        }
        let chain = of.signed_remainders(of.derivative());
        let mut pieces = vec![(BigInt::from(0), BigInt::from(1), 0u64)];
        while let Some((lo, hi, bits)) = pieces.pop() {
            match changes(&chain, &lo, bits) - changes(&chain, &hi, bits) {
                0 => {}
                1 => roots.push(Root { of: of.clone(), lo, hi, bits }),
                _ => {
                    let mid: BigInt = &lo + &hi;
                    pieces.push((mid.clone(), hi << 1, bits + 1));
                    pieces.push((lo << 1, mid, bits + 1));
                }
            }
        }
        roots
    }
}

/// Sign changes of a sequence at `x / 2^bits`.
fn changes(chain: &[Poly], x: &BigInt, bits: u64) -> i32 {
    let signs: Vec<i32> = chain.iter().map(|p| p.sign_at(x, bits)).filter(|&s| s != 0).collect();
    signs.windows(2).filter(|w| w[0] != w[1]).count() as i32
}

impl Root {
    /// The exact time zero.
    pub(crate) fn zero() -> Self {
        Self { of: Poly(vec![0.into(), 1.into()]), lo: (-1).into(), hi: 0.into(), bits: 0 }
    }

    /// Sign of a polynomial at the root: Tarski's query, a Sturm sequence that starts with `p` and `p' q`.
    pub(crate) fn sign_of(&mut self, q: &Poly) -> i32 {
        if q.0.len() < 2 {
            return q.0.first().map_or(0, sign);
        }
        // The sequence counts between ends that are no roots.
        while self.of.sign_at(&self.lo, self.bits) == 0 && self.of.sign_at(&self.hi, self.bits) != 0 {
            self.halve();
        }
        if self.of.sign_at(&self.hi, self.bits) == 0 {
            return q.sign_at(&self.hi, self.bits);
        }
        let chain = self.of.signed_remainders(self.of.derivative().mul(q).remainder(&self.of));
        changes(&chain, &self.lo, self.bits) - changes(&chain, &self.hi, self.bits)
    }

    fn halve(&mut self) {
        let mid: BigInt = &self.lo + &self.hi;
        self.bits += 1;
        self.lo <<= 1;
        self.hi <<= 1;
        let at_mid = self.of.sign_at(&mid, self.bits);
        // A simple root inside (lo, hi): the sign at hi decides the half. Mid itself belongs to the left.
        if at_mid == 0 || at_mid == self.of.sign_at(&self.hi, self.bits) {
            self.hi = mid;
        } else {
            self.lo = mid;
        }
    }
}

pub(crate) fn sign(x: &BigInt) -> i32 {
    match x.sign() {
        Sign::Minus => -1,
        Sign::NoSign => 0,
        Sign::Plus => 1,
    }
}
