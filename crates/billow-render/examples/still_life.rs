//! A still life that shows every kind of surface: `cargo run --release -p billow-render --example still_life`.

#![allow(clippy::print_stdout)] // it reports its own speed

use billow_geom::shapes;
use billow_io::cache::UpAxis;
use billow_io::{Frame, Object, Shape};
use billow_num::{Pose, Quat, Vec3};
use billow_render::{Colour, Finish, Look, Pattern, Settings, Studio, Surface, Watch, develop, write_png};
use std::sync::Arc;

fn mesh(name: &str, mesh: billow_geom::TriMesh, position: Vec3, rotation: Quat) -> Object {
    Object {
        name: name.into(),
        pose: Pose { position, rotation },
        shape: Shape::Triangles { positions: Arc::new(mesh.positions), triangles: Arc::new(mesh.triangles) },
        attributes: Vec::new(),
    }
}

/// A cloth hung over a sphere and the floor.
fn drape(n: u32) -> billow_geom::TriMesh {
    let mut cloth = shapes::cloth_grid(3.0, 3.0, n, n).expect("valid sizes");
    for p in &mut cloth.positions {
        let r = p.truncate().length();
        let angle = p.y.atan2(p.x);
        let over = if r < 0.62 { (0.62f64 * 0.62 - r * r).sqrt() } else { 0.0 };
        let folds = 0.10 * (1.0 - (-(r - 0.4).max(0.0) * 2.0).exp()) * (8.0 * angle).cos();
        p.z = 0.02 + over + 0.62 * (-(r * 1.7).powi(2)).exp() * 0.3 + folds.max(-0.08) + 0.085;
    }
    cloth
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let surface = |finish, rgb: [u8; 3]| Surface {
        finish: Some(finish),
        colour: Some(Colour::srgb(rgb[0], rgb[1], rgb[2])),
        ..Surface::default()
    };
    let sphere = || shapes::uv_sphere(0.5, 96, 48).expect("valid sizes");
    let frame = Frame {
        objects: vec![
            mesh("cloth", drape(180), Vec3::new(0.0, 0.6, 0.0), Quat::IDENTITY),
            mesh("glass", sphere(), Vec3::new(1.35, -0.9, 0.5), Quat::IDENTITY),
            mesh("metal", sphere(), Vec3::new(-1.6, -0.7, 0.5), Quat::IDENTITY),
            mesh("glossy", sphere(), Vec3::new(-0.2, -1.6, 0.5), Quat::IDENTITY),
            mesh(
                "ring",
                shapes::torus(0.45, 0.16, 96, 48)?,
                Vec3::new(2.3, 0.4, 0.42),
                Quat::from_rotation_x(0.9),
            ),
        ],
        ..Frame::default()
    };
    let mut look = Look::default();
    look.objects.insert(
        "cloth".into(),
        Surface {
            pattern: Some(Pattern::Checks),
            second: Some(Colour::srgb(0xe8, 0xdc, 0xc8)),
            scale: Some(0.5),
            ..surface(Finish::Fabric, [0xb8, 0x3b, 0x2e])
        },
    );
    look.objects.insert("glass".into(), surface(Finish::Glass, [0xe8, 0xf6, 0xf2]));
    look.objects.insert("metal".into(), surface(Finish::Metal, [0xe6, 0xc2, 0x78]));
    look.objects.insert("glossy".into(), surface(Finish::Glossy, [0x2f, 0x66, 0x90]));
    look.objects.insert("ring".into(), surface(Finish::Matte, [0x4f, 0x8f, 0x86]));

    let args: Vec<String> = std::env::args().collect();
    let samples = args.get(1).map_or(Ok(64), |s| s.parse())?;
    let width = args.get(2).map_or(Ok(960), |s| s.parse())?;
    let settings = if samples == 0 {
        Settings::preview()
    } else {
        Settings {
            samples,
            width,
            height: width * 9 / 16,
            denoise: !args.contains(&"raw".into()),
            ..Settings::default()
        }
    };
    let mut survey = Studio::survey(&look, UpAxis::Z, 24.0, &frame, 960.0 / 540.0)?;
    survey.add(&frame);
    let start = std::time::Instant::now();
    let picture = survey.finish()?.shoot(&frame, None, &settings, &Watch::default())?;
    let seconds = start.elapsed().as_secs_f64();
    println!("{seconds:.2} s, {:.2} M samples/s", picture.samples as f64 / seconds / 1e6);
    write_png("still_life.png", &develop(&picture))?;
    Ok(())
}
