//! Pushing apart what still overlaps, without touching velocities ([Gue06] 2.10).
//!
//! First-order physics: a displacement instead of an impulse, level by level up the contact graph with what lies
//! below held fast, and each sweep undoing a larger part of the overlap. A contact that is open is not looked at again
//! until its bodies have been moved by as much as it is open.

use crate::contact::Contact;
use crate::graph::Levels;
use crate::lasting::unmoved;
use crate::model::Model;
use crate::motion::turned;
use crate::state::State;
use billow_num::Vec3;

/// Largest part of a body's half thickness a single push may move it by.
const LARGEST: f64 = 0.2;

/// Overlap that is not worth a push, as a part of the half thickness.
const NOTHING: f64 = 1e-9;

/// How far from the centre of a body its anchors are, at most, in radii of the body.
const ARM: f64 = 1.5;

/// Pushes the `live` bodies of `contacts` apart; `order` lists the contacts level by level.
pub(crate) fn push_apart(
    model: &Model,
    state: &mut State,
    contacts: &[Contact],
    (levels, order): (&Levels, &[u32]),
    live: &[bool],
    sweeps: u32,
) -> u64 {
    let mut pushes = 0;
    // How far anchors of each body were moved so far, and when both together may have closed a contact.
    let mut moved = vec![0.0; state.bodies.len()];
    let mut closes = vec![f64::NEG_INFINITY; order.len()];
    for sweep in 0..sweeps {
        let part = f64::from(sweep + 1) / f64::from(sweeps);
        let mut quiet = true;
        for (&c, closes) in order.iter().zip(&mut closes) {
            let contact = &contacts[c as usize];
            let [a, b] = [contact.a as usize, contact.b as usize];
            let so_far = moved[a] + moved[b];
            if so_far <= *closes {
                continue;
            }
            let shapes = [a, b].map(|i| model.geometry(i));
            let gap = contact.gap(&state.bodies[a].pose, &state.bodies[b].pose);
            let overlap = -gap - unmoved(shapes);
            *closes = so_far - overlap;
            if overlap <= NOTHING * shapes[0].depth.min(shapes[1].depth) {
                continue;
            }
            // In the last sweep what lies below stays.
            let last = sweep + 1 == sweeps;
            let below =
                |x: usize, y: usize| !live[x] || last && levels.supported[x] && levels.of[x] < levels.of[y];
            let ways = separate(model, state, contact, part * overlap, [below(a, b), below(b, a)]);
            moved[a] += ways[0];
            moved[b] += ways[1];
            *closes = f64::NEG_INFINITY;
            (pushes, quiet) = (pushes + 1, false);
        }
        if quiet {
            break;
        }
    }
    pushes
}

/// Moves two bodies by the first-order impulse that opens the contact by `way` [m]; tells bounds of how far anchors of
/// each were moved [m].
fn separate(model: &Model, state: &mut State, contact: &Contact, way: f64, held: [bool; 2]) -> [f64; 2] {
    let (n, ids) = (contact.normal, [contact.a as usize, contact.b as usize]);
    let mut arms = [Vec3::ZERO; 2];
    let mut compliance = 0.0;
    for k in 0..2 {
        let (pose, inertia) = (&state.bodies[ids[k]].pose, &model.inertias[ids[k]]);
        arms[k] = pose.vector(contact.anchors[k]);
        if !held[k] {
            let turn = inertia.divided(pose, arms[k].cross(n));
            compliance += inertia.inverse_mass + turn.dot(arms[k].cross(n));
        }
    }
    let mut ways = [0.0; 2];
    if compliance <= 0.0 {
        return ways;
    }
    let limit = LARGEST * model.geometry(ids[0]).depth.min(model.geometry(ids[1]).depth);
    let j = n * (way.min(limit) / compliance);
    for k in (0..2).filter(|k| !held[*k]) {
        let inertia = &model.inertias[ids[k]];
        let j = if k == 0 { j } else { -j };
        let pose = &mut state.bodies[ids[k]].pose;
        let by = inertia.divided(pose, arms[k].cross(j));
        *pose = turned(pose, by);
        let shift = j * inertia.inverse_mass;
        pose.position += shift;
        ways[k] = shift.length() + by.length() * ARM * model.geometry(ids[k]).radius;
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use crate::contact::Motion;
    use crate::detect::Search;
    use crate::experiments::wall;
    use crate::memory::Memory;
    use crate::persistent::level_order;
    use billow_num::rng::Stream;
    use billow_num::{Mat3, Pose};

    /// The same, looking at every contact in every sweep.
    fn push_looking_at_all(
        model: &Model,
        state: &mut State,
        contacts: &[Contact],
        (levels, order): (&Levels, &[u32]),
        live: &[bool],
        sweeps: u32,
    ) -> u64 {
        let mut pushes = 0;
        for sweep in 0..sweeps {
            for contact in order.iter().map(|c| &contacts[*c as usize]) {
                let [a, b] = [contact.a as usize, contact.b as usize];
                let overlap = -contact.gap(&state.bodies[a].pose, &state.bodies[b].pose);
                if overlap > NOTHING * model.geometry(a).depth.min(model.geometry(b).depth) {
                    let stays = |x: usize, y: usize| {
                        !live[x] || sweep + 1 == sweeps && levels.supported[x] && levels.of[x] < levels.of[y]
                    };
                    let part = f64::from(sweep + 1) / f64::from(sweeps);
                    separate(model, state, contact, part * overlap, [stays(a, b), stays(b, a)]);
                    pushes += 1;
                }
            }
        }
        pushes
    }

    #[test]
    fn leaving_open_contacts_alone_changes_no_bit() {
        let model = wall().unwrap();
        let mut state = model.start();
        let live: Vec<bool> = (0..model.len()).map(|i| model.is_dynamic(i)).collect();
        for (i, body) in state.bodies.iter_mut().enumerate().filter(|(i, _)| live[*i]) {
            let mut draw = Stream::new(2, 9).at(i as u64);
            body.pose.position += draw.unit_vector() * draw.range(0.0, 2e-3);
        }
        let search = Search { model: &model, state: &state, config: &Config::default(), dt: 0.01 };
        let still = Motion { v: Vec3::ZERO, w: Vec3::ZERO, inverse_mass: 0.0, inverse_inertia: Mat3::ZERO };
        let poses: Vec<Pose> = state.bodies.iter().map(|b| b.pose).collect();
        let pairs: Vec<[u32; 2]> = (0..model.len() as u32)
            .flat_map(|a| (a + 1..model.len() as u32).map(move |b| [a, b]))
            .filter(|p| p.iter().any(|i| live[*i as usize]))
            .collect();
        let found = search.contacts(&vec![still; model.len()], &poses, &pairs, &mut Memory::default());
        let contacts: Vec<Contact> = found.iter().map(|f| f.contact).collect();
        let of = live.iter().map(|l| u32::from(*l)).collect();
        let levels = Levels { of, supported: vec![true; model.len()], count: 2 };
        let order = level_order(&levels, &contacts);
        let (mut quick, mut slow) = (state.clone(), state.clone());
        let pushes = push_apart(&model, &mut quick, &contacts, (&levels, &order), &live, 8);
        let all = push_looking_at_all(&model, &mut slow, &contacts, (&levels, &order), &live, 8);
        assert_eq!(quick, slow);
        // Some contacts overlap, and some are open until a neighbour is pushed.
        assert!(pushes == all && pushes > 200 && quick != state, "{pushes} of {all}");
    }
}
