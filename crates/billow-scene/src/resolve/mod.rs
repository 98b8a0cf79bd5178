//! From the tables of a scene file to a validated scene: names found, meshes made, formulas compiled.

mod array;
mod body;
mod check;
mod cloth;
mod look;
mod mesh;
mod mesher;
mod obstacle;
mod rigid;
mod start;

use crate::check::Check;
use crate::cloth::ClothPlan;
use crate::driver::OnCrossing;
use crate::expr::Expr;
use crate::read::files::Files;
use crate::read::log::{Log, Span, nearest};
use crate::read::values::{BodyName, Formula, Named};
use crate::rigid::RigidPlan;
use crate::scene::{Body, Output, Timing};
use crate::tables::{AuditPolicy, OutputTable, RotationTable, SceneTable, SimulationTable, Up};
use billow_num::{Quat, Vec3};
use std::sync::Arc;
use std::time::Duration;

/// Standard acceleration of free fall [m/s²].
const STANDARD_GRAVITY: f64 = 9.80665;

/// The contents of a scene.
#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    pub(crate) timing: Timing,
    pub(crate) bodies: Vec<Body>,
    pub(crate) cloth: Option<Arc<ClothPlan>>,
    pub(crate) rigid: Option<Arc<RigidPlan>>,
    pub(crate) output: Output,
    pub(crate) checks: Vec<Check>,
    pub(crate) look: billow_render::Look,
}

impl Resolved {
    /// Names of the objects of a frame: bodies, then cloth, in the order of the file.
    pub(crate) fn object_names(&self) -> impl Iterator<Item = &str> {
        let cloth = self.cloth.iter().flat_map(|plan| &plan.pieces);
        self.bodies.iter().map(|b| b.name.as_str()).chain(cloth.map(|c| c.name.as_str()))
    }

    /// Names of the bodies whose overlaps are measured instead of audited. Thin shells keep a distance, and are audited.
    pub(crate) fn measured_names(&self) -> Vec<String> {
        self.rigid.iter().flat_map(|plan| plan.measured_names()).map(str::to_owned).collect()
    }
}

/// Validates everything a single table cannot know. Problems go to the log.
pub(crate) fn resolve(table: &SceneTable, files: &mut Files, log: &mut Log) -> Option<Resolved> {
    let parameters = parameters(&table.parameter, log);
    let timing = timing(&table.simulation.value, &parameters, log);
    let meshes = mesh::meshes(table, &parameters, files, log);
    let bodies = body::bodies(table, &meshes, &parameters, &timing, log);
    let context =
        cloth::Context { table, meshes: &meshes, bodies: &bodies, parameters: &parameters, timing: &timing };
    let cloth = cloth::cloth(&context, log).map(Arc::new);
    let rigid = rigid::rigid(table, (&meshes, &bodies), &timing, log).map(Arc::new);
    let output = output(table, &bodies, log);
    let checks = check::checks(table, (&bodies, cloth.as_deref()), &parameters, log);
    let look = look::look(table, &bodies, log);
    if log.has_errors() {
        return None;
    }
    mesh::warn_of_unused(table, log);
    let resolved = Resolved { timing, bodies, cloth, rigid, output, checks, look };
    start::check_start(table, &resolved, log);
    Some(resolved)
}

/// Names for formulas; those the language already uses are refused.
fn parameters(table: &Named<f64>, log: &mut Log) -> Vec<(String, f64)> {
    let (functions, constants) = crate::expr::vocabulary();
    for (name, _) in &table.entries {
        let taken = functions.iter().any(|f| f.0 == name.value) || constants.contains(&name.value.as_str());
        if taken || name.value == "t" {
            log.error(name.span, format!("`{}` already means something in formulas", name.value))
                .help("choose another name for the parameter");
        } else if name.value.contains('-') || name.value.starts_with(|c: char| c.is_numeric()) {
            log.error(name.span, format!("`{}` cannot be used in a formula", name.value))
                .help("parameters have letters, digits and `_`, and do not begin with a digit");
        }
    }
    table.entries.iter().map(|(name, x)| (name.value.clone(), *x)).collect()
}

fn timing(table: &SimulationTable, parameters: &[(String, f64)], log: &mut Log) -> Timing {
    let up = table.up.value;
    let down = match up {
        Up::Y => -Vec3::Y,
        Up::Z => -Vec3::Z,
    };
    let given = table.gravity.as_ref().map(|g| g.each_ref().map(|f| formula(f, parameters, log)));
    let given = match given {
        Some([Some(x), Some(y), Some(z)]) => Some([x, y, z]),
        _ => None,
    };
    let at_start = given.as_ref().map(|g| Vec3::from_array([0, 1, 2].map(|k| g[k].eval(0.0))));
    Timing {
        varying_gravity: given.filter(|g| g.iter().any(|e| !e.is_constant())),
        frames: table.frames.value,
        fps: table.fps.value,
        substeps: table.substeps.value,
        gravity: at_start.unwrap_or(down * STANDARD_GRAVITY),
        up,
        max_halvings: table.max_halvings.value,
        time_limit: table.time_limit.map(Duration::from_secs_f64),
    }
}

fn output(scene: &SceneTable, bodies: &[Body], log: &mut Log) -> Output {
    let table: &OutputTable = &scene.output.value;
    for pair in &table.may_cross.value {
        for name in &pair.value {
            let known = |b: &Body| b.name == name.0 || b.group == name.0;
            if !scene.cloth.names().any(|cloth| cloth == name.0) && !bodies.iter().any(known) {
                find(&name.0, pair.span, "body", &scene.body, log);
            }
        }
    }
    Output {
        directory: table.directory.as_ref().map(|p| p.0.clone().into()),
        every: table.every.value,
        attributes: table.attributes.value.clone(),
        on_crossing: match table.audit.value {
            AuditPolicy::Off => OnCrossing::Off,
            AuditPolicy::Report => OnCrossing::Report,
            AuditPolicy::Fail => OnCrossing::Fail,
        },
        may_cross: table.may_cross.iter().flat_map(|pair| crossing_pairs(&pair.value, bodies)).collect(),
    }
}

/// All pairs of objects that a pair of names stands for; the name of an array stands for its copies.
fn crossing_pairs([a, b]: &[BodyName; 2], bodies: &[Body]) -> Vec<[String; 2]> {
    let objects = |name: &BodyName| -> Vec<String> {
        let copies: Vec<_> = bodies.iter().filter(|b| b.group == name.0).map(|b| b.name.clone()).collect();
        if copies.is_empty() { vec![name.0.clone()] } else { copies }
    };
    let second = objects(b);
    objects(a).iter().flat_map(|x| second.iter().map(|y| [x.clone(), y.clone()])).collect()
}

/// The index of `name` among the entries; a miss is reported with the nearest name.
fn find<T>(name: &str, span: Span, what: &str, named: &Named<T>, log: &mut Log) -> Option<usize> {
    if let Some(index) = named.names().position(|n| n == name) {
        return Some(index);
    }
    if named.broken.iter().any(|n| n == name) {
        return None;
    }
    let all = || named.names().chain(named.broken.iter().map(String::as_str));
    let shown: Vec<&str> = all().take(12).collect();
    let help = match nearest(name, all()) {
        Some(guess) => format!("did you mean \"{guess}\"?"),
        None if shown.is_empty() => format!("the scene has no {what} yet: add [{what}.{}]", word(name)),
        None => format!("the scene has {}", shown.join(", ")),
    };
    log.error(span, format!("there is no {what} called {name:?}")).help(help);
    None
}

/// Whether `name` is a body, or one of the copies of one; a miss is reported.
fn find_body<T>(name: &str, span: Span, bodies: &[Body], named: &Named<T>, log: &mut Log) -> Option<()> {
    if bodies.iter().any(|b| b.name == name) {
        return Some(());
    }
    if bodies.iter().any(|b| b.group == name) {
        let message = format!("`{name}` is an array: name one of its copies");
        log.error(span, message).help("copies are called NAME-0, NAME-1 and so on, with leading zeros");
        return None;
    }
    find(name, span, "body", named, log).map(|_| ())
}

/// `name` if it could stand in a table header, else a stand-in.
fn word(name: &str) -> &str {
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_');
    if plain { name } else { "NAME" }
}

/// Compiles a formula; errors point into its text.
fn formula(formula: &Formula, parameters: &[(String, f64)], log: &mut Log) -> Option<Expr> {
    match Expr::parse(&formula.text, parameters) {
        Ok(expr) => Some(expr),
        Err(wrong) => {
            let span = match formula.text_start {
                Some(at) => {
                    Span { file: formula.span.file, start: at + wrong.span.start, end: at + wrong.span.end }
                }
                None => formula.span,
            };
            log.error(span, wrong.message).help = wrong.help;
            None
        }
    }
}

/// A rotation as written: about an axis by a formula, or fixed.
enum Turn {
    About(Vec3, Formula),
    Fixed(Quat),
}

/// Decides which of its three forms a rotation has.
fn turn(table: &RotationTable, span: Span, log: &mut Log) -> Option<Turn> {
    let unreadable = (table.axis.given && table.axis.is_none())
        || (table.degrees.given && table.degrees.is_none())
        || (table.quaternion.given && table.quaternion.is_none())
        || (table.euler.given && table.euler.is_none());
    if unreadable {
        return None;
    }
    let forms = [table.axis.given || table.degrees.given, table.quaternion.given, table.euler.given];
    if forms.iter().filter(|f| **f).count() != 1 {
        log.error(span, "a rotation is given in exactly one way")
            .help("write `axis` and `degrees`, or `quaternion`, or `euler`");
        return None;
    }
    if let Some(angles) = table.euler.value {
        let [x, y, z] = (angles / 360.0).fract().to_array().map(|turns| (turns * 360.0).to_radians());
        let q = Quat::from_rotation_z(z) * Quat::from_rotation_y(y) * Quat::from_rotation_x(x);
        return Some(Turn::Fixed(q.normalize()));
    }
    if let Some(q) = table.quaternion.value {
        let length = q.iter().map(|x| x * x).sum::<f64>().sqrt();
        if !(length.is_finite() && length > 1e-6) {
            log.error(table.quaternion.span, format!("a quaternion of length {length} gives no orientation"));
            return None;
        }
        return Some(Turn::Fixed(Quat::from_array(q.map(|x| x / length)).normalize()));
    }
    match (&table.axis.value, &table.degrees.value) {
        (Some(axis), Some(degrees)) => {
            let length = axis.length();
            if !(length.is_finite() && length > 1e-12) {
                log.error(table.axis.span, format!("an axis of length {length} has no direction"));
                return None;
            }
            Some(Turn::About(*axis / length, degrees.clone()))
        }
        _ => {
            log.error(span, "`axis` and `degrees` need each other");
            None
        }
    }
}

/// A rotation that may not depend on time.
fn fixed_rotation(
    table: &RotationTable,
    span: Span,
    parameters: &[(String, f64)],
    log: &mut Log,
) -> Option<Quat> {
    match turn(table, span, log)? {
        Turn::Fixed(q) => Some(q),
        Turn::About(axis, degrees) => {
            let degrees = constant(&degrees, parameters, log)?;
            Some(Quat::from_axis_angle(axis, (degrees % 360.0).to_radians()).normalize())
        }
    }
}

/// The value of a formula that may not depend on time.
fn constant(text: &Formula, parameters: &[(String, f64)], log: &mut Log) -> Option<f64> {
    let expr = formula(text, parameters, log)?;
    if !expr.is_constant() {
        log.error(text.span, "this value must not depend on the time t")
            .help("only a body with motion = \"scripted\" may move by formulas");
        return None;
    }
    finite(expr.eval(0.0), 0.0, text.span, log)
}

/// `x`, unless it is not finite.
fn finite(x: f64, t: f64, span: Span, log: &mut Log) -> Option<f64> {
    if x.is_finite() {
        return Some(x);
    }
    log.error(span, format!("the formula is {x} at t = {t} s")).label("not finite");
    None
}
