//! Integration tests of the level-set crate.

#![allow(clippy::unwrap_used)] // a failed unwrap is a failed test

mod collider;
mod dense;
mod eikonal;
mod evolve;
mod extract;
mod mesh;
mod octree;
mod random;
mod refine;
mod sparse;
