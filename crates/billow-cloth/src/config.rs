//! Settings of the cloth solver.

use serde::{Deserialize, Serialize};

/// How internal forces are integrated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Integrator {
    /// Springs, bending, contacts and objects together in small steps, each implicit in itself: stable at any
    /// stiffness, and impacts travel through the cloth while they happen. The default.
    #[default]
    Coupled,
    /// Elastic and damping forces implicit, linearised once per step: stable at any stiffness.
    Implicit,
    /// Central Newmark: explicit half step, position, implicit damping ([Bri03] 1.5, first list).
    Central,
    /// The half steps in the other order: monotone for constant steps ([Bri03] 1.5, second list).
    Staggered,
    /// Implicit half step for the position, then rewound: monotone for any steps ([Bri03] 1.5, third list).
    Monotone,
    /// Central Newmark whose damping is marched explicitly by fixed-point iteration ([BFA02] 7.6).
    ExplicitMarch,
}

/// How excessive strain is taken out of the velocities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sweep {
    /// One spring after the other, each seeing what the last one left ([Bri03] 1.3). The default.
    #[default]
    GaussSeidel,
    /// All springs from the same velocities, averaged per node.
    Jacobi,
}

/// Settings of [`crate::step`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// How internal forces are integrated.
    pub integrator: Integrator,
    /// Least number of small steps of [`Integrator::Coupled`] in one collision step; more, eight times at most, where springs
    /// are beyond their limits [-].
    pub substeps: u32,
    /// How often [`Integrator::Coupled`] repeats a step to take account of collisions it did not foresee [-].
    pub attempts: u32,
    /// Largest part of the explicit stability limit a dynamics step may take, 0 to 1 [-].
    pub courant: f64,
    /// Relative residual of the linear solves [-]. Smaller is slower and more exact.
    pub tolerance: f64,
    /// Most iterations of a linear solve.
    pub max_iterations: usize,
    /// Sweeps of strain limiting per step; zero switches it off.
    pub strain_sweeps: u32,
    /// Form of the sweeps.
    pub sweep: Sweep,
    /// Drag that pulls every node to rest, for preroll [1/s].
    pub drag: f64,
    /// The collision pipeline.
    pub contact: billow_contact::Config,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            integrator: Integrator::default(),
            substeps: 10,
            attempts: 1,
            courant: 0.5,
            tolerance: 1e-3,
            max_iterations: 200,
            strain_sweeps: 8,
            sweep: Sweep::GaussSeidel,
            drag: 0.0,
            contact: billow_contact::Config::default(),
        }
    }
}
