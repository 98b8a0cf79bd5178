//! What parallel sweeps over elements stand on: a slice shared between threads, and the check that makes it sound.
#![allow(unsafe_code, reason = "several threads write to one slice, each at places of its own")]

use super::CHUNK;
use crate::NumError;
use rayon::prelude::*;

/// A slice that several threads write to, each at places of its own.
pub(super) struct Shared<T>(pub(super) *mut T);

// SAFETY: `at` is only called with places no other thread has, so this sends `&mut T`s, which needs `T: Send`.
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

/// Every node exists and no element names one twice.
pub(super) fn check<const N: usize>(nodes: usize, elements: &[[u32; N]]) -> Result<(), NumError> {
    let parts = elements.par_chunks(CHUNK).enumerate();
    let wrong = parts.find_map_first(|(part, elements)| {
        let wrong = |(k, element)| wrong(nodes, part * CHUNK + k, element);
        elements.iter().enumerate().find_map(wrong)
    });
    wrong.map_or(Ok(()), Err)
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
