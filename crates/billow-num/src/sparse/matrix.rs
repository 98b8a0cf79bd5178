//! Sparse matrices over a shared pattern.

use super::Pattern;
use crate::par::{self, Partials};
use crate::vector::{Entry, chunk_dot};
use crate::{Mat3, NumError, Vec3};
use rayon::prelude::*;
use std::sync::Arc;

/// An entry of a sparse matrix and the kind of unknown it multiplies.
pub trait Block: Copy + Send + Sync + Default + PartialEq + std::fmt::Debug + std::ops::AddAssign {
    /// What the matrix multiplies: numbers for numbers, 3-vectors for 3×3 blocks.
    type Entry: Entry;
    /// The zero entry.
    const ZERO: Self;
    /// Product with one unknown.
    fn apply(&self, x: Self::Entry) -> Self::Entry;
    /// The transposed entry.
    fn transposed(&self) -> Self;
    /// Largest absolute difference to another entry.
    fn distance(&self, other: &Self) -> f64;
}

impl Block for f64 {
    type Entry = f64;
    const ZERO: Self = 0.0;
    #[inline(always)]
    fn apply(&self, x: f64) -> f64 {
        self * x
    }
    fn transposed(&self) -> Self {
        *self
    }
    fn distance(&self, other: &Self) -> f64 {
        (self - other).abs()
    }
}

impl Block for Mat3 {
    type Entry = Vec3;
    const ZERO: Self = Mat3::ZERO;
    #[inline(always)]
    fn apply(&self, x: Vec3) -> Vec3 {
        *self * x
    }
    fn transposed(&self) -> Self {
        self.transpose()
    }
    fn distance(&self, other: &Self) -> f64 {
        (*self - *other).to_cols_array().iter().fold(0.0, |m, x| m.max(x.abs()))
    }
}

/// A sparse matrix in compressed rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Sparse<B> {
    pattern: Arc<Pattern>,
    values: Vec<B>,
}

/// A sparse matrix of numbers.
pub type Csr = Sparse<f64>;
/// A sparse matrix of 3×3 blocks, for three unknowns per node.
pub type BlockCsr = Sparse<Mat3>;

/// Rows per parallel task.
const ROWS: usize = 512;

impl<B: Block> Sparse<B> {
    /// The zero matrix over `pattern`.
    pub fn zeros(pattern: Arc<Pattern>) -> Self {
        let values = vec![B::ZERO; pattern.len()];
        Self { pattern, values }
    }

    /// The matrix with the given entries; those at one position add up in the order given.
    pub fn from_triplets(rows: usize, width: usize, entries: &[(u32, u32, B)]) -> Result<Self, NumError> {
        let positions: Vec<(u32, u32)> = entries.iter().map(|(i, j, _)| (*i, *j)).collect();
        let mut matrix = Self::zeros(Arc::new(Pattern::from_positions(rows, width, &positions)?));
        for (i, j, value) in entries {
            matrix.add(*i as usize, *j as usize, *value);
        }
        Ok(matrix)
    }

    /// Where the matrix has entries.
    pub fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    /// The entries by slot.
    pub fn values(&self) -> &[B] {
        &self.values
    }

    /// The entries by slot, to be overwritten.
    pub fn values_mut(&mut self) -> &mut [B] {
        &mut self.values
    }

    /// Sets all entries to zero, keeping the pattern.
    pub fn clear(&mut self) {
        self.values.fill(B::ZERO);
    }

    /// The entry `(i, j)`, zero where the pattern has none.
    pub fn get(&self, i: usize, j: usize) -> B {
        self.pattern.slot(i, j).map_or(B::ZERO, |slot| self.values[slot])
    }

    /// Adds to the entry `(i, j)`.
    ///
    /// # Panics
    /// If the pattern has no such entry.
    pub fn add(&mut self, i: usize, j: usize, value: B) {
        let slot = self.pattern.slot(i, j).expect("entries are only added where the pattern has them");
        self.values[slot] += value;
    }

    /// The diagonal entry of row `i`, zero where the pattern has none.
    pub fn diagonal(&self, i: usize) -> B {
        self.pattern.diagonal_slot(i).map_or(B::ZERO, |slot| self.values[slot])
    }

    /// Adds to the diagonal entry of row `i`.
    ///
    /// # Panics
    /// If the pattern has no such entry.
    pub fn add_diagonal(&mut self, i: usize, value: B) {
        let slot = self.pattern.diagonal_slot(i).expect("the pattern has this diagonal entry");
        self.values[slot] += value;
    }

    /// `y = A x`.
    ///
    /// # Panics
    /// If the lengths do not fit.
    pub fn multiply(&self, x: &[B::Entry], y: &mut [B::Entry]) {
        self.check_lengths(x, y);
        par::chunks_mut(y, ROWS, |first, part| self.multiply_rows(first, x, part));
    }

    /// `y = A x`, returning `x · y` from the same pass; for square matrices.
    pub fn multiply_dot(&self, x: &[B::Entry], y: &mut [B::Entry], partials: &mut Partials) -> f64 {
        self.check_lengths(x, y);
        let sums = partials.slots(y.len(), ROWS);
        let task = |(c, (sum, part)): (usize, (&mut f64, &mut [B::Entry]))| {
            let first = c * ROWS;
            self.multiply_rows(first, x, part);
            *sum = chunk_dot(&x[first..first + part.len()], part);
        };
        if y.len() <= ROWS {
            sums.iter_mut().zip(y.chunks_mut(ROWS)).enumerate().for_each(task);
        } else {
            sums.par_iter_mut().zip(y.par_chunks_mut(ROWS)).enumerate().for_each(task);
        }
        sums.iter().sum()
    }

    fn multiply_rows(&self, first: usize, x: &[B::Entry], part: &mut [B::Entry]) {
        let columns = self.pattern.columns();
        for (k, y) in part.iter_mut().enumerate() {
            let row = self.pattern.row(first + k);
            let entries = self.values[row.clone()].iter().zip(&columns[row]);
            *y = entries.fold(B::Entry::default(), |sum, (a, j)| sum + a.apply(x[*j as usize]));
        }
    }

    fn check_lengths(&self, x: &[B::Entry], y: &[B::Entry]) {
        assert_eq!(x.len(), self.pattern.width(), "one unknown per column");
        assert_eq!(y.len(), self.pattern.rows(), "one result per row");
    }

    /// The transposed matrix.
    pub fn transposed(&self) -> Self {
        let (pattern, mirror) = self.pattern.transposed();
        let values = par::map(mirror.len(), |slot| self.values[mirror[slot]].transposed());
        Self { pattern: Arc::new(pattern), values }
    }

    /// The largest difference between an entry and its mirror image; infinite if the pattern is not symmetric.
    pub fn asymmetry(&self) -> f64 {
        if self.pattern.rows() != self.pattern.width() || self.pattern.asymmetry().is_some() {
            return f64::INFINITY;
        }
        let mirror = self.transposed();
        par::max(self.values.len(), |slot| self.values[slot].distance(&mirror.values[slot])).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::par::with_threads;
    use crate::rng::Stream;

    fn elements(nodes: u64, count: u64) -> Vec<[u32; 4]> {
        (0..count)
            .map(|e| {
                let mut d = Stream::new(14, 0).at(e);
                [0; 4].map(|_| d.below(nodes) as u32)
            })
            .collect()
    }

    fn random_block(slot: usize) -> Mat3 {
        let mut d = Stream::new(14, 1).at(slot as u64);
        Mat3::from_cols_array(&[0.0; 9].map(|_| d.normal()))
    }

    #[test]
    fn block_products_equal_dense_ones_with_the_same_bits_for_1_2_and_7_threads() {
        let n = 2000;
        let pattern = Arc::new(Pattern::from_elements(n, &elements(n as u64, 3000)).unwrap());
        let mut a = BlockCsr::zeros(pattern.clone());
        a.values_mut().iter_mut().enumerate().for_each(|(slot, b)| *b = random_block(slot));
        let x: Vec<Vec3> = (0..n as u64).map(|i| Stream::new(14, 2).at(i).unit_vector()).collect();
        let run = |threads| {
            let (mut y, mut z) = (vec![Vec3::ZERO; n], vec![Vec3::ZERO; n]);
            let product = with_threads(threads, || {
                a.multiply(&x, &mut y);
                a.multiply_dot(&x, &mut z, &mut Partials::default())
            });
            (y, z, product.to_bits())
        };
        let (y, z, product) = run(1);
        assert_eq!(y, z);
        assert_eq!((y.clone(), z.clone(), product), run(2));
        assert_eq!((y.clone(), z, product), run(7));
        for i in (0..n).step_by(97) {
            let truth: Vec3 = (0..n).map(|j| a.get(i, j) * x[j]).sum();
            assert!(y[i].distance(truth) < 1e-12);
        }
        let truth: f64 = x.iter().zip(&y).map(|(x, y)| x.dot(*y)).sum();
        assert!((f64::from_bits(product) - truth).abs() < 1e-9);
    }

    #[test]
    fn transposes_swap_products_and_symmetry_is_measured() {
        let n = 60;
        let pattern = Arc::new(Pattern::from_elements(n, &elements(n as u64, 40)).unwrap());
        let mut a = BlockCsr::zeros(pattern);
        a.values_mut().iter_mut().enumerate().for_each(|(slot, b)| *b = random_block(slot));
        let t = a.transposed();
        for i in 0..n {
            for j in 0..n {
                assert_eq!(t.get(i, j), a.get(j, i).transpose());
            }
        }
        assert!(a.asymmetry() > 0.1);
        let mut s = a.clone();
        s.values_mut().iter_mut().zip(t.values()).for_each(|(b, c)| *b += *c);
        assert_eq!(s.asymmetry(), 0.0);
        assert_eq!(Csr::from_triplets(2, 2, &[(0, 1, 1.0)]).unwrap().asymmetry(), f64::INFINITY);
    }

    #[test]
    fn triplets_add_up_and_refilling_starts_from_zero() {
        let mut a = Csr::from_triplets(2, 3, &[(0, 2, 1.5), (1, 0, 2.0), (0, 2, 0.5), (1, 1, 3.0)]).unwrap();
        assert_eq!((a.get(0, 2), a.get(1, 0), a.get(0, 0), a.diagonal(1)), (2.0, 2.0, 0.0, 3.0));
        let mut y = [0.0; 2];
        a.multiply(&[1.0, 10.0, 100.0], &mut y);
        assert_eq!(y, [200.0, 32.0]);
        a.clear();
        a.add(0, 2, 1.0);
        a.add_diagonal(1, 4.0);
        assert_eq!((a.get(0, 2), a.get(1, 0), a.diagonal(1)), (1.0, 0.0, 4.0));
    }
}
