//! Frames, the frame cache, and the file formats Billow reads and writes.
//!
//! ```
//! use billow_io::{Frame, Object, Shape, cache};
//! # fn main() -> billow_io::Result<()> {
//! # let dir = tempfile::tempdir().expect("a temporary directory");
//! # let dir = dir.path().join("run");
//! let mut run = cache::Writer::create(&dir, &cache::ManifestHeader { last_frame: 1, ..Default::default() })?;
//! for index in 0..2 {
//!     let positions = vec![billow_num::Vec3::new(0.0, 0.0, f64::from(index))];
//!     let drop = Object::new("drop", Shape::Points { positions: positions.into() });
//!     run.write_frame(&Frame { index, objects: vec![drop], ..Frame::default() })?;
//! }
//! run.finish(cache::Status::Finished, None)?;
//!
//! let run = cache::Reader::open(&dir)?;
//! assert_eq!(run.frames(), [0, 1]);
//! assert_eq!(run.read(1)?.objects[0].shape.positions()[0].z, 1.0);
//! # Ok(())
//! # }
//! ```
//!
//! | module | what |
//! | --- | --- |
//! | [`frame`] | [`Frame`]: named meshes, points, lines and grids with attributes, independent of any solver |
//! | [`cache`] | a run as a directory: crash-safe, checksummed, compressed, readable while it is written |
//! | [`formats`] | OBJ, PLY and STL in, with messages that name line and cause |
//! | [`export`] | OBJ, PLY and STL sequences and animated USD out |
//! | [`atomic`] | files that appear whole or not at all |
//! | [`half`] | half-precision numbers |
//!
//! Every format is described in `docs/formats.md`. Limits: at most 2³² vertices per object; mesh files and single
//! frames are held in memory whole; the lock against two writers relies on the file system honouring advisory locks.

pub mod atomic;
pub mod cache;
mod error;
pub mod export;
pub mod formats;
pub mod frame;
pub mod half;

pub use error::{Error, Result};
pub use formats::read_mesh;
pub use frame::{Attribute, Domain, Frame, Grid, Object, Shape, Values};
