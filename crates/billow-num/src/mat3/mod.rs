//! Decompositions of 3×3 matrices: symmetric eigenvalues, singular values, polar factors, safe inverse.
//!
//! All routines scale by a power of two first, so entries from 1e-150 to 1e150 (and beyond) are handled without
//! overflow, use only `+ − × ÷ √`, and return orthogonal factors that are orthonormal to rounding whatever the
//! spectrum. Values come largest first. Non-finite input gives non-finite values, never a hang.

mod eigen;
mod inverse;
mod polar;
mod svd;

pub use eigen::{SymmetricEigen, eigen_symmetric, is_spd, project_spd};
pub use inverse::inverse;
pub use polar::{Polar, polar};
pub use svd::{Svd, svd, svd_rotations};

use crate::Mat3;

/// The matrix divided by a power of two so that its largest entry lies in `[1, 2)`, and that power.
/// Zero and non-finite matrices come back unchanged with power 1.
fn scaled(a: &Mat3) -> (Mat3, f64) {
    let largest = a.to_cols_array().iter().fold(0.0f64, |m, x| m.max(x.abs()));
    if largest == 0.0 || !a.is_finite() {
        return (*a, 1.0);
    }
    let exponent = largest.to_bits() >> 52;
    if (1..=2045).contains(&exponent) {
        let (power, inverse) = (f64::from_bits(exponent << 52), f64::from_bits((2046 - exponent) << 52));
        return (*a * inverse, power);
    }
    scaled_at_the_limits(a, largest)
}

/// The same for subnormal and the very largest matrices, by two exact steps.
#[cold]
fn scaled_at_the_limits(a: &Mat3, largest: f64) -> (Mat3, f64) {
    let power = if largest >= 1.0 {
        2.0f64.powi(1023)
    } else {
        // Subnormal: keep the leading bit.
        f64::from_bits(1 << (63 - largest.to_bits().leading_zeros()))
    };
    let half = if largest >= 1.0 { 2.0f64.powi(511) } else { 2.0f64.powi(-511) };
    (*a * (1.0 / half) * (half / power), power)
}

#[cfg(test)]
pub(crate) mod cases {
    //! Matrices that make decompositions fail: clustered, graded, singular, inverted, tiny and huge.

    use crate::rng::Draws;
    use crate::{Mat3, Quat, Vec3};

    pub(crate) fn rotation(d: &mut Draws) -> Mat3 {
        Mat3::from_quat(Quat::from_xyzw(d.normal(), d.normal(), d.normal(), d.normal() + 1e-9).normalize())
    }

    /// Values with repeated, nearly repeated, zero and widely spread members.
    pub(crate) fn spectrum(d: &mut Draws) -> Vec3 {
        let a = d.normal();
        let near = a * (1.0 + d.normal() * 10.0f64.powi(-(d.below(17) as i32)));
        let small = d.normal() * 10.0f64.powi(-(d.below(20) as i32));
        [
            Vec3::new(a, a, a),
            Vec3::new(a, near, near),
            Vec3::new(a, near, small),
            Vec3::new(a, small, small * d.normal()),
            Vec3::new(a, small, 0.0),
            Vec3::new(a, 0.0, 0.0),
            Vec3::new(a, d.normal(), d.normal()),
            Vec3::new(a, -near, small),
        ][d.below(8) as usize]
    }

    pub(crate) fn scale(d: &mut Draws) -> f64 {
        [1.0, 1e-150, 1e150, 1e-12, 1e9][d.below(5) as usize]
    }

    /// Largest absolute entry.
    pub(crate) fn size(a: Mat3) -> f64 {
        a.to_cols_array().iter().fold(0.0f64, |m, x| m.max(x.abs()))
    }

    pub(crate) fn assert_rotation(r: Mat3) {
        assert!(
            size(r.transpose() * r - Mat3::IDENTITY) < 3e-15,
            "{}",
            size(r.transpose() * r - Mat3::IDENTITY)
        );
        assert!((r.determinant() - 1.0).abs() < 5e-15);
    }
}
