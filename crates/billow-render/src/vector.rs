//! Single-precision vectors of the tracer: four-lane registers under short names.

pub(crate) use glam::{Mat3A as Mat3, Quat, Vec2, Vec3A as Vec3, Vec4};

/// Brightness of linear light in the primaries of sRGB.
#[inline]
pub(crate) fn luminance(c: Vec3) -> f32 {
    c.dot(Vec3::new(0.2126, 0.7152, 0.0722))
}

/// Two directions that complete the unit vector `n` to a right-handed frame (x, y, n), without branches on n.z = 0.
#[inline]
pub(crate) fn frame(n: Vec3) -> (Vec3, Vec3) {
    let sign = 1f32.copysign(n.z);
    let a = -1.0 / (sign + n.z);
    let b = n.x * n.y * a;
    (Vec3::new(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x), Vec3::new(b, sign + n.y * n.y * a, -n.y))
}

/// A frame around a normal: z is the normal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Basis {
    x: Vec3,
    y: Vec3,
    pub(crate) z: Vec3,
}

impl Basis {
    #[inline]
    pub(crate) fn around(z: Vec3) -> Self {
        let (x, y) = frame(z);
        Self { x, y, z }
    }

    #[inline]
    pub(crate) fn local(&self, v: Vec3) -> Vec3 {
        Vec3::new(v.dot(self.x), v.dot(self.y), v.dot(self.z))
    }

    #[inline]
    pub(crate) fn world(&self, v: Vec3) -> Vec3 {
        self.x * v.x + self.y * v.y + self.z * v.z
    }
}

/// A point of the unit disc from the unit square, by rings that keep neighbours together.
#[inline]
pub(crate) fn disc(u: Vec2) -> Vec2 {
    let p = 2.0 * u - Vec2::ONE;
    if p == Vec2::ZERO {
        return p;
    }
    let (r, angle) = if p.x.abs() > p.y.abs() {
        (p.x, std::f32::consts::FRAC_PI_4 * (p.y / p.x))
    } else {
        (p.y, std::f32::consts::FRAC_PI_2 - std::f32::consts::FRAC_PI_4 * (p.x / p.y))
    };
    let (sin, cos) = angle.sin_cos();
    r * Vec2::new(cos, sin)
}

/// A direction about +z with density cos θ / π.
#[inline]
pub(crate) fn cosine_direction(u: Vec2) -> Vec3 {
    let d = disc(u);
    Vec3::new(d.x, d.y, (1.0 - d.length_squared()).max(0.0).sqrt())
}

/// A direction uniform in the cone about +z of height `height` = 1 - cos θ, which small cones keep exact.
#[inline]
pub(crate) fn cone_direction(u: Vec2, height: f32) -> Vec3 {
    let h = u.x * height;
    let sin = (h * (2.0 - h)).max(0.0).sqrt();
    let (s, c) = (std::f32::consts::TAU * u.y).sin_cos();
    Vec3::new(c * sin, s * sin, 1.0 - h)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_orthonormal_for_every_direction() {
        for k in 0..1000u32 {
            let z = (k as f32 / 499.5 - 1.0).clamp(-1.0, 1.0);
            let angle = k as f32 * 2.399_963;
            let s = (1.0 - z * z).max(0.0).sqrt();
            let n = Vec3::new(s * angle.cos(), s * angle.sin(), z);
            let (x, y) = frame(n);
            assert!(x.dot(y).abs() < 1e-5 && x.dot(n).abs() < 1e-5 && (x.cross(y) - n).length() < 1e-5);
        }
    }
}
