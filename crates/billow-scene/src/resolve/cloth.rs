//! Cloth: fabrics, pins and settings put together.

use super::body::{Probe, keys, script};
use super::mesh::MeshEntry;
use super::obstacle::obstacles;
use super::{find, fixed_rotation, formula};
use crate::cloth::{CarriedPoint, Carrier, Cloth, ClothPlan, Pin, pose_at};
use crate::expr::Expr;
use crate::material::Material;
use crate::motion::{Motion, Track};
use crate::read::declare::At;
use crate::read::log::{Log, Span};
use crate::scene::{Body, Timing};
use crate::tables::cloth::{
    ClothSolverTable, ClothTable, Limiting, PinMotion, PinTable, RestShape, Scheme, Springs, ZoneKind,
};
use crate::tables::{Preset, SceneTable};
use billow_cloth::{Config, Garment, Integrator, Layout, Sweep};
use billow_geom::TriMesh;
use billow_geom::mesh::MeshReport;
use billow_io::Shape;
use billow_num::{Pose, Quat, Vec3};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Distance that layers of thinner fabrics keep [m].
const LEAST_THICKNESS: f64 = 1e-3;

/// What is known about a scene while its cloth is made.
pub(super) struct Context<'a> {
    pub(super) table: &'a SceneTable,
    pub(super) meshes: &'a [Option<MeshEntry>],
    pub(super) bodies: &'a [Body],
    pub(super) parameters: &'a [(String, f64)],
    pub(super) timing: &'a Timing,
}

/// The cloth of the scene, if it has any and all of it makes sense.
pub(super) fn cloth(context: &Context<'_>, log: &mut Log) -> Option<ClothPlan> {
    let table = context.table;
    if table.cloth.entries.is_empty() {
        return None;
    }
    let (mut pieces, mut garments, mut pins) = (Vec::new(), Vec::new(), Vec::new());
    for (name, cloth) in &table.cloth.entries {
        if table.body.names().any(|body| body == name.value) {
            log.error(name.span, format!("a body is called `{}` too", name.value))
                .help("cloth and bodies need different names");
        }
        let maker = Maker { context, name, cloth };
        let Some((mut piece, garment)) = maker.garment(log) else { continue };
        let held = maker.pins(garments.len(), &garment, log);
        piece.pinned = held.len();
        pins.extend(held);
        pieces.push(piece);
        garments.push(garment);
    }
    let wind = table.air.wind.value.each_ref().map(|f| formula(f, context.parameters, log));
    let [Some(x), Some(y), Some(z)] = wind else { return None };
    let wind: [Expr; 3] = [x, y, z];
    let probe = Probe { timing: context.timing, tries: 4096 };
    let fine = table.air.wind.value.iter().zip(&wind).fold(true, |ok, (f, e)| ok & probe.finite(f, e, log));
    if !fine || pieces.len() < table.cloth.entries.len() {
        return None;
    }
    let (obstacles, solids) = obstacles(context, &garments, log);
    let settings = &table.cloth_solver.value;
    let plan = ClothPlan {
        pieces,
        garments,
        pins,
        obstacles,
        solids,
        air_density: table.air.density.value,
        wind,
        config: config(settings),
        preroll: settings.preroll.value,
        preroll_drag: settings.preroll_drag.value,
        allow_crossings: settings.allow_initial_crossings.value,
        audit: settings.audit.value,
    };
    match plan.model(0.0, context.timing.gravity) {
        Ok(_) => Some(plan),
        Err(error) => {
            log.error(table.cloth.span, format!("the cloth cannot be simulated: {error}"));
            None
        }
    }
}

#[allow(clippy::needless_update, reason = "settings that scenes do not name keep their defaults")]
fn config(table: &ClothSolverTable) -> Config {
    let integrator = match table.integrator.value {
        Scheme::Coupled => Integrator::Coupled,
        Scheme::Implicit => Integrator::Implicit,
        Scheme::Central => Integrator::Central,
        Scheme::Staggered => Integrator::Staggered,
        Scheme::Monotone => Integrator::Monotone,
        Scheme::ExplicitMarch => Integrator::ExplicitMarch,
    };
    let limiting = table.strain_limiting.value;
    let contact = billow_cloth::contact::Config {
        repulsion_stiffness: table.repulsion_stiffness.value,
        recovery: table.recovery.value,
        recovery_speed: table.recovery_speed.value,
        repulsion_passes: table.repulsion_passes.value,
        update: match table.parallel_relaxation.value {
            Some(relaxation) => billow_cloth::contact::Update::Parallel { relaxation },
            None => billow_cloth::contact::Update::Sequential,
        },
        separation: table.separation.value,
        collision_rounds: table.collision_rounds.value,
        zone_motion: match table.zones.value {
            ZoneKind::Rigid => billow_cloth::contact::ZoneMotion::RigidExact,
            ZoneKind::RigidVelocity => billow_cloth::contact::ZoneMotion::RigidVelocity,
            ZoneKind::Affine => billow_cloth::contact::ZoneMotion::Affine,
        },
        ..Default::default()
    };
    Config {
        integrator,
        substeps: table.small_steps.value,
        attempts: table.attempts.value,
        courant: table.courant.value,
        tolerance: table.tolerance.value,
        max_iterations: table.max_iterations.value as usize,
        strain_sweeps: if limiting == Limiting::Off { 0 } else { table.strain_sweeps.value },
        sweep: if limiting == Limiting::Jacobi { Sweep::Jacobi } else { Sweep::GaussSeidel },
        drag: table.drag.value,
        contact,
        ..Default::default()
    }
}

/// One piece while it is made.
struct Maker<'a> {
    context: &'a Context<'a>,
    name: &'a At<String>,
    cloth: &'a ClothTable,
}

impl Maker<'_> {
    fn garment(&self, log: &mut Log) -> Option<(Cloth, Garment)> {
        let (Context { table, meshes, .. }, cloth) = (self.context, self.cloth);
        let mesh = find(&cloth.mesh.0, cloth.mesh.span, "mesh", &table.mesh, log);
        let material = self.material(log);
        let rotation = match &cloth.rotation.value {
            Some(rotation) => fixed_rotation(rotation, cloth.rotation.span, self.context.parameters, log),
            None => Some(Quat::IDENTITY),
        };
        let rest = sheet(&meshes[mesh?].as_ref()?.shape, cloth.mesh.span, log)?;
        let (material, colour) = material?;
        let pose = Pose { position: cloth.position.value, rotation: rotation? };
        let start: Vec<Vec3> = rest.positions.iter().map(|x| pose.point(*x)).collect();
        let shape = Shape::Triangles {
            positions: Arc::new(start.clone()),
            triangles: Arc::new(rest.triangles.clone()),
        };
        let piece = Cloth { name: self.name.value.clone(), shape, material, colour, pinned: 0 };
        let garment = Garment {
            name: self.name.value.clone(),
            mesh: TriMesh { positions: start.clone(), triangles: rest.triangles },
            start: Some(start),
            velocity: cloth.velocity.value,
            material,
            curved: cloth.rest.value == RestShape::Mesh,
            equal_masses: cloth.equal_masses.value,
            layout: match cloth.layout.value {
                Springs::Edges => Layout::Edges,
                Springs::Grid => Layout::Grid,
            },
            pins: Vec::new(),
        };
        Some((piece, garment))
    }

    /// The fabric, its thickness being the distance that layers keep, and the colour.
    fn material(&self, log: &mut Log) -> Option<(billow_cloth::Material, Vec3)> {
        let table = self.context.table;
        let (material, span, called) = match &self.cloth.material.value {
            Some(wanted) => {
                let index = find(&wanted.0, self.cloth.material.span, "material", &table.material, log)?;
                let (name, found) = &table.material.entries[index];
                (Material::resolve(found), self.cloth.material.span, name.value.as_str())
            }
            None => (Material::preset(Preset::Cotton), self.name.span, "cotton"),
        };
        let Some(fabric) = material.fabric else {
            log.error(span, format!("the material `{called}` is not a fabric")).help(
                "start from cotton, denim, leather, rubber, silk or wool, or give the material `stretch` and `bend`",
            );
            return None;
        };
        let thickness = self.cloth.thickness.unwrap_or(fabric.thickness.max(LEAST_THICKNESS));
        Some((billow_cloth::Material { thickness, ..fabric }, material.colour))
    }

    /// The nodes held by prescribed motions.
    fn pins(&self, garment: usize, made: &Garment, log: &mut Log) -> Vec<Pin> {
        let mut holders: BTreeMap<u32, &str> = BTreeMap::new();
        let mut all = Vec::new();
        for (name, pin) in &self.cloth.pin.entries {
            let title = format!("[cloth.{}.pin.{}]", self.name.value, name.value);
            let nodes = self.nodes(&title, name.span, pin, &made.mesh.positions, log);
            let Some(motion) = self.pin_motion(&title, name.span, pin, log) else { continue };
            let to_local = pose_at(&motion, 0.0).inverse();
            let attached = matches!(pin.motion, Some(PinMotion::Attached { .. }));
            let carrier = Arc::new(Carrier::new(motion));
            let until = pin.until.unwrap_or(f64::INFINITY);
            for node in nodes {
                if let Some(other) = holders.insert(node, &name.value) {
                    let message = format!("{title}: node {node} is already held by `{other}`");
                    log.error(name.span, message).help("let each node be held once");
                    break;
                }
                let start = made.mesh.positions[node as usize];
                let local = if attached { to_local.point(start) } else { start };
                let script = Arc::new(CarriedPoint { carrier: Arc::clone(&carrier), local });
                all.push(Pin { garment, node, script, until });
            }
        }
        all
    }

    /// The nodes a pin takes hold of, sorted.
    fn nodes(&self, title: &str, span: Span, pin: &PinTable, x: &[Vec3], log: &mut Log) -> Vec<u32> {
        let mut nodes = Vec::new();
        for node in &pin.nodes.value {
            if *node as usize >= x.len() {
                let message = format!("{title}: there is no node {node}, the mesh has {}", x.len());
                log.error(pin.nodes.span, message).label("nodes are counted from 0");
                continue;
            }
            nodes.push(*node);
        }
        if let Some([a, b]) = pin.inside.value {
            let bounds = billow_geom::Aabb::of_points(&[a, b]);
            nodes.extend((0..x.len() as u32).filter(|i| bounds.contains(x[*i as usize])));
        }
        for point in &pin.nearest.value {
            let nearest = (0..x.len() as u32).min_by(|a, b| {
                let distance = |i: &u32| x[*i as usize].distance_squared(*point);
                distance(a).total_cmp(&distance(b))
            });
            nodes.extend(nearest);
        }
        nodes.sort_unstable();
        nodes.dedup();
        if nodes.is_empty() && !log.has_errors() {
            let bounds = billow_geom::Aabb::of_points(x);
            log.error(span, format!("{title} holds no node")).help(format!(
                "give `nodes`, `inside` or `nearest`; at the start the cloth reaches from {} to {} m",
                bounds.min, bounds.max
            ));
        }
        nodes
    }

    /// The motion of pinned nodes; of those attached to a body, the body's.
    fn pin_motion(&self, title: &str, span: Span, pin: &PinTable, log: &mut Log) -> Option<Motion> {
        let parameters = self.context.parameters;
        match &pin.motion {
            None | Some(PinMotion::Fixed {}) => Some(Motion::Static(Pose::IDENTITY)),
            Some(PinMotion::Attached { body }) => {
                find(&body.0, body.span, "body", &self.context.table.body, log)?;
                let found = self.context.bodies.iter().find(|b| b.name == body.0)?;
                if !found.motion.is_prescribed() {
                    log.error(
                        body.span,
                        format!("`{}` moves freely: cloth cannot be attached to it", body.0),
                    )
                    .help("attach it to a static, keyframed or scripted body");
                    return None;
                }
                Some(found.motion.clone())
            }
            Some(PinMotion::Keyframed {
                times,
                positions,
                rotations,
                pivot,
                interpolation,
                extrapolation,
            }) => {
                let (positions, rotations) =
                    keys((title, span), (times, positions, rotations), parameters, log)?;
                let track = Track {
                    times: times.value.clone(),
                    positions,
                    rotations,
                    pivot: pivot.value,
                    interpolation: interpolation.value,
                    extrapolation: extrapolation.value,
                };
                self.starts_in_place(Motion::Keyframed(track.align()), title, span, log)
            }
            Some(PinMotion::Scripted { displacement, rotation, pivot }) => {
                let probe = Probe { timing: self.context.timing, tries: 512 };
                let script = script((&displacement.value, rotation, pivot.value), parameters, probe, log)?;
                self.starts_in_place(Motion::Scripted(script), title, span, log)
            }
        }
    }

    /// Refuses motions that would tear pinned nodes away from their start.
    fn starts_in_place(&self, motion: Motion, title: &str, span: Span, log: &mut Log) -> Option<Motion> {
        let pose = pose_at(&motion, 0.0);
        if pose.position.length() > 1e-9 || pose.rotation.angle_between(Quat::IDENTITY) > 1e-9 {
            log.error(
                span,
                format!("{title} does not begin where the nodes are: at t = 0 it displaces them"),
            )
            .help("let displacement and turn be zero at t = 0, and place the cloth instead");
            return None;
        }
        Some(motion)
    }
}

/// The mesh of a piece; problems go to the log.
fn sheet(shape: &Shape, span: Span, log: &mut Log) -> Option<TriMesh> {
    let Shape::Triangles { positions, triangles } = shape else {
        log.error(span, "cloth needs a mesh of triangles, but this one has tetrahedra");
        return None;
    };
    let mesh = TriMesh { positions: positions.to_vec(), triangles: triangles.to_vec() };
    let report = MeshReport::new(&mesh);
    let faults = [
        (report.out_of_range.len() + report.repeated_index.len(), "triangles with wrong corners"),
        (report.zero_area.len(), "triangles without area"),
        (report.non_manifold_edges.len(), "edges of more than two triangles"),
        (report.unused_vertices.len(), "vertices without triangles"),
    ];
    let found: Vec<String> =
        faults.iter().filter(|f| f.0 > 0).map(|(count, what)| format!("{count} {what}")).collect();
    if !found.is_empty() {
        log.error(span, format!("this mesh cannot be cloth: it has {}", found.join(", ")))
            .help("repair the mesh, or try `weld = 0` if it comes from a file");
        return None;
    }
    Some(mesh)
}
