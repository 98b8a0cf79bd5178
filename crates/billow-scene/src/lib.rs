//! Scene files, validation, the driver loop, checkpoints, checks and the gallery.
//!
//! A scene file becomes a validated [`Scene`] or a list of [`Problems`], each with its place; [`driver::run`] computes
//! its frames into a run directory that survives anything; [`check::check_run`] judges the result exactly.
//!
//! ```
//! use billow_scene::driver::{RunOptions, Silent, run};
//! use billow_scene::{Loader, check::check_run};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! let scene = Loader::text("ball.toml", r#"
//!     [mesh.ball]
//!     shape = "icosphere"
//!     [body.ball]
//!     mesh = "ball"
//!     motion = "free"
//!     velocity = [1, 0, 5]
//! "#).set(["simulation.frames=3".into()]).load()?;
//! let cancel = std::sync::atomic::AtomicBool::new(false);
//! let out = dir.path().join("ball");
//! run(&scene, &RunOptions { out: out.clone(), first: 0, frames: None, threads: 1, overwrite: false, progress: &Silent, cancel: &cancel })?;
//! assert!(check_run(&out, 1, &Silent)?.passed());
//!
//! let wrong = Loader::text("ball.toml", "[simulation]\nfraems = 3\n").load().unwrap_err();
//! assert!(wrong.to_string().contains("ball.toml:2:1: error: [simulation] has no key `fraems`"));
//! # Ok(())
//! # }
//! ```
//!
//! | module | what |
//! | --- | --- |
//! | `tables` | every key of a scene file, declared once with type, default, unit and range |
//! | `read` | TOML with places, includes, overrides, the declaration macros, JSON Schema, reference page |
//! | `resolve` | names found, meshes made, formulas compiled, the initial state audited |
//! | [`expr`] | formulas of the time |
//! | [`motion`] | placed, keyframed, scripted, free and rigid bodies |
//! | [`World`] | the solvers, one file each under `systems` |
//! | [`driver`] | frames, sub-steps, halving, audit, cache, checkpoints, resume |
//! | [`check`] | the judge of a finished run |
//! | [`refine`] | finer frames of a cached run |
//! | [`gallery`] | scenes built into the program |
//!
//! Limits: a scene's bodies have at most 20 million elements together, runs at most a million frames; rigid bodies and
//! cloth pass through each other; bodies in free flight touch nothing.

pub mod check;
mod cloth;
pub mod driver;
mod elements;
pub mod expr;
pub mod gallery;
mod material;
pub mod motion;
mod problem;
mod read;
pub mod refine;
mod resolve;
mod rigid;
mod scene;
mod systems;
mod tables;

pub use cloth::Cloth;
pub use material::Material;
pub use problem::{Problem, Problems, Severity};
pub use scene::{Body, Loader, Output, Scene, Timing, reference, schema};
pub use systems::World;
pub use tables::{BodyAttribute, Preset, Up};
