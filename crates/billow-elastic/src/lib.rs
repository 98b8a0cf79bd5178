//! Force laws of thin and solid bodies: what resists being stretched, sheared and bent.
//!
//! Each law holds its rest shape and material (fixed during a run), is *linearised* about a configuration into a
//! scratch tangent, and then adds elastic forces, tangent products and diagonals to slices of nodes. Products take two
//! factors, `[stiffness, damping]`, so one pass serves any implicit mixture. Everything runs in parallel with the
//! same bits for any number of threads, and every law conserves linear and angular momentum.
//!
//! | module | what | section |
//! | --- | --- | --- |
//! | [`Springs`] | edge and grid springs | [Bri03] 1.2 |
//! | [`AltitudeSprings`] | resistance to collapse of triangles | [Gue06] 3.2.1 |
//! | [`TetElements`] | linear tetrahedra, co-rotational | [Bri03] 5.5, [HFL00] 3 |
//! | [`Bending`] | dihedral bending elements with rest angles | [Bri03] 1.4 |
//!
//! ```
//! use billow_elastic::{Spring, SpringTangent, Springs};
//! use billow_num::Vec3;
//!
//! // A spring of 1 m and 10 N per unit of strain, stretched to 1.5 m, pulls with 5 N.
//! let springs = Springs::new(2, &[Spring { ends: [0, 1], rest_length: 1.0, stiffness: 10.0, damping: 0.0 }])?;
//! let x = [Vec3::ZERO, Vec3::new(1.5, 0.0, 0.0)];
//! let mut tangent = SpringTangent::default();
//! springs.linearise(&x, &mut tangent);
//! let mut force = [Vec3::ZERO; 2];
//! springs.add_elastic(&tangent, &mut force);
//! assert_eq!(force, [Vec3::new(5.0, 0.0, 0.0), Vec3::new(-5.0, 0.0, 0.0)]);
//! # Ok::<(), billow_num::NumError>(())
//! ```

mod altitude;
mod bending;
mod springs;
mod tet;

pub use altitude::{AltitudeSprings, AltitudeTangent};
pub use bending::{Bending, BendingMaterial, BendingTangent, Hinge, bending_mode};
pub use springs::{Spring, SpringTangent, Springs, edge_stiffness};
pub use tet::{TetElements, TetMaterial, TetRest, TetTangent};
