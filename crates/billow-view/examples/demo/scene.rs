//! A made-up run: a waving sheet, a rolling ball, a tumbling block, particles, threads, a jelly, smoke, and water.

use billow_io::cache::{ManifestHeader, Status, Writer};
use billow_io::{Attribute, Domain, Frame, Grid, Object, Result, Shape, Values};
use billow_num::{Pose, Quat, Vec3};
use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Frames per second of the run [1/s].
const FPS: f64 = 24.0;

/// Writes `frames` frames with a sheet of `cells`² cells into `folder`, one every `pause`.
pub(crate) fn write(folder: &Path, frames: u32, cells: u32, pause: Duration) -> Result<()> {
    let last_frame = frames.max(1) - 1;
    let header =
        ManifestHeader { title: "One of each kind".into(), fps: FPS, last_frame, ..Default::default() };
    let mut run = Writer::replace(folder, &header)?;
    let fixed = Fixed::new(cells);
    for index in 0..=last_frame {
        run.write_frame(&frame(index, &fixed))?;
        std::thread::sleep(pause);
    }
    run.finish(Status::Finished, None)
}

/// Arrays that stay the same in all frames.
pub(crate) struct Fixed {
    cells: u32,
    sheet: Arc<Vec<[u32; 3]>>,
    ball: (Arc<Vec<Vec3>>, Arc<Vec<[u32; 3]>>),
    block: (Arc<Vec<Vec3>>, Arc<Vec<[u32; 3]>>),
    jelly: Arc<Vec<[u32; 4]>>,
    threads: Arc<Vec<[u32; 2]>>,
}

impl Fixed {
    /// The arrays of a run whose sheet has `cells`² cells.
    pub(crate) fn new(cells: u32) -> Self {
        Self {
            cells,
            sheet: Arc::new(lattice_triangles(cells, cells)),
            ball: sphere(Vec3::ZERO, 0.35, 48, 24),
            block: block(Vec3::new(0.22, 0.14, 0.3)),
            jelly: Arc::new(jelly_tets()),
            threads: Arc::new((0..40u32).filter(|k| k % 10 != 9).map(|k| [k, k + 1]).collect()),
        }
    }
}

/// One frame of the run.
pub(crate) fn frame(index: u32, fixed: &Fixed) -> Frame {
    let t = f64::from(index) / FPS;
    let stats = BTreeMap::from([
        ("seconds".into(), 0.4 + 0.25 * (3.0 * t).sin().abs() + 0.1 * (17.0 * t).cos()),
        ("collisions".into(), (40.0 + 30.0 * (2.0 * t).sin() + 10.0 * (7.0 * t).cos()).round()),
        ("kinetic_energy".into(), 2.0 * (-0.4 * t).exp() * (1.0 + (5.0 * t).sin().powi(2))),
        ("volume".into(), 0.216 + 1e-4 * (4.0 * t).sin()),
    ]);
    let objects = vec![
        sheet(t, fixed),
        moving(
            "ball",
            &fixed.ball,
            Pose {
                position: Vec3::new(-1.3 + 0.5 * t, -1.1, 0.35),
                rotation: Quat::from_rotation_y(0.5 * t / 0.35),
            },
        ),
        moving(
            "block",
            &fixed.block,
            Pose {
                position: Vec3::new(1.25, -0.9, 0.8 + 0.3 * (2.0 * t).sin()),
                rotation: Quat::from_axis_angle(Vec3::new(0.6, 0.8, 0.0), 1.7 * t),
            },
        ),
        particles(t),
        threads(t, fixed),
        jelly(t, fixed),
        plain("smoke", Shape::Grid(smoke(t))),
        plain("water", Shape::Grid(water(t))),
    ];
    Frame { index, time: t, objects, stats }
}

fn plain(name: &str, shape: Shape) -> Object {
    Object { name: name.into(), pose: Pose::IDENTITY, shape, attributes: Vec::new() }
}

fn moving(name: &str, mesh: &(Arc<Vec<Vec3>>, Arc<Vec<[u32; 3]>>), pose: Pose) -> Object {
    let shape = Shape::Triangles { positions: Arc::clone(&mesh.0), triangles: Arc::clone(&mesh.1) };
    Object { pose, ..plain(name, shape) }
}

/// A sheet that hangs from its upper edge and waves.
fn sheet(t: f64, fixed: &Fixed) -> Object {
    let n = fixed.cells;
    let at = |i: u32, j: u32, t: f64| {
        let (u, v) = (f64::from(i) / f64::from(n), f64::from(j) / f64::from(n));
        let wave = 0.16 * v * (TAU * (1.1 * u - 0.7 * t) + 2.0 * v).sin()
            + 0.05 * v * (TAU * (2.7 * u + 0.9 * t)).sin();
        Vec3::new(1.6 * (u - 0.5) * (1.0 - 0.08 * v), 0.5 + wave + 0.2 * v * v, 1.75 - 1.45 * v)
    };
    let grid = |t: f64| -> Vec<Vec3> { (0..=n).flat_map(|j| (0..=n).map(move |i| at(i, j, t))).collect() };
    let (positions, before) = (grid(t), grid(t - 1e-3));
    let velocity =
        positions.iter().zip(&before).map(|(a, b)| ((*a - *b) * 1e3).as_vec3().to_array()).collect();
    let strain = positions.iter().map(|x| (0.06 * (9.0 * x.y + 4.0 * x.z).sin()) as f32).collect();
    let contacts = positions
        .iter()
        .map(|x| if x.z < 0.5 { (6.0 * (0.5 - x.z) * (1.0 + (20.0 * x.x).sin())) as i32 } else { 0 })
        .collect();
    let attribute = |name: &str, values| Attribute { name: name.into(), domain: Domain::Vertex, values };
    Object {
        attributes: vec![
            attribute("strain", Values::Scalar(Arc::new(strain))),
            attribute("contact_count", Values::Integer(Arc::new(contacts))),
            attribute("velocity", Values::Vector(Arc::new(velocity))),
        ],
        ..plain(
            "sheet",
            Shape::Triangles { positions: Arc::new(positions), triangles: Arc::clone(&fixed.sheet) },
        )
    }
}

/// A fountain.
fn particles(t: f64) -> Object {
    let part = |k: u32, s: f64| (f64::from(k) * s).fract();
    let positions: Vec<Vec3> = (0..1500u32)
        .map(|k| {
            let age = (part(k, 0.618_034) + t / 1.2).fract() * 1.2;
            let (angle, lean) = (TAU * part(k, 0.754_878), 0.25 + 0.35 * part(k, 0.569_84));
            let out = Vec3::new(angle.cos(), angle.sin(), 0.0) * lean * age;
            Vec3::new(-1.4, 0.3, 0.02) + out + Vec3::Z * (4.2 * age - 4.9 * age * age).max(-0.02)
        })
        .collect();
    let age = (0..1500u32).map(|k| ((part(k, 0.618_034) + t / 1.2).fract() * 1.2) as f32).collect();
    Object {
        attributes: vec![Attribute {
            name: "age [s]".into(),
            domain: Domain::Vertex,
            values: Values::Scalar(Arc::new(age)),
        }],
        ..plain("fountain", Shape::Points { positions: Arc::new(positions) })
    }
}

/// Four threads that sway.
fn threads(t: f64, fixed: &Fixed) -> Object {
    let positions = (0..41u32)
        .map(|k| {
            let (row, s) = (f64::from(k / 10), f64::from(k % 10) / 9.0);
            let sway = 0.12 * s * (3.0 * t + row).sin();
            Vec3::new(1.6 + 0.09 * row + sway, 0.4 + 0.5 * sway, 0.9 * s)
        })
        .collect();
    plain("threads", Shape::Lines { positions: Arc::new(positions), segments: Arc::clone(&fixed.threads) })
}

/// Cells of the jelly along each axis.
const JELLY: u32 = 4;

/// A cube of tetrahedra that wobbles.
fn jelly(t: f64, fixed: &Fixed) -> Object {
    let n = JELLY + 1;
    let positions = (0..n * n * n)
        .map(|k| {
            let u =
                Vec3::new(f64::from(k % n), f64::from(k / n % n), f64::from(k / n / n)) / f64::from(JELLY);
            let squash = 1.0 + 0.18 * (6.0 * t).sin() * (-0.2 * t).exp();
            let lean = 0.1 * (4.0 * t).cos() * u.z * u.z;
            Vec3::new(
                0.05 + (u.x - 0.5) * 0.5 / squash.sqrt() + lean,
                -1.15 + (u.y - 0.5) * 0.5 / squash.sqrt(),
                0.5 * u.z * squash,
            )
        })
        .collect();
    plain("jelly", Shape::Tets { positions: Arc::new(positions), tets: Arc::clone(&fixed.jelly) })
}

/// Six tetrahedra per cell, around its diagonal.
fn jelly_tets() -> Vec<[u32; 4]> {
    let n = JELLY + 1;
    let node = |i: u32, j: u32, k: u32| i + n * (j + n * k);
    let mut tets = Vec::new();
    for cell in 0..JELLY * JELLY * JELLY {
        let (i, j, k) = (cell % JELLY, cell / JELLY % JELLY, cell / JELLY / JELLY);
        let corner = |c: u32| node(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2));
        for [a, b] in [[1, 3], [3, 2], [2, 6], [6, 4], [4, 5], [5, 1]] {
            tets.push([corner(0), corner(a), corner(b), corner(7)]);
        }
    }
    tets
}

/// A plume.
fn smoke(t: f64) -> Grid {
    let dims = [32, 32, 64];
    let (origin, spacing) = (Vec3::new(-0.55, 1.0, 0.0), 0.03);
    let density = |x: Vec3| {
        let h = x.z;
        let centre = Vec3::new(
            -0.07 + 0.12 * h * (4.0 * h - 2.0 * t).sin(),
            1.47 + 0.1 * h * (3.0 * h - 1.6 * t).cos(),
            h,
        );
        let width = 0.06 + 0.13 * h;
        let r = (x - centre).length() / width;
        let puffs = 0.7 + 0.3 * (14.0 * h - 6.0 * t + 3.0 * (9.0 * x.x).sin()).sin();
        (1.4 * (1.0 - r) * puffs * (1.0 - h / 1.95)).clamp(0.0, 1.0)
    };
    grid(dims, origin, spacing, density)
}

/// Two drops that meet.
fn water(t: f64) -> Grid {
    let gap = 0.16 * (1.5 * t).cos();
    let distance = |x: Vec3| {
        let drop = |side: f64| x.distance(Vec3::new(1.15 + side * gap, 1.4, 0.32)) - 0.19;
        let (a, b) = (drop(-1.0), drop(1.0));
        let blend = 0.08;
        let h = (0.5 + 0.5 * (b - a) / blend).clamp(0.0, 1.0);
        b + (a - b) * h - blend * h * (1.0 - h)
    };
    grid([40, 28, 28], Vec3::new(0.72, 1.1, 0.02), 0.022, distance)
}

fn grid(dims: [u32; 3], origin: Vec3, spacing: f64, f: impl Fn(Vec3) -> f64) -> Grid {
    let mut values = Vec::with_capacity(dims.iter().map(|n| *n as usize).product());
    for k in 0..dims[2] {
        for j in 0..dims[1] {
            for i in 0..dims[0] {
                values.push(f(origin + spacing * Vec3::new(f64::from(i), f64::from(j), f64::from(k))) as f32);
            }
        }
    }
    Grid { origin, spacing, dims, values: Arc::new(values) }
}

/// A sphere of `n` meridians and `m` bands.
pub(crate) fn sphere(centre: Vec3, radius: f64, n: u32, m: u32) -> (Arc<Vec<Vec3>>, Arc<Vec<[u32; 3]>>) {
    let point = |i: u32, j: u32| {
        let (a, b) = (TAU * f64::from(i) / f64::from(n), std::f64::consts::PI * f64::from(j) / f64::from(m));
        centre + radius * Vec3::new(b.sin() * a.cos(), b.sin() * a.sin(), b.cos())
    };
    let mut positions = vec![point(0, 0)];
    positions.extend((1..m).flat_map(|j| (0..n).map(move |i| point(i, j))));
    positions.push(point(0, m));
    let south = positions.len() as u32 - 1;
    let at = |i: u32, j: u32| 1 + (j - 1) * n + i % n;
    let mut triangles = Vec::new();
    for i in 0..n {
        triangles.push([0, at(i, 1), at(i + 1, 1)]);
        for j in 1..m - 1 {
            triangles.push([at(i, j), at(i, j + 1), at(i + 1, j)]);
            triangles.push([at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)]);
        }
        triangles.push([at(i, m - 1), south, at(i + 1, m - 1)]);
    }
    (Arc::new(positions), Arc::new(triangles))
}

/// A box with the given half edges and sharp corners.
fn block(half: Vec3) -> (Arc<Vec<Vec3>>, Arc<Vec<[u32; 3]>>) {
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for axis in 0..3 {
        for side in [-1.0, 1.0] {
            let base = positions.len() as u32;
            for (u, v) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
                let mut p = [0.0; 3];
                (p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3]) = (side, u, v);
                positions.push(Vec3::from_array(p) * half);
            }
            let quad = if side > 0.0 { [[0, 1, 2], [0, 2, 3]] } else { [[0, 2, 1], [0, 3, 2]] };
            triangles.extend(quad.map(|t| t.map(|c| base + c)));
        }
    }
    (Arc::new(positions), Arc::new(triangles))
}

/// Triangles of a lattice of `n` × `m` cells, diagonals alternating.
pub(crate) fn lattice_triangles(n: u32, m: u32) -> Vec<[u32; 3]> {
    let at = |i: u32, j: u32| i + (n + 1) * j;
    let cells = (0..m).flat_map(move |j| (0..n).map(move |i| (i, j)));
    cells
        .flat_map(|(i, j)| {
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            if (i + j) % 2 == 0 { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] }
        })
        .collect()
}
