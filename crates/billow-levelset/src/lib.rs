//! Level sets: solids known through their signed distance φ, negative inside.
//!
//! Analytic shapes, dense grids, octrees and sparse block grids answer the same questions through [`Collider`]: how far
//! is the surface, which way is out, how fast does it move? Meshes become distances, distances evolve, and
//! surfaces become meshes again.
//!
//! ```
//! use billow_levelset::{Collider, Csg, MeshToSdf, mesh_to_sparse, surface_nets};
//! use billow_num::Vec3;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A torus with a ball cut out of it, as a sparse level set with samples 2 cm apart.
//! let settings = MeshToSdf::with_spacing(0.02);
//! let (ring, report) = mesh_to_sparse(&billow_geom::shapes::torus(0.5, 0.2, 48, 24)?, &settings)?;
//! assert_eq!(report.open_edges, 0);
//! let ball = billow_geom::shapes::icosphere(0.3, 8)?.translated(Vec3::new(0.5, 0.0, 0.0));
//! let (ball, _) = mesh_to_sparse(&ball, &settings)?;
//! let bitten = ring.combined(Csg::Difference, &ball)?;
//! assert!(bitten.phi(Vec3::new(-0.5, 0.0, 0.0), 0.0) < 0.0);
//! assert!(bitten.phi(Vec3::new(0.5, 0.0, 0.0), 0.0) > 0.0);
//! let surface = surface_nets(&bitten)?;
//! assert_eq!(surface.positions.len(), surface.normals.len());
//! # Ok(())
//! # }
//! ```
//!
//! | modules | what | sections |
//! | --- | --- | --- |
//! | `collider`, `shapes`, `motion`, `boolean`, `sequence` | the [`Collider`] trait and everything that needs no grid | [Bri03] 2.1 |
//! | `lattice`, `dense` | [`Lattice`], [`ScalarGrid`], [`Tricubic`], curvature, cell labels | [Bri03] 4.3, 4.4, 6.2 |
//! | `eikonal` | [`March`], [`Sweep`], [`extrapolate`] | [HFL00] 6.2, [Gue06] 4.5, [Bri03] 6.1 |
//! | `mesh` | [`mesh_to_sparse`], [`mesh_to_dense`], [`mesh_to_octree`] | [Gue06] 2.3.1 |
//! | `octree` | [`Octree`] | [Bri03] 4.3, 4.4 |
//! | `sparse` | [`SparseGrid`] | [Bri03] 6.1 |
//! | `evolve`, `csg`, `refine` | motion, reinitialisation, booleans, doubling | [Bri03] 6.2 |
//! | `extract` | [`surface_nets`], [`marching_tets`] | [Bri03] 6.2 |
//!
//! Results have the same bits for any number of threads. Limits: sparse values are `f32`; coordinates stay below 10⁹
//! samples; dense grids are refused beyond [`DEFAULT_MEMORY_LIMIT`] unless told otherwise.

mod boolean;
mod collider;
mod csg;
mod dense;
mod eikonal;
mod error;
mod evolve;
mod extract;
mod lattice;
mod mesh;
mod motion;
mod octree;
mod refine;
mod sequence;
mod shapes;
mod sparse;

pub use boolean::{Complement, Intersection, Offset, Union, difference};
pub use collider::{Collider, Sample, Still};
pub use csg::Csg;
pub use dense::{
    CellLabel, CellLabels, Curvature, Dense, ScalarGrid, Tricubic, VectorGrid, curvature_of_derivatives,
};
pub use eikonal::{
    March, Order, Redistance, Sweep, SweepReport, extrapolate, interface_distances, redistance,
};
pub use error::LevelSetError;
pub use evolve::{Evolution, EvolutionReport, Reinit, TimeOrder};
pub use extract::{NormalMesh, QuadMesh, marching_tets, surface_nets};
pub use lattice::{Centring, DEFAULT_MEMORY_LIMIT, Lattice};
pub use mesh::{MeshReport, MeshToSdf, SignMethod, mesh_to_dense, mesh_to_octree, mesh_to_sparse};
pub use motion::{Motion, Moving, Scaled, Steady, Twist};
pub use octree::{Octree, OctreeCursor, Refinement};
pub use refine::Doubled;
pub use sequence::{Keyframe, Sequence};
pub use shapes::{Ball, Capsule, Cuboid, Cylinder, HalfSpace, Torus};
pub use sparse::{BlockSize, Coarse, Cursor, Frame, INSIDE, Layout, OUTSIDE, SparseGrid, TrackReport};
