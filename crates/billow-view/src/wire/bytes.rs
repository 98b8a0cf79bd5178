//! Little-endian byte strings, and the content hash that names them.

use xxhash_rust::xxh3::xxh3_128;

/// Bytes under construction.
#[derive(Debug, Default)]
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl Bytes {
    pub(crate) fn with_capacity(n: usize) -> Self {
        Self(Vec::with_capacity(n))
    }

    pub(crate) fn u32(&mut self, value: u32) -> &mut Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(crate) fn f32(&mut self, value: f32) -> &mut Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(crate) fn f64(&mut self, value: f64) -> &mut Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// Zero bytes up to the next multiple of eight, so that typed arrays can view what follows.
    pub(crate) fn align(&mut self) -> &mut Self {
        self.0.resize(self.0.len().next_multiple_of(8), 0);
        self
    }
}

/// Little-endian bytes of 32-bit words.
pub(crate) fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// Little-endian bytes of 16-bit words.
pub(crate) fn half_words(values: &[u16]) -> Vec<u8> {
    values.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// Content hash of an array; equal hashes mean equal arrays to the page.
pub(crate) fn hash(bytes: &[u8]) -> [u8; 16] {
    xxh3_128(bytes).to_le_bytes()
}
