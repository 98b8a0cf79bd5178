//! The tree of a TOML document, every node with its place; merging of trees.

use super::log::{Log, Span};
use super::values::Brief;
use std::collections::HashMap;
use toml::de::{DeTable, DeValue};

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) span: Span,
    pub(crate) data: Data,
}

/// A TOML value.
#[derive(Clone, Debug)]
pub(crate) enum Data {
    Text(String),
    Integer(i64),
    /// A float, or an integer too large for 64 bits.
    Float(f64),
    Bool(bool),
    Date(String),
    List(Vec<Node>),
    Table(Vec<Entry>),
}

/// A key of a table with its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_span: Span,
    pub(crate) node: Node,
}

impl Node {
    /// Parses a document; syntax problems go to the log, and then there is no tree.
    pub(crate) fn parse(file: usize, log: &mut Log) -> Option<Self> {
        let text = log.source(file).text.clone();
        let (table, errors) = DeTable::parse_recoverable(&text);
        for error in &errors {
            let span = error.span().unwrap_or(0..0);
            log.error(
                Span { file, start: span.start, end: span.end },
                format!("not TOML: {}", error.message()),
            );
        }
        errors.is_empty().then(|| Self {
            span: Span { file, start: 0, end: 0 },
            data: Data::Table(entries(table.get_ref(), file)),
        })
    }

    /// What the value is, in words: `the string "a"`, `the number 2`, `a table`.
    pub(crate) fn found(&self) -> String {
        match &self.data {
            Data::Text(s) if s.chars().count() > 40 => {
                format!("the string {:?}…", s.chars().take(40).collect::<String>())
            }
            Data::Text(s) => format!("the string {s:?}"),
            Data::Integer(i) => format!("the number {i}"),
            Data::Float(x) => format!("the number {}", Brief(*x)),
            Data::Bool(b) => format!("{b}"),
            Data::Date(d) => format!("the date {d}"),
            Data::List(list) => match list.len() {
                0 => "an empty list".into(),
                1 => "a list of 1 value".into(),
                n => format!("a list of {n} values"),
            },
            Data::Table(_) => "a table".into(),
        }
    }

    /// The value as a number, if it is one.
    pub(crate) fn number(&self) -> Option<f64> {
        match self.data {
            Data::Integer(i) => Some(i as f64),
            Data::Float(x) => Some(x),
            _ => None,
        }
    }

    /// The value of `key`, if this is a table that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        match &self.data {
            Data::Table(entries) => entries.iter().find(|e| e.key == key),
            _ => None,
        }
    }

    /// Lays `over` on top: tables are merged key by key, everything else is replaced.
    pub(crate) fn merge(&mut self, over: Self) {
        let (span, over_span) = (self.span, over.span);
        match (&mut self.data, over.data) {
            (Data::Table(below), Data::Table(above)) => {
                merge_tables(below, above);
                // The document itself keeps the place of the outermost file.
                self.span = if over_span.end > over_span.start { over_span } else { span };
            }
            (slot, data) => {
                *slot = data;
                self.span = over_span;
            }
        }
    }
}

fn merge_tables(below: &mut Vec<Entry>, above: Vec<Entry>) {
    let index: HashMap<String, usize> = below.iter().enumerate().map(|(i, e)| (e.key.clone(), i)).collect();
    for entry in above {
        match index.get(&entry.key) {
            Some(&i) => {
                below[i].key_span = entry.key_span;
                below[i].node.merge(entry.node);
            }
            None => below.push(entry),
        }
    }
}

fn entries(table: &DeTable<'_>, file: usize) -> Vec<Entry> {
    table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            key_span: Span { file, start: key.span().start, end: key.span().end },
            node: Node {
                span: Span { file, start: value.span().start, end: value.span().end },
                data: data(value.get_ref(), file),
            },
        })
        .collect()
}

fn data(value: &DeValue<'_>, file: usize) -> Data {
    match value {
        DeValue::String(s) => Data::Text(s.to_string()),
        DeValue::Integer(i) => match i64::from_str_radix(i.as_str(), i.radix()) {
            Ok(i) => Data::Integer(i),
            Err(_) => Data::Float(i.as_str().parse().unwrap_or(f64::INFINITY)),
        },
        DeValue::Float(x) => Data::Float(x.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(b) => Data::Bool(*b),
        DeValue::Datetime(d) => Data::Date(d.to_string()),
        DeValue::Array(list) => Data::List(
            list.iter()
                .map(|v| Node {
                    span: Span { file, start: v.span().start, end: v.span().end },
                    data: data(v.get_ref(), file),
                })
                .collect(),
        ),
        DeValue::Table(table) => Data::Table(entries(table, file)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn parse(text: &str, log: &mut Log) -> Option<Node> {
        let file = log.add_source("test".into(), Path::new("test"), text);
        Node::parse(file, log)
    }

    #[test]
    fn later_trees_override_key_by_key_and_lists_whole() {
        let mut log = Log::default();
        let mut a = parse("[s]\nx = 1\ny = [1, 2]\n", &mut log).expect("valid");
        a.merge(parse("[s]\ny = [3]\nz = 99999999999999999999\n", &mut log).expect("valid"));
        let s = &a.get("s").expect("kept").node;
        assert_eq!(s.get("x").and_then(|e| e.node.number()), Some(1.0));
        assert_eq!(s.get("y").map(|e| e.node.found()), Some("a list of 1 value".into()));
        assert_eq!(s.get("z").and_then(|e| e.node.number()), Some(1e20));
    }

    #[test]
    fn every_syntax_error_is_reported() {
        let mut log = Log::default();
        assert!(parse("a = \nb = 1\nc = [1,, 2]\n", &mut log).is_none());
        assert_eq!(log.into_problems().0.len(), 2);
    }
}
