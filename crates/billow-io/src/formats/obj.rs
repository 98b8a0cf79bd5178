//! Wavefront OBJ: `v` and `f` lines, with objects and groups as parts.
//!
//! Texture coordinates, normals, materials and free-form surfaces are skipped. Faces may have any number of
//! corners, may use relative (negative) numbers, and may come before their vertices.

use super::mesh::{ImportedMesh, Polygons};
use super::source::{Position, Source, quote};
use crate::error::Result;
use billow_num::Vec3;
use std::borrow::Cow;
use std::path::Path;

/// Statements of the format that carry nothing this reader keeps.
const SKIPPED: &[&str] = &[
    "vt",
    "vn",
    "vp",
    "l",
    "p",
    "s",
    "mg",
    "usemtl",
    "mtllib",
    "usemap",
    "maplib",
    "lod",
    "bevel",
    "c_interp",
    "d_interp",
    "shadow_obj",
    "trace_obj",
    "ctech",
    "stech",
    "cstype",
    "deg",
    "bmat",
    "step",
    "curv",
    "curv2",
    "surf",
    "parm",
    "trim",
    "hole",
    "scrv",
    "sp",
    "end",
    "con",
    "call",
    "csh",
    "bzp",
    "bsp",
    "cdc",
    "cdp",
    "res",
];

/// Reads OBJ text; errors name the data as `path`.
///
/// # Errors
/// With the line and what was expected there.
pub fn parse(path: &Path, bytes: &[u8]) -> Result<ImportedMesh> {
    let mut parser = Parser {
        source: Source { path },
        positions: Vec::new(),
        polygons: Polygons::default(),
        highest: None,
        object: String::new(),
        unknown: None,
    };
    let mut lines = Lines { rest: bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes), number: 0 };
    while let Some((number, line)) = lines.next() {
        parser.line(Position::Line(number), &line)?;
    }
    parser.finish()
}

struct Parser<'a> {
    source: Source<'a>,
    positions: Vec<Vec3>,
    polygons: Polygons,
    /// The highest vertex number used before that vertex was defined, and where.
    highest: Option<(usize, Position)>,
    object: String,
    /// First unknown statement and the number of them.
    unknown: Option<(String, usize)>,
}

impl Parser<'_> {
    fn line(&mut self, at: Position, line: &[u8]) -> Result<()> {
        let line = match line.iter().position(|b| *b == b'#') {
            Some(comment) => &line[..comment],
            None => line,
        };
        let mut words = line.split(|b| b.is_ascii_whitespace()).filter(|word| !word.is_empty());
        match words.next() {
            None => {}
            Some(b"v") => {
                let mut number = || self.source.number(at, words.next());
                let position = Vec3::new(number()?, number()?, number()?);
                self.positions.push(position);
            }
            Some(b"f" | b"fo") => self.face(at, words)?,
            Some(b"o") => {
                self.object = name(line);
                self.polygons.begin_part(self.object.clone());
            }
            Some(b"g") => {
                let group = name(line);
                let separator = if self.object.is_empty() || group.is_empty() { "" } else { "/" };
                self.polygons.begin_part(format!("{}{separator}{group}", self.object));
            }
            Some(word) if SKIPPED.iter().any(|known| known.as_bytes() == word) => {}
            Some(word) => {
                let first = || format!("{} in {}", quote(Some(word)), describe(at));
                self.unknown.get_or_insert_with(|| (first(), 0)).1 += 1;
            }
        }
        Ok(())
    }

    fn face<'w>(&mut self, at: Position, words: impl Iterator<Item = &'w [u8]>) -> Result<()> {
        for word in words {
            let corner = self.corner(at, word)?;
            self.polygons.corner(corner);
        }
        match self.polygons.open_corners() {
            n @ 0..=2 => Err(self.source.error(at, "a face of at least 3 corners", format!("{n} corners"))),
            _ => {
                self.polygons.close();
                Ok(())
            }
        }
    }

    /// A corner `v`, `v/vt`, `v//vn` or `v/vt/vn` as a vertex number from 0.
    fn corner(&mut self, at: Position, word: &[u8]) -> Result<u32> {
        let mut fields = word.split(|b| *b == b'/');
        let bad = || self.source.error(at, "a corner such as 7, 7/2, 7//3 or 7/2/3", quote(Some(word)));
        let vertex = fields.next().and_then(integer).ok_or_else(bad)?;
        for (k, field) in fields.enumerate() {
            if k > 1 || !(field.is_empty() || integer(field).is_some()) {
                return Err(bad());
            }
        }
        let count = self.positions.len();
        let index = match vertex {
            0 => return Err(self.source.error(at, "a vertex number from 1", quote(Some(word)))),
            1.. => vertex as usize - 1,
            _ => count.checked_sub(vertex.unsigned_abs() as usize).ok_or_else(|| {
                let expected = format!("a vertex number of at least -{count} ({count} vertices so far)");
                self.source.error(at, expected, quote(Some(word)))
            })?,
        };
        if index >= count && self.highest.is_none_or(|(highest, _)| index > highest) {
            self.highest = Some((index, at));
        }
        self.source.vertex_index(at, index)
    }

    fn finish(self) -> Result<ImportedMesh> {
        let count = self.positions.len();
        if let Some((index, at)) = self.highest
            && index >= count
        {
            let expected = format!("a vertex number up to {count}");
            return Err(self.source.error(at, expected, (index + 1).to_string()));
        }
        let mut imported = self.polygons.finish(self.source, self.positions)?;
        if let Some((first, n)) = self.unknown {
            imported.warnings.push(format!("skipped {n} unknown statements, the first {first}"));
        }
        Ok(imported)
    }
}

fn describe(at: Position) -> String {
    match at {
        Position::Line(line) => format!("line {line}"),
        Position::Byte(byte) => format!("byte {byte}"),
        Position::File => "the file".into(),
    }
}

/// The rest of a line after its keyword, as a name.
fn name(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line.trim_ascii());
    text.split_once(char::is_whitespace).map_or(String::new(), |(_, name)| name.trim().to_owned())
}

/// A decimal integer with optional sign.
fn integer(word: &[u8]) -> Option<i64> {
    let (digits, negative) = match word {
        [b'-', digits @ ..] => (digits, true),
        [b'+', digits @ ..] => (digits, false),
        digits => (digits, false),
    };
    if digits.is_empty() || digits.len() > 18 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits.iter().fold(0, |value, digit| 10 * value + i64::from(digit - b'0'));
    Some(if negative { -value } else { value })
}

/// Lines with their numbers; a backslash before the line end joins the next line. Copies only joined lines.
struct Lines<'a> {
    rest: &'a [u8],
    number: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<(usize, Cow<'a, [u8]>)> {
        let first = self.physical()?;
        let number = self.number;
        let Some(head) = first.strip_suffix(b"\\") else { return Some((number, Cow::Borrowed(first))) };
        let mut joined = head.to_vec();
        while let Some(more) = self.physical() {
            joined.push(b' ');
            match more.strip_suffix(b"\\") {
                Some(head) => joined.extend_from_slice(head),
                None => {
                    joined.extend_from_slice(more);
                    break;
                }
            }
        }
        Some((number, Cow::Owned(joined)))
    }

    /// A line of the file without its end: LF, CR LF or CR.
    fn physical(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        self.number += 1;
        let end = self.rest.iter().position(|b| *b == b'\n' || *b == b'\r').unwrap_or(self.rest.len());
        let (line, rest) = self.rest.split_at(end);
        self.rest = rest.strip_prefix(b"\r\n").or_else(|| rest.get(1..)).unwrap_or_default();
        Some(line)
    }
}
