//! A set of small numbers to which several threads may add.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

const BITS: u32 = u64::BITS;

/// A set of numbers below some count. It promises no order between threads: what one adds, others see after they have met.
#[derive(Debug, Default)]
pub struct Marks {
    words: Vec<AtomicU64>,
}

impl Marks {
    /// No number of those below `count`.
    pub fn new(count: usize) -> Self {
        Self { words: (0..count.div_ceil(BITS as usize)).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Takes out all numbers.
    pub fn clear(&mut self) {
        self.words.iter_mut().for_each(|word| *word.get_mut() = 0);
    }

    /// Adds a number.
    #[inline]
    pub fn set(&self, k: u32) {
        let (word, bit) = (&self.words[(k / BITS) as usize], 1 << (k % BITS));
        // Looking is faster than writing, and most are there already.
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.load(Ordering::Relaxed).count_ones() as usize).sum()
    }

    /// All of them, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.words).flat_map(|(at, word)| {
            let word = word.load(Ordering::Relaxed);
            let next = |rest: &u64| Some(rest & (rest - 1)).filter(|rest| *rest != 0);
            let rests = std::iter::successors((word != 0).then_some(word), next);
            rests.map(move |rest| BITS * at + rest.trailing_zeros())
        })
    }

    /// Takes out those of a range, ascending, and calls `f` for each. Those that it adds come too if they are after the one it got.
    #[inline]
    pub fn take(&self, range: Range<u32>, mut f: impl FnMut(u32)) {
        let mut from = range.start;
        while from < range.end {
            let (at, end) = (from / BITS, range.end.min((from / BITS + 1) * BITS));
            let within = u64::MAX >> (BITS - (end - at * BITS));
            let left = self.words[at as usize].load(Ordering::Relaxed) & within & (u64::MAX << (from % BITS));
            if left == 0 {
                from = end;
                continue;
            }
            let bit = left.trailing_zeros();
            self.words[at as usize].fetch_and(!(1 << bit), Ordering::Relaxed);
            from = at * BITS + bit + 1;
            f(at * BITS + bit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::par::{chunks_mut, with_threads};

    #[test]
    fn what_is_added_ahead_is_taken_too() {
        let marks = Marks::new(200);
        [3, 64, 190].iter().for_each(|k| marks.set(*k));
        let mut met = Vec::new();
        marks.take(0..200, |k| {
            met.push(k);
            if k == 64 {
                [2, 65, 127, 128].iter().for_each(|other| marks.set(*other));
            }
        });
        assert_eq!(met, [3, 64, 65, 127, 128, 190]);
        assert!(marks.iter().eq([2]) && marks.count() == 1);
    }

    #[test]
    fn a_range_leaves_its_surroundings_alone() {
        for (range, expected) in [(1..4, vec![2, 3]), (60..130, vec![64, 129]), (130..130, vec![])] {
            let marks = Marks::new(200);
            [0, 2, 3, 4, 64, 129, 130].iter().for_each(|k| marks.set(*k));
            let mut met = Vec::new();
            marks.take(range.clone(), |k| met.push(k));
            assert_eq!(met, expected, "{range:?}");
            assert_eq!(marks.count(), 7 - expected.len());
        }
    }

    #[test]
    fn threads_add_at_the_same_time() {
        let mut marks = Marks::new(100_000);
        with_threads(2, || {
            chunks_mut(&mut [0u32; 1000], 1, |k, _| (0..100).for_each(|i| marks.set(1000 * i + k as u32)));
        });
        assert!(marks.iter().eq(0..100_000));
        marks.clear();
        assert_eq!(marks.count(), 0);
    }
}
