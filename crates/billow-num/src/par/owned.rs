//! Items that belong to places, in parallel.

use super::chunks_mut;

/// Items that one thread takes at a time, at least.
const PIECE: usize = 512;

/// Calls `f(item, value)` for every item with the value at its owner. Owners ascend, so both lists can be cut between two of
/// them; the items of one owner follow one another on one thread.
///
/// # Panics
/// If there is no value at an owner, or owners do not ascend.
pub fn for_each_owned<A: Send, B: Send>(
    items: &mut [A],
    values: &mut [B],
    owner: impl Fn(&A) -> usize + Sync,
    f: impl Fn(&mut A, &mut B) + Sync,
) {
    let mut cuts = Vec::with_capacity(items.len() / PIECE + 1);
    let (mut rest, mut first, mut values) = (items, 0, values);
    while rest.len() > PIECE {
        let last = owner(&rest[PIECE]);
        let (some, others) = rest.split_at_mut(rest.partition_point(|item| owner(item) <= last));
        let (theirs, beyond) = values.split_at_mut(last + 1 - first);
        cuts.push((some, first, theirs));
        (rest, first, values) = (others, last + 1, beyond);
    }
    cuts.push((rest, first, values));
    chunks_mut(&mut cuts, 1, |_, cuts| {
        for (items, first, values) in cuts {
            items.iter_mut().for_each(|item| f(item, &mut values[owner(item) - *first]));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::par::with_threads;

    #[test]
    fn every_item_meets_its_owner_in_order() {
        // Owner i has i % 5 items, one has very many.
        let owners =
            (0..4000usize).flat_map(|i| std::iter::repeat_n(i, if i == 1234 { 3000 } else { i % 5 }));
        let items: Vec<(usize, u64)> = owners.enumerate().map(|(k, owner)| (owner, k as u64)).collect();
        let run = |threads| {
            let (mut items, mut values) = (items.clone(), vec![1u64; 4000]);
            with_threads(threads, || {
                for_each_owned(
                    &mut items,
                    &mut values,
                    |item| item.0,
                    |item, value| {
                        *value = value.wrapping_mul(31).wrapping_add(item.1);
                        item.1 = *value;
                    },
                );
            });
            (items, values)
        };
        let (mut expected_items, mut expected) = (items.clone(), vec![1u64; 4000]);
        for (owner, number) in &mut expected_items {
            expected[*owner] = expected[*owner].wrapping_mul(31).wrapping_add(*number);
            *number = expected[*owner];
        }
        for threads in [1, 2, 7] {
            assert!(run(threads) == (expected_items.clone(), expected.clone()), "{threads}");
        }
    }
}
