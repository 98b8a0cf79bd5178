//! The documents' experiments as ready models: inclines, stacks, billiards, the see-saw, rings on poles, bones.
//!
//! Tests, benchmarks and the gallery build on the same definitions, so that their figures compare.

use crate::{Body, Drive, Geometry, Model, RigidError, Settings, Surface};
use billow_geom::TriMesh;
use billow_geom::mass::Matter;
use billow_geom::shapes::{Bone, Funnel, cuboid, cylinder, torus};
use billow_num::rng::Stream;
use billow_num::{Pose, Quat, Vec3};
use std::sync::Arc;

/// Standard gravity of the experiments, downwards along z [m/s²].
pub const GRAVITY: Vec3 = Vec3::new(0.0, 0.0, -9.81);

/// Collects shapes and bodies.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    /// Shapes.
    pub geometries: Vec<Arc<Geometry>>,
    /// Bodies.
    pub bodies: Vec<Body>,
}

impl Builder {
    /// Adds a shape and returns its number.
    pub fn shape(&mut self, geometry: Geometry) -> usize {
        self.geometries.push(Arc::new(geometry));
        self.geometries.len() - 1
    }

    /// Adds a solid mesh.
    ///
    /// # Errors
    /// When the mesh bounds no solid.
    pub fn mesh(&mut self, mesh: &TriMesh) -> Result<usize, RigidError> {
        Ok(self.shape(Geometry::solid(mesh, &Settings::default())?))
    }

    /// Adds a box of edge lengths `size` [m].
    ///
    /// # Errors
    /// When a length is not positive.
    pub fn cuboid(&mut self, size: Vec3) -> Result<usize, RigidError> {
        self.mesh(&cuboid(size, [1; 3])?)
    }

    /// Adds a dynamic body at a position and returns it for changes.
    pub fn body(&mut self, name: &str, geometry: usize, position: Vec3) -> &mut Body {
        let mut body = Body::new(name, geometry);
        body.placement.position = position;
        self.bodies.push(body);
        let last = self.bodies.len() - 1;
        &mut self.bodies[last]
    }

    /// Adds a wide static slab whose top is at z = 0.
    ///
    /// # Errors
    /// Never for these lengths.
    pub fn ground(&mut self, surface: Surface) -> Result<(), RigidError> {
        let slab = self.cuboid(Vec3::new(80.0, 80.0, 2.0))?;
        let body = self.body("ground", slab, Vec3::new(0.0, 0.0, -1.0));
        (body.drive, body.surface) = (Drive::Static, surface);
        Ok(())
    }

    /// The model under [`GRAVITY`].
    ///
    /// # Errors
    /// When a body is out of range.
    pub fn model(self) -> Result<Model, RigidError> {
        Model::new(self.geometries, self.bodies, GRAVITY)
    }
}

/// A block on a 20° incline with restitution 1, starting down the slope at `speed` [m/s] ([Gue06] fig. 2.8).
///
/// # Errors
/// When the friction is negative.
pub fn incline(friction: f64, speed: f64) -> Result<Model, RigidError> {
    let mut b = Builder::default();
    let tilt = Quat::from_rotation_y(20f64.to_radians());
    let (up, down) = (tilt * Vec3::Z, tilt * Vec3::X);
    let surface = Surface { restitution: 1.0, friction, ..Surface::default() };
    let slope = b.cuboid(Vec3::new(60.0, 10.0, 2.0))?;
    let body = b.body("slope", slope, -up);
    (body.drive, body.surface, body.placement.rotation) = (Drive::Static, surface, tilt);
    let block = b.cuboid(Vec3::splat(0.5))?;
    let body = b.body("block", block, up * 0.25);
    (body.surface, body.placement.rotation, body.velocity) = (surface, tilt, down * speed);
    b.model()
}

/// Where the block of [`incline`] is by theory after `t` seconds, along the slope [m].
pub fn incline_theory(friction: f64, speed: f64, t: f64) -> f64 {
    let angle = 20f64.to_radians();
    let g = -GRAVITY.z;
    let a = g * (angle.sin() - friction * angle.cos());
    if speed == 0.0 && a <= 0.0 {
        return 0.0;
    }
    let t = if a < 0.0 { t.min(-speed / a) } else { t };
    speed * t + 0.5 * a * t * t
}

/// `n` boxes of one metre on top of each other.
///
/// # Errors
/// Never for sensible counts.
pub fn stack(n: usize) -> Result<Model, RigidError> {
    let mut b = Builder::default();
    b.ground(Surface::default())?;
    let cube = b.cuboid(Vec3::ONE)?;
    for k in 0..n {
        b.body("box", cube, Vec3::new(0.0, 0.0, 0.5 + k as f64));
    }
    b.model()
}

/// Nine boxes of one kilogram with one of a thousand on top.
///
/// # Errors
/// Never.
pub fn heavy_top() -> Result<Model, RigidError> {
    let mut b = Builder::default();
    b.ground(Surface::default())?;
    let cube = b.cuboid(Vec3::ONE)?;
    for k in 0..10 {
        let mass = if k == 9 { 1000.0 } else { 1.0 };
        b.body("box", cube, Vec3::new(0.0, 0.0, 0.5 + f64::from(k))).matter = Matter::Mass(mass);
    }
    b.model()
}

/// A running-bond wall of ten rows with half bricks at the ends: 105 boxes.
///
/// # Errors
/// Never.
pub fn wall() -> Result<Model, RigidError> {
    let mut b = Builder::default();
    b.ground(Surface::default())?;
    let whole = b.cuboid(Vec3::new(1.0, 0.5, 0.5))?;
    let half = b.cuboid(Vec3::splat(0.5))?;
    for row in 0..10 {
        let z = 0.25 + 0.5 * f64::from(row);
        if row % 2 == 0 {
            for c in 0..10 {
                b.body("brick", whole, Vec3::new(f64::from(c) - 4.5, 0.0, z));
            }
        } else {
            b.body("half brick", half, Vec3::new(-4.75, 0.0, z));
            b.body("half brick", half, Vec3::new(4.75, 0.0, z));
            for c in 0..9 {
                b.body("brick", whole, Vec3::new(f64::from(c) - 4.0, 0.0, z));
            }
        }
    }
    b.model()
}

/// A ball at 2 m/s against a line of `n` touching ones, restitution 1, no friction ([Gue06] fig. 2.9).
///
/// # Errors
/// Never.
pub fn billiards(n: usize) -> Result<Model, RigidError> {
    let mut b = Builder::default();
    let smooth = Surface { friction: 0.0, ..Surface::default() };
    b.ground(smooth)?;
    let r = 0.05;
    let ball = b.shape(Geometry::ball(r)?);
    let lively = Surface { restitution: 1.0, ..smooth };
    let cue = b.body("cue", ball, Vec3::new(-1.0, 0.0, r));
    (cue.velocity, cue.surface) = (Vec3::new(2.0, 0.0, 0.0), lively);
    for k in 0..n {
        b.body("ball", ball, Vec3::new(2.0 * r * k as f64, 0.0, r)).surface = lively;
    }
    b.model()
}

/// A plank on a wedge with a heavy and a light block ([Gue06] fig. 2.14). Bodies: ground, wedge, plank, heavy, light.
///
/// # Errors
/// Never.
pub fn seesaw() -> Result<Model, RigidError> {
    let mut b = Builder::default();
    b.ground(Surface::default())?;
    let (h, w, d) = (0.5, 0.35, 0.6);
    let positions = [(-w, -d, 0.0), (w, -d, 0.0), (0.0, -d, h), (-w, d, 0.0), (w, d, 0.0), (0.0, d, h)];
    let triangles = [[0, 1, 2], [3, 5, 4], [0, 3, 4], [0, 4, 1], [1, 4, 5], [1, 5, 2], [2, 5, 3], [2, 3, 0]];
    let mesh = TriMesh { positions: positions.map(Vec3::from).to_vec(), triangles: triangles.to_vec() };
    let wedge = b.mesh(&mesh)?;
    let rough = |friction| Surface { friction, ..Surface::default() };
    let body = b.body("wedge", wedge, Vec3::ZERO);
    (body.drive, body.surface) = (Drive::Static, rough(0.9));
    let plank = b.cuboid(Vec3::new(3.0, 0.6, 0.1))?;
    let body = b.body("plank", plank, Vec3::new(0.0, 0.0, 0.55));
    (body.matter, body.surface) = (Matter::Density(500.0), rough(0.15));
    let heavy = b.cuboid(Vec3::splat(0.4))?;
    let body = b.body("heavy", heavy, Vec3::new(1.2, 0.0, 0.8));
    (body.matter, body.surface) = (Matter::Mass(100.0), rough(0.15));
    let light = b.cuboid(Vec3::splat(0.2))?;
    let body = b.body("light", light, Vec3::new(-1.3, 0.0, 0.7));
    (body.matter, body.surface) = (Matter::Mass(20.0), rough(0.5));
    b.model()
}

/// `n` rings of 320 triangles above 25 poles ([Gue06] fig. 2.1), with more poles and a wider crowd above 1024 of them.
/// Bodies: ground, poles, then the rings from [`rings_from`].
///
/// # Errors
/// Never.
pub fn rings(n: usize) -> Result<Model, RigidError> {
    let mut b = Builder::default();
    b.ground(Surface::default())?;
    let pole = b.mesh(&cylinder(0.1, 3.0, 22, 19, true)?)?;
    let (side, poles) = crowd(n);
    for i in 0..poles {
        for j in 0..poles {
            let middle = 0.5 * (poles as f64 - 1.0);
            let at = Vec3::new((i as f64 - middle) * 1.2, (j as f64 - middle) * 1.2, 1.5);
            b.body("pole", pole, at).drive = Drive::Static;
        }
    }
    let ring = b.mesh(&torus(RING.0, RING.1, 16, 10)?)?;
    let middle = 0.5 * (side as f64 - 1.0);
    for k in 0..n {
        let mut draw = Stream::new(7, 0).at(k as u64);
        let (layer, i, j) = (k / (side * side), k / side % side, k % side);
        let cell = Vec3::new(i as f64 - middle, j as f64 - middle, layer as f64) * 0.86;
        let shake = Vec3::new(draw.range(-0.02, 0.02), draw.range(-0.02, 0.02), draw.range(-0.02, 0.02));
        let body = b.body("ring", ring, Vec3::new(0.0, 0.0, 3.6) + cell + shake);
        let q = Quat::from_xyzw(draw.normal(), draw.normal(), draw.normal(), draw.normal());
        body.placement = Pose { rotation: q.normalize(), ..body.placement };
    }
    b.model()
}

/// Radius of the rings' centre line and of their tube [m].
pub const RING: (f64, f64) = (0.3, 0.1);
/// Bodies before the first ring of [`rings`] for up to 1024 rings.
pub const RINGS_FROM: usize = 26;

/// Bodies before the first of `n` rings of [`rings`].
pub fn rings_from(n: usize) -> usize {
    1 + crowd(n).1.pow(2)
}

/// Rings and poles along a side: layers of 64 up to sixteen of them, then wider ones.
fn crowd(n: usize) -> (usize, usize) {
    let side = (n as f64 / 16.0).sqrt().ceil().max(8.0);
    (side as usize, (5.0 * side / 8.0).round() as usize)
}

/// `n` bones of 5600 triangles above a funnel. Bodies: ground, funnel, then the bones.
///
/// # Errors
/// Never.
pub fn bones(n: usize) -> Result<Model, RigidError> {
    let mut b = Builder::default();
    b.ground(Surface { friction: 0.4, ..Surface::default() })?;
    let funnel = Funnel {
        spout_radius: 0.75,
        rim_radius: 2.6,
        spout_length: 0.4,
        cone_height: 1.7,
        thickness: 0.12,
        segments: 48,
    };
    let settings = Settings { spacing: 0.025, ..Settings::default() };
    let shape = b.shape(Geometry::solid(&funnel.mesh()?, &settings)?);
    let body = b.body("funnel", shape, Vec3::new(0.0, 0.0, 1.8));
    (body.drive, body.surface.friction) = (Drive::Static, 0.2);
    let bone = Bone {
        length: 0.42,
        shaft_radius: 0.05,
        knob_radius: 0.085,
        knob_offset: 0.065,
        segments: 56,
        bands: 17,
    };
    let shape = b.mesh(&bone.mesh()?)?;
    for k in 0..n {
        let mut draw = Stream::new(11, 0).at(k as u64);
        let cell = Vec3::new((k % 5) as f64 - 2.0, (k / 5 % 5) as f64 - 2.0, (k / 25) as f64) * 0.72;
        let body = b.body("bone", shape, Vec3::new(0.0, 0.0, 4.6) + cell);
        let q = Quat::from_xyzw(draw.normal(), draw.normal(), draw.normal(), draw.normal());
        body.placement.rotation = q.normalize();
        (body.surface.friction, body.matter) = (0.4, Matter::Density(1900.0));
    }
    b.model()
}
