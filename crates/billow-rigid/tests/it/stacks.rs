//! Things that stand, and things that tip.

use crate::run;
use billow_num::Vec3;
use billow_rigid::experiments::{heavy_top, seesaw, stack, wall};
use billow_rigid::meter::Meter;
use billow_rigid::{Config, Model};

fn drift(model: &Model, seconds: usize) -> (f64, f64) {
    let start = model.start();
    let meter = Meter::new(model);
    let (mut worst, mut overlap) = (0.0f64, 0.0f64);
    let mut n = 0;
    run(model, &Config::default(), 1.0 / 96.0, 96 * seconds, |_, state, _| {
        for (a, b) in state.bodies.iter().zip(&start.bodies) {
            worst = worst.max(a.pose.position.distance(b.pose.position));
        }
        n += 1;
        if n % 8 == 0 {
            overlap = overlap.max(meter.measure(model, state).largest());
        }
    });
    (worst, overlap)
}

#[test]
fn a_stack_of_ten_and_a_wall_of_a_hundred_stand_still() {
    for model in [stack(10).unwrap(), wall().unwrap()] {
        let (worst, overlap) = drift(&model, 10);
        assert!(worst < 1e-4 && overlap < 1e-4, "{worst} {overlap}");
    }
}

#[test]
fn a_ton_stands_on_nine_kilograms_for_a_minute() {
    let (worst, overlap) = drift(&heavy_top().unwrap(), 60);
    assert!(worst < 1e-3 && overlap < 5e-4, "{worst} {overlap}");
}

#[test]
fn the_seesaw_tips_to_the_heavy_side_and_back() {
    let model = seesaw().unwrap();
    let tilt = |state: &billow_rigid::State| -(state.bodies[2].pose.rotation * Vec3::X).z;
    let (mut most, mut least) = (0.0f64, 0.0f64);
    run(&model, &Config::default(), 1.0 / 96.0, 96 * 8, |_, state, _| {
        most = most.max(tilt(state));
        if most > 0.2 {
            least = least.min(tilt(state));
        }
    });
    assert!(most > 0.3 && least < -0.3, "{most} {least}");
}
