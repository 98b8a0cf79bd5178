//! `cargo xtask bench cloth [NODES [FRAMES [SCENE…]]]`: the cloth solver next to Blender's, in one table.
//!
//! A square metre of cloth with NODES × NODES nodes (150), 1 mm thick, friction 0.5, 0.3 kg/m², 24 frames per second, 8
//! collision steps per frame, 60 frames unless told otherwise. Scenes: `drape` on a ball, `twist` by the ball, `pile` of a sheet that falls edge-on, `flip`
//! by a ball that ploughs through. Both programs' frames are judged by the same exact audit. Blender runs when `python3`
//! has PyPI's `bpy`. `cargo xtask bench cloth scaling [NODES]` runs ours alone for 75² up to NODES² nodes (600): as scenes do,
//! with small steps as short as each resolution needs, and all of them with those of the finest.

use billow::cloth::{Air, Config, Garment, Layout, Material, Model, Setup, Solid, State, Workspace, step};
use billow::geom::{TriMesh, audit, shapes};
use billow::levelset::{Ball, HalfSpace, Motion, Moving, Twist};
use billow::num::stages::Stages;
use billow::num::{Pose, Quat, Vec3, par};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

const FPS: f64 = 24.0;
const STEPS_PER_FRAME: u32 = 8;
const RADIUS: f64 = 0.3;
const SCENES: [&str; 4] = ["drape", "twist", "pile", "flip"];

/// Runs the benchmark named by the words after `bench cloth`.
pub(crate) fn run(words: &[&str]) -> Result<(), String> {
    let number = |k: usize, default: u32| {
        words.get(k).map_or(Ok(default), |w| w.parse().map_err(|_| format!("`{w}` is not a number")))
    };
    if words.first() == Some(&"scaling") {
        return scaling(number(1, 600)?);
    }
    let (n, frames) = (number(0, 150)?, number(1, 60)?);
    let scenes = if words.len() > 2 { &words[2..] } else { &SCENES };
    println!("{n} x {n} nodes, {frames} frames\n{HEADING}");
    for scene in scenes {
        let (ours, stages) = par::with_threads(0, || ours(scene, n, frames, &Config::default()))?;
        println!("{}", ours.row(scene, "billow"));
        if let Some(peer) = blender(scene, n, frames)? {
            println!("{}", peer.row(scene, "blender"));
            println!("  blender takes {:.2} times as long", peer.mean() / ours.mean());
        }
        println!("{}", shares(&stages));
    }
    Ok(())
}

/// The same scene at several resolutions, then the same with equal small steps.
fn scaling(finest: u32) -> Result<(), String> {
    println!("{HEADING}");
    let mut small_steps = Config::default().substeps;
    for equal in [false, true] {
        let config = Config { substeps: small_steps, ..Config::default() };
        for n in [75, 150, 300, 600].into_iter().filter(|n| *n < finest || *n == finest && !equal) {
            let (ours, stages) = par::with_threads(0, || ours("drape", n, 16, &config))?;
            let counted = |name: &str| stages.counts().iter().find(|c| c.0 == name).map_or(0, |c| c.1);
            let [small, attempts] = ["small steps", "attempts"].map(|name| counted(name) as f64);
            let per = ours.seconds.iter().sum::<f64>() / (small * f64::from(n * n));
            println!(
                "{}\n  {:.1} small steps, {:.0} ns for each node in each of them\n{}",
                ours.row(&format!("drape {n}"), "billow"),
                small / attempts,
                1e9 * per,
                shares(&stages)
            );
            if !equal {
                small_steps = small_steps.max((small / attempts) as u32);
            }
        }
        if !equal {
            println!("with {small_steps} small steps like the finest:");
        }
    }
    Ok(())
}

const HEADING: &str = "scene        who       s/frame    worst   crossings last  worst   strain   peak MB";

/// What one program did.
#[derive(Default)]
struct Outcome {
    seconds: Vec<f64>,
    crossings: Vec<usize>,
    /// Largest extension of an edge in any frame.
    strain: f64,
    megabytes: f64,
}

impl Outcome {
    fn mean(&self) -> f64 {
        self.seconds.iter().sum::<f64>() / self.seconds.len() as f64
    }

    fn judge(&mut self, x: &[Vec3], triangles: &[[u32; 3]], rest: &[Vec3]) {
        self.crossings.push(audit::audit(x, triangles).findings.len());
        for [a, b, c] in triangles.iter().map(|t| t.map(|i| i as usize)) {
            for (i, j) in [(a, b), (b, c), (c, a)] {
                self.strain = self.strain.max(x[i].distance(x[j]) / rest[i].distance(rest[j]) - 1.0);
            }
        }
    }

    fn row(&self, scene: &str, who: &str) -> String {
        format!(
            "{scene:12} {who:8} {:8.3} {:8.3} {:16} {:6} {:+7.1} % {:8.0}",
            self.mean(),
            self.seconds.iter().copied().fold(0.0, f64::max),
            self.crossings.last().unwrap_or(&0),
            self.crossings.iter().max().unwrap_or(&0),
            100.0 * self.strain,
            self.megabytes
        )
    }
}

fn shares(stages: &Stages) -> String {
    let total = stages.total().as_secs_f64();
    let share = |(name, time): &(&str, billow::num::stages::StageTime)| {
        format!("{name} {:.0} %", 100.0 * time.elapsed.as_secs_f64() / total)
    };
    format!("  {}", stages.times().iter().map(share).collect::<Vec<_>>().join(", "))
}

/// The ball's motion from one second on.
struct Late {
    velocity: Vec3,
    turning: f64,
}

impl Motion for Late {
    fn pose(&self, t: f64) -> Pose {
        let s = (t - 1.0).max(0.0);
        Pose { position: self.velocity * s, rotation: Quat::from_rotation_z(self.turning * s) }
    }

    fn twist(&self, t: f64) -> Twist {
        if t < 1.0 {
            return Twist::default();
        }
        Twist { linear: self.velocity, angular: Vec3::Z * self.turning }
    }
}

/// The sheet of a scene, at rest and where it starts.
fn sheet(scene: &str, n: u32) -> Result<(TriMesh, Vec<Vec3>), String> {
    let rest = shapes::cloth_grid(1.0, 1.0, n, n).map_err(|e| e.to_string())?;
    let (s, c) = 10f64.to_radians().sin_cos();
    let place = |p: &Vec3| match scene {
        "pile" => {
            let ripple = 0.002 * ((17.0 * p.x + 5.0 * p.y).sin() + 0.5 * (41.0 * p.y + 1.0).sin());
            Vec3::new(p.x, ripple, p.y + 0.55)
        }
        _ => {
            let ahead = if scene == "flip" { 0.4 } else { 0.0 };
            Vec3::new(c * p.x - s * p.y + ahead, s * p.x + c * p.y, 0.62)
        }
    };
    let start = rest.positions.iter().map(place).collect();
    Ok((rest, start))
}

fn model(scene: &str, rest: &TriMesh, start: &[Vec3]) -> Result<Model, String> {
    let solid = |name: &str, shape| Solid { name: name.into(), shape, friction: 0.5 };
    let ground = HalfSpace::new(Vec3::ZERO, Vec3::Z).map_err(|e| e.to_string())?;
    let mut solids = vec![solid("ground", Arc::new(ground))];
    if scene != "pile" {
        let motion = match scene {
            "twist" => Late { velocity: Vec3::ZERO, turning: std::f64::consts::TAU },
            "flip" => Late { velocity: Vec3::X, turning: 0.0 },
            _ => Late { velocity: Vec3::ZERO, turning: 0.0 },
        };
        let body = Ball::new(Vec3::Z * RADIUS, RADIUS).map_err(|e| e.to_string())?;
        solids.push(solid("ball", Arc::new(Moving { body, motion })));
    }
    let garment = Garment {
        name: "cloth".into(),
        mesh: rest.clone(),
        start: Some(start.to_vec()),
        velocity: Vec3::ZERO,
        material: Material { density: 0.3, ..Material::default() },
        curved: false,
        equal_masses: false,
        layout: Layout::Edges,
        pins: Vec::new(),
    };
    let gravity = Vec3::new(0.0, 0.0, -9.81);
    let setup =
        Setup { garments: vec![garment], obstacles: Vec::new(), solids, gravity, air: Air::default() };
    Model::new(setup).map_err(|e| e.to_string())
}

fn ours(scene: &str, n: u32, frames: u32, config: &Config) -> Result<(Outcome, Stages), String> {
    if !SCENES.contains(&scene) {
        return Err(format!("no scene `{scene}`; there are {}", SCENES.join(", ")));
    }
    let (rest, start) = sheet(scene, n)?;
    let model = model(scene, &rest, &start)?;
    let mut state: State = model.initial_state();
    let mut work = Workspace::default();
    let (mut outcome, mut stages) = (Outcome::default(), Stages::default());
    for frame in 1..=frames {
        let begun = Instant::now();
        for _ in 0..STEPS_PER_FRAME {
            let dt = 1.0 / (FPS * f64::from(STEPS_PER_FRAME));
            let report = step(&model, &mut state, &mut work, config, dt)
                .map_err(|e| format!("{scene}, frame {frame}: {e}"))?;
            stages.absorb(&report.stages);
        }
        outcome.seconds.push(begun.elapsed().as_secs_f64());
        outcome.judge(&state.x, &rest.triangles, &rest.positions);
    }
    outcome.megabytes = peak_megabytes();
    Ok((outcome, stages))
}

/// The largest memory this program has held so far.
fn peak_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.and_then(|l| l.split_whitespace().next()?.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

/// Blender's cloth on the same scene; `None` without it.
fn blender(scene: &str, n: u32, frames: u32) -> Result<Option<Outcome>, String> {
    let folder = std::env::temp_dir().join(format!("billow-bench-cloth-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let result = ask_blender(scene, n, frames, &folder);
    // A leftover folder in the temporary directory harms nobody.
    let _ = std::fs::remove_dir_all(&folder);
    result
}

fn ask_blender(scene: &str, n: u32, frames: u32, folder: &Path) -> Result<Option<Outcome>, String> {
    let (rest, start) = sheet(scene, n)?;
    let mut text = String::new();
    for p in &start {
        let _ = writeln!(text, "v {} {} {}", p.x, p.y, p.z);
    }
    for t in &rest.triangles {
        let _ = writeln!(text, "f {} {} {}", t[0], t[1], t[2]);
    }
    let (mesh, answer) = (folder.join("sheet.txt"), folder.join("frames.bin"));
    std::fs::write(&mesh, text).map_err(|e| e.to_string())?;
    let output = Command::new("python3")
        .args(["-c", PEER, scene, &frames.to_string()])
        .args([&mesh, &answer])
        .output()
        .map_err(|e| format!("cannot run python3: {e}"))?;
    if !output.status.success() {
        println!("  blender did not run: {}", String::from_utf8_lossy(&output.stderr).trim());
        return Ok(None);
    }
    let printed = String::from_utf8_lossy(&output.stdout);
    let numbers = printed.lines().rev().find_map(|l| l.strip_prefix("figures "));
    let numbers = numbers.ok_or("blender printed no figures")?;
    let mut numbers: Vec<f64> = numbers.split_whitespace().filter_map(|w| w.parse().ok()).collect();
    let megabytes = numbers.pop().unwrap_or(0.0);
    let mut outcome = Outcome { seconds: numbers, megabytes, ..Outcome::default() };
    let bytes = std::fs::read(&answer).map_err(|e| e.to_string())?;
    let floats = |c: &[u8]| f64::from(f32::from_le_bytes([c[0], c[1], c[2], c[3]]));
    for frame in bytes.chunks_exact(12 * start.len()) {
        let x: Vec<Vec3> = frame
            .chunks_exact(12)
            .map(|p| Vec3::new(floats(&p[0..4]), floats(&p[4..8]), floats(&p[8..12])))
            .collect();
        outcome.judge(&x, &rest.triangles, &rest.positions);
    }
    Ok(Some(outcome))
}

/// Simulates a sheet with Blender's cloth modifier. The collision distances and the stiffness are those with which it
/// holds a sheet on a ball; smaller ones let it fall through.
const PEER: &str = r#"
import math, resource, sys, time
import bpy
scene, frames, mesh_path, answer = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
points, faces = [], []
for line in open(mesh_path):
    kind, *rest = line.split()
    (points if kind == "v" else faces).append([float(w) if kind == "v" else int(w) for w in rest])
bpy.ops.wm.read_factory_settings(use_empty=True)
world = bpy.context.scene
world.render.fps = 24
world.frame_start, world.frame_end = 1, frames + 1

def add(name, points, faces):
    data = bpy.data.meshes.new(name)
    data.from_pydata(points, [], faces)
    data.update()
    thing = bpy.data.objects.new(name, data)
    world.collection.objects.link(thing)
    return thing

def obstacle(thing):
    thing.modifiers.new("Collision", "COLLISION")
    thing.collision.thickness_outer = 0.005
    thing.collision.cloth_friction = 50.0
    thing.collision.damping = 0.0

obstacle(add("ground", [(-4, -4, 0), (4, -4, 0), (4, 4, 0), (-4, 4, 0)], [(0, 1, 2, 3)]))
if scene != "pile":
    import bmesh
    shape = bmesh.new()
    bmesh.ops.create_icosphere(shape, subdivisions=5, radius=0.3)
    data = bpy.data.meshes.new("ball")
    shape.to_mesh(data)
    ball = bpy.data.objects.new("ball", data)
    world.collection.objects.link(ball)
    obstacle(ball)
    for frame in range(frames + 1):
        late = max(0.0, frame / 24.0 - 1.0)
        ball.location = (late if scene == "flip" else 0.0, 0.0, 0.3)
        ball.rotation_euler = (0.0, 0.0, 2.0 * math.pi * late if scene == "twist" else 0.0)
        ball.keyframe_insert("location", frame=frame + 1)
        ball.keyframe_insert("rotation_euler", frame=frame + 1)
cloth = add("cloth", points, faces)
modifier = cloth.modifiers.new("Cloth", "CLOTH")
settings, collision = modifier.settings, modifier.collision_settings
settings.quality, collision.collision_quality = 5, 2
settings.mass = 0.3
settings.tension_stiffness = settings.compression_stiffness = 1500.0
settings.shear_stiffness = 500.0
settings.bending_stiffness = 0.5
settings.air_damping = 0.0
# Blender counts gravity per frame; this speed makes it 9.81 m/s² at 24 frames per second.
settings.time_scale = math.sqrt(1000.0) / 24.0
collision.use_collision, collision.distance_min = True, 0.005
collision.use_self_collision, collision.self_distance_min, collision.self_friction = True, 0.002, 50.0
modifier.point_cache.frame_start, modifier.point_cache.frame_end = 1, frames + 1
import numpy
seconds, out = [], open(answer, "wb")
for frame in range(1, frames + 2):
    begun = time.perf_counter()
    world.frame_set(frame)
    took = time.perf_counter() - begun
    if frame > 1:
        seconds.append(took)
        done = cloth.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        x = numpy.empty(3 * len(done.vertices), numpy.float32)
        done.vertices.foreach_get("co", x)
        out.write(x.tobytes())
out.close()
print("figures", *seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0, flush=True)
"#;
