//! How pairs of triangles become candidates: first they queue, then edges pass the sieve.

use crate::Surface;
use crate::corner::Corner;
use crate::crossed::{Candidate, Sieve};
use crate::search::Search;

/// Shows the candidates among pairs of facets whose boxes overlap.
pub(crate) struct Show<'a, L> {
    search: &'a Search,
    surface: &'a Surface,
    corners: &'a [Corner],
    queue: Queue,
    sieve: Sieve<'a>,
    look: L,
}

impl<'a, L: FnMut(Candidate)> Show<'a, L> {
    pub(crate) fn new(search: &'a Search, (surface, corners): (&'a Surface, &'a [Corner]), look: L) -> Self {
        Self { search, surface, corners, queue: Queue::new(), sieve: Sieve::new(corners), look }
    }

    /// Takes a pair of facets; candidates of this and earlier ones may be shown.
    #[inline(always)]
    pub(crate) fn pair(&mut self, pair: [u32; 2]) {
        if self.queue.push(pair) {
            self.work_off();
        }
    }

    /// Shows what still waits.
    pub(crate) fn finish(mut self) {
        self.work_off();
        self.sieve.finish(&mut self.look);
    }

    fn work_off(&mut self) {
        let Self { search, surface, corners, queue, sieve, look } = self;
        search.work_off((surface, corners), queue, &mut |candidate| sieve.take(candidate, look));
    }
}

/// Pairs of facets that wait to be compared, so that each step is done for many of them.
pub(crate) struct Queue {
    pairs: [[u32; 2]; Self::LENGTH],
    count: usize,
}

impl Queue {
    const LENGTH: usize = 256;

    fn new() -> Self {
        Self { pairs: [[0; 2]; Self::LENGTH], count: 0 }
    }

    /// Takes a pair; says whether the queue is full.
    #[inline(always)]
    fn push(&mut self, pair: [u32; 2]) -> bool {
        self.pairs[self.count] = pair;
        self.count += 1;
        self.count == Self::LENGTH
    }

    /// Keeps some of the pairs, in order.
    #[inline(always)]
    pub(crate) fn retain(&mut self, keep: impl Fn([u32; 2]) -> bool) {
        let mut kept = 0;
        for k in 0..self.count {
            let pair = self.pairs[k];
            self.pairs[kept] = pair;
            kept += usize::from(keep(pair));
        }
        self.count = kept;
    }

    /// All pairs; none are left.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = [u32; 2]> {
        self.pairs[..std::mem::take(&mut self.count)].iter().copied()
    }
}
