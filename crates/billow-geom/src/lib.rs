//! Billow's geometry kernel: meshes, hierarchies, proximity, continuous collision and the exact audit.
//!
//! Everything here is `f64`, three-dimensional and in metres. Triangles run counter-clockwise seen from
//! outside, tetrahedra are positively oriented, and results have the same bits for any number of threads.
//!
//! ```
//! use billow_geom::mass::{MassProperties, Matter};
//! use billow_geom::mesh::MeshReport;
//! use billow_geom::shapes::Bone;
//! use billow_geom::wedge::{Visibility, WedgeTree};
//! use billow_num::Vec3;
//!
//! // A bone: one watertight surface, ready to become a rigid body.
//! let bone = Bone::default().mesh()?;
//! assert!(MeshReport::new(&bone).is_solid());
//! let body = MassProperties::of_solid(&bone, Matter::Density(1900.0))?;
//! assert!(body.mass > 0.0 && body.centre.length() < 1e-12);
//! assert_eq!(bone.topology()?.genus(), Some(0));
//!
//! // Nothing is seen through it.
//! let surface = WedgeTree::new(&bone, 1e-6)?;
//! let sight = surface.sight(Vec3::new(1.0, 0.0, 0.0), Vec3::new(-1.0, 0.0, 0.0));
//! assert_eq!(sight.visibility, Visibility::Occluded);
//! # Ok::<(), billow_geom::GeomError>(())
//! ```
//!
//! | module | what it holds | sections |
//! | --- | --- | --- |
//! | [`mesh`] | triangle and tetrahedral meshes, topology, validity reports, repairs, measures | |
//! | [`shapes`] | generators of meshes | |
//! | [`mass`] | mass, centre, inertia, principal frame | |
//! | [`bvh`] | box hierarchy | [Bri03] 2.4 |
//! | [`proximity`] | closest points | [Bri03] 2.4, [BFA02] 6 |
//! | [`ccd`] | continuous collision without misses | [Bri03] 2.4, [BFA02] 6 |
//! | [`predicates`], [`audit`] | exact signs; the referee of "intersection free" | |
//! | [`subdivision`] | smoothing subdivision | [Bri03] 3.2, [BFA02] 8 |
//! | [`wedge`] | sight lines past thickened triangles | [Gue06] 6.2.1, 6.2.3, 6.3.2 |
//! | [`hash_grid`] | hashed grid of boxes | [Bri03] 4.4 |
//! | [`sweep_prune`] | sorted end points of boxes | [GCSO99] 3.1.1 |
//!
//! Limits: element numbers are 32-bit. Measures such as [`TriMesh::area`] index positions directly and panic
//! on a triangle that names a missing vertex; whatever comes from outside goes through [`mesh::MeshReport`]
//! first. Reports and repairs accept any input, but do not remesh: slivers are named, not removed, and
//! self-intersections are for [`audit`] to find.

mod aabb;
pub mod audit;
pub mod bvh;
pub mod ccd;
mod error;
pub mod hash_grid;
pub mod mass;
pub mod mesh;
pub mod predicates;
pub mod proximity;
pub mod shapes;
pub mod subdivision;
pub mod sweep_prune;
pub mod wedge;

pub use aabb::Aabb;
pub use error::GeomError;
pub use mesh::{TetMesh, TriMesh};
