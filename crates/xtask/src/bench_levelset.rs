//! `cargo xtask bench levelset MESH [N] [PEER]`: level sets against OpenVDB and scikit-fmm.
//!
//! MESH is a closed or leaky scan (OBJ if a peer is given), N the voxels along its longest side (1000 by default). PEER
//! is a program that takes mesh and N and prints JSON lines with our keys (`peers/openvdb.cpp` is OpenVDB's); it
//! runs after ours, so both see the same machine, and a table of ratios follows. `scaling` in its place measures
//! memory against N. Prints one JSON line per stage: wall-clock and processor time, counts and memory.

use billow::geom::{Aabb, TriMesh};
use billow::io::read_mesh;
use billow::levelset::{
    Centring, Collider, Lattice, March, MeshToSdf, Order, Redistance, Reinit, ScalarGrid, SparseGrid, Sweep,
    TimeOrder, marching_tets, mesh_to_sparse, redistance, surface_nets,
};
use billow::num::Vec3;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;

/// Runs the benchmark named by the words after `bench levelset`.
pub(crate) fn run(words: &[&str]) -> Result<(), String> {
    let Some(mesh) = words.first() else {
        marching();
        return Ok(());
    };
    let n: f64 =
        words.get(1).map_or(Ok(1000.0), |w| w.parse().map_err(|_| format!("`{w}` is not a number")))?;
    let mesh_path = Path::new(mesh);
    let mesh = read_mesh(mesh_path).map_err(|e| e.to_string())?.mesh;
    let ours = conversion(&mesh, n)?;
    match words.get(2) {
        None => Ok(()),
        Some(&"scaling") => scaling(&mesh),
        Some(peer) => compare(&ours, &run_peer(peer, mesh_path, n)?),
    }
}

/// What the peer printed, line by line.
fn run_peer(peer: &str, mesh: &Path, n: f64) -> Result<Vec<Value>, String> {
    let output = std::process::Command::new(peer).arg(mesh).arg(n.to_string()).output();
    let output = output.map_err(|e| format!("cannot run {peer}: {e}"))?;
    if !output.status.success() {
        return Err(format!("{peer} ended with {}", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    print!("{text}");
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

/// The figures both print: stage, key, and whether more is better.
const FIGURES: [(&str, &str, bool); 4] = [
    ("mesh to distance", "seconds", false),
    ("mesh to distance", "bytes_per_surface_voxel", false),
    ("renormalise, 3 steps", "ms_per_million_active", false),
    ("surface nets", "million_quads_per_second", true),
];

/// A table of both sides and how many times better ours is.
fn compare(ours: &[Value], peers: &[Value]) -> Result<(), String> {
    println!("{:<22} {:<26} {:>10} {:>10} {:>8}", "stage", "figure", "ours", "peer", "better");
    for (stage, key, more) in FIGURES {
        let find = |lines: &[Value]| lines.iter().find(|l| l["stage"] == stage).and_then(|l| l[key].as_f64());
        let (Some(a), Some(b)) = (find(ours), find(peers)) else {
            return Err(format!("the peer printed no `{key}` for `{stage}`"));
        };
        let ratio = if more { a / b } else { b / a };
        println!("{stage:<22} {key:<26} {a:>10.3} {b:>10.3} {ratio:>7.2}×");
    }
    Ok(())
}

/// Mesh to distance, renormalisation and extraction; returns what it printed.
fn conversion(mesh: &TriMesh, n: f64) -> Result<Vec<Value>, String> {
    let mut lines = Vec::new();
    let mut say = |line: Value| {
        println!("{line}");
        lines.push(line);
    };
    let settings = settings(mesh, n);
    let (found, cost) = timed(|| mesh_to_sparse(mesh, &settings));
    let (mut grid, report) = found.map_err(|e| e.to_string())?;
    let (active, surface) = (grid.active_samples(), grid.surface_samples());
    say(json!({
        "stage": "mesh to distance", "seconds": cost["wall"], "cost": cost, "n": n, "triangles": report.triangles,
        "open_edges": report.open_edges, "leak_edges": report.leak_edges, "active": active, "surface": surface,
        "bytes": grid.bytes(), "bytes_per_surface_voxel": grid.bytes() as f64 / surface as f64,
    }));
    let settings = Reinit { steps: 3, cfl: 0.3, time: TimeOrder::One };
    let (done, cost) = timed(|| grid.reinitialise(&settings));
    done.map_err(|e| e.to_string())?;
    say(json!({"stage": "renormalise, 3 steps", "cost": cost, "ms_per_million_active": per(&cost, active)}));
    let rate = |faces: usize, cost: &Value| faces as f64 / cost["wall"].as_f64().unwrap_or(1.0) / 1e6;
    let (nets, cost) = timed(|| surface_nets(&grid));
    let quads = nets.map_err(|e| e.to_string())?.quads.len();
    say(
        json!({"stage": "surface nets", "cost": cost, "quads": quads, "million_quads_per_second": rate(quads, &cost)}),
    );
    let (tets, cost) = timed(|| marching_tets(&grid));
    let triangles = tets.map_err(|e| e.to_string())?.mesh.triangles.len();
    say(json!({"stage": "marching tets", "cost": cost, "triangles": triangles,
               "million_triangles_per_second": rate(triangles, &cost)}));
    random_lookups(&grid);
    Ok(lines)
}

/// Memory against resolution.
fn scaling(mesh: &TriMesh) -> Result<(), String> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    for n in [125.0, 250.0, 500.0, 1000.0, 2000.0] {
        let (found, cost) = timed(|| mesh_to_sparse(mesh, &settings(mesh, n)));
        let (grid, _) = found.map_err(|e| e.to_string())?;
        points.push((f64::ln(n), (grid.bytes() as f64).ln()));
        println!("{}", json!({"stage": "scaling", "n": n, "bytes": grid.bytes(), "cost": cost}));
    }
    let mean = |f: fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / points.len() as f64;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let slope = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>()
        / points.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>();
    println!("{}", json!({"stage": "scaling", "exponent": slope}));
    Ok(())
}

/// Fast marching and sweeping on the grid and field of the scikit-fmm comparison.
fn marching() {
    let n = 256;
    let lattice = Lattice {
        origin: Vec3::splat(-1.0),
        spacing: 2.0 / (n as f64 - 1.0),
        dims: [n; 3],
        centring: Centring::Node,
    };
    let phi = |x: Vec3| (x.length() - 0.5) * (1.0 + 0.3 * x.x);
    let march = |order| Redistance::March(March { order, ..March::default() });
    for (name, how) in [
        ("fast marching, first order", march(Order::First)),
        ("fast marching, second order", march(Order::Second)),
        ("fast sweeping, first order", Redistance::Sweep(Sweep::default())),
    ] {
        let Ok(mut grid) = ScalarGrid::sampled(lattice, phi) else { return };
        let (_, cost) = timed(|| redistance(&mut grid, &how));
        let error = (0..grid.values.len())
            .map(|i| (grid.values[i] - (lattice.position(lattice.coordinates(i)).length() - 0.5)).abs())
            .fold(0.0, f64::max);
        let rate = grid.values.len() as f64 / cost["wall"].as_f64().unwrap_or(1.0) / 1e6;
        println!(
            "{}",
            json!({"stage": name, "cost": cost, "million_cells_per_second": rate,
                   "error_in_spacings": error / lattice.spacing})
        );
    }
}

fn random_lookups(grid: &SparseGrid) {
    let bounds = grid.bounds();
    let (mut state, mut sum) = (1u64, 0.0);
    let mut unit = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    const QUERIES: usize = 1_000_000;
    let ((), cost) = timed(|| {
        for _ in 0..QUERIES {
            let x = bounds.min + bounds.size() * Vec3::new(unit(), unit(), unit());
            sum += grid.phi(x, 0.0);
        }
    });
    let ns = cost["cpu"].as_f64().unwrap_or(0.0) * 1e9 / QUERIES as f64;
    println!("{}", json!({"stage": "random lookups", "ns": ns, "sum": sum}));
}

fn settings(mesh: &TriMesh, n: f64) -> MeshToSdf {
    let size = Aabb::of_points(&mesh.positions).size().max_element();
    MeshToSdf::with_spacing(size / n)
}

fn per(cost: &Value, active: usize) -> f64 {
    cost["wall"].as_f64().unwrap_or(0.0) * 1e3 / (active as f64 / 1e6)
}

/// Runs `f`; wall-clock and processor seconds.
pub(crate) fn timed<R>(f: impl FnOnce() -> R) -> (R, Value) {
    let (start, before) = (Instant::now(), processor_seconds());
    let result = f();
    let wall = start.elapsed().as_secs_f64();
    (result, json!({"wall": wall, "cpu": processor_seconds() - before}))
}

/// Processor time of all threads so far [s], where the system tells.
fn processor_seconds() -> f64 {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return 0.0 };
    let one = |path: std::path::PathBuf| -> Option<f64> {
        let text = std::fs::read_to_string(path.join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    };
    tasks.filter_map(|t| one(t.ok()?.path())).sum::<f64>() * 1e-9
}
