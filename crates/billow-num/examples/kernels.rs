//! Time per call of the numerical kernels: `cargo run --release -p billow-num --example kernels`.
//!
//! Prints the fastest of many short runs over fixed pseudo-random input, one line per kernel.
#![allow(clippy::print_stdout)]

use billow_num::interval::Interval;
use billow_num::krylov::{Cg, CgConfig, CgWorkspace, Factor, IncompleteCholesky, Jacobi, LinearOperator};
use billow_num::rng::{Draws, Stream};
use billow_num::sparse::{BlockCsr, Csr, Pattern};
use billow_num::{Mat3, Vec3, mat3, par, roots};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

fn main() {
    println!("{} threads", par::threads());
    small_matrices();
    polynomial_roots();
    random_numbers();
    sorting();
    products();
    poisson(64);
}

/// Fastest of many short runs, per item [ns]: the figure a busy machine disturbs least.
fn fastest(items: usize, mut run: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    let begin = Instant::now();
    let mut runs = 0;
    while runs < 5 || (runs < 200 && begin.elapsed().as_secs_f64() < 0.5) {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / items as f64);
        runs += 1;
    }
    best
}

fn report<T, R>(name: &str, input: &[T], f: impl Fn(&T) -> R) {
    let time = fastest(input.len(), || {
        for item in input {
            black_box(f(black_box(item)));
        }
    });
    println!("{name:<44} {time:>9.1} ns");
}

fn normals<const N: usize>(d: &mut Draws) -> [f64; N] {
    std::array::from_fn(|_| d.normal())
}

fn small_matrices() {
    let stream = Stream::new(1, 0);
    let general: Vec<Mat3> = (0..500).map(|i| Mat3::from_cols_array(&normals(&mut stream.at(i)))).collect();
    let symmetric: Vec<Mat3> = general.iter().map(|a| *a + a.transpose()).collect();
    let positive: Vec<Mat3> = general.iter().map(|a| *a * a.transpose() + Mat3::IDENTITY * 0.1).collect();
    let near_identity: Vec<Mat3> = general.iter().map(|a| Mat3::IDENTITY + *a * 0.1).collect();
    report("mat3::eigen_symmetric", &symmetric, mat3::eigen_symmetric);
    report("mat3::project_spd, indefinite", &symmetric, |a| mat3::project_spd(a, 0.0));
    report("mat3::project_spd, definite already", &positive, |a| mat3::project_spd(a, 0.0));
    report("mat3::svd_rotations", &general, mat3::svd_rotations);
    report("mat3::svd_rotations, near identity", &near_identity, mat3::svd_rotations);
    report("mat3::polar, general", &general, mat3::polar);
    report("mat3::polar, near identity", &near_identity, mat3::polar);
    report("mat3::inverse", &general, |a| mat3::inverse(a, 1e-12));
    report("glam inverse (no check)", &general, Mat3::inverse);
}

fn polynomial_roots() {
    let stream = Stream::new(2, 0);
    // Coefficients from three roots around [0, 1]: most cubics have one to three roots there.
    let cubics: Vec<[f64; 4]> = (0..500)
        .map(|i| {
            let mut d = stream.at(i);
            let [a, b, c] = [0.0; 3].map(|_| d.range(-0.5, 1.5));
            [-a * b * c, a * b + b * c + c * a, -(a + b + c), 1.0]
        })
        .collect();
    let rootless: Vec<[f64; 4]> = cubics.iter().map(|c| [c[0] + 9.0, c[1], c[2], c[3]]).collect();
    let double: Vec<[f64; 4]> = (0..200)
        .map(|i| {
            let mut d = stream.at(i);
            let (a, b) = (d.uniform(), d.range(-0.5, 1.5));
            [-a * a * b, a * a + 2.0 * a * b, -(2.0 * a + b), 1.0]
        })
        .collect();
    report("roots::certainly_rootless", &rootless, |c| roots::certainly_rootless(c, 1e-15));
    report("roots::enclose_cubic, no root", &rootless, |c| roots::enclose_cubic(*c, Interval::UNIT));
    report("roots::enclose_cubic, simple roots", &cubics, |c| roots::enclose_cubic(*c, Interval::UNIT));
    report("roots::enclose_cubic, double root", &double, |c| roots::enclose_cubic(*c, Interval::UNIT));
    report("roots::cubic_roots_in", &cubics, |c| roots::cubic_roots_in(*c, 0.0, 1.0));
    report("roots::cubic_roots", &cubics, |c| roots::cubic_roots(*c));
    report("roots::quadratic_roots", &cubics, |c| roots::quadratic_roots([c[0], c[1], c[2]]));
}

fn random_numbers() {
    let indices: Vec<u64> = (0..2_000).collect();
    let stream = Stream::new(3, 0);
    report("rng: seek and uniform", &indices, |i| stream.at(*i).uniform());
    report("rng: seek and unit vector", &indices, |i| stream.at(*i).unit_vector());
    let time = fastest(5_000, || {
        let mut d = stream.at(0);
        black_box((0..5_000).map(|_| d.next_u64()).fold(0, u64::wrapping_add));
    });
    println!("{:<44} {time:>9.1} ns", "rng: next u64 in sequence");
}

fn sorting() {
    let keys: Vec<u64> = (0..1_000_000).map(|i| Stream::new(4, 0).at(i).next_u64()).collect();
    let time = fastest(keys.len(), || {
        black_box(par::sorted_order(&keys));
    });
    println!("{:<44} {time:>9.1} ns per key", "par::sorted_order, 1e6 keys");
    let counts: Vec<usize> = keys.iter().map(|k| (*k % 8) as usize).collect();
    let mut work = counts.clone();
    let time = fastest(keys.len(), || {
        work.copy_from_slice(&counts);
        black_box(par::exclusive_sum(&mut work));
    });
    println!("{:<44} {time:>9.2} ns per item", "par::exclusive_sum, 1e6 items");
}

fn grid(n: u32) -> Csr {
    let index = |i: u32, j: u32, k: u32| i + n * (j + n * k);
    let mut entries = Vec::new();
    for (k, j, i) in (0..n).flat_map(|k| (0..n).flat_map(move |j| (0..n).map(move |i| (k, j, i)))) {
        let here = index(i, j, k);
        entries.push((here, here, 6.0));
        for (used, other) in [
            (i + 1 < n, index(i + 1, j, k)),
            (j + 1 < n, index(i, j + 1, k)),
            (k + 1 < n, index(i, j, k + 1)),
        ] {
            if used {
                entries.extend([(here, other, -1.0), (other, here, -1.0)]);
            }
        }
    }
    let size = (n * n * n) as usize;
    Csr::from_triplets(size, size, &entries).expect("all indices are on the grid")
}

fn products() {
    let a = grid(64);
    let n = a.size();
    let (x, mut y) = (vec![1.0; n], vec![0.0; n]);
    let time = fastest(n, || a.multiply(&x, &mut y));
    println!("{:<44} {time:>9.2} ns per row", "Csr product, 64³ grid (7 points)");
    let hexahedra: Vec<[u32; 8]> = (0..29 * 29 * 29)
        .map(|c: u32| {
            let base = c % 29 + 30 * (c / 29 % 29 + 30 * (c / (29 * 29)));
            [0, 1, 30, 31, 900, 901, 930, 931].map(|o| base + o)
        })
        .collect();
    let pattern = Pattern::from_elements(27_000, &hexahedra).expect("all nodes exist");
    let mut b = BlockCsr::zeros(Arc::new(pattern));
    b.values_mut().fill(Mat3::IDENTITY);
    let (x, mut y) = (vec![Vec3::ONE; 27_000], vec![Vec3::ZERO; 27_000]);
    let time = fastest(b.values().len(), || b.multiply(&x, &mut y));
    println!("{:<44} {time:>9.2} ns per block", "BlockCsr product, 30³ nodes (27 blocks)");
}

fn poisson(n: u32) {
    let a = grid(n);
    let size = a.size();
    let b: Vec<f64> = (0..size as u64).map(|i| Stream::new(5, 0).at(i).normal()).collect();
    let config = CgConfig { relative: 1e-8, ..CgConfig::default() };
    let start = Instant::now();
    let ic = IncompleteCholesky::new(&a, Factor::Plain).expect("the Laplacian is positive definite");
    println!("{:<44} {:>9.1} ms", "IC(0) set-up, 64³", start.elapsed().as_secs_f64() * 1e3);
    let mic = IncompleteCholesky::new(&a, Factor::MIC).expect("the Laplacian is positive definite");
    let jacobi = Jacobi::new(&a);
    let mut work = CgWorkspace::default();
    type Solve<'a> = &'a dyn Fn(&mut [f64], &mut CgWorkspace<f64>) -> (usize, f64);
    let mut solve = |name: &str, run: Solve<'_>| {
        let mut iterations = 0;
        let mut residual = 0.0;
        let time = fastest(1, || {
            let mut x = vec![0.0; size];
            (iterations, residual) = run(&mut x, &mut work);
        });
        let per_cell = time / (iterations * size) as f64;
        println!(
            "{name:<28} {iterations:>4} iterations, {:>7.1} ms, {per_cell:>5.1} ns per cell and iteration, true residual {residual:.1e}",
            time * 1e-6
        );
    };
    let outcome = |r: billow_num::krylov::CgReport| (r.iterations, r.residual / r.target * config.relative);
    solve("CG, 64³ Poisson to 1e-8", &|x, w| outcome(Cg::new(&a).solve(&b, x, &config, w)));
    solve("  Jacobi", &|x, w| outcome(Cg::new(&a).preconditioner(&jacobi).solve(&b, x, &config, w)));
    solve("  IC(0)", &|x, w| outcome(Cg::new(&a).preconditioner(&ic).solve(&b, x, &config, w)));
    solve("  MIC(0)", &|x, w| outcome(Cg::new(&a).preconditioner(&mic).solve(&b, x, &config, w)));
}
