//! What parallel sweeps over elements stand on: a slice shared between threads, and the check that makes it sound.
#![allow(unsafe_code, reason = "several threads write to one slice, each at places of its own")]

use super::{CHUNK, reduce};
use crate::NumError;
use std::ops::Range;

/// A slice that several threads write to, each at places of its own.
pub(super) struct Shared<T>(pub(super) *mut T);

// SAFETY: `at` and `range` are only called with places no other thread has, so this sends `&mut T`s, which needs `T: Send`.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// The item at `index`.
    ///
    /// # Safety
    /// `index` is inside the slice and no other reference to the item is alive.
    #[allow(clippy::mut_from_ref)]
    pub(super) unsafe fn at(&self, index: u32) -> &mut T {
        // SAFETY: promised by the caller.
        unsafe { &mut *self.0.add(index as usize) }
    }
}

impl<T> Shared<T> {
    /// So many items from the `first` on.
    ///
    /// # Safety
    /// They are inside the slice and no other reference to any of them is alive.
    #[allow(clippy::mut_from_ref)]
    pub(super) unsafe fn range(&self, first: usize, count: usize) -> &mut [T] {
        // SAFETY: promised by the caller.
        unsafe { std::slice::from_raw_parts_mut(self.0.add(first), count) }
    }
}

/// Every node exists and no element names one twice.
pub(super) fn check<const N: usize>(nodes: usize, elements: &[[u32; N]]) -> Result<(), NumError> {
    let of = |mut range: Range<usize>| range.find_map(|k| wrong(nodes, k, &elements[k]));
    reduce(elements.len(), CHUNK, of, Option::or).flatten().map_or(Ok(()), Err)
}

fn wrong<const N: usize>(nodes: usize, item: usize, element: &[u32; N]) -> Option<NumError> {
    for (k, node) in element.iter().enumerate() {
        let index = *node as usize;
        if index >= nodes {
            return Some(NumError::IndexOutOfRange { item, index, count: nodes });
        }
        if element[..k].contains(node) {
            return Some(NumError::RepeatedNode { element: item, node: index });
        }
    }
    None
}
