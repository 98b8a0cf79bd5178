//! Rolling and spinning friction of all kinds of shapes, against their laws of motion ([Gue06] 2.9).

use crate::run;
use billow_geom::TriMesh;
use billow_geom::mass::Matter;
use billow_geom::shapes::{Bone, capsule, cone, cuboid, cylinder, torus, uv_sphere};
use billow_num::{Quat, Vec3, par};
use billow_rigid::experiments::Builder;
use billow_rigid::{Body, Config, Drive, Geometry, Model, RigidError, Settings, State, Surface};
use std::f64::consts::FRAC_PI_2;

const DT: f64 = 1.0 / 96.0;
const G: f64 = 9.81;
const ROUGH: Surface = Surface { friction: 0.8, rolling: 0.0, spinning: 0.0, restitution: 0.0 };

/// A body of its own, placed where it rests, on ground that is as rough as it is.
fn alone(mesh: &TriMesh, surface: Surface, height: f64, change: impl FnOnce(&mut Body)) -> Builder {
    let mut b = Builder::default();
    let friction = surface.friction;
    b.ground(Surface { friction, ..ROUGH }).expect("the scene is valid");
    let shape = Geometry::solid(mesh, &Settings::default()).expect("the mesh is closed");
    // The distance that samples of φ keep, as `Geometry` chooses it.
    let skin = if shape.is_convex() { 0.0 } else { 0.11 * mesh.bounds().size().max_element() / 96.0 };
    let shape = b.shape(shape);
    let body = b.body("it", shape, Vec3::new(0.0, 0.0, height + skin));
    body.surface = surface;
    change(body);
    b
}

/// The axis of the shapes, along y.
fn lying() -> Quat {
    Quat::from_rotation_x(FRAC_PI_2)
}

/// An ellipsoid with the given half axes [m].
fn ellipsoid(half: Vec3, segments: u32, rings: u32) -> TriMesh {
    let ball = uv_sphere(1.0, segments, rings).expect("there are enough rings");
    TriMesh { positions: ball.positions.iter().map(|x| *x * half).collect(), ..ball }
}

/// Kinetic and potential energy of the body [J].
fn energy(model: &Model, state: &State) -> f64 {
    model.kinetic_energy(state, 1) - model.mass(1) * model.gravity().dot(state.bodies[1].pose.position)
}

/// Deceleration [m/s²] between the second and the fourth half second of a mesh that rolls on a radius along x, its axis
/// being its own z, at 1 m/s.
fn slowing(mesh: &TriMesh, r: f64, rolling: f64, config: &Config) -> f64 {
    let model = alone(mesh, Surface { rolling, ..ROUGH }, r, |body| {
        (body.placement.rotation, body.velocity, body.spin) = (lying(), Vec3::X, Vec3::Y / r);
    });
    let model = model.model().expect("the scene is valid");
    let mut speeds = Vec::new();
    run(&model, config, DT, 192, |_, state, _| speeds.push(state.bodies[1].velocity.x));
    let mean = |from: usize| speeds[from..from + 48].iter().sum::<f64>() / 48.0;
    mean(48) - mean(144)
}

#[test]
fn what_is_round_about_an_axis_slows_down_by_its_own_moment_of_inertia() {
    let (r, l) = (0.1, 0.4);
    // I/mr²: of a capsule that of a cylinder and a ball, of a ring about its outer radius.
    let ball = 4.0 / 3.0 * r;
    let pill = (0.5 * l + 0.4 * ball) / (l + ball);
    let ring = (0.3 * 0.3 + 0.75 * r * r) / (0.4 * 0.4);
    let cases = [
        ("cylinder", cylinder(r, l, 256, 1, true).unwrap(), r, 0.5),
        ("coarse cylinder", cylinder(r, l, 16, 1, true).unwrap(), r, 0.5),
        ("coin on its rim", cylinder(r, 0.03, 128, 1, true).unwrap(), r, 0.5),
        ("capsule", capsule(r, l, 128, 16).unwrap(), r, pill),
        ("ring on its rim", torus(0.3, r, 192, 40).unwrap(), 0.4, ring),
        ("coarse ring", torus(0.3, r, 48, 24).unwrap(), 0.4, ring),
        ("long ellipsoid", ellipsoid(Vec3::new(r, r, 0.3), 128, 64), r, 0.4),
    ];
    for (name, mesh, r, inertia) in cases {
        let of = |rolling| slowing(&mesh, r, rolling, &Config::default());
        // (1 + I/mr²) m a = μ m g, and as good as nothing else slows it down.
        for rolling in [1e-6, 0.02, 0.05] {
            let (found, law) = (of(rolling), rolling * G / (1.0 + inertia));
            assert!((found - law).abs() < 0.03 * law + 3e-3, "{name}, {rolling}: {found} {law} m/s²");
        }
    }
}

#[test]
fn a_cylinder_stays_on_a_slope_below_the_coefficient_and_rolls_down_above_it() {
    let (r, rolling) = (0.1, 0.03);
    let mesh = cylinder(r, 0.4, 128, 1, true).unwrap();
    for slope in [0.0, 0.029, 0.06f64] {
        let b = alone(&mesh, Surface { rolling, ..ROUGH }, r, |body| body.placement.rotation = lying());
        let cos = 1.0 / (1.0 + slope * slope).sqrt();
        let gravity = Vec3::new(slope * cos, 0.0, -cos) * G;
        let model = Model::new(b.geometries, b.bodies, gravity).unwrap();
        let way = run(&model, &Config::default(), DT, 192, |_, _, _| {}).bodies[1].pose.position.x;
        // 3/2 m a = (slope − μ) m g cos, for two seconds.
        let law = 0.5 * 4.0 * (slope - rolling).max(0.0) * cos * G / 1.5;
        assert!((way - law).abs() < 0.01 * law + 1e-12, "{slope}: {way} {law} m");
    }
}

#[test]
fn a_plank_on_two_rollers_is_slowed_down_above_and_below_them() {
    let (r, rolling, plank, roller) = (0.1, 0.02, 10.0, 2.0);
    let surface = Surface { rolling, ..ROUGH };
    let mut b = Builder::default();
    b.ground(ROUGH).unwrap();
    let shape = b.mesh(&cylinder(r, 0.4, 60, 1, true).unwrap()).unwrap();
    for x in [-0.4, 0.4] {
        let body = b.body("roller", shape, Vec3::new(x, 0.0, r));
        (body.surface, body.placement.rotation, body.matter) = (surface, lying(), Matter::Mass(roller));
        (body.velocity, body.spin) = (Vec3::X * 0.5, Vec3::Y * 5.0);
    }
    let shape = b.cuboid(Vec3::new(2.0, 0.3, 0.05)).unwrap();
    let body = b.body("plank", shape, Vec3::new(-0.3, 0.0, 2.0 * r + 0.025));
    (body.surface, body.matter, body.velocity) = (surface, Matter::Mass(plank), Vec3::X);
    let model = b.model().unwrap();
    // Energy ½ M (2v)² + 2 · ¾ m v²; both rollers turn against the ground, which bears all, and against the plank.
    let law = rolling * G * (2.0 * plank + 2.0 * roller) / (4.0 * plank + 3.0 * roller);
    let end = run(&model, &Config::default(), DT, 96, |_, _, _| {});
    let [one, two, above] = [1, 2, 3].map(|i| end.bodies[i].velocity.x);
    assert!(
        (0.5 - one - law).abs() < 0.03 * law && (0.5 - two - law).abs() < 0.03 * law,
        "{one} {two} {law}"
    );
    assert!((above - one - two).abs() < 1e-3, "{above} {one} {two}");
}

/// Where a rocking ellipsoid with half axes `a` and `c` turns round that came from `t` [rad], by its equation of motion:
/// T = ½ m ṫ² (k² + h² + h'²) for its height h(t), and rolling friction μ R m (g + ḧ) with R = a²c²/h³.
fn turns_round((a, c): (f64, f64), mut t: f64, rolling: f64) -> f64 {
    let (k, d, dt) = ((a * a + c * c) / 5.0, a * a - c * c, 1e-5);
    let mut w = 0.0;
    loop {
        let h = ((a * t.sin()).powi(2) + (c * t.cos()).powi(2)).sqrt();
        let h1 = d * t.sin() * t.cos() / h;
        let h2 = d * (2.0 * t).cos() / h - h1 * h1 / h;
        let arm = rolling * (a * c).powi(2) / h.powi(3);
        let push = -h1 * (h + h2) * w * w - G * h1 + arm * (G + h2 * w * w);
        w += dt * push / (k + h * h + h1 * h1 - arm * h1);
        if w >= 0.0 {
            return -t;
        }
        t += w * dt;
    }
}

#[test]
fn an_ellipsoid_that_rocks_turns_round_where_rolling_friction_says_and_settles() {
    let (half, rolling, tilt) = ((0.3, 0.1), 0.02, 0.2f64);
    let mesh = ellipsoid(Vec3::new(half.0, half.1, half.1), 128, 64);
    let height = ((half.0 * tilt.sin()).powi(2) + (half.1 * tilt.cos()).powi(2)).sqrt();
    let surface = Surface { rolling, spinning: 0.01, ..ROUGH };
    let model = alone(&mesh, surface, height, |body| {
        body.placement.rotation = Quat::from_rotation_y(tilt);
    });
    let model = model.model().unwrap();
    let frame = model.geometry(1).frame().rotation.conjugate();
    let mut angles = vec![tilt];
    let end = run(&model, &Config::default(), 0.25 * DT, 384 * 3, |_, state, _| {
        angles.push((state.bodies[1].pose.rotation * frame * -Vec3::X).z.asin());
    });
    let turned = angles.windows(3).filter(|w| {
        // It may stand still for a moment.
        (w[1] - w[0]) * (w[2] - w[1]) <= 0.0 && w[1] != w[0]
    });
    let turned = turned.map(|w| w[1].abs());
    let mut from = tilt;
    for found in turned.take(3) {
        let law = turns_round(half, from, rolling);
        assert!((found - law).abs() < 3e-3, "from {from} to {found}, not {law}");
        from = found;
    }
    // It rests where rolling friction holds it: (R − c) sin t ≤ μ R, with R = a²/c.
    let rest = angles[angles.len() - 1].abs();
    let radius = half.0 * half.0 / half.1;
    assert!(from < 0.06 && rest < 1.05 * rolling * radius / (radius - half.1), "{from} {rest}");
    assert!(model.kinetic_energy(&end, 1) < 1e-20, "{}", model.kinetic_energy(&end, 1));
}

#[test]
fn flat_discs_and_rings_spin_down_by_friction_over_what_they_rest_on() {
    let (friction, r) = (0.2, 0.1);
    let disc = |segments, stacks| cylinder(r, 0.02, segments, stacks, true).unwrap();
    let ring = |spinning: f64| (friction * 0.3 + 2.0 * spinning * r) / (0.3 * 0.3 + 0.75 * r * r);
    let cases = [
        // All of the rim bears: µ m g r = ½ m r² α, however many corners. It is sharp, so that spinning friction adds nothing.
        ("disc of 24", disc(24, 1), 0.01, 0.0, 2.0 * friction / r),
        ("disc of 48", disc(48, 1), 0.01, 0.0, 2.0 * friction / r),
        ("disc of 48, spinning", disc(48, 1), 0.01, 0.05, 2.0 * friction / r),
        // A circle bears; the tube has a mean radius of curvature of two of its own.
        ("ring", torus(0.3, r, 128, 40).unwrap(), r, 0.0, ring(0.0)),
        ("ring, spinning", torus(0.3, r, 128, 40).unwrap(), r, 0.05, ring(0.05)),
    ];
    for (name, mesh, height, spinning, law) in cases {
        let surface = Surface { friction, spinning, rolling: spinning, ..ROUGH };
        let model = alone(&mesh, surface, height, |body| body.spin = Vec3::Z * 10.0).model().unwrap();
        let mut spins = Vec::new();
        run(&model, &Config::default(), DT, 192, |_, state, _| spins.push(model.spin(state, 1).z));
        let steps = (5.0 / (law * G) / DT) as usize;
        let found = (spins[2] - spins[2 + steps]) / (steps as f64 * DT);
        assert!((found / (law * G) - 1.0).abs() < 0.02, "{name}: {found} {} 1/s²", law * G);
        assert!(spins[191].abs() < 1e-9, "{name}: {}", spins[191]);
    }
}

/// How a box of edges `size` ends that stands on a slope and slides at `speed` [m/s], where rolling and spinning are resisted.
fn boxed(size: Vec3, degrees: f64, speed: f64, resists: f64) -> State {
    let surface = Surface { friction: 0.5, rolling: resists, spinning: resists, ..ROUGH };
    let mesh = cuboid(size, [1, 2, 3]).expect("the lengths are positive");
    let b = alone(&mesh, surface, 0.5 * size.z, |body| {
        (body.velocity, body.spin) = (Vec3::X * speed, Vec3::Z * speed);
    });
    let (sin, cos) = degrees.to_radians().sin_cos();
    let gravity = Vec3::new(sin, 0.0, -cos) * G;
    let model = Model::new(b.geometries, b.bodies, gravity).expect("the scene is valid");
    run(&model, &Config::default(), DT, 144, |_, _, _| {})
}

#[test]
fn boxes_tip_slide_and_spin_as_if_nothing_resisted_rolling() {
    // A tower tips over its edge beyond 11.3°, the other boxes slide and turn on their faces.
    let tower = Vec3::new(0.2, 0.2, 1.0);
    let cases = [(tower, 8.0, 0.0), (tower, 15.0, 0.0), (Vec3::new(0.4, 0.3, 0.2), 5.0, 1.5)];
    for (size, degrees, speed) in cases {
        let [free, held] = [0.0, 0.5].map(|resists| boxed(size, degrees, speed, resists).bodies[1]);
        let apart = free.pose.position.distance(held.pose.position);
        assert!(apart < 1e-6, "{size} at {degrees}°: {apart} m");
        let fell = free.pose.position.z < 0.45 * size.z;
        assert_eq!(fell, degrees == 15.0, "{size} at {degrees}°: {}", free.pose.position);
    }
}

#[test]
fn what_rests_stays_and_what_was_thrown_loses_energy_until_it_rests() {
    let up = Quat::IDENTITY;
    let cases = [
        ("box", cuboid(Vec3::splat(0.3), [1; 3]).unwrap(), 0.15, up),
        ("cone", cone(0.2, 0.4, 48, 4, true).unwrap(), 0.0, up),
        ("coarse ring", torus(0.3, 0.1, 16, 10).unwrap(), 0.1 * 18f64.to_radians().cos(), up),
        ("cylinder", cylinder(0.1, 0.4, 128, 1, true).unwrap(), 0.1, lying()),
        ("prism", cylinder(0.1, 0.4, 24, 1, true).unwrap(), 0.1, lying()),
        ("ellipsoid", ellipsoid(Vec3::new(0.3, 0.2, 0.1), 48, 24), 0.1, up),
        ("bone", Bone::default().mesh().unwrap(), 1.0, up),
    ];
    let surface = Surface { rolling: 0.05, spinning: 0.05, ..ROUGH };
    for (name, mesh, height, rotation) in cases {
        if name != "bone" {
            let still = alone(&mesh, surface, height, |b| b.placement.rotation = rotation).model().unwrap();
            let end = run(&still, &Config::default(), DT, 192, |_, _, _| {});
            let moved = end.bodies[1].pose.position.distance(still.start().bodies[1].pose.position);
            assert!(moved < 1e-8, "{name}: {moved} m");
        }
        let thrown = alone(&mesh, surface, height + 0.3, |body| {
            (body.placement.rotation, body.spin) = (rotation, Vec3::new(1.0, 3.0, 2.0));
            body.velocity = Vec3::new(1.0, 0.5, 0.0);
        });
        let thrown = thrown.model().unwrap();
        let start = energy(&thrown, &thrown.start());
        let (mut before, mut gained) = (start, 0.0f64);
        let end = run(&thrown, &Config::default(), DT, 96 * 8, |_, state, _| {
            let now = energy(&thrown, state);
            gained = gained.max(now - before);
            before = now;
        });
        let left = thrown.kinetic_energy(&end, 1);
        assert!(
            gained < 1e-12 * start && left < 1e-9 * start,
            "{name}: gained {gained} J, {left} J of {start} J are left"
        );
    }
}

#[test]
fn the_documents_sequence_rolls_by_the_same_law() {
    let found = {
        let (r, rolling) = (0.1, 0.05);
        let mut b = Builder::default();
        b.ground(ROUGH).unwrap();
        let ball = b.shape(Geometry::ball(r).unwrap());
        let body = b.body("ball", ball, Vec3::new(0.0, 0.0, r));
        (body.surface, body.velocity, body.spin) = (Surface { rolling, ..ROUGH }, Vec3::X, Vec3::Y / r);
        let end = run(&b.model().unwrap(), &Config::published(), DT, 96, |_, _, _| {});
        1.0 - end.bodies[1].velocity.x
    };
    let law = 0.05 * G / 1.4;
    assert!((found / law - 1.0).abs() < 0.03, "{found} {law} m/s²");
}

#[test]
fn a_heap_that_rolls_has_the_same_bits_for_any_number_of_threads() {
    let surface = Surface { friction: 0.5, rolling: 0.05, spinning: 0.02, ..ROUGH };
    let mut b = Builder::default();
    b.ground(surface).unwrap();
    let shapes = [
        b.mesh(&torus(0.3, 0.1, 16, 10).unwrap()).unwrap(),
        b.mesh(&cylinder(0.15, 0.4, 24, 1, true).unwrap()).unwrap(),
        b.mesh(&capsule(0.15, 0.3, 24, 6).unwrap()).unwrap(),
        b.shape(Geometry::ball(0.2).unwrap()),
    ];
    for k in 0..24usize {
        let cell = Vec3::new((k % 3) as f64, (k / 3 % 2) as f64, (k / 6) as f64 + 0.6) * 0.85;
        let body = b.body("it", shapes[k % 4], cell);
        (body.surface, body.placement.rotation) = (surface, Quat::from_rotation_y(k as f64));
    }
    let model = b.model().unwrap();
    let end = |threads| par::with_threads(threads, || run(&model, &Config::default(), DT, 120, |_, _, _| {}));
    assert_eq!(end(1), end(2));
}

#[test]
fn coefficients_that_are_no_coefficients_are_refused() {
    for wrong in [-0.1, f64::NAN, f64::INFINITY] {
        for surface in [Surface { rolling: wrong, ..ROUGH }, Surface { spinning: wrong, ..ROUGH }] {
            let mut b = Builder::default();
            b.ground(surface).unwrap();
            b.bodies[0].drive = Drive::Static;
            assert!(matches!(b.model(), Err(RigidError::Parameter { .. })), "{surface:?}");
        }
    }
}
