//! Continuous collision of a ten-layer folded cloth, side by side with ipctk where Python can import it.
//!
//! The scene is a square cloth folded into a serpentine of ten layers, pressed to 60 % of its height and sheared
//! within one step. It stays free of intersections, so every candidate pair must be proven clear. Both sides get
//! the same positions and run on two threads in turn; medians are printed. A second scene is the same turned by
//! an odd angle, so that no layer is parallel to an axis.

use billow::geom::audit::Auditor;
use billow::geom::bvh::{Adjacency, Bvh};
use billow::geom::ccd::{BroadPhase, Collider, Elements, Motion, narrow_phase};
use billow::geom::mesh::Topology;
use billow::geom::{Aabb, GeomError};
use billow::num::{Quat, Vec3, par};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

const LAYERS: usize = 10;
/// Distance of the layers [m].
const GAP: f64 = 0.002;
const RUNS: usize = 7;
const THREADS: usize = 2;

/// Runs the benchmark; `args` may hold grid sizes (nodes per side).
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let size = |a: &String| match a.parse::<usize>() {
        Ok(n) if (20..=2000).contains(&n) => Ok(n),
        _ => Err(format!("`{a}` is not a number of nodes per side between 20 and 2000")),
    };
    let mut sizes = args.iter().map(size).collect::<Result<Vec<_>, _>>()?;
    if sizes.is_empty() {
        sizes = vec![47, 150, 474];
    }
    println!("{THREADS} threads, medians of {RUNS} runs in milliseconds, peer: ipctk (LBVH, additive CCD)");
    println!("same work: all pairs with overlapping swept boxes listed, then cleared one by one");
    println!("pipeline:  boxes at both ends of the step, broad and narrow phase in one");
    for turned in [false, true] {
        println!("\n{} scene", if turned { "turned" } else { "axis-aligned" });
        for &n in &sizes {
            compare(&Scene::new(n, turned)?)?;
        }
    }
    Ok(())
}

pub(crate) struct Scene {
    start: Vec<Vec3>,
    end: Vec<Vec3>,
    topology: Topology,
}

impl Scene {
    pub(crate) fn new(n: usize, turned: bool) -> Result<Self, String> {
        let angle = if turned { 1.0 } else { 0.0 };
        let turn = Quat::from_axis_angle(Vec3::new(1.0, 2.0, 3.0).normalize(), angle);
        let at = |k: usize| k as f64 / (n - 1) as f64;
        let flat = (0..n * n).map(|k| {
            let (x, z) = serpentine(at(k / n));
            Vec3::new(x, at(k % n) - 0.5, z)
        });
        let flat: Vec<Vec3> = flat.collect();
        let press = |p: Vec3| {
            let shear = Vec3::new(0.002 * (7.0 * p.y).sin(), 0.003 * (9.0 * p.x).sin(), 0.0);
            Vec3::new(p.x, p.y, 0.6 * p.z) + shear
        };
        let topology = Topology::new(n * n, &herringbone(n as u32)).map_err(|e| e.to_string())?;
        Ok(Self {
            start: flat.iter().map(|&p| turn * p).collect(),
            end: flat.iter().map(|&p| turn * press(p)).collect(),
            topology,
        })
    }

    pub(crate) fn motion(&self) -> Motion<'_> {
        Motion { start: &self.start, end: &self.end }
    }

    pub(crate) fn elements(&self) -> Elements<'_> {
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
    let forward = k.is_multiple_of(2);
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
    let cells = (0..n - 1).flat_map(|i| (0..n - 1).map(move |j| (i, j)));
    let split = |(i, j): (u32, u32)| {
        let (a, b) = (i * n + j, (i + 1) * n + j);
        let (c, d) = (b + 1, a + 1);
        if (i + j).is_multiple_of(2) { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] }
    };
    cells.flat_map(split).collect()
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

/// Our side, milliseconds and counts.
struct Ours {
    candidates: usize,
    broad: f64,
    narrow: f64,
    examined: u64,
    pipeline: f64,
    audit: f64,
    build: f64,
    tree_median: f64,
    tree_pairing: f64,
}

fn measure(scene: &Scene) -> Result<Ours, String> {
    let (motion, elements) = (scene.motion(), scene.elements());
    let text = |e: GeomError| e.to_string();
    let (build, mut phase) = time(|| BroadPhase::<1>::new(motion.start, elements));
    let (broad, candidates) = time(|| {
        phase.refit(motion, elements, 0.0);
        phase.candidates(elements)
    });
    let (narrow, hits) = time(|| narrow_phase(&candidates, motion, elements, 0.0).map(|c| c.len()));
    let mut collider = Collider::new(motion.start, elements);
    let (pipeline, found) = time(|| collider.find(motion, elements, 0.0).map(|(c, n)| (c.len(), n)));
    let mut auditor = Auditor::new(motion.end, elements.triangles);
    let (audit, report) = time(|| auditor.run(motion.end, elements.triangles));
    let (found, counts) = found.map_err(text)?;
    let alarms = hits.map_err(text)? + found + report.findings.len();
    if alarms > 0 {
        return Err(format!("{alarms} false alarms in a scene without contact"));
    }
    let [tree_median, tree_pairing] = tree_shapes(scene);
    Ok(Ours {
        candidates: candidates.vertex_face.len() + candidates.edge_edge.len(),
        broad,
        narrow,
        examined: counts.vertex_face + counts.edge_edge,
        pipeline,
        audit,
        build,
        tree_median,
        tree_pairing,
    })
}

/// Self-query of the triangle tree, shaped by median splits and by greedy pairing of adjacent triangles.
fn tree_shapes(scene: &Scene) -> [f64; 2] {
    let topology = &scene.topology;
    let triangles = topology.triangles();
    let corners = |t: usize| triangles[t].map(|i| scene.start[i as usize]);
    let centres: Vec<Vec3> = (0..triangles.len()).map(|t| corners(t).iter().sum::<Vec3>() / 3.0).collect();
    let adjacency = Adjacency::of_triangles(triangles);
    [Bvh::<1>::from_centres(&centres), Bvh::from_adjacency(&centres, &adjacency)].map(|mut tree| {
        tree.refit(Vec3::ZERO, |t| ([Aabb::of_points(&corners(t))], 0.0005));
        time(|| tree.collect_self_pairs().len()).0
    })
}

fn compare(scene: &Scene) -> Result<(), String> {
    let ours = par::with_threads(THREADS, || measure(scene))?;
    let total = ours.broad + ours.narrow;
    let n = scene.start.len();
    println!("  {n} nodes, {} triangles, {} candidates", scene.topology.triangle_count(), ours.candidates);
    println!("    same work  broad {:7.1}  narrow {:7.1}  total {total:7.1}", ours.broad, ours.narrow);
    println!("    pipeline   {:7.1} with {} pairs left to examine", ours.pipeline, ours.examined);
    println!("    audit      {:7.1}", ours.audit);
    let per = ours.pipeline * 1e6 / (n as f64 * (n as f64).log2());
    println!("    pipeline per n log2 n {per:.2} ns; trees shaped once in {:.1}", ours.build);
    println!(
        "    triangle self-query: median splits {:.1}, pairing {:.1}",
        ours.tree_median, ours.tree_pairing
    );
    let Some(peer) = peer(scene)? else {
        println!("    ipctk cannot be imported by python3: no comparison");
        return Ok(());
    };
    let theirs = peer.broad + peer.narrow;
    println!(
        "    ipctk      broad {:7.1}  narrow {:7.1}  total {theirs:7.1}  has_intersections {:.1}",
        peer.broad, peer.narrow, peer.audit
    );
    println!(
        "    ipctk candidates {} (both round boxes outwards to single precision, about different origins)",
        peer.candidates
    );
    println!(
        "    ratio      same work {:.1}x  pipeline {:.1}x  audit {:.1}x",
        theirs / total,
        theirs / ours.pipeline,
        peer.audit / ours.audit
    );
    Ok(())
}

/// The peer's side, milliseconds and counts.
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
def build():
    c = ipctk.Candidates()
    c.build(mesh, x0, x1, inflation_radius=0.0, broad_phase=ipctk.LBVH())
    return c
broad, c = median(build)
narrow, step = median(lambda: c.compute_collision_free_stepsize(
    mesh, x0, x1, min_distance=0.0, narrow_phase_ccd=ipctk.AdditiveCCD()))
audit, crossing = median(lambda: ipctk.has_intersections(mesh, x1))
assert step == 1.0 and not crossing
count = len(c.ee_candidates) + len(c.fv_candidates)
print(json.dumps(dict(candidates=count, broad=broad, narrow=narrow, audit=audit)))
"#;

/// ipctk's fastest pair, LBVH and additive CCD, on the same positions; `None` without ipctk.
fn peer(scene: &Scene) -> Result<Option<Peer>, String> {
    let folder = std::env::temp_dir().join(format!("billow-bench-ccd-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| format!("cannot create {}: {e}", folder.display()))?;
    let result = ask_peer(scene, &folder);
    std::fs::remove_dir_all(&folder).map_err(|e| format!("cannot remove {}: {e}", folder.display()))?;
    result
}

fn ask_peer(scene: &Scene, folder: &Path) -> Result<Option<Peer>, String> {
    let bytes = |x: &[Vec3]| x.iter().flat_map(|p| p.to_array()).flat_map(f64::to_le_bytes).collect();
    let triangles = scene.topology.triangles().iter().flatten().flat_map(|i| i.to_le_bytes()).collect();
    let files: [(&str, Vec<u8>); 3] =
        [("start", bytes(&scene.start)), ("end", bytes(&scene.end)), ("triangles", triangles)];
    for (name, content) in files {
        std::fs::write(folder.join(name), content).map_err(|e| format!("cannot write {name}: {e}"))?;
    }
    let arguments = [folder.display().to_string(), THREADS.to_string(), RUNS.to_string()];
    let Ok(output) = Command::new("python3").args(["-c", PEER]).args(arguments).output() else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let value: serde_json::Value = serde_json::from_str(text.trim())
        .map_err(|e| format!("{e}: {text}{}", String::from_utf8_lossy(&output.stderr)))?;
    let number = |key: &str| value[key].as_f64();
    let read = || {
        let candidates = value["candidates"].as_u64()?;
        Some(Peer { candidates, broad: number("broad")?, narrow: number("narrow")?, audit: number("audit")? })
    };
    Ok(read())
}
