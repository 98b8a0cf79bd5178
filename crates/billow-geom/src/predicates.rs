//! Exact geometric predicates: signs of orientation determinants, never wrong because of rounding.
//!
//! Thin layer over the `robust` crate (Shewchuk's adaptive predicates). Exact as long as no intermediate product
//! overflows or underflows, that is for coordinates between about 1e-70 and 1e70 m in magnitude (or zero).

use billow_num::Vec3;
use robust::{Coord, Coord3D};

/// Sign of `(b−a)×(c−a)·(d−a)`: positive when `d` lies on the side the normal of `a b c` points to.
pub fn orient3d(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> i8 {
    let coord = |p: Vec3| Coord3D { x: p.x, y: p.y, z: p.z };
    // Differences decide most cases; their products carry an error of less than 8u times the permanent.
    let (e, f, g) = (a - d, b - d, c - d);
    let (fg, ge, ef) = (f.y * g.z, g.y * e.z, e.y * f.z);
    let (gf, eg, fe) = (f.z * g.y, g.z * e.y, e.z * f.y);
    let det = e.x * (fg - gf) + f.x * (ge - eg) + g.x * (ef - fe);
    let permanent = e.x.abs() * (fg.abs() + gf.abs())
        + f.x.abs() * (ge.abs() + eg.abs())
        + g.x.abs() * (ef.abs() + fe.abs());
    let bound = ERROR_3D * permanent;
    if det > bound {
        return -1;
    }
    if -det > bound {
        return 1;
    }
    // Exact zeros only: in the supported range no product of differences underflows.
    if permanent == 0.0 {
        return 0;
    }
    -sign(robust::orient3d(coord(a), coord(b), coord(c), coord(d)))
}

/// Shewchuk's bound (7 + 56 ε) ε with ε = 2⁻⁵³, rounded up.
const ERROR_3D: f64 = 4.0 * f64::EPSILON;

/// Sign of the area of `a b c` seen along coordinate axis `drop`, in cyclic order of the other two.
pub fn orient2d(a: Vec3, b: Vec3, c: Vec3, drop: usize) -> i8 {
    let coord = |p: Vec3| Coord { x: p[(drop + 1) % 3], y: p[(drop + 2) % 3] };
    sign(robust::orient2d(coord(a), coord(b), coord(c)))
}

/// The axis along which the triangle shows the most of its area, judged exactly; `None` if it has none at all.
pub fn projection_axis(a: Vec3, b: Vec3, c: Vec3) -> Option<usize> {
    let n = (b - a).cross(c - a).abs();
    let first = (0..3).fold(0, |best, k| if n[k] > n[best] { k } else { best });
    (0..3).map(|k| (first + k) % 3).find(|&k| orient2d(a, b, c, k) != 0)
}

fn sign(x: f64) -> i8 {
    i8::from(x > 0.0) - i8::from(x < 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orientation_follows_the_right_hand() {
        let (o, x, y, z) = (Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z);
        assert_eq!(orient3d(o, x, y, z), 1);
        assert_eq!(orient3d(o, y, x, z), -1);
        assert_eq!(orient3d(o, x, y, x + y), 0);
        assert_eq!([orient2d(o, x, y, 2), orient2d(o, y, z, 0), orient2d(o, z, x, 1)], [1; 3]);
        assert_eq!(projection_axis(o, x, 2.0 * x), None);
    }

    #[test]
    fn one_unit_in_the_last_place_is_seen() {
        let (a, b, c) = (Vec3::new(0.1, 0.1, 0.1), Vec3::new(12.3, 4.5, 12.3), Vec3::new(-3.1, 7.7, -3.1));
        // a, b, c lie in the plane x = z; d is moved off it by the smallest amount.
        let d = Vec3::new(1.7, 0.3, 1.7);
        assert_eq!(orient3d(a, b, c, d), 0);
        let up = Vec3::new(d.x, d.y, d.z.next_up());
        let down = Vec3::new(d.x, d.y, d.z.next_down());
        assert_eq!(orient3d(a, b, c, up), -orient3d(a, b, c, down));
        assert_ne!(orient3d(a, b, c, up), 0);
    }
}
