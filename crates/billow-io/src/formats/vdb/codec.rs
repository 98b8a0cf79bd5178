//! How arrays of values are stored: which inactive ones are implied by a mask, and how bytes are compressed.

use super::VdbValue;
use super::bytes::{Cursor, bit, put_mask, set_bit};
use crate::error::Result;
use crate::half;

/// Bits of a grid's compression flags.
pub(super) const ZIP: u32 = 1;
pub(super) const ACTIVE_MASK: u32 = 2;
pub(super) const BLOSC: u32 = 4;

/// What precedes an array with implied inactive values.
const ALL_BACKGROUND: u8 = 0;
const ALL_MINUS_BACKGROUND: u8 = 1;
const ALL_ONE_VALUE: u8 = 2;
const MASK_PLUS_MINUS: u8 = 3;
const MASK_ONE_VALUE: u8 = 4;
const MASK_TWO_VALUES: u8 = 5;
const EVERYTHING: u8 = 6;

/// How the arrays of a grid are stored.
#[derive(Clone, Copy)]
pub(super) struct Codec<T> {
    pub(super) flags: u32,
    pub(super) half: bool,
    pub(super) background: T,
}

impl<T: VdbValue> Codec<T> {
    /// Writes an array; values that are neither active nor children must be ± the background or all written.
    pub(super) fn put(&self, out: &mut Vec<u8>, values: &[T], active: &[u64], children: &[u64]) {
        let minus = self.background.negated();
        let idle = |i: usize| !bit(active, i) && (children.is_empty() || !bit(children, i));
        let (mut plus_seen, mut minus_seen, mut other_seen) = (false, false, false);
        for (i, &v) in values.iter().enumerate().filter(|(i, _)| idle(*i)) {
            let _ = i;
            if v == self.background {
                plus_seen = true;
            } else if v == minus {
                minus_seen = true;
            } else {
                other_seen = true;
            }
        }
        if other_seen {
            out.push(EVERYTHING);
            self.put_data(out, values.iter().copied());
            return;
        }
        match (plus_seen, minus_seen) {
            (_, false) => out.push(ALL_BACKGROUND),
            (false, true) => out.push(ALL_MINUS_BACKGROUND),
            (true, true) => {
                out.push(MASK_PLUS_MINUS);
                let mut mask = vec![0; values.len() / 64];
                for (i, &v) in values.iter().enumerate() {
                    if idle(i) && v == self.background {
                        set_bit(&mut mask, i);
                    }
                }
                put_mask(out, &mask);
            }
        }
        self.put_data(out, values.iter().enumerate().filter(|(i, _)| bit(active, *i)).map(|(_, &v)| v));
    }

    fn put_data(&self, out: &mut Vec<u8>, values: impl Iterator<Item = T>) {
        let mut numbers = Vec::new();
        values.for_each(|v| v.push_numbers(&mut numbers));
        let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        if self.flags & ZIP == 0 {
            out.extend(bytes);
            return;
        }
        let zipped = miniz_oxide::deflate::compress_to_vec_zlib(&bytes, 6);
        if zipped.len() < bytes.len() {
            out.extend((zipped.len() as i64).to_le_bytes());
            out.extend(zipped);
        } else {
            // A size that is not positive announces plain bytes.
            out.extend((-(bytes.len() as i64)).to_le_bytes());
            out.extend(bytes);
        }
    }

    /// Reads an array of `n` values.
    pub(super) fn get(&self, from: &mut Cursor<'_>, n: usize, active: &[u64]) -> Result<Vec<T>> {
        let kind = from.u8()?;
        let (mut plain, mut marked) = (self.background.negated(), self.background);
        if kind == ALL_BACKGROUND {
            plain = self.background;
        }
        if matches!(kind, ALL_ONE_VALUE | MASK_ONE_VALUE | MASK_TWO_VALUES) {
            plain = full_value(from)?;
        }
        if kind == MASK_TWO_VALUES {
            marked = full_value(from)?;
        }
        let mask = if matches!(kind, MASK_PLUS_MINUS | MASK_ONE_VALUE | MASK_TWO_VALUES) {
            from.mask(n)?
        } else {
            Vec::new()
        };
        if kind > EVERYTHING {
            return Err(from.corrupt(format!("{kind} is not a kind of array (0 to {EVERYTHING})")));
        }
        if kind == EVERYTHING || self.flags & ACTIVE_MASK == 0 {
            return self.get_data(from, n);
        }
        let stored = active.iter().map(|w| w.count_ones() as usize).sum();
        let mut values = self.get_data(from, stored)?.into_iter();
        let place = |i: usize| {
            if bit(active, i) {
                values.next().unwrap_or(self.background)
            } else if !mask.is_empty() && bit(&mask, i) {
                marked
            } else {
                plain
            }
        };
        Ok((0..n).map(place).collect())
    }

    fn get_data(&self, from: &mut Cursor<'_>, n: usize) -> Result<Vec<T>> {
        // OpenVDB writes nothing at all, not even a size, for an empty array in half precision.
        if self.half && n == 0 {
            return Ok(Vec::new());
        }
        let width = if self.half { 2 } else { 4 };
        let size = n * T::NUMBERS * width;
        let bytes = if self.flags & (ZIP | BLOSC) == 0 {
            from.take(size)?.to_vec()
        } else {
            let stored = from.i64()?;
            if stored <= 0 {
                from.take(stored.unsigned_abs() as usize)?.to_vec()
            } else {
                let packed = from.take(stored as usize)?;
                if self.flags & BLOSC != 0 {
                    unblosc(from, packed, size)?
                } else {
                    unzip(from, packed, size)?
                }
            }
        };
        if bytes.len() != size {
            return Err(from.corrupt(format!("{} bytes of values, {size} expected", bytes.len())));
        }
        let numbers: Vec<f32> = if self.half {
            bytes.chunks_exact(2).map(|b| half::to_f32(u16::from_le_bytes([b[0], b[1]]))).collect()
        } else {
            bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
        };
        Ok(numbers.chunks_exact(T::NUMBERS).map(T::from_numbers).collect())
    }
}

/// A value outside any array, stored in full.
pub(super) fn full_value<T: VdbValue>(from: &mut Cursor<'_>) -> Result<T> {
    let mut numbers = [0.0; 3];
    for n in numbers.iter_mut().take(T::NUMBERS) {
        *n = from.f32()?;
    }
    Ok(T::from_numbers(&numbers))
}

pub(super) fn put_value<T: VdbValue>(out: &mut Vec<u8>, value: T) {
    let mut numbers = Vec::with_capacity(3);
    value.push_numbers(&mut numbers);
    out.extend(numbers.iter().flat_map(|n| n.to_le_bytes()));
}

fn unzip(at: &Cursor<'_>, packed: &[u8], size: usize) -> Result<Vec<u8>> {
    miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(packed, size)
        .map_err(|e| at.corrupt(format!("zipped values do not unpack: {e}")))
}

/// Unpacks a Blosc 1 chunk compressed with LZ4.
fn unblosc(at: &Cursor<'_>, chunk: &[u8], size: usize) -> Result<Vec<u8>> {
    let bad = |what: &str| at.corrupt(format!("Blosc values do not unpack: {what}"));
    let word = |i: usize| {
        chunk
            .get(i..i + 4)
            .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize)
            .ok_or_else(|| bad("cut short"))
    };
    let (flags, typesize) =
        (*chunk.get(2).ok_or_else(|| bad("no header"))?, *chunk.get(3).unwrap_or(&1) as usize);
    let (total, block) = (word(4)?, word(8)?);
    if total != size || block == 0 || typesize == 0 {
        return Err(bad(&format!("{total} bytes announced, {size} expected")));
    }
    if flags & 2 != 0 {
        return chunk.get(16..16 + size).map(<[u8]>::to_vec).ok_or_else(|| bad("cut short"));
    }
    if flags >> 5 != 1 {
        return Err(bad("not compressed with LZ4: save the file with zip or without compression"));
    }
    let mut out = Vec::with_capacity(size);
    for b in 0..size.div_ceil(block) {
        let length = block.min(size - b * block);
        // Whole blocks are stored byte plane by byte plane unless the chunk says otherwise.
        let split = flags & 0x10 == 0 && typesize <= 16 && block / typesize >= 128 && length == block;
        let parts = if split { typesize } else { 1 };
        let mut place = word(16 + 4 * b)?;
        let mut bytes = Vec::with_capacity(length);
        for _ in 0..parts {
            let (packed, unpacked) = (word(place)?, length / parts);
            let data = chunk.get(place + 4..place + 4 + packed).ok_or_else(|| bad("cut short"))?;
            if packed == unpacked {
                bytes.extend(data);
            } else {
                let part = lz4_flex::block::decompress(data, unpacked).map_err(|e| bad(&e.to_string()))?;
                bytes.extend(part);
            }
            place += 4 + packed;
        }
        if bytes.len() != length {
            return Err(bad("a block has the wrong length"));
        }
        if flags & 1 != 0 { unshuffle(&bytes, typesize, &mut out) } else { out.extend(bytes) }
    }
    Ok(out)
}

/// Puts byte planes back together.
fn unshuffle(planes: &[u8], typesize: usize, out: &mut Vec<u8>) {
    let n = planes.len() / typesize;
    for i in 0..n {
        out.extend((0..typesize).map(|t| planes[t * n + i]));
    }
    out.extend(&planes[n * typesize..]);
}
