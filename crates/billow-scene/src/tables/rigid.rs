//! Rigid bodies: many copies of one body, and the settings of the solver.

use super::RotationTable;
use crate::read::declare::{At, choice, table};
use crate::read::keyword::keyword;
use billow_num::Vec3;

choice! {
    /// Many copies of a body. The body's `position` is where the array's middle is.
    pub(crate) enum ArrayTable by "kind" {
        /// Rows, columns and layers; the layers begin at the body's `position` and grow upward.
        "grid" Grid {
            /// Copies along x, y and z.
            count: [u32; 3] = [1, 1, 1] => range(1.0, 1e5);
            /// Distance from one copy to the next along x, y and z.
            spacing: Vec3 = Vec3::ONE => unit("m"), range(-1e6, 1e6);
            /// Shift of every second layer, as a part of `spacing`: 0.5 along x lays bricks.
            stagger: Vec3 = Vec3::ZERO => range(-1.0, 1.0);
            /// Stop after so many.
            most: Option<u32> => range(1.0, 1e5);
            /// Largest random displacement along each axis.
            jitter: Vec3 = Vec3::ZERO => unit("m"), range(0.0, 1e6);
            /// How each copy is turned.
            orientation: Orientation = Orientation::Same;
            /// Number that decides the random choices.
            seed: u32 = 0;
            /// Colours of the copies, in turn; the body's own if there are none.
            colours: Vec<Vec3> => range(0.0, 1.0);
        }
        /// On a circle about the z axis through the body's `position`; each copy is turned with its place.
        "circle" Circle {
            /// Copies.
            count: u32 => range(1.0, 1e5);
            /// Radius of the circle.
            radius: f64 => unit("m"), above(0.0), at_most(1e6);
            /// Angle of the first copy, from the x axis.
            start: f64 = 0.0 => unit("°"), range(-360.0, 360.0);
            /// Angle that the copies cover.
            sweep: f64 = 360.0 => unit("°"), range(-360.0, 360.0);
            /// Colours of the copies, in turn; the body's own if there are none.
            colours: Vec<Vec3> => range(0.0, 1.0);
        }
        /// At random places of a box, apart from each other.
        "scatter" Scatter {
            /// Copies.
            count: u32 => range(1.0, 1e5);
            /// Edge lengths of the box around the body's `position`.
            size: Vec3 => unit("m"), range(0.0, 1e6);
            /// Least distance between the origins of two copies; the diameter of the mesh about its origin if not given.
            apart: Option<f64> => unit("m"), range(0.0, 1e6);
            /// How each copy is turned.
            orientation: Orientation = Orientation::Random;
            /// Number that decides the random choices.
            seed: u32 = 0;
            /// Colours of the copies, in turn; the body's own if there are none.
            colours: Vec<Vec3> => range(0.0, 1.0);
        }
        /// At given places.
        "list" List {
            /// Displacement of each copy.
            positions: Vec<Vec3> => unit("m"), range(-1e9, 1e9), at_least_values(1);
            /// Turn of each copy about its origin; none if left out.
            rotations: Vec<At<RotationTable>>;
            /// Colours of the copies, in turn; the body's own if there are none.
            colours: Vec<Vec3> => range(0.0, 1.0);
        }
    }
}

keyword! {
    /// How the copies of a body are turned.
    pub(crate) enum Orientation {
        /// As the body.
        "same" Same,
        /// Any way at all.
        "random" Random,
        /// By any angle about the axis that points up.
        "about-up" AboutUp,
    }
}

table! {
    /// Settings of the solver of rigid bodies. Steps per frame are `substeps` under [simulation].
    pub(crate) struct RigidSolverTable {
        /// How contact is resolved.
        method: RigidMethod = RigidMethod::Persistent;
        /// How the collisions of a pair go on after the first impulse; for the method "document".
        collision_geometry: Lag = Lag::Lagged;
        /// Passes of collision over all pairs. More let a shock travel farther within one step.
        collision_passes: Option<u32> => range(1.0, 1e3);
        /// Sweeps over all contacts. More resolve weight better.
        contact_sweeps: Option<u32> => range(1.0, 1e4);
        /// Sweeps within a level of the contact graph in the last, shock-propagating sweep; 0 leaves it out.
        shock_sweeps: Option<u32> => range(0.0, 1e3);
        /// Sweeps of push-out after the bodies moved; 0 leaves it out.
        push_sweeps: Option<u32> => range(0.0, 1e3);
        /// Times that contacts which the solved velocities lead into are added and solved again.
        rounds: Option<u32> => range(0.0, 100.0);
        /// Distance at which contacts are taken up, as a part of the smaller body's half thickness.
        margin: Option<f64> => range(0.0, 1.0);
        /// Largest way of one body relative to a near one in a part of a step, as a part of the thinner one's half thickness.
        stride: Option<f64> => range(0.01, 10.0);
        /// Largest rotation of a body in a part of a step.
        turn: Option<f64> => unit("rad"), range(0.01, 3.0);
        /// Most parts a step is divided into.
        parts: Option<u32> => range(1.0, 1e3);
        /// Time a group of touching bodies must have been still before it is left to sleep; 0 keeps all awake.
        sleep: f64 = 0.0 => unit("s"), range(0.0, 1e6);
        /// How the signed distance of bodies that are not convex is stored. "auto" chooses by the samples of a full lattice: uniform up to 8 million, an octree up to 64 million, sparse blocks beyond.
        storage: PhiStorage = PhiStorage::Auto;
    }
}

keyword! {
    /// How contact is resolved.
    pub(crate) enum RigidMethod {
        /// Contacts found once, impulses carried from step to step, shock propagation that is remembered.
        "persistent" Persistent,
        /// The published sequence: contacts found anew in every sweep, impulses gradual and forgotten.
        "document" Document,
    }
}

keyword! {
    /// How the collisions of a pair go on.
    pub(crate) enum Lag {
        /// The places found first serve until all of them have separated once.
        "lagged" Lagged,
        /// The pair is moved and searched again after each impulse.
        "re-evolved" Reevolved,
    }
}

keyword! {
    /// How a signed distance is stored.
    pub(crate) enum PhiStorage {
        /// Uniform up to 8 million samples, an octree up to 64 million, sparse blocks beyond.
        "auto" Auto,
        /// A full lattice: fastest.
        "uniform" Uniform,
        /// An octree refined at the surface.
        "octree" Octree,
        /// Blocks around the surface.
        "sparse" Sparse,
    }
}
