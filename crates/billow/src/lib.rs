//! Billow: physics-based animation of cloth, thin shells, soft solids, rigid bodies, smoke and water.
pub use billow_geom as geom;
pub use billow_io as io;
pub use billow_num as num;
pub use billow_render as render;
pub use billow_scene as scene;
