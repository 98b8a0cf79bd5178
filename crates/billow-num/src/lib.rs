//! Numerical kernels that everything in Billow stands on.
//!
//! All physics is `f64` and three-dimensional. Vectors are glam's double-precision types under short names.
//! Results have the same bits for any number of threads: parallel loops cut work into chunks that depend on the
//! problem only, and random numbers are addressed by index.
//!
//! # Example
//! Ten springs in a row, the first node held, gravity along z:
//! ```
//! use billow_num::krylov::{BlockJacobi, Cg, CgConfig, CgWorkspace, FixedDirections};
//! use billow_num::sparse::{BlockCsr, ElementSlots, Pattern};
//! use billow_num::{Mat3, Vec3};
//! use std::sync::Arc;
//!
//! let springs: Vec<[u32; 2]> = (0..10).map(|i| [i, i + 1]).collect();
//! let pattern = Arc::new(Pattern::from_elements(11, &springs)?);
//! let slots = ElementSlots::new(&pattern, &springs)?;
//! let mut stiffness = BlockCsr::zeros(pattern);
//! let k = Mat3::IDENTITY * 100.0; // [N/m]
//! (0..10).for_each(|e| slots.add(&mut stiffness, e, &[[k, -k], [-k, k]]));
//! let mut held = FixedDirections::default();
//! held.fix(0);
//! let (weight, mut x) = (vec![Vec3::NEG_Z; 11], vec![Vec3::ZERO; 11]);
//! let system = Cg::new(&stiffness).filter(&held);
//! let report = system.solve(&weight, &mut x, &CgConfig::default(), &mut CgWorkspace::default());
//! assert!(report.converged() && (x[10].z + 0.55).abs() < 1e-9); // (10 + 9 + … + 1) N / 100 N/m
//! # let _ = BlockJacobi::new(&stiffness);
//! # Ok::<(), billow_num::NumError>(())
//! ```
//!
//! # Modules
//! | module | what it computes | serves |
//! | --- | --- | --- |
//! | [`par`] | loops, sums, sorts, prefix sums, gathers and coloured sweeps that ignore the thread count | all |
//! | [`rng`] | counter-based random numbers | all |
//! | [`vector`] | products and updates of long vectors | solvers |
//! | [`mat3`] | eigenvalues, singular values, polar factors, safe inverse of 3×3 matrices | [HFL00] 4, [Bri03] 1 |
//! | [`interval`] | arithmetic with outward rounding | [BFA02] 6 |
//! | [`roots`] | certified and plain roots of quadratics and cubics, bracketed roots | [BFA02] 6, [Bri03] 2.2 |
//! | [`sparse`] | matrices of numbers and 3×3 blocks over a fixed pattern | [HFL00], [Gue06] 4 |
//! | [`krylov`] | conjugate gradients, Jacobi, IC(0) and MIC(0) preconditioners, constraints | [Gue06] 4, [Bri03] 2.3 |
//! | [`newton`] | safe Newton for energies, systems and scalars | [HFL00] 3.2 |
//! | [`dense`] | LU factors of small matrices | all |
//! | [`quadrature`] | Gauss, triangle, tetrahedron and Simpson rules | [HFL00], [GCSO99] |
//! | [`stages`] | time and counts per stage | all |
//!
//! # Limits
//! Sparse patterns hold up to 2³² rows and columns. Incomplete Cholesky solves run on one thread. Normal deviates
//! use the platform's logarithm, so their last bit may differ between machines, never between runs or thread counts.

pub mod dense;
pub mod interval;
pub mod krylov;

pub mod mat3;
pub mod newton;
pub mod par;
pub mod quadrature;
pub mod rng;
pub mod roots;
pub mod sparse;
pub mod stages;
pub mod vector;

pub use glam::{
    DAffine3 as Affine3, DMat3 as Mat3, DMat4 as Mat4, DQuat as Quat, DVec2 as Vec2, DVec3 as Vec3,
};

mod error;
mod pose;

pub use error::NumError;
pub use pose::Pose;
