//! Placeholder of a crate under construction.
