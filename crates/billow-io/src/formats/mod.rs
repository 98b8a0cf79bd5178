//! Mesh files in: OBJ, PLY and STL. Volumes in and out: VDB.
//!
//! Readers take bytes and a name for messages, so they serve files, archives and tests alike. Memory stays
//! proportional to the bytes given: no count in a header is believed before the bytes behind it are there.

mod mesh;
pub mod obj;
pub mod ply;
mod source;
pub mod stl;
mod triangulate;
pub mod vdb;

pub use mesh::{ImportedMesh, Part};
pub use source::{MeshError, Position};

use crate::error::{Error, Result};
use source::{Source, quote};
use std::path::Path;

/// Reads an OBJ, PLY or STL file. The ending of the name decides; without a known one, the contents.
///
/// # Errors
/// If the file cannot be read, with the line or byte and what was expected there.
pub fn read_mesh(path: impl AsRef<Path>) -> Result<ImportedMesh> {
    let path = path.as_ref();
    let bytes = std::fs::read(path).map_err(Error::io("read", path))?;
    parse_mesh(path, &bytes)
}

/// Reads the bytes of an OBJ, PLY or STL file; see [`read_mesh`].
///
/// # Errors
/// As [`read_mesh`].
pub fn parse_mesh(path: &Path, bytes: &[u8]) -> Result<ImportedMesh> {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
    match ending.as_str() {
        "obj" => obj::parse(path, bytes),
        "ply" => ply::parse(path, bytes),
        "stl" => stl::parse(path, bytes),
        _ if ply::recognises(bytes) => ply::parse(path, bytes),
        _ if stl::recognises(bytes) => stl::parse(path, bytes),
        _ => {
            let start = quote(Some(&bytes[..bytes.len().min(20)]));
            let expected = "a mesh file (.obj, .ply or .stl)";
            Err(Source { path }.error(Position::File, expected, format!("a file that starts with {start}")))
        }
    }
}
