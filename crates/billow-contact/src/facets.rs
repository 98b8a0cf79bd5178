//! The pieces that the search compares: triangles, each with the points and edges it speaks for.
//!
//! Two elements can only be near each other if triangles that have them are, so one tree of triangles serves points,
//! faces and edges alike. Every point and every edge belongs to one of its triangles, as in the representative
//! triangles of Curtis, Tamstorf and Manocha (2008): each pair of elements is then derived from one pair of triangles.

use crate::Surface;

/// A triangle and what it speaks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facet {
    pub(crate) nodes: [u32; 3],
    /// Edge `k` joins nodes `k` and `k + 1`.
    pub(crate) edges: [u32; 3],
    /// Bit `k` for its node `k`.
    pub(crate) points: u8,
    /// Bit `k` for its edge `k`.
    pub(crate) sides: u8,
    /// Whether it is a face; else it is a point without triangles, three times.
    pub(crate) face: bool,
    /// Whether its body moves by itself.
    pub(crate) dynamic: bool,
}

impl Facet {
    /// The largest value of a node.
    #[inline(always)]
    pub(crate) fn farthest(&self, value: impl Fn(usize) -> f64) -> f64 {
        let [a, b, c] = self.nodes.map(|i| value(i as usize));
        // Not-a-number stays.
        [b, c].into_iter().fold(a, |most, x| if x <= most { most } else { x })
    }
}

/// All triangles of a surface in the order of their numbers, then all points without triangles.
///
/// As few triangles as possible speak for edges, about every other one: then most pairs of triangles have no pair of
/// edges to tell of, and a quarter of them have nothing at all.
pub(crate) fn facets(surface: &Surface) -> Vec<Facet> {
    let topology = surface.topology();
    let dynamic = |i: u32| surface.bodies()[surface.body_of(i) as usize].dynamic;
    let facet = |(nodes, edges): (&[u32; 3], &[u32; 3])| Facet {
        nodes: *nodes,
        edges: *edges,
        points: 0,
        sides: 0,
        face: true,
        dynamic: dynamic(nodes[0]),
    };
    let mut facets: Vec<Facet> =
        topology.triangles().iter().zip(topology.triangle_edges()).map(facet).collect();

    // First those that can have all their edges, then as many as must; points go to who has edges if they can.
    let mut free = vec![true; topology.edge_count()];
    for wanted in [3, 2, 1] {
        for facet in &mut facets {
            if facet.edges.iter().filter(|e| free[**e as usize]).count() >= wanted {
                facet.sides |= claim(&facet.edges, &mut free);
            }
        }
    }
    let mut free = vec![true; topology.vertex_count()];
    for facet in facets.iter_mut().filter(|facet| facet.sides != 0) {
        facet.points = claim(&facet.nodes, &mut free);
    }
    for facet in &mut facets {
        facet.points |= claim(&facet.nodes, &mut free);
    }
    let loose = |i: u32| Facet {
        nodes: [i; 3],
        edges: [0; 3],
        points: 1,
        sides: 0,
        face: false,
        dynamic: dynamic(i),
    };
    facets.extend((0..free.len() as u32).filter(|i| free[*i as usize]).map(loose));
    facets
}

/// Takes what is still free; a bit for each of the three.
fn claim(elements: &[u32; 3], free: &mut [bool]) -> u8 {
    let taken = |k: usize| u8::from(std::mem::take(&mut free[elements[k] as usize])) << k;
    (0..3).map(taken).fold(0, |all, bit| all | bit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_num::Vec3;

    #[test]
    fn every_point_and_edge_has_one_speaker() {
        let mut mesh = billow_geom::shapes::cloth_grid(1.0, 1.0, 20, 21).unwrap();
        mesh.positions.push(Vec3::Z);
        let surface = Surface::of_one(&mesh.positions, &mesh.triangles, 1e-3);
        let (mut points, mut edges) = (Vec::new(), Vec::new());
        for facet in facets(&surface) {
            points.extend((0..3).filter(|k| facet.points >> k & 1 == 1).map(|k| facet.nodes[k]));
            edges.extend((0..3).filter(|k| facet.sides >> k & 1 == 1).map(|k| facet.edges[k]));
        }
        points.sort_unstable();
        edges.sort_unstable();
        let silent = facets(&surface).iter().filter(|facet| facet.sides == 0).count();
        assert!(5 * silent >= 2 * mesh.triangles.len(), "{silent} of {}", mesh.triangles.len());
        assert_eq!(points, (0..mesh.positions.len() as u32).collect::<Vec<_>>());
        assert_eq!(edges, (0..surface.topology().edge_count() as u32).collect::<Vec<_>>());
    }
}
