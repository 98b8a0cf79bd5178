//! Post-processing of single frames: push-out from thick objects and collision-aware subdivision
//! ([Bri03] 3.1, 3.2, [BFA02] 8).
//!
//! Frames are independent of each other. What comes in without crossings goes out without: nodes move along straight
//! lines towards where they should be, and stop before they would meet anything. A solution always exists, because
//! staying in place is one.

mod guard;
mod push_out;

pub use guard::{Guard, Guarded};
pub use push_out::{lifted, push_out};

use billow_geom::GeomError;
use billow_geom::mesh::Topology;
use billow_geom::subdivision::{Subdivision, border_corners, sharp_edges};
use billow_levelset::Collider;
use billow_num::Vec3;

/// Settings of [`Refinery::refine`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PostConfig {
    /// Width of the band outside thick objects into which nodes are mapped [m]; half the cloth's thickness is natural.
    pub band: f64,
    /// Distance that moving nodes keep from everything at the first level [m]; halved at each further one.
    pub separation: f64,
}

/// Meshes of one kind of frame, cut finer level by level. Made once, it serves all frames of a run.
pub struct Refinery {
    /// For each level and piece, one step of subdivision.
    levels: Vec<Vec<Subdivision>>,
    guards: Vec<Guard>,
}

/// The scripted surroundings of a frame.
pub struct Surroundings<'a> {
    /// Vertices of the meshes that cloth meets by their triangles [m], in the order given to [`Refinery::new`].
    pub obstacles: &'a [Vec<Vec3>],
    /// Thick objects.
    pub solids: &'a [&'a dyn Collider],
    /// Time of the frame [s].
    pub time: f64,
}

/// What happened to a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PostReport {
    /// Nodes that thick objects pushed out, over all levels.
    pub pushed: u64,
    /// Nodes that had to stop on their way, over all levels.
    pub stopped: u64,
}

impl Refinery {
    /// Prepares `levels` levels for pieces of cloth among obstacles; positions decide only which border vertices are
    /// corners.
    ///
    /// # Errors
    /// When a piece is not a surface.
    pub fn new(
        pieces: &[(&[Vec3], &[[u32; 3]])],
        obstacles: &[(usize, &[[u32; 3]])],
        levels: u32,
    ) -> Result<Self, GeomError> {
        Self::with_creases(pieces, obstacles, levels, f64::INFINITY)
    }

    /// The same with edges that turn by more than `crease` [rad] at the given positions kept sharp: pleats, seams.
    ///
    /// # Errors
    /// When a piece is not a surface.
    pub fn with_creases(
        pieces: &[(&[Vec3], &[[u32; 3]])],
        obstacles: &[(usize, &[[u32; 3]])],
        levels: u32,
        crease: f64,
    ) -> Result<Self, GeomError> {
        let mut meshes: Vec<(usize, Vec<[u32; 3]>)> =
            pieces.iter().map(|(x, t)| (x.len(), t.to_vec())).collect();
        let mut tags = Vec::new();
        for (x, triangles) in pieces {
            let topology = Topology::new(x.len(), triangles)?;
            tags.push((border_corners(&topology, x), sharp_edges(&topology, x, crease)));
        }
        let mut refinery = Self { levels: Vec::new(), guards: vec![Guard::new(&meshes, obstacles)?] };
        for _ in 0..levels {
            let mut steps = Vec::new();
            for ((vertices, triangles), (corners, creases)) in meshes.iter().zip(&mut tags) {
                let topology = Topology::new(*vertices, triangles)?;
                let step = Subdivision::with_creases(&topology, corners, creases)?;
                *creases = step.creases().to_vec();
                steps.push(step);
            }
            meshes = steps.iter().map(|s| (s.vertex_count(), s.triangles().to_vec())).collect();
            refinery.guards.push(Guard::new(&meshes, obstacles)?);
            refinery.levels.push(steps);
        }
        Ok(refinery)
    }

    /// The steps of subdivision of one piece, coarse to fine.
    pub fn steps(&self, piece: usize) -> impl Iterator<Item = &Subdivision> {
        self.levels.iter().map(move |steps| &steps[piece])
    }

    /// Pushes the pieces of a frame out of thick objects and refines them.
    ///
    /// # Errors
    /// When a position is not finite.
    pub fn refine(
        &self,
        mut pieces: Vec<Vec<Vec3>>,
        around: &Surroundings<'_>,
        config: &PostConfig,
    ) -> Result<(Vec<Vec<Vec3>>, PostReport), GeomError> {
        let mut report = PostReport::default();
        let mut separation = config.separation;
        // Push out, keeping layers apart, before anything is cut.
        let wanted = pieces.iter().map(|x| push_out(x, around, config.band, &mut report.pushed)).collect();
        pieces = self.guards[0].go(pieces, wanted, around.obstacles, separation, &mut report.stopped)?;
        for (steps, guard) in self.levels.iter().zip(&self.guards[1..]) {
            separation *= 0.5;
            // Cutting leaves the surface where it is; smoothing moves it as far as nothing is in the way.
            let cut: Vec<Vec<Vec3>> = steps.iter().zip(&pieces).map(|(s, x)| s.midpoints(x)).collect();
            let smooth = steps.iter().zip(&pieces).map(|(s, x)| s.smoothed(x));
            let wanted = smooth.map(|x| push_out(&x, around, config.band, &mut report.pushed)).collect();
            pieces = guard.go(cut, wanted, around.obstacles, separation, &mut report.stopped)?;
        }
        Ok((pieces, report))
    }
}
