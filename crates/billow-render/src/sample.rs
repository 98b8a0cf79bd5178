//! Random numbers of the tracer: functions of pixel, sample and dimension alone.
//!
//! Points come in pairs from the two-dimensional Sobol sequence, each pair with its own Owen scrambling and its own
//! order of samples (padding), so that n samples of any one pair are well spread and different pairs are independent.
//! Loops of unknown length (fog) take plain hashed numbers. The same picture comes out for any number of threads.

use glam::Vec2;

/// The numbers of one sample of one pixel, taken one pair after the other.
#[derive(Clone, Debug)]
pub(crate) struct Sampler {
    seed: u32,
    index: u32,
    pair: u32,
}

impl Sampler {
    /// The numbers of sample `index` of the pixel with this number in this frame.
    pub(crate) fn new(pixel: u32, frame: u32, index: u32) -> Self {
        Self { seed: mix(pixel ^ mix(frame.wrapping_mul(0x9E37_79B9) ^ 0x5bd1_e995)), index, pair: 0 }
    }

    /// The next pair in [0, 1)².
    #[inline]
    pub(crate) fn pair(&mut self) -> Vec2 {
        self.pair += 1;
        let key = mix(self.seed ^ self.pair.wrapping_mul(0x85eb_ca6b));
        let i = scramble(self.index, key);
        let x = scramble_reversed(i, key ^ 0x68bc_21eb);
        let y = scramble_reversed(pascal(i), key ^ 0x02e5_be93);
        Vec2::new(unit(x), unit(y))
    }

    /// The next single number in [0, 1).
    #[inline]
    pub(crate) fn one(&mut self) -> f32 {
        self.pair().x
    }

    /// A stream of unstructured numbers for loops of unknown length.
    pub(crate) fn stream(&mut self) -> Stream {
        self.pair += 1;
        Stream { state: mix(self.seed ^ mix(self.index ^ self.pair.wrapping_mul(0xc2b2_ae35))) }
    }
}

/// A sequence of independent numbers.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    state: u32,
}

impl Stream {
    /// The next number in [0, 1).
    #[inline]
    pub(crate) fn next(&mut self) -> f32 {
        self.state = self.state.wrapping_add(0x9E37_79B9);
        unit(mix(self.state))
    }
}

/// A number in [0, 1) from the top 24 bits.
#[inline]
fn unit(bits: u32) -> f32 {
    (bits >> 8) as f32 * (1.0 / 16_777_216.0)
}

/// A bijective hash of 32 bits with full avalanche.
#[inline]
pub(crate) fn mix(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x7feb_352d);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// The second Sobol dimension before bit reversal: Pascal's triangle modulo 2, applied as a Kronecker power.
#[inline]
fn pascal(mut i: u32) -> u32 {
    i ^= (i & 0xaaaa_aaaa) >> 1;
    i ^= (i & 0xcccc_cccc) >> 2;
    i ^= (i & 0xf0f0_f0f0) >> 4;
    i ^= (i & 0xff00_ff00) >> 8;
    i ^ (i >> 16)
}

/// Owen scrambling of a number whose bits are reversed: each bit is flipped by a hash of the bits below it.
#[inline]
fn laine_karras(mut x: u32, seed: u32) -> u32 {
    x ^= x.wrapping_mul(0x3d20_adea);
    x = x.wrapping_add(seed);
    x = x.wrapping_mul((seed >> 16) | 1);
    x ^= x.wrapping_mul(0x0552_6c56);
    x ^ x.wrapping_mul(0x53a2_2864)
}

/// Owen scrambling of the radical inverse of `i`.
#[inline]
fn scramble_reversed(i: u32, seed: u32) -> u32 {
    laine_karras(i, mix(seed)).reverse_bits()
}

/// Owen scrambling of `i` itself: a permutation that keeps aligned blocks of powers of two together.
#[inline]
fn scramble(i: u32, seed: u32) -> u32 {
    laine_karras(i.reverse_bits(), mix(seed)).reverse_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every elementary interval of area 1/n of the unit square holds exactly one of the first n points.
    #[test]
    fn each_pair_is_a_net_in_base_two() {
        for skipped in 0..5 {
            let points: Vec<Vec2> = (0..64)
                .map(|i| {
                    let mut sampler = Sampler::new(7, 3, i);
                    for _ in 0..skipped {
                        sampler.pair();
                    }
                    sampler.pair()
                })
                .collect();
            for log_x in 0..=6 {
                let (nx, ny) = (1 << log_x, 64 >> log_x);
                let mut count = vec![0; 64];
                for p in &points {
                    count[(p.x * nx as f32) as usize + nx * (p.y * ny as f32) as usize] += 1;
                }
                assert!(count.iter().all(|c| *c == 1), "pair {skipped}, {nx} by {ny}: {count:?}");
            }
        }
    }

    #[test]
    fn pixels_pairs_and_streams_are_independent() {
        let correlation = |f: &dyn Fn(u32) -> (f32, f32)| {
            let n = 4096;
            (0..n).map(f).map(|(a, b)| f64::from(a - 0.5) * f64::from(b - 0.5)).sum::<f64>() * 12.0
                / f64::from(n)
        };
        let between_pairs = correlation(&|k| {
            let mut s = Sampler::new(1, 0, k);
            (s.pair().x, s.pair().x)
        });
        let between_pixels = correlation(&|k| (Sampler::new(k, 0, 0).one(), Sampler::new(k + 1, 0, 0).one()));
        let in_stream = correlation(&|k| {
            let mut s = Sampler::new(k, 0, 0).stream();
            (s.next(), s.next())
        });
        for c in [between_pairs, between_pixels, in_stream] {
            assert!(c.abs() < 0.05, "{c}");
        }
    }
}
