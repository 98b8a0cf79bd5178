//! Collisions: pairs whose trajectories come too close.

use crate::pair::Pair;
use crate::search::{Fit, Search};
use crate::Contact;
use billow_geom::ccd::Hit;

/// When more than one node in this many changed, everything is tested again instead of what is around each.
const MANY: usize = 12;

/// A pair that would meet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Collision {
    pub(crate) pair: Pair,
    pub(crate) hit: Hit,
}

impl Collision {
    /// The pair as it meets.
    pub(crate) fn contact(&self) -> Contact {
        Contact { nodes: self.pair.nodes, weights: self.hit.weights, normal: self.hit.normal }
    }
}

/// What a test of trajectories found.
#[derive(Debug, Default)]
pub(crate) struct Detected {
    /// Earliest first, each pair once.
    pub(crate) collisions: Vec<Collision>,
    /// Pairs looked at.
    pub(crate) candidates: u64,
    /// Pairs whose trajectories had to be tested.
    pub(crate) tests: u64,
}

/// Tests all pairs with a node whose trajectory `changed` since the last test; all pairs if there was none.
pub(crate) fn detect(search: &mut Search, fit: Fit<'_>, changed: Option<&[u32]>) -> Detected {
    let (surface, path) = (fit.surface, fit.path);
    let look = |part: &mut Detected, pair: Pair| part.look(fit, pair);
    let found = match changed {
        Some(changed) if changed.len() <= path.x0.len() / MANY => search.around(fit, changed, look),
        _ => {
            search.fit(fit);
            let mut found = search.vertex_faces(surface, look);
            found.append(&mut search.edge_pairs(surface, look));
            found
        }
    };
    let mut all = Detected::default();
    for mut part in found {
        all.collisions.append(&mut part.collisions);
        all.candidates += part.candidates;
        all.tests += part.tests;
    }
    all.collisions.sort_unstable_by(|a, b| a.hit.toi.total_cmp(&b.hit.toi).then(a.pair.cmp(&b.pair)));
    all.collisions.dedup_by_key(|collision| collision.pair);
    all
}

impl Detected {
    #[inline(always)]
    fn look(&mut self, fit: Fit<'_>, pair: Pair) {
        self.candidates += 1;
        let ((x0, x1), separation) = (fit.path.of(&pair), fit.reach * pair.gap(fit.surface));
        if pair.stay_beyond(&x0, &x1, separation) {
            return;
        }
        let (contact, distance) = pair.nearest(&x0);
        // Elements that start closer than the usual separation keep half of what they have.
        let separation = separation.min(0.5 * distance);
        if !pair.kept_apart(contact.normal, &x0, &x1, separation) {
            self.tests += 1;
            let hit = pair.meet(&x0, &x1, separation);
            self.collisions.extend(hit.map(|hit| Collision { pair, hit }));
        }
    }
}
