//! Scenes whose picture is known exactly.

use crate::props::{frame, grid, mean, mesh, object, of, plain, shoot, sphere, with};
use billow_geom::shapes;
use billow_io::{Attribute, Domain, Shape, Values};
use billow_num::Vec3;
use billow_render::{Colour, Finish, GridKind, Light, LightKind, Picture, Settings, Surface};
use std::f64::consts::PI;
use std::sync::Arc;

/// Variance of what is covered, along x and y [pixels²].
fn spread(picture: &Picture) -> [f64; 2] {
    let w = picture.width as usize;
    let at = |k: usize, axis: usize| (if axis == 0 { k % w } else { k / w }) as f64;
    let sum = |f: &dyn Fn(usize) -> f64| -> f64 {
        picture.coverage.iter().enumerate().map(|(k, c)| f64::from(*c) * f(k)).sum()
    };
    let total = sum(&|_| 1.0);
    [0, 1].map(|axis| {
        let mean = sum(&|k| at(k, axis)) / total;
        sum(&|k| (at(k, axis) - mean).powi(2)) / total
    })
}

/// Inside a closed diffuse sphere of albedo ρ and emission E the light is E/(1 - ρ) everywhere: ½ and ½ give 1.
#[test]
fn inside_a_glowing_sphere_of_albedo_one_half_the_radiance_is_one() {
    let inside = plain([0.1, 0.2, 0.0], [0.0, 5.0, 0.3], 60.0, 0.0);
    let surface = Surface { emission: Some(Colour::grey(0.5)), ..of(Finish::Matte, Colour::grey(0.5)) };
    let settings = Settings::exact(24, 16, 256);
    let picture =
        shoot(&with(&inside, "shell", surface), &frame(vec![sphere("shell", 1.0, Vec3::ZERO)]), &settings);
    let picture = picture.unwrap();
    assert!((mean(&picture) - 1.0).abs() < 2e-3, "{}", mean(&picture));
    let worst = picture.radiance.iter().flatten().map(|c| (c - 1.0).abs()).fold(0.0, f32::max);
    assert!(worst < 0.1, "{worst}");
}

/// Each bounce adds its share: after n of them the sphere's light is ½ (1 + ½ + … + ½ⁿ).
#[test]
fn the_number_of_bounces_is_what_the_settings_say() {
    let inside = plain([0.1, 0.2, 0.0], [0.0, 5.0, 0.3], 60.0, 0.0);
    let surface = Surface { emission: Some(Colour::grey(0.5)), ..of(Finish::Matte, Colour::grey(0.5)) };
    let look = with(&inside, "shell", surface);
    for (bounces, expected) in [(1, 0.75), (2, 0.875), (3, 0.9375)] {
        let settings = Settings { bounces, ..Settings::exact(16, 12, 64) };
        let picture = shoot(&look, &frame(vec![sphere("shell", 1.0, Vec3::ZERO)]), &settings).unwrap();
        assert!((mean(&picture) - expected).abs() < 5e-3, "{bounces}: {}", mean(&picture));
    }
}

/// Under a uniform sky white things disappear, whatever they are made of.
#[test]
fn white_surfaces_vanish_in_a_furnace() {
    let look = plain([0.0, -4.0, 1.0], [0.0; 3], 20.0, 1.0);
    let rough = |f: Finish, r: f64| Surface { roughness: Some(r), ..of(f, Colour::WHITE) };
    for surface in [
        of(Finish::Matte, Colour::WHITE),
        Surface { translucency: Some(0.4), ..of(Finish::Fabric, Colour::WHITE) },
        rough(Finish::Glossy, 0.1),
        rough(Finish::Glossy, 0.7),
        rough(Finish::Metal, 0.05),
        rough(Finish::Metal, 0.8),
        of(Finish::Glass, Colour::WHITE),
        of(Finish::Water, Colour::WHITE),
    ] {
        let settings = Settings::exact(24, 24, 128);
        let ball = frame(vec![sphere("ball", 0.6, Vec3::ZERO)]);
        let picture = shoot(&with(&look, "ball", surface.clone()), &ball, &settings).unwrap();
        assert!((mean(&picture) - 1.0).abs() < 0.004, "{surface:?}: {}", mean(&picture));
        let worst = picture.radiance.iter().flatten().map(|c| (c - 1.0).abs()).fold(0.0, f32::max);
        assert!(worst < 0.12, "{surface:?}: {worst}");
    }
}

/// A sphere of radius r at distance d fills a disc of tangent r/√(d² - r²).
#[test]
fn silhouettes_have_the_right_area() {
    let (r, d, fov) = (0.7f64, 3.0f64, 40.0f64);
    let look = plain([0.0, -d, 0.0], [0.0; 3], fov, 0.0);
    let pixels = 96.0 / (2.0 * (0.5 * fov.to_radians()).tan());
    let expected = PI * (pixels * r / (d * d - r * r).sqrt()).powi(2);
    let distance = grid(33, |p| p.length() - r);
    let points = Shape::Points { positions: Arc::new(vec![Vec3::ZERO]) };
    let fine = shapes::uv_sphere(r, 256, 128).unwrap();
    for (shape, tolerance) in
        [(mesh("it", fine), 1e-3), (object("it", points), 2e-4), (object("it", Shape::Grid(distance)), 2e-3)]
    {
        let look = with(&look, "it", Surface { radius: Some(r), ..of(Finish::Matte, Colour::WHITE) });
        let picture = shoot(&look, &frame(vec![shape.clone()]), &Settings::exact(96, 96, 64)).unwrap();
        let area: f64 = picture.coverage.iter().map(|c| f64::from(*c)).sum();
        assert!((area / expected - 1.0).abs() < tolerance, "{:?}: {area} instead of {expected}", shape.name);
    }
}

/// A capsule seen from the side fills a stadium.
#[test]
fn lines_are_as_thick_as_they_say() {
    let look = plain([0.0, -50.0, 0.0], [0.0; 3], 3.0, 0.0);
    let pixels = 96.0 / (100.0 * (1.5f64.to_radians()).tan());
    let ends = vec![Vec3::new(-0.5, 0.0, -0.2), Vec3::new(0.5, 0.0, 0.3)];
    let expected = pixels * pixels * (PI * 0.04 + 0.4 * (1.0f64 + 0.25).sqrt());
    let shape = Shape::Lines { positions: Arc::new(ends), segments: Arc::new(vec![[0, 1]]) };
    let look = with(&look, "rod", Surface { radius: Some(0.2), ..of(Finish::Matte, Colour::WHITE) });
    let picture = shoot(&look, &frame(vec![object("rod", shape)]), &Settings::exact(96, 96, 64)).unwrap();
    let area: f64 = picture.coverage.iter().map(|c| f64::from(*c)).sum();
    assert!((area / expected - 1.0).abs() < 5e-3, "{area} instead of {expected}");
}

/// Light through a slab of thickness s: (1 - R)² T / (1 - R² T²) with T = exp(-σ s), counting every inner reflection.
#[test]
fn a_slab_follows_beer_and_lambert() {
    let look = plain([0.0, -4.0, 0.0], [0.0; 3], 4.0, 0.0);
    let slab = shapes::cuboid(Vec3::new(4.0, 0.5, 4.0), [1, 1, 1]).unwrap();
    let glass = Surface { depth: Some(0.25), ior: Some(1.5), ..of(Finish::Glass, Colour([0.8, 0.5, 0.2])) };
    let backdrop = shapes::plane(40.0, 40.0, 1, 1).unwrap();
    let mut wall = mesh("wall", backdrop);
    wall.pose.rotation = billow_num::Quat::from_rotation_x(PI / 2.0);
    wall.pose.position = Vec3::new(0.0, 6.0, 0.0);
    let shine = Surface { emission: Some(Colour::WHITE), ..of(Finish::Matte, Colour::BLACK) };
    let look = with(&with(&look, "slab", glass), "wall", shine);
    let picture =
        shoot(&look, &frame(vec![mesh("slab", slab), wall]), &Settings::exact(16, 16, 1024)).unwrap();
    let mut found = [0.0f64; 3];
    for p in &picture.radiance {
        (0..3).for_each(|c| found[c] += f64::from(p[c]) / picture.radiance.len() as f64);
    }
    for (c, tint) in [0.8f64, 0.5, 0.2].into_iter().enumerate() {
        let (r, t) = (0.04, tint * tint);
        let expected = (1.0 - r) * (1.0 - r) * t / (1.0 - r * r * t * t);
        assert!((found[c] / expected - 1.0).abs() < 0.01, "{c}: {} instead of {expected}", found[c]);
    }
}

/// A block of even fog that only absorbs lets exp(-σ s) through.
#[test]
fn absorbing_fog_follows_beer_and_lambert_and_white_fog_loses_nothing() {
    let look = plain([0.0, -4.0, 0.0], [0.0; 3], 6.0, 1.0);
    let block = || object("fog", Shape::Grid(grid(17, |_| 2.0)));
    let fog = |colour| Surface {
        grid: Some(GridKind::Fog),
        density: Some(0.35),
        anisotropy: Some(0.5),
        colour: Some(colour),
        ..Surface::default()
    };
    let settings = Settings { bounces: 4096, ..Settings::exact(24, 24, 128) };
    let black = shoot(&with(&look, "fog", fog(Colour::BLACK)), &frame(vec![block()]), &settings).unwrap();
    let expected = (-0.7f64 * 2.0).exp();
    assert!((mean(&black) / expected - 1.0).abs() < 0.01, "{} instead of {expected}", mean(&black));
    let white = shoot(&with(&look, "fog", fog(Colour::WHITE)), &frame(vec![block()]), &settings).unwrap();
    assert!((mean(&white) - 1.0).abs() < 0.01, "{}", mean(&white));
}

/// A lamp over a matte floor: E cos θ / π at the point below, whatever the lamp's shape; sampling both ways agrees.
#[test]
fn lamps_light_a_wall_by_their_power() {
    let mut look = plain([0.0, -6.0, 4.0], [0.0; 3], 1.0, 0.0);
    look = with(&look, "floor", of(Finish::Matte, Colour::grey(0.5)));
    let sheet = frame(vec![mesh("floor", shapes::plane(8.0, 8.0, 1, 1).unwrap())]);
    for (kind, size, power, expected) in [
        (LightKind::Disc, 0.05, 100.0, 0.5 / PI * 100.0 / (PI * 9.0)),
        (LightKind::Sphere, 0.05, 100.0, 0.5 / PI * 100.0 / (4.0 * PI * 9.0)),
        (LightKind::Sun, 0.5, 3.0, 0.5 / PI * 3.0),
    ] {
        let light =
            Light { kind, size, power, position: [0.0, 0.0, 3.0], target: [0.0; 3], ..Light::default() };
        look.lights = [("lamp".to_string(), light)].into();
        let picture = shoot(&look, &sheet, &Settings::exact(8, 8, 64)).unwrap();
        assert!((mean(&picture) / expected - 1.0).abs() < 0.01, "{kind:?}: {} / {expected}", mean(&picture));
    }
}

/// A moving point smears over the path it takes while the shutter is open.
#[test]
fn velocities_blur_by_the_distance_moved() {
    let mut look = plain([0.0, -50.0, 0.0], [0.0; 3], 3.0, 0.0);
    look = with(&look, "it", Surface { radius: Some(0.1), ..of(Finish::Matte, Colour::WHITE) });
    let mut dot = object("it", Shape::Points { positions: Arc::new(vec![Vec3::ZERO]) });
    dot.attributes.push(Attribute {
        name: "velocity".into(),
        domain: Domain::Vertex,
        values: Values::Vector(Arc::new(vec![[48.0, 0.0, 0.0]])),
    });
    let variance = |shutter: f64| {
        let mut look = look.clone();
        look.camera.shutter = shutter;
        spread(&shoot(&look, &frame(vec![dot.clone()]), &Settings::exact(96, 96, 64)).unwrap())[0]
    };
    // 48 m/s for half of 1/24 s is one metre; an even smear of length l adds l²/12.
    let length = (12.0 * (variance(0.5) - variance(0.0))).sqrt();
    let pixels = 96.0 / (100.0 * (1.5f64.to_radians()).tan());
    assert!((length / pixels - 1.0).abs() < 0.01, "{length} {pixels}");
}

/// Out of focus, a small light spreads over a disc of known size.
#[test]
fn a_lens_blurs_what_is_out_of_focus() {
    let mut look = plain([0.0, -10.0, 0.0], [0.0; 3], 20.0, 0.0);
    (look.camera.lens, look.camera.focus) = (0.4, Some(20.0));
    let glow =
        Surface { radius: Some(0.01), emission: Some(Colour::grey(1e4)), ..of(Finish::Matte, Colour::BLACK) };
    let look = with(&look, "it", glow);
    let dot = object("it", Shape::Points { positions: Arc::new(vec![Vec3::ZERO]) });
    let picture = shoot(&look, &frame(vec![dot]), &Settings::exact(64, 64, 1024)).unwrap();
    // Circle of confusion at distance 10, seen against the focal plane at 20: radius 0.4 · (20 - 10)/10 there. An
    // even disc of radius r has variance r²/4 along each axis, the pixel filter 1/4.
    let pixels = 64.0 / (2.0 * 20.0 * (10f64.to_radians()).tan());
    let radius = (4.0 * (spread(&picture)[0] - 0.25)).sqrt();
    assert!((radius / (0.4 * pixels) - 1.0).abs() < 0.03, "{radius} instead of {}", 0.4 * pixels);
}
