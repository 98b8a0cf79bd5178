//! Frames, the frame cache, and the file formats Billow reads and writes.

pub mod frame;

pub use frame::{Attribute, Domain, Frame, Grid, Object, Shape, Values};
