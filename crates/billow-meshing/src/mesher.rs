//! From a level set to a mesh: lattice, refinement, selection, compression.

use crate::compress::Optimiser;
use crate::{
    Candidate, Compression, MeshingError, Optimisation, OptimisationReport, RedGreen, Selection,
    SelectionReport, Shape, Sizing, Soundness, background, select,
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
    /// How often places that miss the limits on shapes are refined and all is chosen and compressed again; 2 by default.
    /// Meshes that meet them are made once.
    pub rounds: u32,
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
            rounds: 2,
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
    let mut best = shaped(&mut forest, solid, mesher, &report, &mut stages)?;
    for _ in 0..mesher.rounds {
        // Creases cost shapes that no refinement brings back.
        let settled = mesher.optimisation.sharp || mesher.compression != Compression::Optimise;
        if settled || best.optimisation.worst >= ACCEPTED {
            break;
        }
        // The lattice is too coarse where a tetrahedron cannot be saved: refine its parent, choose again.
        let mut bad = badly_shaped(&best.candidate, &mesher.optimisation);
        bad.retain(|r| forest.is_leaf(*r) && forest.level(*r) < forest.depth());
        // Where much is bad the field is to blame, not the lattice.
        if bad.is_empty() || bad.len() > best.candidate.mesh.tets.len() / FEW {
            break;
        }
        let mut finer = forest.clone();
        finer.refine(bad);
        match shaped(&mut finer, solid, mesher, &report, &mut stages) {
            Ok(next) if next.optimisation.worst > best.optimisation.worst => (best, forest) = (next, finer),
            _ => break,
        }
    }
    let Shaped { candidate, selection, optimisation } = best;
    report("checking", COMPRESSED);
    let soundness = stages.time("check", || Soundness::new(&candidate.mesh));
    if !soundness.is_sound() {
        return Err(MeshingError::Topology { problem: soundness.problem() });
    }
    Ok(Meshed { candidate, forest, selection, optimisation, soundness, stages })
}

/// Tetrahedra this good against the limits pass: 4.5 against a goal of 4.4 [-].
const ACCEPTED: f64 = 0.978;

/// At most one in so many tetrahedra is repaired by refinement.
const FEW: usize = 200;

/// A mesh that is chosen and compressed.
struct Shaped {
    candidate: Candidate,
    selection: SelectionReport,
    optimisation: OptimisationReport,
}

/// Chooses tetrahedra and moves them to the surface.
fn shaped(
    forest: &mut RedGreen,
    solid: &dyn Collider,
    mesher: &Mesher<'_>,
    report: &(dyn Fn(&'static str, f64) + Sync),
    stages: &mut Stages,
) -> Result<Shaped, MeshingError> {
    report("selecting", REFINED);
    let (mut candidate, selection) = stages.time("select", || select(forest, solid, &mesher.selection))?;
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
    Ok(Shaped { candidate, selection, optimisation })
}

/// Red tetrahedra that stand behind those which miss the limits, ascending.
fn badly_shaped(candidate: &Candidate, limits: &Optimisation) -> Vec<u32> {
    let mesh = &candidate.mesh;
    let cosine = |degrees: f64| degrees.to_radians().cos();
    let (most, least) = (cosine(limits.min_dihedral), cosine(limits.max_dihedral));
    let bad = |t: &usize| {
        let shape = Shape::new(mesh.corners(*t));
        let within = shape.cosines.iter().all(|c| *c <= most && *c >= least);
        !(shape.volume6 > 0.0 && shape.aspect <= limits.max_aspect && within)
    };
    let mut red: Vec<u32> = (0..mesh.tets.len()).filter(bad).map(|t| candidate.red[t]).collect();
    red.sort_unstable();
    red.dedup();
    red
}
