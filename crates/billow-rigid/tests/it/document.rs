//! The documents' own sequence, against what they say of it.

use crate::run;
use billow_num::Vec3;
use billow_rigid::experiments::{billiards, incline, incline_theory, seesaw, stack};
use billow_rigid::meter::Meter;
use billow_rigid::{CollisionGeometry, Config};

#[test]
fn inclines_follow_theory_with_restitution_one() {
    for (friction, speed) in [(0.5, 0.0), (0.5, 1.25), (0.25, 0.0), (0.25, 1.25)] {
        let model = incline(friction, speed).unwrap();
        let start = model.start().bodies[1].pose.position;
        let (mut squares, mut n) = (0.0, 0.0);
        run(&model, &Config::published(), 1.0 / 96.0, 192, |t, state, _| {
            let way = state.bodies[1].pose.position.distance(start);
            squares += (way - incline_theory(friction, speed, t)).powi(2);
            n += 1.0;
        });
        let rms = (squares / n).sqrt();
        assert!(rms < 1e-3, "friction {friction}, speed {speed}: {rms}");
    }
}

#[test]
fn a_shock_runs_down_a_line_of_balls_with_either_geometry() {
    for collision_geometry in [CollisionGeometry::Lagged, CollisionGeometry::Reevolved] {
        let config = Config { collision_geometry, collision_passes: 20, ..Config::published() };
        let model = billiards(4).unwrap();
        let end = run(&model, &config, 1.0 / 96.0, 80, |_, _, _| {});
        assert!((end.bodies[5].velocity.x / 2.0 - 1.0).abs() < 0.01, "{:?}", end.bodies[5].velocity);
    }
}

#[test]
fn a_stack_stands_by_shock_propagation() {
    let model = stack(5).unwrap();
    let meter = Meter::new(&model);
    let end = run(&model, &Config::published(), 1.0 / 96.0, 192, |_, _, _| {});
    assert!(meter.measure(&model, &end).largest() < 1e-3);
    for (k, b) in end.bodies.iter().enumerate().skip(1) {
        assert!(b.pose.position.distance(Vec3::new(0.0, 0.0, k as f64 - 0.5)) < 2e-2, "{k}: {:?}", b.pose);
    }
}

#[test]
fn the_seesaw_does_not_feel_the_weight_if_shock_propagation_runs_alone() {
    let model = seesaw().unwrap();
    let tilt = |config: &Config| {
        let end = run(&model, config, 1.0 / 96.0, 48, |_, _, _| {});
        -(end.bodies[2].pose.rotation * Vec3::X).z
    };
    let both = tilt(&Config::published());
    let alone = tilt(&Config { contact_sweeps: 0, ..Config::published() });
    assert!(both > 0.1 && alone.abs() < 0.2 * both, "{both} {alone}");
}
