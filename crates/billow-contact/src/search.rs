//! Which elements may be near each other during the step ([Bri03] 2.4).
//!
//! A hierarchy of boxes over the triangles, shaped once, is fitted to where they start and end. Triangles whose boxes
//! overlap are held against each other's slabs, and pairs of elements that those do not keep apart are shown to whoever
//! asked, in parallel, in an order that the tree alone decides.

use crate::Surface;
use crate::facets::{Facet, facets};
use crate::fans;
use crate::pair::{Pair, Path};
use crate::slabs::{Corner, Slabs};
use billow_geom::Aabb;
use billow_geom::bvh::{Bvh, Marks, PairTasks};
use billow_num::{Vec3, par};

/// Facets that are fitted on one thread.
const CHUNK: usize = 512;

/// If more than one node in this many changed, everything is fitted again.
const MANY: usize = 16;

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
    corners: Vec<Corner>,
    /// Per vertex, whether elements around it keep away from each other anyway.
    open: Vec<bool>,
    marks: Marks,
    tasks: PairTasks,
}

/// What boxes are fitted to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fit<'a> {
    pub(crate) surface: &'a Surface,
    pub(crate) path: Path<'a>,
    /// Distance, in thicknesses, that elements may keep and still be shown [-].
    pub(crate) reach: f64,
}

impl Fit<'_> {
    /// Distance that an element of the vertex's body keeps around itself [m].
    fn around(&self, vertex: u32) -> f64 {
        0.5 * self.reach * self.surface.thickness(vertex)
    }

    /// Boxes of a facet at both ends of the step and what to grow them by.
    fn leaf(&self, facet: &Facet) -> ([Aabb; 2], f64) {
        let around = |x: &[Vec3]| {
            let [a, b, c] = facet.nodes.map(|i| x[i as usize]);
            Aabb { min: a.min(b).min(c), max: a.max(b).max(c) }
        };
        ([around(self.path.x0), around(self.path.x1)], self.around(facet.nodes[0]))
    }

    fn corner(&self, origin: Vec3, i: usize) -> Corner {
        let [x0, x1] = [self.path.x0[i] - origin, self.path.x1[i] - origin].map(|x| x.to_array());
        Corner::new(x0, x1, self.around(i as u32))
    }
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
            facets,
            place,
            loose,
            marks: Marks::default(),
            tasks: PairTasks::default(),
        }
    }

    /// Fits everything.
    pub(crate) fn fit(&mut self, fit: Fit<'_>) {
        let Self { facets, tree, slabs, corners, open, .. } = self;
        let bounds = Aabb::of_points(fit.path.x0);
        let origin = if bounds.is_empty() { Vec3::ZERO } else { bounds.centre() };
        tree.refit(origin, |k| fit.leaf(&facets[k]));
        corners.resize(fit.path.x0.len(), Corner::ANYWHERE);
        par::fill(corners, |i| fit.corner(origin, i));
        open.resize(corners.len(), false);
        par::fill(open, |i| fans::open(fit, i as u32));
        par::chunks_mut(slabs, CHUNK, |first, slabs| {
            for (facet, slabs) in facets[first..].iter().zip(slabs).filter(|(facet, _)| facet.face) {
                *slabs = Slabs::new(facet.nodes.map(|i| &corners[i as usize]));
            }
        });
    }

    /// Fits what is around the `stale` nodes, whose ends changed; all others must end within what was fitted before.
    pub(crate) fn refit(&mut self, fit: Fit<'_>, stale: &[u32]) {
        if stale.len() > fit.path.x0.len() / MANY {
            return self.fit(fit);
        }
        let around = self.facets_of(fit.surface, stale);
        let Self { facets, tree, slabs, corners, open, .. } = self;
        let origin = tree.origin();
        for i in stale {
            corners[*i as usize] = fit.corner(origin, *i as usize);
            open[*i as usize] = fans::open(fit, *i);
            for j in fit.surface.topology().vertex_vertices(*i) {
                open[*j as usize] = fans::open(fit, *j);
            }
        }
        for k in around.iter().map(|k| *k as usize).filter(|k| facets[*k].face) {
            slabs[k].fit(facets[k].nodes.map(|i| &corners[i as usize]));
        }
        tree.refit_some(around, |k| fit.leaf(&facets[k]));
    }

    /// Shows all pairs of elements that are not kept apart by boxes or slabs.
    pub(crate) fn all<T: Default + Send>(
        &mut self,
        surface: &Surface,
        look: impl Fn(&mut T, Pair) + Sync,
    ) -> Vec<T> {
        self.tree.split_self(&mut self.tasks);
        let Self { tree, tasks, .. } = &*self;
        par::map(tasks.tasks().len(), |k| {
            let mut part = T::default();
            let mut look = |pair| look(&mut part, pair);
            tree.run_self(tasks, tasks.tasks()[k], |a, b| self.compare(surface, a, b, &mut look));
            part
        })
    }

    /// The same for all pairs that have any of the nodes, and some others.
    pub(crate) fn around<T: Default + Send>(
        &mut self,
        surface: &Surface,
        nodes: &[u32],
        look: impl Fn(&mut T, Pair) + Sync,
    ) -> Vec<T> {
        let around = self.facets_of(surface, nodes);
        self.tree.mark(around, &mut self.marks);
        self.tree.split_marked(&self.marks, &mut self.tasks);
        let Self { tree, tasks, marks, .. } = &*self;
        par::map(tasks.tasks().len(), |k| {
            let mut part = T::default();
            let mut look = |pair| look(&mut part, pair);
            tree.run_marked(marks, tasks, tasks.tasks()[k], |a, b| {
                self.compare(surface, a, b, &mut look);
            });
            part
        })
    }

    /// Shows the elements for which two facets speak, except what slabs keep apart.
    #[inline(always)]
    fn compare(&self, surface: &Surface, a: u32, b: u32, look: &mut impl FnMut(Pair)) {
        let ends = surface.topology().edges();
        let (a, b) = (a as usize, b as usize);
        let (facet_a, facet_b) = (&self.facets[a], &self.facets[b]);
        let open = |i: &u32| facet_b.nodes.contains(i) && self.open[*i as usize];
        if !(facet_a.dynamic || facet_b.dynamic) || facet_a.nodes.iter().any(open) {
            return;
        }
        let [corners_a, corners_b] =
            [facet_a, facet_b].map(|facet| facet.nodes.map(|i| &self.corners[i as usize]));
        let seen_b = self.slabs[a].see(corners_b);
        if seen_b.apart() {
            return;
        }
        let seen_a = self.slabs[b].see(corners_a);
        if seen_a.apart() {
            return;
        }
        for (one, seen, other) in [(facet_a, &seen_a, facet_b), (facet_b, &seen_b, facet_a)] {
            for k in bits(one.points).filter(|k| other.face && !seen.point_apart(*k)) {
                Pair::vertex_face(surface, one.nodes[k], other.nodes).into_iter().for_each(&mut *look);
            }
        }
        for i in bits(facet_a.sides).filter(|i| !seen_a.side_apart(*i)) {
            for j in bits(facet_b.sides).filter(|j| !seen_b.side_apart(*j)) {
                let (e, f) = (facet_a.edges[i], facet_b.edges[j]);
                let (e, f) = (ends[e.min(f) as usize], ends[e.max(f) as usize]);
                Pair::edge_edge(surface, e, f).into_iter().for_each(&mut *look);
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
        list.sort_unstable();
        list.dedup();
        list
    }
}

/// The numbers of the bits that are set.
#[inline(always)]
fn bits(mask: u8) -> impl Iterator<Item = usize> {
    (0..3).filter(move |k| mask >> k & 1 == 1)
}
