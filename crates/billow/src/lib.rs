//! Billow: physics-based animation of cloth, thin shells, soft solids, rigid bodies, smoke and water that meet each other
//! without leaks or intersections.
//!
//! This crate gathers the parts; a program depends on it alone.
//!
//! | module | what |
//! | --- | --- |
//! | [`num`] | vectors, small matrices, certified roots, sparse solves, deterministic parallel loops |
//! | [`geom`] | meshes, generators, hierarchies, continuous collision without false negatives, exact audit |
//! | [`levelset`] | signed distances: analytic, dense, octree and sparse |
//! | [`elastic`], [`contact`], [`cloth`] | force laws, the collision pipeline, the cloth solver |
//! | [`meshing`] | tetrahedral and surface meshes from level sets |
//! | [`io`] | frames, the crash-safe cache, mesh formats, USD |
//! | [`render`] | pictures of cached frames |
//! | [`scene`] | scene files, the driver, checks, the gallery |
//!
//! ```
//! use billow::scene::{Loader, check, driver};
//! use std::sync::atomic::AtomicBool;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let out = folder.path().join("tumble");
//! let scene = Loader::gallery("tumble").set(["simulation.frames=3".to_string()]).load()?;
//! let report = driver::run(
//!     &scene,
//!     &driver::RunOptions {
//!         out: out.clone(),
//!         first: 0,
//!         frames: None,
//!         threads: 0,
//!         overwrite: false,
//!         progress: &driver::Silent,
//!         cancel: &AtomicBool::new(false),
//!     },
//! )?;
//! assert!(report.finished());
//! assert!(check::check_run(&out, 0, &driver::Silent)?.passed());
//! # Ok(())
//! # }
//! ```

pub use billow_cloth as cloth;
pub use billow_contact as contact;
pub use billow_elastic as elastic;
pub use billow_geom as geom;
pub use billow_io as io;
pub use billow_levelset as levelset;
pub use billow_meshing as meshing;
pub use billow_num as num;
pub use billow_render as render;
pub use billow_rigid as rigid;
pub use billow_scene as scene;
