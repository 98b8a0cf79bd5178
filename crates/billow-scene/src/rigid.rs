//! The rigid bodies of a validated scene: shapes, placements, settings. Immutable, but for gravity that varies.

use crate::motion::Motion;
use billow_io::Frame;
use billow_levelset::Twist;
use billow_num::{Pose, Vec3};
use billow_rigid::meter::{Circle, Meter, linked};
use billow_rigid::{Config, Model, State};
use std::collections::HashMap;
use std::fmt;

/// Everything the solver of rigid bodies needs to know of a scene.
pub(crate) struct RigidPlan {
    /// The bodies that take part: number in the scene's list, in the order of the model.
    pub(crate) members: Vec<Member>,
    /// The solver's model; gravity is that of t = 0.
    pub(crate) model: Model,
    pub(crate) config: Config,
    /// Smallest thickness among bodies that move by contact [m].
    pub(crate) thinnest: f64,
}

/// A body that takes part.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// Name in the scene.
    pub(crate) name: String,
    /// Number in the scene's list of bodies.
    pub(crate) body: usize,
    /// Leads from the coordinates of its shape in the model to those of its mesh.
    pub(crate) local: Pose,
    /// Centre line of its mesh if it is a ring: centre, unit normal and radius [m] in the mesh's coordinates.
    pub(crate) circle: Option<Circle>,
    /// Whether contact moves it.
    pub(crate) dynamic: bool,
}

impl fmt::Debug for RigidPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RigidPlan").field("members", &self.members.len()).finish_non_exhaustive()
    }
}

impl RigidPlan {
    /// Names of the solids that contact moves: two that touch may cross by rounding, which the meter tells from overlap.
    pub(crate) fn measured_names(&self) -> impl Iterator<Item = &str> {
        let solid = |k: &usize| self.members[*k].dynamic && self.model.geometry(*k).is_solid();
        (0..self.members.len()).filter(solid).map(|k| self.members[k].name.as_str())
    }

    /// The state in which the bodies stand as in a frame; `None` if one is missing. Velocities are those of the start.
    pub(crate) fn state_at(&self, frame: &Frame) -> Option<State> {
        let poses: HashMap<&str, &Pose> = frame.objects.iter().map(|o| (o.name.as_str(), &o.pose)).collect();
        let mut state = self.model.start();
        for (k, member) in self.members.iter().enumerate() {
            let placement = member.local.then(poses.get(member.name.as_str())?);
            state.bodies[k].pose = self.model.geometry(k).frame().then(&placement);
        }
        Some(state)
    }

    /// Pose of a body's mesh.
    pub(crate) fn pose(&self, state: &State, member: usize) -> Pose {
        self.members[member].local.inverse().then(&self.model.placement(state, member))
    }
}

/// Measures overlaps on exact meshes, apart from the solver.
#[derive(Debug)]
pub(crate) struct Referee<'a> {
    plan: &'a RigidPlan,
    meter: Meter,
}

/// What the referee found in one frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Found {
    /// Overlapping pairs with their depth [m].
    pub(crate) pairs: Vec<([u32; 2], f64)>,
    /// Pairs of rings that are linked like those of a chain.
    pub(crate) linked: Vec<[u32; 2]>,
}

impl<'a> Referee<'a> {
    pub(crate) fn new(plan: &'a RigidPlan) -> Self {
        Self { plan, meter: Meter::new(&plan.model) }
    }

    /// Measures the bodies as they stand in a frame; `None` if one is missing.
    pub(crate) fn measure(&self, frame: &Frame) -> Option<Found> {
        let state = self.plan.state_at(frame)?;
        let pairs = self.meter.measure(&self.plan.model, &state).pairs;
        Some(Found { pairs, linked: self.links(&state) })
    }

    /// Linked pairs of rings, ascending.
    fn links(&self, state: &State) -> Vec<[u32; 2]> {
        let circles: Vec<(u32, Circle)> = (0..self.plan.members.len())
            .filter_map(|k| {
                let own = self.plan.members[k].circle?;
                let pose = self.plan.pose(state, k);
                let circle = Circle {
                    centre: pose.point(own.centre),
                    normal: pose.vector(own.normal),
                    radius: own.radius,
                };
                Some((k as u32, circle))
            })
            .collect();
        let mut found = Vec::new();
        for (i, (a, p)) in circles.iter().enumerate() {
            for (b, q) in &circles[i + 1..] {
                if p.centre.distance(q.centre) < p.radius + q.radius && linked(p, q) {
                    found.push([*a, *b]);
                }
            }
        }
        found
    }
}

/// A prescribed motion for the solver: before t = 0 everything stands still.
pub(crate) struct Driven {
    pub(crate) motion: Motion,
    pub(crate) local: Pose,
}

impl billow_levelset::Motion for Driven {
    fn pose(&self, t: f64) -> Pose {
        self.local.then(&self.motion.pose(t.max(0.0)).unwrap_or_default())
    }

    fn twist(&self, t: f64) -> Twist {
        let (linear, angular) = self.motion.velocity(t).unwrap_or_default();
        let arm: Vec3 = self.motion.pose(t).unwrap_or_default().vector(self.local.position);
        Twist { linear: linear + angular.cross(arm), angular }
    }
}

#[cfg(test)]
mod tests {
    use crate::Loader;

    #[test]
    fn the_thousand_rings_of_the_gallery_hold_one_level_set() {
        let scene = Loader::gallery("rings").load().unwrap();
        let plan = scene.rigid_plan().unwrap();
        let rings: Vec<usize> =
            (0..plan.members.len()).filter(|i| plan.members[*i].circle.is_some()).collect();
        let shape = plan.model.geometry(rings[0]);
        assert!(rings.len() == 1000 && shape.grid_bytes() > 0);
        assert!(rings.iter().all(|i| std::ptr::eq(plan.model.geometry(*i), shape)));
        // Poles and ground are convex and need none.
        let others = (0..plan.members.len()).filter(|i| !rings.contains(i));
        assert!(others.map(|i| plan.model.geometry(i)).all(|other| other.is_convex()));
    }
}
