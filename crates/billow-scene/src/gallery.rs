//! The scenes that come with the program.

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

impl GalleryScene {
    /// Text of the scene file.
    pub fn text(&self) -> &'static str {
        self.files.first().map_or("", |f| f.1)
    }

    /// Writes the scene and everything it needs into `dir`; refuses to replace files. Returns what it wrote.
    pub fn copy_to(&self, dir: &Path) -> std::io::Result<Vec<PathBuf>> {
        let _ = dir;
        Ok(Vec::new())
    }
}

/// All scenes, by name.
pub fn list() -> Vec<GalleryScene> {
    Vec::new()
}

/// The scene called `name`; if there is none, the nearest name that exists.
pub fn get(name: &str) -> Result<GalleryScene, Option<&'static str>> {
    let _ = name;
    Err(None)
}
