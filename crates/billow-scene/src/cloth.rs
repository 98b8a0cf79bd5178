//! The cloth of a validated scene: garments, pins, obstacles, settings. Immutable; the solver's model is built from it.

use crate::expr::Expr;
use crate::motion::{Morph, Motion};
use billow_cloth::{Air, Config, Garment, Model, Obstacle, Script, Setup};
use billow_geom::GeomError;
use billow_io::Shape;
use billow_levelset::{Collider, Sample, Still};
use billow_num::{Pose, Vec3};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// A piece of cloth in the scene.
#[derive(Clone, Debug)]
pub struct Cloth {
    /// Unique name.
    pub name: String,
    /// Its mesh where it is at the start.
    pub shape: Shape,
    /// Its fabric; the thickness is the distance its layers keep.
    pub material: billow_cloth::Material,
    /// Linear red, green, blue of the surface [-].
    pub colour: Vec3,
    /// Number of nodes that follow a prescribed motion at the start.
    pub pinned: usize,
}

/// A node that follows a prescribed motion.
#[derive(Clone)]
pub(crate) struct Pin {
    pub(crate) garment: usize,
    pub(crate) node: u32,
    pub(crate) script: Arc<dyn Script>,
    /// Time at which it is let go [s].
    pub(crate) until: f64,
}

/// A body that cloth meets by its signed distance.
#[derive(Clone)]
pub(crate) struct SolidBody {
    pub(crate) name: String,
    /// Its shape in its own coordinates.
    pub(crate) shape: Arc<dyn Collider>,
    pub(crate) motion: Motion,
    pub(crate) friction: f64,
    /// Extra distance that cloth keeps [m].
    pub(crate) margin: f64,
}

/// Everything the cloth solver needs to know of a scene.
#[derive(Clone)]
pub(crate) struct ClothPlan {
    pub(crate) pieces: Vec<Cloth>,
    /// The same pieces for the solver, without pins.
    pub(crate) garments: Vec<Garment>,
    pub(crate) pins: Vec<Pin>,
    pub(crate) obstacles: Vec<Obstacle>,
    pub(crate) solids: Vec<SolidBody>,
    pub(crate) air_density: f64,
    pub(crate) wind: [Expr; 3],
    pub(crate) config: Config,
    /// Time to settle before frame 0 [s].
    pub(crate) preroll: f64,
    /// Drag during that time, on top of the usual [1/s].
    pub(crate) preroll_drag: f64,
    /// Whether cloth may begin crossed: what crosses is left alone until it parts.
    pub(crate) allow_crossings: bool,
    /// Whether every collision step is audited exactly.
    pub(crate) audit: bool,
}

impl fmt::Debug for ClothPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClothPlan").field("pieces", &self.pieces).finish_non_exhaustive()
    }
}

impl ClothPlan {
    /// How many pins have been let go by time `t`: the model changes whenever this number does.
    pub(crate) fn epoch(&self, t: f64) -> usize {
        self.pins.iter().filter(|pin| pin.until <= t).count()
    }

    /// The solver's model from time `t` on, with gravity `gravity` and without thick bodies: these are placed anew for
    /// every step.
    pub(crate) fn model(&self, t: f64, gravity: Vec3) -> Result<Model, GeomError> {
        let mut garments = self.garments.clone();
        for pin in self.pins.iter().filter(|pin| pin.until > t) {
            garments[pin.garment].pins.push((pin.node, Arc::clone(&pin.script)));
        }
        let air = Air { density: self.air_density, wind: self.wind(0.0) };
        Model::new(Setup { garments, obstacles: self.obstacles.clone(), solids: Vec::new(), gravity, air })
    }

    /// Velocity of the wind at time `t` [m/s].
    pub(crate) fn wind(&self, t: f64) -> Vec3 {
        Vec3::from_array([0, 1, 2].map(|k| self.wind[k].eval(t)))
    }
}

/// Points carried by a prescribed motion. Before t = 0, while cloth settles, everything stands still.
pub(crate) struct Carrier {
    motion: Motion,
    /// The last time asked for and the pose then: all points of a body ask for the same time.
    last: Mutex<(f64, Pose)>,
}

impl Carrier {
    pub(crate) fn new(motion: Motion) -> Self {
        let last = Mutex::new((f64::NAN, Pose::IDENTITY));
        Self { motion, last }
    }

    fn pose(&self, t: f64) -> Pose {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.0 != t {
            *last = (t, pose_at(&self.motion, t));
        }
        last.1
    }
}

impl Script for Carrier {
    fn position(&self, rest: Vec3, t: f64) -> Vec3 {
        self.pose(t).point(rest)
    }
}

/// The vertices of a body that deforms while a motion carries it.
pub(crate) struct Deforming {
    pub(crate) carrier: Carrier,
    pub(crate) morph: Arc<Morph>,
}

impl Script for Deforming {
    fn position(&self, rest: Vec3, t: f64) -> Vec3 {
        self.carrier.position(rest, t)
    }

    fn vertex(&self, index: usize, _rest: Vec3, t: f64) -> Vec3 {
        self.carrier.position(self.morph.vertex(index, t.max(0.0)), t)
    }
}

/// One point of a carrier, given in the carrier's coordinates.
pub(crate) struct CarriedPoint {
    pub(crate) carrier: Arc<Carrier>,
    pub(crate) local: Vec3,
}

impl Script for CarriedPoint {
    fn position(&self, _rest: Vec3, t: f64) -> Vec3 {
        self.carrier.position(self.local, t)
    }
}

/// The pose of a prescribed motion; that of t = 0 before.
pub(crate) fn pose_at(motion: &Motion, t: f64) -> Pose {
    motion.pose(t.max(0.0)).unwrap_or_default()
}

/// A rigid body during one step, from one pose to the next: points of it move along straight lines that take them
/// exactly where the body goes, so that what sticks to it stays stuck.
pub(crate) struct Placed {
    shape: Arc<dyn Collider>,
    margin: f64,
    poses: [Pose; 2],
    start: f64,
    dt: f64,
}

impl Placed {
    /// `solid` in the step from `t` to `t + dt` [s].
    pub(crate) fn new(solid: &SolidBody, t: f64, dt: f64) -> Self {
        let poses = [pose_at(&solid.motion, t), pose_at(&solid.motion, t + dt)];
        Self { shape: Arc::clone(&solid.shape), margin: solid.margin, poses, start: t, dt }
    }

    /// The pose at time `t` within the step.
    fn pose(&self, t: f64) -> Pose {
        let [a, b] = &self.poses;
        if a == b || self.dt == 0.0 {
            return *a;
        }
        let s = ((t - self.start) / self.dt).clamp(0.0, 1.0);
        Pose { position: a.position.lerp(b.position, s), rotation: a.rotation.slerp(b.rotation, s) }
    }

    /// Velocity of the body's point with local coordinates `local` [m/s].
    fn chord(&self, local: Vec3) -> Vec3 {
        let [a, b] = &self.poses;
        if a == b || self.dt == 0.0 { Vec3::ZERO } else { (b.point(local) - a.point(local)) / self.dt }
    }
}

impl Collider for Placed {
    fn phi(&self, x: Vec3, t: f64) -> f64 {
        self.shape.phi(self.pose(t).inverse_point(x), 0.0) - self.margin
    }

    fn normal(&self, x: Vec3, t: f64) -> Vec3 {
        let pose = self.pose(t);
        pose.vector(self.shape.normal(pose.inverse_point(x), 0.0))
    }

    fn velocity(&self, x: Vec3, t: f64) -> Vec3 {
        self.chord(self.pose(t).inverse_point(x))
    }

    fn sample(&self, x: Vec3, t: f64) -> Sample {
        self.at_time(t)(x)
    }

    fn at_time(&self, t: f64) -> Still<'_> {
        let (pose, shape) = (self.pose(t), self.shape.at_time(0.0));
        Box::new(move |x| {
            let local = pose.inverse_point(x);
            let own = shape(local);
            Sample {
                phi: own.phi - self.margin,
                normal: pose.vector(own.normal),
                velocity: self.chord(local),
            }
        })
    }

    fn bounds(&self, t: f64) -> billow_geom::Aabb {
        let pose = self.pose(t);
        billow_levelset::Moving { body: &self.shape, motion: pose }.bounds(0.0).inflated(self.margin)
    }
}
