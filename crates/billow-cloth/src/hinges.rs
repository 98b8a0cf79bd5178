//! Bending elements as impulses along their bending modes, one after the other.
//!
//! The modes are computed a few times per step and kept in between; the moment follows the angle to first order. Like
//! the springs' ([`crate::links`]) each impulse is implicit in its own element, hence stable at any stiffness. It
//! has the momenta of the mode: none ([Bri03] 1.4).

use crate::model::Model;
use billow_elastic::Hinge;
use billow_num::par::Tiles;
use billow_num::{Vec3, par};

/// Elements that follow one another in a sweep and share a thread.
const TILE: usize = 64;

/// How far nodes of an element may have moved past each other, in lengths over which its angle changes by one, before its
/// mode is computed anew [-].
const TURNED: f64 = 0.05;

/// All bending elements in the order in which they are swept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hinges {
    tiles: Tiles<4>,
    list: Vec<Bend>,
}

#[derive(Clone, Copy, Debug)]
struct Bend {
    /// Number in the model.
    element: u32,
    hinge: Hinge,
    damping: f64,
    /// Speed along the mode per impulse, `Σ |uᵢ|²/mᵢ`.
    compliance: f64,
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
                compliance: 0.0,
            }
        };
        let list = tiles.order().iter().map(bend).collect();
        Self { tiles, list }
    }

    /// Modes and moments at `x`, the start of a step.
    pub(crate) fn linearise(&mut self, model: &Model, x: &[Vec3]) {
        par::for_each_mut(&mut self.list, |_, bend| bend.linearise(model, x));
    }

    /// The same during a step, for elements that have turned since its start; `moved` is how far nodes are from there.
    pub(crate) fn linearise_again(&mut self, model: &Model, x: &[Vec3], moved: &[Vec3]) {
        let tiles = &self.tiles;
        par::for_each_mut(&mut self.list, |position, bend| {
            let moved = tiles.nodes(position).map(|i| moved[i as usize]);
            if bend.has_turned(&moved) {
                bend.linearise(model, x);
                // Angles are told by all that nodes moved.
                bend.hinge.moment += bend.hinge.rigidity * bend.angle(&moved);
            }
        });
    }

    /// One sweep over the velocities of a sub-step of length `h`; `moved` is how far nodes are from the start of the step.
    pub(crate) fn sweep(&mut self, model: &Model, moved: &[Vec3], h: f64, v: &mut [Vec3]) {
        let weights = &model.inverse_masses;
        self.tiles.sweep(&mut self.list, v, |bend, nodes, v| {
            let Hinge { mode, moment, rigidity } = &bend.hinge;
            let (mut angle, mut rate) = (0.0, 0.0);
            for k in 0..4 {
                angle += mode[k].dot(moved[nodes[k] as usize]);
                rate += mode[k].dot(*v[k]);
            }
            let resistance = rigidity * h + bend.damping;
            let impulse = h * (moment - rigidity * angle - resistance * rate)
                / (1.0 + h * resistance * bend.compliance);
            for (k, v) in v.into_iter().enumerate() {
                *v += mode[k] * (impulse * weights[nodes[k] as usize]);
            }
        });
    }
}

impl Bend {
    fn linearise(&mut self, model: &Model, x: &[Vec3]) {
        let e = self.element as usize;
        self.hinge = model.bending.hinge(e, x);
        let nodes = model.bending.nodes()[e];
        let terms = self.hinge.mode.iter().zip(nodes);
        self.compliance =
            terms.map(|(mode, i)| mode.length_squared() * model.inverse_masses[i as usize]).sum();
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
