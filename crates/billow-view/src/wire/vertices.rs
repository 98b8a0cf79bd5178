//! Vertices on the wire: positions in 21 bits per axis of the object's bounds, normals on an octahedron.
//!
//! A position takes two words: `x` in bits 0–20 of the first; `y` in bits 21–31 of the first and 0–9 of the second;
//! `z` in bits 10–30 of the second. Bit 31 of the second marks a vertex that is not finite. The error is at most
//! half a step, 2.4e-7 of the bounds. A normal takes one word: two signed 16-bit coordinates of the unit vector
//! projected on the octahedron |x| + |y| + |z| = 1 and unfolded.

use billow_num::Vec3;

/// Bits per axis.
const BITS: u32 = 21;
/// Largest code per axis.
const TOP: u32 = (1 << BITS) - 1;
/// Marks a vertex that is not finite, in the second word.
const NOT_FINITE: u32 = 1 << 31;
/// Coordinates beyond this would overflow the page's arithmetic and count as not finite [m].
const FARTHEST: f64 = 1e30;

/// Where the codes 0 and 1 of each axis lie.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Lattice {
    /// Position of code 0 [m].
    pub(crate) origin: Vec3,
    /// Distance between neighbouring codes [m]; 0 on an axis without extent.
    pub(crate) step: Vec3,
}

impl Lattice {
    /// The lattice that spans the usable points.
    pub(crate) fn spanning(points: impl Iterator<Item = Vec3>) -> Self {
        let (low, high) = points
            .filter(|x| usable(*x))
            .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        if low.x > high.x {
            return Self::default();
        }
        Self { origin: low, step: (high - low) / f64::from(TOP) }
    }

    /// The two words of a position.
    pub(crate) fn encode(&self, x: Vec3) -> [u32; 2] {
        if !usable(x) {
            return [0, NOT_FINITE];
        }
        let code = |x: f64, origin: f64, step: f64| {
            // An axis without extent has step 0 and the single code 0.
            if step > 0.0 { ((x - origin) / step).round().clamp(0.0, f64::from(TOP)) as u32 } else { 0 }
        };
        let qx = code(x.x, self.origin.x, self.step.x);
        let qy = code(x.y, self.origin.y, self.step.y);
        let qz = code(x.z, self.origin.z, self.step.z);
        [qx | qy << 21, qy >> 11 | qz << 10]
    }

    /// What the page makes of the two words; nothing for a vertex that is not finite.
    #[cfg(test)]
    pub(crate) fn decode(&self, [a, b]: [u32; 2]) -> Option<Vec3> {
        let codes = [a & TOP, a >> 21 | (b & 0x3ff) << 11, b >> 10 & TOP];
        (b & NOT_FINITE == 0).then(|| self.origin + self.step * Vec3::from_array(codes.map(f64::from)))
    }
}

/// Whether the page can draw a vertex here.
pub(crate) fn usable(x: Vec3) -> bool {
    x.is_finite() && x.abs().max_element() < FARTHEST
}

/// The word of a unit vector; zero vectors point up.
pub(crate) fn encode_normal(n: Vec3) -> u32 {
    let sum = n.x.abs() + n.y.abs() + n.z.abs();
    if !(sum > 0.0 && sum.is_finite()) {
        return 0;
    }
    let sign = |v: f64| if v < 0.0 { -1.0 } else { 1.0 };
    let (mut u, mut v) = (n.x / sum, n.y / sum);
    if n.z < 0.0 {
        (u, v) = ((1.0 - v.abs()) * sign(u), (1.0 - u.abs()) * sign(v));
    }
    let code = |c: f64| u32::from((c * 32767.0).round() as i16 as u16);
    code(u) | code(v) << 16
}

/// Vertex normals, each the mean of the adjacent triangles' normals weighted by area; not normalised.
pub(crate) fn normals(positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<Vec3> {
    let mut sums = vec![Vec3::ZERO; positions.len()];
    for t in triangles {
        let [a, b, c] = t.map(|v| positions[v as usize]);
        let n = (b - a).cross(c - a);
        if n.is_finite() {
            t.iter().for_each(|&v| sums[v as usize] += n);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode_normal(word: u32) -> Vec3 {
        let c = |w: u32| f64::from(w as u16 as i16) / 32767.0;
        let (u, v) = (c(word), c(word >> 16));
        let z = 1.0 - u.abs() - v.abs();
        let fold = (-z).max(0.0);
        let toward = |c: f64| if c >= 0.0 { -fold } else { fold };
        Vec3::new(u + toward(u), v + toward(v), z).normalize()
    }

    /// Points spread over a box by a fixed irrational stride.
    fn points(n: usize) -> Vec<Vec3> {
        let part = |k: usize, s: f64| (k as f64 * s).fract();
        (0..n)
            .map(|k| {
                Vec3::new(900.0 + 3.0 * part(k, 0.618_034), -0.2 * part(k, 0.754_878), part(k, 0.569_84))
            })
            .collect()
    }

    #[test]
    fn positions_come_back_within_half_a_step() {
        let points = points(5000);
        let lattice = Lattice::spanning(points.iter().copied());
        for &x in &points {
            let back = lattice.decode(lattice.encode(x)).unwrap();
            let error = (back - x).abs();
            // A part in 1e6 of a step on top for the rounding of x/step itself.
            assert!(error.cmple(lattice.step * 0.500_001).all(), "{x} came back as {back}");
        }
        assert!((lattice.step.x - 3.0 / 2_097_151.0).abs() < 1e-8);
    }

    #[test]
    fn flat_objects_and_single_points_survive() {
        let flat = [Vec3::new(1.0, 2.0, 7.5), Vec3::new(4.0, 3.0, 7.5)];
        let lattice = Lattice::spanning(flat.into_iter());
        assert_eq!(lattice.decode(lattice.encode(flat[1])).unwrap().z, 7.5);
        let lattice = Lattice::spanning(std::iter::once(flat[0]));
        assert_eq!(lattice.decode(lattice.encode(flat[0])), Some(flat[0]));
        assert_eq!(Lattice::spanning(std::iter::empty()), Lattice::default());
    }

    #[test]
    fn vertices_that_are_not_finite_are_marked_and_do_not_stretch_the_bounds() {
        let bad = [Vec3::NAN, Vec3::INFINITY, Vec3::new(0.0, 1e300, 0.0)];
        let all = bad.iter().copied().chain([Vec3::ZERO, Vec3::ONE]);
        let lattice = Lattice::spanning(all);
        assert_eq!((lattice.origin, lattice.step * f64::from(TOP)), (Vec3::ZERO, Vec3::ONE));
        assert!(bad.iter().all(|x| lattice.decode(lattice.encode(*x)).is_none()));
    }

    #[test]
    fn normals_come_back_within_a_hundredth_of_a_degree() {
        for p in points(4000) {
            let n = (p - Vec3::new(901.5, -0.1, 0.5)).normalize();
            let angle = decode_normal(encode_normal(n)).cross(n).length().asin().to_degrees();
            assert!(angle < 0.01, "{n} is off by {angle}°");
        }
        assert_eq!(decode_normal(encode_normal(Vec3::ZERO)), Vec3::Z);
        assert!(decode_normal(encode_normal(-Vec3::Z)).distance(-Vec3::Z) < 1e-12);
    }

    #[test]
    fn normals_of_an_octahedron_point_outward() {
        let p = [Vec3::X, Vec3::Y, Vec3::Z, -Vec3::X, -Vec3::Y, -Vec3::Z];
        let t = [[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]];
        for (x, n) in p.iter().zip(normals(&p, &t)) {
            assert!(n.normalize().distance(*x) < 1e-15);
        }
    }
}
