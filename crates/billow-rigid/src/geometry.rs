//! The shape many bodies share: surface, samples, signed distance and mass per density ([Bri03] 4.3).
//!
//! Everything is kept in the body frame: centre of mass at the origin, axes along the principal directions, so
//! the inertia tensor is diagonal. [`Geometry::frame`] leads back to the coordinates the mesh was given in.

use crate::RigidError;
use crate::bend::{Bend, Patch};
use crate::convex::Convex;
use crate::field::{Field, Grid};
use crate::samples::Samples;
use crate::slope::Slope;
use billow_contact::Shape;
use billow_geom::mass::{MassProperties, Matter};
use billow_geom::{Aabb, TriMesh};
use billow_levelset::{
    Centring, Collider, Lattice, March, MeshToSdf, Refinement, mesh_to_dense, mesh_to_octree, mesh_to_sparse,
};
use billow_num::{Mat3, Pose, Quat, Vec3};
use std::sync::{Arc, OnceLock};

/// How the signed distance of a mesh that is not convex is stored ([Bri03] 4.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Storage {
    /// By the samples that a full lattice would have: uniform up to 8 million, an octree up to 64 million, sparse blocks
    /// beyond.
    #[default]
    Automatic,
    /// A full lattice: fastest to ask.
    Uniform,
    /// An octree refined at the surface: knows how deep a point is anywhere inside, if coarsely.
    Octree,
    /// Blocks around the surface: smallest and soonest built, but nothing is deeper than three samples in it.
    Sparse,
}

impl Storage {
    /// What is used where a full lattice would have that many samples: itself, or what [`Self::Automatic`] chooses.
    pub fn for_samples(self, samples: f64) -> Self {
        match self {
            Self::Automatic if samples <= UNIFORM_LIMIT => Self::Uniform,
            Self::Automatic if samples <= OCTREE_LIMIT => Self::Octree,
            Self::Automatic => Self::Sparse,
            asked => asked,
        }
    }
}

/// How a mesh becomes a shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Distance between samples of φ [m]; zero chooses 1/96 of the longest side of the bounding box.
    pub spacing: f64,
    /// How φ is stored.
    pub storage: Storage,
}

impl Default for Settings {
    fn default() -> Self {
        Self { spacing: 0.0, storage: Storage::Automatic }
    }
}

/// Samples along the longest side unless told otherwise.
const DEFAULT_SAMPLES: f64 = 96.0;
/// Largest uniform grid chosen automatically [samples].
const UNIFORM_LIMIT: f64 = 8e6;
/// Largest full lattice in whose place an octree is chosen automatically [samples]. It takes up to 8 s to build there and
/// 0.9 GB meanwhile; at four times the samples 22 s and 2 GB.
const OCTREE_LIMIT: f64 = 64e6;
/// Samples of φ kept around the surface.
const BORDER: f64 = 3.0;

/// A shape in its body frame.
#[derive(Clone, Debug)]
pub struct Geometry {
    pub(crate) mesh: TriMesh,
    pub(crate) frame: Pose,
    pub(crate) samples: Samples,
    /// None for thin shells, which have no inside.
    pub(crate) field: Option<Field>,
    pub(crate) convex: Option<Convex>,
    /// What surfaces without an inside meet; of a ball, its centre.
    pub(crate) outline: Shape,
    /// Radius of the ball if it is one [m].
    pub(crate) ball: f64,
    pub(crate) bounds: Aabb,
    pub(crate) radius: f64,
    pub(crate) depth: f64,
    pub(crate) skin: f64,
    pub(crate) slope: Slope,
    /// How the surface bends, measured when something first rolls on it.
    bend: OnceLock<Option<Bend>>,
    unit: UnitMass,
}

/// Mass properties at density one.
#[derive(Clone, Copy, Debug)]
struct UnitMass {
    measure: f64,
    moments: Vec3,
}

impl Geometry {
    /// A solid from a closed mesh that is oriented outward. Convex ones are recognised.
    ///
    /// # Errors
    /// When the mesh does not bound a solid or its signed distance cannot be stored.
    pub fn solid(mesh: &TriMesh, settings: &Settings) -> Result<Self, RigidError> {
        let properties = MassProperties::of_solid(mesh, Matter::Density(1.0))?;
        let mut shape = Self::bare(mesh, &properties)?;
        let topology = shape.mesh.topology()?;
        shape.convex = Convex::of_mesh(&shape.mesh, &topology);
        if let Some(convex) = &shape.convex {
            shape.depth = convex.inner_radius();
            shape.field = Some(Field::Planes(convex.planes.clone()));
        } else {
            shape.sample_distance(settings)?;
            let fine = FINE * shape.depth;
            shape.samples = Samples::of_mesh(&shape.mesh, &topology, fine);
        }
        Ok(shape)
    }

    /// A ball, exact in every query; the mesh is only what is seen.
    ///
    /// # Errors
    /// When the radius [m] is not positive.
    pub fn ball(radius: f64) -> Result<Self, RigidError> {
        let mesh = billow_geom::shapes::icosphere(radius, 8)?;
        let properties = MassProperties::of_solid(&mesh, Matter::Density(1.0))?;
        let mut shape = Self::bare(&mesh, &properties)?;
        let volume = 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3);
        shape.unit = UnitMass { measure: volume, moments: Vec3::splat(0.4 * volume * radius * radius) };
        shape.bounds = Aabb { min: Vec3::splat(-radius), max: Vec3::splat(radius) };
        (shape.ball, shape.radius, shape.depth) = (radius, radius, radius);
        shape.samples = Samples::centre();
        shape.field = Some(Field::Ball(radius));
        shape.outline = Shape::point();
        Ok(shape)
    }

    /// A solid whose signed distance is known: an analytic shape, octree or grid in the coordinates of `mesh`.
    ///
    /// # Errors
    /// When the mesh does not bound a solid.
    pub fn with_distance(mesh: &TriMesh, solid: Arc<dyn Collider>) -> Result<Self, RigidError> {
        let properties = MassProperties::of_solid(mesh, Matter::Density(1.0))?;
        let mut shape = Self::bare(mesh, &properties)?;
        let moved = billow_levelset::Moving { body: solid, motion: shape.frame.inverse() };
        shape.depth = shape.mesh.positions.iter().map(|x| x.length()).fold(f64::INFINITY, f64::min);
        shape.field = Some(Field::Solid(Arc::new(moved)));
        Ok(shape)
    }

    /// A thin shell: a surface with mass per area and no inside ([Gue06] 2.14), a five-hundredth of its longest side
    /// thick.
    ///
    /// # Errors
    /// When the mesh has no area or names missing vertices.
    pub fn shell(mesh: &TriMesh) -> Result<Self, RigidError> {
        Self::thin(mesh, mesh.bounds().size().max_element() / 500.0)
    }

    /// A thin shell that others keep half of `thickness` [m] away from, on either side. It must not be so thin that
    /// rounding or a push could lead through it: a thousandth of its size is enough.
    ///
    /// # Errors
    /// When the mesh has no area or names missing vertices, or the thickness is not positive.
    pub fn thin(mesh: &TriMesh, thickness: f64) -> Result<Self, RigidError> {
        if !(thickness > 0.0 && thickness.is_finite()) {
            let (of, name) = ("thin shell".into(), "thickness");
            return Err(RigidError::Parameter { of, name, value: thickness, allowed: "positive and finite" });
        }
        let mut shape = Self::bare(mesh, &MassProperties::of_shell(mesh, Matter::Density(1.0))?)?;
        shape.skin = 0.5 * thickness;
        shape.depth = shape.depth.max(FLAT * shape.radius);
        Ok(shape)
    }

    fn bare(mesh: &TriMesh, properties: &MassProperties) -> Result<Self, RigidError> {
        let (frame, moments) = body_frame(properties);
        let back = frame.inverse();
        let positions = mesh.positions.iter().map(|x| back.point(*x)).collect();
        let mesh = TriMesh { positions, triangles: mesh.triangles.clone() };
        let topology = mesh.topology()?;
        let samples = Samples::of_mesh(&mesh, &topology, 0.0);
        let outline = Shape::new(&mesh)?;
        let radius = mesh.positions.iter().map(|x| x.length()).fold(0.0, f64::max);
        let bounds = mesh.bounds();
        let unit = UnitMass { measure: properties.mass, moments };
        let depth = 0.5 * bounds.size().min_element();
        Ok(Self {
            mesh,
            frame,
            samples,
            field: None,
            convex: None,
            outline,
            ball: 0.0,
            bounds,
            radius,
            depth,
            skin: 0.0,
            slope: Slope::uniform(1.0),
            bend: OnceLock::new(),
            unit,
        })
    }

    fn sample_distance(&mut self, settings: &Settings) -> Result<(), RigidError> {
        let size = self.bounds.size();
        let h = if settings.spacing > 0.0 { settings.spacing } else { size.max_element() / DEFAULT_SAMPLES };
        let domain = self.bounds.inflated(BORDER * h);
        let samples = (domain.size() / h).to_array().iter().product::<f64>();
        // Sharp edges are rounded off by about an eighth of a sample: keep that much apart.
        self.skin = SKIN * h;
        self.slope = Slope::uniform(3f64.sqrt());
        let field = match settings.storage.for_samples(samples) {
            Storage::Automatic | Storage::Uniform => {
                let lattice = Lattice::covering(domain, h, Centring::Node)?;
                let grid = Grid::new(&mesh_to_dense(&self.mesh, lattice, &March::default())?.0);
                self.depth = -grid.lowest();
                self.slope = Slope::of_samples(&grid, &self.mesh);
                Field::Grid(grid)
            }
            Storage::Octree => {
                let (tree, _) = mesh_to_octree(&self.mesh, &Refinement::at_surface(h), BORDER * h)?;
                self.depth = -tree.lowest();
                Field::Solid(Arc::new(tree))
            }
            Storage::Sparse => {
                let (blocks, _) = mesh_to_sparse(&self.mesh, &MeshToSdf::with_spacing(h))?;
                // What comes deeper than the band is lost: no more than the band counts as thickness.
                self.depth = -f64::from(blocks.values().iter().copied().fold(f32::INFINITY, f32::min));
                Field::Solid(Arc::new(blocks))
            }
        };
        self.field = Some(field);
        Ok(())
    }

    /// Mass [kg] and principal moments [kg·m²] for an amount of matter.
    pub(crate) fn mass(&self, matter: Matter) -> (f64, Vec3) {
        let density = match matter {
            Matter::Density(d) => d,
            Matter::Mass(m) => m / self.unit.measure,
        };
        (density * self.unit.measure, density * self.unit.moments)
    }

    /// The surface in the body frame.
    pub fn mesh(&self) -> &TriMesh {
        &self.mesh
    }

    /// Pose of the body frame in the coordinates the mesh was given in.
    pub fn frame(&self) -> &Pose {
        &self.frame
    }

    /// Radius of the sphere about the centre of mass that holds the shape [m].
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Half its thickness: the radius of the largest ball inside, where it is known [m].
    pub fn depth(&self) -> f64 {
        self.depth
    }

    /// Whether the shape was recognised as a convex polyhedron.
    pub fn is_convex(&self) -> bool {
        self.convex.is_some()
    }

    /// Whether the shape has an inside.
    pub fn is_solid(&self) -> bool {
        self.field.is_some()
    }

    /// Signed distance at a point of the body frame [m]; infinite for shells.
    pub fn phi(&self, x: Vec3) -> f64 {
        self.field.as_ref().map_or(f64::INFINITY, |f| f.phi(x))
    }

    /// The surface at its point nearest to `x`, touched along the outward unit vector `n`, both in the body frame.
    pub(crate) fn patch(&self, x: Vec3, n: Vec3) -> Patch {
        if self.ball > 0.0 {
            return Patch::of_ball(self.ball, n);
        }
        let measured = || self.mesh.topology().ok().map(|t| Bend::of_mesh(&self.mesh, &t, self.radius));
        let flat = Patch { normal: n, bend: Mat3::ZERO };
        self.bend.get_or_init(measured).as_ref().map_or(flat, |bend| bend.at(&self.mesh, x, n))
    }

    /// Bytes of a uniform grid of φ, zero for other forms.
    pub fn grid_bytes(&self) -> usize {
        if let Some(Field::Grid(g)) = &self.field { g.bytes() } else { 0 }
    }

    /// Box of the shape at a pose.
    pub(crate) fn bounds_at(&self, pose: &Pose) -> Aabb {
        let r = pose.matrix();
        let half = 0.5 * self.bounds.size();
        let extent = r.x_axis.abs() * half.x + r.y_axis.abs() * half.y + r.z_axis.abs() * half.z;
        let centre = pose.point(self.bounds.centre());
        Aabb { min: centre - extent, max: centre + extent }
    }
}

/// Part of its radius that counts as half the thickness of a flat shell at least: steps are divided by it.
const FLAT: f64 = 0.1;
/// Height above their chord of edges that are left out, in half thicknesses.
const FINE: f64 = 1e-2;
/// Part of a sample of φ by which bodies are kept apart: trilinear samples cut sharp edges by at most about a tenth, and a
/// tenth of the distance kept is not pushed apart while bodies move.
const SKIN: f64 = 0.11;

/// The principal frame, with the axes left alone if they are principal already.
fn body_frame(properties: &MassProperties) -> (Pose, Vec3) {
    let i = properties.inertia;
    let diagonal = Vec3::new(i.x_axis.x, i.y_axis.y, i.z_axis.z);
    let off = Vec3::new(i.x_axis.y, i.x_axis.z, i.y_axis.z).abs().max_element();
    if off < 1e-9 * diagonal.max_element() {
        return (Pose { position: properties.centre, rotation: Quat::IDENTITY }, diagonal);
    }
    let principal = properties.principal();
    (principal.pose, principal.moments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_geom::shapes::{Bone, Funnel, Ring, cuboid, torus};

    #[test]
    fn boxes_are_recognised_as_convex_and_rings_are_not() {
        let cube =
            Geometry::solid(&cuboid(Vec3::new(1.0, 2.0, 3.0), [2, 3, 4]).unwrap(), &Settings::default());
        let cube = cube.unwrap();
        assert!(cube.is_convex() && (cube.depth - 0.5).abs() < 1e-12);
        let ring = Geometry::solid(&Ring::default().mesh().unwrap(), &Settings::default()).unwrap();
        assert!(!ring.is_convex() && ring.is_solid());
    }

    #[test]
    fn the_body_frame_is_principal_and_leads_back_to_the_mesh() {
        let tilt = Pose { position: Vec3::new(3.0, -1.0, 2.0), rotation: Quat::from_rotation_x(0.6) };
        let mesh = Bone::default().mesh().unwrap();
        let placed: Vec<Vec3> = mesh.positions.iter().map(|x| tilt.point(*x)).collect();
        let mesh = TriMesh { positions: placed, ..mesh };
        let shape = Geometry::solid(&mesh, &Settings::default()).unwrap();
        let here = MassProperties::of_solid(&shape.mesh, Matter::Density(1.0)).unwrap();
        assert!(here.centre.length() < 1e-12);
        let (_, moments) = shape.mass(Matter::Density(1.0));
        let diagonal = billow_num::Mat3::from_diagonal(moments);
        assert!((here.inertia - diagonal).abs_diff_eq(billow_num::Mat3::ZERO, 1e-9 * moments.max_element()));
        for (x, y) in shape.mesh.positions.iter().zip(&mesh.positions) {
            assert!(shape.frame.point(*x).distance(*y) < 1e-12);
        }
    }

    #[test]
    fn all_three_storages_agree_near_the_surface() {
        let mesh = torus(0.3, 0.1, 24, 16).unwrap();
        let of = |storage| Geometry::solid(&mesh, &Settings { spacing: 0.0097, storage }).unwrap();
        let shapes = [of(Storage::Uniform), of(Storage::Octree), of(Storage::Sparse)];
        for x in &shapes[0].mesh.positions {
            for scale in [0.98, 1.0, 1.02] {
                let phi = shapes.each_ref().map(|s| s.phi(*x * scale));
                assert!((phi[0] - phi[1]).abs() < 2.5e-3 && (phi[0] - phi[2]).abs() < 2.5e-3, "{phi:?}");
            }
        }
    }

    #[test]
    fn the_storage_follows_from_the_number_of_samples() {
        let chosen = |samples| Storage::Automatic.for_samples(samples);
        assert_eq!([1.0, 8e6].map(chosen), [Storage::Uniform; 2]);
        assert_eq!([8e6 + 1.0, 64e6].map(chosen), [Storage::Octree; 2]);
        assert_eq!([64e6 + 1.0, 1e12].map(chosen), [Storage::Sparse; 2]);
        for asked in [Storage::Uniform, Storage::Octree, Storage::Sparse] {
            assert_eq!([1.0, 1e7, 1e9].map(|n| asked.for_samples(n)), [asked; 3]);
        }
    }

    #[test]
    fn large_shapes_are_octrees_that_know_their_middle_and_larger_ones_blocks_that_do_not() {
        let mesh = torus(0.3, 0.1, 64, 40).unwrap();
        let of = |spacing| Geometry::solid(&mesh, &Settings { spacing, ..Settings::default() }).unwrap();
        // Full lattices of 0.24, 10 and 78 million samples.
        let [small, large, larger] = [8.33e-3, 2.4e-3, 1.2e-3].map(of);
        assert!(small.grid_bytes() > 0 && large.grid_bytes() == 0 && larger.grid_bytes() == 0);
        for k in 0..200 {
            let mut draw = billow_num::rng::Stream::new(6, 1).at(k);
            let around = Quat::from_rotation_z(draw.range(0.0, std::f64::consts::TAU));
            let out = around * (Quat::from_rotation_y(draw.range(0.0, std::f64::consts::TAU)) * Vec3::X);
            let x = around * Vec3::X * 0.3 + out * draw.range(0.04, 0.08);
            let sample = |shape: &Geometry| shape.field.as_ref().unwrap().sample(x);
            let exact = x.distance(around * Vec3::X * 0.3) - 0.1;
            for (phi, normal) in [sample(&small), sample(&large)] {
                assert!((phi - exact).abs() < 0.01 && normal.dot(out) > 0.9, "{phi} {exact} {normal}");
            }
            assert!((sample(&larger).0 + 3.0 * 1.2e-3).abs() < 1e-6 && exact < -0.01);
        }
    }

    #[test]
    fn half_the_thickness_of_a_funnel_is_that_of_its_wall_in_every_storage() {
        let funnel = Funnel {
            spout_radius: 0.2,
            rim_radius: 0.5,
            spout_length: 0.2,
            cone_height: 0.3,
            thickness: 0.08,
            segments: 32,
        };
        let mesh = funnel.mesh().unwrap();
        let of = |storage| Geometry::solid(&mesh, &Settings { spacing: 0.01, storage }).unwrap().depth;
        let [uniform, octree, sparse] = [Storage::Uniform, Storage::Octree, Storage::Sparse].map(of);
        assert!((uniform - 0.04).abs() < 0.01 && (octree - uniform).abs() < 0.01, "{uniform} {octree}");
        assert!((sparse - 0.03).abs() < 1e-6, "no deeper than the band: {sparse}");
    }
}
