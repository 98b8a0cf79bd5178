//! Sleep: groups of bodies that have stood still for a while are left where they are until something comes near.
//!
//! A group is what contacts join. It falls asleep when every member has been still for the time the settings ask for,
//! and wakes, before anything is solved, as soon as a contact with a body that is awake or driven is found. Its
//! remembered impulses are kept, so it wakes into the balance it fell asleep in.

use crate::config::Config;
use crate::contact::Motion;
use crate::detect::Found;
use crate::model::{Drive, Model};
use crate::state::State;

/// Speed that counts as still, as a part of what a fall by half a body's thickness gives: about a ten-thousandth of the
/// thickness in the time of that fall.
const STILL: f64 = 1e-4;

/// Which bodies a step moves: dynamic ones that are not asleep.
pub(crate) fn awake(model: &Model, state: &State, config: &Config) -> Vec<bool> {
    let mut awake: Vec<bool> = (0..model.len()).map(|i| model.is_dynamic(i)).collect();
    if config.sleep > 0.0 {
        let mut groups = groups(model, state);
        let tired: Vec<bool> = state.bodies.iter().map(|b| b.still >= config.sleep).collect();
        let mut restless = vec![false; model.len()];
        for i in (0..model.len()).filter(|i| awake[*i] && !tired[*i]) {
            restless[root(&mut groups, i)] = true;
        }
        for (i, awake) in awake.iter_mut().enumerate() {
            *awake &= restless[root(&mut groups, i)];
        }
    }
    awake
}

/// Wakes the groups that something awake or driven touches; says whether there were any.
pub(crate) fn wake(
    model: &Model,
    state: &State,
    found: &[Found],
    motions: &[Motion],
    live: &mut [bool],
) -> bool {
    let mut groups = None;
    for contact in found.iter().map(|f| &f.contact) {
        let pair = [contact.a as usize, contact.b as usize];
        for (i, other) in [(pair[0], pair[1]), (pair[1], pair[0])] {
            let driven = matches!(model.bodies[other].drive, Drive::Scripted(_)) && moves(&motions[other]);
            if model.is_dynamic(i) && !live[i] && (live[other] || driven) {
                let groups = groups.get_or_insert_with(|| self::groups(model, state));
                let of = root(groups, i);
                for k in (0..model.len()).filter(|k| model.is_dynamic(*k)) {
                    live[k] |= root(groups, k) == of;
                }
            }
        }
    }
    groups.is_some()
}

/// Books for how long bodies have been still.
pub(crate) fn watch(model: &Model, state: &mut State, live: &[bool], dt: f64) {
    let g = model.gravity.length();
    for i in (0..model.len()).filter(|i| live[*i]) {
        let shape = model.geometry(i);
        let b = &state.bodies[i];
        let speed = b.velocity.length() + model.spin(state, i).length() * shape.radius;
        let still = speed <= STILL * (g * shape.depth).sqrt();
        state.bodies[i].still = if still { state.bodies[i].still + dt } else { 0.0 };
    }
}

/// Whether a driven body is on its way.
pub(crate) fn moves(motion: &Motion) -> bool {
    motion.v != billow_num::Vec3::ZERO || motion.w != billow_num::Vec3::ZERO
}

/// Bodies joined by remembered impulses, as a forest.
fn groups(model: &Model, state: &State) -> Vec<u32> {
    let mut parent: Vec<u32> = (0..model.len() as u32).collect();
    for c in &state.carried {
        let [a, b] = [c.a as usize, c.b as usize];
        if model.is_dynamic(a) && model.is_dynamic(b) {
            let [a, b] = [root(&mut parent, a), root(&mut parent, b)];
            parent[a.max(b)] = a.min(b) as u32;
        }
    }
    parent
}

fn root(parent: &mut [u32], mut i: usize) -> usize {
    while parent[i] as usize != i {
        parent[i] = parent[parent[i] as usize];
        i = parent[i] as usize;
    }
    i
}
