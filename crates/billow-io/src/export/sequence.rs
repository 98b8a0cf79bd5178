//! One file per frame, or per frame and object.

use super::names::Names;
use super::ply::Precision;
use super::{FrameSource, Summary, obj, ply, stl};
use crate::atomic;
use crate::error::{Error, Result};
use crate::frame::{Object, Shape};
use std::path::Path;

/// File format of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceFormat {
    /// Wavefront OBJ: text, positions to the last bit, no attributes.
    Obj,
    /// Binary PLY with attributes.
    Ply(Precision),
    /// Binary STL: triangles only.
    Stl,
}

/// How a sequence is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequenceOptions {
    /// File format.
    pub format: SequenceFormat,
    /// Whether all objects of a frame go into one file, `frame.000012.ply`, instead of `NAME.000012.ply` each.
    pub merged: bool,
    /// Objects to write, by name; empty for all.
    pub objects: Vec<String>,
}

impl SequenceFormat {
    fn ending(self) -> &'static str {
        match self {
            Self::Obj => "obj",
            Self::Ply(_) => "ply",
            Self::Stl => "stl",
        }
    }

    fn bytes(self, objects: &[&Object]) -> Vec<u8> {
        match self {
            Self::Ply(precision) => ply::write(objects, precision),
            Self::Stl => stl::write(objects),
            Self::Obj => {
                let mut text = String::from("# Billow, world coordinates in metres\n");
                obj::write(&mut text, objects, 0);
                text.into_bytes()
            }
        }
    }

    /// Why an object cannot be written, if it cannot.
    fn refuses(self, shape: &Shape) -> Option<&'static str> {
        match (self, shape) {
            (_, Shape::Grid(_)) => Some("mesh files cannot hold grids"),
            (Self::Stl, Shape::Points { .. } | Shape::Lines { .. }) => Some("STL holds triangles only"),
            _ => None,
        }
    }
}

/// Writes every frame of a run into `dir`, which is created. `progress` hears the number of each frame done.
///
/// # Errors
/// If a frame cannot be read or a file cannot be written; files written so far are complete.
pub fn write_sequence(
    source: &impl FrameSource,
    dir: impl AsRef<Path>,
    options: &SequenceOptions,
    mut progress: impl FnMut(u32),
) -> Result<Summary> {
    let dir = dir.as_ref();
    std::fs::create_dir_all(dir).map_err(Error::io("create directory", dir))?;
    let (mut names, mut summary) = (Names::file_names(), Summary::default());
    for index in source.frames() {
        let frame = source.frame(*index)?;
        let mut chosen = Vec::new();
        for object in &frame.objects {
            if !(options.objects.is_empty() || options.objects.contains(&object.name)) {
                continue;
            }
            match options.format.refuses(&object.shape) {
                Some(reason) => summary.skip(&object.name, reason),
                None => chosen.push(object),
            }
        }
        let mut store = |stem: &str, objects: &[&Object]| {
            let path = dir.join(format!("{stem}.{index:06}.{}", options.format.ending()));
            let bytes = options.format.bytes(objects);
            atomic::write(&path, &bytes)?;
            summary.bytes += bytes.len() as u64;
            summary.files.push(path);
            Ok(())
        };
        if options.merged {
            store("frame", &chosen)?;
        } else {
            for object in chosen {
                store(names.get(&object.name), &[object])?;
            }
        }
        summary.frames += 1;
        progress(*index);
    }
    Ok(summary)
}
