//! How a mesh is made anew by the mesher.

use crate::read::declare::table;
use crate::read::keyword::keyword;
use crate::read::values::MeshName;

table! {
    /// Makes the mesh anew: tetrahedra that fill it, or an even surface, after [Bri03] chapter 5. The shape must be closed.
    pub(crate) struct MesherTable {
        /// What to make.
        make: Make = Make::Tetrahedra;
        /// Longest edge at the surface; a fortieth of the diagonal if not given.
        size: Option<f64> => unit("m"), above(0.0), at_most(1e6);
        /// How often edges may be halved below `size` where the surface is curved.
        finer: u32 = 1 => range(0.0, 8.0);
        /// How often edges may double above `size` inside.
        coarser: u32 = 2 => range(0.0, 8.0);
        /// Refine where an edge times the sum of absolute principal curvatures exceeds this.
        curvature: f64 = 3.0 => above(0.0);
        /// Samples of the distance along the longest side, for shapes without a formula.
        resolution: u32 = 160 => range(8.0, 2000.0);
        /// Keep only the part of the surface inside this other mesh, and move the border onto the curve where both surfaces
        /// meet.
        trim: Option<MeshName>;
    }
}

keyword! {
    /// What the mesher makes.
    pub(crate) enum Make {
        /// Tetrahedra that fill the shape.
        "tetrahedra" Tetrahedra,
        /// Even triangles on its surface.
        "surface" Surface,
    }
}
