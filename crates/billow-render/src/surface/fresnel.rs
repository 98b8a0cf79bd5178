//! Reflection at the border of two dielectrics.

use crate::vector::Vec3;

/// Reflected share of unpolarised light that arrives with `cos_i` > 0 on a border whose far side has `eta` times the
/// near side's index of refraction, and the cosine on the far side (0 under total reflection).
#[inline]
pub(crate) fn dielectric(cos_i: f32, eta: f32) -> (f32, f32) {
    let sin2_t = (1.0 - cos_i * cos_i) / (eta * eta);
    if sin2_t >= 1.0 {
        return (1.0, 0.0);
    }
    let cos_t = (1.0 - sin2_t).sqrt();
    let parallel = (eta * cos_i - cos_t) / (eta * cos_i + cos_t);
    let perpendicular = (cos_i - eta * cos_t) / (cos_i + eta * cos_t);
    (0.5 * (parallel * parallel + perpendicular * perpendicular), cos_t)
}

/// Schlick's approximation for a metal with the given reflection at right angles.
#[inline]
pub(crate) fn schlick(f0: Vec3, cos: f32) -> Vec3 {
    f0 + (Vec3::ONE - f0) * weight(cos)
}

/// (1 - cos)⁵.
#[inline]
pub(crate) fn weight(cos: f32) -> f32 {
    let m = (1.0 - cos).clamp(0.0, 1.0);
    let m2 = m * m;
    m2 * m2 * m
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reflection_at_right_angles_brewster_and_beyond_the_critical_angle() {
        let (r, _) = dielectric(1.0, 1.5);
        assert!((r - 0.04).abs() < 1e-6);
        let brewster = 1.5f32.atan();
        let (r, cos_t) = dielectric(brewster.cos(), 1.5);
        // Only the perpendicular part is left: half of ((1 - n²)/(1 + n²))².
        let left = 0.5 * ((1.0 - 2.25f32) / (1.0 + 2.25)).powi(2);
        assert!((r - left).abs() < 1e-5);
        assert!(((1.0 - cos_t * cos_t).sqrt() * 1.5 - brewster.sin()).abs() < 1e-6);
        assert_eq!(dielectric(0.5, 1.0 / 1.5), (1.0, 0.0));
    }
}
