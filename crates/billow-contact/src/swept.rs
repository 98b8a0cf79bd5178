//! Where two surfaces collide on their way from one pose to another.
//!
//! Vertices go straight through the world, as the nodes of cloth do, and whether elements collide is decided by the same
//! code (`pair.rs`): trajectories are clear only if that is proven. Points of a body that turns go along arcs; the
//! elements are kept farther apart by as much as arcs bulge out of their chords, so that the proof holds for the
//! bodies too if they move and turn steadily.

use crate::pair::Pair;
use crate::posed::{Ask, Foot, POINT_FACE, Place, Posed, Scratch, TWO_EDGES, kept, proximities};
use crate::shape::{Element, Shape};
use billow_geom::Aabb;
use billow_num::{Pose, Vec3};

/// Adds the places where two surfaces are near each other, as [`proximities`] does, and where they [collide](collisions)
/// in the step, if they are near enough for that.
pub fn meetings(pair: &[Posed<'_>; 2], ask: &Ask, scratch: &mut Scratch, out: &mut Vec<Place>) {
    let clear = proximities(pair, ask, scratch, out);
    let sweep = Sweep::new(pair, ask);
    if clear <= sweep.separation + sweep.approach() {
        sweep.run(ask, scratch, out);
    }
}

/// Adds the places where two surfaces come as close in the step as their thickness, less the overlap asked for. Elements that
/// start about that close or closer collide when nine tenths of their distance are left. Each pair of elements has one place, when it first comes so close.
///
/// What is not told does not collide: see [`billow_geom::ccd`].
pub fn collisions(pair: &[Posed<'_>; 2], ask: &Ask, scratch: &mut Scratch, out: &mut Vec<Place>) {
    Sweep::new(pair, ask).run(ask, scratch, out);
}

/// Part of their distance that elements keep which start closer than asked for. Thick points are balls: what rests on one
/// must be told long before it is inside.
const KEPT: f64 = 0.9;

/// More than what going from one surface's coordinates to the other's is rounded by, as a part of the lengths involved.
const ROUNDING: f64 = 1e-14;

/// Two surfaces and how they move past each other.
struct Sweep<'a> {
    pair: &'a [Posed<'a>; 2],
    /// How close elements may come whose vertices go straight [m].
    separation: f64,
    /// How far points stray from straight ways in coordinates of the first or second surface, and how far straight ways
    /// in the world stray from those of the bodies, at most [m].
    stray: [f64; 2],
    /// How far points of each surface move in coordinates of the other, at most [m].
    approach: [f64; 2],
}

impl<'a> Sweep<'a> {
    fn new(pair: &'a [Posed<'a>; 2], ask: &Ask) -> Self {
        let turns = pair.each_ref().map(|p| turn(&p.now, &p.end));
        let radii = pair.each_ref().map(|p| p.shape.radius);
        // An arc through an angle θ stays within an eighth of θ² times its radius of the chord.
        let bulge = [0, 1].map(|k| turns[k] * turns[k] * radii[k] / 8.0);
        let separation = (kept(pair) - ask.overlap).max(0.0) + bulge[0] + bulge[1];

        // A point of `other` seen from `own`: its acceleration, constant velocities and turns taken for granted, is at most
        // (θ + θ')² r' + θ² d + 2 θ v, and an eighth of that is how far it strays from its chord.
        let [from, to] = [[&pair[0].now, &pair[1].now], [&pair[0].end, &pair[1].end]]
            .map(|[a, b]| b.position - a.position);
        let (apart, way) = (from.length().max(to.length()), from.distance(to));
        let seen_from = |own: usize| {
            let (own_turn, both) = (turns[own], turns[0] + turns[1]);
            both * both * radii[1 - own] + own_turn * own_turn * apart + 2.0 * own_turn * way
        };
        let rounding = ROUNDING * (apart + radii[0] + radii[1]);
        let stray = [0, 1].map(|own| seen_from(own) / 8.0 + bulge[0] + bulge[1] + rounding);
        let moves = |own: usize| way + turns[own] * apart + (turns[0] + turns[1]) * radii[1 - own];
        Self { pair, separation, stray, approach: [moves(0), moves(1)] }
    }

    /// How much nearer elements may come in the step than they are, at most [m].
    fn approach(&self) -> f64 {
        let [a, b] = [0, 1].map(|k| self.approach[k] + self.stray[k]);
        a.min(b)
    }

    fn run(&self, ask: &Ask, scratch: &mut Scratch, out: &mut Vec<Place>) {
        // Near the first surface numbers are small.
        let origin = self.pair[0].now.position;
        for (posed, ways) in self.pair.iter().zip(&mut scratch.ways) {
            let [now, end] = [posed.now, posed.end].map(|pose| (pose.matrix(), pose.position - origin));
            ways.clear();
            ways.extend(posed.shape.positions.iter().map(|x| [now.0 * *x + now.1, end.0 * *x + end.1]));
        }
        for k in [0, 1] {
            if ask.points[k] {
                self.points(k, &scratch.ways, out);
            }
        }
        if ask.edges {
            self.edges(&scratch.ways, out);
        }
    }

    /// Points of surface `k` against faces of the other.
    fn points(&self, k: usize, ways: &[Vec<[Vec3; 2]>; 2], out: &mut Vec<Place>) {
        let other = 1 - k;
        let (view, shape) = (self.view(other), self.pair[other].shape);
        for (v, way) in ways[k].iter().enumerate() {
            view.overlapping(
                &[*way],
                |shape| &shape.faces,
                |t| {
                    let [a, b, c] = shape.triangles[t as usize].map(|i| ways[other][i as usize]);
                    let Some((when, normal, [_, a, b, c])) = self.collide(POINT_FACE, [*way, a, b, c]) else {
                        return;
                    };
                    let point = (Element::Point(v as u32), [1.0, 0.0, 0.0]);
                    let face = (Element::Face(t), [-a, -b, -c]);
                    out.push(if k == 0 {
                        self.place([point, face], normal, when)
                    } else {
                        self.place([face, point], -normal, when)
                    });
                },
            );
        }
    }

    /// Edges of the second surface against those of the first.
    fn edges(&self, ways: &[Vec<[Vec3; 2]>; 2], out: &mut Vec<Place>) {
        let [first, second] = self.pair.each_ref().map(|p| p.shape);
        let view = self.view(0);
        for (f, ends) in second.edges.iter().enumerate() {
            let [c, d] = ends.map(|i| ways[1][i as usize]);
            view.overlapping(
                &[c, d],
                |shape| &shape.sides,
                |e| {
                    let [a, b] = first.edges[e as usize].map(|i| ways[0][i as usize]);
                    if let Some((when, normal, [p, q, r, s])) = self.collide(TWO_EDGES, [a, b, c, d]) {
                        let feet =
                            [(Element::Edge(e), [p, q, 0.0]), (Element::Edge(f as u32), [-r, -s, 0.0])];
                        out.push(self.place(feet, normal, when));
                    }
                },
            );
        }
    }

    /// When, in which direction and with which weights elements collide whose corners go these ways.
    #[inline(always)]
    fn collide(&self, pair: Pair, ways: [[Vec3; 2]; 4]) -> Option<(f64, Vec3, [f64; 4])> {
        let (x0, x1) = (ways.map(|way| way[0]), ways.map(|way| way[1]));
        let separation = pair.doubt(&x0, &x1, (self.separation, KEPT))?;
        pair.meet(&x0, &x1, separation).map(|hit| (hit.toi, hit.normal, hit.weights))
    }

    /// The place at which elements collide, as it is at the start of the step.
    fn place(&self, elements: [(Element, [f64; 3]); 2], normal: Vec3, when: f64) -> Place {
        let feet = [0, 1].map(|k| {
            let ((element, weights), posed) = (elements[k], &self.pair[k]);
            Foot { element, weights, at: posed.now.point(posed.shape.at(element, weights)) }
        });
        Place { feet, normal, distance: normal.dot(feet[0].at - feet[1].at), when }
    }

    /// What surface `own` sees of ways in the world.
    fn view(&self, own: usize) -> View<'a> {
        let posed = &self.pair[own];
        let origin = self.pair[0].now.position;
        let back = |pose: Pose| Pose { position: pose.position - origin, ..pose }.inverse();
        let reach = self.separation + self.stray[own];
        View { shape: posed.shape, poses: [back(posed.now), back(posed.end)], reach }
    }
}

/// Coordinates of a surface that moves.
struct View<'a> {
    shape: &'a Shape,
    /// From the world at the start and at the end of the step.
    poses: [Pose; 2],
    reach: f64,
}

impl View<'_> {
    /// Elements that something whose corners go these ways may come as close to as is looked for.
    fn overlapping(
        &self,
        ways: &[[Vec3; 2]],
        tree: impl Fn(&Shape) -> &billow_geom::bvh::Bvh<1>,
        visit: impl FnMut(u32),
    ) {
        let corners = ways.iter().flat_map(|way| [0, 1].map(|k| self.poses[k].point(way[k])));
        let swept = corners.fold(Aabb::EMPTY, |swept, x| swept.with(x)).inflated(self.reach);
        if self.shape.bounds.overlaps(&swept) {
            tree(self.shape).overlapping(&[swept], visit);
        }
    }
}

/// Angle from one orientation to another [rad].
fn turn(from: &Pose, to: &Pose) -> f64 {
    let between = to.rotation * from.rotation.conjugate();
    2.0 * between.xyz().length().atan2(between.w.abs())
}
