//! Extracted surfaces: closed, oriented, manifold, convergent.

use crate::sparse::frame;
use billow_geom::TriMesh;
use billow_geom::mesh::VertexKind;
use billow_levelset::*;
use billow_num::{Vec3, par};
use std::collections::BTreeMap;

/// Every directed edge must have exactly one opposite.
fn assert_watertight(mesh: &TriMesh) {
    let mut edges = BTreeMap::new();
    for t in &mesh.triangles {
        for e in 0..3 {
            *edges.entry((t[e], t[(e + 1) % 3])).or_insert(0) += 1;
        }
    }
    for (&(a, b), &n) in &edges {
        assert_eq!(edges.get(&(b, a)), Some(&n), "edge {a} {b}");
    }
}

fn torus() -> Torus {
    Torus::new(Vec3::new(0.01, 0.02, 0.0), Vec3::new(0.2, 0.1, 1.0), 0.5, 0.2).unwrap()
}

#[test]
fn volume_and_area_converge_to_second_order_and_normals_point_out() {
    let pi = std::f64::consts::PI;
    let (volume, area) = (2.0 * pi * pi * 0.5 * 0.04, 4.0 * pi * pi * 0.5 * 0.2);
    for (name, extract) in [
        (
            "nets",
            (|g: &SparseGrid| {
                let q = surface_nets(g).unwrap();
                (q.triangulated(), q.normals)
            }) as fn(&SparseGrid) -> (TriMesh, Vec<[f32; 3]>),
        ),
        ("tets", |g| {
            let m = marching_tets(g).unwrap();
            (m.mesh, m.normals)
        }),
    ] {
        for block in [BlockSize::Four, BlockSize::Eight] {
            let layout = Layout { block, ..Layout::default() };
            let errors = [0.04, 0.02].map(|h| {
                let grid = SparseGrid::of_collider(frame(h), layout, &torus(), 0.0).unwrap();
                let (mesh, normals) = extract(&grid);
                assert_watertight(&mesh);
                for (p, n) in mesh.positions.iter().zip(&normals) {
                    let n = Vec3::from(n.map(f64::from));
                    assert!((n.length() - 1.0).abs() < 1e-6);
                    assert!(torus().phi(*p, 0.0).abs() < 0.3 * h);
                    assert!(n.dot(torus().normal(*p, 0.0)) > 0.95, "{name}: {n}");
                }
                [(mesh.volume() - volume).abs() / volume, (mesh.area() - area).abs() / area]
            });
            for k in 0..2 {
                let order = (errors[0][k] / errors[1][k]).log2();
                println!("{name} {block:?}: order {order}, {errors:?}");
                assert!(order > 1.6 && errors[1][k] < 0.01, "{name}: {errors:?}");
            }
        }
    }
}

#[test]
fn marching_tets_are_manifold_whatever_the_values() {
    // Noise, with many exact zeros: every ambiguous configuration occurs.
    for block in [BlockSize::Four, BlockSize::Eight] {
        let ball = Ball::new(Vec3::ZERO, 0.5).unwrap();
        let layout = Layout { block, ..Layout::default() };
        let mut grid = SparseGrid::of_collider(frame(0.05), layout, &ball, 0.0).unwrap();
        let mut random = crate::random::Random(31);
        let limit = 0.08;
        for v in grid.values_mut() {
            if v.abs() < limit {
                *v = [-0.03, 0.0, 0.01, 0.02, -0.01][(random.unit() * 5.0) as usize];
            }
        }
        let m = marching_tets(&grid).unwrap().mesh;
        let topology = m.topology().unwrap();
        assert!(m.triangles.len() > 10_000);
        assert_eq!(topology.boundary_edges().len(), 0);
        for v in 0..m.positions.len() {
            assert_eq!(topology.vertex_kinds()[v], VertexKind::Interior);
        }
        assert_watertight(&m);
    }
}

#[test]
fn extraction_does_not_depend_on_the_number_of_threads() {
    let grid = SparseGrid::of_collider(frame(0.01), Layout::default(), &torus(), 0.0).unwrap();
    let run = |threads| {
        par::with_threads(threads, || (surface_nets(&grid).unwrap(), marching_tets(&grid).unwrap()))
    };
    assert!(run(1) == run(2));
}

#[test]
fn an_empty_grid_gives_an_empty_surface() {
    let grid = SparseGrid::empty(frame(0.1), Layout::default()).unwrap();
    assert!(surface_nets(&grid).unwrap().quads.is_empty());
    assert!(marching_tets(&grid).unwrap().mesh.triangles.is_empty());
}
