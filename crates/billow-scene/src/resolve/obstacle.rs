//! How cloth meets bodies: by distance if they are thick and smooth, by triangles if they are thin, sharp or open
//! ([Bri03] 2.1).

use super::cloth::Context;
use super::mesh::MeshEntry;
use crate::cloth::{Carrier, Deforming, SolidBody};
use crate::read::declare::At;
use crate::read::log::Log;
use crate::scene::Body;
use crate::tables::BodyTable;
use crate::tables::cloth::Collision;
use billow_cloth::{Garment, Obstacle};
use billow_geom::mesh::Topology;
use billow_geom::{TetMesh, TriMesh};
use billow_io::Shape;
use billow_levelset::{Centring, Collider, HalfSpace, Lattice, March, mesh_to_dense};
use billow_num::Vec3;
use std::sync::Arc;

/// A surface is sharp where neighbouring triangles turn by more than this: half a right angle.
const SHARP_COSINE: f64 = std::f64::consts::FRAC_1_SQRT_2;
/// Samples of a sampled distance along the longest side of the body: enough that its error is below the thickness of
/// cloth for bodies of human size, few enough to build it in a second.
const MOST_SAMPLES: f64 = 128.0;
const FEWEST_SAMPLES: f64 = 48.0;

/// Thickness of the triangles of bodies that are met by distance, as a part of the cloth's: they only have to stop what
/// distances miss.
const GUARD: f64 = 0.05;
/// Bodies with more triangles than this are resolved so finely that their distance is enough, and would be slow.
const MOST_GUARDS: usize = 2500;

/// All bodies that cloth meets, by triangles and by distance.
pub(super) fn obstacles(
    context: &Context<'_>,
    garments: &[Garment],
    log: &mut Log,
) -> (Vec<Obstacle>, Vec<SolidBody>) {
    let (mut meshes, mut solids) = (Vec::new(), Vec::new());
    let thinnest = garments.iter().map(|g| g.material.thickness).fold(f64::INFINITY, f64::min);
    let edge = mean_edge(garments);
    let longest = longest_edge(garments);
    let mut warned = "";
    for body in context.bodies {
        let entries = &context.table.body.entries;
        let Some((name, table)) = entries.iter().find(|e| e.0.value == body.group) else { continue };
        let index = context.table.mesh.names().position(|n| n == table.mesh.0);
        let Some(entry) = index.and_then(|i| context.meshes[i].as_ref()) else { continue };
        if !body.motion.is_prescribed() {
            if table.collision.value != Collision::None && warned != body.group {
                log.warning(name.span, format!("`{}` moves freely and passes through cloth", body.group))
                    .help("prescribe its motion, or say collision = \"none\" of a body in free flight");
                warned = &body.group;
            }
            continue;
        }
        let Some(mesh) = surface(&body.shape) else { continue };
        let maker = Maker { name, table, body, entry, mesh: &mesh, edge };
        let kind = maker.decide();
        if body.morph.is_some() && !matches!(kind, Collision::Mesh | Collision::None) {
            log.error(table.collision.span, format!("`{}` deforms: its distance is not known", body.name))
                .help("use collision = \"mesh\" or \"none\"");
            continue;
        }
        match kind {
            Collision::None | Collision::Auto => {}
            Collision::Mesh => meshes.push(maker.obstacle(thinnest)),
            kind => {
                if let Some(shape) = maker.distance(kind, log) {
                    let (motion, friction) = (body.motion.clone(), body.material.friction);
                    let margin = table.margin.unwrap_or(maker.sag(longest));
                    solids.push(SolidBody { name: body.name.clone(), shape, motion, friction, margin });
                    // Distances keep nodes out; triangles as well see to it that nothing at all crosses.
                    if !maker.is_round(kind) && maker.mesh.triangles.len() <= MOST_GUARDS {
                        meshes.push(maker.obstacle(GUARD * thinnest));
                    }
                }
            }
        }
    }
    (meshes, solids)
}

struct Maker<'a> {
    name: &'a At<String>,
    table: &'a BodyTable,
    body: &'a Body,
    entry: &'a MeshEntry,
    mesh: &'a TriMesh,
    /// Typical edge of the cloth [m].
    edge: f64,
}

impl Maker<'_> {
    /// What `auto` means for this body: distances need it to be thicker and rounder than the cloth can resolve.
    fn decide(&self) -> Collision {
        if self.table.collision.value != Collision::Auto {
            return self.table.collision.value;
        }
        if self.body.morph.is_some() {
            return Collision::Mesh;
        }
        if self.is_round(Collision::Exact) {
            return Collision::Exact;
        }
        let Some(solid) = &self.entry.solid else { return Collision::Mesh };
        // Of a ball this is its radius; of a plate one and a half times its thickness.
        let depth = 3.0 * solid.volume() / self.mesh.area();
        if depth > 4.0 * self.edge && !sharp(self.mesh) { Collision::LevelSet } else { Collision::Mesh }
    }

    /// Whether its exact distance is smooth at the scale of the cloth, so that the margin is enough to keep edges out.
    fn is_round(&self, kind: Collision) -> bool {
        let roundness = self.entry.exact.as_ref().map_or(0.0, |exact| exact.roundness);
        kind == Collision::Exact && roundness > 2.0 * self.edge
    }

    /// The body's triangles in the collision pipeline.
    fn obstacle(&self, thickness: f64) -> Obstacle {
        let carrier = Carrier::new(self.body.motion.clone());
        Obstacle {
            name: self.body.name.clone(),
            script: match &self.body.morph {
                Some(morph) => Arc::new(Deforming { carrier, morph: Arc::clone(morph) }),
                None => Arc::new(carrier),
            },
            thickness,
            friction: self.body.material.friction,
            mesh: self.mesh.clone(),
        }
    }

    /// How deep a straight edge of the cloth, stretched to its limit, can cut into the round surface [m].
    fn sag(&self, longest: f64) -> f64 {
        let radius = match (&self.entry.exact, &self.entry.solid) {
            _ if self.table.collision.value == Collision::Ground => f64::INFINITY,
            (Some(exact), _) if exact.roundness > 0.0 => exact.roundness,
            (_, Some(solid)) => 3.0 * solid.volume() / self.mesh.area(),
            _ => f64::INFINITY,
        };
        longest * longest / (8.0 * radius)
    }

    /// The signed distance in the body's coordinates.
    fn distance(&self, kind: Collision, log: &mut Log) -> Option<Arc<dyn Collider>> {
        match kind {
            Collision::Exact => {
                if let Some(exact) = &self.entry.exact {
                    return Some(Arc::clone(&exact.shape));
                }
                log.error(self.table.collision.span, "there is no exact distance to this mesh").help(
                    "an icosphere, sphere, capsule, torus, closed cylinder or box has one, scaled alike in all directions; \
                     for others use \"level-set\" or \"mesh\"",
                );
                None
            }
            Collision::Ground => self.half_space(log),
            _ => self.sampled(log),
        }
    }

    /// Everything below a flat body.
    fn half_space(&self, log: &mut Log) -> Option<Arc<dyn Collider>> {
        let centre = self.mesh.bounds().centre();
        let plane = flat_normal(self.mesh).and_then(|n| HalfSpace::new(centre, n).ok());
        if plane.is_none() {
            log.error(self.table.collision.span, format!("`{}` is not flat", self.name.value))
                .help("only a flat body, such as a plane, can be the ground; others use \"auto\"");
        }
        plane.map(|plane| Arc::new(plane) as _)
    }

    /// The distance sampled on a grid around the body.
    fn sampled(&self, log: &mut Log) -> Option<Arc<dyn Collider>> {
        if self.entry.solid.is_none() {
            let message =
                format!("a level set needs a closed mesh, but this one has {}", self.entry.open_reason);
            log.error(self.table.collision.span, message).help("close the mesh, or use collision = \"mesh\"");
            return None;
        }
        let bounds = self.mesh.bounds();
        let extent = bounds.size().max_element();
        let spacing = (0.5 * self.edge).clamp(extent / MOST_SAMPLES, extent / FEWEST_SAMPLES);
        let margin = 4.0 * spacing + 2.0 * self.edge;
        let grid = Lattice::covering(bounds.inflated(margin), spacing, Centring::Node)
            .and_then(|lattice| mesh_to_dense(self.mesh, lattice, &March::default()));
        match grid {
            Ok((grid, _)) => Some(Arc::new(grid)),
            Err(error) => {
                let message = format!("there is no level set of `{}`: {error}", self.body.name);
                log.error(self.table.collision.span, message).help("use collision = \"mesh\"");
                None
            }
        }
    }
}

/// The unit normal of a mesh that is flat.
pub(super) fn flat_normal(mesh: &TriMesh) -> Option<Vec3> {
    let bounds = mesh.bounds();
    let normal: Vec3 = (0..mesh.triangles.len()).map(|t| mesh.area_vector(t)).sum();
    normal.try_normalize().filter(|n| {
        let height = |p: &Vec3| (*p - bounds.centre()).dot(*n).abs();
        mesh.positions.iter().all(|p| height(p) < 1e-9 * bounds.size().length())
    })
}

/// Mean length of the edges of all garments [m].
fn mean_edge(garments: &[Garment]) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for garment in garments {
        for t in &garment.mesh.triangles {
            let [a, b, c] = t.map(|i| garment.mesh.positions[i as usize]);
            sum += a.distance(b) + b.distance(c) + c.distance(a);
            count += 3.0;
        }
    }
    sum / f64::max(count, 1.0)
}

/// Length of the longest edge of all garments at its extension limit [m].
fn longest_edge(garments: &[Garment]) -> f64 {
    let longest = |garment: &Garment| {
        let sides = garment.mesh.triangles.iter().flat_map(|t| {
            let [a, b, c] = t.map(|i| garment.mesh.positions[i as usize]);
            [a.distance(b), b.distance(c), c.distance(a)]
        });
        sides.fold(0.0, f64::max) * (1.0 + garment.material.extension_limit)
    };
    garments.iter().map(longest).fold(0.0, f64::max)
}

/// The surface of a body's shape.
pub(super) fn surface(shape: &Shape) -> Option<TriMesh> {
    match shape {
        Shape::Triangles { positions, triangles } => {
            Some(TriMesh { positions: positions.to_vec(), triangles: triangles.to_vec() })
        }
        Shape::Tets { positions, tets } => {
            let mesh = TetMesh { positions: positions.to_vec(), tets: tets.to_vec() };
            let topology = mesh.topology().ok()?;
            let faces = topology.boundary_faces();
            let triangles = faces.iter().map(|f| topology.faces()[*f as usize]).collect();
            Some(TriMesh { positions: mesh.positions, triangles })
        }
        _ => None,
    }
}

/// Whether a surface has an edge at which it turns sharply.
fn sharp(mesh: &TriMesh) -> bool {
    let Ok(topology) = Topology::new(mesh.positions.len(), &mesh.triangles) else { return true };
    let normal = |t: u32| {
        let [a, b, c] = mesh.triangles[t as usize].map(|i| mesh.positions[i as usize]);
        (b - a).cross(c - a).normalize_or_zero()
    };
    (0..topology.edge_count() as u32)
        .filter_map(|e| topology.edge_pair(e))
        .any(|[s, t]| normal(s).dot(normal(t)) < SHARP_COSINE)
}
