//! The collision pipeline for moving triangle meshes: no step ever leaves an intersection behind.
//!
//! Positions free of intersections, masses and a mid-step velocity go in; a corrected velocity comes out, with which
//! the straight trajectories of the step come nowhere closer than a small separation. The pipeline knows nothing of
//! cloth: shells, thin rigid bodies and fluids' solids use it alike ([Bri03] chapter 2, [BFA02]).
//!
//! Whoever moves bodies by itself asks for places instead: [`meetings`] tells where two surfaces at given poses, now and at
//! the end of a step, are near each other and where they collide. One piece of code (`pair.rs`) decides what near and
//! collide mean for both.
//!
//! | stage | what | section |
//! | --- | --- | --- |
//! | proximity | pairs within the thickness, or planned to be | [Bri03] 2.4 |
//! | repulsion | inelastic impulse, capped spring, Coulomb friction | [Bri03] 2.6, 2.7 |
//! | collisions | trajectories tested and corrected, changed parts again | [Bri03] 2.8 |
//! | impact zones | what still collides moves together | [Bri03] 2.9 |
//!
//! | query | what |
//! | --- | --- |
//! | [`proximities`] | places where two posed surfaces are near each other |
//! | [`collisions`] | places where they collide on their way from one pose to another |
//! | [`meetings`] | both |

mod above;
mod collision;
mod config;
mod corner;
mod crossed;
mod facets;
mod fans;
mod four;
mod impulse;
mod listed;
mod name;
mod near;
mod pair;
mod posed;
mod push;
mod report;
mod repulsion;
mod resolve;
mod search;
mod shape;
mod show;
mod slabs;
mod surface;
mod swept;
mod tag;
mod touch;
mod way;
mod zones;

pub use config::{Config, Update};
pub use impulse::{Contact, slide};
pub use posed::{Ask, Foot, Place, Posed, Scratch, proximities};
pub use push::Push;
pub use report::{Report, Unresolved};
pub use resolve::{KeepOut, Pipeline, Step, Workspace, resolve};
pub use shape::{Element, Shape};
pub use surface::{Body, BodyProperties, Surface};
pub use swept::{collisions, meetings};
pub use zones::{ZoneInput, ZoneMotion, Zones, move_together};
