//! Springs as impulses between their ends, one after the other.
//!
//! Each spring gets the impulse that its own elastic and damping force would give over the sub-step if nothing else
//! moved its ends: implicit in itself, hence stable at any stiffness. An impulse that leaves the predicted length out of
//! the strain limits is changed so that it lands on the limit ([Bri03] 1.3). Impulses lie along the spring, equal and
//! opposite: linear and angular momentum are conserved to rounding.

use crate::lines::Segment;
use crate::model::Model;
use billow_num::par::{Incidence, Marks, Tiles};
use billow_num::{Vec3, par};

/// Springs that follow one another in a sweep and share a thread.
const TILE: usize = 96;

/// Part of its impulse with which a spring begins the next sub-step. Tension that has travelled far need not travel
/// again; all of it would overshoot where stiff springs are many, because a sweep answers late. In fine cloth tension
/// lasts as long, hence for more sub-steps, as far as that is safe: 0.95 makes a sheet of 300 × 300 nodes burst, 0.9 one of
/// 600 × 600.
const KEPT: f64 = 0.8;
const MOST_KEPT: f64 = 0.85;

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
    list: Vec<Link>,
    bounds: Vec<Bound>,
    /// Their numbers in the model.
    elements: Vec<u32>,
    /// See [`Links::usual_length`].
    usual_length: f64,
    /// Length of the sub-steps that links were started for [s].
    h: f64,
    /// Part of their impulses with which springs begin a sub-step [-].
    kept: f64,
    /// Part of what springs are beyond their limits that a sub-step leaves them [-].
    left: f64,
}

/// How long sub-steps are. Springs beyond their limits are set on them in the usual time: in sub-steps that are shorter, by
/// parts. Else what is too long by little would become the faster the shorter they are, and stay fast.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Length of the sub-steps [s].
    pub(crate) h: f64,
    /// What it is unless springs are beyond their limits [s].
    pub(crate) usual: f64,
    /// What it is in coarse cloth [s].
    pub(crate) coarse: f64,
}

/// What sweeps need of a spring: two lines of a cache, no divisions.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// From the first end to the second at the start of the sub-step [-].
    unit: Vec3,
    /// Length then [m].
    length: f64,
    /// Impulse that pulls the ends together, of this sub-step or the last [N·s].
    impulse: f64,
    /// Inverse masses of the ends [1/kg].
    weights: [f64; 2],
    /// Impulse if the length did not change [N·s], and what is added per rate of the length [kg].
    still: f64,
    per_rate: f64,
    /// Impulse per length at the start of the sub-step [N·s/m].
    per_length: f64,
    /// Change of the length at the end of the sub-step per impulse [m/(N·s)], and its inverse.
    compliance: f64,
    resistance: f64,
    rest: f64,
    /// Lengths between which impulses keep it [m].
    shortest: f64,
    longest: f64,
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

impl Links {
    pub(crate) fn new(model: &Model) -> Self {
        let springs = &model.springs;
        // Along the nodes, so that a tile is a patch of cloth.
        let mut order: Vec<usize> =
            (0..springs.len()).filter(|e| model.movable(&springs.ends()[*e])).collect();
        order.sort_by_key(|e| springs.ends()[*e].iter().min().copied());
        let ends: Vec<[u32; 2]> = order.iter().map(|e| springs.ends()[*e]).collect();
        let tiles = Tiles::new(model.node_count(), &ends, TILE).expect(crate::model::CHECKED);
        let link = |position: &u32| {
            let e = order[*position as usize];
            let (rest, limit) = (springs.rest_lengths()[e], &model.limits[e]);
            let weights = springs.ends()[e].map(|i| model.inverse_masses[i as usize]);
            Link {
                unit: Vec3::ZERO,
                length: 0.0,
                impulse: 0.0,
                weights,
                still: 0.0,
                per_rate: 0.0,
                per_length: 0.0,
                compliance: 0.0,
                resistance: 0.0,
                rest,
                shortest: rest * (1.0 - STOP * limit.compression),
                longest: rest * (1.0 + STOP * limit.extension),
            }
        };
        let list: Vec<Link> = tiles.order().iter().map(link).collect();
        let elements: Vec<u32> =
            tiles.order().iter().map(|position| order[*position as usize] as u32).collect();
        let bounds = elements.iter().map(|e| Bound::new(model, *e as usize)).collect();
        let lengths: Vec<f64> = list.iter().map(|link| link.rest).collect();
        let quarter = lengths.len() / 4;
        let usual_length = ranked(lengths, quarter).unwrap_or(f64::INFINITY);
        Self { tiles, list, bounds, elements, usual_length, h: 0.0, kept: KEPT, left: 0.0 }
    }

    /// Length that a quarter of the springs do not have: about that of the edges of a fine garment among coarse ones [m].
    pub(crate) fn usual_length(&self) -> f64 {
        self.usual_length
    }

    /// Begins a step of sub-steps with the tensions at its start [N]; none if there are none.
    pub(crate) fn start(&mut self, model: &Model, Pace { h, usual, coarse }: Pace, tension: &[f64]) {
        let (springs, elements) = (&model.springs, &self.elements);
        par::for_each_mut(&mut self.list, |k, link| {
            let e = elements[k] as usize;
            link.start((springs.stiffness()[e] / link.rest, springs.damping()[e] / link.rest), h);
            link.impulse = tension.get(e).map_or(0.0, |t| t * h);
        });
        self.h = h;
        self.kept = KEPT.powf(usual / coarse).min(MOST_KEPT);
        self.left = (1.0 - h / usual).max(0.0);
    }

    /// Length of the sub-steps begun last [s].
    pub(crate) fn sub_step(&self) -> f64 {
        self.h
    }

    /// Writes down the present tensions [N].
    pub(crate) fn remember(&self, springs: usize, tension: &mut Vec<f64>) {
        tension.clear();
        tension.resize(springs, 0.0);
        let both = self.list.iter().zip(&self.elements);
        both.for_each(|(link, e)| tension[*e as usize] = link.impulse / self.h);
    }

    /// How much longer than allowed the longest springs are at `x`, relative to what is allowed, but for one in
    /// [`SPARED`] [-].
    pub(crate) fn excess(&self, x: &[Vec3]) -> f64 {
        let excess = |k: usize| self.along(k, x).length() / self.bounds[k].allowed() - 1.0;
        let beyond = par::gather(self.list.len(), par::CHUNK, |range, list| {
            list.extend(range.map(excess).filter(|excess| *excess > 0.0));
        });
        let longer = self.list.len() / SPARED;
        let rank = beyond.len().checked_sub(longer + 1);
        rank.and_then(|rank| ranked(beyond, rank)).unwrap_or(0.0)
    }

    /// Begins a sub-step from `x` with a part of the last one's impulses.
    pub(crate) fn begin(&mut self, x: &[Vec3], v: &mut [Vec3]) {
        let kept = self.kept;
        self.tiles.sweep(&mut self.list, v, |link, [a, b], [va, vb]| {
            let along = x[*b as usize] - x[*a as usize];
            link.length = along.length();
            link.unit = if link.length > 0.0 { along * link.length.recip() } else { Vec3::ZERO };
            link.impulse *= kept;
            link.still = link.per_length * (link.length - link.rest);
            *va += link.unit * (link.impulse * link.weights[0]);
            *vb -= link.unit * (link.impulse * link.weights[1]);
        });
    }

    /// One sweep over the velocities of the sub-step.
    pub(crate) fn sweep(&mut self, v: &mut [Vec3]) {
        let (h, left) = (self.h, self.left);
        self.tiles.sweep(&mut self.list, v, |link, _, [va, vb]| {
            let without = link.unit.dot(*vb - *va) + (link.weights[0] + link.weights[1]) * link.impulse;
            let impulse = link.impulse_at(without, (h, left));
            let change = impulse - link.impulse;
            link.impulse = impulse;
            *va += link.unit * (change * link.weights[0]);
            *vb -= link.unit * (change * link.weights[1]);
        });
    }

    /// Which springs each node has, by their places in a sweep.
    pub(crate) fn by_node(&self, nodes: usize) -> Incidence {
        let ends: Vec<[u32; 2]> = (0..self.list.len()).map(|k| self.tiles.nodes(k)).collect();
        Incidence::new(nodes, &ends).expect(crate::model::CHECKED)
    }

    /// Number of springs.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// The places of springs that are beyond their limits.
    pub(crate) fn beyond(&self, x: &[Vec3]) -> Vec<u32> {
        par::gather(self.list.len(), par::CHUNK, |range, out| {
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
        par::gather(self.list.len(), par::CHUNK, |range, out| {
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

impl Bound {
    fn new(model: &Model, e: usize) -> Self {
        let (rest, limit) = (model.springs.rest_lengths()[e], &model.limits[e]);
        Self {
            weights: model.springs.ends()[e].map(|i| model.inverse_masses[i as usize]),
            rest,
            longest: rest * (1.0 + STOP * limit.extension),
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

impl Link {
    /// Prepares sub-steps of length `h`, given its tension per length and per speed [N/m, N·s/m]:
    /// `J = h (k (l + h l' − c J − rest) + d (l' − c J/h))` with the rate `l'` that the length `l` would have without the
    /// impulse, solved for it.
    fn start(&mut self, (stiffness, damping): (f64, f64), h: f64) {
        self.compliance = h * (self.weights[0] + self.weights[1]);
        self.resistance = self.compliance.recip();
        let force = h * stiffness + damping;
        let gain = h / (1.0 + self.compliance * force);
        (self.per_length, self.per_rate) = (gain * stiffness, gain * force);
    }

    /// The impulse that pulls the ends together, given the rate of the length without it, such that what is beyond its limits
    /// keeps the part `left` of that [N·s].
    #[inline(always)]
    fn impulse_at(&self, rate: f64, (h, left): (f64, f64)) -> f64 {
        let pull = self.still + self.per_rate * rate;
        let end = self.length + rate * h - self.compliance * pull;
        let longest = self.longest + left * (self.length - self.longest).max(0.0);
        let shortest = self.shortest - left * (self.shortest - self.length).max(0.0);
        // Nothing is added within the limits.
        pull + (end - end.min(longest).max(shortest)) * self.resistance
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
    fn springs_that_are_too_long_return_as_fast_in_short_sub_steps_as_in_usual_ones() {
        // A sheet drawn out across its grain by 12 %, of which springs may keep 9.5 %.
        let slack =
            Material { stretch_damping: 0.0, stretch: 1e-6, extension_limit: 0.1, ..Material::default() };
        let model = model_of(12, slack);
        let drawn: Vec<Vec3> = model.rest.iter().map(|x| Vec3::new(1.12 * x.x, x.y, x.z)).collect();
        let (usual, excess) = (1e-3, 0.12 - STOP * 0.1);
        let speed = |parts: u32| {
            let mut links = Links::new(&model);
            let (mut x, mut v) = (drawn.clone(), vec![Vec3::ZERO; drawn.len()]);
            let h = usual / f64::from(parts);
            links.start(&model, Pace { h, usual, coarse: usual }, &[]);
            for _ in 0..parts {
                links.begin(&x, &mut v);
                (0..200).for_each(|_| links.sweep(&mut v));
                x.iter_mut().zip(&v).for_each(|(x, v)| *x += *v * h);
            }
            v.iter().map(|v| v.length()).fold(0.0, f64::max)
        };
        // The border comes half a metre's worth of excess nearer.
        let expected = 0.5 * excess / usual;
        for parts in [1, 4, 16] {
            let speed = speed(parts);
            assert!((0.5..1.1).contains(&(speed / expected)), "{parts}: {speed} {expected}");
        }
    }

    #[test]
    fn tension_lasts_as_long_in_fine_cloth_as_far_as_that_is_safe() {
        let model = model(4);
        let left = |small_steps: f64| {
            let mut links = Links::new(&model);
            let pace = Pace { h: 1.0 / small_steps, usual: 1.0 / small_steps, coarse: 1.0 / 8.0 };
            links.start(&model, pace, &vec![1.0; links.len()]);
            let mut v = vec![Vec3::ZERO; model.node_count()];
            (0..small_steps as u32).for_each(|_| links.begin(&model.rest, &mut v));
            links.list[0].impulse * small_steps
        };
        let coarse = left(8.0);
        assert!((coarse - KEPT.powi(8)).abs() < 1e-12 && (left(10.0) - coarse).abs() < 1e-12);
        assert!((left(32.0) - MOST_KEPT.powi(32)).abs() < 1e-12);
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
