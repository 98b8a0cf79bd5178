//! Frames that cannot be shown say why.

use crate::props::{frame, grid, mesh, object, shoot, sphere};
use billow_geom::shapes;
use billow_io::{Attribute, Domain, Frame, Shape, Values};
use billow_num::Vec3;
use billow_render::{Look, Settings};
use std::sync::Arc;

fn message(frame: &Frame) -> String {
    let settings = Settings { width: 16, height: 9, samples: 1, ..Settings::default() };
    shoot(&Look::default(), frame, &settings).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn empty_frames_are_explained() {
    assert!(message(&Frame::default()).contains("no points that can be shown"));
    let nothing = Shape::Triangles { positions: Arc::default(), triangles: Arc::default() };
    assert!(message(&frame(vec![object("nothing", nothing)])).contains("no points"));
}

#[test]
fn broken_geometry_names_object_and_place() {
    let ball = sphere("ball", 1.0, Vec3::ZERO);
    let triangles = |positions: Vec<Vec3>, triangles: Vec<[u32; 3]>| {
        object("bad", Shape::Triangles { positions: Arc::new(positions), triangles: Arc::new(triangles) })
    };
    let range = triangles(vec![Vec3::ZERO, Vec3::X, Vec3::Y], vec![[0, 1, 9]]);
    let found = message(&frame(vec![ball.clone(), range]));
    assert!(found.contains("`bad`") && found.contains("vertex 9 of 3"), "{found}");
    let nan = triangles(vec![Vec3::ZERO, Vec3::X, Vec3::new(0.0, f64::NAN, 0.0)], vec![[0, 1, 2]]);
    assert!(message(&frame(vec![ball.clone(), nan])).contains("vertex 2"));
    let mut short = grid(4, |p| p.length() - 0.5);
    short.values = Arc::new(vec![-1.0, 1.0]);
    assert!(message(&frame(vec![ball.clone(), object("bad", Shape::Grid(short))])).contains("has 2 values"));
    let mut odd = ball.clone();
    odd.attributes.push(Attribute {
        name: "velocity".into(),
        domain: Domain::Vertex,
        values: Values::Vector(Arc::new(vec![[0.0; 3]; 5])),
    });
    assert!(message(&frame(vec![odd])).contains("5 values"));
}

#[test]
fn degenerate_but_legal_geometry_gives_finite_pictures() {
    let sliver = vec![Vec3::ZERO, Vec3::X, Vec3::X, Vec3::new(2.0, 0.0, 1e-12), Vec3::splat(1.0)];
    let triangles = vec![[0, 1, 2], [0, 1, 3], [0, 0, 0], [0, 3, 4]];
    let flat =
        object("flat", Shape::Triangles { positions: Arc::new(sliver), triangles: Arc::new(triangles) });
    let far = mesh("far", {
        let mut m = shapes::icosphere(0.5, 4).unwrap();
        m.positions.iter_mut().for_each(|p| *p += Vec3::new(1e4, 0.0, 0.0));
        m
    });
    let look = Look::default();
    let settings = Settings { width: 40, height: 24, samples: 8, ..Settings::default() };
    for objects in [vec![flat.clone()], vec![flat, far]] {
        let picture = shoot(&look, &frame(objects), &settings).unwrap();
        assert!(picture.radiance.iter().flatten().all(|c| c.is_finite() && *c >= 0.0));
    }
}

#[test]
fn impossible_settings_and_looks_are_refused() {
    let ball = frame(vec![sphere("ball", 1.0, Vec3::ZERO)]);
    let wide = Settings { width: 0, ..Settings::default() };
    assert!(shoot(&Look::default(), &ball, &wide).unwrap_err().to_string().contains("0 × 540"));
    let mut look = Look::default();
    look.camera.fov = 200.0;
    let found = shoot(&look, &ball, &Settings::default()).unwrap_err().to_string();
    assert!(found.contains("camera.fov = 200"), "{found}");
}
