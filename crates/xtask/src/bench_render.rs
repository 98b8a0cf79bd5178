//! `cargo xtask bench render`: the path tracer next to Blender's Cycles on the same mesh, picture and samples.
//!
//! Both render one frame of the same triangles under the same camera, disc lamp and even sky, with the same number of
//! bounces, on the processor alone and without denoising, one after the other. Equal noise is judged against a
//! reference of each program with many more samples: the time is scaled by the ratio of the mean square errors, because
//! a picture with twice the error needs twice the samples. Needs Python with the `bpy` package; without it only our own
//! figures are printed.

use billow::geom::shapes;
use billow::io::cache::UpAxis;
use billow::io::{Frame, Object, Shape};
use billow::num::{Pose, Vec3};
use billow::render::{
    Camera, Colour, Finish, Ground, Light, Look, Picture, Settings, Sky, Studio, Surface, Watch,
};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

const WIDTH: u32 = 480;
const HEIGHT: u32 = 270;
const SAMPLES: u32 = 32;
const REFERENCE: u32 = 256;
const BOUNCES: u32 = 4;

/// Runs the comparison; `python` is the interpreter that has `bpy`.
pub(crate) fn run(python: &str) -> Result<(), String> {
    let (positions, triangles) = drape(224);
    println!("{} triangles, {WIDTH} x {HEIGHT}, {SAMPLES} samples, {BOUNCES} bounces", triangles.len());
    let before = processor_seconds();
    let (seconds, picture) = ours(&positions, &triangles, SAMPLES, 0)?;
    let processor = processor_seconds() - before;
    let (_, truth) = ours(&positions, &triangles, REFERENCE, 1)?;
    let error = mean_square(&grey(&picture), &grey(&truth));
    let rate = f64::from(WIDTH * HEIGHT * SAMPLES) / seconds;
    println!(
        "billow  {seconds:7.2} s ({processor:.2} s of processor)  {:6.2} M samples/s  mean square error {error:.3e}",
        rate / 1e6
    );
    preview(&positions, &triangles)?;
    let peer = cycles(python, &positions, &triangles)?;
    let rate = f64::from(WIDTH * HEIGHT * SAMPLES) / peer.seconds;
    println!(
        "cycles  {:7.2} s ({:.2} s of processor)  {:6.2} M samples/s  mean square error {:.3e}",
        peer.seconds,
        peer.processor,
        rate / 1e6,
        peer.error
    );
    let brightness = mean(&grey(&truth)) / peer.mean;
    println!("mean brightness, billow over cycles: {brightness:.3}");
    let ratio = seconds * error / (peer.seconds * peer.error);
    let processor_ratio = processor * error / (peer.processor * peer.error);
    println!("time at equal noise, billow over cycles: {ratio:.2}; processor time: {processor_ratio:.2}");
    println!("time at equal samples: {:.2}", seconds / peer.seconds);
    Ok(())
}

/// The time of `--preview` on the same mesh.
fn preview(positions: &[Vec3], triangles: &[[u32; 3]]) -> Result<(), String> {
    let settings = Settings::preview();
    let frame = frame(positions, triangles);
    let mut studio = studio(&frame)?;
    let (start, before) = (Instant::now(), processor_seconds());
    studio.shoot(&frame, None, &settings, &Watch::default()).map_err(|e| e.to_string())?;
    let (seconds, processor) = (start.elapsed().as_secs_f64(), processor_seconds() - before);
    println!(
        "preview {seconds:7.2} s ({processor:.2} s of processor)  {} x {}",
        settings.width, settings.height
    );
    Ok(())
}

/// A rumpled cloth of 2 n² triangles.
fn drape(n: u32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut mesh = shapes::cloth_grid(2.4, 2.4, n, n).unwrap_or_default();
    for p in &mut mesh.positions {
        let r = p.truncate().length();
        let folds = 0.12 * (7.0 * p.y.atan2(p.x)).cos() * (1.0 - (-2.0 * r).exp());
        p.z = 0.7 * (-(1.9 * r).powi(2)).exp() + folds + 0.03 * (17.0 * p.x).sin() * (13.0 * p.y).cos() + 0.2;
    }
    (mesh.positions, mesh.triangles)
}

fn frame(positions: &[Vec3], triangles: &[[u32; 3]]) -> Frame {
    let mesh = |name: &str, positions: Vec<Vec3>, triangles: Vec<[u32; 3]>| Object {
        name: name.into(),
        pose: Pose::IDENTITY,
        shape: Shape::Triangles { positions: Arc::new(positions), triangles: Arc::new(triangles) },
        attributes: Vec::new(),
    };
    let corners =
        [[-20.0, -20.0], [20.0, -20.0], [20.0, 20.0], [-20.0, 20.0]].map(|[x, y]| Vec3::new(x, y, 0.0));
    Frame {
        objects: vec![
            mesh("cloth", positions.to_vec(), triangles.to_vec()),
            mesh("table", corners.to_vec(), vec![[0, 1, 2], [0, 2, 3]]),
        ],
        ..Frame::default()
    }
}

fn studio(frame: &Frame) -> Result<Studio, String> {
    let matte = |grey: f32| Surface {
        finish: Some(Finish::Matte),
        colour: Some(Colour::grey(grey)),
        ..Surface::default()
    };
    let look = Look {
        camera: Camera {
            position: Some([2.2, -3.6, 2.4]),
            target: Some([0.0, 0.0, 0.2]),
            fov: 32.0,
            shutter: 0.0,
            ..Camera::default()
        },
        lights: [(
            "key".to_string(),
            Light { position: [-2.0, -2.0, 4.0], size: 0.8, power: 150.0, ..Light::default() },
        )]
        .into(),
        sky: Sky::uniform(0.4),
        ground: Ground { visible: false, ..Ground::default() },
        objects: [("cloth".to_string(), matte(0.7)), ("table".to_string(), matte(0.5))].into(),
    };
    let aspect = f64::from(WIDTH) / f64::from(HEIGHT);
    let mut survey = Studio::survey(&look, UpAxis::Z, 24.0, frame, aspect).map_err(|e| e.to_string())?;
    survey.add(frame);
    survey.finish().map_err(|e| e.to_string())
}

fn ours(
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    samples: u32,
    seed: u32,
) -> Result<(f64, Picture), String> {
    let settings = Settings { bounces: BOUNCES, seed, ..Settings::exact(WIDTH, HEIGHT, samples) };
    let frame = frame(positions, triangles);
    let mut studio = studio(&frame)?;
    let start = Instant::now();
    let picture = studio.shoot(&frame, None, &settings, &Watch::default()).map_err(|e| e.to_string())?;
    Ok((start.elapsed().as_secs_f64(), picture))
}

/// Processor time of this process so far [s], on systems that tell; wall-clock times suffer when others compute too.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = text.rsplit(')').next().unwrap_or_default();
    // User and system time are the 14th and 15th fields, in hundredths.
    after_name.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn grey(picture: &Picture) -> Vec<f64> {
    picture.radiance.iter().map(|p| f64::from(p[0] + p[1] + p[2]) / 3.0).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn mean_square(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / a.len() as f64
}

/// What Cycles measured.
struct Peer {
    seconds: f64,
    processor: f64,
    error: f64,
    mean: f64,
}

fn cycles(python: &str, positions: &[Vec3], triangles: &[[u32; 3]]) -> Result<Peer, String> {
    let folder = std::env::temp_dir().join(format!("billow-bench-render-{}", std::process::id()));
    let fail = |e: std::io::Error| format!("{}: {e}", folder.display());
    std::fs::create_dir_all(&folder).map_err(fail)?;
    let outcome = run_cycles(python, &folder, positions, triangles);
    std::fs::remove_dir_all(&folder).map_err(fail)?;
    outcome
}

fn run_cycles(
    python: &str,
    folder: &Path,
    positions: &[Vec3],
    triangles: &[[u32; 3]],
) -> Result<Peer, String> {
    let mut mesh = String::new();
    for p in positions {
        let _ = writeln!(mesh, "v {} {} {}", p.x, p.y, p.z);
    }
    for t in triangles {
        let _ = writeln!(mesh, "f {} {} {}", t[0], t[1], t[2]);
    }
    let write =
        |name: &str, text: &str| std::fs::write(folder.join(name), text).map_err(|e| format!("{name}: {e}"));
    write("mesh.txt", &mesh)?;
    write("render.py", SCRIPT)?;
    let output = Command::new(python)
        .arg(folder.join("render.py"))
        .arg(folder)
        .args([WIDTH, HEIGHT, SAMPLES, REFERENCE, BOUNCES].map(|n| n.to_string()))
        .output()
        .map_err(|e| format!("cannot start {python}: {e}; name an interpreter that has `bpy`"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find_map(|l| l.strip_prefix("RESULT ")).ok_or_else(|| {
        let said = String::from_utf8_lossy(&output.stderr);
        format!("{python} could not render with `bpy`: {}", said.lines().last().unwrap_or("it said nothing"))
    })?;
    let numbers: Vec<f64> = line.split(' ').filter_map(|n| n.parse().ok()).collect();
    match numbers[..] {
        [seconds, processor, error, mean] => Ok(Peer { seconds, processor, error, mean }),
        _ => Err(format!("unexpected answer of the Cycles script: {line}")),
    }
}

/// The same scene for Cycles. A disc lamp of power P and area A shines with P/(πA) in both.
const SCRIPT: &str = r#"
import sys, time, math
import bpy
import numpy as np
from mathutils import Vector

folder = sys.argv[1]
width, height, samples, reference, bounces = map(int, sys.argv[2:7])
verts, faces = [], []
for line in open(folder + "/mesh.txt"):
    kind, a, b, c = line.split()
    (verts if kind == "v" else faces).append(
        (float(a), float(b), float(c)) if kind == "v" else (int(a), int(b), int(c)))

bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene

def matte(name, grey):
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    nodes, links = material.node_tree.nodes, material.node_tree.links
    nodes.clear()
    out, bsdf = nodes.new("ShaderNodeOutputMaterial"), nodes.new("ShaderNodeBsdfDiffuse")
    bsdf.inputs["Color"].default_value = (grey, grey, grey, 1)
    links.new(bsdf.outputs[0], out.inputs[0])
    return material

def mesh(name, verts, faces, material, smooth):
    data = bpy.data.meshes.new(name)
    data.from_pydata(verts, [], faces)
    data.polygons.foreach_set("use_smooth", [smooth] * len(faces))
    data.materials.append(material)
    scene.collection.objects.link(bpy.data.objects.new(name, data))

mesh("cloth", verts, faces, matte("cloth", 0.7), True)
corners = [(-20, -20, 0), (20, -20, 0), (20, 20, 0), (-20, 20, 0)]
mesh("table", corners, [(0, 1, 2), (0, 2, 3)], matte("table", 0.5), False)

def aim(object, position, target):
    object.location = position
    direction = Vector(target) - Vector(position)
    object.rotation_euler = direction.to_track_quat("-Z", "Y").to_euler()
    scene.collection.objects.link(object)

lamp = bpy.data.lights.new("key", "AREA")
lamp.shape, lamp.size, lamp.energy = "DISK", 1.6, 150.0
aim(bpy.data.objects.new("key", lamp), (-2, -2, 4), (0, 0, 0))
camera = bpy.data.cameras.new("camera")
camera.sensor_fit, camera.angle = "VERTICAL", math.radians(32)
eye = bpy.data.objects.new("camera", camera)
aim(eye, (2.2, -3.6, 2.4), (0, 0, 0.2))
scene.camera = eye
world = bpy.data.worlds.new("sky")
world.use_nodes = True
world.node_tree.nodes["Background"].inputs["Color"].default_value = (1, 1, 1, 1)
world.node_tree.nodes["Background"].inputs["Strength"].default_value = 0.4
scene.world = world

scene.render.engine = "CYCLES"
scene.render.resolution_x, scene.render.resolution_y, scene.render.resolution_percentage = width, height, 100
cycles = scene.cycles
cycles.device = "CPU"
cycles.use_adaptive_sampling = False
cycles.use_denoising = False
cycles.max_bounces = cycles.diffuse_bounces = bounces - 1
cycles.sample_clamp_direct = cycles.sample_clamp_indirect = 0
scene.render.image_settings.file_format = "OPEN_EXR"
scene.render.image_settings.color_depth = "32"
scene.view_settings.view_transform = "Raw"

def shoot(samples, seed, name):
    cycles.samples, cycles.seed = samples, seed
    scene.render.filepath = folder + "/" + name
    start, busy = time.perf_counter(), time.process_time()
    bpy.ops.render.render(write_still=True)
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    image = bpy.data.images.load(folder + "/" + name + ".exr")
    image.colorspace_settings.name = "Non-Color"
    pixels = np.empty(width * height * 4, dtype=np.float32)
    image.pixels.foreach_get(pixels)
    return seconds, busy, pixels.reshape(-1, 4)[:, :3].mean(axis=1).astype(np.float64)

shoot(1, 7, "warm")
seconds, busy, picture = shoot(samples, 0, "picture")
_, _, truth = shoot(reference, 1, "truth")
print("RESULT", seconds, busy, float(((picture - truth) ** 2).mean()), float(truth.mean()))
"#;
