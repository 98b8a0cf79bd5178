//! How the scene is shown: camera, lights, sky, ground and the surfaces of bodies.
//!
//! Keys without a value are left to the renderer, which chooses them from what the frames show.

use crate::read::declare::{FieldSpec, Kind, Value, table};
use crate::read::keyword::keyword;
use crate::read::log::Log;
use crate::read::node::{Data, Node};
use billow_num::Vec3;
use billow_render::Colour;
use serde_json::{Value as Json, json};

/// Linear red, green and blue, or `"#rrggbb"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rgb(pub(crate) Colour);

impl Value for Rgb {
    fn kind() -> Kind {
        Kind::Either(vec![Vec3::kind(), Kind::Text])
    }

    fn read(node: &Node, spec: &FieldSpec, log: &mut Log) -> Option<Self> {
        let Data::Text(text) = &node.data else {
            return Vec3::read(node, spec, log).map(|v| Self(Colour(v.to_array().map(|c| c as f32))));
        };
        let colour = Colour::parse(text);
        if colour.is_none() {
            log.error(node.span, format!("`{}` is \"{text}\", which is not a colour", spec.key))
                .help("write \"#rrggbb\", for example \"#c8553d\", or linear [red, green, blue]");
        }
        colour.map(Self)
    }

    fn to_json(&self) -> Json {
        json!(self.0.0)
    }
}

table! {
    /// Where the viewer stands. What is left out is chosen so that everything shown just fits the picture.
    pub(crate) struct CameraTable {
        /// Where the camera stands.
        position: Option<Vec3> => unit("m"), range(-1e9, 1e9);
        /// The point it looks at; the middle of what is shown if not given.
        target: Option<Vec3> => unit("m"), range(-1e9, 1e9);
        /// Viewing direction while `position` is open; three quarters from the front if not given.
        direction: Option<Vec3>;
        /// Angle between the lower and upper edge of the picture; 30 if not given.
        fov: Option<f64> => unit("°"), range(0.1, 170.0);
        /// Room left around what is shown, as a share of the picture; 0.06 if not given.
        margin: Option<f64> => range(0.0, 0.45);
        /// Radius of the lens; 0 keeps everything sharp.
        lens: Option<f64> => unit("m"), range(0.0, 1e6);
        /// Distance of sharp focus; that of the target if not given.
        focus: Option<f64> => unit("m"), above(0.0), at_most(1e12);
        /// Share of the time between frames with the shutter open, for motion blur; 0.5 if not given.
        shutter: Option<f64> => range(0.0, 1.0);
        /// Exposure in stops: each one doubles the brightness.
        exposure: Option<f64> => range(-30.0, 30.0);
    }
}

keyword! {
    /// Shapes of lights.
    pub(crate) enum Lamp {
        /// A disc that shines from its front, like a soft box.
        "disc" Disc,
        /// A sphere that shines in all directions.
        "sphere" Sphere,
        /// Parallel light with slightly soft shadows.
        "sun" Sun,
    }
}

table! {
    /// A light. Without any, the subject stands in three-point light.
    pub(crate) struct LightTable {
        /// Its shape.
        kind: Lamp = Lamp::Disc;
        /// Where it stands; for a sun only the direction to the target counts.
        position: Vec3 => unit("m"), range(-1e9, 1e9);
        /// The point it shines at.
        target: Vec3 = Vec3::ZERO => unit("m"), range(-1e9, 1e9);
        /// Radius [m], or of a sun as seen from the scene [°]; larger is softer. 0.5 if not given.
        size: Option<f64> => range(1e-4, 1e6);
        /// Colour of the light.
        colour: Option<Rgb> => range(0.0, 1e6);
        /// Emitted power [W]; of a sun the power per area facing it [W/m²]. 100 if not given, 3 for a sun.
        power: Option<f64> => range(0.0, 1e12);
    }
}

table! {
    /// The surroundings: light from all around.
    pub(crate) struct SkyTable {
        /// Radiance overhead.
        zenith: Option<Rgb> => range(0.0, 1e6);
        /// Radiance at and below the horizon.
        horizon: Option<Rgb> => range(0.0, 1e6);
        /// Factor on the light the sky casts on objects.
        light: Option<f64> => range(0.0, 1e6);
    }
}

table! {
    /// The level floor of the pictures, which fades into the horizon. Bodies do not touch it.
    pub(crate) struct GroundTable {
        /// Whether it is drawn.
        visible: bool = true;
        /// Height; that of a large level body at rest, or of the lowest point shown, if not given.
        height: Option<f64> => unit("m"), range(-1e9, 1e9);
        /// Colour.
        colour: Option<Rgb> => range(0.0, 1.0);
        /// Second colour, of checks; without it the ground is plain.
        checks: Option<Rgb> => range(0.0, 1.0);
        /// Side of a check; a round number by the size of the scene if not given.
        check_size: Option<f64> => unit("m"), above(0.0), at_most(1e9);
        /// Roughness of its sheen: 0 mirrors, 1 is dull.
        roughness: Option<f64> => range(0.0, 1.0);
    }
}

table! {
    /// How a body or another object is shown. What is left out follows from its material, or is chosen to read well.
    pub(crate) struct SurfaceTable {
        /// What it seems to be made of.
        finish: Option<Finish>;
        /// Colour; that of the material if not given.
        colour: Option<Rgb> => range(0.0, 1.0);
        /// Colour of the other side of a fabric.
        back: Option<Rgb> => range(0.0, 1.0);
        /// Pattern between `colour` and `second`, fixed to the material.
        pattern: Option<Motif>;
        /// Second colour of the pattern; a darker `colour` if not given.
        second: Option<Rgb> => range(0.0, 1.0);
        /// Length of the pattern's repeat; an eighth of the body if not given.
        scale: Option<f64> => unit("m"), above(0.0), at_most(1e9);
        /// Roughness of reflections: 0 mirrors, 1 is dull.
        roughness: Option<f64> => range(0.0, 1.0);
        /// Share of the light that a fabric lets through.
        translucency: Option<f64> => range(0.0, 1.0);
        /// Index of refraction of glass or water.
        ior: Option<f64> => range(1.0, 4.0);
        /// Length of glass or water after which white light has taken on `colour`.
        depth: Option<f64> => unit("m"), above(0.0), at_most(1e9);
        /// Radiance it emits.
        emission: Option<Rgb> => range(0.0, 1e6);
        /// In `[look.NAME]`: radius of particles and threads; from their spacing if not given.
        radius: Option<f64> => unit("m"), above(0.0), at_most(1e9);
        /// In `[look.NAME]`: how a grid is shown; a surface if its values change sign, fog if not.
        grid: Option<GridLook>;
        /// In `[look.NAME]`: extinction of fog per unit of grid value; such that it reads well if not given.
        density: Option<f64> => unit("1/m"), range(0.0, 1e9);
        /// In `[look.NAME]`: how much fog scatters forward (positive) or back (negative); 0.2 if not given.
        anisotropy: Option<f64> => range(-0.95, 0.95);
        /// In `[look.NAME]`: amplitude of sub-pixel noise on a level set, which turns a mirror into a glossy surface.
        noise: Option<f64> => unit("m"), range(0.0, 1e9);
        /// Show only the tetrahedra behind a plane through the middle of the body, whose normal this is.
        cut: Option<Vec3>;
        /// Colour of what `cut` lays open; that of the rest if not given.
        inside: Option<Rgb> => range(0.0, 1.0);
        /// Colour of the edges of its triangles; they are not drawn if not given.
        edges: Option<Rgb> => range(0.0, 1.0);
        /// Leave it out of the pictures.
        hidden: bool = false;
        /// Show flat facets instead of a smooth surface.
        flat: bool = false;
    }
}

keyword! {
    /// What a surface seems to be made of.
    pub(crate) enum Finish {
        /// Dull on both sides, with a soft sheen, letting some light through.
        "fabric" Fabric,
        /// Dull like chalk.
        "matte" Matte,
        /// Coloured under a clear coat.
        "glossy" Glossy,
        /// Polished or brushed metal.
        "metal" Metal,
        /// Clear and refracting.
        "glass" Glass,
        /// Clear, refracting less, tinted with depth.
        "water" Water,
    }
}

keyword! {
    /// How a grid is shown.
    pub(crate) enum GridLook {
        /// The surface where its values are zero.
        "surface" Surface,
        /// Fog whose density is the value.
        "fog" Fog,
    }
}

keyword! {
    /// Patterns fixed to the material.
    pub(crate) enum Motif {
        /// One colour.
        "plain" Plain,
        /// A chessboard.
        "checks" Checks,
        /// Threads over and under each other.
        "weave" Weave,
        /// Stripes.
        "stripes" Stripes,
    }
}
