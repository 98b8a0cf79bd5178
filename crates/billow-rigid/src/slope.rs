//! How fast a signed distance changes outside its shape.
//!
//! A true distance changes by no more than the way. Samples of it are off by a little, which makes their interpolant
//! steeper in places; over a longer way it still changes by little more than the way. Both bounds hold, and
//! the sharper one counts: the steepest slope for short ways, the way and twice the error for long ones.

use crate::field::Grid;
use billow_geom::bvh::Bvh;
use billow_geom::proximity::point_triangle;
use billow_geom::{Aabb, TriMesh};
use billow_num::rng::Stream;
use billow_num::{Vec3, par};
use wide::f32x4;

/// Bounds of the change of a signed distance where it is positive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Slope {
    /// Largest slope, at least one [-].
    steepest: f64,
    /// Largest change beyond the way [m].
    excess: f64,
    /// How far the distance hangs below its chord in the middle of a straight way that is `short`, at most, as a part of the
    /// way [-].
    sag: f64,
    /// Longest way of which that is known [m].
    short: f64,
}

impl Slope {
    /// No faster than this, as far as is known.
    pub(crate) fn uniform(steepest: f64) -> Self {
        let excess = if steepest <= 1.0 { 0.0 } else { f64::INFINITY };
        Self { steepest, excess, sag: 0.5 * steepest, short: 0.0 }
    }

    /// The slope of samples of the distance from a mesh. How far they are off is measured in many places, most of them
    /// close to the surface.
    pub(crate) fn of_samples(grid: &Grid, mesh: &TriMesh) -> Self {
        let boxes: Vec<Aabb> = (0..mesh.triangles.len()).map(|t| Aabb::of_points(&mesh.corners(t))).collect();
        let tree = Bvh::of_boxes(Vec3::ZERO, &boxes);
        let (domain, spacing) = (grid.domain(), grid.spacing());
        let errors: Vec<f64> = par::map(PROBES, |i| {
            let mut draw = Stream::new(3, 5).at(i as u64);
            let mut unit = || draw.range(0.0, 1.0);
            let x = if i % 4 == 0 {
                domain.min + domain.size() * Vec3::new(unit(), unit(), unit())
            } else {
                // On an edge or in a triangle, and a little off it.
                let [p, q, r] = mesh.corners(i % mesh.triangles.len());
                let inside = if i % 4 == 1 { 0.0 } else { unit() };
                let near = p.lerp(q, unit()).lerp(r, inside);
                let off = Vec3::new(unit() - 0.5, unit() - 0.5, unit() - 0.5);
                near + off.normalize_or_zero() * (NEAR * spacing * unit())
            };
            let phi = grid.phi(x);
            if phi <= 0.0 || !domain.contains(x) {
                return 0.0;
            }
            let distance = |t: u32| point_triangle(x, mesh.corners(t as usize)).distance;
            tree.closest(x, f64::INFINITY, distance).map_or(0.0, |(_, d)| phi - d)
        });
        let [over, under] = errors.iter().fold([0.0f64; 2], |[over, under], e| [over.max(*e), under.max(-e)]);
        Self {
            steepest: grid.steepest(),
            excess: SAFETY * (over + under),
            sag: SAFETY * sag(grid),
            short: SHORT * grid.spacing(),
        }
    }

    /// Most that the distance changes along a way [m].
    #[inline]
    fn change(&self, way: f64) -> f64 {
        (self.steepest * way).min(way + self.excess)
    }

    /// The same for four ways, and a little more than rounding takes away.
    #[inline(always)]
    pub(crate) fn change_of_four(&self, way: f32x4) -> f32x4 {
        let [steepest, excess] = [self.steepest, self.excess].map(|x| f32x4::splat(x as f32));
        (steepest * way).fast_min(way + excess) * f32x4::splat(ROUNDED_UP)
    }

    /// A lower bound of the distance, where it is positive, `way` from a place where it is `phi` [m].
    #[inline]
    pub(crate) fn at_least(&self, phi: f64, way: f64) -> f64 {
        phi - self.change(way)
    }

    /// How far one can go from a place where the distance is `phi` before it may be less than `least` [m].
    #[inline]
    pub(crate) fn room(&self, phi: f64, least: f64) -> f64 {
        ((phi - least) / self.steepest).max(phi - least - self.excess)
    }

    /// A lower bound of the distance, where it is positive, along a straight way between two places of known distance
    /// [m]: the bounds from both ends meet where they are lowest, and it hangs no deeper below its chord than it does
    /// anywhere.
    #[inline]
    pub(crate) fn between(&self, [p, q]: [f64; 2], way: f64) -> f64 {
        let middle = 0.5 * (p + q);
        let sloping = middle - self.change(0.5 * way);
        if way > self.short || p.min(q) <= 0.0 {
            return sloping;
        }
        // The chord less a parabola that is as deep as the distance hangs.
        let (deep, rise) = (self.sag * way, q - p);
        let hanging =
            if rise.abs() >= 4.0 * deep { p.min(q) } else { middle - deep - rise * rise / (16.0 * deep) };
        hanging.max(sloping)
    }
}

/// How far samples hang below short chords whose ends are outside of the shape, at most, as a part of the chord: told by many of them.
fn sag(grid: &Grid) -> f64 {
    let (domain, spacing) = (grid.domain(), grid.spacing());
    let sags: Vec<f64> = par::map(CHORDS, |i| {
        let mut draw = Stream::new(3, 6).at(i as u64);
        let mut unit = || draw.range(0.0, 1.0);
        let from = domain.min + domain.size() * Vec3::new(unit(), unit(), unit());
        let (length, part) = (spacing * SHORT.powf(unit()), 0.05 + 0.9 * unit());
        let to = from + length * draw.unit_vector();
        let [p, x, q] = [0.0, part, 1.0].map(|t| grid.phi(from.lerp(to, t)));
        let outside = domain.contains(to) && p.min(q) > 0.0;
        let hangs = p + (q - p) * part - x;
        if outside { hangs / (4.0 * part * (1.0 - part) * length) } else { 0.0 }
    });
    sags.into_iter().fold(0.0, f64::max)
}

/// One and several times what a product or a sum in single precision may lose.
const ROUNDED_UP: f32 = 1.0 + 1e-6;
/// Places where samples are compared with the mesh.
const PROBES: usize = 16_384;
/// Chords along which samples are looked at.
const CHORDS: usize = 131_072;
/// Length of the longest of them, in samples. Longer ones lead around the shape and tell no more than its slope.
const SHORT: f64 = 10.0;
/// How far most of them are from the surface, in samples.
const NEAR: f64 = 3.0;
/// Allowance for what is farther off between them.
const SAFETY: f64 = 1.3;

#[cfg(test)]
mod tests {
    use crate::{Geometry, Settings};
    use billow_geom::shapes::torus;
    use billow_num::Vec3;
    use billow_num::rng::Stream;
    use wide::f32x4;

    #[test]
    fn samples_change_by_no_more_than_told_over_any_way() {
        let ring = Geometry::solid(&torus(0.3, 0.1, 16, 10).unwrap(), &Settings::default()).unwrap();
        let field = ring.field.as_ref().unwrap();
        let mut sharp = 0;
        for i in 0..100_000 {
            let mut draw = Stream::new(12, 4).at(i);
            let x = Vec3::new(draw.range(-0.45, 0.45), draw.range(-0.45, 0.45), draw.range(-0.15, 0.15));
            let way = 0.2 * draw.range(0.0, 1.0).powi(2);
            // Straight down as often as any way.
            let down = -field.rise(x).1.normalize_or_zero();
            let along = if i % 2 == 0 { down } else { draw.unit_vector() };
            let [p, q] = [x, x + way * along].map(|x| ring.phi(x));
            if p > 0.0 && q > 0.0 {
                let least = ring.slope.at_least(p, way);
                assert!(q >= least - 1e-12, "{way} m from {p} m: {q} m");
                sharp += u32::from(q - least < 0.02);
            }
        }
        assert!(sharp > 1000, "{sharp}");
    }

    #[test]
    fn changes_of_four_ways_are_no_less_than_each_and_hardly_more() {
        let ring = Geometry::solid(&torus(0.3, 0.1, 16, 10).unwrap(), &Settings::default()).unwrap();
        for slope in [ring.slope, super::Slope::uniform(1.4)] {
            for i in 0..500 {
                let mut draw = Stream::new(12, 6).at(i);
                let ways = [0.0, 1e-4, 0.01, 0.3].map(|most| draw.range(0.0, 1.0) as f32 * most);
                let changes = slope.change_of_four(f32x4::new(ways)).to_array();
                for (way, change) in ways.map(f64::from).into_iter().zip(changes.map(f64::from)) {
                    assert!(change >= slope.change(way) && change <= slope.change(way) * 1.000_003);
                }
            }
        }
    }

    /// Along edges of all lengths and between all places, and far more sharply than by the slope alone.
    #[test]
    fn samples_hang_no_deeper_below_a_chord_than_told() {
        let ring = Geometry::solid(&torus(0.3, 0.1, 16, 10).unwrap(), &Settings::default()).unwrap();
        let (mut chords, mut sharper) = (0, 0);
        for i in 0..40_000 {
            let mut draw = Stream::new(12, 5).at(i);
            let x = Vec3::new(draw.range(-0.42, 0.42), draw.range(-0.42, 0.42), draw.range(-0.12, 0.12));
            let way = 0.1 * draw.range(0.0, 1.0).powi(2);
            let y = x + way * draw.unit_vector();
            let along = (0..=16).map(|k| ring.phi(x.lerp(y, f64::from(k) / 16.0)));
            let truth = along.fold(f64::INFINITY, f64::min);
            let ends = [x, y].map(|x| ring.phi(x));
            if ends[0].min(ends[1]) > 0.0 {
                let told = ring.slope.between(ends, way);
                assert!(truth >= told - 1e-12, "{way} m: {truth} m, {told} m told");
                chords += 1;
                sharper += u32::from(told > ends[0].min(ends[1]) - 0.3 * way || way > 0.08);
            }
        }
        assert!(chords > 10_000 && 10 * sharper > 9 * chords, "{sharper} of {chords}");
    }
}
