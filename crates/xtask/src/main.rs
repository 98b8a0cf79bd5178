//! Project automation, run as `cargo xtask COMMAND`.
//!
//! Checks that the documents tell the truth about the code (`arch`, `coverage`, `tidy`) and benchmarks against
//! peers (`bench`). Everything here is for developers; nothing is shipped.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod arch;
mod bench_ccd;
mod bench_cloth;
mod bench_levelset;
mod bench_mesh;
mod bench_render;
mod bench_rigid;
mod coverage;
mod figure;
mod markdown;
mod page;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask COMMAND

  arch        compare the crate arrows and dependencies with ARCHITECTURE.md
  coverage    check that docs/coverage.md names modules, tests and scenes that exist
  tidy        look for unfinished markers, overlong files and links that lead nowhere
  check       all of the above
  bench ccd   time collision detection beside PyPI's ipctk, if that is installed
  bench cloth [NODES [FRAMES [SCENE...]]] | scaling [NODES]
              time cloth beside Blender's, if python3 has PyPI's bpy; or ours alone at several resolutions
  bench render [PYTHON]
              time the path tracer beside Blender's Cycles; PYTHON is an interpreter that has PyPI's bpy
  bench rigid [rings|bones COUNT SECONDS]...
              rings on poles, time and overlap, beside Rapier on exact convex pieces
  figure incline
              draw the ways of blocks on a slope beside theory into docs/pictures
  page        check the viewer's page with TypeScript (needs npm)
  bench levelset [MESH [N [PEER|scaling]]]
              time level sets; without a mesh, fast marching
  bench mesh [MESH [FRACTION...]]
              time tetrahedral meshes with surface edges of 1/FRACTION of the diagonal
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let root = workspace_root();
    let outcome = match words.as_slice() {
        ["arch"] => report("arch", arch::problems(&root)),
        ["coverage"] => report("coverage", coverage::problems(&root)),
        ["tidy"] => report("tidy", tidy::problems(&root)),
        ["page"] => report("page", page::problems(&root)),
        ["check"] => [
            report("arch", arch::problems(&root)),
            report("coverage", coverage::problems(&root)),
            report("tidy", tidy::problems(&root)),
        ]
        .into_iter()
        .all(|ok| ok),
        ["figure", "incline"] => finished(figure::incline_curves(&root)),
        ["bench", ..] if cfg!(debug_assertions) => again_in_release(&args),
        ["bench", "ccd", ..] => finished(bench_ccd::run(&args[2..])),
        ["bench", "cloth", rest @ ..] => finished(bench_cloth::run(rest)),
        ["bench", "levelset", rest @ ..] => finished(bench_levelset::run(rest)),
        ["bench", "rigid", rest @ ..] => finished(bench_rigid::run(rest)),
        ["bench", "mesh", rest @ ..] => finished(bench_mesh::run(rest)),
        ["bench", "render", rest @ ..] => finished(bench_render::run(rest.first().unwrap_or(&"python3"))),
        _ => {
            eprint!("{USAGE}");
            false
        }
    };
    if outcome { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Benchmarks mean nothing with debug assertions: builds this program for release and runs it there.
fn again_in_release(args: &[String]) -> bool {
    let mut cargo = std::process::Command::new(env!("CARGO"));
    cargo.args(["run", "--quiet", "--release", "--package", "xtask"]);
    if args.get(1).is_some_and(|what| what == "rigid") {
        cargo.args(["--features", "rapier"]);
    }
    cargo.arg("--").args(args);
    match cargo.status() {
        Ok(status) => status.success(),
        Err(error) => finished(Err(format!("cannot run cargo: {error}"))),
    }
}

/// Prints why something failed; true when it did not.
fn finished(result: Result<(), String>) -> bool {
    result.inspect_err(|error| eprintln!("{error}")).is_ok()
}

/// The folder of the workspace manifest, known since this package was compiled inside it.
fn workspace_root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().nth(2).unwrap_or(package).to_path_buf()
}

/// Prints what a check found; true when it found nothing wrong.
fn report(check: &str, found: Result<Vec<String>, String>) -> bool {
    let problems = found.unwrap_or_else(|error| vec![error]);
    for problem in &problems {
        eprintln!("{check}: {problem}");
    }
    println!(
        "{check}: {}",
        if problems.is_empty() { "ok".into() } else { format!("{} problems", problems.len()) }
    );
    problems.is_empty()
}

/// Reads a text file of the workspace, naming it when that fails.
fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// The folders below `crates/`, sorted by name.
fn crate_folders(root: &Path) -> Result<Vec<PathBuf>, String> {
    let folder = root.join("crates");
    let entries = std::fs::read_dir(&folder).map_err(|e| format!("cannot list {}: {e}", folder.display()))?;
    let mut folders: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|p| p.join("Cargo.toml").exists())
        .collect();
    folders.sort();
    Ok(folders)
}

/// All files below `folder` with the given ending, sorted; build output and hidden folders are left out.
fn files_below(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![folder.to_path_buf()];
    while let Some(next) = pending.pop() {
        let Ok(entries) = std::fs::read_dir(&next) else { continue };
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                pending.push(path);
            } else if name.ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
