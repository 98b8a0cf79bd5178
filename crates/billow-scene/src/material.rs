//! Materials with ready numbers.
//!
//! Densities are handbook values at room temperature (CRC Handbook of Chemistry and Physics; fabrics from typical area
//! weights over thicknesses: cotton 150 g/m² at 0.35 mm, denim 400 g/m² at 0.8 mm, silk 50 g/m² at 0.12 mm). Friction
//! is kinetic, dry, of the material on itself (engineering tables list 0.4 for glass to 0.6 for mild steel; 0.03 for ice
//! near melting); restitution is of small balls at a few metres per second. Both vary widely in practice: they are
//! starting points to be tuned by eye.

use crate::tables::{MaterialTable, Preset};
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
    /// Thickness of a sheet of it [m].
    pub thickness: f64,
    /// Linear red, green, blue of the surface [-].
    pub colour: Vec3,
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
    page + "\n"
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
            Preset::Wood => (700.0, 0.45, 0.5, 10.0e-3, [0.42, 0.25, 0.12]),
        };
        Self { density, friction, restitution, thickness, colour: Vec3::from_array(colour) }
    }

    /// A preset with the values the scene replaces.
    pub(crate) fn resolve(table: &MaterialTable) -> Self {
        let base = Self::preset(table.preset.value);
        Self {
            density: table.density.unwrap_or(base.density),
            friction: table.friction.unwrap_or(base.friction),
            restitution: table.restitution.unwrap_or(base.restitution),
            thickness: table.thickness.unwrap_or(base.thickness),
            colour: table.colour.unwrap_or(base.colour),
        }
    }
}
