//! Cloth: internal dynamics, collision with objects and the pipeline that never lets two surfaces cross.
//!
//! | module | what | section |
//! | --- | --- | --- |
//! | `model`, `material` | masses, springs, bending elements, pins, obstacles | [Bri03] 1.2, 1.4 |
//! | `strain` | strain and strain-rate limits | [Bri03] 1.3, [BFA02] 4 |
//! | `dynamics` | time integration | [Bri03] 1.5, [BFA02] 7.6 |
//! | `coupled`, `pulls`, `links`, `limits`, `hinges` | the default: everything in common small steps | beyond the documents |
//! | `objects` | thick objects through signed distances | [Bri03] 2.1 |
//! | `step` | the whole step | [Bri03] 2.3 |
//! | `haste` | which steps are done in halves | beyond the documents |
//! | [`post`] | push-out and collision-aware subdivision of frames | [Bri03] 3, [BFA02] 8 |

mod air;
mod config;
mod coupled;
mod dynamics;
mod forces;
mod haste;
mod hinges;
mod limits;
mod lines;
mod links;
mod material;
mod model;
mod objects;
pub mod post;
mod pulls;
mod state;
mod step;
mod strain;

pub use billow_contact as contact;
pub use config::{Config, Integrator, Sweep};
pub use material::Material;
pub use model::{Air, Garment, Layout, Model, Obstacle, Part, Script, Setup, Solid};
pub use state::{Lasting, State};
pub use step::{StepError, StepReport, Workspace, step};
