//! Mean and principal curvatures of level surfaces ([Bri03] 5.3 steers refinement by them).
//!
//! With g = ∇φ and H the Hessian, the mean-curvature sum is κ = (|g|² tr H − gᵀHg)/|g|³ and the Gaussian curvature
//! is gᵀ adj(H) g/|g|⁴; the principal curvatures are the roots of x² − κx + K. For a sphere of radius r
//! outward, κ = 2/r.

use super::ScalarGrid;
use billow_num::{Mat3, Vec3};

/// Curvatures of the level surface through a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curvature {
    /// Sum of the principal curvatures, κ = ∇·(∇φ/|∇φ|) [1/m].
    pub mean_sum: f64,
    /// Product of the principal curvatures [1/m²].
    pub gaussian: f64,
    /// The principal curvatures, larger first [1/m].
    pub principal: [f64; 2],
}

impl Curvature {
    /// |κ₁| + |κ₂|, which does not vanish at saddles [1/m].
    pub fn total(&self) -> f64 {
        self.principal[0].abs() + self.principal[1].abs()
    }
}

/// The curvatures of a function with the given gradient and (symmetric) Hessian; zero where the gradient is.
pub fn curvature_of_derivatives(g: Vec3, hessian: Mat3) -> Curvature {
    let g2 = g.length_squared();
    if g2 == 0.0 {
        return Curvature { mean_sum: 0.0, gaussian: 0.0, principal: [0.0; 2] };
    }
    let length = g2.sqrt();
    let trace = hessian.x_axis.x + hessian.y_axis.y + hessian.z_axis.z;
    let mean_sum = (g2 * trace - g.dot(hessian * g)) / (g2 * length);
    let gaussian = g.dot(adjugate(hessian) * g) / (g2 * g2);
    let root = (0.25 * mean_sum * mean_sum - gaussian).max(0.0).sqrt();
    Curvature { mean_sum, gaussian, principal: [0.5 * mean_sum + root, 0.5 * mean_sum - root] }
}

/// Adjugate of a symmetric matrix.
fn adjugate(m: Mat3) -> Mat3 {
    let (a, b, c) = (m.x_axis, m.y_axis, m.z_axis);
    Mat3::from_cols(b.cross(c), c.cross(a), a.cross(b)).transpose()
}

impl ScalarGrid {
    /// Second derivatives at a sample by central differences, the stencil clamped at the border [1/m].
    pub fn hessian_at(&self, ijk: [usize; 3]) -> Mat3 {
        // Next to the border the nearest full stencil stands in.
        let d = self.lattice.dims;
        let c = [0, 1, 2].map(|a| ijk[a].min(d[a].saturating_sub(2)).max(usize::from(d[a] > 2)) as isize);
        let at = |di: isize, dj: isize, dk: isize| self.at_clamped([c[0] + di, c[1] + dj, c[2] + dk]);
        let h2 = self.lattice.spacing.powi(2);
        let m = 2.0 * at(0, 0, 0);
        let (xx, yy, zz) =
            (at(1, 0, 0) + at(-1, 0, 0) - m, at(0, 1, 0) + at(0, -1, 0) - m, at(0, 0, 1) + at(0, 0, -1) - m);
        let xy = 0.25 * (at(1, 1, 0) + at(-1, -1, 0) - at(1, -1, 0) - at(-1, 1, 0));
        let xz = 0.25 * (at(1, 0, 1) + at(-1, 0, -1) - at(1, 0, -1) - at(-1, 0, 1));
        let yz = 0.25 * (at(0, 1, 1) + at(0, -1, -1) - at(0, 1, -1) - at(0, -1, 1));
        Mat3::from_cols(Vec3::new(xx, xy, xz), Vec3::new(xy, yy, yz), Vec3::new(xz, yz, zz)) * (1.0 / h2)
    }

    /// Curvatures at a sample, second-order accurate in the interior.
    pub fn curvature_at(&self, ijk: [usize; 3]) -> Curvature {
        curvature_of_derivatives(self.gradient_at(ijk), self.hessian_at(ijk))
    }
}
