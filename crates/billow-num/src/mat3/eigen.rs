//! Eigenvalues of symmetric 3×3 matrices by cyclic Jacobi rotations.
//!
//! Jacobi is slower than a closed form by a small factor but loses nothing: eigenvectors stay orthonormal for
//! repeated and clustered eigenvalues, and small eigenvalues of graded positive matrices keep their relative
//! accuracy. A rotation is skipped once its entry is negligible beside both diagonal entries.

use super::scaled;
use crate::{Mat3, Vec3};

/// The decomposition `A = Q diag(λ) Qᵀ`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SymmetricEigen {
    /// Eigenvalues, largest first.
    pub values: Vec3,
    /// Unit eigenvectors as columns; a proper rotation.
    pub vectors: Mat3,
}

impl SymmetricEigen {
    /// The symmetric matrix with the same eigenvectors and the eigenvalues `values`.
    pub fn with_values(&self, values: Vec3) -> Mat3 {
        let q = self.vectors;
        let a =
            Mat3::from_cols(q.x_axis * values.x, q.y_axis * values.y, q.z_axis * values.z) * q.transpose();
        // Exactly symmetric, whatever the rounding.
        (a + a.transpose()) * 0.5
    }
}

/// A symmetric matrix as its diagonal and the off-diagonal entries opposite to each axis: (yz, xz, xy).
#[derive(Clone, Copy)]
struct Symmetric {
    diagonal: [f64; 3],
    off: [f64; 3],
}

/// Sweeps after which Jacobi stops regardless; convergence is quadratic and takes 3 to 6.
const MAX_SWEEPS: usize = 16;
/// Entries this far below the largest one no longer move any eigenvalue or vector.
const NEGLIGIBLE: f64 = 1e-40;
/// Square of half the rounding unit: an entry this small beside both its diagonals is rounding.
const RELATIVE_SQUARED: f64 = f64::EPSILON * f64::EPSILON / 16.0;

/// Eigenvalues and eigenvectors of the symmetric part of `a` (only the lower triangle is read).
pub fn eigen_symmetric(a: &Mat3) -> SymmetricEigen {
    let (a, scale) = scaled(a);
    let mut s = Symmetric {
        diagonal: [a.x_axis.x, a.y_axis.y, a.z_axis.z],
        off: [a.y_axis.z, a.x_axis.z, a.x_axis.y],
    };
    let mut q = [Vec3::X, Vec3::Y, Vec3::Z];
    for _ in 0..MAX_SWEEPS {
        let rotated = [
            rotate::<0, 1, 2>(&mut s, &mut q),
            rotate::<0, 2, 1>(&mut s, &mut q),
            rotate::<1, 2, 0>(&mut s, &mut q),
        ];
        if rotated == [false; 3] {
            break;
        }
    }
    sort_descending(&mut s.diagonal, &mut q);
    SymmetricEigen {
        values: Vec3::from_array(s.diagonal) * scale,
        vectors: Mat3::from_cols(q[0], q[1], q[2]),
    }
}

/// Annihilates the entry `(I, J)`, `K` being the third axis; false if it was negligible already.
#[inline(always)]
fn rotate<const I: usize, const J: usize, const K: usize>(s: &mut Symmetric, q: &mut [Vec3; 3]) -> bool {
    let b = s.off[K];
    if b * b <= RELATIVE_SQUARED * (s.diagonal[I] * s.diagonal[J]).abs() || b.abs() <= NEGLIGIBLE {
        s.off[K] = 0.0;
        return false;
    }
    // t = tan of the smaller of the two angles that zero the entry; cosine and sine from the same triangle, so
    // that they wait for two roots and one division only.
    let difference = s.diagonal[J] - s.diagonal[I];
    let hypotenuse = (difference * difference + 4.0 * b * b).sqrt();
    let (adjacent, opposite) = (difference.abs() + hypotenuse, (2.0 * b).copysign(b * difference));
    let t = opposite / adjacent;
    let unit = 1.0 / (2.0 * hypotenuse * adjacent).sqrt();
    let (c, sine) = (adjacent * unit, opposite * unit);
    s.diagonal[I] -= t * b;
    s.diagonal[J] += t * b;
    s.off[K] = 0.0;
    // off[J] couples I and K, off[I] couples J and K.
    (s.off[J], s.off[I]) = (c * s.off[J] - sine * s.off[I], sine * s.off[J] + c * s.off[I]);
    (q[I], q[J]) = (q[I] * c - q[J] * sine, q[I] * sine + q[J] * c);
    true
}

/// Sorts values with their columns, largest first, keeping the handedness of the columns.
pub(super) fn sort_descending(values: &mut [f64; 3], columns: &mut [Vec3; 3]) {
    for (i, j) in [(0, 1), (1, 2), (0, 1)] {
        if values[i] < values[j] {
            values.swap(i, j);
            (columns[i], columns[j]) = (columns[j], -columns[i]);
        }
    }
}

/// Whether the symmetric `a` is positive definite beyond rounding (a sufficient test, about 32 units wide).
///
/// With the trace scaled to 1, the characteristic polynomial λ³ − λ² + mλ − det has no root ≤ 0 exactly if the
/// sum of principal minors m and the determinant are positive.
pub fn is_spd(a: &Mat3) -> bool {
    let margin = 32.0 * f64::EPSILON;
    let trace = a.x_axis.x + a.y_axis.y + a.z_axis.z;
    if trace.is_nan() || trace < f64::MIN_POSITIVE {
        return false;
    }
    let p = *a * (1.0 / trace);
    let (d, off) =
        (Vec3::new(p.x_axis.x, p.y_axis.y, p.z_axis.z), Vec3::new(p.y_axis.z, p.x_axis.z, p.x_axis.y));
    let minors = d.x * d.y + d.y * d.z + d.z * d.x - off.length_squared();
    minors > margin && p.determinant() > margin
}

/// The nearest symmetric matrix (in the Frobenius norm) whose eigenvalues are at least `floor`.
///
/// Matrices that are safely positive definite already come back unchanged when `floor` is 0; this is the usual
/// case in elasticity and costs a Cholesky test only.
pub fn project_spd(a: &Mat3, floor: f64) -> Mat3 {
    if floor == 0.0 && is_spd(a) {
        return *a;
    }
    let eigen = eigen_symmetric(a);
    if eigen.values.z >= floor {
        return *a;
    }
    eigen.with_values(eigen.values.max(Vec3::splat(floor)))
}

#[cfg(test)]
mod tests {
    use super::super::cases::{assert_rotation, rotation, scale, size, spectrum};
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn random_clustered_graded_and_scaled_matrices_are_decomposed_to_rounding() {
        for i in 0..100_000 {
            let mut d = Stream::new(21, 0).at(i);
            let (r, truth, scale) = (rotation(&mut d), spectrum(&mut d), scale(&mut d));
            let a = SymmetricEigen { values: truth, vectors: r }.with_values(truth) * scale;
            let found = eigen_symmetric(&a);
            let norm = truth.abs().max_element() * scale;
            assert_rotation(found.vectors);
            assert!(size(found.with_values(found.values) - a) <= 4e-15 * norm);
            let mut sorted = truth.to_array();
            sorted.sort_by(|x, y| y.total_cmp(x));
            assert!((found.values - Vec3::from_array(sorted) * scale).abs().max_element() <= 4e-15 * norm);
            assert!(found.values.x >= found.values.y && found.values.y >= found.values.z);
        }
    }

    #[test]
    fn small_eigenvalues_of_graded_positive_matrices_keep_relative_accuracy() {
        // D B D with B well conditioned: eigenvalues are about 1, 1e-10 and 1e-20 and all are well determined.
        let b = Mat3::from_cols_array(&[2.0, 0.5, 0.25, 0.5, 3.0, -0.75, 0.25, -0.75, 1.5]);
        let dd = Mat3::from_diagonal(Vec3::new(1.0, 1e-5, 1e-10));
        let found = eigen_symmetric(&(dd * b * dd)).values;
        // Schur complements to first order in the grading.
        let second = 3.0 - 0.25 / 2.0;
        let third = b.determinant() / (2.0 * 3.0 - 0.25);
        assert!((found.y / 1e-10 / second - 1.0).abs() < 1e-9);
        assert!((found.z / 1e-20 / third - 1.0).abs() < 1e-9);
    }

    #[test]
    fn special_matrices() {
        assert_eq!(eigen_symmetric(&Mat3::ZERO).values, Vec3::ZERO);
        assert_eq!(eigen_symmetric(&Mat3::IDENTITY).values, Vec3::ONE);
        let ones = eigen_symmetric(&Mat3::from_cols(Vec3::ONE, Vec3::ONE, Vec3::ONE));
        assert!((ones.values - Vec3::new(3.0, 0.0, 0.0)).length() < 1e-15);
        let tiny = Mat3::from_diagonal(Vec3::new(5e-324, 0.0, 0.0));
        assert_eq!(eigen_symmetric(&tiny).values.x, 5e-324);
        assert_eq!(eigen_symmetric(&Mat3::from_diagonal(Vec3::splat(f64::MAX))).values.z, f64::MAX);
        assert!(!eigen_symmetric(&(Mat3::IDENTITY * f64::NAN)).values.is_finite());
    }

    #[test]
    fn projection_clamps_eigenvalues_and_leaves_positive_matrices_alone() {
        for i in 0..20_000 {
            let mut d = Stream::new(22, 0).at(i);
            let (r, truth, scale) = (rotation(&mut d), spectrum(&mut d), scale(&mut d));
            let a = SymmetricEigen { values: truth, vectors: r }.with_values(truth) * scale;
            let floor = [0.0, 0.1 * scale][d.below(2) as usize];
            let p = project_spd(&a, floor);
            let norm = truth.abs().max_element().max(0.1) * scale;
            let expected = SymmetricEigen { values: truth, vectors: r }
                .with_values((truth * scale).max(Vec3::splat(floor)));
            assert!(size(p - expected) <= 8e-15 * norm);
            assert!(eigen_symmetric(&p).values.z >= floor - 8e-15 * norm);
            if truth.min_element() > 1e-3 && floor == 0.0 {
                assert_eq!(p, a);
            }
            if is_spd(&a) {
                assert!(truth.min_element() > 0.0, "{truth} was called positive definite");
            }
        }
        assert!(!is_spd(&Mat3::ZERO) && !is_spd(&(Mat3::IDENTITY * f64::NAN)) && is_spd(&Mat3::IDENTITY));
    }
}
