//! Declarations of scene tables: one line per key, from which everything else follows.
//!
//! [`table!`](crate::read::table) declares a table of keys and [`choice!`] a table whose keys depend on a tag such
//! as `shape = "icosphere"`. Each line `key: Type = default => unit("m"), above(0.0);` gives the struct field, its
//! default, its reader with all error messages, its JSON Schema and its entry in the reference page.

use super::log::{Log, Span};
use super::node::Node;
use super::table::TableReader;
use super::values::Brief;
use serde_json::Value as Json;
use std::fmt;

/// A value with its place in the scene file.
#[derive(Clone, Debug)]
pub(crate) struct At<T> {
    /// The value.
    pub(crate) value: T,
    /// Where it stands, or where its table stands if it is a default.
    pub(crate) span: Span,
    /// Whether the file gives it.
    pub(crate) given: bool,
}

impl<T> std::ops::Deref for At<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

/// What numbers are allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub(crate) min: f64,
    pub(crate) min_open: bool,
    pub(crate) max: f64,
}

impl Interval {
    /// Every finite number.
    pub(crate) const ALL: Self = Self { min: f64::NEG_INFINITY, min_open: false, max: f64::INFINITY };

    /// Whether `x` is finite and inside.
    pub(crate) fn contains(&self, x: f64) -> bool {
        x.is_finite() && x <= self.max && if self.min_open { x > self.min } else { x >= self.min }
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (min, max) = (Brief(self.min), Brief(self.max));
        match (self.min.is_finite(), self.max.is_finite(), self.min_open) {
            (true, true, true) => write!(f, "greater than {min} and at most {max}"),
            (true, true, false) => write!(f, "from {min} to {max}"),
            (true, false, true) => write!(f, "greater than {min}"),
            (true, false, false) => write!(f, "at least {min}"),
            (false, true, _) => write!(f, "at most {max}"),
            (false, false, _) => write!(f, "finite"),
        }
    }
}

/// One key as declared.
#[derive(Clone, Debug)]
pub(crate) struct FieldSpec {
    /// The key.
    pub(crate) key: &'static str,
    /// What it means.
    pub(crate) doc: &'static str,
    /// SI unit, empty if it has none.
    pub(crate) unit: &'static str,
    /// Allowed numbers, also of the components of vectors and lists.
    pub(crate) interval: Interval,
    /// Allowed number of values in a list.
    pub(crate) count: (usize, usize),
}

impl FieldSpec {
    /// A key without limits.
    pub(crate) fn new(key: &'static str, doc: &'static str) -> Self {
        Self { key, doc: doc.trim(), unit: "", interval: Interval::ALL, count: (0, usize::MAX) }
    }

    /// The SI unit.
    pub(crate) fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    /// Numbers from `min` to `max`.
    pub(crate) fn range(mut self, min: f64, max: f64) -> Self {
        self.interval = Interval { min, min_open: false, max };
        self
    }

    /// Numbers greater than `min`.
    pub(crate) fn above(mut self, min: f64) -> Self {
        self.interval = Interval { min, min_open: true, ..self.interval };
        self
    }

    /// Numbers not less than `min`.
    pub(crate) fn at_least(mut self, min: f64) -> Self {
        self.interval = Interval { min, min_open: false, ..self.interval };
        self
    }

    /// Numbers not greater than `max`.
    pub(crate) fn at_most(mut self, max: f64) -> Self {
        self.interval.max = max;
        self
    }

    /// Lists of at least `min` values.
    pub(crate) fn at_least_values(mut self, min: usize) -> Self {
        self.count.0 = min;
        self
    }

    /// ` [m]`, or nothing for a key without unit.
    pub(crate) fn unit_suffix(&self) -> String {
        if self.unit.is_empty() { String::new() } else { format!(" [{}]", self.unit) }
    }
}

/// What a value looks like in the file.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Bool,
    Integer,
    Number,
    Text,
    Path,
    /// The name of an entry of another table.
    Name(&'static str),
    /// A formula of the time.
    Expression,
    /// So many values of one kind.
    Tuple(usize, Box<Kind>),
    List(Box<Kind>),
    /// One of some words, each with its meaning.
    Keyword(&'static [(&'static str, &'static str)]),
    Table(Box<TableInfo>),
    /// Names chosen by the user, each with a value.
    Map(Box<Kind>),
    Either(Vec<Kind>),
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => write!(f, "true or false"),
            Self::Integer => write!(f, "a whole number"),
            Self::Number => write!(f, "a number"),
            Self::Text => write!(f, "a string"),
            Self::Path => write!(f, "a path"),
            Self::Name(of) => write!(f, "the name of a {of}"),
            Self::Expression => write!(f, "a number or a formula of t"),
            Self::Tuple(n, kind) => write!(f, "a list of {n} values, each {kind}"),
            Self::List(kind) => write!(f, "a list of values, each {kind}"),
            Self::Keyword(words) => {
                let words: Vec<_> = words.iter().map(|w| format!("\"{}\"", w.0)).collect();
                write!(f, "one of {}", words.join(", "))
            }
            Self::Table(_) => write!(f, "a table"),
            Self::Map(kind) => write!(f, "a table of names, each {kind}"),
            Self::Either(kinds) => {
                let kinds: Vec<_> = kinds.iter().map(ToString::to_string).collect();
                write!(f, "{}", kinds.join(" or "))
            }
        }
    }
}

/// A table as declared.
#[derive(Clone, Debug, Default)]
pub(crate) struct TableInfo {
    pub(crate) doc: String,
    pub(crate) fields: Vec<FieldInfo>,
    pub(crate) choice: Option<ChoiceInfo>,
}

/// Keys that depend on a tag.
#[derive(Clone, Debug)]
pub(crate) struct ChoiceInfo {
    /// The key that chooses.
    pub(crate) tag: &'static str,
    /// Whether the tag must be there.
    pub(crate) required: bool,
    /// What the tag can be, and the keys that belong to it.
    pub(crate) variants: Vec<(&'static str, TableInfo)>,
}

/// A key as declared, with its kind and default.
#[derive(Clone, Debug)]
pub(crate) struct FieldInfo {
    pub(crate) spec: FieldSpec,
    pub(crate) kind: Kind,
    pub(crate) default: Option<Json>,
    pub(crate) required: bool,
}

impl TableInfo {
    /// A table without keys.
    pub(crate) fn new(doc: &'static str) -> Self {
        Self { doc: doc.trim().to_owned(), ..Self::default() }
    }

    /// Adds a key.
    pub(crate) fn field<T: Value>(mut self, spec: FieldSpec, default: Option<T>) -> Self {
        let required = default.is_none() && (T::absent().is_none() || spec.count.0 > 0);
        let default = default.or_else(T::absent).map(|d| d.to_json()).filter(|d| !d.is_null());
        self.fields.push(FieldInfo { spec, kind: T::kind(), default, required });
        self
    }

    /// Adds the keys of another table.
    pub(crate) fn flatten<T: Table>(mut self) -> Self {
        let other = T::info();
        self.fields.extend(other.fields);
        self.choice = self.choice.or(other.choice);
        self
    }
}

/// A type that can stand behind a key.
pub(crate) trait Value: Sized {
    /// What it looks like in the file.
    fn kind() -> Kind;
    /// Reads it; problems go to the log, and then there is no value.
    fn read(node: &Node, spec: &FieldSpec, log: &mut Log) -> Option<Self>;
    /// How a default is shown; `null` if it is not worth showing.
    fn to_json(&self) -> Json;
    /// What a missing key without default means; `None` if the key is required.
    fn absent() -> Option<Self> {
        None
    }
}

/// A group of keys read from one table of the file.
pub(crate) trait Table: Sized {
    /// The declaration.
    fn info() -> TableInfo;
    /// Takes its keys; problems go to the reader's log, and then there is no value.
    fn read(reader: &mut TableReader<'_>) -> Option<Self>;
}

/// Declares a table: see the [module](self).
macro_rules! table {
    (
        $(#[doc = $table_doc:literal])*
        pub(crate) struct $name:ident {
            $(
                $(#[doc = $doc:literal])*
                $field:ident : $ty:ty $(= $default:expr)? $(=> $($attr:ident($($arg:expr),*)),+)? ;
            )*
            $( ..$flat:ident : $flat_ty:ty ; )*
        }
    ) => {
        $(#[doc = $table_doc])*
        #[derive(Clone, Debug)]
        #[allow(dead_code, reason = "some keys are declared here and read before the tables are")]
        pub(crate) struct $name {
            $( $(#[doc = $doc])* pub(crate) $field: $crate::read::declare::At<$ty>, )*
            $( pub(crate) $flat: $flat_ty, )*
        }

        impl $crate::read::declare::Table for $name {
            fn info() -> $crate::read::declare::TableInfo {
                $crate::read::declare::TableInfo::new(concat!($($table_doc, "\n"),*))
                    $( .field::<$ty>(
                        $crate::read::declare::field_spec!($field, [$($doc),*] $($($attr($($arg),*))+)?),
                        $crate::read::declare::default_of!($($default)?),
                    ) )*
                    $( .flatten::<$flat_ty>() )*
            }

            fn read(reader: &mut $crate::read::table::TableReader<'_>) -> Option<Self> {
                $( let $field = reader.field::<$ty>(
                    &$crate::read::declare::field_spec!($field, [$($doc),*] $($($attr($($arg),*))+)?),
                    $crate::read::declare::default_of!($($default)?),
                ); )*
                $( let $flat = <$flat_ty as $crate::read::declare::Table>::read(reader); )*
                Some(Self { $( $field: $field?, )* $( $flat: $flat?, )* })
            }
        }

        $crate::read::declare::table_value!($name, None);
    };
}

/// Declares a table whose keys depend on a tag: see the [module](self).
macro_rules! choice {
    (
        $(#[doc = $table_doc:literal])*
        pub(crate) enum $name:ident by $tag:literal {
            $(
                $(#[doc = $variant_doc:literal])*
                $word:literal $variant:ident {
                    $(
                        $(#[doc = $doc:literal])*
                        $field:ident : $ty:ty $(= $default:expr)? $(=> $($attr:ident($($arg:expr),*)),+)? ;
                    )*
                }
            )*
        }
    ) => {
        $(#[doc = $table_doc])*
        #[derive(Clone, Debug)]
        #[allow(clippy::large_enum_variant, reason = "there is one of it per table of a file")]
        pub(crate) enum $name {
            $( $(#[doc = $variant_doc])* $variant {
                $( $(#[doc = $doc])* $field: $crate::read::declare::At<$ty>, )*
            }, )*
        }

        impl $crate::read::declare::Table for $name {
            fn info() -> $crate::read::declare::TableInfo {
                use $crate::read::declare::{ChoiceInfo, TableInfo};
                let variants = vec![$( (
                    $word,
                    TableInfo::new(concat!($($variant_doc, "\n"),*))
                        $( .field::<$ty>(
                            $crate::read::declare::field_spec!($field, [$($doc),*] $($($attr($($arg),*))+)?),
                            $crate::read::declare::default_of!($($default)?),
                        ) )*
                ), )*];
                let mut info = TableInfo::new(concat!($($table_doc, "\n"),*));
                info.choice = Some(ChoiceInfo { tag: $tag, required: true, variants });
                info
            }

            fn read(reader: &mut $crate::read::table::TableReader<'_>) -> Option<Self> {
                let word = reader.tag($tag, &<Self as $crate::read::declare::Table>::info())?;
                match word.as_str() {
                    $( $word => {
                        $( let $field = reader.field::<$ty>(
                            &$crate::read::declare::field_spec!($field, [$($doc),*] $($($attr($($arg),*))+)?),
                            $crate::read::declare::default_of!($($default)?),
                        ); )*
                        Some(Self::$variant { $( $field: $field?, )* })
                    } )*
                    _ => None,
                }
            }
        }

        $crate::read::declare::table_value!($name, Some($tag));
    };
}

/// Builds the [`FieldSpec`] of one declared line.
macro_rules! field_spec {
    ($field:ident, [$($doc:literal),*] $($attr:ident($($arg:expr),*))*) => {
        $crate::read::declare::FieldSpec::new(stringify!($field), concat!($($doc, "\n"),*))
            $( .$attr($($arg),*) )*
    };
}

/// The default of one declared line.
macro_rules! default_of {
    () => {
        None
    };
    ($default:expr) => {
        Some($default)
    };
}

/// Lets a table stand behind a key.
macro_rules! table_value {
    ($name:ident, $tag:expr) => {
        impl $crate::read::declare::Value for $name {
            fn kind() -> $crate::read::declare::Kind {
                let info = Box::new(<Self as $crate::read::declare::Table>::info());
                let table = $crate::read::declare::Kind::Table(info);
                $crate::read::table::with_shorthand(table, $tag)
            }

            fn read(
                node: &$crate::read::node::Node,
                spec: &$crate::read::declare::FieldSpec,
                log: &mut $crate::read::log::Log,
            ) -> Option<Self> {
                $crate::read::table::read_table(node, spec, $tag, log)
            }

            fn to_json(&self) -> serde_json::Value {
                serde_json::Value::Null
            }

            fn absent() -> Option<Self> {
                $crate::read::table::read_empty()
            }
        }
    };
}

pub(crate) use {choice, default_of, field_spec, table, table_value};
