//! Cloth: garments, what holds them, how they meet bodies, the air, and the settings of the solver.

use super::RotationTable;
use super::look::SurfaceTable;
use crate::motion::{Extrapolation, Interpolation};
use crate::read::declare::{At, choice, table};
use crate::read::keyword::keyword;
use crate::read::values::{BodyName, Formula, MaterialName, MeshName, Named};
use billow_num::Vec3;

table! {
    /// A piece of cloth: a mesh that bends and folds. Pieces collide with themselves, with each other and with bodies.
    pub(crate) struct ClothTable {
        /// Its shape at rest.
        mesh: MeshName;
        /// Fabric; plain cotton if not given.
        material: Option<MaterialName>;
        /// Where the mesh's origin is at the start.
        position: Vec3 = Vec3::ZERO => unit("m"), range(-1e6, 1e6);
        /// Orientation at the start.
        rotation: Option<RotationTable>;
        /// Velocity at the start.
        velocity: Vec3 = Vec3::ZERO => unit("m/s"), range(-1e4, 1e4);
        /// What shape it wants to bend back to.
        rest: RestShape = RestShape::Flat;
        /// Which pairs of nodes have springs.
        layout: Springs = Springs::Edges;
        /// Give every node the same mass, which makes hems heavier, instead of its share of the area.
        equal_masses: bool = false;
        /// Distance that layers keep; the fabric's thickness, but at least 1 mm, if not given. Thicker is faster.
        thickness: Option<f64> => unit("m"), range(1e-5, 0.1);
        /// Nodes that follow a prescribed motion.
        pin: Named<PinTable>;
        /// How it is shown; by default as its material.
        look: SurfaceTable;
    }
}

keyword! {
    /// What shape a fabric wants to bend back to.
    pub(crate) enum RestShape {
        /// Flat, whatever its mesh looks like.
        "flat" Flat,
        /// The angles of its mesh: pleats, moulded shells, hollow figures.
        "mesh" Mesh,
    }
}

keyword! {
    /// Which pairs of nodes have springs.
    pub(crate) enum Springs {
        /// The edges of the mesh.
        "edges" Edges,
        /// The edges and the second diagonal of every quad.
        "grid" Grid,
    }
}

table! {
    /// Nodes of a cloth that follow a prescribed motion: those listed, inside a box, or nearest to points.
    pub(crate) struct PinTable {
        /// Nodes by number.
        nodes: Vec<u32>;
        /// Two opposite corners of a box: all nodes in it at the start.
        inside: Option<[Vec3; 2]> => unit("m"), range(-1e9, 1e9);
        /// Points: the node nearest to each at the start.
        nearest: Vec<Vec3> => unit("m"), range(-1e9, 1e9);
        /// Let go at this time; never if not given.
        until: Option<f64> => unit("s"), range(0.0, 1e9);
        ..motion: Option<PinMotion>;
    }
}

choice! {
    /// How pinned nodes move; without it they stay where they are.
    pub(crate) enum PinMotion by "motion" {
        /// They stay where they are.
        "fixed" Fixed {}
        /// They move with a body.
        "attached" Attached {
            /// The body.
            body: BodyName;
        }
        /// They follow keyframes, relative to where they are at the start.
        "keyframed" Keyframed {
            /// Times of the keys, increasing.
            times: Vec<f64> => unit("s"), range(-1e9, 1e9), at_least_values(1);
            /// Displacement at each key; none if left out.
            positions: Vec<Vec3> => unit("m"), range(-1e9, 1e9);
            /// Turn about `pivot` at each key; none if left out.
            rotations: Vec<At<RotationTable>>;
            /// Point that turning leaves in place.
            pivot: Vec3 = Vec3::ZERO => unit("m"), range(-1e9, 1e9);
            /// What happens between two keys.
            interpolation: Interpolation = Interpolation::Smooth;
            /// What happens before the first and after the last key.
            extrapolation: Extrapolation = Extrapolation::Hold;
        }
        /// They follow formulas of the time t, relative to where they are at the start.
        "scripted" Scripted {
            /// Displacement.
            displacement: [Formula; 3] = [0.0, 0.0, 0.0].map(Formula::number) => unit("m"), range(-1e9, 1e9);
            /// Turn about `pivot`; its `degrees` may be a formula.
            rotation: Option<RotationTable>;
            /// Point that turning leaves in place.
            pivot: Vec3 = Vec3::ZERO => unit("m"), range(-1e9, 1e9);
        }
    }
}

keyword! {
    /// How cloth meets a body.
    pub(crate) enum Collision {
        /// Thick, smooth, closed bodies by their distance, all others by their triangles.
        "auto" Auto,
        /// By the exact distance of its generator: icosphere, sphere, capsule, torus, cylinder or box.
        "exact" Exact,
        /// By its distance sampled on a grid; the mesh must be closed.
        "level-set" LevelSet,
        /// By its triangles, however thin or sharp.
        "mesh" Mesh,
        /// Everything below the plane of a flat body is solid: a floor without end.
        "ground" Ground,
        /// Not at all.
        "none" None,
    }
}

table! {
    /// The air around cloth. Faces that move through it feel drag and lift.
    pub(crate) struct AirTable {
        /// Density; 0 for none.
        density: f64 = 1.2 => unit("kg/m³"), range(0.0, 1e3);
        /// Velocity of the wind, by formulas of the time t: gusts are sums of sines.
        wind: [Formula; 3] = [0.0, 0.0, 0.0].map(Formula::number) => unit("m/s"), range(-1e3, 1e3);
    }
}

table! {
    /// Settings of the cloth solver. Collision steps per frame are `substeps` under [simulation].
    pub(crate) struct ClothSolverTable {
        /// How internal forces are integrated.
        integrator: Scheme = Scheme::Coupled;
        /// Least number of small steps of the coupled integrator in each collision step; where springs are beyond their strain
        /// limits there are up to eight times as many. More stretch less and hold deeper piles.
        small_steps: u32 = 10 => range(1.0, 1e4);
        /// How often the coupled integrator repeats a step to take account of collisions it did not foresee.
        attempts: u32 = 1 => range(0.0, 100.0);
        /// Largest part of the explicit stability limit a dynamics step may take.
        courant: f64 = 0.5 => range(0.01, 1.0);
        /// Relative residual of the linear solves. Smaller is slower and more exact.
        tolerance: f64 = 1e-3 => range(1e-12, 0.5);
        /// Most iterations of a linear solve.
        max_iterations: u32 = 200 => range(1.0, 1e6);
        /// How strain beyond the fabric's limits is taken out.
        strain_limiting: Limiting = Limiting::GaussSeidel;
        /// Sweeps of strain limiting per step, up to twelve times as many while springs stay beyond their limits. More keep the
        /// limits better.
        strain_sweeps: u32 = 8 => range(1.0, 1e4);
        /// Stiffness of the repulsion between layers, per node.
        repulsion_stiffness: f64 = 50.0 => unit("N/m"), range(0.0, 1e9);
        /// Part of an overlap of layers that one small step may remove.
        recovery: f64 = 0.2 => range(0.0, 1.0);
        /// Fastest separation of layers that overlap.
        recovery_speed: f64 = 0.3 => unit("m/s"), range(0.0, 1e3);
        /// Passes over the contacts. More carry forces and friction through deeper stacks.
        repulsion_passes: u32 = 4 => range(1.0, 1e3);
        /// Apply repulsions all at once with this factor instead of one after the other.
        parallel_relaxation: Option<f64> => above(0.0), at_most(1.0);
        /// Distance never undercut, as a part of the thickness.
        separation: f64 = 1e-3 => range(1e-6, 0.5);
        /// Rounds of collision impulses before impact zones take over.
        collision_rounds: u32 = 30 => range(0.0, 1e3);
        /// How the nodes of an impact zone move together.
        zones: ZoneKind = ZoneKind::Rigid;
        /// Drag that pulls every node to rest.
        drag: f64 = 0.0 => unit("1/s"), range(0.0, 1e6);
        /// Let the cloth settle for so long before frame 0, while bodies stand still where they begin.
        preroll: f64 = 0.0 => unit("s"), range(0.0, 1e4);
        /// Drag during the preroll, on top of `drag`.
        preroll_drag: f64 = 4.0 => unit("1/s"), range(0.0, 1e6);
        /// Let cloth begin crossed: the pairs of triangles that cross are left alone until they part, and then never cross
        /// again. Without it such a scene is refused with the list of these pairs.
        allow_initial_crossings: bool = false;
        /// Test exactly, after every collision step, that nothing crosses; a step that fails is taken back and halved.
        audit: bool = false;
    }
}

keyword! {
    /// How internal forces are integrated.
    pub(crate) enum Scheme {
        /// Forces, contacts and bodies together in small steps: stable at any stiffness, quick to feel impacts.
        "coupled" Coupled,
        /// All internal forces implicit: stable at any stiffness.
        "implicit" Implicit,
        /// Central Newmark: explicit half step, then implicit damping.
        "central" Central,
        /// The half steps in the other order: monotone for constant steps.
        "staggered" Staggered,
        /// Implicit half step, rewound: monotone for any steps.
        "monotone" Monotone,
        /// Central Newmark with damping marched by fixed-point iteration.
        "explicit-march" ExplicitMarch,
    }
}

keyword! {
    /// How excessive strain is taken out.
    pub(crate) enum Limiting {
        /// One spring after the other.
        "gauss-seidel" GaussSeidel,
        /// All springs at once.
        "jacobi" Jacobi,
        /// Not at all.
        "off" Off,
    }
}

keyword! {
    /// How the nodes of an impact zone move together.
    pub(crate) enum ZoneKind {
        /// As a rigid body over the whole step.
        "rigid" Rigid,
        /// With the velocities of a rigid body.
        "rigid-velocity" RigidVelocity,
        /// As an affine body, which keeps more of the motion.
        "affine" Affine,
    }
}
