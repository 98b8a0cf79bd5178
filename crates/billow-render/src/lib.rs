//! Path tracer of cached frames.
//!
//! A [`Look`] says how a run is shown: camera, lights, sky, ground and the surface of each object. It is plain data;
//! scene files fill it in, the run's manifest carries it, and whatever it leaves open is chosen from the frames. A
//! [`Studio`] surveys the frames to be shown, places camera and lights, and takes pictures; [`RunStudio`] does so for
//! a run on disk. The same input gives the same picture, bit for bit, for any number of threads.
//!
//! ```
//! use billow_io::{Frame, Object, Shape, cache::UpAxis};
//! use billow_num::{Pose, Vec3};
//! use billow_render::{Look, Settings, Studio, Watch, develop};
//!
//! let shape = Shape::Points { positions: vec![Vec3::ZERO, Vec3::X].into() };
//! let frame = Frame {
//!     objects: vec![Object { name: "drops".into(), pose: Pose::IDENTITY, shape, attributes: vec![] }],
//!     ..Frame::default()
//! };
//! let mut survey = Studio::survey(&Look::default(), UpAxis::Z, 24.0, &frame, 16.0 / 9.0)?;
//! survey.add(&frame);
//! let settings = Settings { width: 64, height: 36, samples: 4, ..Settings::default() };
//! let picture = survey.finish()?.shoot(&frame, None, &settings, &Watch::default())?;
//! assert_eq!(develop(&picture).pixels.len(), 64 * 36);
//! # Ok::<(), billow_render::RenderError>(())
//! ```
//!
//! | module | what it does |
//! | --- | --- |
//! | [`look`] | how a run is shown: camera, lights, surroundings, surfaces |
//! | `studio`, `run` | survey of the frames, framing, three-point light, materials, shapes kept between frames |
//! | `bvh`, `shape` | four-wide hierarchy; triangles, spheres, capsules, level sets through the C² spline ([Bri03] 6.2) |
//! | `surface` | diffuse, sheen, coated, metal and glass scattering that keeps energy; patterns |
//! | `world` | instances that move while the shutter is open, fog, lamps, sky, floor, lens |
//! | `integrator`, `film` | paths with light sampling at every bounce; tiles sampled until their noise is low |
//! | `denoise`, `tone`, `image` | smoothing, film response; PNG, EXR, GIF, contact sheets |
//!
//! Limits: transparent bodies must not overlap; rough glass loses a little light between its facets; a level set that
//! is thinner than a quarter of a cell along the ray may be missed.

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
pub use image::{Image, Sheet, read_png, write_apng, write_exr, write_gif, write_png};
pub use look::{Camera, Colour, Finish, GridKind, Ground, Light, LightKind, Look, Pattern, Sky, Surface};
pub use picture::Picture;
pub use run::RunStudio;
pub use settings::Settings;
pub use studio::{Studio, Survey};
pub use tone::develop;
