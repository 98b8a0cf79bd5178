//! Sorting and prefix sums with one answer for any number of threads.

use super::CHUNK;
use rayon::prelude::*;
use std::ops::Add;

/// Sorts `items` by `key`; items with equal keys keep their order.
pub fn sort_by_key<T: Send, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K + Sync) {
    items.par_sort_by_key(key);
}

/// Sorts `items` of which no two are equal, or equal ones cannot be told apart.
pub fn sort<T: Send + Ord>(items: &mut [T]) {
    items.par_sort_unstable();
}

/// The indices of `keys` in increasing order of key, equal keys in order of index.
pub fn sorted_order<K: Ord + Copy + Send + Sync>(keys: &[K]) -> Vec<u32> {
    // Pairs are all different, so the faster unstable sort has only one answer.
    let mut pairs: Vec<(K, u32)> = keys.par_iter().enumerate().map(|(i, k)| (*k, i as u32)).collect();
    pairs.par_sort_unstable();
    pairs.par_iter().map(|(_, i)| *i).collect()
}

/// Replaces each item by the sum of all items before it and returns the sum of all.
pub fn exclusive_sum<T: Copy + Default + Send + Sync + Add<Output = T>>(items: &mut [T]) -> T {
    let scan = |items: &mut [T], mut sum: T| {
        for item in items {
            (*item, sum) = (sum, sum + *item);
        }
        sum
    };
    // Two passes pay only where one does not fit the cache.
    let chunk = 16 * CHUNK;
    if items.len() <= chunk {
        return scan(items, T::default());
    }
    let mut sums: Vec<T> =
        items.par_chunks(chunk).map(|c| c.iter().fold(T::default(), |sum, x| sum + *x)).collect();
    let total = scan(&mut sums, T::default());
    items.par_chunks_mut(chunk).zip(&sums).for_each(|(part, first)| {
        scan(part, *first);
    });
    total
}

/// Items by bucket, those of one bucket in the order in which they came, and where each bucket ends. Takes time in
/// proportion to both, on one thread: it waits for memory.
///
/// # Panics
/// If an item is in none of the buckets.
pub fn bucketed<T: Copy>(items: &[T], buckets: usize, of: impl Fn(&T) -> usize) -> (Vec<T>, Vec<u32>) {
    let mut ends = vec![0u32; buckets + 1];
    items.iter().for_each(|item| ends[of(item) + 1] += 1);
    for k in 1..ends.len() {
        ends[k] += ends[k - 1];
    }
    let mut placed = items.to_vec();
    for item in items {
        let at = &mut ends[of(item)];
        placed[*at as usize] = *item;
        *at += 1;
    }
    // Where a bucket ended while it was filled, the next begins.
    ends.pop();
    (placed, ends)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::par::with_threads;
    use crate::rng::Stream;

    #[test]
    fn sorting_is_stable_and_the_same_for_1_2_and_7_threads() {
        let keys: Vec<u64> = (0..50_000).map(|i| Stream::new(5, 5).at(i).below(1000)).collect();
        let mut truth: Vec<u32> = (0..50_000).collect();
        truth.sort_by_key(|i| keys[*i as usize]);
        for threads in [1, 2, 7] {
            let mut items: Vec<(u64, usize)> = keys.iter().copied().zip(0..).collect();
            let mut alone: Vec<u64> = keys.clone();
            let order = with_threads(threads, || {
                sort(&mut alone);
                sort_by_key(&mut items, |item| item.0);
                sorted_order(&keys)
            });
            assert_eq!(order, truth);
            assert!(alone.iter().zip(&truth).all(|(key, t)| *key == keys[*t as usize]));
            assert!(items.iter().zip(&truth).all(|(item, t)| item.1 == *t as usize));
        }
        assert!(sorted_order::<u8>(&[]).is_empty());
    }

    #[test]
    fn buckets_hold_their_items_in_the_order_in_which_they_came() {
        let items: Vec<(u64, u64)> = (0..5000).map(|i| (Stream::new(5, 6).at(i).below(700), i)).collect();
        let (placed, ends) = bucketed(&items, 800, |item| item.0 as usize);
        let mut truth = items.clone();
        truth.sort_by_key(|item| item.0);
        assert_eq!(placed, truth);
        assert!((0..800).all(|k| ends[k] as usize == truth.partition_point(|item| item.0 <= k as u64)));
        assert_eq!(bucketed::<u8>(&[], 0, |_| 0), (vec![], vec![]));
    }

    #[test]
    fn prefix_sums_match_the_serial_ones_for_1_2_and_7_threads() {
        for n in [0, 1, 1000, 16 * CHUNK, 16 * CHUNK + 1, 100_000] {
            let items: Vec<usize> = (0..n).map(|i| (i * 31) % 17).collect();
            let mut truth = items.clone();
            let mut sum = 0;
            for x in &mut truth {
                (*x, sum) = (sum, sum + *x);
            }
            let weights: Vec<f64> = items.iter().map(|i| (*i as f64).sin()).collect();
            let one = with_threads(1, || {
                let mut w = weights.clone();
                (exclusive_sum(&mut w).to_bits(), w)
            });
            for threads in [1, 2, 7] {
                let mut work = items.clone();
                assert_eq!(with_threads(threads, || exclusive_sum(&mut work)), sum);
                assert_eq!(work, truth);
                let mut w = weights.clone();
                assert_eq!((with_threads(threads, || exclusive_sum(&mut w)).to_bits(), w), one);
            }
        }
    }
}
