//! Pictures whose answer is known, robustness, determinism and golden images.

#![allow(clippy::unwrap_used)] // a test that cannot go on has failed

mod broken;
mod effects;
mod golden;
mod known;
mod props;
mod same_bits;
