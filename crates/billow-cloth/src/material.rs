//! What a cloth is made of.

use serde::{Deserialize, Serialize};

/// Properties of a fabric, independent of the mesh.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Material {
    /// Mass per area [kg/m²].
    pub density: f64,
    /// Resistance to in-plane stretching [N/m]: tension per width at unit strain.
    pub stretch: f64,
    /// Damping of in-plane motion [N·s/m].
    pub stretch_damping: f64,
    /// Resistance of the triangles to collapsing in-plane, as a fraction of `stretch`; zero for none [-].
    pub altitude: f64,
    /// Resistance to bending [N·m].
    pub bend: f64,
    /// Damping of bending [N·s].
    pub bend_damping: f64,
    /// Thickness [m].
    pub thickness: f64,
    /// Coulomb coefficient against itself and others [-].
    pub friction: f64,
    /// Largest extension of an edge [-]; 0.1 is the document's.
    pub extension_limit: f64,
    /// Largest compression of an edge [-]; 0 makes cloth buckle instead of shrinking.
    pub compression_limit: f64,
    /// Largest change of strain in one step [-]; 0.1 is the document's.
    pub rate_limit: f64,
    /// Drag and lift coefficient of the faces in moving air [-].
    pub air: f64,
}

impl Default for Material {
    /// A plain cotton.
    fn default() -> Self {
        Self {
            density: 0.15,
            stretch: 60.0,
            stretch_damping: 0.02,
            altitude: 0.0,
            bend: 2e-5,
            bend_damping: 1e-7,
            thickness: 1e-3,
            friction: 0.5,
            extension_limit: 0.1,
            compression_limit: 0.1,
            rate_limit: 0.1,
            air: 1.0,
        }
    }
}
