//! What stays fixed during a run: shapes, bodies and gravity.

use crate::RigidError;
use crate::geometry::Geometry;
use crate::state::{BodyState, State};
use billow_geom::mass::Matter;
use billow_num::{Mat3, Pose, Vec3};
use std::fmt;
use std::sync::Arc;

/// How a body's surface answers contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surface {
    /// Part of the approach speed that is given back, 0 to 1; of two bodies the smaller counts [-].
    pub restitution: f64,
    /// Coulomb coefficient; of two bodies the larger counts [-].
    pub friction: f64,
    /// Rolling resistance: lever arm of the normal force as a part of the local radius of curvature; of two bodies
    /// the larger counts [-].
    pub rolling: f64,
    /// Resistance to spinning about the normal, likewise [-].
    pub spinning: f64,
}

impl Default for Surface {
    fn default() -> Self {
        Self { restitution: 0.0, friction: 0.5, rolling: 0.0, spinning: 0.0 }
    }
}

/// What moves a body.
#[derive(Clone, Default)]
pub enum Drive {
    /// Forces and impulses.
    #[default]
    Dynamic,
    /// Nothing: it stays where it is and answers no impulse.
    Static,
    /// A script or keyframes: the placement of its mesh as a function of time. It answers no impulse.
    Scripted(Arc<dyn billow_levelset::Motion>),
}

impl fmt::Debug for Drive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dynamic => "Dynamic",
            Self::Static => "Static",
            Self::Scripted(_) => "Scripted",
        })
    }
}

/// A body as the user describes it.
#[derive(Clone, Debug)]
pub struct Body {
    /// Name for messages.
    pub name: String,
    /// Number of its shape among the model's geometries.
    pub geometry: usize,
    /// How much matter it holds.
    pub matter: Matter,
    /// What moves it.
    pub drive: Drive,
    /// How its surface answers contact.
    pub surface: Surface,
    /// Placement of its mesh at the start.
    pub placement: Pose,
    /// Velocity of the centre of mass at the start [m/s].
    pub velocity: Vec3,
    /// Angular velocity at the start, in world axes [rad/s].
    pub spin: Vec3,
}

impl Body {
    /// A dynamic body of density 1000 kg/m³ at rest at the origin.
    pub fn new(name: impl Into<String>, geometry: usize) -> Self {
        Self {
            name: name.into(),
            geometry,
            matter: Matter::Density(1000.0),
            drive: Drive::Dynamic,
            surface: Surface::default(),
            placement: Pose::IDENTITY,
            velocity: Vec3::ZERO,
            spin: Vec3::ZERO,
        }
    }
}

/// Inverse mass and principal inverse moments; zero for bodies that answer no impulse.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Inertia {
    pub(crate) mass: f64,
    pub(crate) moments: Vec3,
    pub(crate) inverse_mass: f64,
    pub(crate) inverse_moments: Vec3,
}

impl Inertia {
    /// Inverse inertia tensor in world axes: R D⁻¹ Rᵀ.
    pub(crate) fn inverse_at(&self, pose: &Pose) -> Mat3 {
        let r = pose.matrix();
        r * Mat3::from_diagonal(self.inverse_moments) * r.transpose()
    }

    /// Inertia tensor times a vector in world axes.
    pub(crate) fn times(&self, pose: &Pose, w: Vec3) -> Vec3 {
        pose.rotation * (self.moments * (pose.rotation.conjugate() * w))
    }

    /// Inverse inertia tensor times a vector in world axes.
    pub(crate) fn divided(&self, pose: &Pose, l: Vec3) -> Vec3 {
        pose.rotation * (self.inverse_moments * (pose.rotation.conjugate() * l))
    }
}

/// Shapes, bodies and gravity: fixed during a run.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) geometries: Vec<Arc<Geometry>>,
    pub(crate) bodies: Vec<Body>,
    pub(crate) inertias: Vec<Inertia>,
    pub(crate) gravity: Vec3,
}

impl Model {
    /// Checks the bodies and computes their inertia.
    ///
    /// # Errors
    /// When a body names a missing geometry or a number is out of range.
    pub fn new(geometries: Vec<Arc<Geometry>>, bodies: Vec<Body>, gravity: Vec3) -> Result<Self, RigidError> {
        for body in &bodies {
            check(body, geometries.len())?;
        }
        if !gravity.is_finite() {
            return Err(parameter("model", "gravity", f64::NAN, "finite"));
        }
        let inertias = bodies
            .iter()
            .map(|body| match body.drive {
                Drive::Dynamic => {
                    let (mass, moments) = geometries[body.geometry].mass(body.matter);
                    Inertia { mass, moments, inverse_mass: 1.0 / mass, inverse_moments: moments.recip() }
                }
                _ => Inertia::default(),
            })
            .collect();
        Ok(Self { geometries, bodies, inertias, gravity })
    }

    /// The state at time zero.
    pub fn start(&self) -> State {
        let bodies = self.bodies.iter().zip(&self.inertias).map(|(body, inertia)| {
            let placement = match &body.drive {
                Drive::Scripted(motion) => motion.pose(0.0),
                _ => body.placement,
            };
            let pose = self.geometries[body.geometry].frame.then(&placement);
            BodyState {
                pose,
                velocity: body.velocity,
                angular_momentum: inertia.times(&pose, body.spin),
                still: 0.0,
            }
        });
        State { bodies: bodies.collect(), ..State::default() }
    }

    /// Number of bodies.
    pub fn len(&self) -> usize {
        self.bodies.len()
    }

    /// Whether there are no bodies.
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    /// The bodies as described.
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// Acceleration of gravity [m/s²].
    pub fn gravity(&self) -> Vec3 {
        self.gravity
    }

    /// Changes gravity [m/s²]; numbers that are not finite are ignored.
    pub fn set_gravity(&mut self, gravity: Vec3) {
        if gravity.is_finite() {
            self.gravity = gravity;
        }
    }

    /// Shape of a body.
    pub fn geometry(&self, body: usize) -> &Geometry {
        &self.geometries[self.bodies[body].geometry]
    }

    /// Mass of a body [kg]; zero for bodies that answer no impulse.
    pub fn mass(&self, body: usize) -> f64 {
        self.inertias[body].mass
    }

    /// Placement of a body's mesh in the coordinates it was given in.
    pub fn placement(&self, state: &State, body: usize) -> Pose {
        self.geometry(body).frame.inverse().then(&state.bodies[body].pose)
    }

    /// Angular velocity of a body in world axes [rad/s].
    pub fn spin(&self, state: &State, body: usize) -> Vec3 {
        let b = &state.bodies[body];
        self.inertias[body].divided(&b.pose, b.angular_momentum)
    }

    /// Kinetic energy of a body [J].
    pub fn kinetic_energy(&self, state: &State, body: usize) -> f64 {
        let b = &state.bodies[body];
        0.5 * (self.inertias[body].mass * b.velocity.length_squared()
            + self.spin(state, body).dot(b.angular_momentum))
    }

    /// Whether a body answers impulses.
    pub fn is_dynamic(&self, body: usize) -> bool {
        self.inertias[body].inverse_mass > 0.0
    }
}

fn check(body: &Body, count: usize) -> Result<(), RigidError> {
    if body.geometry >= count {
        return Err(RigidError::MissingGeometry { body: body.name.clone(), geometry: body.geometry, count });
    }
    let (Matter::Density(m) | Matter::Mass(m)) = body.matter;
    if !(m > 0.0 && m.is_finite()) {
        return Err(parameter(&body.name, "density or mass", m, "positive and finite"));
    }
    let Surface { restitution, friction, rolling, spinning } = body.surface;
    if !(0.0..=1.0).contains(&restitution) {
        return Err(parameter(&body.name, "restitution", restitution, "between 0 and 1"));
    }
    for (name, value) in [("friction", friction), ("rolling", rolling), ("spinning", spinning)] {
        if !(value >= 0.0 && value.is_finite()) {
            return Err(parameter(&body.name, name, value, "at least 0 and finite"));
        }
    }
    let finite = body.placement.position.is_finite()
        && body.placement.rotation.is_finite()
        && body.velocity.is_finite()
        && body.spin.is_finite();
    let unit = (body.placement.rotation.length() - 1.0).abs();
    if !finite || unit > 1e-6 {
        return Err(parameter(&body.name, "placement or velocity", unit, "finite, with a unit quaternion"));
    }
    Ok(())
}

fn parameter(of: &str, name: &'static str, value: f64, allowed: &'static str) -> RigidError {
    RigidError::Parameter { of: of.into(), name, value, allowed }
}
