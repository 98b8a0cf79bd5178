//! Moving the candidate mesh onto the surface ([Bri03] 5.5): by optimisation, by springs, by finite elements.

mod creases;
mod optimise;
mod order;
mod physics;
mod star;

pub(crate) use optimise::Optimiser;
pub use optimise::{Optimisation, OptimisationReport};
pub use physics::Body;

/// How the boundary is brought to the surface.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Compression {
    /// Direct optimisation of shapes: the best and the fastest.
    #[default]
    Optimise,
    /// The physics of an elastic body for this many sweeps.
    Simulate {
        /// Internal forces.
        body: Body,
        /// Sweeps over all nodes; the first half moves the boundary gently.
        sweeps: u32,
    },
}
