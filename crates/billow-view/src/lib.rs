//! The viewer of Billow: a page with timeline, orbit camera and plots, served from the program itself.
//!
//! [`Server`] shows a cached run, also while it is being written. The page is plain ES modules and WebGL2, embedded in
//! the program; it loads nothing from elsewhere. Only programs on the same machine reach it unless it is bound
//! elsewhere on purpose, and only with the random token in its address.
//!
//! ```
//! use billow_io::cache::{ManifestHeader, Status, Writer};
//! use billow_io::{Frame, Object, Shape};
//! use billow_num::{Pose, Vec3};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let dir = folder.path().join("run");
//! let shape = Shape::Triangles {
//!     positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y].into(),
//!     triangles: vec![[0, 1, 2]].into(),
//! };
//! let object = Object { name: "sheet".into(), pose: Pose::IDENTITY, shape, attributes: Vec::new() };
//! let mut run = Writer::create(&dir, &ManifestHeader::default())?;
//! run.write_frame(&Frame { objects: vec![object], ..Frame::default() })?;
//! run.finish(Status::Finished, None)?;
//!
//! let server = billow_view::Server::open(&dir, &billow_view::Options::default())?;
//! assert!(server.url().starts_with("http://127.0.0.1:"));
//! # Ok(())
//! # }
//! ```
//!
//! | module | |
//! | --- | --- |
//! | `server`, `connections`, `http` | listening, limits, requests and answers |
//! | `access`, `routes` | token and host check, and the addresses that exist |
//! | `source`, `index`, `lru` | the run, new frames, statistics over time, what is kept in memory |
//! | `wire` | the binary form of frames and fields, described in `docs/viewer.md` |
//! | `assets` | the page |
//!
//! Limits: one run per server; a frame's message below 2 GiB; grids are thinned out to 256 nodes per axis; values of
//! elements are shown as means at their vertices.

mod access;
mod assets;
mod connections;
mod error;
mod http;
mod index;
mod lru;
mod routes;
mod server;
mod source;
mod wire;

pub use error::ViewError;
pub use server::{Options, Server};
