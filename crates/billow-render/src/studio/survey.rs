//! A look at all frames to be shown, before the first picture: what moves, how large it is, where the camera stands.
//!
//! The tightest camera for a given direction and angle of view follows from four numbers: how far points reach beyond
//! the planes of its frustum. They are gathered per object, so that a backdrop does not shrink the subject.

use super::{Studio, geometry::Cache, lighting};
use crate::error::RenderError;
use crate::look::Look;
use crate::vector::Vec3 as Vec3f;
use crate::world::{Dome, Lens};
use billow_io::cache::UpAxis;
use billow_io::{Domain, Frame, Grid, Object, Shape, Values};
use billow_num::Vec3;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Static objects more than this many times larger than what moves are a backdrop and do not count for framing.
const BACKDROP: f64 = 2.5;

/// Level sheets at rest with at least this share of everything else's size are the ground.
const FLOOR: f64 = 0.8;

/// What is known about an object over the frames surveyed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    /// Order of appearance.
    pub(crate) order: usize,
    pub(crate) kind: Kind,
    /// Colour the frames give it.
    pub(crate) colour: Option<[f32; 3]>,
    /// Its points in the first frame, to which patterns are fixed.
    pub(crate) reference: Option<Arc<Vec<Vec3>>>,
    /// Size of the reference, its middle and the normal of its plane if it is flat.
    pub(crate) extent: f64,
    pub(crate) middle: Vec3,
    pub(crate) plane: Option<Vec3>,
    /// The same normal in the world.
    facing: Option<Vec3>,
    /// A large level sheet that is drawn as the ground.
    pub(crate) is_floor: bool,
    reach: Reach,
    first: Option<Object>,
}

/// How an object changes from frame to frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    #[default]
    Static,
    Rigid,
    Deforming,
}

/// How far points reach: beyond the planes of the view frustum, and along the axes.
#[derive(Clone, Copy, Debug)]
struct Reach {
    /// max(x - kx z), max(-x - kx z), max(y - ky z), max(-y - ky z) in camera axes [m].
    planes: [f64; 4],
    lo: Vec3,
    hi: Vec3,
    lowest: f64,
}

impl Default for Reach {
    fn default() -> Self {
        Self {
            planes: [f64::NEG_INFINITY; 4],
            lo: Vec3::INFINITY,
            hi: Vec3::NEG_INFINITY,
            lowest: f64::INFINITY,
        }
    }
}

impl Reach {
    fn union(self, other: Self) -> Self {
        Self {
            planes: std::array::from_fn(|k| self.planes[k].max(other.planes[k])),
            lo: self.lo.min(other.lo),
            hi: self.hi.max(other.hi),
            lowest: self.lowest.min(other.lowest),
        }
    }

    fn is_empty(&self) -> bool {
        !self.lo.cmple(self.hi).all()
    }

    fn size(&self) -> f64 {
        if self.is_empty() { 0.0 } else { (self.hi - self.lo).length() }
    }
}

/// Frames seen so far. Ends with [`Survey::finish`].
#[derive(Debug)]
pub struct Survey {
    look: Look,
    up: Vec3,
    axes: [Vec3; 3],
    slopes: [f64; 2],
    interval: f64,
    records: BTreeMap<String, Record>,
    frames: usize,
}

impl Survey {
    pub(super) fn new(
        look: &Look,
        up: UpAxis,
        fps: f64,
        reference: &Frame,
        aspect: f64,
    ) -> Result<Self, RenderError> {
        let problems = look.problems();
        if !problems.is_empty() {
            return Err(RenderError::Look(problems));
        }
        let up = look
            .camera
            .up
            .map_or(if up == UpAxis::Y { Vec3::Y } else { Vec3::Z }, Vec3::from_array)
            .normalize();
        let half = (0.5 * look.camera.fov).to_radians().tan();
        let room = 1.0 - 2.0 * look.camera.margin;
        let mut survey = Self {
            axes: camera_axes(look, up),
            look: look.clone(),
            up,
            slopes: [half * aspect * room, half * room],
            interval: 1.0 / fps,
            records: BTreeMap::new(),
            frames: 0,
        };
        for (order, object) in reference.objects.iter().enumerate() {
            let mut record = Record { order, first: Some(object.clone()), ..Record::default() };
            record.refer_to(object);
            survey.records.insert(object.name.clone(), record);
        }
        Ok(survey)
    }

    /// Takes a frame into account.
    pub fn add(&mut self, frame: &Frame) {
        self.frames += 1;
        for object in &frame.objects {
            let order = self.records.len();
            let record = self.records.entry(object.name.clone()).or_insert_with(|| {
                let mut record = Record { order, first: Some(object.clone()), ..Record::default() };
                record.refer_to(object);
                record
            });
            if let Some(first) = &record.first {
                record.kind = record.kind.max(change(first, object));
            }
            let mut reach = Reach::default();
            for_each_point(object, |p| reach = reach.union(reach_of(p, self.axes, self.slopes, self.up)));
            record.reach = record.reach.union(reach);
        }
    }

    /// Chooses everything the look leaves open.
    ///
    /// # Errors
    /// If the frames hold nothing that can be shown.
    pub fn finish(mut self) -> Result<Studio, RenderError> {
        self.find_floor();
        let reach = self.subject();
        if reach.is_empty() {
            let what = match self.frames {
                0 => "no frame was given; there is nothing to show".into(),
                n => format!("the {n} frames hold no points that can be shown"),
            };
            return Err(RenderError::Empty { what });
        }
        let centre = 0.5 * (reach.lo + reach.hi);
        let radius = (0.5 * reach.size()).max(1e-6);
        let ground = self.ground_height(&reach);
        let (position, axes, focus) = self.camera(&reach, centre, radius, ground);
        let local = |p: Vec3| (p - centre).as_vec3a();
        let lens = Lens {
            position: local(position),
            right: axes[0].as_vec3a(),
            up: axes[1].as_vec3a(),
            forward: axes[2].as_vec3a(),
            half_height: (0.5 * self.look.camera.fov).to_radians().tan() as f32,
            radius: self.look.camera.lens as f32,
            focus: self.look.camera.focus.unwrap_or(focus) as f32,
        };
        let subject = lighting::Subject { centre, radius, up: self.up, forward: axes[2], origin: centre };
        let sky = &self.look.sky;
        Ok(Studio {
            lamps: lighting::lamps(&self.look, &subject),
            dome: Dome {
                up: self.up.as_vec3a(),
                zenith: Vec3f::from_array(sky.zenith.0),
                horizon: Vec3f::from_array(sky.horizon.0),
                light: sky.light as f32,
            },
            origin: centre,
            up: self.up.as_vec3a(),
            centre: Vec3f::ZERO,
            radius: radius as f32,
            lens,
            floor_height: Some((ground - centre.dot(self.up)) as f32),
            records: self.records,
            interval: self.interval,
            cache: Cache::default(),
            look: self.look,
        })
    }

    /// A large level sheet at rest below everything else is drawn as the ground, if there is to be one.
    fn find_floor(&mut self) {
        if !self.look.ground.visible {
            return;
        }
        let others = self
            .records
            .values()
            .filter(|r| !(r.kind == Kind::Static && r.plane.is_some()))
            .fold(Reach::default(), |all, r| all.union(r.reach));
        let slack = 1e-3 * others.size();
        for record in self.records.values_mut() {
            let level = record.facing.is_some_and(|n| n.dot(self.up).abs() > 0.9999);
            record.is_floor = record.kind == Kind::Static
                && level
                && !others.is_empty()
                && record.reach.lowest <= others.lowest + slack
                && record.reach.size() > FLOOR * others.size();
        }
    }

    /// What the camera frames: everything that moves, and what stands still unless it is a backdrop.
    fn subject(&self) -> Reach {
        let hidden = |name: &str| self.look.objects.get(name).is_some_and(|s| s.hidden);
        let of = |keep: &dyn Fn(&Record) -> bool| {
            self.records
                .iter()
                .filter(|(name, r)| !hidden(name) && !r.is_floor && keep(r))
                .fold(Reach::default(), |all, (_, r)| all.union(r.reach))
        };
        let moving = of(&|r| r.kind != Kind::Static);
        let most = if moving.is_empty() { f64::INFINITY } else { BACKDROP * moving.size() };
        let all = moving.union(of(&|r| r.kind == Kind::Static && r.reach.size() <= most));
        if all.is_empty() { self.records.values().fold(all, |all, r| all.union(r.reach)) } else { all }
    }

    fn ground_height(&self, reach: &Reach) -> f64 {
        let floor = self.records.values().find(|r| r.is_floor).map(|r| r.reach.lowest);
        // A hair below the lowest point: what stands on the ground must not share its plane.
        self.look.ground.height.or(floor).unwrap_or(reach.lowest - 2e-4 * reach.size())
    }

    /// Position, axes and distance of focus.
    fn camera(&self, reach: &Reach, centre: Vec3, radius: f64, ground: f64) -> (Vec3, [Vec3; 3], f64) {
        let camera = &self.look.camera;
        if let Some(position) = camera.position {
            let position = Vec3::from_array(position);
            let target = camera.target.map_or(centre, Vec3::from_array);
            let forward = (target - position).try_normalize().unwrap_or(self.axes[2]);
            return (position, axes_along(forward, self.up), (target - position).length().max(1e-9));
        }
        let [right, up, forward] = self.axes;
        let [a, b, c, d] = reach.planes;
        let [kx, ky] = self.slopes;
        let (x, y) = match camera.target.map(Vec3::from_array) {
            Some(t) => (t.dot(right), t.dot(up)),
            None => (0.5 * (a - b), 0.5 * (c - d)),
        };
        let z = ((x - a) / kx).min((-x - b) / kx).min((y - c) / ky).min((-y - d) / ky);
        let mut position = right * x + up * y + forward * z;
        // Never below the ground: move up, keeping the view level with the subject.
        let clearance = 0.05 * radius;
        let height = position.dot(self.up);
        if self.look.ground.visible && height < ground + clearance {
            position += self.up * (ground + clearance - height);
        }
        let focus = (centre - position).dot(forward).max(1e-9);
        (position, self.axes, focus)
    }
}

impl Record {
    /// Takes colour, size and plane from the object, and fixes patterns to it as it is here.
    fn refer_to(&mut self, object: &Object) {
        self.colour = object.attributes.iter().find(|a| a.name == "colour").and_then(|a| match &a.values {
            Values::Vector(values) if a.domain == Domain::Object => values.first().copied(),
            _ => None,
        });
        let unplaced = Object { pose: billow_num::Pose::IDENTITY, ..object.clone() };
        let (mut lo, mut hi) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for_each_point(&unplaced, |p| (lo, hi) = (lo.min(p), hi.max(p)));
        if !lo.cmple(hi).all() {
            return;
        }
        self.extent = (hi - lo).length();
        self.middle = 0.5 * (lo + hi);
        if let Shape::Triangles { positions, .. } | Shape::Tets { positions, .. } = &object.shape {
            self.reference = Some(Arc::clone(positions));
        }
        if let Shape::Triangles { positions, triangles } = &object.shape {
            self.plane = plane_of(positions, triangles, self.extent);
            self.facing = self.plane.map(|n| object.pose.vector(n));
        }
    }
}

/// The normal of a mesh all of whose points lie in one plane.
fn plane_of(positions: &[Vec3], triangles: &[[u32; 3]], extent: f64) -> Option<Vec3> {
    let corner = |v: u32| positions.get(v as usize).copied().unwrap_or(Vec3::ZERO);
    let normal = triangles
        .iter()
        .map(|t| (corner(t[1]) - corner(t[0])).cross(corner(t[2]) - corner(t[0])))
        .sum::<Vec3>()
        .try_normalize()?;
    let height = corner(triangles.first()?[0]).dot(normal);
    positions.iter().all(|p| (p.dot(normal) - height).abs() < 1e-3 * extent).then_some(normal)
}

fn change(first: &Object, now: &Object) -> Kind {
    let same_points = match (&first.shape, &now.shape) {
        (Shape::Triangles { positions: a, .. }, Shape::Triangles { positions: b, .. })
        | (Shape::Tets { positions: a, .. }, Shape::Tets { positions: b, .. })
        | (Shape::Lines { positions: a, .. }, Shape::Lines { positions: b, .. })
        | (Shape::Points { positions: a }, Shape::Points { positions: b }) => Arc::ptr_eq(a, b) || a == b,
        (Shape::Grid(a), Shape::Grid(b)) => Arc::ptr_eq(&a.values, &b.values) || a == b,
        _ => false,
    };
    match (same_points, first.pose == now.pose) {
        (false, _) => Kind::Deforming,
        (true, false) => Kind::Rigid,
        (true, true) => Kind::Static,
    }
}

/// Calls `f` for the world positions of an object's finite points; for grids the corners of what they show.
fn for_each_point(object: &Object, mut f: impl FnMut(Vec3)) {
    match &object.shape {
        Shape::Triangles { positions, .. }
        | Shape::Tets { positions, .. }
        | Shape::Points { positions }
        | Shape::Lines { positions, .. } => {
            for p in positions.iter().map(|p| object.pose.point(*p)).filter(|p| p.is_finite()) {
                f(p);
            }
        }
        Shape::Grid(grid) => {
            if let Some([lo, hi]) = shown_part(grid) {
                for k in 0..8 {
                    let pick = |bit: usize| if k >> bit & 1 == 1 { hi[bit] } else { lo[bit] };
                    let p = grid.origin + grid.spacing * Vec3::new(pick(0), pick(1), pick(2));
                    f(object.pose.point(p));
                }
            }
        }
    }
}

/// Node range of a grid that is inside a level set or holds fog.
fn shown_part(grid: &Grid) -> Option<[[f64; 3]; 2]> {
    let [nx, ny, _] = grid.dims.map(|n| n as usize);
    if grid.values.len() != grid.dims.iter().map(|n| *n as usize).product::<usize>() {
        return None;
    }
    let level_set = grid.values.iter().any(|v| *v < 0.0);
    let (mut lo, mut hi) = ([usize::MAX; 3], [0usize; 3]);
    for (k, v) in grid.values.iter().enumerate() {
        if if level_set { *v < 0.0 } else { *v > 0.0 } {
            let at = [k % nx, k / nx % ny, k / (nx * ny)];
            lo = std::array::from_fn(|a| lo[a].min(at[a]));
            hi = std::array::from_fn(|a| hi[a].max(at[a]));
        }
    }
    (lo[0] <= hi[0]).then(|| [lo.map(|x| x as f64), hi.map(|x| x as f64)])
}

fn reach_of(p: Vec3, axes: [Vec3; 3], [kx, ky]: [f64; 2], up: Vec3) -> Reach {
    let [x, y, z] = axes.map(|a| a.dot(p));
    Reach { planes: [x - kx * z, -x - kx * z, y - ky * z, -y - ky * z], lo: p, hi: p, lowest: p.dot(up) }
}

/// Right, up and forward of the camera while its position is open.
fn camera_axes(look: &Look, up: Vec3) -> [Vec3; 3] {
    let forward = look.camera.direction.map_or_else(
        || {
            // Three quarters from the front, slightly from above.
            let front = if up.dot(Vec3::Y).abs() > 0.9 { Vec3::NEG_Z } else { Vec3::Y };
            let side = up.cross(front);
            front - side * -0.55 - up * 0.36
        },
        Vec3::from_array,
    );
    axes_along(forward.normalize(), up)
}

fn axes_along(forward: Vec3, up: Vec3) -> [Vec3; 3] {
    let side = forward.cross(up);
    let right = if side.length() > 1e-6 { side.normalize() } else { forward.any_orthonormal_vector() };
    [right, right.cross(forward), forward]
}
