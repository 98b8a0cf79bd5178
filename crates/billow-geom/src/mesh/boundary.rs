//! Connected components and boundary loops of triangle meshes.

use super::Topology;
use super::csr::{Csr, NONE};

/// The pieces of a mesh that hang together through shared edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Components {
    of_triangle: Vec<u32>,
    triangles: Csr,
}

impl Components {
    /// Number of components.
    pub fn count(&self) -> usize {
        self.triangles.len()
    }

    /// The component of each triangle; components are numbered by their lowest triangle.
    pub fn of_triangle(&self) -> &[u32] {
        &self.of_triangle
    }

    /// The triangles of a component, ascending.
    pub fn triangles(&self, component: u32) -> &[u32] {
        self.triangles.row(component as usize)
    }
}

/// A chain of boundary edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundaryLoop {
    /// Vertices along the chain, the surface to the left on oriented meshes.
    pub vertices: Vec<u32>,
    /// Edge `i` joins vertices `i` and `i+1` (cyclically if closed).
    pub edges: Vec<u32>,
    /// Whether the chain returns to its first vertex. Always so on manifold meshes; a chain stays open only
    /// where it runs into an edge of more than two triangles.
    pub closed: bool,
}

impl Topology {
    /// The pieces of the mesh that hang together through shared edges.
    pub fn components(&self) -> Components {
        let mut of_triangle = vec![NONE; self.triangle_count()];
        let mut count = 0;
        let mut stack = Vec::new();
        for first in 0..self.triangle_count() {
            if of_triangle[first] != NONE {
                continue;
            }
            of_triangle[first] = count;
            stack.push(first as u32);
            while let Some(t) = stack.pop() {
                for &other in self.triangle_edges()[t as usize].iter().flat_map(|&e| self.edge_triangles(e)) {
                    if of_triangle[other as usize] == NONE {
                        of_triangle[other as usize] = count;
                        stack.push(other);
                    }
                }
            }
            count += 1;
        }
        let triangles = Csr::group(count as usize, of_triangle.len(), |t| of_triangle[t]);
        Components { of_triangle, triangles }
    }

    /// The boundary as chains of edges, each starting at its lowest edge, in order of those.
    ///
    /// At every vertex a chain goes on to the edge on the other side of the same fan, so chains that touch at
    /// a vertex stay apart.
    pub fn boundary_loops(&self) -> Vec<BoundaryLoop> {
        let mut used = vec![false; self.edge_count()];
        let mut loops = Vec::new();
        for first in self.boundary_edges() {
            if used[first as usize] {
                continue;
            }
            let [a, b] = self.edges()[first as usize];
            let (from, to) =
                if self.runs_forward(self.edge_triangles(first)[0], first) { (a, b) } else { (b, a) };
            let mut chain = self.follow_boundary(first, to);
            if !chain.closed {
                let back = self.follow_boundary(first, from);
                chain = join_open(back, chain);
            }
            chain.edges.iter().for_each(|&e| used[e as usize] = true);
            loops.push(chain);
        }
        loops
    }

    /// The chain that starts with edge `first` towards its end `to`.
    fn follow_boundary(&self, first: u32, to: u32) -> BoundaryLoop {
        let [a, b] = self.edges()[first as usize];
        let mut chain = BoundaryLoop { vertices: vec![a ^ b ^ to], edges: vec![first], closed: false };
        let (mut edge, mut v) = (first, to);
        while let Some(next) = self.across_fan(edge, v) {
            if next == first {
                chain.closed = true;
                return chain;
            }
            chain.vertices.push(v);
            chain.edges.push(next);
            let [a, b] = self.edges()[next as usize];
            (edge, v) = (next, a ^ b ^ v);
        }
        chain.vertices.push(v);
        chain
    }

    /// The boundary edge at the other side of the fan about `v` that begins with boundary edge `edge`.
    fn across_fan(&self, mut edge: u32, v: u32) -> Option<u32> {
        let mut triangle = self.edge_triangles(edge)[0];
        loop {
            let (out_edge, in_edge) = self.corner_edges(triangle, v);
            edge ^= out_edge ^ in_edge;
            match *self.edge_triangles(edge) {
                [_] => return Some(edge),
                [a, b] => triangle ^= a ^ b,
                _ => return None,
            }
        }
    }
}

/// Joins two open chains that share their first edge into one that runs through both.
fn join_open(back: BoundaryLoop, forward: BoundaryLoop) -> BoundaryLoop {
    let vertices = back.vertices[2..].iter().rev().chain(&forward.vertices).copied().collect();
    let edges = back.edges[1..].iter().rev().chain(&forward.edges).copied().collect();
    BoundaryLoop { vertices, edges, closed: false }
}
