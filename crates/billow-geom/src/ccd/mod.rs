//! Continuous collision of moving points, triangles and edges, without false negatives ([Bri03] 2.4, [BFA02] 6).
//!
//! Corners move in straight lines over one step, time running from 0 to 1. A query answers *clear* only with a
//! proof: a chain of separating planes, each turning linearly over a piece of the step, whose pieces cover all
//! of `[0, 1]` and whose inequalities hold with room for every rounding error. Anything else is a [`Hit`], so
//! touching, overlapping, undecidable and non-finite input can never slip through. A hit carries a time up to
//! which the motion *is* proven clear.
//!
//! The document's own test, the coplanarity cubic with proximity checks at its roots, is kept in [`cubic`];
//! it is not used by the pipeline because a rounding tolerance alone proves nothing.
//!
//! [`Collider`] runs broad and narrow phase over whole meshes.

mod broad;
mod certificate;
mod collider;
pub mod cubic;
mod direction;
mod query;

pub use broad::{BroadPhase, Candidates, Elements, Motion};
pub use certificate::Certificate;
pub use collider::{Collider, Collision, Counts, Pair, narrow_phase};
pub use query::{edge_edge, edge_edge_certified, vertex_face, vertex_face_certified};

use billow_num::Vec3;

/// First possible contact found by a query.
///
/// Weights are signed so that the vector from the second witness point to the first is `Σ weights[i] x_i` and
/// their relative velocity `Σ weights[i] v_i`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Time as a fraction of the step up to which the pair is proven to stay farther apart than the minimum
    /// separation; zero when it is not proven anywhere [-].
    pub toi: f64,
    /// Unit vector from the second element (triangle, second edge) to the first (point, first edge) [-].
    pub normal: Vec3,
    /// Signed weights of the four corners at the contact: `1, −w_a, −w_b, −w_c` for point and triangle,
    /// `1−a, a, −(1−b), −b` for two edges [-].
    pub weights: [f64; 4],
}
