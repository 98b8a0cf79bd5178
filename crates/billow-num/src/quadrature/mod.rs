//! Numerical integration: Gauss–Legendre of any order, symmetric rules on triangles and tetrahedra, Simpson.
//!
//! Rules for simplices come in barycentric coordinates with positive weights that sum to one and points inside, so
//! an integral is `measure · Σ w f(x)`. Up to the degrees of the tables the rules are fully symmetric; beyond,
//! collapsed products of Gauss rules serve any degree.

mod gauss;
mod simplex;

pub use gauss::{gauss_legendre, integrate, simpson, simpson_adaptive};
pub use simplex::{SimplexRule, tetrahedron, triangle};
