//! Counter-based random numbers: every draw is a pure function of (seed, stream, index, draw number).
//!
//! The generator is Philox4x32-10 (Salmon et al., *Parallel random numbers: as easy as 1, 2, 3*, 2011), checked
//! against its published known-answer vectors. A [`Stream`] is addressed by index — a particle, a sample, a
//! pixel — so loops may visit their items in any order and on any number of threads and still see the same
//! numbers. Only `+ − × ÷ √` and, for normals, `ln` are used to shape the draws.

use crate::Vec3;

const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// The Philox4x32-10 block function: 128 random bits from a 128-bit counter and a 64-bit key.
pub fn philox4x32(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let a = u64::from(MULTIPLIERS[0]) * u64::from(counter[0]);
        let b = u64::from(MULTIPLIERS[1]) * u64::from(counter[2]);
        counter = [
            (b >> 32) as u32 ^ counter[1] ^ key[0],
            b as u32,
            (a >> 32) as u32 ^ counter[3] ^ key[1],
            a as u32,
        ];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    counter
}

/// A family of independent random sequences, one per index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    key: [u32; 2],
}

impl Stream {
    /// The stream numbered `stream` of the run seeded with `seed`; give each use of randomness its own number.
    pub fn new(seed: u64, stream: u64) -> Self {
        // The key is itself a Philox output, so neighbouring seeds and streams share nothing.
        let block = philox4x32(split(seed, stream), [0x6269_6C6C, 0x6F77_2121]);
        Self { key: [block[0], block[1]] }
    }

    /// The draws that belong to item `index`, from their beginning.
    pub fn at(&self, index: u64) -> Draws {
        Draws { key: self.key, index, block: 0, words: [0; 2], left: 0 }
    }
}

/// The sequence of draws of one item of a [`Stream`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draws {
    key: [u32; 2],
    index: u64,
    block: u64,
    words: [u64; 2],
    left: u8,
}

impl Draws {
    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        if self.left == 0 {
            let w = philox4x32(split(self.block, self.index), self.key);
            self.words = [join(w[2], w[3]), join(w[0], w[1])];
            self.block += 1;
            self.left = 2;
        }
        self.left -= 1;
        self.words[usize::from(self.left)]
    }

    /// A number uniform in `[0, 1)`, a multiple of 2⁻⁵³.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A number uniform in `[lo, hi)`; returns `lo` where the range is empty.
    pub fn range(&mut self, lo: f64, hi: f64) -> f64 {
        let x = lo + (hi - lo) * self.uniform();
        if x < hi { x } else { lo }
    }

    /// An integer uniform in `0..n` without bias (Lemire's multiply and reject); 0 where `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 {
            return 0;
        }
        let reject_below = n.wrapping_neg() % n;
        loop {
            let wide = u128::from(self.next_u64()) * u128::from(n);
            if wide as u64 >= reject_below {
                return (wide >> 64) as u64;
            }
        }
    }

    /// A normal deviate of mean 0 and variance 1 (Marsaglia's polar method).
    pub fn normal(&mut self) -> f64 {
        loop {
            let (x, y) = (self.range(-1.0, 1.0), self.range(-1.0, 1.0));
            let s = x * x + y * y;
            if s > 0.0 && s < 1.0 {
                return x * (-2.0 * s.ln() / s).sqrt();
            }
        }
    }

    /// A point uniform in the unit ball.
    pub fn in_ball(&mut self) -> Vec3 {
        loop {
            let p = Vec3::new(self.range(-1.0, 1.0), self.range(-1.0, 1.0), self.range(-1.0, 1.0));
            if p.length_squared() < 1.0 {
                return p;
            }
        }
    }

    /// A direction uniform on the unit sphere.
    pub fn unit_vector(&mut self) -> Vec3 {
        loop {
            let p = self.in_ball();
            // Very short vectors would carry few random bits into the direction.
            if p.length_squared() > 1e-8 {
                return p.normalize();
            }
        }
    }

    /// Puts `items` into a uniformly random order (Fisher–Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

fn split(low: u64, high: u64) -> [u32; 4] {
    [low as u32, (low >> 32) as u32, high as u32, (high >> 32) as u32]
}

fn join(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::par;

    #[test]
    fn philox_gives_the_published_known_answers() {
        let ones = u32::MAX;
        let pi = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344];
        let cases = [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([ones; 4], [ones; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (pi, [0xa409_3822, 0x299f_31d0], [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]),
        ];
        for (counter, key, expected) in cases {
            assert_eq!(philox4x32(counter, key), expected);
        }
    }

    #[test]
    fn draws_do_not_depend_on_the_order_or_the_number_of_threads() {
        let stream = Stream::new(7, 3);
        let draw = |i: usize| {
            let mut d = stream.at(i as u64);
            (d.next_u64(), d.normal().to_bits(), d.unit_vector().x.to_bits())
        };
        let forward: Vec<_> = (0..3000).map(draw).collect();
        let mut backward: Vec<_> = (0..3000).rev().map(draw).collect();
        backward.reverse();
        assert_eq!(forward, backward);
        for threads in [1, 2, 7] {
            assert_eq!(forward, par::with_threads(threads, || par::map(3000, draw)));
        }
    }

    #[test]
    fn seeds_streams_indices_and_draws_are_all_different() {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..8 {
            for stream in 0..8 {
                for index in 0..8 {
                    let mut d = Stream::new(seed, stream).at(index);
                    assert!((0..8).all(|_| seen.insert(d.next_u64())));
                }
            }
        }
    }

    #[test]
    fn moments_match_the_distributions() {
        let n = 200_000;
        let stream = Stream::new(1, 1);
        let mean =
            |f: &(dyn Fn(&mut Draws) -> f64 + Sync)| par::sum(n, |i| f(&mut stream.at(i as u64))) / n as f64;
        // Five standard deviations of the mean; the draws are fixed, so this never flickers.
        let close = |x: f64, truth: f64, sigma: f64| {
            assert!((x - truth).abs() < 5.0 * sigma / (n as f64).sqrt(), "{x} is not near {truth}");
        };
        close(mean(&|d| d.uniform()), 0.5, (1.0f64 / 12.0).sqrt());
        close(mean(&|d| d.uniform().powi(2)), 1.0 / 3.0, 0.3);
        close(mean(&|d| d.normal()), 0.0, 1.0);
        close(mean(&|d| d.normal().powi(2)), 1.0, 2.0f64.sqrt());
        close(mean(&|d| d.normal().powi(4)), 3.0, 96.0f64.sqrt());
        close(mean(&|d| d.in_ball().length_squared()), 0.6, 0.27);
        close(mean(&|d| d.unit_vector().y.powi(2)), 1.0 / 3.0, 0.3);
        close(mean(&|d| d.unit_vector().z), 0.0, 0.58);
        close(mean(&|d| d.below(10) as f64), 4.5, 8.25f64.sqrt());
        close(mean(&|d| d.range(-3.0, 5.0)), 1.0, 8.0 / 12.0f64.sqrt());
    }

    #[test]
    fn ranges_stay_inside_and_shuffles_are_fair_permutations() {
        let mut d = Stream::new(2, 2).at(0);
        assert!((0..1000).all(|_| (0.0..1.0).contains(&d.uniform())));
        assert!((0..1000).all(|_| d.range(1.0, 1.0f64.next_up()) == 1.0));
        assert!((0..1000).all(|_| d.below(3) < 3) && d.below(0) == 0);
        assert!((0..1000).all(|_| (d.unit_vector().length() - 1.0).abs() < 1e-15));
        // Each of the six orders of three items turns up about equally often.
        let mut counts = std::collections::BTreeMap::new();
        for i in 0..6000 {
            let mut items = [0, 1, 2];
            Stream::new(3, 3).at(i).shuffle(&mut items);
            *counts.entry(items).or_insert(0) += 1;
        }
        assert!(counts.len() == 6 && counts.values().all(|n| (850..1150).contains(n)), "{counts:?}");
    }
}
