//! Moving level sets: along their normals, by mean curvature, with a flow, and back to signed distance.
//!
//! Space derivatives of hyperbolic terms are fifth-order WENO, curvature is central differences, time is total
//! variation diminishing Runge-Kutta. Every operation exists on dense and on sparse grids and gives the same values
//! where both have samples.

mod anchor;
mod dense;
mod rates;
mod sparse;
mod weno;

use crate::LevelSetError;
use crate::error::positive;
use serde::{Deserialize, Serialize};

/// Order of the time integration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TimeOrder {
    /// Forward Euler.
    One,
    /// Heun's method.
    Two,
    /// Third-order TVD Runge-Kutta.
    Three,
}

impl TimeOrder {
    /// Stages as weights (old, current + dt · rate).
    pub(crate) fn stages(self) -> &'static [(f64, f64)] {
        match self {
            Self::One => &[(0.0, 1.0)],
            Self::Two => &[(0.0, 1.0), (0.5, 0.5)],
            Self::Three => &[(0.0, 1.0), (0.75, 0.25), (1.0 / 3.0, 2.0 / 3.0)],
        }
    }
}

/// Settings of PDE reinitialisation, φₜ = S(φ)(1 − |∇φ|).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reinit {
    /// Pseudo-time steps; information travels `cfl` samples per step. Default 6.
    pub steps: usize,
    /// Step as a part of the spacing, at most 0.5 [-]. Default 0.5.
    pub cfl: f64,
    /// Order of the time integration. Default three.
    pub time: TimeOrder,
}

impl Default for Reinit {
    fn default() -> Self {
        Self { steps: 6, cfl: 0.5, time: TimeOrder::Three }
    }
}

impl Reinit {
    pub(crate) fn validated(&self) -> Result<&Self, LevelSetError> {
        courant("Reinit", self.cfl, 0.5)?;
        Ok(self)
    }
}

/// Settings of motion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evolution {
    /// Step as a part of what stability allows, at most 0.9 [-]. Default 0.5.
    pub cfl: f64,
    /// Order of the time integration. Default three.
    pub time: TimeOrder,
    /// Reinitialisation whenever the surface has moved by a third of the spacing (sparse grids) or after every step
    /// (dense grids); none leaves it to the caller.
    pub reinit: Option<Reinit>,
}

impl Default for Evolution {
    fn default() -> Self {
        let reinit = Reinit { steps: 2, ..Reinit::default() };
        Self { cfl: 0.5, time: TimeOrder::Three, reinit: Some(reinit) }
    }
}

impl Evolution {
    pub(crate) fn validated(&self) -> Result<&Self, LevelSetError> {
        courant("Evolution", self.cfl, 0.9)?;
        if let Some(reinit) = &self.reinit {
            reinit.validated()?;
        }
        Ok(self)
    }
}

/// What a motion did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EvolutionReport {
    /// Time steps taken.
    pub steps: usize,
}

fn courant(of: &'static str, value: f64, limit: f64) -> Result<(), LevelSetError> {
    if value > 0.0 && value <= limit {
        return Ok(());
    }
    let allowed = if limit == 0.5 { "above 0 and at most 0.5" } else { "above 0 and at most 0.9" };
    Err(LevelSetError::Parameter { of, name: "cfl", value, allowed })
}

/// Equal steps no longer than `largest` that add up to `time`.
pub(crate) fn equal_steps(time: f64, largest: f64) -> Result<(usize, f64), LevelSetError> {
    if time == 0.0 || largest == f64::INFINITY {
        return Ok((usize::from(time > 0.0), time));
    }
    positive("motion", "time", time)?;
    let n = (time / largest).ceil().max(1.0);
    if n > 1e7 {
        let allowed = "short enough for ten million steps";
        return Err(LevelSetError::Parameter { of: "motion", name: "time", value: time, allowed });
    }
    Ok((n as usize, time / n))
}
