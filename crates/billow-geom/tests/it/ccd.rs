//! Continuous collision against the exact oracle: no false negative, few false positives, valid certificates.

use crate::oracle::{self, Kind};
use billow_geom::ccd::{self, BroadPhase, Certificate, Collider, Collision, Elements, Hit, Motion, Pair};
use billow_geom::mesh::Topology;
use billow_geom::{Aabb, audit, proximity, shapes};
use billow_num::rng::{Draws, Stream};
use billow_num::{Vec3, par};

type Corners = [Vec3; 4];

/// A family of queries.
struct Class {
    name: &'static str,
    /// Parts per hundred of all queries; fewer where the oracle is slow.
    share: u64,
    make: fn(&mut Draws, Kind) -> (Corners, Corners),
}

const CLASSES: &[Class] = &[
    Class { name: "random", share: 12, make: random },
    Class { name: "cloth-like", share: 16, make: cloth_like },
    Class { name: "coplanar throughout", share: 3, make: coplanar },
    Class { name: "parallel", share: 6, make: parallel },
    Class { name: "grazing", share: 10, make: grazing },
    Class { name: "slivers 1:1000", share: 10, make: slivers },
    Class { name: "offset by 10 km", share: 8, make: offset },
    Class { name: "scales 1e-3 to 1e3", share: 8, make: scaled },
    Class { name: "touching at the start", share: 5, make: touching_at_start },
    Class { name: "touching at the end", share: 5, make: touching_at_end },
    Class { name: "exact hits on a grid", share: 8, make: grid },
    Class { name: "collapsing", share: 4, make: collapsing },
    Class { name: "at rest, degenerate", share: 4, make: degenerate },
    Class { name: "off by a few ulp", share: 1, make: few_ulp },
];

fn vec(r: &mut Draws, size: f64) -> Vec3 {
    Vec3::new(r.range(-size, size), r.range(-size, size), r.range(-size, size))
}

/// A point of the grid of multiples of 1/8 in [-n, n].
fn lattice(r: &mut Draws, n: u64) -> Vec3 {
    let mut c = || (r.below(16 * n + 1) as f64 - 8.0 * n as f64) / 8.0;
    Vec3::new(c(), c(), c())
}

fn random(r: &mut Draws, _: Kind) -> (Corners, Corners) {
    (std::array::from_fn(|_| vec(r, 1.0)), std::array::from_fn(|_| vec(r, 1.0)))
}

/// Elements of unit size, a little apart, moving by a fraction of their size.
fn cloth_like(r: &mut Draws, kind: Kind) -> (Corners, Corners) {
    let x0 = elements(r, kind, 1.0, 0.2);
    let common = vec(r, 3.0);
    (x0, x0.map(|x| x + common + vec(r, 0.25)))
}

/// A point above a triangle, or an edge above an edge, with some gap.
fn elements(r: &mut Draws, kind: Kind, aspect: f64, gap: f64) -> Corners {
    let turn = billow_num::Quat::from_axis_angle(r.unit_vector(), r.range(0.0, 6.3));
    let h = Vec3::Z * r.range(-gap, gap);
    let mut flat = || Vec3::new(r.range(-1.0, 1.0), r.range(-1.0, 1.0) * aspect, 0.0);
    let corners = match kind {
        Kind::VertexFace => [flat() + h, flat(), flat(), flat()],
        Kind::EdgeEdge => [flat() + h, flat() + h, flat(), flat()],
    };
    corners.map(|x| turn * x)
}

fn slivers(r: &mut Draws, kind: Kind) -> (Corners, Corners) {
    let x0 = elements(r, kind, 1e-3, 1e-3);
    let size = [1e-3, 1e-2, 0.5][r.below(3) as usize];
    (x0, x0.map(|x| x + vec(r, size)))
}

/// All corners stay in one plane spanned by grid vectors.
fn coplanar(r: &mut Draws, _: Kind) -> (Corners, Corners) {
    let (o, u, v) = (lattice(r, 2), lattice(r, 2), lattice(r, 2));
    let mut point = || {
        let s = [r.below(17), r.below(17)].map(|s| s as f64 - 8.0);
        o + s[0] * u + s[1] * v
    };
    (std::array::from_fn(|_| point()), std::array::from_fn(|_| point()))
}

/// Edges parallel at both ends, or a point moving parallel to the plane of a triangle.
fn parallel(r: &mut Draws, kind: Kind) -> (Corners, Corners) {
    let mut half = || match kind {
        Kind::EdgeEdge => {
            let (a, b, e) = (lattice(r, 2), lattice(r, 2), lattice(r, 1));
            let s = r.below(9) as f64 - 4.0;
            [a, a + e, b, b + s * e]
        }
        Kind::VertexFace => {
            let (a, e, f) = (lattice(r, 2), lattice(r, 1), lattice(r, 1));
            let mut s = || r.below(9) as f64 / 4.0 - 1.0;
            let h = if s() > 0.5 { Vec3::ZERO } else { e.cross(f) * 0.125 };
            [a + s() * e + s() * f + h, a, a + e, a + f]
        }
    };
    (half(), half())
}

/// Passes an edge or a corner at a distance between 1e-3 and 1e-16.
fn grazing(r: &mut Draws, kind: Kind) -> (Corners, Corners) {
    let t = r.uniform();
    let gap = 10f64.powf(r.range(-16.0, -3.0));
    let mut x = elements(r, kind, 1.0, 0.0);
    // At time t the first corner sits on an edge or a corner of the second element, pushed off by the gap.
    let s = if r.below(2) == 0 { 0.0 } else { r.uniform() };
    let on = x[2] + s * (x[3] - x[2]);
    let off = gap * r.unit_vector();
    let shift = on + off - x[0];
    x[0] += shift;
    if kind == Kind::EdgeEdge {
        x[1] += shift;
    }
    let v: Corners = std::array::from_fn(|_| vec(r, 0.5));
    (std::array::from_fn(|i| x[i] - t * v[i]), std::array::from_fn(|i| x[i] + (1.0 - t) * v[i]))
}

fn offset(r: &mut Draws, kind: Kind) -> (Corners, Corners) {
    let (x0, x1) = if r.below(2) == 0 { cloth_like(r, kind) } else { grazing(r, kind) };
    let o = 1e4 * r.unit_vector();
    (x0.map(|x| x + o), x1.map(|x| x + o))
}

fn scaled(r: &mut Draws, kind: Kind) -> (Corners, Corners) {
    let (x0, x1) = if r.below(2) == 0 { cloth_like(r, kind) } else { grazing(r, kind) };
    let s = 10f64.powf(r.range(-3.0, 3.0));
    (x0.map(|x| x * s), x1.map(|x| x * s))
}

/// Grid elements in exact contact at one end of the step.
fn touching_at_start(r: &mut Draws, kind: Kind) -> (Corners, Corners) {
    let x = touching_on_grid(r, kind);
    let x1 = match r.below(3) {
        0 => std::array::from_fn(|_| lattice(r, 3)),
        1 => x.map(|x| x + vec(r, 1.0)),
        // Separating at once along one direction.
        _ => {
            let v = lattice(r, 1);
            let second = if kind == Kind::EdgeEdge { 2 } else { 1 };
            std::array::from_fn(|i| if i < second { x[i] + v } else { x[i] - v })
        }
    };
    (x, x1)
}

fn touching_at_end(r: &mut Draws, kind: Kind) -> (Corners, Corners) {
    let (x0, x1) = touching_at_start(r, kind);
    (x1, x0)
}

fn touching_on_grid(r: &mut Draws, kind: Kind) -> Corners {
    let (a, b, c) = (lattice(r, 2), lattice(r, 2), lattice(r, 2));
    let mut eighth = |n: u64| r.below(n + 1) as f64 / 8.0;
    match kind {
        Kind::VertexFace => {
            let u = eighth(8);
            let v = eighth((8.0 * (1.0 - u)) as u64);
            [a + u * (b - a) + v * (c - a), a, b, c]
        }
        Kind::EdgeEdge => {
            // The second edge passes through a point of the first, at one of its eighths.
            let on = a + eighth(8) * (b - a);
            let (before, after) = ([0.0, 1.0, 2.0][eighth(2) as usize], eighth(16));
            [a, b, on - before * c, on + after * c]
        }
    }
}

/// Small grids at both ends: contacts at corners and edges at rational times abound.
fn grid(r: &mut Draws, _: Kind) -> (Corners, Corners) {
    let n = 1 + r.below(3);
    let mut point = || {
        let mut c = || r.below(2 * n + 1) as f64 - n as f64;
        Vec3::new(c(), c(), c())
    };
    (std::array::from_fn(|_| point()), std::array::from_fn(|_| point()))
}

/// Elements that shrink to a segment or a point on the way.
fn collapsing(r: &mut Draws, kind: Kind) -> (Corners, Corners) {
    let t = [0.25, 0.5, 0.75, 1.0][r.below(4) as usize];
    let (a, b) = (lattice(r, 1), lattice(r, 1));
    let on_line = |s: f64| a + s * (b - a);
    let mut s = || r.below(3) as f64 / 2.0;
    let mut x: Corners = [on_line(s()), on_line(s()), on_line(s()), on_line(s())];
    if r.below(2) == 0 {
        x[0] = lattice(r, 1);
    }
    if kind == Kind::EdgeEdge && r.below(2) == 0 {
        x[1] = x[0];
    }
    let v: Corners = std::array::from_fn(|_| lattice(r, 1));
    (std::array::from_fn(|i| x[i] - t * v[i]), std::array::from_fn(|i| x[i] + (1.0 - t) * v[i]))
}

/// Coinciding corners, no motion, or both.
fn degenerate(r: &mut Draws, kind: Kind) -> (Corners, Corners) {
    let (mut x0, mut x1) = if r.below(2) == 0 { grid(r, kind) } else { random(r, kind) };
    for _ in 0..r.below(3) {
        let (i, j) = (r.below(4) as usize, r.below(4) as usize);
        x0[i] = x0[j];
        if r.below(2) == 0 {
            x1[i] = x1[j];
        }
    }
    if r.below(2) == 0 {
        x1 = x0;
    }
    (x0, x1)
}

/// Exact contacts with some coordinates moved by a few units in the last place.
fn few_ulp(r: &mut Draws, kind: Kind) -> (Corners, Corners) {
    let class = [touching_at_start, touching_at_end, grid, collapsing, coplanar][r.below(5) as usize];
    let (mut x0, mut x1) = class(r, kind);
    for x in x0.iter_mut().chain(&mut x1) {
        for c in 0..3 {
            match r.below(8) {
                0 => x[c] = x[c].next_up(),
                1 => x[c] = x[c].next_down(),
                2 => x[c] += x[c] * f64::EPSILON * r.below(9) as f64,
                _ => {}
            }
        }
    }
    (x0, x1)
}

fn query(kind: Kind, x0: &Corners, x1: &Corners, separation: f64) -> Option<Hit> {
    match kind {
        Kind::VertexFace => ccd::vertex_face(x0, x1, separation),
        Kind::EdgeEdge => ccd::edge_edge(x0, x1, separation),
    }
}

fn make(class: &Class, stream: u64, index: u64) -> (Kind, Corners, Corners) {
    let mut r = Stream::new(2024, stream).at(index);
    let kind = if r.below(2) == 0 { Kind::VertexFace } else { Kind::EdgeEdge };
    let (x0, x1) = (class.make)(&mut r, kind);
    (kind, x0, x1)
}

/// How many queries to run in all; more with an environment variable.
fn query_count(ordinary: u64) -> u64 {
    std::env::var("BILLOW_CCD_QUERIES").ok().and_then(|n| n.parse().ok()).unwrap_or(ordinary)
}

#[derive(Clone, Copy, Default)]
struct Tally {
    queries: u64,
    contacts: u64,
    hits: u64,
    false_negatives: u64,
    first_missed: Option<u64>,
}

impl Tally {
    fn plus(self, b: Self) -> Self {
        Self {
            queries: self.queries + b.queries,
            contacts: self.contacts + b.contacts,
            hits: self.hits + b.hits,
            false_negatives: self.false_negatives + b.false_negatives,
            first_missed: self.first_missed.or(b.first_missed),
        }
    }
}

#[test]
fn no_false_negative_against_the_exact_oracle() {
    let total = query_count(200_000);
    println!(
        "{:24} {:>9} {:>9} {:>8} {:>12} {:>9}",
        "class", "queries", "contacts", "missed", "false alarms", "rate"
    );
    let mut missed = Vec::new();
    for (k, class) in CLASSES.iter().enumerate() {
        let one = |i: usize| {
            let (kind, x0, x1) = make(class, k as u64, i as u64);
            let hit = query(kind, &x0, &x1, 0.0).is_some();
            let contact = oracle::touches(kind, &x0, &x1);
            Tally {
                queries: 1,
                contacts: contact.into(),
                hits: hit.into(),
                false_negatives: (contact && !hit).into(),
                first_missed: (contact && !hit).then_some(i as u64),
            }
        };
        let tally = par::reduce(
            (total * class.share / 100) as usize,
            256,
            |range| range.map(one).fold(Tally::default(), Tally::plus),
            Tally::plus,
        )
        .unwrap_or_default();
        let alarms = tally.hits + tally.false_negatives - tally.contacts;
        let rate = alarms as f64 / (tally.queries - tally.contacts).max(1) as f64;
        println!(
            "{:24} {:>9} {:>9} {:>8} {:>12} {:>9.2e}",
            class.name, tally.queries, tally.contacts, tally.false_negatives, alarms, rate
        );
        if let Some(i) = tally.first_missed {
            missed.push((class.name, make(class, k as u64, i)));
        }
    }
    assert!(missed.is_empty(), "missed contacts, first of each class: {missed:?}");
}

#[test]
fn oracle_filter_agrees_with_exact_arithmetic() {
    let mut decided = 0;
    for (k, class) in CLASSES.iter().enumerate() {
        for i in 0..150 {
            let (kind, x0, x1) = make(class, 100 + k as u64, i);
            if let Some(quick) = oracle::by_intervals(kind, &x0, &x1) {
                decided += 1;
                assert_eq!(quick, oracle::exactly(kind, &x0, &x1), "{kind:?} {x0:?} {x1:?}");
            }
        }
    }
    assert!(decided > 800, "{decided}");
}

fn certified(kind: Kind, x0: &Corners, x1: &Corners, separation: f64) -> (Option<Hit>, Vec<Certificate>) {
    let mut chain = Vec::new();
    let hit = match kind {
        Kind::VertexFace => ccd::vertex_face_certified(x0, x1, separation, |c| chain.push(c)),
        Kind::EdgeEdge => ccd::edge_edge_certified(x0, x1, separation, |c| chain.push(c)),
    };
    (hit, chain)
}

#[test]
fn certificates_hold_in_exact_arithmetic() {
    let mut checked = 0;
    for (k, class) in CLASSES.iter().enumerate() {
        for i in 0..400 {
            let (kind, x0, x1) = make(class, 200 + k as u64, i);
            let separation = [0.0, 0.0, 1e-3, 0.05][i as usize % 4];
            let (hit, chain) = certified(kind, &x0, &x1, separation);
            // The chain starts at 0, has no gaps and ends at 1, or at the time of the hit.
            let end = chain.iter().fold(0.0, |t, c| {
                assert_eq!(c.start, t);
                assert!(c.end > t);
                c.end
            });
            assert_eq!(end, hit.map_or(1.0, |h| h.toi), "{}: {x0:?} {x1:?}", class.name);
            for c in &chain {
                assert!(oracle::certifies(c, kind, (&x0, &x1), separation), "{c:?} {kind:?} {x0:?} {x1:?}");
                checked += 1;
            }
        }
    }
    assert!(checked > 3000, "{checked}");
}

#[test]
fn a_false_certificate_is_refused() {
    let (x0, x1) = ([Vec3::Z, Vec3::ZERO, Vec3::X, Vec3::Y], [-Vec3::Z, Vec3::ZERO, Vec3::X, Vec3::Y]);
    let up = |end| Certificate { start: 0.0, end, normal_start: Vec3::Z, normal_end: Vec3::Z };
    let holds = |c, separation| oracle::certifies(&c, Kind::VertexFace, (&x0, &x1), separation);
    assert!(holds(up(0.5f64.next_down()), 0.0) && !holds(up(0.5), 0.0));
    assert!(holds(up(0.25), 0.49) && !holds(up(0.25), 0.51));
}

fn distance(kind: Kind, x0: &Corners, x1: &Corners, t: f64) -> f64 {
    let x: Corners = std::array::from_fn(|i| (1.0 - t) * x0[i] + t * x1[i]);
    match kind {
        Kind::VertexFace => proximity::point_triangle(x[0], [x[1], x[2], x[3]]).distance,
        Kind::EdgeEdge => proximity::edge_edge([x[0], x[1]], [x[2], x[3]]).distance,
    }
}

/// The smallest distance over the step, from samples refined around the best.
fn smallest_distance(kind: Kind, x0: &Corners, x1: &Corners) -> f64 {
    let d = |t: f64| distance(kind, x0, x1, t.clamp(0.0, 1.0));
    let (mut best, mut width) = ((d(0.0), 0.0), 1.0 / 48.0);
    for k in 1..=48 {
        let t = k as f64 / 48.0;
        best = if d(t) < best.0 { (d(t), t) } else { best };
    }
    for _ in 0..60 {
        for t in [best.1 - width, best.1 + width] {
            best = if d(t) < best.0 { (d(t), t) } else { best };
        }
        width *= 0.7;
    }
    best.0
}

#[test]
fn minimum_separation_is_never_missed_and_rarely_overrated() {
    let (mut hits, mut overrated, mut clear) = (0, 0, 0);
    for (k, class) in CLASSES.iter().enumerate() {
        for i in 0..700 {
            let (kind, x0, x1) = make(class, 300 + k as u64, i);
            let size = x0.iter().chain(&x1).fold(0.0, |s: f64, x| s.max(x.distance(x0[0])));
            let separation = size * [1e-6, 1e-3, 0.03][i as usize % 3];
            let nearest = smallest_distance(kind, &x0, &x1);
            let noise = 1e-12 * (size + x0[0].length());
            match query(kind, &x0, &x1, separation) {
                None => {
                    assert!(nearest > separation - noise, "{nearest} {separation} {kind:?} {x0:?} {x1:?}");
                    clear += 1;
                }
                Some(hit) => {
                    hits += 1;
                    overrated += u64::from(nearest > separation * (1.0 + 1e-6) + noise);
                    // Proven up to the time of the hit, and close by then.
                    let then = distance(kind, &x0, &x1, hit.toi);
                    assert!(hit.toi == 0.0 || then >= separation - noise);
                    assert!((hit.normal.length() - 1.0).abs() < 1e-9 || hit.normal == Vec3::ZERO);
                    assert!(hit.weights.iter().sum::<f64>().abs() < 1e-12);
                }
            }
        }
    }
    println!("{hits} hits, of them {overrated} that sampling does not confirm, {clear} clear");
    assert!(hits > 2000 && clear > 2000);
    assert!(overrated * 200 < hits, "{overrated} of {hits}");
}

#[test]
fn time_normal_and_weights_of_a_head_on_hit() {
    let triangle = [Vec3::ZERO, Vec3::X, Vec3::Y];
    let at = |z: f64| [Vec3::new(0.25, 0.5, z), triangle[0], triangle[1], triangle[2]];
    let hit = ccd::vertex_face(&at(1.0), &at(-3.0), 0.0).unwrap();
    assert!(hit.toi < 0.25 && hit.toi > 0.25 - 1e-14, "{hit:?}");
    assert_eq!(hit.normal, Vec3::Z);
    assert_eq!(hit.weights, [1.0, -0.25, -0.25, -0.5]);
    let hit = ccd::vertex_face(&at(1.0), &at(-3.0), 0.5).unwrap();
    assert!((hit.toi - 0.125).abs() < 1e-13 && hit.toi <= 0.125);
    // Touching counts, at either end, and so does being too close from the start.
    assert!(ccd::vertex_face(&at(1.0), &at(0.0), 0.0).is_some());
    assert!(ccd::vertex_face(&at(0.0), &at(1.0), 0.0).is_some_and(|h| h.toi == 0.0));
    assert!(ccd::vertex_face(&at(0.5), &at(1.0), 0.5).is_some_and(|h| h.toi == 0.0));
    assert!(ccd::vertex_face(&at(0.5), &at(0.5), 0.0).is_none());
    let edges = |z: f64| [Vec3::new(-1.0, 0.0, z), Vec3::new(3.0, 0.0, z), -Vec3::Y, Vec3::Y];
    let hit = ccd::edge_edge(&edges(1.0), &edges(-1.0), 0.0).unwrap();
    assert!(hit.toi <= 0.5 && hit.toi > 0.5 - 1e-14 && hit.normal == Vec3::Z);
    assert_eq!(hit.weights, [0.75, 0.25, -0.5, -0.5]);
}

#[test]
fn rotating_hits_are_approached_closely() {
    let mut worst = 0.0f64;
    for i in 0..2000 {
        let (kind, x0, x1) = make(&CLASSES[1], 400, i);
        if let Some(hit) = query(kind, &x0, &x1, 0.0) {
            worst = worst.max(distance(kind, &x0, &x1, hit.toi));
        }
    }
    assert!(worst < 1e-9, "{worst}");
}

#[test]
fn what_is_not_finite_is_a_hit() {
    let x = [Vec3::Z, Vec3::ZERO, Vec3::X, Vec3::Y];
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for i in 0..4 {
            let mut y = x;
            y[i].y = bad;
            for kind in [Kind::VertexFace, Kind::EdgeEdge] {
                assert_eq!(query(kind, &x, &y, 0.0).unwrap().toi, 0.0);
                assert_eq!(query(kind, &y, &x, 1e-3).unwrap().toi, 0.0);
            }
        }
        assert!(ccd::vertex_face(&x, &x, bad).is_some());
    }
    assert!(ccd::vertex_face(&x, &x, -1.0).is_none());
    // Overflow on the way must not prove anything wrong.
    let huge = x.map(|x| x * 1e300);
    assert!(ccd::vertex_face(&huge, &huge.map(|x| -x), 0.0).is_some());
}

#[test]
fn the_documents_cubic_finds_the_contacts_of_ordinary_motions() {
    let tolerance = ccd::cubic::Tolerance::default();
    let mut contacts = 0;
    for i in 0..20_000 {
        let (kind, x0, x1) = make(&CLASSES[1], 500, i);
        if oracle::touches(kind, &x0, &x1) {
            contacts += 1;
            let found = match kind {
                Kind::VertexFace => ccd::cubic::vertex_face(&x0, &x1, tolerance),
                Kind::EdgeEdge => ccd::cubic::edge_edge(&x0, &x1, tolerance),
            };
            let ours = query(kind, &x0, &x1, 0.0).unwrap();
            assert!(
                found.is_some_and(|f| (f.toi - ours.toi).abs() < 1e-4 || f.toi > ours.toi),
                "{x0:?} {x1:?}"
            );
        }
    }
    assert!(contacts > 500);
}

/// A wavy sheet that falls through another.
fn two_sheets(n: u32) -> (Vec<Vec3>, Vec<Vec3>, Topology) {
    let sheet = shapes::plane(1.0, 1.0, n, n).unwrap();
    let wave = |p: Vec3| Vec3::new(p.x, p.y, 0.04 * ((11.0 * p.x).sin() + (7.0 * p.y).cos()));
    let count = sheet.positions.len() as u32;
    let mut start: Vec<Vec3> = sheet.positions.iter().map(|&p| wave(p)).collect();
    let mut end = start.clone();
    for &p in &sheet.positions {
        let q = wave(Vec3::new(p.y, p.x + 0.3, 0.0)) + Vec3::new(0.01, 0.02, 0.18);
        start.push(q);
        end.push(q + Vec3::new(0.05 * q.y, 0.02, -0.2 + 0.03 * (5.0 * q.x).sin()));
    }
    let mut triangles = sheet.triangles.clone();
    triangles.extend(sheet.triangles.iter().map(|t| t.map(|i| i + count)));
    let topology = Topology::new(start.len(), &triangles).unwrap();
    (start, end, topology)
}

fn brute_force(motion: Motion<'_>, elements: Elements<'_>, separation: f64) -> Vec<Collision> {
    let at = |i: [u32; 4]| (i.map(|i| motion.start[i as usize]), i.map(|i| motion.end[i as usize]));
    let mut all = Vec::new();
    for vertex in 0..motion.start.len() as u32 {
        for (face, t) in elements.triangles.iter().enumerate().filter(|(_, t)| !t.contains(&vertex)) {
            let (x0, x1) = at([vertex, t[0], t[1], t[2]]);
            let pair = Pair::VertexFace { vertex, face: face as u32 };
            all.extend(ccd::vertex_face(&x0, &x1, separation).map(|hit| Collision { pair, hit }));
        }
    }
    for (i, a) in elements.edges.iter().enumerate() {
        for (j, b) in
            elements.edges.iter().enumerate().skip(i + 1).filter(|(_, b)| !a.iter().any(|v| b.contains(v)))
        {
            let (x0, x1) = at([a[0], a[1], b[0], b[1]]);
            let pair = Pair::EdgeEdge { edges: [i as u32, j as u32] };
            all.extend(ccd::edge_edge(&x0, &x1, separation).map(|hit| Collision { pair, hit }));
        }
    }
    all.sort_by(|a, b| a.hit.toi.total_cmp(&b.hit.toi).then(a.pair.cmp(&b.pair)));
    all
}

#[test]
fn whole_scenes_equal_brute_force_on_any_number_of_threads() {
    let (start, end, topology) = two_sheets(12);
    let elements = Elements { edges: topology.edges(), triangles: topology.triangles() };
    let motion = Motion { start: &start, end: &end };
    for separation in [0.0, 2e-3] {
        let expected = brute_force(motion, elements, separation);
        assert!(expected.len() > 20 && expected[0].hit.toi > 0.0, "{}", expected.len());
        for threads in [1, 2, 5] {
            par::with_threads(threads, || {
                let mut collider = Collider::new(&start, elements);
                let (found, counts) = collider.find(motion, elements, separation).unwrap();
                assert_eq!(found, expected);
                assert!(counts.vertex_face + counts.edge_edge >= expected.len() as u64);
                // Used again for another motion and then for the first, it gives the same.
                let back = Motion { start: &end, end: &start };
                assert_eq!(collider.find(back, elements, 0.0).unwrap().0, brute_force(back, elements, 0.0));
                assert_eq!(collider.find(motion, elements, separation).unwrap().0, expected);
            });
        }
    }
}

#[test]
fn the_largest_step_is_free_of_intersections() {
    let (start, end, topology) = two_sheets(14);
    let elements = Elements { edges: topology.edges(), triangles: topology.triangles() };
    let motion = Motion { start: &start, end: &end };
    let step = Collider::new(&start, elements).largest_step(motion, elements, 0.0).unwrap();
    assert!(step > 0.0 && step < 1.0);
    let at = |t: f64| -> Vec<Vec3> { (0..start.len()).map(|i| start[i].lerp(end[i], t)).collect() };
    assert!(audit::audit(&at(step * (1.0 - 1e-9)), topology.triangles()).is_clean());
    assert!(!audit::audit(&at(step + 1e-3), topology.triangles()).is_intersection_free());
    let rest = Motion { start: &start, end: &start };
    assert_eq!(Collider::new(&start, elements).largest_step(rest, elements, 0.0).unwrap(), 1.0);
    let mut bad = end.clone();
    bad[5].x = f64::NAN;
    let error =
        Collider::new(&start, elements).largest_step(Motion { start: &start, end: &bad }, elements, 0.0);
    assert!(error.unwrap_err().to_string().contains("vertex 5"));
}

#[test]
fn swept_candidates_are_the_pairs_with_overlapping_boxes() {
    let (start, end, topology) = two_sheets(10);
    let elements = Elements { edges: topology.edges(), triangles: topology.triangles() };
    let mut broad = BroadPhase::<1>::new(&start, elements);
    broad.refit(Motion { start: &start, end: &end }, elements, 0.0);
    let candidates = broad.candidates(elements);
    let swept =
        |i: &[u32]| i.iter().fold(Aabb::EMPTY, |b, &i| b.with(start[i as usize]).with(end[i as usize]));
    let mut expected = [Vec::new(), Vec::new()];
    for v in 0..start.len() as u32 {
        for (f, t) in elements.triangles.iter().enumerate().filter(|(_, t)| !t.contains(&v)) {
            if swept(&[v]).overlaps(&swept(t)) {
                expected[0].push([v, f as u32]);
            }
        }
    }
    for (i, a) in elements.edges.iter().enumerate() {
        for (j, b) in elements.edges.iter().enumerate().skip(i + 1) {
            if !a.iter().any(|v| b.contains(v)) && swept(a).overlaps(&swept(b)) {
                expected[1].push([i as u32, j as u32]);
            }
        }
    }
    for (mut found, expected) in [candidates.vertex_face, candidates.edge_edge].into_iter().zip(expected) {
        found.sort_unstable();
        // Outward rounding to single precision may add a few, never lose one.
        assert!(expected.iter().all(|p| found.binary_search(p).is_ok()));
        assert!(
            found.len() <= expected.len() + expected.len() / 500 + 2,
            "{} {}",
            found.len(),
            expected.len()
        );
    }
}
