//! The copy of its scene that every run keeps, so that it can be resumed and checked anywhere.
//!
//! Scene files are stored by the cache; meshes and other files they name go to `scene/`. The manifest lists them with
//! the command line's overrides and a fingerprint of everything.

use super::drive::Plan;
use super::report::RunError;
use crate::read::files::Files;
use crate::scene::{Loader, Scene, SceneSources};
use billow_io::cache::{ManifestHeader, Reader, SceneText, UpAxis, Writer};
use billow_render::Look;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Folder of a run for the files that are not scene files.
const FOLDER: &str = "scene";

/// The driver's part of the manifest.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Stored {
    /// Version of the program that began the run.
    version: String,
    /// What the command line changed.
    overrides: Vec<String>,
    /// Files in `scene/`: path as the scene names it, and name in the folder.
    files: Vec<(String, String)>,
    /// Fingerprint of everything the scene was read from, in hexadecimal.
    fingerprint: String,
    /// How the run is shown; the renderer finds it under [`Look::MANIFEST_KEY`].
    #[serde(default)]
    look: Look,
}

/// This program's version.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The manifest of a new run.
pub(crate) fn header(scene: &Scene, plan: &Plan) -> ManifestHeader {
    let sources = scene.sources();
    let stored = Stored {
        version: VERSION.to_owned(),
        overrides: sources.overrides.clone(),
        files: others(sources).into_iter().map(|(path, name, _)| (text(path), name)).collect(),
        fingerprint: format!("{:016x}", sources.fingerprint()),
        look: scene.look().clone(),
    };
    let mut texts: Vec<SceneText> = Vec::new();
    for (path, bytes) in sources.files.all().iter().filter(|(path, _)| is_scene(path, sources)) {
        let entry = SceneText { name: text(path), text: String::from_utf8_lossy(bytes).into_owned() };
        let place = if *path == sources.root { 0 } else { texts.len() };
        texts.insert(place, entry);
    }
    ManifestHeader {
        title: scene.title().to_owned(),
        fps: scene.fps(),
        first_frame: plan.first,
        last_frame: plan.last,
        up_axis: match scene.timing().up {
            crate::tables::Up::Y => UpAxis::Y,
            crate::tables::Up::Z => UpAxis::Z,
        },
        scene: texts,
        driver: serde_json::to_value(&stored).unwrap_or_default(),
        ..ManifestHeader::default()
    }
}

/// Stores the files that the manifest only names.
pub(crate) fn store_files(scene: &Scene, writer: &Writer) -> Result<(), RunError> {
    let folder = writer.dir().join(FOLDER);
    let others = others(scene.sources());
    let failed = |source| billow_io::Error::Io { action: "prepare", path: folder.clone(), source };
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(failed)?;
    }
    if others.is_empty() {
        return Ok(());
    }
    std::fs::create_dir_all(&folder).map_err(failed)?;
    for (_, name, bytes) in others {
        billow_io::atomic::write(&folder.join(name), bytes)?;
    }
    Ok(())
}

/// The scene as stored with a run.
pub fn stored_scene(reader: &Reader) -> Result<Scene, RunError> {
    let dir = reader.dir();
    let refuse = |reason: String| RunError::Refused {
        dir: dir.to_owned(),
        reason,
        help: "run the scene again into another directory".into(),
    };
    let stored = stored(reader)?;
    let mut files = BTreeMap::new();
    let mut root = None;
    for scene in reader.scene()? {
        let path = PathBuf::from(scene.name);
        root.get_or_insert_with(|| path.clone());
        files.insert(path, scene.text.into_bytes());
    }
    for (path, name) in &stored.files {
        let file = dir.join(FOLDER).join(Path::new(name).file_name().unwrap_or_default());
        let bytes =
            std::fs::read(&file).map_err(|e| refuse(format!("its copy of `{path}` cannot be read: {e}")))?;
        files.insert(PathBuf::from(path), bytes);
    }
    let root = root.ok_or_else(|| refuse("it holds no scene".into()))?;
    let sources = SceneSources { root, files: Files::fixed(files), overrides: stored.overrides };
    if format!("{:016x}", sources.fingerprint()) != stored.fingerprint {
        return Err(refuse("its copy of the scene was changed after the run began".into()));
    }
    Loader::stored(sources).load().map_err(RunError::Scene)
}

/// The version of the program that began the run.
pub(crate) fn version_of(reader: &Reader) -> Result<String, RunError> {
    stored(reader).map(|stored| stored.version)
}

fn stored(reader: &Reader) -> Result<Stored, RunError> {
    serde_json::from_value(reader.manifest().driver.clone()).map_err(|e| RunError::Refused {
        dir: reader.dir().to_owned(),
        reason: format!("its manifest does not describe a scene ({e})"),
        help: "only runs made from scene files can be resumed or checked against their scene".into(),
    })
}

/// Whether a file is stored as text beside the manifest.
fn is_scene(path: &Path, sources: &SceneSources) -> bool {
    path == sources.root || path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"))
}

/// Files that are not scene files, each with a name for the folder.
fn others(sources: &SceneSources) -> Vec<(&Path, String, &[u8])> {
    let others = sources.files.all().iter().filter(|(path, _)| !is_scene(path, sources));
    others
        .enumerate()
        .map(|(k, (path, bytes))| {
            let name = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
            (path.as_path(), format!("{k:03}-{name}"), bytes.as_slice())
        })
        .collect()
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
