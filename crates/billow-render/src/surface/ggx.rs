//! Microfacets with the Trowbridge–Reitz (GGX) distribution and height-correlated shadowing.
//!
//! Directions are in the frame of the normal (z). Normals are drawn from those visible to the viewer, so that the
//! weight of a sample is bounded by one.

use crate::vector::{Vec2, Vec3};
use std::f32::consts::{PI, TAU};

/// Below this the lobe is so narrow that single precision cannot evaluate it; it counts as a mirror.
pub(crate) const SMOOTHEST: f32 = 1e-3;

/// Density of microfacet normals.
#[inline]
pub(crate) fn distribution(h: Vec3, alpha: f32) -> f32 {
    let a2 = alpha * alpha;
    // 1 - cos²(1 - a²) written so that it does not cancel for smooth surfaces.
    let d = (h.x * h.x + h.y * h.y) + a2 * h.z * h.z;
    a2 / (PI * d * d)
}

#[inline]
fn lambda(w: Vec3, alpha: f32) -> f32 {
    let tan2 = (w.x * w.x + w.y * w.y) / (w.z * w.z).max(1e-12);
    0.5 * ((1.0 + alpha * alpha * tan2).sqrt() - 1.0)
}

/// Share of facets visible from one direction.
#[inline]
pub(crate) fn visible(w: Vec3, alpha: f32) -> f32 {
    1.0 / (1.0 + lambda(w, alpha))
}

/// Share of facets visible from both directions.
#[inline]
pub(crate) fn visible_both(wo: Vec3, wi: Vec3, alpha: f32) -> f32 {
    1.0 / (1.0 + lambda(wo, alpha) + lambda(wi, alpha))
}

/// A microfacet normal among those visible from `wo`: a spherical cap of the stretched hemisphere.
#[inline]
pub(crate) fn sample_normal(wo: Vec3, alpha: f32, u: Vec2) -> Vec3 {
    let stretched = Vec3::new(alpha * wo.x, alpha * wo.y, wo.z).normalize();
    let z = 1.0 - u.y * (1.0 + stretched.z);
    let sin = (1.0 - z * z).clamp(0.0, 1.0).sqrt();
    let (s, c) = (TAU * u.x).sin_cos();
    let h = Vec3::new(c * sin, s * sin, z) + stretched;
    Vec3::new(alpha * h.x, alpha * h.y, h.z.max(1e-7)).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sampler;

    /// The visible normals project to the viewer's cosine: ∫ D G₁ ⟨wo·h⟩ dh = cos θ.
    #[test]
    fn visible_normals_fill_the_projected_area() {
        for alpha in [0.05f32, 0.3, 0.8] {
            for cos in [0.2f32, 0.6, 0.95] {
                let wo = Vec3::new((1.0 - cos * cos).sqrt(), 0.0, cos);
                let n = 400;
                let mut sum = 0.0f64;
                for i in 0..n {
                    for j in 0..n {
                        // Uniform in the slope-friendly variable tan θ = α √(u/(1-u)), density D cos.
                        let u = (i as f32 + 0.5) / n as f32;
                        let phi = TAU * (j as f32 + 0.5) / n as f32;
                        let tan = alpha * (u / (1.0 - u)).sqrt();
                        let c = 1.0 / (1.0 + tan * tan).sqrt();
                        let h = Vec3::new(c * tan * phi.cos(), c * tan * phi.sin(), c);
                        sum += f64::from(visible(wo, alpha) * wo.dot(h).max(0.0) / c);
                    }
                }
                let area = sum / f64::from(n * n);
                assert!((area / f64::from(cos) - 1.0).abs() < 0.015, "{alpha} {cos} {area}");
            }
        }
    }

    /// Density of [`sample_normal`].
    fn normal_density(wo: Vec3, h: Vec3, alpha: f32) -> f32 {
        distribution(h, alpha) * visible(wo, alpha) * wo.dot(h).max(0.0) / wo.z.max(1e-6)
    }

    #[test]
    fn sampled_normals_follow_their_density() {
        let (alpha, wo) = (0.4f32, Vec3::new(0.6, 0.0, 0.8));
        // The mean of 1/density over samples inside a region is the region's solid angle.
        let (mut sum, n) = (0.0f64, 200_000);
        for k in 0..n {
            let u = Sampler::new(3, 0, k).pair();
            let h = sample_normal(wo, alpha, u);
            if h.z > 0.8 {
                sum += 1.0 / f64::from(normal_density(wo, h, alpha));
            }
        }
        let angle = sum / f64::from(n);
        assert!((angle / (f64::from(TAU) * 0.2) - 1.0).abs() < 0.01, "{angle}");
    }
}
