//! The `billow` command as a person or a script meets it: a fresh folder, real processes, real signals.

mod bad_input;
mod commands;
mod interruption;
mod support;
