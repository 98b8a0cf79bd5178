//! What can be wrong with the input of the rigid body solver, and why a step could not be done.

use billow_geom::GeomError;
use billow_levelset::LevelSetError;
use std::fmt;

/// Why a geometry or a model could not be built.
#[derive(Clone, Debug, PartialEq)]
pub enum RigidError {
    /// The mesh cannot bound a body.
    Geometry(GeomError),
    /// The signed distance could not be built.
    LevelSet(LevelSetError),
    /// A number is out of range.
    Parameter {
        /// Body or shape it belongs to.
        of: String,
        /// Name of the parameter.
        name: &'static str,
        /// What was given.
        value: f64,
        /// What would be accepted.
        allowed: &'static str,
    },
    /// A body names a geometry that does not exist.
    MissingGeometry {
        /// The body.
        body: String,
        /// What it names.
        geometry: usize,
        /// How many there are.
        count: usize,
    },
}

impl fmt::Display for RigidError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Geometry(e) => write!(f, "{e}"),
            Self::LevelSet(e) => write!(f, "{e}"),
            Self::Parameter { of, name, value, allowed } => {
                write!(f, "{name} of `{of}` is {value}: it must be {allowed}")
            }
            Self::MissingGeometry { body, geometry, count } => {
                write!(f, "body `{body}` names geometry {geometry}, but there are only {count}")
            }
        }
    }
}

impl std::error::Error for RigidError {}

impl From<GeomError> for RigidError {
    fn from(e: GeomError) -> Self {
        Self::Geometry(e)
    }
}

impl From<LevelSetError> for RigidError {
    fn from(e: LevelSetError) -> Self {
        Self::LevelSet(e)
    }
}

/// Why a step could not be done.
#[derive(Clone, Debug, PartialEq)]
pub enum StepError {
    /// A body's position or velocity stopped being finite.
    NotFinite {
        /// Stage in which it was noticed.
        stage: &'static str,
        /// Name of the body.
        body: String,
    },
    /// The state does not belong to the model.
    Mismatch {
        /// Bodies of the model.
        model: usize,
        /// Bodies of the state.
        state: usize,
    },
    /// The step's length is not a positive number.
    Length(f64),
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite { stage, body } => {
                write!(f, "body `{body}` is not finite after {stage}: look for huge velocities or forces")
            }
            Self::Mismatch { model, state } => {
                write!(f, "the model has {model} bodies, the state {state}: start from `Model::start`")
            }
            Self::Length(dt) => write!(f, "the step is {dt} s long: it must be positive and finite"),
        }
    }
}

impl std::error::Error for StepError {}
