//! An allocator that remembers the most memory each thread held at once.

#![allow(unsafe_code, reason = "the allocator interface is unsafe; every call is passed on unchanged")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn book(bytes: isize) {
    // A thread that is ending may have lost its counters; what it does then is not measured.
    let _ = HELD.try_with(|held| {
        held.set(held.get() + bytes);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(held.get())));
    });
}

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        book(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        book(layout.size() as isize);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        book(-(layout.size() as isize));
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        book(size as isize - layout.size() as isize);
        unsafe { System.realloc(ptr, layout, size) }
    }
}

/// Runs `f` and returns the most bytes this thread held above what it held before.
pub(crate) fn peak_bytes<R>(f: impl FnOnce() -> R) -> (R, usize) {
    let before = HELD.get();
    PEAK.set(before);
    let result = f();
    (result, (PEAK.get() - before) as usize)
}

#[test]
fn allocations_are_counted() {
    let (_, peak) = peak_bytes(|| drop(vec![1u8; 1 << 20]));
    assert!((1 << 20..1 << 21).contains(&peak), "{peak}");
}
