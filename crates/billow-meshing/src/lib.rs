//! Tetrahedral and surface meshes from level sets ([Bri03] chapter 5).
//!
//! A body-centred cubic lattice is refined where the surface needs it, a sound part of it is selected, and its boundary is
//! moved onto the surface while every tetrahedron stays well shaped.
//!
//! ```
//! use billow_levelset::Ball;
//! use billow_meshing::{Mesher, Quality, Sizing, mesh};
//! use billow_num::Vec3;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A ball with edges of about 0.15 at the surface and up to four times that inside.
//! let ball = Ball::new(Vec3::ZERO, 1.0)?;
//! let meshed = mesh(&ball, &Mesher::new(Sizing::uniform(0.15, 2)))?;
//! let quality = Quality::new(&meshed.candidate.mesh);
//! assert!(quality.inverted == 0 && quality.max_aspect < 4.5);
//! assert!((quality.volume - 4.19).abs() < 0.05);
//! # Ok(())
//! # }
//! ```
//!
//! | module | what | section |
//! | --- | --- | --- |
//! | `lattice` | [`RedGreen`]: the lattice, red and green refinement | 5.2, 5.3 |
//! | `sizing` | [`Sizing`]: curvature, interpolation error, features, functions | 5.3 |
//! | `select` | [`select`]: enveloped nodes, repairs, the three conditions | 5.4 |
//! | `compress` | [`Compression`]: optimisation, springs, finite elements | 5.5 |
//! | `quality` | [`Quality`]: aspect ratios, dihedral angles, histograms | 5.6 |
//! | `soundness` | [`Soundness`]: the conditions, checked on every result | 5.4 |
//! | `closeness` | [`Closeness`]: Hausdorff distances | 5.6 |
//! | `trim` | [`trim`]: surfaces with a border | 5.7 |
//! | `field` | [`DistanceField`]: narrow bands continued to true distances | |
//! | `mesher` | [`mesh`]: all of it | 5 |
//!
//! Results have the same bits for any number of threads. Limits: lattice coordinates have 21 bits, so coarse cells times
//! 2^(levels + 5) along an axis stay below two million; edges sharper than the lattice are rounded unless
//! [`Optimisation::sharp`] asks for them.

mod closeness;
mod compress;
mod error;
mod field;
mod lattice;
mod mesher;
mod quality;
mod select;
mod sizing;
mod soundness;
mod trim;

pub use closeness::Closeness;
pub use compress::{Body, Compression, Optimisation, OptimisationReport};
pub use error::MeshingError;
pub use field::DistanceField;
pub use lattice::{LeafMesh, RedGreen};
pub use mesher::{Meshed, Mesher, Progress, mesh};
pub use quality::{BARS, Quality, Shape};
pub use select::{Candidate, Selection, SelectionReport, select};
pub use sizing::{Feature, SPARE_LEVELS, SizeFunction, Sizing, background, total_curvature};
pub use soundness::Soundness;
pub use trim::{Trim, trim};
