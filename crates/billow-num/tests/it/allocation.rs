//! Repeated solves must not allocate.
#![allow(unsafe_code)] // a counting allocator cannot be written without it

use billow_num::krylov::{
    BlockJacobi, Cg, CgConfig, CgWorkspace, Factor, FixedDirections, IncompleteCholesky,
};
use billow_num::newton::{Energy, MinimiseConfig, MinimiseStop, MinimiseWorkspace, minimise};
use billow_num::roots::enclose_cubic;
use billow_num::sparse::{BlockCsr, Csr, ElementSlots, Pattern, SlotGather};
use billow_num::{Mat3, Vec3, interval::Interval};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on unchanged to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = COUNT.try_with(|c| c.set(c.get() + 1));
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(f: impl FnOnce()) -> usize {
    let before = COUNT.get();
    f();
    COUNT.get() - before
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(vec![1u8; 100]))), 1);
}

#[test]
fn second_solves_allocate_nothing() {
    let springs: Vec<[u32; 2]> = (0..200).map(|i| [i, i + 1]).collect();
    let pattern = Arc::new(Pattern::from_elements(201, &springs).unwrap());
    let slots = ElementSlots::new(&pattern, &springs).unwrap();
    let gather = SlotGather::new(&pattern, &slots);
    let mut a = BlockCsr::zeros(pattern.clone());
    let k = Mat3::IDENTITY * 100.0;
    let elements = vec![[[k, -k], [-k, k]]; 200];
    let mut held = FixedDirections::default();
    held.fix(0);
    let mut jacobi = BlockJacobi::default();
    let mut work = CgWorkspace::default();
    let (b, mut x) = (vec![Vec3::NEG_Z; 201], vec![Vec3::ZERO; 201]);
    let mut solve = || {
        gather.assemble(&mut a, &elements);
        jacobi.refill(&a);
        x.fill(Vec3::ZERO);
        let system = Cg::new(&a).preconditioner(&jacobi).filter(&held);
        assert!(system.solve(&b, &mut x, &CgConfig::default(), &mut work).converged());
    };
    assert!(allocations(&mut solve) > 0);
    assert_eq!(allocations(&mut solve), 0);

    let mut scalar = Csr::zeros(pattern);
    for i in 0..201 {
        scalar.add_diagonal(i, 2.0);
    }
    let mut factor = IncompleteCholesky::new(&scalar, Factor::MIC).unwrap();
    assert_eq!(allocations(|| factor.refill(&scalar, Factor::MIC).unwrap()), 0);
    assert_eq!(allocations(|| assert_eq!(enclose_cubic([-0.1, 1.0, -2.0, 1.0], Interval::UNIT).len(), 2)), 0);
}

#[test]
fn second_minimisations_allocate_nothing() {
    struct Bowl;
    impl Energy<f64> for Bowl {
        fn value(&self, x: &[f64]) -> f64 {
            x.iter().map(|x| x.cosh()).sum()
        }
        fn gradient(&self, x: &[f64], g: &mut [f64]) {
            g.iter_mut().zip(x).for_each(|(g, x)| *g = x.sinh());
        }
        fn direction(&mut self, x: &[f64], g: &[f64], d: &mut [f64]) {
            (0..x.len()).for_each(|i| d[i] = -g[i] / x[i].cosh());
        }
    }
    let mut work = MinimiseWorkspace::default();
    let mut x = vec![3.0; 50];
    let mut run = || {
        x.fill(3.0);
        let report = minimise(&mut Bowl, &mut x, &MinimiseConfig::default(), &mut work);
        assert_eq!(report.stop, MinimiseStop::Converged);
    };
    assert!(allocations(&mut run) > 0);
    assert_eq!(allocations(&mut run), 0);
}
