//! Evolution against exact solutions, on dense and sparse grids.

use crate::sparse::frame;
use billow_geom::Aabb;
use billow_levelset::*;
use billow_num::{Vec3, par};

fn cube(h: f64) -> Lattice {
    let domain = Aabb { min: Vec3::splat(-1.0), max: Vec3::splat(1.0) };
    Lattice::covering(domain, h, Centring::Node).unwrap()
}

fn sparse_ball(h: f64, r: f64) -> SparseGrid {
    SparseGrid::of_collider(frame(h), Layout::default(), &Ball::new(Vec3::ZERO, r).unwrap(), 0.0).unwrap()
}

/// Mean and largest |φ − exact| over samples within `band` of the exact surface.
fn sparse_error(grid: &SparseGrid, band: f64, exact: impl Fn(Vec3) -> f64) -> [f64; 2] {
    let f = grid.edge() as i32;
    let (mut sum, mut most, mut n) = (0.0, 0.0f64, 0.0);
    for (b, block) in grid.blocks().iter().enumerate() {
        for (i, v) in grid.block(b).iter().enumerate() {
            let i = i as i32;
            let x = grid.frame().position([
                block[0] * f + i % f,
                block[1] * f + i / f % f,
                block[2] * f + i / f / f,
            ]);
            let want = exact(x);
            if want.abs() < band {
                let e = (f64::from(*v) - want).abs();
                sum += e;
                n += 1.0;
                most = most.max(e);
            }
        }
    }
    [sum / n, most]
}

#[test]
fn a_sphere_shrinks_by_mean_curvature_as_it_should() {
    // κ = 2/r, so r² = r₀² − 4t.
    let (r0, t) = (0.5, 0.01);
    let settings = Evolution { cfl: 0.9, ..Evolution::default() };
    let want = f64::sqrt(r0 * r0 - 4.0 * t);
    // Mean distance of the extracted surface's vertices from where it should be.
    let error = |h: f64, half_width: f64, settings: &Evolution| {
        let ball = Ball::new(Vec3::ZERO, r0).unwrap();
        let frame = Frame { half_width, ..frame(h) };
        let mut grid = SparseGrid::of_collider(frame, Layout::default(), &ball, 0.0).unwrap();
        grid.smooth(1.0, t, None, settings).unwrap();
        let vertices = surface_nets(&grid).unwrap().positions;
        vertices.iter().map(|p| (p.length() - want).abs()).sum::<f64>() / vertices.len() as f64
    };
    // The order holds in the usual band, blocks and distances brought up to date as the surface moves.
    for half_width in [3.0, 5.0] {
        let spacings = [0.06, 0.04, 0.025];
        let errors = spacings.map(|h| error(h, half_width, &settings));
        let orders =
            [0, 1].map(|k| (errors[k] / errors[k + 1]).ln() / f64::ln(spacings[k] / spacings[k + 1]));
        println!("curvature flow, half width {half_width}: errors {errors:?}, orders {orders:?}");
        assert!(orders.iter().all(|&o| o > 1.7), "{errors:?} {orders:?}");
    }
    // The dense grid agrees.
    let ball = Ball::new(Vec3::ZERO, r0).unwrap();
    let mut dense = ScalarGrid::of_collider(cube(0.05), &ball, 0.0).unwrap();
    dense.smooth(1.0, t, &settings).unwrap();
    let r = -dense.value(Vec3::new(0.0, 0.0, want));
    assert!(r.abs() < 2e-3, "{r}");
}

#[test]
fn motion_along_the_normal_offsets_the_surface() {
    for speed in [1.0, -1.0] {
        let errors = [0.04, 0.02].map(|h| {
            let mut grid = sparse_ball(h, 0.5);
            grid.move_along_normal(&|_| speed, 0.2, &Evolution::default()).unwrap();
            let exact = Ball::new(Vec3::ZERO, 0.5 + 0.2 * speed).unwrap();
            sparse_error(&grid, 1.5 * h, |x| exact.phi(x, 0.0))
        });
        println!("normal motion {speed}: {errors:?}");
        assert!(errors[1][1] < 0.01 * 0.02, "{speed}: {errors:?}");
    }
    let ball = Ball::new(Vec3::ZERO, 0.5).unwrap();
    let mut dense = ScalarGrid::of_collider(cube(0.05), &ball, 0.0).unwrap();
    let speed = ScalarGrid::sampled(dense.lattice, |_| 1.0).unwrap();
    dense.move_along_normal(&speed, 0.2, &Evolution::default()).unwrap();
    assert!(dense.value(Vec3::new(0.7, 0.0, 0.0)).abs() < 1e-3);
}

#[test]
fn weno_advection_of_smooth_data_is_high_order() {
    // A sphere's distance away from its centre is smooth: carry it without reinitialisation.
    let settings = Evolution { reinit: None, cfl: 0.2, ..Evolution::default() };
    let velocity = Vec3::new(0.5, 0.25, -0.3);
    let errors = [0.08, 0.04].map(|h| {
        let ball = |t: f64| Ball::new(velocity * t - 0.1, 0.45).unwrap();
        let mut dense = ScalarGrid::of_collider(cube(h), &ball(0.0), 0.0).unwrap();
        let flow = VectorGrid::sampled(dense.lattice, |_| velocity).unwrap();
        dense.advect(&flow, 0.4, &settings).unwrap();
        let (mut sum, mut n) = (0.0, 0.0);
        for i in 0..dense.values.len() {
            let want = ball(0.4).phi(dense.lattice.position(dense.lattice.coordinates(i)), 0.0);
            if want.abs() < 0.1 {
                sum += (dense.values[i] - want).abs();
                n += 1.0;
            }
        }
        sum / n
    });
    let order = (errors[0] / errors[1]).log2();
    println!("advection: {errors:?}, order {order}");
    assert!(order > 3.5, "{order} {errors:?}");
}

#[test]
fn sparse_and_dense_advection_agree_and_the_band_follows() {
    let velocity = Vec3::new(1.0, 0.5, -0.25);
    let mut grid = sparse_ball(0.04, 0.4);
    let report = grid.advect(&|_| velocity, 1.0, &Evolution::default()).unwrap();
    assert!(report.steps > 20);
    let exact = Ball::new(velocity, 0.4).unwrap();
    let [mean, most] = sparse_error(&grid, 0.06, |x| exact.phi(x, 0.0));
    assert!(mean < 0.02 * 0.04 && most < 0.2 * 0.04, "{mean} {most}");
    let fresh = SparseGrid::of_collider(*grid.frame(), *grid.layout(), &exact, 0.0).unwrap();
    assert!(grid.bytes() as f64 / (fresh.bytes() as f64) < 1.3);
}

/// Zalesak's disk: radius 0.15 about (0, 0.25), with a slot 0.05 wide up to 0.35, as a slab one block thick.
fn zalesak(x: Vec3) -> f64 {
    let disk = (x.x * x.x + (x.y - 0.25) * (x.y - 0.25)).sqrt() - 0.15;
    let slot = (x.x.abs() - 0.025).max(x.y - 0.35);
    disk.max(-slot)
}

#[test]
fn zalesaks_slotted_disk_keeps_its_area_and_slot_through_a_turn() {
    let h = 0.01;
    let lattice = Lattice {
        origin: Vec3::new(-0.5, -0.5, 0.0),
        spacing: h,
        dims: [101, 101, 1],
        centring: Centring::Node,
    };
    let start = ScalarGrid::sampled(lattice, zalesak).unwrap();
    let mut phi = start.clone();
    redistance(&mut phi, &Redistance::March(March::default())).unwrap();
    let turn =
        VectorGrid::sampled(lattice, |x| 2.0 * std::f64::consts::PI * Vec3::new(-x.y, x.x, 0.0)).unwrap();
    let settings = Evolution { reinit: None, ..Evolution::default() };
    let area = |g: &ScalarGrid| g.values.iter().map(|v| (0.5 - v / h).clamp(0.0, 1.0)).sum::<f64>() * h * h;
    let before = area(&phi);
    phi.advect(&turn, 1.0, &settings).unwrap();
    let after = area(&phi);
    let wrong =
        phi.values.iter().zip(&start.values).filter(|(a, b)| (**a < 0.0) != (**b < 0.0)).count() as f64;
    println!("Zalesak: area {before} -> {after}, {} of the disk changed", wrong * h * h / before);
    assert!((after / before - 1.0).abs() < 0.02, "{before} {after}");
    // The slot is five samples wide and still open.
    assert!(phi.value(Vec3::new(0.0, 0.22, 0.0)) > 0.0 && wrong * h * h < 0.05 * before, "{wrong}");
}

#[test]
fn reinitialisation_restores_distances_and_keeps_the_surface() {
    let ball = Ball::new(Vec3::ZERO, 0.5).unwrap();
    let errors = [0.04, 0.02].map(|h| {
        let mut grid = sparse_ball(h, 0.5);
        grid.fill(|x| ball.phi(x, 0.0) * (1.3 + 0.5 * x.x));
        grid.reinitialise(&Reinit { steps: 20, ..Reinit::default() }).unwrap();
        sparse_error(&grid, 2.0 * h, |x| ball.phi(x, 0.0))
    });
    println!("reinitialisation: {errors:?}");
    assert!(errors[1][1] < 0.03 * 0.02 && errors[0][0] / errors[1][0] > 2.0, "{errors:?}");
    // Holding the measured samples keeps the mean error to a thousandth of the spacing.
    assert!(errors[1][0] < 0.001 * 0.02, "{errors:?}");
    let mut dense = ScalarGrid::sampled(cube(0.05), |x| ball.phi(x, 0.0) * (1.3 + 0.5 * x.x)).unwrap();
    dense.reinitialise(&Reinit { steps: 20, ..Reinit::default() }).unwrap();
    for (i, v) in dense.values.iter().enumerate() {
        let want = ball.phi(dense.lattice.position(dense.lattice.coordinates(i)), 0.0);
        assert!(want.abs() > 0.15 || (v - want).abs() < 2e-3, "{v} {want}");
    }
}

#[test]
fn booleans_of_grids_are_booleans_of_solids() {
    let a = Ball::new(Vec3::new(-0.2, 0.0, 0.0), 0.45).unwrap();
    let b = Cuboid::new(Vec3::new(0.5, 0.3, 0.25)).unwrap();
    for layout in crate::sparse::layouts() {
        let [ga, gb] = [
            SparseGrid::of_collider(frame(0.03), layout, &a, 0.0).unwrap(),
            SparseGrid::of_collider(frame(0.03), layout, &b, 0.0).unwrap(),
        ];
        for (op, want) in [
            (Csg::Union, (|a, b| f64::min(a, b)) as fn(f64, f64) -> f64),
            (Csg::Intersection, |a, b| a.max(b)),
            (Csg::Difference, |a, b| a.max(-b)),
        ] {
            let got = ga.combined(op, &gb).unwrap();
            for k in -20..20 {
                for j in -20..20 {
                    for i in -24..20 {
                        let x = got.frame().position([i, j, k]);
                        let want = want(a.phi(x, 0.0), b.phi(x, 0.0)).clamp(-0.09, 0.09);
                        let v = f64::from(got.at([i, j, k]));
                        assert!((v - want).abs() < 1e-6, "{layout:?} {op:?} at {x}: {v} {want}");
                    }
                }
            }
        }
    }
    let other = SparseGrid::of_collider(frame(0.05), Layout::default(), &a, 0.0).unwrap();
    let mine = SparseGrid::of_collider(frame(0.03), Layout::default(), &b, 0.0).unwrap();
    assert!(mine.combined(Csg::Union, &other).unwrap_err().to_string().contains("0.05 m"));
}

#[test]
fn evolution_does_not_depend_on_the_number_of_threads() {
    let run = |threads| {
        par::with_threads(threads, || {
            let mut grid = sparse_ball(0.03, 0.4);
            grid.advect(&|x| Vec3::new(x.y, -x.x, 0.5), 0.2, &Evolution::default()).unwrap();
            grid.smooth(0.1, 0.002, None, &Evolution::default()).unwrap();
            (grid.blocks().to_vec(), grid.values().iter().map(|v| v.to_bits()).collect::<Vec<_>>())
        })
    };
    assert_eq!(run(1), run(2));
}

#[test]
fn impossible_settings_are_refused() {
    let mut grid = sparse_ball(0.1, 0.4);
    let bad = Evolution { cfl: 2.0, ..Evolution::default() };
    assert!(grid.advect(&|_| Vec3::X, 0.1, &bad).unwrap_err().to_string().contains("`cfl` is 2"));
    let nan = grid.advect(&|_| Vec3::NAN, 0.1, &Evolution::default()).unwrap_err().to_string();
    assert!(nan.contains("NaN"), "{nan}");
    assert!(grid.smooth(-1.0, 0.1, None, &Evolution::default()).is_err());
}
