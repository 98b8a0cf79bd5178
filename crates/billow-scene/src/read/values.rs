//! The kinds of values a scene file holds: numbers, vectors, names, formulas, lists.

use super::declare::{At, FieldSpec, Kind, Value};
use super::log::{Log, Span};
use super::node::{Data, Node};
use super::table::shorten;
use billow_num::Vec3;
use serde_json::{Value as Json, json};

/// Reports a value of the wrong kind.
fn wrong_kind<T: Value>(node: &Node, spec: &FieldSpec, log: &mut Log) -> Option<T> {
    let message =
        format!("`{}` must be {}{}, found {}", spec.key, T::kind(), spec.unit_suffix(), node.found());
    log.error(node.span, message).label("wrong kind of value");
    None
}

/// A number as a person would write it: very large and very small ones with an exponent.
pub(crate) struct Brief(pub(crate) f64);

impl std::fmt::Display for Brief {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let x = self.0;
        if x != 0.0 && x.is_finite() && !(1e-5..1e10).contains(&x.abs()) {
            write!(f, "{x:e}")
        } else {
            write!(f, "{x}")
        }
    }
}

/// Checks a number against the interval of its key.
fn in_range(x: f64, node: &Node, spec: &FieldSpec, log: &mut Log) -> Option<f64> {
    if spec.interval.contains(x) {
        return Some(x);
    }
    let (key, interval, unit, x) = (spec.key, spec.interval, spec.unit_suffix(), Brief(x));
    if !x.0.is_finite() {
        log.error(node.span, format!("`{key}` must be a finite number, found {x}"))
            .label(format!("must be {interval}{unit}"));
    } else {
        log.error(node.span, format!("`{key}` is {x}{unit}, but must be {interval}{unit}"))
            .label("out of range");
    }
    None
}

impl Value for f64 {
    fn kind() -> Kind {
        Kind::Number
    }

    fn read(node: &Node, spec: &FieldSpec, log: &mut Log) -> Option<Self> {
        match node.number() {
            Some(x) => in_range(x, node, spec, log),
            None => wrong_kind(node, spec, log),
        }
    }

    fn to_json(&self) -> Json {
        json!(self)
    }
}

impl Value for u32 {
    fn kind() -> Kind {
        Kind::Integer
    }

    fn read(node: &Node, spec: &FieldSpec, log: &mut Log) -> Option<Self> {
        let whole = matches!(node.data, Data::Integer(_)) || node.number().is_some_and(|x| x.abs() > 9e18);
        let Some(x) = node.number().filter(|_| whole) else { return wrong_kind(node, spec, log) };
        let mut spec = spec.clone();
        spec.interval.min = spec.interval.min.max(0.0);
        spec.interval.max = spec.interval.max.min(f64::from(u32::MAX));
        in_range(x, node, &spec, log).map(|x| x as u32)
    }

    fn to_json(&self) -> Json {
        json!(self)
    }
}

impl Value for bool {
    fn kind() -> Kind {
        Kind::Bool
    }

    fn read(node: &Node, spec: &FieldSpec, log: &mut Log) -> Option<Self> {
        match node.data {
            Data::Bool(b) => Some(b),
            _ => wrong_kind(node, spec, log),
        }
    }

    fn to_json(&self) -> Json {
        json!(self)
    }
}

impl Value for String {
    fn kind() -> Kind {
        Kind::Text
    }

    fn read(node: &Node, spec: &FieldSpec, log: &mut Log) -> Option<Self> {
        match &node.data {
            Data::Text(s) => Some(s.clone()),
            _ => wrong_kind(node, spec, log),
        }
    }

    fn to_json(&self) -> Json {
        json!(self)
    }
}

/// A path, relative to the file it is written in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathText(pub(crate) String);

impl Value for PathText {
    fn kind() -> Kind {
        Kind::Path
    }

    fn read(node: &Node, spec: &FieldSpec, log: &mut Log) -> Option<Self> {
        match &node.data {
            Data::Text(s) if s.is_empty() || s.contains('\0') => {
                log.error(node.span, format!("`{}` must be a path, found {}", spec.key, node.found()));
                None
            }
            Data::Text(s) => Some(Self(s.clone())),
            _ => wrong_kind(node, spec, log),
        }
    }

    fn to_json(&self) -> Json {
        json!(self.0)
    }
}

/// Declares types that name an entry of another table.
macro_rules! names {
    ($($(#[$doc:meta])* $name:ident of $table:literal;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub(crate) struct $name(pub(crate) String);

        impl Value for $name {
            fn kind() -> Kind {
                Kind::Name($table)
            }

            fn read(node: &Node, spec: &FieldSpec, log: &mut Log) -> Option<Self> {
                match &node.data {
                    Data::Text(s) => Some(Self(s.clone())),
                    _ => wrong_kind(node, spec, log),
                }
            }

            fn to_json(&self) -> Json {
                json!(self.0)
            }
        }
    )* };
}

names! {
    /// The name of a mesh.
    MeshName of "mesh";
    /// The name of a material.
    MaterialName of "material";
    /// The name of a body.
    BodyName of "body";
}

/// A number or the text of a formula, with its place.
#[derive(Clone, Debug)]
pub(crate) struct Formula {
    /// The number or text.
    pub(crate) text: String,
    /// The value's place, quotes included.
    pub(crate) span: Span,
    /// The place of the text's first byte, if the text stands in the file letter for letter.
    pub(crate) text_start: Option<usize>,
}

impl Value for Formula {
    fn kind() -> Kind {
        Kind::Expression
    }

    fn read(node: &Node, spec: &FieldSpec, log: &mut Log) -> Option<Self> {
        match &node.data {
            Data::Text(text) => {
                let written = log.text(node.span);
                let quote = [1, 3].into_iter().find(|&q| {
                    written.len() == text.len() + 2 * q
                        && written.get(q..q + text.len()) == Some(text.as_str())
                });
                let text_start = quote.map(|q| node.span.start + q);
                Some(Self { text: text.clone(), span: node.span, text_start })
            }
            _ => {
                let Some(x) = node.number() else { return wrong_kind(node, spec, log) };
                let x = in_range(x, node, spec, log)?;
                Some(Self { text: format!("{x:?}"), span: node.span, text_start: None })
            }
        }
    }

    fn to_json(&self) -> Json {
        self.text.parse::<f64>().map_or(json!(self.text), |x| json!(x))
    }
}

impl Formula {
    /// A formula that is just a number.
    pub(crate) fn number(x: f64) -> Self {
        Self { text: format!("{x:?}"), span: Span::default(), text_start: None }
    }
}

impl<T: Value, const N: usize> Value for [T; N] {
    fn kind() -> Kind {
        Kind::Tuple(N, Box::new(T::kind()))
    }

    fn read(node: &Node, spec: &FieldSpec, log: &mut Log) -> Option<Self> {
        match &node.data {
            Data::List(items) if items.len() == N => {
                let values: Vec<Option<T>> = items.iter().map(|item| T::read(item, spec, log)).collect();
                let values: Vec<T> = values.into_iter().collect::<Option<_>>()?;
                values.try_into().ok()
            }
            _ => wrong_kind(node, spec, log),
        }
    }

    fn to_json(&self) -> Json {
        Json::Array(self.iter().map(T::to_json).collect())
    }
}

impl Value for Vec3 {
    fn kind() -> Kind {
        <[f64; 3]>::kind()
    }

    fn read(node: &Node, spec: &FieldSpec, log: &mut Log) -> Option<Self> {
        <[f64; 3]>::read(node, spec, log).map(Vec3::from)
    }

    fn to_json(&self) -> Json {
        self.to_array().to_json()
    }
}

/// A stretch: one number for all axes or one per axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale(pub(crate) Vec3);

impl Value for Scale {
    fn kind() -> Kind {
        Kind::Either(vec![f64::kind(), Vec3::kind()])
    }

    fn read(node: &Node, spec: &FieldSpec, log: &mut Log) -> Option<Self> {
        match &node.data {
            Data::Integer(_) | Data::Float(_) => f64::read(node, spec, log).map(|s| Self(Vec3::splat(s))),
            Data::List(items) if items.len() == 3 => Vec3::read(node, spec, log).map(Self),
            _ => wrong_kind(node, spec, log),
        }
    }

    fn to_json(&self) -> Json {
        if self.0 == Vec3::splat(self.0.x) { json!(self.0.x) } else { self.0.to_json() }
    }
}

impl<T: Value> Value for Option<T> {
    fn kind() -> Kind {
        T::kind()
    }

    fn read(node: &Node, spec: &FieldSpec, log: &mut Log) -> Option<Self> {
        T::read(node, spec, log).map(Some)
    }

    fn to_json(&self) -> Json {
        self.as_ref().map_or(Json::Null, T::to_json)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: Value> Value for Vec<T> {
    fn kind() -> Kind {
        Kind::List(Box::new(T::kind()))
    }

    fn read(node: &Node, spec: &FieldSpec, log: &mut Log) -> Option<Self> {
        let Data::List(items) = &node.data else { return wrong_kind(node, spec, log) };
        if items.len() < spec.count.0 {
            let least = spec.count.0;
            let values = if least == 1 { "value" } else { "values" };
            let message = format!("`{}` needs at least {least} {values}, found {}", spec.key, items.len());
            log.error(node.span, message);
            return None;
        }
        let values: Vec<Option<T>> = items.iter().map(|item| T::read(item, spec, log)).collect();
        values.into_iter().collect()
    }

    fn to_json(&self) -> Json {
        Json::Array(self.iter().map(T::to_json).collect())
    }

    fn absent() -> Option<Self> {
        Some(Vec::new())
    }
}

/// A value with its place, for lists.
impl<T: Value> Value for At<T> {
    fn kind() -> Kind {
        T::kind()
    }

    fn read(node: &Node, spec: &FieldSpec, log: &mut Log) -> Option<Self> {
        T::read(node, spec, log).map(|value| Self { value, span: node.span, given: true })
    }

    fn to_json(&self) -> Json {
        self.value.to_json()
    }
}

/// Entries under names chosen by the user, in the order of the file: `[mesh.NAME]`.
#[derive(Clone, Debug)]
pub(crate) struct Named<T> {
    /// The entries that could be read.
    pub(crate) entries: Vec<(At<String>, T)>,
    /// Names of those that could not; they exist, and the log knows what is wrong with them.
    pub(crate) broken: Vec<String>,
}

impl<T> Named<T> {
    /// The names, in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.entries.iter().map(|e| e.0.value.as_str())
    }
}

/// Something that stands under a name of its own.
pub(crate) trait NamedValue: Sized {
    /// What it looks like.
    fn named_kind() -> Kind;
    /// Reads it; messages call it `title`.
    fn read_titled(node: &Node, title: String, log: &mut Log) -> Option<Self>;
}

impl NamedValue for f64 {
    fn named_kind() -> Kind {
        Kind::Number
    }

    fn read_titled(node: &Node, title: String, log: &mut Log) -> Option<Self> {
        match node.number() {
            Some(x) if x.is_finite() => Some(x),
            _ => {
                log.error(node.span, format!("{title} must be a finite number, found {}", node.found()));
                None
            }
        }
    }
}

impl<T: super::declare::Table> NamedValue for T {
    fn named_kind() -> Kind {
        Kind::Table(Box::new(T::info()))
    }

    fn read_titled(node: &Node, title: String, log: &mut Log) -> Option<Self> {
        super::table::read_named_table(node, title, None, log)
    }
}

impl<T: NamedValue> Value for Named<T> {
    fn kind() -> Kind {
        Kind::Map(Box::new(T::named_kind()))
    }

    fn read(node: &Node, spec: &FieldSpec, log: &mut Log) -> Option<Self> {
        let Data::Table(entries) = &node.data else { return wrong_kind(node, spec, log) };
        let mut all = Self { entries: Vec::with_capacity(entries.len()), broken: Vec::new() };
        for entry in entries {
            check_name(&entry.key, entry.key_span, spec.key, log);
            let title = format!("[{}.{}]", spec.key, shorten(&entry.key));
            let name = At { value: entry.key.clone(), span: entry.key_span, given: true };
            match T::read_titled(&entry.node, title, log) {
                Some(value) => all.entries.push((name, value)),
                None => all.broken.push(entry.key.clone()),
            }
        }
        Some(all)
    }

    fn to_json(&self) -> Json {
        Json::Null
    }

    fn absent() -> Option<Self> {
        Some(Self { entries: Vec::new(), broken: Vec::new() })
    }
}

/// Names appear in file names, statistics and messages, so they are plain words.
fn check_name(name: &str, span: Span, table: &str, log: &mut Log) {
    let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    if (1..=64).contains(&name.chars().count()) && name.chars().all(plain) {
        return;
    }
    let message = format!("{:?} is not a name for a {table}", shorten(name));
    log.error(span, message).help("names have 1 to 64 letters, digits, `-` or `_`");
}
