//! Integration tests of billow-io.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod cache;
mod counting;
mod export;
mod fuzz;
mod kill;
mod meshes;
mod samples;
