//! Smoothing of what noise is left, guided by colours, normals and depth.
//!
//! The light on surfaces (radiance over colour) is filtered by a wavelet cascade whose steps double: neighbours count
//! as far as they show the same surface and as far as their difference can be noise, judged by the variance the
//! samples had. Where samples left no noise, nothing changes. Patterns are not blurred: their colour is divided out.

use crate::picture::Picture;
use crate::vector::{Vec3, Vec4, luminance};
use billow_num::par;

/// Steps of the cascade [pixels].
const STEPS: [i32; 5] = [1, 2, 4, 8, 16];
/// Weight of the middle tap and of those around it with their places: the product of five taps along each axis without
/// the far corners, which weigh a seventh of the whole and cost half of it.
const CENTRE: f32 = 0.375 * 0.375;
const TAPS: [(i32, i32, f32); 12] = {
    const NEAR: f32 = 0.375 * 0.25;
    const CORNER: f32 = 0.25 * 0.25;
    const FAR: f32 = 0.375 / 16.0;
    [
        (0, -2, FAR),
        (-1, -1, CORNER),
        (0, -1, NEAR),
        (1, -1, CORNER),
        (-2, 0, FAR),
        (-1, 0, NEAR),
        (1, 0, NEAR),
        (2, 0, FAR),
        (-1, 1, CORNER),
        (0, 1, NEAR),
        (1, 1, CORNER),
        (0, 2, FAR),
    ]
};
/// Differences of light up to this many standard deviations are taken for noise.
const DEVIATIONS: f32 = 3.0;
/// Squared differences at which normals, colours and coverage separate surfaces.
const NORMAL: f32 = 0.04;
const ALBEDO: f32 = 0.02;
const COVERAGE: f32 = 0.05;
/// Relative difference of depth, beyond the slope of the surface, that separates surfaces.
const DEPTH: f32 = 0.02;
/// Squared deviations of the guides that count as their own noise.
const GUIDE_DEVIATIONS: f32 = 6.0;
/// Colours darker than this are not divided out.
const DARKEST: f32 = 0.01;

/// What separates surfaces: normal and depth, colour and coverage.
#[derive(Clone, Copy)]
struct Guide {
    normal: Vec4,
    colour: Vec4,
    /// Change of depth from pixel to pixel along x and y.
    slope: [f32; 2],
    /// Variances of normal, colour, depth and coverage.
    noise: Vec4,
}

/// Smooths the picture in place.
pub(crate) fn denoise(picture: &mut Picture) {
    let (w, h) = (picture.width as i32, picture.height as i32);
    let guides = guides(picture);
    // Red, green, blue of the light on the surface, and the variance of its brightness.
    let mut light: Vec<Vec4> = par::map(guides.len(), |k| {
        let base = divisor(&guides[k]);
        let light = Vec3::from_array(picture.radiance[k]) / base;
        light.extend(picture.variance[k] / luminance(base).powi(2))
    });
    let mut next = light.clone();
    for step in STEPS {
        let view = View { w, h, step, light: &light, guides: &guides };
        par::chunks_mut(&mut next, w as usize, |first, row| {
            let y = first as i32 / w;
            for (x, pixel) in row.iter_mut().enumerate() {
                *pixel = view.smooth(x as i32, y);
            }
        });
        std::mem::swap(&mut light, &mut next);
    }
    for (k, radiance) in picture.radiance.iter_mut().enumerate() {
        *radiance = (light[k].truncate() * glam::Vec3::from(divisor(&guides[k]))).to_array();
    }
    for (variance, (light, guide)) in picture.variance.iter_mut().zip(light.iter().zip(&guides)) {
        *variance = light.w * luminance(divisor(guide)).powi(2);
    }
}

fn divisor(guide: &Guide) -> Vec3 {
    let colour = Vec3::new(guide.colour.x, guide.colour.y, guide.colour.z);
    // Sky counts as white, so that its own light is what is smoothed.
    (colour * guide.colour.w + Vec3::splat(1.0 - guide.colour.w)).max(Vec3::splat(DARKEST))
}

fn guides(picture: &Picture) -> Vec<Guide> {
    let (w, h) = (picture.width as usize, picture.height as usize);
    let depth = |x: usize, y: usize| picture.depth[x.min(w - 1) + y.min(h - 1) * w];
    par::map(w * h, |k| {
        let (x, y) = (k % w, k / w);
        let coverage = picture.coverage[k];
        // The smaller of the two one-sided differences does not see the edge of the surface.
        let steep = |a: f32, b: f32, c: f32| if (b - a).abs() < (c - b).abs() { b - a } else { c - b };
        let here = depth(x, y);
        Guide {
            normal: Vec3::from_array(picture.normal[k]).extend(here),
            colour: Vec3::from_array(picture.albedo[k]).extend(coverage),
            slope: [
                steep(depth(x.saturating_sub(1), y), here, depth(x + 1, y)),
                steep(depth(x, y.saturating_sub(1)), here, depth(x, y + 1)),
            ],
            noise: Vec4::from_array(picture.guide_noise[k]),
        }
    })
}

struct View<'a> {
    w: i32,
    h: i32,
    step: i32,
    light: &'a [Vec4],
    guides: &'a [Guide],
}

impl View<'_> {
    fn at(&self, x: i32, y: i32) -> usize {
        (x + y * self.w) as usize
    }

    /// Variance around a pixel, blurred: single estimates from few samples are too noisy to trust.
    fn variance(&self, x: i32, y: i32) -> f32 {
        let (mut sum, mut weights) = (0.0, 0.0);
        for j in -1..=1 {
            for i in -1..=1 {
                let (p, q) = (x + i, y + j);
                if (0..self.w).contains(&p) && (0..self.h).contains(&q) {
                    let weight = [1.0, 0.5, 0.25][(i.abs() + j.abs()) as usize];
                    sum += weight * self.light[self.at(p, q)].w;
                    weights += weight;
                }
            }
        }
        sum / weights
    }

    fn smooth(&self, x: i32, y: i32) -> Vec4 {
        let here = self.at(x, y);
        let (light, guide) = (self.light[here], &self.guides[here]);
        let variance = self.variance(x, y);
        if variance <= 0.0 {
            return light;
        }
        let brightness = luminance(Vec3::from_vec4(light));
        let per_deviation = 1.0 / (DEVIATIONS * variance.sqrt() + 1e-6);
        let (mut sum, mut weights, mut spread) = (light * CENTRE, CENTRE, light.w * CENTRE * CENTRE);
        for (i, j, tap) in TAPS {
            let offset = [i * self.step, j * self.step];
            let (p, q) = (x + offset[0], y + offset[1]);
            if !(0..self.w).contains(&p) || !(0..self.h).contains(&q) {
                continue;
            }
            let other = self.at(p, q);
            let there = self.light[other];
            let apart = guide.distance(&self.guides[other], offset)
                + (luminance(Vec3::from_vec4(there)) - brightness).abs() * per_deviation;
            // A cheap stand-in for exp(-apart) with the same start and no surprises in its tail.
            let falloff = 1.0 / (1.0 + apart * (1.0 + apart * (0.5 + apart * (0.25 + 0.25 * apart))));
            let weight = tap * falloff;
            sum += there * weight;
            weights += weight;
            spread += there.w * weight * weight;
        }
        let mut smoothed = sum / weights;
        smoothed.w = spread / (weights * weights);
        smoothed
    }
}

impl Guide {
    /// How sure it is that two pixels show different surfaces; 1 and more separates.
    #[inline]
    fn distance(&self, other: &Self, offset: [i32; 2]) -> f32 {
        let normal = self.normal - other.normal;
        let colour = self.colour - other.colour;
        // Differences that the guides' own noise explains do not count.
        let noise = (self.noise + other.noise) * GUIDE_DEVIATIONS;
        let n2 = (normal.x * normal.x + normal.y * normal.y + normal.z * normal.z - noise.x).max(0.0);
        let c2 = (colour.x * colour.x + colour.y * colour.y + colour.z * colour.z - noise.y).max(0.0);
        let covered = (colour.w * colour.w - noise.w).max(0.0);
        let along = (self.slope[0] * offset[0] as f32 + self.slope[1] * offset[1] as f32).abs();
        let apart = (normal.w * normal.w - noise.z).max(0.0).sqrt();
        let depth = apart / (2.0 * along + DEPTH * self.normal.w.abs() + 1e-9);
        n2 * (1.0 / NORMAL) + c2 * (1.0 / ALBEDO) + covered * (1.0 / COVERAGE) + depth.min(100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sampler;

    /// Two halves of different colour and light, with noise.
    fn noisy(amplitude: f32) -> (Picture, Picture) {
        let (w, h) = (64u32, 48u32);
        let mut clean = Picture::black(w, h);
        for k in 0..(w * h) as usize {
            let left = k % (w as usize) < 32;
            clean.radiance[k] = if left { [0.2; 3] } else { [0.7; 3] };
            clean.albedo[k] = if left { [0.3; 3] } else { [0.8; 3] };
            clean.normal[k] = if left { [0.0, 0.0, 1.0] } else { [0.0, 1.0, 0.0] };
            clean.coverage[k] = 1.0;
            clean.depth[k] = 1.0;
        }
        let mut dirty = clean.clone();
        let mut s = Sampler::new(1, 1, 1).stream();
        for (pixel, variance) in dirty.radiance.iter_mut().zip(&mut dirty.variance) {
            let noise = amplitude * (s.next() - 0.5);
            *pixel = pixel.map(|c| c + noise);
            *variance = amplitude * amplitude / 12.0;
        }
        (clean, dirty)
    }

    fn error(a: &Picture, b: &Picture) -> f32 {
        let squares = a.radiance.iter().zip(&b.radiance).map(|(p, q)| (p[1] - q[1]).powi(2)).sum::<f32>();
        (squares / a.radiance.len() as f32).sqrt()
    }

    #[test]
    fn noise_goes_and_edges_stay() {
        let (clean, mut dirty) = noisy(0.2);
        let before = error(&clean, &dirty);
        denoise(&mut dirty);
        assert!(error(&clean, &dirty) < 0.2 * before, "{} of {before}", error(&clean, &dirty));
        let at = |x: usize| dirty.radiance[x + 20 * 64][1];
        assert!((at(31) - 0.2).abs() < 0.03 && (at(32) - 0.7).abs() < 0.03, "{} {}", at(31), at(32));
    }

    #[test]
    fn pictures_without_noise_are_left_alone() {
        let (clean, _) = noisy(0.0);
        let mut again = clean.clone();
        denoise(&mut again);
        assert!(error(&clean, &again) < 1e-6);
    }
}
