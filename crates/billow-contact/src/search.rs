//! Which elements may be near each other during the step ([Bri03] 2.4).
//!
//! A hierarchy of boxes over the triangles, shaped once, is fitted to where they start and end. Triangles whose boxes
//! overlap are held against each other's slabs, and pairs of elements that those do not keep apart are shown to whoever
//! asked, in parallel, in an order that the tree alone decides.

use crate::Surface;
use crate::corner::Corner;
use crate::crossed::Candidate;
use crate::facets::{Facet, facets};
use crate::fans;
use crate::name::Name;
use crate::pair::Pair;
use crate::show::{Queue, Show};
use crate::slabs::Slabs;
use crate::tag::Tag;
use crate::way::Way;
use billow_geom::Aabb;
use billow_geom::bvh::{Bvh, Marks, PairTasks, Task};
use billow_num::{Vec3, par};

/// Facets that are fitted on one thread.
const CHUNK: usize = 512;

/// If more than one node in this many changed, everything is fitted again.
const MANY: usize = 8;

/// The hierarchy of triangles.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    /// In the order of the tree, so that what is near is near in memory too.
    facets: Vec<Facet>,
    /// Where each triangle is in that order.
    place: Vec<u32>,
    /// Where each point without triangles is in that order, ascending by point.
    loose: Vec<(u32, u32)>,
    tree: Bvh<2>,
    /// Per facet.
    slabs: Vec<Slabs>,
    /// Per vertex.
    pub(crate) corners: Vec<Corner>,
    /// Per vertex, whether elements around it keep away from each other anyway.
    open: Vec<bool>,
    /// Per facet.
    tags: Vec<Tag>,
    marks: Marks,
    tasks: PairTasks,
}

impl Search {
    /// Shapes the tree by the rest pose, so that it is the same whenever it is made.
    pub(crate) fn new(surface: &Surface) -> Self {
        let by_number = facets(surface);
        let centres = par::map(by_number.len(), |k| {
            let [a, b, c] = by_number[k].nodes.map(|i| surface.rest()[i as usize]);
            (a + b + c) / 3.0
        });
        let order: Vec<u32> = Bvh::<2>::from_centres(&centres).order().collect();
        let facets: Vec<Facet> = order.iter().map(|k| by_number[*k as usize]).collect();
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, k)| place[*k as usize] = at as u32);
        let triangles = surface.topology().triangle_count();
        let loose = place[triangles..].iter().map(|at| (facets[*at as usize].nodes[0], *at)).collect();
        let centres: Vec<Vec3> = order.iter().map(|k| centres[*k as usize]).collect();
        Self {
            tree: Bvh::from_centres(&centres),
            slabs: vec![Slabs::NONE; facets.len()],
            corners: Vec::new(),
            open: Vec::new(),
            tags: Vec::new(),
            facets,
            place,
            loose,
            marks: Marks::default(),
            tasks: PairTasks::default(),
        }
    }

    /// Fits everything to the ways of the nodes.
    pub(crate) fn fit(&mut self, surface: &Surface, ways: impl Fn(usize) -> Way + Sync) {
        let Self { facets, tree, slabs, corners, open, tags, .. } = self;
        let origin = centre(surface.vertex_count(), |i| ways(i).from);
        corners.resize(surface.vertex_count(), Corner::ANYWHERE);
        par::fill(corners, |i| Corner::of(ways(i), origin));
        open.resize(corners.len(), false);
        par::fill(open, |i| fans::open(surface, corners, i as u32));
        tags.resize(facets.len(), Tag::default());
        par::fill(tags, |k| Tag::new(&facets[k], k, open));
        tree.refit_single(origin, |k| Corner::boxes(facets[k].nodes.map(|i| &corners[i as usize])));
        par::chunks_mut(slabs, CHUNK, |first, slabs| {
            for (facet, slabs) in facets[first..].iter().zip(slabs).filter(|(facet, _)| facet.face) {
                *slabs = Slabs::new(facet.nodes.map(|i| &corners[i as usize]));
            }
        });
    }

    /// Fits what is around nodes with other ways than those it was last fitted to.
    pub(crate) fn refit(&mut self, surface: &Surface, ways: impl Fn(usize) -> Way + Sync) {
        let origin = self.tree.origin();
        let fresh = |i: usize| self.corners.get(i) == Some(&Corner::of(ways(i), origin));
        let stale = par::gather(surface.vertex_count(), par::CHUNK, |range, list| {
            list.extend(range.filter(|i| !fresh(*i)).map(|i| i as u32));
        });
        self.refit_some(surface, &stale, ways);
    }

    /// Fits what is around some nodes; all others have the ways it was last fitted to.
    pub(crate) fn refit_some(
        &mut self,
        surface: &Surface,
        stale: &[u32],
        ways: impl Fn(usize) -> Way + Sync,
    ) {
        if stale.len() > surface.vertex_count() / MANY {
            return self.fit(surface, ways);
        }
        let origin = self.tree.origin();
        let around = self.facets_of(surface, stale);
        let next = |i: &u32| surface.topology().vertex_vertices(*i);
        let changed: Vec<u32> = stale.iter().chain(stale.iter().flat_map(next)).copied().collect();
        let changed = ascending(changed, surface.vertex_count());
        let tagged = self.facets_of(surface, &changed);
        let Self { facets, tree, slabs, corners, open, tags, .. } = self;
        for i in stale {
            corners[*i as usize] = Corner::of(ways(*i as usize), origin);
        }
        put(open, &changed, |i| fans::open(surface, corners, i as u32));
        put(tags, &tagged, |k| Tag::new(&facets[k], k, open));
        put(slabs, &around, |k| match facets[k].face {
            true => Slabs::new(facets[k].nodes.map(|i| &corners[i as usize])),
            false => Slabs::NONE,
        });
        tree.refit_some_single(around, |k| Corner::boxes(facets[k].nodes.map(|i| &corners[i as usize])));
    }

    /// The point to which positions in single precision are relative [m].
    pub(crate) fn origin(&self) -> Vec3 {
        self.tree.origin()
    }

    /// All triangles by place.
    pub(crate) fn facets(&self) -> &[Facet] {
        &self.facets
    }

    /// The pair of that name.
    #[inline(always)]
    pub(crate) fn pair(&self, name: Name) -> Pair {
        name.pair(&self.facets)
    }

    /// Shows all pairs of elements that are not kept apart by boxes or slabs.
    pub(crate) fn all<T: Default + Send>(
        &mut self,
        surface: &Surface,
        look: impl Fn(&mut T, Candidate) + Sync,
    ) -> Vec<T> {
        self.tree.split_self(&mut self.tasks);
        let Self { tree, tasks, .. } = &*self;
        each(tasks.tasks(), |task, part| {
            let mut show = Show::new(self, (surface, &self.corners), |candidate| look(part, candidate));
            tree.run_self(tasks, task, |a, b| show.pair([a, b]));
            show.finish();
        })
    }

    /// The same for all pairs that have any of the nodes, and some others. Filters may look at corners that keep to those
    /// which everything is fitted to.
    pub(crate) fn around<T: Default + Send>(
        &mut self,
        surface: &Surface,
        (nodes, corners): (&[u32], Option<&[Corner]>),
        look: impl Fn(&mut T, Candidate) + Sync,
    ) -> Vec<T> {
        let around = self.facets_of(surface, nodes);
        self.tree.mark(around, &mut self.marks);
        self.tree.split_marked(&self.marks, &mut self.tasks);
        let Self { tree, tasks, marks, .. } = &*self;
        let corners = corners.unwrap_or(&self.corners);
        each(tasks.tasks(), |task, part| {
            let mut show = Show::new(self, (surface, corners), |candidate| look(part, candidate));
            tree.run_marked(marks, tasks, task, |a, b| show.pair([a, b]));
            show.finish();
        })
    }

    /// Tells the elements for which pairs of facets speak, except what slabs keep apart.
    pub(crate) fn work_off(
        &self,
        (surface, corners): (&Surface, &[Corner]),
        queue: &mut Queue,
        tell: &mut impl FnMut(Candidate),
    ) {
        queue.retain(|[a, b]| self.tags[a as usize].may_meet(&self.tags[b as usize]));
        for [a, b] in queue.drain() {
            let (facet_a, facet_b) = (&self.facets[a as usize], &self.facets[b as usize]);
            if facet_a.sides != 0 && facet_b.sides != 0 {
                self.compare_all((surface, corners), [a, b], tell);
                continue;
            }
            for ((a, one), (b, other)) in [((a, facet_a), (b, facet_b)), ((b, facet_b), (a, facet_a))] {
                for k in bits(if other.face { one.points } else { 0 }) {
                    if self.slabs[b as usize].beyond(&corners[one.nodes[k] as usize]) {
                        continue;
                    }
                    if let Some(pair) = Pair::vertex_face(surface, one.nodes[k], other.nodes) {
                        tell(Candidate { pair, name: Name::vertex_face((a, k), b) });
                    }
                }
            }
        }
    }

    /// Tells the elements of two facets that both speak for edges.
    #[inline(always)]
    fn compare_all(
        &self,
        (surface, points): (&Surface, &[Corner]),
        [a, b]: [u32; 2],
        tell: &mut impl FnMut(Candidate),
    ) {
        let (facet_a, facet_b) = (&self.facets[a as usize], &self.facets[b as usize]);
        let corners = |facet: &Facet| {
            let [a, b, c] = facet.nodes;
            [&points[a as usize], &points[b as usize], &points[c as usize]]
        };
        let seen_b = self.slabs[a as usize].see(corners(facet_b));
        if seen_b.apart() {
            return;
        }
        let seen_a = self.slabs[b as usize].see(corners(facet_a));
        if seen_a.apart() {
            return;
        }
        for ((a, one), seen, (b, other)) in
            [((a, facet_a), &seen_a, (b, facet_b)), ((b, facet_b), &seen_b, (a, facet_a))]
        {
            for k in bits(seen.points(one.points)) {
                if let Some(pair) = Pair::vertex_face(surface, one.nodes[k], other.nodes) {
                    tell(Candidate { pair, name: Name::vertex_face((a, k), b) });
                }
            }
        }
        let less = |facet: &Facet| {
            let [a, b, c] = corners(facet).map(Corner::less_for_edges);
            a.min(b).min(c)
        };
        let less = less(facet_a) + less(facet_b);
        let (ends, sides_b) = (surface.topology().edges(), seen_b.sides(facet_b.sides, less));
        for i in bits(seen_a.sides(facet_a.sides, less)) {
            for j in bits(sides_b) {
                let (e, f) = (facet_a.edges[i], facet_b.edges[j]);
                let (e, f) = (ends[e.min(f) as usize], ends[e.max(f) as usize]);
                if let Some(pair) = Pair::edge_edge(surface, e, f) {
                    tell(Candidate { pair, name: Name::edge_edge((a, i), (b, j)) });
                }
            }
        }
    }

    /// The facets that have any of the nodes, ascending.
    fn facets_of(&self, surface: &Surface, nodes: &[u32]) -> Vec<u32> {
        let triangles = nodes.iter().flat_map(|i| surface.topology().vertex_triangles(*i));
        let mut list: Vec<u32> = triangles.map(|t| self.place[*t as usize]).collect();
        if !self.loose.is_empty() {
            let at = |i: &u32| self.loose.binary_search_by_key(i, |loose| loose.0).ok();
            list.extend(nodes.iter().filter_map(at).map(|k| self.loose[k].1));
        }
        ascending(list, self.facets.len())
    }
}

/// Each of some numbers below `end` once, ascending.
fn ascending(mut numbers: Vec<u32>, end: usize) -> Vec<u32> {
    // Below that, sorting is faster than looking at all there may be.
    const FEW: usize = 64;
    if numbers.len() < end / FEW {
        numbers.sort_unstable();
        numbers.dedup();
        return numbers;
    }
    let mut there = vec![false; end];
    numbers.iter().for_each(|k| there[*k as usize] = true);
    numbers.clear();
    numbers.extend((0..end as u32).filter(|k| there[*k as usize]));
    numbers
}

/// Puts `f(k)` at some places, in parallel.
fn put<T: Copy + Send + Sync>(items: &mut [T], places: &[u32], f: impl Fn(usize) -> T + Sync) {
    let made = par::map(places.len(), |k| f(places[k] as usize));
    places.iter().zip(made).for_each(|(k, item)| items[*k as usize] = item);
}

/// What each task finds. Some have much more to do than others, so each may go to another thread.
fn each<T: Default + Send>(tasks: &[Task], f: impl Fn(Task, &mut T) + Sync) -> Vec<T> {
    let mut found = Vec::new();
    found.resize_with(tasks.len(), T::default);
    par::chunks_mut(&mut found, 1, |k, part| f(tasks[k], &mut part[0]));
    found
}

/// The middle of the box of so many positions; those that are nowhere do not count.
pub(crate) fn centre(count: usize, x: impl Fn(usize) -> Vec3 + Sync) -> Vec3 {
    let of =
        |range: std::ops::Range<usize>| range.map(&x).filter(|x| x.is_finite()).fold(Aabb::EMPTY, Aabb::with);
    let bounds = par::reduce(count, CHUNK, of, Aabb::union).unwrap_or(Aabb::EMPTY);
    if bounds.is_empty() { Vec3::ZERO } else { bounds.centre() }
}

/// The numbers of the bits that are set.
#[inline(always)]
fn bits(mut mask: u8) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = (mask != 0).then(|| mask.trailing_zeros() as usize);
        mask &= mask.wrapping_sub(1);
        first
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Body;
    use crate::pair::Path;
    use crate::way::Fit;
    use billow_num::rng::Stream;

    #[test]
    fn few_and_many_numbers_ascend() {
        for count in [0, 1, 10, 300, 5000] {
            let mut draws = Stream::new(42, 0).at(count);
            // Each of them twice.
            let numbers: Vec<u32> = (0..count).map(|_| draws.below(3000) as u32).collect();
            let numbers = [&numbers[..], &numbers].concat();
            let truth: std::collections::BTreeSet<u32> = numbers.iter().copied().collect();
            assert!(ascending(numbers, 3000).into_iter().eq(truth), "{count}");
        }
    }

    /// A sheet folded into layers, a thicker scripted triangle between them, and two points without triangles.
    #[allow(clippy::unwrap_used, reason = "test support")]
    pub(crate) fn scene(k: u64) -> (Surface, Vec<Vec3>, Vec<Vec3>) {
        let mut draws = Stream::new(41, 0).at(k);
        let mut vector = |size: f64| Vec3::from_array([0; 3].map(|_| draws.range(-size, size)));
        let mut sheet = billow_geom::shapes::cloth_grid(1.0, 1.0, 13, 9).unwrap();
        for p in &mut sheet.positions {
            let s = 3.0 * (p.x + 0.5);
            let along = if (s as u32).is_multiple_of(2) { s.fract() } else { 1.0 - s.fract() };
            *p = Vec3::new(0.3 * along, p.y, 0.02 * s) + vector(4e-3);
        }
        sheet.positions.extend([Vec3::new(0.1, 0.1, 0.03), Vec3::new(0.2, -0.2, 0.01)]);
        let plate = [Vec3::new(0.05, 0.0, 0.0), Vec3::new(0.3, 0.1, 0.03), Vec3::new(0.1, 0.4, 0.05)];
        let masses = vec![1.0; sheet.positions.len()];
        let body = |rest, triangles, inverse_masses, thickness, dynamic| Body {
            rest,
            triangles,
            inverse_masses,
            thickness,
            friction: 0.0,
            dynamic,
        };
        let bodies = [
            body(&sheet.positions, &sheet.triangles, &masses, 0.01, true),
            body(&plate, &[[0, 1, 2]], &[0.0; 3], 0.02, false),
        ];
        let surface = Surface::new(&bodies).unwrap();
        let x0 = [&sheet.positions[..], &plate].concat();
        let x1 = x0.iter().map(|x| *x + Vec3::new(0.3, -0.2, 0.1) + vector(4e-3)).collect();
        (surface, x0, x1)
    }

    /// All pairs that come within reach, by trying all.
    pub(crate) fn within_reach(fit: Fit<'_>) -> Vec<Pair> {
        let (surface, topology) = (fit.surface, fit.surface.topology());
        let (nodes, edges) = (0..surface.vertex_count() as u32, topology.edges());
        let mut pairs: Vec<Pair> = nodes
            .flat_map(|p| topology.triangles().iter().filter_map(move |t| Pair::vertex_face(surface, p, *t)))
            .collect();
        for (i, f) in edges.iter().enumerate() {
            pairs.extend(edges[..i].iter().filter_map(|e| Pair::edge_edge(surface, *e, *f)));
        }
        pairs.retain(|pair| {
            let ((x0, x1), (a, b)) = (fit.path.of(pair), pair.ends());
            let near = |t: u32| {
                let at = std::array::from_fn(|i| x0[i].lerp(x1[i], f64::from(t) / 4.0));
                pair.nearest(&at).1 < fit.reach.of(pair.kind) * pair.gap(surface)
            };
            surface.interacts(a, b) && (0..=4).any(near)
        });
        pairs
    }

    fn sorted(parts: Vec<Vec<Pair>>) -> Vec<Pair> {
        let mut pairs = parts.concat();
        pairs.sort_unstable();
        pairs
    }

    fn collect(list: &mut Vec<Pair>, candidate: Candidate) {
        list.push(candidate.pair);
    }

    #[test]
    fn names_tell_their_pairs() {
        let (surface, x0, x1) = scene(3);
        let fit = Fit::contacts(&surface, Path { x0: &x0, x1: &x1 });
        let mut search = Search::new(&surface);
        search.fit(&surface, |i| fit.way(i));
        let look = |list: &mut Vec<Candidate>, candidate: Candidate| list.push(candidate);
        let mut shown = search.all(&surface, look).concat();
        assert!(shown.len() > 500 && shown.iter().all(|c| search.pair(c.name) == c.pair));
        shown.sort_unstable_by_key(|c| c.name);
        assert!(
            shown.windows(2).all(|two| two[0].name < two[1].name && two[0].pair.kind <= two[1].pair.kind)
        );
    }

    #[test]
    fn every_pair_that_comes_within_reach_is_shown_once() {
        for k in 0..12 {
            let (surface, x0, x1) = scene(k);
            let fit = Fit::contacts(&surface, Path { x0: &x0, x1: &x1 });
            let mut search = Search::new(&surface);
            search.fit(&surface, |i| fit.way(i));
            let shown = sorted(search.all(&surface, collect));
            assert!(shown.windows(2).all(|two| two[0] != two[1]), "a pair is shown twice");
            let near = within_reach(fit);
            assert!(near.len() > 300 && shown.len() < 2 * near.len(), "{} {}", near.len(), shown.len());
            for pair in near {
                assert!(shown.binary_search(&pair).is_ok(), "{k} {pair:?}");
            }
        }
    }

    #[test]
    fn around_changed_nodes_every_pair_that_comes_within_reach_is_shown() {
        for k in 0..12 {
            let (surface, x0, mut x1) = scene(k);
            let mut search = Search::new(&surface);
            let fit = Fit::contacts(&surface, Path { x0: &x0, x1: &x1 });
            search.fit(&surface, |i| fit.way(i));
            // A few and then many nodes go elsewhere; the last are two without triangles and one of the plate.
            for every in [40, 2] {
                let last = x0.len() as u32 - 5;
                let changed: Vec<u32> = (0..last).filter(|i| i % every == 1).chain(last..last + 3).collect();
                for i in &changed {
                    x1[*i as usize] += Vec3::new(4e-3, -8e-3, 0.03);
                }
                let fit = Fit::contacts(&surface, Path { x0: &x0, x1: &x1 });
                search.refit(&surface, |i| fit.way(i));
                let shown = sorted(search.around(&surface, (&changed, None), collect));
                let with_change = |pair: &Pair| pair.nodes.iter().any(|i| changed.contains(i));
                let near: Vec<Pair> = within_reach(fit).into_iter().filter(with_change).collect();
                assert!(near.len() > 50, "{}", near.len());
                for pair in near {
                    assert!(shown.binary_search(&pair).is_ok(), "{k} {every} {pair:?}");
                }
            }
        }
    }

    #[test]
    fn a_node_that_leaves_a_smooth_sheet_meets_its_neighbours() {
        let sheet = billow_geom::shapes::cloth_grid(1.0, 1.0, 15, 15).unwrap();
        let surface = Surface::of_one(&sheet.positions, &sheet.triangles, 0.01);
        let (x0, mut x1) = (sheet.positions.clone(), sheet.positions.clone());
        let mut search = Search::new(&surface);
        let fit = Fit::contacts(&surface, Path { x0: &x0, x1: &x1 });
        search.fit(&surface, |i| fit.way(i));
        assert!(search.all(&surface, collect).concat().is_empty());
        x1[112] += Vec3::new(0.15, 0.02, 0.0);
        let fit = Fit::contacts(&surface, Path { x0: &x0, x1: &x1 });
        search.refit(&surface, |i| fit.way(i));
        let shown = sorted(search.around(&surface, (&[112], None), collect));
        let near = within_reach(fit);
        assert!(near.len() > 5, "{}", near.len());
        assert!(near.iter().all(|pair| shown.binary_search(pair).is_ok()), "{} {}", near.len(), shown.len());
    }
}
