//! Reproducible points for property tests.

use billow_num::Vec3;

/// A small counter-based generator (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ z >> 31) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A point of the cube [-r, r]³.
    pub(crate) fn point(&mut self, r: f64) -> Vec3 {
        let mut next = || r * (2.0 * self.unit() - 1.0);
        Vec3::new(next(), next(), next())
    }
}
