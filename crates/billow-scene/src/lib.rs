//! Scene files, validation, the driver loop, checkpoints and the gallery.

mod bodies;
pub mod check;
pub mod driver;
pub mod expr;
pub mod gallery;
mod material;
pub mod motion;
mod problem;
mod read;
mod resolve;
mod scene;
mod tables;

pub use bodies::BodySimulation;
pub use material::Material;
pub use problem::{Problem, Problems, Severity};
pub use scene::{Body, Loader, Output, Scene, Timing, reference, schema};
pub use tables::{BodyAttribute, Preset, Up};
