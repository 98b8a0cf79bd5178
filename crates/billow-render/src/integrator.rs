//! Light along one ray: a path tracer with light sampling at every bounce.
//!
//! Lamps are found both by sampling them and by running into them, the two weighed by the power heuristic; the sky
//! is smooth and only run into. Paths end by Russian roulette, which keeps the mean.

use crate::sample::Sampler;
use crate::settings::Settings;
use crate::shape::Ray;
use crate::surface::{Bsdf, Medium, Scatter};
use crate::vector::{Basis, Vec3, luminance};
use crate::world::{Fog, Meeting, Scratch, Site, World, off_surface};

/// What one ray saw.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) radiance: Vec3,
    /// Colour, normal and distance of the first surface, for the denoiser.
    pub(crate) albedo: Vec3,
    pub(crate) normal: Vec3,
    pub(crate) depth: f32,
    /// 1 if the ray met anything but sky.
    pub(crate) coverage: f32,
}

/// A path in the making.
struct Path<'a> {
    world: &'a World,
    settings: &'a Settings,
    sampler: Sampler,
    radiance: Vec3,
    /// What light found from here on counts.
    throughput: Vec3,
    medium: Option<Medium>,
    bounces: u32,
    /// Nothing but straight passages through clear bodies since the camera.
    straight: bool,
    /// Passages that counted as no bounce.
    passages: u32,
    /// Some surface on the way scattered light that was also sampled from lamps.
    lit: bool,
    /// Where the ray left, and with which density; infinite density after a mirror or at the camera.
    site: Site,
    density: f32,
    guide: Option<(Vec3, Vec3, f32)>,
}

/// From this bounce on paths may end at random.
const ROULETTE_FROM: u32 = 3;
/// Straight passages through clear surfaces that take no bounce away.
const FREE_PASSAGES: u32 = 8;

/// Follows a ray from the camera.
pub(crate) fn trace(
    world: &World,
    settings: &Settings,
    ray: Ray,
    sampler: Sampler,
    scratch: &mut Scratch,
) -> Seen {
    let site = Site { position: ray.origin, normal: Vec3::ZERO, two_sided: true };
    let mut path = Path {
        world,
        settings,
        sampler,
        radiance: Vec3::ZERO,
        throughput: Vec3::ONE,
        medium: None,
        bounces: 0,
        straight: true,
        passages: 0,
        lit: false,
        site,
        density: f32::INFINITY,
        guide: None,
    };
    let mut next = Some(ray);
    while let Some(ray) = next {
        next = path.advance(&ray, scratch);
    }
    let covered = path.guide.is_some();
    let (albedo, normal, depth) = path.guide.unwrap_or((Vec3::ONE, Vec3::ZERO, 0.0));
    Seen { radiance: path.radiance, albedo, normal, depth, coverage: f32::from(u8::from(covered)) }
}

impl Path<'_> {
    /// One segment of the path; returns the next ray unless the path ends.
    fn advance(&mut self, ray: &Ray, scratch: &mut Scratch) -> Option<Ray> {
        let choice = self.sampler.one();
        let meeting = self.world.meet(ray, scratch);
        let t_surface = meeting.as_ref().map_or(f32::INFINITY, |m| m.t);
        if let Some((t, fog)) = self.first_collision(ray, t_surface) {
            self.collect_lamps(ray, t);
            if self.bounces >= self.settings.bounces {
                return None;
            }
            return self.scatter_in_fog(ray, t, fog, scratch);
        }
        if let Some(medium) = &self.medium
            && t_surface.is_finite()
        {
            self.throughput *= medium.transmittance(t_surface);
        }
        self.collect_lamps(ray, t_surface);
        let light = if self.straight { 1.0 } else { self.world.dome.light };
        let Some(meeting) = meeting else {
            self.add(self.world.dome.radiance(ray.direction) * light);
            return None;
        };
        if meeting.opacity < 1.0 {
            self.add(self.world.dome.radiance(ray.direction) * (light * (1.0 - meeting.opacity)));
            self.throughput *= meeting.opacity;
        }
        self.add(meeting.material.emission);
        if self.bounces >= self.settings.bounces {
            return None;
        }
        self.scatter_at(ray, &meeting, choice, scratch)
    }

    /// Adds light at the end of the current throughput; what arrives indirectly is limited against lone bright dots.
    fn add(&mut self, light: Vec3) {
        let mut found = self.throughput * light;
        if self.bounces > 1 {
            let brightness = luminance(found);
            if brightness > self.settings.clamp {
                found *= self.settings.clamp / brightness;
            }
        }
        self.radiance += found;
    }

    /// Lamps crossed before `t_max`, weighed against having sampled them at the last site.
    fn collect_lamps(&mut self, ray: &Ray, t_max: f32) {
        let already_sampled_through_glass = self.lit && self.density.is_infinite() && !self.settings.caustics;
        if self.straight || already_sampled_through_glass {
            return;
        }
        let density = self.density;
        let share = |lamp: f32| if density.is_infinite() { 1.0 } else { power_heuristic(density, lamp) };
        let found = self.world.lamps.crossings(&self.site, ray.direction, t_max, share);
        if found != Vec3::ZERO {
            self.add(found);
        }
    }

    fn first_collision(&mut self, ray: &Ray, t_max: f32) -> Option<(f32, usize)> {
        if self.world.fogs.is_empty() {
            return None;
        }
        let mut stream = self.sampler.stream();
        let mut first: Option<(f32, usize)> = None;
        for (k, fog) in self.world.fogs.iter().enumerate() {
            let limit = first.map_or(t_max, |(t, _)| t);
            if let Some(t) = fog.collision(ray, limit, &mut stream) {
                first = Some((t, k));
            }
        }
        first
    }

    fn scatter_in_fog(&mut self, ray: &Ray, t: f32, fog: usize, scratch: &mut Scratch) -> Option<Ray> {
        let fog: &Fog = &self.world.fogs[fog];
        let position = ray.origin + ray.direction * t;
        self.guide.get_or_insert((fog.albedo, Vec3::ZERO, t));
        self.throughput *= fog.albedo;
        self.straight = false;
        self.lit = true;
        self.site = Site { position, normal: Vec3::ZERO, two_sided: true };
        let (u, choice) = (self.sampler.pair(), self.sampler.pair());
        if let Some(to) = self.world.lamps.sample(&self.site, u, choice.x) {
            let phase = fog.phase(ray.direction, to.direction);
            let shadow =
                Ray { origin: position, direction: to.direction, t_max: to.distance, time: ray.time };
            let light = self.visible(&shadow, scratch);
            self.bounces += 1;
            self.add(to.radiance * light * (phase / to.density * power_heuristic(to.density, phase)));
            self.bounces -= 1;
        }
        let direction = fog.scatter(ray.direction, self.sampler.pair());
        self.density = fog.phase(ray.direction, direction);
        self.go_on(choice.y).then_some(Ray {
            origin: position,
            direction,
            t_max: f32::INFINITY,
            time: ray.time,
        })
    }

    fn visible(&mut self, shadow: &Ray, scratch: &mut Scratch) -> Vec3 {
        let mut stream = self.sampler.stream();
        self.world.transmittance(shadow, !self.settings.caustics, &mut stream, scratch)
    }

    fn scatter_at(
        &mut self,
        ray: &Ray,
        meeting: &Meeting<'_>,
        choice: f32,
        scratch: &mut Scratch,
    ) -> Option<Ray> {
        let local = Local::new(ray, meeting);
        if local.bsdf.can_be_lit() || !self.straight {
            let albedo = Vec3::ONE.lerp(local.bsdf.guide(), meeting.opacity);
            self.guide.get_or_insert((albedo, local.basis.z * meeting.opacity, meeting.t));
        }
        if local.bsdf.can_be_lit() {
            self.light(&local, ray.time, scratch);
        }
        let (u, more) = (self.sampler.pair(), self.sampler.pair());
        let scatter = local.bsdf.sample(local.wo, u, more.x)?;
        let direction = local.basis.world(scatter.wi).normalize();
        let below = scatter.wi.z < 0.0;
        // A smooth normal may send light through the facet; such directions belong to the other side.
        if below != (direction.dot(local.facet) < 0.0) {
            return None;
        }
        self.take(&scatter, below, &local);
        // What is seen through clear bodies takes no bounces away, so that previews show it too.
        if self.straight && scatter.specular && self.passages < FREE_PASSAGES {
            self.passages += 1;
        } else if !self.go_on(choice) {
            return None;
        }
        let origin = local.off(meeting.point.position, !below);
        Some(Ray { origin, direction, t_max: f32::INFINITY, time: ray.time })
    }

    /// Updates the path for a scattered direction.
    fn take(&mut self, scatter: &Scatter, below: bool, local: &Local<'_>) {
        self.throughput *= scatter.weight;
        self.site = local.site;
        self.density = if scatter.specular { f32::INFINITY } else { scatter.density };
        if scatter.specular {
            self.straight &= below;
            if below {
                self.medium = local.outside.then_some(local.meeting.material.medium);
            }
        } else {
            self.straight = false;
            self.lit = true;
        }
    }

    /// Samples a lamp from a surface.
    fn light(&mut self, local: &Local<'_>, time: f32, scratch: &mut Scratch) {
        let (u, choice) = (self.sampler.pair(), self.sampler.one());
        let Some(to) = self.world.lamps.sample(&local.site, u, choice) else { return };
        let wi = local.basis.local(to.direction);
        let above = to.direction.dot(local.facet) > 0.0;
        if (wi.z > 0.0) != above {
            return;
        }
        let (value, density) = local.bsdf.evaluate(local.wo, wi);
        let found = value * to.radiance * (power_heuristic(to.density, density) / to.density);
        if found.max_element() <= 0.0 {
            return;
        }
        // Light from above starts on the smooth surface, light from below on the facet itself.
        let point = &local.meeting.point;
        let origin = local.off(if above { point.lifted } else { point.position }, above);
        let shadow = Ray { origin, direction: to.direction, t_max: to.distance, time };
        let passed = self.visible(&shadow, scratch);
        self.bounces += 1;
        self.add(found * passed);
        self.bounces -= 1;
    }

    /// Counts a bounce; false when the path ends.
    fn go_on(&mut self, choice: f32) -> bool {
        self.bounces += 1;
        if self.throughput.max_element() <= 0.0 {
            return false;
        }
        if self.bounces >= ROULETTE_FROM {
            let survives = self.throughput.max_element().clamp(0.02, 1.0);
            if choice >= survives {
                return false;
            }
            self.throughput /= survives;
        }
        true
    }
}

/// A surface point as seen by the viewer.
struct Local<'a> {
    meeting: &'a Meeting<'a>,
    bsdf: Bsdf,
    basis: Basis,
    /// Facet normal on the viewer's side.
    facet: Vec3,
    wo: Vec3,
    outside: bool,
    site: Site,
}

impl<'a> Local<'a> {
    fn new(ray: &Ray, meeting: &'a Meeting<'a>) -> Self {
        /// Least cosine between the viewer and the smooth normal.
        const LEAST: f32 = 1e-2;
        let point = &meeting.point;
        let view = -ray.direction;
        let outside = view.dot(point.facet) >= 0.0;
        let side = if outside { 1.0 } else { -1.0 };
        let facet = point.facet * side;
        let mut normal = point.normal * side;
        // Near silhouettes the smooth normal may turn away from the viewer; bend it back to just visible.
        let cos = normal.dot(view);
        if cos < LEAST {
            normal = (normal + view * (LEAST - cos)).normalize_or(facet);
        }
        let basis = Basis::around(normal);
        let mut wo = basis.local(view);
        wo.z = wo.z.max(1e-4);
        let two_sided = meeting.material.is_translucent();
        let site = Site { position: point.position, normal: facet, two_sided };
        Self { meeting, bsdf: meeting.material.bsdf(point, outside), basis, facet, wo, outside, site }
    }

    /// A point moved just off the facet, to the viewer's side or the other.
    #[inline]
    fn off(&self, p: Vec3, above: bool) -> Vec3 {
        off_surface(p, if above { self.facet } else { -self.facet }, self.meeting.t)
    }
}

/// Share of an estimate whose density is `a` against another of density `b`.
#[inline]
fn power_heuristic(a: f32, b: f32) -> f32 {
    let r = b / a;
    1.0 / (1.0 + r * r)
}
