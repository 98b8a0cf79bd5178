//! Lossless packing of numeric arrays: predict, then pack the differences.
//!
//! Every component is predicted from the elements before it; if the array has the rows of a grid, also from the row
//! before. The difference is taken between integers that are ordered like the numbers, so close predictions leave
//! few bits. Differences are packed by blocks with as many bits as their largest needs, or split into byte planes
//! and compressed by LZ4, whichever is smaller. NaNs, infinities and the sign of zero come back exactly.

use super::predict::{self, Number, Predictor};
use std::borrow::Cow;

/// How the bits of an element are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    /// What a component is.
    pub(crate) component: Component,
    /// Components per element.
    pub(crate) components: usize,
}

/// Type of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Component {
    /// 64-bit float.
    F64,
    /// 32-bit float.
    F32,
    /// 32-bit integer, signed or not.
    U32,
}

impl Kind {
    /// Bytes per component.
    pub(crate) fn width(self) -> usize {
        match self.component {
            Component::F64 => 8,
            Component::F32 | Component::U32 => 4,
        }
    }

    /// Bytes per element.
    pub(crate) fn stride(self) -> usize {
        self.width() * self.components
    }
}

/// No packing: the little-endian bytes of the elements.
const RAW: u8 = 0;
/// Differences in byte planes, LZ4.
const PLANES: u8 = 1;
/// Differences in blocks of [`BLOCK`] values with a common number of bits.
const BITS: u8 = 2;
/// LZ4 cannot expand a byte to more than this many.
const LZ4_MAX_RATIO: usize = 255;
/// Values per block.
const BLOCK: usize = 64;

/// A packed array: how it is packed, and the bytes.
pub(crate) struct Packed<'a> {
    pub(crate) codec: u8,
    pub(crate) predictor: Predictor,
    pub(crate) bytes: Cow<'a, [u8]>,
}

/// Packs the little-endian bytes of an array.
pub(crate) fn pack(kind: Kind, raw: &[u8]) -> Packed<'_> {
    match kind.component {
        Component::F64 => pack_numbers::<f64>(kind, raw),
        Component::F32 => pack_numbers::<f32>(kind, raw),
        Component::U32 => pack_numbers::<u32>(kind, raw),
    }
}

fn pack_numbers<N: Number>(kind: Kind, raw: &[u8]) -> Packed<'_> {
    let columns = predict::columns::<N>(raw, kind.components);
    let predictor = predict::choose(&columns);
    let differences: Vec<u64> =
        columns.iter().flat_map(|column| predict::differences(column, predictor)).collect();
    let per_column = raw.len() / kind.stride();
    let mut best = Packed { codec: RAW, predictor: Predictor::None, bytes: Cow::Borrowed(raw) };
    let bits = pack_bits(&differences, per_column);
    // LZ4 finds repetitions, which floats have only where they are mostly constant.
    let repetitive = kind.component == Component::U32 || bits.len() * 4 < raw.len();
    if bits.len() < best.bytes.len() {
        best = Packed { codec: BITS, predictor, bytes: Cow::Owned(bits) };
    }
    if repetitive {
        let planes = lz4_flex::block::compress(&to_planes(&differences, per_column, kind.width()));
        if planes.len() < best.bytes.len() {
            best = Packed { codec: PLANES, predictor, bytes: Cow::Owned(planes) };
        }
    }
    best
}

/// Unpacks `count` elements; the message says what is wrong with the bytes.
pub(crate) fn unpack(kind: Kind, count: usize, packed: &Packed<'_>) -> Result<Vec<u8>, String> {
    let bytes = &packed.bytes;
    let size = count.checked_mul(kind.stride()).ok_or_else(|| format!("an array of {count} elements"))?;
    let differences = match packed.codec {
        RAW if bytes.len() == size => return Ok(bytes.to_vec()),
        RAW => return Err(format!("{count} elements take {size} bytes, found {}", bytes.len())),
        PLANES if size / LZ4_MAX_RATIO <= bytes.len() => {
            let planes = lz4_flex::block::decompress(bytes, size).map_err(|e| e.to_string())?;
            if planes.len() != size {
                return Err(format!("{count} elements take {size} bytes, unpacked {}", planes.len()));
            }
            from_planes(&planes, count, kind.width())
        }
        BITS if count.div_ceil(BLOCK) * kind.components <= bytes.len() => {
            unpack_bits(bytes, count, kind.components, kind.width())?
        }
        PLANES | BITS => return Err(format!("{} packed bytes cannot hold {count} elements", bytes.len())),
        other => return Err(format!("unknown codec {other}")),
    };
    Ok(match kind.component {
        Component::F64 => predict::restore::<f64>(&differences, kind.components, packed.predictor),
        Component::F32 => predict::restore::<f32>(&differences, kind.components, packed.predictor),
        Component::U32 => predict::restore::<u32>(&differences, kind.components, packed.predictor),
    })
}

/// Low bytes of all values of a column, then the next bytes, and so on; columns one after the other.
fn to_planes(values: &[u64], per_column: usize, width: usize) -> Vec<u8> {
    let mut planes = Vec::with_capacity(values.len() * width);
    for column in values.chunks(per_column.max(1)) {
        for byte in 0..width {
            planes.extend(column.iter().map(|value| (value >> (8 * byte)) as u8));
        }
    }
    planes
}

fn from_planes(planes: &[u8], per_column: usize, width: usize) -> Vec<u64> {
    let mut values = Vec::with_capacity(planes.len() / width);
    for column in planes.chunks(per_column.max(1) * width) {
        values.extend((0..column.len() / width).map(|k| {
            (0..width).fold(0, |value, byte| value | u64::from(column[byte * per_column + k]) << (8 * byte))
        }));
    }
    values
}

/// For each block the number of bits of its largest value, then that many low bits of all its values.
fn pack_bits(values: &[u64], per_column: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(values.len() * 6);
    for column in values.chunks(per_column.max(1)) {
        for block in column.chunks(BLOCK) {
            let bits = 64 - block.iter().fold(0, |all, value| all | value).leading_zeros();
            out.push(bits as u8);
            let (mut buffer, mut held) = (0u128, 0);
            for value in block {
                buffer |= u128::from(*value) << held;
                held += bits;
                while held >= 32 {
                    out.extend((buffer as u32).to_le_bytes());
                    buffer >>= 32;
                    held -= 32;
                }
            }
            out.extend(&buffer.to_le_bytes()[..held.div_ceil(8) as usize]);
        }
    }
    out
}

fn unpack_bits(mut bytes: &[u8], count: usize, columns: usize, width: usize) -> Result<Vec<u64>, String> {
    let mut values = Vec::with_capacity(count * columns);
    for _ in 0..columns {
        let mut left = count;
        while left > 0 {
            let n = left.min(BLOCK);
            let Some((bits, rest)) = bytes.split_first() else {
                return Err("packed bits end too early".into());
            };
            let bits = usize::from(*bits);
            let Some((block, rest)) =
                rest.split_at_checked((n * bits).div_ceil(8)).filter(|_| bits <= 8 * width)
            else {
                return Err(format!("a block of {n} values of {bits} bits is not there"));
            };
            unpack_block(block, n, bits, &mut values);
            (bytes, left) = (rest, left - n);
        }
    }
    match bytes.len() {
        0 => Ok(values),
        extra => Err(format!("{extra} bytes follow the last packed block")),
    }
}

fn unpack_block(block: &[u8], n: usize, bits: usize, values: &mut Vec<u64>) {
    let mask = if bits == 0 { 0 } else { u64::MAX >> (64 - bits) };
    let (mut buffer, mut held, mut words) = (0u128, 0, block.chunks(4));
    for _ in 0..n {
        while held < bits {
            let mut word = [0; 4];
            let chunk = words.next().unwrap_or_default();
            word[..chunk.len()].copy_from_slice(chunk);
            buffer |= u128::from(u32::from_le_bytes(word)) << held;
            held += 32;
        }
        values.push(buffer as u64 & mask);
        buffer >>= bits;
        held -= bits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [Kind; 5] = [
        Kind { component: Component::F64, components: 3 },
        Kind { component: Component::F32, components: 1 },
        Kind { component: Component::F32, components: 3 },
        Kind { component: Component::U32, components: 3 },
        Kind { component: Component::U32, components: 1 },
    ];

    fn noise(seed: u64, n: usize) -> Vec<u64> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ state >> 29
        };
        (0..n).map(|_| next()).collect()
    }

    fn round_trip(kind: Kind, raw: &[u8]) -> usize {
        let packed = pack(kind, raw);
        let unpacked = unpack(kind, raw.len() / kind.stride(), &packed).unwrap();
        assert!(unpacked == raw, "{kind:?} codec {} {:?}", packed.codec, packed.predictor);
        packed.bytes.len()
    }

    #[test]
    fn every_bit_pattern_comes_back() {
        for kind in KINDS {
            for n in [0, 1, 2, 3, 63, 64, 65, 1000] {
                let noise: Vec<u8> = noise(n as u64, n * kind.stride()).iter().map(|x| *x as u8).collect();
                round_trip(kind, &noise);
                round_trip(kind, &vec![0xff; n * kind.stride()]);
                round_trip(kind, &vec![0; n * kind.stride()]);
            }
        }
        let special =
            [f64::NAN, -f64::NAN, f64::INFINITY, -0.0, 0.0, f64::MIN_POSITIVE / 2.0, f64::MAX, f64::MIN, 1.0];
        let raw: Vec<u8> = special.iter().cycle().take(999).flat_map(|x| x.to_le_bytes()).collect();
        round_trip(KINDS[0], &raw);
    }

    #[test]
    fn both_packings_are_inverted_for_all_widths() {
        for bits in 0..=64 {
            for n in [1, 63, 64, 65, 200] {
                let values: Vec<u64> =
                    noise(bits, n * 3).iter().map(|x| x.checked_shr(64 - bits as u32).unwrap_or(0)).collect();
                let packed = pack_bits(&values, n);
                assert_eq!(unpack_bits(&packed, n, 3, 8).unwrap(), values);
                assert!(unpack_bits(&packed[..packed.len() - 1], n, 3, 8).is_err());
                assert_eq!(from_planes(&to_planes(&values, n, 8), n, 8), values);
            }
        }
    }

    #[test]
    fn smooth_gridded_and_constant_data_shrink() {
        let smooth: Vec<u8> = (0..30_000).flat_map(|i| (1.0 + f64::from(i) * 1e-4).to_le_bytes()).collect();
        assert!(round_trip(KINDS[0], &smooth) * 3 < smooth.len());
        assert!(round_trip(KINDS[1], &[0; 1 << 20]) < 5000);
        let wave = |i: u32, j: u32| {
            (
                f64::from(i) * 0.01,
                f64::from(j) * 0.01,
                (f64::from(i) * 0.1).sin() * (f64::from(j) * 0.1).cos(),
            )
        };
        let sheet: Vec<u8> = (0..150u32 * 150)
            .flat_map(|k| {
                let (x, y, z) = wave(k % 150, k / 150);
                [x, y, z].map(f64::to_le_bytes).concat()
            })
            .collect();
        assert!(round_trip(KINDS[0], &sheet) * 5 < sheet.len() * 2, "{}", round_trip(KINDS[0], &sheet));
    }

    #[test]
    fn claims_that_the_bytes_cannot_justify_are_refused_without_allocating() {
        for codec in [PLANES, BITS] {
            let packed = Packed { codec, predictor: Predictor::Last, bytes: Cow::Borrowed(&[0; 10]) };
            assert!(unpack(KINDS[0], usize::MAX, &packed).is_err());
            assert!(unpack(KINDS[0], 1 << 40, &packed).unwrap_err().contains("cannot hold"));
        }
        let packed = Packed { codec: 9, predictor: Predictor::None, bytes: Cow::Borrowed(&[0; 72]) };
        assert!(unpack(KINDS[0], 3, &packed).is_err());
    }
}
