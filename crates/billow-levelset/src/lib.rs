//! Level sets: solids known through their signed distance.

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
pub use collider::{Collider, Sample};
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
