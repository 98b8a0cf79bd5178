//! A whole solve, from random data to displacements, has the same bits for 1, 2 and 7 threads.

use billow_num::krylov::{BlockJacobi, Cg, CgConfig, CgWorkspace, FixedDirections};
use billow_num::par::{self, Colouring, Incidence};
use billow_num::rng::Stream;
use billow_num::sparse::{BlockCsr, ElementSlots, Pattern, SlotGather};
use billow_num::{Mat3, Vec3, mat3};
use std::sync::Arc;

const NODES: usize = 6000;

fn outer(d: Vec3) -> Mat3 {
    Mat3::from_cols(d * d.x, d * d.y, d * d.z)
}

/// Springs between random points: sort, colour, relax, assemble, project, solve, gather.
fn run() -> (Vec<Vec3>, Vec<Vec3>, usize) {
    let mut x = par::map(NODES, |i| Stream::new(1, 0).at(i as u64).in_ball());
    let keys: Vec<u64> = x.iter().map(|p| ((p.x + 1.0) * 1e6) as u64).collect();
    let order = par::sorted_order(&keys);
    let springs: Vec<[u32; 2]> =
        (1..NODES).flat_map(|i| [[order[i - 1], order[i]], [order[i / 2], order[i]]]).collect();
    let springs: Vec<[u32; 2]> = springs.into_iter().filter(|[a, b]| a != b).collect();

    let colouring = Colouring::new(NODES, &springs).expect("the springs are valid");
    colouring.for_each(&mut x, |_, [a, b]| {
        let d = (*b - *a) * 0.05;
        (*a, *b) = (*a + d, *b - d);
    });
    let force = par::map(springs.len(), |e| {
        let [a, b] = springs[e].map(|n| x[n as usize]);
        [b - a, a - b]
    });
    let mut b = vec![Vec3::NEG_Z; NODES];
    Incidence::new(NODES, &springs).expect("the springs are valid").gather(&force, &mut b);

    let pattern = Arc::new(Pattern::from_elements(NODES, &springs).expect("the springs are valid"));
    let gather =
        SlotGather::new(&pattern, &ElementSlots::new(&pattern, &springs).expect("the springs are valid"));
    let blocks = par::map(springs.len(), |e| {
        let [a, b] = springs[e].map(|n| x[n as usize]);
        let k = mat3::project_spd(&(outer(b - a) * 50.0 - Mat3::IDENTITY * 0.1), 0.0);
        [[k, -k], [-k, k]]
    });
    let mut stiffness = BlockCsr::zeros(pattern);
    gather.assemble(&mut stiffness, &blocks);
    (0..NODES).for_each(|i| stiffness.add_diagonal(i, Mat3::IDENTITY));
    let mut held = FixedDirections::default();
    held.fix(7);
    let jacobi = BlockJacobi::new(&stiffness);
    let mut u = vec![Vec3::ZERO; NODES];
    let config = CgConfig { relative: 1e-6, ..CgConfig::default() };
    let system = Cg::new(&stiffness).preconditioner(&jacobi).filter(&held);
    let report = system.solve(&b, &mut u, &config, &mut CgWorkspace::default());
    assert!(report.converged(), "{report:?}");
    (x, u, report.iterations)
}

#[test]
fn a_whole_solve_does_not_depend_on_the_number_of_threads() {
    let one = par::with_threads(1, run);
    assert!(one.2 > 5);
    assert_eq!(one, par::with_threads(2, run));
    assert_eq!(one, par::with_threads(7, run));
}
