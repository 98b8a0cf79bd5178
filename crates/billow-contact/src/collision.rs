//! Collisions: pairs whose trajectories come too close.

use crate::Contact;
use crate::crossed::Candidate;
use crate::near::Near;
use crate::pair::Pair;
use crate::search::Search;
use crate::way::Fit;
use billow_geom::ccd::Hit;

/// Part of their distance that elements keep which start closer than the usual separation.
const KEPT: f64 = 0.5;

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

/// Which trajectories are to be tested.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Which<'a> {
    /// Those of all pairs that have any of the nodes.
    Around(&'a [u32]),
    /// Those of the listed pairs and of all pairs that have any of the nodes that strayed.
    Listed(&'a [u32]),
}

/// Tests the trajectories that the list took last.
pub(crate) fn detect((near, search): (&mut Near, &mut Search), fit: Fit<'_>, which: Which<'_>) -> Detected {
    let (Which::Around(nodes) | Which::Listed(nodes)) = which;
    let mut found = Vec::new();
    if !nodes.is_empty() {
        // Where nodes really go says more than where they are looked for.
        let look = |part: &mut Detected, candidate: Candidate| part.look(fit, candidate.pair);
        found = search.around(fit.surface, (nodes, Some(near.corners())), look);
    }
    if let Which::Listed(_) = which {
        let look = |part: &mut Detected, pair| part.look(fit, pair);
        found.append(&mut near.trajectories(search, fit, look));
    }
    merge(found)
}

/// All that was found in parts.
fn merge(found: Vec<Detected>) -> Detected {
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
        let ((x0, x1), separation) = (fit.path.of(&pair), fit.reach.of(pair.kind) * pair.gap(fit.surface));
        if let Some(separation) = pair.doubt(&x0, &x1, (separation, KEPT)) {
            self.tests += 1;
            let hit = pair.meet(&x0, &x1, separation);
            self.collisions.extend(hit.map(|hit| Collision { pair, hit }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Surface;
    use crate::pair::{Path, Reach};
    use billow_num::Vec3;
    use billow_num::rng::Stream;

    /// Three sheets of 11 × 11 nodes close above each other.
    fn layers() -> (Surface, Vec<Vec3>) {
        let (mut x, mut triangles) = (Vec::new(), Vec::new());
        for layer in 0..3 {
            let mesh = billow_geom::shapes::cloth_grid(1.0, 1.0, 11, 11).unwrap();
            let first = x.len() as u32;
            triangles.extend(mesh.triangles.iter().map(|t| t.map(|i| i + first)));
            x.extend(mesh.positions.iter().map(|p| *p + Vec3::Z * (0.014 * f64::from(layer))));
        }
        (Surface::of_one(&x, &triangles, 0.01), x)
    }

    #[test]
    fn what_is_near_or_around_strayed_nodes_is_all_that_can_collide() {
        let (surface, x0) = layers();
        let mut search = Search::new(&surface);
        let mut collided = 0;
        for k in 0..20 {
            let mut draws = Stream::new(9, 0).at(k);
            let mut vector = |size: f64| Vec3::from_array([0; 3].map(|_| draws.range(-size, size)));
            let expected: Vec<Vec3> = x0.iter().map(|x| *x + vector(5e-4)).collect();
            // Nearly all end about where they are expected; a few of the two lower sheets meet half way.
            let mut x1: Vec<Vec3> = expected.iter().map(|x| *x + vector(1e-3)).collect();
            for i in (4..110).step_by(9) {
                x1[i] += vector(3e-3) + Vec3::Z * 0.01;
                x1[i + 121] += vector(3e-3) - Vec3::Z * 0.01;
            }
            let mut near = Near::default();
            near.expect(&mut search, Fit::contacts(&surface, Path { x0: &x0, x1: &expected }));
            let fit = Fit { reach: Reach::same(1e-3), ..Fit::contacts(&surface, Path { x0: &x0, x1: &x1 }) };
            let strayed = near.follow(&mut search, fit);
            assert!((5..30).contains(&strayed.len()), "{}", strayed.len());
            let some = detect((&mut near, &mut search), fit, Which::Listed(&strayed));
            search.fit(&surface, |i| fit.way(i));
            let look = |part: &mut Detected, candidate: Candidate| part.look(fit, candidate.pair);
            let all = merge(search.all(&surface, look));
            let pairs = |found: &Detected| found.collisions.iter().map(|c| c.pair).collect::<Vec<_>>();
            assert_eq!(pairs(&some), pairs(&all));
            collided += all.collisions.len();
        }
        assert!(collided > 100, "{collided}");
    }
}
