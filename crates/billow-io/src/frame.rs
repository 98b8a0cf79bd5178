//! What a moment of a simulation looks like to everything downstream of the solvers.
//!
//! A [`Frame`] is plain data and knows no solver: named meshes, points, lines and grids, rigid placements and
//! attributes. Arrays that stay the same from frame to frame are shared by [`Arc`], and the cache stores each of
//! them once.

use billow_num::{Pose, Vec3};
use std::collections::{BTreeMap, HashSet};
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// Vectors in the object's own coordinates, for example velocities [m/s].
    Vector(Arc<Vec<[f32; 3]>>),
    /// Integers, for example contact counts or identifiers.
    Integer(Arc<Vec<i32>>),
}

impl Frame {
    /// The object with this name.
    pub fn object(&self, name: &str) -> Option<&Object> {
        self.objects.iter().find(|object| object.name == name)
    }

    /// Checks what every reader of frames relies on: unique names, indices in range, array lengths that fit.
    /// Positions may be anything, also non-finite.
    ///
    /// # Errors
    /// The first violation, in words.
    pub fn validate(&self) -> Result<(), String> {
        let mut names = HashSet::new();
        for object in &self.objects {
            if !names.insert(object.name.as_str()) {
                return Err(format!("two objects of frame {} are called {:?}", self.index, object.name));
            }
            object.validate().map_err(|what| format!("object {:?}: {what}", object.name))?;
        }
        Ok(())
    }
}

impl Object {
    /// An object at the identity pose without attributes.
    pub fn new(name: impl Into<String>, shape: Shape) -> Self {
        Self { name: name.into(), pose: Pose::IDENTITY, shape, attributes: Vec::new() }
    }

    /// The attribute with this name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }

    fn validate(&self) -> Result<(), String> {
        self.shape.validate()?;
        let mut names = HashSet::new();
        for attribute in &self.attributes {
            let Attribute { name, domain, values } = attribute;
            if !names.insert((name.as_str(), *domain)) {
                return Err(format!("two attributes are called {name:?}"));
            }
            let expected = match domain {
                Domain::Vertex => self.shape.vertex_count(),
                Domain::Element => self.shape.element_count(),
                Domain::Object => 1,
            };
            if values.len() != expected {
                let found = values.len();
                return Err(format!("attribute {name:?} has {found} values where {expected} belong"));
            }
        }
        Ok(())
    }
}

impl Shape {
    /// Vertex positions in the object's own coordinates [m]; none for a grid.
    pub fn positions(&self) -> &[Vec3] {
        match self {
            Self::Triangles { positions, .. }
            | Self::Tets { positions, .. }
            | Self::Points { positions }
            | Self::Lines { positions, .. } => positions,
            Self::Grid(_) => &[],
        }
    }

    /// Number of vertices, points or grid nodes.
    pub fn vertex_count(&self) -> usize {
        match self {
            Self::Grid(grid) => grid.values.len(),
            other => other.positions().len(),
        }
    }

    /// Number of triangles, tetrahedra or segments.
    pub fn element_count(&self) -> usize {
        match self {
            Self::Triangles { triangles, .. } => triangles.len(),
            Self::Tets { tets, .. } => tets.len(),
            Self::Lines { segments, .. } => segments.len(),
            Self::Points { .. } | Self::Grid(_) => 0,
        }
    }

    fn validate(&self) -> Result<(), String> {
        let n = self.vertex_count();
        match self {
            Self::Triangles { triangles, .. } => in_range("triangle", triangles, n),
            Self::Tets { tets, .. } => in_range("tetrahedron", tets, n),
            Self::Lines { segments, .. } => in_range("segment", segments, n),
            Self::Points { .. } => Ok(()),
            Self::Grid(grid) => {
                let nodes = grid.dims.iter().try_fold(1u64, |n, d| n.checked_mul(u64::from(*d)));
                if nodes == Some(n as u64) {
                    return Ok(());
                }
                let [nx, ny, nz] = grid.dims;
                Err(format!("a grid of {nx} x {ny} x {nz} nodes has {n} values"))
            }
        }
    }
}

impl Values {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::Scalar(values) => values.len(),
            Self::Vector(values) => values.len(),
            Self::Integer(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn in_range<const N: usize>(what: &str, elements: &[[u32; N]], n: usize) -> Result<(), String> {
    match elements.iter().position(|corners| corners.iter().any(|v| *v as usize >= n)) {
        Some(k) => Err(format!("{what} {k} has corners {:?} but there are {n} vertices", elements[k])),
        None => Ok(()),
    }
}
