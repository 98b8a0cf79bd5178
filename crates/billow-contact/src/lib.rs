//! Under construction.
mod impulse;
mod surface;
mod zones;
pub use impulse::{Contact, slide};
pub use surface::{Body, BodyProperties, Surface};
pub use zones::{ZoneInput, ZoneMotion, Zones, move_together};
