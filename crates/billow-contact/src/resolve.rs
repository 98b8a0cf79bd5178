//! The pipeline: proximity → repulsion and friction → collisions → impact zones ([Bri03] 2.2–2.9).
//!
//! In: positions free of intersections and a mid-step velocity. Out: a corrected mid-step velocity with which the
//! straight trajectories of the step come nowhere closer than the separation, or [`Unresolved`] with the place where
//! scripted nodes make that impossible. The guarantee is on the end positions `x + Δt v` as they are rounded.

use crate::near::{Found, Plan, Search, Touch, Watch};
use crate::repulsion::Repulsions;
use crate::zones::{ZoneInput, Zones, move_together};
use crate::{Config, Contact, Report, Surface, Unresolved, slide};
use billow_geom::ccd::Hit;
use billow_num::stages::Stages;
use billow_num::{Vec3, par};

/// Part of the thickness, and of its way, by which a node may leave its plan before its neighbourhood is searched again.
const SLACK: f64 = 0.25;
const SLACK_OF_WAY: f64 = 0.1;

/// How much of what it strayed in the last step a node is given in addition, up to the thickness.
const SLACK_OF_ASTRAY: f64 = 1.25;

/// When more than one node in this many strayed, everything is searched again instead of around each.
const MANY: usize = 12;

/// Scratch of the pipeline. Dropping it between steps changes no result.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    search: Option<Search>,
    found: Vec<Found>,
    touches: Vec<Touch>,
    watches: Vec<Watch>,
    repulsions: Repulsions,
    /// End positions the pairs were last tested with.
    x1: Vec<Vec3>,
    /// End positions the search was last made for.
    planned: Vec<Vec3>,
    /// How far a node may end from its plan [m].
    slack: Vec<f64>,
    /// How far nodes ended from their plans in the last step [m]: those are given more slack in the next.
    astray: Vec<f64>,
    /// The round in which a node last changed.
    changed: Vec<u32>,
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

/// A pair that would meet.
#[derive(Clone, Copy, Debug)]
struct Collision {
    watch: Watch,
    hit: Hit,
}

impl Collision {
    /// The pair as it meets.
    fn contact(&self) -> Contact {
        Contact { nodes: self.watch.nodes, weights: self.hit.weights, normal: self.hit.normal }
    }
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
    stages.time("collisions", || pipeline.collide(v))?;
    Ok(pipeline.report)
}

/// The pipeline under way, for solvers that share its sweeps of repulsion with sub-steps of their own:
/// [`Pipeline::find`], then any number of [`Pipeline::repel`], then [`Pipeline::collide`].
pub struct Pipeline<'a> {
    surface: &'a Surface,
    step: Step<'a>,
    config: &'a Config,
    work: &'a mut Workspace,
    report: Report,
    /// Number of the last test of trajectories.
    round: u32,
}

impl<'a> Pipeline<'a> {
    /// The pipeline for one step.
    pub fn new(surface: &'a Surface, step: Step<'a>, work: &'a mut Workspace) -> Self {
        Self { surface, step, config: step.config, work, report: Report::default(), round: 0 }
    }

    /// Finds the contacts and the pairs to watch, expecting every node to move about as fast as `v`.
    pub fn find(&mut self, v: &[Vec3]) {
        self.plan(v);
        self.search();
        let Workspace { touches, repulsions, .. } = &mut *self.work;
        repulsions.prepare(touches, self.surface.inverse_masses());
    }

    /// Begins a sub-step: impulses accumulate anew.
    pub fn begin(&mut self) {
        self.work.repulsions.begin();
    }

    /// Begins a sub-step with the impulses of the last one.
    pub fn warm(&mut self, v: &mut [Vec3]) {
        self.work.repulsions.warm(self.surface.inverse_masses(), v);
    }

    /// Moves what overlaps a little apart without giving it velocity.
    pub fn push_out(&mut self, x: &mut [Vec3]) {
        let most = self.config.recovery_speed * self.step.dt;
        self.work.repulsions.push_out((self.config.recovery, most), self.surface.inverse_masses(), x);
    }

    /// One sweep of repulsion and friction over the velocities `v` of a sub-step of length `h` from positions `x`.
    pub fn repel(&mut self, (x, h): (&[Vec3], f64), v: &mut [Vec3]) {
        self.work.repulsions.repel((x, h), self.surface.inverse_masses(), self.config, v);
    }

    /// One sweep that keeps contacts from coming nearer and from sliding, but leaves overlaps to [`Pipeline::push_out`].
    pub fn hold(&mut self, (x, h): (&[Vec3], f64), v: &mut [Vec3]) {
        self.work.repulsions.hold((x, h), self.surface.inverse_masses(), self.config, v);
    }

    /// Tests the trajectories of the mean velocities `v`. Pairs that would collide become contacts, as they are when they
    /// meet. The answer is whether any would be so fast that stopping it would tear at its surroundings: a solver may
    /// then do its sub-steps again, knowing them.
    pub fn learn(&mut self, v: &[Vec3]) -> bool {
        self.round += 1;
        let everyone: Vec<u32> = (0..self.surface.vertex_count() as u32).collect();
        self.follow(&everyone, v, self.round);
        let collisions = self.detect(self.round);
        let x = self.step.x;
        let Workspace { touches, repulsions, x1, .. } = &mut *self.work;
        for Collision { watch, .. } in &collisions {
            // To be tested again even if the solver leaves them as they are.
            watch.nodes.iter().for_each(|i| x1[*i as usize] = Vec3::NAN);
        }
        let mut fast = false;
        for collision in &collisions {
            let (contact, (first, second)) = (collision.contact(), collision.watch.ends());
            let gap = self.surface.gap(first, second);
            fast |= -contact.relative(v).dot(contact.normal) * self.step.dt > gap;
            let gap = gap.min(contact.relative(x).dot(contact.normal));
            touches.push(Touch { contact, gap, friction: self.surface.friction(first, second) });
        }
        if fast {
            repulsions.prepare(touches, self.surface.inverse_masses());
        }
        fast
    }

    /// What was done.
    pub fn into_report(self) -> Report {
        self.report
    }
}

impl Pipeline<'_> {
    /// End positions of the step with velocities `v`.
    fn plan(&mut self, v: &[Vec3]) {
        let n = self.surface.vertex_count();
        let Step { x, dt, .. } = self.step;
        self.work.x1.resize(n, Vec3::ZERO);
        par::fill(&mut self.work.x1, |i| x[i] + v[i] * dt);
        self.work.planned.clone_from(&self.work.x1);
        let thinnest = self.surface.bodies().iter().filter(|b| b.dynamic).map(|b| b.thickness);
        let least = SLACK * thinnest.fold(f64::INFINITY, f64::min).min(1.0);
        self.work.astray.resize(n, 0.0);
        self.work.slack.resize(n, 0.0);
        par::zip_mut(&mut self.work.slack, &mut self.work.astray, |i, slack, astray| {
            let expected = (SLACK_OF_ASTRAY * std::mem::take(astray)).min(least / SLACK);
            *slack = least + SLACK_OF_WAY * dt * v[i].length() + expected;
        });
        self.work.changed.clear();
        self.work.changed.resize(n, 0);
    }

    /// Contacts at the start of the step and pairs to watch during it.
    fn search(&mut self) {
        let Workspace { search, found, touches, watches, planned, slack, .. } = &mut *self.work;
        let search = search.get_or_insert_with(|| Search::new(self.surface));
        let separation = self.config.separation;
        let plan = Plan { x0: self.step.x, x1: planned, slack, separation, contacts: true };
        search.all(self.surface, plan, found);
        touches.clear();
        watches.clear();
        for part in found.iter_mut() {
            touches.append(&mut part.touches);
        }
        self.report.candidates += take_watches(found, watches);
        self.report.contacts = touches.len() as u64;
        self.report.watched = watches.len() as u64;
    }

    /// Rounds of impulses, then growing impact zones, until no trajectory collides. Says how many collisions there were;
    /// may be called again after velocities changed.
    ///
    /// # Errors
    /// If scripted nodes are driven through something.
    pub fn collide(&mut self, v: &mut [Vec3]) -> Result<u64, Unresolved> {
        let before = self.report.collisions;
        // What changed since the last call may collide within a zone, which cannot grow.
        self.work.zones.reset(self.surface.vertex_count());
        let mut moved: Vec<u32> = (0..self.surface.vertex_count() as u32).collect();
        for round in 1.. {
            self.round += 1;
            self.follow(&moved, v, self.round);
            let collisions = self.detect(self.round);
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
            moved = if round <= self.config.collision_rounds {
                self.push_apart(&collisions, v)
            } else {
                self.grow_zones(&collisions, v)?
            };
        }
        self.report.zones = self.work.zones.sizes();
        Ok(self.report.collisions - before)
    }

    /// Updates the end positions of nodes whose velocities changed and searches around those that left their slack.
    fn follow(&mut self, moved: &[u32], v: &[Vec3], round: u32) {
        let Step { x, dt, .. } = self.step;
        let Workspace { x1, planned, slack, astray, changed, search, found, watches, .. } = &mut *self.work;
        let mut strayed = Vec::new();
        for &i in moved {
            let k = i as usize;
            let end = x[k] + v[k] * dt;
            if end != x1[k] {
                x1[k] = end;
                changed[k] = round;
                let off = end.distance(planned[k]);
                astray[k] = astray[k].max(off);
                if off > slack[k] {
                    planned[k] = end;
                    strayed.push(i);
                }
            }
        }
        let Some(search) = search else { return };
        let plan = Plan { x0: x, x1: planned, slack, separation: self.config.separation, contacts: false };
        if strayed.len() > planned.len() / MANY {
            search.all(self.surface, plan, found);
            watches.clear();
        } else if !strayed.is_empty() {
            search.around(self.surface, plan, &strayed, found);
        } else {
            return;
        }
        self.report.candidates += take_watches(found, watches);
        self.report.watched = watches.len() as u64;
    }

    /// Tests every watched pair with a node that changed since its last test, in parallel; earliest first.
    fn detect(&mut self, round: u32) -> Vec<Collision> {
        let Workspace { x1, changed, watches, .. } = &*self.work;
        let x0 = self.step.x;
        let stale = |w: &Watch| round == 1 || w.nodes.iter().any(|&i| changed[i as usize] == round);
        let parts = par::reduce(
            watches.len(),
            par::CHUNK,
            |range| {
                let (mut tests, mut hits) = (0u64, Vec::new());
                for watch in watches[range].iter().filter(|w| stale(w)) {
                    tests += 1;
                    hits.extend(watch.meet(x0, x1).map(|hit| Collision { watch: *watch, hit }));
                }
                (tests, hits)
            },
            |mut a, mut b| {
                a.0 += b.0;
                a.1.append(&mut b.1);
                a
            },
        );
        let (tests, mut hits) = parts.unwrap_or_default();
        self.report.tests += tests;
        let key = |c: &Collision| (c.watch.kind, c.watch.nodes);
        hits.sort_unstable_by(|a, b| a.hit.toi.total_cmp(&b.hit.toi).then(key(a).cmp(&key(b))));
        hits.dedup_by(|a, b| key(a) == key(b));
        hits
    }

    /// Inelastic impulses with friction on approaching pairs, recovery on close calls ([Bri03] 2.8). Returns the
    /// nodes that may have moved.
    fn push_apart(&self, collisions: &[Collision], v: &mut [Vec3]) -> Vec<u32> {
        let inverse_masses = self.surface.inverse_masses();
        let mut moved = Vec::with_capacity(4 * collisions.len());
        for collision in collisions {
            let (contact, watch) = (collision.contact(), &collision.watch);
            let compliance = contact.compliance(inverse_masses);
            if compliance == 0.0 {
                continue;
            }
            let (first, second) = watch.ends();
            let relative = contact.relative(v);
            let approach = relative.dot(contact.normal);
            let tangential = relative - contact.normal * approach;
            let recover = self.config.recovery * self.surface.gap(first, second) / self.step.dt;
            let dv = if approach < 0.0 { -approach } else { (recover - approach).max(0.0) };
            let after = slide(tangential, dv, self.surface.friction(first, second));
            contact.apply((contact.normal * dv + (after - tangential)) / compliance, inverse_masses, v);
            moved.extend(watch.nodes);
        }
        moved.sort_unstable();
        moved.dedup();
        moved
    }

    /// Merges the zones of colliding nodes and moves each grown zone as one body ([Bri03] 2.9).
    fn grow_zones(&mut self, collisions: &[Collision], v: &mut [Vec3]) -> Result<Vec<u32>, Unresolved> {
        let zones = &mut self.work.zones;
        let mut grown = false;
        for Collision { watch, .. } in collisions {
            grown |= zones.merge(watch.nodes).1;
        }
        if !grown {
            return Err(self.unresolved(&collisions[0]));
        }
        let mut roots: Vec<u32> = collisions.iter().map(|c| zones.root(c.watch.nodes[0])).collect();
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

    fn unresolved(&self, Collision { watch, hit }: &Collision) -> Unresolved {
        let (first, second) = watch.ends();
        let at = |i: u32| self.step.x[i as usize].lerp(self.work.x1[i as usize], hit.toi);
        let positive = (0..4).filter(|&k| hit.weights[k] > 0.0);
        Unresolved {
            nodes: watch.nodes,
            bodies: [self.surface.body_of(first), self.surface.body_of(second)],
            place: positive.map(|k| at(watch.nodes[k]) * hit.weights[k]).sum(),
            toi: hit.toi,
        }
    }
}

/// Moves what was found to watch into one list; returns how many candidates were looked at for it.
fn take_watches(found: &mut [Found], watches: &mut Vec<Watch>) -> u64 {
    let mut candidates = 0;
    for part in found {
        part.touches.clear();
        watches.append(&mut part.watches);
        candidates += std::mem::take(&mut part.candidates);
    }
    candidates
}
