//! Which elements are close, and which may meet during the step ([Bri03] 2.4).
//!
//! One traversal of box hierarchies serves both questions. A pair within the thickness at the start of the step, or
//! planned to come that close, is a contact; a pair that could meet if every node moved at most [`Slack`] farther than planned is *watched*: its
//! trajectories are tested, now and after every change. Nothing else can collide while all nodes stay within
//! their slack, and a node that leaves it has its neighbourhood searched again.

use crate::{Contact, Surface};
use billow_geom::Aabb;
use billow_geom::bvh::{Bvh, PairTasks};
use billow_geom::ccd::{self, Hit};
use billow_geom::proximity::{edge_edge, point_triangle};
use billow_num::{Vec3, par};

/// Two points of the surface within the thickness of each other at the start of the step, or about to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Touch {
    pub(crate) contact: Contact,
    /// Distance they keep [m].
    pub(crate) gap: f64,
    /// Coulomb coefficient [-].
    pub(crate) friction: f64,
}

/// Two elements that may meet during the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Watch {
    pub(crate) kind: Kind,
    pub(crate) nodes: [u32; 4],
    /// Distance that must not be undercut [m].
    pub(crate) separation: f64,
    /// Distance at the start of the step [m].
    distance: f64,
    /// Unit vector from the second element to the first where they are nearest then [-].
    normal: Vec3,
}

impl Watch {
    /// One node of each element.
    pub(crate) fn ends(&self) -> (u32, u32) {
        self.kind.ends(&self.nodes)
    }

    /// When and how the pair would come too close while its nodes move from `x0` to `x1`.
    pub(crate) fn meet(&self, x0: &[Vec3], x1: &[Vec3]) -> Option<Hit> {
        let (from, to) = (corners(x0, &self.nodes), corners(x1, &self.nodes));
        let way = [to[0] - from[0], to[1] - from[1], to[2] - from[2], to[3] - from[3]];
        let room = self.distance * (1.0 - 1e-9) - self.separation;
        if room > 0.0 && self.kind.approach2(&way) < room * room
            || self.kind.keep_apart(self.normal, &from, &to, self.separation)
        {
            return None;
        }
        self.kind.meet(&from, &to, self.separation)
    }
}

/// What a pair consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A point and a triangle.
    VertexFace,
    /// Two edges.
    EdgeEdge,
}

impl Kind {
    /// One node of each element of a pair.
    pub(crate) fn ends(self, nodes: &[u32; 4]) -> (u32, u32) {
        match self {
            Self::VertexFace => (nodes[0], nodes[1]),
            Self::EdgeEdge => (nodes[0], nodes[2]),
        }
    }

    /// Whether elements with nodes at `x` are certainly farther apart than `limit`, by a test much cheaper than their
    /// distance; false says nothing.
    #[inline(always)]
    fn beyond(self, x: &[Vec3; 4], limit: f64) -> bool {
        match self {
            Self::VertexFace => {
                let centre = (x[1] + x[2] + x[3]) * (1.0 / 3.0);
                let across = x[0] - centre;
                let reach = |k: usize| (x[k] - centre).dot(across);
                beyond_slab(across, reach(1).max(reach(2)).max(reach(3)), limit)
                    || beyond_plane(x[2] - x[1], x[3] - x[1], x[0] - x[1], limit)
            }
            Self::EdgeEdge => {
                let (one, other) = ((x[1] - x[0]) * 0.5, (x[3] - x[2]) * 0.5);
                let across = (x[0] + one) - (x[2] + other);
                let reach = one.dot(across).abs() + other.dot(across).abs();
                beyond_slab(across, reach, limit) || beyond_plane(one, other, across, limit)
            }
        }
    }

    /// The nearest points of the elements when their nodes are at `x`, and their distance [m].
    fn nearest(self, nodes: [u32; 4], x: [Vec3; 4]) -> (Contact, f64) {
        match self {
            Self::VertexFace => {
                let near = point_triangle(x[0], [x[1], x[2], x[3]]);
                let [a, b, c] = near.weights;
                (Contact { nodes, weights: [1.0, -a, -b, -c], normal: near.normal }, near.distance)
            }
            Self::EdgeEdge => {
                let near = edge_edge([x[0], x[1]], [x[2], x[3]]);
                let weights = [1.0 - near.a, near.a, near.b - 1.0, -near.b];
                (Contact { nodes, weights, normal: near.normal }, near.distance)
            }
        }
    }

    /// Square of the farthest the two elements can approach when their nodes move by `way` [m²].
    #[inline(always)]
    fn approach2(self, way: &[Vec3; 4]) -> f64 {
        let apart = |i: usize, j: usize| (way[i] - way[j]).length_squared();
        match self {
            Self::VertexFace => apart(0, 1).max(apart(0, 2)).max(apart(0, 3)),
            Self::EdgeEdge => apart(0, 2).max(apart(0, 3)).max(apart(1, 2).max(apart(1, 3))),
        }
    }

    /// Whether planes across `normal` certainly hold the elements farther apart than `gap` all the way from `x0` to `x1`:
    /// they do if they do at both ends, because nodes move along straight lines.
    fn keep_apart(self, normal: Vec3, x0: &[Vec3; 4], x1: &[Vec3; 4], gap: f64) -> bool {
        // Rounding of differences and products is far below this part of the differences.
        const MARGIN: f64 = 1e-12;
        let apart = |x: &[Vec3; 4], i: usize, j: usize| {
            let d = x[i] - x[j];
            normal.dot(d) > gap + MARGIN * (d.x.abs() + d.y.abs() + d.z.abs())
        };
        let at = |x: &[Vec3; 4]| match self {
            Self::VertexFace => apart(x, 0, 1) && apart(x, 0, 2) && apart(x, 0, 3),
            Self::EdgeEdge => apart(x, 0, 2) && apart(x, 0, 3) && apart(x, 1, 2) && apart(x, 1, 3),
        };
        at(x1) && at(x0)
    }

    /// When and how the elements come as close as `separation` while their nodes move from `x0` to `x1`.
    pub(crate) fn meet(self, x0: &[Vec3; 4], x1: &[Vec3; 4], separation: f64) -> Option<Hit> {
        match self {
            Self::VertexFace => ccd::vertex_face(x0, x1, separation),
            Self::EdgeEdge => ccd::edge_edge(x0, x1, separation),
        }
    }
}

/// What one part of the search found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    pub(crate) touches: Vec<Touch>,
    pub(crate) watches: Vec<Watch>,
    pub(crate) candidates: u64,
}

/// Elements that are searched around on one thread.
const AROUND: usize = 64;

/// Distance, in thicknesses, within which planned contacts are taken for met.
const MET: f64 = 1.25;

/// The step as the search sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan<'a> {
    /// Positions at the start of the step [m].
    pub(crate) x0: &'a [Vec3],
    /// Planned positions at its end [m].
    pub(crate) x1: &'a [Vec3],
    /// How far each node may end from its plan before its neighbourhood is searched again [m].
    pub(crate) slack: &'a [f64],
    /// Whether contacts are wanted, besides pairs to watch.
    pub(crate) contacts: bool,
    /// Smallest distance as a fraction of the thickness [-].
    pub(crate) separation: f64,
}

/// The hierarchies, shaped once and refitted every step.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    points: Bvh<2>,
    edges: Bvh<2>,
    triangles: Bvh<2>,
    tasks: PairTasks,
}

impl Search {
    /// Shapes the trees by the rest pose, so that they are the same whenever they are made.
    pub(crate) fn new(surface: &Surface) -> Self {
        let (topology, x) = (surface.topology(), surface.rest());
        let centre =
            |corners: &[u32]| corners.iter().map(|&i| x[i as usize]).sum::<Vec3>() / corners.len() as f64;
        let edges = par::map(topology.edge_count(), |e| centre(&topology.edges()[e]));
        let triangles = par::map(topology.triangle_count(), |t| centre(&topology.triangles()[t]));
        Self {
            points: Bvh::from_centres(x),
            edges: Bvh::from_centres(&edges),
            triangles: Bvh::from_centres(&triangles),
            tasks: PairTasks::default(),
        }
    }

    /// Everything close, and everything that may meet.
    pub(crate) fn all(&mut self, surface: &Surface, plan: Plan<'_>, found: &mut Vec<Found>) {
        self.refit(surface, plan);
        let Self { points, edges, triangles, tasks } = self;
        let topology = surface.topology();
        found.clear();
        points.split_pairs(triangles, tasks);
        found.extend(par::map(tasks.tasks().len(), |k| {
            let mut part = Found::default();
            points.run_pairs(triangles, tasks, tasks.tasks()[k], |p, t| {
                part.vertex_face(surface, plan, p, topology.triangles()[t as usize]);
            });
            part
        }));
        edges.split_self(tasks);
        found.extend(par::map(tasks.tasks().len(), |k| {
            let mut part = Found::default();
            edges.run_self(tasks, tasks.tasks()[k], |a, b| {
                let (a, b) = (a.min(b), a.max(b));
                part.edge_edge(surface, plan, topology.edges()[a as usize], topology.edges()[b as usize]);
            });
            part
        }));
    }

    fn refit(&mut self, surface: &Surface, plan: Plan<'_>) {
        let topology = surface.topology();
        let bounds = Aabb::of_points(plan.x0);
        let origin = if bounds.is_empty() { Vec3::ZERO } else { bounds.centre() };
        self.points.refit(origin, |i| plan.leaf(surface, [i as u32]));
        self.edges.refit(origin, |e| plan.leaf(surface, topology.edges()[e]));
        self.triangles.refit(origin, |t| plan.leaf(surface, topology.triangles()[t]));
    }

    /// What the given nodes may meet after their plans changed; `plan` holds the new ones.
    pub(crate) fn around(
        &mut self,
        surface: &Surface,
        plan: Plan<'_>,
        nodes: &[u32],
        found: &mut Vec<Found>,
    ) {
        let topology = surface.topology();
        let unique = |mut list: Vec<u32>| {
            list.sort_unstable();
            list.dedup();
            list
        };
        let edges = unique(nodes.iter().flat_map(|&i| topology.vertex_edges(i).to_vec()).collect());
        let triangles = unique(nodes.iter().flat_map(|&i| topology.vertex_triangles(i).to_vec()).collect());
        self.points.refit_some(nodes.iter().copied(), |i| plan.leaf(surface, [i as u32]));
        self.edges.refit_some(edges.iter().copied(), |e| plan.leaf(surface, topology.edges()[e]));
        self.triangles.refit_some(triangles.iter().copied(), |t| plan.leaf(surface, topology.triangles()[t]));
        let this = &*self;
        let search = |list: &[u32], look: &(dyn Fn(u32, &mut Found) + Sync)| {
            par::map(list.len().div_ceil(AROUND), |k| {
                let mut part = Found::default();
                let range = k * AROUND..list.len().min((k + 1) * AROUND);
                list[range].iter().for_each(|element| look(*element, &mut part));
                part
            })
        };
        found.clear();
        found.extend(search(nodes, &|p, part| {
            this.triangles.overlapping(&plan.grown(surface, [p]), |t| {
                part.vertex_face(surface, plan, p, topology.triangles()[t as usize]);
            });
        }));
        found.extend(search(&triangles, &|t, part| {
            let corners = topology.triangles()[t as usize];
            this.points.overlapping(&plan.grown(surface, corners), |p| {
                part.vertex_face(surface, plan, p, corners);
            });
        }));
        found.extend(search(&edges, &|e, part| {
            let ends = |e: u32| topology.edges()[e as usize];
            this.edges.overlapping(&plan.grown(surface, ends(e)), |o| {
                if o != e {
                    part.edge_edge(surface, plan, ends(e.min(o)), ends(e.max(o)));
                }
            });
        }));
    }
}

impl Plan<'_> {
    /// Boxes of some nodes at both ends of the step and what to grow them by: half the distance of contacts and the
    /// slack.
    fn leaf<const N: usize>(&self, surface: &Surface, nodes: [u32; N]) -> ([Aabb; 2], f64) {
        let around = |x: &[Vec3]| nodes.iter().fold(Aabb::EMPTY, |b, &i| b.with(x[i as usize]));
        ([around(self.x0), around(self.x1)], 0.5 * self.met(surface.thickness(nodes[0])) + self.slack(&nodes))
    }

    /// Distance within which a pair that keeps `gap` apart is of interest, besides its slack [m]. Which contacts are
    /// found must not depend on the slack.
    fn met(&self, gap: f64) -> f64 {
        gap * if self.contacts { MET } else { self.separation }
    }

    /// The largest slack of some nodes [m].
    fn slack(&self, nodes: &[u32]) -> f64 {
        nodes.iter().fold(0.0, |most, i| self.slack[*i as usize].max(most))
    }

    fn grown<const N: usize>(&self, surface: &Surface, nodes: [u32; N]) -> [Aabb; 2] {
        let (boxes, by) = self.leaf(surface, nodes);
        boxes.map(|b| b.inflated(by))
    }

    /// The contact of two elements that are planned to come nearer than `gap` [m], about as it will be when they do. It
    /// need not be exact, nor every one be found: collisions are looked for anyway, these contacts only soften them.
    fn coming(&self, surface: &Surface, kind: Kind, now: Contact, distance: f64, gap: f64) -> Option<Touch> {
        const TRIES: u32 = 4;
        let [x0, x1] = [self.x0, self.x1].map(|x| now.nodes.map(|i| x[i as usize]));
        let way: [Vec3; 4] = std::array::from_fn(|k| x1[k] - x0[k]);
        let (mut t, mut contact, mut distance) = (0.0, now, distance);
        for _ in 0..TRIES {
            // Newton's method for the time at which the nearest points are `gap` apart.
            let w = &contact.weights;
            let rate = (way[0] * w[0] + way[1] * w[1] + way[2] * w[2] + way[3] * w[3]).dot(contact.normal);
            t += (distance - gap) / -rate;
            if rate >= 0.0 || t > 1.0 {
                return None;
            }
            (contact, distance) = kind.nearest(now.nodes, std::array::from_fn(|k| x0[k] + way[k] * t));
            if distance < MET * gap {
                let at = |i: u32| self.x0[i as usize].lerp(self.x1[i as usize], t);
                if covered(surface, kind, &contact, at) {
                    return None;
                }
                let (first, second) = kind.ends(&now.nodes);
                // A turning pair may be nearer along the normal now than when it meets: it need not part, only come no
                // nearer.
                let gap = gap.min(contact.relative(self.x0).dot(contact.normal));
                return Some(Touch { contact, gap, friction: surface.friction(first, second) });
            }
        }
        None
    }

    /// The farthest two elements, at `x` now, are planned to approach, the largest relative displacement of their nodes,
    /// and how much farther they may [m].
    #[inline(always)]
    fn approach(&self, kind: Kind, nodes: &[u32; 4], x: &[Vec3; 4]) -> (f64, f64) {
        let x1 = corners(self.x1, nodes);
        let way = [x1[0] - x[0], x1[1] - x[1], x1[2] - x[2], x1[3] - x[3]];
        let slack = [0, 1, 2, 3].map(|k| self.slack[nodes[k] as usize]);
        let slack = match kind {
            Kind::VertexFace => slack[0] + slack[1].max(slack[2]).max(slack[3]),
            Kind::EdgeEdge => slack[0].max(slack[1]) + slack[2].max(slack[3]),
        };
        (kind.approach2(&way).sqrt(), slack)
    }
}

impl Found {
    fn vertex_face(&mut self, surface: &Surface, plan: Plan<'_>, p: u32, [a, b, c]: [u32; 3]) {
        if p != a && p != b && p != c && surface.interacts(p, a) {
            self.look(surface, plan, Kind::VertexFace, [p, a, b, c]);
        }
    }

    fn edge_edge(&mut self, surface: &Surface, plan: Plan<'_>, [a, b]: [u32; 2], [c, d]: [u32; 2]) {
        if a != c && a != d && b != c && b != d && surface.interacts(a, c) {
            self.look(surface, plan, Kind::EdgeEdge, [a, b, c, d]);
        }
    }

    #[inline(always)]
    fn look(&mut self, surface: &Surface, plan: Plan<'_>, kind: Kind, nodes: [u32; 4]) {
        if surface.is_exempt(kind == Kind::EdgeEdge, &nodes) {
            return;
        }
        self.candidates += 1;
        let (first, second) = kind.ends(&nodes);
        let x = corners(plan.x0, &nodes);
        let (gap, (way, slack)) = (surface.gap(first, second), plan.approach(kind, &nodes, &x));
        if !kind.beyond(&x, plan.met(gap) + way + slack) {
            let (contact, distance) = kind.nearest(nodes, x);
            self.keep(surface, plan, kind, contact, [distance, gap, way, slack]);
        }
    }

    fn keep(
        &mut self,
        surface: &Surface,
        plan: Plan<'_>,
        kind: Kind,
        contact: Contact,
        [distance, gap, way, slack]: [f64; 4],
    ) {
        let (first, second) = kind.ends(&contact.nodes);
        if !plan.contacts {
            // Only what may meet.
        } else if distance < gap {
            if contact.normal != Vec3::ZERO && !covered(surface, kind, &contact, |i| plan.x0[i as usize]) {
                let friction = surface.friction(first, second);
                self.touches.push(Touch { contact, gap, friction });
            }
        } else if distance <= way + gap {
            self.touches.extend(plan.coming(surface, kind, contact, distance, gap));
        }
        let separation = plan.separation * gap;
        if distance <= way + slack + separation {
            // Elements that start closer than the usual separation keep half of what they have.
            self.watches.push(Watch {
                kind,
                nodes: contact.nodes,
                separation: separation.min(0.5 * distance),
                distance,
                normal: contact.normal,
            });
        }
    }
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

/// Sine of the angle by which a surface must rise to count as nearer.
const BESIDE: f64 = 1e-6;

#[inline(always)]
fn corners(x: &[Vec3], nodes: &[u32; 4]) -> [Vec3; 4] {
    [x[nodes[0] as usize], x[nodes[1] as usize], x[nodes[2] as usize], x[nodes[3] as usize]]
}

/// Whether two elements whose centres are `across` apart, and which reach out along it by `reach / |across|` together, are
/// certainly separated by more than `limit`. Rounding is far below the margin.
#[inline(always)]
fn beyond_slab(across: Vec3, reach: f64, limit: f64) -> bool {
    const MARGIN: f64 = 1.0 + 1e-6;
    let length2 = across.length_squared();
    let between = length2 - reach;
    between > 0.0 && between * between > MARGIN * limit * limit * length2
}

/// Whether `d` is certainly longer than `limit` across the plane spanned by `a` and `b`. Nearly parallel vectors span
/// no reliable plane and decide nothing; otherwise rounding is far below the margin.
#[inline(always)]
fn beyond_plane(a: Vec3, b: Vec3, d: Vec3, limit: f64) -> bool {
    const NEARLY_PARALLEL: f64 = 1e-8;
    const MARGIN: f64 = 1.0 + 1e-6;
    let normal = a.cross(b);
    let size2 = normal.length_squared();
    size2 > NEARLY_PARALLEL * a.length_squared() * b.length_squared()
        && normal.dot(d).powi(2) > MARGIN * limit * limit * size2
}
