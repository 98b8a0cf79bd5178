//! Where the bytes of a scene come from: the disk, the program itself, or the copy in a run directory.
//!
//! Whatever is read is remembered, so that a run can keep a complete copy of its scene.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Largest file a scene may be read from [bytes].
const LARGEST_FILE: u64 = 4 << 30;

/// The files a scene is made of, by normalised path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Files {
    known: BTreeMap<PathBuf, Vec<u8>>,
    /// Whether unknown paths are looked for on disk.
    disk: bool,
}

impl Files {
    /// Files read from disk as they are asked for.
    pub(crate) fn on_disk() -> Self {
        Self { known: BTreeMap::new(), disk: true }
    }

    /// A closed set of files.
    pub(crate) fn fixed(known: BTreeMap<PathBuf, Vec<u8>>) -> Self {
        Self { known, disk: false }
    }

    /// The bytes of `path`, which must be normalised.
    pub(crate) fn read(&mut self, path: &Path) -> io::Result<&[u8]> {
        if !self.known.contains_key(path) {
            if !self.disk {
                return Err(io::Error::new(io::ErrorKind::NotFound, "it is not part of this scene"));
            }
            let meta = std::fs::metadata(path)?;
            if !meta.is_file() {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
            }
            if meta.len() > LARGEST_FILE {
                let message = format!("it has {} bytes, more than the {LARGEST_FILE} allowed", meta.len());
                return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
            }
            self.known.insert(path.to_owned(), std::fs::read(path)?);
        }
        Ok(&self.known[path])
    }

    /// Everything read so far.
    pub(crate) fn all(&self) -> &BTreeMap<PathBuf, Vec<u8>> {
        &self.known
    }
}

/// `text` as seen from the folder of `from`, without `.` and inner `..`.
pub(crate) fn relative_to(from: &Path, text: &str) -> PathBuf {
    normalise(&from.parent().unwrap_or(Path::new("")).join(text))
}

/// Removes `.` and resolves `..` by words alone.
pub(crate) fn normalise(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(out.components().next_back(), Some(Component::Normal(_))) => {
                out.pop();
            }
            _ => out.push(part),
        }
    }
    out
}

/// Why a file could not be read, in words.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".into(),
        io::ErrorKind::PermissionDenied => "reading it is not permitted".into(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_normalised_by_words() {
        assert_eq!(relative_to(Path::new("a/b.toml"), "./c/../d.obj"), Path::new("a/d.obj"));
        assert_eq!(relative_to(Path::new("b.toml"), "../d.obj"), Path::new("../d.obj"));
        assert_eq!(relative_to(Path::new("a/b.toml"), "/x/./y"), Path::new("/x/y"));
    }
}
