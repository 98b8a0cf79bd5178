//! The `billow` command as a person or a script meets it: a fresh folder, real processes, real signals.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![allow(clippy::print_stdout, reason = "a test says why it skips")]

mod bad_input;
mod cloth;
mod commands;
mod interruption;
mod levelsets;
mod meshing;
mod pictures;
mod support;
mod viewing;
