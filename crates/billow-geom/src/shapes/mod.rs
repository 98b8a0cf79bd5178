//! Generators of triangle and tetrahedral meshes.
//!
//! Lengths are in metres. Unless said otherwise shapes are centred on the origin with z up; triangles run
//! counter-clockwise seen from outside. Every closed shape is watertight, manifold, free of degenerate
//! triangles and free of self-intersections; vertex and triangle counts are stated and tested. Impossible
//! parameters are refused with a [`GeomError::Parameter`] that says what is allowed.

mod bone;
mod disc;
mod flat;
mod geodesic;
mod hull;
mod lathe;
mod round;
mod tee;
mod tets;
mod vessels;

pub use bone::Bone;
pub use disc::disc;
pub use flat::{cloth_grid, cuboid, plane};
pub use geodesic::icosphere;
pub use hull::BoatHull;
pub use lathe::lathe;
pub use round::{Gear, Ring, capsule, cone, cylinder, torus, uv_sphere};
pub use tee::Tee;
pub use tets::{tet_ball, tet_box};
pub use vessels::{Cup, Funnel};

use crate::GeomError;

/// Refuses `value` unless `ok`.
fn require(
    ok: bool,
    of: &'static str,
    name: &'static str,
    value: f64,
    allowed: impl Into<String>,
) -> Result<(), GeomError> {
    if ok { Ok(()) } else { Err(GeomError::Parameter { of, name, value, allowed: allowed.into() }) }
}

/// Refuses lengths that are not positive and finite.
fn positive(of: &'static str, lengths: &[(&'static str, f64)]) -> Result<(), GeomError> {
    lengths
        .iter()
        .try_for_each(|&(name, x)| require(x > 0.0 && x.is_finite(), of, name, x, "positive and finite [m]"))
}

/// Refuses counts below their minimum or above what 32-bit meshes can hold.
fn counts(of: &'static str, counts: &[(&'static str, u32, u32)]) -> Result<(), GeomError> {
    counts.iter().try_for_each(|&(name, n, least)| {
        require(n >= least && n <= MOST, of, name, f64::from(n), format!("between {least} and {MOST}"))
    })
}

/// Largest number of segments in any direction.
const MOST: u32 = 1 << 20;

/// Refuses meshes with more vertices than 32-bit numbering of their edges allows.
fn fits(of: &'static str, vertices: u64) -> Result<(), GeomError> {
    const LIMIT: u64 = 1 << 28;
    require(
        vertices <= LIMIT,
        of,
        "number of vertices",
        vertices as f64,
        format!("at most {LIMIT}: use fewer segments"),
    )
}
