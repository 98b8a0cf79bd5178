//! The numbers after a PLY header, in text or binary.

use super::header::{Element, Kind};
use crate::error::Result;
use crate::formats::source::{Position, Source, Words, quote};

/// Reads one number after another.
pub(super) trait Values {
    /// Where the number read last stands.
    fn position(&self) -> Position;
    /// Checks that the bytes left can hold an element's instances.
    fn check_count(&self, element: &Element) -> Result<()>;
    /// A finite number.
    fn coordinate(&mut self, kind: Kind) -> Result<f64>;
    /// An integer.
    fn integer(&mut self, kind: Kind) -> Result<i64>;
    /// Passes over `n` numbers.
    fn skip(&mut self, kind: Kind, n: usize) -> Result<()>;
    /// Bytes left, and the fewest bytes that a number of this type takes.
    fn room(&self, kind: Kind) -> (usize, usize);

    /// The length of a list of `kind`, which the bytes left can hold.
    fn length(&mut self, length: Kind, kind: Kind) -> Result<usize> {
        let n = self.integer(length)?;
        let (left, each) = self.room(kind);
        usize::try_from(n).ok().filter(|n| n.checked_mul(each).is_some_and(|size| size <= left)).ok_or_else(
            || {
                let expected = format!("a list that fits into the {left} bytes left");
                self.source().error(self.position(), expected, format!("a list of length {n}"))
            },
        )
    }

    fn source(&self) -> Source<'_>;
}

/// Refuses `element` if its instances, of at least `each` bytes, do not fit into `left` bytes.
fn check_count(source: Source<'_>, element: &Element, each: usize, left: usize) -> Result<()> {
    if element.count.checked_mul(each).is_some_and(|size| size <= left) {
        return Ok(());
    }
    let expected = format!("at least {each} bytes for each \"{}\"", element.name);
    Err(source.error(element.position, expected, format!("{} of them in {left} bytes", element.count)))
}

pub(super) struct TextValues<'a> {
    source: Source<'a>,
    words: Words<'a>,
}

impl<'a> TextValues<'a> {
    /// Numbers in `body`, whose first line is number `line`.
    pub(super) fn new(source: Source<'a>, body: &'a [u8], line: usize) -> Self {
        Self { source, words: Words::new(body, line) }
    }

    fn word(&mut self) -> Result<&'a [u8]> {
        let word = self.words.next();
        word.ok_or_else(|| self.source.error(self.words.here(), "a number", "the end of the file"))
    }
}

impl Values for TextValues<'_> {
    fn position(&self) -> Position {
        self.words.here()
    }

    fn check_count(&self, element: &Element) -> Result<()> {
        // A digit and a space for each number; the last number of the file may do without the space.
        let each = 2 * element.properties.len();
        check_count(self.source, element, each, self.words.rest().len() + 1)
    }

    fn coordinate(&mut self, _kind: Kind) -> Result<f64> {
        let word = self.word()?;
        self.source.number(self.words.here(), Some(word))
    }

    fn integer(&mut self, _kind: Kind) -> Result<i64> {
        let word = self.word()?;
        std::str::from_utf8(word)
            .ok()
            .and_then(|word| word.parse().ok())
            .ok_or_else(|| self.source.error(self.words.here(), "an integer", quote(Some(word))))
    }

    fn skip(&mut self, _kind: Kind, n: usize) -> Result<()> {
        for _ in 0..n {
            self.word()?;
        }
        Ok(())
    }

    fn room(&self, _kind: Kind) -> (usize, usize) {
        (self.words.rest().len(), 2)
    }

    fn source(&self) -> Source<'_> {
        self.source
    }
}

pub(super) struct BinaryValues<'a, const BIG: bool> {
    source: Source<'a>,
    bytes: &'a [u8],
    at: usize,
}

impl<'a, const BIG: bool> BinaryValues<'a, BIG> {
    /// Numbers in `bytes` from `at` on.
    pub(super) fn new(source: Source<'a>, bytes: &'a [u8], at: usize) -> Self {
        Self { source, bytes, at }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let Some(bytes) = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk::<N>()) else {
            let found = format!("{} bytes before the end of the file", self.bytes.len() - self.at);
            return Err(self.source.error(self.position(), format!("a number of {N} bytes"), found));
        };
        self.at += N;
        let mut bytes = *bytes;
        if BIG {
            bytes.reverse();
        }
        Ok(bytes)
    }
}

impl<const BIG: bool> Values for BinaryValues<'_, BIG> {
    fn position(&self) -> Position {
        Position::Byte(self.at)
    }

    fn check_count(&self, element: &Element) -> Result<()> {
        let each =
            element.properties.iter().map(|property| property.list.unwrap_or(property.kind).size()).sum();
        check_count(self.source, element, each, self.bytes.len() - self.at)
    }

    fn coordinate(&mut self, kind: Kind) -> Result<f64> {
        let at = self.position();
        let value = match kind {
            Kind::F32 => f64::from(f32::from_le_bytes(self.take()?)),
            Kind::F64 => f64::from_le_bytes(self.take()?),
            _ => self.integer(kind)? as f64,
        };
        match value.is_finite() {
            true => Ok(value),
            false => Err(self.source.error(at, "a finite number", value.to_string())),
        }
    }

    fn integer(&mut self, kind: Kind) -> Result<i64> {
        Ok(match kind {
            Kind::I8 => i64::from(i8::from_le_bytes(self.take()?)),
            Kind::U8 => i64::from(u8::from_le_bytes(self.take()?)),
            Kind::I16 => i64::from(i16::from_le_bytes(self.take()?)),
            Kind::U16 => i64::from(u16::from_le_bytes(self.take()?)),
            Kind::I32 => i64::from(i32::from_le_bytes(self.take()?)),
            Kind::U32 => i64::from(u32::from_le_bytes(self.take()?)),
            Kind::F32 | Kind::F64 => {
                let at = self.position();
                let value = self.coordinate(kind)?;
                if value.fract() != 0.0 || value.abs() > 9e15 {
                    return Err(self.source.error(at, "an integer", value.to_string()));
                }
                value as i64
            }
        })
    }

    fn skip(&mut self, kind: Kind, n: usize) -> Result<()> {
        let size = n.saturating_mul(kind.size());
        if size > self.bytes.len() - self.at {
            let found = format!("{} bytes before the end of the file", self.bytes.len() - self.at);
            return Err(self.source.error(
                self.position(),
                format!("{n} numbers of {} bytes", kind.size()),
                found,
            ));
        }
        self.at += size;
        Ok(())
    }

    fn room(&self, kind: Kind) -> (usize, usize) {
        (self.bytes.len() - self.at, kind.size())
    }

    fn source(&self) -> Source<'_> {
        self.source
    }
}
