//! Numerical kernels that everything in Billow stands on.
//!
//! All physics is `f64` and three-dimensional. Vectors are glam's double-precision types under short names;
//! parallel loops give the same bits for any number of threads.

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
