//! `.usda`: values as text in a temporary file until the scene around them is known.

use super::layer::{Attribute, Backend, Layer, Prim};
use super::value::Value;
use crate::atomic::AtomicFile;
use crate::cache::UpAxis;
use crate::error::{Error, Result};
use std::ffi::OsString;
use std::fmt::{Display, LowerExp, Write as _};
use std::fs::{self, File};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

pub(super) struct TextBackend {
    out: AtomicFile,
    spool: Spool,
    /// Text of the value being stored.
    text: String,
}

impl TextBackend {
    pub(super) fn create(path: &Path) -> Result<Self> {
        Ok(Self { out: AtomicFile::create(path)?, spool: Spool::create(path)?, text: String::new() })
    }
}

impl Backend for TextBackend {
    type Rep = Place;

    fn store(&mut self, value: &Value<'_>) -> Result<Place> {
        self.text.clear();
        write_value(&mut self.text, value);
        self.spool.append(self.text.as_bytes())
    }

    fn finish(mut self, layer: &Layer<Place>) -> Result<u64> {
        self.text.clear();
        header(&mut self.text, layer);
        self.out.append(self.text.as_bytes())?;
        self.prim(&layer.root, 0)?;
        self.out.commit()
    }
}

impl TextBackend {
    fn line(&mut self, depth: usize, text: impl Display) -> Result<()> {
        self.out.append(format!("{:1$}{text}\n", "", 4 * depth).as_bytes())
    }

    fn prim(&mut self, prim: &Prim<Place>, depth: usize) -> Result<()> {
        let head = format!("def {} \"{}\"", prim.type_name, prim.name);
        match &prim.display_name {
            None => self.line(depth, head)?,
            Some(name) => {
                self.line(depth, format_args!("{head} ("))?;
                self.line(depth + 1, format_args!("displayName = {}", quoted(name)))?;
                self.line(depth, ")")?;
            }
        }
        self.line(depth, "{")?;
        for attribute in &prim.attributes {
            self.attribute(attribute, depth + 1)?;
        }
        for child in &prim.children {
            self.line(0, "")?;
            self.prim(child, depth + 1)?;
        }
        self.line(depth, "}")
    }

    fn attribute(&mut self, attribute: &Attribute<Place>, depth: usize) -> Result<()> {
        let Attribute { name, type_name, uniform, interpolation, channel } = attribute;
        let head =
            format!("{:1$}{2}{type_name} {name}", "", 4 * depth, if *uniform { "uniform " } else { "" });
        let metadata = match interpolation {
            None => "\n".to_owned(),
            Some(kind) => {
                format!(" (\n{0:1$}interpolation = \"{kind}\"\n{0:2$})\n", "", 4 * depth + 4, 4 * depth)
            }
        };
        if let Some(value) = channel.single() {
            self.out.append(format!("{head} = ").as_bytes())?;
            self.spool.copy(*value, &mut self.out)?;
            return self.out.append(metadata.as_bytes());
        }
        if interpolation.is_some() {
            self.out.append(format!("{head}{metadata}").as_bytes())?;
        }
        self.out.append(format!("{head}.timeSamples = {{\n").as_bytes())?;
        for (time, value) in channel.samples() {
            self.out.append(format!("{:1$}{time}: ", "", 4 * depth + 4).as_bytes())?;
            self.spool.copy(*value, &mut self.out)?;
            self.out.append(b",\n")?;
        }
        self.line(depth, "}")
    }
}

fn header(text: &mut String, layer: &Layer<Place>) {
    let up = if layer.up_axis == UpAxis::Y { "Y" } else { "Z" };
    let Layer { documentation, fps, start, end, root, .. } = layer;
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "#usda 1.0\n(\n    defaultPrim = \"{}\"\n    doc = {}\n    endTimeCode = {end}\n    \
         framesPerSecond = {fps}\n    metersPerUnit = 1\n    startTimeCode = {start}\n    \
         timeCodesPerSecond = {fps}\n    upAxis = \"{up}\"\n)\n\n",
        root.name,
        quoted(documentation),
    );
}

/// A string literal.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn write_value(out: &mut String, value: &Value<'_>) {
    match value {
        Value::Bool(value) => out.push(if *value { '1' } else { '0' }),
        Value::Token(token) => out.push_str(&quoted(token)),
        Value::Tokens(tokens) => list(out, "[", "]", tokens, |out, token| out.push_str(&quoted(token))),
        Value::Double3(values) => list(out, "(", ")", values, number),
        Value::Quat(values) => list(out, "(", ")", values, number),
        Value::Ints(values) => list(out, "[", "]", values, number),
        Value::Floats(values) => list(out, "[", "]", values, number),
        Value::Float3s(values) => list(out, "[", "]", values, |out, v| list(out, "(", ")", &v, number)),
    }
}

fn list<T: Copy>(out: &mut String, open: &str, close: &str, items: &[T], put: impl Fn(&mut String, T)) {
    out.push_str(open);
    for (k, item) in items.iter().enumerate() {
        if k > 0 {
            out.push_str(", ");
        }
        put(out, *item);
    }
    out.push_str(close);
}

fn number(out: &mut String, x: impl Display + LowerExp) {
    let start = out.len();
    // Writing to a string cannot fail.
    let _ = write!(out, "{x}");
    if out.len() - start > 24 {
        out.truncate(start);
        let _ = write!(out, "{x:e}");
    }
    if out[start..].starts_with("NaN") {
        out.replace_range(start.., "nan");
    }
}

/// Where a value stands in the spool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    offset: u64,
    len: u64,
}

/// A temporary file of values.
struct Spool {
    file: BufWriter<File>,
    path: PathBuf,
    len: u64,
}

impl Spool {
    /// A spool beside the file it serves.
    fn create(beside: &Path) -> Result<Self> {
        let mut name = OsString::from(".");
        name.push(beside.file_name().unwrap_or_default());
        name.push(".values.tmp");
        let path = beside.with_file_name(name);
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)
            .map_err(Error::io("create", &path))?;
        Ok(Self { file: BufWriter::with_capacity(1 << 18, file), path, len: 0 })
    }

    fn append(&mut self, bytes: &[u8]) -> Result<Place> {
        let place = Place { offset: self.len, len: bytes.len() as u64 };
        self.len += place.len;
        self.file.write_all(bytes).map_err(Error::writing(&self.path, self.len))?;
        Ok(place)
    }

    fn copy(&mut self, place: Place, out: &mut AtomicFile) -> Result<()> {
        // The first copy flushes what the buffer still holds; later ones find it empty.
        self.file.seek(SeekFrom::Start(place.offset)).map_err(Error::writing(&self.path, self.len))?;
        let mut buffer = [0; 1 << 14];
        let mut left = place.len;
        while left > 0 {
            let part = &mut buffer[..left.min(1 << 14) as usize];
            self.file.get_mut().read_exact(part).map_err(Error::io("read", &self.path))?;
            out.append(part)?;
            left -= part.len() as u64;
        }
        Ok(())
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        // Nobody is left to report to; a temporary file that cannot be removed does no harm.
        let _ = fs::remove_file(&self.path);
    }
}
