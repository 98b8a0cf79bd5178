//! Typed arrays as bytes: element layouts, content hashes, and their packed form in a payload.

use super::codec::{self, Component, Kind, Packed};
use super::payload::Cursor;
use super::predict::Predictor;
use billow_num::Vec3;
use std::borrow::Cow;
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// An element that the cache stores.
pub(crate) trait Element: Copy + Send + Sync + 'static {
    /// Identifies the layout in files.
    const CODE: u8;
    /// The layout.
    const KIND: Kind;
    /// Appends the little-endian bytes.
    fn put(&self, out: &mut Vec<u8>);
    /// Reads the little-endian bytes.
    fn get(bytes: &[u8]) -> Self;
}

fn f64_at(bytes: &[u8], k: usize) -> f64 {
    f64::from_le_bytes(std::array::from_fn(|b| bytes[8 * k + b]))
}

fn u32_at(bytes: &[u8], k: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|b| bytes[4 * k + b]))
}

impl Element for Vec3 {
    const CODE: u8 = 1;
    const KIND: Kind = Kind { component: Component::F64, components: 3 };
    fn put(&self, out: &mut Vec<u8>) {
        out.extend(self.x.to_le_bytes());
        out.extend(self.y.to_le_bytes());
        out.extend(self.z.to_le_bytes());
    }
    fn get(bytes: &[u8]) -> Self {
        Self::new(f64_at(bytes, 0), f64_at(bytes, 1), f64_at(bytes, 2))
    }
}

impl<const N: usize> Element for [u32; N] {
    const CODE: u8 = 16 + N as u8;
    const KIND: Kind = Kind { component: Component::U32, components: N };
    fn put(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|x| out.extend(x.to_le_bytes()));
    }
    fn get(bytes: &[u8]) -> Self {
        std::array::from_fn(|k| u32_at(bytes, k))
    }
}

impl Element for i32 {
    const CODE: u8 = 2;
    const KIND: Kind = Kind { component: Component::U32, components: 1 };
    fn put(&self, out: &mut Vec<u8>) {
        out.extend(self.to_le_bytes());
    }
    fn get(bytes: &[u8]) -> Self {
        u32_at(bytes, 0) as Self
    }
}

impl Element for f32 {
    const CODE: u8 = 3;
    const KIND: Kind = Kind { component: Component::F32, components: 1 };
    fn put(&self, out: &mut Vec<u8>) {
        out.extend(self.to_le_bytes());
    }
    fn get(bytes: &[u8]) -> Self {
        Self::from_bits(u32_at(bytes, 0))
    }
}

impl Element for [f32; 3] {
    const CODE: u8 = 4;
    const KIND: Kind = Kind { component: Component::F32, components: 3 };
    fn put(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|x| out.extend(x.to_le_bytes()));
    }
    fn get(bytes: &[u8]) -> Self {
        std::array::from_fn(|k| f32::from_bits(u32_at(bytes, k)))
    }
}

/// The little-endian bytes of an array.
pub(crate) fn to_raw<T: Element>(items: &[T]) -> Vec<u8> {
    let mut raw = Vec::with_capacity(size_of_val(items));
    items.iter().for_each(|x| x.put(&mut raw));
    raw
}

/// Names an array by its content; the same elements always get the same name.
pub(crate) fn content_hash<T: Element>(raw: &[u8]) -> u128 {
    xxh3_128_with_seed(raw, u64::from(T::CODE))
}

/// Appends element code, count, packing and packed bytes.
pub(crate) fn put<T: Element>(out: &mut Vec<u8>, raw: &[u8]) {
    let packed = codec::pack(T::KIND, raw);
    out.push(T::CODE);
    out.extend(((raw.len() / T::KIND.stride()) as u64).to_le_bytes());
    let (predictor, row) = packed.predictor.code();
    out.extend([packed.codec, predictor]);
    out.extend(row.to_le_bytes());
    out.extend((packed.bytes.len() as u64).to_le_bytes());
    out.extend_from_slice(&packed.bytes);
}

/// Reads what [`put`] wrote.
pub(crate) fn get<T: Element>(from: &mut Cursor<'_>) -> Result<Vec<T>, String> {
    let code = from.u8()?;
    if code != T::CODE {
        return Err(format!("an array of element type {code} stands where type {} belongs", T::CODE));
    }
    let count = usize::try_from(from.u64()?).map_err(|e| e.to_string())?;
    let (codec, predictor, row) = (from.u8()?, from.u8()?, from.u32()?);
    let predictor = Predictor::from_code(predictor, row)
        .ok_or_else(|| format!("unknown predictor {predictor} with rows of {row}"))?;
    let len = from.u64()?;
    let bytes = Cow::Borrowed(from.bytes(len)?);
    let raw = codec::unpack(T::KIND, count, &Packed { codec, predictor, bytes })?;
    Ok(raw.chunks_exact(T::KIND.stride()).map(T::get).collect())
}
