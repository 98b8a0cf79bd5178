//! Rigid bodies: raw nonconvex meshes that collide, stack and rub, without velocity thresholds.
//!
//! ```
//! use billow_rigid::experiments::{Builder, GRAVITY};
//! use billow_rigid::{Config, Surface, Workspace, step};
//! use billow_num::Vec3;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A ring of 320 triangles falls flat on the ground.
//! let mut scene = Builder::default();
//! scene.ground(Surface::default())?;
//! let ring = scene.mesh(&billow_geom::shapes::torus(0.3, 0.1, 16, 10)?)?;
//! scene.body("ring", ring, Vec3::new(0.0, 0.0, 0.5));
//! let model = scene.model()?;
//! let (mut state, mut work) = (model.start(), Workspace::default());
//! for _ in 0..96 {
//!     step(&model, &mut state, &mut work, &Config::default(), 1.0 / 96.0)?;
//! }
//! let height = state.bodies[1].pose.position.z;
//! assert!((height - 0.095).abs() < 2e-3 && state.bodies[1].velocity.length() < 1e-2);
//! # Ok(())
//! # }
//! ```
//!
//! | modules | what | sections |
//! | --- | --- | --- |
//! | `geometry`, `field`, `slope`, `floors`, `lanes`, `samples`, `spheres`, `convex` | shapes shared by bodies: mass, signed distance and how fast it changes, sample points, faces | [Bri03] 4.3, 4.4 |
//! | `model`, `state`, `config` | what is fixed, what a checkpoint holds, settings | |
//! | `broad`, `odometer`, `since`, `candidates`, `near`, `sampled`, `lasting`, `detect` | which bodies meet, where, and the swept test for fast ones | [Gue06] 2.4 |
//! | `haste` | into how many parts a step is divided | |
//! | `shell`, `halt` | surfaces without an inside, and what waits before them | [Gue06] 2.14 |
//! | `motion` | free flight | [Gue06] 2.5 |
//! | `sleep` | still groups that wait until something touches them | |
//! | `collide` | elastic collisions | [Gue06] 2.6, 2.7 |
//! | `graph` | the contact graph | [Gue06] 2.8.1 |
//! | `solve`, `persistent` | contact, friction, shock propagation | [Gue06] 2.7, 2.8 |
//! | `roll`, `bend` | rolling and spinning friction, scaled by the curvature of the surfaces | [Gue06] 2.9 |
//! | `document` | the documents' own sequence, selectable | [Gue06] 2.6 – 2.9 |
//! | `push` | first-order push-out | [Gue06] 2.10 |
//! | `step` | the whole step | [Gue06] 2.11 |
//! | [`meter`] | overlaps measured on exact meshes, apart from the solver | |
//! | [`experiments`] | the documents' experiments as models | [Gue06] 2.5 – 2.12 |
//!
//! Velocities live half a step behind positions (leapfrog), so constant accelerations are integrated exactly.
//! Results have the same bits for any number of threads.
//!
//! Limits: bodies are not articulated.

mod bend;
mod broad;
mod candidates;
mod collide;
mod config;
mod contact;
mod convex;
mod detect;
mod document;
mod error;
pub mod experiments;
mod field;
mod floors;
mod geometry;
mod graph;
mod halt;
mod haste;
mod lanes;
mod lasting;
mod memory;
pub mod meter;
mod model;
mod motion;
mod near;
mod odometer;
mod persistent;
mod push;
mod roll;
mod sampled;
mod samples;
mod shell;
mod since;
mod sleep;
mod slope;
mod solve;
mod spheres;
mod state;
mod step;
mod stirred;

pub use config::{CollisionGeometry, Config, Method};
pub use error::{RigidError, StepError};
pub use geometry::{Geometry, Settings, Storage};
pub use model::{Body, Drive, Model, Surface};
pub use state::{BodyState, Carried, Met, Place, State};
pub use step::{StepReport, Workspace, step};
