//! Integration tests of the scene crate.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may stop where it fails and say what it saw"
)]

mod broken;
mod checks;
mod cloth;
mod control;
mod fuzz;
mod gallery;
mod meshes;
mod pages;
mod resume;
mod retry;
mod rigid;
mod support;
