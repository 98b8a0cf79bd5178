//! Springs as impulses between their ends, one after the other.
//!
//! Each spring gets the impulse that its own elastic and damping force would give over the sub-step if nothing else
//! moved its ends: implicit in itself, hence stable at any stiffness. An impulse that leaves the predicted length out of
//! the strain limits is changed so that it lands on the limit ([Bri03] 1.3). Impulses lie along the spring, equal and
//! opposite: linear and angular momentum are conserved to rounding.
//!
//! Four springs that have no end in common are one element of a sweep, so that processors compute them at once; those few
//! that are left over are elements of their own, with the same arithmetic.

use crate::links::{along_nodes, stops};
use crate::model::Model;
use billow_num::par::Tiles;
use billow_num::{Vec3, par};
use std::collections::VecDeque;
use std::ops::{Add, Div, Mul, Sub};
use wide::f64x4;

/// Springs that are computed at once.
const FOUR: usize = 4;

/// Springs that follow one another in a sweep and share a thread.
const TILE: usize = 96;

/// Fours that are filled at the same time while springs are taken together.
const OPEN: usize = 16;

/// Springs shorter than that have no direction [m].
const NOTHING: f64 = 1e-100;

/// Part of its impulse with which a spring begins the next sub-step. Tension that has travelled far need not travel
/// again; all of it would overshoot where stiff springs are many, because a sweep answers late. In fine cloth tension
/// lasts as long, hence for more sub-steps, as far as that is safe: 0.95 makes a sheet of 300 × 300 nodes burst, 0.9 one of
/// 600 × 600.
const KEPT: f64 = 0.8;
const MOST_KEPT: f64 = 0.85;

/// The impulses of all springs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pulls {
    fours: Bundle<f64x4, FOUR, { 2 * FOUR }>,
    others: Bundle<f64, 1, 2>,
    /// Length of the sub-steps begun last [s].
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

/// Elements of `L` springs in the order in which they are swept; their nodes are the first ends of all, then the second.
#[derive(Clone, Debug, Default)]
struct Bundle<F, const L: usize, const N: usize> {
    tiles: Tiles<N>,
    list: Vec<Pull<F>>,
    tensions: Vec<Tension<F>>,
    /// The numbers of their springs in the model.
    springs: Vec<[u32; L]>,
}

/// What sweeps need of springs that are computed at once, besides what they get from their nodes: the fewer bytes the better.
#[derive(Clone, Copy, Debug)]
struct Pull<F> {
    /// Inverse masses of the first and second ends [1/kg].
    weights: [F; 2],
    /// What the impulse gets per length beyond rest at the start of the sub-step [N·s/m] and per rate of the length [kg].
    per_length: F,
    per_rate: F,
    rest: F,
    /// Lengths between which impulses keep them [m].
    shortest: F,
    longest: F,
}

/// What sweeps change.
#[derive(Clone, Copy, Debug)]
struct Tension<F> {
    /// Impulses that pull the ends together, of this sub-step or the last [N·s].
    impulse: F,
    /// Inverse of the lengths at the start of the sub-step [1/m].
    inverse: F,
}

impl Pulls {
    pub(crate) fn new(model: &Model) -> Self {
        let (fours, others) = taken_together(model);
        Self { fours: Bundle::new(model, &fours), others: Bundle::new(model, &others), ..Self::default() }
    }

    /// Begins a step of sub-steps with the tensions at its start [N]; none if there are none.
    pub(crate) fn start(&mut self, model: &Model, Pace { h, usual, coarse }: Pace, tension: &[f64]) {
        self.fours.start(model, h, tension);
        self.others.start(model, h, tension);
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
        self.fours.remember(self.h, tension);
        self.others.remember(self.h, tension);
    }

    /// Begins a sub-step from `x` with a part of the last one's impulses.
    pub(crate) fn begin(&mut self, x: &[Vec3], v: &mut [Vec3]) {
        self.fours.begin(x, v, self.kept);
        self.others.begin(x, v, self.kept);
    }

    /// One sweep over the velocities of the sub-step from `x`.
    pub(crate) fn sweep(&mut self, x: &[Vec3], v: &mut [Vec3]) {
        let (h, left) = (self.h, self.left);
        self.fours.sweep(x, v, (h, left));
        self.others.sweep(x, v, (h, left));
    }
}

/// Takes springs that are near each other together: the numbers of four that have no end in common, and of those that are left
/// over.
fn taken_together(model: &Model) -> (Vec<[u32; FOUR]>, Vec<[u32; 1]>) {
    let ends = model.springs.ends();
    let order = along_nodes(model);
    let meet = |e: u32, f: u32| ends[e as usize].iter().any(|i| ends[f as usize].contains(i));
    let (mut fours, mut others) = (Vec::with_capacity(order.len() / FOUR), Vec::new());
    let mut open: VecDeque<Vec<u32>> = VecDeque::new();
    for e in order {
        let Some(place) = open.iter().position(|some| some.iter().all(|f| !meet(e, *f))) else {
            if open.len() == OPEN {
                others.extend(open.pop_front().into_iter().flatten().map(|e| [e]));
            }
            open.push_back(vec![e]);
            continue;
        };
        open[place].push(e);
        if open[place].len() == FOUR {
            fours.extend(open.remove(place).and_then(|four| <[u32; FOUR]>::try_from(four).ok()));
        }
    }
    others.extend(open.into_iter().flatten().map(|e| [e]));
    (fours, others)
}

impl<F: Lanes, const L: usize, const N: usize> Bundle<F, L, N> {
    fn new(model: &Model, springs: &[[u32; L]]) -> Self {
        let ends = |k: usize, n: usize| model.springs.ends()[springs[k][n % L] as usize][n / L];
        let nodes: Vec<[u32; N]> = (0..springs.len()).map(|k| std::array::from_fn(|n| ends(k, n))).collect();
        let tiles = Tiles::new(model.node_count(), &nodes, TILE / L).expect(crate::model::CHECKED);
        let springs: Vec<[u32; L]> = tiles.order().iter().map(|k| springs[*k as usize]).collect();
        let list = springs.iter().map(|springs| Pull::new(model, springs)).collect();
        let slack = Tension { impulse: F::all(0.0), inverse: F::all(0.0) };
        Self { tiles, list, tensions: vec![slack; springs.len()], springs }
    }

    fn start(&mut self, model: &Model, h: f64, tension: &[f64]) {
        let springs = &self.springs;
        par::zip_mut(&mut self.list, &mut self.tensions, |k, pull, now| {
            pull.start(model, &springs[k], h);
            now.impulse = F::of(|l| tension.get(springs[k][l] as usize).map_or(0.0, |t| t * h));
        });
    }

    fn remember(&self, h: f64, tension: &mut [f64]) {
        for (now, springs) in self.tensions.iter().zip(&self.springs) {
            springs.iter().enumerate().for_each(|(l, e)| tension[*e as usize] = now.impulse.at(l) / h);
        }
    }

    fn begin(&mut self, x: &[Vec3], v: &mut [Vec3], kept: f64) {
        let list = &self.list;
        self.tiles.sweep_with(&mut self.tensions, x, v, |k, now, x, v| list[k].begin(now, x, v, kept));
    }

    fn sweep(&mut self, x: &[Vec3], v: &mut [Vec3], pace: (f64, f64)) {
        let list = &self.list;
        self.tiles.sweep_with(&mut self.tensions, x, v, |k, now, x, v| list[k].respond(now, x, v, pace));
    }
}

impl<F: Lanes> Pull<F> {
    fn new(model: &Model, springs: &[u32]) -> Self {
        let weight = |e: usize, end: usize| model.inverse_masses[model.springs.ends()[e][end] as usize];
        let of = |f: &dyn Fn(usize) -> f64| F::of(|l| f(springs[l] as usize));
        Self {
            weights: [0, 1].map(|end| of(&|e| weight(e, end))),
            per_length: of(&|_| 0.0),
            per_rate: of(&|_| 0.0),
            rest: of(&|e| model.springs.rest_lengths()[e]),
            shortest: of(&|e| stops(model, e)[0]),
            longest: of(&|e| stops(model, e)[1]),
        }
    }

    /// Prepares sub-steps of length `h`. With the tension `k` per length and `d` per speed and the change `c` of the length per
    /// impulse: `J = h (k (l + h l' − c J − rest) + d (l' − c J/h))` with the rate `l'` that the length `l` would have without
    /// the impulse, solved for it.
    fn start(&mut self, model: &Model, springs: &[u32], h: f64) {
        let of = |values: &[f64]| F::of(|l| values[springs[l] as usize]) / self.rest;
        let (stiffness, damping) = (of(model.springs.stiffness()), of(model.springs.damping()));
        let h = F::all(h);
        let force = h * stiffness + damping;
        let gain = h / (F::all(1.0) + h * (self.weights[0] + self.weights[1]) * force);
        (self.per_length, self.per_rate) = (gain * stiffness, gain * force);
    }

    /// Begins a sub-step from `x` with a part of the last one's impulses.
    #[inline(always)]
    fn begin<const N: usize>(&self, now: &mut Tension<F>, x: [&Vec3; N], v: [&mut Vec3; N], kept: f64) {
        let along: [F; 3] = apart(x.map(|x| *x));
        now.inverse = F::all(1.0) / dot(along, along).root().or_more(F::all(NOTHING));
        now.impulse = now.impulse * F::all(kept);
        self.give(now.impulse, along.map(|along| along * now.inverse), v);
    }

    /// Answers the velocities of a sub-step of length `h`. Springs whose impulses would leave their lengths out of the limits are
    /// set on these, such that what is beyond them keeps the part `left` of that.
    #[inline(always)]
    fn respond<const N: usize>(
        &self,
        now: &mut Tension<F>,
        x: [&Vec3; N],
        v: [&mut Vec3; N],
        (h, left): (f64, f64),
    ) {
        let (h, left, none) = (F::all(h), F::all(left), F::all(0.0));
        let along: [F; 3] = apart(x.map(|x| *x));
        let unit = along.map(|along| along * now.inverse);
        let length = dot(along, unit);
        // The rate of the length without the impulse.
        let parting: [F; 3] = apart::<F, N>(std::array::from_fn(|n| *v[n]));
        let weight = self.weights[0] + self.weights[1];
        let rate = dot(unit, parting) + weight * now.impulse;
        let wanted = self.per_length * (length - self.rest) + self.per_rate * rate;
        let (compliance, end) = (h * weight, length + rate * h - h * weight * wanted);
        let longest = self.longest + left * (length - self.longest).or_more(none);
        let shortest = self.shortest - left * (self.shortest - length).or_more(none);
        // Nothing is added within the limits.
        let impulse = wanted + (end - end.or_less(longest).or_more(shortest)) / compliance;
        let change = impulse - now.impulse;
        now.impulse = impulse;
        self.give(change, unit, v);
    }

    /// Adds impulses along the springs to the velocities of their ends.
    #[inline(always)]
    fn give<const N: usize>(&self, impulses: F, unit: [F; 3], v: [&mut Vec3; N]) {
        let push = unit.map(|unit| unit * impulses);
        for (n, v) in v.into_iter().enumerate() {
            let (l, end) = (n % (N / 2), n / (N / 2));
            let push = Vec3::from_array(push.map(|push| push.at(l)));
            *v += if end == 0 { push * self.weights[0].at(l) } else { push * -self.weights[1].at(l) };
        }
    }
}

/// Differences of the second ends and the first, coordinate by coordinate.
#[inline(always)]
fn apart<F: Lanes, const N: usize>(value: [Vec3; N]) -> [F; 3] {
    let apart: [Vec3; N] = std::array::from_fn(|n| value[(n + N / 2) % N] - value[n]);
    [F::of(|l| apart[l].x), F::of(|l| apart[l].y), F::of(|l| apart[l].z)]
}

#[inline(always)]
fn dot<F: Lanes>([ax, ay, az]: [F; 3], [bx, by, bz]: [F; 3]) -> F {
    ax * bx + ay * by + az * bz
}

/// Numbers that are computed at once.
trait Lanes:
    Copy + Send + Sync + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    fn of(value: impl Fn(usize) -> f64) -> Self;
    fn at(self, lane: usize) -> f64;
    fn root(self) -> Self;
    fn or_more(self, other: Self) -> Self;
    fn or_less(self, other: Self) -> Self;

    #[inline(always)]
    fn all(value: f64) -> Self {
        Self::of(|_| value)
    }
}

impl Lanes for f64 {
    #[inline(always)]
    fn of(value: impl Fn(usize) -> f64) -> Self {
        value(0)
    }

    #[inline(always)]
    fn at(self, _: usize) -> f64 {
        self
    }

    #[inline(always)]
    fn root(self) -> Self {
        self.sqrt()
    }

    #[inline(always)]
    fn or_more(self, other: Self) -> Self {
        self.max(other)
    }

    #[inline(always)]
    fn or_less(self, other: Self) -> Self {
        self.min(other)
    }
}

impl Lanes for f64x4 {
    #[inline(always)]
    fn of(value: impl Fn(usize) -> f64) -> Self {
        Self::new([value(0), value(1), value(2), value(3)])
    }

    #[inline(always)]
    fn at(self, lane: usize) -> f64 {
        self.to_array()[lane]
    }

    #[inline(always)]
    fn root(self) -> Self {
        self.sqrt()
    }

    #[inline(always)]
    fn or_more(self, other: Self) -> Self {
        self.fast_max(other)
    }

    #[inline(always)]
    fn or_less(self, other: Self) -> Self {
        self.fast_min(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Material;
    use crate::links::tests::{model, model_of};

    #[test]
    fn all_springs_are_pulled_once_nearly_all_by_fours_without_a_common_end() {
        for (n, left) in [(2, 5), (12, 40), (60, 40)] {
            let model = model(n);
            let (fours, others) = taken_together(&model);
            assert!(others.len() <= left, "{n}: {}", others.len());
            let mut all = [fours.concat(), others.concat()].concat();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..model.springs.len() as u32));
            for four in fours {
                let mut ends = four.map(|e| model.springs.ends()[e as usize]).concat();
                ends.sort_unstable();
                assert!(ends.windows(2).all(|two| two[0] != two[1]));
            }
        }
    }

    #[test]
    fn four_at_once_are_four_one_after_the_other_and_keep_momenta() {
        let model = model(20);
        let mut draws = billow_num::rng::Stream::new(6, 2).at(0);
        let mut vector = |size: f64| Vec3::from_array([0; 3].map(|_| draws.range(-size, size)));
        let x: Vec<Vec3> = model.rest.iter().map(|x| *x + vector(0.01)).collect();
        let start: Vec<Vec3> = x.iter().map(|_| vector(1.0)).collect();
        let pace = Pace { h: 1e-3, usual: 2e-3, coarse: 2e-3 };
        let tension: Vec<f64> = (0..model.springs.len()).map(|e| 0.01 * (e % 5) as f64).collect();
        // Fours alone, and their springs one by one in the order of a sweep.
        let mut pulls = Pulls { others: Bundle::new(&model, &[]), ..Pulls::new(&model) };
        let mut v = start.clone();
        pulls.start(&model, pace, &tension);
        pulls.begin(&x, &mut v);
        pulls.sweep(&x, &mut v);
        let order: Vec<u32> = pulls.fours.springs.concat();
        let mut single = |e: &u32| {
            let mut pull: Pull<f64> = Pull::new(&model, &[*e]);
            pull.start(&model, &[*e], pace.h);
            (pull, Tension { impulse: tension[*e as usize] * pace.h, inverse: 0.0 })
        };
        let mut singles: Vec<(Pull<f64>, Tension<f64>)> = order.iter().map(&mut single).collect();
        let mut expected = start.clone();
        for begins in [true, false] {
            for ((pull, now), e) in singles.iter_mut().zip(&order) {
                let [a, b] = model.springs.ends()[*e as usize].map(|i| i as usize);
                let (mut va, mut vb) = (expected[a], expected[b]);
                let (ends, both) = ([&x[a], &x[b]], [&mut va, &mut vb]);
                if begins {
                    pull.begin(now, ends, both, pulls.kept);
                } else {
                    pull.respond(now, ends, both, (pulls.h, pulls.left));
                }
                (expected[a], expected[b]) = (va, vb);
            }
        }
        assert_eq!(v, expected);

        let momenta = |v: &[Vec3]| -> [Vec3; 2] {
            let each = |i: usize| v[i] * model.inverse_masses[i].recip();
            [(0..v.len()).map(each).sum(), (0..v.len()).map(|i| x[i].cross(each(i))).sum()]
        };
        for (before, after) in momenta(&start).into_iter().zip(momenta(&v)) {
            assert!(before.distance(after) < 1e-12 * before.length().max(1.0), "{before} {after}");
        }
    }

    #[test]
    fn springs_that_are_too_long_return_as_fast_in_short_sub_steps_as_in_usual_ones() {
        // A sheet drawn out across its grain by 12 %, of which springs may keep 9.5 %.
        let slack =
            Material { stretch_damping: 0.0, stretch: 1e-6, extension_limit: 0.1, ..Material::default() };
        let model = model_of(12, slack);
        let drawn: Vec<Vec3> = model.rest.iter().map(|x| Vec3::new(1.12 * x.x, x.y, x.z)).collect();
        let (usual, excess) = (1e-3, 0.12 - 0.095);
        let speed = |parts: u32| {
            let mut pulls = Pulls::new(&model);
            let (mut x, mut v) = (drawn.clone(), vec![Vec3::ZERO; drawn.len()]);
            let h = usual / f64::from(parts);
            pulls.start(&model, Pace { h, usual, coarse: usual }, &[]);
            for _ in 0..parts {
                pulls.begin(&x, &mut v);
                (0..200).for_each(|_| pulls.sweep(&x, &mut v));
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
            let mut pulls = Pulls::new(&model);
            let pace = Pace { h: 1.0 / small_steps, usual: 1.0 / small_steps, coarse: 1.0 / 8.0 };
            pulls.start(&model, pace, &vec![1.0; model.springs.len()]);
            let mut v = vec![Vec3::ZERO; model.node_count()];
            (0..small_steps as u32).for_each(|_| pulls.begin(&model.rest, &mut v));
            pulls.others.tensions[0].impulse * small_steps
        };
        let coarse = left(8.0);
        assert!((coarse - KEPT.powi(8)).abs() < 1e-12 && (left(10.0) - coarse).abs() < 1e-12);
        assert!((left(32.0) - MOST_KEPT.powi(32)).abs() < 1e-12);
    }
}
