//! A triangle surface in its own coordinates, prepared once for all that have its shape.
//!
//! What moves rigidly does not change in its own coordinates: its hierarchies are built when it is made and never fitted
//! again, however many bodies share it and wherever they are.

use billow_geom::bvh::Bvh;
use billow_geom::mesh::Topology;
use billow_geom::{Aabb, GeomError, TriMesh};
use billow_num::Vec3;

/// A part of a surface that can meet another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Element {
    /// A vertex by its number in the mesh.
    Point(u32),
    /// An edge by its number in the topology of the mesh.
    Edge(u32),
    /// A triangle by its number in the mesh.
    Face(u32),
}

/// A surface with its hierarchies.
#[derive(Clone, Debug)]
pub struct Shape {
    pub(crate) positions: Vec<Vec3>,
    pub(crate) triangles: Vec<[u32; 3]>,
    pub(crate) edges: Vec<[u32; 2]>,
    pub(crate) bounds: Aabb,
    /// Largest distance of a vertex from the origin, about which the surface turns [m].
    pub(crate) radius: f64,
    pub(crate) faces: Bvh<1>,
    pub(crate) sides: Bvh<1>,
    /// Directions from each edge into its triangles, perpendicular to the edge; zero where there is none.
    pub(crate) inward: Vec<[Vec3; 2]>,
}

impl Shape {
    /// Prepares a mesh; its origin is what poses turn it about.
    ///
    /// # Errors
    /// When triangles name missing vertices.
    pub fn new(mesh: &TriMesh) -> Result<Self, GeomError> {
        let topology = mesh.topology()?;
        let edges = topology.edges().to_vec();
        let face_boxes: Vec<Aabb> =
            (0..mesh.triangles.len()).map(|t| Aabb::of_points(&mesh.corners(t))).collect();
        let side_boxes: Vec<Aabb> =
            edges.iter().map(|e| Aabb::of_points(&e.map(|v| mesh.positions[v as usize]))).collect();
        Ok(Self {
            positions: mesh.positions.clone(),
            triangles: mesh.triangles.clone(),
            bounds: Aabb::of_points(&mesh.positions),
            radius: mesh.positions.iter().map(|x| x.length()).fold(0.0, f64::max),
            faces: Bvh::of_boxes(Vec3::ZERO, &face_boxes),
            sides: Bvh::of_boxes(Vec3::ZERO, &side_boxes),
            inward: (0..edges.len() as u32).map(|e| inward(mesh, &topology, e)).collect(),
            edges,
        })
    }

    /// A single point: as thick as a ball is wide, it is that ball.
    pub fn point() -> Self {
        Self {
            positions: vec![Vec3::ZERO],
            triangles: Vec::new(),
            edges: Vec::new(),
            bounds: Aabb { min: Vec3::ZERO, max: Vec3::ZERO },
            radius: 0.0,
            faces: Bvh::of_boxes(Vec3::ZERO, &[]),
            sides: Bvh::of_boxes(Vec3::ZERO, &[]),
            inward: Vec::new(),
        }
    }

    /// Corners of a triangle [m].
    #[inline(always)]
    pub(crate) fn face(&self, t: u32) -> [Vec3; 3] {
        self.triangles[t as usize].map(|v| self.positions[v as usize])
    }

    /// Ends of an edge [m].
    #[inline(always)]
    pub(crate) fn side(&self, e: u32) -> [Vec3; 2] {
        self.edges[e as usize].map(|v| self.positions[v as usize])
    }

    /// The point of an element that has these weights [m].
    pub(crate) fn at(&self, element: Element, [a, b, c]: [f64; 3]) -> Vec3 {
        match element {
            Element::Point(v) => self.positions[v as usize],
            Element::Edge(e) => {
                let [p, q] = self.side(e);
                p * a + q * b
            }
            Element::Face(t) => {
                let [p, q, r] = self.face(t);
                p * a + q * b + r * c
            }
        }
    }
}

fn inward(mesh: &TriMesh, topology: &Topology, e: u32) -> [Vec3; 2] {
    let [p, q] = topology.edges()[e as usize].map(|v| mesh.positions[v as usize]);
    let along = (q - p).normalize_or_zero();
    let mut into = [Vec3::ZERO; 2];
    for (k, t) in topology.edge_triangles(e).iter().take(2).enumerate() {
        let middle = mesh.corners(*t as usize).iter().sum::<Vec3>() / 3.0 - p;
        into[k] = (middle - along * middle.dot(along)).normalize_or_zero();
    }
    into
}
