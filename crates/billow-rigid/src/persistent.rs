//! The default step: contacts found once, impulses carried on ([Gue06] 2.11 with better first guesses).
//!
//! The order is the documents': collide, contact graph, forces to velocities, contact, shock, move, push apart. New
//! are impulses that are remembered between steps, a shock whose impulses are remembered too, contacts that act
//! before the gap is closed, and the search for contacts that the solved velocities lead into.

use crate::Config;
use crate::collide::collide;
use crate::contact::{Contact, Motion};
use crate::detect::{BODIES, Found, Search};
use crate::graph::{Levels, levels};
use crate::memory::{LATE, Look};
use crate::motion;
use crate::near::sampled;
use crate::sleep;
use crate::solve::{Row, both};
use crate::state::{BodyState, Carried, State};
use crate::step::{StepReport, Workspace};
use crate::stirred::Stirred;
use billow_num::{Vec3, par};
use std::ops::Range;

/// One step of `dt` in which forces act on the velocities for `kick` seconds. Leaves the new velocities in the
/// workspace and everything needed to push apart.
pub(crate) fn solve(search: &Search<'_>, kick: f64, work: &mut Workspace, report: &mut StepReport) {
    let model = search.model;
    let mut found = interference(search, kick, work, report);
    // What is touched wakes up before anything is solved.
    while sleep::wake(model, search.state, &found, &work.motions, &mut work.live) {
        motion::velocities(model, search.state, &work.live, search.dt, &mut work.motions);
        found = interference(search, kick, work, report);
    }
    let live = work.live.clone();
    let fixed: Vec<bool> = live.iter().map(|l| !l).collect();

    // Detect interference at the predicted places and apply collision impulses.
    for pass in 0..search.config.collision_passes.max(1) {
        if pass > 0 {
            found = interference(search, kick, work, report);
        }
        let hits =
            report.stages.time("collide", || collide(search, &found, &mut work.motions, kick, pass % 2 == 1));
        report.collisions += hits;
        if hits == 0 {
            break;
        }
    }

    // Contact graph; then gravity.
    let levels = report.stages.time("graph", || contact_graph(search, &found, &work.motions, &fixed, kick));

    // Forces and remembered impulses change the velocities; what rests keeps resting.
    let mut contacts: Vec<Contact> = par::map(found.len(), |k| found[k].contact);
    let mut rows = std::mem::take(&mut work.rows);
    rows.clear();
    report.stages.time("rows", || extend_rows(search, &contacts, &work.motions, &mut rows));
    report
        .stages
        .time("forecast", || forecast(search, (&contacts, &levels), kick, &mut rows, &mut work.motions));

    // Contacts, then shock propagation; again with contacts that turn out to be missing.
    let fall = model.gravity.length() * kick;
    let (mut still, mut stirred) = (STILL * fall, Stirred::all(&live));
    for round in 0..=search.config.rounds {
        let order = level_order(&levels, &contacts);
        report.stages.time("solve", || {
            let sweeps = most_sweeps(search.config, search.config.contact_sweeps, rows.len());
            sweep(&mut rows, &mut work.motions, (sweeps, still), &mut stirred);
            shock((&levels, &order), (search.config, still), &mut rows, (&mut work.motions, &mut stirred));
            // What was held feels what it bears.
            sweep(&mut rows, &mut work.motions, (sweeps.div_ceil(4), still), &mut stirred);
        });
        work.order = order;
        if round == search.config.rounds {
            break;
        }
        let missing = report.stages.time("verify", || missing_contacts(search, work, &live, &contacts));
        if missing.is_empty() {
            break;
        }
        report.late_contacts += missing.len() as u64;
        // Only what feels them is solved again.
        still = FELT * fall;
        stirred.settle();
        missing.iter().flat_map(|c| [c.a, c.b]).for_each(|i| stirred.note(i));
        contacts.extend(missing);
        let first = rows.len();
        extend_rows(search, &contacts, &work.motions, &mut rows);
        for row in &mut rows[first..] {
            row.hold(&levels, &work.motions);
        }
    }
    let impacts =
        |some: Range<usize>| rows[some].iter().filter(|row| row.impact && row.j != Vec3::ZERO).count() as u64;
    report.collisions += par::reduce(rows.len(), CONTACTS, impacts, |a, b| a + b).unwrap_or(0);
    report.contacts = contacts.len() as u64;
    report.levels = u64::from(levels.count);
    work.carried = report.stages.time("remember", || remember(search, (&contacts, &rows), kick, &live));
    (work.contacts, work.levels, work.rows) = (contacts, levels, rows);
}

/// Contacts at the places the velocities will lead to once forces have acted.
fn interference(search: &Search<'_>, kick: f64, work: &mut Workspace, report: &mut StepReport) -> Vec<Found> {
    kicked(search, kick, &work.motions, &mut work.trial);
    search.predict(&work.trial, &mut work.predicted);
    // Bodies that are driven may wake what they meet.
    let meets: Vec<bool> = work.live.iter().zip(&work.trial).map(|(l, m)| *l || sleep::moves(m)).collect();
    let dynamic = |p: &[u32; 2]| p.iter().any(|i| search.model.is_dynamic(*i as usize));
    work.pairs =
        report.stages.time("broad", || search.pairs(&work.predicted, &meets, &mut work.broad, dynamic));
    report
        .stages
        .time("detect", || search.contacts(&work.trial, &work.predicted, &work.pairs, &mut work.memory))
}

/// Adds to the velocities what gravity and remembered impulses do to them, with the impulses grown where something
/// would otherwise accelerate into what bears it.
fn forecast(
    search: &Search<'_>,
    (contacts, levels): (&[Contact], &Levels),
    kick: f64,
    rows: &mut [Row],
    motions: &mut [Motion],
) {
    let still: Vec<Motion> = motions.iter().map(|m| Motion { v: Vec3::ZERO, w: Vec3::ZERO, ..*m }).collect();
    let mut change = Vec::new();
    kicked(search, kick, &still, &mut change);
    warm_start(search, contacts, kick, rows, &mut change);
    // Contacts that carried something, and those as good as at rest.
    let fall = search.model.gravity.length() * kick;
    let mut order = level_order(levels, contacts);
    order.retain(|c| {
        let row = &mut rows[*c as usize];
        let u = row.relative(&motions[row.a as usize], &motions[row.b as usize]).dot(row.normal);
        row.impact = u < row.wanted - fall;
        row.j != Vec3::ZERO || !row.impact && u <= fall && row.wanted >= -fall
    });
    par::for_each_mut(rows, |_, row| row.hold(levels, motions));
    let still = STILL * fall;
    let moves: Vec<bool> = change.iter().map(|m| m.inverse_mass > 0.0).collect();
    by_level((levels, &order), rows, (search.config, still), &mut Stirred::all(&moves), |row, _, stirred| {
        let [a, b] = both(&mut change, row.a, row.b);
        let changed = row.bear(a, b);
        if changed > still {
            [row.a, row.b].iter().for_each(|i| stirred.note(*i));
        }
        changed
    });
    for (m, c) in motions.iter_mut().zip(&change) {
        m.v += c.v;
        m.w += c.w;
    }
}

/// Sine of the slope from which a contact bears a body.
const STEEP: f64 = 0.01;
/// Change of velocity that counts as none, as a part of what gravity adds.
const STILL: f64 = 1e-14;
/// The same where a few contacts were added to others that are solved: what is left is solved in the next step.
const FELT: f64 = 1e-3;

/// Velocities after gravity acted for `kick`.
pub(crate) fn kicked(search: &Search<'_>, kick: f64, from: &[Motion], to: &mut Vec<Motion>) {
    let dv = search.model.gravity * kick;
    to.clear();
    to.extend(from.iter().map(|m| {
        let mut m = *m;
        if m.inverse_mass > 0.0 {
            m.v += dv;
        }
        m
    }));
}

/// Who rests on whom ([Gue06] 2.8.1): a body rests on another if its own forces alone would close a contact.
pub(crate) fn contact_graph(
    search: &Search<'_>,
    found: &[Found],
    motions: &[Motion],
    fixed: &[bool],
    kick: f64,
) -> Levels {
    let (state, dt) = (search.state, search.dt);
    let falls = |i: u32| if fixed[i as usize] { Vec3::ZERO } else { search.model.gravity * kick };
    let edges_of = |c: &Contact, edges: &mut Vec<[u32; 2]>| {
        let [pa, pb] = [c.a, c.b].map(|i| &state.bodies[i as usize].pose);
        let [ma, mb] = [c.a, c.b].map(|i| &motions[i as usize]);
        let u = c.relative(ma, mb).dot(c.normal);
        let gap = c.gap(pa, pb);
        // Side by side is not on top.
        let least = STEEP * search.model.gravity.length() * kick;
        let [fa, fb] = [falls(c.a).dot(c.normal), -falls(c.b).dot(c.normal)];
        let [on_b, on_a] = [fa, fb].map(|f| f < -least && gap + dt * (u + f) < 0.0);
        // A shell wedged into another bears it as much as it is borne: the two are one group.
        let wedged = [c.a, c.b].iter().all(|i| search.model.geometry(*i as usize).field.is_none());
        if on_b || on_a && wedged {
            edges.push([c.b, c.a]);
        }
        if on_a || on_b && wedged {
            edges.push([c.a, c.b]);
        }
    };
    let mut edges = par::gather(found.len(), CONTACTS, |range, edges| {
        found[range].iter().for_each(|f| edges_of(&f.contact, edges));
    });
    levels(fixed, &mut edges)
}

/// Contacts per parallel piece of work.
const CONTACTS: usize = 256;

/// Contacts level by level.
pub(crate) fn level_order(levels: &Levels, contacts: &[Contact]) -> Vec<u32> {
    let of = |c: &u32| level_of(levels, &contacts[*c as usize]) as usize;
    let all: Vec<u32> = (0..contacts.len() as u32).collect();
    par::bucketed(&all, levels.count as usize, of).0
}

fn level_of(levels: &Levels, c: &Contact) -> u32 {
    levels.of[c.a as usize].max(levels.of[c.b as usize])
}

/// Rows for the contacts that have none yet.
fn extend_rows(search: &Search<'_>, contacts: &[Contact], motions: &[Motion], rows: &mut Vec<Row>) {
    let poses = |c: &Contact| [c.a, c.b].map(|i| &search.state.bodies[i as usize].pose);
    let known = rows.len();
    let row = |c: &Contact| Row::new(search.model, c, poses(c), motions, search.dt);
    if let Some(first) = contacts.get(known) {
        rows.resize(contacts.len(), row(first));
        par::chunks_mut(&mut rows[known..], CONTACTS, |start, some| {
            some.iter_mut().zip(&contacts[known + start..]).for_each(|(r, c)| *r = row(c));
        });
    }
}

/// Hands remembered impulses on to the contacts nearest to where they acted.
fn warm_start(
    search: &Search<'_>,
    contacts: &[Contact],
    kick: f64,
    rows: &mut [Row],
    motions: &mut [Motion],
) {
    let mut carried = search.state.carried.as_slice();
    let (mut rows, mut forces) = (rows, Vec::new());
    for pair in contacts.chunk_by(|c, d| (c.a, c.b) == (d.a, d.b)) {
        let key = (pair[0].a, pair[0].b);
        let before = carried.iter().take_while(|c| (c.a, c.b) < key).count();
        let end = before + carried[before..].iter().take_while(|c| (c.a, c.b) == key).count();
        take_over(search, pair, &carried[before..end], &mut forces);
        let (these, others) = rows.split_at_mut(pair.len());
        let [a, b] = both(motions, key.0, key.1);
        for (row, force) in these.iter_mut().zip(&forces).filter(|(_, force)| **force != Vec3::ZERO) {
            row.warm(*force * kick, a, b);
        }
        (rows, carried) = (others, &carried[end..]);
    }
}

/// Forces that the contacts of a pair take over of those `carried`.
fn take_over(search: &Search<'_>, pair: &[Contact], carried: &[Carried], forces: &mut Vec<Vec3>) {
    let shapes = [pair[0].a, pair[0].b].map(|i| search.model.geometry(i as usize));
    let size = shapes[0].depth.min(shapes[1].depth).powi(2);
    let far = |contact: &Contact, c: &Carried| place(search, contact).distance_squared(c.at);
    forces.clear();
    forces.resize(pair.len(), Vec3::ZERO);
    if sampled(shapes) {
        // A few places of many that might do: all is handed on to the nearest contact, of several there to the one along whose
        // normal it acted. Heaps that forget a part of their weight whenever places are looked for creep for ever.
        for c in carried {
            let along = c.force.normalize_or_zero();
            let near = |contact: &Contact| Some(far(contact, c)).filter(|way| *way < MATCH * size);
            let aslant = |contact: &Contact| ASLANT * size * along.distance_squared(contact.normal);
            let ways = pair.iter().enumerate().filter_map(|(k, c)| Some((near(c)? + aslant(c), k)));
            if let Some((_, k)) = ways.min_by(|x, y| x.0.total_cmp(&y.0)) {
                forces[k] += c.force;
            }
        }
    } else {
        // Exact contacts that are gone bear nothing any more.
        let mut free: Vec<&Carried> = carried.iter().collect();
        for (contact, force) in pair.iter().zip(forces) {
            let ways = free.iter().enumerate().map(|(k, c)| (far(contact, c), k));
            let nearest = ways.min_by(|x, y| x.0.total_cmp(&y.0)).filter(|n| n.0 < MATCH * size);
            *force = nearest.map_or(Vec3::ZERO, |(_, k)| free.swap_remove(k).force);
        }
    }
}

/// Square of the distance, in half thicknesses, within which an impulse is taken over.
const MATCH: f64 = 0.25;
/// What a force aslant to a normal counts beside that.
const ASLANT: f64 = 0.01;

/// Where a contact is remembered: its anchor in the first body that answers impulses.
fn place(search: &Search<'_>, c: &Contact) -> Vec3 {
    if search.model.is_dynamic(c.a as usize) { c.anchors[0] } else { c.anchors[1] }
}

fn remember(
    search: &Search<'_>,
    (contacts, rows): (&[Contact], &[Row]),
    kick: f64,
    live: &[bool],
) -> Vec<Carried> {
    let mut carried: Vec<Carried> = contacts
        .iter()
        .zip(rows)
        .filter(|(_, row)| row.j != Vec3::ZERO && !row.impact)
        .map(|(c, row)| Carried { a: c.a, b: c.b, at: place(search, c), force: row.j / kick })
        .collect();
    // What sleeps keeps what it remembers.
    let asleep = |c: &&Carried| !live[c.a as usize] && !live[c.b as usize];
    carried.extend(search.state.carried.iter().filter(asleep));
    carried.sort_by_key(|c| (c.a, c.b));
    carried
}

/// Sweeps over all contacts of bodies that are stirred, so many times at most, while anything changes.
fn sweep(rows: &mut [Row], motions: &mut [Motion], (most, still): (usize, f64), stirred: &mut Stirred) {
    for count in 0..most {
        let since = stirred.sweep(count == 0);
        let mut change: f64 = 0.0;
        for row in rows.iter_mut() {
            if !stirred.since(since, row.a, row.b) {
                continue;
            }
            let [a, b] = both(motions, row.a, row.b);
            let changed = row.relax(a, b);
            if changed > still {
                [row.a, row.b].iter().for_each(|i| stirred.note(*i));
            }
            change = change.max(changed);
        }
        if change <= still {
            break;
        }
    }
}

/// Sweeps over `count` contacts: at least those asked for, more if the visits allow.
fn most_sweeps(config: &Config, asked: u32, count: usize) -> usize {
    if asked == 0 { 0 } else { (asked as usize).max(config.visits as usize / count.max(1)) }
}

/// The last sweep, level by level, with supported bodies of finished levels held.
fn shock(
    graph: (&Levels, &[u32]),
    effort: (&Config, f64),
    rows: &mut [Row],
    (motions, stirred): (&mut [Motion], &mut Stirred),
) {
    by_level(graph, rows, effort, stirred, |row, held, stirred| {
        let [a, b] = both(motions, row.a, row.b);
        let changed = row.shock(a, b, held);
        if changed > effort.1 {
            let moved = [row.a, row.b].into_iter().zip(held).filter(|(_, held)| !held);
            moved.for_each(|(i, _)| stirred.note(i));
        }
        changed
    });
}

/// Visits rows of bodies that are stirred level by level, several times each, and tells which bodies are held. `visit`
/// returns how much it changed.
fn by_level(
    (levels, order): (&Levels, &[u32]),
    rows: &mut [Row],
    (config, still): (&Config, f64),
    stirred: &mut Stirred,
    mut visit: impl FnMut(&mut Row, [bool; 2], &mut Stirred) -> f64,
) {
    let most = most_sweeps(config, config.shock_sweeps, order.len());
    let of = |row: &Row| levels.of[row.a as usize].max(levels.of[row.b as usize]);
    let mut start = 0;
    while start < order.len() {
        let now = of(&rows[order[start] as usize]);
        let end = start + order[start..].iter().take_while(|c| of(&rows[**c as usize]) == now).count();
        let held = |i: u32| levels.supported[i as usize] && levels.of[i as usize] < now;
        for count in 0..most {
            let since = stirred.sweep(count == 0);
            let mut change: f64 = 0.0;
            for c in &order[start..end] {
                let row = &mut rows[*c as usize];
                if stirred.since(since, row.a, row.b) {
                    let held = [held(row.a), held(row.b)];
                    change = change.max(visit(row, held, stirred));
                }
            }
            if change <= still {
                break;
            }
        }
        start = end;
    }
}

/// Contacts that the solved velocities lead into and that are not in the list yet.
fn missing_contacts(
    search: &Search<'_>,
    work: &mut Workspace,
    live: &[bool],
    contacts: &[Contact],
) -> Vec<Contact> {
    let Workspace { motions, trial, predicted, broad, pairs, memory, .. } = work;
    // Bodies that go somewhere else than where contacts were looked for.
    let strays: Vec<f64> = (0..motions.len())
        .map(|i| {
            let radius = search.model.geometry(i).radius;
            let (m, t) = (&motions[i], &trial[i]);
            search.dt * ((m.v - t.v).length() + (m.w - t.w).length() * radius)
        })
        .collect();
    let mut farthest = [0.0f64; 2];
    for s in &strays {
        farthest = if *s > farthest[0] { [*s, farthest[0]] } else { [farthest[0], farthest[1].max(*s)] };
    }
    let least = |i: usize| {
        let shape = search.model.geometry(i);
        search.config.margin * shape.depth + shape.skin
    };
    let closest = (0..motions.len()).map(least).fold(f64::INFINITY, f64::min);
    if farthest[0] + farthest[1] <= closest {
        return Vec::new();
    }
    let astray = |p: &[u32; 2]| {
        let slack = search.margin(p[0], p[1]);
        strays[p[0] as usize] + strays[p[1] as usize] > slack
    };
    search.predict(motions, predicted);
    // What is pushed apart after the step is sought among the pairs that these velocities lead to.
    *pairs = search.pairs(predicted, live, broad, |_| true);
    let pairs: Vec<[u32; 2]> = pairs.iter().copied().filter(astray).collect();
    memory.look = Look::Late;
    let found = search.contacts(motions, predicted, &pairs, memory);
    memory.look = Look::Ahead;
    trial.clone_from(motions);
    let known = |f: &Found| {
        let size = search.model.geometry(f.contact.a as usize).depth;
        let size = size.min(search.model.geometry(f.contact.b as usize).depth);
        let first = contacts.partition_point(|c| (c.a, c.b) < (f.contact.a, f.contact.b));
        contacts[first..].iter().take_while(|c| (c.a, c.b) == (f.contact.a, f.contact.b)).any(|c| {
            let near = c.anchors[0].distance(f.contact.anchors[0]) < 0.1 * size;
            near && c.normal.dot(f.contact.normal) > 0.9
        })
    };
    let reached = |f: &&Found| {
        let c = &f.contact;
        let end = c.gap(&predicted[c.a as usize], &predicted[c.b as usize]);
        end < -LATE * search.margin(c.a, c.b)
    };
    found.iter().filter(reached).filter(|f| !known(f)).map(|f| f.contact).collect()
}

/// Moves all bodies with the solved velocities and keeps what is remembered.
pub(crate) fn advance(search_dt: f64, work: &mut Workspace, model: &crate::Model, state: &mut State) {
    let Workspace { motions, live, .. } = work;
    let time = state.time + search_dt;
    let go = |i: usize, b: &mut BodyState| {
        let (m, inertia) = (&motions[i], &model.inertias[i]);
        if live[i] {
            // Only the change is added, so an untouched angular momentum keeps every bit.
            let w = inertia.divided(&b.pose, b.angular_momentum);
            if m.w != w {
                b.angular_momentum += inertia.times(&b.pose, m.w - w);
            }
            b.velocity = m.v;
            b.pose = motion::advanced(&b.pose, inertia, m.v, m.w, search_dt);
        } else if let Some(pose) = motion::scripted(model, i, time) {
            b.pose = pose;
            b.velocity = m.v;
        }
    };
    par::chunks_mut(&mut state.bodies, BODIES, |first, some| {
        some.iter_mut().enumerate().for_each(|(k, b)| go(first + k, b));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Model;
    use crate::experiments::{Builder, wall};
    use crate::memory::Memory;
    use billow_geom::shapes::torus;
    use billow_num::Pose;

    /// Contacts of a wall that gravity pulls at, as rows, and the velocities.
    fn pulled(model: &Model, state: &State, config: &Config) -> (Vec<Row>, Vec<Motion>) {
        let search = Search { model, state, config, dt: 0.01 };
        let live: Vec<bool> = (0..model.len()).map(|i| model.is_dynamic(i)).collect();
        let (mut still, mut motions) = (Vec::new(), Vec::new());
        motion::velocities(model, state, &live, search.dt, &mut still);
        kicked(&search, search.dt, &still, &mut motions);
        let poses: Vec<Pose> = state.bodies.iter().map(|b| b.pose).collect();
        let pairs = search.pairs(&poses, &live, &mut Default::default(), |_| true);
        let found = search.contacts(&still, &poses, &pairs, &mut Memory::default());
        let contacts: Vec<Contact> = found.iter().map(|f| f.contact).collect();
        let mut rows = Vec::new();
        extend_rows(&search, &contacts, &motions, &mut rows);
        (rows, motions)
    }

    #[test]
    fn sweeps_over_stirred_bodies_give_what_sweeps_over_all_contacts_give() {
        let model = wall().unwrap();
        let (state, sweeps) = (model.start(), 40);
        let (mut rows, mut motions) = pulled(&model, &state, &Config::default());
        let (mut all_rows, mut all) = (rows.clone(), motions.clone());
        let moves: Vec<bool> = motions.iter().map(|m| m.inverse_mass > 0.0).collect();
        sweep(&mut rows, &mut motions, (sweeps, STILL * 0.1), &mut Stirred::all(&moves));
        for _ in 0..sweeps {
            for row in &mut all_rows {
                let [a, b] = both(&mut all, row.a, row.b);
                row.relax(a, b);
            }
        }
        let apart = |(m, n): (&Motion, &Motion)| (m.v - n.v).length() + (m.w - n.w).length();
        let most = motions.iter().zip(&all).map(apart).fold(0.0, f64::max);
        assert!(most < 1e-11 && rows.len() > 400, "{most} m/s, {} contacts", rows.len());
    }

    #[test]
    fn what_does_not_feel_a_body_that_is_stirred_is_not_visited() {
        let model = wall().unwrap();
        let state = model.start();
        let (mut rows, mut motions) = pulled(&model, &state, &Config::default());
        let moves: Vec<bool> = motions.iter().map(|m| m.inverse_mass > 0.0).collect();
        let (mut stirred, before) = (Stirred::all(&moves), motions.clone());
        stirred.settle();
        // A brick on the ground.
        let low = if moves[rows[0].a as usize] { rows[0].a } else { rows[0].b };
        stirred.note(low);
        // Nothing changes by more than this: only contacts of the body itself are visited.
        sweep(&mut rows, &mut motions, (2, f64::INFINITY), &mut stirred);
        let visited = |r: &&Row| r.j != Vec3::ZERO;
        assert!(rows.iter().filter(visited).all(|r| r.a == low || r.b == low));
        assert!(rows.iter().any(|r| visited(&r)) && motions[low as usize] != before[low as usize]);
    }

    /// Three forces of a pair that has two contacts left, one of them with two normals at the same place.
    #[test]
    fn sampled_pairs_hand_all_they_bore_on_and_exact_ones_what_is_still_there() {
        let mut b = Builder::default();
        let ring = b.mesh(&torus(0.3, 0.1, 16, 10).unwrap()).unwrap();
        let cube = b.cuboid(Vec3::ONE).unwrap();
        [ring, ring, cube, cube].iter().for_each(|shape| {
            b.body("body", *shape, Vec3::ZERO);
        });
        let model = b.model().unwrap();
        let (state, config) = (model.start(), Config::default());
        let search = Search { model: &model, state: &state, config: &config, dt: 0.01 };
        let handed_on = |a: u32| {
            let contact = |normal: Vec3| {
                let [anchors, arms] = [[Vec3::X; 2], [Vec3::ZERO; 2]];
                Contact { a, b: a + 1, anchors, arms, normal, skin: 0.0 }
            };
            let force = |at: Vec3, force: Vec3| Carried { a, b: a + 1, at, force };
            let near = Vec3::X * 1.002;
            let carried = [force(near, Vec3::Y), force(Vec3::X, Vec3::Z * 2.0), force(near, Vec3::Z * 4.0)];
            let mut forces = Vec::new();
            take_over(&search, &[contact(Vec3::Z), contact(Vec3::Y)], &carried, &mut forces);
            forces
        };
        assert_eq!(handed_on(0), [Vec3::Z * 6.0, Vec3::Y]);
        assert_eq!(handed_on(2).iter().filter(|f| **f != Vec3::ZERO).count(), 2);
        assert!(handed_on(2).iter().sum::<Vec3>() != Vec3::new(0.0, 1.0, 6.0));
    }
}
