//! Integration tests of the scene crate.

mod gallery;
