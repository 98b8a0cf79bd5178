//! Every generator: counts, watertightness, orientation, no self-intersection, convergence of area and
//! volume.

use billow_geom::audit::audit;
use billow_geom::shapes::{self, BoatHull, Bone, Cup, Funnel, Gear, Ring, Tee};
use billow_geom::{GeomError, TriMesh};
use billow_num::{Vec2, Vec3};
use std::f64::consts::PI;

/// A shape and what is known of it.
pub(crate) struct Known {
    pub(crate) name: &'static str,
    pub(crate) mesh: TriMesh,
    vertices: usize,
    triangles: usize,
    /// V − E + F.
    euler: i64,
    /// Number of boundary loops.
    loops: usize,
}

fn known(
    name: &'static str,
    mesh: Result<TriMesh, GeomError>,
    (vertices, triangles): (usize, usize),
    (euler, loops): (i64, usize),
) -> Known {
    Known { name, mesh: mesh.unwrap(), vertices, triangles, euler, loops }
}

pub(crate) fn closed_shapes() -> Vec<Known> {
    let sphere = (2, 0);
    let donut = (0, 0);
    vec![
        known("cuboid 1", shapes::cuboid(Vec3::new(1.0, 2.0, 3.0), [1, 1, 1]), (8, 12), sphere),
        known(
            "cuboid 432",
            shapes::cuboid(Vec3::new(1.0, 2.0, 3.0), [4, 3, 2]),
            (60 - 6, 4 * (12 + 6 + 8)),
            sphere,
        ),
        known("cuboid 131", shapes::cuboid(Vec3::ONE, [1, 3, 1]), (16, 28), sphere),
        known("icosahedron", shapes::icosphere(2.0, 1), (12, 20), sphere),
        known("icosphere 5", shapes::icosphere(2.0, 5), (252, 500), sphere),
        known("uv sphere", shapes::uv_sphere(0.5, 12, 7), (74, 144), sphere),
        known("uv sphere least", shapes::uv_sphere(0.5, 3, 2), (5, 6), sphere),
        known("torus", shapes::torus(1.0, 0.3, 14, 9), (126, 252), donut),
        known("cylinder", shapes::cylinder(0.5, 2.0, 10, 3, true), (42, 80), sphere),
        known("capsule", shapes::capsule(0.5, 2.0, 10, 3), (62, 120), sphere),
        known("cone", shapes::cone(0.5, 2.0, 10, 3, true), (32, 60), sphere),
        known("ring", Ring::default().mesh(), (160, 320), donut),
        known("gear", Gear::default().mesh(), (192, 384), donut),
        known(
            "gear without bore",
            Gear { bore_radius: 0.0, teeth: 7, ..Gear::default() }.mesh(),
            (58, 112),
            sphere,
        ),
        known("bone", Bone::default().mesh(), (32 * 35 + 2, 64 * 35), sphere),
        known("coarse bone", Bone { segments: 4, bands: 2, ..Bone::default() }.mesh(), (22, 40), sphere),
        known("cup", Cup::default().mesh(), (96 * 9 + 2, 192 * 9), sphere),
        known("funnel", Funnel::default().mesh(), (26 * 48, 52 * 48), donut),
        known("boat", BoatHull::default().mesh(), (2 * (24 * 17 + 9), 2 * (4 * 24 * 8 + 15) + 98), sphere),
        known(
            "coarse boat",
            BoatHull { stations: 2, bands: 1, ..BoatHull::default() }.mesh(),
            (2 * (2 * 3 + 2), 2 * (8 + 1) + 10),
            sphere,
        ),
        known("tee", Tee::default().mesh(), (60 * 9 + 38, 120 * 9 + 72), sphere),
        known("coarse tee", Tee { detail: 1, ..Tee::default() }.mesh(), (74, 144), sphere),
    ]
}

fn open_shapes() -> Vec<Known> {
    vec![
        known("cloth", shapes::cloth_grid(1.0, 2.0, 5, 7), (35, 48), (1, 1)),
        known("plane", shapes::plane(1.0, 2.0, 5, 7), (48, 70), (1, 1)),
        known("tube", shapes::cylinder(0.5, 2.0, 10, 3, false), (40, 60), (0, 2)),
        known("open cone", shapes::cone(0.5, 2.0, 10, 3, false), (31, 50), (1, 1)),
        known("cup shell", Cup::default().shell(), (48 * 9 + 1, 48 * 17), (1, 1)),
        known("funnel shell", Funnel::default().shell(), (13 * 48, 24 * 48), (0, 2)),
        known("boat shell", BoatHull::default().shell(), (24 * 17 + 9, 4 * 24 * 8 + 15), (1, 1)),
    ]
}

#[test]
fn counts_and_connectivity_are_as_documented() {
    for k in closed_shapes().iter().chain(&open_shapes()) {
        let topology = k.mesh.topology().unwrap();
        assert_eq!((k.mesh.positions.len(), k.mesh.triangles.len()), (k.vertices, k.triangles), "{}", k.name);
        assert!(topology.is_manifold() && topology.is_oriented(), "{}", k.name);
        assert_eq!(topology.is_closed(), k.loops == 0, "{}", k.name);
        assert_eq!(topology.boundary_loops().len(), k.loops, "{}", k.name);
        assert_eq!(topology.euler_characteristic(), k.euler, "{}", k.name);
        assert_eq!(topology.components().count(), 1, "{}", k.name);
        assert!(k.loops > 0 || k.mesh.volume() > 0.0, "{} is inside out", k.name);
        let mean = k.mesh.area() / k.mesh.triangles.len() as f64;
        let least = k.mesh.triangle_areas().into_iter().fold(f64::INFINITY, f64::min);
        assert!(least > 1e-3 * mean, "{} has a triangle of {least} m² where the mean is {mean}", k.name);
        let mut sorted: Vec<_> = k.mesh.positions.iter().map(|p| p.to_array()).collect();
        sorted.sort_unstable_by(|a, b| a.partial_cmp(b).unwrap());
        assert!(sorted.windows(2).all(|w| w[0] != w[1]), "{} has two vertices in one place", k.name);
    }
}

fn orient(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> f64 {
    let p = |v: Vec3| robust::Coord3D { x: v.x, y: v.y, z: v.z };
    robust::orient3d(p(a), p(b), p(c), p(d))
}

/// Whether segment pq meets triangle abc, by exact signs; coplanar pairs by exact signs in projection.
pub(crate) fn meets([p, q]: [Vec3; 2], [a, b, c]: [Vec3; 3]) -> bool {
    let (sp, sq) = (orient(a, b, c, p), orient(a, b, c, q));
    if sp == 0.0 && sq == 0.0 {
        let n = (b - a).cross(c - a);
        let axis = if n.abs().max_element() == n.x.abs() {
            0
        } else if n.abs().max_element() == n.y.abs() {
            1
        } else {
            2
        };
        let flat = |v: Vec3| Vec2::new(v[(axis + 1) % 3], v[(axis + 2) % 3]);
        return meets_in_plane([p, q].map(flat), [a, b, c].map(flat));
    }
    if sp * sq > 0.0 {
        return false;
    }
    let s = [orient(p, q, a, b), orient(p, q, b, c), orient(p, q, c, a)];
    s.iter().all(|&x| x >= 0.0) || s.iter().all(|&x| x <= 0.0)
}

fn meets_in_plane([p, q]: [Vec2; 2], t: [Vec2; 3]) -> bool {
    let c = |v: Vec2| robust::Coord { x: v.x, y: v.y };
    let turn = |a: Vec2, b: Vec2, x: Vec2| robust::orient2d(c(a), c(b), c(x));
    let sign = turn(t[0], t[1], t[2]).signum();
    let beyond = (0..3).any(|k| [p, q].iter().all(|&x| sign * turn(t[k], t[(k + 1) % 3], x) < 0.0));
    let sides = t.map(|x| turn(p, q, x));
    !(beyond || sides.iter().all(|&s| s > 0.0) || sides.iter().all(|&s| s < 0.0))
}

#[test]
fn no_shape_meets_itself() {
    for k in closed_shapes().iter().chain(&open_shapes()) {
        let audit = audit(&k.mesh.positions, &k.mesh.triangles);
        assert!(audit.is_clean() && audit.degenerate.is_empty(), "{}: {:?}", k.name, audit.findings.first());
    }
}

/// Errors of a quantity at `n` and `2n` must fall by 2² within `slack`.
fn converges(name: &str, exact: f64, value: impl Fn(u32) -> f64, n: u32) {
    let errors = [n, 2 * n, 4 * n].map(|n| (value(n) - exact).abs() / exact);
    for w in errors.windows(2) {
        let order = (w[0] / w[1]).log2();
        assert!((1.7..2.4).contains(&order), "{name}: errors {errors:?}, order {order}");
    }
    assert!(errors[2] < 0.02, "{name}: errors {errors:?}");
}

/// A mesh for each resolution.
type Refine = Box<dyn Fn(u32) -> TriMesh>;

#[test]
fn areas_and_volumes_converge_at_second_order() {
    let (r, h) = (0.7, 1.9);
    let cases: Vec<(&str, Refine, f64, f64)> = vec![
        (
            "icosphere",
            Box::new(move |n| shapes::icosphere(r, n).unwrap()),
            4.0 / 3.0 * PI * r.powi(3),
            4.0 * PI * r * r,
        ),
        (
            "uv sphere",
            Box::new(move |n| shapes::uv_sphere(r, 2 * n, n).unwrap()),
            4.0 / 3.0 * PI * r.powi(3),
            4.0 * PI * r * r,
        ),
        (
            "torus",
            Box::new(move |n| shapes::torus(r, 0.3, 2 * n, n).unwrap()),
            2.0 * PI * PI * r * 0.09,
            4.0 * PI * PI * r * 0.3,
        ),
        (
            "cylinder",
            Box::new(move |n| shapes::cylinder(r, h, n, 2, true).unwrap()),
            PI * r * r * h,
            2.0 * PI * r * (r + h),
        ),
        (
            "capsule",
            Box::new(move |n| shapes::capsule(r, h, 2 * n, n / 2).unwrap()),
            PI * r * r * (h + 4.0 / 3.0 * r),
            2.0 * PI * r * (h + 2.0 * r),
        ),
        (
            "cone",
            Box::new(move |n| shapes::cone(r, h, n, 2, true).unwrap()),
            PI * r * r * h / 3.0,
            PI * r * (r + r.hypot(h)),
        ),
    ];
    for (name, mesh, volume, area) in cases {
        converges(&format!("volume of {name}"), volume, |n| mesh(n).volume(), 8);
        converges(&format!("area of {name}"), area, |n| mesh(n).area(), 8);
    }
}

/// Simpson's rule with 2000 parts.
fn integral(a: f64, b: f64, f: impl Fn(f64) -> f64) -> f64 {
    let n = 2000;
    let h = (b - a) / f64::from(n);
    let weight = |i: i32| {
        if i == 0 || i == n {
            1.0
        } else if i % 2 == 1 {
            4.0
        } else {
            2.0
        }
    };
    (0..=n).map(|i| weight(i) * f(a + f64::from(i) * h)).sum::<f64>() * h / 3.0
}

#[test]
fn bone_volume_converges_to_two_lenses_and_a_shaft() {
    let bone = Bone::default();
    let (big_r, d, r, z) = (bone.knob_radius, bone.knob_offset, bone.shaft_radius, 0.5 * bone.length);
    // Section area of two overlapping discs of radius ρ, centres 2d apart; the shaft adds what lies outside
    // them.
    let rings = |y: f64| {
        let rho2 = big_r * big_r - y * y;
        let rho = rho2.sqrt();
        if rho <= d {
            2.0 * PI * rho2
        } else {
            2.0 * (PI * rho2 - rho2 * (d / rho).acos() + d * (rho2 - d * d).sqrt())
        }
    };
    let knobs = 2.0 * integral(-big_r, big_r, rings);
    // Shaft: per unit section area the length between the ball surfaces that face each other.
    let shaft = integral(0.0, 0.5 * PI, |angle| {
        integral(0.0, r, |rad| {
            let (x, y) = (rad * angle.cos(), rad * angle.sin());
            2.0 * rad * (z - (big_r * big_r - (x - d).powi(2) - y * y).sqrt())
        })
    }) * 4.0;
    converges(
        "volume of bone",
        knobs + shaft,
        |n| Bone { segments: 4 * n, bands: 2 * n, ..bone }.mesh().unwrap().volume(),
        6,
    );
}

#[test]
fn vessels_converge_to_their_frusta() {
    let frustum = |a: f64, b: f64, h: f64| PI * h / 3.0 * (a * a + a * b + b * b);
    let cup = Cup::default();
    let (t, h) = (cup.thickness, cup.height);
    let inner = cup.bottom_radius + (cup.top_radius - cup.bottom_radius) * t / h - t;
    let exact = frustum(cup.bottom_radius, cup.top_radius, h) - frustum(inner, cup.top_radius - t, h - t);
    converges("volume of cup", exact, |n| Cup { segments: 4 * n, ..cup }.mesh().unwrap().volume(), 6);
    let f = Funnel::default();
    let exact = PI * ((f.spout_radius + f.thickness).powi(2) - f.spout_radius.powi(2)) * f.spout_length
        + frustum(f.spout_radius + f.thickness, f.rim_radius + f.thickness, f.cone_height)
        - frustum(f.spout_radius, f.rim_radius, f.cone_height);
    converges("volume of funnel", exact, |n| Funnel { segments: 4 * n, ..f }.mesh().unwrap().volume(), 6);
}

#[test]
fn hull_volume_converges_to_its_lines() {
    let boat = BoatHull::default();
    let lines = |xi: f64| {
        let (w, d) = BoatHull::lines(xi);
        w * d
    };
    let whole = 0.25
        * PI
        * boat.beam
        * boat.depth
        * 0.5
        * boat.length
        * (integral(-1.0, 0.0, lines) + integral(0.0, 1.0, lines));
    let hollow = 1.0 - boat.inner_scale().element_product();
    let fine = |n| BoatHull { stations: 4 * n, bands: n, ..boat }.mesh().unwrap();
    converges("volume of hull", whole * hollow, |n| fine(n).volume(), 4);
}

#[test]
fn tee_volume_converges_to_bar_and_stem() {
    let tee = Tee::default();
    let (b, r) = (tee.bar_radius, tee.stem_radius);
    let stem = integral(-0.5 * PI, 0.5 * PI, |a| {
        let y = r * a.sin();
        2.0 * (r * a.cos()).powi(2) * (tee.stem_length - (b * b - y * y).sqrt())
    });
    let exact = PI * b * b * tee.bar_length + stem;
    converges("volume of tee", exact, |n| Tee { detail: n, ..tee }.mesh().unwrap().volume(), 2);
}

#[test]
fn prismatic_shapes_have_their_exact_volume() {
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12 * b, "{a} is not {b}");
    close(shapes::cuboid(Vec3::new(1.0, 2.0, 3.0), [3, 2, 5]).unwrap().volume(), 6.0);
    close(shapes::cuboid(Vec3::new(1.0, 2.0, 3.0), [3, 2, 5]).unwrap().area(), 22.0);
    let ring = Ring::default();
    let pappus = |segments: f64| {
        let sector = 0.5 * segments * (2.0 * PI / segments).sin();
        let (w, c) = (ring.outer_radius - ring.inner_radius, ring.outer_radius + ring.inner_radius);
        sector * c * (w * ring.height - 2.0 * ring.bevel * ring.bevel)
    };
    close(ring.mesh().unwrap().volume(), pappus(f64::from(ring.segments)));
    let gear = Gear::default();
    let (pitch, turn) = (2.0 * PI / f64::from(gear.teeth), |share: f64, a: f64, b: f64| {
        0.5 * a * b * (share * 2.0 * PI / 12.0).sin()
    });
    assert!(pitch > 0.0);
    let (a, b, c) = (gear.tip_radius, gear.root_radius, gear.bore_radius);
    let outline = turn(0.3, a, a) + 2.0 * turn(0.15, a, b) + turn(0.4, b, b);
    let bore = turn(0.3, c, c) + 2.0 * turn(0.15, c, c) + turn(0.4, c, c);
    close(gear.mesh().unwrap().volume(), 12.0 * gear.height * (outline - bore));
}

#[test]
fn herring_bone_alternates_and_faces_up() {
    let mesh = shapes::cloth_grid(1.0, 1.0, 4, 3).unwrap();
    assert!(mesh.triangle_normals().iter().all(|n| *n == Vec3::Z));
    let valences: Vec<usize> = {
        let topology = mesh.topology().unwrap();
        (0..12).map(|v| topology.vertex_vertices(v).len()).collect()
    };
    assert_eq!(valences, [3, 3, 5, 2, 3, 8, 4, 5, 3, 3, 5, 2]);
    assert!((mesh.area() - 1.0).abs() < 1e-15);
}

#[test]
fn tet_grids_fill_their_shapes() {
    let mesh = shapes::tet_box(Vec3::new(1.0, 2.0, 3.0), [2, 3, 4]).unwrap();
    assert_eq!((mesh.positions.len(), mesh.tets.len()), (60, 144));
    assert!((mesh.volume() - 6.0).abs() < 1e-13);
    assert!((0..144).all(|t| (mesh.tet_volume(t) - 6.0 / 144.0).abs() < 1e-14));
    let ball = |n: u32| shapes::tet_ball(0.7, n).unwrap();
    for n in [1u32, 2, 3, 5] {
        let (mesh, n) = (ball(n), n as usize);
        assert_eq!(mesh.tets.len(), 20 * n.pow(3));
        assert_eq!(mesh.positions.len(), 1 + 5 * n * (n + 1) * (2 * n + 1) / 3 + 2 * n);
    }
    for mesh in [mesh, ball(1), ball(4)] {
        let topology = mesh.topology().unwrap();
        assert!((0..mesh.tets.len()).all(|t| mesh.tet_volume(t) > 0.0));
        assert!(topology.crowded_faces().is_empty());
        assert_eq!(topology.euler_characteristic(), 1);
        let skin = mesh.boundary_surface(&topology).mesh;
        let surface = skin.topology().unwrap();
        assert!(surface.is_closed() && surface.is_manifold() && surface.is_oriented());
        assert_eq!(surface.euler_characteristic(), 2);
        assert!((skin.volume() - mesh.volume()).abs() < 1e-12);
    }
    converges("volume of tet ball", 4.0 / 3.0 * PI * 0.343, |n| ball(n).volume(), 3);
}

#[test]
fn impossible_parameters_are_refused() {
    let refused = [
        shapes::cloth_grid(0.0, 1.0, 3, 3),
        shapes::cloth_grid(1.0, f64::NAN, 3, 3),
        shapes::cloth_grid(1.0, 1.0, 1, 3),
        shapes::plane(1.0, 1.0, 0, 3),
        shapes::plane(1.0, 1.0, 1 << 20, 1 << 20),
        shapes::cuboid(Vec3::new(1.0, -1.0, 1.0), [1, 1, 1]),
        shapes::cuboid(Vec3::ONE, [1, 0, 1]),
        shapes::icosphere(1.0, 0),
        shapes::icosphere(f64::INFINITY, 3),
        shapes::uv_sphere(1.0, 2, 4),
        shapes::uv_sphere(1.0, 4, 1),
        shapes::torus(1.0, 1.0, 8, 8),
        shapes::cylinder(1.0, 1.0, 8, 0, true),
        shapes::capsule(1.0, 0.0, 8, 2),
        shapes::cone(1.0, 1.0, 8, 0, false),
        shapes::lathe(&[Vec2::new(1.0, 0.0)], 8, false),
        shapes::lathe(&[Vec2::new(0.0, 0.0), Vec2::new(1.0, 0.0), Vec2::new(1.0, 1.0)], 8, true),
        Ring { bevel: 0.2, ..Ring::default() }.mesh(),
        Ring { segments: 2, ..Ring::default() }.mesh(),
        Gear { root_radius: 1.5, ..Gear::default() }.mesh(),
        Gear { bore_radius: -0.1, ..Gear::default() }.mesh(),
        Bone { segments: 10, ..Bone::default() }.mesh(),
        Bone { knob_offset: 0.3, ..Bone::default() }.mesh(),
        Bone { shaft_radius: 0.19, ..Bone::default() }.mesh(),
        Bone { length: 0.3, ..Bone::default() }.mesh(),
        Cup { thickness: 0.2, ..Cup::default() }.mesh(),
        Funnel { rim_radius: 0.05, ..Funnel::default() }.shell(),
        BoatHull { thickness: 0.4, ..BoatHull::default() }.mesh(),
        BoatHull { stations: 1, ..BoatHull::default() }.shell(),
        Tee { stem_radius: 0.1, ..Tee::default() }.mesh(),
        Tee { detail: 0, ..Tee::default() }.mesh(),
    ];
    for (k, r) in refused.iter().enumerate() {
        let message = r.as_ref().err().map(ToString::to_string);
        assert!(message.is_some_and(|m| m.contains("must be")), "case {k} was accepted");
    }
    assert!(shapes::tet_box(Vec3::ONE, [0, 1, 1]).is_err() && shapes::tet_ball(1.0, 0).is_err());
}
