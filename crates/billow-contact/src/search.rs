//! Which elements may be near each other during the step ([Bri03] 2.4).
//!
//! Hierarchies of boxes, shaped once, are fitted to where elements start and end. Every pair whose boxes overlap is shown
//! to whoever asked, in parallel, in an order that the trees alone decide.

use crate::Surface;
use crate::pair::{Pair, Path};
use billow_geom::Aabb;
use billow_geom::bvh::{Bvh, PairTasks};
use billow_num::{Vec3, par};

/// Elements that are searched around on one thread.
const AROUND: usize = 64;

/// The hierarchies of points, edges and triangles.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    points: Bvh<2>,
    edges: Bvh<2>,
    triangles: Bvh<2>,
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
    /// Boxes of some nodes at both ends of the step and what to grow them by.
    fn leaf<const N: usize>(&self, nodes: [u32; N]) -> ([Aabb; 2], f64) {
        let around = |x: &[Vec3]| nodes.iter().fold(Aabb::EMPTY, |b, &i| b.with(x[i as usize]));
        ([around(self.path.x0), around(self.path.x1)], 0.5 * self.reach * self.surface.thickness(nodes[0]))
    }

    fn grown<const N: usize>(&self, nodes: [u32; N]) -> [Aabb; 2] {
        let (boxes, by) = self.leaf(nodes);
        boxes.map(|b| b.inflated(by))
    }
}

impl Search {
    /// Shapes the trees by the rest pose, so that they are the same whenever they are made.
    pub(crate) fn new(surface: &Surface) -> Self {
        let (topology, x) = (surface.topology(), surface.rest());
        let centre =
            |corners: &[u32]| corners.iter().map(|&i| x[i as usize]).sum::<Vec3>() / corners.len() as f64;
        let edges = par::map(topology.edge_count(), |e| centre(&topology.edges()[e]));
        let triangles = par::map(topology.triangle_count(), |t| centre(&topology.triangles()[t]));
        Self {
            points: Bvh::from_centres(x),
            edges: Bvh::from_centres(&edges),
            triangles: Bvh::from_centres(&triangles),
            tasks: PairTasks::default(),
        }
    }

    /// Fits all boxes.
    pub(crate) fn fit(&mut self, fit: Fit<'_>) {
        let topology = fit.surface.topology();
        let bounds = Aabb::of_points(fit.path.x0);
        let origin = if bounds.is_empty() { Vec3::ZERO } else { bounds.centre() };
        self.points.refit(origin, |i| fit.leaf([i as u32]));
        self.edges.refit(origin, |e| fit.leaf(topology.edges()[e]));
        self.triangles.refit(origin, |t| fit.leaf(topology.triangles()[t]));
    }

    /// Shows all points and triangles whose boxes overlap.
    pub(crate) fn vertex_faces<T: Default + Send>(
        &mut self,
        surface: &Surface,
        look: impl Fn(&mut T, Pair) + Sync,
    ) -> Vec<T> {
        let Self { points, triangles, tasks, .. } = self;
        let topology = surface.topology();
        points.split_pairs(triangles, tasks);
        par::map(tasks.tasks().len(), |k| {
            let mut part = T::default();
            points.run_pairs(triangles, tasks, tasks.tasks()[k], |p, t| {
                if let Some(pair) = Pair::vertex_face(surface, p, topology.triangles()[t as usize]) {
                    look(&mut part, pair);
                }
            });
            part
        })
    }

    /// Shows all edges whose boxes overlap.
    pub(crate) fn edge_pairs<T: Default + Send>(
        &mut self,
        surface: &Surface,
        look: impl Fn(&mut T, Pair) + Sync,
    ) -> Vec<T> {
        let Self { edges, tasks, .. } = self;
        let ends = surface.topology().edges();
        edges.split_self(tasks);
        par::map(tasks.tasks().len(), |k| {
            let mut part = T::default();
            edges.run_self(tasks, tasks.tasks()[k], |a, b| {
                let (a, b) = (a.min(b) as usize, a.max(b) as usize);
                if let Some(pair) = Pair::edge_edge(surface, ends[a], ends[b]) {
                    look(&mut part, pair);
                }
            });
            part
        })
    }

    /// Fits the boxes around the given nodes, whose ends changed, and shows what overlaps them; some pairs twice.
    pub(crate) fn around<T: Default + Send>(
        &mut self,
        fit: Fit<'_>,
        nodes: &[u32],
        look: impl Fn(&mut T, Pair) + Sync,
    ) -> Vec<T> {
        let (surface, topology) = (fit.surface, fit.surface.topology());
        let edges = unique(nodes.iter().flat_map(|&i| topology.vertex_edges(i).iter().copied()).collect());
        let triangles =
            unique(nodes.iter().flat_map(|&i| topology.vertex_triangles(i).iter().copied()).collect());
        self.points.refit_some(nodes.iter().copied(), |i| fit.leaf([i as u32]));
        self.edges.refit_some(edges.iter().copied(), |e| fit.leaf(topology.edges()[e]));
        self.triangles.refit_some(triangles.iter().copied(), |t| fit.leaf(topology.triangles()[t]));
        let this = &*self;
        let mut found = in_parts(nodes, |p, part: &mut T| {
            this.triangles.overlapping(&fit.grown([p]), |t| {
                if let Some(pair) = Pair::vertex_face(surface, p, topology.triangles()[t as usize]) {
                    look(part, pair);
                }
            });
        });
        found.append(&mut in_parts(&triangles, |t, part: &mut T| {
            let corners = topology.triangles()[t as usize];
            this.points.overlapping(&fit.grown(corners), |p| {
                if let Some(pair) = Pair::vertex_face(surface, p, corners) {
                    look(part, pair);
                }
            });
        }));
        found.append(&mut in_parts(&edges, |e, part: &mut T| {
            let ends = |e: u32| topology.edges()[e as usize];
            this.edges.overlapping(&fit.grown(ends(e)), |o| {
                if let Some(pair) = Pair::edge_edge(surface, ends(e.min(o)), ends(e.max(o))) {
                    look(part, pair);
                }
            });
        }));
        found
    }
}

/// Calls `look` for every element of a list, a few on each thread.
fn in_parts<T: Default + Send>(list: &[u32], look: impl Fn(u32, &mut T) + Sync) -> Vec<T> {
    par::map(list.len().div_ceil(AROUND), |k| {
        let mut part = T::default();
        let range = k * AROUND..list.len().min((k + 1) * AROUND);
        list[range].iter().for_each(|element| look(*element, &mut part));
        part
    })
}

fn unique(mut list: Vec<u32>) -> Vec<u32> {
    list.sort_unstable();
    list.dedup();
    list
}
