//! Compression by optimisation ([Bri03] 5.5): the default.
//!
//! Boundary nodes are first pushed a third of their distance along the mesh normal, later all the way, and every node is
//! then moved to where the worst tetrahedron around it is best: a pattern search whose step is halved after a
//! round without improvement. Boundary nodes search in their tangent plane, and once the boundary is tight, on the
//! surface itself. A move that does not improve the worst tetrahedron is never made, so nothing gets inverted.

use super::creases::{SAME_PIECE, crease_near};
use super::order::Order;
use super::physics::{self, Body, Pull};
use super::star::{Limits, Star, Stars};
use crate::Candidate;
use billow_levelset::Collider;
use billow_num::par::Incidence;
use billow_num::{Mat3, NumError, Quat, Vec3, par};

/// How the optimisation runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Optimisation {
    /// Sweeps that push the boundary by a third; 5 by default.
    pub gentle_sweeps: u32,
    /// Sweeps that put the boundary on the surface; 8 by default.
    pub tight_sweeps: u32,
    /// Sweeps that lower the mean aspect ratio, once before and once after the boundary is tight; 3 by default.
    pub smooth_sweeps: u32,
    /// Further sweeps over tetrahedra that miss the goal, at most; 60 by default.
    pub polish_sweeps: u32,
    /// Aspect ratio to stay below [-].
    pub max_aspect: f64,
    /// Dihedral angle to stay above [°].
    pub min_dihedral: f64,
    /// Dihedral angle to stay below [°].
    pub max_dihedral: f64,
    /// Tetrahedra this many times better than the limits are left alone [-].
    pub content: f64,
    /// Whether sharp edges and corners of the level set are kept; false by default, they are rounded then.
    pub sharp: bool,
    /// Rounds without improvement before a node is given up ("strikes"); 4 by default.
    pub strikes: u32,
}

impl Default for Optimisation {
    fn default() -> Self {
        Self {
            gentle_sweeps: 5,
            tight_sweeps: 8,
            smooth_sweeps: 3,
            polish_sweeps: 60,
            max_aspect: 4.4,
            min_dihedral: 22.5,
            max_dihedral: 134.0,
            content: 1.2,
            sharp: false,
            strikes: 4,
        }
    }
}

/// What an optimisation did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OptimisationReport {
    /// Sweeps run.
    pub sweeps: u32,
    /// How good the worst tetrahedron is against the limits; at least 1 when all are met [-].
    pub worst: f64,
    /// Largest |φ| at a boundary node [m].
    pub largest_gap: f64,
}

/// Directions of the pattern search for inner nodes ([Bri03] table 5.1).
const PATTERN: [Vec3; 7] = [
    Vec3::new(1.0, 0.0, 0.0),
    Vec3::new(0.2188, 0.9758, 0.0),
    Vec3::new(0.2188, -0.5972, -0.7717),
    Vec3::new(-0.0541, 0.2364, 0.9701),
    Vec3::new(-0.9017, -0.3457, 0.2596),
    Vec3::new(0.2186, -0.8664, 0.4489),
    Vec3::new(-0.5882, 0.3562, -0.7260),
];
/// How often shortcuts across creases are looked for, and the sweeps after each time.
const ANCHOR_ROUNDS: u32 = 3;
const ANCHOR_SWEEPS: u32 = 5;
/// The square of how good tetrahedra stay when a node is moved to a crease [-].
const CREASE_FLOOR: f64 = 0.4;
/// Nodes per parallel task.
const TASK: usize = 32;

/// How boundary nodes may move in a sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Boundary {
    /// Pushed by this part of their distance, then freely in the plane orthogonal to the mesh normal.
    Pushed(f64),
    /// On the surface.
    OnSurface,
}

/// What a sweep improves.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Goal {
    /// The worst tetrahedron around each node.
    Worst,
    /// The mean aspect ratio around each node.
    Mean,
    /// The balance of internal forces.
    Balance,
}

/// A mesh being optimised.
pub(crate) struct Optimiser<'a> {
    config: &'a Optimisation,
    solid: &'a dyn Collider,
    stars: Stars,
    order: Order,
    on_boundary: Vec<bool>,
    boundary: Vec<[u32; 3]>,
    /// Boundary faces at each node.
    fans: Incidence,
    limits: Limits,
    physics: Option<Physics>,
    /// Nodes that stay on a sharp edge or corner.
    anchored: Vec<bool>,
    /// Told the share of the sweeps that are done.
    progress: &'a (dyn Fn(f64) + Sync),
}

/// The elastic body that a mesh being compressed stands for.
#[derive(Clone, Debug)]
struct Physics {
    body: Body,
    /// Places of the nodes in the lattice.
    rest: Vec<Vec3>,
}

impl<'a> Optimiser<'a> {
    pub(crate) fn new(
        candidate: &Candidate,
        solid: &'a dyn Collider,
        config: &'a Optimisation,
        progress: &'a (dyn Fn(f64) + Sync),
    ) -> Result<Self, NumError> {
        let n = candidate.mesh.positions.len();
        let incidence = Incidence::new(n, &candidate.mesh.tets)?;
        let stars = Stars::new(&candidate.mesh.tets, &incidence);
        let on_boundary = candidate.on_boundary();
        Ok(Self {
            config,
            solid,
            order: Order::new(&stars, &on_boundary),
            stars,
            on_boundary,
            boundary: candidate.boundary.clone(),
            fans: Incidence::new(n, &candidate.boundary)?,
            limits: Limits::new(config.max_aspect, config.min_dihedral, config.max_dihedral),
            physics: None,
            anchored: vec![false; n],
            progress,
        })
    }

    /// Moves the nodes `x` to the surface by the physics of `body` ([Bri03] 5.5): gently, then all the way.
    pub(crate) fn simulate(&mut self, x: &mut [Vec3], body: Body, sweeps: u32) -> OptimisationReport {
        self.physics = Some(Physics { body, rest: x.to_vec() });
        let gentle = sweeps / 2;
        for k in 0..sweeps {
            (self.progress)(f64::from(k) / f64::from(sweeps));
            let part = if k < gentle { 1.0 / 8.0 } else { 0.5 };
            self.sweep(x, &mut vec![true; x.len()], Boundary::Pushed(part), Goal::Balance, k);
        }
        // What is still off the surface goes there as far as no element suffers.
        for k in 0..3 {
            self.sweep(x, &mut vec![true; x.len()], Boundary::OnSurface, Goal::Balance, sweeps + k);
        }
        let worst = self.each_worst(x).into_iter().fold(f64::INFINITY, f64::min);
        OptimisationReport {
            sweeps: sweeps + 3,
            worst: worst.max(0.0).sqrt(),
            largest_gap: self.largest_gap(x),
        }
    }

    /// Moves a node along its force over its stiffness, a boundary node also towards the surface.
    fn relax(&self, x: &[Vec3], n: u32, boundary: Boundary, star: &mut Star) -> Vec3 {
        let Some(Physics { body, rest }) = &self.physics else { return x[n as usize] };
        let corners = |p: &[Vec3], t: &[u32; 3]| [n, t[0], t[1], t[2]].map(|m| p[m as usize]);
        let mut sum = Pull::default();
        for t in self.stars.of(n as usize) {
            let one = physics::pull(body, corners(rest, t), corners(x, t));
            sum.force += one.force;
            sum.stiffness += one.stiffness;
        }
        let start = x[n as usize];
        let mut by = if sum.stiffness > 0.0 { 0.5 * sum.force / sum.stiffness } else { Vec3::ZERO };
        if self.on_boundary[n as usize] {
            match boundary {
                Boundary::Pushed(part) => {
                    let normal = self.mesh_normal(x, n);
                    by -= by.dot(normal) * normal;
                    by -= part * self.solid.phi(start, 0.0) * normal;
                }
                Boundary::OnSurface => by = self.project(start) - start,
            }
        }
        let strain = |p: Vec3| {
            let moved = |t: &[u32; 3]| {
                let mut now = corners(x, t);
                now[0] = p;
                physics::overstrain(body, corners(rest, t), now)
            };
            self.stars.of(n as usize).iter().map(moved).fold(0.0, f64::max)
        };
        // The last sweeps close what gaps are left: there only inversion is forbidden.
        let allowed = match boundary {
            Boundary::OnSurface => f64::INFINITY,
            Boundary::Pushed(_) => strain(start).max(1.0) * (1.0 + 1e-9),
        };
        let floor = star.worst(start).min(0.02);
        let mut part = 1.0;
        for _ in 0..5 {
            let p = start + part * by;
            if star.exceeds(p, floor).is_some() && strain(p) <= allowed {
                return p;
            }
            part *= 0.5;
        }
        start
    }

    /// Moves the nodes `x` of the candidate to the surface.
    pub(crate) fn run(&mut self, x: &mut [Vec3]) -> OptimisationReport {
        let mut sweeps = 0;
        let mut stale = vec![true; x.len()];
        for _ in 0..self.config.gentle_sweeps {
            self.count(x, &mut stale, Boundary::Pushed(1.0 / 3.0), Goal::Worst, &mut sweeps);
        }
        for _ in 0..self.config.smooth_sweeps {
            self.count(x, &mut vec![true; x.len()], Boundary::Pushed(0.0), Goal::Mean, &mut sweeps);
        }
        for k in 0..self.config.tight_sweeps {
            let boundary = if k < 3 { Boundary::Pushed(1.0) } else { Boundary::OnSurface };
            self.count(x, &mut stale, boundary, Goal::Worst, &mut sweeps);
        }
        for _ in 0..if self.config.sharp { ANCHOR_ROUNDS } else { 0 } {
            self.anchor(x);
            for _ in 0..ANCHOR_SWEEPS {
                stale.fill(true);
                self.count(x, &mut stale, Boundary::OnSurface, Goal::Worst, &mut sweeps);
            }
        }
        for _ in 0..self.config.smooth_sweeps {
            stale.fill(true);
            self.count(x, &mut stale, Boundary::OnSurface, Goal::Mean, &mut sweeps);
        }
        // Only what misses the limits, and what is next to it, matters from here on.
        let mut each = self.each_worst(x);
        for _ in 0..self.config.polish_sweeps {
            if !self.mark_bad(&each, &mut stale) {
                break;
            }
            let moved = self.count(x, &mut stale, Boundary::OnSurface, Goal::Worst, &mut sweeps);
            self.update_worst(x, &moved, &mut each);
        }
        let worst = each.into_iter().fold(f64::INFINITY, f64::min);
        OptimisationReport { sweeps, worst: worst.max(0.0).sqrt(), largest_gap: self.largest_gap(x) }
    }

    /// Runs a sweep, counts it and tells of it.
    fn count(
        &self,
        x: &mut [Vec3],
        stale: &mut [bool],
        boundary: Boundary,
        goal: Goal,
        sweeps: &mut u32,
    ) -> Vec<u32> {
        let moved = self.sweep(x, stale, boundary, goal, *sweeps);
        *sweeps += 1;
        // Polishing is short as a rule: it touches few nodes.
        let planned = self.config.gentle_sweeps + self.config.tight_sweeps + 2 * self.config.smooth_sweeps;
        (self.progress)((f64::from(*sweeps) / f64::from(planned.max(1))).min(1.0));
        moved
    }

    /// Anchors the nearer end of every boundary edge that cuts across a crease, nearest first; never all three corners of a
    /// face.
    fn anchor(&mut self, x: &[Vec3]) {
        let mut wanted = self.shortcuts(x);
        wanted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        for (_, near, far) in wanted {
            if self.anchored[near as usize] || self.anchored[far as usize] {
                continue;
            }
            let crowded = |n: u32| {
                self.fans.of(n as usize).iter().any(|&(f, _)| {
                    self.boundary[f as usize].iter().all(|m| *m == n || self.anchored[*m as usize])
                })
            };
            if let Some(n) = [near, far].into_iter().find(|n| !crowded(*n)) {
                self.anchored[n as usize] = true;
            }
        }
    }

    /// Boundary edges across a crease, by how near an end is to it, with that end first.
    fn shortcuts(&self, x: &[Vec3]) -> Vec<(f64, u32, u32)> {
        let normals =
            par::map(
                x.len(),
                |n| {
                    if self.on_boundary[n] { self.solid.normal(x[n], 0.0) } else { Vec3::ZERO }
                },
            );
        par::gather(self.boundary.len(), 256, |range, out: &mut Vec<(f64, u32, u32)>| {
            let mut star = Star::new(self.limits);
            let mut away = |n: u32| {
                star.load(self.stars.of(n as usize), x);
                let (at, size) = (x[n as usize], star.radius(x[n as usize]));
                crease_near(self.solid, at, size).map_or(f64::INFINITY, |c| c.at.distance(at) / size)
            };
            for face in &self.boundary[range] {
                for k in 0..3 {
                    let (a, b) = (face[k], face[(k + 1) % 3]);
                    // Each edge has two faces, in which it runs both ways.
                    if a > b || normals[a as usize].dot(normals[b as usize]) >= SAME_PIECE {
                        continue;
                    }
                    let (to_a, to_b) = (away(a), away(b));
                    if to_a.min(to_b) < 1.0 {
                        out.push(if to_a <= to_b { (to_a, a, b) } else { (to_b, b, a) });
                    }
                }
            }
        })
    }

    /// Moves an anchored node to its crease and along it; none if there is no crease near it after all.
    fn move_on_crease(&self, start: Vec3, star: &mut Star) -> Option<Vec3> {
        let size = star.radius(start);
        let crease = crease_near(self.solid, start, size)?;
        let p = self.pushed_above(start, crease.at - start, star, CREASE_FLOOR);
        let Some(direction) = crease.direction else { return Some(p) };
        let along = |k: usize| if k == 0 { direction } else { -direction };
        let back = |q: Vec3| crease_near(self.solid, q, size).map_or(p, |c| c.at);
        Some(self.search(p, star, along, 2, back))
    }

    /// Marks the nodes of tetrahedra that miss the limits, and their neighbours; false if there are none.
    fn mark_bad(&self, each: &[f64], stale: &mut [bool]) -> bool {
        stale.fill(false);
        let mut any = false;
        for n in (0..each.len()).filter(|n| each[*n] < 1.0) {
            self.stars.of(n).iter().flatten().for_each(|m| stale[*m as usize] = true);
            any = true;
        }
        any
    }

    /// Judges the stars again in which a node has moved.
    fn update_worst(&self, x: &[Vec3], moved: &[u32], each: &mut [f64]) {
        let mut seen = vec![false; x.len()];
        let mut star = Star::new(self.limits);
        for m in moved {
            for &n in self.stars.of(*m as usize).iter().flatten().chain([m]) {
                if !std::mem::replace(&mut seen[n as usize], true) {
                    star.load(self.stars.of(n as usize), x);
                    each[n as usize] = star.worst(x[n as usize]);
                }
            }
        }
    }

    /// The square of how good the worst tetrahedron at each node is.
    fn each_worst(&self, x: &[Vec3]) -> Vec<f64> {
        par::gather(x.len(), 1024, |range, out: &mut Vec<f64>| {
            let mut star = Star::new(self.limits);
            for n in range {
                star.load(self.stars.of(n), x);
                out.push(star.worst(x[n]));
            }
        })
    }

    fn largest_gap(&self, x: &[Vec3]) -> f64 {
        par::max(x.len(), |n| if self.on_boundary[n] { self.solid.phi(x[n], 0.0).abs() } else { 0.0 })
    }

    /// Moves every stale node once, batch by batch. Nodes that move make their neighbours stale. Returns those that moved.
    fn sweep(
        &self,
        x: &mut [Vec3],
        stale: &mut [bool],
        boundary: Boundary,
        goal: Goal,
        number: u32,
    ) -> Vec<u32> {
        let (mut active, mut all_moved) = (Vec::new(), Vec::new());
        for batch in self.order.sweep(number % 2 == 1) {
            active.clear();
            active.extend(batch.iter().copied().filter(|n| std::mem::take(&mut stale[*n as usize])));
            let now = &*x;
            let moved = par::gather(active.len(), TASK, |range, out: &mut Vec<Vec3>| {
                let mut star = Star::new(self.limits);
                for &n in &active[range] {
                    star.load(self.stars.of(n as usize), now);
                    out.push(match goal {
                        Goal::Worst => self.improve_worst(now, n, boundary, &mut star, number),
                        Goal::Mean if self.anchored[n as usize] => now[n as usize],
                        Goal::Mean if boundary == Boundary::OnSurface || !self.on_boundary[n as usize] => {
                            self.improve_mean(now[n as usize], n, &mut star)
                        }
                        Goal::Mean => now[n as usize],
                        Goal::Balance => self.relax(now, n, boundary, &mut star),
                    });
                }
            });
            for (n, p) in active.iter().zip(moved) {
                if x[*n as usize] != p {
                    x[*n as usize] = p;
                    self.stars.of(*n as usize).iter().flatten().for_each(|m| stale[*m as usize] = true);
                    stale[*n as usize] = true;
                    all_moved.push(*n);
                }
            }
        }
        all_moved
    }

    fn improve_worst(&self, x: &[Vec3], n: u32, boundary: Boundary, star: &mut Star, number: u32) -> Vec3 {
        let turn = turn(n, number);
        if self.on_boundary[n as usize] {
            self.move_boundary_node(x, n, boundary, star, &turn)
        } else {
            self.search(x[n as usize], star, |k| turn * PATTERN[k], PATTERN.len(), |p| p)
        }
    }

    /// Moves a node down the gradient of the sum of aspect ratios around it, spoiling none of them.
    fn improve_mean(&self, start: Vec3, n: u32, star: &mut Star) -> Vec3 {
        let content = self.config.content * self.config.content;
        let floor = star.worst(start).min(content) * (1.0 - 1e-9);
        let sum = star.sum_of_aspects(start);
        let radius = star.radius(start);
        let h = 1e-4 * radius;
        let slope = |axis: Vec3| (star.sum_of_aspects(start + h * axis) - sum) / h;
        let mut gradient = Vec3::new(slope(Vec3::X), slope(Vec3::Y), slope(Vec3::Z));
        let on_boundary = self.on_boundary[n as usize];
        if on_boundary {
            let normal = self.solid.normal(start, 0.0);
            gradient -= gradient.dot(normal) * normal;
        }
        let Some(direction) = gradient.try_normalize() else { return start };
        let mut step = 0.12 * radius;
        for _ in 0..4 {
            let p = start - step * direction;
            let p = if on_boundary { self.project(p) } else { p };
            if star.sum_of_aspects(p) < sum && star.exceeds(p, floor).is_some() {
                return p;
            }
            step *= 0.4;
        }
        start
    }

    fn move_boundary_node(
        &self,
        x: &[Vec3],
        n: u32,
        boundary: Boundary,
        star: &mut Star,
        turn: &Mat3,
    ) -> Vec3 {
        let start = x[n as usize];
        match boundary {
            Boundary::Pushed(part) => {
                let normal = self.mesh_normal(x, n);
                let phi = self.solid.phi(start, 0.0);
                let p = self.pushed(start, -part * phi * normal, star);
                self.search(p, star, tangents(normal, turn), 5, |p| p)
            }
            Boundary::OnSurface => {
                if self.anchored[n as usize]
                    && let Some(p) = self.move_on_crease(start, star)
                {
                    return p;
                }
                let p = self.pushed(start, self.project(start) - start, star);
                let normal = self.solid.normal(p, 0.0);
                self.search(p, star, tangents(normal, turn), 5, |p| self.project(p))
            }
        }
    }

    /// Average of the outward normals of the boundary faces at a node, weighted by area.
    fn mesh_normal(&self, x: &[Vec3], n: u32) -> Vec3 {
        let area = |&(f, _): &(u32, u32)| {
            let [a, b, c] = self.boundary[f as usize].map(|n| x[n as usize]);
            (b - a).cross(c - a)
        };
        let sum: Vec3 = self.fans.of(n as usize).iter().map(area).sum();
        sum.try_normalize().unwrap_or(Vec3::ZERO)
    }

    /// As much of a displacement as inverts no tetrahedron.
    fn pushed(&self, start: Vec3, by: Vec3, star: &mut Star) -> Vec3 {
        // Shapes may suffer for now, but must stay far from collapse.
        self.pushed_above(start, by, star, 0.02)
    }

    /// As much of a displacement as leaves no tetrahedron worse than `floor`, or than the worst is already.
    fn pushed_above(&self, start: Vec3, by: Vec3, star: &mut Star, floor: f64) -> Vec3 {
        if by == Vec3::ZERO {
            return start;
        }
        let floor = star.worst(start).min(floor);
        let mut part = 1.0;
        for _ in 0..6 {
            let p = start + part * by;
            if star.exceeds(p, floor).is_some() {
                return p;
            }
            part *= 0.5;
        }
        start
    }

    /// The point of the surface near `p`, by Newton's method along the normal.
    fn project(&self, mut p: Vec3) -> Vec3 {
        for _ in 0..3 {
            let sample = self.solid.sample(p, 0.0);
            p -= sample.phi * sample.normal;
            if sample.phi.abs() < 1e-9 {
                break;
            }
        }
        p
    }

    /// Pattern search for the place where the worst tetrahedron is best.
    fn search(
        &self,
        start: Vec3,
        star: &mut Star,
        direction: impl Fn(usize) -> Vec3,
        directions: usize,
        constrain: impl Fn(Vec3) -> Vec3,
    ) -> Vec3 {
        let mut best = star.worst(start);
        let content = self.config.content * self.config.content;
        if best >= content {
            return start;
        }
        let mut p = start;
        let mut step = 0.1 * star.radius(start);
        let mut strikes = 0;
        while strikes < self.config.strikes && best < content {
            let mut improved = false;
            for k in 0..directions {
                let candidate = constrain(p + step * direction(k));
                if let Some(q) = star.exceeds(candidate, best) {
                    (p, best, improved) = (candidate, q, true);
                    break;
                }
            }
            if improved {
                step *= 1.3;
            } else {
                step *= 0.5;
                strikes += 1;
            }
        }
        p
    }
}

/// Five equispaced directions orthogonal to `normal`, turned with `turn`.
fn tangents(normal: Vec3, turn: &Mat3) -> impl Fn(usize) -> Vec3 {
    let reference = turn.x_axis;
    let u = normal.cross(reference).try_normalize().unwrap_or_else(|| normal.any_orthogonal_vector());
    let v = normal.cross(u);
    move |k| {
        let (sin, cos) = (k as f64 * std::f64::consts::TAU / 5.0).sin_cos();
        cos * u + sin * v
    }
}

/// A turn of the search pattern, another for each node and sweep, so that no direction is forever missed.
fn turn(node: u32, sweep: u32) -> Mat3 {
    let mut draws = billow_num::rng::Stream::new(u64::from(sweep), 0x6D65_7368).at(u64::from(node));
    let axis = draws.unit_vector();
    Mat3::from_quat(Quat::from_axis_angle(axis, draws.range(0.0, std::f64::consts::TAU)))
}
