//! Collisions: elastic impulses on the velocities before forces act ([Gue06] 2.6, 2.7).
//!
//! A contact that the predicted velocities would close is a collision if the velocities *before* the forces
//! already approach; a body at rest has none, so it never bounces and no threshold is needed. Of each pair the
//! deepest approaching place is worked first, until every place has separated once.

use crate::contact::{Motion, impulse};
use crate::detect::{Found, Search};
use crate::solve::both;
use billow_num::Vec3;

/// Impulses that a pair may take in one pass for each of its places.
const PATIENCE: usize = 4;

/// One pass over all pairs of `found`; returns the number of impulses. `kick` is the time [s] forces will act.
pub(crate) fn collide(
    search: &Search<'_>,
    found: &[Found],
    motions: &mut [Motion],
    kick: f64,
    backward: bool,
) -> u64 {
    let same = |s: &Found, t: &Found| (s.contact.a, s.contact.b) == (t.contact.a, t.contact.b);
    let mut work = |pair: &[Found]| collide_pair(search, pair, motions, kick, PATIENCE * pair.len());
    if backward {
        found.chunk_by(same).rev().map(&mut work).sum()
    } else {
        found.chunk_by(same).map(&mut work).sum()
    }
}

/// Works off one pair with at most `most` impulses.
pub(crate) fn collide_pair(
    search: &Search<'_>,
    pair: &[Found],
    motions: &mut [Motion],
    kick: f64,
    most: usize,
) -> u64 {
    let Search { model, state, dt, .. } = *search;
    let [a, b] = [pair[0].contact.a, pair[0].contact.b];
    let [sa, sb] = [a, b].map(|i| &model.bodies[i as usize].surface);
    let restitution = sa.restitution.min(sb.restitution);
    if restitution == 0.0 {
        return 0;
    }
    let falls =
        |i: u32| if motions[i as usize].inverse_mass > 0.0 { model.gravity * kick } else { Vec3::ZERO };
    let kicked = falls(a) - falls(b);
    let [pa, pb] = [a, b].map(|i| &state.bodies[i as usize].pose);
    let mut waiting: Vec<(f64, Vec3, Vec3, Vec3)> = pair
        .iter()
        .map(|f| {
            let c = &f.contact;
            (c.gap(pa, pb), c.normal, c.arms[0], c.arms[1])
        })
        .collect();
    let mut impulses = 0;
    for _ in 0..most {
        let [ma, mb] = both(motions, a, b);
        // Places that separate, or that the step does not reach, are done with.
        let mut deepest: Option<(f64, usize)> = None;
        let mut k = 0;
        waiting.retain(|(gap, n, ra, rb)| {
            let u = (ma.at(*ra) - mb.at(*rb)).dot(*n);
            let depth = gap + dt * (u + kicked.dot(*n));
            let open = u >= 0.0 || depth >= 0.0;
            if !open {
                if deepest.is_none_or(|d| depth < d.0) {
                    deepest = Some((depth, k));
                }
                k += 1;
            }
            !open
        });
        let Some((_, k)) = deepest else { break };
        let (_, n, ra, rb) = waiting[k];
        let u = ma.at(ra) - mb.at(rb);
        let stiffness = ma.compliance(ra) + mb.compliance(rb);
        let friction = sa.friction.max(sb.friction);
        let j = impulse(&stiffness, u, n, -restitution * u.dot(n), friction);
        ma.push(ra, j);
        mb.push(rb, -j);
        impulses += 1;
    }
    impulses
}
