//! Contacts: pairs about within the thickness at the start of the step, or planned to come that close.
//!
//! What rests on something keeps exactly the thickness, give or take rounding, and its velocity says nothing of the forces
//! that press it: pairs a little farther apart are contacts too. They let each other come as near as the thickness.

use crate::listed::{Hint, Looked};
use crate::near::Near;
use crate::pair::{Kind, Pair, Path};
use crate::search::Search;
use crate::way::Fit;
use crate::{Contact, Surface};
use billow_num::Vec3;

/// Sine of the angle by which a surface must rise to count as nearer.
const BESIDE: f64 = 1e-6;

/// Two points of the surface about within the thickness of each other at the start of the step, or about to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Touch {
    pub(crate) contact: Contact,
    /// Distance they keep [m].
    pub(crate) gap: f64,
    /// Coulomb coefficient [-].
    pub(crate) friction: f64,
}

/// What one part of the list showed.
#[derive(Debug, Default)]
struct Found {
    touches: Vec<Touch>,
    candidates: u64,
}

/// Finds all contacts if nodes move along `path` and have the given part of their thickness, all if `room` is empty: in the
/// order of names, points and faces first, so that edges find surfaces already held off where they are flat. They stay in
/// the parts in which they are found, since they may be very many. Every pair that may come within reach is then
/// listed. Returns how many pairs were looked at.
pub(crate) fn find(
    near: &mut Near,
    search: &mut Search,
    (fit, room): (Fit<'_>, &[f64]),
    touches: &mut Vec<Vec<Touch>>,
) -> u64 {
    touches.clear();
    near.expect(search, fit);
    let found = near.contacts(search, fit, |part: &mut Found, hint| part.look(fit, room, &hint));
    let candidates = found.iter().map(|part| part.candidates).sum();
    touches.extend(found.into_iter().map(|part| part.touches).filter(|part| !part.is_empty()));
    candidates
}

impl Found {
    #[inline(always)]
    fn look(&mut self, Fit { surface, path, reach, .. }: Fit<'_>, room: &[f64], hint: &Hint) -> Looked {
        let Hint { pair, end, lack, missed } = hint;
        self.candidates += 1;
        let (full, gap) = (pair.gap(surface), pair.gap_within(surface, room));
        // Edges nearest at their ends are covered by points and faces; what keeps enough distance does not touch.
        let met = pair.kind.met() * gap;
        let covered = f64::from(*end) < met || *missed && gap == full * pair.kind.kept();
        let clear = reach.of(pair.kind) * full - f64::from(*lack) > met;
        if covered || clear {
            return Looked::NOTHING;
        }
        let x0 = path.start(pair);
        let (contact, distance) = pair.nearest(&x0);
        let touch = touch(surface, path, (pair, contact, distance), &x0, gap);
        self.touches.extend(touch);
        Looked { distance, touches: touch.is_some() }
    }
}

/// The contact of two elements with nodes at `x0`, where they are nearest as given, if they are about as near as `gap` or
/// will be.
#[inline(always)]
fn touch(
    surface: &Surface,
    path: Path<'_>,
    (pair, contact, distance): (&Pair, Contact, f64),
    x0: &[Vec3; 4],
    gap: f64,
) -> Option<Touch> {
    if distance < pair.kind.met() * gap {
        let known =
            contact.normal != Vec3::ZERO && !covered(surface, pair.kind, &contact, |i| path.x0[i as usize]);
        known.then(|| Touch { contact, gap, friction: pair.friction(surface) })
    } else if distance <= pair.approach(contact.normal, x0, &path.of(pair).1) + gap {
        coming(surface, path, pair, (contact, distance), gap)
    } else {
        None
    }
}

/// The contact of two elements that are planned to come nearer than `gap` [m], about as it will be when they do. It
/// need not be exact, nor every one be found: collisions are looked for anyway, these contacts only soften them.
fn coming(
    surface: &Surface,
    path: Path<'_>,
    pair: &Pair,
    (mut contact, mut distance): (Contact, f64),
    gap: f64,
) -> Option<Touch> {
    const TRIES: u32 = 4;
    let (x0, x1) = path.of(pair);
    let way: [Vec3; 4] = std::array::from_fn(|k| x1[k] - x0[k]);
    let mut t = 0.0;
    for _ in 0..TRIES {
        // Newton's method for the time at which the nearest points are `gap` apart.
        let w = &contact.weights;
        let rate = (way[0] * w[0] + way[1] * w[1] + way[2] * w[2] + way[3] * w[3]).dot(contact.normal);
        t += (distance - gap) / -rate;
        if rate >= 0.0 || t > 1.0 {
            return None;
        }
        (contact, distance) = pair.nearest(&std::array::from_fn(|k| x0[k] + way[k] * t));
        // No more than what every list of near pairs has.
        if distance < pair.kind.met() * gap {
            let at = |i: u32| path.x0[i as usize].lerp(path.x1[i as usize], t);
            if covered(surface, pair.kind, &contact, at) {
                return None;
            }
            // A turning pair may be nearer along the normal now than when it meets: it need not part, only come no
            // nearer.
            let gap = gap.min(contact.relative(path.x0).dot(contact.normal));
            return Some(Touch { contact, gap, friction: pair.friction(surface) });
        }
    }
    None
}

/// Whether another pair says more about the nearness of two surfaces: a point beside a triangle is above the next one, the
/// end of an edge is a point above a triangle, and only one of the triangles around a foot need speak for it. With such
/// pairs, surfaces that slide over each other would feel bumps wherever their edges meet.
fn covered(surface: &Surface, kind: Kind, contact: &Contact, at: impl Fn(u32) -> Vec3) -> bool {
    let Contact { nodes, weights, normal } = *contact;
    if kind == Kind::EdgeEdge || !weights.contains(&0.0) {
        return kind == Kind::EdgeEdge && weights.contains(&0.0);
    }
    let (topology, point) = (surface.topology(), nodes[0]);
    let rises = |from: u32, to: u32, normal: Vec3| {
        let way = at(to) - at(from);
        normal.dot(way) > BESIDE * way.length()
    };
    // The surface around the point comes nearer to the foot than the point itself.
    let ends = topology.vertex_edges(point).iter().flat_map(|e| topology.edges()[*e as usize]);
    if ends.into_iter().any(|i| i != point && rises(point, i, -normal)) {
        return true;
    }
    // The other triangles that have the foot: one is nearer, or comes first.
    let foot = |i: &u32| (1..4).any(|k| nodes[k] == *i && weights[k] != 0.0);
    let Some(base) = nodes[1..].iter().copied().find(|i| foot(i)) else { return false };
    let corners =
        (nodes[1..].iter().filter(|i| foot(i)).count(), nodes[1..].iter().filter(|i| !foot(i)).min());
    let around = topology.vertex_triangles(base).iter().map(|t| topology.triangles()[*t as usize]);
    around.filter(|t| !t.contains(&point) && t.iter().filter(|i| foot(i)).count() == corners.0).any(|t| {
        t.iter().filter(|i| !foot(i)).any(|i| rises(base, *i, normal))
            || t.iter().filter(|i| !foot(i)).min() < corners.1
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corner::Corner;
    use crate::{above, crossed};

    /// Contacts of elements that stay where they are, and how many of them are of edges.
    fn touching(x: &[Vec3], triangles: &[[u32; 3]], thickness: f64) -> (Vec<Touch>, usize) {
        let surface = Surface::of_one(x, triangles, thickness);
        let (mut search, mut touches) = (Search::new(&surface), Vec::new());
        let fit = Fit::contacts(&surface, Path { x0: x, x1: x });
        find(&mut Near::default(), &mut search, (fit, &[]), &mut touches);
        let touches = touches.concat();
        let edges = touches.iter().filter(|touch| touch.contact.weights[0] != 1.0).count();
        (touches, edges)
    }

    #[test]
    fn flat_layers_are_held_by_points_and_faces_and_ridges_by_their_edges() {
        // Two sheets at their thickness, one turned a little.
        let thickness = 1e-3;
        let low = billow_geom::shapes::cloth_grid(0.1, 0.1, 12, 12).unwrap();
        let turned = |x: &Vec3| billow_num::Quat::from_rotation_z(0.3) * *x + Vec3::Z * thickness;
        let x: Vec<Vec3> = low.positions.iter().copied().chain(low.positions.iter().map(turned)).collect();
        let first = low.positions.len() as u32;
        let high = low.triangles.iter().map(|t| t.map(|i| i + first));
        let triangles: Vec<[u32; 3]> = low.triangles.iter().copied().chain(high).collect();
        let (touches, edges) = touching(&x, &triangles, thickness);
        assert!(touches.len() > 150 && edges == 0, "{} {edges}", touches.len());
        // Nearer than they are to be, their edges meet too.
        let pressed: Vec<Vec3> = x.iter().map(|x| Vec3::new(x.x, x.y, 0.8 * x.z)).collect();
        assert!(touching(&pressed, &triangles, thickness).1 > 500);

        // Two roofs whose ridges cross, one above the other: nothing but the ridges is near.
        let roof = |along: Vec3, across: Vec3, up: f64| {
            let (half, side) = (0.5 * along, across - up * Vec3::Z);
            [-half, half, side, -across - up * Vec3::Z]
        };
        let distance = 0.7 * thickness;
        let lower = roof(Vec3::X, Vec3::Y, 1.0);
        let upper = roof(Vec3::Y, Vec3::X, -1.0).map(|x| x + Vec3::Z * distance);
        let x = [lower, upper].concat();
        let (touches, edges) = touching(&x, &[[0, 1, 2], [1, 0, 3], [4, 5, 6], [5, 4, 7]], thickness);
        assert!(touches.len() == 1 && edges == 1, "{touches:?}");
        assert!(touches[0].gap > distance && touches[0].gap < thickness);
    }

    #[test]
    fn what_is_said_to_miss_each_other_is_no_contact() {
        for kind in [Kind::VertexFace, Kind::EdgeEdge] {
            let (mut said, mut wrong, mut unsaid, mut contacts) = (0, 0, 0, 0);
            for k in 0..20_000 {
                let mut draws = billow_num::rng::Stream::new(36, 0).at(k);
                let mut vector = |size: f64| Vec3::from_array([0; 3].map(|_| draws.range(-size, size)));
                let pair = Pair { kind, nodes: [0, 1, 2, 3] };
                let x0 = [0; 4].map(|_| vector(5.0));
                let drop = vector(6.0);
                let first = if kind == Kind::VertexFace { 1 } else { 2 };
                let x1: [Vec3; 4] =
                    std::array::from_fn(|i| x0[i] + vector(0.5) + if i < first { drop } else { Vec3::ZERO });
                let surface = Surface::of_one(&x0, &[[1, 2, 3]], 1.0);
                let path = Path { x0: &x0, x1: &x1 };
                let fit = Fit::contacts(&surface, path);
                let corners: Vec<Corner> = (0..4).map(|i| Corner::of(fit.way(i), Vec3::ZERO)).collect();
                let (apart, missed) = match kind {
                    Kind::VertexFace => {
                        let tested = above::test(&corners, &[pair; 4]);
                        (tested.apart, tested.missed)
                    }
                    Kind::EdgeEdge => {
                        let tested = crossed::test(&corners, &[pair; 4]);
                        (tested.apart, tested.missed)
                    }
                };
                let (contact, distance) = pair.nearest(&x0);
                let touches = touch(&surface, path, (&pair, contact, distance), &x0, kind.kept()).is_some();
                contacts += u32::from(touches);
                said += u32::from(missed != 0);
                wrong += u32::from(missed != 0 && touches);
                unsaid += u32::from(missed == 0 && apart == 0 && !touches);
            }
            assert!(contacts > 500 && wrong <= contacts / 100, "{kind:?}: {wrong} of {contacts}");
            assert!(2 * said > unsaid, "{kind:?}: {said} {unsaid}");
        }
    }

    #[test]
    fn cloth_with_less_room_touches_later() {
        let low = [Vec3::ZERO, Vec3::X, Vec3::Y];
        let high = low.map(|x| Vec3::new(0.1, 0.1, 7e-3) + 0.3 * x);
        let x = [low, high].concat();
        let surface = Surface::of_one(&x, &[[0, 1, 2], [3, 4, 5]], 0.01);
        let mut search = Search::new(&surface);
        let mut near = Near::default();
        let mut touching = |room: &[f64]| {
            let mut touches = Vec::new();
            let fit = Fit::contacts(&surface, Path { x0: &x, x1: &x });
            find(&mut near, &mut search, (fit, room), &mut touches);
            touches.concat().len()
        };
        let all = touching(&[]);
        assert!(all >= 3, "{all}");
        assert_eq!(touching(&[1.0; 6]), all);
        // What keeps a little more than its thickness may rest on it.
        assert_eq!(touching(&[0.6; 6]), all);
        // Half the thickness is less than their distance.
        assert_eq!(touching(&[0.5; 6]), 0);
        assert_eq!(touching(&[1.0, 1.0, 1.0, 0.5, 0.5, 0.5]), 0);
    }
}
