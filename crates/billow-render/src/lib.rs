//! Path tracer of cached frames.
//!
//! [`Look`] says how a run is shown: camera, lights, sky, ground and the surface of each object. It is plain data;
//! scene files fill it in, the run's manifest carries it, and whatever it leaves open is chosen from the frames.

pub mod look;

pub use look::{Camera, Colour, Finish, GridKind, Ground, Light, LightKind, Look, Pattern, Sky, Surface};
