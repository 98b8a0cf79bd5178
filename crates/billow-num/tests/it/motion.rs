//! Certified roots against exact integer arithmetic, on the cubics of moving points.

use billow_num::interval::{Interval, Interval3};
use billow_num::rng::{Draws, Stream};
use billow_num::roots::{Enclosures, certainly_rootless, enclose_cubic, enclose_roots};
use billow_num::{Vec3, par};

/// `64³ · p(k/64)` for integer coefficients, exact.
fn exact_at(c: [i128; 4], k: i128) -> i128 {
    c[0] * 64 * 64 * 64 + c[1] * k * 64 * 64 + c[2] * k * k * 64 + c[3] * k * k * k
}

/// Every exact zero on the grid and every exact change of sign between neighbours must be enclosed.
fn check(c: [i128; 4], found: &Enclosures) {
    for k in 0..=64 {
        let (t, value) = (k as f64 / 64.0, exact_at(c, k));
        if value == 0 {
            assert!(found.iter().any(|e| e.span.contains(t)), "lost the root {t} of {c:?}: {found:?}");
        }
        if k < 64 && value.signum() * exact_at(c, k + 1).signum() < 0 {
            let cell = Interval::new(t, (k + 1) as f64 / 64.0);
            let held = found.iter().any(|e| e.span.intersection(cell).is_some());
            assert!(held, "lost the root of {c:?} in {cell:?}: {found:?}");
        }
    }
}

/// Four points with integer coordinates and velocities, often nearly or exactly coplanar, sometimes at rest.
fn moving_points(d: &mut Draws) -> [[[i64; 3]; 4]; 2] {
    let size = [4, 100, 1 << 20][d.below(3) as usize];
    let flat = d.below(3) == 0;
    let mut point = |speed: bool| -> [i64; 3] {
        let mut p = [0; 3].map(|_| d.below(2 * size + 1) as i64 - size as i64);
        if flat && !speed {
            p[2] = 0;
        }
        p
    };
    let positions = [0; 4].map(|_| point(false));
    let mut velocities = [0; 4].map(|_| point(true));
    if d.below(4) == 0 {
        velocities[1] = velocities[0];
    }
    [positions, velocities]
}

fn triple(a: [i128; 3], b: [i128; 3], c: [i128; 3]) -> i128 {
    a[0] * (b[1] * c[2] - b[2] * c[1])
        + a[1] * (b[2] * c[0] - b[0] * c[2])
        + a[2] * (b[0] * c[1] - b[1] * c[0])
}

#[test]
fn coplanarity_times_of_moving_points_are_never_lost() {
    let found = par::map(60_000, |i| {
        let mut d = Stream::new(100, 0).at(i as u64);
        let [x, v] = moving_points(&mut d);
        let edge = |p: &[[i64; 3]; 4], k: usize| -> [i128; 3] {
            std::array::from_fn(|c| i128::from(p[k][c] - p[0][c]))
        };
        let [a, b, c] = [1, 2, 3].map(|k| edge(&x, k));
        let [p, q, r] = [1, 2, 3].map(|k| edge(&v, k));
        let exact = [
            triple(a, b, c),
            triple(p, b, c) + triple(a, q, c) + triple(a, b, r),
            triple(p, q, c) + triple(p, b, r) + triple(a, q, r),
            triple(p, q, r),
        ];
        // The same coefficients through outward-rounded arithmetic, as a collision query forms them.
        let vector = |p: [i64; 3]| Interval3::point(Vec3::new(p[0] as f64, p[1] as f64, p[2] as f64));
        let [a, b, c] = [1, 2, 3].map(|k| vector(x[k]) - vector(x[0]));
        let [p, q, r] = [1, 2, 3].map(|k| vector(v[k]) - vector(v[0]));
        let triple = Interval3::triple;
        let blurred = [
            triple(a, b, c),
            triple(p, b, c) + triple(a, q, c) + triple(a, b, r),
            triple(p, q, c) + triple(p, b, r) + triple(a, q, r),
            triple(p, q, r),
        ];
        let found = enclose_roots(&blurred, Interval::UNIT);
        check(exact, &found);
        // The plain filter must agree whenever it speaks.
        let middle = blurred.map(|c| c.mid());
        let error = blurred.iter().map(|c| c.width()).fold(0.0, f64::max);
        if certainly_rootless(&middle, error) {
            assert!((0..64).all(|k| exact_at(exact, k).signum() * exact_at(exact, k + 1).signum() > 0));
        }
        found.len()
    });
    assert!(found.contains(&0) && found.iter().any(|n| *n >= 2));
}

#[test]
fn integer_cubics_with_roots_on_and_off_the_grid_are_never_lost() {
    par::map(60_000, |i| {
        let mut d = Stream::new(101, 0).at(i as u64);
        let size = [3, 1000, 1 << 30][d.below(3) as usize];
        let mut c = [0; 4].map(|_| i128::from(d.below(2 * size + 1)) - i128::from(size));
        if d.below(2) == 0 {
            // Put a double root on the grid: (64 t − m)² (u t − w).
            let (m, u, w) = (d.below(65) as i128, c[0] % 1000, c[1] % 1000);
            c = [-m * m * w, m * m * u + 128 * m * w, -128 * m * u - 4096 * w, 4096 * u];
        }
        check(c, &enclose_cubic(c.map(|c| c as f64), Interval::UNIT));
    });
}
