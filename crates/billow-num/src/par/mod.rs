//! Parallel loops whose results do not depend on the number of threads.
//!
//! Work is cut into chunks whose borders depend only on the problem size, each chunk is computed on its own,
//! and chunk results are combined in index order. Floating-point sums therefore have the same bits whether one
//! thread ran or seven. Everything parallel in Billow goes through here.

mod colour;
mod incidence;
mod marks;
mod order;
mod owned;
mod pieces;
mod shared;
mod team;
mod tiles;

pub use colour::Colouring;
pub use incidence::{Incidence, LaterIncidence};
pub use marks::Marks;
pub use order::{bucketed, exclusive_sum, sort, sort_by_key, sorted_order};
pub use owned::for_each_owned;
pub use pieces::{chunks_mut, map, zip_chunks_mut};
pub use tiles::Tiles;

use std::ops::Range;

/// Default number of elements per chunk: large enough to hide scheduling, small enough to balance two cores.
pub const CHUNK: usize = 1024;

/// Runs `f` on a pool of exactly `threads` threads (0 means one per core).
///
/// Should the operating system refuse to start them, `f` runs on the current pool: the results are the same.
pub fn with_threads<R: Send>(threads: usize, f: impl FnOnce() -> R + Send) -> R {
    match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool.install(|| team::with_team(f)),
        Err(_) => f(),
    }
}

/// Runs `f` on one of the threads that run parallel loops. What calls many short loops should run there: each loop then
/// begins at once, instead of waking the threads and waiting for them.
pub fn inside<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    rayon::scope(|_| team::with_team(f))
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

/// Calls `f(i, &mut a[i], &mut b[i])` for all `i`.
///
/// # Panics
/// If the lengths differ.
pub fn zip_mut<A: Send, B: Send>(a: &mut [A], b: &mut [B], f: impl Fn(usize, &mut A, &mut B) + Sync) {
    zip_chunks_mut(a, b, CHUNK, |first, a, b| {
        for (k, (x, y)) in a.iter_mut().zip(b).enumerate() {
            f(first + k, x, y);
        }
    });
}

/// Calls `f(i, &mut items[i])` for all `i`.
pub fn for_each_mut<T: Send>(items: &mut [T], f: impl Fn(usize, &mut T) + Sync) {
    chunks_mut(items, CHUNK, |first, chunk| {
        for (k, item) in chunk.iter_mut().enumerate() {
            f(first + k, item);
        }
    });
}

/// What `f` makes of each of the fixed-size chunks that cover `0..n`.
fn map_ranges<T: Send>(n: usize, chunk: usize, f: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    pieces::map_pieces(n.div_ceil(chunk), |c| f(c * chunk..((c + 1) * chunk).min(n)))
}

/// Maps each chunk of `0..n` to a value and folds the values in index order.
pub fn reduce<T: Send>(
    n: usize,
    chunk: usize,
    map: impl Fn(Range<usize>) -> T + Sync + Send,
    combine: impl Fn(T, T) -> T,
) -> Option<T> {
    if n <= chunk {
        return (n > 0).then(|| map(0..n));
    }
    map_ranges(n, chunk, map).into_iter().reduce(combine)
}

/// The sum of `f(i)` for `i` in `0..n`, the same bits for any number of threads.
pub fn sum(n: usize, f: impl Fn(usize) -> f64 + Sync + Send) -> f64 {
    reduce(n, CHUNK, |r| r.map(&f).sum::<f64>(), |a, b| a + b).unwrap_or(0.0)
}

/// The largest `f(i)` for `i` in `0..n`; NaN if any is NaN, −∞ for an empty range.
pub fn max(n: usize, f: impl Fn(usize) -> f64 + Sync + Send) -> f64 {
    let larger = |a: f64, b: f64| if a > b || a.is_nan() { a } else { b };
    reduce(n, CHUNK, |r| r.map(&f).fold(f64::NEG_INFINITY, larger), larger).unwrap_or(f64::NEG_INFINITY)
}

/// The smallest `f(i)` for `i` in `0..n`; NaN if any is NaN, +∞ for an empty range.
pub fn min(n: usize, f: impl Fn(usize) -> f64 + Sync + Send) -> f64 {
    -max(n, |i| -f(i))
}

/// Scratch for reductions that must not allocate: one partial sum per chunk.
#[derive(Clone, Debug, Default)]
pub struct Partials(Vec<f64>);

impl Partials {
    /// Room for the chunks of `n` items; allocates only when larger than ever before.
    pub fn slots(&mut self, n: usize, chunk: usize) -> &mut [f64] {
        let count = n.div_ceil(chunk);
        if self.0.len() < count {
            self.0.resize(count, 0.0);
        }
        &mut self.0[..count]
    }
}

/// Lets each chunk of `0..n` append any number of items; returns them concatenated in index order.
pub fn gather<T: Send>(
    n: usize,
    chunk: usize,
    f: impl Fn(Range<usize>, &mut Vec<T>) + Sync + Send,
) -> Vec<T> {
    let parts = map_ranges(n, chunk, |range| {
        let mut part = Vec::new();
        f(range, &mut part);
        part
    });
    let mut all = Vec::with_capacity(parts.iter().map(Vec::len).sum());
    for part in parts {
        all.extend(part);
    }
    all
}

/// Writes the items of all parts one after the other into `out`, in place of what it had; `filler` makes room.
pub fn concat<T: Copy + Send + Sync>(parts: &[&[T]], filler: T, out: &mut Vec<T>) {
    let count: usize = parts.iter().map(|part| part.len()).sum();
    // No more room than needed.
    out.reserve_exact(count.saturating_sub(out.len()));
    out.resize(count, filler);
    let (mut rest, mut places) = (&mut out[..], Vec::with_capacity(parts.len()));
    for part in parts {
        let (place, others) = rest.split_at_mut(part.len());
        places.push((place, *part));
        rest = others;
    }
    chunks_mut(&mut places, 1, |_, places| {
        places.iter_mut().for_each(|(place, part)| place.copy_from_slice(part));
    });
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
    fn parts_are_joined_in_order() {
        let items: Vec<usize> = (0..10_000).collect();
        let parts: Vec<&[usize]> = items.chunks(77).flat_map(|part| [part, &[]]).collect();
        for mut out in [Vec::new(), vec![7; 20_000]] {
            concat(&parts, 0, &mut out);
            assert_eq!(out, items);
        }
        let mut none = vec![1];
        concat(&[], 0, &mut none);
        assert!(none.is_empty());
    }

    #[test]
    fn loops_over_one_and_two_slices_visit_every_index_once() {
        for n in [0, 1, CHUNK, CHUNK + 1, 5 * CHUNK + 3] {
            let (mut a, mut b) = (vec![0; n], vec![0.0; n]);
            zip_mut(&mut a, &mut b, |i, x, y| {
                *x += i;
                *y -= i as f64;
            });
            for_each_mut(&mut a, |i, x| *x += i);
            assert!((0..n).all(|i| a[i] == 2 * i && b[i] == -(i as f64)));
        }
    }

    #[test]
    fn extremes_are_found_and_bad_numbers_are_not_hidden() {
        let f = |i: usize| ((i * 7919) % 10_007) as f64;
        assert_eq!((max(10_007, f), min(10_007, f)), (10_006.0, 0.0));
        for bad in [0, 5000, 9999] {
            assert!(max(10_000, |i| if i == bad { f64::NAN } else { f(i) }).is_nan());
            assert!(min(10_000, |i| if i == bad { f64::NAN } else { f(i) }).is_nan());
        }
        assert_eq!((max(0, f), min(0, f)), (f64::NEG_INFINITY, f64::INFINITY));
    }

    #[test]
    fn empty_loops_are_fine() {
        assert_eq!(sum(0, |_| 1.0), 0.0);
        assert!(gather::<u8>(0, 8, |_, _| {}).is_empty());
        fill::<u8>(&mut [], |_| 0);
    }
}
