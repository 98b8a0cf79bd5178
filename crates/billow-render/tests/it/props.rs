//! Frames and cameras the tests share.

use billow_geom::{TriMesh, shapes};
use billow_io::cache::UpAxis;
use billow_io::{Frame, Grid, Object, Shape};
use billow_num::{Pose, Quat, Vec3};
use billow_render::{
    Camera, Colour, Finish, Ground, Look, Picture, RenderError, Settings, Sky, Studio, Surface, Watch,
};
use std::sync::Arc;

pub(crate) fn object(name: &str, shape: Shape) -> Object {
    Object { name: name.into(), pose: Pose::IDENTITY, shape, attributes: Vec::new() }
}

pub(crate) fn mesh(name: &str, mesh: TriMesh) -> Object {
    object(
        name,
        Shape::Triangles { positions: Arc::new(mesh.positions), triangles: Arc::new(mesh.triangles) },
    )
}

pub(crate) fn sphere(name: &str, radius: f64, centre: Vec3) -> Object {
    let mut object = mesh(name, shapes::uv_sphere(radius, 64, 32).unwrap());
    object.pose = Pose { position: centre, rotation: Quat::from_rotation_y(0.3) };
    object
}

pub(crate) fn frame(objects: Vec<Object>) -> Frame {
    Frame { objects, ..Frame::default() }
}

/// A look in which one object has a surface of its own.
pub(crate) fn with(look: &Look, name: &str, surface: Surface) -> Look {
    let mut look = look.clone();
    look.objects.insert(name.into(), surface);
    look
}

/// A surface of one finish and colour.
pub(crate) fn of(finish: Finish, colour: Colour) -> Surface {
    Surface { finish: Some(finish), colour: Some(colour), ..Surface::default() }
}

/// A look with a fixed camera, a uniform sky and nothing else.
pub(crate) fn plain(position: [f64; 3], target: [f64; 3], fov: f64, sky: f32) -> Look {
    Look {
        camera: Camera {
            position: Some(position),
            target: Some(target),
            fov,
            shutter: 0.0,
            ..Camera::default()
        },
        lights: [("off".to_string(), billow_render::Light { power: 0.0, ..Default::default() })].into(),
        sky: Sky::uniform(sky),
        ground: Ground { visible: false, ..Ground::default() },
        ..Look::default()
    }
}

pub(crate) fn shoot(look: &Look, frame: &Frame, settings: &Settings) -> Result<Picture, RenderError> {
    let aspect = f64::from(settings.width) / f64::from(settings.height);
    let mut survey = Studio::survey(look, UpAxis::Z, 24.0, frame, aspect)?;
    survey.add(frame);
    survey.finish()?.shoot(frame, None, settings, &Watch::default())
}

pub(crate) fn mean(picture: &Picture) -> f64 {
    picture.radiance.iter().map(|p| f64::from(p[1])).sum::<f64>() / picture.radiance.len() as f64
}

/// A grid sampled from a function over the cube [-1, 1]³.
pub(crate) fn grid(n: u32, f: impl Fn(Vec3) -> f64) -> Grid {
    let h = 2.0 / f64::from(n - 1);
    let mut values = Vec::new();
    for k in 0..n {
        for j in 0..n {
            for i in 0..n {
                let at = |x: u32| f64::from(x) * h - 1.0;
                values.push(f(Vec3::new(at(i), at(j), at(k))) as f32);
            }
        }
    }
    Grid { origin: Vec3::splat(-1.0), spacing: h, dims: [n; 3], values: Arc::new(values) }
}
