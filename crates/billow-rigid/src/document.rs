//! The documents' own sequence ([Gue06] 2.6 – 2.8, 2.11): contacts found anew for every pair in every sweep, impulses
//! that grow gradually from restitution −0.9 to 0 and are forgotten, one sweep of shock propagation.
//!
//! Slower and less tight than the default, kept as the reference it departs from. Places and normals come from the
//! same search; bodies are worked off in a list that is shuffled every step. Nothing sleeps.

use crate::collide::collide_pair;
use crate::config::{CollisionGeometry, Config};
use crate::contact::{Motion, impulse};
use crate::detect::{Found, Pairwise, Search};
use crate::graph::Levels;
use crate::persistent::{contact_graph, kicked, level_order};
use crate::roll::{Resistance, Spatial};
use crate::solve::both;
use crate::step::{StepReport, Workspace};
use billow_num::Vec3;
use billow_num::rng::Stream;

/// Impulses a pair may take in one visit.
const PATIENCE: usize = 12;

/// One step of `dt` in which forces act on the velocities for `kick` seconds; the twin of `persistent::solve`.
pub(crate) fn solve(search: &Search<'_>, kick: f64, work: &mut Workspace, report: &mut StepReport) {
    let model = search.model;
    let live = work.live.clone();
    let fixed: Vec<bool> = live.iter().map(|l| !l).collect();
    let rank = shuffled(model.len(), search.state.steps);
    let by_rank = |pairs: &mut Vec<[u32; 2]>| {
        pairs.sort_by_key(|p| (rank[p[0] as usize].min(rank[p[1] as usize]), p[0], p[1]));
    };

    // Detect interference and apply collision impulses.
    for _ in 0..search.config.collision_passes {
        let mut pairs = search.pairwise(&work.motions, kick, &live);
        by_rank(&mut pairs.pairs);
        let hits: u64 =
            pairs.pairs.clone().iter().map(|p| bounce(&mut pairs, *p, &mut work.motions, kick)).sum();
        report.collisions += hits;
        if hits == 0 {
            break;
        }
    }

    // Contact graph, then gravity.
    let mut pairs = search.pairwise(&work.motions, kick, &live);
    let found: Vec<Found> = pairs.all(&work.motions, kick);
    let levels = contact_graph(search, &found, &work.motions, &fixed, kick);
    let before = std::mem::take(&mut work.motions);
    kicked(search, kick, &before, &mut work.motions);

    // Contact impulses, gradually, sweeping up the graph; a last sweep with everything below held.
    let sweeps = search.config.contact_sweeps;
    for sweep in 0..sweeps {
        let restitution = f64::from(sweep + 1) / f64::from(sweeps) - 1.0;
        settle_all(search, &levels, &rank, &mut work.motions, restitution, false);
    }
    for _ in 0..search.config.shock_sweeps.min(1) {
        settle_all(search, &levels, &rank, &mut work.motions, 0.0, true);
    }

    // What push-out needs.
    let mut pairs = search.pairwise(&work.motions, 0.0, &live);
    work.contacts = pairs.all(&work.motions, 0.0).iter().map(|f| f.contact).collect();
    work.order = level_order(&levels, &work.contacts);
    work.carried.clear();
    report.contacts = work.contacts.len() as u64;
    report.levels = u64::from(levels.count);
    work.levels = levels;
}

/// Each body's place in the list, shuffled anew every step.
fn shuffled(n: usize, step: u64) -> Vec<u32> {
    let mut rank: Vec<u32> = (0..n as u32).collect();
    Stream::new(0x51ed, step).at(0).shuffle(&mut rank);
    rank
}

/// Collisions of one pair, with the places found first or searched again after each impulse.
fn bounce(pairs: &mut Pairwise<'_>, pair: [u32; 2], motions: &mut [Motion], kick: f64) -> u64 {
    let lagged = pairs.search.config.collision_geometry == CollisionGeometry::Lagged;
    let mut hits = 0;
    for _ in 0..PATIENCE {
        let found = pairs.of(motions, pair, kick);
        if found.is_empty() {
            break;
        }
        let most = if lagged { 4 * found.len() } else { 1 };
        let new = collide_pair(pairs.search, &found, motions, kick, most);
        hits += new;
        if lagged || new == 0 {
            break;
        }
    }
    hits
}

/// One sweep over all levels, several visits to each pair of a level.
fn settle_all(
    search: &Search<'_>,
    levels: &Levels,
    rank: &[u32],
    motions: &mut [Motion],
    restitution: f64,
    shock: bool,
) {
    let live: Vec<bool> = motions.iter().map(|m| m.inverse_mass > 0.0).collect();
    let mut pairs = search.pairwise(motions, 0.0, &live);
    let level = |p: &[u32; 2]| levels.of[p[0] as usize].max(levels.of[p[1] as usize]);
    let mut order = pairs.pairs.clone();
    order.sort_by_key(|p| (level(p), rank[p[0] as usize].min(rank[p[1] as usize]), p[0], p[1]));
    for group in order.chunk_by(|p, q| level(p) == level(q)) {
        let now = level(&group[0]);
        let held = |i: u32| shock && levels.supported[i as usize] && levels.of[i as usize] < now;
        for _ in 0..VISITS {
            let mut quiet = true;
            for pair in group {
                quiet &= settle(&mut pairs, *pair, motions, restitution, pair.map(held)) == 0;
            }
            if quiet {
                break;
            }
        }
    }
}

/// Visits of a level within a sweep.
const VISITS: u32 = 3;

/// Works off the deepest approaching place of a pair, moving and searching again, until none is left.
fn settle(
    pairs: &mut Pairwise<'_>,
    pair: [u32; 2],
    motions: &mut [Motion],
    restitution: f64,
    held: [bool; 2],
) -> u64 {
    let Search { model, state, dt, .. } = *pairs.search;
    let [pa, pb] = pair.map(|i| state.bodies[i as usize].pose);
    let [sa, sb] = pair.map(|i| &model.bodies[i as usize].surface);
    let friction = sa.friction.max(sb.friction);
    let still = 1e-12 * (model.gravity.length() * dt);
    let mut impulses = 0;
    for _ in 0..PATIENCE {
        let found = pairs.of(motions, pair, 0.0);
        let [a, b] = both(motions, pair[0], pair[1]);
        let approach = |f: &Found| {
            // The gap that is there may be closed.
            let wanted = -f.contact.gap(&pa, &pb).max(0.0) / dt;
            let excess = f.contact.relative(a, b).dot(f.contact.normal) - wanted;
            (excess < -still).then_some((excess, wanted))
        };
        let deepest = found
            .iter()
            .filter_map(|f| approach(f).map(|(excess, wanted)| (f, excess, wanted)))
            .min_by(|x, y| x.1.total_cmp(&y.1));
        let Some((f, excess, wanted)) = deepest else { break };
        let (n, [ra, rb]) = (f.contact.normal, f.contact.arms);
        let mut k = billow_num::Mat3::ZERO;
        if !held[0] {
            k += a.compliance(ra);
        }
        if !held[1] {
            k += b.compliance(rb);
        }
        let j = impulse(&k, f.contact.relative(a, b), n, wanted - restitution * excess, friction);
        if !held[0] {
            a.push(ra, j);
        }
        if !held[1] {
            b.push(rb, -j);
        }
        if held == [false; 2]
            && let Some(mut resistance) = Resistance::new(model, &f.contact, [&pa, &pb])
        {
            let (w, arms) = (a.w - b.w, [ra, rb]);
            let spatial = Spatial::new([a, b], arms, k.inverse());
            resistance.change((w, n), (j, friction), &spatial).apply([a, b], arms);
        }
        impulses += 1;
        if j == Vec3::ZERO {
            break;
        }
    }
    impulses
}

/// What the documents ran their examples with: 5 collision passes, 10 contact sweeps, one of shock propagation.
pub(crate) fn published() -> Config {
    Config {
        method: crate::config::Method::Document,
        collision_passes: 5,
        contact_sweeps: 10,
        shock_sweeps: 1,
        ..Config::default()
    }
}
