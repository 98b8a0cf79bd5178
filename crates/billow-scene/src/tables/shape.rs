//! Mesh generators as scene files name them.

use super::figurine::figurine;
use crate::read::declare::choice;
use billow_geom::shapes::{self, BoatHull, Bone, Cup, Funnel, Gear, Ring, Tee};
use billow_geom::{GeomError, TetMesh, TriMesh};
use billow_levelset::{Ball, Capsule, Collider, Cuboid, Cylinder, LevelSetError, Torus};
use billow_num::{Vec2, Vec3};
use std::sync::Arc;

/// A mesh of either kind.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AnyMesh {
    Triangles(TriMesh),
    Tets(TetMesh),
}

choice! {
    /// A generator of meshes. Shapes are centred on the origin with their axis along z, unless they say otherwise.
    pub(crate) enum ShapeTable by "shape" {
        /// A sphere of nearly equal triangles: each edge of an icosahedron cut into parts and pushed out.
        "icosphere" Icosphere {
            /// Radius.
            radius: f64 = 0.5 => unit("m"), above(0.0), at_most(1e6);
            /// Parts per edge; 20·parts² triangles.
            parts: u32 = 12 => range(1.0, 4096.0);
        }
        /// A sphere of meridians and parallels.
        "sphere" Sphere {
            /// Radius.
            radius: f64 = 0.5 => unit("m"), above(0.0), at_most(1e6);
            /// Meridians.
            segments: u32 = 32 => at_least(3.0);
            /// Bands between the poles.
            rings: u32 = 16 => at_least(2.0);
        }
        /// A box.
        "box" Box {
            /// Edge lengths.
            size: Vec3 = Vec3::ONE => unit("m"), above(0.0), at_most(1e6);
            /// Cells along x, y and z.
            segments: [u32; 3] = [1, 1, 1] => at_least(1.0);
        }
        /// A rectangle in the plane z = 0, facing up.
        "plane" Plane {
            /// Lengths along x and y.
            size: [f64; 2] = [10.0, 10.0] => unit("m"), above(0.0), at_most(1e6);
            /// Cells along x and y.
            segments: [u32; 2] = [1, 1] => at_least(1.0);
        }
        /// A rectangle of cloth in the plane z = 0 whose diagonals alternate.
        "cloth" Cloth {
            /// Lengths along x and y.
            size: [f64; 2] = [1.0, 1.0] => unit("m"), above(0.0), at_most(1e6);
            /// Nodes along x and y.
            nodes: [u32; 2] = [50, 50] => at_least(2.0);
            /// Amplitude of a faint uneven ripple, so that a sheet on edge knows which way to buckle.
            ripple: f64 = 0.0 => unit("m"), range(0.0, 1e3);
        }
        /// A round sheet in the plane z = 0, of even triangles, with or without a hole.
        "disc" Disc {
            /// Radius.
            radius: f64 = 0.5 => unit("m"), above(0.0), at_most(1e6);
            /// Radius of the hole; 0 for none.
            hole: f64 = 0.0 => unit("m"), at_least(0.0), at_most(1e6);
            /// Rings of triangles from the hole to the rim.
            rings: u32 = 24 => range(1.0, 4096.0);
        }
        /// A seated figure that stands on z = 0 and looks along x.
        "figurine" Figurine {
            /// Height.
            height: f64 = 0.5 => unit("m"), above(0.0), at_most(1e6);
            /// Edges of the surface over the height; about 4·detail² triangles.
            detail: u32 = 40 => range(12.0, 1024.0);
        }
        /// A cylinder.
        "cylinder" Cylinder {
            /// Radius.
            radius: f64 = 0.5 => unit("m"), above(0.0), at_most(1e6);
            /// Length along z.
            height: f64 = 1.0 => unit("m"), above(0.0), at_most(1e6);
            /// Segments about the axis.
            segments: u32 = 32 => at_least(3.0);
            /// Bands along the axis.
            stacks: u32 = 1 => at_least(1.0);
            /// Close the ends.
            caps: bool = true;
        }
        /// A cone with its base in z = 0.
        "cone" Cone {
            /// Radius of the base.
            radius: f64 = 0.5 => unit("m"), above(0.0), at_most(1e6);
            /// Height of the tip.
            height: f64 = 1.0 => unit("m"), above(0.0), at_most(1e6);
            /// Segments about the axis.
            segments: u32 = 32 => at_least(3.0);
            /// Bands along the axis.
            stacks: u32 = 1 => at_least(1.0);
            /// Close the base.
            caps: bool = true;
        }
        /// A cylinder between two half balls.
        "capsule" Capsule {
            /// Radius.
            radius: f64 = 0.25 => unit("m"), above(0.0), at_most(1e6);
            /// Length of the cylinder.
            length: f64 = 1.0 => unit("m"), above(0.0), at_most(1e6);
            /// Segments about the axis.
            segments: u32 = 32 => at_least(3.0);
            /// Bands of each half ball.
            rings: u32 = 8 => at_least(1.0);
        }
        /// A torus.
        "torus" Torus {
            /// Radius of the centre line.
            radius: f64 = 0.5 => unit("m"), above(0.0), at_most(1e6);
            /// Radius of the tube.
            tube_radius: f64 = 0.15 => unit("m"), above(0.0), at_most(1e6);
            /// Segments about the axis.
            segments: u32 = 48 => at_least(3.0);
            /// Segments about the tube.
            tube_segments: u32 = 24 => at_least(3.0);
        }
        /// A flat ring with bevelled edges.
        "ring" Ring {
            /// Radius of the hole.
            inner_radius: f64 = 0.5 => unit("m"), above(0.0), at_most(1e6);
            /// Outer radius.
            outer_radius: f64 = 1.0 => unit("m"), above(0.0), at_most(1e6);
            /// Height.
            height: f64 = 0.3 => unit("m"), above(0.0), at_most(1e6);
            /// Width of the bevel, below half the height and half the width.
            bevel: f64 = 0.08 => unit("m"), above(0.0), at_most(1e6);
            /// Segments about the axis.
            segments: u32 = 20 => at_least(3.0);
        }
        /// A spur gear.
        "gear" Gear {
            /// Number of teeth.
            teeth: u32 = 12 => at_least(3.0);
            /// Radius at the bottom of the teeth.
            root_radius: f64 = 0.8 => unit("m"), above(0.0), at_most(1e6);
            /// Radius at the top of the teeth.
            tip_radius: f64 = 1.0 => unit("m"), above(0.0), at_most(1e6);
            /// Radius of the bore; 0 for none.
            bore_radius: f64 = 0.3 => unit("m"), at_least(0.0), at_most(1e6);
            /// Height.
            height: f64 = 0.3 => unit("m"), above(0.0), at_most(1e6);
        }
        /// A T-handle: the bar along x, the stem along −z.
        "tee" Tee {
            /// Length of the bar.
            bar_length: f64 = 1.0 => unit("m"), above(0.0), at_most(1e6);
            /// Radius of the bar.
            bar_radius: f64 = 0.1 => unit("m"), above(0.0), at_most(1e6);
            /// Length of the stem from the axis of the bar.
            stem_length: f64 = 0.5 => unit("m"), above(0.0), at_most(1e6);
            /// Radius of the stem, below that of the bar.
            stem_radius: f64 = 0.08 => unit("m"), above(0.0), at_most(1e6);
            /// Fineness; 120·detail² + 24·detail triangles.
            detail: u32 = 3 => at_least(1.0);
        }
        /// A bone along z: a shaft with two knobs at each end.
        "bone" Bone {
            /// Distance between the centres of the two ends.
            length: f64 = 1.0 => unit("m"), above(0.0), at_most(1e6);
            /// Radius of the shaft.
            shaft_radius: f64 = 0.1 => unit("m"), above(0.0), at_most(1e6);
            /// Radius of the knobs.
            knob_radius: f64 = 0.2 => unit("m"), above(0.0), at_most(1e6);
            /// Distance of the knobs from the axis.
            knob_offset: f64 = 0.15 => unit("m"), above(0.0), at_most(1e6);
            /// Segments about the axis, a multiple of 4.
            segments: u32 = 32 => at_least(4.0);
            /// Bands over each end and along the shaft.
            bands: u32 = 12 => at_least(2.0);
        }
        /// A cup that stands on z = 0.
        "cup" Cup {
            /// Outer radius at the bottom.
            bottom_radius: f64 = 0.035 => unit("m"), above(0.0), at_most(1e6);
            /// Outer radius at the rim.
            top_radius: f64 = 0.045 => unit("m"), above(0.0), at_most(1e6);
            /// Height.
            height: f64 = 0.1 => unit("m"), above(0.0), at_most(1e6);
            /// Thickness of wall and floor.
            thickness: f64 = 0.004 => unit("m"), above(0.0), at_most(1e6);
            /// Segments about the axis.
            segments: u32 = 48 => at_least(3.0);
            /// Bands up the wall.
            stacks: u32 = 8 => at_least(1.0);
            /// Only the outer surface, open at the top.
            open: bool = false;
        }
        /// A funnel whose spout reaches down to z = 0.
        "funnel" Funnel {
            /// Inner radius of the spout.
            spout_radius: f64 = 0.1 => unit("m"), above(0.0), at_most(1e6);
            /// Inner radius of the rim.
            rim_radius: f64 = 0.5 => unit("m"), above(0.0), at_most(1e6);
            /// Length of the spout.
            spout_length: f64 = 0.2 => unit("m"), above(0.0), at_most(1e6);
            /// Height of the cone above the spout.
            cone_height: f64 = 0.4 => unit("m"), above(0.0), at_most(1e6);
            /// Thickness of the wall.
            thickness: f64 = 0.03 => unit("m"), above(0.0), at_most(1e6);
            /// Segments about the axis.
            segments: u32 = 48 => at_least(3.0);
            /// Only the inner wall, open at both ends.
            open: bool = false;
        }
        /// A boat hull, bow towards +x, deck in z = 0.
        "boat" Boat {
            /// Length over all.
            length: f64 = 2.0 => unit("m"), above(0.0), at_most(1e6);
            /// Greatest breadth.
            beam: f64 = 0.8 => unit("m"), above(0.0), at_most(1e6);
            /// Greatest depth below the deck.
            depth: f64 = 0.4 => unit("m"), above(0.0), at_most(1e6);
            /// Thickness of the walls.
            thickness: f64 = 0.04 => unit("m"), above(0.0), at_most(1e6);
            /// Sections from transom to bow.
            stations: u32 = 24 => at_least(2.0);
            /// Bands from keel to deck on each side.
            bands: u32 = 8 => at_least(1.0);
            /// Only the outer surface, open at the deck.
            open: bool = false;
        }
        /// A surface of revolution about z.
        "lathe" Lathe {
            /// Points (radius, z) of the profile; the outside lies to the right when going along it from below.
            profile: Vec<[f64; 2]> => unit("m"), range(-1e6, 1e6), at_least_values(2);
            /// Segments about the axis.
            segments: u32 = 48 => at_least(3.0);
            /// Join the last point to the first.
            closed: bool = false;
        }
        /// A box of tetrahedra.
        "tet-box" TetBox {
            /// Edge lengths.
            size: Vec3 = Vec3::ONE => unit("m"), above(0.0), at_most(1e6);
            /// Cubes along x, y and z, six tetrahedra each.
            cells: [u32; 3] = [8, 8, 8] => at_least(1.0);
        }
        /// A ball of tetrahedra.
        "tet-ball" TetBall {
            /// Radius.
            radius: f64 = 0.5 => unit("m"), above(0.0), at_most(1e6);
            /// Layers; 20·layers³ tetrahedra.
            layers: u32 = 6 => range(1.0, 400.0);
        }
    }
}

impl ShapeTable {
    /// How many triangles or tetrahedra [`ShapeTable::build`] will make.
    pub(crate) fn elements(&self) -> f64 {
        let n = |x: u32| f64::from(x);
        match self {
            Self::Icosphere { parts, .. } => 20.0 * n(parts.value).powi(2),
            Self::Sphere { segments, rings, .. } => 2.0 * n(segments.value) * n(rings.value),
            Self::Box { segments, .. } => {
                let [x, y, z] = segments.value.map(n);
                4.0 * (x * y + y * z + z * x)
            }
            Self::Plane { segments: cells, .. } | Self::Cloth { nodes: cells, .. } => {
                2.0 * n(cells.value[0]) * n(cells.value[1])
            }
            Self::Disc { rings, .. } => 7.0 * (n(rings.value) + 1.0).powi(2) * 2.0,
            Self::Figurine { detail, .. } => 6.0 * n(detail.value).powi(2),
            Self::Cylinder { segments, stacks, .. } | Self::Cone { segments, stacks, .. } => {
                2.0 * n(segments.value) * (n(stacks.value) + 1.0)
            }
            Self::Capsule { segments, rings, .. } => 4.0 * n(segments.value) * n(rings.value),
            Self::Torus { segments, tube_segments, .. } => 2.0 * n(segments.value) * n(tube_segments.value),
            Self::Ring { segments, .. } => 16.0 * n(segments.value),
            Self::Gear { teeth, .. } => 32.0 * n(teeth.value),
            Self::Tee { detail, .. } => 120.0 * n(detail.value).powi(2) + 24.0 * n(detail.value),
            Self::Bone { segments, bands, .. } => 6.0 * n(segments.value) * n(bands.value),
            Self::Cup { segments, stacks, .. } => 4.0 * n(segments.value) * (n(stacks.value) + 1.0),
            Self::Funnel { segments, .. } => 52.0 * n(segments.value),
            Self::Boat { stations, bands, .. } => 8.0 * (n(stations.value) + 1.0) * (n(bands.value) + 1.0),
            Self::Lathe { profile, segments, .. } => 2.0 * n(segments.value) * profile.len() as f64,
            Self::TetBox { cells, .. } => cells.value.iter().map(|c| n(*c)).product::<f64>() * 6.0,
            Self::TetBall { layers, .. } => 20.0 * n(layers.value).powi(3),
        }
    }

    /// The exact distance to the shape that the mesh stands for, and the smallest radius of its surface (0 if it has
    /// edges) [m]; `None` if there is no formula for it.
    pub(crate) fn exact(&self) -> Option<(Arc<dyn Collider>, f64)> {
        let arc =
            |shape: Result<Arc<dyn Collider>, LevelSetError>, roundness: f64| Some((shape.ok()?, roundness));
        let axis = |half: f64| [-Vec3::Z * half, Vec3::Z * half];
        match self {
            Self::Icosphere { radius, .. } | Self::Sphere { radius, .. } => {
                arc(Ball::new(Vec3::ZERO, radius.value).map(|s| Arc::new(s) as _), radius.value)
            }
            Self::Capsule { radius, length, .. } => {
                let [a, b] = axis(0.5 * length.value);
                arc(Capsule::new(a, b, radius.value).map(|s| Arc::new(s) as _), radius.value)
            }
            Self::Torus { radius, tube_radius, .. } => {
                let shape = Torus::new(Vec3::ZERO, Vec3::Z, radius.value, tube_radius.value);
                arc(shape.map(|s| Arc::new(s) as _), tube_radius.value)
            }
            Self::Cylinder { radius, height, caps, .. } if caps.value => {
                let [a, b] = axis(0.5 * height.value);
                arc(Cylinder::new(a, b, radius.value).map(|s| Arc::new(s) as _), 0.0)
            }
            Self::Box { size, .. } => arc(Cuboid::new(0.5 * size.value).map(|s| Arc::new(s) as _), 0.0),
            _ => None,
        }
    }

    /// Makes the mesh.
    pub(crate) fn build(&self) -> Result<AnyMesh, GeomError> {
        let open = |open: bool, shell: Result<TriMesh, GeomError>, closed: Result<TriMesh, GeomError>| {
            if open { shell } else { closed }
        };
        let triangles = match self {
            Self::Icosphere { radius, parts } => shapes::icosphere(radius.value, parts.value),
            Self::Sphere { radius, segments, rings } => {
                shapes::uv_sphere(radius.value, segments.value, rings.value)
            }
            Self::Box { size, segments } => shapes::cuboid(size.value, segments.value),
            Self::Plane { size, segments } => shapes::plane(size[0], size[1], segments[0], segments[1]),
            Self::Cloth { size, nodes, ripple } => {
                shapes::cloth_grid(size[0], size[1], nodes[0], nodes[1]).map(|m| rippled(m, ripple.value))
            }
            Self::Disc { radius, hole, rings } => shapes::disc(radius.value, hole.value, rings.value),
            Self::Figurine { height, detail } => {
                figurine(height.value, height.value / f64::from(detail.value))
            }
            Self::Cylinder { radius, height, segments, stacks, caps } => {
                shapes::cylinder(radius.value, height.value, segments.value, stacks.value, caps.value)
            }
            Self::Cone { radius, height, segments, stacks, caps } => {
                shapes::cone(radius.value, height.value, segments.value, stacks.value, caps.value)
            }
            Self::Capsule { radius, length, segments, rings } => {
                shapes::capsule(radius.value, length.value, segments.value, rings.value)
            }
            Self::Torus { radius, tube_radius, segments, tube_segments } => {
                shapes::torus(radius.value, tube_radius.value, segments.value, tube_segments.value)
            }
            Self::Ring { inner_radius, outer_radius, height, bevel, segments } => Ring {
                inner_radius: inner_radius.value,
                outer_radius: outer_radius.value,
                height: height.value,
                bevel: bevel.value,
                segments: segments.value,
            }
            .mesh(),
            Self::Gear { teeth, root_radius, tip_radius, bore_radius, height } => Gear {
                teeth: teeth.value,
                root_radius: root_radius.value,
                tip_radius: tip_radius.value,
                bore_radius: bore_radius.value,
                height: height.value,
            }
            .mesh(),
            Self::Tee { bar_length, bar_radius, stem_length, stem_radius, detail } => Tee {
                bar_length: bar_length.value,
                bar_radius: bar_radius.value,
                stem_length: stem_length.value,
                stem_radius: stem_radius.value,
                detail: detail.value,
            }
            .mesh(),
            Self::Bone { length, shaft_radius, knob_radius, knob_offset, segments, bands } => Bone {
                length: length.value,
                shaft_radius: shaft_radius.value,
                knob_radius: knob_radius.value,
                knob_offset: knob_offset.value,
                segments: segments.value,
                bands: bands.value,
            }
            .mesh(),
            Self::Cup {
                bottom_radius,
                top_radius,
                height,
                thickness,
                segments,
                stacks,
                open: only_shell,
            } => {
                let cup = Cup {
                    bottom_radius: bottom_radius.value,
                    top_radius: top_radius.value,
                    height: height.value,
                    thickness: thickness.value,
                    segments: segments.value,
                    stacks: stacks.value,
                };
                open(only_shell.value, cup.shell(), cup.mesh())
            }
            Self::Funnel {
                spout_radius,
                rim_radius,
                spout_length,
                cone_height,
                thickness,
                segments,
                open: shell,
            } => {
                let funnel = Funnel {
                    spout_radius: spout_radius.value,
                    rim_radius: rim_radius.value,
                    spout_length: spout_length.value,
                    cone_height: cone_height.value,
                    thickness: thickness.value,
                    segments: segments.value,
                };
                open(shell.value, funnel.shell(), funnel.mesh())
            }
            Self::Boat { length, beam, depth, thickness, stations, bands, open: only_shell } => {
                let boat = BoatHull {
                    length: length.value,
                    beam: beam.value,
                    depth: depth.value,
                    thickness: thickness.value,
                    stations: stations.value,
                    bands: bands.value,
                };
                open(only_shell.value, boat.shell(), boat.mesh())
            }
            Self::Lathe { profile, segments, closed } => {
                let points: Vec<Vec2> = profile.iter().map(|p| Vec2::from_array(*p)).collect();
                shapes::lathe(&points, segments.value, closed.value)
            }
            Self::TetBox { size, cells } => {
                return shapes::tet_box(size.value, cells.value).map(AnyMesh::Tets);
            }
            Self::TetBall { radius, layers } => {
                return shapes::tet_ball(radius.value, layers.value).map(AnyMesh::Tets);
            }
        };
        triangles.map(AnyMesh::Triangles)
    }
}

/// Displaces a sheet by waves of no common period.
fn rippled(mut mesh: TriMesh, amplitude: f64) -> TriMesh {
    for p in &mut mesh.positions {
        p.z += amplitude * ((17.0 * p.x + 5.0 * p.y).sin() + 0.5 * (41.0 * p.y + 1.0).sin());
    }
    mesh
}
