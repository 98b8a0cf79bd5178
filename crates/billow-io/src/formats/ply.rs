//! PLY: text, binary little-endian and binary big-endian.
//!
//! Of the element `vertex` the properties x, y and z are read, of `face` the list `vertex_indices` (or
//! `vertex_index`), and of `tristrips` the strips in its list; their types and order are free. Everything else is
//! skipped.

mod header;
mod values;

use super::mesh::{ImportedMesh, Polygons};
use super::source::{Position, Source};
use crate::error::Result;
use billow_num::Vec3;
use header::{Element, Encoding, Property};
use std::path::Path;
use values::{BinaryValues, TextValues, Values};

/// Whether the bytes start as PLY does.
pub(crate) fn recognises(bytes: &[u8]) -> bool {
    bytes.starts_with(b"ply\n") || bytes.starts_with(b"ply\r")
}

/// Reads PLY bytes; errors name the data as `path`.
///
/// # Errors
/// With the line or byte and what was expected there.
pub fn parse(path: &Path, bytes: &[u8]) -> Result<ImportedMesh> {
    let source = Source { path };
    let header = header::parse(source, bytes)?;
    let body = &bytes[header.length..];
    let mut builder =
        Builder { source, positions: Vec::new(), polygons: Polygons::default(), row: Vec::new() };
    match header.encoding {
        Encoding::Text => builder.read(&header.elements, TextValues::new(source, body, header.lines + 1))?,
        Encoding::LittleEndian => {
            builder.read(&header.elements, BinaryValues::<false>::new(source, bytes, header.length))?;
        }
        Encoding::BigEndian => {
            builder.read(&header.elements, BinaryValues::<true>::new(source, bytes, header.length))?;
        }
    }
    builder.finish()
}

struct Builder<'a> {
    source: Source<'a>,
    positions: Vec<Vec3>,
    polygons: Polygons,
    /// Corners of the list being read.
    row: Vec<i64>,
}

impl Builder<'_> {
    fn read(&mut self, elements: &[Element], mut values: impl Values) -> Result<()> {
        for element in elements {
            // Refuse counts that the bytes left cannot hold, before any memory is set aside for them.
            values.check_count(element)?;
            match element.name.as_str() {
                "vertex" => self.vertices(element, &mut values)?,
                "face" => self.lists(element, &mut values, Self::face)?,
                "tristrips" => self.lists(element, &mut values, Self::strips)?,
                _ if element.properties.is_empty() => {}
                _ => {
                    for _ in 0..element.count {
                        element.properties.iter().try_for_each(|property| skip(&mut values, property))?;
                    }
                }
            }
        }
        Ok(())
    }

    fn vertices(&mut self, element: &Element, values: &mut impl Values) -> Result<()> {
        let axes = ["x", "y", "z"].map(|axis| {
            element.properties.iter().position(|property| property.name == axis && property.list.is_none())
        });
        let [Some(x), Some(y), Some(z)] = axes else {
            let names: Vec<&str> = element.properties.iter().map(|property| property.name.as_str()).collect();
            let expected = "vertex properties x, y and z";
            return Err(self.source.error(element.position, expected, format!("\"{}\"", names.join(" "))));
        };
        self.positions.reserve_exact(element.count);
        for _ in 0..element.count {
            let mut point = Vec3::ZERO;
            for (k, property) in element.properties.iter().enumerate() {
                match k {
                    _ if k == x => point.x = values.coordinate(property.kind)?,
                    _ if k == y => point.y = values.coordinate(property.kind)?,
                    _ if k == z => point.z = values.coordinate(property.kind)?,
                    _ => skip(values, property)?,
                }
            }
            self.positions.push(point);
        }
        Ok(())
    }

    /// Reads an element whose one interesting property is a list of vertex numbers.
    fn lists<V: Values>(
        &mut self,
        element: &Element,
        values: &mut V,
        accept: fn(&mut Self, &V) -> Result<()>,
    ) -> Result<()> {
        let is_corners = |property: &Property| {
            property.list.is_some() && ["vertex_indices", "vertex_index"].contains(&property.name.as_str())
        };
        let Some(corners) = element.properties.iter().position(is_corners) else {
            let expected = format!("a list property vertex_indices of element {}", element.name);
            return Err(self.source.error(element.position, expected, "none"));
        };
        for _ in 0..element.count {
            for (k, property) in element.properties.iter().enumerate() {
                match property.list {
                    Some(length) if k == corners => {
                        let n = values.length(length, property.kind)?;
                        self.row.clear();
                        for _ in 0..n {
                            self.row.push(values.integer(property.kind)?);
                        }
                        accept(self, values)?;
                    }
                    _ => skip(values, property)?,
                }
            }
        }
        Ok(())
    }

    fn face<V: Values>(&mut self, values: &V) -> Result<()> {
        if self.row.len() < 3 {
            let found = format!("{} corners", self.row.len());
            return Err(self.source.error(values.position(), "a face of at least 3 corners", found));
        }
        for k in 0..self.row.len() {
            let corner = self.vertex(values, self.row[k])?;
            self.polygons.corner(corner);
        }
        self.polygons.close();
        Ok(())
    }

    /// Triangle strips one after the other, -1 between them; every other triangle is turned round.
    fn strips<V: Values>(&mut self, values: &V) -> Result<()> {
        let row = std::mem::take(&mut self.row);
        for strip in row.split(|v| *v == -1) {
            for (k, window) in strip.windows(3).enumerate() {
                let [a, b, c] = [window[k % 2], window[1 - k % 2], window[2]];
                for v in [a, b, c] {
                    let corner = self.vertex(values, v)?;
                    self.polygons.corner(corner);
                }
                self.polygons.close();
            }
        }
        self.row = row;
        Ok(())
    }

    fn vertex<V: Values>(&self, values: &V, number: i64) -> Result<u32> {
        // Faces may precede vertices in the file; the range is then checked at the end.
        let known = self.positions.len() as i64;
        if number < 0 || (known > 0 && number >= known) {
            let expected = if known > 0 {
                format!("a vertex number from 0 to {}", known - 1)
            } else {
                "a vertex number from 0".into()
            };
            return Err(self.source.error(values.position(), expected, number.to_string()));
        }
        self.source.vertex_index(values.position(), number as usize)
    }

    fn finish(self) -> Result<ImportedMesh> {
        let count = self.positions.len();
        if let Some(highest) = self.polygons.highest().filter(|highest| *highest as usize >= count) {
            let expected = format!("vertex numbers below {count}");
            return Err(self.source.error(Position::File, expected, highest.to_string()));
        }
        self.polygons.finish(self.source, self.positions)
    }
}

fn skip(values: &mut impl Values, property: &Property) -> Result<()> {
    let n = match property.list {
        None => 1,
        Some(length) => values.length(length, property.kind)?,
    };
    values.skip(property.kind, n)
}
