//! The scene's own checks: names found, formulas compiled.

use super::{find_body, formula};
use crate::check::{Check, Criterion};
use crate::cloth::ClothPlan;
use crate::expr::Expr;
use crate::read::declare::At;
use crate::read::log::{Log, nearest};
use crate::scene::Body;
use crate::tables::{CheckKind, SceneTable};
use billow_num::Vec3;

/// All checks that make sense.
pub(super) fn checks(
    table: &SceneTable,
    (bodies, cloth): (&[Body], Option<&ClothPlan>),
    parameters: &[(String, f64)],
    log: &mut Log,
) -> Vec<Check> {
    let statistics = crate::systems::statistic_names(bodies, cloth);
    // A body with problems of its own has no statistics yet: do not report the consequence.
    let pieces = cloth.map_or(0, |plan| plan.pieces.len());
    let made = |name: &str| bodies.iter().any(|b| b.group == name);
    let complete = table.body.names().all(made)
        && table.body.broken.is_empty()
        && pieces == table.cloth.entries.len()
        && table.cloth.broken.is_empty();
    let mut all = Vec::new();
    for (name, check) in &table.check.entries {
        let criterion = match &check.kind {
            CheckKind::Constant { statistic, relative, absolute } => {
                known(statistic, &statistics, complete, log).map(|statistic| Criterion::Constant {
                    statistic,
                    relative: relative.value,
                    absolute: absolute.value,
                })
            }
            CheckKind::Range { statistic, min, max } => {
                known(statistic, &statistics, complete, log).map(|statistic| {
                    let (min, max) = (min.unwrap_or(f64::NEG_INFINITY), max.unwrap_or(f64::INFINITY));
                    Criterion::Range { statistic, min, max }
                })
            }
            CheckKind::Path { body, position, tolerance } => {
                let found = find_body(&body.0, body.span, bodies, &table.body, log);
                let position = position.value.each_ref().map(|f| formula(f, parameters, log));
                found.and(all_three(position)).map(|position| Criterion::Path {
                    body: body.0.clone(),
                    position,
                    tolerance: tolerance.value,
                })
            }
            CheckKind::Elements { body, at_least, max_aspect, min_angle, max_angle } => {
                find_body(&body.0, body.span, bodies, &table.body, log).map(|_| Criterion::Elements {
                    body: body.0.clone(),
                    at_least: at_least.value,
                    max_aspect: max_aspect.unwrap_or(f64::INFINITY),
                    angles: [min_angle.unwrap_or(0.0), max_angle.unwrap_or(180.0)],
                })
            }
            CheckKind::Flips { body, axis, along, at_least, at_most } => {
                let found = find_body(&body.0, body.span, bodies, &table.body, log);
                let (axis, along) = (direction(axis, log), direction(along, log));
                found.and(axis.zip(along)).map(|(axis, along)| Criterion::Flips {
                    body: body.0.clone(),
                    axis,
                    along,
                    at_least: at_least.value,
                    at_most: at_most.unwrap_or(u32::MAX),
                })
            }
            CheckKind::Penetration { max, mean } => {
                let rigid = bodies.iter().any(|b| matches!(b.motion, crate::motion::Motion::Rigid(_)));
                if !rigid && complete {
                    log.error(name.span, "there are no rigid bodies whose penetration could be measured")
                        .help("give a body motion = \"rigid\", or remove the check");
                }
                Some(Criterion::Penetration { max: max.value, mean: mean.unwrap_or(f64::INFINITY) })
            }
        };
        if let Some(criterion) = criterion {
            let (from, to) = (check.from_frame.value, check.to_frame.unwrap_or(u32::MAX));
            if from > to {
                let message = format!("`from_frame` is {from}, but `to_frame` is {to}");
                log.error(check.to_frame.span, message);
            }
            let needs_frame = check.needs_frame.value.max(from);
            all.push(Check { name: name.value.clone(), needs_frame, frames: [from, to], criterion });
        }
    }
    all
}

fn all_three([x, y, z]: [Option<Expr>; 3]) -> Option<[Expr; 3]> {
    Some([x?, y?, z?])
}

fn direction(v: &At<Vec3>, log: &mut Log) -> Option<Vec3> {
    let unit = v.value.try_normalize();
    if unit.is_none() {
        log.error(v.span, format!("{} has no direction", v.value));
    }
    unit
}

/// A statistic the run will have.
fn known(name: &At<String>, statistics: &[String], complete: bool, log: &mut Log) -> Option<String> {
    if statistics.contains(&name.value) {
        return Some(name.value.clone());
    }
    if complete {
        let help = match nearest(&name.value, statistics.iter().map(String::as_str)) {
            Some(guess) => format!("did you mean \"{guess}\"?"),
            None => {
                format!("there are {}", statistics.iter().take(16).cloned().collect::<Vec<_>>().join(", "))
            }
        };
        log.error(name.span, format!("there is no statistic called {:?}", name.value)).help(help);
    }
    None
}
