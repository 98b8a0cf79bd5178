//! Procedural patterns fixed to the material.

use crate::look::Pattern;
use crate::vector::Vec3;

/// A pattern between two colours over material coordinates.
#[derive(Clone, Debug)]
pub(crate) struct Texture {
    pub(crate) pattern: Pattern,
    pub(crate) first: Vec3,
    pub(crate) second: Vec3,
    /// Where the pattern starts in material coordinates.
    pub(crate) centre: Vec3,
    /// Directions of the pattern divided by its repeat; the third is zero on sheets.
    pub(crate) axes: [Vec3; 3],
}

impl Texture {
    /// One colour everywhere.
    pub(crate) fn plain(colour: Vec3) -> Self {
        Self {
            pattern: Pattern::Plain,
            first: colour,
            second: colour,
            centre: Vec3::ZERO,
            axes: [Vec3::ZERO; 3],
        }
    }

    /// The colour at a point of the material.
    #[inline]
    pub(crate) fn at(&self, material: Vec3) -> Vec3 {
        if self.pattern == Pattern::Plain {
            return self.first;
        }
        let m = material - self.centre;
        // A hair's breadth off zero keeps points that lie exactly on a border from flickering.
        let [u, v, w] = self.axes.map(|axis| m.dot(axis) + 1e-4);
        match self.pattern {
            Pattern::Plain => self.first,
            Pattern::Checks => self.either(odd(2.0 * u) ^ odd(2.0 * v) ^ odd(2.0 * w)),
            Pattern::Stripes => self.either(odd(2.0 * u)),
            Pattern::Weave => self.weave(u, v),
        }
    }

    #[inline]
    fn either(&self, second: bool) -> Vec3 {
        if second { self.second } else { self.first }
    }

    /// Plain weave: two threads each way per repeat, the one on top alternating; threads darken towards their edges
    /// and where they dive under the next one.
    fn weave(&self, u: f32, v: f32) -> Vec3 {
        let (u, v) = (2.0 * u, 2.0 * v);
        let across_over = odd(u) ^ odd(v);
        let middle = |x: f32| 2.0 * (x - x.floor()) - 1.0;
        let (across, along) = if across_over { (middle(v), middle(u)) } else { (middle(u), middle(v)) };
        let shade = (1.0 - 0.55 * across * across) * (1.0 - 0.35 * along * along);
        self.either(across_over) * shade
    }
}

#[inline]
fn odd(x: f32) -> bool {
    (x.floor() as i32) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_alternate_twice_per_repeat_and_average_to_the_mean() {
        let texture = Texture {
            pattern: Pattern::Checks,
            first: Vec3::ONE,
            second: Vec3::ZERO,
            centre: Vec3::ZERO,
            axes: [Vec3::X / 0.5, Vec3::Y / 0.5, Vec3::ZERO],
        };
        let at = |x: f32, y: f32| texture.at(Vec3::new(x, y, 3.0)).x;
        assert_eq!(
            (at(0.1, 0.1), at(0.3, 0.1), at(0.3, 0.3), at(-0.1, 0.1), at(0.6, 0.1)),
            (1.0, 0.0, 1.0, 0.0, 1.0)
        );
        let n = 200;
        let mean = (0..n * n).map(|k| at((k % n) as f32 / n as f32, (k / n) as f32 / n as f32)).sum::<f32>();
        assert!((mean / (n * n) as f32 - 0.5).abs() < 0.02);
    }
}
