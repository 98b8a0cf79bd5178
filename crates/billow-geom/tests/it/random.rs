//! Random numbers for the tests, drawn from the workspace's counter-based generator.

use billow_num::Vec3;
use billow_num::rng::{Draws, Stream};

pub(crate) struct Random(Draws);

#[allow(dead_code, reason = "not every test module draws every kind")]
impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Stream::new(seed, 0).at(0))
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0.below(n as u64) as usize
    }

    /// Uniform in [a, b).
    pub(crate) fn range(&mut self, a: f64, b: f64) -> f64 {
        self.0.range(a, b)
    }

    pub(crate) fn vec(&mut self, a: f64, b: f64) -> Vec3 {
        Vec3::new(self.range(a, b), self.range(a, b), self.range(a, b))
    }

    pub(crate) fn direction(&mut self) -> Vec3 {
        self.0.unit_vector()
    }
}
