//! Mass properties against closed forms, and their behaviour under motion and union.

use crate::random::Random;
use crate::shapes::closed_shapes;
use billow_geom::mass::{MassProperties, Matter};
use billow_geom::{TriMesh, shapes};
use billow_num::{Affine3, Mat3, Pose, Quat, Vec3};
use std::f64::consts::PI;

fn difference(a: &Mat3, b: &Mat3) -> f64 {
    let d = *a - *b;
    [d.x_axis, d.y_axis, d.z_axis].iter().map(|c| c.abs().max_element()).fold(0.0, f64::max)
}

fn assert_close(a: &MassProperties, b: &MassProperties, size: f64, tolerance: f64, what: &str) {
    assert!((a.mass - b.mass).abs() <= tolerance * b.mass, "{what}: mass {} is not {}", a.mass, b.mass);
    assert!(
        a.centre.distance(b.centre) <= tolerance * size,
        "{what}: centre {} is not {}",
        a.centre,
        b.centre
    );
    let off = difference(&a.inertia, &b.inertia) / (b.mass * size * size);
    assert!(off <= tolerance, "{what}: inertia off by {off}");
}

fn solid(mesh: &TriMesh, density: f64) -> MassProperties {
    MassProperties::of_solid(mesh, Matter::Density(density)).unwrap()
}

fn diagonal(x: f64, y: f64, z: f64) -> Mat3 {
    Mat3::from_diagonal(Vec3::new(x, y, z))
}

#[test]
fn box_solid_shell_tets_and_corner_masses() {
    let s = Vec3::new(1.0, 2.0, 3.0);
    let q = s * s;
    let exact = MassProperties {
        mass: 15.0,
        centre: Vec3::ZERO,
        inertia: 15.0 / 12.0 * diagonal(q.y + q.z, q.z + q.x, q.x + q.y),
    };
    let surface = shapes::cuboid(s, [3, 1, 2]).unwrap();
    assert_close(&solid(&surface, 2.5), &exact, 3.0, 1e-14, "solid box");
    let tets = shapes::tet_box(s, [2, 3, 1]).unwrap();
    let by_mass = MassProperties::of_tets(&tets, Matter::Mass(15.0)).unwrap();
    assert_close(&by_mass, &exact, 3.0, 1e-14, "tet box");
    // Shell: six rectangles. Second moment of x²: four sides as plates, two ends at x = ±s.x/2.
    let second =
        |a: f64, b: f64, c: f64| 2.0 * (a * a / 12.0) * (a * b + a * c) + 2.0 * b * c * (0.25 * a * a);
    let c = [second(s.x, s.y, s.z), second(s.y, s.z, s.x), second(s.z, s.x, s.y)];
    let exact = MassProperties {
        mass: 0.7 * 22.0,
        centre: Vec3::ZERO,
        inertia: 0.7 * diagonal(c[1] + c[2], c[2] + c[0], c[0] + c[1]),
    };
    let shell = MassProperties::of_shell(&surface, Matter::Density(0.7)).unwrap();
    assert_close(&shell, &exact, 3.0, 1e-14, "box shell");
    let corners = shapes::cuboid(s, [1, 1, 1]).unwrap().positions;
    let points = MassProperties::of_points(&corners, &[0.5; 8]).unwrap();
    let exact = MassProperties {
        mass: 4.0,
        centre: Vec3::ZERO,
        inertia: 4.0 / 4.0 * diagonal(q.y + q.z, q.z + q.x, q.x + q.y),
    };
    assert_close(&points, &exact, 3.0, 1e-14, "corner masses");
}

#[test]
fn round_solids_converge_at_second_order() {
    let (r, h, tube) = (0.7f64, 1.3f64, 0.2f64);
    let moments = |m: f64, x: f64, z: f64| (m, diagonal(m * x, m * x, m * z));
    type Case = (&'static str, Box<dyn Fn(u32) -> TriMesh>, (f64, Mat3));
    let cases: Vec<Case> = vec![
        (
            "ball",
            Box::new(move |n| shapes::icosphere(r, n).unwrap()),
            moments(4.0 / 3.0 * PI * r.powi(3), 0.4 * r * r, 0.4 * r * r),
        ),
        (
            "cylinder",
            Box::new(move |n| shapes::cylinder(r, h, 3 * n, 1, true).unwrap()),
            moments(PI * r * r * h, (3.0 * r * r + h * h) / 12.0, 0.5 * r * r),
        ),
        (
            "torus",
            Box::new(move |n| shapes::torus(r, tube, 4 * n, 2 * n).unwrap()),
            moments(
                2.0 * PI * PI * r * tube * tube,
                0.5 * r * r + 0.625 * tube * tube,
                r * r + 0.75 * tube * tube,
            ),
        ),
    ];
    for (name, mesh, (mass, inertia)) in cases {
        let errors = [8, 16, 32].map(|n| {
            let m = solid(&mesh(n), 1.0);
            assert!(m.centre.length() < 1e-14, "{name} is off centre");
            ((m.mass - mass).abs() / mass, difference(&m.inertia, &inertia) / mass)
        });
        for w in errors.windows(2) {
            let orders = ((w[0].0 / w[1].0).log2(), (w[0].1 / w[1].1).log2());
            assert!((1.9..2.1).contains(&orders.0) && (1.8..2.2).contains(&orders.1), "{name}: {orders:?}");
        }
        assert!(errors[2].0 < 0.02, "{name}: {errors:?}");
    }
}

#[test]
fn motion_carries_the_properties_along_even_far_away() {
    let mut random = Random::new(11);
    for k in closed_shapes() {
        let here = solid(&k.mesh, 3.0);
        let size = k.mesh.bounds().size().max_element();
        for distance in [1.0, 1e4] {
            let rotation = Quat::from_axis_angle(random.direction(), random.range(0.0, 6.0));
            let pose = Pose { position: distance * random.direction(), rotation };
            let map = Affine3::from_rotation_translation(pose.rotation, pose.position);
            let moved = solid(&k.mesh.clone().transformed(&map), 3.0);
            // Positions far away are rounded to about 1e-12 m; nothing else may be lost.
            let tolerance = 1e-12 + 100.0 * f64::EPSILON * distance / size;
            assert_close(&moved, &here.transformed(&pose), size, tolerance, k.name);
        }
    }
}

#[test]
fn properties_add_up() {
    let mut random = Random::new(12);
    let a = shapes::icosphere(0.5, 3).unwrap();
    let b = shapes::cuboid(Vec3::new(1.0, 0.3, 0.8), [1, 1, 1]).unwrap().translated(random.vec(3.0, 5.0));
    let both = TriMesh::merged([&a, &b]);
    assert_close(&solid(&both, 2.0), &solid(&a, 2.0).joined(&solid(&b, 2.0)), 5.0, 1e-14, "union");
    // A cavity takes its part away.
    let mut hole = shapes::icosphere(0.25, 3).unwrap().translated(Vec3::new(0.1, 0.0, 0.0));
    let filled = solid(&hole, 2.0);
    hole.flip();
    let hollow = solid(&TriMesh::merged([&a, &hole]), 2.0);
    assert_close(&hollow.joined(&filled), &solid(&a, 2.0), 1.0, 1e-14, "cavity");
    assert_close(
        &hollow.with_mass(7.0),
        &MassProperties::of_solid(&TriMesh::merged([&a, &hole]), Matter::Mass(7.0)).unwrap(),
        1.0,
        1e-14,
        "mass",
    );
}

#[test]
fn principal_frame_is_a_rotation_that_diagonalises() {
    let mut random = Random::new(13);
    for k in closed_shapes() {
        let rotation = Quat::from_axis_angle(random.direction(), random.range(0.0, 6.0));
        let here = solid(&k.mesh, 3.0).transformed(&Pose { position: random.vec(-1.0, 1.0), rotation });
        let frame = here.principal();
        let r = frame.pose.matrix();
        assert!((r.determinant() - 1.0).abs() < 1e-14 && frame.pose.position == here.centre);
        assert!(frame.moments.x >= frame.moments.y && frame.moments.y >= frame.moments.z, "{}", k.name);
        let back = r * Mat3::from_diagonal(frame.moments) * r.transpose();
        assert!(difference(&back, &here.inertia) <= 1e-14 * frame.moments.x, "{}", k.name);
    }
}

#[test]
fn tee_has_three_different_moments() {
    let tee = solid(&shapes::Tee::default().mesh().unwrap(), 1000.0).principal();
    assert!(tee.moments.x > 1.05 * tee.moments.y && tee.moments.y > 1.05 * tee.moments.z, "{}", tee.moments);
}

#[test]
fn bodies_without_mass_are_refused() {
    let mut mesh = shapes::cuboid(Vec3::ONE, [1, 1, 1]).unwrap();
    let message = |r: Result<MassProperties, billow_geom::GeomError>| r.unwrap_err().to_string();
    assert!(message(MassProperties::of_solid(&mesh, Matter::Mass(0.0))).contains("must be positive"));
    mesh.flip();
    assert!(message(MassProperties::of_solid(&mesh, Matter::Mass(1.0))).contains("inside out"));
    mesh.triangles.pop();
    assert!(message(MassProperties::of_solid(&mesh, Matter::Mass(1.0))).contains("3 open"));
    assert!(message(MassProperties::of_points(&[Vec3::ZERO], &[-1.0])).contains("particle 0"));
    assert!(
        MassProperties::of_points(&[], &[]).is_err()
            && MassProperties::of_points(&[Vec3::NAN], &[1.0]).is_err()
    );
    assert!(MassProperties::of_shell(&TriMesh::default(), Matter::Mass(1.0)).is_err());
    mesh.triangles.push([0, 1, 99]);
    assert!(MassProperties::of_shell(&mesh, Matter::Mass(1.0)).is_err());
}
