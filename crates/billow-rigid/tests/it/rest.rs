//! Sleep: nothing seen of it, and everything woken in time.

use billow_geom::mass::Matter;
use billow_levelset::{Motion, Twist};
use billow_num::{Pose, Vec3};
use billow_rigid::experiments::Builder;
use billow_rigid::{Config, Drive, Geometry, Model, State, Surface, Workspace, step};
use std::sync::Arc;

const DT: f64 = 1.0 / 96.0;

/// A stack of four and, a second later, a ball that hits it.
fn bowling() -> Model {
    let mut b = Builder::default();
    b.ground(Surface::default()).expect("the scene is valid");
    let cube = b.cuboid(Vec3::ONE).expect("the scene is valid");
    for k in 0..4 {
        b.body("box", cube, Vec3::new(0.0, 0.0, 0.5 + f64::from(k)));
    }
    let ball = b.shape(Geometry::ball(0.3).expect("the scene is valid"));
    let body = b.body("ball", ball, Vec3::new(-8.0, 0.1, 8.7));
    (body.velocity, body.matter) = (Vec3::new(7.0, 0.0, 0.0), Matter::Mass(2000.0));
    b.model().expect("the scene is valid")
}

/// Runs and returns the end with the number of bodies asleep after each step.
fn run(model: &Model, sleep: f64, steps: usize) -> (State, Vec<u64>) {
    let (mut state, mut work) = (model.start(), Workspace::default());
    let config = Config { sleep, ..Config::default() };
    let asleep = (0..steps)
        .map(|_| step(model, &mut state, &mut work, &config, DT).expect("the scene is valid").asleep);
    let asleep = asleep.collect();
    (state, asleep)
}

#[test]
fn a_sleeping_stack_is_hit_like_one_that_is_awake() {
    let model = bowling();
    let (slept, asleep) = run(&model, 0.3, 144);
    let (awake, never) = run(&model, 0.0, 144);
    assert!(never.iter().all(|n| *n == 0));
    assert!(asleep.contains(&4) && asleep.last() == Some(&0), "{asleep:?}");
    let mut moved = 0.0f64;
    for (i, (a, b)) in slept.bodies.iter().zip(&awake.bodies).enumerate() {
        let apart = a.pose.position.distance(b.pose.position);
        assert!(apart < 1e-4, "body {i} is {apart} m from where it would be");
        moved = moved.max(a.pose.position.distance(model.start().bodies[i].pose.position) * f64::from(i < 5));
    }
    assert!(moved > 0.05, "the ball hit the stack: {moved}");
}

/// A floor that stands for a second and then sinks.
struct Late;

impl Motion for Late {
    fn pose(&self, t: f64) -> Pose {
        Pose { position: Vec3::new(0.0, 0.0, -1.0 - 0.5 * (t - 1.0).max(0.0)), ..Pose::IDENTITY }
    }

    fn twist(&self, t: f64) -> Twist {
        Twist { linear: Vec3::new(0.0, 0.0, if t > 1.0 { -0.5 } else { 0.0 }), angular: Vec3::ZERO }
    }
}

#[test]
fn what_sleeps_on_a_lift_wakes_when_it_moves() {
    let mut b = Builder::default();
    let slab = b.cuboid(Vec3::new(4.0, 4.0, 2.0)).unwrap();
    let cube = b.cuboid(Vec3::ONE).unwrap();
    b.body("lift", slab, Vec3::ZERO).drive = Drive::Scripted(Arc::new(Late));
    b.body("box", cube, Vec3::new(0.0, 0.0, 0.5));
    b.body("box", cube, Vec3::new(0.0, 0.0, 1.5));
    let model = b.model().unwrap();
    let (end, asleep) = run(&model, 0.3, 192);
    assert!(asleep[90] == 2 && asleep[120] == 0, "{asleep:?}");
    assert!((end.bodies[2].pose.position.z - 1.0).abs() < 1e-3, "{:?}", end.bodies[2].pose);
}
