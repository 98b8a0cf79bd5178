//! The initial state is audited like any frame: a run that begins crossed cannot be blamed on the solver.

use super::Resolved;
use crate::World;
use crate::driver::{Auditor, Simulation};
use crate::read::log::Log;
use crate::tables::SceneTable;

/// Reports every pair of bodies that cross at t = 0 without leave.
pub(super) fn check_start(table: &SceneTable, scene: &Resolved, log: &mut Log) {
    let audit = Auditor::new(&scene.output.may_cross).audit(&World::new(scene).snapshot(0, 0.0));
    let span = |name: &str| table.body.entries.iter().find(|b| b.0.value == name).map(|b| b.0.span);
    for crossing in &audit.objects {
        let [a, b] = &crossing.objects;
        let (Some(_), Some(at)) = (span(a), span(b)) else { continue };
        let count =
            if crossing.pairs == 1 { "1 pair".to_owned() } else { format!("{} pairs", crossing.pairs) };
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
        log.error(at, message).help(format!(
            "move them apart, or allow it with may_cross = [[\"{a}\", \"{b}\"]] under [output]"
        ));
    }
}
