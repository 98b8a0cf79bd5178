//! Analytic solids, motions and booleans against definitions they must satisfy.

use crate::random::Random;
use billow_levelset::*;
use billow_num::{Pose, Quat, Vec3};
use std::sync::Arc;

fn shapes() -> Vec<(&'static str, Arc<dyn Collider>)> {
    let v = Vec3::new;
    vec![
        ("half-space", Arc::new(HalfSpace::new(v(0.1, 0.0, 0.2), v(1.0, 2.0, -0.5)).unwrap())),
        ("ball", Arc::new(Ball::new(v(0.1, -0.2, 0.3), 0.7).unwrap())),
        ("cuboid", Arc::new(Cuboid::new(v(0.5, 0.8, 0.3)).unwrap())),
        ("capsule", Arc::new(Capsule::new(v(-0.4, 0.1, 0.0), v(0.5, 0.2, 0.6), 0.3).unwrap())),
        ("cylinder", Arc::new(Cylinder::new(v(-0.4, 0.1, -0.2), v(0.5, 0.2, 0.6), 0.4).unwrap())),
        ("torus", Arc::new(Torus::new(v(0.0, 0.1, 0.0), v(0.3, 0.2, 1.0), 0.7, 0.25).unwrap())),
    ]
}

#[test]
fn walking_phi_along_the_normal_lands_on_the_surface() {
    let mut random = Random(1);
    for (name, s) in shapes() {
        for _ in 0..2000 {
            let x = random.point(1.5);
            let Sample { phi, normal, .. } = s.sample(x, 0.0);
            assert!((normal.length() - 1.0).abs() < 1e-12);
            assert!(s.phi(x - phi * normal, 0.0).abs() < 1e-12, "{name} at {x}: φ = {phi}");
        }
    }
}

#[test]
fn no_sampled_surface_point_is_nearer_than_phi() {
    // A distance is the least over surface points, so sampled ones can only be farther.
    let mut random = Random(2);
    for (name, s) in shapes() {
        let surface: Vec<Vec3> =
            (0..4000).map(|_| random.point(1.5)).map(|x| x - s.phi(x, 0.0) * s.normal(x, 0.0)).collect();
        for _ in 0..100 {
            let x = random.point(1.2);
            let nearest = surface.iter().map(|p| p.distance(x)).fold(f64::INFINITY, f64::min);
            let phi = s.phi(x, 0.0).abs();
            assert!(nearest > phi - 1e-12, "{name} at {x}: {nearest} < {phi}");
            assert!(name == "half-space" || nearest < phi + 0.25, "{name} at {x}: {nearest} ≫ {phi}");
        }
    }
}

#[test]
fn bounds_hold_the_inside() {
    let mut random = Random(3);
    for (name, s) in shapes() {
        let turned = Moving {
            body: s.clone(),
            motion: Pose { position: Vec3::new(0.3, 0.1, -0.2), rotation: Quat::from_rotation_y(0.7) },
        };
        for _ in 0..5000 {
            let x = random.point(2.0);
            assert!(s.phi(x, 0.0) >= 0.0 || s.bounds(0.0).contains(x), "{name}");
            assert!(turned.phi(x, 0.0) >= 0.0 || turned.bounds(0.0).contains(x), "{name} turned");
        }
    }
}

#[test]
fn floors_and_walls_end_where_they_end_and_slopes_nowhere() {
    let at = Vec3::new(0.1, 0.2, 0.3);
    for normal in [Vec3::X, Vec3::Y, Vec3::Z, -Vec3::X, -Vec3::Y, -Vec3::Z] {
        let wall = HalfSpace::new(at, normal * 2.0).unwrap();
        let shift = Pose { position: Vec3::splat(0.5), rotation: Quat::IDENTITY };
        let turn = Pose { position: Vec3::ZERO, rotation: Quat::from_rotation_z(1.0) };
        let [stands, shifted] = [Vec3::ZERO, shift.position].map(|by| at + by);
        for (bounds, at) in
            [(wall.bounds(0.0), stands), (Moving { body: wall, motion: shift }.bounds(0.0), shifted)]
        {
            assert!(bounds.contains(at - normal * 1e-9) && bounds.contains(at - normal * 1e9), "{normal}");
            assert!(!bounds.contains(at + normal * 1e-9), "{normal}");
            assert!(bounds.contains(at + normal.any_orthonormal_vector() * 1e9), "{normal}");
        }
        assert!(Moving { body: wall, motion: turn }.bounds(0.0).contains(at + normal * 1e9), "{normal}");
    }
    let slope = HalfSpace::new(at, Vec3::new(1e-9, 0.0, 1.0)).unwrap();
    assert!(slope.bounds(0.0).contains(Vec3::splat(1e12)));
}

#[test]
fn what_is_asked_at_one_time_is_what_is_asked_at_that_time() {
    let turning = Steady {
        start: Pose { position: Vec3::X, rotation: Quat::IDENTITY },
        twist: Twist { linear: Vec3::Y, angular: Vec3::new(0.3, 2.0, 0.1) },
    };
    for (name, body) in shapes() {
        let moving = Moving { body, motion: turning };
        let mut random = Random(5);
        for t in [0.0, 0.7] {
            let still = moving.at_time(t);
            for _ in 0..50 {
                let x = random.point(2.0);
                assert_eq!(still(x), moving.sample(x, t), "{name}");
            }
        }
    }
}

#[test]
fn degenerate_points_have_finite_normals() {
    for (name, s) in shapes() {
        for x in [Vec3::ZERO, Vec3::new(0.1, -0.2, 0.3), Vec3::new(0.05, 0.15, 0.2), Vec3::new(0.0, 0.1, 0.0)]
        {
            assert!((s.normal(x, 0.0).length() - 1.0).abs() < 1e-12, "{name} at {x}");
        }
    }
}

#[test]
fn a_steadily_moving_body_carries_its_material_points_exactly() {
    let twist = Twist { linear: Vec3::new(1.0, -0.5, 0.3), angular: Vec3::new(0.2, 1.3, -0.7) };
    let start = Pose { position: Vec3::new(0.2, 0.0, 0.1), rotation: Quat::from_rotation_x(0.4) };
    let body =
        Moving { body: Cuboid::new(Vec3::new(0.3, 0.5, 0.2)).unwrap(), motion: Steady { start, twist } };
    let own = Vec3::new(0.31, 0.2, -0.4);
    for t in [0.0, 0.37, 5.0] {
        let x = body.motion.pose(t).point(own);
        assert!((body.phi(x, t) - body.body.phi(own, 0.0)).abs() < 1e-13);
        // The velocity is the derivative of the material point's path.
        let dt = 1e-6;
        let path = |t: f64| body.motion.pose(t).point(own);
        let v = (path(t + dt) - path(t - dt)) / (2.0 * dt);
        assert!(v.distance(body.velocity(x, t)) < 1e-8);
        let s = body.sample(x, t);
        assert_eq!((s.phi, s.normal, s.velocity), (body.phi(x, t), body.normal(x, t), body.velocity(x, t)));
    }
}

#[test]
fn booleans_are_the_set_operations() {
    let a: Arc<dyn Collider> = Arc::new(Ball::new(Vec3::ZERO, 0.8).unwrap());
    let b: Arc<dyn Collider> = Arc::new(Cuboid::new(Vec3::new(0.9, 0.3, 0.5)).unwrap());
    let mut random = Random(4);
    for _ in 0..5000 {
        let x = random.point(1.2);
        let (ia, ib) = (a.phi(x, 0.0) < 0.0, b.phi(x, 0.0) < 0.0);
        let inside = |c: &dyn Collider| c.sample(x, 0.0).phi < 0.0;
        let pair = vec![a.clone(), b.clone()];
        assert_eq!(inside(&Union(pair.clone())), ia || ib);
        assert_eq!(inside(&Intersection(pair)), ia && ib);
        assert_eq!(inside(&difference(a.clone(), b.clone())), ia && !ib);
        let grown = Offset { body: &*a, distance: 0.1 };
        assert!((grown.phi(x, 0.0) - (x.length() - 0.9)).abs() < 1e-15);
    }
    assert_eq!(Union(vec![]).phi(Vec3::ZERO, 0.0), f64::INFINITY);
    let twice = Scaled::new(Ball::new(Vec3::X, 0.5).unwrap(), 2.0).unwrap();
    assert_eq!(twice.phi(Vec3::new(2.0, 0.0, 3.0), 0.0), 2.0);
}

#[test]
fn impossible_shapes_are_refused_with_the_value() {
    for (problem, number) in [
        (Ball::new(Vec3::ZERO, -1.0).err(), "-1"),
        (Ball::new(Vec3::NAN, 1.0).err(), "NaN"),
        (Cuboid::new(Vec3::new(1.0, 0.0, 1.0)).err(), "0"),
        (HalfSpace::new(Vec3::ZERO, Vec3::ZERO).err(), "0"),
        (Torus::new(Vec3::ZERO, Vec3::Z, 0.5, 0.75).err(), "-0.25"),
        (Cylinder::new(Vec3::X, Vec3::X, 1.0).err(), "0"),
    ] {
        let message = problem.unwrap().to_string();
        assert!(message.contains(&format!("is {number},")), "{message}");
    }
}
