//! Vectors of numbers or of 3-vectors: products, norms and updates with the same bits for any thread count.
//!
//! Sums run in fixed chunks, each with eight accumulators so that the processor's vector units are used, and
//! chunk sums are added in order. Reductions write into caller-owned [`Partials`], so loops allocate nothing.

use crate::Vec3;
use crate::par::{CHUNK, Partials};
use rayon::prelude::*;
use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};

/// One unknown of a linear system: a number, or a 3-vector per node.
pub trait Entry:
    Copy
    + Send
    + Sync
    + Default
    + PartialEq
    + std::fmt::Debug
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + SubAssign
    + Mul<f64, Output = Self>
{
    /// The scalar product.
    fn dot(self, other: Self) -> f64;
}

impl Entry for f64 {
    #[inline(always)]
    fn dot(self, other: Self) -> f64 {
        self * other
    }
}

impl Entry for Vec3 {
    #[inline(always)]
    fn dot(self, other: Self) -> f64 {
        Vec3::dot(self, other)
    }
}

/// Below this many entries a parallel loop costs more than it saves.
const PARALLEL: usize = 8 * CHUNK;

/// The scalar product of two vectors of one length.
pub fn dot<T: Entry>(a: &[T], b: &[T], partials: &mut Partials) -> f64 {
    assert_eq!(a.len(), b.len(), "vectors must have one length");
    let sums = partials.slots(a.len(), CHUNK);
    if a.len() < PARALLEL {
        let parts = a.chunks(CHUNK).zip(b.chunks(CHUNK));
        sums.iter_mut().zip(parts).for_each(|(sum, (a, b))| *sum = chunk_dot(a, b));
    } else {
        let parts = a.par_chunks(CHUNK).zip(b.par_chunks(CHUNK));
        sums.par_iter_mut().zip(parts).for_each(|(sum, (a, b))| *sum = chunk_dot(a, b));
    }
    sums.iter().sum()
}

/// The Euclidean norm.
pub fn norm<T: Entry>(a: &[T], partials: &mut Partials) -> f64 {
    dot(a, a, partials).sqrt()
}

/// `y += α x`.
pub fn axpy<T: Entry>(alpha: f64, x: &[T], y: &mut [T]) {
    zip_with(y, x, |y, x| *y += x * alpha);
}

/// `y = x + β y`, the update of a search direction.
pub fn xpay<T: Entry>(x: &[T], beta: f64, y: &mut [T]) {
    zip_with(y, x, |y, x| *y = x + *y * beta);
}

/// `y = a − y`, the residual from a product.
pub fn subtract_from<T: Entry>(a: &[T], y: &mut [T]) {
    zip_with(y, a, |y, a| *y = a - *y);
}

/// Applies `f(&mut y[i], x[i])` to all entries.
pub fn zip_with<T: Entry>(y: &mut [T], x: &[T], f: impl Fn(&mut T, T) + Sync) {
    assert_eq!(x.len(), y.len(), "vectors must have one length");
    let apply = |(y, x): (&mut [T], &[T])| y.iter_mut().zip(x).for_each(|(y, x)| f(y, *x));
    if y.len() < PARALLEL {
        apply((y, x));
    } else {
        y.par_chunks_mut(CHUNK).zip(x.par_chunks(CHUNK)).for_each(apply);
    }
}

/// The heart of conjugate gradients in one pass over memory: `x += α p`, `r −= α q`, returns `r·r`.
pub fn descend<T: Entry>(
    alpha: f64,
    (p, q): (&[T], &[T]),
    (x, r): (&mut [T], &mut [T]),
    partials: &mut Partials,
) -> f64 {
    let n = x.len();
    assert!(p.len() == n && q.len() == n && r.len() == n, "vectors must have one length");
    let sums = partials.slots(n, CHUNK);
    if n < PARALLEL {
        let parts = x.chunks_mut(CHUNK).zip(r.chunks_mut(CHUNK)).zip(p.chunks(CHUNK)).zip(q.chunks(CHUNK));
        let parts = sums.iter_mut().zip(parts);
        parts.for_each(|(sum, (((x, r), p), q))| *sum = descend_chunk(alpha, (p, q), x, r));
    } else {
        let parts = x.par_chunks_mut(CHUNK).zip(r.par_chunks_mut(CHUNK));
        let parts = sums.par_iter_mut().zip(parts.zip(p.par_chunks(CHUNK)).zip(q.par_chunks(CHUNK)));
        parts.for_each(|(sum, (((x, r), p), q))| *sum = descend_chunk(alpha, (p, q), x, r));
    }
    sums.iter().sum()
}

fn descend_chunk<T: Entry>(alpha: f64, (p, q): (&[T], &[T]), x: &mut [T], r: &mut [T]) -> f64 {
    x.iter_mut().zip(p).for_each(|(x, p)| *x += *p * alpha);
    r.iter_mut().zip(q).for_each(|(r, q)| *r -= *q * alpha);
    chunk_dot(r, r)
}

/// Sum of products with eight accumulators; the order of additions is fixed.
pub(crate) fn chunk_dot<T: Entry>(a: &[T], b: &[T]) -> f64 {
    let mut sums = [0.0; 8];
    let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = a8.remainder().iter().zip(b8.remainder()).map(|(x, y)| x.dot(*y)).sum();
    for (x, y) in a8.zip(b8) {
        for k in 0..8 {
            sums[k] += x[k].dot(y[k]);
        }
    }
    ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7])) + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::par::with_threads;
    use crate::rng::Stream;

    fn random(n: usize, stream: u64) -> Vec<f64> {
        (0..n as u64).map(|i| Stream::new(9, stream).at(i).normal()).collect()
    }

    #[test]
    fn products_and_updates_have_the_same_bits_for_1_2_and_7_threads() {
        for n in [0, 1, 7, CHUNK, PARALLEL - 1, PARALLEL + 5, 50_001] {
            let (p, q, x0, r0) = (random(n, 0), random(n, 1), random(n, 2), random(n, 3));
            let run = |threads| {
                with_threads(threads, || {
                    let mut partials = Partials::default();
                    let (mut x, mut r) = (x0.clone(), r0.clone());
                    let rr = descend(0.3, (&p, &q), (&mut x, &mut r), &mut partials);
                    axpy(-0.5, &p, &mut x);
                    xpay(&q, 0.7, &mut x);
                    subtract_from(&p, &mut r);
                    (rr.to_bits(), dot(&p, &q, &mut partials).to_bits(), x, r)
                })
            };
            let one = run(1);
            assert_eq!(one, run(2));
            assert_eq!(one, run(7));
            // And the right values: serial sums differ by rounding only.
            let truth: f64 = p.iter().zip(&q).map(|(a, b)| a * b).sum();
            assert!((f64::from_bits(one.1) - truth).abs() <= 1e-11 * (1.0 + n as f64).sqrt());
            let rr: f64 = r0.iter().zip(&q).map(|(r, q)| (r - 0.3 * q).powi(2)).sum();
            assert!((f64::from_bits(one.0) - rr).abs() <= 1e-12 * (1.0 + rr));
            for i in 0..n {
                assert!((one.2[i] - (q[i] + 0.7 * (x0[i] + 0.3 * p[i] - 0.5 * p[i]))).abs() < 1e-13);
                assert!((one.3[i] - (p[i] - (r0[i] - 0.3 * q[i]))).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn vectors_of_3_vectors_agree_with_their_numbers() {
        let flat = random(3000, 4);
        let nested: Vec<Vec3> = flat.chunks(3).map(Vec3::from_slice).collect();
        let mut partials = Partials::default();
        let (a, b) = (norm(&flat, &mut partials), norm(&nested, &mut partials));
        assert!((a - b).abs() < 1e-12 * a);
    }
}
