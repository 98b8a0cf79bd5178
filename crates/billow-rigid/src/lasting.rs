//! Places that last: where two bodies meet, kept as anchors in both while they hardly move past each other.
//!
//! In a heap that has come down the same places meet step after step. Those found for such a pair, all within a little
//! more than the margin, serve until the two have moved past each other by that much: nothing else can have come
//! within the margin. Sliding by s over a surface of radius r goes unnoticed by s²/2r only. At the end of a step, when
//! overlaps are undone, they must be fresher. They are part of the state, so that a run continued from a
//! checkpoint looks when the uninterrupted one does.

use crate::contact::Touch;
use crate::near::{Meeting, Placed};
use crate::state::Place;
use billow_num::Pose;
use std::sync::Arc;

/// How far places are looked for beyond the margin, and so how far a pair may move, in half thicknesses of the thinner
/// body.
const REACH: f64 = 0.1;
/// How far a pair may have moved where its places must be fresh, in the same unit.
const FRESH: f64 = 0.005;

/// The relative pose of two bodies at some time, to tell how far they have moved since.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Since {
    /// Pose of the smaller body in the frame of the larger.
    between: Pose,
    /// How far points that matter are from the centre of the smaller body [m].
    arm: f64,
}

impl Since {
    /// The pair as it is; points farther than `arm` from the smaller body's centre do not matter.
    pub(crate) fn new(pair: &[Placed<'_>; 2], arm: f64) -> Self {
        Self { between: relative(pair), arm }
    }

    /// The pair as it was with the smaller body `between` in the frame of the larger.
    pub(crate) fn then(between: Pose, arm: f64) -> Self {
        Self { between, arm }
    }

    /// A bound of how far points of one body have moved in the frame of the other [m].
    pub(crate) fn way(&self, pair: &[Placed<'_>; 2]) -> f64 {
        let now = relative(pair);
        // Half the angle of the turn has this sine; the angle is at most π times it, and close to twice if small.
        let d = now.rotation.dot(self.between.rotation);
        let sine = (1.0 - d * d).max(0.0).sqrt();
        let turn = if sine < 0.3 { 2.04 * sine } else { std::f64::consts::PI * sine };
        now.position.distance(self.between.position) + turn * self.arm
    }
}

/// Pose of the smaller body in the frame of the larger.
fn relative(pair: &[Placed<'_>; 2]) -> Pose {
    let [a, b] = pair;
    let (small, large) = if a.shape.radius <= b.shape.radius { (a, b) } else { (b, a) };
    small.pose.then(&large.pose.inverse())
}

/// Places of a pair that serve for a while.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lasting {
    since: Since,
    /// None without any: most pairs that are near do not touch.
    places: Option<Arc<[Place]>>,
}

impl Lasting {
    /// How far a pair may move past each other until its places are looked for again [m].
    pub(crate) fn reach(pair: &[Placed<'_>; 2]) -> f64 {
        REACH * pair[0].shape.depth.min(pair[1].shape.depth)
    }

    /// Keeps the places `found` within the margin and the reach of a pair as it is now.
    pub(crate) fn new(pair: &[Placed<'_>; 2], found: &[Touch]) -> Self {
        let arm = pair[0].shape.radius.min(pair[1].shape.radius);
        let place = |t: &Touch| Place {
            anchors: [pair[0].pose.inverse_point(t.on_a), pair[1].pose.inverse_point(t.on_b)],
            normal: pair[1].pose.rotation.conjugate() * t.normal,
        };
        Self {
            since: Since::new(pair, arm),
            places: (!found.is_empty()).then(|| found.iter().map(place).collect()),
        }
    }

    /// Places kept when the two were as `since` tells.
    pub(crate) fn kept(since: Since, places: &[Place]) -> Self {
        Self { since, places: (!places.is_empty()).then(|| places.into()) }
    }

    /// Pose of the smaller body in the frame of the larger when the places were looked for.
    pub(crate) fn between(&self) -> Pose {
        self.since.between
    }

    /// The places.
    pub(crate) fn places(&self) -> &[Place] {
        self.places.as_deref().unwrap_or_default()
    }

    /// Whether nothing else can come within the margin until the end of the step, and the places are fresh if that is
    /// asked for.
    pub(crate) fn serves(&self, meeting: &Meeting<'_>) -> bool {
        let (way, reach) = (self.since.way(&meeting.end), Self::reach(&meeting.now));
        if meeting.fresh && way > FRESH / REACH * reach && self.may_touch(meeting, way) {
            return false;
        }
        meeting.now.iter().all(|p| p.shape.slope.at_least(meeting.margin + reach, way) >= meeting.margin)
    }

    /// Whether any of the places may touch after the two have moved by `way`: its gap has shrunk by that much at most,
    /// and distances by no more than their slope allows.
    fn may_touch(&self, meeting: &Meeting<'_>, way: f64) -> bool {
        let [a, b] = meeting.end;
        let skin = a.shape.skin + b.shape.skin;
        self.places().iter().any(|p| {
            let apart = a.pose.point(p.anchors[0]) - b.pose.point(p.anchors[1]);
            let gap = b.pose.vector(p.normal).dot(apart) - way;
            [a, b].iter().any(|p| p.shape.slope.at_least(gap, way) <= skin)
        })
    }

    /// The places as they are now that close during the step.
    pub(crate) fn touches(&self, meeting: &Meeting<'_>) -> Vec<Touch> {
        let [a, b] = meeting.now;
        let place = |p: &Place| {
            let [on_a, on_b] = [a.pose.point(p.anchors[0]), b.pose.point(p.anchors[1])];
            let normal = b.pose.vector(p.normal);
            let gap = normal.dot(on_a - on_b);
            let end = meeting.end[0].pose.point(p.anchors[0]) - meeting.end[1].pose.point(p.anchors[1]);
            Touch { on_a, on_b, normal, gap, end: normal.dot(end) }
        };
        self.places().iter().map(place).filter(|t| t.end <= meeting.margin).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::near::{Known, Scratch, touches};
    use crate::{Geometry, Settings};
    use billow_geom::shapes::torus;
    use billow_num::{Quat, Vec3};

    #[test]
    fn places_that_last_tell_the_gap_of_a_ring_that_slides() {
        let ring = Geometry::solid(&torus(0.3, 0.1, 16, 10).unwrap(), &Settings::default()).unwrap();
        let at = |x: f64, z: f64| {
            let tilt = Quat::from_rotation_x(0.4) * Quat::from_rotation_y(0.1);
            let pose = Pose { position: Vec3::new(0.55 + x, 0.1, 0.2 + z), rotation: tilt };
            [pose, Pose::IDENTITY].map(|pose| Placed { shape: &ring, pose })
        };
        let meet = |now, fresh| Meeting { now, end: now, margin: 0.004, way: 0.0, pace: 0.0, fresh };
        let deepest = |found: &[Touch]| found.iter().map(|t| t.gap).fold(f64::INFINITY, f64::min);
        let mut scratch = Scratch::default();
        // Lowered until it touches.
        let z = (0..400).map(|k| -5e-4 * f64::from(k)).find(|z| {
            let found = touches(&meet(at(0.0, *z), true), &mut Known::default(), &mut scratch);
            deepest(&found) < 2e-3
        });
        let z = z.expect("it comes down on the other");
        let mut known = Known::default();
        touches(&meet(at(0.0, z), true), &mut known, &mut scratch);
        for k in 1..4 {
            let moved = meet(at(1e-3 * f64::from(k), z), false);
            assert!(known.lasting.as_ref().is_some_and(|l| l.serves(&moved)));
            let kept = deepest(&touches(&moved, &mut known, &mut scratch));
            let fresh = deepest(&touches(&moved, &mut Known::default(), &mut scratch));
            assert!((kept - fresh).abs() < 2e-4 || kept.min(fresh) > 0.004, "{k} mm: {kept} {fresh}");
        }
        // They grow stale, and they do not serve for ever.
        let lasting = known.lasting.as_ref().expect("they lasted");
        assert!(!lasting.serves(&meet(at(3e-3, z), true)) && lasting.serves(&meet(at(4e-4, z), true)));
        assert!(!lasting.serves(&meet(at(0.02, z), false)));
    }
}
