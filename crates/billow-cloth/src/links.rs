//! Springs and the lengths they may have at the end of a step.
//!
//! What is beyond them is set on them, one after the other, by moving both ends ([Bri03] 1.3). Moves lie along the spring and
//! share the way by mass: linear and angular momentum are conserved to rounding.

use crate::lines::Segment;
use crate::model::Model;
use billow_num::par::{Incidence, Marks, Tiles};
use billow_num::{Vec3, par};

/// Springs that follow one another in a sweep and share a thread.
const TILE: usize = 96;

/// Part of the strain it is allowed at which a spring stops, so that what collisions add is allowed too.
const STOP: f64 = 0.95;

/// How much more than allowed, relative to its rest length, a spring may be compressed before it is set on that limit [-].
/// Impulses resist compression from the start; to undo all of it makes layers that are pushed together collide.
const CRUSHED: f64 = 0.1;

/// Of so many springs, one may be longer than what decides how many sub-steps a step needs: limits take care of a few.
const SPARED: usize = 10_000;

/// How exactly, relative to its length, a spring is set on its limits [-].
const EXACT: f64 = 1e-5;

/// All springs in the order in which they are swept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    tiles: Tiles<2>,
    bounds: Vec<Bound>,
    /// See [`Links::usual_length`].
    usual_length: f64,
}

/// What a spring may do at the end of a step: all that is asked of the many that are within their limits.
#[derive(Clone, Copy, Debug)]
struct Bound {
    /// Inverse masses of the ends [1/kg].
    weights: [f64; 2],
    rest: f64,
    /// Lengths on which it is set if it is longer or shorter [m].
    longest: f64,
    crushed: f64,
}

/// The numbers of springs with an end that can move, along the nodes: those that follow one another are a patch of cloth.
pub(crate) fn along_nodes(model: &Model) -> Vec<u32> {
    let ends = model.springs.ends();
    let mut order: Vec<u32> = (0..ends.len() as u32).filter(|e| model.movable(&ends[*e as usize])).collect();
    order.sort_by_key(|e| ends[*e as usize].iter().min().copied());
    order
}

impl Links {
    pub(crate) fn new(model: &Model) -> Self {
        let order = along_nodes(model);
        let ends: Vec<[u32; 2]> = order.iter().map(|e| model.springs.ends()[*e as usize]).collect();
        let tiles = Tiles::new(model.node_count(), &ends, TILE).expect(crate::model::CHECKED);
        let bound = |position: &u32| Bound::new(model, order[*position as usize] as usize);
        let bounds: Vec<Bound> = tiles.order().iter().map(bound).collect();
        let lengths: Vec<f64> = bounds.iter().map(|bound| bound.rest).collect();
        let quarter = lengths.len() / 4;
        let usual_length = ranked(lengths, quarter).unwrap_or(f64::INFINITY);
        Self { tiles, bounds, usual_length }
    }

    /// Length that a quarter of the springs do not have: about that of the edges of a fine garment among coarse ones [m].
    pub(crate) fn usual_length(&self) -> f64 {
        self.usual_length
    }

    /// How much longer than allowed the longest springs are at `x`, relative to what is allowed, but for one in
    /// [`SPARED`] [-].
    pub(crate) fn excess(&self, x: &[Vec3]) -> f64 {
        let excess = |k: usize| self.along(k, x).length() / self.bounds[k].allowed() - 1.0;
        let beyond = par::gather(self.bounds.len(), par::CHUNK, |range, list| {
            list.extend(range.map(excess).filter(|excess| *excess > 0.0));
        });
        let longer = self.bounds.len() / SPARED;
        let rank = beyond.len().checked_sub(longer + 1);
        rank.and_then(|rank| ranked(beyond, rank)).unwrap_or(0.0)
    }

    /// Which springs each node has, by their places in a sweep.
    pub(crate) fn by_node(&self, nodes: usize) -> Incidence {
        let ends: Vec<[u32; 2]> = (0..self.bounds.len()).map(|k| self.tiles.nodes(k)).collect();
        Incidence::new(nodes, &ends).expect(crate::model::CHECKED)
    }

    /// Number of springs.
    pub(crate) fn len(&self) -> usize {
        self.bounds.len()
    }

    /// The places of springs that are beyond their limits.
    pub(crate) fn beyond(&self, x: &[Vec3]) -> Vec<u32> {
        par::gather(self.bounds.len(), par::CHUNK, |range, out| {
            let beyond = |k: &usize| self.bounds[*k].excess(self.along(*k, x).length_squared()).is_some();
            out.extend(range.filter(beyond).map(|k| k as u32));
        })
    }

    /// Whether the spring at a place is longer than it may be.
    pub(crate) fn too_long(&self, k: u32, x: &[Vec3]) -> bool {
        self.along(k as usize, x).length() > self.bounds[k as usize].allowed()
    }

    /// Sets springs at marked places on their limits if they are beyond, in one sweep; tells their ends, and may be told of
    /// others to look at.
    pub(crate) fn limit_marked(&self, marks: &Marks, x: &mut [Vec3], set: impl Fn(u32, [u32; 2]) + Sync) {
        self.tiles.sweep_marked(marks, &self.bounds, x, |k, bound, [xa, xb]| {
            if let Some([shift_a, shift_b]) = bound.shifts(*xb - *xa) {
                *xa += shift_a;
                *xb += shift_b;
                set(k, self.ends(k));
            }
        });
    }

    /// The same for all springs, in one sweep.
    pub(crate) fn limit_all(&mut self, x: &mut [Vec3]) {
        self.tiles.sweep(&mut self.bounds, x, |bound, _, [xa, xb]| {
            if let Some([shift_a, shift_b]) = bound.shifts(*xb - *xa) {
                *xa += shift_a;
                *xb += shift_b;
            }
        });
    }

    /// The springs that are longer than their limits, or shorter by no more than that part of their length.
    pub(crate) fn taut(&self, slack: f64, x: &[Vec3]) -> Vec<u32> {
        let taut = |k: &usize| {
            let least = self.bounds[*k].longest * (1.0 - slack);
            self.along(*k, x).length_squared() > least * least
        };
        par::gather(self.bounds.len(), par::CHUNK, |range, out| {
            out.extend(range.filter(taut).map(|k| k as u32))
        })
    }

    /// A spring from one of its ends on, as a part of a line.
    pub(crate) fn segment(&self, k: u32, from: usize, x: &[Vec3]) -> Segment {
        let (ends, bound) = (self.ends(k), &self.bounds[k as usize]);
        let [a, b] = [from, 1 - from];
        let along = x[ends[b] as usize] - x[ends[a] as usize];
        let length = along.length();
        Segment {
            ends: [ends[a], ends[b]],
            weights: [bound.weights[a], bound.weights[b]],
            unit: along * length.recip(),
            excess: length - bound.longest,
        }
    }

    /// The ends of the spring at a place.
    pub(crate) fn ends(&self, k: u32) -> [u32; 2] {
        self.tiles.nodes(k as usize)
    }

    fn along(&self, k: usize, x: &[Vec3]) -> Vec3 {
        let [a, b] = self.tiles.nodes(k);
        x[b as usize] - x[a as usize]
    }
}

/// The value that so many are not above; none if there are no more.
pub(crate) fn ranked(mut values: Vec<f64>, rank: usize) -> Option<f64> {
    (rank < values.len()).then(|| *values.select_nth_unstable_by(rank, f64::total_cmp).1)
}

/// Lengths at which a spring of the model stops, shortest and longest [m].
pub(crate) fn stops(model: &Model, e: usize) -> [f64; 2] {
    let (rest, limit) = (model.springs.rest_lengths()[e], &model.limits[e]);
    [rest * (1.0 - STOP * limit.compression), rest * (1.0 + STOP * limit.extension)]
}

impl Bound {
    fn new(model: &Model, e: usize) -> Self {
        let (rest, limit) = (model.springs.rest_lengths()[e], &model.limits[e]);
        Self {
            weights: model.springs.ends()[e].map(|i| model.inverse_masses[i as usize]),
            rest,
            longest: stops(model, e)[1],
            crushed: rest * (1.0 - STOP * limit.compression - CRUSHED).max(0.0),
        }
    }

    /// Length and what it is beyond its limits, if that is worth the effort [m].
    #[inline(always)]
    fn excess(&self, length2: f64) -> Option<(f64, f64)> {
        let (most, least) = (self.longest * (1.0 + EXACT), self.crushed * (1.0 - EXACT));
        if length2 <= most * most && (length2 >= least * least || length2 == 0.0) {
            return None;
        }
        let length = length2.sqrt();
        Some((length, length - length.clamp(self.crushed, self.longest)))
    }

    /// How its ends must move to set it on its limit, if it is beyond.
    #[inline(always)]
    fn shifts(&self, along: Vec3) -> Option<[Vec3; 2]> {
        let (length, excess) = self.excess(along.length_squared())?;
        let shift = along * (excess / (length * (self.weights[0] + self.weights[1])));
        Some([shift * self.weights[0], shift * -self.weights[1]])
    }

    /// Length that it may have at most at the end of a step [m].
    fn allowed(&self) -> f64 {
        self.rest + (self.longest - self.rest) / STOP
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Garment, Layout, Material, Setup};

    pub(crate) fn model(n: u32) -> Model {
        model_of(n, Material { extension_limit: 0.1, compression_limit: 0.05, ..Material::default() })
    }

    /// A square of 1 m.
    pub(crate) fn model_of(n: u32, material: Material) -> Model {
        let garment = Garment {
            name: "cloth".into(),
            mesh: billow_geom::shapes::cloth_grid(1.0, 1.0, n, n).unwrap(),
            start: None,
            velocity: Vec3::ZERO,
            material,
            curved: false,
            equal_masses: false,
            layout: Layout::Edges,
            pins: Vec::new(),
        };
        Model::new(Setup { garments: vec![garment], ..Default::default() }).unwrap()
    }

    #[test]
    fn springs_are_set_on_their_limits_when_stretched_or_crushed() {
        let links = Links::new(&model(4));
        let link = &links.bounds[0];
        for (strain, set) in [
            (0.2, Some(STOP * 0.1)),
            (0.11, Some(STOP * 0.1)),
            (0.09, None),
            (-0.04, None),
            (-0.14, None),
            (-0.16, Some(-STOP * 0.05 - CRUSHED)),
            (-0.9, Some(-STOP * 0.05 - CRUSHED)),
        ] {
            let along = Vec3::new(0.6, 0.0, 0.8) * (link.rest * (1.0 + strain));
            let ends = link.shifts(along).map(|[a, b]| (along + b - a).length() / link.rest - 1.0);
            assert!(
                ends.is_some() == set.is_some() && (ends.unwrap_or(0.0) - set.unwrap_or(0.0)).abs() < 1e-12,
                "{strain}: {ends:?}"
            );
        }
    }

    #[test]
    fn the_excess_is_that_of_the_longest_springs_but_for_one_in_ten_thousand() {
        for (n, spared) in [(20, 0), (70, 1), (90, 2)] {
            let model = model(n);
            let links = Links::new(&model);
            assert_eq!(links.len() / SPARED, spared);
            let mut x = model.rest.clone();
            assert_eq!(links.excess(&x), 0.0);
            // Edges along the border that are too long by less and less: the ends of three of them, nothing else, move.
            let edge = 1.0 / f64::from(n - 1);
            for k in 0..3 {
                x[n as usize * (4 * k + 1) - 1] += Vec3::X * (edge * (0.1 + 0.11 * (k + 1) as f64));
            }
            let mut all: Vec<f64> = (0..links.len())
                .map(|k| links.along(k, &x).length() / links.bounds[k].allowed() - 1.0)
                .collect();
            all.sort_unstable_by(|a, b| b.total_cmp(a));
            assert!(all[spared] > 0.0 && links.excess(&x) == all[spared], "{n}");
        }
    }

    #[test]
    fn the_usual_length_is_that_of_the_edges_of_a_grid() {
        assert!((Links::new(&model(11)).usual_length() - 0.1).abs() < 1e-12);
        let none = Model::new(Setup::default());
        assert!(none.is_err() || Links::new(&none.unwrap()).usual_length() == f64::INFINITY);
    }
}
