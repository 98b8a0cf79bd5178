//! Integration tests of billow-io.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "tests say what they skip and measure")]

mod cache;
mod counting;
mod export;
mod fuzz;
mod kill;
mod meshes;
mod samples;
mod vdb;
