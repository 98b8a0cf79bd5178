//! Rows of numbers of varying length, and grouping by equal keys.
//!
//! [`Csr`] stores all rows back to back. [`Incidence`] is a [`Csr`] tuned for rows that nearly always hold
//! one or two numbers. [`Groups`] finds equal keys by a counting sort on their first part and a small sort
//! inside each bucket: linear time, parallel, and an order that depends only on the input.

use billow_num::par;

/// Marks an absent number.
pub(crate) const NONE: u32 = u32::MAX;

/// Rows handled by one parallel task.
pub(crate) const BLOCK: usize = 4096;

/// Rows of `u32` stored back to back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Csr {
    /// Row `r` is `items[offsets[r]..offsets[r + 1]]`.
    offsets: Vec<u32>,
    items: Vec<u32>,
}

impl Default for Csr {
    fn default() -> Self {
        Self { offsets: vec![0], items: Vec::new() }
    }
}

impl Csr {
    /// Row `r` lists, ascending, the positions `i` with `row_of(i) == r`, for `i` in `0..count`.
    pub(crate) fn group(rows: usize, count: usize, row_of: impl Fn(usize) -> u32) -> Self {
        let mut offsets = vec![0u32; rows + 1];
        for i in 0..count {
            offsets[row_of(i) as usize + 1] += 1;
        }
        prefix_sums(&mut offsets);
        let mut cursor = offsets.clone();
        let mut items = vec![0u32; count];
        for i in 0..count {
            let slot = &mut cursor[row_of(i) as usize];
            items[*slot as usize] = i as u32;
            *slot += 1;
        }
        Self { offsets, items }
    }

    /// The same rows with every number replaced.
    pub(crate) fn mapped(mut self, f: impl Fn(u32) -> u32) -> Self {
        self.items.iter_mut().for_each(|x| *x = f(*x));
        self
    }

    /// Adds a row at the end.
    pub(crate) fn push(&mut self, row: &[u32]) {
        self.items.extend_from_slice(row);
        self.offsets.push(self.items.len() as u32);
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers of row `r`.
    pub fn row(&self, r: usize) -> &[u32] {
        &self.items[self.offsets[r] as usize..self.offsets[r + 1] as usize]
    }

    /// All rows in order.
    pub fn rows(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len()).map(|r| self.row(r))
    }

    /// All rows back to back.
    pub fn items(&self) -> &[u32] {
        &self.items
    }

    /// Blocks of [`BLOCK`] consecutive rows for parallel writing.
    pub(crate) fn blocks_mut(&mut self) -> Vec<RowsMut<'_>> {
        row_blocks(&self.offsets, &mut self.items, BLOCK)
    }
}

/// Turns counts stored from position 1 on into offsets.
fn prefix_sums(counts: &mut [u32]) {
    let mut sum = 0;
    for c in counts {
        sum += *c;
        *c = sum;
    }
}

/// For each of many entities a short list of numbers; lists of one or two are stored inline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Incidence {
    /// `[a, b]`, `[a, NONE]`, or `[NONE, row of more]`.
    inline: Vec<[u32; 2]>,
    more: Csr,
}

impl Incidence {
    /// Collects one list after the other; lists must not be empty.
    pub(crate) fn from_lists<'a>(lists: impl Iterator<Item = &'a [u32]>, map: impl Fn(u32) -> u32) -> Self {
        let mut inline = Vec::with_capacity(lists.size_hint().0);
        let mut more = Csr::default();
        for list in lists {
            inline.push(match *list {
                [a] => [map(a), NONE],
                [a, b] => [map(a), map(b)],
                _ => {
                    more.push(&list.iter().map(|&x| map(x)).collect::<Vec<_>>());
                    [NONE, more.len() as u32 - 1]
                }
            });
        }
        Self { inline, more }
    }

    /// Number of entities.
    pub fn len(&self) -> usize {
        self.inline.len()
    }

    /// Whether there are no entities.
    pub fn is_empty(&self) -> bool {
        self.inline.is_empty()
    }

    /// The list of entity `e`, ascending.
    #[inline]
    pub fn row(&self, e: usize) -> &[u32] {
        match &self.inline[e] {
            [NONE, row] => self.more.row(*row as usize),
            pair @ [_, NONE] => &pair[..1],
            pair => pair,
        }
    }

    /// The list of entity `e` if it holds exactly two numbers.
    #[inline]
    pub fn pair(&self, e: usize) -> Option<[u32; 2]> {
        let pair = self.inline[e];
        (pair[0] != NONE && pair[1] != NONE).then_some(pair)
    }

    /// How many lists hold more than two numbers.
    pub fn crowded(&self) -> usize {
        self.more.len()
    }
}

/// Items grouped by equal keys; groups ascend by key, members ascend within a group.
pub(crate) struct Groups<R> {
    /// The distinct keys, ascending.
    pub(crate) keys: Vec<(u32, R)>,
    /// The group of each item.
    pub(crate) group_of: Vec<u32>,
    /// The items of each group.
    pub(crate) members: Csr,
}

impl<R: Ord + Copy + Default + Send + Sync> Groups<R> {
    /// Groups the items `0..count` by `key(i) = (bucket, rest)` with `bucket < buckets`.
    pub(crate) fn new(buckets: usize, count: usize, key: impl Fn(usize) -> (u32, R)) -> Self {
        let mut offsets = vec![0u32; buckets + 1];
        for i in 0..count {
            offsets[key(i).0 as usize + 1] += 1;
        }
        prefix_sums(&mut offsets);
        let mut entries = vec![(R::default(), 0u32); count];
        let mut cursor = offsets.clone();
        for i in 0..count {
            let (bucket, rest) = key(i);
            let slot = &mut cursor[bucket as usize];
            entries[*slot as usize] = (rest, i as u32);
            *slot += 1;
        }
        for_each_block(row_blocks(&offsets, &mut entries, BLOCK), |mut rows| {
            for _ in 0..rows.len() {
                rows.next_row().sort_unstable();
            }
        });
        Self::collect(&offsets, &entries)
    }

    fn collect(offsets: &[u32], entries: &[(R, u32)]) -> Self {
        let mut keys = Vec::with_capacity(entries.len() / 2 + 1);
        let mut group_of = vec![0u32; entries.len()];
        let mut starts = Vec::with_capacity(entries.len() / 2 + 1);
        for (bucket, range) in offsets.windows(2).enumerate() {
            let mut last = None;
            for k in range[0]..range[1] {
                let (rest, item) = entries[k as usize];
                if last != Some(rest) {
                    keys.push((bucket as u32, rest));
                    starts.push(k);
                    last = Some(rest);
                }
                group_of[item as usize] = keys.len() as u32 - 1;
            }
        }
        starts.push(entries.len() as u32);
        let items = entries.iter().map(|&(_, item)| item).collect();
        Self { keys, group_of, members: Csr { offsets: starts, items } }
    }
}

/// Consecutive rows of a [`Csr`], handed out one after the other for writing.
pub(crate) struct RowsMut<'a, T = u32> {
    /// Number of the first row of the block.
    pub(crate) first: usize,
    offsets: &'a [u32],
    items: &'a mut [T],
}

impl<'a, T> RowsMut<'a, T> {
    /// The next row, or an empty one after the last.
    pub(crate) fn next_row(&mut self) -> &'a mut [T] {
        let [begin, end, ..] = *self.offsets else { return &mut [] };
        self.offsets = &self.offsets[1..];
        let (row, rest) = std::mem::take(&mut self.items).split_at_mut((end - begin) as usize);
        self.items = rest;
        row
    }

    /// Number of rows left.
    pub(crate) fn len(&self) -> usize {
        self.offsets.len() - 1
    }
}

/// Cuts rows into blocks of `rows` consecutive ones.
fn row_blocks<'a, T>(offsets: &'a [u32], mut items: &'a mut [T], rows: usize) -> Vec<RowsMut<'a, T>> {
    let mut blocks = Vec::with_capacity(offsets.len() / rows + 1);
    for first in (0..offsets.len() - 1).step_by(rows) {
        let offsets = &offsets[first..(first + rows + 1).min(offsets.len())];
        let length = offsets[offsets.len() - 1] - offsets[0];
        let (part, rest) = std::mem::take(&mut items).split_at_mut(length as usize);
        blocks.push(RowsMut { first, offsets, items: part });
        items = rest;
    }
    blocks
}

/// Runs `f` on every block in parallel.
pub(crate) fn for_each_block<B: Send>(blocks: Vec<B>, f: impl Fn(B) + Sync) {
    let mut blocks: Vec<Option<B>> = blocks.into_iter().map(Some).collect();
    par::chunks_mut(&mut blocks, 1, |_, block| block.iter_mut().filter_map(Option::take).for_each(&f));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incidence_returns_rows_of_any_length() {
        let lists: [&[u32]; 4] = [&[7], &[1, 2], &[3, 4, 5], &[0, 9]];
        let inc = Incidence::from_lists(lists.iter().copied(), |x| x);
        for (e, list) in lists.iter().enumerate() {
            assert_eq!(inc.row(e), *list);
        }
        assert_eq!((inc.len(), inc.crowded()), (4, 1));
        assert_eq!([0, 1, 2, 3].map(|e| inc.pair(e).is_some()), [false, true, false, true]);
    }

    #[test]
    fn groups_equal_a_plain_sort() {
        let key = |i: usize| ((i * 7919 % 13) as u32, (i * 104_729 % 5) as u32);
        let groups = Groups::new(13, 1000, key);
        let mut plain: Vec<_> = (0..1000).map(key).collect();
        plain.sort_unstable();
        plain.dedup();
        assert_eq!(groups.keys, plain);
        for i in 0..1000 {
            assert_eq!(groups.keys[groups.group_of[i] as usize], key(i));
        }
        for (g, row) in groups.members.rows().enumerate() {
            assert!(row.is_sorted() && row.iter().all(|&i| groups.group_of[i as usize] == g as u32));
        }
        assert_eq!(groups.members.items().len(), 1000);
    }
}
