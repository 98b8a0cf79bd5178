//! Inverse of 3×3 matrices that refuses what it cannot invert.

use super::{scaled, svd_rotations};
use crate::{Mat3, NumError, Vec3};

/// Condition numbers up to which cofactors and one correction step are as good as singular values.
const COFACTOR_CONDITION: f64 = 1e5;

/// The inverse of `a`, if its reciprocal condition number is at least `min_rcond`.
///
/// The relative error is about the condition number times 1e-16; `min_rcond` of 1e-12 thus keeps four digits.
pub fn inverse(a: &Mat3, min_rcond: f64) -> Result<Mat3, NumError> {
    let (m, scale) = scaled(a);
    let candidate = by_cofactors(&m).filter(|x| condition(&m, x) < COFACTOR_CONDITION);
    let x = candidate.unwrap_or_else(|| by_singular_values(&m));
    let rcond = 1.0 / condition(&m, &x);
    let inverse = x * (1.0 / scale);
    if rcond >= min_rcond && inverse.is_finite() {
        Ok(inverse)
    } else {
        Err(NumError::Singular { rcond: if rcond.is_nan() { 0.0 } else { rcond }, limit: min_rcond })
    }
}

/// Transposed cofactor formula with one step of Newton's iteration `X ← X (2 − A X)`, which removes the
/// cancellation in the cofactors.
fn by_cofactors(a: &Mat3) -> Option<Mat3> {
    let c = cofactors(a);
    let det = a.x_axis.dot(c.x_axis);
    let x = c.transpose() * (1.0 / det);
    let residual = Mat3::IDENTITY - *a * x;
    // The step squares the residual, so it must start small; a determinant of pure rounding does not pass.
    (norm_squared(&residual) < 1e-12).then(|| x + x * residual)
}

fn by_singular_values(a: &Mat3) -> Mat3 {
    let s = svd_rotations(a);
    let u = s.u.transpose();
    let scaled_rows = Mat3::from_diagonal(Vec3::ONE / s.sigma) * u;
    s.v * scaled_rows
}

/// The matrix of cofactors, `A⁻ᵀ det A`.
pub(super) fn cofactors(a: &Mat3) -> Mat3 {
    Mat3::from_cols(a.y_axis.cross(a.z_axis), a.z_axis.cross(a.x_axis), a.x_axis.cross(a.y_axis))
}

fn condition(a: &Mat3, inverse: &Mat3) -> f64 {
    (norm_squared(a) * norm_squared(inverse)).sqrt()
}

fn norm_squared(a: &Mat3) -> f64 {
    a.x_axis.length_squared() + a.y_axis.length_squared() + a.z_axis.length_squared()
}

#[cfg(test)]
mod tests {
    use super::super::cases::{rotation, scale, size, spectrum};
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn error_grows_no_faster_than_the_condition_number() {
        let (mut inverted, mut refused) = (0, 0);
        for i in 0..50_000 {
            let mut d = Stream::new(51, 0).at(i);
            let (u, v, sigma, scale) = (rotation(&mut d), rotation(&mut d), spectrum(&mut d), scale(&mut d));
            let a = u * Mat3::from_diagonal(sigma * scale) * v.transpose();
            let condition = sigma.abs().max_element() / sigma.abs().min_element();
            match inverse(&a, 1e-11) {
                Ok(x) => {
                    let truth = v * Mat3::from_diagonal(Vec3::ONE / (sigma * scale)) * u.transpose();
                    assert!(size(x - truth) <= 1e-14 * condition * size(truth), "condition {condition:e}");
                    inverted += 1;
                }
                Err(NumError::Singular { rcond, .. }) => {
                    assert!(rcond < 1e-11 && condition > 1e10, "condition {condition:e}, rcond {rcond:e}");
                    refused += 1;
                }
                Err(other) => panic!("{other}"),
            }
        }
        assert!(inverted > 10_000 && refused > 10_000);
    }

    #[test]
    fn singular_and_bad_matrices_are_refused_with_numbers() {
        assert_eq!(inverse(&Mat3::ZERO, 1e-12), Err(NumError::Singular { rcond: 0.0, limit: 1e-12 }));
        assert!(inverse(&Mat3::from_cols(Vec3::X, Vec3::X, Vec3::Z), 1e-12).is_err());
        assert!(inverse(&(Mat3::IDENTITY * f64::NAN), 1e-12).is_err());
        assert!(inverse(&(Mat3::IDENTITY * 5e-324), 0.0).is_err(), "the inverse would overflow");
        let message = inverse(&Mat3::ZERO, 1e-12).unwrap_err().to_string();
        assert!(message.contains("0.00e0") && message.contains("1.00e-12"), "{message}");
        assert_eq!(inverse(&Mat3::IDENTITY, 0.1).unwrap(), Mat3::IDENTITY);
    }
}
