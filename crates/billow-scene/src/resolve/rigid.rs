//! Rigid bodies: shapes shared by bodies of the same mesh, supports, settings put together.

use super::mesh::MeshEntry;
use super::obstacle::{flat_normal, surface};
use super::start::span_of;
use crate::material::Material;
use crate::motion::Motion;
use crate::read::log::{Log, Span};
use crate::rigid::{Driven, Member, Referee, RigidPlan};
use crate::scene::{Body, Timing};
use crate::tables::cloth::Collision;
use crate::tables::rigid::{Lag, PhiStorage, RigidMethod, RigidSolverTable};
use crate::tables::{BodyTable, SceneTable};
use billow_geom::mass::Matter;
use billow_geom::{Aabb, TriMesh, shapes};
use billow_num::{Pose, Quat, Vec3};
use billow_rigid::{CollisionGeometry, Config, Drive, Geometry, Method, Model, Settings, Storage, Surface};
use std::collections::HashMap;
use std::sync::Arc;

/// Side of a floor without end, as a multiple of the size of everything above it.
const ENDLESS: f64 = 200.0;
/// Thickness of a thin shell, as a part of its longest side.
const LEAST_THICKNESS: f64 = 1e-3;
/// Deepest overlap at the start, as a part of the thinnest body's thickness.
const START_OVERLAP: f64 = 0.01;

/// A shape with the pose that leads from its coordinates to those of the mesh.
type Shaped = (usize, Pose);

/// Puts the rigid bodies together; `None` if there are none.
pub(super) fn rigid(
    table: &SceneTable,
    (meshes, bodies): (&[Option<MeshEntry>], &[Body]),
    timing: &Timing,
    log: &mut Log,
) -> Option<RigidPlan> {
    if !bodies.iter().any(|b| matches!(b.motion, Motion::Rigid(_))) {
        return None;
    }
    let mut maker = Maker {
        settings: Settings { spacing: 0.0, storage: storage(table.rigid_solver.storage.value) },
        reach: reach(bodies),
        known: HashMap::new(),
        shapes: Vec::new(),
    };
    let (mut members, mut all) = (Vec::new(), Vec::new());
    let mut thinnest = f64::INFINITY;
    for (number, body) in bodies.iter().enumerate() {
        let takes_part = matches!(body.motion, Motion::Rigid(_)) || body.motion.is_prescribed();
        let entry = table.body.entries.iter().find(|e| e.0.value == body.group);
        let Some((name, own)) = entry.filter(|_| takes_part) else { continue };
        let mesh = table.mesh.names().position(|n| n == own.mesh.0);
        let Some(mesh) = mesh.and_then(|i| meshes[i].as_ref().map(|m| (i, m))) else { continue };
        if own.collision.value == Collision::None && body.motion.is_prescribed() {
            continue;
        }
        let Some((shape, local)) = maker.shape(own, mesh, body, name.span, log) else { continue };
        let dynamic = matches!(body.motion, Motion::Rigid(_));
        if dynamic {
            thinnest = thinnest.min(2.0 * maker.shapes[shape].depth());
        }
        members.push(Member { name: body.name.clone(), body: number, local, circle: mesh.1.circle, dynamic });
        all.push(description(body, own, shape, local));
    }
    if log.has_errors() {
        return None;
    }
    match Model::new(maker.shapes, all, timing.gravity) {
        Ok(model) => Some(RigidPlan { members, model, config: config(&table.rigid_solver.value), thinnest }),
        Err(error) => {
            log.error(table.rigid_solver.span, format!("the rigid bodies cannot be put together: {error}"));
            None
        }
    }
}

/// Largest distance of a rigid body from the origin [m].
fn reach(bodies: &[Body]) -> f64 {
    let far = |b: &Body| match &b.motion {
        Motion::Rigid(launch) => {
            let size = Aabb::of_points(b.shape.positions()).size().length();
            launch.pose.position.length() + size
        }
        _ => 0.0,
    };
    bodies.iter().map(far).fold(1e-3, f64::max)
}

/// A body as the solver wants it.
fn description(body: &Body, table: &BodyTable, shape: usize, local: Pose) -> billow_rigid::Body {
    let Material { density, thickness, friction, restitution, rolling, spinning, .. } = body.material;
    let mut made = billow_rigid::Body::new(body.name.clone(), shape);
    made.surface = Surface { restitution, friction, rolling, spinning };
    made.matter = match (&table.motion, body.mass) {
        (Some(crate::tables::MotionTable::Rigid { .. }), Some(mass)) => Matter::Mass(mass.mass),
        // What answers no impulse may have any mass.
        _ => Matter::Density(density * thickness),
    };
    match &body.motion {
        Motion::Rigid(launch) => {
            made.placement = local.then(&launch.pose);
            (made.velocity, made.spin) = (launch.velocity, launch.angular_velocity);
        }
        Motion::Static(pose) => {
            made.placement = local.then(pose);
            made.drive = Drive::Static;
        }
        motion => {
            made.placement = local.then(&motion.pose(0.0).unwrap_or_default());
            made.drive = Drive::Scripted(Arc::new(Driven { motion: motion.clone(), local }));
        }
    }
    made
}

/// Makes the shapes of the model, each once.
struct Maker {
    settings: Settings,
    reach: f64,
    known: HashMap<(usize, usize, u64), Option<Shaped>>,
    shapes: Vec<Arc<Geometry>>,
}

impl Maker {
    /// The shape of a body and where it is in the coordinates of its mesh; problems are reported once per mesh.
    fn shape(
        &mut self,
        table: &BodyTable,
        (index, entry): (usize, &MeshEntry),
        body: &Body,
        span: Span,
        log: &mut Log,
    ) -> Option<Shaped> {
        let spacing = table.spacing.unwrap_or(0.0);
        let kind = table.collision.value;
        if matches!(body.motion, Motion::Rigid(_)) && matches!(kind, Collision::Ground | Collision::None) {
            let word = if kind == Collision::Ground { "ground" } else { "none" };
            let message = format!("`{}` is a rigid body and cannot have collision = \"{word}\"", body.name);
            log.error(table.collision.span, message);
            return None;
        }
        let key = (index, kind as usize, spacing.to_bits());
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let made = self.make(table, entry, body, log).map_err(|message| log.error(span, message)).ok();
        let made = made.map(|(shape, local)| {
            self.shapes.push(Arc::new(shape));
            (self.shapes.len() - 1, local)
        });
        self.known.insert(key, made);
        made
    }

    fn make(
        &self,
        table: &BodyTable,
        entry: &MeshEntry,
        body: &Body,
        log: &mut Log,
    ) -> Result<(Geometry, Pose), String> {
        let Some(mesh) = surface(&body.shape) else {
            return Err(format!("`{}` has no surface that a rigid body could meet", body.name));
        };
        let kind = table.collision.value;
        let said = |e: billow_rigid::RigidError| format!("`{}` cannot be a rigid body: {e}", body.name);
        if kind == Collision::Ground {
            return self.ground(&mesh, body);
        }
        if let (Some((centre, radius)), Collision::Auto | Collision::Exact) = (entry.ball, kind) {
            let local = Pose { position: centre, rotation: Quat::IDENTITY };
            return Geometry::ball(radius).map(|g| (g, local)).map_err(said);
        }
        if kind == Collision::Exact {
            let Some(exact) = &entry.exact else {
                return Err(format!(
                    "there is no exact distance to the mesh of `{}`: leave `collision` out",
                    body.name
                ));
            };
            let made = Geometry::with_distance(&mesh, Arc::clone(&exact.shape));
            return made.map(|g| (g, Pose::IDENTITY)).map_err(said);
        }
        if entry.solid.is_none() {
            if kind == Collision::LevelSet {
                let reason = &entry.open_reason;
                return Err(format!(
                    "a level set of `{}` needs a closed mesh: this one has {reason}",
                    body.name
                ));
            }
            // Much thinner than its size, a shell could be led through another by rounding.
            let thickness = body.material.thickness.max(LEAST_THICKNESS * mesh.bounds().size().max_element());
            return Geometry::thin(&mesh, thickness).map(|g| (g, Pose::IDENTITY)).map_err(said);
        }
        let spacing = table.spacing.unwrap_or(0.0);
        let size = mesh.bounds().size().max_element();
        if spacing > 0.0 && !(8.0..=2048.0).contains(&(size / spacing)) {
            let message = format!("`spacing` is {spacing} m, but the body is {size:.4} m long");
            log.error(table.spacing.span, message).help("use 1/8 to 1/2048 of the longest side");
        }
        let settings = Settings { spacing, ..self.settings };
        Geometry::solid(&mesh, &settings).map(|g| (g, Pose::IDENTITY)).map_err(said)
    }

    /// A slab below a flat body that reaches beyond everything.
    fn ground(&self, mesh: &TriMesh, body: &Body) -> Result<(Geometry, Pose), String> {
        let Some(normal) = flat_normal(mesh) else {
            return Err(format!("`{}` is not flat, so it cannot be the ground", body.name));
        };
        let bounds = mesh.bounds();
        let side = ENDLESS * self.reach.max(bounds.size().length());
        let slab = shapes::cuboid(Vec3::splat(side), [1; 3]).map_err(|e| e.to_string())?;
        let rotation = Quat::from_rotation_arc(Vec3::Z, normal);
        let local = Pose { position: bounds.centre() - normal * (0.5 * side), rotation };
        Geometry::solid(&slab, &Settings::default()).map(|g| (g, local)).map_err(|e| e.to_string())
    }
}

fn storage(word: PhiStorage) -> Storage {
    match word {
        PhiStorage::Auto => Storage::Automatic,
        PhiStorage::Uniform => Storage::Uniform,
        PhiStorage::Octree => Storage::Octree,
        PhiStorage::Sparse => Storage::Sparse,
    }
}

fn config(table: &RigidSolverTable) -> Config {
    let base = match table.method.value {
        RigidMethod::Persistent => Config::default(),
        RigidMethod::Document => Config::published(),
    };
    Config {
        method: match table.method.value {
            RigidMethod::Persistent => Method::Persistent,
            RigidMethod::Document => Method::Document,
        },
        collision_geometry: match table.collision_geometry.value {
            Lag::Lagged => CollisionGeometry::Lagged,
            Lag::Reevolved => CollisionGeometry::Reevolved,
        },
        collision_passes: table.collision_passes.unwrap_or(base.collision_passes),
        contact_sweeps: table.contact_sweeps.unwrap_or(base.contact_sweeps),
        shock_sweeps: table.shock_sweeps.unwrap_or(base.shock_sweeps),
        push_sweeps: table.push_sweeps.unwrap_or(base.push_sweeps),
        rounds: table.rounds.unwrap_or(base.rounds),
        margin: table.margin.unwrap_or(base.margin),
        stride: table.stride.unwrap_or(base.stride),
        turn: table.turn.unwrap_or(base.turn),
        parts: table.parts.unwrap_or(base.parts),
        sleep: table.sleep.value,
        ..base
    }
}

/// Reports rigid bodies that overlap at the start, deepest pair first.
pub(super) fn check_start(table: &SceneTable, plan: &RigidPlan, frame: &billow_io::Frame, log: &mut Log) {
    let Some(found) = Referee::new(plan).measure(frame) else { return };
    let allowed = START_OVERLAP * plan.thinnest;
    let deepest = found.pairs.iter().filter(|p| p.1 > allowed).max_by(|p, q| p.1.total_cmp(&q.1));
    let Some((pair, depth)) = deepest else { return };
    let [a, b] = pair.map(|k| &plan.members[k as usize]);
    let count = found.pairs.iter().filter(|p| p.1 > allowed).count();
    let more = if count > 1 { format!("; {} pairs overlap in all", count) } else { String::new() };
    let message = format!("`{}` and `{}` overlap by {depth:.4} m at the start{more}", a.name, b.name);
    log.error(span_of(table, &b.name).unwrap_or_default(), message)
        .help("move them apart: rigid bodies may touch at the start, but not overlap");
}
