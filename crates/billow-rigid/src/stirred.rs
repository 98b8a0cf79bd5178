//! Which bodies were stirred, so that sweeps visit only contacts that may change.
//!
//! A contact that was satisfied stays so until the velocity of one of its bodies changes. Groups that have come to rest are
//! left alone while others are still worked on, and when a few contacts are added only what feels them is solved again.

/// When the velocity of each body changed last, counted in sweeps.
#[derive(Clone, Debug)]
pub(crate) struct Stirred {
    when: Vec<u32>,
    moves: Vec<bool>,
    now: u32,
    /// When the present round of sweeps began.
    start: u32,
}

impl Stirred {
    /// All bodies are stirred; those that do not move will not be again.
    pub(crate) fn all(moves: &[bool]) -> Self {
        Self { when: vec![0; moves.len()], moves: moves.to_vec(), now: 0, start: 0 }
    }

    /// Begins another round in which nothing is stirred.
    pub(crate) fn settle(&mut self) {
        self.now += 1;
        self.start = self.now;
    }

    /// Begins a sweep; tells since when a body must have been stirred for its contacts to be visited. The `first` sweep of
    /// a round visits what was stirred in it at all, the others what was stirred since the last visit.
    pub(crate) fn sweep(&mut self, first: bool) -> u32 {
        self.now += 1;
        if first { self.start } else { self.now - 1 }
    }

    /// Whether one of two bodies was stirred since.
    #[inline]
    pub(crate) fn since(&self, since: u32, a: u32, b: u32) -> bool {
        self.when[a as usize] >= since || self.when[b as usize] >= since
    }

    /// Notes that a body is stirred.
    #[inline]
    pub(crate) fn note(&mut self, body: u32) {
        if self.moves[body as usize] {
            self.when[body as usize] = self.now;
        }
    }
}
