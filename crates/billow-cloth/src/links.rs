//! Springs as impulses between their ends, one after the other.
//!
//! Each spring gets the impulse that its own elastic and damping force would give over the sub-step if nothing else
//! moved its ends: implicit in itself, hence stable at any stiffness. An impulse that leaves the predicted length out of
//! the strain limits is changed so that it lands on the limit ([Bri03] 1.3). Impulses lie along the spring, equal and
//! opposite: linear and angular momentum are conserved to rounding.

use crate::model::Model;
use billow_num::Vec3;
use billow_num::par::Tiles;

/// Springs that follow one another in a sweep and share a thread.
const TILE: usize = 96;

/// All springs in the order in which they are swept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    tiles: Tiles<2>,
    list: Vec<Link>,
    /// Length of the sub-steps that gains were computed for [s].
    h: f64,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    rest: f64,
    /// Tension per length [N/m].
    stiffness: f64,
    /// Tension per speed [N·s/m].
    damping: f64,
    /// Lengths allowed [m].
    shortest: f64,
    longest: f64,
    /// Inverse masses of the ends [1/kg].
    weights: [f64; 2],
    /// Impulse per tension without the impulse, for the present length of the sub-steps [s].
    gain: f64,
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
            Link {
                rest,
                stiffness: springs.stiffness()[e] / rest,
                damping: springs.damping()[e] / rest,
                shortest: rest * (1.0 - limit.compression),
                longest: rest * (1.0 + limit.extension),
                weights: springs.ends()[e].map(|i| model.inverse_masses[i as usize]),
                gain: 0.0,
            }
        };
        let list = tiles.order().iter().map(link).collect();
        Self { tiles, list, h: 0.0 }
    }

    /// One sweep over the velocities of a sub-step of length `h` that starts from `x`.
    pub(crate) fn sweep(&mut self, x: &[Vec3], h: f64, v: &mut [Vec3]) {
        if h != self.h {
            self.h = h;
            self.list.iter_mut().for_each(|link| link.gain = link.gain(h));
        }
        self.tiles.sweep(&mut self.list, v, |link, [a, b], [va, vb]| {
            let along = x[*b as usize] - x[*a as usize];
            let length2 = along.length_squared();
            if length2 > 0.0 {
                let length = length2.sqrt();
                let unit = along * length.recip();
                let j = link.impulse(length, unit.dot(*vb - *va), h);
                *va += unit * (j * link.weights[0]);
                *vb -= unit * (j * link.weights[1]);
            }
        });
    }
}

impl Link {
    fn gain(&self, h: f64) -> f64 {
        let compliance = h * (self.weights[0] + self.weights[1]);
        h / (1.0 + compliance * (h * self.stiffness + self.damping))
    }

    /// The impulse that pulls the ends together, given the length at the start and its rate without the impulse [N·s].
    #[inline(always)]
    fn impulse(&self, start: f64, rate: f64, h: f64) -> f64 {
        let length = start + rate * h;
        let compliance = h * (self.weights[0] + self.weights[1]);
        let pull = self.gain * (self.stiffness * (length - self.rest) + self.damping * rate);
        let end = length - compliance * pull;
        let bound = end.min(self.longest).max(self.shortest);
        if end == bound { pull } else { pull + (end - bound) / compliance }
    }
}
