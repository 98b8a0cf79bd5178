//! Path tracer of cached frames.

mod bvh;
mod denoise;
mod error;
mod film;
mod image;
mod integrator;
pub mod look;
mod picture;
mod run;
mod sample;
mod settings;
mod shape;
mod studio;
mod surface;
mod tone;
mod vector;
mod world;

pub use error::RenderError;
pub use film::Watch;
pub use image::{Image, Sheet, write_apng, write_exr, write_gif, write_png};
pub use look::{Camera, Colour, Finish, GridKind, Ground, Light, LightKind, Look, Pattern, Sky, Surface};
pub use picture::Picture;
pub use run::RunStudio;
pub use settings::Settings;
pub use studio::{Studio, Survey};
pub use tone::develop;
