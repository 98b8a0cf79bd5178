//! Continuous collision of a ten-layer folded cloth, side by side with ipctk where Python can import it.
//!
//! The scene is a square cloth folded into a serpentine of ten layers, pressed to 60 % of its height and sheared
//! within one step. It stays free of intersections, so every candidate pair must be proven clear. Both sides get
//! the same positions and run on two threads in turn; medians are printed.

use billow::geom::audit::Auditor;
use billow::geom::bvh::Bvh;
use billow::geom::ccd::{BroadPhase, Collider, Elements, Motion, narrow_phase};
use billow::geom::mesh::Topology;
use billow::num::{Quat, Vec3, par};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

const LAYERS: usize = 10;
const GAP: f64 = 0.002;
const RUNS: usize = 7;
const THREADS: usize = 2;

/// Runs the benchmark; `args` may hold grid sizes (nodes per side).
pub fn run(args: &[String]) -> Result<(), String> {
    if cfg!(debug_assertions) {
        return rerun_optimised(args);
    }
    let mut sizes = Vec::new();
    for a in args {
        sizes.push(a.parse::<usize>().map_err(|e| format!("`{a}` is not a number of nodes per side: {e}"))?);
    }
    if sizes.is_empty() {
        sizes = vec![47, 150, 474];
    }
    println!("{THREADS} threads, medians of {RUNS} runs, milliseconds; candidates are pairs with overlapping swept boxes");
    for turned in [false, true] {
        println!(
            "\n{} scene\n{:>7} {:>8} {:>9} {:>9} | {:>7} {:>7} {:>7} {:>8} | {:>7} {:>9} {:>6} | {:>8} {:>8} {:>8} | {:>7} {:>7}",
            if turned { "turned" } else { "axis-aligned" },
            "nodes", "tris", "cands", "theirs", "broad", "narrow", "total", "best way", "theirs", "narrow", "total",
            "ratio", "best way", "audit", "theirs", "ratio"
        );
        for &n in &sizes {
            row(&Scene::new(n, turned)?)?;
        }
    }
    Ok(())
}

/// `cargo xtask` builds without optimisation checks off: start again in the release profile.
fn rerun_optimised(args: &[String]) -> Result<(), String> {
    let status = Command::new("cargo")
        .args(["run", "--quiet", "--release", "--package", "xtask", "--", "bench", "ccd"])
        .args(args)
        .status()
        .map_err(|e| format!("cannot start cargo: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("the optimised benchmark ended with {status}")) }
}

pub struct Scene {
    start: Vec<Vec3>,
    end: Vec<Vec3>,
    topology: Topology,
}

impl Scene {
    pub fn new(n: usize, turned: bool) -> Result<Self, String> {
        let turn = if turned { Quat::from_axis_angle(Vec3::new(1.0, 2.0, 3.0).normalize(), 1.0) } else { Quat::IDENTITY };
        let mut start = Vec::new();
        for i in 0..n {
            for j in 0..n {
                let at = |k: usize| k as f64 / (n - 1) as f64;
                let (x, z) = serpentine(at(i));
                start.push(Vec3::new(x, at(j) - 0.5, z + 0.01));
            }
        }
        let press = |p: Vec3| {
            let shear = Vec3::new(0.002 * (7.0 * p.y).sin(), 0.003 * (9.0 * p.x).sin(), 0.0);
            Vec3::new(p.x, p.y, 0.01 + 0.6 * (p.z - 0.01)) + shear
        };
        let end = start.iter().map(|&p| turn * press(p)).collect();
        let start: Vec<Vec3> = start.into_iter().map(|p| turn * p).collect();
        let topology = Topology::new(n * n, &herringbone(n as u32)).map_err(|e| e.to_string())?;
        Ok(Self { start, end, topology })
    }

    pub fn motion(&self) -> Motion<'_> {
        Motion { start: &self.start, end: &self.end }
    }

    pub fn elements(&self) -> Elements<'_> {
        Elements { edges: self.topology.edges(), triangles: self.topology.triangles() }
    }
}

/// Point at arc length `s` of straight runs joined by half circles.
fn serpentine(s: f64) -> (f64, f64) {
    let radius = GAP / 2.0;
    let turn = std::f64::consts::PI * radius;
    let run = (1.0 - (LAYERS - 1) as f64 * turn) / LAYERS as f64;
    let k = ((s / (run + turn)).floor() as usize).min(LAYERS - 1);
    let l = s - k as f64 * (run + turn);
    let forward = k % 2 == 0;
    let base = k as f64 * GAP;
    if l <= run {
        return (if forward { l } else { run - l }, base);
    }
    let a = (l - run) / radius;
    let bulge = radius * a.sin();
    (if forward { run + bulge } else { -bulge }, base + radius * (1.0 - a.cos()))
}

/// Triangles of an n × n grid with alternating diagonals.
fn herringbone(n: u32) -> Vec<[u32; 3]> {
    let mut triangles = Vec::new();
    for i in 0..n - 1 {
        for j in 0..n - 1 {
            let (a, b) = (i * n + j, (i + 1) * n + j);
            let (c, d) = (b + 1, a + 1);
            let pair = if (i + j) % 2 == 0 { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] };
            triangles.extend(pair);
        }
    }
    triangles
}

/// Median time of some runs in milliseconds, and the last result.
fn time<R>(mut f: impl FnMut() -> R) -> (f64, R) {
    let mut last = f();
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let began = Instant::now();
        last = f();
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    (times[RUNS / 2], last)
}

fn row(scene: &Scene) -> Result<(), String> {
    let (motion, elements) = (scene.motion(), scene.elements());
    let ours = par::with_threads(THREADS, || {
        // The same work as the peer: all candidates of swept boxes, listed, then cleared one by one.
        let mut broad = BroadPhase::<1>::new(motion.start, elements);
        let (broad_ms, candidates) = time(|| {
            broad.refit(motion, elements, 0.0);
            broad.candidates(elements)
        });
        let (narrow_ms, hits) = time(|| narrow_phase(&candidates, motion, elements, 0.0).map(|c| c.len()));
        // The way the solvers go: boxes at both ends of the step, broad and narrow phase in one.
        let mut collider = Collider::new(motion.start, elements);
        let (fused_ms, found) = time(|| collider.find(motion, elements, 0.0).map(|(c, counts)| (c.len(), counts)));
        let mut auditor = Auditor::new(motion.end, elements.triangles);
        let (audit_ms, audit) = time(|| auditor.run(motion.end, elements.triangles));
        let (build_ms, _) = time(|| BroadPhase::<1>::new(motion.start, elements));
        let centres: Vec<Vec3> = motion.start.to_vec();
        let _ = Bvh::<1>::from_centres(&centres);
        (broad_ms, candidates.vertex_face.len() + candidates.edge_edge.len(), narrow_ms, hits, fused_ms, found, audit_ms, audit.is_clean(), build_ms)
    });
    let (broad, candidates, narrow, hits, fused, found, audit, clean, build) = ours;
    let found = found.map_err(|e| e.to_string())?;
    let hits = hits.map_err(|e| e.to_string())?;
    if hits + found.0 > 0 || !clean {
        return Err(format!("{hits} and {} false alarms, audit clean: {clean}", found.0));
    }
    let peer = peer(scene)?;
    let total = broad + narrow;
    print!(
        "{:>7} {:>8} {:>9} {:>9} | {:>7.1} {:>7.1} {:>7.1} {:>8.1} | ",
        scene.start.len(), elements.triangles.len(), candidates,
        peer.as_ref().map_or("-".into(), |p| p.candidates.to_string()),
        broad, narrow, total, fused
    );
    match peer {
        Some(p) => println!(
            "{:>7.1} {:>9.1} {:>6.1} | {:>7.1}x {:>7.1}x {:>8.1} | {:>7.1} {:>6.1}x",
            p.broad, p.narrow, p.broad + p.narrow,
            (p.broad + p.narrow) / total, (p.broad + p.narrow) / fused, audit, p.audit, p.audit / audit
        ),
        None => println!("ipctk not importable; audit {audit:.1}"),
    }
    println!("        build {build:.1} ms once; best way examines {} + {} pairs", found.1.vertex_face, found.1.edge_edge);
    Ok(())
}

struct Peer {
    candidates: u64,
    broad: f64,
    narrow: f64,
    audit: f64,
}

const PEER: &str = r#"
import sys, json, time, numpy as np
try:
    import ipctk
except ImportError:
    print("{}"); sys.exit(0)
folder, threads, runs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
ipctk.set_num_threads(threads)
x0, x1 = (np.fromfile(folder + name).reshape(-1, 3) for name in ("/start", "/end"))
tris = np.fromfile(folder + "/triangles", np.int32).reshape(-1, 3)
mesh = ipctk.CollisionMesh(x0, ipctk.edges(tris), tris)
def median(f):
    times = []
    for _ in range(runs + 1):
        t = time.perf_counter(); r = f(); times.append(1e3 * (time.perf_counter() - t))
    return sorted(times[1:])[runs // 2], r
def broad():
    c = ipctk.Candidates(); c.build(mesh, x0, x1, inflation_radius=0.0, broad_phase=ipctk.LBVH()); return c
broad_ms, c = median(broad)
narrow_ms, step = median(lambda: c.compute_collision_free_stepsize(mesh, x0, x1, min_distance=0.0, narrow_phase_ccd=ipctk.AdditiveCCD()))
audit_ms, crossing = median(lambda: ipctk.has_intersections(mesh, x1))
assert step == 1.0 and not crossing
print(json.dumps(dict(candidates=len(c.ee_candidates) + len(c.fv_candidates), broad=broad_ms, narrow=narrow_ms, audit=audit_ms)))
"#;

/// ipctk's fastest pair, LBVH and additive CCD, on the same positions.
fn peer(scene: &Scene) -> Result<Option<Peer>, String> {
    let folder = std::env::temp_dir().join(format!("billow-bench-ccd-{}", std::process::id()));
    let result = std::fs::create_dir_all(&folder).map_err(|e| e.to_string()).and_then(|()| ask_peer(scene, &folder));
    std::fs::remove_dir_all(&folder).map_err(|e| format!("cannot remove {}: {e}", folder.display()))?;
    result
}

fn ask_peer(scene: &Scene, folder: &Path) -> Result<Option<Peer>, String> {
    let positions = |x: &[Vec3]| -> Vec<u8> { x.iter().flat_map(|p| p.to_array()).flat_map(f64::to_le_bytes).collect() };
    let triangles: Vec<u8> = scene.topology.triangles().iter().flatten().flat_map(|i| i.to_le_bytes()).collect();
    for (name, bytes) in [("start", positions(&scene.start)), ("end", positions(&scene.end)), ("triangles", triangles)] {
        std::fs::write(folder.join(name), bytes).map_err(|e| format!("cannot write {name}: {e}"))?;
    }
    let Ok(output) = Command::new("python3")
        .args(["-c", PEER, &folder.display().to_string(), &THREADS.to_string(), &RUNS.to_string()])
        .output()
    else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let value: serde_json::Value = serde_json::from_str(text.trim())
        .map_err(|e| format!("{e}: {text}{}", String::from_utf8_lossy(&output.stderr)))?;
    let number = |key: &str| value[key].as_f64();
    Ok((|| {
        Some(Peer {
            candidates: value["candidates"].as_u64()?,
            broad: number("broad")?,
            narrow: number("narrow")?,
            audit: number("audit")?,
        })
    })())
}
