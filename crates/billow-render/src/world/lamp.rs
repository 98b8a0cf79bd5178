//! Lamps: discs, spheres and suns, sampled in proportion to what they add at a point.
//!
//! Lamps shine but do not block: a ray that crosses one collects its light and goes on. The camera does not see them.

use crate::look::{Light, LightKind};
use crate::vector::{Basis, Vec2, Vec3, cone_direction, disc, luminance};
use std::f32::consts::{PI, TAU};

/// One lamp.
#[derive(Clone, Debug)]
pub(crate) struct Lamp {
    kind: LightKind,
    /// Centre; unused by suns.
    centre: Vec3,
    /// Direction a disc shines in, or the direction towards a sun.
    axis: Basis,
    /// Radius of the disc or sphere [m].
    radius: f32,
    /// 1 - cos of a sun's angular radius.
    height: f32,
    radiance: Vec3,
}

/// A direction towards a lamp.
pub(crate) struct ToLamp {
    pub(crate) direction: Vec3,
    pub(crate) distance: f32,
    pub(crate) radiance: Vec3,
    /// Density of this direction [1/sr].
    pub(crate) density: f32,
}

impl Lamp {
    /// From its description; `origin` is the world's origin in the scene.
    pub(crate) fn new(light: &Light, origin: billow_num::Vec3) -> Self {
        let at = |p: [f64; 3]| (billow_num::Vec3::from_array(p) - origin).as_vec3a();
        let (centre, target) = (at(light.position), at(light.target));
        let power = Vec3::from_array(light.colour.0) * light.power as f32;
        let radius = light.size as f32;
        let angle = (light.size as f32).to_radians();
        let height = 2.0 * (0.5 * angle).sin().powi(2);
        let (axis, radiance) = match light.kind {
            LightKind::Disc => (target - centre, power / (PI * PI * radius * radius)),
            LightKind::Sphere => (Vec3::Z, power / (4.0 * PI * PI * radius * radius)),
            LightKind::Sun => (centre - target, power / (PI * angle.sin().powi(2))),
        };
        Self {
            kind: light.kind,
            centre,
            axis: Basis::around(axis.normalize_or(Vec3::Z)),
            radius,
            height,
            radiance,
        }
    }

    /// A direction from `p` towards the lamp.
    #[inline]
    fn sample(&self, p: Vec3, u: Vec2) -> Option<ToLamp> {
        match self.kind {
            LightKind::Sun => Some(ToLamp {
                direction: self.axis.world(cone_direction(u, self.height)),
                distance: f32::INFINITY,
                radiance: self.radiance,
                density: 1.0 / (TAU * self.height),
            }),
            LightKind::Disc => {
                let d = disc(u) * self.radius;
                let to = self.centre + self.axis.world(Vec3::new(d.x, d.y, 0.0)) - p;
                let distance = to.length();
                let direction = to / distance;
                let density = self.disc_density(distance, direction)?;
                Some(ToLamp { direction, distance, radiance: self.radiance, density })
            }
            LightKind::Sphere => {
                let (towards, height) = self.sphere_cone(p)?;
                let direction = Basis::around(towards).world(cone_direction(u, height));
                let distance = self.sphere_distance(p, direction);
                Some(ToLamp { direction, distance, radiance: self.radiance, density: 1.0 / (TAU * height) })
            }
        }
    }

    /// Light a ray collects from this lamp before `t_max`, and the density of drawing its direction from `p`.
    #[inline]
    fn crossing(&self, p: Vec3, direction: Vec3, t_max: f32) -> Option<(Vec3, f32)> {
        let (distance, density) = match self.kind {
            LightKind::Sun => {
                let inside = 1.0 - direction.dot(self.axis.z) < self.height;
                inside.then(|| (f32::INFINITY, 1.0 / (TAU * self.height)))?
            }
            LightKind::Disc => {
                let distance = (self.centre - p).dot(self.axis.z) / direction.dot(self.axis.z);
                let off = (p + direction * distance).distance_squared(self.centre);
                if !(distance > 0.0 && off < self.radius * self.radius) {
                    return None;
                }
                (distance, self.disc_density(distance, direction)?)
            }
            LightKind::Sphere => {
                let (towards, height) = self.sphere_cone(p)?;
                let inside = 1.0 - direction.dot(towards) < height;
                inside.then(|| (self.sphere_distance(p, direction), 1.0 / (TAU * height)))?
            }
        };
        (distance < t_max || t_max.is_infinite()).then_some((self.radiance, density))
    }

    /// Density of a point of the disc as seen along a direction; none from behind.
    #[inline]
    fn disc_density(&self, distance: f32, direction: Vec3) -> Option<f32> {
        let cos = -direction.dot(self.axis.z);
        (cos > 1e-6).then(|| distance * distance / (cos * PI * self.radius * self.radius))
    }

    /// Direction to a sphere's centre and the height of the cone it fills; none from inside.
    #[inline]
    fn sphere_cone(&self, p: Vec3) -> Option<(Vec3, f32)> {
        let to = self.centre - p;
        let sin2 = self.radius * self.radius / to.length_squared();
        // 1 - √(1 - s²) without cancellation.
        (sin2 < 1.0).then(|| (to.normalize(), sin2 / (1.0 + (1.0 - sin2).sqrt())))
    }

    #[inline]
    fn sphere_distance(&self, p: Vec3, direction: Vec3) -> f32 {
        let to = self.centre - p;
        let middle = to.dot(direction);
        let inside = self.radius * self.radius - (to - direction * middle).length_squared();
        middle - inside.max(0.0).sqrt()
    }

    /// A bound on the light this lamp can bring to a point with the given normal; zero normal for fog.
    #[inline]
    fn importance(&self, p: Vec3, normal: Vec3, two_sided: bool) -> f32 {
        let (towards, sin, irradiance) = match self.kind {
            LightKind::Sun => (self.axis.z, (self.height * (2.0 - self.height)).sqrt(), TAU * self.height),
            LightKind::Disc | LightKind::Sphere => {
                let to = self.centre - p;
                let d2 = to.length_squared().max(self.radius * self.radius);
                let sin = self.radius / d2.sqrt();
                let towards = to / d2.sqrt();
                let facing = if self.kind == LightKind::Disc {
                    (-towards.dot(self.axis.z) + sin).clamp(0.0, 1.0)
                } else {
                    1.0
                };
                (towards, sin, facing * PI * self.radius * self.radius / d2)
            }
        };
        let cos = if normal == Vec3::ZERO {
            1.0
        } else {
            let cos = towards.dot(normal);
            (if two_sided { cos.abs() } else { cos } + sin).clamp(0.0, 1.0)
        };
        cos * irradiance * luminance(self.radiance)
    }
}

/// Where light is gathered: a point with a normal (zero in fog).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    pub(crate) position: Vec3,
    pub(crate) normal: Vec3,
    /// Whether light from behind counts.
    pub(crate) two_sided: bool,
}

/// All lamps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lamps {
    lamps: Vec<Lamp>,
}

impl Lamps {
    pub(crate) fn new(lamps: Vec<Lamp>) -> Self {
        Self { lamps: lamps.into_iter().filter(|l| luminance(l.radiance) > 0.0).collect() }
    }

    /// A direction towards one of the lamps; `choice` picks it in proportion to its importance.
    #[inline]
    pub(crate) fn sample(&self, site: &Site, u: Vec2, choice: f32) -> Option<ToLamp> {
        let weight = |l: &Lamp| l.importance(site.position, site.normal, site.two_sided);
        let total: f32 = self.lamps.iter().map(weight).sum();
        if total <= 0.0 {
            return None;
        }
        let mut rest = choice * total;
        let mut picked = None;
        for lamp in &self.lamps {
            let w = weight(lamp);
            if w > 0.0 {
                picked = Some((lamp, w));
                if rest < w {
                    break;
                }
                rest -= w;
            }
        }
        let (lamp, w) = picked?;
        let mut to = lamp.sample(site.position, u)?;
        to.density *= w / total;
        Some(to)
    }

    /// Light a ray collects from all lamps before `t_max`; `weigh(density)` is the share each crossing counts, given
    /// the density with which [`Lamps::sample`] at `site` would have drawn it.
    #[inline]
    pub(crate) fn crossings(
        &self,
        site: &Site,
        direction: Vec3,
        t_max: f32,
        weigh: impl Fn(f32) -> f32,
    ) -> Vec3 {
        let mut sum = Vec3::ZERO;
        for lamp in &self.lamps {
            if let Some((radiance, density)) = lamp.crossing(site.position, direction, t_max) {
                let weight = |l: &Lamp| l.importance(site.position, site.normal, site.two_sided);
                let total: f32 = self.lamps.iter().map(weight).sum();
                let share = if total > 0.0 { weight(lamp) / total } else { 0.0 };
                sum += radiance * weigh(density * share);
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sampler;

    fn lamps() -> Lamps {
        let light =
            |kind, size| Light { kind, size, position: [0.5, -1.0, 3.0], power: 40.0, ..Light::default() };
        Lamps::new(
            [light(LightKind::Disc, 0.8), light(LightKind::Sphere, 0.5), light(LightKind::Sun, 20.0)]
                .iter()
                .map(|l| Lamp::new(l, billow_num::Vec3::ZERO))
                .collect(),
        )
    }

    /// Irradiance by sampling lamps equals irradiance by sampling the hemisphere.
    #[test]
    fn sampling_lamps_agrees_with_running_into_them() {
        let lamps = lamps();
        let site = Site { position: Vec3::new(0.1, 0.2, 0.0), normal: Vec3::Z, two_sided: false };
        let n = 400_000;
        let (mut sampled, mut met) = (0.0f64, 0.0f64);
        for k in 0..n {
            let mut s = Sampler::new(1, 0, k);
            if let Some(to) = lamps.sample(&site, s.pair(), s.one()) {
                sampled += f64::from(to.radiance.x * to.direction.z.max(0.0) / to.density);
            }
            let wi = crate::vector::cosine_direction(s.pair());
            met += f64::from(lamps.crossings(&site, wi, f32::INFINITY, |_| 1.0).x * PI);
        }
        assert!((sampled / met - 1.0).abs() < 0.01, "{sampled} {met}");
    }

    #[test]
    fn a_distant_lamp_gives_the_irradiance_of_its_power() {
        let power = 500.0;
        for kind in [LightKind::Disc, LightKind::Sphere] {
            let light = Light { kind, size: 0.1, position: [0.0, 0.0, 10.0], power, ..Light::default() };
            let lamps = Lamps::new(vec![Lamp::new(&light, billow_num::Vec3::ZERO)]);
            let site = Site { position: Vec3::ZERO, normal: Vec3::Z, two_sided: false };
            let to = lamps.sample(&site, Vec2::splat(0.3), 0.5).unwrap();
            let irradiance = to.radiance.x * to.direction.z / to.density;
            let spread = if kind == LightKind::Disc { PI } else { 4.0 * PI };
            assert!((irradiance / (power as f32 / (spread * 100.0)) - 1.0).abs() < 0.01, "{irradiance}");
        }
    }
}
