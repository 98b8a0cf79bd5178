//! `billow gallery`.

use super::gallery_page::{self, Page};
use crate::args::{GalleryAction, GalleryArgs};
use crate::failure::Failure;
use crate::output::{Output, print_line};
use billow::scene::gallery::{self, GalleryScene};
use serde_json::json;
use std::path::Path;

pub(crate) fn gallery(args: &GalleryArgs, output: Output) -> Result<(), Failure> {
    match &args.action {
        None | Some(GalleryAction::List) => list(output),
        Some(GalleryAction::Show { name }) => print_line(find(name)?.text().trim_end()),
        Some(GalleryAction::Render { names, page, preview, runs }) => {
            let scenes = if names.is_empty() {
                gallery::list()
            } else {
                names.iter().map(|n| find(n)).collect::<Result<_, _>>()?
            };
            gallery_page::make(
                &Page { file: page, preview: *preview, runs: runs.as_deref() },
                &scenes,
                output,
            )?;
        }
        Some(GalleryAction::Copy { name, folder }) => {
            copy(&find(name)?, folder.as_deref().unwrap_or(Path::new(".")), output)?;
        }
    }
    Ok(())
}

fn list(output: Output) {
    let scenes = gallery::list();
    let width = scenes.iter().map(|s| s.name.len()).max().unwrap_or(0);
    for scene in &scenes {
        output.say(format!("{:width$}  {}", scene.name, scene.title));
    }
    output.say("\nrun one with: billow run NAME");
    let entries: Vec<_> = scenes
        .iter()
        .map(|s| json!({"name": s.name, "title": s.title, "description": s.description}))
        .collect();
    output.result(&json!({"ok": true, "scenes": entries}));
}

fn find(name: &str) -> Result<GalleryScene, Failure> {
    gallery::get(name).map_err(|nearest| {
        let hint = nearest.map(|n| format!("did you mean `{n}`? ")).unwrap_or_default();
        Failure::bad_input(
            format!("there is no gallery scene `{name}`"),
            format!("{hint}`billow gallery` lists the built-in scenes"),
        )
    })
}

fn copy(scene: &GalleryScene, folder: &Path, output: Output) -> Result<(), Failure> {
    let written = scene.copy_to(folder).map_err(|error| {
        Failure::System(format!("cannot copy `{}` to {}: {error}", scene.name, folder.display()))
    })?;
    for path in &written {
        output.say(format!("wrote {}", path.display()));
    }
    if let Some(first) = written.first() {
        output.say(format!("edit it and run: billow run {}", first.display()));
    }
    let paths: Vec<_> = written.iter().map(|p| p.display().to_string()).collect();
    output.result(&json!({"ok": true, "written": paths}));
    Ok(())
}
