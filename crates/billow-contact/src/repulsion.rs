//! Repulsion and friction between surfaces within their thickness ([Bri03] 2.6, 2.7; [BFA02] 7.2, 7.3).
//!
//! Each contact stops its approach (a perfectly inelastic impulse), then pushes the overlap apart with a spring that
//! is capped so that one step recovers at most a fraction of it, and resists sliding within the Coulomb cone of the
//! normal impulse. Normal and friction impulses are accumulated over the passes: the first pass is the document's
//! rule, later ones let layers that rest on each other agree.

use crate::near::Touch;
use crate::{Config, Step, Update};
use billow_num::{Vec3, par};

/// A contact prepared for the passes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Repulsion {
    touch: Touch,
    /// `W = Σ wᵢ²/mᵢ` [1/kg].
    compliance: f64,
    /// Velocity of separation to aim for [m/s].
    recover: f64,
    /// Cap of the spring's impulse [N·s].
    spring: f64,
    /// Normal impulse so far [N·s].
    normal: f64,
    /// Friction impulse so far [N·s].
    friction: Vec3,
}

impl Repulsion {
    fn new(touch: Touch, inverse_masses: &[f64], config: &Config, dt: f64) -> Self {
        Self {
            touch,
            compliance: touch.contact.compliance(inverse_masses),
            recover: config.recovery * touch.overlap / dt,
            spring: config.repulsion_stiffness * touch.overlap * dt,
            normal: 0.0,
            friction: Vec3::ZERO,
        }
    }

    /// The impulse this contact wants given the velocities, its accumulated one updated.
    fn respond(&mut self, v: &[Vec3], relaxation: f64) -> Vec3 {
        let contact = &self.touch.contact;
        let relative = contact.relative(v);
        let approach = relative.dot(contact.normal);
        // Inelastic part, then the capped spring.
        let stop = -approach / self.compliance;
        let aim = (self.recover - approach) / self.compliance;
        let push = aim.min(stop.max(-self.normal) + self.spring);
        let normal = (self.normal + relaxation * push).max(0.0);
        let change = normal - self.normal;
        self.normal = normal;
        // Sticking friction, pulled back into the cone.
        let tangential = relative - contact.normal * approach;
        let wanted = self.friction - tangential * (relaxation / self.compliance);
        let limit = self.touch.friction * self.normal;
        let size = wanted.length();
        let friction = if size > limit { wanted * (limit / size) } else { wanted };
        let impulse = contact.normal * change + (friction - self.friction);
        self.friction = friction;
        impulse
    }
}

/// Prepares the contacts of a step for its passes.
pub(crate) fn prepare(touches: &[Touch], inverse_masses: &[f64], step: &Step<'_>, list: &mut Vec<Repulsion>) {
    list.clear();
    let all = touches.iter().map(|t| Repulsion::new(*t, inverse_masses, step.config, step.dt));
    list.extend(all.filter(|r| r.compliance > 0.0));
}

/// One pass of repulsion and friction over the mid-step velocities; returns whether any changed.
pub(crate) fn repel(list: &mut [Repulsion], inverse_masses: &[f64], config: &Config, v: &mut [Vec3]) -> bool {
    match config.update {
        Update::Sequential => one_by_one(list, inverse_masses, v),
        Update::Parallel { relaxation } => all_at_once(list, inverse_masses, relaxation, v),
    }
}

fn one_by_one(list: &mut [Repulsion], inverse_masses: &[f64], v: &mut [Vec3]) -> bool {
    let mut changed = false;
    for repulsion in list {
        let impulse = repulsion.respond(v, 1.0);
        if impulse != Vec3::ZERO {
            repulsion.touch.contact.apply(impulse, inverse_masses, v);
            changed = true;
        }
    }
    changed
}

fn all_at_once(list: &mut [Repulsion], inverse_masses: &[f64], relaxation: f64, v: &mut [Vec3]) -> bool {
    let mut impulses = vec![Vec3::ZERO; list.len()];
    {
        let v = &*v;
        let parts = list.chunks_mut(par::CHUNK).zip(impulses.chunks_mut(par::CHUNK));
        let mut parts: Vec<_> = parts.collect();
        par::chunks_mut(&mut parts, 1, |_, part| {
            for (repulsions, impulses) in part {
                for (r, j) in repulsions.iter_mut().zip(impulses.iter_mut()) {
                    *j = r.respond(v, relaxation);
                }
            }
        });
    }
    let mut changed = false;
    for (repulsion, impulse) in list.iter().zip(impulses) {
        if impulse != Vec3::ZERO {
            repulsion.touch.contact.apply(impulse, inverse_masses, v);
            changed = true;
        }
    }
    changed
}
