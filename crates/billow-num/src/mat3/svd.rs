//! Singular values of 3×3 matrices, ordinary and with both factors proper rotations.
//!
//! V starts as the eigenvectors of AᵀA; one-sided Jacobi rotations on the columns of A V then remove what
//! squaring the matrix lost, so small singular values are accurate to rounding of the matrix. The signed form
//! carries the sign of det A in the last singular value, as inversion-safe finite elements need.

use super::{eigen_symmetric, scaled};
use crate::{Mat3, Vec3};

/// The decomposition `A = U diag(σ) Vᵀ` with σ largest first by magnitude.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Svd {
    /// Left singular vectors as columns.
    pub u: Mat3,
    /// Singular values.
    pub sigma: Vec3,
    /// Right singular vectors as columns.
    pub v: Mat3,
}

impl Svd {
    /// The product `U diag(σ) Vᵀ` with other singular values.
    pub fn with_sigma(&self, sigma: Vec3) -> Mat3 {
        let u = self.u;
        Mat3::from_cols(u.x_axis * sigma.x, u.y_axis * sigma.y, u.z_axis * sigma.z) * self.v.transpose()
    }
}

/// The ordinary singular value decomposition: all σ ≥ 0, V a rotation, U a reflection if det A < 0.
pub fn svd(a: &Mat3) -> Svd {
    let mut s = svd_rotations(a);
    if s.sigma.z < 0.0 {
        s.sigma.z = -s.sigma.z;
        s.u.z_axis = -s.u.z_axis;
    }
    s
}

/// The decomposition with U and V proper rotations; only the last (smallest) σ may be negative.
pub fn svd_rotations(a: &Mat3) -> Svd {
    let (a, scale) = scaled(a);
    if !a.is_finite() {
        return Svd { u: Mat3::IDENTITY, sigma: Vec3::NAN, v: Mat3::IDENTITY };
    }
    let v = eigen_symmetric(&(a.transpose() * a)).vectors;
    let b = a * v;
    let (mut b, mut v) = ([b.x_axis, b.y_axis, b.z_axis], [v.x_axis, v.y_axis, v.z_axis]);
    orthogonalise(&mut b, &mut v);
    sort_by_length(&mut b, &mut v);

    // U column by column: each is made orthogonal to the ones before, so it is a rotation whatever the rank.
    let u0 = direction(b[0], Vec3::X);
    let u1 = direction(b[1] - u0 * u0.dot(b[1]), u0.any_orthonormal_vector());
    let u1 = (u1 - u0 * u0.dot(u1)).normalize();
    let u2 = u0.cross(u1);
    // The order holds to the last bit, although lengths and products round differently.
    let first = b[0].dot(u0);
    let second = b[1].dot(u1).clamp(0.0, first);
    let sigma = Vec3::new(first, second, b[2].dot(u2).clamp(-second, second));
    Svd { u: Mat3::from_cols(u0, u1, u2), sigma: sigma * scale, v: Mat3::from_cols(v[0], v[1], v[2]) }
}

/// Squared cosine below which two columns are orthogonal up to rounding of their product.
const ORTHOGONAL: f64 = 64.0 * f64::EPSILON * f64::EPSILON;

/// One-sided Jacobi: rotates pairs of columns of `b` (and `v` with them) until all are orthogonal.
fn orthogonalise(b: &mut [Vec3; 3], v: &mut [Vec3; 3]) {
    for _ in 0..12 {
        let mut rotated = false;
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            let (p, q, r) = (b[i].length_squared(), b[j].length_squared(), b[i].dot(b[j]));
            if r * r <= ORTHOGONAL * p * q || r.abs() < 1e-150 {
                continue;
            }
            let t =
                (2.0 * r).copysign(r * (q - p)) / ((q - p).abs() + ((q - p) * (q - p) + 4.0 * r * r).sqrt());
            let c = 1.0 / (1.0 + t * t).sqrt();
            let s = t * c;
            (b[i], b[j]) = (b[i] * c - b[j] * s, b[i] * s + b[j] * c);
            (v[i], v[j]) = (v[i] * c - v[j] * s, v[i] * s + v[j] * c);
            rotated = true;
        }
        if !rotated {
            return;
        }
    }
}

fn sort_by_length(b: &mut [Vec3; 3], v: &mut [Vec3; 3]) {
    for (i, j) in [(0, 1), (1, 2), (0, 1)] {
        if b[i].length_squared() < b[j].length_squared() {
            (b[i], b[j]) = (b[j], -b[i]);
            (v[i], v[j]) = (v[j], -v[i]);
        }
    }
}

/// `x / |x|`, or `otherwise` where `x` is too short to have a direction.
fn direction(x: Vec3, otherwise: Vec3) -> Vec3 {
    let length = x.length();
    if length > 1e-140 { x / length } else { otherwise }
}

#[cfg(test)]
mod tests {
    use super::super::cases::{assert_rotation, rotation, scale, size, spectrum};
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn factors_are_rotations_and_the_sign_of_the_determinant_sits_in_the_last_value() {
        for i in 0..100_000 {
            let mut d = Stream::new(31, 0).at(i);
            let (u, v, truth, scale) = (rotation(&mut d), rotation(&mut d), spectrum(&mut d), scale(&mut d));
            let a = u * Mat3::from_diagonal(truth * scale) * v.transpose();
            let norm = truth.abs().max_element() * scale;
            let found = svd_rotations(&a);
            assert_rotation(found.u);
            assert_rotation(found.v);
            assert!(size(found.with_sigma(found.sigma) - a) <= 4e-15 * norm);
            let s = found.sigma;
            assert!(s.x >= s.y && s.y >= s.z.abs(), "{s}");
            let mut sorted = truth.abs().to_array();
            sorted.sort_by(|x, y| y.total_cmp(x));
            assert!((s.abs() - Vec3::from_array(sorted) * scale).abs().max_element() <= 4e-15 * norm);
            if truth.abs().min_element() > 1e-14 * truth.abs().max_element() {
                assert_eq!(s.z.signum(), (truth.x.signum() * truth.y.signum() * truth.z.signum()));
            }
            let plain = svd(&a);
            assert!(plain.sigma.z >= 0.0 && size(plain.with_sigma(plain.sigma) - a) <= 4e-15 * norm);
        }
    }

    #[test]
    fn small_singular_values_survive_the_squaring_of_the_matrix() {
        // Graded rows: AᵀA alone would lose everything below 1e-8.
        let mut d = Stream::new(32, 0).at(0);
        let v = rotation(&mut d);
        let a = Mat3::from_diagonal(Vec3::new(1.0, 1e-10, 1e-13)) * v;
        let s = svd(&a).sigma;
        assert!((s.y / 1e-10 - 1.0).abs() < 1e-5 && (s.z / 1e-13 - 1.0).abs() < 2e-2, "{s}");
    }

    #[test]
    fn special_matrices() {
        for a in [Mat3::ZERO, Mat3::from_diagonal(Vec3::new(0.0, 5e-324, 0.0))] {
            let s = svd_rotations(&a);
            assert_rotation(s.u);
            assert_rotation(s.v);
            assert_eq!(s.with_sigma(s.sigma), a);
        }
        assert_eq!(svd_rotations(&-Mat3::IDENTITY).sigma, Vec3::new(1.0, 1.0, -1.0));
        assert!(svd(&(Mat3::IDENTITY * f64::INFINITY)).sigma.is_nan());
    }
}
