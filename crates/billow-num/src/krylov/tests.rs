use super::*;
use crate::par::{Partials, with_threads};
use crate::rng::Stream;
use crate::sparse::{BlockCsr, Csr, Pattern};
use crate::vector;
use crate::{Mat3, Vec3};
use std::f64::consts::PI;
use std::sync::Arc;

/// The Laplacian (2d+1 points, unit spacing) on a grid of `dims` cells; Dirichlet walls half a stencil away, or
/// Neumann walls.
fn laplacian(dims: [usize; 3], neumann: bool) -> Csr {
    let [nx, ny, nz] = dims;
    let index = |i, j, k| (i + nx * (j + ny * k)) as u32;
    let mut entries = Vec::new();
    for k in 0..nz {
        for j in 0..ny {
            for i in 0..nx {
                let here = index(i, j, k);
                let mut couple = |neighbour: Option<u32>, used: bool| {
                    if let Some(n) = neighbour {
                        entries.push((here, n, -1.0));
                    }
                    if used && (neighbour.is_some() || !neumann) {
                        entries.push((here, here, 1.0));
                    }
                };
                couple((i > 0).then(|| index(i - 1, j, k)), nx > 1);
                couple((i + 1 < nx).then(|| index(i + 1, j, k)), nx > 1);
                couple((j > 0).then(|| index(i, j - 1, k)), ny > 1);
                couple((j + 1 < ny).then(|| index(i, j + 1, k)), ny > 1);
                couple((k > 0).then(|| index(i, j, k - 1)), nz > 1);
                couple((k + 1 < nz).then(|| index(i, j, k + 1)), nz > 1);
            }
        }
    }
    let n = nx * ny * nz;
    Csr::from_triplets(n, n, &entries).unwrap()
}

fn random(n: usize, stream: u64) -> Vec<f64> {
    (0..n as u64).map(|i| Stream::new(16, stream).at(i).normal()).collect()
}

fn residual(a: &Csr, b: &[f64], x: &[f64]) -> f64 {
    let mut r = vec![0.0; b.len()];
    a.multiply(x, &mut r);
    vector::subtract_from(b, &mut r);
    vector::norm(&r, &mut Partials::default())
}

const TIGHT: CgConfig = CgConfig { relative: 1e-10, absolute: 0.0, max_iterations: 2000 };

#[test]
fn poisson_in_one_two_and_three_dimensions_has_the_known_discrete_solution() {
    for dims in [[200, 1, 1], [40, 33, 1], [17, 20, 13]] {
        let a = laplacian(dims, false);
        // Products of sines are eigenvectors with eigenvalue Σ 4 sin²(π m / 2(n + 1)).
        let n = dims.iter().product();
        let modes = [2, 1, 3];
        let angle = |d: usize, i: usize| PI * modes[d] as f64 * (i + 1) as f64 / (dims[d] + 1) as f64;
        let active = |d: &usize| dims[*d] > 1;
        let eigenvalue: f64 = (0..3).filter(active).map(|d| 4.0 * (0.5 * angle(d, 0)).sin().powi(2)).sum();
        let u: Vec<f64> = (0..n)
            .map(|c| {
                let place = [c % dims[0], c / dims[0] % dims[1], c / (dims[0] * dims[1])];
                (0..3).filter(active).map(|d| angle(d, place[d]).sin()).product()
            })
            .collect();
        // A generic part on top, so that the answer is not found in one step.
        let extra = random(n, 1);
        let mut b = vec![0.0; n];
        a.multiply(&extra, &mut b);
        vector::axpy(eigenvalue, &u, &mut b);
        let mut x = vec![0.0; n];
        let mic = IncompleteCholesky::new(&a, Factor::MIC).unwrap();
        let report = Cg::new(&a).preconditioner(&mic).solve(&b, &mut x, &TIGHT, &mut CgWorkspace::default());
        assert!(report.converged(), "{report:?}");
        assert!(
            (report.residual - residual(&a, &b, &x)).abs()
                <= 1e-15 * vector::norm(&b, &mut Partials::default())
        );
        let worst = (0..n).map(|i| (x[i] - extra[i] - u[i]).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-6, "{dims:?} {worst}");
    }
}

#[test]
fn poisson_converges_with_second_order_to_the_continuous_solution() {
    // −u″ = π² sin πx on (0, 1), u = sin πx.
    let error = |n: usize| {
        let h = 1.0 / (n + 1) as f64;
        let a = laplacian([n, 1, 1], false);
        let b: Vec<f64> = (1..=n).map(|i| h * h * PI * PI * (PI * i as f64 * h).sin()).collect();
        let mut x = vec![0.0; n];
        Cg::new(&a).solve(&b, &mut x, &TIGHT, &mut CgWorkspace::default());
        (0..n).map(|i| (x[i] - (PI * (i + 1) as f64 * h).sin()).abs()).fold(0.0, f64::max)
    };
    let order = (error(31) / error(63)).log2();
    assert!((order - 2.0).abs() < 0.01, "{order}");
}

#[test]
fn better_preconditioners_need_fewer_iterations() {
    let a = laplacian([28, 28, 28], false);
    let n = a.pattern().rows();
    let b = random(n, 2);
    let config = CgConfig { relative: 1e-8, ..TIGHT };
    let mut work = CgWorkspace::default();
    let mut count = |m: &dyn Fn(&mut [f64], &mut CgWorkspace<f64>) -> CgReport| {
        let mut x = vec![0.0; n];
        let report = m(&mut x, &mut work);
        assert!(report.converged() && residual(&a, &b, &x) <= report.target, "{report:?}");
        report.iterations
    };
    let jacobi = Jacobi::new(&a);
    let ic = IncompleteCholesky::new(&a, Factor::Plain).unwrap();
    let mic = IncompleteCholesky::new(&a, Factor::MIC).unwrap();
    let by_jacobi = count(&|x, w| Cg::new(&a).preconditioner(&jacobi).solve(&b, x, &config, w));
    let by_ic = count(&|x, w| Cg::new(&a).preconditioner(&ic).solve(&b, x, &config, w));
    let by_mic = count(&|x, w| Cg::new(&a).preconditioner(&mic).solve(&b, x, &config, w));
    println!("28³ Poisson to 1e-8: Jacobi {by_jacobi}, IC(0) {by_ic}, MIC(0) {by_mic} iterations");
    assert!(by_mic < by_ic && by_ic < by_jacobi, "{by_mic} {by_ic} {by_jacobi}");
    assert!((ic.shift(), ic.resets(), mic.resets()) == (0.0, 0, 0));
}

#[test]
fn incomplete_factors_are_exact_where_nothing_is_dropped_and_keep_row_sums_when_modified() {
    // A tridiagonal matrix has no fill: one iteration solves it.
    let a = laplacian([500, 1, 1], false);
    let ic = IncompleteCholesky::new(&a, Factor::Plain).unwrap();
    let b = random(500, 3);
    let mut x = vec![0.0; 500];
    let report = Cg::new(&a).preconditioner(&ic).solve(&b, &mut x, &TIGHT, &mut CgWorkspace::default());
    assert!(report.converged() && report.iterations == 1, "{report:?}");

    // With τ = 1, L Lᵀ 1 = A 1, hence (L Lᵀ)⁻¹ A 1 = 1.
    let a = laplacian([9, 8, 7], false);
    let full = IncompleteCholesky::new(&a, Factor::Modified { tau: 1.0, sigma: 0.0 }).unwrap();
    let (ones, mut row_sums, mut z) = (vec![1.0; 504], vec![0.0; 504], vec![0.0; 504]);
    a.multiply(&ones, &mut row_sums);
    Preconditioner::apply(&full, &row_sums, &mut z);
    assert!(full.resets() == 0 && z.iter().all(|z| (z - 1.0).abs() < 1e-12));
}

#[test]
fn lost_pivots_are_met_with_a_shift() {
    // Kershaw's matrix is positive definite, but IC(0) meets a negative pivot.
    let dense =
        [[3.0, -2.0, 0.0, 2.0], [-2.0, 3.0, -2.0, 0.0], [0.0, -2.0, 3.0, -2.0], [2.0, 0.0, -2.0, 3.0]];
    let entries: Vec<(u32, u32, f64)> =
        (0..4).flat_map(|i| (0..4).map(move |j| (i, j, dense[i as usize][j as usize]))).collect();
    let entries: Vec<_> = entries.into_iter().filter(|e| e.2 != 0.0).collect();
    let a = Csr::from_triplets(4, 4, &entries).unwrap();
    let ic = IncompleteCholesky::new(&a, Factor::Plain).unwrap();
    assert!(ic.shift() > 0.0, "{ic:?}");
    let (b, mut x) = (random(4, 4), vec![0.0; 4]);
    let report = Cg::new(&a).preconditioner(&ic).solve(&b, &mut x, &TIGHT, &mut CgWorkspace::default());
    assert!(report.converged() && report.iterations <= 6, "{report:?}");

    let negative = Csr::from_triplets(2, 2, &[(0, 0, 1.0), (1, 1, -1.0)]).unwrap();
    let error = IncompleteCholesky::new(&negative, Factor::MIC).unwrap_err();
    assert_eq!(error, crate::NumError::BadDiagonal { row: 1, value: -1.0 });
    let lopsided = Csr::from_triplets(2, 2, &[(0, 0, 1.0), (1, 1, 1.0), (0, 1, 0.5)]).unwrap();
    assert!(matches!(
        IncompleteCholesky::new(&lopsided, Factor::MIC),
        Err(crate::NumError::NotSymmetric { .. })
    ));
}

#[test]
fn singular_compatible_systems_are_solved_and_incompatible_ones_reported() {
    let dims = [16, 15, 1];
    let a = laplacian(dims, true);
    let n = a.pattern().rows();
    let mut b = random(n, 5);
    let mean_free = MeanFree::whole(n);
    let incompatible: Vec<f64> = b.iter().map(|b| b + 1.0).collect();
    Filter::apply(&mean_free, &mut b);
    let mut work = CgWorkspace::default();
    for factor in [Factor::Plain, Factor::MIC] {
        let m = IncompleteCholesky::new(&a, factor).unwrap();
        let system = Cg::new(&a).preconditioner(&m);
        let mut x = vec![0.0; n];
        let report = system.solve(&b, &mut x, &TIGHT, &mut work);
        assert!(report.converged() && residual(&a, &b, &x) < 1e-8, "{report:?}");
        // Without a filter an incompatible load has no solution, and the report says so.
        let mut x = vec![0.0; n];
        let report = system.solve(&incompatible, &mut x, &TIGHT, &mut work);
        assert!(!report.converged() && report.residual > 1.0, "{report:?}");
        // With it, the compatible part is solved.
        let mut x = vec![0.0; n];
        let report = system.filter(&mean_free).solve(&incompatible, &mut x, &TIGHT, &mut work);
        assert!(report.converged(), "{report:?}");
        assert!(x.iter().sum::<f64>().abs() < 1e-9);
        let mut projected = incompatible.clone();
        Filter::apply(&mean_free, &mut projected);
        assert!(residual(&a, &projected, &x) < 1e-8);
    }
    assert!(MeanFree::new(3, vec![vec![0, 3]]).is_err());
}

#[test]
fn indefinite_operators_are_detected_with_a_direction_of_negative_curvature() {
    let n = 50;
    let mut a = laplacian([n, 1, 1], false);
    for i in 0..n {
        a.add_diagonal(i, -0.1);
    }
    let (b, mut x) = (random(n, 6), vec![0.0; n]);
    let mut work = CgWorkspace::default();
    let report = Cg::new(&a).solve(&b, &mut x, &TIGHT, &mut work);
    let CgStop::Indefinite { curvature } = report.stop else { panic!("{report:?}") };
    let p = work.direction();
    let mut ap = vec![0.0; n];
    a.multiply(p, &mut ap);
    let partials = &mut Partials::default();
    let truth = vector::dot(p, &ap, partials) / vector::dot(p, p, partials);
    assert!(curvature < 0.0 && (curvature - truth).abs() < 1e-12);
    assert!((report.residual - residual(&a, &b, &x)).abs() < 1e-12);
}

#[test]
fn bad_numbers_and_exhausted_iterations_are_reported() {
    let a = laplacian([100, 1, 1], false);
    let mut work = CgWorkspace::default();
    let mut b = random(100, 7);
    let few = CgConfig { max_iterations: 5, ..TIGHT };
    let mut x = vec![0.0; 100];
    let report = Cg::new(&a).solve(&b, &mut x, &few, &mut work);
    assert!(report.stop == CgStop::MaxIterations && report.iterations == 5);
    assert!((report.residual - residual(&a, &b, &x)).abs() < 1e-12);
    // An exact start needs no iteration.
    let report = Cg::new(&a).solve(&vec![0.0; 100], &mut vec![0.0; 100], &TIGHT, &mut work);
    assert!(report.converged() && report.iterations == 0);
    b[3] = f64::NAN;
    assert_eq!(Cg::new(&a).solve(&b, &mut x, &TIGHT, &mut work).stop, CgStop::NonFinite);
    let mut scaled = a.clone();
    scaled.values_mut().iter_mut().for_each(|v| *v *= 1e200);
    let huge = vec![1e200; 100];
    let report = Cg::new(&scaled).solve(&huge, &mut vec![0.0; 100], &TIGHT, &mut work);
    assert_eq!(report.stop, CgStop::NonFinite);
}

#[test]
fn convergence_is_believed_only_on_the_true_residual() {
    // Badly scaled: the recurrence drifts, and a tolerance below what rounding allows is never claimed as met.
    let n = 200;
    let mut a = laplacian([n, 1, 1], false);
    let scale: Vec<f64> = (0..n).map(|i| 10.0f64.powf(4.0 * (i as f64 * 0.7).sin())).collect();
    let pattern = a.pattern().clone();
    for i in 0..n {
        for slot in pattern.row(i) {
            a.values_mut()[slot] *= scale[i] * scale[pattern.columns()[slot] as usize];
        }
    }
    let b = random(n, 8);
    let mut restarts = 0;
    for exponent in 4..17 {
        let config = CgConfig { relative: 10.0f64.powi(-exponent), absolute: 0.0, max_iterations: 100_000 };
        let mut x = vec![0.0; n];
        let jacobi = Jacobi::new(&a);
        let report =
            Cg::new(&a).preconditioner(&jacobi).solve(&b, &mut x, &config, &mut CgWorkspace::default());
        let truth = residual(&a, &b, &x);
        assert!((report.residual - truth).abs() <= 1e-12 * truth, "{report:?} {truth}");
        assert_eq!(report.converged(), truth <= report.target, "{report:?}");
        restarts += report.restarts;
        if exponent == 16 {
            assert_eq!(report.stop, CgStop::Stagnated, "{report:?}");
        }
    }
    assert!(restarts > 0, "the case must exercise the restart");
}

/// A block Laplacian over random tetrahedra plus mass, symmetric positive definite.
fn elastic(nodes: usize) -> BlockCsr {
    let elements: Vec<[u32; 4]> = (0..3 * nodes as u64)
        .map(|e| {
            let mut d = Stream::new(17, 0).at(e);
            let base = d.below(nodes as u64 - 20);
            [0; 4].map(|_| (base + d.below(20)) as u32)
        })
        .collect();
    let mut a = BlockCsr::zeros(Arc::new(Pattern::from_elements(nodes, &elements).unwrap()));
    for (e, element) in elements.iter().enumerate() {
        let axis = Stream::new(17, 1).at(e as u64).unit_vector();
        let stiffness = Mat3::from_cols(axis * axis.x, axis * axis.y, axis * axis.z) * 10.0 + Mat3::IDENTITY;
        for i in 0..4 {
            for j in i + 1..4 {
                let (p, q) = (element[i] as usize, element[j] as usize);
                a.add_diagonal(p, stiffness);
                a.add_diagonal(q, stiffness);
                a.add(p, q, stiffness * -1.0);
                a.add(q, p, stiffness * -1.0);
            }
        }
    }
    (0..nodes).for_each(|i| a.add_diagonal(i, Mat3::IDENTITY * 0.01));
    a
}

#[test]
fn filtered_directions_stay_as_prescribed_and_the_rest_is_in_equilibrium() {
    let nodes = 400;
    let a = elastic(nodes);
    assert!(a.asymmetry() < 1e-14);
    let mut filter = FixedDirections::default();
    let normal = Vec3::new(1.0, 2.0, -2.0) / 3.0;
    filter.fix(0);
    filter.fix_along(1, normal);
    filter.fix_across(2, normal);
    let b: Vec<Vec3> = (0..nodes as u64).map(|i| Stream::new(17, 2).at(i).in_ball()).collect();
    let start: Vec<Vec3> = (0..nodes as u64).map(|i| Stream::new(17, 3).at(i).in_ball()).collect();
    let mut x = start.clone();
    let jacobi = BlockJacobi::new(&a);
    let mut work = CgWorkspace::default();
    let report = Cg::new(&a).preconditioner(&jacobi).filter(&filter).solve(&b, &mut x, &TIGHT, &mut work);
    assert!(report.converged(), "{report:?}");
    assert!(x[0] == start[0] && (x[1] - start[1]).dot(normal).abs() < 1e-13);
    assert!((x[2] - start[2]).cross(normal).length() < 1e-13 && x[2] != start[2]);
    let mut r = vec![Vec3::ZERO; nodes];
    a.multiply(&x, &mut r);
    vector::subtract_from(&b, &mut r);
    assert!(r[3..].iter().all(|r| r.length() < 1e-8), "free nodes are in equilibrium");
    assert!(r[1].reject_from(normal).length() < 1e-8 && r[2].dot(normal).abs() < 1e-8);
    assert!(r[0].length() > 1e-3, "the held node needs a reaction");
    // Prescribed motion with no load at all is a solvable problem with a meaningful target.
    let mut x = start.clone();
    let zero = vec![Vec3::ZERO; nodes];
    let report = Cg::new(&a).preconditioner(&jacobi).filter(&filter).solve(&zero, &mut x, &TIGHT, &mut work);
    assert!(report.converged() && report.target > 0.0 && report.iterations > 0, "{report:?}");
}

#[test]
fn block_jacobi_beats_no_preconditioner_and_survives_bad_blocks() {
    let mut a = elastic(500);
    (0..500).for_each(|i| a.add_diagonal(i, Mat3::IDENTITY * 10.0f64.powi((i % 7) as i32 - 3)));
    let b: Vec<Vec3> = (0..500u64).map(|i| Stream::new(17, 4).at(i).in_ball()).collect();
    let mut work = CgWorkspace::default();
    let plain = Cg::new(&a).solve(&b, &mut vec![Vec3::ZERO; 500], &TIGHT, &mut work);
    let jacobi = BlockJacobi::new(&a);
    let report = Cg::new(&a).preconditioner(&jacobi).solve(&b, &mut vec![Vec3::ZERO; 500], &TIGHT, &mut work);
    assert!(plain.converged() && report.converged() && report.iterations < plain.iterations);
    let empty = BlockCsr::zeros(a.pattern().clone());
    let mut z = vec![Vec3::ZERO; 500];
    Preconditioner::apply(&BlockJacobi::new(&empty), &b, &mut z);
    assert_eq!(z, b);
}

#[test]
fn solves_have_the_same_bits_for_1_2_and_7_threads_and_for_reused_workspaces() {
    let a = laplacian([26, 25, 24], false);
    let n = a.pattern().rows();
    let b = random(n, 9);
    // A dozen iterations show a difference as well as a converged solve.
    let short = CgConfig { max_iterations: 12, ..TIGHT };
    let jacobi = Jacobi::new(&a);
    let mic = IncompleteCholesky::new(&a, Factor::MIC).unwrap();
    let free = MatrixFree::new(n, |x: &[f64], y: &mut [f64]| a.multiply(x, y));
    let run = |threads, work: &mut CgWorkspace<f64>| {
        with_threads(threads, || {
            let (mut x, mut y, mut z) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
            let reports = [
                Cg::new(&a).preconditioner(&jacobi).solve(&b, &mut x, &short, work),
                Cg::new(&a).preconditioner(&mic).solve(&b, &mut y, &short, work),
                Cg::new(&free)
                    .preconditioner(&mic)
                    .filter(&MeanFree::whole(0))
                    .solve(&b, &mut z, &short, work),
            ];
            (reports, x, y, z)
        })
    };
    let mut reused = CgWorkspace::default();
    let one = run(1, &mut reused);
    assert!(one.0.iter().all(|r| r.iterations == 12));
    let before = reused.direction().as_ptr();
    assert_eq!(one, run(2, &mut CgWorkspace::default()));
    assert_eq!(one, run(7, &mut reused));
    assert_eq!(before, reused.direction().as_ptr());
    // Blocks, too.
    let a = elastic(9000);
    let b: Vec<Vec3> = (0..9000u64).map(|i| Stream::new(17, 5).at(i).in_ball()).collect();
    let run = |threads| {
        with_threads(threads, || {
            let mut x = vec![Vec3::ZERO; 9000];
            let jacobi = BlockJacobi::new(&a);
            let report =
                Cg::new(&a).preconditioner(&jacobi).solve(&b, &mut x, &short, &mut CgWorkspace::default());
            (report, x)
        })
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(7));
}
