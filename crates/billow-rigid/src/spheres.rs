//! A tree of spheres around vertices and edges, four side by side, so that one look tells of four branches.

use crate::lanes::{Four, point};
use billow_geom::Aabb;
use billow_num::Vec3;
use std::array::from_fn;
use std::ops::Range;
use wide::f32x4;

/// Most vertices and edges of a leaf.
const LEAF: usize = 12;
/// How much larger spheres are in single precision, so that rounding leaves nothing out.
const LARGER: f32 = 1.0 + 1e-6;

/// A vertex or an edge of which a tree is built.
#[derive(Clone, Copy)]
pub(crate) struct Item {
    pub(crate) id: u32,
    pub(crate) ends: [Vec3; 2],
    pub(crate) edge: bool,
}

/// The vertices and edges in a sphere; those of a leaf follow those of the leaf before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node {
    /// The four in it; none of them is the first of all, which stands for a leaf.
    four: u32,
    pub(crate) vertices: Range<u32>,
    pub(crate) edges: Range<u32>,
}

impl Node {
    /// Whether it has no children.
    #[inline]
    pub(crate) fn is_leaf(&self) -> bool {
        self.four == 0
    }
}

/// Four spheres that are looked at together.
#[derive(Clone, Debug)]
pub(crate) struct Spheres4 {
    pub(crate) centres: Four,
    /// Radii [m]; infinitely negative where there are less than four.
    pub(crate) radii: f32x4,
    nodes: [Node; 4],
}

/// A tree of spheres.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spheres(Vec<Spheres4>);

impl Spheres {
    /// Brings `items` into the order of the leaves.
    pub(crate) fn new(items: &mut [Item]) -> Self {
        let mut halves = Vec::new();
        split(items, [0, 0], &mut halves);
        let mut all = Vec::new();
        let first = &halves[0];
        fours(&halves, if first.second == 0 { vec![0] } else { children(&halves, 0) }, &mut all);
        Self(all)
    }

    /// Shows `visit` spheres none of whose ancestors it refused, in the order of their vertices and edges, each with what is
    /// told `of` it; that is asked of four at once.
    #[inline(always)]
    pub(crate) fn visit(&self, of: impl Fn(&Spheres4) -> f32x4, mut visit: impl FnMut(&Node, f32) -> bool) {
        let Some(first) = self.0.first() else { return };
        const NONE: &Node = &Node { four: 0, vertices: 0..0, edges: 0..0 };
        // A level leaves three on the stack at most, and every second halving is one.
        let mut stack = [(NONE, 0.0); 64];
        let mut depth = 0;
        let mut four = first;
        loop {
            let told = of(four).to_array();
            for k in (0..4).rev() {
                stack[depth] = (&four.nodes[k], told[k]);
                depth += usize::from(four.radii.as_array()[k] >= 0.0);
            }
            loop {
                if depth == 0 {
                    return;
                }
                depth -= 1;
                let (node, told) = stack[depth];
                if visit(node, told) && !node.is_leaf() {
                    four = &self.0[node.four as usize];
                    break;
                }
            }
        }
    }
}

/// A sphere of the tree of halves from which that of four is made.
struct Half {
    centre: Vec3,
    radius: f64,
    /// First child; the second follows the first one's subtree. Zero for a leaf.
    second: u32,
    vertices: Range<u32>,
    edges: Range<u32>,
}

/// Adds the tree of `items` to `halves` and brings them into its order; `before` counts vertices and edges in front.
fn split(items: &mut [Item], before: [u32; 2], halves: &mut Vec<Half>) {
    let id = halves.len();
    let edges = items.iter().filter(|i| i.edge).count() as u32;
    let after = [before[0] + items.len() as u32 - edges, before[1] + edges];
    let bounds = items.iter().flat_map(|i| i.ends).fold(Aabb::of_points(&[]), |b, p| b.with(p));
    let centre = bounds.centre();
    let radius = items.iter().flat_map(|i| i.ends).map(|p| p.distance(centre)).fold(0.0, f64::max);
    let (vertices, edges) = (before[0]..after[0], before[1]..after[1]);
    halves.push(Half { centre, radius, second: 0, vertices, edges });
    if items.len() <= LEAF {
        return;
    }
    let size = bounds.size();
    let axis = (0..3).fold(0, |best, k| if size[k] > size[best] { k } else { best });
    let at = |i: &Item| i.ends[0][axis] + i.ends[1][axis];
    items.sort_by(|a, b| at(a).total_cmp(&at(b)).then((a.edge, a.id).cmp(&(b.edge, b.id))));
    let (low, high) = items.split_at_mut(items.len() / 2);
    let edges = low.iter().filter(|i| i.edge).count() as u32;
    let middle = [before[0] + low.len() as u32 - edges, before[1] + edges];
    split(low, before, halves);
    halves[id].second = halves.len() as u32;
    split(high, middle, halves);
}

/// The children of a sphere that is no leaf, or theirs, in order.
fn children(halves: &[Half], of: usize) -> Vec<usize> {
    let both = |h: usize| [h + 1, halves[h].second as usize];
    let inner = |h: usize| if halves[h].second == 0 { vec![h] } else { both(h).to_vec() };
    both(of).into_iter().flat_map(inner).collect()
}

/// Adds the four (or less) `of` the halves and all in them; tells where they are.
fn fours(halves: &[Half], of: Vec<usize>, all: &mut Vec<Spheres4>) -> u32 {
    let id = all.len();
    let centres = from_fn(|k| of.get(k).map_or([0.0; 4], |h| point(halves[*h].centre)));
    let radius = |k: usize| {
        let radius = |h: &usize| (halves[*h].radius as f32 * LARGER).next_up();
        of.get(k).map_or(f32::NEG_INFINITY, radius)
    };
    let [x, y, z, _] = f32x4::transpose(centres.map(f32x4::new));
    let nodes = from_fn(|_| Node::default());
    all.push(Spheres4 { centres: [x, y, z], radii: f32x4::new(from_fn(radius)), nodes });
    for (k, h) in of.into_iter().enumerate() {
        let four = if halves[h].second == 0 { 0 } else { fours(halves, children(halves, h), all) };
        let (vertices, edges) = (halves[h].vertices.clone(), halves[h].edges.clone());
        all[id].nodes[k] = Node { four, vertices, edges };
    }
    id as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::Samples;
    use billow_geom::TriMesh;
    use billow_geom::shapes::{Ring, cuboid, torus};

    fn samples(mesh: &TriMesh, fine: f64) -> Samples {
        Samples::of_mesh(mesh, &mesh.topology().unwrap(), fine)
    }

    #[test]
    fn leaves_are_as_full_as_halving_leaves_them() {
        let samples = samples(&torus(0.3, 0.1, 16, 10).unwrap(), 1e-3);
        let (mut leaves, mut items) = (0, 0);
        samples.spheres.visit(
            |four| four.radii,
            |node, _| {
                let count = node.vertices.len() + node.edges.len();
                // What is larger is cut in two halves, so no leaf is less than half full.
                assert_eq!(node.is_leaf(), count <= LEAF, "{count}");
                if node.is_leaf() {
                    assert!(2 * count >= LEAF, "{count}");
                    (leaves, items) = (leaves + 1, items + count);
                }
                true
            },
        );
        assert_eq!(items, samples.vertices.len() + samples.edges.len());
        assert!(leaves > 20, "{leaves}");
    }

    #[test]
    fn every_vertex_and_edge_is_in_one_leaf_in_order_and_inside_its_spheres() {
        for mesh in [Ring::default().mesh().unwrap(), cuboid(Vec3::ONE, [1; 3]).unwrap()] {
            let samples = samples(&mesh, 0.0);
            let (mut vertices, mut edges) = (0, 0);
            for axis in 0..3 {
                (vertices, edges) = (0, 0);
                // Told of each sphere, one after the other: where it ends along an axis.
                samples.spheres.visit(
                    |four| four.centres[axis] + four.radii,
                    |node, end| {
                        let low = |v: u32| samples.vertices[v as usize][axis] <= f64::from(end) + 1e-6;
                        assert!(node.vertices.clone().all(low));
                        let mut both = node.edges.clone().flat_map(|e| samples.edges[e as usize]);
                        assert!(both.all(low));
                        if node.is_leaf() {
                            assert_eq!([node.vertices.start, node.edges.start], [vertices, edges]);
                            [vertices, edges] = [node.vertices.end, node.edges.end];
                        }
                        true
                    },
                );
            }
            let all = [samples.vertices.len(), samples.edges.len()];
            assert_eq!([vertices, edges].map(|n| n as usize), all);
        }
    }

    #[test]
    fn what_is_refused_is_not_entered() {
        let samples = samples(&torus(0.3, 0.1, 16, 10).unwrap(), 1e-3);
        let mut refused: Option<Range<u32>> = None;
        samples.spheres.visit(
            |four| four.centres[0],
            |node, x| {
                let within = |r: &Range<u32>| r.start <= node.vertices.start && node.vertices.end <= r.end;
                assert!(node.vertices.is_empty() || !refused.as_ref().is_some_and(within));
                if x > 0.1 {
                    refused = Some(node.vertices.clone());
                }
                x <= 0.1
            },
        );
        assert!(refused.is_some());
    }
}
