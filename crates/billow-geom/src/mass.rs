//! Mass, centre and inertia of solids, shells, tetrahedral bodies and particles.
//!
//! All integrals are polynomial over simplices and hence exact up to rounding. They are taken about a point
//! near the body and shifted to the centre of mass at the end, so a body far from the origin keeps its
//! digits. Sums have the same bits for any number of threads.

use crate::mesh::check_indices;
use crate::{GeomError, TetMesh, TriMesh};
use billow_num::mat3::eigen_symmetric;
use billow_num::{Mat3, Pose, Quat, Vec3, par};

/// How much matter a body holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Matter {
    /// Mass per volume [kg/m³] of solids, per area [kg/m²] of shells.
    Density(f64),
    /// Total mass [kg].
    Mass(f64),
}

/// Mass, centre and inertia of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// Mass [kg].
    pub mass: f64,
    /// Centre of mass [m].
    pub centre: Vec3,
    /// Inertia tensor about the centre of mass, in world axes [kg·m²].
    pub inertia: Mat3,
}

/// The frame in which the inertia tensor is diagonal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrincipalFrame {
    /// Origin at the centre of mass, axes along the principal directions.
    pub pose: Pose,
    /// Moments of inertia about the axes of `pose`, largest first [kg·m²].
    pub moments: Vec3,
}

impl MassProperties {
    /// Of the solid inside a closed mesh that is oriented outward.
    ///
    /// # Errors
    /// When the mesh is open, inside out or not finite, or the amount of matter is not positive.
    pub fn of_solid(mesh: &TriMesh, matter: Matter) -> Result<Self, GeomError> {
        const OF: &str = "mass properties of a solid";
        let topology = mesh.topology()?;
        if !(topology.is_closed() && topology.is_oriented()) {
            let open = topology.boundary_edges().len();
            let crowded = topology.non_manifold_edges().len();
            let inconsistent = topology.inconsistent_edges().len();
            return refuse(
                OF,
                format!(
                    "the mesh does not bound a solid: {open} open, {crowded} crowded and {inconsistent} inconsistently \
                     oriented edges; close and orient it (see `mesh::repair`), or treat it as a shell"
                ),
            );
        }
        let moments = Moments::sum(mesh.triangles.len(), mesh.local_origin(), |t, o| {
            let [a, b, c] = mesh.corners(t).map(|p| p - o);
            Moments::simplex(a.dot(b.cross(c)) / 6.0, &[a, b, c, Vec3::ZERO])
        });
        if moments.measure < 0.0 {
            let volume = moments.measure;
            return refuse(
                OF,
                format!("the volume is negative ({volume} m³): the mesh is inside out; flip it"),
            );
        }
        moments.with_matter(OF, matter)
    }

    /// Of a surface with mass per area.
    ///
    /// # Errors
    /// When the mesh has no area or is not finite, names missing vertices, or the amount of matter is not
    /// positive.
    pub fn of_shell(mesh: &TriMesh, matter: Matter) -> Result<Self, GeomError> {
        check_indices("triangle", mesh.positions.len(), &mesh.triangles)?;
        Moments::sum(mesh.triangles.len(), mesh.local_origin(), |t, o| {
            Moments::simplex(0.5 * mesh.area_vector(t).length(), &mesh.corners(t).map(|p| p - o))
        })
        .with_matter("mass properties of a shell", matter)
    }

    /// Of a tetrahedral body.
    ///
    /// # Errors
    /// When the mesh has no volume or is not finite, names missing vertices, or the amount of matter is not
    /// positive.
    pub fn of_tets(mesh: &TetMesh, matter: Matter) -> Result<Self, GeomError> {
        check_indices("tetrahedron", mesh.positions.len(), &mesh.tets)?;
        let centre = mesh.bounds().centre();
        let origin = if centre.is_finite() { centre } else { Vec3::ZERO };
        Moments::sum(mesh.tets.len(), origin, |t, o| {
            Moments::simplex(mesh.tet_volume(t), &mesh.corners(t).map(|p| p - o))
        })
        .with_matter("mass properties of a tetrahedral body", matter)
    }

    /// Of particles with masses [kg].
    ///
    /// # Errors
    /// When the counts differ, a mass is negative, or the total is not positive and finite.
    pub fn of_points(positions: &[Vec3], masses: &[f64]) -> Result<Self, GeomError> {
        const OF: &str = "mass properties of particles";
        if positions.len() != masses.len() {
            return refuse(OF, format!("{} positions but {} masses", positions.len(), masses.len()));
        }
        if let Some(i) = masses.iter().position(|&m| m.is_nan() || m < 0.0) {
            return refuse(OF, format!("particle {i} has mass {}: it must not be negative", masses[i]));
        }
        let centre = crate::Aabb::of_points(positions).centre();
        let origin = if centre.is_finite() { centre } else { Vec3::ZERO };
        Moments::sum(positions.len(), origin, |i, o| Moments::point(masses[i], positions[i] - o))
            .with_matter(OF, Matter::Density(1.0))
    }

    /// Of two bodies taken as one.
    pub fn joined(&self, other: &Self) -> Self {
        let mass = self.mass + other.mass;
        let centre = self.centre.lerp(other.centre, other.mass / mass);
        Self { mass, centre, inertia: self.inertia_about(centre) + other.inertia_about(centre) }
    }

    /// Of the body moved by `pose`.
    pub fn transformed(&self, pose: &Pose) -> Self {
        let r = pose.matrix();
        Self { mass: self.mass, centre: pose.point(self.centre), inertia: r * self.inertia * r.transpose() }
    }

    /// Of the same shape with another total mass [kg].
    pub fn with_mass(&self, mass: f64) -> Self {
        Self { mass, centre: self.centre, inertia: self.inertia * (mass / self.mass) }
    }

    /// Inertia tensor about `point` [kg·m²] (parallel axes).
    pub fn inertia_about(&self, point: Vec3) -> Mat3 {
        self.inertia + self.mass * spread_to_inertia(outer(self.centre - point))
    }

    /// The frame in which the inertia tensor is diagonal; its axes are right-handed.
    pub fn principal(&self) -> PrincipalFrame {
        let eigen = eigen_symmetric(&self.inertia);
        let rotation = Quat::from_mat3(&eigen.vectors).normalize();
        PrincipalFrame { pose: Pose { position: self.centre, rotation }, moments: eigen.values }
    }
}

/// Integrals of 1, x and x xᵀ.
#[derive(Clone, Copy)]
struct Moments {
    origin: Vec3,
    measure: f64,
    first: Vec3,
    second: Mat3,
}

impl Moments {
    const ZERO: Self = Self { origin: Vec3::ZERO, measure: 0.0, first: Vec3::ZERO, second: Mat3::ZERO };

    fn point(mass: f64, x: Vec3) -> Self {
        Self { measure: mass, first: mass * x, second: mass * outer(x), ..Self::ZERO }
    }

    /// Of a simplex of N corners and the given measure: ∫x = m·s/N and ∫xxᵀ = m/(N(N+1))·(s sᵀ + Σ x xᵀ) with
    /// s = Σ x.
    fn simplex<const N: usize>(measure: f64, corners: &[Vec3; N]) -> Self {
        let n = N as f64;
        let s: Vec3 = corners.iter().sum();
        let squares = corners.iter().fold(outer(s), |sum, &x| sum + outer(x));
        Self {
            measure,
            first: s * (measure / n),
            second: squares * (measure / (n * (n + 1.0))),
            ..Self::ZERO
        }
    }

    /// Sums `part(i, origin)` over `0..n`.
    fn sum(n: usize, origin: Vec3, part: impl Fn(usize, Vec3) -> Self + Sync + Send) -> Self {
        let chunk =
            |range: std::ops::Range<usize>| range.map(|i| part(i, origin)).fold(Self::ZERO, Self::plus);
        let total = par::reduce(n, par::CHUNK, chunk, Self::plus).unwrap_or(Self::ZERO);
        Self { origin, ..total }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            origin: self.origin,
            measure: self.measure + other.measure,
            first: self.first + other.first,
            second: self.second + other.second,
        }
    }

    fn with_matter(self, of: &'static str, matter: Matter) -> Result<MassProperties, GeomError> {
        let (Matter::Density(amount) | Matter::Mass(amount)) = matter;
        if !(amount > 0.0 && amount.is_finite()) {
            return refuse(of, format!("the density or mass is {amount}: it must be positive and finite"));
        }
        let m = self.measure;
        if !(m > 0.0 && m.is_finite() && self.first.is_finite()) {
            return refuse(
                of,
                format!("the total measure is {m}: the body must have positive, finite extent"),
            );
        }
        let density = if let Matter::Density(d) = matter { d } else { amount / m };
        let offset = self.first / m;
        let second = self.second - m * outer(offset);
        Ok(MassProperties {
            mass: density * m,
            centre: self.origin + offset,
            inertia: density * spread_to_inertia(second),
        })
    }
}

fn outer(x: Vec3) -> Mat3 {
    Mat3::from_cols(x * x.x, x * x.y, x * x.z)
}

/// Inertia tr(C)·1 − C from the second moments C.
fn spread_to_inertia(c: Mat3) -> Mat3 {
    let trace = c.x_axis.x + c.y_axis.y + c.z_axis.z;
    Mat3::from_diagonal(Vec3::splat(trace)) - c
}

fn refuse<T>(operation: &'static str, problem: String) -> Result<T, GeomError> {
    Err(GeomError::Mesh { operation, problem })
}
