//! Internal forces, contacts and objects in common small steps.
//!
//! A collision step is cut into sub-steps in which springs, bending elements, contacts between surfaces and contacts with
//! objects each sweep once over the same velocities. An impact therefore travels through the cloth while it happens,
//! instead of being corrected after the cloth has fallen through. Gravity and air act in leapfrog fashion, so that free
//! fall is exact.

use crate::hinges::Hinges;
use crate::limits::{Bounds, Limits};
use crate::links::Links;
use crate::objects::ObjectContacts;
use crate::pulls::{Pace, Pulls};
use crate::{Config, Lasting, Model, air};
use billow_contact::{Pipeline, Unresolved};
use billow_num::stages::Stages;
use billow_num::{Vec3, par};

/// How often the air is evaluated in a step; half as often, a falling sheet would be 1 % too fast.
const AIR: u32 = 4;

/// How often objects and bending modes are evaluated in a step.
const MODES: u32 = 2;

/// Excess of the longest spring, relative to what it may be, that is worth no effort [-].
const TOLERATED: f64 = 0.002;

/// Speed at which a pull must be able to travel, from spring to spring, one in each sub-step [m/s]. Impacts are about half as
/// fast; where the cloth cannot tell what happens in time, it is compressed and bursts.
const SIGNAL: f64 = 10.0;

/// The step to be marched through.
#[derive(Clone, Copy)]
pub(crate) struct Span<'a> {
    pub(crate) model: &'a Model,
    pub(crate) config: &'a Config,
    /// Its start [s].
    pub(crate) time: f64,
    /// Its length [s].
    pub(crate) dt: f64,
    /// Forces at its start.
    pub(crate) lasting: &'a Lasting,
    /// Whether it was marched through before.
    pub(crate) repeated: bool,
}

/// Scratch. Dropping it changes no result.
#[derive(Debug, Default)]
pub(crate) struct Coupled {
    elements: Option<Elements>,
    /// How far nodes are from the start of the step [m].
    moved: Vec<Vec3>,
    /// Acceleration by everything outside the cloth [m/s²].
    outer: Vec<Vec3>,
    /// Scratch: the air's forces on faces.
    faces: Vec<Vec3>,
    objects: ObjectContacts,
    /// End of the last step [s].
    end: f64,
}

#[derive(Debug)]
struct Elements {
    pulls: Pulls,
    links: Links,
    limits: Limits,
    hinges: Hinges,
}

impl Elements {
    fn new(model: &Model) -> Self {
        let links = Links::new(model);
        let limits = Limits::new(&links, model.node_count());
        Self { pulls: Pulls::new(model), limits, hinges: Hinges::new(model), links }
    }
}

impl Coupled {
    /// Advances `x` and `v` through the step; `v` enters with scripted nodes' mean velocities. Returns how many nodes
    /// objects pushed last.
    pub(crate) fn advance(
        &mut self,
        Span { model, config, time, dt, lasting, repeated }: Span<'_>,
        (x, v): (&mut [Vec3], &mut [Vec3]),
        pipeline: &mut Pipeline<'_>,
        stages: &mut Stages,
    ) -> u64 {
        self.end = time + dt;
        let Self { elements, moved, outer, faces, objects, .. } = self;
        let Elements { pulls, links, hinges, .. } = elements.get_or_insert_with(|| Elements::new(model));
        let coarse = f64::from(config.substeps.max(1));
        let usual = coarse.max(SIGNAL * dt / links.usual_length());
        let steps = small_steps(usual, links.excess(x));
        stages.count("small steps", u64::from(steps));
        let h = dt / f64::from(steps);
        moved.clear();
        moved.resize(x.len(), Vec3::ZERO);
        pulls.start(model, Pace { h, usual: dt / usual, coarse: dt / coarse }, &lasting.tension);
        pipeline.recall(&lasting.pushes, h);
        objects.mark_stacks(pipeline);
        let spread = hinges.every(dt, usual);
        for k in 0..steps {
            let t = h * f64::from(k);
            if let Some(ahead) = due(k, steps, AIR) {
                let ahead = h * f64::from(ahead);
                stages.time("air", || external(model, config, (x, v), ahead, faces, outer));
            }
            if let Some(ahead) = due(k, steps, MODES) {
                let ahead = h * f64::from(ahead);
                stages.time("objects", || objects.find(model, x, (time + t, ahead), v));
                stages.time("linearise", || match k {
                    0 if repeated => hinges.start_over(model, x),
                    0 => hinges.linearise(model, x, (h, spread)),
                    _ => hinges.linearise_again(model, x, moved),
                });
            }
            kick(v, outer, if k == 0 { 0.5 * h } else { h });
            stages.time("springs", || pulls.begin(x, v));
            stages.time("repulsion", || pipeline.warm(x, v));
            stages.time("springs", || pulls.sweep(x, v));
            stages.time("bending", || {
                if k.is_multiple_of(spread) { hinges.evaluate(model, moved, v) } else { hinges.go_on(v) }
            });
            // What lies on an object must know that the object carries it: objects answer before and after.
            stages.time("objects", || objects.respond(x, time + t, h, v));
            // New contacts begin without impulses: a few passes tell how heavy a stack is.
            let passes = if k == 0 { config.contact.repulsion_passes.max(1) } else { 1 };
            for _ in 0..if pipeline.touches() { passes } else { 0 } {
                stages.time("repulsion", || pipeline.hold(h, v));
                stages.time("objects", || objects.respond_again(x, time + t, h, v));
            }
            par::zip_mut(x, moved, |i, x, moved| {
                let way = v[i] * h;
                *x += way;
                *moved += way;
            });
        }
        kick(v, outer, 0.5 * h);
        objects.respond(x, time + dt, h, v);
        stages.time("push-out", || {
            pipeline.push_out(x);
            objects.push_out(time + dt, x);
        });
        objects.active()
    }

    /// See [`ObjectContacts::make_room`].
    pub(crate) fn make_room(&mut self, model: &Model, x: &[Vec3], t: f64) -> &[f64] {
        self.objects.make_room(model, x, t)
    }

    /// Corrects the mean velocities `v` of the step from `x` so that nothing collides; what collisions push stays out of
    /// objects.
    pub(crate) fn collide(
        &mut self,
        pipeline: &mut Pipeline<'_>,
        (x, dt): (&[Vec3], f64),
        v: &mut [Vec3],
    ) -> Result<u64, Unresolved> {
        self.objects.index(x.len());
        let (objects, end) = (&self.objects, self.end);
        pipeline.collide(v, &|i, v| objects.clamp(i, (x[i], dt, end), v))
    }

    /// Writes down what springs and contacts pulled and pushed with at the end of the last step.
    pub(crate) fn remember(&self, model: &Model, pipeline: &Pipeline<'_>, lasting: &mut Lasting) {
        if let Some(Elements { pulls, .. }) = &self.elements {
            pulls.remember(model.springs.len(), &mut lasting.tension);
            pipeline.remember(pulls.sub_step(), &mut lasting.pushes);
        }
    }

    /// Adds the objects that pushed each node last to `counts`.
    pub(crate) fn count_contacts(&self, counts: &mut [u32]) {
        self.objects.count(counts);
    }

    /// Sets springs beyond their strain limits on them, by sweeps over the positions `x` at the end of the step; more of them
    /// where that is not enough, with lines of tension pulled together in between. What collided before stays on its side,
    /// and objects have the last word.
    pub(crate) fn limit(&mut self, sweeps: u32, pipeline: &mut Pipeline<'_>, x: &mut [Vec3]) {
        const ROUNDS: u32 = 40;
        let Self { elements, objects, end, .. } = self;
        let Some(Elements { links, limits, .. }) = elements else { return };
        if !limits.open(links, x) {
            return;
        }
        objects.index(x.len());
        let mut others = Others { pipeline, objects, end: *end };
        for sweep in 1..=sweeps * ROUNDS {
            if !limits.sweep(links, &mut others, x) {
                break;
            }
            if sweep.is_multiple_of(sweeps) {
                if !limits.any_too_long(links, x) {
                    break;
                }
                limits.pull_lines(links, &mut others, x);
            }
        }
    }
}

/// What collided stays on its side, and objects have the last word.
struct Others<'a, 'b> {
    pipeline: &'a mut Pipeline<'b>,
    objects: &'a mut ObjectContacts,
    /// End of the step [s].
    end: f64,
}

impl Bounds for Others<'_, '_> {
    fn separate(&mut self, x: &mut [Vec3], moved: &mut dyn FnMut(u32)) {
        self.pipeline.keep_apart(x, moved);
    }

    fn push_out(&mut self, x: &mut [Vec3], nodes: Option<&[u32]>) {
        match nodes {
            Some(nodes) => self.objects.push_out_some(nodes, self.end, x),
            None => self.objects.push_out(self.end, x),
        }
    }
}

/// How many sub-steps a step needs in which springs are as much longer than they may be as `excess` says, relative to what
/// they may: a taut cloth that is dragged over something needs more sweeps than one that falls.
fn small_steps(usual: f64, excess: f64) -> u32 {
    const MOST: f64 = 8.0;
    (usual * (1.0 + excess / TOLERATED).min(MOST)) as u32
}

/// Whether something done up to `times` in so many `steps` is due in step `k`; the number of steps it must last.
fn due(k: u32, steps: u32, times: u32) -> Option<u32> {
    let period = steps.div_ceil(times);
    k.is_multiple_of(period).then(|| period.min(steps - k))
}

/// Gravity, air and the drag of a preroll, per mass [m/s²]; nothing on scripted nodes.
fn external(
    model: &Model,
    config: &Config,
    (x, v): (&[Vec3], &[Vec3]),
    ahead: f64,
    faces: &mut Vec<Vec3>,
    a: &mut Vec<Vec3>,
) {
    a.clear();
    a.resize(x.len(), Vec3::ZERO);
    air::add_forces(model, (x, v), ahead, faces, a);
    par::for_each_mut(a, |i, a| {
        let weight = model.inverse_masses[i];
        *a = if weight > 0.0 { *a * weight + model.gravity - v[i] * config.drag } else { Vec3::ZERO };
    });
}

fn kick(v: &mut [Vec3], a: &[Vec3], h: f64) {
    par::for_each_mut(v, |i, v| *v += a[i] * h);
}
