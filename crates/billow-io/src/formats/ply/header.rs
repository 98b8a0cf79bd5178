//! The header of a PLY file, which is text in all encodings.

use crate::error::Result;
use crate::formats::source::{Position, Source, quote};

/// How the values after the header are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Text,
    LittleEndian,
    BigEndian,
}

/// Type of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Kind {
    fn from_name(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"char" | b"int8" => Self::I8,
            b"uchar" | b"uint8" => Self::U8,
            b"short" | b"int16" => Self::I16,
            b"ushort" | b"uint16" => Self::U16,
            b"int" | b"int32" => Self::I32,
            b"uint" | b"uint32" => Self::U32,
            b"float" | b"float32" => Self::F32,
            b"double" | b"float64" => Self::F64,
            _ => return None,
        })
    }

    /// Bytes of a binary value.
    pub(super) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }
}

/// A value, or a list of values, that every instance of an element has.
#[derive(Debug)]
pub(super) struct Property {
    pub(super) name: String,
    /// Type of the value or of the list's items.
    pub(super) kind: Kind,
    /// Type of the list's length, if it is a list.
    pub(super) list: Option<Kind>,
}

#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) count: usize,
    pub(super) properties: Vec<Property>,
    /// Where it is announced.
    pub(super) position: Position,
}

#[derive(Debug)]
pub(super) struct Header {
    pub(super) encoding: Encoding,
    pub(super) elements: Vec<Element>,
    /// Bytes up to the first value.
    pub(super) length: usize,
    /// Lines of the header.
    pub(super) lines: usize,
}

/// Reads the header.
pub(super) fn parse(source: Source<'_>, bytes: &[u8]) -> Result<Header> {
    let mut lines = Lines { bytes, at: 0, number: 0 };
    if lines.next() != Some(b"ply") {
        let start = quote(Some(&bytes[..bytes.len().min(20)]));
        return Err(source.error(Position::Line(1), "\"ply\"", start));
    }
    let mut encoding = None;
    let mut elements: Vec<Element> = Vec::new();
    while let Some(line) = lines.next() {
        let at = Position::Line(lines.number);
        let words: Vec<&[u8]> = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
        match words[..] {
            [] | [b"comment" | b"obj_info", ..] => {}
            [b"format", name, version] => encoding = Some(format(source, at, name, version)?),
            [b"element", name, count] => elements.push(element(source, at, name, count)?),
            [b"property", ref words @ ..] => {
                let property = property(source, at, words)?;
                let Some(element) = elements.last_mut() else {
                    return Err(source.error(at, "an element before its first property", quote(Some(line))));
                };
                if element.properties.iter().any(|other| other.name == property.name) {
                    let expected = format!("properties of {} with different names", element.name);
                    return Err(source.error(at, expected, format!("a second \"{}\"", property.name)));
                }
                element.properties.push(property);
            }
            [b"end_header"] => {
                let Some(encoding) = encoding else {
                    return Err(source.error(
                        at,
                        "a line \"format ascii 1.0\" or similar",
                        "none before end_header",
                    ));
                };
                return Ok(Header { encoding, elements, length: lines.at, lines: lines.number });
            }
            _ => {
                let expected = "format, comment, element, property or end_header";
                return Err(source.error(at, expected, quote(Some(line))));
            }
        }
    }
    Err(source.error(Position::Line(lines.number), "\"end_header\"", "the end of the file"))
}

fn format(source: Source<'_>, at: Position, name: &[u8], version: &[u8]) -> Result<Encoding> {
    if version != b"1.0" {
        return Err(source.error(at, "PLY version 1.0", quote(Some(version))));
    }
    match name {
        b"ascii" => Ok(Encoding::Text),
        b"binary_little_endian" => Ok(Encoding::LittleEndian),
        b"binary_big_endian" => Ok(Encoding::BigEndian),
        _ => Err(source.error(at, "ascii, binary_little_endian or binary_big_endian", quote(Some(name)))),
    }
}

fn element(source: Source<'_>, at: Position, name: &[u8], count: &[u8]) -> Result<Element> {
    let count = std::str::from_utf8(count)
        .ok()
        .and_then(|count| count.parse().ok())
        .ok_or_else(|| source.error(at, "a number of elements", quote(Some(count))))?;
    Ok(Element { name: String::from_utf8_lossy(name).into(), count, properties: Vec::new(), position: at })
}

fn property(source: Source<'_>, at: Position, words: &[&[u8]]) -> Result<Property> {
    let kind = |word: &[u8]| {
        Kind::from_name(word)
            .ok_or_else(|| source.error(at, "a type such as float, uchar or int32", quote(Some(word))))
    };
    match *words {
        [b"list", length, item, name] => {
            let length_kind = kind(length)?;
            if matches!(length_kind, Kind::F32 | Kind::F64) {
                return Err(source.error(at, "an integer type for a list's length", quote(Some(length))));
            }
            Ok(Property {
                name: String::from_utf8_lossy(name).into(),
                kind: kind(item)?,
                list: Some(length_kind),
            })
        }
        [item, name] => {
            Ok(Property { name: String::from_utf8_lossy(name).into(), kind: kind(item)?, list: None })
        }
        _ => {
            let expected = "\"property TYPE NAME\" or \"property list TYPE TYPE NAME\"";
            Err(source.error(at, expected, quote(Some(&words.join(&b' ')))))
        }
    }
}

struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
    number: usize,
}

impl<'a> Lines<'a> {
    /// The next line without its end: LF, CR LF or, if the file's first line ends so, CR.
    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(|b| *b == b'\n' || *b == b'\r')?;
        let line_end = if rest[end..].starts_with(b"\r\n") { 2 } else { 1 };
        self.at += end + line_end;
        self.number += 1;
        Some(&rest[..end])
    }
}
