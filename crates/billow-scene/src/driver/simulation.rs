//! What the driver needs from a solver.

use billow_io::Frame;
use billow_num::Vec3;
use billow_num::stages::Stages;
use std::fmt;

/// A simulation the driver can advance, store and put back.
///
/// The state is a value: equal states and equal steps give equal bits, for any number of threads, whatever was
/// computed before.
pub trait Simulation: Send {
    /// Advances the state from time `t` by `dt` [s]. After an error the state is undefined until
    /// [`Simulation::rollback`].
    fn step(&mut self, t: f64, dt: f64) -> Result<StepReport, StepError>;

    /// Remembers the present state.
    fn mark(&mut self);

    /// Returns to the state last remembered.
    fn rollback(&mut self);

    /// The state at time `time` [s] as a frame.
    fn snapshot(&self, index: u32, time: f64) -> Frame;

    /// The state as bytes.
    fn save(&self) -> Vec<u8>;

    /// Takes over a saved state; says what is wrong with bytes that are not one.
    fn load(&mut self, bytes: &[u8]) -> Result<(), String>;

    /// Time to be advanced before frame 0, from minus this to zero, so that things can settle [s].
    fn preroll(&self) -> f64 {
        0.0
    }

    /// Version of the bytes of [`Simulation::save`]; to be raised whenever their meaning changes.
    fn state_format(&self) -> u32;
}

/// What one step did.
#[derive(Clone, Debug, Default)]
pub struct StepReport {
    /// Wall-clock time and counts per stage.
    pub stages: Stages,
}

/// Why a step failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepErrorKind {
    /// A guarantee could not be kept: contacts not resolved, a solve not converged. Smaller steps may help.
    Unresolved,
    /// A number became infinite or NaN. Smaller steps may help.
    NonFinite,
    /// Something that smaller steps cannot change.
    Hopeless,
}

/// A step that failed, with whatever is known about where.
#[derive(Clone, Debug, PartialEq)]
pub struct StepError {
    /// Why it failed.
    pub kind: StepErrorKind,
    /// What failed, in words.
    pub reason: String,
    /// Stage of the step in which it failed.
    pub stage: &'static str,
    /// Body concerned.
    pub body: Option<String>,
    /// Vertex, triangle or tetrahedron of the body.
    pub element: Option<u64>,
    /// Place in the world [m].
    pub place: Option<Vec3>,
}

impl StepError {
    /// An error of `kind` in `stage`.
    pub fn new(kind: StepErrorKind, stage: &'static str, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into(), stage, body: None, element: None, place: None }
    }

    /// Names the body concerned.
    pub fn body(mut self, name: impl Into<String>) -> Self {
        self.body = Some(name.into());
        self
    }

    /// Names the element and its place [m].
    pub fn element(mut self, element: u64, place: Vec3) -> Self {
        self.element = Some(element);
        self.place = Some(place);
        self
    }

    /// Whether a smaller step may succeed.
    pub fn may_retry(&self) -> bool {
        self.kind != StepErrorKind::Hopeless
    }
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in stage `{}`", self.reason, self.stage)?;
        if let Some(body) = &self.body {
            write!(f, ", body `{body}`")?;
        }
        if let Some(element) = self.element {
            write!(f, ", element {element}")?;
        }
        if let Some(p) = self.place {
            write!(f, ", at [{:.6}, {:.6}, {:.6}] m", p.x, p.y, p.z)?;
        }
        Ok(())
    }
}

impl std::error::Error for StepError {}
