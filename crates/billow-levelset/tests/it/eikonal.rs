//! Marching, sweeping and extrapolation against exact distances and against each other.

use billow_geom::Aabb;
use billow_levelset::*;
use billow_num::{Vec3, par};

fn cube(spacing: f64) -> Lattice {
    let domain = Aabb { min: Vec3::splat(-1.0), max: Vec3::splat(1.0) };
    Lattice::covering(domain, spacing, Centring::Node).unwrap()
}

/// A ball's distance with everything but a band of `layers` spacings forgotten.
fn banded_ball(h: f64, layers: f64) -> (ScalarGrid, ScalarGrid, Vec<bool>) {
    let exact =
        ScalarGrid::of_collider(cube(h), &Ball::new(Vec3::new(0.01, 0.02, 0.0), 0.4).unwrap(), 0.0).unwrap();
    let known: Vec<bool> = exact.values.iter().map(|v| v.abs() <= layers * h).collect();
    let mut phi = exact.clone();
    for (v, k) in phi.values.iter_mut().zip(&known) {
        *v = if *k { *v } else { 99.0f64.copysign(*v) };
    }
    (exact, phi, known)
}

/// Mean and largest error outside a core around the centre, where the distance has a kink.
fn errors(phi: &ScalarGrid, exact: &ScalarGrid) -> [f64; 2] {
    let all: Vec<f64> = phi
        .values
        .iter()
        .zip(&exact.values)
        .filter(|(_, e)| **e > -0.2)
        .map(|(p, e)| (p - e).abs())
        .collect();
    [all.iter().sum::<f64>() / all.len() as f64, all.into_iter().fold(0.0, f64::max)]
}

#[test]
fn marching_converges_at_first_and_second_order() {
    for (order, least) in [(Order::First, 0.75), (Order::Second, 1.65)] {
        let [coarse, fine] = [0.05, 0.025].map(|h| {
            let (exact, mut phi, known) = banded_ball(h, 2.0);
            March { order, ..March::default() }.run(&mut phi, &known).unwrap();
            errors(&phi, &exact)
        });
        let rate = (coarse[0] / fine[0]).log2();
        println!("{order:?}: mean order {rate}, fine mean {:e}, max {:e}", fine[0], fine[1]);
        assert!(rate > least, "{order:?}: {coarse:?} {fine:?}");
    }
}

/// Strict marching with a heap over everything: the definition.
fn heap_marching(phi: &mut ScalarGrid, known: &[bool]) {
    let l = phi.lattice;
    let h = l.spacing;
    let sign: Vec<f64> = phi.values.iter().map(|v| 1f64.copysign(*v)).collect();
    let mut t: Vec<f64> =
        phi.values.iter().zip(known).map(|(v, k)| if *k { v.abs() } else { f64::INFINITY }).collect();
    let mut alive = vec![false; t.len()];
    loop {
        let next = (0..t.len()).filter(|&p| !alive[p]).min_by(|&a, &b| t[a].total_cmp(&t[b]));
        let Some(p) = next.filter(|&p| t[p].is_finite()) else { break };
        alive[p] = true;
        let c = l.coordinates(p);
        for a in 0..3 {
            for up in [false, true] {
                let mut q = c;
                if up && q[a] + 1 < l.dims[a] {
                    q[a] += 1;
                } else if !up && q[a] > 0 {
                    q[a] -= 1;
                } else {
                    continue;
                }
                if !alive[l.index(q)] && !known[l.index(q)] {
                    let new = solve(&t, &alive, &l, q, h);
                    let old = &mut t[l.index(q)];
                    *old = old.min(new);
                }
            }
        }
    }
    for (v, (t, s)) in phi.values.iter_mut().zip(t.iter().zip(sign)) {
        *v = t * s;
    }
}

/// Largest root of Σ max(T − a, 0)² = h² by bisection.
fn solve(t: &[f64], alive: &[bool], l: &Lattice, q: [usize; 3], h: f64) -> f64 {
    let value = |c: [usize; 3]| if alive[l.index(c)] { t[l.index(c)] } else { f64::INFINITY };
    let a: [f64; 3] = std::array::from_fn(|axis| {
        let (mut lo, mut hi) = (q, q);
        let mut best = f64::INFINITY;
        if q[axis] > 0 {
            lo[axis] -= 1;
            best = best.min(value(lo));
        }
        if q[axis] + 1 < l.dims[axis] {
            hi[axis] += 1;
            best = best.min(value(hi));
        }
        best
    });
    let least = a.into_iter().fold(f64::INFINITY, f64::min);
    let (mut lo, mut hi) = (least, least + h);
    for _ in 0..80 {
        let mid = 0.5 * (lo + hi);
        let sum: f64 = a.iter().map(|&v| if v < mid { (mid - v).powi(2) } else { 0.0 }).sum();
        if sum < h * h { lo = mid } else { hi = mid }
    }
    hi
}

#[test]
fn buckets_equal_the_heap_and_sweeping_equals_marching() {
    let (_, start, known) = banded_ball(0.125, 1.0);
    let mut reference = start.clone();
    heap_marching(&mut reference, &known);
    let mut marched = start.clone();
    March { order: Order::First, ..March::default() }.run(&mut marched, &known).unwrap();
    let mut swept = start;
    let report = Sweep::default().run(&mut swept, &known).unwrap();
    assert!(report.converged);
    for i in 0..reference.values.len() {
        assert!((reference.values[i] - marched.values[i]).abs() < 1e-12);
        assert!((reference.values[i] - swept.values[i]).abs() < 1e-12);
    }
}

#[test]
fn scattered_seeds_with_far_apart_values_march_right() {
    // Known values need not be near zero: two seeds, one of them large.
    let l = cube(0.1);
    let mut phi = ScalarGrid::sampled(l, |_| 1.0).unwrap();
    let mut known = vec![false; l.len()];
    for (ijk, v) in [([1, 1, 1], 0.0), ([18, 18, 18], 1.5)] {
        phi.values[l.index(ijk)] = v;
        known[l.index(ijk)] = true;
    }
    let mut reference = phi.clone();
    heap_marching(&mut reference, &known);
    March { order: Order::First, ..March::default() }.run(&mut phi, &known).unwrap();
    for (a, b) in phi.values.iter().zip(&reference.values) {
        assert!((a - b).abs() < 1e-12);
    }
}

#[test]
fn the_limit_cuts_values_and_keeps_signs() {
    for how in [
        Redistance::March(March { limit: 0.15, ..March::default() }),
        Redistance::Sweep(Sweep { limit: 0.15, ..Sweep::default() }),
    ] {
        let (exact, mut phi, _) = banded_ball(0.05, 3.0);
        redistance(&mut phi, &how).unwrap();
        for (p, e) in phi.values.iter().zip(&exact.values) {
            assert!((*p < 0.0) == (*e < 0.0) && p.abs() <= 0.15);
            assert!(e.abs() > 0.1 || (p - e).abs() < 0.03, "{p} {e}");
        }
    }
}

#[test]
fn a_distorted_field_becomes_a_distance_again() {
    let ball = Ball::new(Vec3::ZERO, 0.5).unwrap();
    let exact = ScalarGrid::of_collider(cube(0.04), &ball, 0.0).unwrap();
    let mut phi =
        ScalarGrid::sampled(exact.lattice, |x| ball.phi(x, 0.0) * (1.0 + 0.3 * x.x) * (2.0 + x.y)).unwrap();
    redistance(&mut phi, &Redistance::March(March::default())).unwrap();
    let [mean, max] = errors(&phi, &exact);
    assert!(mean < 0.1 * 0.04 && max < 0.5 * 0.04, "{mean} {max}");
}

#[test]
fn sweeping_does_not_depend_on_the_number_of_threads() {
    let run = |threads| {
        par::with_threads(threads, || {
            let (_, mut phi, known) = banded_ball(0.03, 1.5);
            Sweep::default().run(&mut phi, &known).unwrap();
            phi.values.iter().map(|v| v.to_bits()).collect::<Vec<_>>()
        })
    };
    assert_eq!(run(1), run(2));
}

#[test]
fn extrapolated_fields_are_constant_along_normals() {
    let (exact, _, _) = banded_ball(0.04, 2.0);
    let known: Vec<bool> = exact.values.iter().map(|v| *v < 0.0).collect();
    let centre = Vec3::new(0.01, 0.02, 0.0);
    let field = |x: Vec3| x.x + 0.5 * x.y * x.z;
    let mut velocity = VectorGrid::sampled(exact.lattice, |x| Vec3::new(field(x), 1.0, -2.0)).unwrap();
    for (v, k) in velocity.values.iter_mut().zip(&known) {
        if !k {
            *v = Vec3::NAN;
        }
    }
    let reached = extrapolate(&exact, &mut velocity, &known, 0.3).unwrap();
    for i in 0..known.len() {
        if exact.values[i] > 0.3 {
            assert!(!reached[i]);
            continue;
        }
        let x = exact.lattice.position(exact.lattice.coordinates(i));
        if exact.values[i] > 0.0 {
            let foot = centre + (x - centre).normalize() * 0.4;
            assert!((velocity.values[i].x - field(foot)).abs() < 0.05, "{x}");
            assert!(velocity.values[i].distance(Vec3::new(velocity.values[i].x, 1.0, -2.0)) < 1e-12);
        }
    }
}

#[test]
fn mismatched_input_is_refused_with_the_numbers() {
    let (_, mut phi, known) = banded_ball(0.25, 1.0);
    let message = March::default().run(&mut phi, &known[1..]).unwrap_err().to_string();
    assert!(message.contains("728 known flags for 729 samples"), "{message}");
    assert!(March { limit: 0.0, ..March::default() }.run(&mut phi, &known).is_err());
}
