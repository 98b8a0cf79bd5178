//! Where a sparse matrix has entries.

use crate::NumError;
use crate::par::{self, Incidence};
use std::ops::Range;

/// The positions of the entries of a matrix, row by row with increasing columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    width: usize,
    starts: Vec<usize>,
    columns: Vec<u32>,
    /// Slot of each diagonal entry, [`NO_SLOT`] where the row has none.
    diagonal: Vec<usize>,
}

const NO_SLOT: usize = usize::MAX;

impl Pattern {
    /// The square pattern in which all nodes of an element are coupled; the diagonal is always there.
    pub fn from_elements<const N: usize>(nodes: usize, elements: &[[u32; N]]) -> Result<Self, NumError> {
        let incidence = Incidence::new(nodes, elements)?;
        let rows = par::map(nodes, |i| {
            let mut row: Vec<u32> =
                incidence.of(i).iter().flat_map(|(e, _)| elements[*e as usize]).chain([i as u32]).collect();
            row.sort_unstable();
            row.dedup();
            row
        });
        Ok(Self::from_sorted_rows(nodes, &rows))
    }

    /// The pattern with the given positions, in any order and with repetitions.
    pub fn from_positions(rows: usize, width: usize, positions: &[(u32, u32)]) -> Result<Self, NumError> {
        let mut lists = vec![Vec::new(); rows];
        for (item, (i, j)) in positions.iter().enumerate() {
            for (index, count) in [(*i as usize, rows), (*j as usize, width)] {
                if index >= count {
                    return Err(NumError::IndexOutOfRange { item, index, count });
                }
            }
            lists[*i as usize].push(*j);
        }
        for list in &mut lists {
            list.sort_unstable();
            list.dedup();
        }
        Ok(Self::from_sorted_rows(width, &lists))
    }

    fn from_sorted_rows(width: usize, rows: &[Vec<u32>]) -> Self {
        let mut starts: Vec<usize> = rows.iter().map(Vec::len).chain([0]).collect();
        par::exclusive_sum(&mut starts);
        let columns: Vec<u32> = rows.concat();
        let diagonal = rows
            .iter()
            .enumerate()
            .map(|(i, row)| row.binary_search(&(i as u32)).map_or(NO_SLOT, |k| starts[i] + k))
            .collect();
        Self { width, starts, columns, diagonal }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there is no entry at all.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The slots of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> Range<usize> {
        self.starts[i]..self.starts[i + 1]
    }

    /// The columns of all slots.
    #[inline]
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// The slot of entry `(i, j)`.
    pub fn slot(&self, i: usize, j: usize) -> Option<usize> {
        let row = self.starts.get(i).zip(self.starts.get(i + 1)).map(|(a, b)| *a..*b)?;
        let start = row.start;
        self.columns[row].binary_search(&u32::try_from(j).ok()?).ok().map(|k| start + k)
    }

    /// The slot of the diagonal entry of row `i`.
    pub fn diagonal_slot(&self, i: usize) -> Option<usize> {
        self.diagonal.get(i).copied().filter(|slot| *slot != NO_SLOT)
    }

    /// The pattern of the transposed matrix, and for each of its slots the slot it mirrors here.
    pub fn transposed(&self) -> (Self, Vec<usize>) {
        let mut starts = vec![0; self.width + 1];
        self.columns.iter().for_each(|j| starts[*j as usize] += 1);
        par::exclusive_sum(&mut starts);
        let mut next = starts.clone();
        let mut columns = vec![0; self.len()];
        let mut mirror = vec![0; self.len()];
        for i in 0..self.rows() {
            for slot in self.row(i) {
                let place = &mut next[self.columns[slot] as usize];
                (columns[*place], mirror[*place]) = (i as u32, slot);
                *place += 1;
            }
        }
        let mut pattern = Self { width: self.rows(), starts, columns, diagonal: Vec::new() };
        pattern.diagonal = (0..self.width).map(|i| pattern.slot(i, i).unwrap_or(NO_SLOT)).collect();
        (pattern, mirror)
    }

    /// The first position, if any, whose mirror image `(j, i)` is not in the pattern.
    pub fn asymmetry(&self) -> Option<(usize, usize)> {
        let entries = (0..self.rows()).flat_map(|i| self.row(i).map(move |slot| (i, slot)));
        entries.map(|(i, slot)| (i, self.columns[slot] as usize)).find(|(i, j)| self.slot(*j, *i).is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_couple_their_nodes_and_every_node_itself() {
        let p = Pattern::from_elements(5, &[[0, 2, 3], [3, 2, 1]]).unwrap();
        let dense: Vec<Vec<u32>> = (0..5).map(|i| p.columns()[p.row(i)].to_vec()).collect();
        assert_eq!(dense, [vec![0, 2, 3], vec![1, 2, 3], vec![0, 1, 2, 3], vec![0, 1, 2, 3], vec![4]]);
        assert_eq!((p.rows(), p.width(), p.len()), (5, 5, 15));
        assert!((0..5).all(|i| p.diagonal_slot(i) == p.slot(i, i) && p.slot(i, i).is_some()));
        assert_eq!((p.slot(0, 1), p.slot(9, 0), p.slot(0, usize::MAX)), (None, None, None));
        assert_eq!(p.asymmetry(), None);
        assert!(matches!(Pattern::from_elements(3, &[[0, 3]]), Err(NumError::IndexOutOfRange { .. })));
    }

    #[test]
    fn transposition_mirrors_every_entry() {
        let p = Pattern::from_positions(3, 4, &[(0, 3), (2, 1), (0, 1), (1, 1), (0, 3)]).unwrap();
        let (t, mirror) = p.transposed();
        assert_eq!((t.rows(), t.width(), t.len()), (4, 3, 4));
        for j in 0..4 {
            for slot in t.row(j) {
                assert_eq!(p.slot(t.columns()[slot] as usize, j), Some(mirror[slot]));
            }
        }
        assert_eq!(t.transposed().0, p);
        assert_eq!(p.asymmetry(), Some((0, 1)));
        assert!(matches!(Pattern::from_positions(1, 1, &[(0, 1)]), Err(NumError::IndexOutOfRange { .. })));
    }
}
