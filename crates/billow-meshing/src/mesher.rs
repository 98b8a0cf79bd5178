//! From a level set to a mesh: lattice, refinement, selection, compression.

use crate::compress::Optimiser;
use crate::{
    Candidate, Compression, MeshingError, Optimisation, OptimisationReport, RedGreen, Selection,
    SelectionReport, Sizing, Soundness, background, select,
};
use billow_levelset::Collider;
use billow_num::stages::Stages;

/// Told the stage and the share of all work that is done, 0 to 1.
pub type Progress<'a> = &'a (dyn Fn(&'static str, f64) + Sync);

/// Settings of the mesher.
#[derive(Clone, Copy)]
pub struct Mesher<'a> {
    /// Sizes of tetrahedra.
    pub sizing: Sizing<'a>,
    /// How tetrahedra are chosen.
    pub selection: Selection,
    /// How the boundary is brought to the surface.
    pub compression: Compression,
    /// How shapes are optimised, and the limits that reports speak of.
    pub optimisation: Optimisation,
    /// Who wants to know how far it is.
    pub progress: Option<Progress<'a>>,
}

impl<'a> Mesher<'a> {
    /// The default way to mesh with the given sizes.
    pub fn new(sizing: Sizing<'a>) -> Self {
        Self {
            sizing,
            selection: Selection::default(),
            compression: Compression::default(),
            optimisation: Optimisation::default(),
            progress: None,
        }
    }
}

/// A mesh and how it came about.
#[derive(Clone, Debug)]
pub struct Meshed {
    /// The mesh with its boundary.
    pub candidate: Candidate,
    /// The refinable lattice behind it.
    pub forest: RedGreen,
    /// What selection did.
    pub selection: SelectionReport,
    /// What compression did.
    pub optimisation: OptimisationReport,
    /// The conditions, checked.
    pub soundness: Soundness,
    /// Time per stage.
    pub stages: Stages,
}

/// Typical shares of the time that are gone after each stage.
const REFINED: f64 = 0.25;
const SELECTED: f64 = 0.4;
const COMPRESSED: f64 = 0.96;

/// Meshes the inside of `solid`.
///
/// # Errors
/// See [`MeshingError`].
pub fn mesh(solid: &dyn Collider, mesher: &Mesher<'_>) -> Result<Meshed, MeshingError> {
    let mut stages = Stages::default();
    let report = |stage, share| {
        if let Some(progress) = mesher.progress {
            progress(stage, share);
        }
    };
    report("refining", 0.0);
    let mut forest = stages.time("refine", || background(solid, &mesher.sizing))?;
    report("selecting", REFINED);
    let (mut candidate, selection) =
        stages.time("select", || select(&mut forest, solid, &mesher.selection))?;
    let optimisation = stages.time("compress", || {
        let watched = |share| report("compressing", SELECTED + share * (COMPRESSED - SELECTED));
        let mut optimiser = Optimiser::new(&candidate, solid, &mesher.optimisation, &watched)
            .map_err(|e| MeshingError::Topology { problem: e.to_string() })?;
        let x = &mut candidate.mesh.positions;
        Ok(match mesher.compression {
            Compression::Optimise => optimiser.run(x),
            Compression::Simulate { body, sweeps } => optimiser.simulate(x, body, sweeps),
        })
    })?;
    report("checking", COMPRESSED);
    let soundness = stages.time("check", || Soundness::new(&candidate.mesh));
    if !soundness.is_sound() {
        return Err(MeshingError::Topology { problem: soundness.problem() });
    }
    Ok(Meshed { candidate, forest, selection, optimisation, soundness, stages })
}
