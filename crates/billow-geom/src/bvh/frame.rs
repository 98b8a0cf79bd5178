//! A frame for the boxes of a surface.

use super::Vec3;
use billow_num::mat3::eigen_symmetric;
use billow_num::{Mat3, par};
use std::ops::Range;

/// The principal axes of the normals of `n` triangles, as rows: boxes in this frame hug stacked layers of any
/// direction. Triangles without corners are left out.
pub(crate) fn dominant_frame(n: usize, corners: impl Fn(usize) -> Option<[Vec3; 3]> + Sync) -> Mat3 {
    let spread = |r: Range<usize>| {
        r.filter_map(&corners).fold(Mat3::ZERO, |sum, [a, b, c]| {
            let n = (b - a).cross(c - a);
            let l = n.length();
            if l > 0.0 { sum + Mat3::from_cols(n * (n.x / l), n * (n.y / l), n * (n.z / l)) } else { sum }
        })
    };
    let spread = par::reduce(n, par::CHUNK, spread, |a, b| a + b).unwrap_or(Mat3::ZERO);
    let frame = eigen_symmetric(&spread).vectors.transpose();
    // Any rotation will do; one that is not finite or not one at all will not.
    let orthogonal = (frame * frame.transpose() - Mat3::IDENTITY).abs_diff_eq(Mat3::ZERO, 1e-12);
    if orthogonal { frame } else { Mat3::IDENTITY }
}
