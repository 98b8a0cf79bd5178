//! Doubling the resolution, sequences in time, meshes on full lattices.

use crate::random::Random;
use crate::sparse::{frame, layouts};
use billow_geom::{Aabb, shapes};
use billow_levelset::*;
use billow_num::Vec3;

#[test]
fn a_refined_surface_keeps_its_volume_to_second_order() {
    let torus = Torus::new(Vec3::ZERO, Vec3::new(0.2, 0.1, 1.0), 0.5, 0.2).unwrap();
    for how in [Doubled::Coarse, Doubled::Blocks] {
        let changes = [0.04, 0.02].map(|h| {
            let grid = SparseGrid::of_collider(frame(h), Layout::default(), &torus, 0.0).unwrap();
            let fine = grid.refined_by(how).unwrap();
            assert_eq!(fine.frame().spacing, 0.5 * h);
            let volume = |g: &SparseGrid| marching_tets(g).unwrap().mesh.volume();
            (volume(&fine) / volume(&grid) - 1.0).abs()
        });
        println!("{how:?}: relative volume changes {changes:?}");
        assert!((changes[0] / changes[1]).log2() > 1.5 && changes[1] < 0.01, "{how:?}: {changes:?}");
    }
}

#[test]
fn refinement_is_the_tricubic_b_spline_rule_and_takes_the_smaller_way() {
    // On a dense grid the same rule gives the same values.
    let ball = Ball::new(Vec3::new(0.02, 0.0, 0.01), 0.5).unwrap();
    for layout in layouts() {
        let grid = SparseGrid::of_collider(frame(0.05), layout, &ball, 0.0).unwrap();
        let (fine, how) = grid.refined().unwrap();
        let other = if how == Doubled::Coarse { Doubled::Blocks } else { Doubled::Coarse };
        if let Ok(other) = grid.refined_by(other) {
            assert!(fine.bytes() <= other.bytes());
        }
        let lattice = Lattice {
            origin: grid.frame().position([-16; 3]),
            spacing: 0.05,
            dims: [33; 3],
            centring: Centring::Node,
        };
        let dense = grid.to_dense(lattice).unwrap().0.refined().unwrap();
        let mut compared = 0;
        for i in 0..dense.values.len() {
            let c = dense.lattice.coordinates(i);
            if c.iter().any(|v| !(4..61).contains(v)) {
                continue;
            }
            let ijk = c.map(|v| v as i32 - 32);
            let want = dense.values[i].clamp(-0.075, 0.075);
            let got = f64::from(fine.at(ijk));
            assert!((got - want).abs() < 1e-6, "{layout:?} at {ijk:?}: {got} {want}");
            compared += usize::from(want.abs() < 0.07);
        }
        assert!(compared > 1000);
    }
}

#[test]
fn sequences_interpolate_and_carry() {
    let domain = Aabb { min: Vec3::splat(-1.0), max: Vec3::splat(1.0) };
    let lattice = Lattice::covering(domain, 0.05, Centring::Node).unwrap();
    let v = Vec3::new(0.8, 0.0, 0.0);
    let frames = [0.0, 0.5, 1.0].map(|t| {
        let ball = Ball::new(Vec3::new(-0.4, 0.0, 0.0) + v * t, 0.2).unwrap();
        let phi = ScalarGrid::of_collider(lattice, &ball, 0.0).unwrap();
        let velocity =
            VectorGrid::sampled(lattice, |x| if ball.phi(x, 0.0) <= 0.0 { v } else { Vec3::NAN }).unwrap();
        Keyframe::with_extrapolated_velocity(t, phi, velocity).unwrap()
    });
    let sequence = Sequence::new(frames.to_vec()).unwrap();
    let mut random = Random(51);
    for _ in 0..2000 {
        // The ball moves by its own diameter between frames: plain mixing would lose it half way.
        let (x, t) = (random.point(0.8), random.unit());
        let ball = Ball::new(Vec3::new(-0.4, 0.0, 0.0) + v * t, 0.2).unwrap();
        let s = sequence.sample(x, t);
        assert!((s.phi - ball.phi(x, 0.0)).abs() < 0.03, "{x} {t}: {} {}", s.phi, ball.phi(x, 0.0));
        assert!(s.velocity.distance(v) < 1e-9);
        if ball.phi(x, 0.0).abs() < 0.15 {
            assert!(s.normal.dot(ball.normal(x, 0.0)) > 0.9);
        }
    }
    let bad = Sequence::new(vec![frames[1].clone(), frames[0].clone()]).unwrap_err().to_string();
    assert!(bad.contains("time 0 s follows 0.5 s"), "{bad}");
    assert!(Sequence::new(vec![]).is_err());
}

#[test]
fn a_mesh_on_a_full_lattice_is_a_distance_everywhere() {
    let mesh = shapes::icosphere(0.5, 16).unwrap();
    let domain = Aabb { min: Vec3::splat(-1.0), max: Vec3::splat(1.0) };
    let lattice = Lattice::covering(domain, 0.04, Centring::Cell).unwrap();
    let (grid, report) = mesh_to_dense(&mesh, lattice, &March::default()).unwrap();
    assert_eq!(report.leak_edges, 0);
    for i in 0..grid.values.len() {
        let x = lattice.position(lattice.coordinates(i));
        let want = x.length() - 0.5;
        let slack = 0.005 + 0.05 * want.abs();
        assert!((grid.values[i] - want).abs() < slack, "{x}: {} {want}", grid.values[i]);
    }
}
