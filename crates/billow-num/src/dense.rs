//! Small dense systems of any size: LU factors with partial pivoting.
//!
//! For a handful of unknowns (contact patches, moment equations, Newton on few parameters); 3×3 matrices have
//! their own [`mat3`](crate::mat3).

use crate::NumError;

/// The factors `P A = L U` of a square matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Lu {
    n: usize,
    /// L below the diagonal (its diagonal is one), U on and above, row by row.
    factors: Vec<f64>,
    pivots: Vec<usize>,
}

/// A pivot this small beside the largest entry of the matrix is rounding.
const SMALLEST_PIVOT: f64 = 1e-15;

impl Lu {
    /// Factors the `n × n` matrix `a`, given row by row.
    ///
    /// # Panics
    /// If `a` has not `n²` entries.
    pub fn factor(n: usize, a: &[f64]) -> Result<Self, NumError> {
        assert_eq!(a.len(), n * n, "a {n}×{n} matrix has {} entries", n * n);
        let mut f = a.to_vec();
        let mut pivots = Vec::with_capacity(n);
        let largest = a.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        for k in 0..n {
            let best =
                (k..n).fold(k, |best, i| if f[i * n + k].abs() > f[best * n + k].abs() { i } else { best });
            let pivot = f[best * n + k].abs() / largest;
            if pivot.is_nan() || pivot < SMALLEST_PIVOT {
                return Err(NumError::ZeroPivot { step: k, pivot });
            }
            pivots.push(best);
            if best != k {
                (0..n).for_each(|j| f.swap(k * n + j, best * n + j));
            }
            for i in k + 1..n {
                let l = f[i * n + k] / f[k * n + k];
                f[i * n + k] = l;
                for j in k + 1..n {
                    f[i * n + j] -= l * f[k * n + j];
                }
            }
        }
        Ok(Self { n, factors: f, pivots })
    }

    /// Replaces `b` by the solution of `A x = b`.
    ///
    /// # Panics
    /// If `b` has not one entry per row.
    pub fn solve(&self, b: &mut [f64]) {
        let (n, f) = (self.n, &self.factors);
        assert_eq!(b.len(), n, "one entry per row");
        self.pivots.iter().enumerate().for_each(|(k, best)| b.swap(k, *best));
        for i in 0..n {
            b[i] -= (0..i).map(|j| f[i * n + j] * b[j]).sum::<f64>();
        }
        for i in (0..n).rev() {
            let sum: f64 = (i + 1..n).map(|j| f[i * n + j] * b[j]).sum();
            b[i] = (b[i] - sum) / f[i * n + i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn random_systems_are_solved_to_rounding() {
        for n in [1, 2, 5, 20, 60] {
            let mut d = Stream::new(18, 0).at(n as u64);
            let a: Vec<f64> = (0..n * n).map(|_| d.normal()).collect();
            let truth: Vec<f64> = (0..n).map(|_| d.normal()).collect();
            let mut b: Vec<f64> = (0..n).map(|i| (0..n).map(|j| a[i * n + j] * truth[j]).sum()).collect();
            Lu::factor(n, &a).unwrap().solve(&mut b);
            assert!((0..n).all(|i| (b[i] - truth[i]).abs() < 1e-11), "{n}");
        }
    }

    #[test]
    fn zero_pivots_are_exchanged_and_singular_matrices_refused() {
        let mut b = [2.0, 3.0];
        Lu::factor(2, &[0.0, 1.0, 1.0, 0.0]).unwrap().solve(&mut b);
        assert_eq!(b, [3.0, 2.0]);
        assert!(matches!(Lu::factor(2, &[1.0, 2.0, 2.0, 4.0]), Err(NumError::ZeroPivot { step: 1, .. })));
        assert!(Lu::factor(1, &[0.0]).is_err() && Lu::factor(1, &[f64::NAN]).is_err());
        Lu::factor(0, &[]).unwrap().solve(&mut []);
    }
}
