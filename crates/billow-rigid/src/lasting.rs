//! Places that last: where two bodies meet, kept as anchors in both while they hardly move past each other.
//!
//! In a heap that has come down the same places meet step after step. Those found for such a pair, all within a little
//! more than the margin, serve until the two have moved past each other by that much: nothing else can have come
//! within the margin. Sliding by s over a surface of radius r goes unnoticed by s²/2r only. At the end of a step, when
//! overlaps are undone, they must be fresher. They are part of the state, so that a run continued from a
//! checkpoint looks when the uninterrupted one does.

use crate::contact::Touch;
use crate::geometry::Geometry;
use crate::near::{Meeting, Placed, sampled};
use crate::since::Since;
use crate::state::Place;
use billow_num::Pose;
use std::sync::Arc;

/// How far places are looked for beyond the margin, and so how far a pair may move, in half thicknesses of the thinner
/// body.
const REACH: f64 = 0.05;
/// How far a pair may have moved where its places must be fresh, in the same unit.
const FRESH: f64 = 0.005;

/// Part of the way by which surfaces may have come closer than their places tell, because facets and edges follow each
/// other at angles.
const BEND: f64 = 0.35;

/// Distance from which parts of two bodies do not tell how far the two have moved past each other, in the same unit.
const ROOM: f64 = 0.6;

/// The same for two shapes [m].
fn room([a, b]: [&Geometry; 2]) -> f64 {
    ROOM * a.depth.min(b.depth) + a.skin + b.skin
}

/// Overlap of the distances kept that is left alone after a step [m].
pub(crate) fn allowed([a, b]: [&Geometry; 2]) -> f64 {
    let (deep, skin) = (DEEP * a.depth.min(b.depth), a.skin + b.skin);
    // What is looked up in samples of φ would have to be looked up all the time to be told more sharply.
    if sampled([a, b]) && skin > 0.0 {
        COARSE * skin
    } else if skin > 0.0 {
        deep.min(SHALLOW * skin)
    } else {
        deep
    }
}

/// The same while bodies move, so that what rests is not pushed in every step [m].
pub(crate) fn unmoved(shapes: [&Geometry; 2]) -> f64 {
    let skin = shapes[0].skin + shapes[1].skin;
    if sampled(shapes) { UNMOVED * skin } else { 0.0 }
}

/// Overlap that is left alone, as a part of the thinner body's half thickness.
const DEEP: f64 = 5e-3;
/// The same as a part of the distance kept.
const SHALLOW: f64 = 0.05;
/// The same where both bodies are sampled; the rest of the distance kept allows for what samples of φ do not tell.
const COARSE: f64 = 0.4;
/// The same while they move.
const UNMOVED: f64 = 0.1;

/// Places of a pair that serve for a while.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lasting {
    since: Since,
    /// Gap of the deepest place when they were looked for [m].
    deepest: f64,
    places: Arc<[Place]>,
}

impl Lasting {
    /// How far a pair may move past each other until its places are looked for again [m].
    pub(crate) fn reach(pair: &[Placed<'_>; 2]) -> f64 {
        REACH * pair[0].shape.depth.min(pair[1].shape.depth)
    }

    /// Keeps the places `found` within the margin and the reach of a pair as it is now.
    pub(crate) fn new(pair: &[Placed<'_>; 2], found: &[Touch]) -> Self {
        let place = |t: &Touch| Place {
            anchors: [pair[0].pose.inverse_point(t.on_a), pair[1].pose.inverse_point(t.on_b)],
            normal: pair[1].pose.rotation.conjugate() * t.normal,
        };
        let since = Since::new(pair, room(pair.map(|p| p.shape)));
        Self::with(pair.map(|p| p.shape), since, found.iter().map(place).collect())
    }

    /// Places kept when the smaller of two shapes was `between` in the frame of the larger.
    pub(crate) fn kept(shapes: [&Geometry; 2], between: Pose, places: &[Place]) -> Self {
        let since = Since::then(shapes, between, room(shapes));
        Self::with(shapes, since, places.into())
    }

    fn with(shapes: [&Geometry; 2], since: Since, places: Arc<[Place]>) -> Self {
        // Where the first body was in the frame of the second.
        let first = shapes[0].radius <= shapes[1].radius;
        let between = if first { since.between } else { since.between.inverse() };
        let gap = |p: &Place| p.normal.dot(between.point(p.anchors[0]) - p.anchors[1]);
        let deepest = places.iter().map(gap).fold(f64::INFINITY, f64::min);
        Self { since, deepest, places }
    }

    /// Pose of the smaller body in the frame of the larger when the places were looked for.
    pub(crate) fn between(&self) -> Pose {
        self.since.between
    }

    /// The places.
    pub(crate) fn places(&self) -> &[Place] {
        &self.places
    }

    /// Whether nothing else can come within the margin until the end of the step, and the places are fresh if that is
    /// asked for.
    pub(crate) fn serves(&self, meeting: &Meeting<'_>) -> bool {
        let Some(way) = self.since.way(&meeting.end, meeting.margin) else { return false };
        let reach = Self::reach(&meeting.now);
        let stale = meeting.fresh && way > FRESH / REACH * reach;
        !(stale && self.least(meeting, way, BEND * way) < left_alone(meeting)) && covers(meeting, reach, way)
    }

    /// Whether the places are fresh and none is so deep that it is pushed apart after a step.
    pub(crate) fn shallow(&self, meeting: &Meeting<'_>) -> bool {
        let Some(way) = self.since.way(&meeting.end, meeting.margin) else { return false };
        let reach = Self::reach(&meeting.now);
        let lost = if way > FRESH / REACH * reach { BEND * way } else { 0.0 };
        self.least(meeting, way, lost) >= left_alone(meeting) && covers(meeting, reach, way)
    }

    /// A bound of the least gap [m] of a pair that moved by `way`, of which places may not tell `lost`: nothing can have come
    /// deeper than the first by more than the way; places tell more sharply.
    fn least(&self, meeting: &Meeting<'_>, way: f64, lost: f64) -> f64 {
        let bound = self.deepest - way;
        if bound >= left_alone(meeting) { bound } else { self.gap(&meeting.end) - lost }
    }

    /// Gap of the deepest place at two poses [m].
    fn gap(&self, [a, b]: &[Placed<'_>; 2]) -> f64 {
        let gap =
            |p: &Place| b.pose.vector(p.normal).dot(a.pose.point(p.anchors[0]) - b.pose.point(p.anchors[1]));
        self.places.iter().map(gap).fold(f64::INFINITY, f64::min)
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

/// Gap of the deepest place that is left alone after a step [m].
fn left_alone(meeting: &Meeting<'_>) -> f64 {
    let shapes = meeting.now.map(|p| p.shape);
    shapes[0].skin + shapes[1].skin - allowed(shapes)
}

/// Whether nothing that was farther than the margin and `reach` can be within the margin after moving by `way` [m].
fn covers(meeting: &Meeting<'_>, reach: f64, way: f64) -> bool {
    let margin = meeting.margin;
    meeting.now.iter().all(|p| p.shape.slope.at_least(margin + reach, way) >= margin)
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
        let meet =
            |now, fresh| Meeting { now, end: now, margin: 0.004, sought: 0.004, way: 0.0, pace: 0.0, fresh };
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

    #[test]
    fn what_is_told_to_be_shallow_at_once_has_no_place_that_is_too_deep() {
        let ring = Geometry::solid(&torus(0.3, 0.1, 16, 10).unwrap(), &Settings::default()).unwrap();
        let at = |x: f64, z: f64| {
            let pose = Pose { position: Vec3::new(x, 0.0, z), rotation: Quat::from_rotation_x(0.4) };
            [pose, Pose::IDENTITY].map(|pose| Placed { shape: &ring, pose })
        };
        let meet =
            |now| Meeting { now, end: now, margin: 0.004, sought: 0.004, way: 0.0, pace: 0.0, fresh: true };
        let deepest = |found: &[Touch]| found.iter().map(|t| t.gap).fold(f64::INFINITY, f64::min);
        let mut scratch = Scratch::default();
        let look = |z: &f64| deepest(&touches(&meet(at(0.0, *z)), &mut Known::default(), &mut scratch));
        let heights: Vec<f64> = (0..1000).map(|k| 0.4 - 5e-4 * f64::from(k)).collect();
        let depths: Vec<f64> = heights.iter().map(look).collect();
        let z = heights[depths.iter().position(|d| *d < 2e-3).expect("it comes down on the other")];
        let mut known = Known::default();
        touches(&meet(at(0.0, z)), &mut known, &mut scratch);
        let (mut shallow, mut deep) = (0, 0);
        for k in 0..60 {
            let here = meet(at(1e-4 * f64::from(k % 6), z + 5e-4 - 4e-5 * f64::from(k)));
            let mut known = known.clone();
            let told = known.lasting.as_ref().is_some_and(|l| l.shallow(&here));
            let least = deepest(&touches(&here, &mut known, &mut scratch));
            assert!(!told || least >= left_alone(&here), "{k}: {least}");
            (shallow, deep) = (shallow + u32::from(told), deep + u32::from(least < left_alone(&here)));
        }
        assert!(shallow > 5 && deep > 5, "{shallow} {deep}");
    }
}
