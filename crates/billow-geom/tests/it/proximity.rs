//! Closest points: proven optimal by a separating plane, and against dense sampling.

use crate::random::Random;
use billow_geom::proximity::{edge_edge, point_segment, point_triangle};
use billow_num::Vec3;

/// Corners of many shapes: ordinary, slivers, collinear, coinciding, on a grid (parallel and touching).
fn corners<const N: usize>(random: &mut Random, k: usize) -> [Vec3; N] {
    let axis = random.direction();
    let mut x: [Vec3; N] = std::array::from_fn(|_| match k % 6 {
        0 => random.vec(-1.0, 1.0),
        1 => random.range(-1.0, 1.0) * axis + random.vec(-1e-3, 1e-3),
        2 => random.range(-1.0, 1.0) * axis,
        3 => (random.vec(-2.0, 3.0)).floor(),
        4 => 1e4 * axis + random.vec(-1.0, 1.0),
        _ => 1e-5 * random.vec(-1.0, 1.0),
    });
    if k.is_multiple_of(7) {
        x[1] = x[0];
    }
    x
}

/// The distance is at least what the plane across the connecting vector shows, whatever the closest points are.
fn lower_bound(r: Vec3, a: &[Vec3], b: &[Vec3]) -> f64 {
    let l = r.length();
    let support = a.iter().flat_map(|p| b.iter().map(|q| r.dot(*p - *q))).fold(f64::INFINITY, f64::min);
    if l > 0.0 { (support / l).max(0.0) } else { 0.0 }
}

fn size(x: &[Vec3]) -> f64 {
    x.iter().fold(0.0, |s: f64, p| s.max(p.distance(x[0])))
}

#[test]
fn point_triangle_is_optimal() {
    let mut random = Random::new(1);
    for k in 0..60_000 {
        let x: [Vec3; 4] = corners(&mut random, k);
        let t = [x[1], x[2], x[3]];
        let q = point_triangle(x[0], t);
        assert!(q.weights.iter().all(|&w| w >= 0.0));
        assert!((q.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let on = q.weights[0] * t[0] + q.weights[1] * t[1] + q.weights[2] * t[2];
        let scale = size(&x) + 1e-3 * x[0].length();
        assert!((x[0].distance(on) - q.distance).abs() <= 1e-12 * scale);
        // Near contact the connecting vector is noise; the bound below zero is no information then.
        let gap = q.distance - lower_bound(x[0] - on, &x[..1], &t);
        let tolerance = if q.distance > 1e-6 * scale { 1e-9 } else { 1e-6 };
        assert!(gap <= tolerance * scale, "case {k}: {gap} {q:?} {x:?}");
        if q.distance > 1e-6 * scale {
            assert!((q.normal - (x[0] - on) / q.distance).length() < 1e-5);
        } else {
            assert!((q.normal.length() - 1.0).abs() < 1e-12 || q.normal == Vec3::ZERO);
        }
    }
}

#[test]
fn edge_edge_is_optimal() {
    let mut random = Random::new(2);
    for k in 0..60_000 {
        let x: [Vec3; 4] = corners(&mut random, k);
        let (a, b) = ([x[0], x[1]], [x[2], x[3]]);
        let q = edge_edge(a, b);
        assert!((0.0..=1.0).contains(&q.a) && (0.0..=1.0).contains(&q.b));
        let (p, o) = (a[0] + q.a * (a[1] - a[0]), b[0] + q.b * (b[1] - b[0]));
        let scale = size(&x) + 1e-3 * x[0].length();
        assert!((p.distance(o) - q.distance).abs() <= 1e-12 * scale);
        let gap = q.distance - lower_bound(p - o, &a, &b);
        let tolerance = if q.distance > 1e-6 * scale { 1e-9 } else { 1e-6 };
        assert!(gap <= tolerance * scale, "case {k}: {gap} {q:?} {x:?}");
        // The other way round is the same pair.
        let back = edge_edge(b, a);
        assert!((back.distance - q.distance).abs() <= 1e-12 * scale);
    }
}

#[test]
fn no_sampled_pair_is_closer() {
    let mut random = Random::new(3);
    let steps = 24;
    for k in 0..600 {
        let x: [Vec3; 4] = corners(&mut random, k);
        let t = [x[1], x[2], x[3]];
        let (face, edge) = (point_triangle(x[0], t).distance, edge_edge([x[0], x[1]], [x[2], x[3]]).distance);
        let slack = 1e-12 * (size(&x) + 1e-3 * x[0].length());
        for i in 0..=steps {
            for j in 0..=steps {
                let (u, v) = (i as f64 / steps as f64, j as f64 / steps as f64);
                let sample = (1.0 - u) * t[0] + u * ((1.0 - v) * t[1] + v * t[2]);
                assert!(x[0].distance(sample) >= face - slack);
                let (p, q) = (x[0] + u * (x[1] - x[0]), x[2] + v * (x[3] - x[2]));
                assert!(p.distance(q) >= edge - slack);
            }
        }
    }
}

#[test]
fn point_segment_clamps() {
    let (a, b) = (Vec3::ZERO, Vec3::new(2.0, 0.0, 0.0));
    let at = |x: f64| point_segment(Vec3::new(x, 3.0, 0.0), a, b);
    assert_eq!([at(-1.0), at(0.5), at(7.0), point_segment(b, a, a)], [0.0, 0.25, 1.0, 0.0]);
}
