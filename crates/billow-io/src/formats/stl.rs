//! STL, text and binary. Corners with equal coordinates become one vertex.
//!
//! A file is binary if its length is what its triangle count says, even when it starts with `solid` as text does.
//! Stored normals are skipped: the order of the corners says where outside is.

use super::mesh::{ImportedMesh, Polygons};
use super::source::{Position, Source, Words, quote};
use crate::error::Result;
use billow_num::Vec3;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

const HEADER: usize = 84;
const RECORD: usize = 50;

/// Whether the bytes look like STL.
pub(crate) fn recognises(bytes: &[u8]) -> bool {
    starts_as_text(bytes) || binary_count(bytes).is_some_and(|n| bytes.len() == HEADER + n * RECORD)
}

/// Reads STL bytes; errors name the data as `path`.
///
/// # Errors
/// With the line or byte and what was expected there.
pub fn parse(path: &Path, bytes: &[u8]) -> Result<ImportedMesh> {
    let source = Source { path };
    match binary_count(bytes) {
        Some(count) if bytes.len() == HEADER + count * RECORD => binary(source, bytes),
        _ if starts_as_text(bytes) && !bytes[..bytes.len().min(1024)].contains(&0) => text(source, bytes),
        Some(count) => {
            let expected = format!("{} bytes for {count} triangles", HEADER + count * RECORD);
            Err(source.error(Position::Byte(80), expected, format!("a file of {} bytes", bytes.len())))
        }
        None => {
            let start = quote(Some(&bytes[..bytes.len().min(20)]));
            let expected = "text that starts with \"solid\" or a binary header of 84 bytes";
            Err(source.error(
                Position::Byte(0),
                expected,
                format!("{} bytes that start with {start}", bytes.len()),
            ))
        }
    }
}

fn starts_as_text(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"solid"))
}

fn binary_count(bytes: &[u8]) -> Option<usize> {
    let count = bytes.get(HEADER - 4..HEADER)?;
    usize::try_from(u32::from_le_bytes([count[0], count[1], count[2], count[3]])).ok()
}

fn binary(source: Source<'_>, bytes: &[u8]) -> Result<ImportedMesh> {
    let mut welder = Welder::default();
    let mut polygons = Polygons::default();
    for (k, record) in bytes[HEADER..].chunks_exact(RECORD).enumerate() {
        for corner in 0..3 {
            let float = |axis: usize| {
                let at = 12 + 12 * corner + 4 * axis;
                let value = f32::from_le_bytes(std::array::from_fn(|b| record[at + b]));
                let offset = Position::Byte(HEADER + k * RECORD + at);
                value.is_finite().then_some(f64::from(value)).ok_or_else(|| {
                    source.error(offset, "a finite coordinate", format!("{value} in triangle {}", k + 1))
                })
            };
            let vertex = welder.add(Vec3::new(float(0)?, float(1)?, float(2)?));
            polygons.corner(source.vertex_index(Position::Byte(HEADER + k * RECORD), vertex)?);
        }
        polygons.close();
    }
    polygons.finish(source, welder.positions)
}

fn text(source: Source<'_>, bytes: &[u8]) -> Result<ImportedMesh> {
    let mut words = Words::new(bytes, 1);
    let mut welder = Welder::default();
    let mut polygons = Polygons::default();
    while let Some(word) = words.next() {
        if !word.eq_ignore_ascii_case(b"solid") {
            return Err(source.error(words.here(), "\"solid\"", quote(Some(word))));
        }
        polygons.begin_part(String::from_utf8_lossy(words.rest_of_line()).into_owned());
        solid(source, &mut words, &mut welder, &mut polygons)?;
    }
    polygons.finish(source, welder.positions)
}

/// Reads facets up to and with `endsolid`.
fn solid(
    source: Source<'_>,
    words: &mut Words<'_>,
    welder: &mut Welder,
    polygons: &mut Polygons,
) -> Result<()> {
    loop {
        match words.next() {
            Some(word) if word.eq_ignore_ascii_case(b"endsolid") => {
                words.rest_of_line();
                return Ok(());
            }
            Some(word) if word.eq_ignore_ascii_case(b"facet") => {}
            other => return Err(source.error(words.here(), "\"facet\" or \"endsolid\"", end_or(other))),
        }
        // The normal is skipped; some programs write "nan" there.
        keywords(source, words, &["normal", "*", "*", "*", "outer", "loop"])?;
        for _ in 0..3 {
            keywords(source, words, &["vertex"])?;
            let mut number = || {
                let word = words.next();
                source.number(words.here(), word)
            };
            let vertex = welder.add(Vec3::new(number()?, number()?, number()?));
            polygons.corner(source.vertex_index(words.here(), vertex)?);
        }
        keywords(source, words, &["endloop", "endfacet"])?;
        polygons.close();
    }
}

/// Consumes the given words; `*` stands for any.
fn keywords(source: Source<'_>, words: &mut Words<'_>, expected: &[&str]) -> Result<()> {
    for keyword in expected {
        let word = words.next();
        let fits = |word: &[u8]| *keyword == "*" || word.eq_ignore_ascii_case(keyword.as_bytes());
        if !word.is_some_and(fits) {
            return Err(source.error(words.here(), format!("\"{keyword}\""), end_or(word)));
        }
    }
    Ok(())
}

fn end_or(word: Option<&[u8]>) -> String {
    word.map_or_else(|| "the end of the file".into(), |word| quote(Some(word)))
}

/// Gives equal points the same number, numbers in order of first use.
#[derive(Default)]
struct Welder {
    positions: Vec<Vec3>,
    /// Open addressing: point numbers plus one, 0 for free; a power of two long and at most half full.
    slots: Vec<u32>,
}

impl Welder {
    fn add(&mut self, point: Vec3) -> usize {
        let point = point + 0.0; // -0 and 0 are the same place
        if 2 * (self.positions.len() + 1) > self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut slot = hash(point) & mask;
        while let Some(number) = self.slots[slot].checked_sub(1) {
            if self.positions[number as usize] == point {
                return number as usize;
            }
            slot = (slot + 1) & mask;
        }
        self.positions.push(point);
        self.slots[slot] = self.positions.len() as u32;
        self.positions.len() - 1
    }

    fn grow(&mut self) {
        let size = (2 * self.slots.len()).max(1024);
        self.slots = vec![0; size];
        for (k, point) in self.positions.iter().enumerate() {
            let mut slot = hash(*point) & (size - 1);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (size - 1);
            }
            self.slots[slot] = k as u32 + 1;
        }
    }
}

fn hash(point: Vec3) -> usize {
    let mut bytes = [0; 24];
    for (part, x) in bytes.chunks_exact_mut(8).zip(point.to_array()) {
        part.copy_from_slice(&x.to_bits().to_le_bytes());
    }
    xxh3_64(&bytes) as usize
}
