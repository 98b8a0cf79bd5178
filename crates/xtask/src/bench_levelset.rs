//! `cargo xtask bench levelset MESH [N] [PEER]`: level sets against OpenVDB and scikit-fmm.
//!
//! MESH is a closed or leaky scan, N the voxels along its longest side (1000 by default). PEER is a command that
//! takes a mesh (OBJ) and N and prints OpenVDB's times; it runs after ours, so both see the same machine.
//! Prints one JSON line per stage: wall-clock and processor time, counts and memory.

use billow::geom::{Aabb, TriMesh};
use billow::io::read_mesh;
use billow::levelset::{
    Ball, Centring, Collider, Lattice, March, MeshToSdf, Order, Redistance, Reinit, ScalarGrid, SparseGrid,
    TimeOrder, mesh_to_sparse, redistance, surface_nets,
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
    conversion(&mesh, n)?;
    if words.get(2) == Some(&"scaling") {
        return scaling(&mesh);
    }
    if let Some(peer) = words.get(2) {
        let status = std::process::Command::new(peer).arg(mesh_path).arg(n.to_string()).status();
        let status = status.map_err(|e| format!("cannot run {peer}: {e}"))?;
        println!("{}", json!({"peer": peer, "exit": status.code()}));
    }
    Ok(())
}

/// Mesh to distance, renormalisation and extraction.
fn conversion(mesh: &TriMesh, n: f64) -> Result<(), String> {
    let settings = settings(mesh, n);
    let (found, cost) = timed(|| mesh_to_sparse(mesh, &settings));
    let (mut grid, report) = found.map_err(|e| e.to_string())?;
    let (active, surface) = (grid.active_samples(), grid.surface_samples());
    println!(
        "{}",
        json!({
            "stage": "mesh to distance", "cost": cost, "n": n, "triangles": report.triangles,
            "open_edges": report.open_edges, "leak_edges": report.leak_edges, "active": active, "surface": surface,
            "bytes": grid.bytes(), "bytes_per_surface_voxel": grid.bytes() as f64 / surface as f64,
        })
    );
    let settings = Reinit { steps: 3, cfl: 0.3, time: TimeOrder::One };
    let (done, cost) = timed(|| grid.reinitialise(&settings));
    done.map_err(|e| e.to_string())?;
    println!(
        "{}",
        json!({"stage": "renormalise, 3 steps", "cost": cost, "ms_per_million_active": per(&cost, active)})
    );
    let (mesh, cost) = timed(|| surface_nets(&grid));
    let quads = mesh.map_err(|e| e.to_string())?.quads.len();
    let rate = quads as f64 / cost["wall"].as_f64().unwrap_or(1.0) / 1e6;
    println!(
        "{}",
        json!({"stage": "surface nets", "cost": cost, "quads": quads, "million_quads_per_second": rate})
    );
    random_lookups(&grid);
    Ok(())
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

/// Fast marching on the grid and field of the scikit-fmm comparison.
fn marching() {
    let n = 256;
    let lattice = Lattice {
        origin: Vec3::splat(-1.0),
        spacing: 2.0 / (n as f64 - 1.0),
        dims: [n; 3],
        centring: Centring::Node,
    };
    let phi = |x: Vec3| (x.length() - 0.5) * (1.0 + 0.3 * x.x);
    for order in [Order::First, Order::Second] {
        let Ok(mut grid) = ScalarGrid::sampled(lattice, phi) else { return };
        let how = Redistance::March(March { order, ..March::default() });
        let (_, cost) = timed(|| redistance(&mut grid, &how));
        let error = (0..grid.values.len())
            .map(|i| (grid.values[i] - (lattice.position(lattice.coordinates(i)).length() - 0.5)).abs())
            .fold(0.0, f64::max);
        let rate = grid.values.len() as f64 / cost["wall"].as_f64().unwrap_or(1.0) / 1e6;
        println!(
            "{}",
            json!({"stage": "fast marching", "order": format!("{order:?}"), "cost": cost,
                   "million_cells_per_second": rate, "error_in_spacings": error / lattice.spacing})
        );
    }
}

fn random_lookups(grid: &SparseGrid) {
    let bounds = grid.bounds();
    let ball = Ball::new(bounds.centre(), 1.0);
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
    println!("{}", json!({"stage": "random lookups", "ns": ns, "sum": sum, "ball": ball.is_ok()}));
}

fn settings(mesh: &TriMesh, n: f64) -> MeshToSdf {
    let size = Aabb::of_points(&mesh.positions).size().max_element();
    MeshToSdf::with_spacing(size / n)
}

fn per(cost: &Value, active: usize) -> f64 {
    cost["wall"].as_f64().unwrap_or(0.0) * 1e3 / (active as f64 / 1e6)
}

/// Runs `f`; wall-clock and processor seconds.
fn timed<R>(f: impl FnOnce() -> R) -> (R, Value) {
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
