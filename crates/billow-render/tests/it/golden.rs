//! Golden images: small pictures kept with the sources and compared with a tolerance.
//!
//! `BILLOW_BLESS=1 cargo test -p billow-render golden` writes them anew; look at them before committing.

use crate::props::{frame, grid, mesh, object, shoot, sphere};
use billow_geom::shapes;
use billow_io::{Frame, Shape};
use billow_num::Vec3;
use billow_render::{Colour, Finish, Image, Look, Pattern, Settings, Surface, develop, write_png};
use std::path::PathBuf;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/golden").join(format!("{name}.png"))
}

fn read(path: &PathBuf) -> Image {
    let file = std::fs::File::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut reader = png::Decoder::new(std::io::BufReader::new(file)).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    Image { width: info.width, height: info.height, pixels: bytes.as_chunks::<3>().0.to_vec() }
}

/// Root mean square, worst 8 × 8 block and worst mean of a channel of the difference, in steps of 1/255.
fn difference(a: &Image, b: &Image) -> (f64, f64, f64) {
    let (w, h) = (a.width as usize, a.height as usize);
    let (mut total, mut worst) = (0.0, 0.0f64);
    let mut whole = [0.0f64; 3];
    for y in (0..h).step_by(8) {
        for x in (0..w).step_by(8) {
            let mut mean = [0.0f64; 3];
            let mut n = 0.0;
            for k in (y..(y + 8).min(h)).flat_map(|j| (x..(x + 8).min(w)).map(move |i| i + j * w)) {
                for c in 0..3 {
                    let d = f64::from(a.pixels[k][c]) - f64::from(b.pixels[k][c]);
                    total += d * d;
                    mean[c] += d;
                    whole[c] += d;
                }
                n += 1.0;
            }
            worst = mean.iter().fold(worst, |m, d| m.max((d / n).abs()));
        }
    }
    let mean = whole.iter().fold(0.0f64, |m, d| m.max((d / (w * h) as f64).abs()));
    ((total / (3 * w * h) as f64).sqrt(), worst, mean)
}

fn compare(name: &str, look: &Look, frame: &Frame) {
    let settings = Settings { width: 160, height: 90, samples: 64, noise: 0.0, ..Settings::default() };
    let image = develop(&shoot(look, frame, &settings).unwrap());
    let path = path(name);
    if std::env::var_os("BILLOW_BLESS").is_some() {
        write_png(&path, &image).unwrap();
    }
    let golden = read(&path);
    assert_eq!((golden.width, golden.height), (image.width, image.height));
    // Other processors round sines and logarithms differently, which reorders the noise but not the picture.
    let (rms, block, mean) = difference(&image, &golden);
    assert!(
        rms < 4.0 && block < 4.0 && mean < 0.3,
        "{name}: differs by {rms:.2} overall, {block:.2} in a block, {mean:.2} in the mean"
    );
}

#[test]
fn golden_surfaces() {
    let surface = |finish| Surface { finish: Some(finish), ..Surface::default() };
    let mut look = Look::default();
    let finishes = [Finish::Fabric, Finish::Glossy, Finish::Metal, Finish::Glass, Finish::Water];
    let mut objects = Vec::new();
    for (k, finish) in finishes.into_iter().enumerate() {
        let name = format!("{finish:?}");
        objects.push(sphere(&name, 0.5, Vec3::new(1.1 * k as f64, 0.3 * (k % 2) as f64, 0.5)));
        look.objects.insert(name, surface(finish));
    }
    look.objects.get_mut("Fabric").unwrap().pattern = Some(Pattern::Checks);
    look.ground.checks = Some(Colour::grey(0.3));
    compare("surfaces", &look, &frame(objects));
}

#[test]
fn golden_volumes() {
    let ring = grid(28, |p| ((p.x.hypot(p.y) - 0.6).hypot(p.z)) - 0.22);
    let mut smoke =
        grid(20, |p| (1.0 - p.length()).max(0.0) * (1.0 + 0.5 * (9.0 * p.x).sin() * (7.0 * p.z).cos()));
    smoke.origin += Vec3::new(2.2, 0.0, 0.0);
    let spray: Vec<Vec3> = (0..60)
        .map(|k| {
            let a = 2.399_963 * f64::from(k);
            Vec3::new(
                -1.9 + 0.06 * f64::from(k).sqrt() * a.cos(),
                0.06 * f64::from(k).sqrt() * a.sin(),
                f64::from(k) * 0.02 - 0.6,
            )
        })
        .collect();
    let mut look = Look::default();
    look.objects.insert("ring".into(), Surface { finish: Some(Finish::Water), ..Surface::default() });
    let points = Shape::Points { positions: spray.into() };
    let objects =
        vec![object("ring", Shape::Grid(ring)), object("smoke", Shape::Grid(smoke)), object("spray", points)];
    compare("volumes", &look, &frame(objects));
}

#[test]
fn golden_cloth() {
    let mut cloth = shapes::cloth_grid(2.0, 2.0, 48, 48).unwrap();
    for p in &mut cloth.positions {
        p.z = 0.25 * (3.0 * p.x).sin() * (2.5 * p.y).cos() + 0.4;
    }
    let mut look = Look::default();
    look.objects.insert(
        "cloth".into(),
        Surface {
            finish: Some(Finish::Fabric),
            colour: Some(Colour::srgb(0x2f, 0x66, 0x90)),
            ..Surface::default()
        },
    );
    compare("cloth", &look, &frame(vec![mesh("cloth", cloth)]));
}
