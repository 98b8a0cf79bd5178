//! The crate's error type.

use billow_num::Vec3;
use std::fmt;

/// Why a geometric construction was refused.
#[derive(Clone, Debug, PartialEq)]
pub enum GeomError {
    /// An element names a vertex that does not exist.
    IndexOutOfRange {
        /// Kind of element, for instance `"triangle"`.
        element: &'static str,
        /// Number of the element.
        number: usize,
        /// The offending vertex number.
        index: u32,
        /// How many vertices there are.
        vertices: usize,
    },
    /// An element names one vertex twice.
    RepeatedIndex {
        /// Kind of element, for instance `"triangle"`.
        element: &'static str,
        /// Number of the element.
        number: usize,
        /// The vertex named twice.
        index: u32,
    },
    /// More elements than 32-bit numbering can hold.
    TooLarge {
        /// What was counted.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many are allowed.
        limit: usize,
    },
    /// A position that takes part in collision detection is not finite.
    NotFinite {
        /// Number of the vertex.
        vertex: usize,
        /// Its position [m].
        position: Vec3,
    },
    /// A parameter is outside the range that gives a meaningful result.
    Parameter {
        /// The function or shape the parameter belongs to.
        of: &'static str,
        /// Name of the parameter.
        name: &'static str,
        /// Value given.
        value: f64,
        /// What is allowed.
        allowed: String,
    },
    /// The mesh does not have the property the operation needs.
    Mesh {
        /// The operation refused.
        operation: &'static str,
        /// What is wrong, and what to do about it.
        problem: String,
    },
}

impl fmt::Display for GeomError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IndexOutOfRange { element, number, index, vertices } => write!(
                f,
                "{element} {number} names vertex {index}, but there are only {vertices} vertices \
                 (numbered from 0): correct the index or remove the {element}"
            ),
            Self::RepeatedIndex { element, number, index } => write!(
                f,
                "{element} {number} names vertex {index} twice: remove the {element} \
                 (`repair::remove_degenerate` does)"
            ),
            Self::TooLarge { what, count, limit } => {
                write!(f, "{count} {what} exceed the limit of {limit}: split the mesh")
            }
            Self::NotFinite { vertex, position } => write!(
                f,
                "vertex {vertex} is at {position}: collisions need finite positions; \
                 find the step that produced them or shorten it"
            ),
            Self::Parameter { of, name, value, allowed } => {
                write!(f, "{of}: `{name}` is {value}, but must be {allowed}")
            }
            Self::Mesh { operation, problem } => write!(f, "{operation}: {problem}"),
        }
    }
}

impl std::error::Error for GeomError {}
