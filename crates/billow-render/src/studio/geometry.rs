//! Shapes from the objects of a frame, checked; unchanged meshes keep their hierarchy from frame to frame.

use super::survey::Kind;
use super::{Fog, GridKind, Object, Placement, Quat, Record, Shape, Surface, Vec3};
use crate::shape::capsules::Capsules;
use crate::shape::levelset::LevelSet;
use crate::shape::spheres::Spheres;
use crate::shape::triangles::{MeshSource, Smooth, Triangles};
use billow_geom::mesh::TetTopology;
use billow_io::{Domain, Grid, Shape as Stored, Values};
use billow_num::par;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An object while the shutter is open.
pub(super) struct Moment<'a> {
    pub(super) object: &'a Object,
    /// The same object in the frame before.
    pub(super) earlier: Option<&'a Object>,
    /// Share of the time between frames with the shutter open.
    pub(super) shutter: f32,
    /// Time between the frames [s].
    pub(super) interval: f64,
    /// Origin of the tracer's coordinates.
    pub(super) origin: billow_num::Vec3,
}

/// Lengths that shapes without a thickness of their own take.
pub(super) struct Sizes<'a> {
    pub(super) subject: f32,
    pub(super) surface: &'a Surface,
}

/// Arrays a shape was made from, and the shape.
#[derive(Debug)]
struct Entry {
    positions: Arc<Vec<billow_num::Vec3>>,
    elements: Elements,
    smooth: Smooth,
    cut: Option<billow_num::Vec3>,
    /// Origin of the coordinates that the shape is in.
    origin: billow_num::Vec3,
    shape: Arc<Shape>,
    used: bool,
}

#[derive(Clone, Debug)]
enum Elements {
    Triangles(Arc<Vec<[u32; 3]>>),
    Tets(Arc<Vec<[u32; 4]>>),
}

impl Elements {
    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Triangles(a), Self::Triangles(b)) => Arc::ptr_eq(a, b),
            (Self::Tets(a), Self::Tets(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

/// Triangles of a mesh; those from the second number on were laid open by a cut.
type Facets = (Vec<[u32; 3]>, usize);
/// Tetrahedra and the triangles of their skin.
type Skin = (Arc<Vec<[u32; 4]>>, Facets);

/// Meshes of the last frame, shared by bodies of the same shape.
#[derive(Debug, Default)]
pub(super) struct Cache {
    entries: Vec<Entry>,
    /// Skins of tetrahedra by object.
    skins: BTreeMap<String, Skin>,
}

impl Cache {
    /// The shape of an object; none if it has nothing to show.
    pub(super) fn shape(
        &mut self,
        moment: &Moment<'_>,
        record: &Record,
        sizes: &Sizes<'_>,
    ) -> Result<Option<Arc<Shape>>, String> {
        match &moment.object.shape {
            Stored::Triangles { positions, triangles } => {
                self.mesh(moment, record, sizes, positions, &Elements::Triangles(Arc::clone(triangles)))
            }
            Stored::Tets { positions, tets } => {
                self.mesh(moment, record, sizes, positions, &Elements::Tets(Arc::clone(tets)))
            }
            Stored::Points { positions } => points(moment, sizes, positions),
            Stored::Lines { positions, segments } => lines(moment, sizes, positions, segments),
            Stored::Grid(grid) => level_set(moment, sizes, grid),
        }
    }

    /// Drops the meshes that the last frame did not show.
    pub(super) fn forget_unused(&mut self) {
        self.entries.retain_mut(|entry| std::mem::take(&mut entry.used));
    }

    fn mesh(
        &mut self,
        moment: &Moment<'_>,
        record: &Record,
        sizes: &Sizes<'_>,
        positions: &Arc<Vec<billow_num::Vec3>>,
        elements: &Elements,
    ) -> Result<Option<Arc<Shape>>, String> {
        let smooth = match (sizes.surface.flat, record.kind) {
            (true, _) => Smooth::Nowhere,
            (false, Kind::Deforming) => Smooth::Everywhere,
            (false, _) => Smooth::BelowCrease,
        };
        let cut = sizes.surface.cut.map(billow_num::Vec3::from_array);
        let origin = moment.shape_origin();
        let displacements = moment.displacements(positions)?;
        let known = |e: &&mut Entry| {
            Arc::ptr_eq(&e.positions, positions)
                && e.elements.same(elements)
                && e.smooth == smooth
                && e.cut == cut
                && e.origin == origin
        };
        if displacements.is_empty()
            && let Some(entry) = self.entries.iter_mut().find(known)
        {
            entry.used = true;
            return Ok(Some(Arc::clone(&entry.shape)));
        }
        let reference = record.reference.as_ref().filter(|r| r.len() == positions.len()).unwrap_or(positions);
        let (triangles, cut_from) = self.triangles(&moment.object.name, elements, reference, cut)?;
        if triangles.is_empty() {
            return Ok(None);
        }
        let still = displacements.is_empty();
        let material = material_coordinates(moment.object, record, positions)?;
        let opened = opening_positions(moment, positions, &displacements)?;
        let source = MeshSource { positions: opened, displacements, triangles, material, cut_from, smooth };
        let shape = Arc::new(Shape::Triangles(Triangles::new(source)));
        if still {
            let entry = Entry {
                positions: Arc::clone(positions),
                elements: elements.clone(),
                smooth,
                cut,
                origin,
                shape: Arc::clone(&shape),
                used: true,
            };
            self.entries.push(entry);
        }
        Ok(Some(shape))
    }

    /// Checked corner indices; the skin of tetrahedra, or of those behind the cut.
    fn triangles(
        &mut self,
        name: &str,
        elements: &Elements,
        reference: &[billow_num::Vec3],
        cut: Option<billow_num::Vec3>,
    ) -> Result<Facets, String> {
        let vertices = reference.len();
        let range = |worst: Option<u32>| match worst {
            Some(v) if v as usize >= vertices => Err(format!("an element names vertex {v} of {vertices}")),
            _ => Ok(()),
        };
        match elements {
            Elements::Triangles(triangles) => {
                range(triangles.iter().flatten().max().copied())?;
                Ok((triangles.to_vec(), usize::MAX))
            }
            Elements::Tets(tets) => {
                range(tets.iter().flatten().max().copied())?;
                if let Some((known, skin)) = self.skins.get(name)
                    && Arc::ptr_eq(known, tets)
                {
                    return Ok(skin.clone());
                }
                let whole = skin(vertices, tets)?;
                let facets = match cut {
                    Some(normal) => cut_open(&whole, tets, reference, normal)?,
                    None => (whole, usize::MAX),
                };
                self.skins.insert(name.into(), (Arc::clone(tets), facets.clone()));
                Ok(facets)
            }
        }
    }
}

/// Outward faces of tetrahedra that no two share.
fn skin(vertices: usize, tets: &[[u32; 4]]) -> Result<Vec<[u32; 3]>, String> {
    let topology = TetTopology::new(vertices, tets).map_err(|e| e.to_string())?;
    Ok(topology.boundary_faces().iter().map(|f| topology.faces()[*f as usize]).collect())
}

/// The skin of the tetrahedra behind a plane through the middle: first what belongs to the `whole` skin, then the cut.
fn cut_open(
    whole: &[[u32; 3]],
    tets: &[[u32; 4]],
    reference: &[billow_num::Vec3],
    normal: billow_num::Vec3,
) -> Result<Facets, String> {
    let used = whole.iter().flatten().map(|v| &reference[*v as usize]);
    let middle = billow_geom::Aabb::of_points(used).centre();
    let behind =
        |t: &&[u32; 4]| t.iter().map(|v| (reference[*v as usize] - middle).dot(normal)).sum::<f64>() < 0.0;
    let kept: Vec<[u32; 4]> = tets.iter().filter(behind).copied().collect();
    let sorted = |t: &[u32; 3]| {
        let mut t = *t;
        t.sort_unstable();
        t
    };
    let outer: std::collections::BTreeSet<[u32; 3]> = whole.iter().map(sorted).collect();
    let faces = skin(reference.len(), &kept)?;
    let (mut facets, open): (Vec<[u32; 3]>, Vec<_>) = faces.iter().partition(|f| outer.contains(&sorted(f)));
    let cut_from = facets.len();
    facets.extend(open);
    Ok((facets, cut_from))
}

impl Moment<'_> {
    /// Whether the object stays in its own coordinates, so that its points are moved to the tracer's here.
    fn deforms_in_place(&self) -> bool {
        self.object.pose == billow_num::Pose::IDENTITY
    }

    /// Origin of the coordinates that the object's shape is traced in.
    fn shape_origin(&self) -> billow_num::Vec3 {
        if self.deforms_in_place() { self.origin } else { billow_num::Vec3::ZERO }
    }

    /// Placement when the shutter opens and closes.
    pub(super) fn placements(&self) -> [Placement; 2] {
        if self.deforms_in_place() {
            return [Placement::IDENTITY; 2];
        }
        let place = |object: &Object| {
            let q = object.pose.rotation;
            Placement {
                rotation: Quat::from_xyzw(q.x as f32, q.y as f32, q.z as f32, q.w as f32).normalize(),
                position: (object.pose.position - self.origin).as_vec3a(),
            }
        };
        let closed = place(self.object);
        match self.earlier {
            Some(earlier) if self.shutter > 0.0 => [closed.towards(&place(earlier), self.shutter), closed],
            _ => [closed; 2],
        }
    }

    /// How far the points move while the shutter is open: by their velocities if they have any, else from where they
    /// were in the frame before. Empty if nothing moves.
    fn displacements(&self, positions: &Arc<Vec<billow_num::Vec3>>) -> Result<Vec<[f32; 3]>, String> {
        if self.shutter == 0.0 {
            return Ok(Vec::new());
        }
        if let Some(velocity) = vector_attribute(self.object, "velocity", positions.len())? {
            let seconds = self.shutter * self.interval as f32;
            if velocity.iter().flatten().all(|v| *v == 0.0) || seconds <= 0.0 {
                return Ok(Vec::new());
            }
            if !velocity.iter().flatten().all(|v| v.is_finite()) {
                return Err("a velocity is not a finite number".into());
            }
            return Ok(velocity.iter().map(|v| v.map(|c| c * seconds)).collect());
        }
        let before = match self.earlier.map(|o| &o.shape) {
            Some(
                Stored::Triangles { positions, .. }
                | Stored::Tets { positions, .. }
                | Stored::Lines { positions, .. },
            ) => positions,
            _ => return Ok(Vec::new()),
        };
        if Arc::ptr_eq(before, positions) || before.len() != positions.len() || before == positions {
            return Ok(Vec::new());
        }
        let moved = |k: usize| ((positions[k] - before[k]) * f64::from(self.shutter)).as_vec3().to_array();
        Ok(par::map(positions.len(), moved))
    }
}

/// Points when the shutter opens, in single precision, in the tracer's or the body's coordinates.
fn opening_positions(
    moment: &Moment<'_>,
    positions: &[billow_num::Vec3],
    displacements: &[[f32; 3]],
) -> Result<Vec<[f32; 3]>, String> {
    let shift = moment.shape_origin();
    let opened = par::map(positions.len(), |k| {
        let x = (positions[k] - shift).as_vec3();
        displacements.get(k).map_or(x, |d| x - glam::Vec3::from_array(*d)).to_array()
    });
    match opened.iter().position(|p| !p.iter().all(|c| c.is_finite())) {
        Some(k) => {
            Err(format!("vertex {k} is at {:?}, which is not a finite position", positions[k].to_array()))
        }
        None => Ok(opened),
    }
}

/// Material coordinates: texture coordinates, or the reference points; empty means the points themselves.
fn material_coordinates(
    object: &Object,
    record: &Record,
    positions: &Arc<Vec<billow_num::Vec3>>,
) -> Result<Vec<[f32; 3]>, String> {
    if let Some(uv) = vector_attribute(object, "uv", positions.len())? {
        return Ok(uv.to_vec());
    }
    match &record.reference {
        Some(reference) if reference.len() == positions.len() => {
            Ok(par::map(reference.len(), |k| reference[k].as_vec3().to_array()))
        }
        _ => Ok(par::map(positions.len(), |k| positions[k].as_vec3().to_array())),
    }
}

fn vector_attribute<'a>(
    object: &'a Object,
    name: &str,
    count: usize,
) -> Result<Option<&'a [[f32; 3]]>, String> {
    let found = object.attributes.iter().find(|a| a.name == name && a.domain == Domain::Vertex);
    match found.map(|a| &a.values) {
        Some(Values::Vector(values)) if values.len() == count => Ok(Some(values)),
        Some(Values::Vector(values)) => {
            Err(format!("attribute `{name}` has {} values for {count} vertices", values.len()))
        }
        _ => Ok(None),
    }
}

fn scalar_attribute<'a>(object: &'a Object, name: &str, count: usize) -> Option<&'a [f32]> {
    let found = object.attributes.iter().find(|a| a.name == name && a.domain == Domain::Vertex);
    match found.map(|a| &a.values) {
        Some(Values::Scalar(values)) if values.len() == count => Some(values),
        _ => None,
    }
}

fn points(
    moment: &Moment<'_>,
    sizes: &Sizes<'_>,
    positions: &Arc<Vec<billow_num::Vec3>>,
) -> Result<Option<Arc<Shape>>, String> {
    if positions.is_empty() {
        return Ok(None);
    }
    let displacements = moment.displacements(positions)?;
    let centres = opening_positions(moment, positions, &displacements)?;
    let radii = match (sizes.surface.radius, scalar_attribute(moment.object, "radius", positions.len())) {
        (Some(radius), _) => vec![radius as f32],
        (None, Some(radii)) if radii.iter().all(|r| r.is_finite() && *r >= 0.0) => radii.to_vec(),
        (None, Some(_)) => return Err("attribute `radius` holds a value that is no radius".into()),
        (None, None) => vec![spacing(&centres, sizes.subject)],
    };
    Ok(Some(Arc::new(Shape::Spheres(Spheres::new(centres, displacements, &radii)))))
}

/// A radius at which evenly spread points just fail to touch.
fn spacing(centres: &[[f32; 3]], subject: f32) -> f32 {
    let bounds = crate::bvh::Bounds::of(centres.iter().map(|c| Vec3::from_array(*c)));
    let size = (bounds.hi - bounds.lo).max(Vec3::splat(0.02 * subject));
    let each = size.x * size.y * size.z / centres.len() as f32;
    (0.35 * each.cbrt()).clamp(1e-4 * subject, 0.05 * subject)
}

fn lines(
    moment: &Moment<'_>,
    sizes: &Sizes<'_>,
    positions: &Arc<Vec<billow_num::Vec3>>,
    segments: &[[u32; 2]],
) -> Result<Option<Arc<Shape>>, String> {
    if segments.is_empty() {
        return Ok(None);
    }
    if let Some(v) = segments.iter().flatten().find(|v| **v as usize >= positions.len()) {
        return Err(format!("a segment names vertex {v} of {}", positions.len()));
    }
    let displacements = moment.displacements(positions)?;
    let opened = opening_positions(moment, positions, &displacements)?;
    let pick = |list: &[[f32; 3]]| -> Vec<[Vec3; 2]> {
        segments.iter().map(|s| s.map(|v| Vec3::from_array(list[v as usize]))).collect()
    };
    let motion = if displacements.is_empty() { Vec::new() } else { pick(&displacements) };
    let radius = sizes.surface.radius.map_or(0.006 * sizes.subject, |r| r as f32);
    Ok(Some(Arc::new(Shape::Capsules(Capsules::new(pick(&opened), motion, radius)))))
}

/// Checks a grid; returns its nodes along each axis.
fn checked_dims(grid: &Grid) -> Result<[usize; 3], String> {
    let dims = grid.dims.map(|n| n as usize);
    let nodes = dims.iter().try_fold(1usize, |n, d| n.checked_mul(*d)).unwrap_or(usize::MAX);
    if dims.iter().any(|n| *n < 2) {
        return Err(format!("a grid of {dims:?} nodes; it needs at least two along each axis"));
    }
    if nodes != grid.values.len() {
        return Err(format!("a grid of {dims:?} nodes has {} values", grid.values.len()));
    }
    if !(grid.spacing > 0.0 && grid.spacing.is_finite() && grid.origin.is_finite()) {
        return Err(format!("a grid at {:?} with spacing {}", grid.origin.to_array(), grid.spacing));
    }
    match grid.values.iter().position(|v| !v.is_finite()) {
        Some(k) => Err(format!("grid value {k} is {}", grid.values[k])),
        None => Ok(dims),
    }
}

fn kind_of(grid: &Grid, surface: &Surface) -> GridKind {
    let signed = || grid.values.iter().any(|v| *v < 0.0);
    surface.grid.unwrap_or_else(|| if signed() { GridKind::Surface } else { GridKind::Fog })
}

/// Where a grid's first node is in the tracer's coordinates, or in the object's own if that is placed.
fn grid_origin(moment: &Moment<'_>, grid: &Grid) -> Vec3 {
    let shift = if moment.deforms_in_place() { moment.origin } else { billow_num::Vec3::ZERO };
    (grid.origin - shift).as_vec3a()
}

fn level_set(moment: &Moment<'_>, sizes: &Sizes<'_>, grid: &Grid) -> Result<Option<Arc<Shape>>, String> {
    let dims = checked_dims(grid)?;
    let noise = sizes.surface.noise.unwrap_or(0.0) as f32;
    let set = LevelSet::new(grid_origin(moment, grid), grid.spacing as f32, dims, &grid.values, noise);
    Ok(Some(Arc::new(Shape::LevelSet(set))))
}

/// The fog of an object, if it is one.
pub(super) fn fog(moment: &Moment<'_>, surface: &Surface) -> Result<Option<Fog>, String> {
    let Stored::Grid(grid) = &moment.object.shape else { return Ok(None) };
    if kind_of(grid, surface) == GridKind::Surface {
        return Ok(None);
    }
    let dims = checked_dims(grid)?;
    if !moment.deforms_in_place() {
        return Err("a fog with a rigid placement cannot be shown; give its grid in world coordinates".into());
    }
    let size = dims.iter().max().map_or(1.0, |n| *n as f64) * grid.spacing;
    let most = grid.values.iter().fold(0.0f32, |a, v| a.max(*v));
    if most <= 0.0 {
        return Ok(None);
    }
    // By default the densest fog swallows light within a thirtieth of the grid's size.
    let density = surface.density.unwrap_or(30.0 / (size * f64::from(most))) as f32;
    let extinction = grid.values.iter().map(|v| v.max(0.0) * density).collect();
    let albedo = surface.colour.map_or(Vec3::splat(0.92), |c| Vec3::from_array(c.0));
    let anisotropy = surface.anisotropy.unwrap_or(0.2) as f32;
    Ok(Some(Fog::new(grid_origin(moment, grid), grid.spacing as f32, dims, extinction, albedo, anisotropy)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_num::Vec3;

    #[test]
    fn a_cut_through_a_box_lays_its_section_open() {
        let mesh = billow_geom::shapes::tet_box(Vec3::new(2.0, 1.0, 1.0), [4, 2, 2]).unwrap();
        let whole = skin(mesh.positions.len(), &mesh.tets).unwrap();
        let (facets, cut_from) = cut_open(&whole, &mesh.tets, &mesh.positions, Vec3::X).unwrap();
        let at = |v: u32| mesh.positions[v as usize];
        // Half of the box is left: its outside, and a section across x that closes it and faces the plane's normal.
        let middle = 0.5 * (mesh.bounds().min.x + mesh.bounds().max.x);
        assert!(facets.iter().flatten().all(|v| at(*v).x < middle + 1e-12));
        assert!(facets[..cut_from].iter().all(|f| whole.contains(f)));
        let area = |f: &[u32; 3]| 0.5 * (at(f[1]) - at(f[0])).cross(at(f[2]) - at(f[0]));
        let section: Vec3 = facets[cut_from..].iter().map(area).sum();
        assert!((section - Vec3::X).length() < 1e-12, "{section}");
    }
}
