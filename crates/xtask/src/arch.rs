//! `cargo xtask arch`: the arrows between crates are exactly those that ARCHITECTURE.md draws.
//!
//! Two tables are compared with the manifests: "crate | uses" row by row with each package's dependencies
//! inside the workspace, and "dependency" with the third-party crates of the workspace manifest.

use crate::{crate_folders, markdown, read};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use toml::Table;

/// Every difference between ARCHITECTURE.md and the manifests.
pub(crate) fn problems(root: &Path) -> Result<Vec<String>, String> {
    let document = read(&root.join("ARCHITECTURE.md"))?;
    let mut problems = compare_arrows(&drawn_arrows(&document), &real_arrows(root)?);
    problems.extend(compare_dependencies(&document, &manifest(&root.join("Cargo.toml"))?));
    Ok(problems)
}

type Arrows = BTreeMap<String, BTreeSet<String>>;

fn compare_arrows(drawn: &Arrows, real: &Arrows) -> Vec<String> {
    let mut problems = Vec::new();
    for name in drawn.keys().chain(real.keys()).collect::<BTreeSet<_>>() {
        match (drawn.get(name), real.get(name)) {
            (Some(_), None) => {
                problems.push(format!("ARCHITECTURE.md draws `{name}`, which is not in crates/"))
            }
            (None, _) => {
                problems.push(format!("crates/{name} is missing from ARCHITECTURE.md's crate table"))
            }
            (Some(drawn), Some(real)) => {
                let extra =
                    real.difference(drawn).map(|to| format!("`{name}` uses `{to}`, an arrow not drawn"));
                let idle = drawn
                    .difference(real)
                    .map(|to| format!("the arrow `{name}` → `{to}` is drawn but unused"));
                problems.extend(extra.chain(idle));
            }
        }
    }
    problems
}

fn drawn_arrows(document: &str) -> Arrows {
    markdown::tables(document, &["layer", "crate", "uses"])
        .iter()
        .filter(|row| row.cells.len() >= 3)
        .flat_map(|row| {
            let uses: BTreeSet<String> =
                markdown::quoted(row.cells[2]).into_iter().map(String::from).collect();
            markdown::quoted(row.cells[1]).into_iter().map(move |name| (name.to_string(), uses.clone()))
        })
        .collect()
}

fn real_arrows(root: &Path) -> Result<Arrows, String> {
    let manifests: Vec<Table> =
        crate_folders(root)?.iter().map(|f| manifest(&f.join("Cargo.toml"))).collect::<Result<_, _>>()?;
    let name =
        |m: &Table| m.get("package").and_then(|p| p.get("name")?.as_str()).unwrap_or_default().to_string();
    let members: BTreeSet<String> = manifests.iter().map(name).collect();
    Ok(manifests
        .iter()
        .map(|m| (name(m), dependencies(m).into_iter().filter(|d| members.contains(d)).collect()))
        .collect())
}

fn dependencies(manifest: &Table) -> Vec<String> {
    let table = manifest.get("dependencies").and_then(|d| d.as_table());
    table.map(|t| t.keys().cloned().collect()).unwrap_or_default()
}

fn compare_dependencies(document: &str, workspace: &Table) -> Vec<String> {
    let listed: BTreeSet<&str> = markdown::tables(document, &["dependency", "used for"])
        .iter()
        .flat_map(|row| markdown::quoted(row.cells[0]))
        .collect();
    let third_party: BTreeSet<&str> = workspace
        .get("workspace")
        .and_then(|w| w.get("dependencies")?.as_table())
        .map(|t| {
            t.iter().filter(|(_, spec)| spec.get("path").is_none()).map(|(name, _)| name.as_str()).collect()
        })
        .unwrap_or_default();
    let missing =
        third_party.difference(&listed).map(|d| format!("dependency `{d}` has no row in ARCHITECTURE.md"));
    let stale =
        listed.difference(&third_party).map(|d| format!("ARCHITECTURE.md lists `{d}`, which nothing uses"));
    missing.chain(stale).collect()
}

fn manifest(path: &Path) -> Result<Table, String> {
    read(path)?.parse().map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undrawn_idle_and_missing_arrows_are_reported() {
        let document = "| layer | crate | uses |\n|---|---|---|\n| 0 | `a` | – |\n| 1 | `b` | `a`, `c` |\n| 1 | `gone` | |\n";
        let real: Arrows = [("a", vec!["b"]), ("b", vec!["a"]), ("new", vec![])]
            .into_iter()
            .map(|(n, d)| (n.to_string(), d.into_iter().map(String::from).collect()))
            .collect();
        let problems = compare_arrows(&drawn_arrows(document), &real);
        assert_eq!(problems.len(), 4, "{problems:?}");
    }

    #[test]
    fn dependency_table_must_match_the_workspace_manifest() {
        let manifest: Table =
            "[workspace.dependencies]\nglam = \"1\"\nrayon = \"1\"\nown = { path = \"x\" }".parse().unwrap();
        let document = "| dependency | used for |\n|---|---|\n| `glam` | vectors |\n| `serde` | old |\n";
        assert_eq!(compare_dependencies(document, &manifest).len(), 2);
    }
}
