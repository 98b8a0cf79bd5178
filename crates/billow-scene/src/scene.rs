//! A validated scene, and where scenes come from.

use crate::check::Check;
use crate::cloth::ClothPlan;
use crate::driver::{OnCrossing, Plan};
use crate::expr::Expr;
use crate::material::Material;
use crate::motion::{MassModel, Morph, Motion};
use crate::read::declare::Table;
use crate::read::files::{Files, normalise};
use crate::read::log::{Log, Span};
use crate::read::table::read_named_table;
use crate::read::{include, reference as reference_page, schema as json_schema};
use crate::resolve::{self, Resolved};
use crate::rigid::RigidPlan;
use crate::tables::{BodyAttribute, SceneTable, Up};
use crate::{Cloth, Problem, Problems, World, gallery};
use billow_io::Shape;
use billow_num::Vec3;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A scene whose every value has been checked; immutable.
#[derive(Clone, Debug)]
pub struct Scene {
    name: String,
    title: String,
    description: String,
    resolved: Resolved,
    warnings: Vec<Problem>,
    sources: SceneSources,
}

/// How long and how finely to simulate.
#[derive(Clone, Debug, PartialEq)]
pub struct Timing {
    /// Last frame number; frame 0 is the initial state.
    pub frames: u32,
    /// Frames per second of simulated time [1/s].
    pub fps: f64,
    /// Steps per frame.
    pub substeps: u32,
    /// Acceleration of whatever is free to fall, at the start [m/s²].
    pub gravity: Vec3,
    /// Formulas of the time for it, if it changes [m/s²].
    pub varying_gravity: Option<[Expr; 3]>,
    /// The axis that points up.
    pub up: Up,
    /// How often a failed step may be halved.
    pub max_halvings: u32,
    /// Stop, resumably, after so much wall-clock time.
    pub time_limit: Option<Duration>,
}

impl Timing {
    /// Acceleration of whatever is free to fall at time `t` [m/s²].
    pub fn gravity_at(&self, t: f64) -> Vec3 {
        match &self.varying_gravity {
            Some(formulas) => Vec3::from_array([0, 1, 2].map(|k| formulas[k].eval(t))),
            None => self.gravity,
        }
    }

    /// The direction that points up.
    pub fn up_vector(&self) -> Vec3 {
        match self.up {
            Up::Y => Vec3::Y,
            Up::Z => Vec3::Z,
        }
    }
}

/// A thing in the scene.
#[derive(Clone, Debug)]
pub struct Body {
    /// Unique name.
    pub name: String,
    /// Name in the scene file, which all copies of an array share.
    pub group: String,
    /// Its shape, in its own coordinates; shared by bodies that use the same mesh.
    pub shape: Shape,
    /// What it is made of.
    pub material: Material,
    /// How it moves.
    pub motion: Motion,
    /// Mass and inertia, if the mesh bounds a solid or the body is rigid.
    pub mass: Option<MassModel>,
    /// Whether rigid bodies meet it.
    pub meets_rigid: bool,
    /// How its vertices move in its own coordinates, if it deforms.
    pub morph: Option<Arc<Morph>>,
    /// Colour of a copy instead of the material's, linear red, green and blue [-].
    pub colour: Option<Vec3>,
}

impl Body {
    /// Its shape in its own coordinates at time `t` [s].
    pub fn shape_at(&self, t: f64) -> Shape {
        match (&self.shape, &self.morph) {
            (Shape::Triangles { triangles, .. }, Some(morph)) => {
                Shape::Triangles { positions: morph.positions(t), triangles: Arc::clone(triangles) }
            }
            (shape, _) => shape.clone(),
        }
    }
}

/// What to keep and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Run directory, if the scene names one.
    pub directory: Option<PathBuf>,
    /// Keep every so many frames.
    pub every: u32,
    /// Data kept with each body.
    pub attributes: Vec<BodyAttribute>,
    /// What to do about crossing triangles.
    pub on_crossing: OnCrossing,
    /// Pairs of bodies that may cross.
    pub may_cross: Vec<[String; 2]>,
}

/// Everything a scene was read from; enough to load it again anywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SceneSources {
    /// The scene file.
    pub(crate) root: PathBuf,
    /// All files, the scene file among them.
    pub(crate) files: Files,
    /// What the command line changed.
    pub(crate) overrides: Vec<String>,
}

impl SceneSources {
    /// A number that changes with anything the scene was read from.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut all = Vec::new();
        let mut add = |bytes: &[u8]| {
            all.extend((bytes.len() as u64).to_le_bytes());
            all.extend(xxhash_rust::xxh3::xxh3_64(bytes).to_le_bytes());
        };
        add(self.root.to_string_lossy().as_bytes());
        for (path, bytes) in self.files.all() {
            add(path.to_string_lossy().as_bytes());
            add(bytes);
        }
        for text in &self.overrides {
            add(text.as_bytes());
        }
        xxhash_rust::xxh3::xxh3_64(&all)
    }
}

impl Scene {
    /// Loads the scene file at `path`.
    pub fn load(path: &Path) -> Result<Self, Problems> {
        Loader::file(path).load()
    }

    /// Short name: the file's stem or the gallery name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Title; the name if the file gives none.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What the scene shows.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Last frame number; frame 0 is the initial state.
    pub fn frames(&self) -> u32 {
        self.resolved.timing.frames
    }

    /// Frames per second of simulated time [1/s].
    pub fn fps(&self) -> f64 {
        self.resolved.timing.fps
    }

    /// How long and how finely to simulate.
    pub fn timing(&self) -> &Timing {
        &self.resolved.timing
    }

    /// The things in the scene.
    pub fn bodies(&self) -> &[Body] {
        &self.resolved.bodies
    }

    /// The pieces of cloth in the scene.
    pub fn cloths(&self) -> &[Cloth] {
        self.resolved.cloth.as_ref().map_or(&[], |plan| &plan.pieces)
    }

    /// What to keep and where.
    pub fn output(&self) -> &Output {
        &self.resolved.output
    }

    /// What must be true of a finished run.
    pub fn checks(&self) -> &[Check] {
        &self.resolved.checks
    }

    /// How it is shown.
    pub fn look(&self) -> &billow_render::Look {
        &self.resolved.look
    }

    /// Where the scene wants its run directory, if it says so.
    pub fn output_directory(&self) -> Option<&Path> {
        self.resolved.output.directory.as_deref()
    }

    /// Things that look wrong but do not keep the scene from running.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    pub(crate) fn rigid_plan(&self) -> Option<&RigidPlan> {
        self.resolved.rigid.as_deref()
    }

    /// Names of the bodies whose overlaps are measured instead of audited.
    pub(crate) fn measured_names(&self) -> Vec<String> {
        self.resolved.measured_names()
    }

    pub(crate) fn cloth_plan(&self) -> Option<&ClothPlan> {
        self.resolved.cloth.as_deref()
    }

    /// What the driver has to do, with `last` as the last frame.
    pub(crate) fn plan(&self, first: u32, last: u32) -> Plan {
        let (timing, output) = (&self.resolved.timing, &self.resolved.output);
        Plan {
            fps: timing.fps,
            substeps: timing.substeps,
            max_halvings: timing.max_halvings,
            first,
            last,
            every: output.every,
            time_limit: timing.time_limit,
            on_crossing: output.on_crossing,
            may_cross: output.may_cross.clone(),
            unaudited: self.resolved.measured_names(),
            scene: self.sources.fingerprint(),
        }
    }

    /// The scene at t = 0, ready to be advanced.
    pub fn world(&self) -> World {
        World::new(&self.resolved)
    }

    pub(crate) fn sources(&self) -> &SceneSources {
        &self.sources
    }
}

/// Gathers where a scene comes from and what the command line changes in it.
#[derive(Clone, Debug)]
pub struct Loader {
    origin: Origin,
    overrides: Vec<String>,
}

#[derive(Clone, Debug)]
enum Origin {
    File(PathBuf),
    Gallery(String),
    Stored(PathBuf, Files),
}

impl Loader {
    /// A scene file on disk.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self { origin: Origin::File(path.into()), overrides: Vec::new() }
    }

    /// A scene of the gallery.
    pub fn gallery(name: impl Into<String>) -> Self {
        Self { origin: Origin::Gallery(name.into()), overrides: Vec::new() }
    }

    /// A scene that is one text without other files, called `name` in messages.
    pub fn text(name: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        let path = normalise(&name.into());
        let files = Files::fixed([(path.clone(), text.into().into_bytes())].into());
        Self { origin: Origin::Stored(path, files), overrides: Vec::new() }
    }

    /// A scene whose files are all known.
    pub(crate) fn stored(sources: SceneSources) -> Self {
        Self { origin: Origin::Stored(sources.root, sources.files), overrides: sources.overrides }
    }

    /// Adds overrides of the form `simulation.frames=10`, applied in order after the files.
    pub fn set(mut self, overrides: impl IntoIterator<Item = String>) -> Self {
        self.overrides.extend(overrides);
        self
    }

    /// Reads, merges and validates everything.
    pub fn load(&self) -> Result<Scene, Problems> {
        let (root, files) = match &self.origin {
            Origin::File(path) => (normalise(path), Files::on_disk()),
            Origin::Stored(path, files) => (path.clone(), files.clone()),
            Origin::Gallery(name) => gallery::files(name)?,
        };
        self.read(root, files)
    }

    /// Title and description as the file gives them, without making any mesh; empty if it cannot be read.
    pub(crate) fn titles(&self) -> (String, String) {
        let Origin::Gallery(name) = &self.origin else { return Default::default() };
        let Ok((root, mut files)) = gallery::files(name) else { return Default::default() };
        let mut log = Log::default();
        let tree = include::read_tree(&root, &mut files, &mut log);
        let table =
            tree.and_then(|tree| read_named_table::<SceneTable>(&tree, String::new(), None, &mut log));
        table.map(|t| (t.title.value, t.description.value.trim().to_owned())).unwrap_or_default()
    }

    fn read(&self, root: PathBuf, mut files: Files) -> Result<Scene, Problems> {
        let mut log = Log::default();
        match self.parts(&root, &mut files, &mut log) {
            Some((table, resolved)) if !log.has_errors() => {
                let name =
                    root.file_stem().map_or_else(|| "scene".into(), |s| s.to_string_lossy().into_owned());
                let title = if table.title.is_empty() { name.clone() } else { table.title.value.clone() };
                Ok(Scene {
                    name,
                    title,
                    description: table.description.value.trim().to_owned(),
                    resolved,
                    warnings: log.into_problems().0,
                    sources: SceneSources { root, files, overrides: self.overrides.clone() },
                })
            }
            _ => Err(log.into_problems()),
        }
    }

    /// Reads the files, applies the overrides, reads the tables, resolves.
    fn parts(&self, root: &Path, files: &mut Files, log: &mut Log) -> Option<(SceneTable, Resolved)> {
        let mut tree = include::read_tree(root, files, log)?;
        for text in &self.overrides {
            include::apply_override(&mut tree, text, root, log);
        }
        let table: SceneTable = read_named_table(&tree, "the scene".into(), None, log)?;
        let bodies = table.body.entries.len() + table.body.broken.len();
        if bodies + table.cloth.entries.len() + table.cloth.broken.len() == 0 {
            log.error(Span { file: 0, start: 0, end: 0 }, "the scene has no bodies").help(
                "a smallest scene is\n\n[mesh.ball]\nshape = \"icosphere\"\n\n[body.ball]\nmesh = \"ball\"\nmotion = \"free\"",
            );
            return None;
        }
        let resolved = resolve::resolve(&table, files, log)?;
        Some((table, resolved))
    }
}

/// JSON Schema (draft 2020-12) of scene files.
pub fn schema() -> serde_json::Value {
    json_schema::document(&SceneTable::info())
}

/// Reference page of scene files in Markdown: every table and key with its unit, default and range.
pub fn reference() -> String {
    let mut page = reference_page::document(&SceneTable::info());
    page += &crate::material::reference();
    page += &crate::expr::reference();
    page
}
