//! Reading one table: known keys are taken, whatever is left over is reported.

use super::declare::{At, FieldSpec, Kind, Table, TableInfo, Value};
use super::log::{Log, Span, nearest};
use super::node::{Data, Entry, Node};

/// Hands out the keys of a table and notes which were asked for.
pub(crate) struct TableReader<'a> {
    node: &'a Node,
    /// What the table is called in messages.
    name: String,
    known: Vec<&'static str>,
    /// Keys that other tags of the same table would allow.
    elsewhere: Vec<(&'static str, String)>,
    /// Do not report unknown keys, because the tag that decides about them is wrong.
    lenient: bool,
    log: &'a mut Log,
}

impl<'a> TableReader<'a> {
    /// A reader of a node that is a table.
    pub(crate) fn new(node: &'a Node, name: String, log: &'a mut Log) -> Self {
        Self { node, name, known: Vec::new(), elsewhere: Vec::new(), lenient: false, log }
    }

    /// Takes a key: the value in the file, else the default, else what a missing key means.
    pub(crate) fn field<T: Value>(&mut self, spec: &FieldSpec, default: Option<T>) -> Option<At<T>> {
        self.known.push(spec.key);
        if let Some(entry) = self.node.get(spec.key) {
            // A wrong value is reported; its default lets the rest of the scene be examined too.
            let value = T::read(&entry.node, spec, self.log).or(default).or_else(T::absent)?;
            return Some(At { value, span: entry.node.span, given: true });
        }
        match default.or_else(T::absent).filter(|_| spec.count.0 == 0) {
            Some(value) => Some(At { value, span: self.node.span, given: false }),
            None => {
                let message = format!("{} needs the key `{}`", self.name, spec.key);
                let problem = self.log.error(self.node.span, message);
                problem.help(format!("`{}` is {}{}: {}", spec.key, T::kind(), spec.unit_suffix(), spec.doc));
                None
            }
        }
    }

    /// Takes the tag of a choice; notes the keys that belong to other tags.
    pub(crate) fn tag(&mut self, tag: &'static str, info: &TableInfo) -> Option<String> {
        self.known.push(tag);
        let choice = info.choice.as_ref()?;
        let words: Vec<&str> = choice.variants.iter().map(|v| v.0).collect();
        let Some(entry) = self.node.get(tag) else {
            self.lenient = true;
            let message = format!("{} needs the key `{tag}`", self.name);
            self.log.error(self.node.span, message).help(format!("`{tag}` is one of {}", words.join(", ")));
            return None;
        };
        let found = match &entry.node.data {
            Data::Text(word) if words.contains(&word.as_str()) => word.clone(),
            _ => {
                self.lenient = true;
                let message =
                    format!("`{tag}` is {}, but must be one of {}", entry.node.found(), words.join(", "));
                let guess = match &entry.node.data {
                    Data::Text(word) => nearest(word, words.iter().copied()),
                    _ => None,
                };
                let problem = self.log.error(entry.node.span, message);
                if let Some(guess) = guess {
                    problem.help(format!("did you mean \"{guess}\"?"));
                }
                return None;
            }
        };
        self.note_elsewhere(info);
        Some(found)
    }

    /// Whether the table has the key.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.node.get(key).is_some()
    }

    /// Remembers which keys a choice would allow under which tag.
    pub(crate) fn note_elsewhere(&mut self, info: &TableInfo) {
        let Some(choice) = &info.choice else { return };
        for (word, table) in &choice.variants {
            for field in &table.fields {
                self.elsewhere.push((field.spec.key, format!("{} = \"{word}\"", choice.tag)));
            }
        }
    }

    /// Notes that `tag` is a key of this table although it was not read.
    pub(crate) fn know(&mut self, tag: &'static str) {
        self.known.push(tag);
    }

    /// Reports every key nobody asked for.
    pub(crate) fn finish(self) {
        let Data::Table(entries) = &self.node.data else { return };
        if self.lenient {
            return;
        }
        for entry in entries.iter().filter(|e| !self.known.contains(&e.key.as_str())) {
            let message = format!("{} has no key `{}`", self.name, shorten(&entry.key));
            let belongs: Vec<&str> =
                self.elsewhere.iter().filter(|e| e.0 == entry.key).map(|e| e.1.as_str()).collect();
            let help = if !belongs.is_empty() {
                format!("`{}` belongs to {}", entry.key, belongs.join(", "))
            } else if let Some(guess) = nearest(&entry.key, self.known.iter().copied()) {
                format!("did you mean `{guess}`?")
            } else {
                let mut keys = self.known.clone();
                keys.sort_unstable();
                format!("its keys are {}", keys.join(", "))
            };
            self.log.error(entry.key_span, message).label("unknown key").help(help);
        }
    }
}

/// Reads a table that stands behind a key; with a tag, a string stands for the table with that tag alone.
pub(crate) fn read_table<T: Table>(
    node: &Node,
    spec: &FieldSpec,
    tag: Option<&'static str>,
    log: &mut Log,
) -> Option<T> {
    let name = format!("[{}]", spec.key);
    read_named_table(node, name, tag, log)
}

/// Reads a table that messages call `name`.
pub(crate) fn read_named_table<T: Table>(
    node: &Node,
    name: String,
    tag: Option<&'static str>,
    log: &mut Log,
) -> Option<T> {
    let expanded = match (&node.data, tag) {
        (Data::Table(_), _) => None,
        (Data::Text(_), Some(tag)) => Some(table_of(tag, node)),
        _ => {
            let message = format!("{name} must be a table, found {}", node.found());
            log.error(node.span, message);
            return None;
        }
    };
    let mut reader = TableReader::new(expanded.as_ref().unwrap_or(node), name, log);
    let value = T::read(&mut reader);
    reader.finish();
    value
}

/// The table that has nothing but `tag = node`.
fn table_of(tag: &str, node: &Node) -> Node {
    let entry = Entry { key: tag.to_owned(), key_span: node.span, node: node.clone() };
    Node { span: node.span, data: Data::Table(vec![entry]) }
}

/// What an absent table means: all its defaults, if every key has one.
pub(crate) fn read_empty<T: Table>() -> Option<T> {
    let mut log = Log::default();
    log.add_source(String::new(), std::path::Path::new(""), "");
    let node = Node { span: Span::default(), data: Data::Table(Vec::new()) };
    T::read(&mut TableReader::new(&node, String::new(), &mut log))
}

/// The kind of a choice that may be written as its tag alone.
pub(crate) fn with_shorthand(table: Kind, tag: Option<&'static str>) -> Kind {
    match (tag, table) {
        (Some(_), Kind::Table(info)) => Kind::Either(vec![Kind::Text, Kind::Table(info)]),
        (_, table) => table,
    }
}

/// A choice that may be left out altogether, tag and all.
impl<T: Table> Table for Option<T> {
    fn info() -> TableInfo {
        let mut info = T::info();
        if let Some(choice) = &mut info.choice {
            choice.required = false;
        }
        info
    }

    fn read(reader: &mut TableReader<'_>) -> Option<Self> {
        let info = T::info();
        let tag = info.choice.as_ref()?.tag;
        if reader.has(tag) {
            return T::read(reader).map(Some);
        }
        reader.know(tag);
        reader.note_elsewhere(&info);
        Some(None)
    }
}

/// Keeps quoted user text short in messages.
pub(crate) fn shorten(text: &str) -> String {
    if text.chars().count() <= 60 {
        return text.to_owned();
    }
    format!("{}…", text.chars().take(60).collect::<String>())
}
