//! The `billow` command.
fn main() {}
