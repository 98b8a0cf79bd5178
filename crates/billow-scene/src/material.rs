//! Materials with ready numbers.
//!
//! Densities are handbook values at room temperature (CRC Handbook of Chemistry and Physics; fabrics from typical area
//! weights over thicknesses: cotton 150 g/m² at 0.35 mm, denim 400 g/m² at 0.8 mm, silk 50 g/m² at 0.12 mm). Friction
//! is kinetic, dry, of the material on itself (engineering tables list 0.4 for glass to 0.6 for mild steel; 0.03 for ice
//! near melting); restitution is of small balls at a few metres per second. Both vary widely in practice: they are
//! starting points to be tuned by eye.
//!
//! Fabrics bend as fabrics of their kind do in the Kawabata test (silk 2, cotton 8, wool 12, denim 60 µN·m; leather and
//! rubber from their moduli and thicknesses). In-plane they are softer than the real ones, which hardly stretch at all:
//! strain limits take over where the springs give way, as in [BFA02] 4.

use crate::tables::{MaterialTable, Preset};
use billow_cloth::Material as Fabric;
use billow_num::Vec3;

/// What a body is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Mass per volume [kg/m³].
    pub density: f64,
    /// Coulomb friction coefficient against itself [-].
    pub friction: f64,
    /// Part of the normal speed that survives an impact [-].
    pub restitution: f64,
    /// Lever arm of rolling resistance as a part of the local radius of curvature [-].
    pub rolling: f64,
    /// Resistance to spinning about the normal of a contact, likewise [-].
    pub spinning: f64,
    /// Thickness of a sheet of it [m].
    pub thickness: f64,
    /// Linear red, green, blue of the surface [-].
    pub colour: Vec3,
    /// How a sheet of it moves, if it is a fabric.
    pub fabric: Option<Fabric>,
}

impl Default for Material {
    fn default() -> Self {
        Self::preset(Preset::Plastic)
    }
}

/// The section of the manual about presets.
pub(crate) fn reference() -> String {
    let mut page = String::from(
        "### Materials\n\n| preset | density [kg/m³] | friction | restitution | thickness [mm] |\n| --- | --- | --- | --- | --- |\n",
    );
    for (word, _) in Preset::WORDS {
        let preset = Preset::from_word(word).unwrap_or(Preset::Plastic);
        let m = Material::preset(preset);
        let thickness = (m.thickness * 1e5).round() / 1e2;
        page += &format!("| `{word}` | {} | {} | {} | {thickness} |\n", m.density, m.friction, m.restitution);
    }
    page += "\n### Fabrics\n\n| preset | area density [kg/m²] | stretch [N/m] | bend [N·m] | extension limit |\n| --- | --- | --- | --- | --- |\n";
    for (word, _) in Preset::WORDS {
        let preset = Preset::from_word(word).unwrap_or(Preset::Plastic);
        if let Some(f) = Material::preset(preset).fabric {
            let density = (f.density * 1e3).round() / 1e3;
            page +=
                &format!("| `{word}` | {density} | {} | {:e} | {} |\n", f.stretch, f.bend, f.extension_limit);
        }
    }
    page + "\n"
}

/// How a sheet of the material moves, without what follows from its bulk; `None` for what is not sold by the yard.
fn fabric(preset: Preset) -> Option<Fabric> {
    // Stretch [N/m], bend [N·m], extension limit; damping over some milliseconds, more for stiffer sheets.
    let (stretch, bend, extension_limit, lag) = match preset {
        Preset::Silk => (40.0, 2e-6, 0.1, 1.5e-3),
        Preset::Cotton => (80.0, 8e-6, 0.1, 2e-3),
        Preset::Wool => (80.0, 1.2e-5, 0.1, 3e-3),
        Preset::Denim => (250.0, 6e-5, 0.05, 3e-3),
        Preset::Leather => (500.0, 4e-4, 0.05, 5e-3),
        Preset::Rubber => (300.0, 2e-3, 0.5, 5e-3),
        _ => return None,
    };
    let compression_limit = if preset == Preset::Rubber { 0.3 } else { 0.0 };
    Some(Fabric {
        stretch,
        bend,
        extension_limit,
        compression_limit,
        stretch_damping: 0.2 * lag * stretch,
        bend_damping: lag * bend,
        ..Fabric::default()
    })
}

impl Material {
    /// The ready numbers of a preset.
    pub fn preset(preset: Preset) -> Self {
        let (density, friction, restitution, thickness, colour) = match preset {
            Preset::Aluminium => (2700.0, 0.45, 0.6, 1.0e-3, [0.75, 0.76, 0.78]),
            Preset::Brass => (8500.0, 0.4, 0.6, 1.0e-3, [0.74, 0.52, 0.18]),
            Preset::Cotton => (430.0, 0.5, 0.0, 0.35e-3, [0.80, 0.78, 0.72]),
            Preset::Denim => (500.0, 0.55, 0.0, 0.8e-3, [0.05, 0.10, 0.28]),
            Preset::Glass => (2500.0, 0.4, 0.65, 4.0e-3, [0.75, 0.85, 0.85]),
            Preset::Ice => (917.0, 0.03, 0.3, 10.0e-3, [0.72, 0.85, 0.95]),
            Preset::Leather => (860.0, 0.6, 0.1, 1.5e-3, [0.22, 0.09, 0.04]),
            Preset::Plastic => (1050.0, 0.35, 0.5, 2.0e-3, [0.55, 0.55, 0.58]),
            Preset::Rubber => (1100.0, 0.9, 0.8, 3.0e-3, [0.04, 0.04, 0.045]),
            Preset::Silk => (420.0, 0.3, 0.0, 0.12e-3, [0.70, 0.10, 0.14]),
            Preset::Steel => (7850.0, 0.57, 0.6, 1.0e-3, [0.55, 0.56, 0.58]),
            Preset::Stone => (2650.0, 0.6, 0.4, 20.0e-3, [0.35, 0.34, 0.32]),
            Preset::Water => (998.2, 0.0, 0.0, 1.0e-3, [0.10, 0.25, 0.35]),
            Preset::Wool => (310.0, 0.5, 0.0, 0.8e-3, [0.16, 0.20, 0.14]),
            Preset::Wood => (700.0, 0.45, 0.5, 10.0e-3, [0.42, 0.25, 0.12]),
        };
        let fabric =
            fabric(preset).map(|f| Fabric { density: density * thickness, thickness, friction, ..f });
        let colour = Vec3::from_array(colour);
        Self { density, friction, restitution, rolling: 0.0, spinning: 0.0, thickness, colour, fabric }
    }

    /// A preset with the values the scene replaces.
    pub(crate) fn resolve(table: &MaterialTable) -> Self {
        let base = Self::preset(table.preset.value);
        let density = table.density.unwrap_or(base.density);
        let friction = table.friction.unwrap_or(base.friction);
        let thickness = table.thickness.unwrap_or(base.thickness);
        // Two numbers make a sheet of anything.
        let own = table.stretch.zip(table.bend.value).map(|_| Fabric::default());
        let fabric = base.fabric.or(own).map(|f| Fabric {
            density: table.area_density.unwrap_or(density * base.thickness),
            stretch: table.stretch.unwrap_or(f.stretch),
            stretch_damping: table.stretch_damping.unwrap_or(f.stretch_damping),
            altitude: table.shear.unwrap_or(f.altitude),
            bend: table.bend.unwrap_or(f.bend),
            bend_damping: table.bend_damping.unwrap_or(f.bend_damping),
            thickness,
            friction,
            extension_limit: table.extension_limit.unwrap_or(f.extension_limit),
            compression_limit: table.compression_limit.unwrap_or(f.compression_limit),
            rate_limit: table.rate_limit.unwrap_or(f.rate_limit),
            air: table.air.unwrap_or(f.air),
        });
        Self {
            density,
            friction,
            restitution: table.restitution.unwrap_or(base.restitution),
            rolling: table.rolling.unwrap_or(base.rolling),
            spinning: table.spinning.unwrap_or(base.spinning),
            thickness,
            colour: table.colour.unwrap_or(base.colour),
            fabric,
        }
    }
}
