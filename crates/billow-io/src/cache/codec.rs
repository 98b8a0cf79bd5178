//! Lossless packing of numeric arrays: predict, shuffle bytes, LZ4.
//!
//! Values become integers whose order is that of the numbers, each component is predicted from the elements
//! before it, the (small) differences are split into byte planes, and the planes are compressed. All arithmetic
//! is on bit patterns, so NaNs, infinities and the sign of zero come back exactly.

use std::borrow::Cow;

/// How the bits of an element are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    /// Bytes per component: 4 or 8.
    pub(crate) width: usize,
    /// Components per element.
    pub(crate) components: usize,
    /// Whether components are floating-point numbers.
    pub(crate) float: bool,
}

impl Kind {
    /// Bytes per element.
    pub(crate) fn stride(self) -> usize {
        self.width * self.components
    }
}

/// No compression: the little-endian bytes of the elements.
const RAW: u8 = 0;
/// Prediction, byte planes, LZ4.
const SHUFFLED: u8 = 1;
/// LZ4 cannot expand a byte to more than this many.
const LZ4_MAX_RATIO: usize = 255;

/// A packed array: how it is packed, and the bytes.
pub(crate) struct Packed<'a> {
    pub(crate) codec: u8,
    pub(crate) order: u8,
    pub(crate) bytes: Cow<'a, [u8]>,
}

/// Packs the little-endian bytes of an array.
pub(crate) fn pack(kind: Kind, raw: &[u8]) -> Packed<'_> {
    let order = best_order(kind, raw);
    let bytes = lz4_flex::block::compress(&shuffle(kind, order, raw));
    if bytes.len() < raw.len() {
        Packed { codec: SHUFFLED, order, bytes: Cow::Owned(bytes) }
    } else {
        Packed { codec: RAW, order: 0, bytes: Cow::Borrowed(raw) }
    }
}

/// Unpacks `count` elements; the message says what is wrong with the bytes.
pub(crate) fn unpack(kind: Kind, count: usize, packed: &Packed<'_>) -> Result<Vec<u8>, String> {
    let bytes = &packed.bytes;
    let size = count.checked_mul(kind.stride()).ok_or_else(|| format!("an array of {count} elements"))?;
    match packed.codec {
        RAW if bytes.len() == size => Ok(bytes.to_vec()),
        RAW => Err(format!("{count} elements take {size} bytes, found {}", bytes.len())),
        SHUFFLED if packed.order > 2 => Err(format!("unknown predictor {}", packed.order)),
        SHUFFLED if size / LZ4_MAX_RATIO > bytes.len() => {
            Err(format!("{} packed bytes cannot hold {count} elements", bytes.len()))
        }
        SHUFFLED => {
            let planes = lz4_flex::block::decompress(bytes, size).map_err(|e| e.to_string())?;
            if planes.len() != size {
                return Err(format!("{count} elements take {size} bytes, unpacked {}", planes.len()));
            }
            Ok(unshuffle(kind, packed.order, &planes))
        }
        other => Err(format!("unknown codec {other}")),
    }
}

/// The component at `at` as an integer ordered like the number.
fn load(kind: Kind, raw: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word[..kind.width].copy_from_slice(&raw[at..at + kind.width]);
    let bits = u64::from_le_bytes(word);
    if kind.float { ordered(kind, bits) } else { bits }
}

fn sign(kind: Kind) -> u64 {
    1 << (8 * kind.width - 1)
}

fn mask(kind: Kind) -> u64 {
    u64::MAX >> (64 - 8 * kind.width)
}

/// Bit pattern of a float to an integer in the numbers' order.
fn ordered(kind: Kind, bits: u64) -> u64 {
    if bits & sign(kind) == 0 { bits | sign(kind) } else { !bits & mask(kind) }
}

/// Inverse of [`ordered`].
fn disordered(kind: Kind, value: u64) -> u64 {
    if value & sign(kind) != 0 { value & !sign(kind) } else { !value & mask(kind) }
}

/// Moves the sign of a difference into its lowest bit, so that small differences are small numbers.
fn zigzag(kind: Kind, d: u64) -> u64 {
    let d = d & mask(kind);
    if d & sign(kind) == 0 { d << 1 } else { (!d << 1 | 1) & mask(kind) }
}

/// Inverse of [`zigzag`].
fn unzigzag(kind: Kind, z: u64) -> u64 {
    if z & 1 == 0 { z >> 1 } else { !(z >> 1) & mask(kind) }
}

/// Prediction from the two values before: nothing, the last, or the line through both.
fn predict(order: u8, a: u64, b: u64) -> u64 {
    match order {
        0 => 0,
        1 => a,
        _ => a.wrapping_mul(2).wrapping_sub(b),
    }
}

/// The prediction order with the fewest significant bits over a sample of the array.
fn best_order(kind: Kind, raw: &[u8]) -> u8 {
    const SAMPLE: usize = 4096;
    let n = (raw.len() / kind.stride()).min(SAMPLE);
    let first = (raw.len() / kind.stride() - n) / 2;
    let mut bits = [0u64; 3];
    for c in 0..kind.components {
        let (mut a, mut b) = (0, 0);
        for i in first..first + n {
            let x = load(kind, raw, i * kind.stride() + c * kind.width);
            for order in 0..3 {
                let d = zigzag(kind, x.wrapping_sub(predict(order as u8, a, b)));
                bits[order] += u64::from(64 - d.leading_zeros());
            }
            (b, a) = (a, x);
        }
    }
    (0..3).min_by_key(|&order| bits[order]).unwrap_or(0) as u8
}

fn shuffle(kind: Kind, order: u8, raw: &[u8]) -> Vec<u8> {
    let n = raw.len() / kind.stride();
    let mut planes = vec![0; raw.len()];
    for c in 0..kind.components {
        let (mut a, mut b) = (0, 0);
        let part = &mut planes[c * n * kind.width..(c + 1) * n * kind.width];
        for i in 0..n {
            let x = load(kind, raw, i * kind.stride() + c * kind.width);
            let z = zigzag(kind, x.wrapping_sub(predict(order, a, b)));
            for (plane, byte) in z.to_le_bytes()[..kind.width].iter().enumerate() {
                part[plane * n + i] = *byte;
            }
            (b, a) = (a, x);
        }
    }
    planes
}

fn unshuffle(kind: Kind, order: u8, planes: &[u8]) -> Vec<u8> {
    let n = planes.len() / kind.stride();
    let mut raw = vec![0; planes.len()];
    for c in 0..kind.components {
        let (mut a, mut b) = (0, 0);
        let part = &planes[c * n * kind.width..(c + 1) * n * kind.width];
        for i in 0..n {
            let mut word = [0; 8];
            for plane in 0..kind.width {
                word[plane] = part[plane * n + i];
            }
            let x = unzigzag(kind, u64::from_le_bytes(word)).wrapping_add(predict(order, a, b)) & mask(kind);
            let bits = if kind.float { disordered(kind, x) } else { x };
            let at = i * kind.stride() + c * kind.width;
            raw[at..at + kind.width].copy_from_slice(&bits.to_le_bytes()[..kind.width]);
            (b, a) = (a, x);
        }
    }
    raw
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [Kind; 5] = [
        Kind { width: 8, components: 3, float: true },
        Kind { width: 4, components: 1, float: true },
        Kind { width: 4, components: 3, float: true },
        Kind { width: 4, components: 3, float: false },
        Kind { width: 4, components: 1, float: false },
    ];

    fn round_trip(kind: Kind, raw: &[u8]) -> usize {
        let count = raw.len() / kind.stride();
        for order in 0..3 {
            assert_eq!(unshuffle(kind, order, &shuffle(kind, order, raw)), raw, "{kind:?} order {order}");
        }
        let packed = pack(kind, raw);
        assert_eq!(unpack(kind, count, &packed).unwrap(), raw, "{kind:?}");
        packed.bytes.len()
    }

    #[test]
    fn every_bit_pattern_comes_back() {
        let mut state = 1u64;
        for kind in KINDS {
            for n in [0, 1, 2, 3, 100, 1000] {
                let noise: Vec<u8> = (0..n * kind.stride())
                    .map(|_| {
                        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        (state >> 56) as u8
                    })
                    .collect();
                round_trip(kind, &noise);
            }
        }
        let special =
            [f64::NAN, -f64::NAN, f64::INFINITY, -0.0, 0.0, f64::MIN_POSITIVE / 2.0, f64::MAX, f64::MIN, 1.0];
        let raw: Vec<u8> = special.iter().flat_map(|x| x.to_le_bytes()).collect();
        round_trip(KINDS[0], &raw);
    }

    #[test]
    fn smooth_and_constant_data_shrink() {
        let smooth: Vec<u8> = (0..30_000).flat_map(|i| (1.0 + f64::from(i) * 1e-4).to_le_bytes()).collect();
        assert!(round_trip(KINDS[0], &smooth) * 3 < smooth.len() * 2);
        assert!(round_trip(KINDS[1], &[0; 1 << 20]) < 5000);
    }

    #[test]
    fn claims_that_the_bytes_cannot_justify_are_refused_without_allocating() {
        let packed = Packed { codec: SHUFFLED, order: 1, bytes: Cow::Borrowed(&[0; 10]) };
        assert!(unpack(KINDS[0], usize::MAX, &packed).is_err());
        assert!(unpack(KINDS[0], 1 << 40, &packed).unwrap_err().contains("cannot hold"));
        assert!(unpack(KINDS[0], 3, &Packed { codec: 9, order: 0, bytes: Cow::Borrowed(&[0; 72]) }).is_err());
    }
}
