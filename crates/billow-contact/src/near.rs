//! Pairs of elements that may come near each other, kept from step to step.
//!
//! When pairs are looked up, nodes that move slowly get a place with a margin beyond the reach of contacts, others the way
//! on which they are expected. Pairs that are not listed keep apart all the way, margins included. As long as nodes
//! stay within their margins, the list therefore has every pair that can come within reach. Nodes that leave them are
//! looked up anew; if those are many, everything is. What most nodes have in common on their way does not count: a sheet
//! that is dragged along keeps its list.
//!
//! A pair whose distance was once known is not looked at again until its triangles have travelled far enough to meet.
//!
//! Names of pairs ascend through the list: what is found in it comes in an order that does not depend on when pairs were
//! looked up.

use crate::corner::Corner;
use crate::crossed::Candidate;
use crate::listed::{Hint, Looked, Part, Trail, common, rounded_up};
use crate::name::{Name, sorted};
use crate::pair::Pair;
use crate::search::{Search, centre};
use crate::surface::Exempt;
use crate::way::{Fit, Frame, Way};
use billow_num::{Vec3, par};

/// Pairs that one thread works off at a time.
const PART: usize = 2048;

/// If more than one node in this many left its margin, everything is looked up anew.
const MANY: usize = 6;

/// If more than one node in this many strayed, the search is fitted to where all nodes go, which is less than where they are
/// looked for.
const SOME: usize = 16;

/// Steps that a margin is meant to last if a node goes on as it did.
const STEPS: f64 = 6.0;

/// Margin of a node at rest, in thicknesses [-].
const LEAST: f64 = 0.1;

/// Largest margin, in thicknesses [-].
const MOST: f64 = 0.3;

/// How far nodes may stray from where they are expected, in thicknesses, where few pairs are near each other: there it costs
/// nothing, and looking for what is around nodes that strayed does [-].
const LEEWAY: f64 = 0.4;

/// The list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Near {
    parts: Vec<Part>,
    /// See [`LEEWAY`] [-].
    leeway: f64,
    /// Where each node is looked for, with reach and margin around it.
    ways: Vec<Way>,
    /// The frame in which ways are told.
    frame: Frame,
    /// Where nodes started in the last step, in its frame [m].
    before: Vec<Vec3>,
    /// Scratch: squares of how far they came since then [m²].
    came: Vec<f64>,
    /// Pairs that were left out.
    exempt: Exempt,
    /// How far each triangle came, at most, since everything was looked up [m].
    travelled: Vec<f32>,
    trail: Trail,
    /// The nodes that did not keep to their ways when trajectories were taken last.
    off: Vec<bool>,
    /// Whether the search was fitted to those trajectories.
    fitted: bool,
}

impl Near {
    /// Makes sure that all pairs are listed that come within reach on the expected trajectories.
    pub(crate) fn expect(&mut self, search: &mut Search, fit: Fit<'_>) {
        let (surface, nodes) = (fit.surface, fit.path.x0.len());
        let from = common(&self.before, fit.path.x0);
        self.frame = Frame { from, to: from + common(fit.path.x0, fit.path.x1) };
        let fit = self.framed(fit);
        let known = self.ways.len() == nodes && *surface.exempt_pairs() == self.exempt;
        let strayed = if known { self.strayed(fit) } else { Vec::new() };
        if !known || strayed.len() > nodes / MANY {
            self.exempt.clone_from(surface.exempt_pairs());
            self.look_up_all(search, fit);
        } else {
            self.travel(search, fit);
            self.look_up_some(search, fit, &strayed);
        }
        self.before.resize(nodes, Vec3::ZERO);
        par::fill(&mut self.before, |i| fit.way(i).from);
    }

    fn framed<'a>(&self, fit: Fit<'a>) -> Fit<'a> {
        Fit { frame: self.frame, ..fit }
    }

    /// The nodes whose trajectories do not keep to their ways.
    fn strayed(&self, fit: Fit<'_>) -> Vec<u32> {
        par::gather(self.ways.len(), par::CHUNK, |range, list| {
            list.extend(range.filter(|i| !fit.keeps_to(&self.ways[*i], *i)).map(|i| i as u32));
        })
    }

    /// Takes trajectories. Returns the nodes that do not keep to their ways; if there are any, the search is fitted to their
    /// trajectories and to the ways of all others, or to the trajectories of all if they are many.
    pub(crate) fn follow(&mut self, search: &mut Search, fit: Fit<'_>) -> Vec<u32> {
        let fit = self.framed(fit);
        let strayed = self.strayed(fit);
        self.off.clear();
        self.off.resize(self.ways.len(), false);
        strayed.iter().for_each(|i| self.off[*i as usize] = true);
        self.fitted = !strayed.is_empty();
        if strayed.len() > self.ways.len() / SOME {
            search.fit(fit.surface, |i| fit.way(i));
        } else if self.fitted {
            self.fit(search, fit);
        }
        self.trail.follow(search.origin(), fit);
        strayed
    }

    /// Takes trajectories of which only a few changed since the last time, and fits the search to them.
    pub(crate) fn follow_some(&mut self, search: &mut Search, fit: Fit<'_>, changed: &[u32]) {
        let fit = self.framed(fit);
        for i in changed.iter().map(|i| *i as usize) {
            self.off[i] = !fit.keeps_to(&self.ways[i], i);
        }
        if self.fitted {
            let (off, ways) = (&self.off, &self.ways);
            search.refit_some(fit.surface, changed, |i| if off[i] { fit.way(i) } else { ways[i] });
            self.trail.follow_some(search, fit, changed);
        } else {
            self.fit(search, fit);
            self.trail.follow(search.origin(), fit);
        }
    }

    fn fit(&mut self, search: &mut Search, fit: Fit<'_>) {
        let (off, ways) = (&self.off, &self.ways);
        search.refit(fit.surface, |i| if off[i] { fit.way(i) } else { ways[i] });
        self.fitted = true;
    }

    /// The trajectories taken last.
    pub(crate) fn corners(&self) -> &[Corner] {
        &self.trail.corners
    }

    /// Notes how far triangles came since the last step.
    fn travel(&mut self, search: &Search, fit: Fit<'_>) {
        let (facets, before, start) = (search.facets(), &self.before, fit.path.x0);
        self.came.resize(start.len(), 0.0);
        par::fill(&mut self.came, |i| (start[i] - fit.frame.from - before[i]).length_squared());
        let came = &self.came;
        par::for_each_mut(&mut self.travelled, |k, travelled| {
            *travelled = rounded_up(f64::from(*travelled) + facets[k].farthest(|i| came[i]).sqrt());
        });
    }

    /// Where a node is looked for.
    fn way(&self, fit: Fit<'_>, i: usize) -> Way {
        self.lasting(fit, i).unwrap_or_else(|| self.passing(fit, i))
    }

    /// Where a node is for some steps, unless it is too fast for that.
    #[inline(always)]
    fn lasting(&self, fit: Fit<'_>, i: usize) -> Option<Way> {
        let (way, thickness) = (fit.way(i), fit.surface.thickness(i as u32));
        let (ahead, came) = (0.5 * way.from.distance(way.to), way.from.distance(*self.before.get(i)?));
        let margin = ahead + (LEAST * thickness + STEPS * came).min(MOST * thickness);
        (ahead + came <= MOST * thickness).then(|| way.grown(margin).halted())
    }

    /// Where a node is in this step.
    fn passing(&self, fit: Fit<'_>, i: usize) -> Way {
        fit.way(i).grown(self.leeway * fit.surface.thickness(i as u32))
    }

    fn look_up_all(&mut self, search: &mut Search, fit: Fit<'_>) {
        let nodes = fit.path.x0.len();
        let listed: usize = self.parts.iter().map(|part| part.names().len()).sum();
        self.leeway = if listed < nodes { LEEWAY } else { 0.0 };
        // The old list makes room for the new one: both may be long.
        self.parts.clear();
        // Margins are of no use if the next step looks everything up again.
        let lasting = par::map(nodes, |i| self.lasting(fit, i));
        let all_pass = lasting.iter().filter(|way| way.is_none()).count() > nodes / MANY;
        let lasting = |i: usize| lasting[i].filter(|_| !all_pass);
        self.ways = par::map(nodes, |i| lasting(i).unwrap_or_else(|| self.passing(fit, i)));
        self.travelled.clear();
        self.travelled.resize(search.facets().len(), 0.0);
        search.fit(fit.surface, |i| self.ways[i]);
        let look = |list: &mut Vec<Name>, candidate: Candidate| list.push(candidate.name);
        let names = sorted(&search.all(fit.surface, look), search.facets().len());
        self.cut(&names);
    }

    fn look_up_some(&mut self, search: &mut Search, fit: Fit<'_>, strayed: &[u32]) {
        if strayed.is_empty() {
            return;
        }
        let mut off = vec![false; self.ways.len()];
        for i in strayed.iter().map(|i| *i as usize) {
            (off[i], self.ways[i]) = (true, self.way(fit, i));
        }
        let gone = |pair: &Pair| pair.nodes.iter().any(|i| off[*i as usize]);
        search.refit(fit.surface, |i| self.ways[i]);
        let look = |list: &mut Vec<Name>, Candidate { pair, name }: Candidate| {
            if gone(&pair) {
                list.push(name);
            }
        };
        let names = sorted(&search.around(fit.surface, (strayed, None), look), search.facets().len());

        // Each part takes those new names that are not before its first.
        let part_of = |k: usize| names.partition_point(|name| *name < self.parts[k].first());
        let starts: Vec<usize> =
            (0..self.parts.len()).map(|k| if k == 0 { 0 } else { part_of(k) }).chain([names.len()]).collect();
        let facets = search.facets();
        let touched = par::map(facets.len(), |k| facets[k].nodes.iter().any(|i| off[*i as usize]));
        par::chunks_mut(&mut self.parts, 1, |k, part| {
            part[0].replace(&names[starts[k]..starts[k + 1]], |name| {
                name.facets().iter().any(|facet| touched[*facet as usize]) && gone(&search.pair(name))
            });
        });
        if self.parts.iter().any(|part| part.names().len() > 4 * PART) {
            let all: Vec<Name> = self.parts.iter().flat_map(|part| part.names()).copied().collect();
            self.cut(&all);
        }
    }

    /// Takes a new list.
    fn cut(&mut self, names: &[Name]) {
        self.parts.resize_with(names.len().div_ceil(PART).max(1), Part::default);
        let mut runs = names.chunks(PART);
        for part in &mut self.parts {
            part.take(runs.next().unwrap_or(&[]));
        }
    }

    /// Shows all listed pairs that may be contacts on their trajectories, in parts, in order.
    pub(crate) fn contacts<T: Default + Send>(
        &mut self,
        search: &Search,
        fit: Fit<'_>,
        look: impl Fn(&mut T, Hint) -> Looked + Sync,
    ) -> Vec<T> {
        if self.parts.iter().all(|part| part.names().is_empty()) {
            return Vec::new();
        }
        // Which contacts are foreseen is decided in single precision: relative to what depends on nothing but where nodes are.
        let x0 = fit.path.x0;
        self.trail.follow(centre(x0.len(), |i| x0[i]), Fit { frame: Frame::default(), ..fit });
        self.trail.look_ahead(search, fit, &self.travelled);
        let (trail, travelled) = (&self.trail, &self.travelled);
        each(&mut self.parts, |part, found| {
            part.contacts(search, (fit, trail, travelled), |hint| look(found, hint));
        })
    }

    /// Shows all listed pairs without strayed nodes that may come within reach on the trajectories taken last, in parts, in
    /// order.
    pub(crate) fn trajectories<T: Default + Send>(
        &mut self,
        search: &Search,
        fit: Fit<'_>,
        look: impl Fn(&mut T, Pair) + Sync,
    ) -> Vec<T> {
        if self.parts.iter().all(|part| part.names().is_empty()) {
            return Vec::new();
        }
        self.trail.look_ahead(search, fit, &self.travelled);
        let (trail, off) = (&self.trail, &self.off);
        let wanted = |pair: &Pair| !pair.nodes.iter().any(|i| off[*i as usize]);
        each(&mut self.parts, |part, found| {
            part.trajectories(search, (fit, trail), &wanted, |pair| look(found, pair));
        })
    }
}

/// What is found in each part.
fn each<T: Default + Send>(parts: &mut [Part], f: impl Fn(&mut Part, &mut T) + Sync) -> Vec<T> {
    let mut found = Vec::new();
    found.resize_with(parts.len(), T::default);
    par::zip_chunks_mut(parts, &mut found, 1, |_, part, found| f(&mut part[0], &mut found[0]));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Surface;
    use crate::collision::{self, Which};
    use crate::pair::{Path, Reach};
    use crate::search::tests::{scene, within_reach};
    use crate::touch;
    use billow_num::rng::Stream;

    /// The way that nodes have in common, much longer than any margin [m].
    const DRAG: Vec3 = Vec3::new(3e-2, 1e-2, -2e-2);

    /// Ends of trajectories: all nodes are dragged far and stir a little, every seventh step some leave.
    fn ends(x: &[Vec3], step: u64) -> Vec<Vec3> {
        let mut draws = Stream::new(8, 1).at(step);
        let mut vector = |size: f64| Vec3::from_array([0; 3].map(|_| draws.range(-size, size)));
        let far = |i: usize| if step % 7 == 6 && i.is_multiple_of(20) { 5e-3 } else { 0.0 };
        x.iter().enumerate().map(|(i, x)| *x + DRAG + vector(2e-4) + vector(far(i))).collect()
    }

    #[test]
    fn a_kept_list_gives_the_pairs_contacts_and_collisions_of_a_new_one() {
        let (mut kept, mut looked, mut contacts, mut collisions) = (0, 0, 0, 0);
        for k in 0..4 {
            let (surface, mut x, _) = scene(k);
            let (mut near, mut search) = (Near::default(), Search::new(&surface));
            for step in 0..24 {
                let x1 = ends(&x, step);
                let fit = Fit::contacts(&surface, Path { x0: &x, x1: &x1 });
                let mut touches = [Vec::new(), Vec::new()];
                let (mut new, mut other) = (Near::default(), Search::new(&surface));
                touch::find(&mut near, &mut search, (fit, &[]), &mut touches[0]);
                touch::find(&mut new, &mut other, (fit, &[]), &mut touches[1]);
                let touches = touches.map(|parts| parts.concat());
                assert_eq!(touches[0], touches[1], "{k} {step}");
                contacts += touches[0].len();
                let names: Vec<Name> = near.parts.iter().flat_map(|part| part.names()).copied().collect();
                assert!(names.is_sorted_by(|a, b| a < b));
                let mut pairs: Vec<Pair> = names.iter().map(|name| search.pair(*name)).collect();
                pairs.sort_unstable();
                let within = within_reach(fit);
                assert!(within.iter().all(|pair| pairs.binary_search(pair).is_ok()), "{k} {step}");

                // Nodes end elsewhere than expected.
                let x1: Vec<Vec3> = ends(&x1, step + 100).iter().map(|x| *x - DRAG).collect();
                let fit =
                    Fit { reach: Reach::same(0.3), ..Fit::contacts(&surface, Path { x0: &x, x1: &x1 }) };
                let found = [(&mut near, &mut search), (&mut new, &mut other)].map(|(near, search)| {
                    let strayed = near.follow(search, fit);
                    let found = collision::detect((near, search), fit, Which::Listed(&strayed));
                    found.collisions.iter().map(|c| (c.pair, c.hit.toi)).collect::<Vec<_>>()
                });
                assert_eq!(found[0], found[1], "{k} {step}");
                collisions += found[0].len();
                kept += u32::from(!near.travelled.iter().all(|travelled| *travelled == 0.0));
                looked += 1;
                x = x1;
            }
        }
        assert!(2 * kept > looked && kept < looked, "{kept} of {looked}");
        assert!(contacts > 1000 && collisions > 10, "{contacts} {collisions}");
    }

    #[test]
    fn pairs_leave_the_list_when_they_become_exempt_and_come_back() {
        let (mut surface, x, _) = scene(0);
        let (mut near, mut search) = (Near::default(), Search::new(&surface));
        let mut listed = |surface: &Surface| {
            near.expect(&mut search, Fit::contacts(surface, Path { x0: &x, x1: &x }));
            let names = near.parts.iter().flat_map(|part| part.names());
            names.map(|name| search.pair(*name)).collect::<Vec<_>>()
        };
        let all = listed(&surface);
        let [p, face @ ..] = all[0].nodes;
        let s = surface.topology().vertex_triangles(p)[0];
        let t = surface.topology().triangles().iter().position(|nodes| *nodes == face).unwrap() as u32;
        surface.exempt(&[[s, t]]);
        assert!(!listed(&surface).contains(&all[0]));
        surface.exempt(&[]);
        assert!(listed(&surface).contains(&all[0]));
    }
}
