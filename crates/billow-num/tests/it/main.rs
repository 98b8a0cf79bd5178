//! Properties that span several modules of the crate.

mod allocation;
mod motion;
mod pipeline;
