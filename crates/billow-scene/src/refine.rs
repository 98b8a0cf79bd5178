//! Finer frames of a cached run: cloth pushed out of bodies, subdivided and smoothed without new crossings
//! ([Bri03] 3, [BFA02] 8).
//!
//! Frames are independent: they are read, refined and audited in parallel and written in order as a run of its own, which
//! every other command accepts.

use crate::Scene;
use crate::cloth::{ClothPlan, Placed};
use crate::driver::{Auditor, Event, Progress, RunError, header, store_files, stored_scene, with_threads};
use billow_cloth::post::{PostConfig, PostReport, Refinery, Surroundings};
use billow_io::cache::{Reader, Status, Writer};
use billow_io::{Attribute, Domain, Frame, Shape, Values};
use billow_levelset::Collider;
use billow_num::{Vec3, par};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most levels: every one makes four triangles of each.
pub const MOST_LEVELS: u32 = 5;

/// How to refine a run.
#[derive(Clone, Debug)]
pub struct RefineOptions {
    /// Folder of the new run.
    pub out: PathBuf,
    /// How often each triangle is cut into four; 0 only pushes cloth out of bodies.
    pub levels: u32,
    /// Keep edges sharp that turn by more than this in the first frame [°]; none if not given.
    pub crease: Option<f64>,
    /// Threads to use; 0 means one per core. Results do not depend on it.
    pub threads: usize,
    /// Replace a run that is already in `out`.
    pub overwrite: bool,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RefineReport {
    /// Frames written.
    pub frames: u32,
    /// Triangles of cloth in each of them.
    pub triangles: u64,
    /// Nodes that bodies pushed out, over all frames and levels.
    pub pushed: u64,
    /// Nodes that stopped on their way, over all frames and levels.
    pub stopped: u64,
    /// Crossing pairs found by the exact audit of the new frames.
    pub crossings: u64,
    /// The first of them, in words.
    pub first_crossing: Option<String>,
}

/// Refines every frame of the run in `run` into a new run.
pub fn refine_run(
    run: &Path,
    options: &RefineOptions,
    progress: &dyn Progress,
) -> Result<RefineReport, RunError> {
    let reader = Reader::open(run)?;
    let scene = stored_scene(&reader)?;
    let refuse =
        |reason: String, help: &str| RunError::Refused { dir: run.to_owned(), reason, help: help.to_owned() };
    let Some(plan) = scene.cloth_plan() else {
        return Err(refuse(
            "the run has no cloth to refine".into(),
            "refine a run of a scene with [cloth.NAME]",
        ));
    };
    if options.levels > MOST_LEVELS {
        let reason = format!(
            "{} levels would make {} triangles of each",
            options.levels,
            4f64.powi(options.levels as i32)
        );
        return Err(refuse(reason, &format!("ask for at most {MOST_LEVELS} levels")));
    }
    let frames = reader.frames();
    let Some(first) = frames.first() else {
        return Err(refuse("the run has no frames yet".into(), "run the scene first"));
    };
    let job = Job::new(&scene, plan, &reader.read(*first)?, options)
        .map_err(|reason| refuse(reason, "only runs that still match their scene can be refined"))?;
    let manifest = reader.manifest();
    let mut writer = open(&scene, (manifest.first_frame, manifest.last_frame), options)?;
    progress.event(&Event::Started { first: 0, last: frames.len() as u32 });
    let mut report = RefineReport { triangles: job.triangles(), ..RefineReport::default() };
    let result = with_threads(options.threads, || {
        // As many frames at once as there are threads: memory stays bounded, order is kept.
        for batch in frames.chunks(par::threads().max(1)) {
            let made = par::map(batch.len(), |i| {
                reader.read(batch[i]).map_err(RunError::from).and_then(|f| job.refine(f))
            });
            for frame in made {
                let (frame, post, audit) = frame?;
                writer.write_frame(&frame)?;
                report.add(post, audit);
                progress.event(&Event::SubStep { frame: report.frames, fraction: 1.0, time: frame.time });
            }
        }
        Ok(())
    });
    let status = if result.is_ok() { reader.status() } else { Status::Failed };
    // A run that was not finished stays one that is not.
    let status = if status == Status::Running { Status::Interrupted } else { status };
    writer.finish(status, Some("refined from a cached run"))?;
    result.map(|()| report)
}

impl RefineReport {
    fn add(&mut self, post: PostReport, audit: crate::driver::FrameAudit) {
        self.frames += 1;
        self.pushed += post.pushed;
        self.stopped += post.stopped;
        self.crossings += audit.pairs;
        self.first_crossing = self.first_crossing.take().or(audit.first);
    }
}

fn open(scene: &Scene, (first, last): (u32, u32), options: &RefineOptions) -> Result<Writer, RunError> {
    let header = header(scene, &scene.plan(first, last));
    let writer = match options.overwrite {
        true => Writer::replace(&options.out, &header)?,
        false => Writer::create(&options.out, &header)?,
    };
    store_files(scene, &writer)?;
    Ok(writer)
}

/// Everything that serves all frames.
struct Job<'a> {
    scene: &'a Scene,
    plan: &'a ClothPlan,
    refinery: Refinery,
    /// Triangles of the refined pieces.
    triangles: Vec<Arc<Vec<[u32; 3]>>>,
    config: PostConfig,
    levels: u32,
}

impl<'a> Job<'a> {
    fn new(
        scene: &'a Scene,
        plan: &'a ClothPlan,
        frame: &Frame,
        options: &RefineOptions,
    ) -> Result<Self, String> {
        let levels = options.levels;
        let mut pieces: Vec<(&[Vec3], &[[u32; 3]])> = Vec::new();
        for piece in &plan.pieces {
            match frame.object(&piece.name).map(|o| &o.shape) {
                Some(Shape::Triangles { positions, triangles }) => pieces.push((positions, triangles)),
                _ => return Err(format!("its frames have no cloth called `{}`", piece.name)),
            }
        }
        let obstacles: Vec<(usize, &[[u32; 3]])> =
            plan.obstacles.iter().map(|o| (o.mesh.positions.len(), o.mesh.triangles.as_slice())).collect();
        let crease = options.crease.map_or(f64::INFINITY, f64::to_radians);
        let refinery =
            Refinery::with_creases(&pieces, &obstacles, levels, crease).map_err(|e| e.to_string())?;
        let fine = |k: usize| refinery.steps(k).last().map(|s| s.triangles().to_vec());
        let triangles = (0..pieces.len()).map(|k| Arc::new(fine(k).unwrap_or_else(|| pieces[k].1.to_vec())));
        let triangles = triangles.collect();
        let thinnest = plan.pieces.iter().map(|p| p.material.thickness).fold(f64::INFINITY, f64::min);
        let config =
            PostConfig { band: 0.5 * thinnest, separation: 0.5 * plan.config.contact.separation * thinnest };
        Ok(Self { scene, plan, refinery, triangles, config, levels })
    }

    fn triangles(&self) -> u64 {
        self.triangles.iter().map(|t| t.len() as u64).sum()
    }

    /// One frame, refined and audited.
    fn refine(&self, mut frame: Frame) -> Result<(Frame, PostReport, crate::driver::FrameAudit), RunError> {
        let t = frame.time;
        let place = |o: &billow_cloth::Obstacle| -> Vec<Vec3> {
            o.mesh.positions.iter().enumerate().map(|(k, x)| o.script.vertex(k, *x, t)).collect()
        };
        let obstacles: Vec<Vec<Vec3>> = self.plan.obstacles.iter().map(place).collect();
        let solids: Vec<Placed> = self.plan.solids.iter().map(|s| Placed::new(s, t, 0.0)).collect();
        let solids: Vec<&dyn Collider> = solids.iter().map(|s| s as &dyn Collider).collect();
        let around = Surroundings { obstacles: &obstacles, solids: &solids, time: t };
        let broken = |frame: &Frame, reason: String| RunError::Step {
            frame: frame.index,
            time: t,
            dt: 0.0,
            halvings: 0,
            body: None,
            element: None,
            place: None,
            reason,
        };
        let mut pieces = Vec::new();
        for piece in &self.plan.pieces {
            let Some(object) = frame.object(&piece.name) else {
                return Err(broken(&frame, format!("`{}` is missing", piece.name)));
            };
            pieces.push(object.shape.positions().to_vec());
        }
        let (pieces, post) =
            self.refinery.refine(pieces, &around, &self.config).map_err(|e| broken(&frame, e.to_string()))?;
        for (k, positions) in pieces.into_iter().enumerate() {
            let name = &self.plan.pieces[k].name;
            let Some(object) = frame.objects.iter_mut().find(|o| o.name == *name) else { continue };
            let shape = Shape::Triangles {
                positions: Arc::new(positions),
                triangles: Arc::clone(&self.triangles[k]),
            };
            object.attributes = object.attributes.iter().filter_map(|a| self.carried(k, a)).collect();
            object.shape = shape;
        }
        frame.stats.insert("subdivision-levels".into(), f64::from(self.levels));
        let audit = Auditor::new(&self.scene.output().may_cross)
            .leave_out(&self.scene.measured_names())
            .audit(&frame);
        Ok((frame, post, audit))
    }

    /// Data of a piece carried over to its finer mesh.
    fn carried(&self, piece: usize, attribute: &Attribute) -> Option<Attribute> {
        if attribute.domain == Domain::Object {
            return Some(attribute.clone());
        }
        if attribute.domain == Domain::Element {
            return None;
        }
        let mut values = attribute.values.clone();
        for step in self.refinery.steps(piece) {
            values = match &values {
                Values::Scalar(v) => Values::Scalar(Arc::new(step.interpolated(v, |a, b| 0.5 * (a + b)))),
                Values::Vector(v) => Values::Vector(Arc::new(
                    step.interpolated(v, |a, b| [0, 1, 2].map(|k| 0.5 * (a[k] + b[k]))),
                )),
                Values::Integer(v) => Values::Integer(Arc::new(step.interpolated(v, i32::max))),
            };
        }
        Some(Attribute { values, ..attribute.clone() })
    }
}
