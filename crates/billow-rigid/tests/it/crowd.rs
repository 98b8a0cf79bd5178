//! Many nonconvex bodies, fast bodies, and the same answer however it is asked for.

use crate::run;
use billow_geom::shapes::{cuboid, torus};
use billow_num::{Pose, Quat, Vec3, par};
use billow_rigid::experiments::{Builder, GRAVITY, RING, RINGS_FROM, rings};
use billow_rigid::meter::{Circle, Meter, linked};
use billow_rigid::{Config, Drive, Geometry, Model, Settings, State, Storage, Surface, Workspace, step};

/// The centre lines of the rings of a scene.
fn circles(model: &Model, state: &State) -> Vec<Circle> {
    (RINGS_FROM..model.len())
        .map(|i| {
            let pose = model.placement(state, i);
            Circle { centre: pose.position, normal: pose.vector(Vec3::Z), radius: RING.0 }
        })
        .collect()
}

/// Whether the line along which a pole stands passes through a ring, and how high the ring is where it is nearest to that line.
fn around(ring: &Circle, pole: Vec3) -> (bool, f64) {
    let (u, v) = ring.normal.any_orthonormal_pair();
    let at = |k: u32| {
        let angle = f64::from(k) * std::f64::consts::TAU / 64.0;
        ring.centre + ring.radius * (u * angle.cos() + v * angle.sin())
    };
    let beside = |x: &Vec3| (*x - pole).truncate().length_squared();
    let nearest = (0..64).map(at).min_by(|x, y| beside(x).total_cmp(&beside(y)));
    let rise = ring.normal.dot(ring.centre - pole) / ring.normal.z;
    let through = (pole + Vec3::Z * rise).distance(ring.centre) < ring.radius;
    (through, nearest.map_or(0.0, |x| x.z))
}

/// A ring comes to be around a pole, or leaves it, above its upper end only.
#[test]
fn no_ring_goes_through_a_pole() {
    let model = rings(256).unwrap();
    let (top, mut passed) = (3.0, 0);
    let poles: Vec<Vec3> = (1..RINGS_FROM).map(|i| model.placement(&model.start(), i).position).collect();
    let look = |state: &State| -> Vec<(bool, f64)> {
        let rings = circles(&model, state);
        rings.iter().flat_map(|ring| poles.iter().map(|pole| around(ring, *pole))).collect()
    };
    let mut before = look(&model.start());
    run(&model, &Config::default(), 1.0 / 96.0, 192, |_, state, _| {
        let after = look(state);
        for (was, is) in before.iter().zip(&after).filter(|(was, is)| was.0 != is.0) {
            assert!(
                was.1.max(is.1) > top,
                "a pole passed a ring {} m and {} m above the ground",
                was.1,
                is.1
            );
            passed += 1;
        }
        before = after;
    });
    assert!(passed > 20, "{passed} times a ring passed above a pole");
}

#[test]
fn rings_fall_on_poles_without_overlapping_or_linking_at_any_moment() {
    let model = rings(96).unwrap();
    let meter = Meter::new(&model);
    let (mut worst, mut sum, mut count, mut k) = (0.0f64, 0.0, 0, 0);
    let end = run(&model, &Config::default(), 1.0 / 96.0, 192, |_, state, _| {
        k += 1;
        if k % 2 == 0 {
            let found = meter.measure(&model, state);
            worst = worst.max(found.largest());
            sum += found.total();
            count += found.pairs.len();
        }
    });
    assert!(worst < 2e-3 && sum <= 1e-4 * f64::from(count as u32), "{worst} {sum} {count}");
    let circles = circles(&model, &end);
    for (i, a) in circles.iter().enumerate() {
        assert!(circles[..i].iter().all(|b| !linked(a, b)));
    }
    // They have come down and lie in a heap.
    assert!(circles.iter().all(|c| c.centre.z < 3.0 && c.centre.z > 0.05));
}

#[test]
fn a_thousand_rings_hold_one_level_set() {
    let model = rings(1000).unwrap();
    let shape = model.geometry(RINGS_FROM);
    assert!((RINGS_FROM..model.len()).all(|i| std::ptr::eq(model.geometry(i), shape)));
    // Another model of the same bodies holds no second one.
    let other = model.clone();
    assert!(std::ptr::eq(other.geometry(RINGS_FROM), shape));
    // The only other shapes are the ground and the pole, which are convex: 1000 rings take the bytes of one.
    let mut shapes: Vec<&Geometry> = (0..model.len()).map(|i| model.geometry(i)).collect();
    shapes.sort_by_key(|g| std::ptr::from_ref(*g));
    shapes.dedup_by(|a, b| std::ptr::eq(*a, *b));
    assert_eq!(shapes.len(), 3);
    let bytes: usize = shapes.iter().map(|g| g.grid_bytes()).sum();
    assert!(bytes == shape.grid_bytes() && bytes > 0);
}

#[test]
fn rings_of_every_storage_land_on_each_other_and_rest() {
    let rest = |storage: Storage| -> Vec<f64> {
        let mut b = Builder::default();
        b.ground(Surface::default()).unwrap();
        let settings = Settings { spacing: 0.8 / 96.0, storage };
        let ring = b.shape(Geometry::solid(&torus(RING.0, RING.1, 16, 10).unwrap(), &settings).unwrap());
        for k in 0..3 {
            let at = Vec3::new(0.05 * f64::from(k), 0.02, 0.2 + 0.3 * f64::from(k));
            b.body("ring", ring, at).spin = Vec3::new(0.4, 0.2, 0.0);
        }
        let model = b.model().unwrap();
        let meter = Meter::new(&model);
        let mut worst = 0.0f64;
        let end = run(&model, &Config::default(), 1.0 / 96.0, 192, |_, state, _| {
            worst = worst.max(meter.measure(&model, state).largest());
        });
        let speed = end.bodies.iter().map(|b| b.velocity.length()).fold(0.0, f64::max);
        let heights: Vec<f64> = end.bodies[1..].iter().map(|b| b.pose.position.z).collect();
        assert!(worst < 2e-3 && speed < 0.01, "{storage:?}: {worst} m, {speed} m/s");
        heights
    };
    let uniform = rest(Storage::Uniform);
    for other in [rest(Storage::Octree), rest(Storage::Sparse)] {
        assert!(uniform.iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-5), "{uniform:?} {other:?}");
    }
}

/// Balls dropped into a jar of twenty staves.
fn jar(layers: usize) -> Model {
    let mut b = Builder::default();
    let rough = Surface { friction: 0.5, rolling: 0.05, ..Surface::default() };
    b.ground(rough).expect("the scene is valid");
    let stave = b.cuboid(Vec3::new(0.06, 0.14, 4.0)).expect("the scene is valid");
    for k in 0..20 {
        let rotation = Quat::from_rotation_z(f64::from(k) * std::f64::consts::TAU / 20.0);
        let body = b.body("stave", stave, rotation * Vec3::X * 0.43 + Vec3::Z * 2.0);
        (body.placement.rotation, body.surface, body.drive) = (rotation, rough, Drive::Static);
    }
    let ball = b.shape(billow_rigid::Geometry::ball(0.08).expect("the scene is valid"));
    for k in 0..9 * layers {
        let mut draw = billow_num::rng::Stream::new(3, 0).at(k as u64);
        let cell = Vec3::new((k % 3) as f64 - 1.0, (k / 3 % 3) as f64 - 1.0, (k / 9) as f64 + 0.6);
        let body = b.body("ball", ball, cell * 0.17 + draw.unit_vector() * 4e-3);
        body.surface = rough;
    }
    b.model().expect("the scene is valid")
}

#[test]
fn a_jar_of_balls_comes_to_rest_under_shock_propagation() {
    let model = jar(12);
    let end = run(&model, &Config::default(), 1.0 / 96.0, 288, |_, _, _| {});
    let mut speeds: Vec<f64> = end.bodies[21..].iter().map(|b| b.velocity.length()).collect();
    speeds.sort_by(f64::total_cmp);
    let (median, most) = (speeds[speeds.len() / 2], speeds[speeds.len() - 1]);
    assert!(median < 1e-3 && most < 0.05, "median {median} m/s, at most {most} m/s");
}

#[test]
fn one_and_two_threads_and_a_dropped_workspace_give_the_same_bits() {
    let model = rings(40).unwrap();
    let go = |threads: usize, drop_often: bool| {
        par::with_threads(threads, || {
            let (mut state, mut work) = (model.start(), Workspace::default());
            for k in 0..110 {
                if drop_often && k % 7 == 0 {
                    work = Workspace::default();
                }
                step(&model, &mut state, &mut work, &Config::default(), 1.0 / 96.0).unwrap();
            }
            state
        })
    };
    let one = go(1, false);
    assert!(one.carried.len() > 20, "they touch");
    assert!(one == go(2, false));
    assert!(one == go(2, true));
}

#[test]
fn a_bullet_is_stopped_by_a_sheet_of_steel() {
    for speed in [10.0, 100.0, 1000.0] {
        let mut b = Builder::default();
        let plate = b.cuboid(Vec3::new(0.002, 2.0, 2.0)).unwrap();
        let ring = b.mesh(&torus(0.03, 0.01, 16, 10).unwrap()).unwrap();
        let ball = b.shape(billow_rigid::Geometry::ball(0.02).unwrap());
        let cube = b.cuboid(Vec3::splat(0.03)).unwrap();
        b.body("plate", plate, Vec3::ZERO).drive = Drive::Static;
        for (k, shape) in [ring, ball, cube].into_iter().enumerate() {
            let body = b.body("bullet", shape, Vec3::new(-0.53, 0.0, 0.4 * k as f64));
            (body.velocity, body.spin) = (Vec3::X * speed, Vec3::new(0.3, 0.7, 0.2));
        }
        let model = Model::new(b.geometries, b.bodies, Vec3::ZERO).unwrap();
        run(&model, &Config::default(), 1.0 / 96.0, 96, |t, state, _| {
            for (i, body) in state.bodies.iter().enumerate().skip(1) {
                assert!(body.pose.position.x < 0.0, "body {i} at {speed} m/s is through at {t} s");
            }
        });
    }
}

/// A ring dropped on a box, with everything scaled, turned and moved.
fn tumble(scale: f64, turn: Quat, offset: Vec3) -> (Model, Pose) {
    let mut b = Builder::default();
    let slab = b
        .mesh(&cuboid(Vec3::new(4.0, 4.0, 0.5) * scale, [1; 3]).expect("the scene is valid"))
        .expect("the scene is valid");
    let ring = b
        .mesh(&torus(0.3 * scale, 0.1 * scale, 16, 10).expect("the scene is valid"))
        .expect("the scene is valid");
    let cube = b.cuboid(Vec3::splat(0.4 * scale)).expect("the scene is valid");
    b.body("slab", slab, Vec3::new(0.0, 0.0, -0.25)).drive = Drive::Static;
    b.body("cube", cube, Vec3::new(0.1, 0.0, 0.25));
    let body = b.body("ring", ring, Vec3::new(0.31, 0.05, 0.85));
    body.placement.rotation = Quat::from_rotation_x(0.5) * Quat::from_rotation_z(0.17);
    let frame = Pose { position: offset, rotation: turn };
    for body in &mut b.bodies {
        body.placement.position *= scale;
        body.placement = body.placement.then(&frame);
        body.surface = Surface { friction: 0.4, ..Surface::default() };
    }
    (Model::new(b.geometries, b.bodies, turn * GRAVITY).expect("the scene is valid"), frame)
}

#[test]
fn a_scene_behaves_the_same_turned_moved_and_scaled() {
    // Lengths by s and times by √s leave the motion alike.
    let go = |steps: usize, scale: f64, turn: Quat, offset: Vec3| {
        let (model, frame) = tumble(scale, turn, offset);
        let end = run(&model, &Config::default(), scale.sqrt() / 96.0, steps, |_, _, _| {});
        let back = frame.inverse();
        [1, 2].map(|i| back.point(model.placement(&end, i).position) / scale)
    };
    let turn = Quat::from_rotation_y(0.7) * Quat::from_rotation_z(2.0);
    let far = Vec3::splat(1e4);
    // What rounding leaves: 1e-12 m at ten kilometres, single precision of stored distances elsewhere.
    let cases = [
        (1.0, turn, Vec3::ZERO),
        (1.0, Quat::IDENTITY, far),
        (1.0, turn, far),
        (0.01, Quat::IDENTITY, Vec3::ZERO),
        (0.01, turn, far),
        (100.0, Quat::IDENTITY, Vec3::ZERO),
        (100.0, turn, far),
    ];
    // Just after the first impact, and after several.
    for (steps, bound) in [(32, 1e-7), (96, 1e-6)] {
        let plain = go(steps, 1.0, Quat::IDENTITY, Vec3::ZERO);
        for (scale, turn, offset) in cases {
            let other = go(steps, scale, turn, offset);
            for k in 0..2 {
                let apart = other[k].distance(plain[k]);
                assert!(
                    apart < bound,
                    "{steps} steps, scale {scale}, offset {offset}: body {k} is {apart} m off"
                );
            }
        }
    }
}
