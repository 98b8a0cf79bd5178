//! The scenes that come with the program.

use crate::read::files::Files;
use crate::read::log::nearest;
use crate::{Loader, Problem, Problems};
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

/// A scene built into the program.
#[derive(Clone, Debug)]
pub struct GalleryScene {
    /// Name to run it by.
    pub name: &'static str,
    /// Title, from the scene file.
    pub title: String,
    /// Description, from the scene file.
    pub description: String,
    /// The files it consists of, relative path and text; the first is the scene file.
    pub files: &'static [(&'static str, &'static str)],
}

/// Names each scene with the files it consists of.
macro_rules! scenes {
    ($($name:literal: $($file:literal),+;)*) => {
        &[$( ($name, &[$( ($file, include_str!(concat!("../../../scenes/", $file))) ),+]) ),*]
    };
}

/// The files of one scene, by relative path.
type SceneFiles = &'static [(&'static str, &'static str)];

/// All scenes, by name.
const SCENES: &[(&str, SceneFiles)] = scenes! {
    "billiards": "billiards.toml", "yard.toml";
    "bones": "bones.toml", "yard.toml";
    "buddha-soft": "buddha-soft.toml", "buddha.toml", "studio.toml";
    "buddha-stiff": "buddha-stiff.toml", "buddha.toml", "studio.toml";
    "clockwork": "clockwork.toml", "stage.toml";
    "cups": "cups.toml", "yard.toml";
    "curtain": "curtain.toml", "studio.toml";
    "dominoes": "dominoes.toml", "yard.toml";
    "drape": "drape.toml", "studio.toml";
    "elevator": "elevator.toml", "yard.toml";
    "flag": "flag.toml", "studio.toml";
    "incline": "incline.toml", "yard.toml";
    "juggle": "juggle.toml", "stage.toml";
    "layers": "layers.toml", "studio.toml";
    "mesh-figurine": "mesh-figurine.toml", "meshes.toml";
    "mesh-sphere": "mesh-sphere.toml", "meshes.toml";
    "mesh-torus": "mesh-torus.toml", "meshes.toml";
    "mesh-trim": "mesh-trim.toml", "meshes.toml";
    "orrery": "orrery.toml", "stage.toml";
    "pile": "pile.toml", "studio.toml";
    "rings": "rings.toml", "yard.toml";
    "rings-500": "rings-500.toml", "rings.toml", "yard.toml";
    "robe": "robe.toml", "studio.toml";
    "rolling": "rolling.toml", "yard.toml";
    "seesaw": "seesaw.toml", "yard.toml";
    "silo": "silo.toml", "yard.toml";
    "stack-flip": "stack-flip.toml", "yard.toml";
    "tablecloth": "tablecloth.toml", "studio.toml";
    "tumble": "tumble.toml", "stage.toml";
    "twist": "twist.toml", "drape.toml", "studio.toml";
    "wall": "wall.toml", "yard.toml";
};

impl GalleryScene {
    /// Text of the scene file.
    pub fn text(&self) -> &'static str {
        self.files.first().map_or("", |f| f.1)
    }

    /// Writes the scene and everything it needs into `dir`; refuses to replace files. Returns what it wrote.
    pub fn copy_to(&self, dir: &Path) -> std::io::Result<Vec<PathBuf>> {
        let targets: Vec<(PathBuf, &str)> = self.files.iter().map(|f| (dir.join(f.0), f.1)).collect();
        // Files that are already there and the same may stay: scenes share their stage.
        for (path, text) in &targets {
            if path.exists() && std::fs::read(path)? != text.as_bytes() {
                let message = format!("{} exists and is different", path.display());
                return Err(Error::new(ErrorKind::AlreadyExists, message));
            }
        }
        for (path, text) in &targets {
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(path, text)?;
        }
        Ok(targets.into_iter().map(|t| t.0).collect())
    }
}

/// All scenes, by name.
pub fn list() -> Vec<GalleryScene> {
    SCENES.iter().filter_map(|(name, _)| get(name).ok()).collect()
}

/// The scene called `name`; if there is none, the nearest name that exists.
pub fn get(name: &str) -> Result<GalleryScene, Option<&'static str>> {
    let Some((name, files)) = SCENES.iter().find(|s| s.0 == name) else {
        return Err(nearest(name, SCENES.iter().map(|s| s.0)));
    };
    let (title, description) = Loader::gallery(*name).titles();
    Ok(GalleryScene { name, title, description, files })
}

/// The files of a gallery scene, or a problem that names the nearest one.
pub(crate) fn files(name: &str) -> Result<(PathBuf, Files), Problems> {
    let Some((_, files)) = SCENES.iter().find(|s| s.0 == name) else {
        let message = format!("there is no gallery scene called `{name}`");
        let mut problem = Problem::new(name, "".into(), 0..0, message);
        problem.help = nearest(name, SCENES.iter().map(|s| s.0)).map(|n| format!("did you mean `{n}`?"));
        return Err(Problems(vec![problem]));
    };
    let root = PathBuf::from(files[0].0);
    Ok((
        root,
        Files::fixed(files.iter().map(|(path, text)| (path.into(), text.as_bytes().to_vec())).collect()),
    ))
}
