//! Newton's method made safe: energy minimisation, systems of equations, one equation.
//!
//! [`minimise`] backtracks until the energy falls enough, refuses directions that do not descend, and honours a
//! limit on the step (no inversion, no crossing of a barrier). [`solve_system`] does the same on the residual
//! norm. [`solve_scalar`] keeps a bracket. All report what they did and why they stopped. Serves the
//! quasi-static solves of [HFL00] 3.2.

mod minimise;
mod scalar;
mod system;

pub use minimise::{Energy, MinimiseConfig, MinimiseReport, MinimiseStop, MinimiseWorkspace, minimise};
pub use scalar::solve_scalar;
pub use system::{System, SystemConfig, SystemReport, SystemStop, SystemWorkspace, solve_system};
