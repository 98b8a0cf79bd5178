//! Moving the candidate mesh onto the surface ([Bri03] 5.5).

mod optimise;
mod order;
mod star;

pub(crate) use optimise::Optimiser;
pub use optimise::{Optimisation, OptimisationReport};
