//! `cargo xtask coverage`: docs/coverage.md speaks only of modules, tests and scenes that exist.
//!
//! A row is `| id | capability | state | module | test | scene |`. Modules are written as Rust paths
//! (`billow_geom::ccd`), tests as `crate::function`, scenes by file name; all in back-quotes. Every id of the
//! ledger has exactly one row, and a row that says `done` names at least one module and one test.

use crate::{files_below, markdown, read};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// How many ids each chapter of the ledger has.
const LEDGER: [(&str, u32); 11] = [
    ("GEO", 8),
    ("LS", 10),
    ("TM", 7),
    ("CL", 12),
    ("RB", 15),
    ("EL", 7),
    ("SH", 7),
    ("FL", 7),
    ("CP", 11),
    ("RN", 3),
    ("APP", 8),
];

const STATES: [&str; 3] = ["done", "partial", "planned"];

/// Everything docs/coverage.md claims that the tree does not bear out.
pub(crate) fn problems(root: &Path) -> Result<Vec<String>, String> {
    let document = read(&root.join("docs/coverage.md"))?;
    let mut tree = Tree::new(root);
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut problems = Vec::new();
    for row in markdown::tables(&document, &["id", "capability", "state", "module", "test", "scene"]) {
        let at = |what: String| format!("docs/coverage.md:{}: {what}", row.line);
        let [id, _, state, module, test, scene] = row.cells[..] else {
            problems.push(at(format!("a row has six cells, this one {}", row.cells.len())));
            continue;
        };
        if let Some(first) = seen.insert(id.to_string(), row.line) {
            problems.push(at(format!("{id} already has a row at line {first}")));
        }
        if !STATES.contains(&state) {
            problems.push(at(format!("state `{state}` is none of {}", STATES.join(", "))));
        }
        let (modules, tests, scenes) =
            (markdown::quoted(module), markdown::quoted(test), markdown::quoted(scene));
        if state == "done" && (modules.is_empty() || tests.is_empty()) {
            problems.push(at(format!("{id} is done but names no module or no test")));
        }
        problems
            .extend(modules.iter().filter(|m| !tree.has_module(m)).map(|m| at(format!("no module `{m}`"))));
        problems.extend(tests.iter().filter(|t| !tree.has_test(t)).map(|t| at(format!("no test `{t}`"))));
        problems.extend(scenes.iter().filter(|s| !tree.has_scene(s)).map(|s| at(format!("no scene `{s}`"))));
    }
    problems.extend(differences_from_ledger(&seen));
    Ok(problems)
}

fn differences_from_ledger(seen: &BTreeMap<String, usize>) -> Vec<String> {
    let ledger: BTreeSet<String> =
        LEDGER.iter().flat_map(|(chapter, n)| (1..=*n).map(move |k| format!("{chapter}-{k}"))).collect();
    let missing = ledger.iter().filter(|id| !seen.contains_key(*id)).map(|id| format!("{id} has no row"));
    let unknown =
        seen.keys().filter(|id| !ledger.contains(*id)).map(|id| format!("{id} is not in the ledger"));
    missing.chain(unknown).collect()
}

/// What exists in the workspace, looked up on demand.
struct Tree<'a> {
    root: &'a Path,
    sources: BTreeMap<String, String>,
}

impl<'a> Tree<'a> {
    fn new(root: &'a Path) -> Self {
        Self { root, sources: BTreeMap::new() }
    }

    /// `billow_geom::mesh::topology` is src/mesh/topology.rs, src/mesh/topology/mod.rs or an inline module.
    fn has_module(&self, path: &str) -> bool {
        let mut parts = path.split("::");
        let krate = parts.next().unwrap_or_default().replace('_', "-");
        let source = self.root.join("crates").join(krate).join("src");
        let inner = parts.collect::<Vec<_>>().join("/");
        if inner.is_empty() {
            return source.join("lib.rs").exists() || source.join("main.rs").exists();
        }
        source.join(format!("{inner}.rs")).exists() || source.join(inner).join("mod.rs").exists()
    }

    /// `billow_geom::name` is a `#[test] fn name` anywhere in that crate.
    fn has_test(&mut self, path: &str) -> bool {
        let Some((krate, name)) = path.split_once("::") else { return false };
        let function = name.rsplit("::").next().unwrap_or(name);
        let folder = self.root.join("crates").join(krate.replace('_', "-"));
        let source = self.sources.entry(krate.to_string()).or_insert_with(|| {
            files_below(&folder, ".rs").iter().filter_map(|f| std::fs::read_to_string(f).ok()).collect()
        });
        let declaration = format!("fn {function}(");
        source.match_indices(&declaration).any(|(k, _)| {
            let before = &source[..k];
            let attributes = before.rsplit(['}', ';']).next().unwrap_or(before);
            attributes.contains("#[test]")
        })
    }

    fn has_scene(&self, name: &str) -> bool {
        self.root.join("scenes").join(format!("{name}.toml")).exists()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_module_and_this_test_exist_and_invented_ones_do_not() {
        let root = crate::workspace_root();
        let mut tree = Tree::new(&root);
        assert!(tree.has_module("xtask::coverage") && tree.has_module("billow_geom::mesh"));
        assert!(!tree.has_module("xtask::no_such_module"));
        assert!(tree.has_test("xtask::this_module_and_this_test_exist_and_invented_ones_do_not"));
        assert!(!tree.has_test("xtask::has_module"), "a function that is no test does not count");
        assert!(!tree.has_test("xtask::no_such_test"));
    }

    #[test]
    fn ledger_differences_are_found_both_ways() {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        seen.insert("GEO-99".into(), 1);
        let problems = differences_from_ledger(&seen);
        assert_eq!(problems.len(), 1 + LEDGER.iter().map(|(_, n)| *n as usize).sum::<usize>());
    }
}
