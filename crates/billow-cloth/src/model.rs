//! A scene of cloth: everything that stays fixed during a run.
//!
//! All garments are one set of nodes; the vertices of scripted meshes that cloth must not pass through (thin plates,
//! table legs) follow them with infinite mass. Thick smooth objects are [`Collider`]s.

use crate::Material;
use billow_contact::{Body, Surface};
use billow_elastic::{AltitudeSprings, Bending, BendingMaterial, Spring, Springs, edge_stiffness};
use billow_geom::audit::{self, Contact, Finding};
use billow_geom::mesh::Topology;
use billow_geom::{GeomError, TriMesh};
use billow_levelset::Collider;
use billow_num::Vec3;
use std::sync::Arc;

/// Prescribed motion of a point that rests at `rest`.
pub trait Script: Send + Sync {
    /// Position at time `t` [s] of the point that rests at `rest` [m].
    fn position(&self, rest: Vec3, t: f64) -> Vec3;

    /// Position at time `t` [s] of vertex `index` of an obstacle's mesh, which rests at `rest` [m]: deforming meshes know
    /// their vertices by number.
    fn vertex(&self, _index: usize, rest: Vec3, t: f64) -> Vec3 {
        self.position(rest, t)
    }
}

/// One vertex of an obstacle.
struct Vertex {
    script: Arc<dyn Script>,
    index: usize,
}

impl Script for Vertex {
    fn position(&self, rest: Vec3, t: f64) -> Vec3 {
        self.script.vertex(self.index, rest, t)
    }
}

impl<F: Fn(Vec3, f64) -> Vec3 + Send + Sync> Script for F {
    fn position(&self, rest: Vec3, t: f64) -> Vec3 {
        self(rest, t)
    }
}

/// How the springs of a garment are laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// A spring on every edge of the mesh, and bending elements ([Bri03] 1.2, 1.4). The default.
    #[default]
    Edges,
    /// Edges and the missing diagonal of every pair of triangles, so that quads resist shear alike ([BFA02] 3).
    Grid,
}

/// One garment.
#[derive(Clone)]
pub struct Garment {
    /// Name for messages.
    pub name: String,
    /// Rest shape.
    pub mesh: TriMesh,
    /// Positions at the start; the rest shape's if `None` [m].
    pub start: Option<Vec<Vec3>>,
    /// Velocity of every node at the start [m/s].
    pub velocity: Vec3,
    /// Fabric.
    pub material: Material,
    /// Whether the rest pose's angles are kept (a shell, a pleat) or the fabric wants to be flat.
    pub curved: bool,
    /// Give every node the same mass, so that hems are heavier ([BFA02] 3).
    pub equal_masses: bool,
    /// How the springs are laid out.
    pub layout: Layout,
    /// Nodes that follow a script.
    pub pins: Vec<(u32, Arc<dyn Script>)>,
}

/// A mesh that moves by a script and that cloth cannot pass, however thin or sharp.
#[derive(Clone)]
pub struct Obstacle {
    /// Name for messages.
    pub name: String,
    /// The mesh in its rest pose.
    pub mesh: TriMesh,
    /// Its motion.
    pub script: Arc<dyn Script>,
    /// Thickness [m].
    pub thickness: f64,
    /// Coulomb coefficient [-].
    pub friction: f64,
}

/// A thick smooth object known through its signed distance.
#[derive(Clone)]
pub struct Solid {
    /// Name for messages.
    pub name: String,
    /// Its shape and motion.
    pub shape: Arc<dyn Collider>,
    /// Coulomb coefficient [-].
    pub friction: f64,
}

/// Uniform wind with drag and lift on every face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Air {
    /// Density of the air [kg/m³].
    pub density: f64,
    /// Velocity of the air far away [m/s].
    pub wind: Vec3,
}

impl Default for Air {
    fn default() -> Self {
        Self { density: 1.2, wind: Vec3::ZERO }
    }
}

/// Nodes of one garment or obstacle in the model's arrays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Name.
    pub name: String,
    /// Its nodes.
    pub nodes: std::ops::Range<usize>,
    /// Its triangles.
    pub triangles: std::ops::Range<usize>,
}

/// The model: fixed during a run.
#[derive(Clone)]
pub struct Model {
    pub(crate) parts: Vec<Part>,
    pub(crate) garments: usize,
    pub(crate) rest: Vec<Vec3>,
    pub(crate) masses: Vec<f64>,
    pub(crate) inverse_masses: Vec<f64>,
    pub(crate) springs: Springs,
    pub(crate) limits: Vec<Limit>,
    pub(crate) altitude: Option<AltitudeSprings>,
    pub(crate) bending: Bending,
    pub(crate) scripts: Vec<(u32, Arc<dyn Script>)>,
    pub(crate) surface: Surface,
    pub(crate) offsets: Vec<f64>,
    pub(crate) frictions: Vec<f64>,
    pub(crate) air_coefficients: Vec<f64>,
    /// Length of the coming step, over which drag must not overshoot [s].
    pub(crate) air_step: f64,
    pub(crate) solids: Vec<Solid>,
    /// Gravity [m/s²].
    pub gravity: Vec3,
    /// The air around.
    pub air: Air,
    initial: crate::State,
}

/// Allowed strain of a spring, and of its change in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limit {
    pub(crate) extension: f64,
    pub(crate) compression: f64,
    pub(crate) rate: f64,
}

/// What goes into a model.
#[derive(Clone, Default)]
pub struct Setup {
    /// The garments.
    pub garments: Vec<Garment>,
    /// Scripted meshes in the collision pipeline.
    pub obstacles: Vec<Obstacle>,
    /// Thick objects.
    pub solids: Vec<Solid>,
    /// Gravity [m/s²].
    pub gravity: Vec3,
    /// The air around.
    pub air: Air,
}

impl Model {
    /// Builds the model and its initial state.
    pub fn new(setup: Setup) -> Result<Self, GeomError> {
        let mut build = Build::default();
        for garment in &setup.garments {
            build.garment(garment)?;
        }
        for obstacle in &setup.obstacles {
            build.obstacle(obstacle);
        }
        build.finish(setup)
    }

    /// The state at time zero.
    pub fn initial_state(&self) -> crate::State {
        self.initial.clone()
    }

    /// Replaces the thick objects, for example by their placement in the coming step.
    pub fn set_solids(&mut self, solids: Vec<Solid>) {
        self.solids = solids;
    }

    /// Says how long the coming steps are [s]: drag then never turns a face's motion through the air around, however
    /// light it is. Without it drag acts with its full force for the whole step.
    pub fn set_step(&mut self, dt: f64) {
        self.air_step = dt;
    }

    /// Lets the triangles of garments that cross something at positions `x` do so until they part, and only them. Returns
    /// their pairs. To be called before every step while there are any: what has parted never crosses again.
    pub fn exempt_crossings(&mut self, x: &[Vec3]) -> Vec<[u32; 2]> {
        let cloth = self.parts[..self.garments].last().map_or(0, |p| p.triangles.end);
        let crossing = |f: &&Finding| f.contact != Contact::Touching && (f.triangles[0] as usize) < cloth;
        let found = audit::audit(x, self.surface.topology().triangles());
        let pairs: Vec<[u32; 2]> = found.findings.iter().filter(crossing).map(|f| f.triangles).collect();
        self.surface.exempt(&pairs);
        pairs
    }

    /// Garments first, then obstacles.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Number of parts that are garments.
    pub fn garment_count(&self) -> usize {
        self.garments
    }

    /// Number of nodes, obstacles included.
    pub fn node_count(&self) -> usize {
        self.rest.len()
    }

    /// Node masses; obstacles and pins count as what they would weigh [kg].
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// All triangles, in the order of the parts.
    pub fn triangles(&self) -> &[[u32; 3]] {
        self.surface.topology().triangles()
    }

    /// Whether any of the nodes can move by itself.
    pub(crate) fn movable(&self, nodes: &[u32]) -> bool {
        nodes.iter().any(|i| self.inverse_masses[*i as usize] > 0.0)
    }

    /// The largest stable step of explicit damping [s].
    pub(crate) fn damping_limit(&self) -> f64 {
        self.springs.damping_limit(&self.masses).min(self.bending.damping_limit(&self.rest, &self.masses))
    }

    /// Springs of all garments.
    pub fn springs(&self) -> &Springs {
        &self.springs
    }

    /// Bending elements of all garments.
    pub fn bending(&self) -> &Bending {
        &self.bending
    }
}

/// Why building force laws cannot fail: [`Topology`] has refused meshes with bad indices.
pub(crate) const CHECKED: &str = "the topology has checked every node";

/// A model under construction.
#[derive(Default)]
struct Build {
    parts: Vec<Part>,
    meshes: Vec<TriMesh>,
    rest: Vec<Vec3>,
    x: Vec<Vec3>,
    v: Vec<Vec3>,
    masses: Vec<f64>,
    springs: Vec<Spring>,
    limits: Vec<Limit>,
    bends: Vec<Bending>,
    altitude_stiffness: Vec<f64>,
    altitude_damping: Vec<f64>,
    altitude_triangles: Vec<[u32; 3]>,
    scripts: Vec<(u32, Arc<dyn Script>)>,
    thickness: Vec<f64>,
    friction: Vec<f64>,
    air: Vec<f64>,
    garments: usize,
    triangle_count: usize,
}

impl Build {
    fn part(&mut self, name: &str, mesh: &TriMesh) -> u32 {
        let first = self.rest.len();
        self.rest.extend_from_slice(&mesh.positions);
        self.parts.push(Part {
            name: name.to_string(),
            nodes: first..self.rest.len(),
            triangles: self.triangle_count..self.triangle_count + mesh.triangles.len(),
        });
        self.triangle_count += mesh.triangles.len();
        self.meshes.push(mesh.clone());
        first as u32
    }

    fn garment(&mut self, garment: &Garment) -> Result<(), GeomError> {
        let (mesh, material) = (&garment.mesh, &garment.material);
        let topology = Topology::new(mesh.positions.len(), &mesh.triangles)?;
        let first = self.part(&garment.name, mesh);
        self.garments += 1;
        let start = garment.start.clone().unwrap_or_else(|| mesh.positions.clone());
        self.x.extend(start);
        self.v.resize(self.rest.len(), garment.velocity);
        self.masses.extend(masses(mesh, material.density, garment.equal_masses));
        self.thickness.push(material.thickness);
        self.friction.push(material.friction);
        self.air.push(material.air);
        self.add_springs(garment, &topology, first);
        if material.altitude > 0.0 {
            self.add_altitudes(garment, first);
        }
        let bending = BendingMaterial { stiffness: material.bend, damping: material.bend_damping };
        self.bends
            .push(Bending::from_surface(&topology, &mesh.positions, bending, garment.curved).expect(CHECKED));
        self.scripts.extend(garment.pins.iter().map(|(node, script)| (node + first, script.clone())));
        Ok(())
    }

    fn add_springs(&mut self, garment: &Garment, topology: &Topology, first: u32) {
        let (mesh, material) = (&garment.mesh, &garment.material);
        let mut pairs: Vec<([u32; 2], f64)> = (0..topology.edge_count() as u32)
            .map(|e| {
                let area = topology.edge_triangles(e).iter().map(|&t| area(mesh, t)).sum();
                (topology.edges()[e as usize], area)
            })
            .collect();
        if garment.layout == Layout::Grid {
            pairs.extend((0..topology.edge_count() as u32).filter_map(|e| {
                let [s, t] = topology.edge_pair(e)?;
                let ends = [topology.opposite_vertex(s, e)?, topology.opposite_vertex(t, e)?];
                quad_diagonal(mesh, topology.edges()[e as usize], ends)
                    .then(|| (ends, area(mesh, s) + area(mesh, t)))
            }));
        }
        for (ends, area) in pairs {
            let [a, b] = ends.map(|i| mesh.positions[i as usize]);
            let rest_length = a.distance(b);
            self.springs.push(Spring {
                ends: ends.map(|i| i + first),
                rest_length,
                stiffness: edge_stiffness(material.stretch, area, rest_length),
                damping: edge_stiffness(material.stretch_damping, area, rest_length),
            });
            self.limits.push(Limit {
                extension: material.extension_limit,
                compression: material.compression_limit,
                rate: material.rate_limit,
            });
        }
    }

    fn add_altitudes(&mut self, garment: &Garment, first: u32) {
        let (mesh, material) = (&garment.mesh, &garment.material);
        for (t, corners) in mesh.triangles.iter().enumerate() {
            let scale = material.altitude * area(mesh, t as u32).sqrt();
            self.altitude_stiffness.push(material.stretch * scale);
            self.altitude_damping.push(material.stretch_damping * scale);
            self.altitude_triangles.push(corners.map(|i| i + first));
        }
    }

    fn obstacle(&mut self, obstacle: &Obstacle) {
        let first = self.part(&obstacle.name, &obstacle.mesh);
        for (k, rest) in obstacle.mesh.positions.iter().enumerate() {
            let script = Arc::new(Vertex { script: Arc::clone(&obstacle.script), index: k });
            self.x.push(script.position(*rest, 0.0));
            self.v.push(Vec3::ZERO);
            self.masses.push(1.0);
            self.scripts.push((first + k as u32, script));
        }
        self.thickness.push(obstacle.thickness);
        self.friction.push(obstacle.friction);
        self.air.push(0.0);
    }

    fn finish(self, setup: Setup) -> Result<Model, GeomError> {
        let mut inverse_masses: Vec<f64> = self.masses.iter().map(|m| 1.0 / m).collect();
        for (node, _) in &self.scripts {
            inverse_masses[*node as usize] = 0.0;
        }
        let bodies: Vec<Body<'_>> = self
            .parts
            .iter()
            .zip(&self.meshes)
            .enumerate()
            .map(|(k, (part, mesh))| Body {
                rest: &self.rest[part.nodes.clone()],
                triangles: &mesh.triangles,
                inverse_masses: &inverse_masses[part.nodes.clone()],
                thickness: self.thickness[k],
                friction: self.friction[k],
                dynamic: k < self.garments,
            })
            .collect();
        let surface = Surface::new(&bodies)?;
        let per_node = |values: &[f64]| -> Vec<f64> {
            self.parts.iter().zip(values).flat_map(|(p, v)| std::iter::repeat_n(*v, p.nodes.len())).collect()
        };
        let per_triangle = |values: &[f64]| -> Vec<f64> {
            let parts = self.parts.iter().zip(values);
            parts.flat_map(|(p, c)| std::iter::repeat_n(*c, p.triangles.len())).collect()
        };
        let altitude = (!self.altitude_triangles.is_empty()).then(|| {
            let (stiffness, damping) = (self.altitude_stiffness, self.altitude_damping);
            AltitudeSprings::new(&self.rest, &self.altitude_triangles, stiffness, damping).expect(CHECKED)
        });
        let bends = self.bends.iter().zip(&self.parts).map(|(b, p)| (b, p.nodes.start as u32));
        Ok(Model {
            springs: Springs::new(self.rest.len(), &self.springs).expect(CHECKED),
            bending: Bending::join(self.rest.len(), bends).expect(CHECKED),
            limits: self.limits,
            altitude,
            offsets: per_node(&self.thickness).iter().map(|h| 0.5 * h).collect(),
            frictions: per_node(&self.friction),
            air_coefficients: per_triangle(&self.air),
            air_step: 0.0,
            initial: crate::State { x: self.x, v: self.v, ..Default::default() },
            parts: self.parts,
            garments: self.garments,
            rest: self.rest,
            masses: self.masses,
            inverse_masses,
            scripts: self.scripts,
            surface,
            solids: setup.solids,
            gravity: setup.gravity,
            air: setup.air,
        })
    }
}

fn area(mesh: &TriMesh, triangle: u32) -> f64 {
    let [a, b, c] = mesh.triangles[triangle as usize].map(|i| mesh.positions[i as usize]);
    0.5 * (b - a).cross(c - a).length()
}

/// A third of the mass of every triangle at each of its corners, or the same mass everywhere ([Bri03] 1.2).
fn masses(mesh: &TriMesh, density: f64, equal: bool) -> Vec<f64> {
    let mut masses = vec![0.0; mesh.positions.len()];
    for (t, corners) in mesh.triangles.iter().enumerate() {
        for &i in corners {
            masses[i as usize] += density * area(mesh, t as u32) / 3.0;
        }
    }
    if equal {
        let mean = masses.iter().sum::<f64>() / masses.len() as f64;
        masses.fill(mean);
    }
    masses
}

/// Whether the edge is a diagonal of a quad, so that the other diagonal deserves a spring too: both diagonals are
/// about as long.
fn quad_diagonal(mesh: &TriMesh, edge: [u32; 2], other: [u32; 2]) -> bool {
    let length = |ends: [u32; 2]| mesh.positions[ends[0] as usize].distance(mesh.positions[ends[1] as usize]);
    let ratio = length(other) / length(edge);
    (0.8..1.25).contains(&ratio)
}
