//! Impact zones: nodes that keep colliding move together as one rigid or affine body ([Bri03] 2.9, [BFA02] 7.5).
//!
//! Zones only grow during a step: each collision merges the zones of its four nodes. The motion of a zone is the
//! projection of its nodes' momenta onto rigid motions (exact rotation, so lengths stay as they are) or, on request,
//! onto affine motions; both conserve linear and angular momentum and cannot make the zone collide with itself.
//! A zone with scripted nodes follows the motion they dictate.

use billow_num::mat3::symmetric_pseudo_inverse;
use billow_num::{Mat3, Quat, Vec3};

/// A partition of the nodes; zones of one node are free.
#[derive(Clone, Debug, Default)]
pub struct Zones {
    parent: Vec<u32>,
    /// Members of each grown zone, by root.
    members: Vec<Vec<u32>>,
    /// Roots of zones with more than one node.
    grown: Vec<u32>,
}
