//! `billow render`: every kind of file, every choice of frames, and plain words for what cannot be made.

use crate::support::Place;
use billow::io::cache::{ManifestHeader, Status, Writer};
use billow::io::{Frame, Grid, Object, Shape};
use billow::num::{Pose, Vec3};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

const SMALL: [&str; 3] = ["--preview", "--size", "64x36"];

fn run(place: &Place) {
    place.billow(&["run", "tumble", "-o", "run", "--frames", "0..6"]).ok();
}

/// Renders small previews of `run`.
fn render(place: &Place, args: &[&str]) -> crate::support::Outcome {
    place.billow(&[&["render", "run", "--json"][..], &SMALL, args].concat())
}

/// Width, height and pixels of a PNG file.
fn png(path: &Path) -> (u32, u32, Vec<u8>) {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    (info.width, info.height, bytes)
}

fn installed(program: &str) -> bool {
    let there = Command::new(program).arg("-version").output().is_ok_and(|o| o.status.success());
    if !there {
        println!("skipped: {program} is not installed");
    }
    there
}

#[test]
fn stills_of_a_range_are_written_beside_the_run() {
    let place = Place::new();
    run(&place);
    let report = render(&place, &["--frames", "1..5", "--every", "2"]).ok().json();
    assert_eq!(
        (report["frames"].as_u64(), report["samples"].as_u64()),
        (Some(3), Some(3 * 64 * 36 * 2)),
        "{report}"
    );
    let names: Vec<&str> = report["files"].as_array().unwrap().iter().map(|f| f.as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["run-pictures/frame-0001.png", "run-pictures/frame-0003.png", "run-pictures/frame-0005.png"]
    );
    let pictures = [1, 3, 5].map(|k| png(&place.path(&format!("run-pictures/frame-{k:04}.png"))));
    assert!(pictures.iter().all(|p| (p.0, p.1) == (64, 36)));
    assert!(pictures[0].2 != pictures[1].2 && pictures[1].2 != pictures[2].2, "the handle turns");
}

#[test]
fn one_picture_has_the_same_bits_every_time_and_the_preview_is_a_cheaper_one() {
    let place = Place::new();
    run(&place);
    for threads in ["1", "3"] {
        render(&place, &["--frame", "4", "-o", &format!("{threads}.png"), "--threads", threads]).ok();
    }
    assert_eq!(std::fs::read(place.path("1.png")).unwrap(), std::fs::read(place.path("3.png")).unwrap());
    let full =
        place.billow(&["render", "run", "--frame", "4", "-o", "full.png", "--size", "64x36", "--json"]);
    let samples = full.ok().json()["samples"].as_u64().unwrap();
    assert!(samples > 8 * 2 * 64 * 36, "{samples} samples are no better than a preview");
    let (_, _, quick) = png(&place.path("1.png"));
    let (_, _, full) = png(&place.path("full.png"));
    let apart: u64 = quick.iter().zip(&full).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    let mean = apart as f64 / full.len() as f64;
    assert!(mean > 0.0 && mean < 8.0, "a preview is {mean:.1} of 255 away from the picture");
}

#[test]
fn exr_holds_the_light_that_the_png_shows() {
    let place = Place::new();
    run(&place);
    render(&place, &["--frame", "2", "-o", "shot.exr"]).ok();
    render(&place, &["--frame", "2", "-o", "shot.png"]).ok();
    render(&place, &["--frames", "2..3", "--exr", "-o", "light"]).ok();
    let bytes = std::fs::read(place.path("shot.exr")).unwrap();
    assert!(bytes.starts_with(&[0x76, 0x2f, 0x31, 0x01]));
    assert!(place.path("light/frame-0002.exr").exists() && place.path("light/frame-0003.exr").exists());
    if !installed("ffmpeg") {
        return;
    }
    // Another program reads it back: linear floats, planes in the order green, blue, red.
    let decoded = Command::new("ffmpeg")
        .args(["-loglevel", "error", "-i"])
        .arg(place.path("shot.exr"))
        .args(["-f", "rawvideo", "-pix_fmt", "gbrpf32le", "-"])
        .output()
        .unwrap();
    let light: Vec<f32> = decoded.stdout.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
    assert_eq!(light.len(), 3 * 64 * 36, "{}", String::from_utf8_lossy(&decoded.stderr));
    let (_, _, shown) = png(&place.path("shot.png"));
    let encode = |x: f32| if x <= 0.003_130_8 { 12.92 * x } else { 1.055 * x.powf(1.0 / 2.4) - 0.055 };
    let mut compared = 0;
    for k in 0..64 * 36 {
        let rgb = [light[2 * 64 * 36 + k], light[k], light[64 * 36 + k]];
        // Brighter light is rolled off on the screen.
        if rgb.iter().all(|c| *c < 0.7) {
            compared += 1;
            for (c, byte) in rgb.iter().zip(&shown[3 * k..]) {
                let expected = 255.0 * encode(*c);
                assert!((expected - f32::from(*byte)).abs() < 1.5, "pixel {k}: {expected} shown as {byte}");
            }
        }
    }
    assert!(compared > 500, "{compared} pixels are dark enough to compare");
}

#[test]
fn sheets_show_frames_side_by_side_with_both_ends() {
    let place = Place::new();
    run(&place);
    let report = render(&place, &["--sheet", "2x2"]).ok().json();
    assert_eq!((report["files"][0].as_str(), report["frames"].as_u64()), (Some("run-sheet.png"), Some(4)));
    let (width, height, pixels) = png(&place.path("run-sheet.png"));
    assert_eq!((width, height), (2 * 64 + 3 * 4, 2 * 36 + 3 * 4));
    // The last cell shows the last frame, but for its number.
    render(&place, &["--every", "2", "-o", "stills"]).ok();
    let (_, _, last) = png(&place.path("stills/frame-0006.png"));
    let row = |bytes: &[u8], at: usize| bytes[3 * at..3 * (at + 64)].to_vec();
    for y in 0..10 {
        let at = (4 + 36 + 4 + y) * width as usize + 4 + 64 + 4;
        assert_eq!(row(&pixels, at), row(&last, y * 64), "line {y}");
    }
    // A sheet larger than the run has no empty rows or columns.
    render(&place, &["--frames", "..1", "--sheet", "9x9", "-o", "two.png"]).ok();
    assert_eq!(png(&place.path("two.png")).0, 2 * 64 + 3 * 4);
}

#[test]
fn gif_and_animated_png_hold_every_frame_at_the_speed_of_the_run() {
    let place = Place::new();
    run(&place);
    render(&place, &["--movie", "film/a.gif"]).ok();
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut gif = options.read_info(std::fs::File::open(place.path("film/a.gif")).unwrap()).unwrap();
    let mut frames = Vec::new();
    while let Some(frame) = gif.read_next_frame().unwrap() {
        assert_eq!((frame.width, frame.height, frame.delay), (64, 36, 4), "hundredths of a second");
        frames.push(frame.buffer.to_vec());
    }
    assert!(frames.len() == 7 && frames[0] != frames[6]);
    // Every other frame for twice as long.
    render(&place, &["--movie", "a.png", "--every", "2"]).ok();
    let file = std::io::BufReader::new(std::fs::File::open(place.path("a.png")).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    assert_eq!(reader.info().animation_control().unwrap().num_frames, 4);
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    for _ in 0..4 {
        reader.next_frame(&mut bytes).unwrap();
        let control = reader.info().frame_control().unwrap();
        let seconds = f64::from(control.delay_num) / f64::from(control.delay_den);
        assert!((seconds - 2.0 / 24.0).abs() < 1e-3, "{seconds}");
    }
}

#[test]
fn ffmpeg_makes_a_movie_of_the_right_size_and_length() {
    let place = Place::new();
    run(&place);
    if !(installed("ffmpeg") && installed("ffprobe")) {
        return;
    }
    // Odd sizes are padded to even ones, which is what players want.
    place.billow(&["render", "run", "--preview", "--size", "65x37", "--movie", "films/a.mp4"]).ok();
    let probe = Command::new("ffprobe")
        .args(["-v", "error", "-select_streams", "v:0", "-count_frames", "-show_entries"])
        .args(["stream=codec_name,width,height,r_frame_rate,nb_read_frames,pix_fmt", "-of", "json"])
        .arg(place.path("films/a.mp4"))
        .output()
        .unwrap();
    let found: serde_json::Value = serde_json::from_slice(&probe.stdout).unwrap();
    let stream = &found["streams"][0];
    assert_eq!(
        (&stream["width"], &stream["height"], &stream["nb_read_frames"], &stream["r_frame_rate"]),
        (&66.into(), &38.into(), &"7".into(), &"24/1".into()),
        "{found}"
    );
    assert_eq!(stream["pix_fmt"], "yuv420p", "{found}");
    // What ffmpeg cannot write is told in its own words.
    std::fs::create_dir(place.path("taken.mp4")).unwrap();
    let failed = render(&place, &["--movie", "taken.mp4"]);
    assert_eq!(failed.code, 1, "{failed:?}");
    assert!(
        failed.stderr.contains("ffmpeg could not write taken.mp4") && failed.stderr.contains("directory"),
        "{failed:?}"
    );
}

#[test]
fn a_movie_without_ffmpeg_is_refused_with_advice() {
    let place = Place::new();
    run(&place);
    let outcome =
        place.command(&["render", "run", "--movie", "a.mp4"]).env("PATH", place.path("nothing")).output();
    let outcome = crate::support::Outcome::new(outcome.unwrap());
    assert_eq!(
        (outcome.code, outcome.stderr.as_str()),
        (
            2,
            "error: a.mp4 needs the program ffmpeg, which is not installed\n  \
             help: install ffmpeg, or write an animation that needs nothing: --movie NAME.gif or NAME.png\n"
        )
    );
}

#[test]
fn what_cannot_be_rendered_is_said_in_plain_words() {
    let place = Place::new();
    run(&place);
    let message = |args: &[&str]| {
        let outcome = place.billow(&[&["render", "run", "--preview"], args].concat());
        assert_eq!(outcome.code, 2, "{args:?}: {outcome:?}");
        outcome.stderr
    };
    for (args, expected) in [
        (&["--frame", "99"][..], "error: no frame of run was asked for\n  help: it has frames 0 to 6\n"),
        (
            &["-o", "a.png"],
            "error: 7 pictures do not fit into one file, a.png\n  help: name a folder, choose one with --frame N, or ask \
             for a --sheet or a --movie\n",
        ),
        (
            &["--frame", "1", "-o", "a.jpg"],
            "error: a.jpg is no picture format known here\n  help: end the name in .png or .exr, or name a folder\n",
        ),
        (&["-o", "a.gif"], "error: a.gif is a movie, not a picture\n  help: write: --movie a.gif\n"),
        (
            &["--movie", "a.avi"],
            "error: a.avi is no movie format known here\n  help: end the name in .gif, .png, .mp4, .webm, .mov or .mkv\n",
        ),
        (
            &["--sheet", "2x2", "-o", "a.exr"],
            "error: a contact sheet cannot be written as a.exr\n  help: end its name in .png\n",
        ),
        (
            &["--sheet", "7x1", "--size", "8000x4000"],
            "error: a sheet of 7 × 1 pictures of 8000 × 4000 is 224 million pixels; at most 34 million fit\n  help: ask for \
             fewer pictures, or smaller ones with --size\n",
        ),
        (
            &["--size", "32768x32768"],
            "error: a picture of 32768 × 32768 is 1074 million pixels; at most 34 million fit\n",
        ),
        (&["--samples", "0"], "error: 0 samples per pixel; use 1 to 1048576\n"),
        (&["--noise=-1"], "error: a noise of -1; it must not be negative\n"),
    ] {
        assert_eq!(message(args), expected, "{args:?}");
    }
    for (args, part) in [
        (&["--size", "0x5"][..], "`0x5` is not of the form 960x540 with numbers between 1 and 32768"),
        (&["--sheet", "3"], "`3` is not of the form 960x540"),
        (&["--frame", "1", "--frames", "1..2"], "'--frame <N>' cannot be used with '--frames <A..B>'"),
        (&["--every", "0"], "0 is not in 1.."),
        (&["--movie", "a.gif", "--sheet", "2x2"], "cannot be used with"),
        (&["--scene", "tumbel"], "did you mean `tumble`?"),
    ] {
        let found = message(args);
        assert!(found.contains(part), "{args:?}: {found}");
    }
    let missing = place.billow(&["render", "nowhere"]);
    assert!(missing.code == 2 && missing.stderr.contains("nowhere"), "{missing:?}");
    assert!(!place.path("a.gif").exists() && !place.path("run-pictures").exists(), "nothing is left behind");
}

/// A run of particles, fog and a level set, as solvers to come will write it.
fn grids(folder: &Path) {
    let grid = |centre: Vec3, f: &dyn Fn(Vec3) -> f64| {
        let (n, h) = (25u32, 1.0 / 24.0);
        let at = |k: u32| f64::from(k) * h - 0.5;
        let node = |k: u32| Vec3::new(at(k % n), at(k / n % n), at(k / n / n));
        let values = (0..n * n * n).map(|k| f(node(k)) as f32).collect();
        Shape::Grid(Grid {
            origin: centre - Vec3::splat(0.5),
            spacing: h,
            dims: [n; 3],
            values: Arc::new(values),
        })
    };
    let object =
        |name: &str, shape| Object { name: name.into(), pose: Pose::IDENTITY, shape, attributes: vec![] };
    let spray = (0..40)
        .map(|k| Vec3::new(0.1 * f64::from(k % 4), 0.1 * f64::from(k / 4 % 4), 0.1 * f64::from(k / 16)));
    let objects = vec![
        object("smoke", grid(Vec3::new(-1.2, 0.0, 0.0), &|p| (0.5 - p.length()).max(0.0))),
        object("water", grid(Vec3::ZERO, &|p| p.length() - 0.4)),
        object(
            "spray",
            Shape::Points { positions: Arc::new(spray.map(|p| p + Vec3::new(0.9, -0.2, -0.2)).collect()) },
        ),
    ];
    let mut writer = Writer::create(folder, &ManifestHeader::default()).unwrap();
    writer.write_frame(&Frame { objects, ..Frame::default() }).unwrap();
    writer.finish(Status::Finished, None).unwrap();
}

#[test]
fn grids_and_particles_of_the_cache_are_shown_as_the_scene_file_says() {
    let place = Place::new();
    grids(&place.path("run"));
    let base = "[camera]\nposition = [0, -6, 0]\ntarget = [0, 0, 0]\nfov = 14\n[ground]\nvisible = false\n\
                [mesh.ball]\nshape = \"icosphere\"\n[body.ball]\nmesh = \"ball\"\n";
    let shoot = |name: &str, text: &str| {
        place.write(&format!("{name}.toml"), &format!("{base}{text}"));
        let (file, scene) = (format!("{name}.png"), format!("{name}.toml"));
        place
            .billow(&[
                "render",
                "run",
                "--frame",
                "0",
                "--size",
                "90x36",
                "--samples",
                "16",
                "-o",
                &file,
                "--scene",
                &scene,
            ])
            .ok();
        png(&place.path(&file)).2
    };
    // Which third of the picture differs, by how many pixels: smoke stands on the left, water in the middle, spray right.
    let changed = |a: &[u8], b: &[u8]| {
        let mut thirds = [0; 3];
        for k in 0..90 * 36 {
            let apart = (0..3).map(|c| a[3 * k + c].abs_diff(b[3 * k + c])).max().unwrap();
            thirds[k % 90 / 30] += usize::from(apart > 12);
        }
        thirds
    };
    let plain = shoot("plain", "");
    let bare = shoot("bare", "[look.smoke]\nhidden = true\n[look.water]\nhidden = true\n");
    let shown = changed(&plain, &bare);
    assert!(shown[0] > 200 && shown[1] > 200 && shown[2] < 100, "smoke and water are there: {shown:?}");
    for (name, text, third) in [
        ("thin", "[look.smoke]\ndensity = 0.5\n", 0),
        ("black", "[look.smoke]\ncolour = [0, 0, 0]\n", 0),
        ("solid", "[look.smoke]\ngrid = \"surface\"\n", 0),
        ("glass", "[look.water]\nfinish = \"water\"\n", 1),
        ("rough", "[look.water]\nfinish = \"metal\"\nroughness = 0\nnoise = 0.004\n", 1),
        ("large", "[look.spray]\nradius = 0.12\n", 2),
    ] {
        let found = changed(&shoot(name, text), &plain);
        let elsewhere: usize = (0..3).filter(|k| *k != third).map(|k| found[k]).sum();
        assert!(found[third] > 40 && elsewhere < found[third] / 2, "{name} changes {found:?} pixels");
    }
}

/// A finished run under a gallery scene's name: thousands of small balls, of which no picture compresses well.
fn crowd(folder: &Path) {
    let hash = |k: u32| {
        f64::from(k.wrapping_mul(0x9e37_79b9).rotate_left(13).wrapping_mul(0x85eb_ca6b)) / 4.3e9 - 0.5
    };
    let place = |k: u32| Vec3::new(6.0 * hash(k), 2.0 * hash(k + 90_000), 3.4 * hash(k + 500_000));
    let mut writer = Writer::create(folder, &ManifestHeader::default()).unwrap();
    for index in 0..6 {
        let positions: Vec<Vec3> = (0..30_000).map(|k| place(k + 31 * index)).collect();
        let balls = Object {
            name: "balls".into(),
            pose: Pose::IDENTITY,
            shape: Shape::Points { positions: positions.into() },
            attributes: vec![],
        };
        writer.write_frame(&Frame { index, objects: vec![balls], ..Frame::default() }).unwrap();
    }
    writer.finish(Status::Finished, None).unwrap();
}

#[test]
fn the_gallery_page_shows_every_scene_in_files_small_enough_to_keep() {
    let place = Place::new();
    crowd(&place.path("runs/juggle"));
    place.billow(&["run", "tumble", "-o", "runs/tumble", "--frames", "0..6"]).ok();
    let render = |name: &str| {
        let to = ["--preview", "--runs", "runs", "--page", "docs/page.md"];
        place.billow(&[&["gallery", "--json", "render", name][..], &to].concat()).ok().json()
    };
    let file = |name: &str| place.path(&format!("docs/pictures/{name}.png"));
    let bytes = |name: &str| std::fs::metadata(file(name)).unwrap().len();

    // Three by two images of at most 320 × 180, and one of them on the sheet of all scenes.
    assert_eq!(render("tumble")["overview"], "docs/pictures/gallery.png");
    let (wide, tall, _) = png(&file("tumble"));
    assert!((800..=3 * 320 + 16).contains(&wide) && (300..=2 * 180 + 12).contains(&tall), "{wide} × {tall}");
    assert_eq!(png(&file("gallery")).0, 320 + 8);

    // A picture that would take too much is smaller; the page keeps the scenes it had.
    let report = render("juggle");
    assert_eq!(report["on_the_page"], serde_json::json!(["juggle", "tumble"]));
    let (narrow, _, _) = png(&file("juggle"));
    assert!(narrow < wide && bytes("juggle") > 150_000, "{narrow} pixels, {} bytes", bytes("juggle"));
    assert!(["juggle", "tumble", "gallery"].iter().all(|name| bytes(name) <= 300_000));
    assert_eq!(png(&file("gallery")).0, 2 * 320 + 12);
    let page = std::fs::read_to_string(place.path("docs/page.md")).unwrap();
    for name in ["juggle", "tumble"] {
        assert!(
            page.contains(&format!("(pictures/{name}.png)"))
                && page.contains(&format!("`billow run {name}`"))
        );
    }
}
