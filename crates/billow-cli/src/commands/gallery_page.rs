//! `billow gallery render`: every scene simulated, pictured and listed on one page.

use super::interrupt;
use super::render::Plan;
use crate::failure::Failure;
use crate::output::{Output, duration};
use crate::progress::Bar;
use billow::io::cache::Reader;
use billow::render::Settings;
use billow::scene::Loader;
use billow::scene::driver::{self, RunOptions};
use billow::scene::gallery::GalleryScene;
use serde_json::json;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Frames on a scene's sheet.
const COLUMNS: u32 = 3;
const ROWS: u32 = 2;
/// Size of one of them [pixels]: a sheet then stays well below 300 kB.
const SIZE: [u32; 2] = [320, 180];

/// What the page is made from.
pub(super) struct Page<'a> {
    pub(super) file: &'a Path,
    pub(super) preview: bool,
    pub(super) runs: Option<&'a Path>,
}

/// Simulates the scenes and writes the page with its pictures.
pub(super) fn make(page: &Page<'_>, scenes: &[GalleryScene], output: Output) -> Result<(), Failure> {
    let folder = page.file.parent().unwrap_or(Path::new("")).join("pictures");
    let temporary = std::env::temp_dir().join(format!("billow-gallery-{}", std::process::id()));
    let runs = page.runs.unwrap_or(&temporary);
    let outcome = scenes.iter().try_fold(Vec::new(), |mut entries, scene| {
        let picture = folder.join(format!("{}.png", scene.name));
        let entry = show(scene, &runs.join(scene.name), &picture, page.preview, output)?;
        output.say(format!("{}: {}", scene.name, picture.display()));
        entries.push(entry);
        Ok::<_, Failure>(entries)
    });
    if page.runs.is_none() {
        // Nothing else can be done about a temporary folder that stays.
        let _ = std::fs::remove_dir_all(&temporary);
    }
    let text = text(&outcome?);
    std::fs::write(page.file, text)
        .map_err(|e| Failure::System(format!("cannot write {}: {e}", page.file.display())))?;
    output.say(format!("wrote {}", page.file.display()));
    output.result(&json!({"ok": true, "page": page.file.display().to_string(), "scenes": scenes.len()}));
    Ok(())
}

/// A scene of the page.
struct Entry {
    name: &'static str,
    title: String,
    description: String,
    frames: u32,
    fps: f64,
}

fn show(
    scene: &GalleryScene,
    run: &Path,
    picture: &Path,
    preview: bool,
    output: Output,
) -> Result<Entry, Failure> {
    let loaded = Loader::gallery(scene.name).load()?;
    simulate(&loaded, run, output)?;
    let reader = Reader::open(run)?;
    let all = reader.frames().to_vec();
    let (frames, fps) = (all.last().copied().unwrap_or(0), reader.manifest().fps);
    let base = if preview { Settings::preview() } else { Settings { samples: 64, ..Settings::default() } };
    let settings = Settings { width: SIZE[0], height: SIZE[1], ..base };
    let plan = Plan::sheet(&all, [COLUMNS, ROWS], settings, picture.to_path_buf());
    plan.carry_out(reader, &Bar::new(scene.name, output.quiet))?;
    Ok(Entry {
        name: scene.name,
        title: scene.title.clone(),
        description: scene.description.clone(),
        frames,
        fps,
    })
}

/// Simulates a scene unless its run is there already.
fn simulate(scene: &billow::scene::Scene, run: &Path, output: Output) -> Result<(), Failure> {
    if run.exists() {
        return Ok(());
    }
    let bar = Bar::new(scene.name(), output.quiet);
    let options = RunOptions {
        out: PathBuf::from(run),
        first: 0,
        frames: None,
        threads: 0,
        overwrite: false,
        progress: &bar,
        cancel: interrupt::flag(),
    };
    let report = driver::run(scene, &options)?;
    if report.cancelled {
        return Err(Failure::Interrupted(format!("{} was interrupted", scene.name())));
    }
    Ok(())
}

fn text(entries: &[Entry]) -> String {
    let mut page = String::from(
        "# Gallery\n\nThe scenes that come with the program. Each picture shows frames of a run with their numbers; \
         this page and\nits pictures are made by `billow gallery render`.\n",
    );
    for entry in entries {
        let seconds = duration(f64::from(entry.frames) / entry.fps);
        // Writing to a string cannot fail.
        let _ = write!(
            page,
            "\n## {title}\n\n![{title}](pictures/{name}.png)\n\n{description}\n\n`billow run {name}`: {frames} frames, \
             {seconds} at {fps} frames per second.\n",
            title = entry.title,
            name = entry.name,
            description = entry.description.trim(),
            frames = entry.frames,
            fps = entry.fps,
        );
    }
    page
}
