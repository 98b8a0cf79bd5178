//! Scene files, validation, the driver loop, checkpoints and the gallery.

pub mod check;
pub mod driver;
pub mod gallery;
mod problem;
mod scene;

pub use problem::{Problem, Problems, Severity};
pub use scene::{Loader, Scene, reference, schema};
