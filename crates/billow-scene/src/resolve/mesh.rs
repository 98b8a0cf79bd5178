//! Meshes: made by generators or read from files, transformed, judged.

use super::fixed_rotation;
use crate::motion::MassModel;
use crate::read::files::{Files, reason, relative_to};
use crate::read::log::{Log, Span};
use crate::read::values::PathText;
use crate::tables::{AnyMesh, MeshTable, SceneTable, ShapeTable, TransformTable};
use billow_geom::TriMesh;
use billow_geom::mass::{MassProperties, Matter};
use billow_geom::mesh::MeshReport;
use billow_io::Shape;
use billow_levelset::{Collider, Moving, Scaled};
use billow_num::{Affine3, Mat3, Pose, Quat, Vec3};
use billow_rigid::meter::Circle;
use std::path::Path;
use std::sync::Arc;

/// Most triangles or tetrahedra of all meshes of a scene together.
const MOST_ELEMENTS: f64 = 20e6;

/// A mesh ready for bodies.
#[derive(Clone, Debug)]
pub(super) struct MeshEntry {
    pub(super) shape: Shape,
    /// Mass properties at density 1, if the mesh bounds a solid.
    pub(super) solid: Option<Solid>,
    /// Why it does not, if it does not.
    pub(super) open_reason: String,
    /// Its exact distance, if its generator has one and the transform keeps its form.
    pub(super) exact: Option<Exact>,
    /// Centre and radius of the ball it stands for [m].
    pub(super) ball: Option<(Vec3, f64)>,
    /// Centre line of the ring it stands for, in the mesh's coordinates.
    pub(super) circle: Option<Circle>,
}

impl MeshEntry {
    /// A mesh of which nothing more is known.
    fn plain(shape: Shape, solid: Option<Solid>, open_reason: String) -> Self {
        Self { shape, solid, open_reason, exact: None, ball: None, circle: None }
    }
}

/// A shape whose distance is known exactly, in the mesh's coordinates.
#[derive(Clone)]
pub(super) struct Exact {
    pub(super) shape: Arc<dyn Collider>,
    /// Smallest radius of curvature of its surface; 0 if it has edges [m].
    pub(super) roundness: f64,
}

impl std::fmt::Debug for Exact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exact").field("roundness", &self.roundness).finish_non_exhaustive()
    }
}

/// Mass properties of a solid of density 1 kg/m³.
#[derive(Clone, Copy, Debug)]
pub(super) struct Solid(MassProperties);

impl Solid {
    /// Volume [m³].
    pub(super) fn volume(&self) -> f64 {
        self.0.mass
    }

    /// Of a thin sheet of 1 kg/m²; `None` if it has no area.
    pub(super) fn of_shell(mesh: &TriMesh) -> Option<Self> {
        MassProperties::of_shell(mesh, Matter::Density(1.0)).ok().map(Self)
    }

    /// Mass and principal moments at the given density [kg/m³].
    pub(super) fn mass_model(&self, density: f64) -> MassModel {
        let frame = self.0.principal();
        let axes = Mat3::from_quat(frame.pose.rotation);
        MassModel::new(self.0.mass * density, self.0.centre, frame.moments * density, axes)
    }
}

/// All meshes of the scene, in the order of the file; `None` for those with problems.
pub(super) fn meshes(
    table: &SceneTable,
    parameters: &[(String, f64)],
    files: &mut Files,
    log: &mut Log,
) -> Vec<Option<MeshEntry>> {
    let mut budget = MOST_ELEMENTS;
    let mut all = Vec::new();
    for (name, mesh) in &table.mesh.entries {
        let transform = transform(&mesh.transform.value, parameters, log);
        let made =
            entry(mesh, name.span, &mut budget, files, log).zip(transform).map(|(m, (t, similarity))| {
                let known = mesh.shape.as_ref().zip(similarity);
                let exact = known.and_then(|(shape, s)| exact(shape, s));
                let (ball, circle) =
                    known.map_or((None, None), |(shape, s)| (ball(shape, s), circle(shape, s)));
                MeshEntry { exact, ball, circle, ..judged(m, &t) }
            });
        all.push(made);
    }
    let made_anew: Vec<_> = (0..all.len()).map(|k| super::mesher::made_anew(table, &all, k, log)).collect();
    for (entry, new) in all.iter_mut().zip(made_anew) {
        match new {
            Some(Ok(mesh)) => {
                let exact = entry.take().and_then(|e| e.exact);
                *entry = Some(MeshEntry { exact, ..judged(mesh, &Affine3::IDENTITY) });
            }
            Some(Err(())) => *entry = None,
            None => {}
        }
    }
    all
}

/// Warns of meshes that do not appear.
pub(super) fn warn_of_unused(table: &SceneTable, log: &mut Log) {
    for (name, _) in &table.mesh.entries {
        let morphs = table.body.entries.iter().flat_map(|(_, body)| body.morph.iter().map(|m| &m.0));
        let bodies = table.body.entries.iter().map(|(_, body)| &body.mesh.0).chain(morphs);
        let cloths = table.cloth.entries.iter().map(|(_, cloth)| &cloth.mesh.0);
        let meshes = table.mesh.entries.iter().filter_map(|(_, mesh)| mesh.mesher.value.as_ref());
        let trims = meshes.filter_map(|m| m.trim.value.as_ref()).map(|trim| &trim.0);
        if !bodies.chain(cloths).chain(trims).any(|used| *used == name.value) {
            log.warning(name.span, format!("no body uses the mesh `{}`", name.value))
                .help(format!("add a body with mesh = \"{}\", or remove the mesh", name.value));
        }
    }
}

fn entry(
    table: &MeshTable,
    span: Span,
    budget: &mut f64,
    files: &mut Files,
    log: &mut Log,
) -> Option<AnyMesh> {
    match (&table.shape, &table.file.value) {
        (Some(shape), None) => generated(shape, span, budget, log),
        (None, Some(file)) => from_file(file, table, budget, files, log),
        (Some(_), Some(_)) => {
            log.error(table.file.span, "a mesh has either a `shape` or a `file`, not both");
            None
        }
        (None, None) => {
            log.error(span, "a mesh needs a `shape` or a `file`").help("for example shape = \"icosphere\"");
            None
        }
    }
}

/// Runs a generator, unless its result would be too large.
fn generated(shape: &ShapeTable, span: Span, budget: &mut f64, log: &mut Log) -> Option<AnyMesh> {
    let elements = shape.elements();
    if elements > *budget {
        let message = format!(
            "this mesh would have {elements:.0} elements; all meshes of a scene together may have {MOST_ELEMENTS:.0}"
        );
        log.error(span, message).help("use fewer segments");
        return None;
    }
    *budget -= elements;
    match shape.build() {
        Ok(mesh) => Some(mesh),
        Err(error) => {
            log.error(span, error.to_string());
            None
        }
    }
}

/// Reads a mesh file.
fn from_file(
    file: &PathText,
    table: &MeshTable,
    budget: &mut f64,
    files: &mut Files,
    log: &mut Log,
) -> Option<AnyMesh> {
    let span = table.file.span;
    let path = relative_to(&log.source(span.file).path, &file.0);
    let bytes = match files.read(&path) {
        Ok(bytes) => bytes,
        Err(e) => {
            log.error(span, format!("cannot read the mesh `{}`: {}", path.display(), reason(&e)))
                .help("paths are relative to the scene file they are written in");
            return None;
        }
    };
    let imported = match parse(&path, bytes) {
        Ok(imported) => imported,
        Err(message) => {
            log.error(span, message);
            return None;
        }
    };
    let triangles = imported.mesh.triangles.len() as f64;
    if triangles > *budget || triangles == 0.0 {
        let message = format!(
            "`{}` has {triangles:.0} triangles; all meshes of a scene together may have 1 to {MOST_ELEMENTS:.0}",
            path.display()
        );
        log.error(span, message);
        return None;
    }
    *budget -= triangles;
    for warning in &imported.warnings {
        log.warning(span, format!("{}: {warning}", path.display()));
    }
    let mut mesh = imported.mesh;
    let far = |p: &billow_num::Vec3| !(p.is_finite() && p.abs().max_element() < 1e9);
    if let Some(vertex) = mesh.positions.iter().position(far) {
        log.error(span, format!("vertex {vertex} of `{}` is {}", path.display(), mesh.positions[vertex]))
            .label("positions must be finite and below 1e9 m");
        return None;
    }
    if let Some(distance) = table.weld.value
        && let Err(error) = billow_geom::mesh::repair::repair(&mut mesh, distance)
    {
        log.error(table.weld.span, error.to_string());
        return None;
    }
    if mesh.triangles.is_empty() {
        log.error(table.weld.span, format!("welding leaves no triangle of `{}`", path.display()))
            .help("use a smaller `weld`");
        return None;
    }
    warn_of_faults(&mesh, &path, span, log);
    Some(AnyMesh::Triangles(mesh))
}

/// Warns of faults that do not keep a mesh from being shown.
fn warn_of_faults(mesh: &TriMesh, path: &Path, span: Span, log: &mut Log) {
    let report = MeshReport::new(mesh);
    let faults = [
        (report.out_of_range.len(), "triangles with missing vertices"),
        (report.repeated_index.len() + report.zero_area.len(), "triangles without area"),
        (report.duplicate_triangles.len(), "triangles that are there twice"),
        (report.duplicate_vertices.len(), "vertices that are there twice"),
        (report.non_manifold_edges.len(), "edges of more than two triangles"),
        (report.inconsistent_edges.len(), "edges whose triangles disagree about outside"),
        (report.inside_out.len(), "closed parts turned inside out"),
    ];
    let found = counted(&faults);
    if !found.is_empty() {
        log.warning(span, format!("`{}` has {found}", path.display()))
            .help("`weld = 0` joins equal vertices, drops useless triangles and turns the rest outward");
    }
}

fn parse(path: &Path, bytes: &[u8]) -> Result<billow_io::formats::ImportedMesh, String> {
    billow_io::formats::parse_mesh(path, bytes).map_err(|e| e.to_string())
}

/// Turn and place, and the one factor of the scale.
type Similarity = (Pose, f64);

fn transform(
    table: &TransformTable,
    parameters: &[(String, f64)],
    log: &mut Log,
) -> Option<(Affine3, Option<Similarity>)> {
    let rotation = match &table.rotate.value {
        Some(rotation) => fixed_rotation(rotation, table.rotate.span, parameters, log)?,
        None => Quat::IDENTITY,
    };
    let (scale, translate) = (table.scale.value.0, table.translate.value);
    let similar = scale == billow_num::Vec3::splat(scale.x);
    let similarity = similar.then_some((Pose { position: translate, rotation }, scale.x));
    Some((Affine3::from_scale_rotation_translation(scale, rotation, translate), similarity))
}

/// The exact distance of a generated shape.
fn exact(shape: &ShapeTable, (pose, scale): Similarity) -> Option<Exact> {
    let (shape, roundness): (Arc<dyn Collider>, f64) = shape.exact()?;
    let body = Scaled::new(shape, scale).ok()?;
    Some(Exact { shape: Arc::new(Moving { body, motion: pose }), roundness: roundness * scale })
}

/// The ball that a generated mesh stands for.
fn ball(shape: &ShapeTable, (pose, scale): Similarity) -> Option<(Vec3, f64)> {
    match shape {
        ShapeTable::Icosphere { radius, .. } | ShapeTable::Sphere { radius, .. } => {
            Some((pose.position, scale * radius.value))
        }
        _ => None,
    }
}

/// The centre line of a generated ring.
fn circle(shape: &ShapeTable, (pose, scale): Similarity) -> Option<Circle> {
    let radius = match shape {
        ShapeTable::Torus { radius, .. } => radius.value,
        ShapeTable::Ring { inner_radius, outer_radius, .. } => {
            0.5 * (inner_radius.value + outer_radius.value)
        }
        _ => return None,
    };
    Some(Circle { centre: pose.position, normal: pose.vector(Vec3::Z), radius: scale * radius })
}

/// Places the mesh and finds out whether it bounds a solid.
fn judged(mesh: AnyMesh, transform: &Affine3) -> MeshEntry {
    match mesh {
        AnyMesh::Triangles(mesh) => {
            let mesh = mesh.transformed(transform);
            let solid = MassProperties::of_solid(&mesh, Matter::Density(1.0)).ok().map(Solid);
            let open_reason = if solid.is_none() { why_not_solid(&mesh) } else { String::new() };
            let (positions, triangles) = (Arc::new(mesh.positions), Arc::new(mesh.triangles));
            MeshEntry::plain(Shape::Triangles { positions, triangles }, solid, open_reason)
        }
        AnyMesh::Tets(mesh) => {
            let mesh = mesh.transformed(transform);
            let properties = MassProperties::of_tets(&mesh, Matter::Density(1.0));
            let open_reason = properties.as_ref().err().map_or(String::new(), ToString::to_string);
            let shape = Shape::Tets { positions: Arc::new(mesh.positions), tets: Arc::new(mesh.tets) };
            MeshEntry::plain(shape, properties.ok().map(Solid), open_reason)
        }
    }
}

/// Why a surface bounds no solid, in words.
fn why_not_solid(mesh: &TriMesh) -> String {
    let report = MeshReport::new(mesh);
    let faults = [
        (report.boundary_edges.len(), "open edges"),
        (report.non_manifold_edges.len(), "edges of more than two triangles"),
        (report.inconsistent_edges.len(), "edges whose triangles disagree about outside"),
        (report.inside_out.len(), "parts turned inside out"),
    ];
    let found = counted(&faults);
    if found.is_empty() { "no volume".into() } else { found }
}

/// The faults that occur, with their numbers.
fn counted(faults: &[(usize, &str)]) -> String {
    let found: Vec<String> =
        faults.iter().filter(|f| f.0 > 0).map(|(count, what)| format!("{count} {what}")).collect();
    found.join(", ")
}
