//! Measures and simple operations on meshes.
//!
//! Lengths, areas and volumes are taken relative to a corner of the mesh, so a mesh far from the origin keeps
//! its digits. Operations that return a mesh keep vertex order, so per-vertex data can follow.

use super::{TetMesh, Topology, TriMesh};
use crate::Aabb;
use billow_num::{Affine3, Vec3, par};

/// Part of a mesh and where it came from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SubMesh {
    /// The part, with only the vertices it uses.
    pub mesh: TriMesh,
    /// Vertex of the whole mesh for each vertex of the part, ascending.
    pub vertices: Vec<u32>,
}

impl TriMesh {
    /// Positions of the three corners of triangle `t` [m].
    pub fn corners(&self, t: usize) -> [Vec3; 3] {
        self.triangles[t].map(|v| self.positions[v as usize])
    }

    /// The smallest box around all positions.
    pub fn bounds(&self) -> Aabb {
        Aabb::of_points(&self.positions)
    }

    /// Twice the area of triangle `t` times its unit normal [m²].
    pub fn area_vector(&self, t: usize) -> Vec3 {
        let [a, b, c] = self.corners(t);
        (b - a).cross(c - a)
    }

    /// Unit normal of each triangle; zero for a triangle without area.
    pub fn triangle_normals(&self) -> Vec<Vec3> {
        par::map(self.triangles.len(), |t| self.area_vector(t).normalize_or_zero())
    }

    /// Unit normal of each vertex, triangles weighted by area; zero where undefined.
    pub fn vertex_normals(&self) -> Vec<Vec3> {
        let mut normals = vec![Vec3::ZERO; self.positions.len()];
        for t in 0..self.triangles.len() {
            let n = self.area_vector(t);
            self.triangles[t].iter().for_each(|&v| normals[v as usize] += n);
        }
        normals.iter_mut().for_each(|n| *n = n.normalize_or_zero());
        normals
    }

    /// Area of each triangle [m²].
    pub fn triangle_areas(&self) -> Vec<f64> {
        par::map(self.triangles.len(), |t| 0.5 * self.area_vector(t).length())
    }

    /// Total area [m²].
    pub fn area(&self) -> f64 {
        par::sum(self.triangles.len(), |t| 0.5 * self.area_vector(t).length())
    }

    /// Enclosed volume of a closed mesh, positive when oriented outward [m³].
    ///
    /// For an open mesh the result depends on the position of the mesh and means nothing.
    pub fn volume(&self) -> f64 {
        let origin = self.local_origin();
        par::sum(self.triangles.len(), |t| {
            let [a, b, c] = self.corners(t).map(|p| p - origin);
            a.dot(b.cross(c)) / 6.0
        })
    }

    /// A point at the mesh from which to measure: the middle of its box, or zero if it has none.
    pub(crate) fn local_origin(&self) -> Vec3 {
        let centre = self.bounds().centre();
        if centre.is_finite() { centre } else { Vec3::ZERO }
    }

    /// The mesh moved by an affine map. A map that mirrors also flips the triangles, so outside stays
    /// outside.
    pub fn transformed(mut self, map: &Affine3) -> Self {
        par::chunks_mut(&mut self.positions, par::CHUNK, |_, chunk| {
            chunk.iter_mut().for_each(|p| *p = map.transform_point3(*p));
        });
        if map.matrix3.determinant() < 0.0 {
            self.flip();
        }
        self
    }

    /// The mesh shifted by `by` [m].
    pub fn translated(mut self, by: Vec3) -> Self {
        self.positions.iter_mut().for_each(|p| *p += by);
        self
    }

    /// Turns every triangle over.
    pub fn flip(&mut self) {
        self.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    }

    /// Adds the vertices and triangles of `other` after its own; nothing is welded.
    pub fn append(&mut self, other: &Self) {
        let first = self.positions.len() as u32;
        self.positions.extend_from_slice(&other.positions);
        self.triangles.extend(other.triangles.iter().map(|t| t.map(|v| v + first)));
    }

    /// All meshes in one, in order; nothing is welded.
    pub fn merged<'a>(meshes: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut all = Self::default();
        meshes.into_iter().for_each(|m| all.append(m));
        all
    }

    /// Cuts each triangle into four at the midpoints of its edges.
    ///
    /// The old vertices come first, then the midpoint of each edge of `topology` in its order; triangle `t`
    /// becomes triangles `4t..4t+4`, the middle one last.
    pub fn subdivided(&self, topology: &Topology) -> Self {
        let first = self.positions.len() as u32;
        let midpoint = |e: &[u32; 2]| 0.5 * (self.positions[e[0] as usize] + self.positions[e[1] as usize]);
        let positions = self.positions.iter().copied().chain(topology.edges().iter().map(midpoint)).collect();
        let triangles = (self.triangles.iter().zip(topology.triangle_edges()))
            .flat_map(|(&[a, b, c], edges)| {
                let [ab, bc, ca] = edges.map(|e| first + e);
                [[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]
            })
            .collect();
        Self { positions, triangles }
    }

    /// The given triangles with the vertices they use, for instance one component.
    pub fn extract(&self, triangles: &[u32]) -> SubMesh {
        let mut number = vec![u32::MAX; self.positions.len()];
        for &t in triangles {
            self.triangles[t as usize].iter().for_each(|&v| number[v as usize] = 0);
        }
        let vertices: Vec<u32> = (0..number.len() as u32).filter(|&v| number[v as usize] == 0).collect();
        for (n, &v) in vertices.iter().enumerate() {
            number[v as usize] = n as u32;
        }
        let mesh = Self {
            positions: vertices.iter().map(|&v| self.positions[v as usize]).collect(),
            triangles: triangles
                .iter()
                .map(|&t| self.triangles[t as usize].map(|v| number[v as usize]))
                .collect(),
        };
        SubMesh { mesh, vertices }
    }
}

impl TetMesh {
    /// Positions of the four corners of tetrahedron `t` [m].
    pub fn corners(&self, t: usize) -> [Vec3; 4] {
        self.tets[t].map(|v| self.positions[v as usize])
    }

    /// The smallest box around all positions.
    pub fn bounds(&self) -> Aabb {
        Aabb::of_points(&self.positions)
    }

    /// Signed volume of tetrahedron `t`, positive when well oriented [m³].
    pub fn tet_volume(&self, t: usize) -> f64 {
        let [a, b, c, d] = self.corners(t);
        (b - a).cross(c - a).dot(d - a) / 6.0
    }

    /// Total volume [m³].
    pub fn volume(&self) -> f64 {
        par::sum(self.tets.len(), |t| self.tet_volume(t))
    }

    /// The mesh moved by an affine map; a map that mirrors also swaps corners, so orientation stays positive.
    pub fn transformed(mut self, map: &Affine3) -> Self {
        self.positions.iter_mut().for_each(|p| *p = map.transform_point3(*p));
        if map.matrix3.determinant() < 0.0 {
            self.tets.iter_mut().for_each(|t| t.swap(2, 3));
        }
        self
    }
}
