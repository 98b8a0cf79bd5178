//! Incomplete Cholesky factors L Lᵀ ≈ A with the pattern of A: IC(0) and its modified form MIC(0).
//!
//! MIC(0) moves the dropped fill to the diagonal, so that row sums are kept and the condition number of a Poisson
//! problem falls by an order in h. It is tuned as in Bridson's fluid notes: a share τ of the fill is moved and a
//! pivot below σ times its original is reset. IC(0) recovers from a lost pivot by a growing shift of the diagonal
//! (Manteuffel 1980).

use super::Preconditioner;
use crate::NumError;
use crate::sparse::{Csr, Pattern};

/// Which factor to compute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Factor {
    /// Dropped fill is forgotten.
    Plain,
    /// Dropped fill is moved to the diagonal.
    Modified {
        /// Share of the dropped fill that is moved, 0 to 1 [-].
        tau: f64,
        /// Pivots below this share of their original are reset to it, 0 to 1 [-].
        sigma: f64,
    },
}

impl Factor {
    /// MIC(0) with τ = 0.97 and σ = 0.25.
    pub const MIC: Self = Self::Modified { tau: 0.97, sigma: 0.25 };
}

/// The lower factor of a symmetric matrix, by rows.
#[derive(Clone, Debug, PartialEq)]
pub struct IncompleteCholesky {
    rows: Lower,
    /// Strictly lower entries of L.
    values: Vec<f64>,
    /// 1 / L_ii, or 0 for empty rows.
    inverse_diagonal: Vec<f64>,
    shift: f64,
    resets: usize,
}

/// The strictly lower pattern by rows, and its columns as lists of (row, slot).
#[derive(Clone, Debug, PartialEq)]
struct Lower {
    starts: Vec<u32>,
    columns: Vec<u32>,
    column_starts: Vec<u32>,
    column_rows: Vec<(u32, u32)>,
    /// Slot in A of each lower entry.
    sources: Vec<usize>,
}

/// First shift tried when a pivot is lost, relative to the diagonal; doubled until it suffices.
const FIRST_SHIFT: f64 = 1e-3;
/// Shift beyond which lost pivots are reset instead: the matrix is nowhere near positive definite.
const LARGEST_SHIFT: f64 = 1e3;
/// A pivot is lost when less than this share of its diagonal entry is left.
const LOST: f64 = 1e-12;

impl IncompleteCholesky {
    /// Factors the symmetric matrix `a`, whose diagonal must be positive (or zero, with its whole row).
    pub fn new(a: &Csr, factor: Factor) -> Result<Self, NumError> {
        if let Some((row, column)) = a.pattern().asymmetry() {
            return Err(NumError::NotSymmetric { row, column });
        }
        let rows = Lower::new(a.pattern());
        let (entries, n) = (rows.columns.len(), a.pattern().rows());
        let mut this =
            Self { rows, values: vec![0.0; entries], inverse_diagonal: vec![0.0; n], shift: 0.0, resets: 0 };
        this.refill(a, factor)?;
        Ok(this)
    }

    /// Factors a matrix with the same pattern again, without allocation.
    ///
    /// # Panics
    /// If `a` has another pattern.
    pub fn refill(&mut self, a: &Csr, factor: Factor) -> Result<(), NumError> {
        assert_eq!(a.pattern().rows(), self.inverse_diagonal.len(), "the pattern must stay the same");
        for row in 0..self.inverse_diagonal.len() {
            let value = a.diagonal(row);
            if !(0.0..f64::INFINITY).contains(&value) {
                return Err(NumError::BadDiagonal { row, value });
            }
        }
        self.shift = 0.0;
        while !self.eliminate(a, factor) {
            self.shift = FIRST_SHIFT.max(2.0 * self.shift);
        }
        Ok(())
    }

    /// The relative diagonal shift that was needed, usually 0 [-].
    pub fn shift(&self) -> f64 {
        self.shift
    }

    /// How many pivots had to be reset.
    pub fn resets(&self) -> usize {
        self.resets
    }

    /// Right-looking elimination; false if a pivot of the plain factor is lost.
    fn eliminate(&mut self, a: &Csr, factor: Factor) -> bool {
        let Self { rows, values, inverse_diagonal: d, shift, resets } = self;
        *resets = 0;
        values.iter_mut().zip(&rows.sources).for_each(|(v, slot)| *v = a.values()[*slot]);
        // `d` holds the pivots still to come and the inverse roots of those done.
        d.iter_mut().enumerate().for_each(|(i, d)| *d = a.diagonal(i) * (1.0 + *shift));
        for k in 0..d.len() {
            let original = a.diagonal(k) * (1.0 + *shift);
            if original == 0.0 {
                d[k] = 0.0;
                continue;
            }
            let least = if let Factor::Modified { sigma, .. } = factor { sigma } else { LOST };
            // False for NaN, too.
            let healthy = d[k] > least * original;
            if !healthy && factor == Factor::Plain && *shift < LARGEST_SHIFT {
                return false;
            }
            if !healthy {
                d[k] = original;
                *resets += 1;
            }
            d[k] = 1.0 / d[k].sqrt();
            let column = &rows.column_rows[rows.column(k)];
            column.iter().for_each(|(_, slot)| values[*slot as usize] *= d[k]);
            rows.spread(column, values, d, factor);
        }
        true
    }
}

impl Lower {
    fn new(pattern: &Pattern) -> Self {
        let n = pattern.rows();
        let (mut starts, mut columns, mut sources) = (vec![0], Vec::new(), Vec::new());
        let mut column_starts = vec![0u32; n + 1];
        for i in 0..n {
            for slot in pattern.row(i) {
                let j = pattern.columns()[slot];
                if (j as usize) < i {
                    columns.push(j);
                    sources.push(slot);
                    column_starts[j as usize] += 1;
                }
            }
            starts.push(columns.len() as u32);
        }
        crate::par::exclusive_sum(&mut column_starts);
        let mut next = column_starts.clone();
        let mut column_rows = vec![(0, 0); columns.len()];
        for i in 0..n {
            for slot in starts[i]..starts[i + 1] {
                let place = &mut next[columns[slot as usize] as usize];
                column_rows[*place as usize] = (i as u32, slot);
                *place += 1;
            }
        }
        Self { starts, columns, column_starts, column_rows, sources }
    }

    fn row(&self, i: usize) -> std::ops::Range<usize> {
        self.starts[i] as usize..self.starts[i + 1] as usize
    }

    fn column(&self, k: usize) -> std::ops::Range<usize> {
        self.column_starts[k] as usize..self.column_starts[k + 1] as usize
    }

    /// Subtracts the outer product of a finished column: into entries the pattern has, otherwise (for the modified
    /// factor) into the diagonals of both rows.
    fn spread(&self, column: &[(u32, u32)], values: &mut [f64], d: &mut [f64], factor: Factor) {
        for (m, (i, slot_i)) in column.iter().enumerate() {
            let l_i = values[*slot_i as usize];
            d[*i as usize] -= l_i * l_i;
            for (j, slot_j) in &column[m + 1..] {
                let fill = l_i * values[*slot_j as usize];
                let row = self.row(*j as usize);
                let first = row.start;
                if let Ok(k) = self.columns[row].binary_search(i) {
                    values[first + k] -= fill;
                } else if let Factor::Modified { tau, .. } = factor {
                    d[*i as usize] -= tau * fill;
                    d[*j as usize] -= tau * fill;
                }
            }
        }
    }
}

impl Preconditioner<f64> for IncompleteCholesky {
    /// Solves `L Lᵀ z = r` by forward and backward substitution.
    fn apply(&self, r: &[f64], z: &mut [f64]) {
        let n = self.inverse_diagonal.len();
        assert!(r.len() == n && z.len() == n, "one entry per row");
        for i in 0..n {
            let row = self.rows.row(i);
            let entries = self.values[row.clone()].iter().zip(&self.rows.columns[row]);
            z[i] = entries.fold(r[i], |sum, (l, j)| sum - l * z[*j as usize]) * self.inverse_diagonal[i];
        }
        for i in (0..n).rev() {
            let row = self.rows.row(i);
            let z_i = z[i] * self.inverse_diagonal[i];
            z[i] = z_i;
            let entries = self.values[row.clone()].iter().zip(&self.rows.columns[row]);
            entries.for_each(|(l, j)| z[*j as usize] -= l * z_i);
        }
    }
}
