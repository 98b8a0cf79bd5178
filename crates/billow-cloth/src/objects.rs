//! Collision of nodes with thick smooth objects through their signed distance ([Bri03] 2.1).
//!
//! A node predicted to end inside is given the normal velocity that ends it exactly on the surface, and its tangential
//! velocity relative to the object is reduced by Coulomb friction, to exactly zero when it sticks. The objects are
//! sampled once and then taken as moving planes; impulses accumulate over the passes of one step.

use crate::Model;
use billow_contact::Pipeline;
use billow_geom::Aabb;
use billow_levelset::{Sample, Still};
use billow_num::{Vec3, par};

/// A node near an object, in units of velocity.
#[derive(Clone, Copy, Debug)]
struct ObjectContact {
    node: u32,
    normal: Vec3,
    /// Velocity of the object at the node [m/s].
    velocity: Vec3,
    /// Distance of the plane that the node keeps from the origin at the time of sampling [m].
    level: f64,
    friction: f64,
    /// Normal velocity given so far [m/s].
    pushed: f64,
    /// Tangential velocity given so far [m/s].
    held: Vec3,
    /// Whether it pushed at all.
    active: bool,
}

/// The nodes of a step that may touch objects.
#[derive(Clone, Debug, Default)]
pub(crate) struct ObjectContacts {
    /// In the order of nodes.
    contacts: Vec<ObjectContact>,
    /// Scratch: the same as they are found.
    parts: Vec<Vec<ObjectContact>>,
    /// First contact of each node.
    first: Vec<u32>,
    /// Time of sampling [s].
    time: f64,
    /// Part of its thickness that each node has between objects that pinch it; empty if there are no two objects.
    room: Vec<f64>,
    /// Whether each node has other layers above or below it.
    stacked: Vec<bool>,
}

const NONE: u32 = u32::MAX;

/// Layers of cloth that must fit between two objects.
const LAYERS: f64 = 32.0;

/// Cosine of the angle between normals beyond which objects face each other.
const OPPOSITE: f64 = -0.5;

/// Sine of the angle at which objects that face each other are parallel rather than a wedge.
const PARALLEL: f64 = 0.1;

/// How much faster than its objects the mouth of a wedge may be. Jaws that close throw nothing out.
const FASTEST: f64 = 1.5;

impl ObjectContacts {
    /// Finds how thin each node must be to fit between objects that face each other at time `t`, with many layers above and
    /// below it. Without that, layers would push each other into the objects that press them. The less room, the less
    /// friction: otherwise objects that close like a wedge would draw in cloth for which there is no place. Nor may stacks
    /// go any deeper into a wedge.
    pub(crate) fn make_room(&mut self, model: &Model, x: &[Vec3], t: f64) -> &[f64] {
        self.room.clear();
        if model.solids.len() > 1 {
            let solids = Solids::new(model, t, t);
            self.room.resize(x.len(), 1.0);
            par::fill(&mut self.room, |i| room_at(model, &solids, (i, x[i])));
        }
        &self.room
    }

    /// Marks the nodes that have other layers above or below them.
    pub(crate) fn mark_stacks(&mut self, pipeline: &Pipeline<'_>) {
        self.stacked.clear();
        if self.room.iter().any(|room| *room < 1.0) {
            self.stacked.resize(self.room.len(), false);
            pipeline.touching().flatten().for_each(|i| self.stacked[i as usize] = true);
        }
    }

    /// Samples the objects at nodes that could reach them when moving for `dt` from time `t` about as fast as `v`.
    pub(crate) fn find(&mut self, model: &Model, x: &[Vec3], (t, dt): (f64, f64), v: &[Vec3]) {
        let solids = Solids::new(model, t, t + dt);
        let nodes = if model.solids.is_empty() { 0 } else { x.len() };
        let Self { contacts, parts, room, stacked, .. } = self;
        parts.resize(nodes.div_ceil(par::CHUNK), Vec::new());
        par::chunks_mut(parts, 1, |part, out| {
            let (out, first) = (&mut out[0], part * par::CHUNK);
            out.clear();
            for i in (first..nodes.min(first + par::CHUNK)).filter(|&i| model.inverse_masses[i] > 0.0) {
                // Twice the way it is about to go, for what neighbours may add.
                let reach = 2.0 * (model.offsets[i] + v[i].length() * dt);
                for (k, solid) in model.solids.iter().enumerate() {
                    let Some(sample) = solids.sample(k, x[i], reach) else { continue };
                    if sample.phi < reach + sample.velocity.length() * dt {
                        let room = room.get(i).copied().unwrap_or(1.0);
                        out.push(ObjectContact {
                            node: i as u32,
                            normal: sample.normal,
                            velocity: sample.velocity,
                            level: sample.normal.dot(x[i]) - sample.phi + model.offsets[i] * room,
                            friction: (model.frictions[i] * solid.friction).sqrt() * room * room,
                            ..ObjectContact::IDLE
                        });
                    }
                }
                if room.get(i).is_some_and(|room| *room < 1.0) {
                    let layers = if stacked.get(i) == Some(&true) { LAYERS } else { 1.0 };
                    out.extend(mouth_at(model, &solids, (i, x[i], layers)));
                }
            }
        });
        par::concat(&parts.iter().map(|part| &part[..]).collect::<Vec<_>>(), ObjectContact::IDLE, contacts);
        self.time = t;
    }

    /// The contacts of a node, after [`ObjectContacts::index`].
    fn of(&self, node: usize) -> impl Iterator<Item = &ObjectContact> {
        let first = self.first.get(node).map_or(NONE, |first| *first) as usize;
        let contacts = self.contacts.get(first..).unwrap_or_default();
        contacts.iter().take_while(move |contact| contact.node as usize == node)
    }

    /// Prepares [`ObjectContacts::clamp`] and [`ObjectContacts::push_out_some`].
    pub(crate) fn index(&mut self, nodes: usize) {
        self.first.clear();
        self.first.resize(if self.contacts.is_empty() { 0 } else { nodes }, NONE);
        for position in (0..self.contacts.len()).rev() {
            self.first[self.contacts[position].node as usize] = position as u32;
        }
    }

    /// Adds the objects that push each node to `counts`.
    pub(crate) fn count(&self, counts: &mut [u32]) {
        for contact in &self.contacts {
            counts[contact.node as usize] += u32::from(contact.pushed > 0.0);
        }
    }

    /// Number of contacts that had to push.
    pub(crate) fn active(&self) -> u64 {
        self.contacts.iter().filter(|c| c.active).count() as u64
    }

    /// One pass over the velocities of a step of length `h` from positions `x` at time `t`: `φ_new ≥ 0` with friction
    /// within the cone of the push. Nodes that are inside already only get no deeper: [`ObjectContacts::push_out`] takes
    /// them out without giving them a velocity with which they would throw off what lies on them.
    pub(crate) fn respond(&mut self, x: &[Vec3], t: f64, h: f64, v: &mut [Vec3]) {
        let since = t - self.time;
        self.sweep(v, |contact, v| {
            (contact.pushed, contact.held) = (0.0, Vec3::ZERO);
            contact.push(contact.least(x[contact.node as usize], since, h).min(0.0), v);
        });
    }

    /// Another pass for the same step, after something else changed the velocities.
    pub(crate) fn respond_again(&mut self, x: &[Vec3], t: f64, h: f64, v: &mut [Vec3]) {
        let since = t - self.time;
        self.sweep(v, |contact, v| {
            contact.push(contact.least(x[contact.node as usize], since, h).min(0.0), v);
        });
    }

    /// Moves nodes that are inside at time `t` to the surface.
    pub(crate) fn push_out(&mut self, t: f64, x: &mut [Vec3]) {
        let since = t - self.time;
        self.sweep(x, |contact, x| {
            *x += contact.normal * contact.least(*x, since, 1.0).max(0.0);
        });
    }

    /// The same for some nodes, after [`ObjectContacts::index`].
    pub(crate) fn push_out_some(&self, nodes: &[u32], t: f64, x: &mut [Vec3]) {
        let since = t - self.time;
        let outside = |i: usize| {
            let push =
                |x: Vec3, contact: &ObjectContact| x + contact.normal * contact.least(x, since, 1.0).max(0.0);
            self.of(i).fold(x[i], push)
        };
        let moved = par::map(nodes.len(), |k| outside(nodes[k] as usize));
        nodes.iter().zip(moved).for_each(|(i, moved)| x[*i as usize] = moved);
    }

    /// One of several passes that share their impulses.
    pub(crate) fn accumulate(&mut self, x: &[Vec3], h: f64, v: &mut [Vec3]) {
        self.sweep(v, |contact, v| {
            contact.push(contact.least(x[contact.node as usize], 0.0, h), v);
        });
    }

    fn sweep(&mut self, values: &mut [Vec3], f: impl Fn(&mut ObjectContact, &mut Vec3) + Sync) {
        par::for_each_owned(&mut self.contacts, values, |contact| contact.node as usize, f);
    }

    /// Keeps a node at `x` from being inside an object after `h`, at time `end`; no friction.
    pub(crate) fn clamp(&self, node: usize, (x, h, end): (Vec3, f64, f64), v: &mut Vec3) {
        for contact in self.of(node) {
            let missing = contact.least(x + *v * h, end - self.time, h);
            if missing > 0.0 {
                *v += contact.normal * missing;
            }
        }
    }
}

/// The objects as they are at one time, for many nodes.
struct Solids<'a> {
    /// What each reaches until some later time.
    boxes: Vec<Aabb>,
    stills: Vec<Still<'a>>,
}

impl<'a> Solids<'a> {
    fn new(model: &'a Model, t: f64, later: f64) -> Self {
        let shapes = || model.solids.iter().map(|solid| &solid.shape);
        Self {
            boxes: shapes().map(|shape| shape.bounds(t).union(shape.bounds(later))).collect(),
            stills: shapes().map(|shape| shape.at_time(t)).collect(),
        }
    }

    /// What object `k` says of `x`, unless it is certainly farther than `reach` [m].
    fn sample(&self, k: usize, x: Vec3, reach: f64) -> Option<Sample> {
        self.boxes[k].inflated(reach).contains(x).then(|| (self.stills[k])(x))
    }
}

/// Two objects that face each other, as a node sees them.
struct Facing {
    first: Sample,
    second: Sample,
}

impl Facing {
    /// Distance between them [m].
    fn gap(&self) -> f64 {
        self.first.phi + self.second.phi
    }
}

/// All pairs of objects that face each other at `x`, both nearer than `most`.
fn facing<'a>(solids: &'a Solids<'a>, (x, most): (Vec3, f64)) -> impl Iterator<Item = Facing> + 'a {
    let near = move |k: usize| solids.sample(k, x, most).filter(|sample| sample.phi < most);
    let count = solids.boxes.len();
    (0..count).filter_map(move |one| Some((one, near(one)?))).flat_map(move |(one, first)| {
        let others = (one + 1..count).filter_map(near);
        let pairs = others.map(move |second| Facing { first, second });
        pairs.filter(|Facing { first, second }| first.normal.dot(second.normal) < OPPOSITE)
    })
}

fn room_at(model: &Model, solids: &Solids<'_>, (i, x): (usize, Vec3)) -> f64 {
    let most = LAYERS * 2.0 * model.offsets[i];
    let gaps = facing(solids, (x, most)).map(|pair| pair.gap());
    gaps.fold(1.0, |part: f64, gap| part.min(gap / most)).max(0.0)
}

/// The plane through the mouth of a wedge, where so many layers fit between two objects, that keeps a node from going deeper.
/// What is in there already may stay, if only it moves on with the mouth.
///
/// The planes of the two objects alone would do the same in the end. But they are nearly parallel: what is between
/// them is sent to and fro without getting on, while layers behind it come nearer.
fn mouth_at(model: &Model, solids: &Solids<'_>, (i, x, layers): (usize, Vec3, f64)) -> Option<ObjectContact> {
    let thickness = 2.0 * model.offsets[i];
    facing(solids, (x, LAYERS * thickness)).find_map(|pair| {
        let Facing { first, second } = &pair;
        let out = first.normal + second.normal;
        let slope = out.length();
        if slope < PARALLEL {
            return None;
        }
        let speed = (first.velocity.dot(first.normal) + second.velocity.dot(second.normal)) / slope;
        let fastest = FASTEST * first.velocity.length().max(second.velocity.length());
        let normal = out / slope;
        (speed <= fastest).then(|| ObjectContact {
            node: i as u32,
            normal,
            velocity: normal * speed,
            level: normal.dot(x) + ((layers * thickness - pair.gap()) / slope).min(0.0),
            ..ObjectContact::IDLE
        })
    })
}

impl ObjectContact {
    /// Has neither place nor friction, and pushed nothing yet.
    const IDLE: Self = Self {
        node: NONE,
        normal: Vec3::ZERO,
        velocity: Vec3::ZERO,
        level: 0.0,
        friction: 0.0,
        pushed: 0.0,
        held: Vec3::ZERO,
        active: false,
    };

    /// The least normal velocity relative to the object with which `x` is outside after `h` [m/s].
    fn least(&self, x: Vec3, since: f64, h: f64) -> f64 {
        (self.level + self.normal.dot(self.velocity) * since - self.normal.dot(x)) / h
    }

    fn push(&mut self, least: f64, v: &mut Vec3) {
        let relative = *v - self.velocity;
        let approach = relative.dot(self.normal);
        let pushed = (self.pushed + least - approach).max(0.0);
        // Many are near an object and few feel it.
        if pushed == 0.0 && self.pushed == 0.0 {
            return;
        }
        self.active |= pushed > 0.0;
        let tangential = relative - self.normal * approach;
        let wanted = self.held - tangential;
        let (size2, limit) = (wanted.length_squared(), self.friction * pushed);
        let held = if size2 > limit * limit { wanted * (limit / size2.sqrt()) } else { wanted };
        *v += self.normal * (pushed - self.pushed) + (held - self.held);
        (self.pushed, self.held) = (pushed, held);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_levelset::HalfSpace;
    use std::sync::Arc;

    fn wall(point: Vec3, normal: Vec3) -> crate::Solid {
        let shape = Arc::new(HalfSpace::new(point, normal).unwrap());
        crate::Solid { name: "wall".into(), shape, friction: 0.5 }
    }

    /// Cloth 1 mm thick.
    fn garment(mesh: billow_geom::TriMesh, start: Option<Vec<Vec3>>) -> crate::Garment {
        crate::Garment {
            name: "cloth".into(),
            start,
            velocity: Vec3::ZERO,
            material: crate::Material { thickness: 1e-3, ..Default::default() },
            curved: false,
            equal_masses: false,
            layout: crate::Layout::Edges,
            pins: Vec::new(),
            mesh,
        }
    }

    #[test]
    fn cloth_between_objects_that_face_each_other_is_as_thin_as_many_layers_must_be() {
        let solid = |z: f64, up: f64| wall(Vec3::Z * z, Vec3::Z * up);
        let garment = garment(billow_geom::shapes::cloth_grid(1.0, 1.0, 4, 4).unwrap(), None);
        for (room, part) in [(0.08, 1.0), (0.016, 0.5), (0.004, 0.125), (0.0, 0.0)] {
            let solids = vec![solid(-0.5 * room, 1.0), solid(0.5 * room, -1.0)];
            let setup = crate::Setup { garments: vec![garment.clone()], solids, ..Default::default() };
            let model = Model::new(setup).unwrap();
            let mut objects = ObjectContacts::default();
            let found = objects.make_room(&model, &model.rest, 0.0);
            assert!(found.len() == 16 && found.iter().all(|f| (f - part).abs() < 1e-12), "{room}: {found:?}");
            // The less room, the less friction: with Coulomb's law a wedge would draw cloth in.
            objects.find(&model, &model.rest, (0.0, 1e-3), &[Vec3::ZERO; 16]);
            let most = (model.frictions[0] * 0.5).sqrt();
            let near = objects.contacts.iter().all(|c| (c.friction - most * part * part).abs() < 1e-12);
            assert!(near && (room > 1e-3 || objects.contacts.len() == 32), "{room}");
        }
    }

    /// A wedge of 20° whose upper side moves into it.
    fn wedge() -> Model {
        let (sin, cos) = 20f64.to_radians().sin_cos();
        let upper = billow_levelset::Moving {
            body: HalfSpace::new(Vec3::ZERO, Vec3::new(sin, 0.0, -cos)).unwrap(),
            motion: billow_levelset::Steady {
                start: billow_num::Pose::IDENTITY,
                twist: billow_levelset::Twist { linear: Vec3::X, angular: Vec3::ZERO },
            },
        };
        let upper = crate::Solid { name: "upper".into(), shape: Arc::new(upper), friction: 0.5 };
        let mesh = billow_geom::shapes::cloth_grid(0.02, 0.02, 4, 4).unwrap();
        let start = mesh.positions.iter().map(|x| *x + Vec3::new(0.06, 0.0, 2e-3)).collect();
        let solids = vec![wall(Vec3::ZERO, Vec3::Z), upper];
        let setup = crate::Setup { garments: vec![garment(mesh, Some(start))], solids, ..Default::default() };
        Model::new(setup).unwrap()
    }

    #[test]
    fn stacks_are_pushed_along_by_the_mouth_of_a_wedge_and_single_layers_pass_it() {
        let model = wedge();
        let (x, h) = (model.initial_state().x, 0.01);
        let mut objects = ObjectContacts::default();
        assert!(objects.make_room(&model, &x, 0.0).iter().all(|room| *room < 1.0), "less than 32 mm");
        for stacked in [true, false] {
            let mut v = vec![Vec3::ZERO; x.len()];
            objects.stacked = vec![stacked; x.len()];
            objects.find(&model, &x, (0.0, h), &v);
            objects.respond(&x, 0.0, h, &mut v);
            for v in v {
                // The mouth moves as fast as the upper side, and is as steep as the mean of both.
                let along = v.dot(Vec3::new(10f64.to_radians().cos(), 0.0, 10f64.to_radians().sin()));
                let expected = if stacked { 10f64.to_radians().cos() } else { 0.0 };
                assert!((along - expected).abs() < 1e-9, "{stacked}: {v}");
            }
        }
    }

    #[test]
    fn nodes_in_a_corner_stay_out_of_both_objects() {
        let mesh = billow_geom::shapes::cloth_grid(0.1, 1.0, 4, 8).unwrap();
        let start = mesh.positions.iter().map(|x| Vec3::new(x.x + 0.0505, x.y, 5e-4)).collect();
        let garment = garment(mesh, Some(start));
        let solids = vec![wall(Vec3::ZERO, Vec3::X), wall(Vec3::ZERO, Vec3::Z)];
        let setup = crate::Setup { garments: vec![garment], solids, ..Default::default() };
        let model = Model::new(setup).unwrap();
        let (x, h) = (model.initial_state().x, 0.01);
        let down = Vec3::new(-2.0, 0.5, -3.0);
        let mut objects = ObjectContacts::default();
        objects.find(&model, &x, (0.0, h), &vec![down; x.len()]);
        objects.index(x.len());
        let mut in_the_corner = 0;
        for (i, x) in x.iter().enumerate() {
            let mut v = down;
            objects.clamp(i, (*x, h, h), &mut v);
            let end = *x + v * h;
            in_the_corner += u32::from(x.x < 0.02);
            assert!(end.x > 5e-4 - 1e-12 && end.z > 5e-4 - 1e-12, "node {i} ends at {end}");
        }
        assert_eq!(in_the_corner, 8);
    }
}
