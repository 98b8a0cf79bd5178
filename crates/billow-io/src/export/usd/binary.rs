//! `.usdc`: the binary "crate" form of USD, version 0.8.0.
//!
//! Values go into the file as they come; the tables that give them meaning follow at the end: tokens, strings,
//! fields (a name and a value), sets of fields, the tree of paths, and specs (a path with its set of fields). A
//! value is known by 64 bits: flags, type, and either the value itself or its place in the file.

use super::layer::{Attribute, Backend, Layer, Prim};
use super::value::Value;
use crate::atomic::AtomicFile;
use crate::cache::UpAxis;
use crate::error::Result;
use std::collections::HashMap;
use std::path::Path;

/// Types of values, by their numbers in the format.
#[derive(Clone, Copy)]
enum Type {
    Bool = 1,
    Int = 3,
    Float = 8,
    Double = 9,
    String = 10,
    Token = 11,
    Quatd = 16,
    Vec3d = 23,
    Vec3f = 24,
    TokenVector = 41,
    Specifier = 42,
    Variability = 44,
    TimeSamples = 46,
    DoubleVector = 48,
}

const ARRAY: u64 = 1 << 63;
const INLINED: u64 = 1 << 62;
const COMPRESSED: u64 = 1 << 61;

/// Specs, by their numbers in the format.
const ATTRIBUTE: u32 = 1;
const PRIM: u32 = 6;
const PSEUDO_ROOT: u32 = 7;

/// Marks the end of a set of fields.
const END: u32 = u32::MAX;
/// Identifier, version, place of the table of contents, and room.
const HEADER: usize = 88;
/// Integer arrays below this length are never compressed.
const SHORTEST_COMPRESSED: usize = 16;

fn stored(kind: Type, flags: u64, offset: u64) -> u64 {
    flags | (kind as u64) << 48 | offset
}

fn inlined(kind: Type, payload: u32) -> u64 {
    stored(kind, INLINED, u64::from(payload))
}

pub(super) struct BinaryBackend {
    out: AtomicFile,
    tokens: Vec<String>,
    token_numbers: HashMap<String, u32>,
    strings: Vec<u32>,
    fields: Vec<(u32, u64)>,
    field_numbers: HashMap<(u32, u64), u32>,
    field_sets: Vec<u32>,
    /// For each path in depth-first order: token of its last part, negative for an attribute.
    elements: Vec<i32>,
    /// For each path: 0 only a sibling follows, -1 only children, -2 nothing, else how far the sibling is.
    jumps: Vec<i32>,
    /// For each path: its set of fields and what it is.
    specs: Vec<(u32, u32)>,
    /// Where times that several attributes share are.
    times: HashMap<Vec<u64>, u64>,
    bytes: Vec<u8>,
}

impl BinaryBackend {
    pub(super) fn create(path: &Path) -> Result<Self> {
        let mut out = AtomicFile::create(path)?;
        out.append(&[0; HEADER])?;
        let mut backend = Self {
            out,
            tokens: Vec::new(),
            token_numbers: HashMap::new(),
            strings: Vec::new(),
            fields: Vec::new(),
            field_numbers: HashMap::new(),
            field_sets: Vec::new(),
            elements: Vec::new(),
            jumps: Vec::new(),
            specs: Vec::new(),
            times: HashMap::new(),
            bytes: Vec::new(),
        };
        // Number 0 cannot be negated, so no attribute may have it.
        backend.token("");
        Ok(backend)
    }

    fn token(&mut self, text: &str) -> u32 {
        if let Some(number) = self.token_numbers.get(text) {
            return *number;
        }
        let number = self.tokens.len() as u32;
        self.tokens.push(text.to_owned());
        self.token_numbers.insert(text.to_owned(), number);
        number
    }

    fn token_value(&mut self, text: &str) -> u64 {
        inlined(Type::Token, self.token(text))
    }

    fn string_value(&mut self, text: &str) -> u64 {
        // The file ends strings with a zero byte.
        let token = self.token(&text.replace('\0', " "));
        self.strings.push(token);
        inlined(Type::String, self.strings.len() as u32 - 1)
    }

    /// Writes at a multiple of 8, as readers that map the file like it; returns where.
    fn aligned(&mut self, bytes: &[u8]) -> Result<u64> {
        let gap = self.out.len().next_multiple_of(8) - self.out.len();
        self.out.append(&[0; 8][..gap as usize])?;
        let at = self.out.len();
        self.out.append(bytes)?;
        Ok(at)
    }

    /// An array of `count` elements; `put` appends their bytes.
    fn array(&mut self, kind: Type, count: usize, put: impl FnOnce(&mut Vec<u8>)) -> Result<u64> {
        if count == 0 {
            return Ok(stored(kind, ARRAY, 0));
        }
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        bytes.extend((count as u64).to_le_bytes());
        put(&mut bytes);
        let at = self.aligned(&bytes);
        self.bytes = bytes;
        Ok(stored(kind, ARRAY, at?))
    }

    fn ints(&mut self, values: &[i32]) -> Result<u64> {
        if values.len() < SHORTEST_COMPRESSED {
            return self.array(Type::Int, values.len(), |out| {
                values.iter().for_each(|x| out.extend(x.to_le_bytes()))
            });
        }
        let rep = self.array(Type::Int, values.len(), |out| put_sized(out, &compress_ints(values)))?;
        Ok(rep | COMPRESSED)
    }

    fn double(&mut self, value: f64) -> Result<u64> {
        let at = self.aligned(&value.to_le_bytes())?;
        Ok(stored(Type::Double, 0, at))
    }

    fn token_vector(&mut self, names: &[&str]) -> Result<u64> {
        let mut bytes = (names.len() as u64).to_le_bytes().to_vec();
        for name in names {
            bytes.extend(self.token(name).to_le_bytes());
        }
        let at = self.aligned(&bytes)?;
        Ok(stored(Type::TokenVector, 0, at))
    }

    fn time_samples(&mut self, samples: &[(f64, u64)]) -> Result<u64> {
        let key: Vec<u64> = samples.iter().map(|(time, _)| time.to_bits()).collect();
        let times = match self.times.get(&key) {
            Some(times) => *times,
            None => {
                let mut bytes = (key.len() as u64).to_le_bytes().to_vec();
                key.iter().for_each(|time| bytes.extend(time.to_le_bytes()));
                let times = stored(Type::DoubleVector, 0, self.aligned(&bytes)?);
                self.times.insert(key, times);
                times
            }
        };
        // Each part starts with the distance to its data; here that follows at once.
        let mut bytes = Vec::new();
        [8, times, 8, samples.len() as u64].iter().for_each(|word| bytes.extend(word.to_le_bytes()));
        samples.iter().for_each(|(_, value)| bytes.extend(value.to_le_bytes()));
        let at = self.aligned(&bytes)?;
        Ok(stored(Type::TimeSamples, 0, at))
    }

    /// Adds a set of fields; returns its number.
    fn field_set(&mut self, fields: &[(&str, u64)]) -> u32 {
        let start = self.field_sets.len() as u32;
        for (name, value) in fields {
            let field = (self.token(name), *value);
            let next = self.fields.len() as u32;
            let number = *self.field_numbers.entry(field).or_insert(next);
            if number == next {
                self.fields.push(field);
            }
            self.field_sets.push(number);
        }
        self.field_sets.push(END);
        start
    }

    /// Adds a path with its spec; returns the path's number.
    fn path(&mut self, element: i32, fields: &[(&str, u64)], kind: u32) -> usize {
        let set = self.field_set(fields);
        self.elements.push(element);
        self.jumps.push(0);
        self.specs.push((set, kind));
        self.elements.len() - 1
    }

    /// Says what follows a path once all below it is written.
    fn close(&mut self, path: usize, has_sibling: bool) {
        let below = self.elements.len() - path;
        self.jumps[path] = match (below > 1, has_sibling) {
            (true, true) => below as i32,
            (true, false) => -1,
            (false, true) => 0,
            (false, false) => -2,
        };
    }

    fn root(&mut self, layer: &Layer<u64>) -> Result<()> {
        let up = if layer.up_axis == UpAxis::Y { "Y" } else { "Z" };
        let name = layer.root.name.as_str();
        let fields = [
            ("defaultPrim", self.token_value(name)),
            ("documentation", self.string_value(&layer.documentation)),
            ("endTimeCode", self.double(layer.end)?),
            ("framesPerSecond", self.double(layer.fps)?),
            ("metersPerUnit", self.double(1.0)?),
            ("startTimeCode", self.double(layer.start)?),
            ("timeCodesPerSecond", self.double(layer.fps)?),
            ("upAxis", self.token_value(up)),
            ("primChildren", self.token_vector(&[name])?),
        ];
        let path = self.path(0, &fields, PSEUDO_ROOT);
        self.prim(&layer.root, false)?;
        self.close(path, false);
        Ok(())
    }

    fn prim(&mut self, prim: &Prim<u64>, has_sibling: bool) -> Result<()> {
        let mut fields =
            vec![("specifier", inlined(Type::Specifier, 0)), ("typeName", self.token_value(prim.type_name))];
        if let Some(name) = &prim.display_name {
            fields.push(("displayName", self.string_value(name)));
        }
        let attributes: Vec<&str> = prim.attributes.iter().map(|attribute| attribute.name.as_str()).collect();
        let children: Vec<&str> = prim.children.iter().map(|child| child.name.as_str()).collect();
        for (name, list) in [("properties", attributes), ("primChildren", children)] {
            if !list.is_empty() {
                fields.push((name, self.token_vector(&list)?));
            }
        }
        let element = self.token(&prim.name) as i32;
        let path = self.path(element, &fields, PRIM);
        for (k, attribute) in prim.attributes.iter().enumerate() {
            self.attribute(attribute, k + 1 < prim.attributes.len() || !prim.children.is_empty())?;
        }
        for (k, child) in prim.children.iter().enumerate() {
            self.prim(child, k + 1 < prim.children.len())?;
        }
        self.close(path, has_sibling);
        Ok(())
    }

    fn attribute(&mut self, attribute: &Attribute<u64>, has_sibling: bool) -> Result<()> {
        let mut fields = vec![("typeName", self.token_value(attribute.type_name))];
        if attribute.uniform {
            fields.push(("variability", inlined(Type::Variability, 1)));
        }
        if let Some(interpolation) = attribute.interpolation {
            fields.push(("interpolation", self.token_value(interpolation)));
        }
        fields.push(match attribute.channel.single() {
            Some(value) => ("default", *value),
            None => ("timeSamples", self.time_samples(attribute.channel.samples())?),
        });
        let element = -(self.token(&attribute.name) as i32);
        let path = self.path(element, &fields, ATTRIBUTE);
        self.close(path, has_sibling);
        Ok(())
    }

    /// The tables, with their names.
    fn sections(&self) -> [(&'static str, Vec<u8>); 6] {
        let mut tokens = (self.tokens.len() as u64).to_le_bytes().to_vec();
        let text: Vec<u8> = self.tokens.iter().flat_map(|token| [token.as_bytes(), &[0]].concat()).collect();
        tokens.extend((text.len() as u64).to_le_bytes());
        put_sized(&mut tokens, &compress(&text));

        let mut strings = (self.strings.len() as u64).to_le_bytes().to_vec();
        self.strings.iter().for_each(|token| strings.extend(token.to_le_bytes()));

        let mut fields = (self.fields.len() as u64).to_le_bytes().to_vec();
        put_ints(&mut fields, self.fields.iter().map(|(token, _)| *token as i32));
        let values: Vec<u8> = self.fields.iter().flat_map(|(_, value)| value.to_le_bytes()).collect();
        put_sized(&mut fields, &compress(&values));

        let mut field_sets = (self.field_sets.len() as u64).to_le_bytes().to_vec();
        put_ints(&mut field_sets, self.field_sets.iter().map(|number| *number as i32));

        let count = self.elements.len();
        let mut paths = [(count as u64).to_le_bytes(); 2].concat();
        put_ints(&mut paths, 0..count as i32);
        put_ints(&mut paths, self.elements.iter().copied());
        put_ints(&mut paths, self.jumps.iter().copied());

        let mut specs = (count as u64).to_le_bytes().to_vec();
        put_ints(&mut specs, 0..count as i32);
        put_ints(&mut specs, self.specs.iter().map(|(set, _)| *set as i32));
        put_ints(&mut specs, self.specs.iter().map(|(_, kind)| *kind as i32));

        [
            ("TOKENS", tokens),
            ("STRINGS", strings),
            ("FIELDS", fields),
            ("FIELDSETS", field_sets),
            ("PATHS", paths),
            ("SPECS", specs),
        ]
    }
}

impl Backend for BinaryBackend {
    type Rep = u64;

    fn store(&mut self, value: &Value<'_>) -> Result<u64> {
        match value {
            Value::Bool(value) => Ok(inlined(Type::Bool, u32::from(*value))),
            Value::Token(token) => Ok(self.token_value(token)),
            Value::Tokens(tokens) => {
                let numbers: Vec<u32> = tokens.iter().map(|token| self.token(token)).collect();
                self.array(Type::Token, numbers.len(), |out| {
                    numbers.iter().for_each(|n| out.extend(n.to_le_bytes()))
                })
            }
            Value::Double3(values) => {
                let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
                Ok(stored(Type::Vec3d, 0, self.aligned(&bytes)?))
            }
            Value::Quat([w, x, y, z]) => {
                // The real part comes last here.
                let bytes: Vec<u8> = [x, y, z, w].iter().flat_map(|x| x.to_le_bytes()).collect();
                Ok(stored(Type::Quatd, 0, self.aligned(&bytes)?))
            }
            Value::Ints(values) => self.ints(values),
            Value::Floats(values) => self.array(Type::Float, values.len(), |out| {
                values.iter().for_each(|x| out.extend(x.to_le_bytes()))
            }),
            Value::Float3s(values) => self.array(Type::Vec3f, values.len(), |out| {
                values.as_flattened().iter().for_each(|x| out.extend(x.to_le_bytes()));
            }),
        }
    }

    fn finish(mut self, layer: &Layer<u64>) -> Result<u64> {
        self.root(layer)?;
        let mut contents = Vec::new();
        for (name, bytes) in self.sections() {
            let mut padded = [0; 16];
            padded[..name.len()].copy_from_slice(name.as_bytes());
            contents.extend(padded);
            contents.extend(self.aligned(&bytes)?.to_le_bytes());
            contents.extend((bytes.len() as u64).to_le_bytes());
        }
        let count = (contents.len() / 32) as u64;
        let at = self.aligned(&[&count.to_le_bytes()[..], &contents].concat())?;
        let mut header = b"PXR-USDC\0\x08\0\0\0\0\0\0".to_vec();
        header.extend(at.to_le_bytes());
        self.out.patch(0, &header)?;
        self.out.commit()
    }
}

/// A block of LZ4 after the number of further blocks, which is never needed here.
fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0];
    out.extend(lz4_flex::block::compress(bytes));
    out
}

/// Appends the length of `bytes`, then the bytes.
fn put_sized(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend((bytes.len() as u64).to_le_bytes());
    out.extend(bytes);
}

fn put_ints(out: &mut Vec<u8>, values: impl Iterator<Item = i32>) {
    put_sized(out, &compress_ints(&values.collect::<Vec<_>>()));
}

/// Differences of neighbours: the most frequent one, then two bits for each value (0 for the frequent one, else
/// bytes needed: 1, 2 or 4), then the bytes; all of it compressed.
fn compress_ints(values: &[i32]) -> Vec<u8> {
    let mut differences = Vec::with_capacity(values.len());
    let mut last = 0i32;
    for value in values {
        differences.push(value.wrapping_sub(last));
        last = *value;
    }
    let common = most_frequent(&differences);
    let mut codes = vec![0u8; differences.len().div_ceil(4)];
    let mut bytes = Vec::new();
    for (k, d) in differences.iter().enumerate().filter(|(_, d)| **d != common) {
        let code = match (i8::try_from(*d), i16::try_from(*d)) {
            (Ok(small), _) => {
                bytes.extend(small.to_le_bytes());
                1
            }
            (_, Ok(middle)) => {
                bytes.extend(middle.to_le_bytes());
                2
            }
            _ => {
                bytes.extend(d.to_le_bytes());
                3
            }
        };
        codes[k / 4] |= code << (2 * (k % 4));
    }
    compress(&[&common.to_le_bytes()[..], &codes, &bytes].concat())
}

/// The value that occurs most often, the smallest of them if there are several.
fn most_frequent(values: &[i32]) -> i32 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|a, b| a == b);
    runs.rev().max_by_key(|run| run.len()).map_or(0, |run| run[0])
}
