//! Repulsion and friction between surfaces within their thickness ([Bri03] 2.6, 2.7; [BFA02] 7.2, 7.3).
//!
//! Each contact stops its approach (a perfectly inelastic impulse), then pushes the overlap apart with a spring that
//! is capped so that one step recovers at most a fraction of it, and resists sliding within the Coulomb cone of the
//! normal impulse. Surfaces still apart may come as near as the thickness and no nearer. Normal and friction impulses
//! are accumulated over the sweeps of a sub-step: the first sweep is the document's rule, later ones let layers that
//! rest on each other agree.

use crate::push::{Push, Pushes};
use crate::touch::Touch;
use crate::{Config, Contact, Update};
use billow_num::par::Tiles;
use billow_num::{Vec3, par};

/// Contacts that follow one another in a sweep and share a thread.
const TILE: usize = 128;

/// A contact prepared for the sweeps.
#[derive(Clone, Copy, Debug)]
struct Repulsion {
    weights: [f64; 4],
    /// Weights times the inverse masses of the nodes: what an impulse adds to their velocities [1/kg].
    shares: [f64; 4],
    unit: Vec3,
    /// Distance to keep [m].
    gap: f64,
    /// How much nearer than that the contact is at the start of the sub-step [m].
    overlap: f64,
    /// `1/W` with `W = Σ wᵢ²/mᵢ` [kg].
    mass: f64,
    /// Coulomb coefficient [-].
    friction: f64,
    /// Normal impulse of the sub-step so far [N·s].
    normal: f64,
    /// Friction impulse of the sub-step so far [N·s].
    held: Vec3,
}

/// The rule that the contacts of one sub-step follow.
#[derive(Clone, Copy, Debug)]
struct Rule {
    /// Inverse of the length of the sub-step [1/s].
    rate: f64,
    /// How overlaps are pushed apart; without, they only get no deeper.
    spring: Option<Spring>,
    /// Factor on every impulse [-].
    relaxation: f64,
}

/// The capped repulsion spring.
#[derive(Clone, Copy, Debug)]
struct Spring {
    /// Speed of separation per overlap [1/s].
    recovery: f64,
    /// Largest speed of separation [m/s].
    fastest: f64,
    /// Largest impulse per overlap [N·s/m].
    stiffness: f64,
}

impl Repulsion {
    /// Stands where a contact may be put.
    const NONE: Self = Self {
        weights: [0.0; 4],
        shares: [0.0; 4],
        unit: Vec3::ZERO,
        gap: 0.0,
        overlap: 0.0,
        mass: 0.0,
        friction: 0.0,
        normal: 0.0,
        held: Vec3::ZERO,
    };

    fn new(touch: &Touch, inverse_masses: &[f64]) -> Self {
        let Contact { nodes, weights, .. } = touch.contact;
        Self {
            weights,
            shares: std::array::from_fn(|k| weights[k] * inverse_masses[nodes[k] as usize]),
            unit: touch.contact.normal,
            gap: touch.gap,
            overlap: 0.0,
            mass: 1.0 / touch.contact.compliance(inverse_masses),
            friction: touch.friction,
            normal: 0.0,
            held: Vec3::ZERO,
        }
    }

    #[inline(always)]
    fn relative(&self, [a, b, c, d]: [Vec3; 4]) -> Vec3 {
        let w = &self.weights;
        a * w[0] + b * w[1] + c * w[2] + d * w[3]
    }

    /// Adds an impulse to the velocities of its nodes, or to positions what it would move them by.
    #[inline(always)]
    fn give(&self, impulse: Vec3, values: [&mut Vec3; 4]) {
        values.into_iter().zip(self.shares).for_each(|(value, share)| *value += impulse * share);
    }

    /// Notes the overlap of the contact when its nodes are at `x`.
    #[inline(always)]
    fn place(&mut self, x: [Vec3; 4]) {
        self.overlap = self.gap - self.relative(x).dot(self.unit);
    }

    /// The impulse this contact wants given velocities of its nodes, its accumulated one updated.
    #[inline(always)]
    fn respond(&mut self, v: [Vec3; 4], rule: &Rule) -> Vec3 {
        let overlap = self.overlap;
        let relative = self.relative(v);
        let approach = relative.dot(self.unit);
        // What is still apart arrives at the thickness, no farther; what overlaps stops.
        let stop = (overlap.min(0.0) * rule.rate - approach) * self.mass;
        let push = match &rule.spring {
            Some(spring) if overlap >= 0.0 => {
                let aim = (spring.recovery * overlap).min(spring.fastest);
                ((aim - approach) * self.mass).min(stop.max(-self.normal) + spring.stiffness * overlap)
            }
            _ => stop,
        };
        let normal = (self.normal + rule.relaxation * push).max(0.0);
        if normal == 0.0 && self.normal == 0.0 {
            return Vec3::ZERO;
        }
        let change = normal - self.normal;
        self.normal = normal;
        // Sticking friction, pulled back into the cone.
        let tangential = relative - self.unit * approach;
        let wanted = self.held - tangential * (rule.relaxation * self.mass);
        let (limit, size2) = (self.friction * normal, wanted.length_squared());
        let held = if size2 > limit * limit { wanted * (limit / size2.sqrt()) } else { wanted };
        let impulse = self.unit * change + (held - self.held);
        self.held = held;
        impulse
    }
}

/// The contacts of a step in the order in which they are swept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repulsions {
    tiles: Tiles<4>,
    list: Vec<Repulsion>,
    /// Scratch of updates from the same velocities.
    impulses: Vec<Vec3>,
    /// Scratch of [`Repulsions::recall`].
    pushes: Pushes,
}

impl Repulsions {
    /// Prepares the contacts of a step, given in parts; those between scripted nodes alone are left out.
    pub(crate) fn prepare(&mut self, touches: &[Vec<Touch>], inverse_masses: &[f64]) {
        let Self { tiles, list, .. } = self;
        // Part and place of each contact that can be moved.
        let movable = par::gather(touches.len(), 1, |parts, places| {
            for part in parts {
                let moves = |touch: &Touch| touch.contact.compliance(inverse_masses) > 0.0;
                let places_in = touches[part].iter().enumerate().filter(|(_, touch)| moves(touch));
                places.extend(places_in.map(|(k, _)| [part as u32, k as u32]));
            }
        });
        let touch = |[part, k]: [u32; 2]| &touches[part as usize][k as usize];
        let nodes = par::map(movable.len(), |k| touch(movable[k]).contact.nodes);
        let known = tiles.rebuild(inverse_masses.len(), &nodes, TILE);
        debug_assert!(known.is_ok(), "contacts name four different nodes of the surface");
        // No more room than needed: these lists are long.
        drop(nodes);
        list.reserve_exact(movable.len().saturating_sub(list.len()));
        list.resize(movable.len(), Repulsion::NONE);
        par::fill(list, |position| {
            Repulsion::new(touch(movable[tiles.order()[position] as usize]), inverse_masses)
        });
    }

    /// Forgets the impulses of the last sub-step.
    pub(crate) fn begin(&mut self) {
        par::for_each_mut(&mut self.list, |_, r| (r.normal, r.held) = (0.0, Vec3::ZERO));
    }

    /// Gives contacts that lasted the impulses that `pushes` make of a sub-step of length `h`.
    pub(crate) fn recall(&mut self, pushes: &[Push], h: f64, nodes: usize) {
        let Self { tiles, list, pushes: index, .. } = self;
        index.index(nodes, pushes);
        par::for_each_mut(list, |k, contact| {
            let Some(push) = index.of(pushes, &tiles.nodes(k)) else { return };
            contact.normal = push.normal * h;
            let across = (push.friction - contact.unit * push.friction.dot(contact.unit)) * h;
            contact.held = across.clamp_length_max(contact.friction * contact.normal);
        });
    }

    /// Writes down what the contacts push with, given the length `h` of the sub-step.
    pub(crate) fn remember(&self, h: f64, pushes: &mut Vec<Push>) {
        *pushes = par::gather(self.list.len(), par::CHUNK, |range, pushes| {
            for (k, contact) in range.map(|k| (k, &self.list[k])).filter(|(_, contact)| contact.normal > 0.0)
            {
                let nodes = self.tiles.nodes(k);
                pushes.push(Push { nodes, normal: contact.normal / h, friction: contact.held / h });
            }
        });
    }

    /// Adds the contacts of each node that pushed in the last sub-step to `counts`.
    pub(crate) fn count(&self, counts: &mut [u32]) {
        for (k, contact) in self.list.iter().enumerate() {
            if contact.normal > 0.0 {
                self.tiles.nodes(k).iter().for_each(|i| counts[*i as usize] += 1);
            }
        }
    }

    /// Begins a sub-step from `x` with the impulses of the last one.
    pub(crate) fn warm(&mut self, x: &[Vec3], v: &mut [Vec3]) {
        self.tiles.sweep(&mut self.list, v, |contact, nodes, v| {
            contact.place(nodes.map(|i| x[i as usize]));
            if contact.normal > 0.0 {
                contact.give(contact.unit * contact.normal + contact.held, v);
            }
        });
    }

    /// Takes a part of every overlap out of the positions `x`, at most `most` [m].
    pub(crate) fn push_out(&mut self, (part, most): (f64, f64), x: &mut [Vec3]) {
        self.tiles.sweep(&mut self.list, x, |contact, _, x| {
            let overlap = contact.gap - contact.relative([*x[0], *x[1], *x[2], *x[3]]).dot(contact.unit);
            if overlap > 0.0 {
                contact.give(contact.unit * ((part * overlap).min(most) * contact.mass), x);
            }
        });
    }

    /// Takes every overlap out of the positions `x`, one after the other, and tells the nodes that move.
    pub(crate) fn separate(&self, x: &mut [Vec3], mut moved: impl FnMut(u32)) {
        for (k, contact) in self.list.iter().enumerate() {
            let nodes = self.tiles.nodes(k);
            let overlap = contact.gap - contact.relative(nodes.map(|i| x[i as usize])).dot(contact.unit);
            if overlap > 0.0 {
                let push = contact.unit * (overlap * contact.mass);
                for (share, i) in contact.shares.into_iter().zip(nodes) {
                    x[i as usize] += push * share;
                    moved(i);
                }
            }
        }
    }

    /// One sweep of repulsion and friction over the velocities of a sub-step of length `h` that starts from `x`.
    pub(crate) fn repel(&mut self, (x, h): (&[Vec3], f64), config: &Config, v: &mut [Vec3]) {
        let spring = Spring {
            recovery: config.recovery / h,
            fastest: config.recovery_speed,
            stiffness: config.repulsion_stiffness * h,
        };
        let tiles = &self.tiles;
        par::for_each_mut(&mut self.list, |k, contact| contact.place(tiles.nodes(k).map(|i| x[i as usize])));
        self.sweep(Rule { rate: h.recip(), spring: Some(spring), relaxation: 1.0 }, config, v);
    }

    /// The same for a sub-step begun with [`Repulsions::warm`], without pushing apart what overlaps.
    pub(crate) fn hold(&mut self, h: f64, config: &Config, v: &mut [Vec3]) {
        self.sweep(Rule { rate: h.recip(), spring: None, relaxation: 1.0 }, config, v);
    }

    fn sweep(&mut self, rule: Rule, config: &Config, v: &mut [Vec3]) {
        match config.update {
            Update::Sequential => self.one_by_one(&rule, v),
            Update::Parallel { relaxation } => self.all_at_once(&Rule { relaxation, ..rule }, v),
        }
    }

    fn one_by_one(&mut self, rule: &Rule, v: &mut [Vec3]) {
        self.tiles.sweep(&mut self.list, v, |contact, _, v| {
            let impulse = contact.respond([*v[0], *v[1], *v[2], *v[3]], rule);
            if impulse != Vec3::ZERO {
                contact.give(impulse, v);
            }
        });
    }

    fn all_at_once(&mut self, rule: &Rule, v: &mut [Vec3]) {
        let Self { tiles, list, impulses, .. } = self;
        impulses.resize(list.len(), Vec3::ZERO);
        {
            let v = &*v;
            par::zip_mut(list, impulses, |k, contact, impulse| {
                *impulse = contact.respond(tiles.nodes(k).map(|i| v[i as usize]), rule);
            });
        }
        for (k, (contact, impulse)) in list.iter().zip(impulses).enumerate() {
            for (share, i) in contact.shares.into_iter().zip(tiles.nodes(k)) {
                v[i as usize] += *impulse * share;
            }
        }
    }
}
