//! The camera: rays through a thin lens and a pixel filter.

use crate::shape::Ray;
use crate::vector::{Vec2, Vec3, disc};

/// A camera ready to cast rays.
#[derive(Clone, Debug)]
pub(crate) struct Lens {
    pub(crate) position: Vec3,
    pub(crate) right: Vec3,
    pub(crate) up: Vec3,
    pub(crate) forward: Vec3,
    /// Half the picture's height at distance one.
    pub(crate) half_height: f32,
    /// Radius of the lens [m].
    pub(crate) radius: f32,
    /// Distance of sharp focus [m].
    pub(crate) focus: f32,
}

/// Half width of the pixel filter [pixels].
const FILTER_RADIUS: f32 = 1.5;

impl Lens {
    /// The ray through pixel (x, y) of a picture of the given size; the four numbers of `u` choose the place within
    /// the pixel's filter and on the lens.
    #[inline]
    pub(crate) fn ray(
        &self,
        pixel: [u32; 2],
        size: [u32; 2],
        in_pixel: Vec2,
        on_lens: Vec2,
        time: f32,
    ) -> Ray {
        let offset = Vec2::new(filter(in_pixel.x), filter(in_pixel.y));
        let x = (pixel[0] as f32 + 0.5 + offset.x - 0.5 * size[0] as f32) / (0.5 * size[1] as f32);
        let y = (0.5 * size[1] as f32 - pixel[1] as f32 - 0.5 - offset.y) / (0.5 * size[1] as f32);
        let through = self.forward + self.right * (x * self.half_height) + self.up * (y * self.half_height);
        if self.radius == 0.0 {
            return Ray { origin: self.position, direction: through.normalize(), t_max: f32::INFINITY, time };
        }
        let d = disc(on_lens) * self.radius;
        let shift = self.right * d.x + self.up * d.y;
        let direction = (through * self.focus - shift).normalize();
        Ray { origin: self.position + shift, direction, t_max: f32::INFINITY, time }
    }
}

/// Draws an offset from the pixel's middle with the density of a tent-like smooth filter: the sum of three uniform
/// numbers' density is a quadratic B-spline; its inverse distribution in closed form for each piece.
#[inline]
fn filter(u: f32) -> f32 {
    // Quadratic B-spline on [-1.5, 1.5]: cumulative shares 1/6, 5/6.
    let side = if u < 0.5 { -1.0 } else { 1.0 };
    let v = if u < 0.5 { u } else { 1.0 - u };
    let x = if v < 1.0 / 6.0 {
        FILTER_RADIUS - (6.0 * v).cbrt()
    } else {
        // Solve 1/2 - v = 3/4 x - x³/3 for x in [0, 1/2] by two Newton steps from the linear guess.
        let c = 0.5 - v;
        let mut x = c * (4.0 / 3.0) * (1.0 + 0.79 * c * c);
        for _ in 0..2 {
            x -= (0.75 * x - x * x * x / 3.0 - c) / (0.75 - x * x);
        }
        x
    };
    side * x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filter_offsets_follow_the_quadratic_spline() {
        let density = |x: f32| if x.abs() < 0.5 { 0.75 - x * x } else { 0.5 * (1.5 - x.abs()).powi(2) };
        let n = 100_000;
        let mut count = [0u32; 30];
        for k in 0..n {
            let x = filter((k as f32 + 0.5) / n as f32);
            assert!(x.abs() <= 1.5);
            count[((x + 1.5) * 10.0).min(29.0) as usize] += 1;
        }
        for (b, c) in count.iter().enumerate() {
            let (a, z) = (b as f32 / 10.0 - 1.5, (b + 1) as f32 / 10.0 - 1.5);
            let expected = 0.1 * (density(a) + 4.0 * density(0.5 * (a + z)) + density(z)) / 6.0;
            assert!((*c as f32 / n as f32 - expected).abs() < 5e-4, "{b}: {c} {expected}");
        }
    }
}
