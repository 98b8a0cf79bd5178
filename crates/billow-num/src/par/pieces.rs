//! Loops in pieces: what all parallel loops stand on.
#![allow(unsafe_code, reason = "pieces of a slice go to several threads, each to one")]

use super::shared::Shared;
use super::{CHUNK, team};
use rayon::prelude::*;

/// Calls `f(k)` once for every `k` below `count`, in any order, in parallel.
pub(super) fn each_piece(count: usize, f: impl Fn(usize) + Sync) {
    if count < 2 {
        return (0..count).for_each(f);
    }
    if !team::run(count, &f) {
        (0..count).into_par_iter().for_each(&f);
    }
}

/// Calls `f(first_index, chunk)` for consecutive chunks of `items`.
pub fn chunks_mut<T: Send>(items: &mut [T], chunk: usize, f: impl Fn(usize, &mut [T]) + Sync) {
    let (n, items) = (items.len(), Shared(items.as_mut_ptr()));
    each_piece(n.div_ceil(chunk), |c| {
        let first = c * chunk;
        // SAFETY: chunks are inside the slice and do not overlap, and each is asked for once.
        f(first, unsafe { items.range(first, chunk.min(n - first)) });
    });
}

/// Calls `f(first_index, chunk_of_a, chunk_of_b)` for consecutive chunks of two slices of one length.
///
/// # Panics
/// If the lengths differ.
pub fn zip_chunks_mut<A: Send, B: Send>(
    a: &mut [A],
    b: &mut [B],
    chunk: usize,
    f: impl Fn(usize, &mut [A], &mut [B]) + Sync,
) {
    assert_eq!(a.len(), b.len(), "both slices must have one length");
    let b = Shared(b.as_mut_ptr());
    chunks_mut(a, chunk, |first, a| {
        // SAFETY: both slices have one length, so what holds for the chunks of one holds for those of the other.
        f(first, a, unsafe { b.range(first, a.len()) });
    });
}

/// The vector of `f(i)` for `i` in `0..n`.
pub fn map<T: Send>(n: usize, f: impl Fn(usize) -> T + Sync) -> Vec<T> {
    collect(n, CHUNK.min(n.div_ceil(8)).max(1), f)
}

/// The same where each `f(k)` takes long.
pub(super) fn map_pieces<T: Send>(count: usize, f: impl Fn(usize) -> T + Sync) -> Vec<T> {
    collect(count, 1, f)
}

fn collect<T: Send>(n: usize, chunk: usize, f: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut all = Vec::with_capacity(n);
    chunks_mut(&mut all.spare_capacity_mut()[..n], chunk, |first, places| {
        for (k, place) in places.iter_mut().enumerate() {
            place.write(f(first + k));
        }
    });
    // SAFETY: all places have been written: a panic would have ended this function.
    unsafe { all.set_len(n) };
    all
}
