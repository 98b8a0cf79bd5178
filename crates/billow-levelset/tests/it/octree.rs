//! The octree: graded, continuous, accurate, cheap.

use crate::random::Random;
use billow_geom::{Aabb, shapes};
use billow_levelset::*;
use billow_num::Vec3;

fn domain() -> Aabb {
    Aabb { min: Vec3::splat(-1.0), max: Vec3::splat(1.0) }
}

fn torus() -> Torus {
    Torus::new(Vec3::new(0.05, 0.0, 0.1), Vec3::new(0.1, 0.3, 1.0), 0.5, 0.2).unwrap()
}

#[test]
fn the_tree_matches_the_surface_to_second_order_with_few_cells() {
    let errors = [1.0 / 32.0, 1.0 / 64.0].map(|h| {
        let tree = Octree::of_collider(domain(), &Refinement::at_surface(h), &torus(), 0.0).unwrap();
        assert!(tree.bytes() < (2.0 / h).powi(2) as usize * 1500);
        let mut random = Random(41);
        let mut most = 0.0f64;
        for _ in 0..20_000 {
            let x = random.point(0.9);
            let phi = torus().phi(x, 0.0);
            if phi.abs() < 0.5 * h {
                let s = tree.sample(x, 0.0);
                most = most.max((s.phi - phi).abs());
                assert!(s.normal.dot(torus().normal(x, 0.0)) > 0.97);
            } else {
                assert_eq!(phi < 0.0, tree.phi(x, 0.0) < 0.0);
            }
        }
        most
    });
    println!("octree errors {errors:?}");
    assert!((errors[0] / errors[1]).log2() > 1.7, "{errors:?}");
}

#[test]
fn phi_is_continuous_across_levels() {
    let tree = Octree::of_collider(domain(), &Refinement::at_surface(1.0 / 16.0), &torus(), 0.0).unwrap();
    assert!(tree.hanging_vertices() > 100);
    let mut random = Random(42);
    let mut cursor = OctreeCursor::new(&tree);
    let h = tree.finest();
    for _ in 0..50_000 {
        // A point on a plane between cells of some level, seen from both sides.
        let mut x = random.point(0.99);
        let axis = (random.unit() * 3.0) as usize;
        let plane = (x[axis] / h).round() * h;
        let side = |e: f64, cursor: &mut OctreeCursor<'_>, x: &mut Vec3| {
            x[axis] = plane + e;
            cursor.value_and_gradient(*x).0
        };
        let (a, b) = (side(-1e-9, &mut cursor, &mut x), side(1e-9, &mut cursor, &mut x));
        assert!((a - b).abs() < 1e-7, "{x}: {a} {b}");
    }
}

#[test]
fn remembered_paths_make_coherent_queries_cheap() {
    let tree = Octree::of_collider(domain(), &Refinement::at_surface(1.0 / 128.0), &torus(), 0.0).unwrap();
    let walk = |cursor: &mut OctreeCursor<'_>, i: i32| {
        let a = f64::from(i) * 1e-3;
        cursor.value_and_gradient(Vec3::new(0.7 * a.cos(), 0.7 * a.sin(), 0.1)).0
    };
    let mut cached = OctreeCursor::new(&tree);
    let mut steps = 0;
    for i in 0..5000 {
        let mut fresh = OctreeCursor::new(&tree);
        assert_eq!(walk(&mut cached, i), walk(&mut fresh, i));
        steps += fresh.steps();
        assert!(fresh.steps() <= 8);
    }
    assert!(cached.steps() * 3 < steps, "{} {steps}", cached.steps());
}

#[test]
fn labels_bound_regions() {
    let tree = Octree::of_collider(domain(), &Refinement::at_surface(1.0 / 32.0), &torus(), 0.0).unwrap();
    let mut random = Random(43);
    let mut seen = [0; 3];
    for _ in 0..3000 {
        let (c, r) = (random.point(0.9), 0.005 + 0.1 * random.unit());
        let label = tree.label(&Aabb { min: c - r, max: c + r });
        seen[label as usize] += 1;
        for _ in 0..10 {
            let phi = tree.phi(c + random.point(r), 0.0);
            assert!(label != CellLabel::Inside || phi < 0.0);
            assert!(label != CellLabel::Outside || phi > 0.0);
        }
    }
    assert!(seen.iter().all(|&n| n > 20), "{seen:?}");
}

#[test]
fn an_octree_of_a_mesh_is_exact_at_its_vertices_and_one_of_a_grid_repeats_it() {
    let mesh = shapes::torus(0.5, 0.2, 32, 16).unwrap();
    let (tree, report) = mesh_to_octree(&mesh, &Refinement::at_surface(0.04), 0.1).unwrap();
    assert_eq!(report.open_edges, 0);
    let (sparse, _) = mesh_to_sparse(&mesh, &MeshToSdf::with_spacing(0.01)).unwrap();
    let mut random = Random(44);
    for _ in 0..2000 {
        let x = random.point(0.8);
        let fine = sparse.phi(x, 0.0);
        if fine.abs() < 0.029 {
            assert!((tree.phi(x, 0.0) - fine).abs() < 0.02);
        } else if fine.abs() >= 0.0299 {
            assert_eq!(fine < 0.0, tree.phi(x, 0.0) < 0.0, "{x}");
        }
    }
    let ball = Ball::new(Vec3::ZERO, 0.6).unwrap();
    let lattice = Lattice::covering(domain(), 0.05, Centring::Node).unwrap();
    let grid = ScalarGrid::of_collider(lattice, &ball, 0.0).unwrap();
    let tree = Octree::of_collider(domain(), &Refinement::at_surface(0.05), &grid, 0.0).unwrap();
    assert!((tree.phi(Vec3::new(0.6, 0.0, 0.0), 0.0)).abs() < 5e-3);
}

#[test]
fn impossible_trees_are_refused() {
    let build = |h: f64| Octree::of_collider(domain(), &Refinement::at_surface(h), &torus(), 0.0);
    assert!(build(0.0).unwrap_err().to_string().contains("`finest` is 0"));
    assert!(build(1e-9).unwrap_err().to_string().contains("MB"));
    let small = Refinement { memory_limit: 10_000, ..Refinement::at_surface(0.01) };
    assert!(Octree::of_collider(domain(), &small, &torus(), 0.0).unwrap_err().to_string().contains("0.0 MB"));
}
