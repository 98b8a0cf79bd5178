//! Triangles and quads from level sets, block by block in parallel.
//!
//! Both methods first mark, as bit masks per block, which cells or edges the surface cuts; the number of a vertex is
//! then its block's first number plus a count of bits, so blocks agree on shared vertices without talking to each
//! other and the result is watertight across blocks.

mod cell;
mod masks;
mod nets;
mod plan;
mod tets;

pub use nets::surface_nets;
pub use tets::marching_tets;

use billow_geom::TriMesh;
use billow_num::Vec3;

/// A surface of quads with a normal at each vertex.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuadMesh {
    /// Vertex positions [m].
    pub positions: Vec<Vec3>,
    /// Unit outward normals at the vertices [-].
    pub normals: Vec<[f32; 3]>,
    /// Corner indices, counter-clockwise from outside.
    pub quads: Vec<[u32; 4]>,
}

impl QuadMesh {
    /// Each quad cut along its shorter diagonal.
    pub fn triangulated(&self) -> TriMesh {
        let mut triangles = Vec::with_capacity(2 * self.quads.len());
        let p = |v: u32| self.positions[v as usize];
        for &[a, b, c, d] in &self.quads {
            if p(a).distance_squared(p(c)) <= p(b).distance_squared(p(d)) {
                triangles.extend([[a, b, c], [a, c, d]]);
            } else {
                triangles.extend([[a, b, d], [b, c, d]]);
            }
        }
        TriMesh { positions: self.positions.clone(), triangles }
    }
}

/// A triangle surface with a normal at each vertex.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NormalMesh {
    /// The triangles.
    pub mesh: TriMesh,
    /// Unit outward normals at the vertices [-].
    pub normals: Vec<[f32; 3]>,
}
