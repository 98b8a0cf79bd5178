//! How cloth falls, slides and keeps its momentum.

use crate::support::{GRAVITY, garment, model, momentum, run, sheet};
use billow_cloth::{Air, Config, Garment, Integrator, Material, Model, Solid, State};
use billow_geom::audit;
use billow_levelset::{Ball, HalfSpace};
use billow_num::{Vec3, par};
use std::sync::Arc;

const ALL: [Integrator; 6] = [
    Integrator::Coupled,
    Integrator::Implicit,
    Integrator::Central,
    Integrator::Staggered,
    Integrator::Monotone,
    Integrator::ExplicitMarch,
];

#[test]
fn free_fall_is_right_at_any_stiffness_and_with_every_integrator() {
    for integrator in ALL {
        for stretch in [1.0, 60.0, 2000.0] {
            let cloth = garment(sheet(0.3, 6), Material { stretch, ..Material::default() });
            let model = model(vec![cloth], vec![], GRAVITY);
            let mut state = model.initial_state();
            run(&model, &mut state, &Config { integrator, ..Config::default() }, 1.0 / 192.0, 48);
            let expected = -0.5 * 9.81 * 0.25 * 0.25;
            let worst = state.x.iter().map(|x| (x.z / expected - 1.0).abs()).fold(0.0, f64::max);
            assert!(worst < 0.005, "{integrator:?} at {stretch} N/m: {worst}");
        }
    }
}

#[test]
fn momentum_is_kept_to_rounding_without_outside_forces() {
    for integrator in ALL {
        let mut cloth = garment(sheet(0.4, 9), Material::default());
        // A wavy, stretched start that sets everything in motion.
        let wave =
            |x: &Vec3| Vec3::new(x.x * 1.06, x.y * 0.98, 0.02 * (20.0 * x.x).sin() * (15.0 * x.y).cos());
        cloth.start = Some(cloth.mesh.positions.iter().map(wave).collect());
        cloth.velocity = Vec3::new(0.7, -0.2, 0.4);
        let model = model(vec![cloth], vec![], Vec3::ZERO);
        let mut state = model.initial_state();
        let before = momentum(&model, &state);
        run(&model, &mut state, &Config { integrator, ..Config::default() }, 1.0 / 192.0, 40);
        let after = momentum(&model, &state);
        let drift = after.0.distance(before.0) / before.0.length() / 40.0;
        assert!(drift < 1e-10, "{integrator:?}: {drift}");
        assert!(state.v.iter().any(|v| v.distance(Vec3::new(0.7, -0.2, 0.4)) > 1e-3), "it does vibrate");
    }
}

#[test]
fn a_sheet_sticks_to_a_slope_below_the_friction_angle_and_slides_above_it() {
    let friction = 0.5f64;
    for (degrees, sticks) in [(20.0f64, true), (26.0, true), (27.5, false), (35.0, false)] {
        let (s, c) = degrees.to_radians().sin_cos();
        let normal = Vec3::new(s, 0.0, c);
        let ground = Solid {
            name: "slope".into(),
            shape: Arc::new(HalfSpace::new(Vec3::ZERO, normal).unwrap()),
            friction,
        };
        let material = Material { friction, ..Material::default() };
        let mut cloth = garment(sheet(0.2, 5), material);
        let lay = |x: &Vec3| Vec3::new(c * x.x, x.y, -s * x.x) + normal * (0.5 * material.thickness);
        cloth.start = Some(cloth.mesh.positions.iter().map(lay).collect());
        let model = model(vec![cloth], vec![ground], GRAVITY);
        let mut state = model.initial_state();
        let start = state.x.clone();
        let steps = 192;
        run(&model, &mut state, &Config::default(), 1.0 / 192.0, steps);
        let along = Vec3::new(c, 0.0, -s);
        let moved: f64 =
            state.x.iter().zip(&start).map(|(a, b)| (*a - *b).dot(along)).sum::<f64>() / start.len() as f64;
        if sticks {
            assert!(moved.abs() < 1e-4, "{degrees}°: crept {moved} m in a second");
        } else {
            let expected = 0.5 * 9.81 * (s - friction * c);
            assert!((moved / expected - 1.0).abs() < 0.02, "{degrees}°: {moved} m instead of {expected}");
        }
    }
}

#[test]
fn a_draped_sheet_never_crosses_itself_and_is_the_same_for_any_number_of_threads() {
    let drape = |threads| {
        par::with_threads(threads, || {
            let ball = Solid {
                name: "ball".into(),
                shape: Arc::new(Ball::new(Vec3::new(0.0, 0.0, -0.2), 0.18).unwrap()),
                friction: 0.5,
            };
            let model = model(vec![garment(sheet(0.8, 25), Material::default())], vec![ball], GRAVITY);
            let mut state = model.initial_state();
            for _ in 0..8 {
                run(&model, &mut state, &Config::default(), 1.0 / 192.0, 10);
                assert!(audit::audit(&state.x, model.triangles()).findings.is_empty());
            }
            state
        })
    };
    let one = drape(1);
    assert!(one == drape(2));
    assert!(
        one.x.iter().any(|x| x.z < -0.3) && one.x.iter().any(|x| x.z > -0.03),
        "draped, not fallen through"
    );
}

#[test]
fn a_falling_sheet_reaches_the_speed_at_which_drag_carries_it() {
    // ½ ρ C A v² = m g for a flat sheet that faces its fall.
    let material = Material { density: 0.1, ..Material::default() };
    let mut model = model(vec![garment(sheet(0.5, 6), material)], Vec::new(), GRAVITY);
    model.air = Air { density: 1.2, wind: Vec3::ZERO };
    model.set_step(1.0 / 192.0);
    let mut state = model.initial_state();
    run(&model, &mut state, &Config::default(), 1.0 / 192.0, 400);
    let expected = (2.0 * material.density * 9.81 / (1.2 * material.air)).sqrt();
    for v in &state.v {
        assert!((v.z + expected).abs() < 0.01 * expected, "{v} {expected}");
        assert!(v.x.hypot(v.y) < 1e-3, "{v}");
    }
}

/// The largest extension of a spring at `state`.
fn largest_strain(model: &Model, state: &State) -> f64 {
    let springs = model.springs().ends().iter().zip(model.springs().rest_lengths());
    let length = |[a, b]: [u32; 2]| state.x[a as usize].distance(state.x[b as usize]);
    springs.fold(0.0, |worst, (ends, rest)| worst.max(length(*ends) / rest - 1.0))
}

#[test]
fn no_spring_ends_a_step_far_beyond_its_limits() {
    // A limp sheet falls on a rough ball: what hangs over pulls at what is held.
    let worst = |extension_limit: f64| {
        let ball = Solid {
            name: "ball".into(),
            shape: Arc::new(Ball::new(Vec3::new(0.0, 0.0, -0.2), 0.18).unwrap()),
            friction: 1.0,
        };
        let material = Material { stretch: 5.0, extension_limit, ..Material::default() };
        let model = model(vec![garment(sheet(0.8, 25), material)], vec![ball], GRAVITY);
        let (mut state, mut worst) = (model.initial_state(), 0.0_f64);
        for _ in 0..16 {
            run(&model, &mut state, &Config::default(), 1.0 / 192.0, 5);
            worst = worst.max(largest_strain(&model, &state));
        }
        worst
    };
    let (strain, without) = (worst(0.1), worst(10.0));
    assert!(strain < 0.12 && without > 0.2, "{strain} {without} without limits");
}

/// A square flag, held along one side.
fn flag(n: u32) -> Model {
    let mut flag = garment(sheet(1.0, n), Material::default());
    flag.mesh.positions.iter_mut().for_each(|x| *x = Vec3::new(x.x, 0.0, x.y));
    let still: Arc<dyn billow_cloth::Script> = Arc::new(|x: Vec3, _: f64| x);
    let hoist = flag.mesh.positions.iter().enumerate().filter(|(_, x)| x.x < -0.499);
    flag.pins = hoist.map(|(i, _)| (i as u32, Arc::clone(&still))).collect();
    model(vec![flag], vec![], GRAVITY)
}

#[test]
fn a_flag_that_falls_into_its_hoist_stays_near_its_limits() {
    // At its lowest the whole sheet pulls at one corner of the side that is held.
    let model = flag(40);
    let (mut state, mut worst) = (model.initial_state(), 0.0_f64);
    for _ in 0..100 {
        run(&model, &mut state, &Config::default(), 1.0 / 192.0, 1);
        worst = worst.max(largest_strain(&model, &state));
    }
    assert!(worst < 0.12, "{worst}");
}

#[test]
fn a_hanging_flag_is_calmer_if_springs_remember_their_tension() {
    let model = flag(20);
    let config = Config { drag: 4.0, ..Config::default() };
    let fastest = |remember: bool| {
        let mut state = model.initial_state();
        for _ in 0..600 {
            run(&model, &mut state, &config, 1.0 / 192.0, 1);
            if !remember {
                state.lasting.tension.clear();
            }
        }
        state.v.iter().map(|v| v.length()).fold(0.0, f64::max)
    };
    let (calm, forgetful) = (fastest(true), fastest(false));
    assert!(calm < 0.6 * forgetful, "{calm} {forgetful} m/s");
}

/// Where a pull travels slower than what it is to stop, cloth is compressed until it bursts: with eight small steps this strip
/// is more than twice as fast as it fell.
#[test]
fn a_fine_strip_that_falls_on_its_edge_is_no_faster_than_it_fell() {
    let mesh = billow_geom::shapes::cloth_grid(0.04, 1.0, 13, 301).unwrap();
    let ripple = |x: &Vec3| 0.002 * ((17.0 * x.x + 5.0 * x.y).sin() + 0.5 * (41.0 * x.y + 1.0).sin());
    let start = mesh.positions.iter().map(|x| Vec3::new(x.x, ripple(x), x.y + 0.55)).collect();
    let strip =
        Garment { start: Some(start), ..garment(mesh, Material { density: 0.3, ..Material::default() }) };
    let ground = HalfSpace::new(Vec3::ZERO, Vec3::Z).unwrap();
    let ground = Solid { name: "ground".into(), shape: Arc::new(ground), friction: 0.5 };
    let model = model(vec![strip], vec![ground], Vec3::Z * -9.81);
    let (mut state, steps, dt) = (model.initial_state(), 36, 1.0 / 192.0);
    run(&model, &mut state, &Config::default(), dt, steps);
    let fastest = state.v.iter().map(|v| v.length()).fold(0.0, f64::max);
    let fall = 9.81 * dt * f64::from(steps);
    println!("fell at {fall:.2} m/s, fastest {fastest:.2} m/s");
    assert!(fastest < 1.3 * fall, "{fastest} {fall}");
}
