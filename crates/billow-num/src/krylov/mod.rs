//! Conjugate gradients for symmetric positive (semi-)definite systems, matrix-free or sparse.
//!
//! [`Cg`] joins an operator, a preconditioner and a filter that keeps constrained directions fixed, as in the
//! modified method for cloth. A solve is called converged only after the true residual `b − A x` has been formed
//! and found small; the report says how far it got and why it stopped. Vectors hold numbers or 3-vectors, scratch
//! lives in a reusable [`CgWorkspace`], and results have the same bits for any number of threads.

mod cg;
mod factor;
mod filter;
mod operator;

pub use cg::{Cg, CgConfig, CgReport, CgStop, CgWorkspace};
pub use factor::{Factor, IncompleteCholesky};
pub use filter::{Filter, FixedDirections, MeanFree, Unconstrained};
pub use operator::{BlockJacobi, Identity, Jacobi, LinearOperator, MatrixFree, Preconditioner};

#[cfg(test)]
mod tests;
