//! Collision of nodes with thick smooth objects through their signed distance ([Bri03] 2.1).
//!
//! A node predicted to end inside is given the normal velocity that ends it exactly on the surface, and its tangential
//! velocity relative to the object is reduced by Coulomb friction, to exactly zero when it sticks. The objects are
//! sampled once per step; impulses accumulate over the passes that share the step with strain limits and contacts.

use crate::Model;
use billow_geom::Aabb;
use billow_num::{Vec3, par};

/// A node near an object, in units of velocity.
#[derive(Clone, Copy, Debug)]
struct ObjectContact {
    node: u32,
    normal: Vec3,
    /// Velocity of the object at the node [m/s].
    velocity: Vec3,
    /// Normal velocity relative to the object that just ends the node on its surface [m/s].
    least: f64,
    friction: f64,
    /// Normal velocity given so far [m/s].
    pushed: f64,
    /// Tangential velocity given so far [m/s].
    held: Vec3,
}

/// The nodes of a step that may touch objects.
#[derive(Clone, Debug)]
pub(crate) struct ObjectContacts {
    contacts: Vec<ObjectContact>,
    /// First contact of each node; contacts of a node follow one another.
    first: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl ObjectContacts {
    /// Samples the objects at nodes that could reach them when moving for `dt` from time `t` about as fast as `v`.
    pub(crate) fn find(model: &Model, x: &[Vec3], (t, dt): (f64, f64), v: &[Vec3]) -> Self {
        let boxes: Vec<Aabb> =
            model.solids.iter().map(|s| s.shape.bounds(t).union(s.shape.bounds(t + dt))).collect();
        let contacts = par::gather(if boxes.is_empty() { 0 } else { x.len() }, par::CHUNK, |range, out| {
            for i in range.filter(|&i| model.inverse_masses[i] > 0.0) {
                // Twice the way it is about to go, for what neighbours may add.
                let reach = 2.0 * (model.offsets[i] + v[i].length() * dt);
                for (solid, bounds) in model.solids.iter().zip(&boxes) {
                    if bounds.inflated(reach).contains(x[i]) {
                        let sample = solid.shape.sample(x[i], t);
                        if sample.phi < reach + sample.velocity.length() * dt {
                            out.push(ObjectContact {
                                node: i as u32,
                                normal: sample.normal,
                                velocity: sample.velocity,
                                least: (model.offsets[i] - sample.phi) / dt,
                                friction: (model.frictions[i] * solid.friction).sqrt(),
                                pushed: 0.0,
                                held: Vec3::ZERO,
                            });
                        }
                    }
                }
            }
        });
        let mut first = vec![NONE; if contacts.is_empty() { 0 } else { x.len() }];
        for (k, contact) in contacts.iter().enumerate().rev() {
            first[contact.node as usize] = k as u32;
        }
        Self { contacts, first }
    }

    /// Number of contacts that had to push.
    pub(crate) fn active(&self) -> u64 {
        self.contacts.iter().filter(|c| c.pushed > 0.0).count() as u64
    }

    /// One pass: `φ_new = φ + Δt (v_p − v)·N ≥ 0` with friction within the cone of the accumulated push. Returns
    /// whether any velocity changed.
    pub(crate) fn respond(&mut self, v: &mut [Vec3]) -> bool {
        let mut changed = false;
        for contact in &mut self.contacts {
            let v = &mut v[contact.node as usize];
            let relative = *v - contact.velocity;
            let approach = relative.dot(contact.normal);
            let pushed = (contact.pushed + contact.least - approach).max(0.0);
            let tangential = relative - contact.normal * approach;
            let wanted = contact.held - tangential;
            let (size, limit) = (wanted.length(), contact.friction * pushed);
            let held = if size > limit { wanted * (limit / size) } else { wanted };
            let change = contact.normal * (pushed - contact.pushed) + (held - contact.held);
            (contact.pushed, contact.held) = (pushed, held);
            if change != Vec3::ZERO {
                *v += change;
                changed = true;
            }
        }
        changed
    }

    /// Keeps a node's velocity from leading into an object; no friction.
    pub(crate) fn clamp(&self, node: usize, v: &mut Vec3) {
        let Some(&first) = self.first.get(node) else { return };
        let mine = self.contacts.get(first as usize..).unwrap_or_default();
        for contact in mine.iter().take_while(|c| c.node as usize == node) {
            let missing = contact.least - (*v - contact.velocity).dot(contact.normal);
            if missing > 0.0 {
                *v += contact.normal * missing;
            }
        }
    }
}
