//! Springs set on their limits together, along lines of tension.
//!
//! A pull on fabric runs along lines of springs, each of which goes on about straight where another ends. Set on their limits one
//! after the other, they pass it on by halves: for a line of hundreds that takes thousands of sweeps. All of a line together are
//! equations with three terms each, solved at once. Where lines cross, some sweeps over them do the rest.
//!
//! Impulses lie along the springs, equal and opposite: linear and angular momentum are conserved.

use crate::links::Links;
use billow_num::Vec3;
use billow_num::par::{self, Incidence};

/// Part of their length that springs may be shorter than their limits and still be taken as taut: they are beyond them as soon
/// as their neighbours are set [-].
const TAUT: f64 = 5e-4;

/// Cosine of the angle by which lines turn from spring to spring at most.
const STRAIGHT: f64 = 0.8;

/// Springs at a node that may belong to lines; what else it has does not.
const MOST: usize = 12;

const NONE: u32 = u32::MAX;

/// Lines of taut springs. Scratch: dropping it changes no result.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    /// Where each spring is among the taut ones; `NONE` if it is not.
    number: Vec<u32>,
    /// With which taut springs each goes on at its ends, by number.
    next: Vec<[u32; 2]>,
    done: Vec<bool>,
    line: Vec<Segment>,
    equations: Vec<Equation>,
}

/// What elimination leaves of an equation: `impulse + factor × next impulse = right`.
#[derive(Clone, Copy, Debug, Default)]
struct Equation {
    factor: f64,
    right: f64,
}

/// A spring of a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    /// The nodes at which it begins and ends, and their inverse masses [1/kg].
    pub(crate) ends: [u32; 2],
    pub(crate) weights: [f64; 2],
    /// Its direction [-].
    pub(crate) unit: Vec3,
    /// How much longer than its limit it is [m].
    pub(crate) excess: f64,
}

impl Lines {
    /// One sweep over all lines of the positions `x`; tells the nodes it moves.
    pub(crate) fn sweep(
        &mut self,
        links: &Links,
        springs_of: &Incidence,
        x: &mut [Vec3],
        mut moved: impl FnMut(u32),
    ) {
        let taut = links.taut(TAUT, x);
        self.number.resize(links.len(), NONE);
        taut.iter().enumerate().for_each(|(t, k)| self.number[*k as usize] = t as u32);
        self.join(links, springs_of, &taut, x);
        self.done.clear();
        self.done.resize(taut.len(), false);
        for t in 0..taut.len() {
            if !self.done[t] {
                self.trace(links, &taut, t as u32, x);
                pull(&self.line, &mut self.equations, x, &mut moved);
            }
        }
        taut.iter().for_each(|k| self.number[*k as usize] = NONE);
    }

    /// Finds how springs go on.
    fn join(&mut self, links: &Links, springs_of: &Incidence, taut: &[u32], x: &[Vec3]) {
        let Self { number, next, .. } = self;
        let units = par::map(taut.len(), |t| links.segment(taut[t], 0, x).unit);
        next.resize(taut.len(), [NONE; 2]);
        par::fill(next, |t| {
            links.ends(taut[t]).map(|node| {
                let mut at_node = [(NONE, Vec3::ZERO); MOST];
                let mut count = 0;
                for (k, end) in springs_of.of(node as usize) {
                    let other = number[*k as usize];
                    if other != NONE && count < MOST {
                        let unit = units[other as usize];
                        at_node[count] = (other, if *end == 0 { unit } else { -unit });
                        count += 1;
                    }
                }
                partner(&mut at_node[..count], t as u32)
            })
        });
    }

    /// Writes down the line that has a spring, from its beginning on.
    fn trace(&mut self, links: &Links, taut: &[u32], t: u32, x: &[Vec3]) {
        let Self { next, done, line, .. } = self;
        let ends = |t: u32| links.ends(taut[t as usize]);
        // Where the next spring begins, given where this one ends.
        let begins = |t: u32, node: u32| usize::from(ends(t)[0] != node);
        // Back to the beginning, or once around.
        let (mut at, mut from) = (t, 0);
        for _ in 0..taut.len() {
            let before = next[at as usize][from];
            if before == NONE || before == t {
                break;
            }
            from = 1 - begins(before, ends(at)[from]);
            at = before;
        }
        line.clear();
        while at != NONE && !std::mem::replace(&mut done[at as usize], true) {
            line.push(links.segment(taut[at as usize], from, x));
            let after = next[at as usize][1 - from];
            if after != NONE {
                from = begins(after, ends(at)[1 - from]);
            }
            at = after;
        }
    }
}

/// Which spring goes on where another ends, given all at the node with their directions away from it: the straightest two
/// belong together, then the straightest of the others.
fn partner(at_node: &mut [(u32, Vec3)], t: u32) -> u32 {
    let mut left = at_node.len();
    while left > 1 {
        let (mut straightest, mut pair) = (-STRAIGHT, None);
        for i in 1..left {
            for j in 0..i {
                let cosine = at_node[i].1.dot(at_node[j].1);
                if cosine < straightest {
                    (straightest, pair) = (cosine, Some((i, j)));
                }
            }
        }
        let Some((i, j)) = pair else { break };
        let found = [at_node[i].0, at_node[j].0];
        if let Some(own) = found.iter().position(|other| *other == t) {
            return found[1 - own];
        }
        for taken in [i, j] {
            left -= 1;
            at_node.swap(taken, left);
        }
    }
    NONE
}

/// Sets the springs of a line on their limits, to first order; none is made longer.
fn pull(line: &[Segment], equations: &mut Vec<Equation>, x: &mut [Vec3], moved: &mut impl FnMut(u32)) {
    equations.clear();
    let mut last = Equation::default();
    for (k, Segment { weights, unit, excess, .. }) in line.iter().enumerate() {
        let before = if k > 0 { -weights[0] * unit.dot(line[k - 1].unit) } else { 0.0 };
        let after = line.get(k + 1).map_or(0.0, |next| -weights[1] * unit.dot(next.unit));
        let diagonal = weights[0] + weights[1] - before * last.factor;
        last = Equation { factor: after / diagonal, right: (excess - before * last.right) / diagonal };
        equations.push(last);
    }
    let mut impulse = 0.0;
    for (Segment { ends, weights, unit, .. }, Equation { factor, right }) in line.iter().zip(equations).rev()
    {
        impulse = f64::max(*right - *factor * impulse, 0.0);
        if impulse > 0.0 {
            x[ends[0] as usize] += *unit * (impulse * weights[0]);
            x[ends[1] as usize] -= *unit * (impulse * weights[1]);
            ends.iter().for_each(|node| moved(*node));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::tests::model;
    use billow_num::rng::Stream;

    /// Two straight crossing lines, one that ends there and one that turns too far.
    #[test]
    fn the_straightest_two_belong_together() {
        let turned = |angle: f64| Vec3::new(angle.to_radians().cos(), angle.to_radians().sin(), 0.0);
        let at_node = [0.0, 94.0, 175.0, 268.0, 300.0].map(turned);
        let springs: Vec<(u32, Vec3)> = (0..).zip(at_node).collect();
        let partners = [0, 1, 2, 3, 4].map(|t| partner(&mut springs.clone(), t));
        assert_eq!(partners, [2, 3, 0, 1, NONE]);
        assert_eq!(partner(&mut [(0, turned(0.0)), (1, turned(140.0))], 0), NONE);
        assert_eq!(partner(&mut [(0, turned(0.0)), (1, turned(150.0))], 0), 1);
        assert_eq!(partner(&mut [(0, Vec3::NAN), (1, turned(150.0))], 0), NONE);
    }

    /// A line of so many springs of unit length that may be stretched by nothing, with these excesses.
    fn chain(excess: &[f64], bend: f64) -> (Vec<Segment>, Vec<Vec3>) {
        let mut x = vec![Vec3::ZERO];
        let mut line = Vec::new();
        for (k, excess) in (0..).zip(excess) {
            let unit = Vec3::new(1.0, bend * f64::from(k), 0.0).normalize();
            line.push(Segment { ends: [k, k + 1], weights: [1.0; 2], unit, excess: *excess });
            x.push(x[k as usize] + unit * (1.0 + excess));
        }
        (line, x)
    }

    #[test]
    fn a_line_is_set_on_its_limits_at_once_and_keeps_its_momenta() {
        let mut draws = Stream::new(2, 5).at(0);
        let excess: Vec<f64> = (0..300).map(|_| draws.range(0.0, 0.1)).collect();
        for (bend, within) in [(0.0, 1e-9), (1e-3, 1e-3)] {
            let (line, mut x) = chain(&excess, bend);
            let (before, mut moved) = (x.clone(), 0);
            pull(&line, &mut Vec::new(), &mut x, &mut |_| moved += 1);
            assert_eq!(moved, 600);
            let too_long = x.windows(2).map(|ends| ends[0].distance(ends[1]) - 1.0).fold(0.0, f64::max);
            assert!(too_long < within, "{too_long}");
            let way = |i: usize| x[i] - before[i];
            let linear: Vec3 = (0..x.len()).map(way).sum();
            let angular: Vec3 = (0..x.len()).map(|i| before[i].cross(way(i))).sum();
            assert!(linear.length() < 1e-9 && angular.length() < 1e-8, "{linear} {angular}");
        }
        // From an end that does not move, everything comes nearer.
        let (mut line, mut x) = chain(&excess, 0.0);
        line[0].weights[0] = 0.0;
        pull(&line, &mut Vec::new(), &mut x, &mut |_| {});
        assert!(x[0] == Vec3::ZERO && (x[300].x - 300.0).abs() < 1e-9);
        // What is shorter than its limit is not pushed apart.
        let (line, mut x) = chain(&[0.1, -0.5, 0.1], 0.0);
        pull(&line, &mut Vec::new(), &mut x, &mut |_| {});
        assert!((x[2].x - x[1].x - 0.5).abs() < 0.11, "{x:?}");
    }

    #[test]
    fn a_pull_gets_through_a_sheet_in_one_sweep() {
        // Drawn out along its grain by 10.5 %; springs may be stretched by 9.5 %.
        let n = 60;
        let model = model(n);
        let links = Links::new(&model);
        let springs_of = links.by_node(model.node_count());
        let drawn: Vec<Vec3> = model.rest.iter().map(|x| Vec3::new(1.105 * x.x, x.y, x.z)).collect();
        let longest = |x: &[Vec3]| {
            let along = (0..n * n).filter(|i| i % n != n - 1).map(|i| i as usize);
            along.map(|i| (x[i + 1].x - x[i].x) * f64::from(n - 1)).fold(0.0, f64::max)
        };
        assert!((longest(&drawn) - 1.105).abs() < 1e-9);
        let (mut x, mut lines, mut moved) = (drawn, Lines::default(), 0);
        lines.sweep(&links, &springs_of, &mut x, |_| moved += 1);
        assert!((longest(&x) - 1.095).abs() < 1e-9, "{}", longest(&x));
        assert_eq!(moved, 2 * n * (n - 1));
        assert!(lines.number.iter().all(|number| *number == NONE));
    }

    #[test]
    fn a_line_that_comes_back_to_where_it_began_ends() {
        // The first triangle of a sheet, taken as a line.
        let model = model(4);
        let links = Links::new(&model);
        let places = |[a, b]: [u32; 2]| {
            (0..links.len() as u32).find(|k| links.ends(*k) == [a, b] || links.ends(*k) == [b, a])
        };
        let triangle = model.surface.topology().triangles()[0];
        let taut: Vec<u32> = (0..3).filter_map(|k| places([triangle[k], triangle[(k + 1) % 3]])).collect();
        assert_eq!(taut.len(), 3);
        // Spring `t` joins corners `t` and `t + 1`.
        let next = |t: usize| {
            links
                .ends(taut[t])
                .map(|node| if node == triangle[t] { (t as u32 + 2) % 3 } else { (t as u32 + 1) % 3 })
        };
        let mut lines =
            Lines { next: [0, 1, 2].map(next).to_vec(), done: vec![false; 3], ..Lines::default() };
        lines.trace(&links, &taut, 1, &model.rest);
        assert!(lines.line.len() == 3 && lines.done == [true; 3]);
        let ends: Vec<u32> = lines.line.iter().flat_map(|segment| segment.ends).collect();
        assert!(ends[1] == ends[2] && ends[3] == ends[4] && ends[5] == ends[0], "{ends:?}");
    }
}
