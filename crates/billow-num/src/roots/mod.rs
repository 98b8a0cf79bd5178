//! Real roots: certified enclosures of quadratic and cubic roots, closed-form roots, bracketed scalar roots.
//!
//! [`enclose_roots`] never loses a root: every real root of the polynomial in the asked range lies in one of
//! the returned enclosures, also for multiple and nearly multiple roots, rounding included. It serves continuous
//! collision detection ([BFA02] 6, [Bri03] 2.2), where a lost root is a lost collision. The plain versions return
//! numbers, not bounds, and are for everything else.

mod bernstein;
mod bracket;
mod enclose;
mod plain;

pub use bernstein::{Bernstein, certainly_rootless};
pub use bracket::{Bracketed, solve_bracketed};
pub use enclose::{Enclosure, Enclosures, enclose_cubic, enclose_quadratic, enclose_roots};
pub use plain::{RootList, cubic_roots, cubic_roots_in, linear_root, quadratic_roots, quadratic_roots_in};
