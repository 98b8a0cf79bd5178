//! The tables of a scene file, as written: the one place where keys, defaults, units and ranges are declared.

pub(crate) mod cloth;
mod figurine;
pub(crate) mod look;
pub(crate) mod mesher;
pub(crate) mod rigid;
mod shape;

pub(crate) use shape::{AnyMesh, ShapeTable};

use crate::motion::{Extrapolation, Interpolation};
use crate::read::declare::{At, choice, table};
use crate::read::keyword::keyword;
use crate::read::values::{BodyName, Formula, MaterialName, MeshName, Named, PathText, Scale};
use billow_num::Vec3;
use cloth::{AirTable, ClothSolverTable, ClothTable, Collision};
use look::{CameraTable, GroundTable, LightTable, SkyTable, SurfaceTable};
use mesher::MesherTable;
use rigid::{ArrayTable, RigidSolverTable};

table! {
    /// A scene: meshes and materials, the bodies made of them, how long to simulate and what to keep.
    pub(crate) struct SceneTable {
        /// Title, for people.
        title: String = String::new();
        /// What the scene shows, for people.
        description: String = String::new();
        /// Other scene files to build on, relative to this file. They are laid over each other in order and this file
        /// over them: tables are merged key by key, any other value replaces the one below it.
        include: Vec<PathText>;
        /// How long and how finely to simulate.
        simulation: SimulationTable;
        /// Numbers that formulas may use by name, for example `speed = 2.5`.
        parameter: Named<f64>;
        /// Shapes: made by a generator or read from a file. A mesh appears in the scene when a body uses it.
        mesh: Named<MeshTable>;
        /// What bodies are made of.
        material: Named<MaterialTable>;
        /// The things in the scene.
        body: Named<BodyTable>;
        /// Pieces of cloth.
        cloth: Named<ClothTable>;
        /// The air around cloth.
        air: AirTable;
        /// Settings of the cloth solver.
        cloth_solver: ClothSolverTable;
        /// Settings of the solver of rigid bodies.
        rigid_solver: RigidSolverTable;
        /// How objects of the frames that are not bodies are shown, by their names: smoke, water, spray, threads.
        look: Named<SurfaceTable>;
        /// Where the viewer of the pictures stands.
        camera: CameraTable;
        /// Lights of the pictures; three-point light if there are none.
        light: Named<LightTable>;
        /// Surroundings of the pictures.
        sky: SkyTable;
        /// Ground of the pictures.
        ground: GroundTable;
        /// What to keep and where.
        output: OutputTable;
        /// What must be true of a finished run; `billow check` judges it.
        check: Named<CheckTable>;
    }
}

table! {
    /// How long and how finely to simulate.
    pub(crate) struct SimulationTable {
        /// Number of the last frame; frame 0 is the initial state.
        frames: u32 = 120 => range(0.0, 1e6);
        /// Frames per second of simulated time.
        fps: f64 = 24.0 => unit("1/s"), range(0.001, 1e6);
        /// Steps per frame. More are slower and more accurate.
        substeps: u32 = 4 => range(1.0, 1e5);
        /// Acceleration of everything that is free to fall; its components may be formulas of the time t. The default is
        /// 9.80665 downward.
        gravity: Option<[Formula; 3]> => unit("m/s²"), range(-1e6, 1e6);
        /// The axis that points up; it decides the default gravity and how other programs show the result.
        up: Up = Up::Z;
        /// How often a step that fails may be cut in half before the run gives up.
        max_halvings: u32 = 8 => range(0.0, 24.0);
        /// Stop after so much computing time, leaving a run that can be resumed.
        time_limit: Option<f64> => unit("s"), above(0.0), at_most(1e9);
    }
}

keyword! {
    /// The axis that points up.
    pub enum Up {
        /// y is up, as in many animation programs.
        "y" Y,
        /// z is up.
        "z" Z,
    }
}

table! {
    /// A shape, from a generator (`shape`) or a file (`file`).
    pub(crate) struct MeshTable {
        /// Mesh file (.obj, .ply, .stl) relative to the scene file, instead of `shape`.
        file: Option<PathText>;
        /// Repair a mesh file: join vertices closer than this (0 joins equal ones only), drop triangles without area or
        /// that are there twice, and turn the rest outward. Files that repeat vertices need it to be closed.
        weld: Option<f64> => unit("m"), range(0.0, 1e3);
        /// Scale, then turn, then move the mesh.
        transform: TransformTable;
        /// Makes the mesh anew, as tetrahedra or as an even surface.
        mesher: Option<MesherTable>;
        ..shape: Option<ShapeTable>;
    }
}

table! {
    /// Scale, then turn, then move.
    pub(crate) struct TransformTable {
        /// Movement.
        translate: Vec3 = Vec3::ZERO => unit("m"), range(-1e9, 1e9);
        /// Turn.
        rotate: Option<RotationTable>;
        /// One factor, or one per axis.
        scale: Scale = Scale(Vec3::ONE) => above(0.0), at_most(1e9);
    }
}

table! {
    /// An orientation: `axis` with `degrees`, or `quaternion`, or `euler`.
    pub(crate) struct RotationTable {
        /// Axis of the turn; its length does not matter.
        axis: Option<Vec3>;
        /// Angle about `axis`, counter-clockwise seen from its tip.
        degrees: Option<Formula> => unit("°");
        /// Quaternion as x, y, z, w; its length does not matter.
        quaternion: Option<[f64; 4]>;
        /// Angles about the fixed x, y and z axes, applied in this order.
        euler: Option<Vec3> => unit("°");
    }
}

table! {
    /// What a body is made of: a preset, with single values replaced.
    pub(crate) struct MaterialTable {
        /// Material to start from.
        preset: Preset = Preset::Plastic;
        /// Mass per volume of the solid material.
        density: Option<f64> => unit("kg/m³"), above(0.0), at_most(1e6);
        /// Coulomb friction coefficient against itself.
        friction: Option<f64> => range(0.0, 10.0);
        /// Part of the normal speed that survives an impact.
        restitution: Option<f64> => range(0.0, 1.0);
        /// Resistance to rolling: lever arm of the normal force as a part of the local radius of curvature.
        rolling: Option<f64> => range(0.0, 10.0);
        /// Resistance to spinning about the normal of a contact, likewise.
        spinning: Option<f64> => range(0.0, 10.0);
        /// Thickness of a sheet of it.
        thickness: Option<f64> => unit("m"), above(0.0), at_most(1.0);
        /// Mass per area of a sheet of it; `density` times the preset's thickness if not given.
        area_density: Option<f64> => unit("kg/m²"), range(1e-4, 1e3);
        /// Resistance of a sheet to stretching: tension per width at unit strain.
        stretch: Option<f64> => unit("N/m"), range(1e-3, 1e7);
        /// Damping of in-plane motion of a sheet.
        stretch_damping: Option<f64> => unit("N·s/m"), range(0.0, 1e5);
        /// Resistance of its triangles to in-plane collapse, as a part of `stretch`.
        shear: Option<f64> => range(0.0, 10.0);
        /// Resistance of a sheet to bending.
        bend: Option<f64> => unit("N·m"), range(0.0, 1e4);
        /// Damping of bending of a sheet.
        bend_damping: Option<f64> => unit("N·s"), range(0.0, 1e3);
        /// Largest extension of a sheet, as a part of its length.
        extension_limit: Option<f64> => range(0.0, 10.0);
        /// Largest compression of a sheet; 0 makes it buckle instead of shrinking.
        compression_limit: Option<f64> => range(0.0, 1.0);
        /// Largest change of strain of a sheet in one step.
        rate_limit: Option<f64> => range(1e-3, 10.0);
        /// Drag and lift coefficient of a sheet in moving air.
        air: Option<f64> => range(0.0, 10.0);
        /// Red, green and blue of the surface, linear.
        colour: Option<Vec3> => range(0.0, 1.0);
    }
}

keyword! {
    /// Materials with ready numbers.
    pub enum Preset {
        /// Aluminium.
        "aluminium" Aluminium,
        /// Brass.
        "brass" Brass,
        /// Plain-woven cotton.
        "cotton" Cotton,
        /// Heavy cotton twill.
        "denim" Denim,
        /// Soda-lime glass.
        "glass" Glass,
        /// Water ice at 0 °C.
        "ice" Ice,
        /// Vegetable-tanned leather.
        "leather" Leather,
        /// Hard plastic (ABS).
        "plastic" Plastic,
        /// Vulcanised rubber.
        "rubber" Rubber,
        /// Light plain-woven silk.
        "silk" Silk,
        /// Carbon steel.
        "steel" Steel,
        /// Granite.
        "stone" Stone,
        /// Water at 20 °C.
        "water" Water,
        /// Soft woollen cloth.
        "wool" Wool,
        /// Oak.
        "wood" Wood,
    }
}

table! {
    /// A thing in the scene: a mesh, a material and a motion.
    pub(crate) struct BodyTable {
        /// Its shape.
        mesh: MeshName;
        /// What it is made of; hard plastic if not given.
        material: Option<MaterialName>;
        /// Position of the mesh's origin. With `motion = "scripted"` the components may be formulas of the time t.
        position: [Formula; 3] = [0.0, 0.0, 0.0].map(Formula::number) => unit("m"), range(-1e9, 1e9);
        /// Orientation. With `motion = "scripted"` its `degrees` may be a formula of the time t.
        rotation: Option<RotationTable>;
        /// Point of the mesh that `rotation` leaves in place.
        pivot: Vec3 = Vec3::ZERO => unit("m"), range(-1e9, 1e9);
        /// How cloth and rigid bodies meet it.
        collision: Collision = Collision::Auto;
        /// Extra distance that cloth keeps where it meets the body by distance; by default as much as keeps straight edges of
        /// the cloth out of its round surface.
        margin: Option<f64> => unit("m"), range(0.0, 1e3);
        /// Distance between samples of the signed distance by which rigid bodies meet it; 1/96 of its longest side if not given.
        spacing: Option<f64> => unit("m"), above(0.0), at_most(1e6);
        /// Meshes it deforms to, one at each of `morph_times`: they have the triangles of `mesh`, with other positions. Its
        /// vertices go straight from one to the next. Cloth meets it by its triangles; rigid bodies pass through it.
        morph: Vec<MeshName>;
        /// Times of `morph`, increasing. The first mesh holds before, the last one after them.
        morph_times: Vec<f64> => unit("s"), range(-1e9, 1e9);
        /// Many copies of the body that share its mesh. They are called NAME-0, NAME-1 and so on.
        array: Option<ArrayTable>;
        /// How it is shown; by default as its material.
        look: SurfaceTable;
        ..motion: Option<MotionTable>;
    }
}

choice! {
    /// How the body moves; without it the body stays where it is.
    pub(crate) enum MotionTable by "motion" {
        /// Stays where it is.
        "static" Static {}
        /// Follows keyframes, relative to the body's `position` and `rotation`. Between keys it turns the short way.
        "keyframed" Keyframed {
            /// Times of the keys, increasing.
            times: Vec<f64> => unit("s"), range(-1e9, 1e9), at_least_values(1);
            /// Displacement at each key; none if left out.
            positions: Vec<Vec3> => unit("m"), range(-1e9, 1e9);
            /// Turn about `pivot` at each key; none if left out.
            rotations: Vec<At<RotationTable>>;
            /// What happens between two keys.
            interpolation: Interpolation = Interpolation::Smooth;
            /// What happens before the first and after the last key.
            extrapolation: Extrapolation = Extrapolation::Hold;
        }
        /// Follows formulas: `position` and `rotation.degrees` may contain the time t.
        "scripted" Scripted {}
        /// Flies freely: falls under gravity and tumbles without torque. The mesh must be closed.
        "free" Free {
            /// Velocity of the centre of mass at the start.
            velocity: Vec3 = Vec3::ZERO => unit("m/s"), range(-1e8, 1e8);
            /// Angular velocity at the start, in world axes.
            angular_velocity: Vec3 = Vec3::ZERO => unit("rad/s"), range(-1e6, 1e6);
        }
        /// Falls, collides, rubs, rolls and stacks. It meets all other rigid bodies and every body whose motion is prescribed.
        "rigid" Rigid {
            /// Velocity of the centre of mass at the start.
            velocity: Vec3 = Vec3::ZERO => unit("m/s"), range(-1e6, 1e6);
            /// Angular velocity at the start, in world axes.
            angular_velocity: Vec3 = Vec3::ZERO => unit("rad/s"), range(-1e6, 1e6);
            /// Mass; that of its material's density if not given.
            mass: Option<f64> => unit("kg"), above(0.0), at_most(1e12);
        }
    }
}

table! {
    /// What to keep and where.
    pub(crate) struct OutputTable {
        /// Run directory, relative to the working directory; `out/NAME` if not given.
        directory: Option<PathText>;
        /// Keep every so many frames; the first and the last are always kept. A killed run goes on from its last kept frame.
        every: u32 = 1 => range(1.0, 1e6);
        /// Data to keep with each body.
        attributes: Vec<BodyAttribute> = vec![BodyAttribute::Colour, BodyAttribute::Velocity];
        /// What to do about crossing triangles in a frame.
        audit: AuditPolicy = AuditPolicy::Report;
        /// Pairs of bodies that may cross, for example a post that stands in the ground. The name of an array stands for all its copies.
        may_cross: Vec<At<[BodyName; 2]>>;
    }
}

keyword! {
    /// Data kept with each body.
    pub enum BodyAttribute {
        /// Linear red, green, blue of its material.
        "colour" Colour,
        /// Velocity of its origin, or of its centre of mass if it moves freely [m/s].
        "velocity" Velocity,
        /// Angular velocity [rad/s].
        "angular-velocity" AngularVelocity,
        /// Mass [kg], of closed bodies.
        "mass" Mass,
    }
}

keyword! {
    /// What to do about crossing triangles in a frame.
    pub(crate) enum AuditPolicy {
        /// Do not look.
        "off" Off,
        /// Count them in the report.
        "report" Report,
        /// End the run.
        "fail" Fail,
    }
}

table! {
    /// Something that must be true of a finished run.
    pub(crate) struct CheckTable {
        /// Judge only runs that have at least this frame; shorter ones skip the check.
        needs_frame: u32 = 0 => range(0.0, 1e6);
        /// Judge frames from this one on.
        from_frame: u32 = 0 => range(0.0, 1e6);
        /// Judge frames up to this one; all if not given.
        to_frame: Option<u32> => range(0.0, 1e6);
        ..kind: CheckKind;
    }
}

choice! {
    /// What is judged.
    pub(crate) enum CheckKind by "kind" {
        /// A statistic of the run stays what it was in the first frame.
        "constant" Constant {
            /// Statistic, for example `ball.energy`.
            statistic: String;
            /// Largest change allowed, relative to the first value.
            relative: f64 = 0.0 => at_least(0.0);
            /// Largest change allowed, on top of that.
            absolute: f64 = 0.0 => at_least(0.0);
        }
        /// A statistic stays within limits in every frame.
        "range" Range {
            /// Statistic, for example `ball.height`.
            statistic: String;
            /// Smallest value allowed.
            min: Option<f64>;
            /// Largest value allowed.
            max: Option<f64>;
        }
        /// The centre of a body follows a path.
        "path" Path {
            /// Body.
            body: BodyName;
            /// Where its centre of mass (of a closed mesh; else its origin) should be, by formulas of the time t.
            position: [Formula; 3] => unit("m");
            /// Largest distance allowed.
            tolerance: f64 = 1e-9 => unit("m"), at_least(0.0);
        }
        /// The elements of a body are well shaped, none is inverted, and the boundary of tetrahedra is sound: a manifold, no
        /// tetrahedron with four nodes on it, no edge inside that joins two of its nodes.
        "elements" Elements {
            /// Body.
            body: BodyName;
            /// Fewest elements allowed.
            at_least: u32 = 1;
            /// Largest ratio of longest edge to shortest altitude allowed.
            max_aspect: Option<f64> => above(1.0);
            /// Smallest angle allowed, between the faces of a tetrahedron or the edges of a triangle.
            min_angle: Option<f64> => unit("°"), range(0.0, 90.0);
            /// Largest such angle allowed.
            max_angle: Option<f64> => unit("°"), range(0.0, 180.0);
        }
        /// A direction of a body turns over so many times: its component along a fixed direction changes sign.
        "flips" Flips {
            /// Body.
            body: BodyName;
            /// Direction in the body's coordinates.
            axis: Vec3;
            /// Fixed direction.
            along: Vec3;
            /// Fewest flips allowed.
            at_least: u32 = 0;
            /// Most flips allowed.
            at_most: Option<u32>;
        }
        /// Rigid bodies do not overlap: their exact meshes are measured in every frame, apart from the solver. Rings
        /// (torus or ring) must stay linked or unlinked as they begin.
        "penetration" Penetration {
            /// Largest depth allowed; 1 % of the thickness of the thinnest rigid body if not given.
            max: Option<f64> => unit("m"), at_least(0.0);
            /// Largest mean depth of overlapping pairs allowed, over the whole run; any if not given.
            mean: Option<f64> => unit("m"), at_least(0.0);
        }
    }
}
