//! OpenEXR stills: linear light in half precision, zip-compressed scan lines.
//!
//! Own code, because a picture is one part, one layer and four channels: the writer is smaller than the glue to a
//! library that reads and writes everything.

use super::write_whole;
use crate::error::RenderError;
use crate::picture::Picture;
use billow_io::half;
use billow_num::par;
use std::path::Path;

/// Scan lines per compressed block.
const LINES: usize = 16;
/// Channels in the order the format wants, alphabetical.
const CHANNELS: [&str; 4] = ["A", "B", "G", "R"];

/// Writes the light of a picture as OpenEXR; the alpha channel is the share of each pixel that is not sky.
///
/// # Errors
/// If the file cannot be written.
pub fn write_exr(path: impl AsRef<Path>, picture: &Picture) -> Result<(), RenderError> {
    write_whole(path.as_ref(), &encode(picture))
}

fn encode(picture: &Picture) -> Vec<u8> {
    let mut file = header(picture.width, picture.height);
    let blocks = (picture.height as usize).div_ceil(LINES);
    let packed = par::map(blocks, |b| pack(&block(picture, b)));
    let mut at = file.len() + 8 * blocks;
    for bytes in &packed {
        file.extend((at as u64).to_le_bytes());
        at += 8 + bytes.len();
    }
    for (b, bytes) in packed.iter().enumerate() {
        file.extend(((b * LINES) as i32).to_le_bytes());
        file.extend((bytes.len() as i32).to_le_bytes());
        file.extend(bytes);
    }
    file
}

fn header(width: u32, height: u32) -> Vec<u8> {
    let mut channels = Vec::new();
    for name in CHANNELS {
        channels.extend(name.as_bytes());
        channels.push(0);
        // Half precision, not perceptually linear, every pixel.
        for value in [1i32, 0, 1, 1] {
            channels.extend(value.to_le_bytes());
        }
    }
    channels.push(0);
    let window: Vec<u8> =
        [0, 0, width as i32 - 1, height as i32 - 1].iter().flat_map(|v: &i32| v.to_le_bytes()).collect();
    let mut file = vec![0x76, 0x2f, 0x31, 0x01, 2, 0, 0, 0];
    let mut attribute = |name: &str, kind: &str, value: &[u8]| {
        for text in [name, kind] {
            file.extend(text.as_bytes());
            file.push(0);
        }
        file.extend((value.len() as i32).to_le_bytes());
        file.extend(value);
    };
    attribute("channels", "chlist", &channels);
    attribute("compression", "compression", &[3]);
    attribute("dataWindow", "box2i", &window);
    attribute("displayWindow", "box2i", &window);
    attribute("lineOrder", "lineOrder", &[0]);
    attribute("pixelAspectRatio", "float", &1f32.to_le_bytes());
    attribute("screenWindowCenter", "v2f", &[0; 8]);
    attribute("screenWindowWidth", "float", &1f32.to_le_bytes());
    file.push(0);
    file
}

/// Raw bytes of a block: each line channel by channel.
fn block(picture: &Picture, b: usize) -> Vec<u8> {
    let (w, h) = (picture.width as usize, picture.height as usize);
    let mut raw = Vec::with_capacity(LINES * w * 8);
    for y in b * LINES..((b + 1) * LINES).min(h) {
        let line = y * w..(y + 1) * w;
        raw.extend(picture.coverage[line.clone()].iter().flat_map(|a| half::from_f32(*a).to_le_bytes()));
        for channel in [2, 1, 0] {
            raw.extend(
                picture.radiance[line.clone()].iter().flat_map(|p| half::from_f32(p[channel]).to_le_bytes()),
            );
        }
    }
    raw
}

/// The format's zip: bytes of even and odd position apart, differences, deflate; raw if that is smaller.
fn pack(raw: &[u8]) -> Vec<u8> {
    let mut bytes: Vec<u8> = raw.iter().step_by(2).chain(raw.iter().skip(1).step_by(2)).copied().collect();
    for k in (1..bytes.len()).rev() {
        bytes[k] = bytes[k].wrapping_sub(bytes[k - 1]).wrapping_add(128);
    }
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(&bytes, 6);
    if packed.len() < raw.len() { packed } else { raw.to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Undoes the compression and finds the pixels where the format says they are.
    #[test]
    fn every_pixel_can_be_read_back() {
        let (w, h) = (37usize, 35usize);
        let mut picture = Picture::black(w as u32, h as u32);
        for (k, p) in picture.radiance.iter_mut().enumerate() {
            *p = [k as f32 * 0.01, 1.0 / (1.0 + k as f32), 3.0];
        }
        picture.coverage.fill(0.5);
        let file = encode(&picture);
        assert_eq!(&file[..4], &[0x76, 0x2f, 0x31, 0x01]);
        let table = header(w as u32, h as u32).len();
        for b in 0..h.div_ceil(LINES) {
            let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
            let start = word(table + 8 * b);
            assert_eq!(word(start), b * LINES);
            let size = word(start + 4);
            let lines = LINES.min(h - b * LINES);
            let stored = &file[start + 8..start + 8 + size];
            let raw = if size == lines * w * 8 { stored.to_vec() } else { unpack(stored) };
            for y in 0..lines {
                for x in 0..w {
                    let value = |c: usize| {
                        let at = ((y * 4 + c) * w + x) * 2;
                        half::to_f32(u16::from_le_bytes([raw[at], raw[at + 1]]))
                    };
                    let expected = picture.radiance[(b * LINES + y) * w + x];
                    assert_eq!(value(0), 0.5);
                    for (c, e) in [(3, expected[0]), (2, expected[1]), (1, expected[2])] {
                        assert!((value(c) - e).abs() <= e * 5e-4 + 1e-7);
                    }
                }
            }
        }
    }

    fn unpack(packed: &[u8]) -> Vec<u8> {
        let mut bytes = miniz_oxide::inflate::decompress_to_vec_zlib(packed).unwrap();
        for k in 1..bytes.len() {
            bytes[k] = bytes[k - 1].wrapping_add(bytes[k]).wrapping_sub(128);
        }
        let half = bytes.len().div_ceil(2);
        (0..bytes.len()).map(|k| bytes[if k % 2 == 0 { k / 2 } else { half + k / 2 }]).collect()
    }
}
