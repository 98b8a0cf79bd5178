//! The same motion elsewhere, turned, and after a break.

use crate::support::{GRAVITY, garment, model, run, sheet};
use billow_cloth::{Config, Material, Model, Solid, State};
use billow_levelset::Ball;
use billow_num::{Quat, Vec3};
use std::sync::Arc;

/// A sheet above a rough ball, all of it turned and moved.
#[allow(clippy::unwrap_used, reason = "test support")]
fn drape(turn: Quat, offset: Vec3) -> Model {
    let at = |x: Vec3| turn * x + offset;
    let ball = Solid {
        name: "ball".into(),
        shape: Arc::new(Ball::new(at(Vec3::new(0.03, 0.02, -0.2)), 0.18).unwrap()),
        friction: 0.5,
    };
    let mut cloth = garment(sheet(0.7, 16), Material::default());
    cloth.start = Some(cloth.mesh.positions.iter().map(|x| at(*x)).collect());
    model(vec![cloth], vec![ball], turn * GRAVITY)
}

const STEPS: u32 = 72;

fn draped(turn: Quat, offset: Vec3) -> State {
    let model = drape(turn, offset);
    let mut state = model.initial_state();
    run(&model, &mut state, &Config::default(), 1.0 / 192.0, STEPS);
    state
}

#[test]
fn ten_kilometres_away_and_with_gravity_turned_the_motion_is_the_same() {
    let here = draped(Quat::IDENTITY, Vec3::ZERO);
    let moved = here.x.iter().map(|x| x.z.abs()).fold(0.0, f64::max);
    assert!(moved > 0.2, "it does drape: {moved}");
    let offset = Vec3::new(1e4, -1e4, 1e4);
    let turn = Quat::from_axis_angle(Vec3::new(1.0, 2.0, -0.5).normalize(), 2.1);
    for (name, turn, offset) in
        [("moved", Quat::IDENTITY, offset), ("turned", turn, Vec3::ZERO), ("both", turn, offset)]
    {
        let there = draped(turn, offset);
        let apart = |(a, b): (&Vec3, &Vec3)| (turn.inverse() * (*b - offset)).distance(*a);
        let worst = here.x.iter().zip(&there.x).map(apart).fold(0.0, f64::max);
        println!("{name}: {worst:.2e} m apart after {moved:.2} m");
        // At 10 km positions are rounded to 2e-12 m; the impact multiplies that by a thousand and folding by ten every few
        // steps.
        assert!(worst < if offset == Vec3::ZERO { 1e-9 } else { 1e-4 }, "{name}: {worst} m");
    }
}

#[test]
fn a_run_from_a_stored_state_with_a_fresh_workspace_continues_bit_for_bit() {
    let model = drape(Quat::IDENTITY, Vec3::ZERO);
    let mut whole = model.initial_state();
    run(&model, &mut whole, &Config::default(), 1.0 / 192.0, 80);
    let mut parts = model.initial_state();
    for _ in 0..8 {
        // Each call begins with an empty workspace.
        run(&model, &mut parts, &Config::default(), 1.0 / 192.0, 10);
    }
    assert!(whole == parts);
}
