//! What a moment of a simulation looks like to everything downstream of the solvers.
//!
//! A [`Frame`] is plain data and knows no solver: named meshes, points, lines and grids, rigid placements and
//! attributes. Arrays that stay the same from frame to frame are shared by [`Arc`], and the cache stores each of
//! them once.

use billow_num::{Pose, Vec3};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One cached moment of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Frame number; frame 0 is the initial state.
    pub index: u32,
    /// Simulated time [s].
    pub time: f64,
    /// The objects, in a fixed order during a run.
    pub objects: Vec<Object>,
    /// Per-frame statistics by name: seconds, counts, energies.
    pub stats: BTreeMap<String, f64>,
}

/// A named thing in a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Unique name within the frame.
    pub name: String,
    /// Rigid placement applied to the shape's positions; identity for deforming objects.
    pub pose: Pose,
    /// The geometry in the object's own coordinates.
    pub shape: Shape,
    /// Extra data per vertex, element or object.
    pub attributes: Vec<Attribute>,
}

/// Geometry of an [`Object`]. Positions stay `f64`, so that the exact audit sees what the solver saw.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A triangle mesh.
    Triangles {
        /// Vertex positions [m].
        positions: Arc<Vec<Vec3>>,
        /// Corner indices.
        triangles: Arc<Vec<[u32; 3]>>,
    },
    /// A tetrahedral mesh.
    Tets {
        /// Vertex positions [m].
        positions: Arc<Vec<Vec3>>,
        /// Corner indices.
        tets: Arc<Vec<[u32; 4]>>,
    },
    /// Loose points.
    Points {
        /// Point positions [m].
        positions: Arc<Vec<Vec3>>,
    },
    /// Line segments.
    Lines {
        /// Vertex positions [m].
        positions: Arc<Vec<Vec3>>,
        /// End points of each segment.
        segments: Arc<Vec<[u32; 2]>>,
    },
    /// A dense scalar grid (signed distance, density, temperature).
    Grid(Grid),
}

/// A dense scalar grid; `values[i + nx·(j + ny·k)]` sits at `origin + spacing·(i, j, k)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// Position of node (0, 0, 0) [m].
    pub origin: Vec3,
    /// Distance between nodes [m].
    pub spacing: f64,
    /// Nodes along x, y, z.
    pub dims: [u32; 3],
    /// Node values, x fastest.
    pub values: Arc<Vec<f32>>,
}

/// Named data attached to an [`Object`].
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// Name, unique within the object and domain.
    pub name: String,
    /// What each value belongs to.
    pub domain: Domain,
    /// The values.
    pub values: Values,
}

/// What the values of an [`Attribute`] belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// One value per vertex, point or grid node.
    Vertex,
    /// One value per triangle, tetrahedron or segment.
    Element,
    /// A single value for the whole object.
    Object,
}

/// Attribute values.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Scalars.
    Scalar(Arc<Vec<f32>>),
    /// Vectors, for example velocities [m/s].
    Vector(Arc<Vec<[f32; 3]>>),
    /// Integers, for example contact counts or identifiers.
    Integer(Arc<Vec<i32>>),
}
