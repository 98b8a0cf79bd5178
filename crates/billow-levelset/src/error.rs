//! The crate's error type.

use std::fmt;

/// Why a level-set operation was refused.
#[derive(Clone, Debug, PartialEq)]
pub enum LevelSetError {
    /// A parameter is outside the range that gives a meaningful result.
    Parameter {
        /// The type or function the parameter belongs to.
        of: &'static str,
        /// Name of the parameter.
        name: &'static str,
        /// Value given.
        value: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// The grid asked for does not fit into the memory allowed.
    TooLarge {
        /// Samples along each axis.
        dims: [u64; 3],
        /// Bytes the grid would take.
        bytes: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// The mesh has no triangles.
    EmptyMesh {
        /// Number of vertices given.
        vertices: usize,
    },
    /// A vertex is not a finite number.
    NotFinite {
        /// Number of the vertex.
        vertex: usize,
        /// Its coordinates.
        position: [f64; 3],
    },
    /// A triangle names a vertex that does not exist.
    Index {
        /// Number of the triangle.
        triangle: usize,
        /// The vertex named.
        index: u32,
        /// How many vertices there are.
        vertices: usize,
    },
    /// No inside can be told from an outside.
    NoInterior {
        /// What is wrong, and what to do about it.
        why: String,
    },
    /// Two grids that should match do not.
    Mismatch {
        /// The operation refused.
        operation: &'static str,
        /// What differs.
        problem: String,
    },
    /// An iteration did not reach its tolerance.
    NotConverged {
        /// The operation.
        operation: &'static str,
        /// Iterations done.
        iterations: usize,
        /// Residual reached.
        residual: f64,
    },
}

impl fmt::Display for LevelSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameter { of, name, value, allowed } => {
                write!(f, "{of}: `{name}` is {value}, but must be {allowed}")
            }
            Self::TooLarge { dims: [nx, ny, nz], bytes, limit } => write!(
                f,
                "a grid of {nx} × {ny} × {nz} samples would take {:.1} MB, but only {:.1} MB are allowed: \
                 use larger voxels, a smaller domain, a sparse grid or a higher limit",
                *bytes as f64 / 1e6,
                *limit as f64 / 1e6
            ),
            Self::EmptyMesh { vertices } => {
                write!(
                    f,
                    "the mesh has {vertices} vertices and no triangles: there is no surface to measure from"
                )
            }
            Self::NotFinite { vertex, position: [x, y, z] } => {
                write!(f, "vertex {vertex} is at ({x}, {y}, {z}): every coordinate must be a finite number")
            }
            Self::Index { triangle, index, vertices } => write!(
                f,
                "triangle {triangle} names vertex {index}, but there are only {vertices} vertices (numbered from 0)"
            ),
            Self::NoInterior { why } => write!(f, "no inside can be told from the outside: {why}"),
            Self::Mismatch { operation, problem } => write!(f, "{operation}: {problem}"),
            Self::NotConverged { operation, iterations, residual } => {
                write!(f, "{operation} stopped after {iterations} iterations with residual {residual:e}")
            }
        }
    }
}

impl std::error::Error for LevelSetError {}

/// `value` if it is finite and above zero.
pub(crate) fn positive(of: &'static str, name: &'static str, value: f64) -> Result<f64, LevelSetError> {
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err(LevelSetError::Parameter { of, name, value, allowed: "a finite number above 0" })
    }
}

/// `value` if all of it is finite.
pub(crate) fn finite(
    of: &'static str,
    name: &'static str,
    value: billow_num::Vec3,
) -> Result<billow_num::Vec3, LevelSetError> {
    match value.to_array().into_iter().find(|c| !c.is_finite()) {
        None => Ok(value),
        Some(value) => Err(LevelSetError::Parameter { of, name, value, allowed: "finite" }),
    }
}
