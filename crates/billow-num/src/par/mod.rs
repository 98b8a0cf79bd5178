//! Parallel loops whose results do not depend on the number of threads.
//!
//! Work is cut into chunks whose borders depend only on the problem size, each chunk is computed on its own,
//! and chunk results are combined in index order. Floating-point sums therefore have the same bits whether one
//! thread ran or seven. Everything parallel in Billow goes through here.

use rayon::prelude::*;
use std::ops::Range;

/// Default number of elements per chunk: large enough to hide scheduling, small enough to balance two cores.
pub const CHUNK: usize = 1024;

/// Runs `f` on a pool of exactly `threads` threads (0 means one per core).
///
/// # Panics
/// If the operating system refuses to start the threads.
pub fn with_threads<R: Send>(threads: usize, f: impl FnOnce() -> R + Send) -> R {
    match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool.install(f),
        Err(error) => panic!("the operating system refused to start {threads} threads: {error}"),
    }
}

/// The number of threads the current parallel loops use.
pub fn threads() -> usize {
    rayon::current_num_threads()
}

/// Sets `out[i] = f(i)` for all `i`.
pub fn fill<T: Send>(out: &mut [T], f: impl Fn(usize) -> T + Sync) {
    chunks_mut(out, CHUNK, |first, chunk| {
        for (k, slot) in chunk.iter_mut().enumerate() {
            *slot = f(first + k);
        }
    });
}

/// The vector of `f(i)` for `i` in `0..n`.
pub fn map<T: Send>(n: usize, f: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
    (0..n).into_par_iter().with_min_len(CHUNK.min(n.div_ceil(8)).max(1)).map(f).collect()
}

/// Calls `f(first_index, chunk)` for consecutive chunks of `items`.
pub fn chunks_mut<T: Send>(items: &mut [T], chunk: usize, f: impl Fn(usize, &mut [T]) + Sync) {
    items.par_chunks_mut(chunk).enumerate().for_each(|(c, part)| f(c * chunk, part));
}

/// The index ranges of fixed-size chunks that cover `0..n`.
fn ranges(n: usize, chunk: usize) -> impl IndexedParallelIterator<Item = Range<usize>> {
    (0..n.div_ceil(chunk)).into_par_iter().map(move |c| c * chunk..((c + 1) * chunk).min(n))
}

/// Maps each chunk of `0..n` to a value and folds the values in index order.
pub fn reduce<T: Send>(
    n: usize,
    chunk: usize,
    map: impl Fn(Range<usize>) -> T + Sync + Send,
    combine: impl Fn(T, T) -> T,
) -> Option<T> {
    ranges(n, chunk).map(map).collect::<Vec<_>>().into_iter().reduce(combine)
}

/// The sum of `f(i)` for `i` in `0..n`, the same bits for any number of threads.
pub fn sum(n: usize, f: impl Fn(usize) -> f64 + Sync + Send) -> f64 {
    reduce(n, CHUNK, |r| r.map(&f).sum::<f64>(), |a, b| a + b).unwrap_or(0.0)
}

/// Lets each chunk of `0..n` append any number of items; returns them concatenated in index order.
pub fn gather<T: Send>(
    n: usize,
    chunk: usize,
    f: impl Fn(Range<usize>, &mut Vec<T>) + Sync + Send,
) -> Vec<T> {
    let parts: Vec<Vec<T>> = ranges(n, chunk)
        .map(|r| {
            let mut part = Vec::new();
            f(r, &mut part);
            part
        })
        .collect();
    let mut all = Vec::with_capacity(parts.iter().map(Vec::len).sum());
    for part in parts {
        all.extend(part);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_gathers_have_the_same_bits_for_1_2_and_7_threads() {
        let term = |i: usize| ((i * 2_654_435_761) as f64).sin() * 1e10f64.powi((i % 5) as i32 - 2);
        let run = |threads| {
            with_threads(threads, || {
                let picked = gather(100_003, 77, |r, out| out.extend(r.filter(|i| term(*i) > 0.5)));
                (sum(100_003, term).to_bits(), picked, map(5_000, |i| term(i).to_bits()))
            })
        };
        let one = run(1);
        assert_eq!(one, run(2));
        assert_eq!(one, run(7));
        assert!(one.1.is_sorted() && !one.1.is_empty());
    }

    #[test]
    fn empty_loops_are_fine() {
        assert_eq!(sum(0, |_| 1.0), 0.0);
        assert!(gather::<u8>(0, 8, |_, _| {}).is_empty());
        fill::<u8>(&mut [], |_| 0);
    }
}
