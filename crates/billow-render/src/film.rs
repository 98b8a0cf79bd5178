//! The picture in the making: tiles of pixels, sampled until their noise is low enough.
//!
//! A tile depends on nothing but its own pixels, so the picture has the same bits for any number of threads.

use crate::integrator::{Seen, trace};
use crate::picture::Picture;
use crate::sample::Sampler;
use crate::settings::Settings;
use crate::vector::{Vec3, luminance};
use crate::world::{Lens, Scratch, World};
use billow_num::par;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Side of a tile [pixels].
const TILE: u32 = 16;
/// Samples between looks at the noise.
const ROUND: u32 = 16;

/// Follows a picture in the making and can stop it. Shared between threads.
#[derive(Debug, Default)]
pub struct Watch {
    tiles: AtomicU64,
    total: AtomicU64,
    stop: AtomicBool,
}

impl Watch {
    /// Share of the picture that is done [-].
    pub fn done(&self) -> f64 {
        let total = self.total.load(Ordering::Relaxed).max(1);
        self.tiles.load(Ordering::Relaxed) as f64 / total as f64
    }

    /// Asks the picture to stop; what is missing stays black.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to stop.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Pixel {
    radiance: Vec3,
    albedo: Vec3,
    normal: Vec3,
    depth: f32,
    coverage: f32,
    /// Sum of squared brightness.
    squares: f32,
    /// Sums of squared normals, colours and distances.
    guide_squares: Vec3,
    samples: u32,
}

impl Pixel {
    fn add(&mut self, seen: &Seen) {
        // A single bad number would spoil the whole pixel.
        let radiance = if seen.radiance.is_finite() { seen.radiance } else { Vec3::ZERO };
        self.radiance += radiance;
        self.albedo += seen.albedo;
        self.normal += seen.normal;
        self.depth += seen.depth;
        self.coverage += seen.coverage;
        self.squares += luminance(radiance).powi(2);
        self.guide_squares +=
            Vec3::new(seen.normal.length_squared(), seen.albedo.length_squared(), seen.depth * seen.depth);
        self.samples += 1;
    }

    /// Variance of the mean brightness.
    fn variance(&self) -> f32 {
        let n = self.samples.max(1) as f32;
        let mean = luminance(self.radiance) / n;
        (self.squares / n - mean * mean).max(0.0) / (n - 1.0).max(1.0)
    }

    /// Variances of the mean normal, colour, distance and coverage.
    fn guide_noise(&self) -> [f32; 4] {
        let n = self.samples.max(1) as f32;
        let means = Vec3::new(
            (self.normal / n).length_squared(),
            (self.albedo / n).length_squared(),
            (self.depth / n).powi(2),
        );
        let spread = (self.guide_squares / n - means).max(Vec3::ZERO) / (n - 1.0).max(1.0);
        let coverage = self.coverage / n;
        [spread.x, spread.y, spread.z, coverage * (1.0 - coverage) / (n - 1.0).max(1.0)]
    }

    fn noise(&self) -> f32 {
        let mean = luminance(self.radiance) / self.samples.max(1) as f32;
        (self.variance() / mean.max(1e-4)).sqrt()
    }
}

struct Tile {
    x: u32,
    y: u32,
    width: u32,
    height: u32,
    pixels: Vec<Pixel>,
}

/// Makes the picture; `frame` varies the random numbers between frames.
pub(crate) fn expose(world: &World, lens: &Lens, settings: &Settings, frame: u32, watch: &Watch) -> Picture {
    let (width, height) = (settings.width, settings.height);
    let mut tiles = Vec::new();
    for y in (0..height).step_by(TILE as usize) {
        for x in (0..width).step_by(TILE as usize) {
            let (w, h) = (TILE.min(width - x), TILE.min(height - y));
            tiles.push(Tile { x, y, width: w, height: h, pixels: vec![Pixel::default(); (w * h) as usize] });
        }
    }
    watch.tiles.store(0, Ordering::Relaxed);
    watch.total.store(tiles.len() as u64, Ordering::Relaxed);
    let job = Job { world, lens, settings, seed: frame ^ settings.seed.wrapping_mul(0x9E37_79B9) };
    par::chunks_mut(&mut tiles, 1, |_, tiles| {
        let mut scratch = Scratch::new();
        for tile in tiles {
            if !watch.stopped() {
                job.fill(tile, &mut scratch);
            }
            watch.tiles.fetch_add(1, Ordering::Relaxed);
        }
    });
    assemble(width, height, &tiles)
}

struct Job<'a> {
    world: &'a World,
    lens: &'a Lens,
    settings: &'a Settings,
    seed: u32,
}

impl Job<'_> {
    fn fill(&self, tile: &mut Tile, scratch: &mut Scratch) {
        let mut active = vec![true; tile.pixels.len()];
        let mut done = 0;
        while done < self.settings.samples {
            let count = ROUND.min(self.settings.samples - done);
            for (k, on) in active.iter().enumerate() {
                if *on {
                    let (x, y) = (tile.x + k as u32 % tile.width, tile.y + k as u32 / tile.width);
                    for index in done..done + count {
                        tile.pixels[k].add(&self.sample(x, y, index, scratch));
                    }
                }
            }
            done += count;
            if self.settings.noise > 0.0 && !self.still_noisy(tile, &mut active) {
                return;
            }
        }
    }

    fn sample(&self, x: u32, y: u32, index: u32, scratch: &mut Scratch) -> Seen {
        let mut sampler = Sampler::new(y * self.settings.width + x, self.seed, index);
        let (in_pixel, on_lens, time) = (sampler.pair(), sampler.pair(), sampler.one());
        let ray = self.lens.ray([x, y], [self.settings.width, self.settings.height], in_pixel, on_lens, time);
        trace(self.world, self.settings, ray, sampler, scratch)
    }

    /// Marks the pixels that need more samples: noisy ones and their neighbours. False if there are none.
    fn still_noisy(&self, tile: &Tile, active: &mut [bool]) -> bool {
        let noisy: Vec<bool> = tile.pixels.iter().map(|p| p.noise() > self.settings.noise).collect();
        let (w, h) = (tile.width as i32, tile.height as i32);
        for k in 0..w * h {
            let (x, y) = (k % w, k / w);
            let mut near = false;
            for j in (y - 1).max(0)..=(y + 1).min(h - 1) {
                for i in (x - 1).max(0)..=(x + 1).min(w - 1) {
                    near |= noisy[(i + j * w) as usize];
                }
            }
            // A pixel that stopped stays stopped: its samples have a gap otherwise.
            active[k as usize] &= near;
        }
        active.iter().any(|a| *a)
    }
}

fn assemble(width: u32, height: u32, tiles: &[Tile]) -> Picture {
    let mut picture = Picture::black(width, height);
    for tile in tiles {
        for (k, p) in tile.pixels.iter().enumerate() {
            let (x, y) = (tile.x + k as u32 % tile.width, tile.y + k as u32 / tile.width);
            let at = (y * width + x) as usize;
            let n = p.samples.max(1) as f32;
            picture.radiance[at] = (p.radiance / n).to_array();
            picture.albedo[at] = (p.albedo / n).to_array();
            picture.normal[at] = (p.normal / n).to_array();
            picture.depth[at] = p.depth / n;
            picture.coverage[at] = p.coverage / n;
            picture.variance[at] = p.variance();
            picture.guide_noise[at] = p.guide_noise();
            picture.samples += u64::from(p.samples);
        }
    }
    picture
}
