//! The frame cache: a run of a simulation as a directory.
//!
//! ```text
//! billow.json               manifest: format, program, title, frame rate and range, up axis, status
//! billow.lock               held by the process that writes
//! scene.toml, scene-1.toml  the scene files of the run
//! report.jsonl              one JSON line per frame or event
//! frames/000012.frame       one file per frame
//! shared/<hash>.array       arrays that frames have in common, stored once under their content hash
//! checkpoint/000012.state   what the solver needs to go on; the last two are kept
//! ```
//! Every binary file carries a checksum and appears whole or not at all; a run opens whatever moment its writer
//! was killed.

mod array;
mod codec;
mod envelope;
#[cfg(test)]
mod faults;
mod layout;
mod lock;
mod manifest;
mod payload;
mod predict;
mod reader;
mod writer;

pub use envelope::FORMAT_VERSION;
pub use manifest::{MANIFEST_FILE, Manifest, ManifestHeader, SceneFile, SceneText, Status, UpAxis};
pub use payload::{frame_from_bytes, frame_to_bytes};
pub use reader::Reader;
pub use writer::{CHECKPOINTS_KEPT, Writer};
