//! Motions with known answers.

use crate::run;
use billow_num::Vec3;
use billow_rigid::experiments::{Builder, GRAVITY, billiards, incline, incline_theory};
use billow_rigid::{Body, Config, Geometry, Model, Settings, Surface};
use std::sync::Arc;

#[test]
fn free_fall_is_exact_and_angular_momentum_keeps_every_bit() {
    let bone = billow_geom::shapes::Bone::default().mesh().unwrap();
    let mut body = Body::new("bone", 0);
    (body.velocity, body.spin) = (Vec3::new(1.0, 2.0, 3.0), Vec3::new(3.0, 0.5, -2.0));
    let shape = Arc::new(Geometry::solid(&bone, &Settings::default()).unwrap());
    let model = Model::new(vec![shape], vec![body], GRAVITY).unwrap();
    let start = model.start();
    let energy = model.kinetic_energy(&start, 0);
    let end = run(&model, &Config::default(), 0.01, 100, |t, state, _| {
        let b = &state.bodies[0];
        let exact = start.bodies[0].pose.position + Vec3::new(1.0, 2.0, 3.0) * t + 0.5 * GRAVITY * t * t;
        assert!(b.pose.position.distance(exact) < 1e-12);
        assert_eq!(b.angular_momentum, start.bodies[0].angular_momentum);
    });
    let turning = 0.5 * model.spin(&end, 0).dot(end.bodies[0].angular_momentum);
    let turning_start = energy - 0.5 * model.mass(0) * 14.0;
    assert!((turning / turning_start - 1.0).abs() < 1e-3);
}

#[test]
fn all_four_inclines_follow_theory_with_restitution_one() {
    for (friction, speed) in [(0.5, 0.0), (0.5, 1.25), (0.25, 0.0), (0.25, 1.25)] {
        let model = incline(friction, speed).unwrap();
        let start = model.start().bodies[1].pose.position;
        let (mut squares, mut n) = (0.0, 0.0);
        run(&model, &Config::default(), 1.0 / 96.0, 288, |t, state, _| {
            let way = state.bodies[1].pose.position.distance(start);
            let error = way - incline_theory(friction, speed, t);
            squares += error * error;
            n += 1.0;
            if speed == 0.0 && friction == 0.5 {
                assert!(way < 1e-12, "creeps by {way}");
            }
        });
        let rms = (squares / n).sqrt();
        assert!(rms < 1e-4, "friction {friction}, speed {speed}: {rms}");
    }
}

#[test]
fn the_last_billiard_ball_leaves_with_the_speed_of_the_cue() {
    let model = billiards(8).unwrap();
    let end = run(&model, &Config::default(), 1.0 / 96.0, 96, |_, _, _| {});
    let speeds: Vec<f64> = end.bodies.iter().map(|b| b.velocity.x).collect();
    assert!((speeds[9] / 2.0 - 1.0).abs() < 0.01);
    assert!(speeds[..9].iter().all(|v| v.abs() < 0.01));
    let energy: f64 = (1..10).map(|i| model.kinetic_energy(&end, i)).sum();
    assert!((energy / (0.5 * model.mass(1) * 4.0) - 1.0).abs() < 1e-3);
}

#[test]
fn a_free_collision_conserves_momentum_and_angular_momentum() {
    for restitution in [0.0, 0.5, 1.0] {
        let mut b = Builder::default();
        let ring = b.mesh(&billow_geom::shapes::torus(0.3, 0.1, 16, 10).unwrap()).unwrap();
        let cube = b.cuboid(Vec3::splat(0.5)).unwrap();
        let surface = Surface { restitution, ..Surface::default() };
        let body = b.body("ring", ring, Vec3::new(-1.0, 0.05, 0.02));
        (body.velocity, body.spin, body.surface) = (Vec3::X * 2.0, Vec3::new(1.0, 2.0, 0.3), surface);
        let body = b.body("cube", cube, Vec3::new(0.6, 0.0, 0.0));
        (body.velocity, body.spin, body.surface) = (-Vec3::X, Vec3::Z, surface);
        let model = Model::new(b.geometries, b.bodies, Vec3::ZERO).unwrap();
        let totals = |state: &billow_rigid::State| {
            let p: Vec3 = (0..2).map(|i| model.mass(i) * state.bodies[i].velocity).sum();
            let l: Vec3 = (0..2)
                .map(|i| {
                    let b = &state.bodies[i];
                    b.angular_momentum + b.pose.position.cross(model.mass(i) * b.velocity)
                })
                .sum();
            (p, l)
        };
        let (p, l) = totals(&model.start());
        let config = Config { push_sweeps: 0, ..Config::default() };
        let end = run(&model, &config, 1.0 / 96.0, 96, |_, _, _| {});
        let after = totals(&end);
        assert!(end.bodies[1].velocity.x > -0.5, "they met: {:?}", end.bodies[1].velocity);
        assert!(after.0.distance(p) < 1e-9 * p.length());
        assert!(after.1.distance(l) < 1e-9 * l.length(), "{} {l}", after.1);
    }
}

#[test]
fn a_ball_rolls_to_rest_and_a_top_spins_down_as_predicted() {
    let (rolling, spinning, r) = (0.02, 0.05, 0.1);
    let mut b = Builder::default();
    b.ground(Surface { friction: 0.8, ..Surface::default() }).unwrap();
    let ball = b.shape(Geometry::ball(r).unwrap());
    let surface = Surface { friction: 0.8, rolling, spinning, restitution: 0.0 };
    let body = b.body("roller", ball, Vec3::new(0.0, 0.0, r));
    (body.surface, body.velocity, body.spin) = (surface, Vec3::X, Vec3::new(0.0, 1.0 / r, 0.0));
    let body = b.body("top", ball, Vec3::new(5.0, 5.0, r));
    (body.surface, body.spin) = (surface, Vec3::Z * 20.0);
    let model = b.model().unwrap();
    // Rolling without slipping: (7/5) m a = μ_r m g; spinning: (2/5) m r² α = μ_s r m g.
    let (g, a) = (9.81, 5.0 / 7.0 * rolling * 9.81);
    let alpha = 2.5 * spinning * g / r;
    let stop = 1.0 / (2.0 * a);
    run(&model, &Config::default(), 1.0 / 96.0, 96 * 10, |t, state, _| {
        let x = state.bodies[1].pose.position.x;
        let expected = if t < 1.0 / a { t - 0.5 * a * t * t } else { stop };
        assert!((x - expected).abs() < 1e-3 * stop, "{t}: {x} {expected}");
        let late = t - 0.5 / 96.0;
        let spin = (20.0 - alpha * late).max(0.0);
        assert!((model.spin(state, 2).z - spin).abs() < 0.02, "{t}: {} {spin}", model.spin(state, 2).z);
    });
}

#[test]
fn a_landing_without_restitution_counts_as_an_impact_and_resting_does_not() {
    let mut scene = Builder::default();
    scene.ground(Surface::default()).unwrap();
    let cube = scene.mesh(&billow_geom::shapes::cuboid(Vec3::ONE, [1; 3]).unwrap()).unwrap();
    scene.body("cube", cube, Vec3::new(0.0, 0.0, 1.0));
    let (mut landing, mut resting) = (0, 0);
    run(&scene.model().unwrap(), &Config::default(), 1.0 / 96.0, 96, |t, _, report| {
        *if t < 0.5 { &mut landing } else { &mut resting } += report.collisions;
    });
    assert!(landing > 0 && resting == 0, "{landing} {resting}");
}
