//! Bodies: mesh, material and motion put together.

use super::array::{Copy, copies};
use super::mesh::{MeshEntry, Solid};
use super::obstacle::surface;
use super::{Turn, constant, find, finite, fixed_rotation, formula, turn};
use crate::expr::Expr;
use crate::material::Material;
use crate::motion::{Flight, Launch, MassModel, Morph, Motion, Script, Track, pose_about};
use crate::read::declare::At;
use crate::read::log::{Log, Span};
use crate::read::values::Formula;
use crate::scene::{Body, Timing};
use crate::tables::cloth::Collision;
use crate::tables::{BodyTable, MotionTable, RotationTable, SceneTable};
use billow_io::Shape;
use billow_num::{Pose, Quat, Vec3};
use std::collections::HashSet;
use std::sync::Arc;

/// Most triangles and tetrahedra of all bodies together.
const MOST_ELEMENTS: usize = 20_000_000;
/// Over all bodies, formulas are tried at about so many times to see whether they stay finite.
const PROBES: usize = 40_000;

/// All bodies that could be made.
pub(super) fn bodies(
    table: &SceneTable,
    meshes: &[Option<MeshEntry>],
    parameters: &[(String, f64)],
    timing: &Timing,
    log: &mut Log,
) -> Vec<Body> {
    let mut bodies = Vec::new();
    let mut elements = 0_usize;
    for (name, body) in &table.body.entries {
        let mesh = find(&body.mesh.0, body.mesh.span, "mesh", &table.mesh, log);
        let material = match &body.material.value {
            Some(wanted) => find(&wanted.0, body.material.span, "material", &table.material, log)
                .map(|index| Material::resolve(&table.material.entries[index].1)),
            None => Some(Material::default()),
        };
        let mesh = mesh.and_then(|index| meshes[index].as_ref());
        let probes = (PROBES / table.body.entries.len()).clamp(16, 4096) as u32;
        let maker =
            Maker { name: name.value.clone(), span: name.span, table: body, parameters, timing, probes };
        let (Some(mesh), Some(material)) = (mesh, material) else {
            // What is wrong with the motion can be said all the same.
            let _ = maker.motion(&Copy::ITSELF, mesh, material, log);
            continue;
        };
        let Some(copies) = maker.copies(mesh, log) else { continue };
        elements = elements.saturating_add(mesh.shape.element_count().saturating_mul(copies.len()));
        if elements > MOST_ELEMENTS {
            log.error(name.span, format!("the bodies have more than {MOST_ELEMENTS} elements together"));
            break;
        }
        let Some(morph) = maker.morph(mesh, (table, meshes), log) else { continue };
        let mass = maker.mass(mesh, material);
        let digits = copies.len().saturating_sub(1).to_string().len();
        for (k, copy) in copies.iter().enumerate() {
            let Some(motion) = maker.motion(copy, Some(mesh), Some(material), log) else { break };
            let own = &name.value;
            let name = if body.array.is_some() { format!("{own}-{k:0digits$}") } else { own.clone() };
            let material = Material { colour: copy.colour.unwrap_or(material.colour), ..material };
            bodies.push(Body {
                name,
                group: own.clone(),
                shape: mesh.shape.clone(),
                material,
                motion,
                mass,
                meets_rigid: body.collision.value != Collision::None && morph.is_none(),
                morph: morph.clone(),
                colour: copy.colour,
            });
        }
    }
    refuse_twins(table, &bodies, log);
    bodies
}

/// Names of copies may not be those of other bodies.
fn refuse_twins(table: &SceneTable, bodies: &[Body], log: &mut Log) {
    let mut seen = HashSet::new();
    for body in bodies {
        if !seen.insert(body.name.as_str())
            && let Some(entry) = table.body.entries.iter().find(|e| e.0.value == body.group)
        {
            log.error(entry.0.span, format!("two bodies are called `{}`", body.name))
                .help("copies of an array are called NAME-0, NAME-1 and so on: rename one of the bodies");
            return;
        }
    }
}

/// What is known about a body while its motion is made.
struct Maker<'a> {
    name: String,
    span: Span,
    table: &'a BodyTable,
    parameters: &'a [(String, f64)],
    timing: &'a Timing,
    probes: u32,
}

impl Maker<'_> {
    /// The copies of the body; itself alone unless it is an array.
    fn copies(&self, mesh: &MeshEntry, log: &mut Log) -> Option<Vec<Copy>> {
        let Some(array) = &self.table.array.value else { return Some(vec![Copy::ITSELF]) };
        let span = self.table.array.span;
        if matches!(self.table.motion, Some(MotionTable::Scripted {})) {
            log.error(span, "a body that follows formulas cannot be an array")
                .help("use keyframes, which all copies follow from where they begin");
            return None;
        }
        let extent = mesh.shape.positions().iter().map(|x| x.length()).fold(0.0, f64::max);
        copies(array, (span, extent, self.timing.up_vector()), self.parameters, log)
    }

    /// How the body deforms, if it does; `None` after a problem.
    fn morph(
        &self,
        mesh: &MeshEntry,
        (scene, meshes): (&SceneTable, &[Option<MeshEntry>]),
        log: &mut Log,
    ) -> Option<Option<Arc<Morph>>> {
        let BodyTable { morph, morph_times: times, .. } = self.table;
        if morph.is_empty() && times.is_empty() {
            return Some(None);
        }
        if morph.len() != times.len() {
            let message =
                format!("`morph` has {} values, but `morph_times` has {}", morph.len(), times.len());
            log.error(if morph.given { morph.span } else { times.span }, message);
            return None;
        }
        if let Some(k) = (1..times.len()).find(|k| times[*k] <= times[*k - 1]) {
            let message =
                format!("`morph_times` must increase, but {} comes after {}", times[k], times[k - 1]);
            log.error(times.span, message);
            return None;
        }
        if matches!(self.table.motion, Some(MotionTable::Free { .. } | MotionTable::Rigid { .. })) {
            log.error(morph.span, format!("`{}` moves by itself and cannot deform", self.name))
                .help("only a static, keyframed or scripted body can");
            return None;
        }
        let mut keys = Vec::new();
        for name in &morph.value {
            let index = find(&name.0, morph.span, "mesh", &scene.mesh, log)?;
            let key = meshes[index].as_ref()?;
            match (&mesh.shape, &key.shape) {
                (
                    Shape::Triangles { positions: p, triangles: t },
                    Shape::Triangles { positions: q, triangles: u },
                ) if p.len() == q.len() && t == u => keys.push(Arc::clone(q)),
                _ => {
                    let message = format!(
                        "the mesh `{}` does not have the triangles of `{}`",
                        name.0, self.table.mesh.0
                    );
                    log.error(morph.span, message).help(
                        "a body deforms between meshes of triangles that differ in their positions only",
                    );
                    return None;
                }
            }
        }
        Some(Some(Arc::new(Morph { times: times.value.clone(), keys })))
    }

    /// Mass and inertia: of the solid, or of the sheet if the body is rigid and open.
    fn mass(&self, mesh: &MeshEntry, material: Material) -> Option<MassModel> {
        let Some(MotionTable::Rigid { mass, .. }) = &self.table.motion else {
            return mesh.solid.map(|solid| solid.mass_model(material.density));
        };
        let (matter, density) = match &mesh.solid {
            Some(solid) => (*solid, material.density),
            None => (Solid::of_shell(&surface(&mesh.shape)?)?, material.density * material.thickness),
        };
        let model = matter.mass_model(density);
        let factor = mass.map_or(1.0, |given| given / model.mass);
        Some(MassModel { mass: model.mass * factor, moments: model.moments * factor, ..model })
    }

    fn motion(
        &self,
        copy: &Copy,
        mesh: Option<&MeshEntry>,
        material: Option<Material>,
        log: &mut Log,
    ) -> Option<Motion> {
        match &self.table.motion {
            None | Some(MotionTable::Static {}) => Some(Motion::Static(self.placement(copy, log)?)),
            Some(MotionTable::Scripted {}) => self.script(log).map(Motion::Scripted),
            Some(MotionTable::Rigid { velocity, angular_velocity, .. }) => Some(Motion::Rigid(Launch {
                pose: self.placement(copy, log)?,
                velocity: velocity.value,
                angular_velocity: angular_velocity.value,
            })),
            Some(MotionTable::Keyframed { times, positions, rotations, interpolation, extrapolation }) => {
                let placement = self.placement_parts(copy, log);
                let title = format!("[body.{}]", self.name);
                let keys = keys((&title, self.span), (times, positions, rotations), self.parameters, log);
                let ((position, rotation), (positions, rotations)) = (placement?, keys?);
                let track = Track {
                    times: times.value.clone(),
                    positions: positions.iter().map(|p| position + *p).collect(),
                    rotations: rotations.iter().map(|q| (*q * rotation).normalize()).collect(),
                    pivot: self.table.pivot.value,
                    interpolation: interpolation.value,
                    extrapolation: extrapolation.value,
                };
                Some(Motion::Keyframed(track.align()))
            }
            Some(MotionTable::Free { velocity, angular_velocity }) => {
                let pose = self.placement(copy, log);
                let (mesh, material) = (mesh?, material?);
                let Some(solid) = &mesh.solid else {
                    log.error(
                        self.table.mesh.span,
                        format!("a free body needs a closed mesh, but this one has {}", mesh.open_reason),
                    )
                    .help(
                        "close the mesh, try `weld = 0` if it comes from a file, or give the body another motion",
                    );
                    return None;
                };
                Some(Motion::Free(Flight {
                    pose: pose?,
                    velocity: velocity.value,
                    angular_velocity: angular_velocity.value,
                    mass: solid.mass_model(material.density),
                }))
            }
        }
    }

    /// Position and orientation of a body that does not follow formulas.
    fn placement_parts(&self, copy: &Copy, log: &mut Log) -> Option<(Vec3, Quat)> {
        let position = self.table.position.value.each_ref().map(|f| constant(f, self.parameters, log));
        let rotation = match &self.table.rotation.value {
            Some(rotation) => fixed_rotation(rotation, self.table.rotation.span, self.parameters, log),
            None => Some(Quat::IDENTITY),
        };
        let [x, y, z] = position;
        Some((Vec3::new(x?, y?, z?) + copy.shift, copy.turn * rotation?))
    }

    fn placement(&self, copy: &Copy, log: &mut Log) -> Option<Pose> {
        self.placement_parts(copy, log)
            .map(|(position, rotation)| pose_about(self.table.pivot.value, position, rotation))
    }

    fn script(&self, log: &mut Log) -> Option<Script> {
        let BodyTable { position, rotation, pivot, .. } = self.table;
        let probe = Probe { timing: self.timing, tries: self.probes };
        script((&position.value, rotation, pivot.value), self.parameters, probe, log)
    }
}

/// Position, rotation and pivot of a scripted motion, as written.
type ScriptKeys<'a> = (&'a [Formula; 3], &'a At<Option<RotationTable>>, Vec3);

/// Compiles a motion by formulas and tries it.
pub(super) fn script(
    (position, rotation, pivot): ScriptKeys<'_>,
    parameters: &[(String, f64)],
    probe: Probe<'_>,
    log: &mut Log,
) -> Option<Script> {
    let compiled = position.each_ref().map(|f| formula(f, parameters, log));
    let turning = match &rotation.value {
        Some(table) => turn(table, rotation.span, log),
        None => Some(Turn::Fixed(Quat::IDENTITY)),
    };
    let (axis, degrees, rotation, degrees_text) = match turning? {
        Turn::Fixed(q) => (Vec3::Z, Some(Expr::constant(0.0)), q, None),
        Turn::About(axis, text) => (axis, formula(&text, parameters, log), Quat::IDENTITY, Some(text)),
    };
    let ([Some(x), Some(y), Some(z)], Some(degrees)) = (compiled, degrees) else { return None };
    let script = Script { position: [x, y, z], axis, degrees, rotation, pivot };
    let texts = position.iter().zip(&script.position);
    let texts = texts.chain(degrees_text.as_ref().map(|text| (text, &script.degrees)));
    let all_finite = texts.fold(true, |ok, (text, expr)| ok & probe.finite(text, expr, log));
    all_finite.then_some(script)
}

/// Tries formulas over the length of a run.
#[derive(Clone, Copy)]
pub(super) struct Probe<'a> {
    pub(super) timing: &'a Timing,
    /// About how many times are tried.
    pub(super) tries: u32,
}

impl Probe<'_> {
    /// Whether a formula is finite at every frame (of very long runs, at some of them).
    pub(super) fn finite(&self, text: &Formula, expr: &Expr, log: &mut Log) -> bool {
        let stride = self.timing.frames / self.tries + 1;
        (0..=self.timing.frames).step_by(stride as usize).all(|k| {
            let t = f64::from(k) / self.timing.fps;
            let x = expr.eval(t);
            if x.is_finite() && x.abs() > 1e9 {
                log.error(text.span, format!("the formula is {x} at t = {t} s")).label("must stay below 1e9");
                return false;
            }
            finite(x, t, text.span, log).is_some()
        })
    }
}

/// Times, positions and rotations of keys, as written.
type KeyLists<'a> = (&'a At<Vec<f64>>, &'a At<Vec<Vec3>>, &'a At<Vec<At<RotationTable>>>);

/// Checks the lists of a keyframed motion against each other.
pub(super) fn keys(
    (title, span): (&str, Span),
    (times, positions, rotations): KeyLists<'_>,
    parameters: &[(String, f64)],
    log: &mut Log,
) -> Option<(Vec<Vec3>, Vec<Quat>)> {
    let n = times.len();
    if n == 0 {
        return None;
    }
    let mut fine = true;
    if let Some(k) = (1..n).find(|k| times[*k] <= times[*k - 1]) {
        let message = format!("`times` must increase, but {} comes after {}", times[k], times[k - 1]);
        log.error(times.span, message);
        fine = false;
    }
    for (given, span, count, key) in [
        (positions.given, positions.span, positions.len(), "positions"),
        (rotations.given, rotations.span, rotations.len(), "rotations"),
    ] {
        if given && count != n {
            log.error(span, format!("`{key}` has {count} values, but `times` has {n}"));
            fine = false;
        }
    }
    if !positions.given && !rotations.given {
        log.error(span, format!("{title} is keyframed but has no keys"))
            .help("give `positions` or `rotations`, one value for each of `times`");
        fine = false;
    }
    let turns: Vec<Option<Quat>> =
        rotations.iter().map(|r| fixed_rotation(&r.value, r.span, parameters, log)).collect();
    let turns: Vec<Quat> = turns.into_iter().collect::<Option<_>>()?;
    let or = |empty: bool, n: usize| if empty { n } else { 0 };
    let positions =
        positions.iter().copied().chain(std::iter::repeat_n(Vec3::ZERO, or(positions.is_empty(), n)));
    let turns_missing = or(turns.is_empty(), n);
    let rotations = turns.into_iter().chain(std::iter::repeat_n(Quat::IDENTITY, turns_missing));
    fine.then(|| (positions.collect(), rotations.collect()))
}
