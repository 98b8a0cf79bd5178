//! The crate's error type.

use std::fmt;

/// Why no mesh was made.
#[derive(Clone, Debug, PartialEq)]
pub enum MeshingError {
    /// The region to cover makes no sense.
    Domain {
        /// Smallest corner [m].
        min: [f64; 3],
        /// Largest corner [m].
        max: [f64; 3],
        /// Cell edge asked for [m].
        cell: f64,
    },
    /// The lattice has more cells or levels than its coordinates can name.
    TooFine {
        /// Coarse cells along each axis.
        cells: [f64; 3],
        /// Levels of refinement.
        depth: u32,
        /// Coarse cells allowed at this depth.
        most: f64,
    },
    /// A setting is outside its range.
    Setting {
        /// Name of the setting.
        name: &'static str,
        /// Value given.
        value: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// The mesh would grow beyond the number of elements allowed.
    TooMany {
        /// Tetrahedra reached when refinement was stopped.
        tets: usize,
        /// Tetrahedra allowed.
        limit: usize,
    },
    /// φ has no inside that the lattice can see.
    Empty {
        /// Length of the shortest lattice edge [m].
        finest: f64,
        /// The smallest φ found at a node [m].
        deepest: f64,
    },
    /// φ is not a number somewhere.
    NotFinite {
        /// Where [m].
        at: [f64; 3],
    },
    /// The topological conditions could not be met.
    Topology {
        /// What is still wrong.
        problem: String,
    },
}

impl fmt::Display for MeshingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Domain { min, max, cell } => write!(
                f,
                "cannot cover the box from {min:?} to {max:?} with cells of {cell} m; the box must be finite and the cells positive"
            ),
            Self::TooFine { cells, depth, most } => write!(
                f,
                "{} × {} × {} coarse cells with {depth} levels of refinement are too many; at most {most} cells along an axis: \
                 use larger cells or fewer levels",
                cells[0], cells[1], cells[2]
            ),
            Self::Setting { name, value, allowed } => write!(f, "{name} is {value}; it must be {allowed}"),
            Self::TooMany { tets, limit } => write!(
                f,
                "the lattice has {tets} tetrahedra, more than the {limit} allowed; raise the sizes or the limit"
            ),
            Self::Empty { finest, deepest } => write!(
                f,
                "nothing is left to mesh: the smallest distance at a lattice node is {deepest} m while the finest edges are \
                 {finest} m long; use a smaller size, or check that φ is negative inside"
            ),
            Self::NotFinite { at } => write!(f, "φ is not finite at {at:?}; repair the level set"),
            Self::Topology { problem } => {
                write!(f, "the mesh cannot be made sound: {problem}; use a smaller size")
            }
        }
    }
}

impl std::error::Error for MeshingError {}
