//! Coulomb's law between sheets, on slopes and on moving supports.

use crate::support::{GRAVITY, garment, run, sheet};
use billow_cloth::{Air, Config, Garment, Material, Model, Obstacle, Setup, Solid};
use billow_levelset::HalfSpace;
use billow_num::{Quat, Vec3};
use std::sync::Arc;

const FRICTION: f64 = 0.5;
const DT: f64 = 1.0 / 192.0;

fn fabric() -> Material {
    Material { friction: FRICTION, ..Material::default() }
}

/// What a sheet lies on.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Support {
    /// A thick body with a distance.
    Solid,
    /// A scripted mesh in the pipeline.
    Mesh,
    /// Another sheet of the same cloth, held everywhere.
    Sheet,
}

/// A block of `layers` sheets on a support turned by `degrees` about the y axis.
#[allow(clippy::unwrap_used, reason = "test support")]
fn slope(support: Support, layers: u32, degrees: f64) -> Model {
    let turn = Quat::from_rotation_y(degrees.to_radians());
    let normal = turn * Vec3::Z;
    let thickness = fabric().thickness;
    let place = |mut cloth: Garment, height: f64| {
        cloth.start = Some(cloth.mesh.positions.iter().map(|x| turn * (*x + Vec3::Z * height)).collect());
        cloth
    };
    let base = if support == Support::Solid { 0.5 } else { 1.0 };
    let mut garments: Vec<Garment> = (0..layers)
        .map(|k| place(garment(sheet(0.2, 5), fabric()), (base + f64::from(k)) * thickness))
        .collect();
    let (mut solids, mut obstacles) = (Vec::new(), Vec::new());
    let shape = Arc::new(HalfSpace::new(Vec3::ZERO, normal).unwrap());
    match support {
        Support::Solid => solids.push(Solid { name: "slope".into(), shape, friction: FRICTION }),
        Support::Mesh => obstacles.push(Obstacle {
            name: "slope".into(),
            mesh: sheet(3.0, 8),
            script: Arc::new(move |x: Vec3, _: f64| turn * x),
            thickness,
            friction: FRICTION,
        }),
        Support::Sheet => {
            let mut held = place(garment(sheet(3.0, 20), fabric()), 0.0);
            let still: Arc<dyn billow_cloth::Script> = Arc::new(move |x: Vec3, _: f64| turn * x);
            held.pins = (0..held.mesh.positions.len() as u32).map(|i| (i, Arc::clone(&still))).collect();
            garments.push(held);
        }
    }
    let air = Air { density: 0.0, wind: Vec3::ZERO };
    Model::new(Setup { garments, obstacles, solids, gravity: GRAVITY, air }).unwrap()
}

/// Mean displacement of the block along the slope after each of the given steps [m].
fn slides(support: Support, layers: u32, degrees: f64, steps: &[u32]) -> Vec<f64> {
    let model = slope(support, layers, degrees);
    let mut state = model.initial_state();
    let nodes = 0..model.parts()[layers as usize - 1].nodes.end;
    let along = Quat::from_rotation_y(degrees.to_radians()) * Vec3::X;
    let start = state.x.clone();
    let mut done = 0;
    let mean =
        |x: &[Vec3]| nodes.clone().map(|i| (x[i] - start[i]).dot(along)).sum::<f64>() / nodes.len() as f64;
    steps
        .iter()
        .map(|&k| {
            run(&model, &mut state, &Config::default(), DT, k - done);
            done = k;
            mean(&state.x)
        })
        .collect()
}

/// What blocks of cloth lie on, and of how many layers they are.
const BLOCKS: [(Support, u32); 5] =
    [(Support::Solid, 1), (Support::Solid, 3), (Support::Mesh, 1), (Support::Mesh, 3), (Support::Sheet, 1)];

#[test]
fn below_the_friction_angle_a_block_of_cloth_creeps_less_than_a_tenth_of_a_millimetre_a_second() {
    // atan 0.5 is 26.57°.
    for (support, layers) in BLOCKS {
        for degrees in if layers == 1 { [20.0, 26.0] } else { [20.0, 23.0] } {
            let moved = slides(support, layers, degrees, &[1920])[0];
            println!("{support:?}, {layers} layers at {degrees}°: {:.2e} m/s over 10 s", moved / 10.0);
            assert!(
                moved.abs() / 10.0 < 1e-4,
                "{support:?}, {layers} layers at {degrees}°: {moved} m in 10 s"
            );
        }
    }
}

#[test]
fn above_the_friction_angle_it_slides_as_coulomb_says_on_bodies_meshes_and_sheets() {
    for (support, layers) in BLOCKS {
        // Nearer to the friction angle theory is a small difference of large numbers, and stacks show it.
        for degrees in if layers == 1 { [28.0f64, 35.0] } else { [33.0, 38.0] } {
            let (s, c) = degrees.to_radians().sin_cos();
            let expected = 0.5 * 9.81 * (s - FRICTION * c) * 0.5 * 0.5;
            let moved = slides(support, layers, degrees, &[96])[0];
            println!(
                "{support:?}, {layers} layers at {degrees}°: {:+.3} %",
                100.0 * (moved / expected - 1.0)
            );
            assert!(
                (moved / expected - 1.0).abs() < 0.02,
                "{support:?}, {layers} layers at {degrees}°: {moved} m instead of {expected} m"
            );
        }
    }
}

#[test]
fn two_sheets_shear_with_the_same_law_and_then_stick() {
    // The lower sheet is pulled at a constant speed: the upper one follows with μ g until it is as fast, then sticks.
    let speed = 0.8;
    let pull: Arc<dyn billow_cloth::Script> = Arc::new(move |x: Vec3, t: f64| x + Vec3::X * (speed * t));
    let mut lower = garment(sheet(1.6, 14), fabric());
    lower.pins = (0..lower.mesh.positions.len() as u32).map(|i| (i, Arc::clone(&pull))).collect();
    let mut upper = garment(sheet(0.3, 7), fabric());
    upper.start = Some(upper.mesh.positions.iter().map(|x| *x + Vec3::Z * fabric().thickness).collect());
    let count = upper.mesh.positions.len();
    let air = Air { density: 0.0, wind: Vec3::ZERO };
    let setup = Setup { garments: vec![upper, lower], gravity: GRAVITY, air, ..Setup::default() };
    let model = Model::new(setup).unwrap();
    let mut state = model.initial_state();
    let velocity = |v: &[Vec3]| v[..count].iter().sum::<Vec3>() / count as f64;
    let arrival = speed / (FRICTION * 9.81);
    for k in 1..=8 {
        run(&model, &mut state, &Config::default(), DT, 8);
        let t = 8.0 * DT * f64::from(k);
        let (v, expected) = (velocity(&state.v).x, (FRICTION * 9.81 * t).min(speed));
        println!("t = {t:.3} s: {v:.4} m/s, Coulomb {expected:.4}");
        if (t - arrival).abs() > 2.0 * DT {
            assert!((v - expected).abs() < 0.02 * expected, "t = {t}: {v} m/s instead of {expected}");
        }
    }
    // Stuck: exactly as fast as what carries it.
    assert!(state.v[..count].iter().all(|v| (v.x - speed).abs() < 1e-3), "{:?}", velocity(&state.v));
}
