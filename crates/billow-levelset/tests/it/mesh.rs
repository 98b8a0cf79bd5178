//! Mesh to signed distance against brute force.

use crate::random::Random;
use billow_geom::{TriMesh, proximity::point_triangle, shapes};
use billow_levelset::*;
use billow_num::{Affine3, Quat, Vec3, par};

/// Generalised winding number: solid angles of all triangles over 4π.
pub(crate) fn winding(mesh: &TriMesh, x: Vec3) -> f64 {
    let angle = |t: usize| {
        let [a, b, c] = mesh.corners(t).map(|p| p - x);
        let (la, lb, lc) = (a.length(), b.length(), c.length());
        let d = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
        2.0 * a.dot(b.cross(c)).atan2(d)
    };
    (0..mesh.triangles.len()).map(angle).sum::<f64>() / (4.0 * std::f64::consts::PI)
}

/// Distance to the nearest triangle.
fn distance(mesh: &TriMesh, x: Vec3) -> f64 {
    (0..mesh.triangles.len())
        .map(|t| {
            let corners = mesh.corners(t);
            let w = point_triangle(x, corners).weights;
            (corners[0] * w[0] + corners[1] * w[1] + corners[2] * w[2]).distance(x)
        })
        .fold(f64::INFINITY, f64::min)
}

fn turned(mesh: TriMesh) -> TriMesh {
    let map = Affine3::from_rotation_translation(
        Quat::from_scaled_axis(Vec3::new(0.3, -0.8, 0.5)),
        Vec3::new(0.11, -0.07, 0.23),
    );
    mesh.transformed(&map)
}

/// Closed meshes with sharp edges, exact lattice alignment, handles and thin parts.
fn closed_meshes() -> Vec<(&'static str, TriMesh)> {
    let cube = shapes::cuboid(Vec3::splat(1.0), [1, 1, 1]).unwrap();
    let mut two = cube.clone();
    two.append(&shapes::cuboid(Vec3::splat(0.6), [2, 2, 2]).unwrap().translated(Vec3::new(0.5, 0.5, 0.5)));
    vec![
        ("cube", cube.clone()),
        ("turned cube", turned(cube)),
        ("overlapping cubes", two),
        ("sphere", shapes::icosphere(0.6, 6).unwrap()),
        ("torus", turned(shapes::torus(0.5, 0.2, 24, 12).unwrap())),
        ("cone", shapes::cone(0.4, 1.0, 7, 1, true).unwrap()),
        ("thin plate", turned(shapes::cuboid(Vec3::new(1.0, 0.7, 0.02), [1, 1, 1]).unwrap())),
    ]
}

#[test]
fn every_band_sample_has_the_exact_distance_and_the_right_sign() {
    let h = 0.07;
    for (name, mesh) in closed_meshes() {
        for layout in [Layout::default(), Layout::two_level(5000)] {
            let settings = MeshToSdf { layout, ..MeshToSdf::with_spacing(h) };
            let (grid, report) = mesh_to_sparse(&mesh, &settings).unwrap();
            assert_eq!((report.open_edges, report.leak_edges, report.split_votes), (0, 0, 0), "{name}");
            let f = grid.edge();
            let mut near = 0;
            for (b, block) in grid.blocks().iter().enumerate() {
                for (i, &v) in grid.block(b).iter().enumerate() {
                    let c = [i % f, i / f % f, i / f / f];
                    let x = grid.frame().position(std::array::from_fn(|a| block[a] * f as i32 + c[a] as i32));
                    let d = distance(&mesh, x);
                    assert!(
                        (d.min(3.0 * h) - f64::from(v.abs())).abs() < 1e-6 * h + 1e-7,
                        "{name} at {x}: {d} {v}"
                    );
                    if d > 1e-9 {
                        assert_eq!(winding(&mesh, x) > 0.5, v < 0.0, "{name} at {x}: φ = {v}");
                        near += usize::from(d < h);
                    }
                }
            }
            assert!(near > 200, "{name}");
        }
    }
}

#[test]
fn random_points_anywhere_have_the_sign_of_the_winding_number() {
    let mut random = Random(11);
    for (name, mesh) in closed_meshes() {
        let h = 0.02;
        let (grid, _) = mesh_to_sparse(&mesh, &MeshToSdf::with_spacing(h)).unwrap();
        for _ in 0..2000 {
            let x = random.point(1.1);
            if distance(&mesh, x) > 0.5 * h {
                assert_eq!(winding(&mesh, x) > 0.5, grid.phi(x, 0.0) < 0.0, "{name} at {x}");
            }
        }
    }
}

#[test]
fn samples_on_vertices_and_edges_have_their_distance_too() {
    // Vertices of this torus lie on samples up to rounding, four of them and points of its equator exactly.
    let mesh = shapes::torus(0.3, 0.1, 24, 16).unwrap();
    for h in [0.01, 0.0125, 0.02, 0.05] {
        let (grid, report) = mesh_to_sparse(&mesh, &MeshToSdf::with_spacing(h)).unwrap();
        assert_eq!(report.leak_edges, 0);
        let f = grid.edge();
        for (b, block) in grid.blocks().iter().enumerate() {
            for (i, &v) in grid.block(b).iter().enumerate() {
                let c = [i % f, i / f % f, i / f / f];
                let x = grid.frame().position(std::array::from_fn(|a| block[a] * f as i32 + c[a] as i32));
                let d = distance(&mesh, x).min(3.0 * h);
                assert!((d - f64::from(v.abs())).abs() < 1e-6 * h + 1e-7, "h = {h} at {x}: {d} {v}");
                assert!(d < 1e-9 || (winding(&mesh, x) > 0.5) == (v < 0.0), "h = {h} at {x}: {v}");
            }
        }
    }
}

#[test]
fn lines_through_vertices_and_along_edges_are_no_trouble() {
    // A cube whose faces, edges and vertices lie exactly on samples, at several positions and sizes.
    for n in [3i32, 5] {
        let h = 1.0 / f64::from(n);
        let mesh = shapes::cuboid(Vec3::splat(2.0), [2, 2, 2]).unwrap();
        let (grid, _) = mesh_to_sparse(&mesh, &MeshToSdf::with_spacing(h)).unwrap();
        for k in -2 * n..=2 * n {
            for j in -2 * n..=2 * n {
                for i in -2 * n..=2 * n {
                    let inside = [i, j, k].iter().all(|v| v.abs() < n);
                    let on = !inside && [i, j, k].iter().all(|v| v.abs() <= n);
                    let phi = grid.at([i, j, k]);
                    if on {
                        assert_eq!(phi.abs(), 0.0)
                    } else {
                        assert_eq!(inside, phi < 0.0, "{i} {j} {k}: {phi}")
                    }
                }
            }
        }
    }
}

#[test]
fn leaky_meshes_are_closed_by_votes_and_say_how_leaky_they_are() {
    let whole = turned(shapes::icosphere(0.6, 12).unwrap());
    let mut leaky = whole.clone();
    // A few small holes.
    leaky.triangles =
        whole.triangles.iter().enumerate().filter(|(t, _)| t % 97 != 3).map(|(_, t)| *t).collect();
    let missing = whole.triangles.len() - leaky.triangles.len();
    for h in [0.05, 0.015] {
        let (full, _) = mesh_to_sparse(&whole, &MeshToSdf::with_spacing(h)).unwrap();
        let (grid, report) = mesh_to_sparse(&leaky, &MeshToSdf::with_spacing(h)).unwrap();
        assert_eq!((report.method, report.open_edges), (SignMethod::Votes, 3 * missing));
        assert!(report.split_votes > 0 && report.leakiness() < 0.05, "{report:?}");
        // Holes several samples wide are closed by membranes, and counted.
        assert!(h > 0.02 || report.leak_edges > missing, "{report:?}");
        let mut random = Random(12);
        let (mut wrong, mut all) = (0, 0);
        for _ in 0..20_000 {
            let x = random.point(0.9);
            let truth = full.phi(x, 0.0);
            if truth.abs() > 1.5 * h {
                all += 1;
                wrong += usize::from((truth < 0.0) != (grid.phi(x, 0.0) < 0.0));
            }
        }
        assert!(wrong * 500 < all, "{wrong} of {all} wrong at {h}");
        let closed = surface_nets(&grid).unwrap().triangulated();
        let exact = whole.volume();
        assert!((closed.volume() / exact - 1.0).abs() < 0.03, "{} {exact}", closed.volume());
        assert_eq!(closed.topology().unwrap().boundary_edges().len(), 0);
    }
}

#[test]
fn hopeless_meshes_say_why() {
    let refuse =
        |mesh: &TriMesh, h: f64| mesh_to_sparse(mesh, &MeshToSdf::with_spacing(h)).unwrap_err().to_string();
    let sphere = shapes::icosphere(0.6, 4).unwrap();
    let sheet = shapes::plane(1.0, 1.0, 4, 4).unwrap();
    assert!(refuse(&sheet, 0.05).contains("16 open edges"), "{}", refuse(&sheet, 0.05));
    let mut flipped = sphere.clone();
    flipped.flip();
    assert!(refuse(&flipped, 0.05).contains("face inwards"));
    let plate = shapes::cuboid(Vec3::new(1.0, 1.0, 1e-3), [1, 1, 1]).unwrap().translated(Vec3::splat(0.011));
    assert!(refuse(&plate, 0.1).contains("thinner than the spacing of 0.1 m"));
    assert!(refuse(&TriMesh::default(), 0.1).contains("0 vertices and no triangles"));
    let mut bad = sphere.clone();
    bad.positions[3].y = f64::NAN;
    assert!(refuse(&bad, 0.1).contains("vertex 3") && refuse(&bad, 0.1).contains("NaN"));
    assert!(refuse(&sphere, 0.0).contains("`spacing` is 0"));
    assert!(refuse(&sphere, -1.0).contains("-1"));
    assert!(refuse(&sphere, 1e-5).contains("MB"), "{}", refuse(&sphere, 1e-5));
    let mut far = sphere.clone();
    far.triangles[0][1] = 99_999;
    assert!(refuse(&far, 0.1).contains("99999"));
    let distant = sphere.translated(Vec3::splat(1e9));
    assert!(refuse(&distant, 0.1).contains("1e9 samples"));
}

#[test]
fn split_vertices_and_degenerate_triangles_do_not_matter() {
    let sphere = shapes::icosphere(0.6, 4).unwrap();
    let mut soup = TriMesh::default();
    for t in 0..sphere.triangles.len() {
        let n = soup.positions.len() as u32;
        soup.positions.extend(sphere.corners(t));
        soup.triangles.push([n, n + 1, n + 2]);
        soup.triangles.push([n, n, n + 1]);
    }
    let settings = MeshToSdf::with_spacing(0.05);
    let (a, _) = mesh_to_sparse(&sphere, &settings).unwrap();
    let (b, report) = mesh_to_sparse(&soup, &settings).unwrap();
    assert_eq!((report.open_edges, report.degenerate), (0, sphere.triangles.len()));
    assert_eq!((a.blocks(), a.values()), (b.blocks(), b.values()));
}

#[test]
fn conversion_does_not_depend_on_the_number_of_threads() {
    let mut leaky = turned(shapes::torus(0.5, 0.2, 24, 12).unwrap());
    leaky.triangles.remove(17);
    for mesh in [turned(shapes::torus(0.5, 0.2, 24, 12).unwrap()), leaky] {
        let run = |threads| {
            par::with_threads(threads, || {
                let (grid, report) = mesh_to_sparse(&mesh, &MeshToSdf::with_spacing(0.02)).unwrap();
                (
                    grid.blocks().to_vec(),
                    grid.values().iter().map(|v| v.to_bits()).collect::<Vec<_>>(),
                    report,
                )
            })
        };
        assert_eq!(run(1), run(2));
    }
}
