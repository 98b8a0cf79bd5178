//! Level sets: solids known through their signed distance.

mod boolean;
mod collider;
mod dense;
mod error;
mod lattice;
mod motion;
mod shapes;

pub use boolean::{Complement, Intersection, Offset, Union, difference};
pub use collider::{Collider, Sample};
pub use dense::{
    CellLabel, CellLabels, Curvature, Dense, ScalarGrid, Tricubic, VectorGrid, curvature_of_derivatives,
};
pub use error::LevelSetError;
pub use lattice::{Centring, DEFAULT_MEMORY_LIMIT, Lattice};
pub use motion::{Motion, Moving, Scaled, Steady, Twist};
pub use shapes::{Ball, Capsule, Cuboid, Cylinder, HalfSpace, Torus};
