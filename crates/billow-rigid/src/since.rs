//! How far two bodies have moved past each other where they are close.
//!
//! What was found for a pair serves until the two have moved by more than it allows for. Only the region counts in which
//! both bodies are: there, bodies that roll or pivot on each other hardly move past each other, however far
//! their centres go. Everything else is known to have been far away.

use crate::geometry::Geometry;
use crate::near::Placed;
use crate::odometer::turn;
use billow_num::{Pose, Vec3};

/// The relative pose of two bodies at some time, to tell how far they have moved past each other since.
///
/// What counts is how far they moved where they are close: bodies that roll or pivot on each other hardly move past each
/// other there, however far their centres go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Since {
    /// Pose of the smaller body in the frame of the larger.
    pub(crate) between: Pose,
    /// Middle of the region that was within `clear` of both, in the frames of the smaller and of the larger body [m].
    pivot: [Vec3; 2],
    /// Radius of that region [m].
    arm: f64,
    /// How far points that can come close at all are from the centre of the smaller body [m].
    whole: f64,
    /// Distance of everything outside of the region from the other body, at least [m].
    clear: f64,
}

impl Since {
    /// The pair as it is; what is farther than `clear` [m] from the other body may move farther than what is close.
    pub(crate) fn new(pair: &[Placed<'_>; 2], clear: f64) -> Self {
        Self::then(pair.map(|p| p.shape), relative(pair), clear)
    }

    /// Two shapes as they were with the smaller one `between` in the frame of the larger.
    pub(crate) fn then(shapes: [&Geometry; 2], between: Pose, clear: f64) -> Self {
        let [small, large] = by_size(shapes, |s| s.radius);
        let (middle, arm) = region([small, large], &between, clear);
        let pivot = [between.inverse_point(middle), middle];
        Self { between, pivot, arm, whole: small.radius + clear, clear }
    }

    /// A bound of how far points that were close have moved in the frame of the other body [m], unless others may have
    /// come within `reach` [m].
    #[inline]
    pub(crate) fn way(&self, pair: &[Placed<'_>; 2], reach: f64) -> Option<f64> {
        let moved = self.moved(pair);
        (moved.room(reach) >= 0.0).then_some(moved.way)
    }

    /// How far the two have moved past each other.
    #[inline]
    pub(crate) fn moved(&self, pair: &[Placed<'_>; 2]) -> Moved {
        let now = relative(pair);
        let turn = turn(&self.between, &now);
        let far = now.position.distance(self.between.position) + turn * self.whole;
        let near = now.point(self.pivot[0]).distance(self.pivot[1]) + turn * self.arm;
        Moved { way: near.min(far), left: self.clear - far }
    }

    /// The two where they were then.
    pub(crate) fn unmoved(&self) -> Moved {
        Moved { way: 0.0, left: self.clear }
    }
}

/// How far two bodies have moved past each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moved {
    /// A bound of how far points that were close have moved in the frame of the other body [m].
    pub(crate) way: f64,
    /// Distance of all others from the other body, at least [m].
    left: f64,
}

impl Moved {
    /// How much farther the two may move until what was not close may come within `reach` [m].
    pub(crate) fn room(&self, reach: f64) -> f64 {
        // Sampled distances are a little off: half of what is left is sure.
        self.left - 2.0 * reach
    }
}

/// A ball around what may be within `clear` of both bodies, in the frame of the larger: where their boxes overlap, or the
/// balls around them.
pub(crate) fn region([small, large]: [&Geometry; 2], between: &Pose, clear: f64) -> (Vec3, f64) {
    let [p, q] = [small.bounds_at(between), large.bounds].map(|b| b.inflated(clear));
    let (low, high) = (p.min.max(q.min), p.max.min(q.max));
    let boxes = (0.5 * (low + high), 0.5 * (high - low).max(Vec3::ZERO).length());
    // The plane in which the spheres cut each other; the lens is all of a ball whose centre lies beyond it.
    let [r, s] = [small.radius + clear, large.radius + clear];
    let d = between.position.length();
    let x = 0.5 * (d + (s * s - r * r) / d);
    let balls = if x.is_nan() || x >= d {
        (between.position, r)
    } else {
        (between.position * (x / d), (s * s - x * x).max(0.0).sqrt())
    };
    if balls.1 <= boxes.1 { balls } else { boxes }
}

/// The smaller of two, then the larger.
pub(crate) fn by_size<T: Copy>([a, b]: [T; 2], radius: impl Fn(T) -> f64) -> [T; 2] {
    if radius(a) <= radius(b) { [a, b] } else { [b, a] }
}

/// Pose of the smaller body in the frame of the larger.
fn relative(pair: &[Placed<'_>; 2]) -> Pose {
    let [small, large] = by_size(*pair, |p| p.shape.radius);
    small.pose.then(&large.pose.inverse())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use billow_geom::shapes::{cylinder, torus};
    use billow_num::Quat;
    use billow_num::rng::Stream;

    /// Vertices of both bodies that come within reach moved no farther than told.
    #[test]
    fn nothing_comes_within_reach_from_farther_than_the_way() {
        let solid = |mesh: &billow_geom::TriMesh| Geometry::solid(mesh, &Settings::default()).unwrap();
        let ring = solid(&torus(0.3, 0.1, 16, 10).unwrap());
        let pole = solid(&cylinder(0.1, 3.0, 22, 19, true).unwrap());
        let (reach, clear) = (4e-3, 0.06);
        let (mut told, mut moved) = (0, 0);
        for i in 0..2000 {
            let mut draw = Stream::new(8, 1).at(i);
            let other = if i % 2 == 0 { &ring } else { &pole };
            let rotation = Quat::from_scaled_axis(draw.unit_vector() * draw.range(0.0, 3.0));
            let then = Pose { position: draw.unit_vector() * draw.range(0.1, 0.6), rotation };
            let turn = Quat::from_scaled_axis(draw.unit_vector() * draw.range(0.0, 0.06));
            let shift = draw.unit_vector() * draw.range(0.0, 0.03);
            let now = Pose { position: then.position + shift, rotation: turn * then.rotation };
            let at = |pose| [Placed { shape: &ring, pose }, Placed { shape: other, pose: Pose::IDENTITY }];
            let since = Since::new(&at(then), clear);
            let Some(way) = since.way(&at(now), reach) else { continue };
            told += 1;
            for k in 0..2 {
                let shapes = at(now);
                for v in &shapes[k].shape.mesh.positions {
                    let [before, after] =
                        [then, now].map(|pose| if k == 0 { pose.point(*v) } else { pose.inverse_point(*v) });
                    if shapes[1 - k].shape.phi(after) <= reach {
                        assert!(before.distance(after) <= way + 1e-12, "{i}: {way}");
                        moved += 1;
                    }
                }
            }
        }
        assert!(told > 300 && moved > 1000, "{told} {moved}");
    }
}
