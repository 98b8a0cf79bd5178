//! Connectivity of triangle meshes: edges, fans, boundary, orientation.
//!
//! Built once from the corner indices by counting sorts; numbering depends only on the input. Edges ascend by
//! their (smaller, larger) vertex. Triangle `t` has corners `c₀ c₁ c₂`, and its edge `k` joins corners `k`
//! and `k+1`. Any triangle soup with valid indices is accepted, non-manifold ones included; positions play no
//! part.

use super::csr::{BLOCK, Csr, Groups, Incidence, for_each_block};
use crate::GeomError;
use billow_num::par;

/// How the triangles meet at a vertex.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VertexKind {
    /// No triangle uses the vertex.
    #[default]
    Unused,
    /// The triangles form one closed fan.
    Interior,
    /// The triangles form one open fan.
    Boundary,
    /// The triangles form several fans, or share an edge of more than two triangles.
    NonManifold,
}

/// Connectivity of a triangle mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    triangles: Vec<[u32; 3]>,
    edges: Vec<[u32; 2]>,
    triangle_edges: Vec<[u32; 3]>,
    edge_triangles: Incidence,
    vertex_triangles: Csr,
    vertex_edges: Csr,
    vertex_vertices: Csr,
    kinds: Vec<VertexKind>,
}

impl Topology {
    /// Connectivity of `triangles` over `vertices` vertices.
    ///
    /// # Errors
    /// When a triangle names a vertex that does not exist or one vertex twice, or when there are 2³² or more
    /// triangle corners.
    pub fn new(vertices: usize, triangles: &[[u32; 3]]) -> Result<Self, GeomError> {
        check_elements("triangle", vertices, triangles)?;
        // Edges: half-edge 3t + k runs from corner k of triangle t to corner k + 1.
        let half_edges = Groups::new(vertices, 3 * triangles.len(), |h| {
            let (a, b) = (triangles[h / 3][h % 3], triangles[h / 3][(h % 3 + 1) % 3]);
            (a.min(b), a.max(b))
        });
        let edges: Vec<[u32; 2]> = half_edges.keys.iter().map(|&(a, b)| [a, b]).collect();
        let triangle_edges: Vec<[u32; 3]> = half_edges.group_of.as_chunks().0.to_vec();
        let edge_triangles = Incidence::from_lists(half_edges.members.rows(), |h| h / 3);

        // Stars of the vertices, first in ascending order, then as fans where they are fans.
        let vertex_triangles =
            Csr::group(vertices, 3 * triangles.len(), |h| triangles[h / 3][h % 3]).mapped(|h| h / 3);
        let vertex_edges = Csr::group(vertices, 2 * edges.len(), |i| edges[i / 2][i % 2]).mapped(|i| i / 2);
        let mut topology = Self {
            triangles: triangles.to_vec(),
            edges,
            triangle_edges,
            edge_triangles,
            vertex_triangles,
            vertex_edges,
            vertex_vertices: Csr::default(),
            kinds: vec![VertexKind::Unused; vertices],
        };
        topology.order_fans();
        topology.vertex_vertices = topology.neighbours();
        Ok(topology)
    }

    /// Number of vertices, unused ones included.
    pub fn vertex_count(&self) -> usize {
        self.kinds.len()
    }

    /// Number of edges.
    pub fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// Number of triangles.
    pub fn triangle_count(&self) -> usize {
        self.triangles.len()
    }

    /// Corner indices of each triangle, as given.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The two end vertices of each edge, the smaller first; edges ascend.
    pub fn edges(&self) -> &[[u32; 2]] {
        &self.edges
    }

    /// The three edges of each triangle; edge `k` joins corners `k` and `k+1`.
    pub fn triangle_edges(&self) -> &[[u32; 3]] {
        &self.triangle_edges
    }

    /// The triangles at an edge, ascending: one at the boundary, two inside, more where non-manifold.
    pub fn edge_triangles(&self, edge: u32) -> &[u32] {
        self.edge_triangles.row(edge as usize)
    }

    /// The two triangles at an edge, or `None` if their number is not two.
    pub fn edge_pair(&self, edge: u32) -> Option<[u32; 2]> {
        self.edge_triangles.pair(edge as usize)
    }

    /// The triangles at a vertex.
    ///
    /// At interior and boundary vertices they form a fan: triangle `i` contains neighbours `i` and `i+1` of
    /// [`Self::vertex_vertices`] (cyclically if interior), counter-clockwise on oriented meshes. Elsewhere
    /// they ascend.
    pub fn vertex_triangles(&self, vertex: u32) -> &[u32] {
        self.vertex_triangles.row(vertex as usize)
    }

    /// The edges at a vertex, in the order of [`Self::vertex_vertices`].
    pub fn vertex_edges(&self, vertex: u32) -> &[u32] {
        self.vertex_edges.row(vertex as usize)
    }

    /// The neighbours of a vertex: in fan order at interior and boundary vertices, else by ascending edge.
    pub fn vertex_vertices(&self, vertex: u32) -> &[u32] {
        self.vertex_vertices.row(vertex as usize)
    }

    /// How the triangles meet at each vertex.
    pub fn vertex_kinds(&self) -> &[VertexKind] {
        &self.kinds
    }

    /// The edge between two vertices, if there is one.
    pub fn edge_between(&self, a: u32, b: u32) -> Option<u32> {
        let star = self.vertex_vertices.row(a as usize);
        star.iter().position(|&v| v == b).map(|i| self.vertex_edges(a)[i])
    }

    /// The corner of `triangle` that is not on `edge`.
    pub fn opposite_vertex(&self, triangle: u32, edge: u32) -> Option<u32> {
        let k = self.triangle_edges[triangle as usize].iter().position(|&e| e == edge)?;
        Some(self.triangles[triangle as usize][(k + 2) % 3])
    }

    /// Whether `triangle` runs along `edge` from its smaller to its larger vertex.
    pub fn runs_forward(&self, triangle: u32, edge: u32) -> bool {
        let t = triangle as usize;
        (0..3).any(|k| {
            self.triangle_edges[t][k] == edge && self.triangles[t][k] < self.triangles[t][(k + 1) % 3]
        })
    }

    /// Edges of exactly one triangle, ascending.
    pub fn boundary_edges(&self) -> Vec<u32> {
        self.edges_where(|row| row.len() == 1)
    }

    /// Edges of more than two triangles, ascending.
    pub fn non_manifold_edges(&self) -> Vec<u32> {
        if self.edge_triangles.crowded() == 0 { Vec::new() } else { self.edges_where(|row| row.len() > 2) }
    }

    /// Vertices whose triangles do not form one fan, ascending.
    pub fn non_manifold_vertices(&self) -> Vec<u32> {
        (0..self.vertex_count() as u32)
            .filter(|&v| self.kinds[v as usize] == VertexKind::NonManifold)
            .collect()
    }

    /// Edges whose two triangles run along it in the same direction, ascending.
    pub fn inconsistent_edges(&self) -> Vec<u32> {
        par::gather(self.edge_count(), 16 * par::CHUNK, |range, out| {
            out.extend(range.map(|e| e as u32).filter(|&e| {
                self.edge_pair(e).is_some_and(|[a, b]| self.runs_forward(a, e) == self.runs_forward(b, e))
            }));
        })
    }

    /// Whether every edge has exactly two triangles.
    pub fn is_closed(&self) -> bool {
        (0..self.edge_count()).all(|e| self.edge_triangles.pair(e).is_some())
    }

    /// Whether every vertex that is used has one fan of triangles; boundaries are allowed.
    pub fn is_manifold(&self) -> bool {
        !self.kinds.contains(&VertexKind::NonManifold)
    }

    /// Whether neighbouring triangles agree on which side is out.
    pub fn is_oriented(&self) -> bool {
        self.edge_triangles.crowded() == 0 && self.inconsistent_edges().is_empty()
    }

    /// V − E + F, counting only vertices in use.
    pub fn euler_characteristic(&self) -> i64 {
        let used = self.kinds.iter().filter(|&&k| k != VertexKind::Unused).count();
        used as i64 - self.edge_count() as i64 + self.triangle_count() as i64
    }

    /// Number of handles over all components, or `None` if the mesh is not an oriented manifold.
    ///
    /// Each component obeys V − E + F = 2 − 2·handles − boundary loops.
    pub fn genus(&self) -> Option<u64> {
        if !(self.is_manifold() && self.is_oriented()) {
            return None;
        }
        let (components, loops) = (self.components().count() as i64, self.boundary_loops().len() as i64);
        u64::try_from(components - (self.euler_characteristic() + loops) / 2).ok()
    }

    fn edges_where(&self, wanted: impl Fn(&[u32]) -> bool) -> Vec<u32> {
        (0..self.edge_count() as u32).filter(|&e| wanted(self.edge_triangles(e))).collect()
    }

    /// The edges of triangle `t` at its corner `v`: (towards the next corner, from the previous corner).
    pub(super) fn corner_edges(&self, t: u32, v: u32) -> (u32, u32) {
        let (corners, edges) = (self.triangles[t as usize], self.triangle_edges[t as usize]);
        match corners.iter().position(|&c| c == v) {
            Some(0) => (edges[0], edges[2]),
            Some(1) => (edges[1], edges[0]),
            _ => (edges[2], edges[1]),
        }
    }

    /// Puts triangles and edges of every manifold vertex into fan order and records the vertex kinds.
    fn order_fans(&mut self) {
        let mut kinds = std::mem::take(&mut self.kinds);
        let mut stars = std::mem::take(&mut self.vertex_triangles);
        let mut spokes = std::mem::take(&mut self.vertex_edges);
        let blocks: Vec<_> =
            kinds.chunks_mut(BLOCK).zip(stars.blocks_mut().into_iter().zip(spokes.blocks_mut())).collect();
        for_each_block(blocks, |(kinds, (mut stars, mut spokes))| {
            let mut fan = Fan::default();
            for (v, kind) in (stars.first as u32..).zip(kinds) {
                let (star, spokes) = (stars.next_row(), spokes.next_row());
                *kind = fan.trace(self, v, star);
                if matches!(kind, VertexKind::Interior | VertexKind::Boundary) {
                    star.copy_from_slice(&fan.triangles);
                    spokes.copy_from_slice(&fan.edges);
                }
            }
        });
        (self.kinds, self.vertex_triangles, self.vertex_edges) = (kinds, stars, spokes);
    }

    /// The other ends of each vertex's edges.
    fn neighbours(&self) -> Csr {
        let mut rings = self.vertex_edges.clone();
        for_each_block(rings.blocks_mut(), |mut rows| {
            for v in rows.first..rows.first + rows.len() {
                for item in rows.next_row() {
                    let [a, b] = self.edges[*item as usize];
                    *item = a ^ b ^ v as u32;
                }
            }
        });
        rings
    }
}

/// Where a walk around a vertex ended.
#[derive(PartialEq)]
enum WalkEnd {
    /// Back at the first triangle.
    Closed,
    /// At a boundary edge.
    Boundary,
    /// At an edge of more than two triangles.
    Crowded,
}

/// Scratch for tracing the fan of one vertex.
#[derive(Default)]
struct Fan {
    triangles: Vec<u32>,
    /// Edge `i` precedes triangle `i`; an open fan has one more at the end.
    edges: Vec<u32>,
}

impl Fan {
    /// Traces the fan of `v`, whose triangles are `star` in ascending order.
    fn trace(&mut self, topology: &Topology, v: u32, star: &[u32]) -> VertexKind {
        let Some(&first) = star.first() else { return VertexKind::Unused };
        let (out_edge, in_edge) = topology.corner_edges(first, v);
        self.triangles.clear();
        self.edges.clear();
        self.triangles.push(first);
        self.edges.push(out_edge);
        let end = self.walk(topology, v, in_edge);
        let kind = match end {
            WalkEnd::Closed => {
                self.edges.pop();
                VertexKind::Interior
            }
            WalkEnd::Crowded => return VertexKind::NonManifold,
            WalkEnd::Boundary => {
                // The clockwise half goes in front, reversed.
                let (t, e) = (self.triangles.len(), self.edges.len());
                if self.walk_from(topology, v, first, out_edge) != WalkEnd::Boundary {
                    return VertexKind::NonManifold;
                }
                self.edges.remove(e);
                self.triangles[t..].reverse();
                self.triangles.rotate_left(t);
                self.edges[e..].reverse();
                self.edges.rotate_left(e);
                VertexKind::Boundary
            }
        };
        if self.triangles.len() == star.len() { kind } else { VertexKind::NonManifold }
    }

    fn walk(&mut self, topology: &Topology, v: u32, edge: u32) -> WalkEnd {
        self.walk_from(topology, v, self.triangles[0], edge)
    }

    /// Leaves triangle `first` over `edge` and turns about `v`, appending the edges crossed or met and the
    /// triangles entered.
    fn walk_from(&mut self, topology: &Topology, v: u32, first: u32, mut edge: u32) -> WalkEnd {
        let mut at = first;
        loop {
            self.edges.push(edge);
            at = match *topology.edge_triangles(edge) {
                [_] => return WalkEnd::Boundary,
                [a, b] => a ^ b ^ at,
                _ => return WalkEnd::Crowded,
            };
            if at == first {
                return WalkEnd::Closed;
            }
            self.triangles.push(at);
            let (out_edge, in_edge) = topology.corner_edges(at, v);
            edge ^= out_edge ^ in_edge;
        }
    }
}

/// Refuses elements with corners out of range or repeated, and counts beyond 32 bits.
pub(super) fn check_elements<const N: usize>(
    element: &'static str,
    vertices: usize,
    elements: &[[u32; N]],
) -> Result<(), GeomError> {
    let limit = u32::MAX as usize / (2 * N);
    if elements.len() > limit || vertices >= u32::MAX as usize {
        let count = elements.len().max(vertices);
        return Err(GeomError::TooLarge { what: "mesh elements", count, limit });
    }
    let bad =
        |e: &[u32; N]| e.iter().any(|&i| i as usize >= vertices) || (1..N).any(|k| e[..k].contains(&e[k]));
    let first_bad = par::reduce(
        elements.len(),
        16 * par::CHUNK,
        |range| range.into_iter().find(|&t| bad(&elements[t])),
        |a, b| a.or(b),
    );
    let Some(number) = first_bad.flatten() else { return Ok(()) };
    let e = &elements[number];
    Err(match e.iter().find(|&&i| i as usize >= vertices) {
        Some(&index) => GeomError::IndexOutOfRange { element, number, index, vertices },
        None => {
            let k = (1..N).find(|&k| e[..k].contains(&e[k])).unwrap_or(0);
            GeomError::RepeatedIndex { element, number, index: e[k] }
        }
    })
}

/// Refuses elements that name missing vertices.
pub(crate) fn check_indices<const N: usize>(
    element: &'static str,
    vertices: usize,
    elements: &[[u32; N]],
) -> Result<(), GeomError> {
    for (number, e) in elements.iter().enumerate() {
        if let Some(&index) = e.iter().find(|&&v| v as usize >= vertices) {
            return Err(GeomError::IndexOutOfRange { element, number, index, vertices });
        }
    }
    Ok(())
}
