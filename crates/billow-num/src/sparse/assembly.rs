//! Adding element matrices into a sparse matrix without searching.
//!
//! [`ElementSlots`] remembers where each entry of each element goes. [`SlotGather`] is its inverse: every slot sums
//! its own contributions in element order, which runs in parallel and equals the serial scatter bit for bit.

use super::matrix::{Block, Sparse};
use super::pattern::Pattern;
use crate::{NumError, par};

/// For each element the slots of its `N × N` entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementSlots<const N: usize>(Vec<[[u32; N]; N]>);

impl<const N: usize> ElementSlots<N> {
    /// Looks up the slots of all entries of `elements` in `pattern`.
    pub fn new(pattern: &Pattern, elements: &[[u32; N]]) -> Result<Self, NumError> {
        let find = |e: usize| {
            let mut slots = [[0; N]; N];
            for (row, i) in slots.iter_mut().zip(elements[e]) {
                for (slot, j) in row.iter_mut().zip(elements[e]) {
                    let index = j as usize;
                    let found = pattern.slot(i as usize, index);
                    *slot =
                        found.ok_or(NumError::IndexOutOfRange { item: e, index, count: pattern.width() })?
                            as u32;
                }
            }
            Ok(slots)
        };
        par::map(elements.len(), find).into_iter().collect::<Result<_, _>>().map(Self)
    }

    /// Adds the matrix of `element` into `matrix`.
    ///
    /// # Panics
    /// If there is no such element or `matrix` has another pattern with fewer slots.
    pub fn add<B: Block>(&self, matrix: &mut Sparse<B>, element: usize, entries: &[[B; N]; N]) {
        let values = matrix.values_mut();
        for (slots, row) in self.0[element].iter().zip(entries) {
            for (slot, entry) in slots.iter().zip(row) {
                values[*slot as usize] += *entry;
            }
        }
    }
}

/// For each slot the element entries that add to it, in element order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotGather<const N: usize> {
    starts: Vec<usize>,
    sources: Vec<(u32, u8, u8)>,
}

impl<const N: usize> SlotGather<N> {
    /// The inverse of `slots` over a pattern.
    pub fn new(pattern: &Pattern, slots: &ElementSlots<N>) -> Self {
        let mut starts = vec![0; pattern.len() + 1];
        slots.0.iter().flatten().flatten().for_each(|slot| starts[*slot as usize] += 1);
        par::exclusive_sum(&mut starts);
        let mut next = starts.clone();
        let mut sources = vec![(0, 0, 0); N * N * slots.0.len()];
        for (e, rows) in slots.0.iter().enumerate() {
            for (i, row) in rows.iter().enumerate() {
                for (j, slot) in row.iter().enumerate() {
                    let place = &mut next[*slot as usize];
                    sources[*place] = (e as u32, i as u8, j as u8);
                    *place += 1;
                }
            }
        }
        Self { starts, sources }
    }

    /// Sets `matrix` to the sum of all element matrices, in parallel.
    ///
    /// # Panics
    /// If `matrix` has another pattern or there are fewer element matrices than elements.
    pub fn assemble<B: Block>(&self, matrix: &mut Sparse<B>, element_matrices: &[[[B; N]; N]]) {
        let values = matrix.values_mut();
        assert_eq!(values.len() + 1, self.starts.len(), "the matrix has the pattern the gather was made for");
        par::fill(values, |slot| {
            let mut sum = B::ZERO;
            for (e, i, j) in &self.sources[self.starts[slot]..self.starts[slot + 1]] {
                sum += element_matrices[*e as usize][usize::from(*i)][usize::from(*j)];
            }
            sum
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::par::with_threads;
    use crate::rng::Stream;
    use crate::{Mat3, sparse::BlockCsr};
    use std::sync::Arc;

    #[test]
    fn gathered_assembly_equals_serial_scatter_bit_for_bit() {
        let n = 700u64;
        let elements: Vec<[u32; 4]> = (0..5000)
            .map(|e| {
                let mut d = Stream::new(15, 0).at(e);
                [0; 4].map(|_| d.below(n) as u32)
            })
            .collect();
        let matrices: Vec<[[Mat3; 4]; 4]> = (0..5000)
            .map(|e| {
                let mut d = Stream::new(15, 1).at(e);
                [[0; 4]; 4].map(|row| row.map(|_| Mat3::from_cols_array(&[0.0; 9].map(|_| d.normal()))))
            })
            .collect();
        let pattern = Arc::new(Pattern::from_elements(n as usize, &elements).unwrap());
        let slots = ElementSlots::new(&pattern, &elements).unwrap();
        let mut serial = BlockCsr::zeros(pattern.clone());
        let mut by_search = BlockCsr::zeros(pattern.clone());
        for (e, element) in elements.iter().enumerate() {
            slots.add(&mut serial, e, &matrices[e]);
            for (i, node) in element.iter().enumerate() {
                for (j, other) in element.iter().enumerate() {
                    by_search.add(*node as usize, *other as usize, matrices[e][i][j]);
                }
            }
        }
        assert_eq!(serial, by_search);
        let gather = SlotGather::new(&pattern, &slots);
        for threads in [1, 2, 7] {
            let mut gathered = BlockCsr::zeros(pattern.clone());
            gathered.values_mut().fill(Mat3::IDENTITY);
            with_threads(threads, || gather.assemble(&mut gathered, &matrices));
            assert_eq!(gathered, serial);
        }
    }

    #[test]
    fn elements_outside_the_pattern_are_refused() {
        let pattern = Pattern::from_elements(4, &[[0, 1]]).unwrap();
        assert!(ElementSlots::new(&pattern, &[[0, 1]]).is_ok());
        assert!(matches!(ElementSlots::new(&pattern, &[[0, 2]]), Err(NumError::IndexOutOfRange { .. })));
    }
}
