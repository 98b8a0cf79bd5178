//! How much of the light from one direction a layer sends back, tabulated once.
//!
//! With these albedos a layer and what lies below share the light exactly: whatever the layer does not reflect
//! reaches the base, and what single scattering between facets loses is given back to metals.

use super::{fresnel, ggx};
use crate::vector::{Vec2, Vec3};
use std::sync::LazyLock;

/// Index of refraction of clear coats.
pub(crate) const COAT_IOR: f32 = 1.5;

const N: usize = 32;
const SAMPLES: usize = 16;

/// A table over cos θ and roughness.
pub(crate) struct Table {
    values: [[f32; N]; N],
    /// Cosine-weighted mean over the hemisphere per roughness.
    means: [f32; N],
}

/// Perfectly reflecting facets: what single scattering leaves of white light.
pub(crate) static FACETS: LazyLock<Table> = LazyLock::new(|| Table::new(|_| 1.0));
/// Clear dielectric coat.
pub(crate) static COAT: LazyLock<Table> =
    LazyLock::new(|| Table::new(|cos| fresnel::dielectric(cos, COAT_IOR).0));

impl Table {
    fn new(reflection: impl Fn(f32) -> f32) -> Self {
        let mut values = [[0.0; N]; N];
        let mut means = [0.0; N];
        for (a, row) in values.iter_mut().enumerate() {
            let alpha = alpha_of(a as f32 / (N - 1) as f32);
            for (c, value) in row.iter_mut().enumerate() {
                *value = directional(cosine_of(c), alpha, &reflection);
            }
            means[a] = mean(row);
        }
        Self { values, means }
    }

    /// Share of the light from `cos` that comes back.
    #[inline]
    pub(crate) fn at(&self, cos: f32, alpha: f32) -> f32 {
        let (a, fa) = cell(alpha.max(0.0).sqrt());
        let (c, fc) = cell(cos.clamp(0.0, 1.0));
        let row = |a: usize| self.values[a][c] + (self.values[a][c + 1] - self.values[a][c]) * fc;
        row(a) + (row(a + 1) - row(a)) * fa
    }

    /// Its cosine-weighted mean.
    #[inline]
    pub(crate) fn mean(&self, alpha: f32) -> f32 {
        let (a, fa) = cell(alpha.max(0.0).sqrt());
        self.means[a] + (self.means[a + 1] - self.means[a]) * fa
    }
}

/// Table entries are even in √α and cos θ; grazing light is taken slightly above the horizon.
fn alpha_of(s: f32) -> f32 {
    (s * s).max(ggx::SMOOTHEST)
}

fn cosine_of(c: usize) -> f32 {
    (c as f32 / (N - 1) as f32).max(1e-3)
}

#[inline]
fn cell(s: f32) -> (usize, f32) {
    let x = s.clamp(0.0, 1.0) * (N - 1) as f32;
    let k = (x as usize).min(N - 2);
    (k, x - k as f32)
}

/// Albedo of facets with the given reflection, by midpoints of the visible normals.
fn directional(cos: f32, alpha: f32, reflection: &impl Fn(f32) -> f32) -> f32 {
    let wo = Vec3::new((1.0 - cos * cos).max(0.0).sqrt(), 0.0, cos);
    let mut sum = 0.0;
    for i in 0..SAMPLES {
        for j in 0..SAMPLES {
            let u = Vec2::new((i as f32 + 0.5) / SAMPLES as f32, (j as f32 + 0.5) / SAMPLES as f32);
            let h = ggx::sample_normal(wo, alpha, u);
            let wi = 2.0 * wo.dot(h) * h - wo;
            if wi.z > 0.0 {
                sum += reflection(wo.dot(h)) * ggx::visible_both(wo, wi, alpha) / ggx::visible(wo, alpha);
            }
        }
    }
    sum / (SAMPLES * SAMPLES) as f32
}

/// 2 ∫ E(c) c dc over the piecewise linear table.
fn mean(row: &[f32; N]) -> f32 {
    let h = 1.0 / (N - 1) as f32;
    let part = |k: usize| {
        let (c0, e0, e1) = (k as f32 * h, row[k], row[k + 1]);
        h * (e0 * (c0 / 2.0 + h / 6.0) + e1 * (c0 / 2.0 + h / 3.0))
    };
    2.0 * (0..N - 1).map(part).sum::<f32>()
}

/// Albedo of the sheen of fibres, see [`sheen`].
pub(crate) static SHEEN: LazyLock<([f32; N], f32)> = LazyLock::new(|| {
    let row: [f32; N] = std::array::from_fn(|c| {
        let cos = cosine_of(c);
        let wo = Vec3::new((1.0 - cos * cos).max(0.0).sqrt(), 0.0, cos);
        let n = 48;
        let mut sum = 0.0;
        for i in 0..n {
            for j in 0..n {
                let u = Vec2::new((i as f32 + 0.5) / n as f32, (j as f32 + 0.5) / n as f32);
                let wi = crate::vector::cosine_direction(u);
                sum += sheen(wo, wi) * std::f32::consts::PI; // density cos/π
            }
        }
        sum / (n * n) as f32
    });
    let mean = mean(&row);
    (row, mean)
});

/// Fibres standing out of a fabric: more light where viewer and light both graze [1/sr].
#[inline]
pub(crate) fn sheen(wo: Vec3, wi: Vec3) -> f32 {
    let h = (wo + wi).normalize_or(Vec3::Z);
    fresnel::weight(wi.dot(h))
}

/// Albedo of the sheen at a cosine.
#[inline]
pub(crate) fn sheen_at(cos: f32) -> f32 {
    let (c, f) = cell(cos.clamp(0.0, 1.0));
    let row = &SHEEN.0;
    row[c] + (row[c + 1] - row[c]) * f
}
