//! Surfaces without an inside: points against triangles and edges against edges, kept a thickness apart.
//!
//! What has no inside has no signed distance, so the features themselves meet: the distance is unsigned and the
//! thickness keeps it from reaching zero, which is all that tells one side from the other. Where surfaces are near and
//! when they collide is asked of `billow-contact`, which decides it as it does for cloth; a ball is its centre, as
//! thick as the ball is wide.

use crate::contact::Touch;
use crate::near::{Meeting, Placed};
use billow_contact::{Ask, Place, Posed, collisions, meetings};
use billow_num::Vec3;

/// Part of the thickness that may be entered before surfaces collide: the other half still tells the sides apart.
const ENTERED: f64 = 0.5;

/// Scratch of [`meet`] and [`collide`].
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    places: Vec<Place>,
    room: billow_contact::Scratch,
}

/// Places where two bodies, one of which has no inside, are near each other or collide until the end of the step: vertices
/// of each and triangles of the other, and edges that cross. A signed distance, where there is one, is asked by the caller.
pub(crate) fn meet(meeting: &Meeting<'_>, scratch: &mut Scratch, out: &mut Vec<Touch>) {
    let shapes = meeting.now.map(|p| p.shape);
    if shapes.iter().all(|s| s.field.is_some()) {
        return;
    }
    let skin = shapes[0].skin + shapes[1].skin;
    let Scratch { places, room } = scratch;
    places.clear();
    meetings(&posed(meeting), &ask(meeting, meeting.margin + meeting.way - skin), room, places);
    let radii = shapes.map(|s| s.ball);
    out.extend(places.iter().filter(|p| p.normal != Vec3::ZERO).map(|p| touch(p, radii)));
}

/// When two bodies, one of which has no inside, first collide until the end of the step, as a part of it.
pub(crate) fn collide(meeting: &Meeting<'_>, scratch: &mut Scratch) -> Option<f64> {
    if meeting.now.iter().all(|p| p.shape.field.is_some()) {
        return None;
    }
    let Scratch { places, room } = scratch;
    places.clear();
    collisions(&posed(meeting), &ask(meeting, 0.0), room, places);
    places.iter().map(|p| p.when).min_by(f64::total_cmp)
}

/// Both bodies as surfaces on their way.
fn posed<'a>(meeting: &Meeting<'a>) -> [Posed<'a>; 2] {
    [0, 1].map(|k| {
        let Placed { shape, pose } = meeting.now[k];
        let thickness = 2.0 * (shape.skin + shape.ball);
        Posed { shape: &shape.outline, now: pose, end: meeting.end[k].pose, thickness }
    })
}

/// Points meet what has no inside, and so do edges if neither has one.
fn ask(meeting: &Meeting<'_>, near: f64) -> Ask {
    let [a, b] = meeting.now.map(|p| p.shape);
    let bare = [a, b].map(|s| s.field.is_none());
    let overlap = ENTERED * (a.skin + b.skin);
    Ask { points: [bare[1], bare[0]], edges: bare[0] && bare[1], near, overlap }
}

/// A place between surfaces, taken off the radii of balls.
fn touch(place: &Place, [ra, rb]: [f64; 2]) -> Touch {
    let (normal, gap) = (place.normal, place.distance - ra - rb);
    let [on_a, on_b] = [place.feet[0].at - normal * ra, place.feet[1].at + normal * rb];
    Touch { on_a, on_b, normal, gap, end: gap }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Geometry;
    use crate::detect::meeting;
    use billow_geom::TriMesh;
    use billow_num::{Pose, Quat};

    /// Something small close to a wall flies off it and down through a floor that it does not stand above yet.
    #[test]
    fn what_comes_from_beside_a_face_meets_it() {
        let corner = |x: f64, y: f64, z: f64| Vec3::new(x, y, z);
        let wall = [(-0.05, -0.05), (0.05, -0.05), (0.05, 0.05), (-0.05, 0.05)];
        let floor = [(0.0, -0.05), (0.2, -0.05), (0.2, 0.05), (0.0, 0.05)];
        let wall = wall.map(|(y, z)| corner(-0.06, y, z));
        let positions = [wall, floor.map(|(x, y)| corner(x, y, 0.0))].concat();
        let triangles = vec![[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]];
        let room = Geometry::thin(&TriMesh { positions, triangles }, 1e-3).unwrap();
        let small = [corner(0.0, -1e-3, 0.0), corner(2e-3, 0.0, 0.0), corner(0.0, 1e-3, 1e-3)];
        let small = TriMesh { positions: small.to_vec(), triangles: vec![[0, 1, 2]] };
        let small = Geometry::thin(&small, 1e-3).unwrap();
        let at = |x: f64, z: f64| Pose { position: Vec3::new(x, 0.0, z), rotation: Quat::IDENTITY };
        // Its frame brings the room to where it was drawn.
        let (now, end) = ([at(-0.05, 0.02), *room.frame()], [at(0.1, -0.03), *room.frame()]);
        let mut found = Vec::new();
        let meeting = meeting([&small, &room], now, end, (1e-3, 0.2));
        meet(&meeting, &mut Scratch::default(), &mut found);
        found.retain_mut(|touch| meeting.arrives(touch));
        let floor = found.iter().filter(|touch| touch.normal.z > 0.9).count();
        assert!(floor > 0 && found.iter().all(|touch| touch.normal.z > -0.1), "{found:?}");
        let when = collide(&meeting, &mut Scratch::default()).unwrap();
        assert!((when - 0.4).abs() < 0.05, "{when}");
    }
}
