//! Small scenes of cloth.

use billow_cloth::{Air, Config, Garment, Layout, Material, Model, Setup, Solid, State, Workspace, step};
use billow_geom::{TriMesh, shapes};
use billow_num::Vec3;

pub(crate) const GRAVITY: Vec3 = Vec3::new(0.0, 0.0, -9.81);

/// A square sheet of `side` metres with `n` nodes along each edge.
#[allow(clippy::unwrap_used, reason = "test support")]
pub(crate) fn sheet(side: f64, n: u32) -> TriMesh {
    shapes::cloth_grid(side, side, n, n).unwrap()
}

pub(crate) fn garment(mesh: TriMesh, material: Material) -> Garment {
    Garment {
        name: "cloth".into(),
        mesh,
        start: None,
        velocity: Vec3::ZERO,
        material,
        curved: false,
        equal_masses: false,
        layout: Layout::Edges,
        pins: Vec::new(),
    }
}

/// A model of the garments without air.
#[allow(clippy::unwrap_used, reason = "test support")]
pub(crate) fn model(garments: Vec<Garment>, solids: Vec<Solid>, gravity: Vec3) -> Model {
    let air = Air { density: 0.0, wind: Vec3::ZERO };
    Model::new(Setup { garments, obstacles: Vec::new(), solids, gravity, air }).unwrap()
}

/// Runs `steps` steps of `dt`.
#[allow(clippy::unwrap_used, reason = "test support")]
pub(crate) fn run(model: &Model, state: &mut State, config: &Config, dt: f64, steps: u32) {
    let mut work = Workspace::default();
    for _ in 0..steps {
        step(model, state, &mut work, config, dt).unwrap();
    }
}

/// Linear and angular momentum about the origin.
pub(crate) fn momentum(model: &Model, state: &State) -> (Vec3, Vec3) {
    let terms = state.x.iter().zip(&state.v).zip(model.masses());
    terms.fold((Vec3::ZERO, Vec3::ZERO), |(p, l), ((x, v), m)| (p + *v * *m, l + x.cross(*v * *m)))
}
