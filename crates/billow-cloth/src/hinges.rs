//! Bending elements as impulses along their bending modes, one after the other.
//!
//! The modes are computed a few times per step and kept in between; the moment follows the angle to first order. Like
//! the springs' ([`crate::pulls`]) each impulse is implicit in its own element, hence stable at any stiffness. It
//! has the momenta of the mode: none ([Bri03] 1.4).
//!
//! Soft fabrics bend so easily that moments hardly change in a sub-step. They are evaluated twice in a step, and what they
//! give is spread evenly over the sub-steps: given at once it would shake layers that rest on each other. Stiffer ones
//! are evaluated more often, the stiffest in every sub-step, to hold themselves up.

use crate::links::ranked;
use crate::model::Model;
use billow_elastic::Hinge;
use billow_num::par::Tiles;
use billow_num::{Vec3, par};

/// Elements that follow one another in a sweep and share a thread.
const TILE: usize = 64;

/// How far nodes of an element may have moved past each other, in lengths over which its angle changes by one, before its
/// mode is computed anew [-].
const TURNED: f64 = 0.05;

/// How often moments of soft fabrics are evaluated in a step, unless it has more sub-steps than usual.
const OFTEN: u32 = 2;

/// Part of an element's own oscillation, in radians, that passes in a step of a soft fabric at most; moments of stiffer ones are
/// evaluated more often in the same measure [-].
const SOFT: f64 = 2.5;

/// Of so many elements, one may be stiffer than what decides how often moments are evaluated.
const STIFFER: usize = 10;

/// All bending elements in the order in which they are swept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hinges {
    tiles: Tiles<4>,
    list: Vec<Bend>,
    /// What the stiffest oscillate with at rest [rad/s].
    frequency: f64,
    /// Time between evaluations of moments [s], and the number of sub-steps in it.
    h: f64,
    spread: u32,
    /// What a sub-step adds to the velocity of each node [m/s].
    share: Vec<Vec3>,
}

#[derive(Clone, Copy, Debug)]
struct Bend {
    /// Number in the model.
    element: u32,
    hinge: Hinge,
    damping: f64,
    /// Impulse per moment without the impulse, for the present time between evaluations [s].
    gain: f64,
    /// Whether the mode was computed anew during the step.
    turned: bool,
}

impl Hinges {
    pub(crate) fn new(model: &Model) -> Self {
        let bending = &model.bending;
        let mut order: Vec<usize> =
            (0..bending.len()).filter(|e| model.movable(&bending.nodes()[*e]) && bending.acts(*e)).collect();
        order.sort_by_key(|e| bending.nodes()[*e].iter().min().copied());
        let nodes: Vec<[u32; 4]> = order.iter().map(|e| bending.nodes()[*e]).collect();
        let tiles = Tiles::new(model.node_count(), &nodes, TILE).expect(crate::model::CHECKED);
        let bend = |position: &u32| {
            let e = order[*position as usize];
            Bend {
                element: e as u32,
                hinge: Hinge::default(),
                damping: bending.damping()[e],
                gain: 0.0,
                turned: false,
            }
        };
        let list = tiles.order().iter().map(bend).collect();
        let squares = par::map(order.len(), |k| square_of_frequency(model, order[k]));
        let stiff = squares.len() - squares.len().div_ceil(STIFFER);
        let frequency = ranked(squares, stiff).unwrap_or(0.0).sqrt();
        Self { tiles, list, frequency, h: 0.0, spread: 1, share: Vec::new() }
    }

    /// After how many sub-steps moments are evaluated again in a step of length `dt` that usually has so many of them.
    pub(crate) fn every(&self, dt: f64, usual: f64) -> u32 {
        let stiffness = dt * self.frequency / SOFT;
        // Not-a-number is stiff.
        let times = f64::from(OFTEN) * if stiffness <= 1.0 { 1.0 } else { stiffness };
        (usual / times).max(1.0) as u32
    }

    /// Modes and moments at `x`, the start of a step, to be evaluated every `spread` sub-steps of length `h`.
    pub(crate) fn linearise(&mut self, model: &Model, x: &[Vec3], (h, spread): (f64, u32)) {
        let h = h * f64::from(spread);
        (self.h, self.spread) = (h, spread);
        par::for_each_mut(&mut self.list, |_, bend| bend.linearise(model, x, h));
    }

    /// The same for a step that is repeated from `x`: most elements still have the modes of its start.
    pub(crate) fn start_over(&mut self, model: &Model, x: &[Vec3]) {
        let h = self.h;
        par::for_each_mut(&mut self.list, |_, bend| {
            if bend.turned {
                bend.linearise(model, x, h);
            }
        });
    }

    /// The same during a step, for elements that have turned since its start; `moved` is how far nodes are from there.
    pub(crate) fn linearise_again(&mut self, model: &Model, x: &[Vec3], moved: &[Vec3]) {
        let (tiles, h) = (&self.tiles, self.h);
        par::for_each_mut(&mut self.list, |position, bend| {
            let moved = tiles.nodes(position).map(|i| moved[i as usize]);
            if bend.has_turned(&moved) {
                bend.linearise(model, x, h);
                bend.turned = true;
                // Angles are told by all that nodes moved.
                bend.hinge.moment += bend.hinge.rigidity * bend.angle(&moved);
            }
        });
    }

    /// Evaluates the moments in one sweep; `moved` is how far nodes are from the start of the step. The velocities of the
    /// present sub-step get their share.
    pub(crate) fn evaluate(&mut self, model: &Model, moved: &[Vec3], v: &mut [Vec3]) {
        if self.spread == 1 {
            return self.sweep(model, moved, v);
        }
        let mut before = std::mem::take(&mut self.share);
        before.clear();
        before.extend_from_slice(v);
        self.sweep(model, moved, v);
        let part = 1.0 / f64::from(self.spread);
        par::zip_mut(v, &mut before, |_, v, share| {
            let all = *v - *share;
            *v = *share + all * part;
            *share = all * part;
        });
        self.share = before;
    }

    /// Gives the velocities of another sub-step their share of what was evaluated last.
    pub(crate) fn go_on(&self, v: &mut [Vec3]) {
        par::for_each_mut(v, |i, v| *v += self.share[i]);
    }

    fn sweep(&mut self, model: &Model, moved: &[Vec3], v: &mut [Vec3]) {
        let (weights, h) = (&model.inverse_masses, self.h);
        self.tiles.sweep(&mut self.list, v, |bend, nodes, v| {
            let Hinge { mode, moment, rigidity } = &bend.hinge;
            let (mut angle, mut rate) = (0.0, 0.0);
            for k in 0..4 {
                angle += mode[k].dot(moved[nodes[k] as usize]);
                rate += mode[k].dot(*v[k]);
            }
            let resistance = rigidity * h + bend.damping;
            let impulse = bend.gain * (moment - rigidity * angle - resistance * rate);
            for (k, v) in v.into_iter().enumerate() {
                *v += mode[k] * (impulse * weights[nodes[k] as usize]);
            }
        });
    }
}

/// Square of what an element oscillates with about its rest pose if only its own moment acts [rad²/s²].
fn square_of_frequency(model: &Model, e: usize) -> f64 {
    let hinge = model.bending.hinge(e, &model.rest);
    hinge.rigidity * compliance(model, &hinge, e)
}

/// Speed along the mode per impulse, `Σ |uᵢ|²/mᵢ`.
#[inline(always)]
fn compliance(model: &Model, hinge: &Hinge, e: usize) -> f64 {
    let terms = hinge.mode.iter().zip(model.bending.nodes()[e]);
    terms.map(|(mode, i)| mode.length_squared() * model.inverse_masses[i as usize]).sum()
}

impl Bend {
    #[inline(always)]
    fn linearise(&mut self, model: &Model, x: &[Vec3], h: f64) {
        let e = self.element as usize;
        self.hinge = model.bending.hinge(e, x);
        let compliance = compliance(model, &self.hinge, e);
        self.gain = h / (1.0 + h * (self.hinge.rigidity * h + self.damping) * compliance);
        self.turned = false;
    }

    /// How much the angle has changed, to first order, if its nodes moved so far [-].
    fn angle(&self, moved: &[Vec3; 4]) -> f64 {
        (0..4).map(|k| self.hinge.mode[k].dot(moved[k])).sum()
    }

    fn has_turned(&self, moved: &[Vec3; 4]) -> bool {
        let most = |values: [f64; 4]| values.into_iter().fold(0.0, f64::max);
        let steepest = most(self.hinge.mode.map(|mode| mode.length_squared()));
        let farthest = most(moved.map(|way| way.distance_squared(moved[0])));
        steepest * farthest > TURNED * TURNED
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_num::Quat;
    use billow_num::rng::Stream;

    #[test]
    fn modes_are_computed_anew_where_elements_turned_and_angles_go_on() {
        let model = crate::links::tests::model(8);
        let mut draws = Stream::new(3, 1).at(0);
        let mut bump = || Vec3::from_array([0; 3].map(|_| draws.range(-0.02, 0.02)));
        let x: Vec<Vec3> = model.rest.iter().map(|x| *x + bump()).collect();
        let mut start = Hinges::new(&model);
        start.linearise(&model, &x, (1e-3, 1));
        for (turn, anew) in [(0.3, true), (0.0, false)] {
            let turn = Quat::from_rotation_x(turn);
            let end: Vec<Vec3> = x.iter().map(|x| turn * *x + Vec3::new(0.5, 0.2, -3.0)).collect();
            let moved: Vec<Vec3> = x.iter().zip(&end).map(|(x, end)| *end - *x).collect();
            let (mut hinges, mut fresh) = (start.clone(), Hinges::new(&model));
            hinges.linearise_again(&model, &end, &moved);
            fresh.linearise(&model, &end, (1e-3, 1));
            let expected = if anew { &fresh } else { &start };
            let mut largest = 0f64;
            for (k, (bend, expected)) in hinges.list.iter().zip(&expected.list).enumerate() {
                assert_eq!(bend.hinge.mode, expected.hinge.mode);
                // The moment at the present angle is what it is without any memory.
                let moved = hinges.tiles.nodes(k).map(|i| moved[i as usize]);
                let moment = bend.hinge.moment - bend.hinge.rigidity * bend.angle(&moved);
                assert!((moment - fresh.list[k].hinge.moment).abs() < 1e-12, "{turn}");
                largest = largest.max(moment.abs());
            }
            assert!(largest > 1e-6, "elements are bent");
            // A step that is repeated begins with what it began with.
            hinges.start_over(&model, &x);
            let told = |h: &Hinges| h.list.iter().map(|b| (b.hinge.mode, b.hinge.moment)).collect::<Vec<_>>();
            assert!(told(&hinges) == told(&start));
        }
    }

    #[test]
    fn stiff_fabrics_are_evaluated_more_often_and_shares_add_up() {
        let every = [2e-5, 1e3].map(|bend| {
            let model = crate::links::tests::model_of(8, crate::Material { bend, ..Default::default() });
            [1.0, 8.0, 16.0].map(|usual| Hinges::new(&model).every(1.0 / 192.0, usual))
        });
        assert_eq!(every, [[1, 4, 8], [1; 3]]);
        // Twice and four times as stiff as what is soft.
        let mut hinges = Hinges::new(&crate::links::tests::model(8));
        for (frequency, expected) in [(0.9, 8), (2.0, 4), (4.0, 2), (9.0, 1), (f64::NAN, 1)] {
            hinges.frequency = frequency * SOFT * 192.0;
            assert_eq!(hinges.every(1.0 / 192.0, 16.0), expected, "{frequency}");
        }

        let model = crate::links::tests::model(8);
        let mut draws = Stream::new(4, 1).at(0);
        let mut vector = |size: f64| Vec3::from_array([0; 3].map(|_| draws.range(-size, size)));
        let x: Vec<Vec3> = model.rest.iter().map(|x| *x + vector(0.02)).collect();
        let start: Vec<Vec3> = x.iter().map(|_| vector(1.0)).collect();
        let moved = vec![Vec3::ZERO; x.len()];
        let bend = |spread: u32| {
            let (mut hinges, mut v) = (Hinges::new(&model), start.clone());
            hinges.linearise(&model, &x, (4e-3 / f64::from(spread), spread));
            hinges.evaluate(&model, &moved, &mut v);
            let first = v[9] - start[9];
            (1..spread).for_each(|_| hinges.go_on(&mut v));
            (v, first)
        };
        let ((once, all), (spread, part)) = (bend(1), bend(4));
        assert!(all.length() > 1e-6 && (all - 4.0 * part).length() < 1e-12);
        assert!(once.iter().zip(&spread).all(|(a, b)| a.distance(*b) < 1e-12));
    }
}
