//! Two surfaces at given poses, against all pairs of elements and against motion sampled finely.

use billow_contact::{Ask, Element, Place, Posed, Scratch, Shape, collisions, meetings, proximities};
use billow_geom::proximity::{edge_edge, point_triangle};
use billow_geom::shapes::{self, Cup};
use billow_geom::{TriMesh, audit, mesh::Topology};
use billow_num::rng::{Draws, Stream};
use billow_num::{Pose, Quat, Vec3};

const ALL: Ask = Ask { points: [true; 2], edges: true, near: 0.0, overlap: 0.0 };

struct Model {
    mesh: TriMesh,
    topology: Topology,
    shape: Shape,
}

#[allow(clippy::unwrap_used, reason = "test support")]
fn model(mesh: TriMesh) -> Model {
    // Poses turn surfaces about the origin, in their middle here.
    let middle = mesh.bounds().centre();
    let mesh = TriMesh { positions: mesh.positions.iter().map(|x| *x - middle).collect(), ..mesh };
    Model { topology: mesh.topology().unwrap(), shape: Shape::new(&mesh).unwrap(), mesh }
}

#[allow(clippy::unwrap_used, reason = "test support")]
fn models() -> [Model; 3] {
    let cup =
        Cup { bottom_radius: 0.3, top_radius: 0.4, height: 0.9, segments: 9, stacks: 2, ..Cup::default() };
    let mut sheet = shapes::cloth_grid(1.0, 0.8, 5, 4).unwrap();
    for x in &mut sheet.positions {
        x.z = 0.3 * x.x * x.x - 0.2 * x.y * x.x;
    }
    [model(cup.shell().unwrap()), model(sheet), model(shapes::torus(0.4, 0.15, 8, 5).unwrap())]
}

fn pose(draw: &mut Draws, far: f64) -> Pose {
    let rotation = Quat::from_scaled_axis(draw.unit_vector() * draw.range(0.0, 3.0));
    Pose { position: draw.unit_vector() * draw.range(0.0, far), rotation }
}

fn places(
    ask: fn(&[Posed<'_>; 2], &Ask, &mut Scratch, &mut Vec<Place>),
    pair: &[Posed<'_>; 2],
    of: &Ask,
) -> Vec<Place> {
    let mut out = Vec::new();
    ask(pair, of, &mut Scratch::default(), &mut out);
    out
}

/// World positions of the corners of an element.
fn corners(model: &Model, pose: &Pose, element: Element) -> Vec<Vec3> {
    let at = |v: &u32| pose.point(model.mesh.positions[*v as usize]);
    match element {
        Element::Point(v) => vec![at(&v)],
        Element::Edge(e) => model.topology.edges()[e as usize].iter().map(at).collect(),
        Element::Face(t) => model.mesh.triangles[t as usize].iter().map(at).collect(),
    }
}

fn distance(first: &[Vec3], second: &[Vec3]) -> f64 {
    match (first, second) {
        ([p], [a, b, c]) | ([a, b, c], [p]) => point_triangle(*p, [*a, *b, *c]).distance,
        ([a, b], [c, d]) => edge_edge([*a, *b], [*c, *d]).distance,
        _ => panic!("points meet faces and edges meet edges"),
    }
}

/// All pairs of elements that can meet.
fn all_pairs([a, b]: [&Model; 2]) -> Vec<[Element; 2]> {
    let counts = |m: &Model| [m.mesh.positions.len(), m.topology.edge_count(), m.mesh.triangles.len()];
    let ([va, ea, fa], [vb, eb, fb]) = (counts(a), counts(b));
    let mut pairs = Vec::new();
    let mut cross = |n: usize, m: usize, make: fn(u32, u32) -> [Element; 2]| {
        pairs.extend((0..n as u32).flat_map(|i| (0..m as u32).map(move |j| make(i, j))));
    };
    cross(va, fb, |v, t| [Element::Point(v), Element::Face(t)]);
    cross(fa, vb, |t, v| [Element::Face(t), Element::Point(v)]);
    cross(ea, eb, |e, f| [Element::Edge(e), Element::Edge(f)]);
    pairs
}

/// Whether the distance from a point of an edge to `from` falls by more than `slope` into a neighbouring face.
fn falls(model: &Model, pose: &Pose, e: u32, (on, from): (Vec3, Vec3), slope: f64) -> bool {
    let ends = corners(model, pose, Element::Edge(e));
    let along = (ends[1] - ends[0]).normalize();
    model.topology.edge_triangles(e).iter().any(|t| {
        let face = corners(model, pose, Element::Face(*t));
        let into = face.iter().map(|x| *x - on).map(|x| x - along * x.dot(along));
        let into = into.max_by(|x, y| x.length().total_cmp(&y.length())).unwrap_or_default().normalize();
        into.dot((from - on).normalize()) > slope
    })
}

/// Whether a place is to be told of two elements near each other; `None` where rounding may decide.
fn wanted(models: [&Model; 2], poses: &[Pose; 2], who: [Element; 2], reach: f64) -> Option<bool> {
    let x = [0, 1].map(|k| corners(models[k], &poses[k], who[k]));
    let apart = distance(&x[0], &x[1]);
    if (apart - reach).abs() < 1e-9 {
        return None;
    }
    if apart > reach {
        return Some(false);
    }
    if let [Element::Edge(e), Element::Edge(f)] = who {
        let near = edge_edge([x[0][0], x[0][1]], [x[1][0], x[1][1]]);
        let border = |s: f64| s.min(1.0 - s);
        if near.a.min(near.b) <= 0.0 || near.a.max(near.b) >= 1.0 {
            return Some(false);
        }
        let on = [x[0][0].lerp(x[0][1], near.a), x[1][0].lerp(x[1][1], near.b)];
        let falls = |slope: f64| {
            falls(models[0], &poses[0], e, (on[0], on[1]), slope)
                || falls(models[1], &poses[1], f, (on[1], on[0]), slope)
        };
        let sure = border(near.a) > 1e-9 && border(near.b) > 1e-9 && falls(0.999e-3) == falls(1.001e-3);
        return sure.then(|| !falls(1e-3));
    }
    // A point: it stands above the face, or no other face is nearer.
    let (k, point, face) = if x[0].len() == 1 { (1, &x[0], &x[1]) } else { (0, &x[1], &x[0]) };
    let near = point_triangle(point[0], [face[0], face[1], face[2]]);
    let least = near.weights.iter().copied().fold(f64::INFINITY, f64::min);
    if least > 1e-9 {
        return Some(true);
    }
    let others = (0..models[k].mesh.triangles.len() as u32).map(Element::Face).filter(|t| *t != who[k]);
    let other =
        others.map(|t| distance(point, &corners(models[k], &poses[k], t))).fold(f64::INFINITY, f64::min);
    if least > 0.0 || (other - apart).abs() < 1e-9 {
        return None;
    }
    Some(apart < other)
}

#[test]
fn places_near_are_those_that_all_pairs_have() {
    let models = models();
    let (mut told, mut edges, mut apart) = (0, 0, 0);
    for k in 0..240 {
        let mut draw = Stream::new(31, 0).at(k);
        let chosen = [0, 1].map(|_| &models[draw.below(3) as usize]);
        let poses = [0, 1].map(|_| pose(&mut draw, 1.0));
        let thickness = [draw.range(0.0, 0.1), draw.range(0.0, 0.1)];
        let near = draw.range(0.0, 0.3);
        let pair = [0, 1].map(|i| Posed {
            shape: &chosen[i].shape,
            now: poses[i],
            end: poses[i],
            thickness: thickness[i],
        });
        let reach = 0.5 * (thickness[0] + thickness[1]) + near;
        let mut found = Vec::new();
        let clear = proximities(&pair, &Ask { near, ..ALL }, &mut Scratch::default(), &mut found);
        for place in &found {
            // Each tells the truth about its points.
            let x = [0, 1].map(|i| corners(chosen[i], &poses[i], place.feet[i].element));
            assert!((distance(&x[0], &x[1]) - place.distance).abs() < 1e-12);
            for (foot, x) in place.feet.iter().zip(&x) {
                let at: Vec3 = x.iter().zip(foot.weights).map(|(x, w)| *x * w).sum();
                assert!(
                    at.distance(foot.at) < 1e-12 && (foot.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12
                );
            }
            let way = place.feet[0].at - place.feet[1].at;
            assert!(way.distance(place.normal * place.distance) < 1e-12 && place.when == 0.0);
        }
        let who: Vec<[Element; 2]> = found.iter().map(|p| p.feet.map(|f| f.element)).collect();
        let mut sorted = who.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), who.len(), "no place is told twice");
        let mut least = f64::INFINITY;
        for pair in all_pairs(chosen) {
            let x = [0, 1].map(|i| corners(chosen[i], &poses[i], pair[i]));
            least = least.min(distance(&x[0], &x[1]));
            if let Some(wanted) = wanted(chosen, &poses, pair, reach) {
                assert_eq!(sorted.binary_search(&pair).is_ok(), wanted, "{k}: {pair:?}");
            }
        }
        // The nearest points of all are among them, unless there is no such thing.
        if !cross(chosen, &poses) {
            assert!((clear - least.min(reach)).abs() < 1e-12, "{k}: {least} {clear}");
            apart += 1;
        }
        told += found.len();
        edges += who.iter().filter(|w| matches!(w[0], Element::Edge(_))).count();
    }
    assert!(told > 2000 && edges > 50 && (60..180).contains(&apart), "{told} {edges} {apart}");
}

/// Whether any triangles of two surfaces cross.
fn cross(models: [&Model; 2], poses: &[Pose; 2]) -> bool {
    let of = |k: usize| models[k].mesh.positions.iter().map(move |x| poses[k].point(*x));
    let first = models[0].mesh.positions.len() as u32;
    let x: Vec<Vec3> = of(0).chain(of(1)).collect();
    let second = models[1].mesh.triangles.iter().map(|t| t.map(|v| v + first));
    let triangles: Vec<[u32; 3]> = models[0].mesh.triangles.iter().copied().chain(second).collect();
    !audit::audit(&x, &triangles).findings.is_empty()
}

/// Where a body is that moves and turns steadily.
fn on_the_way(posed: &Posed<'_>, t: f64) -> Pose {
    let turn = posed.end.rotation * posed.now.rotation.conjugate();
    let turn = if turn.w < 0.0 { -turn } else { turn };
    let rotation = Quat::from_scaled_axis(turn.to_scaled_axis() * t) * posed.now.rotation;
    Pose { position: posed.now.position.lerp(posed.end.position, t), rotation }
}

#[test]
fn elements_that_come_too_close_on_the_way_collide_and_no_others() {
    const TIMES: u32 = 60;
    let models = models();
    let (mut close, mut told) = (0, 0);
    for k in 0..15 {
        let mut draw = Stream::new(32, 0).at(k);
        let chosen = [0, 1].map(|_| &models[draw.below(3) as usize]);
        // A third of them only move, a third turn a little, a third turn much.
        let turn = [0.0, 0.1, 0.8][k as usize % 3];
        let pair = [0.0, 1.4].map(|far| {
            let mut now = pose(&mut draw, 0.3);
            now.position += Vec3::X * far;
            let rotation = Quat::from_scaled_axis(draw.unit_vector() * turn) * now.rotation;
            let end = Pose { position: now.position - draw.in_ball() * 0.3 - Vec3::X * far, rotation };
            (now, end)
        });
        let pair = [0, 1].map(|i| Posed {
            shape: &chosen[i].shape,
            now: pair[i].0,
            end: pair[i].1,
            thickness: 0.04,
        });
        let ask = Ask { overlap: 0.02, ..ALL };
        let found = places(collisions, &pair, &ask);
        let mut who: Vec<[Element; 2]> = found.iter().map(|p| p.feet.map(|f| f.element)).collect();
        who.sort_unstable();
        told += who.len();
        // How far arcs bulge, and how far anything moves between two looks.
        let radius = chosen.map(|m| m.mesh.positions.iter().map(|x| x.length()).fold(0.0, f64::max));
        let bulge = turn * turn * (radius[0] + radius[1]) / 8.0;
        let moves: f64 = pair.iter().map(|p| p.now.position.distance(p.end.position)).sum();
        let step = (moves + turn * (radius[0] + radius[1])) / f64::from(TIMES);
        for elements in all_pairs(chosen) {
            let at = |t: u32| {
                let poses = pair.each_ref().map(|p| on_the_way(p, f64::from(t) / f64::from(TIMES)));
                let x = [0, 1].map(|i| corners(chosen[i], &poses[i], elements[i]));
                distance(&x[0], &x[1])
            };
            let start = at(0);
            if start <= 0.04 {
                continue;
            }
            let least = (1..=TIMES).map(at).fold(start, f64::min);
            let hit = who.binary_search(&elements).is_ok();
            assert!(hit || least > 0.02, "{k}: {elements:?} come within {least} unnoticed");
            assert!(!hit || least < 0.02 + 2.0 * bulge + step, "{k}: {elements:?} keep {least} apart");
            close += usize::from(least <= 0.02);
        }
        // Together with what is near: nothing is lost by looking whether they are near enough first.
        let both = places(meetings, &pair, &Ask { near: 0.05, ..ask });
        assert_eq!(
            both.iter().filter(|p| p.when > 0.0).count(),
            found.iter().filter(|p| p.when > 0.0).count()
        );
    }
    assert!(close > 600 && told >= close, "{close} {told}");
}

#[test]
#[allow(clippy::unwrap_used, reason = "test support")]
fn a_sheet_that_is_through_at_the_end_of_the_step_is_told_when_it_meets() {
    let sheet = model(shapes::cloth_grid(1.0, 1.0, 4, 4).unwrap());
    let offset = Vec3::new(1e4, -2e4, 3e4);
    for speed in [0.3, 10.0, 1e4] {
        let at = |z: f64| Pose { position: offset + Vec3::new(0.03, 0.02, z), rotation: Quat::IDENTITY };
        let low = Posed { shape: &sheet.shape, now: at(0.0), end: at(0.0), thickness: 2e-3 };
        let high = Posed { now: at(0.1), end: at(0.1 - speed), ..low };
        let ask = Ask { overlap: 1e-3, ..ALL };
        // Near at neither end.
        for still in [[low, Posed { end: high.now, ..high }], [low, Posed { now: high.end, ..high }]] {
            assert!(places(proximities_only, &still, &ask).is_empty());
        }
        for (pair, up) in [([high, low], 1.0), ([low, high], -1.0)] {
            let found = places(meetings, &pair, &ask);
            let first = found.iter().map(|p| p.when).fold(f64::INFINITY, f64::min);
            let truth = (0.1 - 1e-3) / speed;
            assert!(!found.is_empty() && (first - truth).abs() < 1e-3 * truth, "{speed}: {first} {truth}");
            for place in found {
                assert!(place.normal.distance(Vec3::Z * up) < 1e-6, "{}", place.normal);
                assert!((place.distance - 0.1).abs() < 1e-6, "{}", place.distance);
            }
        }
    }
}

#[test]
#[allow(clippy::unwrap_used, reason = "test support")]
fn what_turns_far_from_its_origin_meets_what_is_in_its_way() {
    // Seen from the patch that turns, the other one comes along an arc, far outside of the box around its chord.
    let (far, half) = (3.0, 0.4);
    let mut mesh = shapes::cloth_grid(0.2, 0.2, 2, 2).unwrap();
    mesh.positions.iter_mut().for_each(|x| *x = Vec3::new(far + x.z, x.x, x.y));
    let patch = Shape::new(&mesh).unwrap();
    let turned = |angle: f64| Pose { position: Vec3::ZERO, rotation: Quat::from_rotation_z(angle) };
    let turning = Posed { shape: &patch, now: turned(-half), end: turned(half), thickness: 1e-3 };
    // It stands across the middle of the straight way of the corners.
    let still = Pose { position: Vec3::new(far * half.cos() - far, 0.0, 0.0), rotation: Quat::IDENTITY };
    let still = Posed { now: still, end: still, ..turning };
    for pair in [[turning, still], [still, turning]] {
        let found = places(collisions, &pair, &ALL);
        let points =
            |k: usize| found.iter().filter(|p| matches!(p.feet[k].element, Element::Point(_))).count();
        let edges = found.len() - points(0) - points(1);
        assert!(points(0) > 0 && points(1) > 0 && edges > 0, "{} {} {edges}", points(0), points(1));
    }
}

fn proximities_only(pair: &[Posed<'_>; 2], ask: &Ask, scratch: &mut Scratch, out: &mut Vec<Place>) {
    proximities(pair, ask, scratch, out);
}

#[test]
#[allow(clippy::unwrap_used, reason = "test support")]
fn a_thick_point_is_a_ball() {
    let sheet = model(shapes::cloth_grid(1.0, 1.0, 4, 4).unwrap());
    let centre = Shape::point();
    let at = |x: f64, z: f64| Pose { position: Vec3::new(x, 0.07, z), rotation: Quat::IDENTITY };
    let below = Posed { shape: &sheet.shape, now: at(0.0, 0.0), end: at(0.0, 0.0), thickness: 0.0 };
    let ball = Posed { shape: &centre, now: at(0.1, 0.25), end: at(0.1, -0.75), thickness: 0.4 };
    let found = places(meetings, &[ball, below], &Ask { near: 0.06, ..ALL });
    let (near, hit): (Vec<Place>, Vec<Place>) = found.iter().partition(|p| p.when == 0.0);
    assert!(near.iter().any(|p| (p.distance - 0.25).abs() < 1e-12 && p.normal.distance(Vec3::Z) < 1e-12));
    let first = hit.iter().map(|p| p.when).fold(f64::INFINITY, f64::min);
    assert!((first - 0.05).abs() < 1e-4, "{first}");
    // Beside the rim it passes.
    let beside = Posed { now: at(0.75, 0.25), end: at(0.75, -0.75), ..ball };
    assert!(places(meetings, &[beside, below], &ALL).is_empty());
}
