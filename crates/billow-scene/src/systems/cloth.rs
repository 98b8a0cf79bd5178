//! Cloth: all garments of the scene in one model, with bodies as scripted meshes and thick solids.

use super::System;
use crate::cloth::{ClothPlan, Placed};
use crate::driver::{StepError, StepErrorKind, StepReport};
use crate::resolve::Resolved;
use crate::scene::Timing;
use billow_cloth::{Model, Solid, State, Workspace, step};
use billow_geom::audit::{Auditor, Contact};
use billow_io::{Attribute, Domain, Frame, Object, Shape, Values};
use billow_num::par;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Version of the saved state.
const STATE_FORMAT: u32 = 2;

/// What a checkpoint holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Saved {
    cloth: State,
    tally: Tally,
}

/// What the collision steps of the present frame have done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Tally {
    /// The frame they lead to.
    frame: u32,
    contacts: u64,
    object_contacts: u64,
    collisions: u64,
    zones: u64,
    largest_zone: u64,
    iterations: u64,
}

/// The statistics of cloth as a whole.
pub(super) const STATISTICS: [&str; 7] = [
    "elastic-energy",
    "contacts",
    "object-contacts",
    "collisions",
    "zones",
    "largest-zone",
    "solver-iterations",
];

/// The statistics of each piece, without its name.
pub(super) const PIECE_STATISTICS: [&str; 7] =
    ["height", "lowest", "highest", "speed", "kinetic-energy", "strain", "compression"];

/// The cloth of the scene.
pub(super) struct ClothSystem {
    plan: Arc<ClothPlan>,
    timing: Timing,
    model: Model,
    /// The number of pins let go that `model` was made for.
    epoch: usize,
    state: Saved,
    marked: Saved,
    work: Workspace,
    auditor: Option<Auditor>,
    /// Whether cloth that began crossed may still be.
    tangled: bool,
    /// Pairs of triangles that cross at the start of the present step, with leave.
    crossed: Vec<[u32; 2]>,
    /// Triangles of each piece.
    triangles: Vec<Arc<Vec<[u32; 3]>>>,
}

impl ClothSystem {
    /// The cloth at the start, if the scene has any. The plan has been tried before: a model can be made of it.
    pub(super) fn new(scene: &Resolved) -> Option<Self> {
        let plan = Arc::clone(scene.cloth.as_ref()?);
        let model = plan.model(0.0, scene.timing.gravity).ok()?;
        let state = Saved { cloth: model.initial_state(), tally: Tally::default() };
        let triangles = plan.garments.iter().map(|g| Arc::new(g.mesh.triangles.clone())).collect();
        Some(Self {
            epoch: plan.epoch(0.0),
            timing: scene.timing.clone(),
            marked: state.clone(),
            state,
            model,
            tangled: plan.allow_crossings,
            crossed: Vec::new(),
            plan,
            work: Workspace::default(),
            auditor: None,
            triangles,
        })
    }

    /// Makes the model that holds from time `t` to `t + dt`: pins, gravity, wind, thick bodies.
    fn prepare(&mut self, t: f64, dt: f64) -> Result<(), StepError> {
        let epoch = self.plan.epoch(t);
        let gravity = self.timing.gravity_at((t + 0.5 * dt).max(0.0));
        if epoch != self.epoch {
            self.model = self.plan.model(t, gravity).map_err(|e| {
                StepError::new(StepErrorKind::Hopeless, "pins", format!("the model cannot be made: {e}"))
            })?;
            self.work = Workspace::default();
            self.epoch = epoch;
            self.tangled = self.plan.allow_crossings;
        }
        if self.tangled {
            self.crossed = self.model.exempt_crossings(&self.state.cloth.x);
            self.tangled = !self.crossed.is_empty();
        }
        self.model.gravity = gravity;
        self.model.air.wind = self.plan.wind((t + 0.5 * dt).max(0.0));
        if !(gravity.is_finite() && self.model.air.wind.is_finite()) {
            let reason = format!("gravity {gravity} m/s² or wind {} m/s is not finite", self.model.air.wind);
            return Err(StepError::new(StepErrorKind::Hopeless, "forces", reason));
        }
        let placed = self.plan.solids.iter().map(|s| Solid {
            name: s.name.clone(),
            shape: Arc::new(Placed::new(s, t, dt)),
            friction: s.friction,
        });
        self.model.set_solids(placed.collect());
        self.model.set_step(dt);
        Ok(())
    }

    /// Puts what cannot be resolved into the words of the scene.
    fn translated(&self, error: billow_cloth::StepError, dt: f64) -> StepError {
        let parts = self.model.parts();
        match error {
            billow_cloth::StepError::Unresolved(u) => {
                let [a, b] = u.bodies.map(|k| parts.get(k as usize).map_or("", |p| p.name.as_str()));
                let owner = parts.iter().find(|p| p.nodes.contains(&(u.nodes[0] as usize)));
                let first = owner.map_or(0, |p| p.nodes.start);
                let reason = if a == b {
                    format!("nodes of `{a}` are driven through it")
                } else {
                    format!("`{a}` and `{b}` are driven through each other")
                };
                let reason = format!(
                    "{reason} {:.2e} s into the step: nothing that may move can avoid it",
                    u.toi * dt
                );
                StepError::new(StepErrorKind::Unresolved, "collisions", reason)
                    .body(owner.map_or("", |p| &p.name))
                    .element((u.nodes[0] as usize - first) as u64, u.place)
            }
            billow_cloth::StepError::NotFinite { stage, part, node } => {
                let reason = format!("node {node} is not finite");
                StepError::new(StepErrorKind::NonFinite, stage, reason).body(part)
            }
        }
    }

    /// Tests exactly that nothing crosses.
    fn audit(&mut self) -> Result<(), StepError> {
        let (x, triangles) = (&self.state.cloth.x, self.model.triangles());
        let auditor = self.auditor.get_or_insert_with(|| Auditor::new(x, triangles));
        let audit = auditor.run(x, triangles);
        let garments = self.model.parts()[..self.model.garment_count()].last().map_or(0, |p| p.triangles.end);
        // Bodies may cross each other.
        let crossing = |f: &&billow_geom::audit::Finding| {
            let known = self.crossed.contains(&f.triangles);
            f.contact != Contact::Touching && (f.triangles[0] as usize) < garments && !known
        };
        let Some(found) = audit.findings.iter().find(crossing) else { return Ok(()) };
        let [a, b] =
            found.triangles.map(|t| self.model.parts().iter().find(|p| p.triangles.contains(&(t as usize))));
        let name = |p: Option<&billow_cloth::Part>| p.map_or(String::new(), |p| p.name.clone());
        let corner = triangles[found.triangles[0] as usize][0] as usize;
        let reason = format!("a triangle of `{}` crosses one of `{}`", name(a), name(b));
        let element = found.triangles[0] as usize - a.map_or(0, |p| p.triangles.start);
        Err(StepError::new(StepErrorKind::Unresolved, "step audit", reason)
            .body(name(a))
            .element(element as u64, x[corner]))
    }

    fn tally(&mut self, t: f64, report: &billow_cloth::StepReport) {
        // The frame that the step leads to; half a step of slack for rounding is harmless.
        let frame = (t * self.timing.fps + 1e-6).floor().max(-1.0) as i64 + 1;
        let tally = &mut self.state.tally;
        if tally.frame != frame as u32 {
            *tally = Tally { frame: frame as u32, ..Tally::default() };
        }
        tally.contacts = report.contact.contacts;
        tally.object_contacts = report.object_contacts;
        tally.collisions += report.contact.collisions;
        tally.zones += report.contact.zones.len() as u64;
        let largest = report.contact.zones.iter().copied().max().unwrap_or(0);
        tally.largest_zone = tally.largest_zone.max(largest as u64);
        tally.iterations += report.iterations;
    }

    /// Strain of every spring.
    fn strains(&self) -> Vec<f64> {
        let (springs, x) = (self.model.springs(), &self.state.cloth.x);
        par::map(springs.len(), |e| {
            let [a, b] = springs.ends()[e].map(|i| x[i as usize]);
            a.distance(b) / springs.rest_lengths()[e] - 1.0
        })
    }

    /// The piece as an object with its data per vertex.
    fn object(&self, piece: usize, strain: &[f32], contacts: &[i32]) -> Object {
        let nodes = self.model.parts()[piece].nodes.clone();
        let State { x, v, .. } = &self.state.cloth;
        let shape = Shape::Triangles {
            positions: Arc::new(x[nodes.clone()].to_vec()),
            triangles: Arc::clone(&self.triangles[piece]),
        };
        let mut object = Object::new(self.plan.pieces[piece].name.clone(), shape);
        let colour = self.plan.pieces[piece].colour.to_array().map(|c| c as f32);
        let velocity = v[nodes.clone()].iter().map(|v| v.to_array().map(|c| c as f32)).collect();
        object.attributes = vec![
            Attribute {
                name: "colour".into(),
                domain: Domain::Object,
                values: Values::Vector(Arc::new(vec![colour])),
            },
            Attribute {
                name: "velocity".into(),
                domain: Domain::Vertex,
                values: Values::Vector(Arc::new(velocity)),
            },
            Attribute {
                name: "strain".into(),
                domain: Domain::Vertex,
                values: Values::Scalar(Arc::new(strain[nodes.clone()].to_vec())),
            },
            Attribute {
                name: "contacts".into(),
                domain: Domain::Vertex,
                values: Values::Integer(Arc::new(contacts[nodes].to_vec())),
            },
        ];
        object
    }

    /// Adds the statistics of a piece; returns its kinetic and potential energy [J].
    fn note_piece(&self, piece: usize, strains: &[f64], frame: &mut Frame) -> f64 {
        let part = &self.model.parts()[piece];
        let State { x, v, .. } = &self.state.cloth;
        let (up, gravity) = (self.timing.up_vector(), self.timing.gravity_at(frame.time));
        let (mut mass, mut height, mut kinetic, mut potential) = (0.0, 0.0, 0.0, 0.0);
        let (mut lowest, mut highest, mut speed) = (f64::INFINITY, f64::NEG_INFINITY, 0.0f64);
        for i in part.nodes.clone() {
            let (m, h) = (self.model.masses()[i], x[i].dot(up));
            mass += m;
            height += m * h;
            kinetic += 0.5 * m * v[i].length_squared();
            potential -= m * gravity.dot(x[i]);
            (lowest, highest) = (lowest.min(h), highest.max(h));
            speed = speed.max(v[i].length());
        }
        let mine = self.model.springs().ends().iter().zip(strains);
        let mine = mine.filter(|(ends, _)| part.nodes.contains(&(ends[0] as usize)));
        let (long, short) =
            mine.fold((0.0f64, 0.0f64), |(long, short), (_, s)| (long.max(*s), short.max(-s)));
        let values = [height / mass, lowest, highest, speed, kinetic, long, short];
        for (what, value) in PIECE_STATISTICS.iter().zip(values) {
            frame.stats.insert(format!("{}.{what}", part.name), value);
        }
        kinetic + potential
    }
}

impl System for ClothSystem {
    fn name(&self) -> &'static str {
        "cloth"
    }

    fn step(&mut self, t: f64, dt: f64) -> Result<StepReport, StepError> {
        self.prepare(t, dt)?;
        let mut config = self.plan.config;
        if t < 0.0 {
            config.drag += self.plan.preroll_drag;
        }
        self.state.cloth.time = t;
        let report = step(&self.model, &mut self.state.cloth, &mut self.work, &config, dt)
            .map_err(|e| self.translated(e, dt))?;
        self.tally(t, &report);
        let mut stages = report.stages;
        if self.plan.audit {
            stages.time("step audit", || self.audit())?;
        }
        Ok(StepReport { stages })
    }

    fn mark(&mut self) {
        self.marked.clone_from(&self.state);
    }

    fn rollback(&mut self) {
        self.state.clone_from(&self.marked);
        self.tangled = self.plan.allow_crossings;
    }

    fn snapshot(&self, frame: &mut Frame) {
        let strains = self.strains();
        let strain = largest_per_node(&self.model, &strains);
        let contacts = self.work.contacts_per_node(self.model.node_count());
        let contacts: Vec<i32> = contacts.into_iter().map(|count| count as i32).collect();
        let mut energy = 0.0;
        for piece in 0..self.plan.pieces.len() {
            frame.objects.push(self.object(piece, &strain, &contacts));
            energy += self.note_piece(piece, &strains, frame);
        }
        let x = &self.state.cloth.x;
        let elastic = self.model.springs().energy(x) + self.model.bending().energy(x);
        let Tally { contacts, object_contacts, collisions, zones, largest_zone, iterations, .. } =
            self.state.tally;
        let counts = [contacts, object_contacts, collisions, zones, largest_zone, iterations];
        let values = std::iter::once(elastic).chain(counts.map(|c| c as f64));
        for (what, value) in STATISTICS.iter().zip(values) {
            frame.stats.insert((*what).to_owned(), value);
        }
        *frame.stats.entry("energy".into()).or_default() += energy + elastic;
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_stdvec(&self.state).expect("plain data always serialises to memory")
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), String> {
        let state: Saved = postcard::from_bytes(bytes).map_err(|e| e.to_string())?;
        let (found, expected) = ([state.cloth.x.len(), state.cloth.v.len()], self.model.node_count());
        if found != [expected; 2] {
            return Err(format!("it has {} nodes, the scene {expected}", found[0]));
        }
        let springs = self.model.springs().len();
        if !state.cloth.lasting.tension.is_empty() && state.cloth.lasting.tension.len() != springs {
            return Err(format!("it has {} springs, the scene {springs}", state.cloth.lasting.tension.len()));
        }
        self.state = state;
        self.tangled = self.plan.allow_crossings;
        Ok(())
    }

    fn preroll(&self) -> f64 {
        self.plan.preroll
    }

    fn state_format(&self) -> u32 {
        STATE_FORMAT
    }
}

/// The strain of largest size among the springs at each node.
fn largest_per_node(model: &Model, strains: &[f64]) -> Vec<f32> {
    let mut largest = vec![0.0f32; model.node_count()];
    for (ends, strain) in model.springs().ends().iter().zip(strains) {
        for i in ends {
            let mine = &mut largest[*i as usize];
            if strain.abs() as f32 > mine.abs() {
                *mine = *strain as f32;
            }
        }
    }
    largest
}
