//! `billow gallery render`: every scene simulated, pictured and listed on one page, and all of them on one sheet.
//!
//! Pictures are kept with the sources, so their files are made to fit: a sheet's images shrink until it does.

use super::interrupt;
use super::render::{Shots, spread};
use crate::failure::Failure;
use crate::output::{Output, duration};
use crate::progress::Bar;
use billow::io::cache::Reader;
use billow::render::{Settings, Sheet, develop, read_png};
use billow::scene::Loader;
use billow::scene::driver::{self, RunOptions};
use billow::scene::gallery::{self, GalleryScene};
use serde_json::json;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Frames on a scene's sheet.
const COLUMNS: u32 = 3;
const ROWS: u32 = 2;
/// Largest size of one of them [pixels].
const SIZE: [u32; 2] = [320, 180];
/// Most scenes side by side on the sheet of all of them.
const SCENES_IN_A_ROW: u32 = 6;
/// Name of that sheet.
const OVERVIEW: &str = "gallery.png";
/// Largest picture, and what all scenes' pictures may take together [bytes].
const LARGEST_PICTURE: usize = 300_000;
const ALL_PICTURES: usize = 7_200_000;

/// What the page is made from.
pub(super) struct Page<'a> {
    pub(super) file: &'a Path,
    pub(super) preview: bool,
    pub(super) runs: Option<&'a Path>,
}

/// Simulates and pictures the scenes, and writes the page of all scenes that have a picture.
pub(super) fn make(page: &Page<'_>, scenes: &[GalleryScene], output: Output) -> Result<(), Failure> {
    let folder = page.file.parent().unwrap_or(Path::new("")).join("pictures");
    let temporary = std::env::temp_dir().join(format!("billow-gallery-{}", std::process::id()));
    let runs = page.runs.unwrap_or(&temporary);
    let outcome = scenes.iter().try_for_each(|scene| {
        let picture = folder.join(format!("{}.png", scene.name));
        show(scene, &runs.join(scene.name), &picture, page.preview, output)?;
        output.say(format!("{}: {}", scene.name, picture.display()));
        Ok::<_, Failure>(())
    });
    if page.runs.is_none() {
        // Nothing else can be done about a temporary folder that stays.
        let _ = std::fs::remove_dir_all(&temporary);
    }
    outcome?;
    let entries = entries(&folder)?;
    let overview = folder.join(OVERVIEW);
    show_all(&entries, &overview)?;
    output.say(format!("all of them: {}", overview.display()));
    std::fs::write(page.file, text(&entries))
        .map_err(|e| Failure::System(format!("cannot write {}: {e}", page.file.display())))?;
    output.say(format!("wrote {}", page.file.display()));
    output.result(&json!({
        "ok": true,
        "page": page.file.display().to_string(),
        "overview": overview.display().to_string(),
        "scenes": scenes.iter().map(|s| s.name).collect::<Vec<_>>(),
        "on_the_page": entries.iter().map(|e| e.scene.name).collect::<Vec<_>>(),
    }));
    Ok(())
}

/// A scene of the page.
struct Entry {
    scene: GalleryScene,
    picture: PathBuf,
    frames: u32,
    fps: f64,
}

/// All scenes that have a picture.
fn entries(folder: &Path) -> Result<Vec<Entry>, Failure> {
    let pictured = gallery::list().into_iter().map(|scene| {
        let picture = folder.join(format!("{}.png", scene.name));
        (scene, picture)
    });
    pictured
        .filter(|(_, picture)| picture.exists())
        .map(|(scene, picture)| {
            let loaded = Loader::gallery(scene.name).load()?;
            let (frames, fps) = (loaded.timing().frames, loaded.timing().fps);
            Ok(Entry { scene, picture, frames, fps })
        })
        .collect()
}

/// Makes the picture of a scene.
fn show(
    scene: &GalleryScene,
    run: &Path,
    picture: &Path,
    preview: bool,
    output: Output,
) -> Result<(), Failure> {
    let loaded = Loader::gallery(scene.name).load()?;
    simulate(&loaded, run, output)?;
    let reader = Reader::open(run)?;
    let base = if preview { Settings::preview() } else { Settings { samples: 64, ..Settings::default() } };
    let shots = Shots {
        frames: spread(reader.frames(), COLUMNS, ROWS),
        settings: Settings { width: SIZE[0], height: SIZE[1], ..base },
        // A run made earlier is shown as the scene is lit and seen now.
        look: Some(loaded.look().clone()),
    };
    let mut sheet = Sheet::new(COLUMNS, ROWS, SIZE[0], SIZE[1]);
    shots.take(&mut shots.studio(reader)?, &Bar::new(scene.name, output.quiet), |index, taken| {
        sheet.add(develop(taken), &index.to_string());
        Ok(())
    })?;
    let share = ALL_PICTURES / gallery::list().len().max(1);
    Ok(sheet.write_png_within(picture, share.min(LARGEST_PICTURE))?)
}

/// One sheet with the name of every scene on the frame of its picture, after the first, that shows most.
fn show_all(entries: &[Entry], file: &Path) -> Result<(), Failure> {
    let count = entries.len() as u32;
    let columns = SCENES_IN_A_ROW.min(count);
    let mut sheet = Sheet::new(columns, count.div_ceil(columns.max(1)), SIZE[0], SIZE[1]);
    for entry in entries {
        let frames = Sheet::cells(&read_png(&entry.picture)?, COLUMNS, ROWS);
        let begun = if frames.len() > 1 { &frames[1..] } else { &frames[..] };
        let fullest = begun.iter().max_by(|a, b| a.detail().total_cmp(&b.detail()));
        if let Some(image) = fullest {
            sheet.add(image.clone(), entry.scene.name);
        }
    }
    Ok(sheet.write_png_within(file, LARGEST_PICTURE)?)
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
            title = entry.scene.title,
            name = entry.scene.name,
            description = entry.scene.description.trim(),
            frames = entry.frames,
            fps = entry.fps,
        );
    }
    page
}
