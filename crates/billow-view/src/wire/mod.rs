//! The binary form in which frames travel to the page. `docs/viewer.md` describes every byte.

mod bytes;
mod catalogue;
mod derived;
mod field;
mod frame;
mod geometry;
mod vertices;
mod volume;

pub(crate) use catalogue::catalogue;
pub(crate) use derived::{Others, is_derived};
pub(crate) use field::{field, scalars};
pub(crate) use frame::{Anchor, frame};
pub(crate) use geometry::{Geometry, Skins, geometry};
pub(crate) use vertices::usable;
