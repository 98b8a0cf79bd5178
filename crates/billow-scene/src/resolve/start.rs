//! The initial state is audited like any frame: a run that begins crossed cannot be blamed on the solver.
//!
//! Cloth is judged whatever the scene says about audits: from a state without crossings the solver keeps it so, from
//! another it cannot.

use super::Resolved;
use crate::World;
use crate::cloth::{ClothPlan, pose_at};
use crate::driver::{Auditor, ObjectCrossing, OnCrossing, Simulation};
use crate::read::log::{Log, Span};
use crate::tables::SceneTable;

/// Reports every pair of objects that cross at t = 0 without leave, and cloth that begins inside a body.
pub(super) fn check_start(table: &SceneTable, scene: &Resolved, log: &mut Log) {
    let plan = scene.cloth.as_deref();
    let first = World::new(scene).snapshot(0, 0.0);
    if let Some(rigid) = &scene.rigid {
        super::rigid::check_start(table, rigid, &first, log);
    }
    if plan.is_none() && scene.output.on_crossing == OnCrossing::Off {
        return;
    }
    // Surfaces of the collision pipeline get no leave to cross cloth.
    let in_pipeline =
        |name: &str| plan.is_some_and(|p| is_cloth(p, name) || p.obstacles.iter().any(|o| o.name == name));
    let touches_cloth = |[a, b]: &[String; 2]| {
        plan.is_some_and(|p| is_cloth(p, a) || is_cloth(p, b)) && in_pipeline(a) && in_pipeline(b)
    };
    let may_cross: Vec<_> =
        scene.output.may_cross.iter().filter(|pair| !touches_cloth(pair)).cloned().collect();
    let audit = Auditor::new(&may_cross).leave_out(&scene.measured_names()).audit(&first);
    for crossing in &audit.objects {
        let with_cloth = plan.is_some_and(|p| crossing.objects.iter().any(|name| is_cloth(p, name)));
        if scene.output.on_crossing == OnCrossing::Off && !with_cloth {
            continue;
        }
        if let Some(at) = span_of(table, &crossing.objects[1]) {
            let allowed = with_cloth && plan.is_some_and(|p| p.allow_crossings);
            report(crossing, (with_cloth, allowed), at, log);
        }
    }
    if let Some(plan) = plan {
        find_swallowed(table, plan, log);
    }
}

fn is_cloth(plan: &ClothPlan, name: &str) -> bool {
    plan.pieces.iter().any(|piece| piece.name == name)
}

/// Where an object is named in the file.
pub(super) fn span_of(table: &SceneTable, name: &str) -> Option<Span> {
    // A copy of an array is called after its body, with a number.
    let group = name.rsplit_once('-').map_or(name, |parts| parts.0);
    let entries = &table.body.entries;
    let body = entries.iter().find(|b| b.0.value == name).or(entries.iter().find(|b| b.0.value == group));
    body.map(|b| b.0.span)
        .or_else(|| table.cloth.entries.iter().find(|c| c.0.value == name).map(|c| c.0.span))
}

fn report(crossing: &ObjectCrossing, (with_cloth, allowed): (bool, bool), at: Span, log: &mut Log) {
    let [a, b] = &crossing.objects;
    let count = if crossing.pairs == 1 { "1 pair".to_owned() } else { format!("{} pairs", crossing.pairs) };
    let [i, j] = crossing.elements;
    let p = crossing.place;
    let place = format!("near [{:.4}, {:.4}, {:.4}] m", p.x, p.y, p.z);
    let message = if a == b {
        format!("`{a}` crosses itself at the start: {count}, first triangles {i} and {j} {place}")
    } else {
        format!(
            "`{a}` and `{b}` cross at the start: {count}, first triangle {i} of `{a}` and {j} of `{b}` {place}"
        )
    };
    let help = if with_cloth {
        let pairs: Vec<String> = crossing.listed.iter().map(|[i, j]| format!("{i}–{j}")).collect();
        let more = if crossing.pairs > pairs.len() as u64 { ", …" } else { "" };
        let listed = format!("these triangles cross: {}{more}", pairs.join(", "));
        if allowed {
            log.warning(at, message).help(format!("they are left alone until they part; {listed}"));
            return;
        }
        format!(
            "cloth must begin without crossings, or with allow_initial_crossings = true under [cloth_solver]; {listed}"
        )
    } else {
        format!("move them apart, or allow it with may_cross = [[\"{a}\", \"{b}\"]] under [output]")
    };
    log.error(at, message).help(help);
}

/// Reports cloth whose nodes begin inside a body that they meet by distance.
fn find_swallowed(table: &SceneTable, plan: &ClothPlan, log: &mut Log) {
    for solid in &plan.solids {
        let pose = pose_at(&solid.motion, 0.0);
        for (k, piece) in plan.pieces.iter().enumerate() {
            let held = |i: usize| plan.pins.iter().any(|p| p.garment == k && p.node as usize == i);
            let depths = piece.shape.positions().iter().enumerate().filter_map(|(i, x)| {
                let depth = -solid.shape.phi(pose.inverse_point(*x), 0.0);
                (depth > 0.0 && !held(i)).then_some((i, depth, *x))
            });
            let inside: Vec<_> = depths.collect();
            let Some((node, depth, x)) = inside.iter().max_by(|a, b| a.1.total_cmp(&b.1)) else { continue };
            let Some(at) = span_of(table, &piece.name) else { continue };
            log.error(
                at,
                format!(
                    "{} nodes of `{}` begin inside `{}`, deepest node {node} by {depth:.4} m at [{:.4}, {:.4}, {:.4}] m",
                    inside.len(), piece.name, solid.name, x.x, x.y, x.z
                ),
            )
            .help("move them apart, or say collision = \"none\" for the body");
        }
    }
}
