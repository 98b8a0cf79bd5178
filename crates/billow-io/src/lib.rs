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

pub mod atomic;
pub mod cache;
mod error;
pub mod export;
pub mod formats;
pub mod frame;

pub use error::{Error, Result};
pub use formats::read_mesh;
pub use frame::{Attribute, Domain, Frame, Grid, Object, Shape, Values};
