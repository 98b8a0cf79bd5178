//! Little-endian numbers and counted strings, in and out.

use crate::error::{Error, Result};
use std::path::Path;

/// A place in a file's bytes.
pub(super) struct Cursor<'a> {
    pub(super) path: &'a Path,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(path: &'a Path, bytes: &'a [u8]) -> Self {
        Self { path, bytes, at: 0 }
    }

    /// An error about what stands here.
    pub(super) fn corrupt(&self, what: impl Into<String>) -> Error {
        Error::Corrupt { path: self.path.into(), what: format!("at byte {}: {}", self.at, what.into()) }
    }

    pub(super) fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        let rest = self.bytes.len() - self.at;
        if n > rest {
            return Err(self.corrupt(format!("{n} bytes expected, but the file ends after {rest}")));
        }
        let part = &self.bytes[self.at..self.at + n];
        self.at += n;
        Ok(part)
    }

    pub(super) fn seek(&mut self, to: u64) -> Result<()> {
        if to > self.bytes.len() as u64 {
            return Err(
                self.corrupt(format!("the file refers to byte {to}, but has only {}", self.bytes.len()))
            );
        }
        self.at = to as usize;
        Ok(())
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut a = [0; N];
        a.copy_from_slice(self.take(N)?);
        Ok(a)
    }

    pub(super) fn u8(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub(super) fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(super) fn i64(&mut self) -> Result<i64> {
        Ok(i64::from_le_bytes(self.array()?))
    }

    pub(super) fn f32(&mut self) -> Result<f32> {
        Ok(f32::from_le_bytes(self.array()?))
    }

    pub(super) fn f64(&mut self) -> Result<f64> {
        Ok(f64::from_le_bytes(self.array()?))
    }

    pub(super) fn coordinates(&mut self) -> Result<[i32; 3]> {
        let mut c = [0; 3];
        for v in &mut c {
            *v = i32::from_le_bytes(self.array()?);
        }
        Ok(c)
    }

    pub(super) fn string(&mut self) -> Result<String> {
        let n = self.u32()? as usize;
        Ok(String::from_utf8_lossy(self.take(n)?).into_owned())
    }

    /// A mask of `bits` bits.
    pub(super) fn mask(&mut self, bits: usize) -> Result<Vec<u64>> {
        let bytes = self.take(bits / 8)?;
        let word = |w: &[u8]| w.iter().rev().fold(0u64, |v, &b| v << 8 | u64::from(b));
        Ok(bytes.chunks_exact(8).map(word).collect())
    }
}

pub(super) fn put_string(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as u32).to_le_bytes());
    out.extend(text.as_bytes());
}

pub(super) fn put_mask(out: &mut Vec<u8>, mask: &[u64]) {
    for word in mask {
        out.extend(word.to_le_bytes());
    }
}

/// Whether bit `i` is set.
pub(super) fn bit(mask: &[u64], i: usize) -> bool {
    mask[i / 64] >> (i % 64) & 1 == 1
}

pub(super) fn set_bit(mask: &mut [u64], i: usize) {
    mask[i / 64] |= 1 << (i % 64);
}
