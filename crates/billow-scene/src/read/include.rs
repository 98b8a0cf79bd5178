//! From a scene file to one merged tree: includes first, in order, then the file itself, then the command line.

use super::files::{Files, reason, relative_to};
use super::log::{Log, Span};
use super::node::{Data, Entry, Node};
use std::path::{Path, PathBuf};

/// How deep includes may nest.
const DEEPEST: usize = 32;
/// How many files a scene may be made of.
const MOST_FILES: usize = 1000;

/// Reads `root` with everything it includes.
pub(crate) fn read_tree(root: &Path, files: &mut Files, log: &mut Log) -> Option<Node> {
    let name = root.display().to_string();
    let text = match read_text(root, files) {
        Ok(text) => text,
        Err(message) => {
            let file = log.add_source(name, root, "");
            log.error(Span { file, start: 0, end: 0 }, format!("cannot read the scene: {message}"));
            return None;
        }
    };
    let file = log.add_source(name, root, &text);
    let mut reader = Reader { files, log, open: vec![root.to_owned()], count: 1 };
    let tree = reader.merged(file)?;
    (!reader.log.has_errors()).then_some(tree)
}

/// The text of a file, or why there is none.
fn read_text(path: &Path, files: &mut Files) -> Result<String, String> {
    let bytes = files.read(path).map_err(|e| reason(&e))?;
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').unwrap_or(text).to_owned()),
        Err(e) => {
            let line = bytes[..e.valid_up_to()].iter().filter(|b| **b == b'\n').count() + 1;
            Err(format!("it is not UTF-8 text (byte {} in line {line} is wrong)", e.valid_up_to()))
        }
    }
}

struct Reader<'a> {
    files: &'a mut Files,
    log: &'a mut Log,
    /// Files being read, outermost first.
    open: Vec<PathBuf>,
    count: usize,
}

impl Reader<'_> {
    /// The tree of a source with its includes below it.
    fn merged(&mut self, file: usize) -> Option<Node> {
        let own = Node::parse(file, self.log)?;
        let mut tree = Node { span: own.span, data: Data::Table(Vec::new()) };
        for (text, span) in self.includes(&own) {
            if let Some(included) = self.included(&text, span) {
                tree.merge(included);
            }
        }
        tree.merge(own);
        Some(tree)
    }

    /// The paths under `include`; a wrong kind is reported when the merged tree is read.
    fn includes(&self, tree: &Node) -> Vec<(String, Span)> {
        match tree.get("include").map(|e| &e.node.data) {
            Some(Data::List(items)) => items
                .iter()
                .filter_map(|item| match &item.data {
                    Data::Text(text) => Some((text.clone(), item.span)),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        }
    }

    /// The tree of one included file.
    fn included(&mut self, text: &str, span: Span) -> Option<Node> {
        let path = relative_to(&self.log.source(span.file).path, text);
        if self.open.contains(&path) {
            let chain: Vec<_> = self.open.iter().chain([&path]).map(|p| p.display().to_string()).collect();
            self.log.error(span, "the files include each other in a circle").help(chain.join(" includes "));
            return None;
        }
        self.count += 1;
        if self.open.len() >= DEEPEST || self.count > MOST_FILES {
            let message = format!("too many includes: at most {DEEPEST} deep and {MOST_FILES} in all");
            self.log.error(span, message);
            return None;
        }
        let content = match read_text(&path, self.files) {
            Ok(content) => content,
            Err(message) => {
                self.log.error(span, format!("cannot include `{}`: {message}", path.display()));
                return None;
            }
        };
        let file = self.log.add_source(path.display().to_string(), &path, &content);
        self.open.push(path);
        let tree = self.merged(file);
        self.open.pop();
        tree.map(without_include)
    }
}

/// An included tree must not pass its own `include` key on.
fn without_include(mut tree: Node) -> Node {
    if let Data::Table(entries) = &mut tree.data {
        entries.retain(|e| e.key != "include");
    }
    tree
}

/// Lays `path.to.key=value` over the tree. The value is TOML; a bare word stands for a string.
pub(crate) fn apply_override(tree: &mut Node, text: &str, base: &Path, log: &mut Log) {
    let file = log.add_source("--set".into(), base, text);
    let whole = Span { file, start: 0, end: text.len() };
    let Some((path, value)) = text.split_once('=') else {
        log.error(whole, "an override needs the form `key=value`").help("for example `simulation.frames=10`");
        return;
    };
    let value_span = Span { file, start: path.len() + 1, end: text.len() };
    let bare = |c: char| c.is_alphanumeric() || "_-./ ".contains(c);
    let mut trial = Log::default();
    let trial_file = trial.add_source(String::new(), base, text);
    let is_toml = Node::parse(trial_file, &mut trial).is_some();
    if !is_toml && !value.trim().is_empty() && value.chars().all(bare) {
        let node = Node { span: value_span, data: Data::Text(value.trim().to_owned()) };
        match nested(path, file, node) {
            Some(over) => tree.merge(over),
            None => {
                log.error(Span { file, start: 0, end: path.len() }, "this is not a dotted key");
            }
        }
        return;
    }
    let Some(over) = Node::parse(file, log) else { return };
    if over.get("include").is_some() {
        log.error(whole, "`include` cannot be set on the command line");
        return;
    }
    tree.merge(over);
}

/// The tree in which `path` leads to `node`.
fn nested(path: &str, file: usize, node: Node) -> Option<Node> {
    let mut start = path.len() + 1;
    let mut tree = node;
    for part in path.rsplit('.') {
        start -= part.len() + 1;
        let key = part.trim();
        if key.is_empty() || !key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
            return None;
        }
        let key_span = Span { file, start, end: start + part.len() };
        let entry = Entry { key: key.to_owned(), key_span, node: tree };
        tree = Node { span: key_span, data: Data::Table(vec![entry]) };
    }
    Some(tree)
}
