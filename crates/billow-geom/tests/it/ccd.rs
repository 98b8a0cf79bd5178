//! Continuous collision against the exact oracle: no false negative, few false positives, valid certificates.

use crate::oracle::{self, Kind};
use billow_geom::ccd::{self, Hit};
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
