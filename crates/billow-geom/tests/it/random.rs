//! Random numbers for the tests.

use billow_num::Vec3;

/// A small deterministic generator of numbers.
pub(crate) struct Random(pub(crate) u64);

#[allow(dead_code, reason = "not every test module draws every kind")]
impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Uniform in [a, b).
    pub(crate) fn range(&mut self, a: f64, b: f64) -> f64 {
        a + (b - a) * (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn vec(&mut self, a: f64, b: f64) -> Vec3 {
        Vec3::new(self.range(a, b), self.range(a, b), self.range(a, b))
    }
}
