//! Polar decomposition with a proper rotation for every matrix, singular and inverted ones included.
//!
//! Away from singularity Newton's iteration with Frobenius scaling (Higham 1986) converges to the rotation in a
//! few steps. Near-singular and inverted matrices go through the signed singular values, where the smallest
//! stretch takes the negative sign: the rotation nearest to A among proper ones.

use super::{inverse::cofactors, scaled, svd_rotations};
use crate::Mat3;

/// The decomposition `A = R S`, R a proper rotation and S symmetric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Polar {
    /// The rotation nearest to A.
    pub rotation: Mat3,
    /// The symmetric stretch; positive semi-definite unless det A < 0, when its smallest eigenvalue is negative.
    pub stretch: Mat3,
}

/// Below this det A / |A|³ (Frobenius) the singular values take over: Newton would need many more steps.
const NEARLY_SINGULAR: f64 = 1e-4;

/// Squared step below which Newton's iteration converges quadratically without scaling.
const SCALING_ENDS: f64 = 1e-2;

/// The polar decomposition of `a`.
pub fn polar(a: &Mat3) -> Polar {
    let (m, _) = scaled(a);
    let rotation = rotation_by_newton(&m).unwrap_or_else(|| {
        let s = svd_rotations(&m);
        s.u * s.v.transpose()
    });
    let s = rotation.transpose() * *a;
    Polar { rotation, stretch: (s + s.transpose()) * 0.5 }
}

/// Newton's iteration `X ← (γ X + X⁻ᵀ/γ)/2`; `None` for inverted, nearly singular and non-finite matrices.
fn rotation_by_newton(a: &Mat3) -> Option<Mat3> {
    let mut x = *a;
    let mut size = frobenius_squared(&x);
    if a.determinant().partial_cmp(&(NEARLY_SINGULAR * size * size.sqrt()))? != std::cmp::Ordering::Greater {
        return None;
    }
    let mut moved = f64::INFINITY;
    for _ in 0..16 {
        let c = cofactors(&x);
        let det = x.x_axis.dot(c.x_axis);
        // γ² = |X⁻¹| / |X| brings both terms to one size; close to the rotation it is one.
        let gamma = if moved > SCALING_ENDS {
            (frobenius_squared(&c) / (det * det * size)).sqrt().sqrt()
        } else {
            1.0
        };
        let next = x * (0.5 * gamma) + c * (0.5 / (gamma * det));
        moved = frobenius_squared(&(next - x));
        x = next;
        size = frobenius_squared(&x);
        // Convergence is quadratic: a step of 1e-8 leaves an error of 1e-16.
        if moved <= 1e-16 {
            return Some(x);
        }
    }
    None
}

fn frobenius_squared(a: &Mat3) -> f64 {
    a.x_axis.length_squared() + a.y_axis.length_squared() + a.z_axis.length_squared()
}

#[cfg(test)]
mod tests {
    use super::super::cases::{assert_rotation, rotation, scale, size, spectrum};
    use super::*;
    use crate::Vec3;
    use crate::rng::Stream;

    #[test]
    fn rotation_is_proper_and_stretch_symmetric_for_all_matrices() {
        for i in 0..100_000 {
            let mut d = Stream::new(41, 0).at(i);
            let (u, v, truth, scale) = (rotation(&mut d), rotation(&mut d), spectrum(&mut d), scale(&mut d));
            let a = u * Mat3::from_diagonal(truth * scale) * v.transpose();
            let norm = truth.abs().max_element() * scale;
            let p = polar(&a);
            assert_rotation(p.rotation);
            assert!(size(p.rotation * p.stretch - a) <= 6e-15 * norm);
            assert_eq!(p.stretch, p.stretch.transpose());
        }
    }

    #[test]
    fn newton_and_singular_values_agree_where_both_apply() {
        for i in 0..20_000 {
            let mut d = Stream::new(42, 0).at(i);
            let (r, v) = (rotation(&mut d), rotation(&mut d));
            let stretch = Vec3::new(d.range(0.05, 3.0), d.range(0.05, 3.0), d.range(0.05, 3.0));
            let s = v * Mat3::from_diagonal(stretch) * v.transpose();
            let a = r * s;
            let by_svd = svd_rotations(&a);
            let p = polar(&a);
            assert!(size(p.rotation - by_svd.u * by_svd.v.transpose()) < 1e-13);
            assert!(size(p.rotation - r) < 1e-13 && size(p.stretch - s) < 1e-13);
        }
    }

    #[test]
    fn inverted_matrices_get_the_nearest_proper_rotation() {
        // No rotation in a fine sample is nearer than the one returned.
        let a = Mat3::from_diagonal(Vec3::new(2.0, 1.0, -0.5));
        let nearest = size_squared(polar(&a).rotation - a);
        for i in 0..20_000 {
            let r = rotation(&mut Stream::new(43, 0).at(i));
            assert!(size_squared(r - a) >= nearest - 1e-12);
        }
        assert!(
            size(polar(&Mat3::ZERO).rotation.transpose() * polar(&Mat3::ZERO).rotation - Mat3::IDENTITY)
                < 1e-15
        );
    }

    fn size_squared(a: Mat3) -> f64 {
        frobenius_squared(&a)
    }
}
