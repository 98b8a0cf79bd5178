//! Ratio and speed of the cache and of the mesh formats on a waving sheet of 22,500 nodes.
//!
//! Run with `cargo bench -p billow-io`. Speeds are medians per second of processor
//! time and per second by the clock, and count the bytes in memory (cache: what the frames
//! hold; USD: the same) or on disk (mesh files).

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark stops at the first surprise and prints"
)]

use billow_io::cache::{ManifestHeader, Reader, Status, Writer, frame_from_bytes, frame_to_bytes};
use billow_io::export::ply::Precision;
use billow_io::export::{SequenceFormat, SequenceOptions, UsdOptions, write_sequence, write_usd};
use billow_io::formats::parse_mesh;
use billow_io::{Attribute, Domain, Frame, Object, Shape, Values};
use billow_num::Vec3;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

const N: u32 = 150;
const FRAMES: u32 = 48;

/// Repeatable noise of size 1.
fn noise(k: u64) -> f64 {
    let z = k.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (z >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// The sheet at time `t`, its nodes displaced at random by up to `rough` [m].
fn sheet(t: f64, rough: f64) -> Vec<Vec3> {
    let h = 1.5 / f64::from(N - 1);
    let seed = (t * 1e6) as u64;
    let node = |k: u32| {
        let (x, y) = (f64::from(k % N) * h, f64::from(k / N) * h);
        let z = 0.1 * (4.0 * x + 3.0 * t).sin() * (3.0 * y - 2.0 * t).cos();
        let r = |c: u64| rough * noise(seed.wrapping_mul(77) + 3 * u64::from(k) + c);
        Vec3::new(
            x + 0.02 * (5.0 * y + t).sin() + r(0),
            y + 0.01 * (7.0 * x - t).cos() + r(1),
            1.0 + z + r(2),
        )
    };
    (0..N * N).map(node).collect()
}

fn frames(rough: f64, velocity: bool) -> Vec<Frame> {
    let quad = |a: u32| [[a, a + 1, a + N + 1], [a, a + N + 1, a + N]];
    let triangles: Vec<[u32; 3]> =
        (0..N - 1).flat_map(|j| (0..N - 1).flat_map(move |i| quad(i + N * j))).collect();
    let triangles = Arc::new(triangles);
    let frame = |index: u32| {
        let t = f64::from(index) / 24.0;
        let shape =
            Shape::Triangles { positions: Arc::new(sheet(t, rough)), triangles: Arc::clone(&triangles) };
        let mut object = Object::new("sheet", shape);
        if velocity {
            let (a, b) = (sheet(t - 1e-4, 0.0), sheet(t + 1e-4, 0.0));
            let v: Vec<[f32; 3]> =
                a.iter().zip(&b).map(|(a, b)| ((*b - *a) / 2e-4).as_vec3().to_array()).collect();
            let values = Values::Vector(Arc::new(v));
            object.attributes.push(Attribute { name: "velocity".into(), domain: Domain::Vertex, values });
        }
        Frame { index, time: t, objects: vec![object], ..Frame::default() }
    };
    (0..FRAMES).map(frame).collect()
}

/// Time this thread has spent on a processor [s]; wall-clock time where the system does not tell.
fn processor_seconds(start: Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.as_ref().and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| start.elapsed().as_secs_f64(), |ns| ns * 1e-9)
}

/// Median seconds of five runs: on the processor, and by the clock.
fn seconds<R>(mut f: impl FnMut() -> R) -> [f64; 2] {
    let start = Instant::now();
    let mut times = [[0.0; 5]; 2];
    for run in 0..5 {
        let before = [processor_seconds(start), start.elapsed().as_secs_f64()];
        std::hint::black_box(f());
        times[0][run] = processor_seconds(start) - before[0];
        times[1][run] = start.elapsed().as_secs_f64() - before[1];
    }
    times.map(|mut times| {
        times.sort_unstable_by(f64::total_cmp);
        times[2]
    })
}

fn report(what: &str, megabytes: f64, seconds: [f64; 2], note: &str) {
    let [processor, clock] = seconds.map(|s| megabytes / s);
    println!("{what:50} {processor:8.1} {clock:8.1}   {note}");
}

fn cache(name: &str, frames: &[Frame], per_frame: f64) {
    let mb = per_frame * f64::from(FRAMES) / 1e6;
    let dir = tempfile::tempdir().unwrap();
    let write = |sub: &str| {
        let mut writer = Writer::replace(dir.path().join(sub), &ManifestHeader::default()).unwrap();
        let bytes: u64 = frames.iter().map(|frame| writer.write_frame(frame).unwrap()).sum();
        writer.finish(Status::Finished, None).unwrap();
        bytes
    };
    let stored = write("a") as f64 / f64::from(FRAMES - 1); // the first frame's arrays are in shared/
    report(
        &format!("{name}: write to disk"),
        mb,
        seconds(|| write("b")),
        &format!("ratio {:.2}", per_frame / stored),
    );
    let read = || {
        let reader = Reader::open(dir.path().join("a")).unwrap();
        reader.frames().iter().map(|index| reader.read(*index).unwrap().objects.len()).sum::<usize>()
    };
    report(&format!("{name}: read from disk"), mb, seconds(read), "");
    let packed: Vec<Vec<u8>> = frames.iter().map(|frame| frame_to_bytes(frame).unwrap()).collect();
    let whole = mb + 44_402.0 * 12.0 * f64::from(FRAMES) / 1e6;
    let pack = || frames.iter().map(|frame| frame_to_bytes(frame).unwrap().len()).sum::<usize>();
    report(&format!("{name}: pack in memory, with topology"), whole, seconds(pack), "");
    let unpack = || packed.iter().for_each(|bytes| drop(frame_from_bytes(Path::new("f"), bytes).unwrap()));
    report(&format!("{name}: unpack in memory, with topology"), whole, seconds(unpack), "");
}

fn meshes(frame: &Frame) {
    let (mut text, objects) = (String::new(), [&frame.objects[0]; 8]);
    billow_io::export::obj::write(&mut text, &objects, 0);
    let mb = text.len() as f64 / 1e6;
    report("OBJ: read", mb, seconds(|| parse_mesh(Path::new("a.obj"), text.as_bytes()).unwrap()), "");
    let write = || {
        let mut text = String::new();
        billow_io::export::obj::write(&mut text, &objects, 0)
    };
    report("OBJ: write", mb, seconds(write), "");
    let ply = billow_io::export::ply::write(&objects, Precision::Single);
    let mb = ply.len() as f64 / 1e6;
    report("PLY binary: read", mb, seconds(|| parse_mesh(Path::new("a.ply"), &ply).unwrap()), "");
    report(
        "PLY binary: write",
        mb,
        seconds(|| billow_io::export::ply::write(&objects, Precision::Single)),
        "",
    );
    let stl = billow_io::export::stl::write(&objects);
    let mb = stl.len() as f64 / 1e6;
    report("STL binary: read and weld", mb, seconds(|| parse_mesh(Path::new("a.stl"), &stl).unwrap()), "");
}

fn ascii_ply(frame: &Frame) {
    let Shape::Triangles { positions, triangles } = &frame.objects[0].shape else { return };
    let mut text = format!(
        "ply\nformat ascii 1.0\nelement vertex {}\nproperty double x\nproperty double y\nproperty double z\n\
         element face {}\nproperty list uchar int vertex_indices\nend_header\n",
        positions.len(),
        triangles.len()
    );
    positions.iter().for_each(|p| text += &format!("{} {} {}\n", p.x, p.y, p.z));
    triangles.iter().for_each(|t| text += &format!("3 {} {} {}\n", t[0], t[1], t[2]));
    let mb = text.len() as f64 / 1e6;
    report("PLY text: read", mb, seconds(|| parse_mesh(Path::new("a.ply"), text.as_bytes()).unwrap()), "");
}

fn exports(frames: &[Frame], per_frame: f64) {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(dir.path().join("run"), &ManifestHeader::default()).unwrap();
    for frame in frames {
        writer.write_frame(frame).unwrap();
    }
    let reader = Reader::open(dir.path().join("run")).unwrap();
    let mb = per_frame * f64::from(FRAMES) / 1e6;
    for ending in ["usda", "usdc"] {
        let path = dir.path().join(format!("a.{ending}"));
        let write = || write_usd(&reader, &path, &UsdOptions::default(), |_| ()).unwrap().bytes;
        let note = format!("{:.1} MB", write() as f64 / 1e6);
        report(&format!("USD .{ending}: export a run"), mb, seconds(write), &note);
    }
    let options = SequenceOptions {
        format: SequenceFormat::Ply(Precision::Single),
        merged: false,
        objects: Vec::new(),
    };
    let write = || write_sequence(&reader, dir.path().join("ply"), &options, |_| ()).unwrap();
    report("PLY: export a run", mb, seconds(write), "");
}

fn main() {
    let nodes = f64::from(N * N);
    println!("{:50} {:>8} {:>8}", "MB/s", "on core", "by clock");
    println!("{FRAMES} frames of {} nodes and {} triangles", N * N, 2 * (N - 1) * (N - 1));
    cache("smooth sheet", &frames(0.0, false), nodes * 24.0);
    cache("sheet rough by 1e-6 m", &frames(1e-6, false), nodes * 24.0);
    cache("sheet rough by 1e-4 m", &frames(1e-4, false), nodes * 24.0);
    let moving = frames(1e-6, true);
    cache("rough by 1e-6 m, velocities", &moving, nodes * 36.0);
    meshes(&moving[3]);
    ascii_ply(&moving[3]);
    exports(&moving, nodes * 36.0);
}
