//! Which parts of a surface are so smooth that neighbours in them cannot touch.
//!
//! Consider the triangles around an inner vertex, seen along some direction. If each is seen from the same side and
//! together they go around the vertex once, no two of them overlap in that view, and two of their points, sides or
//! faces that have no corner in common are nowhere nearer than the smallest altitude of a triangle in that view: the
//! nearest points of two such elements include a corner or the vertex; a corner is off the sectors it is not part of
//! by its height over the nearest spoke, and the vertex off a rim by its height over it. Distances in space are no
//! smaller than in the view. On the way through the step no node gets farther from where it started relative to the
//! vertex than it ends, so what is far enough at the start to lose twice that stays far enough.
//!
//! Most of the boxes that overlap are those of such neighbours; the proof leaves them out at the cost of one look at
//! each vertex.

use crate::Surface;
use crate::corner::{Corner, direction};
use billow_geom::mesh::VertexKind;
use glam::Vec3A;

/// More than all rounding of altitudes, relative to the size of what is around a vertex.
const ROUNDING: f32 = 1e-5;

/// Square of the smallest size at which squares of areas are good to single precision [m²].
const SMALLEST: f32 = 1e-14;

/// Whether no two elements of the triangles around a vertex come as near as they keep, except those that have a node in
/// common.
#[inline(always)]
pub(crate) fn open(surface: &Surface, corners: &[Corner], vertex: u32) -> bool {
    let topology = surface.topology();
    if topology.vertex_kinds()[vertex as usize] != VertexKind::Interior {
        return false;
    }
    let rim = topology.vertex_vertices(vertex);
    let hub = &corners[vertex as usize];
    let (hub_from, hub_to) = (hub.from(), hub.to());
    let spoke = |i: &u32| corners[*i as usize].from() - hub_from;

    // The view that shows the largest area, the farthest any node goes, and what each keeps around itself.
    let last = rim.last().map_or(Vec3A::ZERO, spoke);
    let (mut area, mut way2, mut size2, mut around, mut r) =
        (Vec3A::ZERO, 0.0f32, 0.0f32, hub.around(), last);
    for i in rim {
        let corner = &corners[*i as usize];
        let next = corner.from() - hub_from;
        area += r.cross(next);
        way2 = way2.max((corner.to() - hub_to - next).length_squared());
        size2 = size2.max(next.length_squared());
        around = around.max(corner.around());
        r = next;
    }
    let view = direction(area);
    let least = 2.0 * (around + way2.sqrt()) * (1.0 + ROUNDING) + ROUNDING * size2.sqrt();
    let least2 = least * least;

    // Altitudes in that view, and how often the rim passes its last node.
    let (mut r, mut side, mut turns) = (last, 0.0, 0);
    for i in rim {
        let next = spoke(i);
        let double = r.cross(next).dot(view);
        let longest2 = r.length_squared().max(next.length_squared()).max((next - r).length_squared());
        if !(double > 0.0 && double * double > least2 * longest2) {
            return false;
        }
        let next_side = last.cross(next).dot(view);
        turns += u32::from(side < 0.0 && next_side >= 0.0);
        (r, side) = (next, next_side);
    }
    turns == 1 && size2 > SMALLEST
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pair::{Pair, Path};
    use billow_num::Vec3;
    use billow_num::rng::Stream;

    fn open_at_hub(surface: &Surface, path: Path<'_>, reach: f64) -> bool {
        let corner = |i: usize| Corner::new(path.x0[i].to_array(), path.x1[i].to_array(), [0.5 * reach; 2]);
        open(surface, &(0..path.x0.len()).map(corner).collect::<Vec<_>>(), 0)
    }

    /// A vertex with `n` triangles around it, joined in a ring.
    fn ring(n: u32) -> Surface {
        let triangles: Vec<[u32; 3]> = (0..n).map(|i| [0, i + 1, (i + 1) % n + 1]).collect();
        Surface::of_one(&vec![Vec3::ZERO; n as usize + 1], &triangles, 1.0)
    }

    /// All pairs of elements without a common node.
    fn pairs(surface: &Surface) -> Vec<Pair> {
        let (topology, nodes) = (surface.topology(), surface.vertex_count() as u32);
        let faces = topology.triangles().iter();
        let mut pairs: Vec<Pair> =
            faces.flat_map(|t| (0..nodes).filter_map(|p| Pair::vertex_face(surface, p, *t))).collect();
        for (i, e) in topology.edges().iter().enumerate() {
            pairs.extend(topology.edges()[..i].iter().filter_map(|f| Pair::edge_edge(surface, *f, *e)));
        }
        pairs
    }

    #[test]
    fn around_an_open_vertex_nothing_comes_within_reach() {
        let mut opened = 0;
        for k in 0..4000 {
            let mut draws = Stream::new(21, 0).at(k);
            let n = 3 + k as u32 % 6;
            let surface = ring(n);
            let mut x0 = vec![Vec3::ZERO];
            for i in 0..n {
                let angle = std::f64::consts::TAU * (f64::from(i) + draws.range(-0.4, 0.4)) / f64::from(n);
                let size = draws.range(0.6, 1.4);
                x0.push(Vec3::new(size * angle.cos(), size * angle.sin(), draws.range(-0.7, 0.7)));
            }
            let way = draws.range(0.0, 0.2);
            let mut move_on =
                |x: &Vec3| *x + Vec3::from_array([0; 3].map(|_| draws.range(1.0 - way, 1.0 + way)));
            let x1: Vec<Vec3> = x0.iter().map(&mut move_on).collect();
            let (path, reach) = (Path { x0: &x0, x1: &x1 }, 0.1);
            if !open_at_hub(&surface, path, reach) {
                continue;
            }
            opened += 1;
            for pair in pairs(&surface) {
                for t in 0..=10 {
                    let (x0, x1) = path.of(&pair);
                    let at = std::array::from_fn(|i| x0[i].lerp(x1[i], f64::from(t) / 10.0));
                    assert!(pair.nearest(&at).1 > reach, "{k}: {pair:?}");
                }
            }
        }
        assert!(opened > 500, "{opened}");
    }

    #[test]
    fn folded_and_twice_wound_rings_and_borders_are_not_open() {
        let at = |i: u32, turn: f64, z: f64| {
            let angle = turn * f64::from(i);
            Vec3::new(angle.cos(), angle.sin(), z * f64::from(i))
        };
        let test = |surface: &Surface, x: &[Vec3]| open_at_hub(surface, Path { x0: x, x1: x }, 1e-3);
        let turns = |n: u32, times: f64, z: f64| -> Vec<Vec3> {
            let turn = times * std::f64::consts::TAU / f64::from(n);
            std::iter::once(Vec3::ZERO).chain((0..n).map(|i| at(i, turn, z))).collect()
        };
        assert!(test(&ring(6), &turns(6, 1.0, 0.0)));
        assert!(!test(&ring(7), &turns(7, 2.0, 0.01)));
        let mut folded = turns(6, 1.0, 0.0);
        folded[3] = folded[2] + Vec3::new(0.1, 0.0, 0.1);
        assert!(!test(&ring(6), &folded));
        assert!(!test(&ring(6), &[Vec3::ZERO; 7]));
        let mesh = billow_geom::shapes::cloth_grid(1.0, 1.0, 3, 3).unwrap();
        let sheet = Surface::of_one(&mesh.positions, &mesh.triangles, 0.1);
        assert!(!test(&sheet, &mesh.positions), "a corner");
    }
}
