//! `cargo xtask page`: the viewer's page passes TypeScript's strict checks.
//!
//! The checker comes from npm into `target/page`, so that nothing third-party is committed. Without npm there is
//! nothing to check with, and the command says so and fails.

use std::path::Path;
use std::process::Command;

/// The checker; a fixed version, so that the verdict does not change overnight.
const CHECKER: &str = "typescript@7.0.2";

/// What TypeScript finds wrong with the page.
pub(crate) fn problems(root: &Path) -> Result<Vec<String>, String> {
    let tools = root.join("target/page");
    let checker = tools.join("node_modules/.bin/tsc");
    let stamp = tools.join("installed");
    if std::fs::read_to_string(&stamp).ok().as_deref() != Some(CHECKER) || !checker.exists() {
        std::fs::create_dir_all(&tools).map_err(|e| format!("cannot make {}: {e}", tools.display()))?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--no-save", "--loglevel=error", "--prefix"]);
        run(npm.arg(&tools).arg(CHECKER), "npm")?;
        std::fs::write(&stamp, CHECKER).map_err(|e| format!("cannot write {}: {e}", stamp.display()))?;
    }
    let mut check = Command::new(&checker);
    match run(check.arg("--project").arg(root.join("crates/billow-view/page")), "tsc") {
        Ok(()) => Ok(Vec::new()),
        Err(found) => Ok(found.lines().map(String::from).collect()),
    }
}

/// Runs a command; its output is the error if it fails.
fn run(command: &mut Command, name: &str) -> Result<(), String> {
    let output = command.output().map_err(|e| format!("cannot run {name}: {e}; install Node.js and npm"))?;
    if output.status.success() {
        return Ok(());
    }
    let text = [output.stdout, output.stderr].concat();
    Err(String::from_utf8_lossy(&text).trim().to_string())
}
