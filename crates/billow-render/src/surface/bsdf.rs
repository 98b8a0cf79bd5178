//! Scattering at one point of a surface.
//!
//! Directions are in the frame of the shading normal, with the viewer above (`wo.z` > 0). Every lobe can be
//! evaluated and sampled with the same density, except glass, whose samples are always followed and never met by
//! light sampling. White surfaces return exactly the light they receive, whatever their roughness.

use super::{albedo, fresnel, ggx};
use crate::vector::{Vec2, Vec3, cosine_direction, luminance};
use std::f32::consts::FRAC_1_PI;

/// A scattering function.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bsdf {
    /// A diffuse base that reflects and lets through, under a top layer.
    Layered { base: Vec3, through: Vec3, top: Top },
    /// Conducting facets.
    Metal { f0: Vec3, alpha: f32 },
    /// The border of a transparent body; `eta` is the far side's index of refraction over the near side's.
    Glass { eta: f32, alpha: f32 },
}

/// What lies on a diffuse base.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Top {
    Bare,
    /// Fibres, with a strength between 0 and 1.
    Sheen(f32),
    /// A clear coat of the given roughness.
    Coat(f32),
}

/// A sampled direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scatter {
    pub(crate) wi: Vec3,
    /// f |cos| / density.
    pub(crate) weight: Vec3,
    /// Density [1/sr]; without meaning if `specular`.
    pub(crate) density: f32,
    /// Light sampling cannot have found this direction.
    pub(crate) specular: bool,
}

impl Bsdf {
    /// f |cos θᵢ| and the density with which [`Bsdf::sample`] draws `wi`.
    #[inline]
    pub(crate) fn evaluate(&self, wo: Vec3, wi: Vec3) -> (Vec3, f32) {
        match self {
            Self::Layered { base, through, top } => layered(wo, wi, *base, *through, *top),
            Self::Metal { f0, alpha } if wi.z > 0.0 => metal(wo, wi, *f0, *alpha),
            _ => (Vec3::ZERO, 0.0),
        }
    }

    /// A direction that light may come from.
    #[inline]
    pub(crate) fn sample(&self, wo: Vec3, u: Vec2, choice: f32) -> Option<Scatter> {
        match *self {
            Self::Layered { base, through, top } => {
                let lobes = Lobes::new(wo, base, through, top);
                let wi = if choice < lobes.top {
                    match top {
                        Top::Coat(alpha) => reflect(wo, ggx::sample_normal(wo, alpha, u)),
                        _ => cosine_direction(u),
                    }
                } else if choice < lobes.top + lobes.base {
                    cosine_direction(u)
                } else {
                    -cosine_direction(u)
                };
                finish(wi, layered(wo, wi, base, through, top))
            }
            Self::Metal { f0, alpha } => {
                let wi = reflect(wo, ggx::sample_normal(wo, alpha, u));
                (wi.z > 0.0).then(|| finish(wi, metal(wo, wi, f0, alpha)))?
            }
            Self::Glass { eta, alpha } => glass(wo, eta, alpha, u, choice),
        }
    }

    /// Whether light can be sampled at this surface.
    #[inline]
    pub(crate) fn can_be_lit(&self) -> bool {
        !matches!(self, Self::Glass { .. })
    }

    /// The colour that guides the denoiser.
    pub(crate) fn guide(&self) -> Vec3 {
        match self {
            Self::Layered { base, through, .. } => *base + *through,
            Self::Metal { f0, .. } => *f0,
            Self::Glass { .. } => Vec3::ONE,
        }
    }
}

fn finish(wi: Vec3, (value, density): (Vec3, f32)) -> Option<Scatter> {
    (density > 0.0).then(|| Scatter { wi, weight: value / density, density, specular: false })
}

#[inline]
fn reflect(wo: Vec3, h: Vec3) -> Vec3 {
    2.0 * wo.dot(h) * h - wo
}

/// Probabilities of the lobes of a layered surface.
struct Lobes {
    top: f32,
    base: f32,
    through: f32,
}

impl Lobes {
    #[inline]
    fn new(wo: Vec3, base: Vec3, through: Vec3, top: Top) -> Self {
        let top = match top {
            Top::Coat(alpha) => albedo::COAT.at(wo.z, alpha),
            // Sheen is drawn with the base.
            Top::Sheen(_) | Top::Bare => 0.0,
        };
        let rest = 1.0 - top;
        let (base, through) = (luminance(base) * rest, luminance(through) * rest);
        let sum = top + base + through;
        if sum > 0.0 {
            Self { top: top / sum, base: base / sum, through: through / sum }
        } else {
            Self { top: 0.0, base: 1.0, through: 0.0 }
        }
    }
}

#[inline]
fn layered(wo: Vec3, wi: Vec3, base: Vec3, through: Vec3, top: Top) -> (Vec3, f32) {
    let lobes = Lobes::new(wo, base, through, top);
    let cos = wi.z.abs();
    let diffuse = cos * FRAC_1_PI;
    // Share of the light that passes the top layer on the way in and out.
    let passes = match top {
        Top::Bare => 1.0,
        Top::Sheen(s) => {
            (1.0 - s * albedo::sheen_at(wo.z)) * (1.0 - s * albedo::sheen_at(cos))
                / (1.0 - s * albedo::SHEEN.1)
        }
        Top::Coat(alpha) => {
            let table = &*albedo::COAT;
            (1.0 - table.at(wo.z, alpha)) * (1.0 - table.at(cos, alpha)) / (1.0 - table.mean(alpha))
        }
    };
    if wi.z < 0.0 {
        return (through * (passes * diffuse), lobes.through * diffuse);
    }
    let mut value = base * (passes * diffuse);
    let mut density = lobes.base * diffuse;
    match top {
        Top::Bare => {}
        Top::Sheen(s) => value += Vec3::splat(s * albedo::sheen(wo, wi) * cos),
        Top::Coat(alpha) => {
            let h = (wo + wi).normalize_or(Vec3::Z);
            let facets = ggx::distribution(h, alpha) / (4.0 * wo.z.max(1e-6));
            let reflected = fresnel::dielectric(wo.dot(h).max(0.0), albedo::COAT_IOR).0;
            value += Vec3::splat(reflected * facets * ggx::visible_both(wo, wi, alpha));
            density += lobes.top * facets * ggx::visible(wo, alpha);
        }
    }
    (value, density)
}

#[inline]
fn metal(wo: Vec3, wi: Vec3, f0: Vec3, alpha: f32) -> (Vec3, f32) {
    let h = (wo + wi).normalize_or(Vec3::Z);
    let facets = ggx::distribution(h, alpha) / (4.0 * wo.z.max(1e-6));
    // What single scattering loses between facets leaves after further reflections, tinted by each of them.
    let single = albedo::FACETS.at(wo.z, alpha).max(1e-3);
    let again = Vec3::ONE + f0 * ((1.0 - single) / single);
    let value = fresnel::schlick(f0, wo.dot(h)) * again * (facets * ggx::visible_both(wo, wi, alpha));
    (value, facets * ggx::visible(wo, alpha))
}

/// Reflection or refraction, chosen by Fresnel's law. Radiance is carried as L/n², which refraction conserves.
fn glass(wo: Vec3, eta: f32, alpha: f32, u: Vec2, choice: f32) -> Option<Scatter> {
    let rough = alpha > ggx::SMOOTHEST;
    let h = if rough { ggx::sample_normal(wo, alpha, u) } else { Vec3::Z };
    let cos = wo.dot(h);
    let (reflected, cos_t) = fresnel::dielectric(cos.max(0.0), eta);
    let (wi, same_side) =
        if choice < reflected { (reflect(wo, h), true) } else { (h * (cos / eta - cos_t) - wo / eta, false) };
    if (wi.z > 0.0) != same_side {
        return None;
    }
    let weight = match (rough, same_side) {
        (false, _) => 1.0,
        (true, true) => ggx::visible_both(wo, wi, alpha) / ggx::visible(wo, alpha),
        (true, false) => ggx::visible(wi, alpha),
    };
    Some(Scatter { wi, weight: Vec3::splat(weight), density: 1.0, specular: true })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sampler;

    fn direction(cos: f32) -> Vec3 {
        Vec3::new((1.0 - cos * cos).sqrt() * 0.6, (1.0 - cos * cos).sqrt() * 0.8, cos)
    }

    /// Light returned under a uniform sky, by sampling.
    fn furnace(bsdf: &Bsdf, wo: Vec3, n: u32) -> f32 {
        let mut sum = 0.0f64;
        for k in 0..n {
            let mut s = Sampler::new(11, 0, k);
            if let Some(scatter) = bsdf.sample(wo, s.pair(), s.one()) {
                sum += f64::from(scatter.weight.x);
            }
        }
        (sum / f64::from(n)) as f32
    }

    fn white_surfaces() -> Vec<Bsdf> {
        let mut all = vec![
            Bsdf::Layered { base: Vec3::ONE, through: Vec3::ZERO, top: Top::Bare },
            Bsdf::Layered { base: Vec3::splat(0.7), through: Vec3::splat(0.3), top: Top::Sheen(0.8) },
        ];
        for alpha in [0.002, 0.05, 0.25, 0.6, 1.0] {
            all.push(Bsdf::Layered { base: Vec3::ONE, through: Vec3::ZERO, top: Top::Coat(alpha) });
            all.push(Bsdf::Metal { f0: Vec3::ONE, alpha });
        }
        all
    }

    #[test]
    fn white_surfaces_return_all_the_light_at_every_angle() {
        for bsdf in white_surfaces() {
            for cos in [0.15, 0.4, 0.7, 0.99] {
                let back = furnace(&bsdf, direction(cos), 16_384);
                assert!((back - 1.0).abs() < 0.012, "{bsdf:?} at {cos}: {back}");
            }
        }
    }

    #[test]
    fn glass_conserves_energy_exactly_when_smooth_and_never_gains_when_rough() {
        for eta in [1.5, 1.0 / 1.5, 1.33] {
            for cos in [0.05, 0.3, 0.8] {
                assert_eq!(furnace(&Bsdf::Glass { eta, alpha: 0.0 }, direction(cos), 512), 1.0);
                for alpha in [0.05, 0.3, 0.8] {
                    let back = furnace(&Bsdf::Glass { eta, alpha }, direction(cos), 4096);
                    assert!(back <= 1.002 && back > 0.4, "{eta} {cos} {alpha}: {back}");
                }
            }
        }
    }

    /// Drawing directions with the stated density gives the same integral as drawing them uniformly.
    #[test]
    fn sampling_and_evaluation_agree() {
        let lobe = |wi: Vec3| 1.0 + wi.x + 0.5 * wi.z;
        for bsdf in white_surfaces() {
            let wo = direction(0.6);
            if matches!(bsdf, Bsdf::Metal { alpha, .. } | Bsdf::Layered { top: Top::Coat(alpha), .. } if alpha < 0.2)
            {
                continue; // too narrow for uniform sampling
            }
            let n = 200_000;
            let (mut drawn, mut uniform) = (0.0f64, 0.0f64);
            for k in 0..n {
                let mut s = Sampler::new(5, 0, k);
                if let Some(x) = bsdf.sample(wo, s.pair(), s.one()) {
                    drawn += f64::from(x.weight.x * lobe(x.wi));
                    let (value, density) = bsdf.evaluate(wo, x.wi);
                    assert!((value.x - x.weight.x * density).abs() < 1e-3 * value.x.max(1e-3));
                }
                let u = s.pair();
                let z = 2.0 * u.x - 1.0;
                let (sin, cos) = (std::f32::consts::TAU * u.y).sin_cos();
                let r = (1.0 - z * z).sqrt();
                let wi = Vec3::new(r * cos, r * sin, z);
                uniform += f64::from(bsdf.evaluate(wo, wi).0.x * lobe(wi) * 4.0 * std::f32::consts::PI);
            }
            assert!((drawn / uniform - 1.0).abs() < 0.02, "{bsdf:?}: {drawn} {uniform}");
        }
    }

    #[test]
    fn reflection_is_reciprocal() {
        for bsdf in white_surfaces() {
            if matches!(bsdf, Bsdf::Metal { .. }) {
                continue; // the light given back to metals depends on the viewer's side alone
            }
            let (a, b) = (direction(0.7), Vec3::new(-0.5, 0.1, 0.74f32.sqrt()));
            let (ab, ba) = (bsdf.evaluate(a, b).0.x / b.z, bsdf.evaluate(b, a).0.x / a.z);
            assert!((ab - ba).abs() < 1e-3 * ab.max(1e-2), "{bsdf:?}: {ab} {ba}");
        }
    }
}
