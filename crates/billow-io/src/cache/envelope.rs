//! The envelope around every binary file of a run: magic, kind, version, length, payload, checksum.
//!
//! A flipped bit, a missing tail or a foreign file is found before anything inside is believed.

use crate::error::{Error, Result};
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

/// Version of the run format: of the envelope, the frames, the arrays and the manifest.
pub const FORMAT_VERSION: u32 = 1;

const MAGIC: [u8; 7] = *b"BILLOW\x1a";
const HEADER: usize = 20;
const CHECKSUM: usize = 8;

/// What an envelope holds; the byte after the magic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Frame = b'F' as isize,
    Array = b'A' as isize,
    Checkpoint = b'C' as isize,
}

/// The start of an envelope; append the payload and call [`seal`].
pub(crate) fn begin(content: Content) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.push(content as u8);
    bytes.extend(FORMAT_VERSION.to_le_bytes());
    bytes.extend([0; 8]);
    bytes
}

/// Fills in the length and appends the checksum.
pub(crate) fn seal(mut bytes: Vec<u8>) -> Vec<u8> {
    let payload = (bytes.len() - HEADER) as u64;
    bytes[HEADER - 8..HEADER].copy_from_slice(&payload.to_le_bytes());
    let sum = xxh3_64(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// Checks an envelope and returns its payload.
pub(crate) fn open<'a>(path: &Path, content: Content, bytes: &'a [u8]) -> Result<&'a [u8]> {
    let damaged = |what: String| Error::corrupt(path, what);
    if bytes.len() < HEADER + CHECKSUM {
        return Err(damaged(format!("it has {} bytes, fewer than any file of this kind", bytes.len())));
    }
    if bytes[..7] != MAGIC || bytes[7] != content as u8 {
        return Err(damaged(
            format!("it is not a {content:?} file of a Billow run")
                .to_lowercase()
                .replace("billow", "Billow"),
        ));
    }
    let version = u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]);
    if version > FORMAT_VERSION {
        return Err(Error::NewerFormat {
            path: path.to_path_buf(),
            found: version,
            supported: FORMAT_VERSION,
        });
    }
    let payload = u64::from_le_bytes(std::array::from_fn(|k| bytes[HEADER - 8 + k]));
    let expected = payload.saturating_add((HEADER + CHECKSUM) as u64);
    if expected != bytes.len() as u64 {
        return Err(damaged(format!("it should have {expected} bytes and has {}", bytes.len())));
    }
    let (body, sum) = bytes.split_at(bytes.len() - CHECKSUM);
    let (stored, found) = (u64::from_le_bytes(std::array::from_fn(|k| sum[k])), xxh3_64(body));
    if stored != found {
        return Err(damaged(format!("its checksum is {found:016x} where {stored:016x} was stored")));
    }
    Ok(&body[HEADER..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_and_every_truncation_is_noticed() {
        let mut bytes = begin(Content::Frame);
        bytes.extend(b"some payload");
        let bytes = seal(bytes);
        let path = Path::new("f");
        assert_eq!(open(path, Content::Frame, &bytes).unwrap(), b"some payload");
        assert!(open(path, Content::Array, &bytes).is_err());
        for bit in 0..bytes.len() * 8 {
            let mut bad = bytes.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(open(path, Content::Frame, &bad).is_err(), "bit {bit}");
        }
        for len in 0..bytes.len() {
            assert!(open(path, Content::Frame, &bytes[..len]).is_err());
        }
        let longer = [&bytes[..], &[0]].concat();
        assert!(open(path, Content::Frame, &longer).is_err());
    }
}
