//! Integration tests of the geometry kernel.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod audit;
mod broad;
mod bvh;
mod ccd;
mod mass;
mod mesh;
mod oracle;
mod proximity;
mod random;
mod shapes;
mod validity;
mod wedge;
