//! Dense grids: interpolation, splines, curvature, labels, each with its convergence order.

use crate::random::Random;
use billow_geom::Aabb;
use billow_levelset::*;
use billow_num::Vec3;

fn cube(spacing: f64, centring: Centring) -> Lattice {
    Lattice::covering(Aabb { min: Vec3::splat(-1.0), max: Vec3::splat(1.0) }, spacing, centring).unwrap()
}

/// log2 of the ratio of two errors.
fn order(coarse: f64, fine: f64) -> f64 {
    (coarse / fine).log2()
}

#[test]
fn lattices_cover_their_domain_in_both_centrings() {
    let nodes = cube(0.1, Centring::Node);
    let cells = cube(0.1, Centring::Cell);
    assert_eq!((nodes.dims, cells.dims), ([21; 3], [20; 3]));
    for l in [nodes, cells] {
        let d = l.domain();
        assert!((d.min - Vec3::splat(-1.0)).length() < 1e-12 && (d.max - Vec3::splat(1.0)).length() < 1e-12);
        for i in [0, 17, l.len() - 1] {
            assert_eq!(l.index(l.coordinates(i)), i);
        }
    }
}

#[test]
fn bad_lattices_are_refused_with_the_numbers() {
    let unit = Aabb { min: Vec3::ZERO, max: Vec3::ONE };
    let zero = Lattice::covering(unit, 0.0, Centring::Node).unwrap_err().to_string();
    assert!(zero.contains("`spacing` is 0"), "{zero}");
    assert!(Lattice::covering(unit, f64::NAN, Centring::Node).is_err());
    assert!(Lattice::covering(Aabb::EMPTY, 0.1, Centring::Node).is_err());
    let fine = Lattice::covering(unit, 1e-4, Centring::Node).unwrap();
    let huge = ScalarGrid::sampled(fine, |_| 0.0).unwrap_err().to_string();
    assert!(huge.contains("10001 × 10001 × 10001") && huge.contains("8002400.2 MB"), "{huge}");
}

#[test]
fn trilinear_reproduces_trilinear_functions_and_their_gradients() {
    let f = |x: Vec3| 1.0 + x.x - 2.0 * x.y + 0.5 * x.z + x.x * x.y - 0.3 * x.y * x.z + 2.0 * x.x * x.y * x.z;
    let df = |x: Vec3| {
        Vec3::new(
            1.0 + x.y + 2.0 * x.y * x.z,
            -2.0 + x.x - 0.3 * x.z + 2.0 * x.x * x.z,
            0.5 - 0.3 * x.y + 2.0 * x.x * x.y,
        )
    };
    let grid = ScalarGrid::sampled(cube(0.25, Centring::Node), f).unwrap();
    let mut random = Random(5);
    for _ in 0..500 {
        let x = random.point(1.0);
        let (value, gradient) = grid.value_and_gradient(x);
        assert!((value - f(x)).abs() < 1e-13 && (value - grid.value(x)).abs() < 1e-13);
        assert!(gradient.distance(df(x)) < 1e-12);
    }
}

#[test]
fn beyond_the_grid_distance_keeps_growing_and_nothing_is_nan() {
    let ball = Ball::new(Vec3::ZERO, 0.5).unwrap();
    let grid = ScalarGrid::of_collider(cube(0.05, Centring::Cell), &ball, 0.0).unwrap();
    let mut random = Random(6);
    for _ in 0..500 {
        let x = random.point(4.0);
        let s = grid.sample(x, 0.0);
        // |φ(x) − φ(c)| ≤ |x − c|: never below the truth, never above twice the way from the border.
        assert!(
            s.phi > ball.phi(x, 0.0) - 2e-2 && s.phi < 2.0 * ball.phi(x, 0.0).abs() + 0.1,
            "{x}: {}",
            s.phi
        );
        assert!((s.normal.length() - 1.0).abs() < 1e-12);
    }
}

/// Largest errors of value, gradient and curvature of a torus near its surface.
fn errors(h: f64) -> [f64; 5] {
    let torus = Torus::new(Vec3::new(0.01, 0.02, 0.03), Vec3::new(0.2, 0.1, 1.0), 0.55, 0.25).unwrap();
    let grid = ScalarGrid::of_collider(cube(h, Centring::Node), &torus, 0.0).unwrap();
    let spline = Tricubic::new(&grid).unwrap();
    let mut random = Random(7);
    let mut worst = [0.0f64; 5];
    for _ in 0..4000 {
        let x = random.point(0.9);
        let phi = torus.phi(x, 0.0);
        if phi.abs() > 0.1 {
            continue;
        }
        let n = torus.normal(x, 0.0);
        let (linear, slope) = grid.value_and_gradient(x);
        let (cubic, gradient, _) = spline.derivatives(x);
        let exact = torus_curvature(x, &torus);
        let c = spline.curvature(x);
        for (w, e) in worst.iter_mut().zip([
            (linear - phi).abs(),
            slope.distance(n),
            (cubic - phi).abs(),
            gradient.distance(n),
            (c.principal[0] - exact[0]).abs().max((c.principal[1] - exact[1]).abs()),
        ]) {
            *w = w.max(e);
        }
    }
    worst
}

/// Principal curvatures of the torus' parallel surface through `x`, larger first.
fn torus_curvature(x: Vec3, torus: &Torus) -> [f64; 2] {
    let tube = torus.phi(x, 0.0) + 0.25;
    let (centre, axis) = (Vec3::new(0.01, 0.02, 0.03), Vec3::new(0.2, 0.1, 1.0).normalize());
    let d = x - centre;
    let r = (d - d.dot(axis) * axis).length();
    // Around the axis the normal's radial part over the distance from the axis.
    let around = (r - 0.55) / tube / r;
    let k = [1.0 / tube, around];
    if k[0] > k[1] { k } else { [k[1], k[0]] }
}

#[test]
fn interpolation_and_curvature_converge_at_their_orders() {
    let (coarse, fine) = (errors(1.0 / 30.0), errors(1.0 / 60.0));
    let orders: Vec<f64> = coarse.iter().zip(fine).map(|(c, f)| order(*c, f)).collect();
    println!("orders {orders:?}, fine errors {fine:?}");
    let least = [1.8, 0.9, 3.6, 2.7, 1.7];
    for (got, least) in orders.iter().zip(least) {
        assert!(got > &least, "{orders:?}");
    }
}

#[test]
fn nodal_curvature_of_a_sphere_is_second_order() {
    let error = |h: f64| {
        let ball = Ball::new(Vec3::new(0.01, 0.0, 0.02), 0.6).unwrap();
        let grid = ScalarGrid::of_collider(cube(h, Centring::Node), &ball, 0.0).unwrap();
        (0..grid.values.len())
            .filter(|&i| grid.values[i].abs() < 0.1)
            .map(|i| {
                let r = grid.values[i] + 0.6;
                let c = grid.curvature_at(grid.lattice.coordinates(i));
                let [a, b] = c.principal.map(|k| (k - 1.0 / r).abs());
                // Two equal roots are the hard case: they feel the square root of the error of κ and K.
                (c.mean_sum - 2.0 / r)
                    .abs()
                    .max((c.gaussian - 1.0 / (r * r)).abs())
                    .max(0.1 * (a * a).max(b * b))
            })
            .fold(0.0, f64::max)
    };
    let (coarse, fine) = (error(0.05), error(0.025));
    assert!(order(coarse, fine) > 1.8 && fine < 5e-3, "{coarse} {fine}");
}

#[test]
fn the_spline_is_twice_continuously_differentiable_and_interpolates() {
    let f = |x: Vec3| (3.0 * x.x).sin() * (2.0 * x.y + 0.3).cos() + (x.z * x.x).exp();
    let grid = ScalarGrid::sampled(cube(0.2, Centring::Node), f).unwrap();
    let spline = Tricubic::new(&grid).unwrap();
    assert!(spline.sweeps() < 40);
    let mut random = Random(8);
    for _ in 0..300 {
        let ijk = [0; 3].map(|_| 1 + (random.unit() * 9.0) as usize);
        let node = grid.lattice.position(ijk);
        assert!((spline.value(node) - grid.at(ijk)).abs() < 1e-14);
        // Cross a cell face: all derivatives up to the second agree from both sides.
        let x = Vec3::new(node.x, node.y + 0.13, node.z + 0.07);
        let e = Vec3::X * 1e-9;
        let ((a, ga, ha), (b, gb, hb)) = (spline.derivatives(x - e), spline.derivatives(x + e));
        assert!((a - b).abs() < 1e-7 && ga.distance(gb) < 1e-6);
        let jump = (ha - hb).to_cols_array().into_iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        assert!(jump < 1e-5, "{jump}");
    }
}

#[test]
fn labels_bound_the_function_and_tell_inside_from_outside() {
    let torus = Torus::new(Vec3::ZERO, Vec3::Z, 0.5, 0.2).unwrap();
    let grid = ScalarGrid::of_collider(cube(0.1, Centring::Node), &torus, 0.0).unwrap();
    let labels = CellLabels::new(&grid);
    let mut seen = [0; 3];
    let mut random = Random(9);
    for c in 0..labels.cells.len() {
        let label = labels.label(c);
        seen[label as usize] += 1;
        let x = labels.cells.position(labels.cells.coordinates(c)) + random.point(0.049);
        let phi = grid.value(x);
        assert!(phi >= labels.min[c] - 1e-12 && phi <= labels.max[c] + 1e-12);
        assert!(label != CellLabel::Inside || phi < 0.0);
        assert!(label != CellLabel::Outside || phi > 0.0);
    }
    assert!(seen.iter().all(|&n| n > 50), "{seen:?}");
}

#[test]
fn thin_slabs_interpolate() {
    let lattice = Lattice { origin: Vec3::ZERO, spacing: 0.5, dims: [4, 4, 1], centring: Centring::Cell };
    let grid = ScalarGrid::sampled(lattice, |x| x.x + 2.0 * x.y).unwrap();
    let (value, gradient) = grid.value_and_gradient(Vec3::new(0.7, 0.6, 9.0));
    assert!((value - 1.9).abs() < 1e-14 && gradient.distance(Vec3::new(1.0, 2.0, 0.0)) < 1e-14);
    assert!(grid.curvature_at([1, 1, 0]).mean_sum.abs() < 1e-12);
}
