//! Every fault is found by its numbers, and repaired.

use crate::random::Random;
use crate::shapes::closed_shapes;
use billow_geom::mesh::repair::{self, RepairLog};
use billow_geom::mesh::{MeshReport, TetReport};
use billow_geom::{GeomError, TriMesh, shapes};
use billow_num::Vec3;

fn cube() -> TriMesh {
    shapes::cuboid(Vec3::ONE, [1, 1, 1]).unwrap()
}

#[test]
fn sound_meshes_have_clean_reports() {
    for k in closed_shapes() {
        let report = MeshReport::new(&k.mesh);
        assert!(report.is_clean() && report.is_solid(), "{}: {report}", k.name);
        assert!(report.to_string().ends_with("closed solid; no problems"), "{report}");
    }
    let cloth = MeshReport::new(&shapes::cloth_grid(1.0, 1.0, 4, 4).unwrap());
    assert!(cloth.is_clean() && cloth.is_manifold() && !cloth.is_closed());
    assert_eq!(cloth.boundary_edges.len(), 12);
    assert!(cloth.to_string().contains("open, 12 boundary edges"));
    assert!(MeshReport::new(&TriMesh::default()).is_clean());
}

#[test]
fn each_fault_is_named() {
    let broken = |f: &dyn Fn(&mut TriMesh)| {
        let mut mesh = cube();
        f(&mut mesh);
        MeshReport::new(&mesh)
    };
    let r = broken(&|m| m.triangles[3][1] = 8);
    assert_eq!((r.out_of_range.as_slice(), r.is_closed(), r.boundary_edges.len()), (&[3][..], false, 3));
    let r = broken(&|m| m.positions[5].y = f64::NAN);
    assert_eq!(r.non_finite, [5]);
    let r = broken(&|m| m.triangles.push([2, 7, 2]));
    assert_eq!(r.repeated_index, [12]);
    let r = broken(&|m| {
        // Exactly on a line though no coordinate difference is a power of two.
        m.positions.extend([Vec3::new(0.1, 0.3, 0.7), Vec3::new(0.2, 0.6, 1.4), Vec3::new(0.4, 1.2, 2.8)]);
        m.triangles.push([8, 9, 10]);
    });
    assert_eq!((r.zero_area.as_slice(), r.slivers.len()), (&[12][..], 0));
    let r = broken(&|m| {
        m.positions.extend([Vec3::ZERO, Vec3::X, Vec3::new(0.5, 1e-4, 0.0)]);
        m.triangles.push([8, 9, 10]);
    });
    assert_eq!((r.slivers[0].triangle, r.zero_area.len()), (12, 0));
    assert!((r.slivers[0].aspect - 1e4).abs() < 1e-6);
    let r = broken(&|m| m.positions.push(m.positions[6]));
    assert_eq!((r.duplicate_vertices.as_slice(), r.unused_vertices.as_slice()), (&[[8, 6]][..], &[8][..]));
    let r = broken(&|m| m.positions.extend([Vec3::new(0.0, 9.0, 9.0), Vec3::new(-0.0, 9.0, 9.0)]));
    assert_eq!(r.duplicate_vertices, [[9, 8]], "zeros of either sign are one place");
    let r = broken(&|m| m.triangles.push([m.triangles[4][2], m.triangles[4][1], m.triangles[4][0]]));
    assert_eq!((r.duplicate_triangles.as_slice(), r.non_manifold_edges.len()), (&[[12, 4]][..], 3));
    let r = broken(&|m| {
        m.positions.extend([Vec3::new(2.0, 0.0, 0.0), Vec3::new(2.0, 1.0, 0.0)]);
        m.triangles.push([0, 8, 9]);
    });
    assert_eq!((r.non_manifold_vertices.as_slice(), r.boundary_edges.len()), (&[0][..], 3));
    let r = broken(&|m| m.triangles[7].swap(0, 1));
    assert_eq!((r.inconsistent_edges.len(), r.is_oriented(), r.is_solid()), (3, false, false));
    let r = broken(&|m| m.flip());
    assert_eq!((r.inside_out.as_slice(), r.is_oriented(), r.is_solid()), (&[0][..], true, false));
    assert!(r.to_string().contains("inside out") && r.to_string().contains("repair::orient"), "{r}");
    let r = broken(&|m| {
        m.triangles.pop();
    });
    assert_eq!((r.boundary_edges.len(), r.is_clean(), r.is_closed()), (3, true, false));
}

#[test]
fn cavities_face_inward_and_bodies_in_cavities_outward() {
    let shell = |radius: f64, flip: bool| {
        let mut mesh = shapes::icosphere(radius, 3).unwrap();
        if flip {
            mesh.flip();
        }
        mesh
    };
    for wrong in 0..8u32 {
        let flips = [wrong & 1 > 0, wrong & 2 == 0, wrong & 4 > 0];
        let beside = shapes::icosphere(1.0, 2).unwrap().translated(Vec3::new(9.0, 0.0, 0.0));
        let mut mesh =
            TriMesh::merged([&shell(3.0, flips[0]), &shell(2.0, flips[1]), &shell(1.0, flips[2]), &beside]);
        let report = MeshReport::new(&mesh);
        let expected: Vec<u32> = (0..3).filter(|k| wrong & 1 << k > 0).map(|k| 180 * k).collect();
        assert_eq!((report.inside_out.as_slice(), report.components), (expected.as_slice(), 4));
        let done = repair::orient(&mut mesh).unwrap();
        assert_eq!(done.flipped, 180 * wrong.count_ones() as usize);
        assert!(MeshReport::new(&mesh).is_solid());
    }
}

#[test]
fn shattered_meshes_are_put_together_again() {
    let mut random = Random::new(40);
    for k in closed_shapes() {
        // Tear all triangles apart, shake the corners a little, turn some over, add rubbish.
        let mut mesh = TriMesh::default();
        for t in 0..k.mesh.triangles.len() {
            let first = mesh.positions.len() as u32;
            mesh.positions.extend(k.mesh.corners(t).map(|p| p + 1e-9 * random.direction()));
            mesh.triangles.push(if random.below(3) == 0 {
                [first, first + 2, first + 1]
            } else {
                [first, first + 1, first + 2]
            });
        }
        let n = mesh.positions.len() as u32;
        let junk = [[0, 1, n + 5], [3, 3, 4], mesh.triangles[1], [0, n, 1]];
        mesh.positions.push(Vec3::splat(f64::NAN));
        mesh.triangles.extend(junk);
        let log = repair::repair(&mut mesh, 1e-7).unwrap();
        let report = MeshReport::new(&mesh);
        assert!(report.is_solid() && report.is_clean(), "{}: {report}", k.name);
        assert_eq!(mesh.positions.len(), k.mesh.positions.len(), "{}", k.name);
        assert_eq!(mesh.triangles.len(), k.mesh.triangles.len(), "{}", k.name);
        assert!((mesh.volume() - k.mesh.volume()).abs() < 1e-6 * k.mesh.volume());
        assert_eq!((log.unusable_triangles, log.degenerate_triangles, log.duplicate_triangles), (2, 1, 1));
        assert_eq!(log.welded_vertices, n as usize - k.mesh.positions.len());
        assert_eq!(log.vertices.len(), mesh.positions.len());
        assert!((log.split_vertices, log.non_orientable.len()) == (0, 0) && log.flipped_triangles > 0);
    }
}

#[test]
fn repairing_a_sound_mesh_changes_nothing() {
    for k in closed_shapes() {
        let mut mesh = k.mesh.clone();
        let log = repair::repair(&mut mesh, 0.0).unwrap();
        assert_eq!(mesh, k.mesh);
        let vertices = (0..mesh.positions.len() as u32).collect();
        assert_eq!(log, RepairLog { vertices, ..RepairLog::default() });
    }
}

#[test]
fn welding_follows_the_tolerance_and_copies_follow_their_original() {
    let at = |x: f64| Vec3::new(x, 0.0, 0.0);
    let mut mesh = TriMesh {
        positions: vec![at(0.0), at(1.0), at(0.9), at(2.0), at(0.9), at(1.05)],
        triangles: vec![[0, 2, 4], [1, 3, 5]],
    };
    let exact = repair::weld(&mut mesh.clone(), 0.0).unwrap();
    assert_eq!((exact.target, exact.merged), (vec![0, 1, 2, 3, 2, 5], 1));
    let near = repair::weld(&mut mesh, 0.11).unwrap();
    assert_eq!((near.target, near.merged), (vec![0, 1, 1, 3, 1, 1], 3));
    assert_eq!(mesh.triangles, [[0, 1, 1], [1, 3, 1]]);
    assert_eq!(repair::remove_degenerate(&mut mesh), 2);
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(repair::weld(&mut mesh, bad), Err(GeomError::Parameter { name: "tolerance", .. })));
    }
}

#[test]
fn fans_that_share_a_vertex_are_split() {
    let ball = shapes::icosphere(1.0, 2).unwrap();
    let mut other = ball.clone().translated(Vec3::new(5.0, 0.0, 0.0));
    // Make vertex 3 of the second ball the same vertex as vertex 7 of the first.
    let n = ball.positions.len() as u32;
    other.positions[3] = ball.positions[7];
    let mut mesh = TriMesh::merged([&ball, &other]);
    mesh.triangles.iter_mut().flatten().filter(|v| **v == n + 3).for_each(|v| *v = 7);
    assert_eq!(MeshReport::new(&mesh).non_manifold_vertices, [7]);
    let origins = repair::split_fans(&mut mesh).unwrap();
    assert_eq!((mesh.positions.len(), *origins.last().unwrap()), (2 * n as usize + 1, 7));
    let report = MeshReport::new(&mesh);
    assert!(report.is_manifold() && report.is_closed());
}

#[test]
fn a_mobius_band_cannot_be_oriented_and_open_patches_follow_the_majority() {
    let band: Vec<[u32; 3]> = (0..5).map(|i| [i, (i + 1) % 5, (i + 2) % 5]).collect();
    let mut random = Random::new(41);
    let mut mesh = TriMesh { positions: (0..5).map(|_| random.vec(0.0, 1.0)).collect(), triangles: band };
    assert_eq!(repair::orient(&mut mesh).unwrap().non_orientable, [0]);
    let sound = shapes::cloth_grid(1.0, 1.0, 6, 6).unwrap();
    let mut cloth = sound.clone();
    for t in [0, 7, 8, 21] {
        cloth.triangles[t].swap(1, 2);
    }
    assert_eq!(repair::orient(&mut cloth).unwrap().flipped, 4);
    assert_eq!(cloth, sound);
}

#[test]
fn tet_faults_are_named_and_inversions_repaired() {
    let mut mesh = shapes::tet_box(Vec3::ONE, [2, 2, 2]).unwrap();
    assert!(TetReport::new(&mesh).is_clean());
    mesh.tets[5].swap(0, 1);
    let r = TetReport::new(&mesh);
    assert_eq!(r.inverted, [5]);
    assert!(!r.folded_faces.is_empty() && r.to_string().contains("1 tetrahedra are inverted: 5"), "{r}");
    assert_eq!(repair::orient_tets(&mut mesh), 1);
    assert!(TetReport::new(&mesh).is_clean());
    mesh.tets.extend([[0, 1, 2, 99], [0, 1, 1, 2], [0, 1, 2, 3]]);
    mesh.positions.push(mesh.positions[4]);
    let r = TetReport::new(&mesh);
    assert_eq!(
        (r.out_of_range.as_slice(), r.repeated_index.as_slice(), r.flat.as_slice()),
        (&[48][..], &[49][..], &[50][..])
    );
    assert_eq!((r.duplicate_vertices.as_slice(), r.unused_vertices.as_slice()), (&[[27, 4]][..], &[27][..]));
    let mut crowded = shapes::tet_box(Vec3::ONE, [1, 1, 1]).unwrap();
    crowded.positions.push(Vec3::splat(5.0));
    let inner = crowded.topology().unwrap();
    let face = inner.faces()
        [(0..inner.faces().len() as u32).find(|&f| inner.face_tets(f).len() == 2).unwrap() as usize];
    crowded.tets.push([face[0], face[1], face[2], 8]);
    assert_eq!(TetReport::new(&crowded).crowded_faces, [face]);
}
