//! Moving supports, thin shells and circles of bodies that lean on each other.

use crate::run;
use billow_geom::shapes::Cup;
use billow_levelset::{Steady, Twist};
use billow_num::{Pose, Quat, Vec3};
use billow_rigid::experiments::Builder;
use billow_rigid::meter::Meter;
use billow_rigid::{Config, Drive, Geometry, Surface};
use std::sync::Arc;

#[test]
fn boxes_ride_an_elevator_without_leaving_or_entering_its_floor() {
    let mut b = Builder::default();
    let floor = b.cuboid(Vec3::new(4.0, 4.0, 0.5)).unwrap();
    let cube = b.cuboid(Vec3::ONE).unwrap();
    let start = Pose { position: Vec3::new(0.0, 0.0, -0.25), rotation: Quat::IDENTITY };
    let twist = Twist { linear: Vec3::new(0.0, 0.0, 1.5), angular: Vec3::ZERO };
    b.body("floor", floor, start.position).drive = Drive::Scripted(Arc::new(Steady { start, twist }));
    for k in 0..3 {
        b.body("box", cube, Vec3::new(0.0, 0.0, 0.5 + f64::from(k))).velocity = twist.linear;
    }
    let model = b.model().unwrap();
    let meter = Meter::new(&model);
    run(&model, &Config::default(), 1.0 / 96.0, 192, |t, state, _| {
        for k in 0..3 {
            let z = state.bodies[k + 1].pose.position.z - 1.5 * t;
            assert!((z - 0.5 - k as f64).abs() < 1e-6, "{t}: box {k} at {z}");
        }
        assert!(meter.measure(&model, state).largest() < 1e-5);
    });
}

#[test]
fn a_thin_cup_lands_on_the_ground_and_rests() {
    let mut b = Builder::default();
    b.ground(Surface::default()).unwrap();
    let cup = b.shape(Geometry::shell(&Cup::default().shell().unwrap()).unwrap());
    let size = b.geometries[cup].radius();
    b.body("cup", cup, Vec3::new(0.0, 0.0, 2.0 * size)).spin = Vec3::new(0.4, 0.1, 0.0);
    let model = b.model().unwrap();
    let end = run(&model, &Config::default(), 1.0 / 192.0, 192 * 3, |_, _, _| {});
    let pose = &end.bodies[1].pose;
    let lowest =
        model.geometry(1).mesh().positions.iter().map(|x| pose.point(*x).z).fold(f64::INFINITY, f64::min);
    assert!(lowest.abs() < 1e-3 * size.max(1.0), "lowest point {lowest}");
    assert!(end.bodies[1].velocity.length() < 0.05, "{:?}", end.bodies[1].velocity);
}

#[test]
fn cups_without_walls_nest_and_hold_a_ball() {
    let mut b = Builder::default();
    b.ground(Surface::default()).unwrap();
    let thickness = 5e-4;
    let cup = b.shape(
        Geometry::thin(&Cup { segments: 24, stacks: 3, ..Cup::default() }.shell().unwrap(), thickness)
            .unwrap(),
    );
    let ball = b.shape(Geometry::ball(0.01).unwrap());
    // Three nest, and a ball lies in a fourth.
    for k in 0..3 {
        b.body("cup", cup, Vec3::new(0.0, 0.0, 0.002 + 0.03 * f64::from(k)));
    }
    b.body("cup", cup, Vec3::new(0.3, 0.0, 0.002));
    b.body("ball", ball, Vec3::new(0.305, 0.0, 0.05));
    for body in &mut b.bodies[1..] {
        body.matter = billow_geom::mass::Matter::Mass(0.05);
    }
    let model = b.model().unwrap();
    let (mut lowest, mut n) = (f64::INFINITY, 0);
    let end = run(&model, &Config::default(), 1.0 / 192.0, 192 * 2, |_, state, _| {
        n += 1;
        if n % 8 == 0 {
            lowest = lowest.min(clearance(&model, state, 1..4));
        }
    });
    let z = |i: usize| model.placement(&end, i).position.z;
    // A cup sinks into the one below until wall meets wall: thickness over the sine of the wall's angle, at most.
    let step = thickness * (0.1f64.hypot(0.01)) / 0.01;
    for k in 1..4 {
        let sunk = z(k) - if k == 1 { 0.0 } else { z(k - 1) };
        let expected = if k == 1 { 0.5 * thickness } else { step };
        assert!(
            (sunk - expected).abs() < 0.15 * step,
            "cup {k} is {sunk} above what bears it, not {expected}"
        );
        assert!((end.bodies[k].pose.rotation * Vec3::Z).z.abs() > 0.999, "cup {k} stands");
    }
    assert!(lowest > 0.5 * thickness, "two cups came within {lowest}");
    let ball = end.bodies[5].pose.position - model.placement(&end, 4).position;
    assert!(
        ball.z > 0.01 && ball.z < 0.012 && ball.truncate().length() < 0.035,
        "the ball lies in its cup: {ball}"
    );
}

#[test]
fn shells_do_not_pass_through_shells_however_fast_they_are() {
    let thickness = 1e-3;
    let cup = Cup { segments: 16, stacks: 2, ..Cup::default() }.shell().unwrap();
    let wall = billow_geom::shapes::cloth_grid(0.6, 0.6, 7, 7).unwrap();
    for (k, speed) in [3.0, 11.0, 31.0, 110.0, 900.0].into_iter().enumerate() {
        for (j, turn) in [0.0, 25.0].into_iter().enumerate() {
            let mut b = Builder::default();
            let [cup, wall] = [&cup, &wall].map(|m| b.shape(Geometry::thin(m, thickness).unwrap()));
            let ball = b.shape(Geometry::ball(0.01).unwrap());
            // Cups and a ball fly at a wall, and another cup at a cup that stands in its way.
            b.body("wall", wall, Vec3::ZERO).drive = Drive::Static;
            b.body("cup", cup, Vec3::new(1.0, 0.0, -0.1)).drive = Drive::Static;
            for (shape, at) in [(cup, -0.15), (cup, 0.0), (ball, 0.15), (cup, 1.01)] {
                let height = 0.21 + 0.013 * (k + 5 * j) as f64;
                let body = b.body("bullet", shape, Vec3::new(at, 0.02, height));
                (body.velocity, body.spin) = (Vec3::new(0.0, 0.0, -speed), Vec3::new(0.3, 0.7, 0.2) * turn);
                body.placement.rotation = Quat::from_rotation_x(0.4 * at);
            }
            let model = billow_rigid::Model::new(b.geometries, b.bodies, Vec3::ZERO).unwrap();
            let mut least = f64::INFINITY;
            run(&model, &Config::default(), 1.0 / 96.0, 20, |t, state, _| {
                for i in [2, 3, 4] {
                    let x = state.bodies[i].pose.position;
                    // Whatever is beside the wall may go where it likes.
                    let beside = x.truncate().abs().max_element() > 0.2;
                    assert!(
                        beside || x.z > 0.0,
                        "body {i} at {speed} m/s is through at {t} s, turn {turn}: {x}"
                    );
                }
                least = least.min(clearance(&model, state, 1..6));
                assert!(!crossed(&model, state), "triangles cross at {speed} m/s, {t} s");
            });
            assert!(least > 0.25 * thickness, "at {speed} m/s cups came within {least}");
        }
    }
}

/// Whether any triangles of two thin shells cross.
fn crossed(model: &billow_rigid::Model, state: &billow_rigid::State) -> bool {
    let (mut x, mut triangles) = (Vec::new(), Vec::new());
    for (i, body) in state.bodies.iter().enumerate().filter(|(i, _)| !model.geometry(*i).is_solid()) {
        let (first, mesh) = (x.len() as u32, model.geometry(i).mesh());
        x.extend(mesh.positions.iter().map(|p| body.pose.point(*p)));
        triangles.extend(mesh.triangles.iter().map(|t| t.map(|v| v + first)));
    }
    !billow_geom::audit::audit(&x, &triangles).findings.is_empty()
}

/// Smallest distance between vertices of one cup and triangles of another.
fn clearance(model: &billow_rigid::Model, state: &billow_rigid::State, cups: std::ops::Range<usize>) -> f64 {
    let mut least = f64::INFINITY;
    for a in cups.clone() {
        for b in cups.clone().filter(|b| *b != a) {
            let between = state.bodies[a].pose.then(&state.bodies[b].pose.inverse());
            let mesh = model.geometry(b).mesh();
            for x in &model.geometry(a).mesh().positions {
                let x = between.point(*x);
                for t in 0..mesh.triangles.len() {
                    least = least.min(billow_geom::proximity::point_triangle(x, mesh.corners(t)).distance);
                }
            }
        }
    }
    least
}

#[test]
fn dominoes_that_lean_in_a_circle_stand_together() {
    // Each leans on the next, all around: one level of the contact graph.
    let (n, radius, lean) = (12, 1.2, 0.45f64);
    let mut b = Builder::default();
    b.ground(Surface { friction: 0.9, ..Surface::default() }).unwrap();
    let size = Vec3::new(0.08, 0.5, 1.0);
    let domino = b.cuboid(size).unwrap();
    for k in 0..n {
        let turn = Quat::from_rotation_z(std::f64::consts::TAU * f64::from(k) / f64::from(n));
        let tilt = Quat::from_rotation_y(lean);
        // Standing on the lower edge of the side it leans towards.
        let foot = Vec3::new(0.5 * size.x, 0.0, -0.5 * size.z);
        let centre = turn * Vec3::new(0.0, -radius, 0.0) - turn * (tilt * foot);
        let body = b.body("domino", domino, centre);
        body.placement.rotation = turn * tilt;
        body.surface.friction = 0.9;
    }
    let model = b.model().unwrap();
    let meter = Meter::new(&model);
    let end = run(&model, &Config::default(), 1.0 / 96.0, 96 * 3, |_, _, _| {});
    assert!(meter.measure(&model, &end).largest() < 1e-3);
    let heights: Vec<f64> = end.bodies[1..].iter().map(|b| b.pose.position.z).collect();
    // Flat on the ground they would be at half their thickness; each bears the next, and all are alike.
    assert!(heights.iter().all(|z| *z > size.x && (z - heights[0]).abs() < 1e-6), "{heights:?}");
    let speeds = end.bodies.iter().map(|b| b.velocity.length()).fold(0.0, f64::max);
    assert!(speeds < 1e-2, "{speeds}");
}
