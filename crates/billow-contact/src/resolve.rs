//! The pipeline: proximity → repulsion and friction → collisions → impact zones ([Bri03] 2.2–2.9).
//!
//! In: positions free of intersections and a mid-step velocity. Out: a corrected mid-step velocity with which the
//! straight trajectories of the step come nowhere closer than the separation, or [`Unresolved`] with the place where
//! scripted nodes make that impossible. The guarantee is on the end positions `x + Δt v` as they are rounded.

use crate::collision::{self, Collision, Which};
use crate::near::Near;
use crate::pair::{Path, Reach};
use crate::push::Push;
use crate::repulsion::Repulsions;
use crate::search::Search;
use crate::touch::{self, Touch};
use crate::way::Fit;
use crate::zones::{ZoneInput, Zones, move_together};
use crate::{Config, Contact, Report, Surface, Unresolved, slide};
use billow_num::stages::Stages;
use billow_num::{Vec3, par};

/// Scratch of the pipeline. Dropping it between steps changes no result.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    search: Option<Search>,
    /// Contacts in parts, those of collisions that were learnt of last.
    touches: Vec<Vec<Touch>>,
    repulsions: Repulsions,
    near: Near,
    /// Part of their thickness that nodes have; all of it if empty.
    room: Vec<f64>,
    /// What collided in this step, and the same as contacts that must not be crossed again.
    met: Vec<Touch>,
    barriers: Repulsions,
    /// End positions the trajectories were last tested with.
    x1: Vec<Vec3>,
    /// What collided with them, if nothing was done about it yet.
    learnt: Vec<Collision>,
    zones: Zones,
}

impl Workspace {
    /// Adds the contacts that pushed at each node at the end of the last step to `counts`.
    pub fn count_contacts(&self, counts: &mut [u32]) {
        self.repulsions.count(counts);
    }
}

/// The step to be resolved.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Positions at the start, free of intersections [m].
    pub x: &'a [Vec3],
    /// Length of the step [s].
    pub dt: f64,
    /// Settings.
    pub config: &'a Config,
}

/// Corrects the mid-step velocities `v` so that the step is free of collisions.
///
/// `relax` runs after every pass of repulsion and may change velocities too: it is where a solver enforces limits of
/// its own (strain, solid objects), so that they and the contacts agree. What it leaves is what the collisions see.
pub fn resolve(
    surface: &Surface,
    step: Step<'_>,
    v: &mut [Vec3],
    mut relax: impl FnMut(&mut [Vec3]),
    work: &mut Workspace,
    stages: &mut Stages,
) -> Result<Report, Unresolved> {
    let mut pipeline = Pipeline::new(surface, step, work);
    stages.time("proximity", || pipeline.find(v));
    pipeline.begin();
    for _ in 0..step.config.repulsion_passes {
        stages.time("repulsion", || pipeline.repel((step.x, step.dt), v));
        stages.time("limits", || relax(v));
    }
    stages.time("collisions", || pipeline.collide(v, &|_, _| {}))?;
    Ok(pipeline.report)
}

/// If no more than one node in this many changed, what is around them is tested again and nothing else.
const FEW: usize = 16;

/// If there is more than one fast collision for so many nodes, they are many.
const RARE: usize = 100;

/// A rule that the velocity of every node that collisions change must still obey, such as staying out of solid objects.
pub type KeepOut<'a> = &'a dyn Fn(usize, &mut Vec3);

/// Part of the thickness that what collided keeps while limits are enforced, if it had as much at the start of the step.
const BARRIER: f64 = 0.1;

/// Part of the thickness that it gets even if it had less. Collisions alone leave half of what there was, and limits that press
/// layers together in every step would leave nothing in the end.
const LEAST: f64 = 0.01;

/// Passes over the collisions of one round.
const PASSES: u32 = 4;

/// How far the pipeline got in this step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The list of near pairs may be of another step.
    Begun,
    /// All pairs are listed that can meet if nodes go about where they are expected.
    Found,
    /// All trajectories were tested.
    Tested,
}

/// The pipeline under way, for solvers that share its sweeps of repulsion with sub-steps of their own:
/// [`Pipeline::find`], then any number of [`Pipeline::repel`], then [`Pipeline::collide`].
pub struct Pipeline<'a> {
    surface: &'a Surface,
    step: Step<'a>,
    config: &'a Config,
    work: &'a mut Workspace,
    report: Report,
    stage: Stage,
}

impl<'a> Pipeline<'a> {
    /// The pipeline for one step.
    pub fn new(surface: &'a Surface, step: Step<'a>, work: &'a mut Workspace) -> Self {
        work.room.clear();
        work.met.clear();
        work.learnt.clear();
        work.barriers.prepare(&[], surface.inverse_masses());
        Self { surface, step, config: step.config, work, report: Report::default(), stage: Stage::Begun }
    }

    /// Finds the contacts, expecting every node to move about as fast as `v`.
    pub fn find(&mut self, v: &[Vec3]) {
        self.find_within(v, &[]);
    }

    /// The same for nodes that have only a part of their thickness, 0 to 1; all of it if `room` is empty.
    pub fn find_within(&mut self, v: &[Vec3], room: &[f64]) {
        let Step { x, dt, .. } = self.step;
        let Workspace { search, touches, repulsions, near, x1, room: kept, .. } = &mut *self.work;
        room.clone_into(kept);
        let search = search.get_or_insert_with(|| Search::new(self.surface));
        x1.resize(x.len(), Vec3::ZERO);
        par::fill(x1, |i| x[i] + v[i] * dt);
        let fit = Fit::contacts(self.surface, Path { x0: x, x1 });
        self.report.candidates += touch::find(near, search, (fit, room), touches);
        self.report.contacts = touches.iter().map(|part| part.len() as u64).sum();
        repulsions.prepare(touches, self.surface.inverse_masses());
        self.stage = Stage::Found;
    }

    /// Whether there are contacts at all.
    pub fn touches(&self) -> bool {
        !self.work.touches.is_empty()
    }

    /// The nodes of each contact.
    pub fn touching(&self) -> impl Iterator<Item = [u32; 4]> {
        self.work.touches.iter().flatten().map(|touch| touch.contact.nodes)
    }

    /// Begins a sub-step: impulses accumulate anew.
    pub fn begin(&mut self) {
        self.work.repulsions.begin();
    }

    /// Lets contacts that were there in the step before begin with what they pushed with at its end; `h` is the length of
    /// the sub-steps [s].
    pub fn recall(&mut self, pushes: &[Push], h: f64) {
        self.work.repulsions.recall(pushes, h, self.surface.vertex_count());
    }

    /// Writes down what contacts push with; `h` is the length of the sub-steps [s].
    pub fn remember(&self, h: f64, pushes: &mut Vec<Push>) {
        self.work.repulsions.remember(h, pushes);
    }

    /// Begins a sub-step from positions `x` with the impulses of the last one.
    pub fn warm(&mut self, x: &[Vec3], v: &mut [Vec3]) {
        self.work.repulsions.warm(x, v);
    }

    /// Moves what overlaps a little apart without giving it velocity.
    pub fn push_out(&mut self, x: &mut [Vec3]) {
        let most = self.config.recovery_speed * self.step.dt;
        self.work.repulsions.push_out((self.config.recovery, most), x);
    }

    /// One sweep of repulsion and friction over the velocities `v` of a sub-step of length `h` from positions `x`.
    pub fn repel(&mut self, (x, h): (&[Vec3], f64), v: &mut [Vec3]) {
        self.work.repulsions.repel((x, h), self.config, v);
    }

    /// One sweep of a sub-step of length `h` begun with [`Pipeline::warm`] that keeps contacts from coming nearer and from
    /// sliding, but leaves overlaps to [`Pipeline::push_out`].
    pub fn hold(&mut self, h: f64, v: &mut [Vec3]) {
        self.work.repulsions.hold(h, self.config, v);
    }

    /// Tests the trajectories of the mean velocities `v`. Pairs that would collide become contacts, as they are when they
    /// meet. The answer is whether many would be so fast that stopping them would tear at their surroundings: a solver may
    /// then do its sub-steps again, knowing them. A few are stopped at less cost by impulses.
    pub fn learn(&mut self, v: &[Vec3]) -> bool {
        let collisions = self.detect_all(v);
        let x = self.step.x;
        let Workspace { touches, repulsions, room, learnt: known, .. } = &mut *self.work;
        let mut fast = 0;
        let mut learnt = Vec::with_capacity(collisions.len());
        for collision in &collisions {
            let (contact, pair) = (collision.contact(), &collision.pair);
            let approach = -contact.relative(v).dot(contact.normal);
            fast += usize::from(approach * self.step.dt > pair.gap(self.surface));
            let gap = pair.gap_within(self.surface, room).min(contact.relative(x).dot(contact.normal));
            learnt.push(Touch { contact, gap, friction: pair.friction(self.surface) });
        }
        if !learnt.is_empty() {
            touches.push(learnt);
        }
        let many = fast * RARE > x.len();
        if many {
            repulsions.prepare(touches, self.surface.inverse_masses());
        }
        *known = collisions;
        many
    }

    /// What was done.
    pub fn into_report(self) -> Report {
        self.report
    }
}

/// Lets trajectories of what collided be tested again even if they stay as they are.
fn forget(collisions: &[Collision], x1: &mut [Vec3]) {
    for Collision { pair, .. } in collisions {
        pair.nodes.iter().for_each(|i| x1[*i as usize] = Vec3::NAN);
    }
}

/// A collision being answered.
struct Impact {
    contact: Contact,
    /// Speed at which it is to part [m/s].
    aim: f64,
    /// Coulomb coefficient [-].
    friction: f64,
    /// Normal speed given so far [m/s].
    pushed: f64,
}

impl Pipeline<'_> {
    /// Rounds of impulses, then growing impact zones, until no trajectory collides. Says how many collisions there were;
    /// may be called again after velocities changed. Nodes that impulses move obey `keep_out`; impact zones, the last
    /// resort, do not.
    ///
    /// # Errors
    /// If scripted nodes are driven through something.
    pub fn collide(&mut self, v: &mut [Vec3], keep_out: KeepOut<'_>) -> Result<u64, Unresolved> {
        let before = self.report.collisions;
        // What changed since the last call may collide within a zone, which cannot grow.
        self.work.zones.reset(self.surface.vertex_count());
        let mut collisions = self.detect_all(v);
        for round in 1.. {
            if collisions.is_empty() {
                break;
            }
            // What only scripted nodes could avoid, nobody avoids.
            let weights = self.surface.inverse_masses();
            if let Some(fixed) = collisions.iter().find(|c| c.contact().compliance(weights) == 0.0) {
                return Err(self.unresolved(fixed));
            }
            self.report.rounds = self.report.rounds.max(round);
            self.report.collisions += collisions.len() as u64;
            self.put_barriers(&collisions);
            let moved = if round <= self.config.collision_rounds {
                self.push_apart(&collisions, keep_out, v)
            } else {
                self.grow_zones(&collisions, v)?
            };
            forget(&collisions, &mut self.work.x1);
            collisions = self.detect(moved, v);
        }
        self.report.zones = self.work.zones.sizes();
        let found = self.report.collisions - before;
        if found > 0 {
            let Workspace { met, barriers, .. } = &mut *self.work;
            barriers.prepare(std::slice::from_ref(met), self.surface.inverse_masses());
        }
        Ok(found)
    }

    /// One sweep over the positions `x` at the end of the step that takes what collided so far back to its own side, so that a
    /// solver which goes on changing them need not let it collide again. Tells the nodes it moves.
    pub fn keep_apart(&mut self, x: &mut [Vec3], moved: impl FnMut(u32)) {
        self.work.barriers.separate(x, moved);
    }

    fn put_barriers(&mut self, collisions: &[Collision]) {
        let (x, surface) = (self.step.x, self.surface);
        let Workspace { met, room, .. } = &mut *self.work;
        met.extend(collisions.iter().map(|collision| {
            let (contact, pair) = (collision.contact(), &collision.pair);
            let (gap, now) = (pair.gap_within(surface, room), contact.relative(x).dot(contact.normal));
            let gap = (BARRIER * gap).min(now.max(LEAST * gap));
            Touch { contact, gap, friction: 0.0 }
        }));
    }

    /// Tests all trajectories, unless they are those of which it was learnt what collides.
    fn detect_all(&mut self, v: &[Vec3]) -> Vec<Collision> {
        let Step { x, dt, .. } = self.step;
        let Workspace { learnt, x1, .. } = &mut *self.work;
        let learnt = std::mem::take(learnt);
        if !learnt.is_empty() {
            if x1.iter().enumerate().all(|(i, end)| *end == x[i] + v[i] * dt) {
                return learnt;
            }
            forget(&learnt, x1);
        }
        self.detect(0..v.len() as u32, v)
    }

    /// Tests the trajectories of those of the nodes whose velocities changed; the earliest collision first.
    fn detect(&mut self, moved: impl IntoIterator<Item = u32>, v: &[Vec3]) -> Vec<Collision> {
        let Step { x, dt, .. } = self.step;
        let Workspace { search, near, x1, .. } = &mut *self.work;
        x1.resize(x.len(), Vec3::NAN);
        let changed: Vec<u32> = moved
            .into_iter()
            .filter(|i| {
                let i = *i as usize;
                let end = x[i] + v[i] * dt;
                std::mem::replace(&mut x1[i], end) != end
            })
            .collect();
        let search = search.get_or_insert_with(|| Search::new(self.surface));
        let reach = Reach::same(self.config.separation);
        let fit = Fit { reach, ..Fit::contacts(self.surface, Path { x0: x, x1 }) };
        if self.stage == Stage::Begun {
            near.expect(search, Fit { reach: Reach::MET, ..fit });
        }
        let tested = self.stage == Stage::Tested;
        let found = if tested && changed.len() <= x.len() / FEW {
            near.follow_some(search, fit, &changed);
            collision::detect((near, search), fit, Which::Around(&changed))
        } else {
            let strayed = near.follow(search, fit);
            if tested && changed.len() < strayed.len() {
                collision::detect((near, search), fit, Which::Around(&changed))
            } else {
                collision::detect((near, search), fit, Which::Listed(&strayed))
            }
        };
        self.stage = Stage::Tested;
        self.report.candidates += found.candidates;
        self.report.tests += found.tests;
        found.collisions
    }

    /// Inelastic impulses with friction on approaching pairs, recovery on close calls ([Bri03] 2.8). Later passes let
    /// pairs that share nodes, and objects behind them, agree. Returns the nodes that may have moved.
    fn push_apart(&self, collisions: &[Collision], keep_out: KeepOut<'_>, v: &mut [Vec3]) -> Vec<u32> {
        let inverse_masses = self.surface.inverse_masses();
        let mut pushes: Vec<Impact> = collisions.iter().map(|c| self.impact(c, v)).collect();
        for pass in 0..PASSES {
            for impact in &mut pushes {
                let contact = &impact.contact;
                let relative = contact.relative(v);
                let approach = relative.dot(contact.normal);
                let pushed = (impact.pushed + impact.aim - approach).max(0.0);
                let mut change = contact.normal * (pushed - impact.pushed);
                if pass == 0 {
                    let tangential = relative - contact.normal * approach;
                    change += slide(tangential, pushed, impact.friction) - tangential;
                }
                impact.pushed = pushed;
                if change != Vec3::ZERO {
                    contact.apply(change / contact.compliance(inverse_masses), inverse_masses, v);
                    contact.nodes.iter().map(|i| *i as usize).for_each(|i| keep_out(i, &mut v[i]));
                }
            }
        }
        let mut moved: Vec<u32> = collisions.iter().flat_map(|c| c.pair.nodes).collect();
        moved.sort_unstable();
        moved.dedup();
        moved
    }

    fn impact(&self, collision: &Collision, v: &[Vec3]) -> Impact {
        let (contact, pair) = (collision.contact(), &collision.pair);
        let recover = self.config.recovery * pair.gap_within(self.surface, &self.work.room) / self.step.dt;
        let aim = if contact.relative(v).dot(contact.normal) < 0.0 { 0.0 } else { recover };
        Impact { contact, aim, friction: pair.friction(self.surface), pushed: 0.0 }
    }

    /// Merges the zones of colliding nodes and moves each grown zone as one body ([Bri03] 2.9).
    fn grow_zones(&mut self, collisions: &[Collision], v: &mut [Vec3]) -> Result<Vec<u32>, Unresolved> {
        let zones = &mut self.work.zones;
        let mut grown = false;
        for Collision { pair, .. } in collisions {
            grown |= zones.merge(pair.nodes).1;
        }
        if !grown {
            return Err(self.unresolved(&collisions[0]));
        }
        let mut roots: Vec<u32> = collisions.iter().map(|c| zones.root(c.pair.nodes[0])).collect();
        roots.sort_unstable();
        roots.dedup();
        let input =
            ZoneInput { inverse_masses: self.surface.inverse_masses(), x: self.step.x, dt: self.step.dt };
        let mut moved = Vec::new();
        for root in roots {
            move_together(zones.members(root), input, self.config.zone_motion, v);
            moved.extend_from_slice(zones.members(root));
        }
        Ok(moved)
    }

    fn unresolved(&self, Collision { pair, hit }: &Collision) -> Unresolved {
        let (first, second) = pair.ends();
        let at = |i: u32| self.step.x[i as usize].lerp(self.work.x1[i as usize], hit.toi);
        let positive = (0..4).filter(|&k| hit.weights[k] > 0.0);
        Unresolved {
            nodes: pair.nodes,
            bodies: [self.surface.body_of(first), self.surface.body_of(second)],
            place: positive.map(|k| at(pair.nodes[k]) * hit.weights[k]).sum(),
            toi: hit.toi,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THICKNESS: f64 = 0.01;

    /// A small triangle so far above a large one.
    fn triangles(distance: f64) -> (Surface, Vec<Vec3>) {
        let low = [Vec3::ZERO, Vec3::X, Vec3::Y];
        let high = low.map(|x| Vec3::new(0.1, 0.1, distance) + 0.3 * x);
        let x = [low, high].concat();
        (Surface::of_one(&x, &[[0, 1, 2], [3, 4, 5]], THICKNESS), x)
    }

    /// A sheet of n × n nodes and a small triangle above it, whose first node is told.
    fn sheet_and_stone(n: u32) -> (Surface, Vec<Vec3>, u32) {
        let sheet = billow_geom::shapes::cloth_grid(1.0, 1.0, n, n).unwrap();
        let first = sheet.positions.len() as u32;
        let stone = [Vec3::ZERO, Vec3::X, Vec3::Y].map(|x| Vec3::Z * 0.1 + 1e-3 * x);
        let x = [sheet.positions, stone.to_vec()].concat();
        let triangles = [sheet.triangles, vec![[first, first + 1, first + 2]]].concat();
        (Surface::of_one(&x, &triangles, THICKNESS), x, first)
    }

    /// What is pinched and was not expected to touch must come as near as it has room for. If it were stopped where it is,
    /// it would never become a contact, and collide in every step.
    #[test]
    fn what_learns_of_a_collision_comes_as_near_as_it_has_room() {
        let (room, distance, dt) = (0.25, 0.8 * THICKNESS, 0.01);
        let (surface, x) = triangles(distance);
        let (config, mut work) = (Config::default(), Workspace::default());
        let mut pipeline = Pipeline::new(&surface, Step { x: &x, dt, config: &config }, &mut work);
        pipeline.find_within(&[Vec3::ZERO; 6], &[room; 6]);
        assert!(!pipeline.touches(), "farther apart than it must be");
        let planned: Vec<Vec3> = (0..6).map(|i| if i < 3 { Vec3::ZERO } else { Vec3::NEG_Z * 2.0 }).collect();
        assert!(pipeline.learn(&planned), "twice the thickness in one step is fast");
        let mut v = planned;
        for _ in 0..50 {
            pipeline.repel((&x, dt), &mut v);
        }
        let end: Vec<Vec3> = x.iter().zip(&v).map(|(x, v)| *x + *v * dt).collect();
        let up = (end[1] - end[0]).cross(end[2] - end[0]).normalize();
        for high in &end[3..] {
            let height = up.dot(*high - end[0]);
            assert!((height - room * THICKNESS).abs() < 0.02 * THICKNESS, "{height}");
        }
    }

    #[test]
    fn a_few_fast_collisions_are_left_to_impulses() {
        for (n, worth) in [(4, true), (70, false)] {
            let ((surface, x, first), config) = (sheet_and_stone(n), Config::default());
            let mut work = Workspace::default();
            let mut pipeline = Pipeline::new(&surface, Step { x: &x, dt: 0.01, config: &config }, &mut work);
            pipeline.find(&vec![Vec3::ZERO; x.len()]);
            let falls = |i: u32| if i < first { Vec3::ZERO } else { Vec3::NEG_Z * 20.0 };
            let v: Vec<Vec3> = (0..x.len() as u32).map(falls).collect();
            assert_eq!(pipeline.learn(&v), worth, "{n}");
        }
    }

    #[test]
    fn what_was_learnt_to_collide_is_not_tested_again_unless_it_moves_otherwise() {
        let ((surface, x, first), config) = (sheet_and_stone(40), Config::default());
        let falling = |speed: f64| -> Vec<Vec3> {
            let falls = |i: u32| if i < first { Vec3::ZERO } else { Vec3::NEG_Z * speed };
            (0..x.len() as u32).map(falls).collect()
        };
        // What was learnt of, then what is to be done.
        let collide = |learnt: Option<f64>, speed: f64| {
            let mut work = Workspace::default();
            let mut pipeline = Pipeline::new(&surface, Step { x: &x, dt: 0.01, config: &config }, &mut work);
            pipeline.find(&vec![Vec3::ZERO; x.len()]);
            if let Some(speed) = learnt {
                assert!(!pipeline.learn(&falling(speed)), "few collisions are left to impulses");
            }
            let mut v = falling(speed);
            assert!(pipeline.collide(&mut v, &|_, _| {}).unwrap() > 0);
            (v, pipeline.into_report().tests)
        };
        let (alone, tests) = collide(None, 20.0);
        assert_eq!(collide(Some(20.0), 20.0), (alone.clone(), tests));
        // Otherwise all is tested anew, and nothing is missed.
        let (after, more) = collide(Some(15.0), 20.0);
        assert!(after == alone && more > tests, "{more} {tests}");
    }

    /// Layers that limits press together in step after step keep a part of their distance.
    #[test]
    fn what_collides_in_every_step_does_not_come_ever_nearer() {
        let dt = 0.01;
        let (surface, mut x) = triangles(1e-6 * THICKNESS);
        let config = Config::default();
        for _ in 0..3 {
            let mut work = Workspace::default();
            let mut pipeline = Pipeline::new(&surface, Step { x: &x, dt, config: &config }, &mut work);
            pipeline.find(&[Vec3::ZERO; 6]);
            let mut v: Vec<Vec3> =
                (0..6).map(|i| if i < 3 { Vec3::ZERO } else { Vec3::NEG_Z * 0.1 }).collect();
            assert!(pipeline.collide(&mut v, &|_, _| {}).unwrap() > 0);
            let mut end: Vec<Vec3> = x.iter().zip(&v).map(|(x, v)| *x + *v * dt).collect();
            for _ in 0..50 {
                pipeline.keep_apart(&mut end, |_| {});
            }
            x = end;
        }
        let up = (x[1] - x[0]).cross(x[2] - x[0]).normalize();
        let lowest = x[3..].iter().map(|high| up.dot(*high - x[0])).fold(f64::INFINITY, f64::min);
        assert!(lowest > 0.005 * THICKNESS, "{lowest}");
    }

    /// Limits that pull together what collided would only make it collide again.
    #[test]
    fn what_collided_stays_on_its_side_when_positions_change_afterwards() {
        let (distance, dt) = (0.02, 0.01);
        let (surface, x) = triangles(distance);
        let (config, mut work) = (Config::default(), Workspace::default());
        let mut pipeline = Pipeline::new(&surface, Step { x: &x, dt, config: &config }, &mut work);
        pipeline.find(&[Vec3::ZERO; 6]);
        let through: Vec<Vec3> = (0..6).map(|i| if i < 3 { Vec3::ZERO } else { Vec3::NEG_Z * 4.0 }).collect();
        let mut v = through.clone();
        assert!(pipeline.collide(&mut v, &|_, _| {}).unwrap() > 0);
        // Something takes all nodes through each other once more.
        let mut end: Vec<Vec3> = x.iter().zip(&through).map(|(x, v)| *x + *v * dt).collect();
        for _ in 0..50 {
            pipeline.keep_apart(&mut end, |_| {});
        }
        let v: Vec<Vec3> = end.iter().zip(&x).map(|(end, x)| (*end - *x) / dt).collect();
        assert!(pipeline.detect(0..6, &v).is_empty());
    }
}
