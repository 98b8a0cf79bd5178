//! Connectivity against brute force on random soups, and against known surfaces.

use crate::random::Random;
use billow_geom::mesh::{TET_EDGES, Topology, VertexKind};
use billow_geom::{GeomError, TetMesh, TriMesh, shapes};
use billow_num::{Affine3, Mat3, Quat, Vec3, par};
use std::collections::{BTreeMap, BTreeSet};

fn soup(random: &mut Random, vertices: usize, triangles: usize) -> Vec<[u32; 3]> {
    let mut all = Vec::new();
    while all.len() < triangles {
        let t = [0; 3].map(|_| random.below(vertices) as u32);
        if t[0] != t[1] && t[1] != t[2] && t[2] != t[0] {
            all.push(t);
        }
    }
    all
}

/// A grid of nx × ny quads, each cut in two, with some triangles left out and some flipped.
fn holed_grid(random: &mut Random, nx: u32, ny: u32, drop: usize, flip: usize) -> (usize, Vec<[u32; 3]>) {
    let mut triangles = Vec::new();
    for j in 0..ny {
        for i in 0..nx {
            let v = |a, b| (j + b) * (nx + 1) + i + a;
            for mut t in [[v(0, 0), v(1, 0), v(1, 1)], [v(0, 0), v(1, 1), v(0, 1)]] {
                if random.below(100) < flip {
                    t.swap(1, 2);
                }
                if random.below(100) >= drop {
                    triangles.push(t);
                }
            }
        }
    }
    (((nx + 1) * (ny + 1)) as usize, triangles)
}

/// Every table of the topology against a direct reading of the triangle list.
fn check_against_brute_force(vertices: usize, triangles: &[[u32; 3]]) {
    let topology = Topology::new(vertices, triangles).unwrap();
    let mut edges: BTreeMap<[u32; 2], Vec<u32>> = BTreeMap::new();
    for (t, c) in triangles.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (c[k], c[(k + 1) % 3]);
            edges.entry([a.min(b), a.max(b)]).or_default().push(t as u32);
        }
    }
    assert!(topology.edges().iter().eq(edges.keys()));
    for (e, around) in edges.values().enumerate() {
        assert_eq!(topology.edge_triangles(e as u32), around);
        assert_eq!(topology.edge_pair(e as u32).is_some(), around.len() == 2);
    }
    for (t, c) in triangles.iter().enumerate() {
        for k in 0..3 {
            let e = topology.triangle_edges()[t][k];
            let mut ends = [c[k], c[(k + 1) % 3]];
            assert_eq!(topology.runs_forward(t as u32, e), ends[0] < ends[1]);
            ends.sort_unstable();
            assert_eq!(topology.edges()[e as usize], ends);
            assert_eq!(topology.opposite_vertex(t as u32, e), Some(c[(k + 2) % 3]));
            assert_eq!(topology.edge_between(ends[1], ends[0]), Some(e));
        }
    }
    for v in 0..vertices as u32 {
        check_star(&topology, triangles, v);
    }
    let boundary: Vec<u32> =
        (0..edges.len() as u32).filter(|&e| topology.edge_triangles(e).len() == 1).collect();
    assert_eq!(topology.boundary_edges(), boundary);
    check_loops(&topology, &boundary);
}

fn check_star(topology: &Topology, triangles: &[[u32; 3]], v: u32) {
    let star: BTreeSet<u32> =
        (0..triangles.len() as u32).filter(|&t| triangles[t as usize].contains(&v)).collect();
    let mut link: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for &t in &star {
        for &c in triangles[t as usize].iter().filter(|&&c| c != v) {
            link.entry(c).or_default().push(t);
        }
    }
    let ring = topology.vertex_vertices(v);
    assert_eq!(topology.vertex_triangles(v).iter().copied().collect::<BTreeSet<_>>(), star);
    assert_eq!(topology.vertex_triangles(v).len(), star.len());
    assert!(ring.iter().copied().collect::<BTreeSet<_>>().iter().eq(link.keys()) && ring.len() == link.len());
    for (e, n) in topology.vertex_edges(v).iter().zip(ring) {
        assert_eq!(topology.edges()[*e as usize], [v.min(*n), v.max(*n)]);
    }
    // One fan: no link vertex in more than two triangles, and the link hangs together.
    let mut reached = BTreeSet::new();
    let mut stack: Vec<u32> = star.first().copied().into_iter().collect();
    while let Some(t) = stack.pop() {
        if reached.insert(t) {
            stack.extend(link.values().filter(|ts| ts.contains(&t)).flatten());
        }
    }
    let ends = link.values().filter(|ts| ts.len() == 1).count();
    let expected = match () {
        () if star.is_empty() => VertexKind::Unused,
        () if link.values().any(|ts| ts.len() > 2) || reached.len() < star.len() => VertexKind::NonManifold,
        () if ends == 0 => VertexKind::Interior,
        () => VertexKind::Boundary,
    };
    assert_eq!(topology.vertex_kinds()[v as usize], expected);
    if matches!(expected, VertexKind::Interior | VertexKind::Boundary) {
        assert_eq!(ring.len(), star.len() + usize::from(expected == VertexKind::Boundary));
        for (i, &t) in topology.vertex_triangles(v).iter().enumerate() {
            let c = triangles[t as usize];
            assert!(c.contains(&ring[i]) && c.contains(&ring[(i + 1) % ring.len()]));
        }
    }
}

fn check_loops(topology: &Topology, boundary: &[u32]) {
    let loops = topology.boundary_loops();
    let mut seen: Vec<u32> = loops.iter().flat_map(|l| l.edges.clone()).collect();
    seen.sort_unstable();
    assert_eq!(seen, boundary);
    for l in &loops {
        assert_eq!(l.vertices.len(), l.edges.len() + usize::from(!l.closed));
        for (i, &e) in l.edges.iter().enumerate() {
            let mut ends = [l.vertices[i], l.vertices[(i + 1) % l.vertices.len()]];
            if topology.is_oriented() && l.closed {
                assert_eq!(topology.runs_forward(topology.edge_triangles(e)[0], e), ends[0] < ends[1]);
            }
            ends.sort_unstable();
            assert_eq!(topology.edges()[e as usize], ends);
        }
        assert!(l.closed || topology.edge_count() > 0 && !topology.non_manifold_edges().is_empty());
    }
}

#[test]
fn tables_equal_brute_force_on_soups_and_holed_grids() {
    let mut random = Random::new(1);
    for round in 0..60 {
        let triangles = soup(&mut random, 6 + round, 1 + 3 * round);
        check_against_brute_force(6 + round, &triangles);
        let (n, grid) = holed_grid(&mut random, 7, 5, (round % 4) * 12, (round % 3) * 10);
        check_against_brute_force(n, &grid);
    }
    check_against_brute_force(3, &[]);
    check_against_brute_force(3, &[[0, 1, 2], [0, 1, 2]]);
    check_against_brute_force(3, &[[0, 1, 2], [2, 1, 0]]);
}

#[test]
fn fans_turn_counter_clockwise_on_oriented_meshes() {
    let (n, triangles) = holed_grid(&mut Random::new(5), 9, 9, 10, 0);
    let topology = Topology::new(n, &triangles).unwrap();
    for v in 0..n as u32 {
        if !matches!(topology.vertex_kinds()[v as usize], VertexKind::Interior | VertexKind::Boundary) {
            continue;
        }
        let ring = topology.vertex_vertices(v);
        for (i, &t) in topology.vertex_triangles(v).iter().enumerate() {
            let mut c = triangles[t as usize];
            let k = c.iter().position(|&c| c == v).unwrap();
            c.rotate_left(k);
            assert_eq!(c, [v, ring[i], ring[(i + 1) % ring.len()]]);
        }
    }
}

#[test]
fn known_surfaces_have_their_euler_numbers() {
    // Tetrahedron: a sphere.
    let sphere = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
    let t = Topology::new(4, &sphere).unwrap();
    assert!(t.is_closed() && t.is_manifold() && t.is_oriented());
    assert_eq!((t.euler_characteristic(), t.genus(), t.components().count()), (2, Some(0), 1));
    // A 4 × 5 torus of quads, twice, next to a square with a square hole.
    let torus = |first: u32| {
        (0..20u32).flat_map(move |q| {
            let v = |i: u32, j: u32| first + (q / 5 + i) % 4 * 5 + (q % 5 + j) % 5;
            [[v(0, 0), v(1, 0), v(1, 1)], [v(0, 0), v(1, 1), v(0, 1)]]
        })
    };
    let mut triangles: Vec<_> = torus(0).chain(torus(20)).collect();
    let t = Topology::new(40, &triangles).unwrap();
    assert_eq!((t.euler_characteristic(), t.genus(), t.components().count()), (0, Some(2), 2));
    for q in 0..4u32 {
        let (o, i) = (|k: u32| 40 + k % 4, |k: u32| 44 + k % 4);
        triangles.extend([[o(q), o(q + 1), i(q + 1)], [o(q), i(q + 1), i(q)]]);
    }
    let t = Topology::new(50, &triangles).unwrap();
    assert_eq!((t.euler_characteristic(), t.genus(), t.components().count()), (0, Some(2), 3));
    let loops = t.boundary_loops();
    assert_eq!(loops.iter().map(|l| l.edges.len()).collect::<Vec<_>>(), [4, 4]);
    assert_eq!(t.components().triangles(2), (80..88).collect::<Vec<u32>>());
    // A Möbius band has no orientation and hence no genus here.
    let band: Vec<[u32; 3]> = (0..5).map(|i| [i, (i + 1) % 5, (i + 2) % 5]).collect();
    let t = Topology::new(5, &band).unwrap();
    assert!(t.is_manifold() && !t.is_oriented());
    assert_eq!((t.genus(), t.boundary_loops().len()), (None, 1));
}

#[test]
fn touching_loops_stay_apart() {
    // Two triangles that share one vertex have two boundary loops, each through vertex 0.
    let t = Topology::new(5, &[[0, 1, 2], [0, 3, 4]]).unwrap();
    assert_eq!(t.non_manifold_vertices(), [0]);
    let loops = t.boundary_loops();
    assert_eq!(loops.iter().map(|l| l.vertices.clone()).collect::<Vec<_>>(), [vec![0, 1, 2], vec![0, 3, 4]]);
    assert_eq!(t.components().count(), 2);
}

#[test]
fn bad_indices_are_refused_with_their_numbers() {
    let out = Topology::new(3, &[[0, 1, 2], [0, 1, 3]]).unwrap_err();
    assert_eq!(
        out,
        GeomError::IndexOutOfRange { element: "triangle", number: 1, index: 3, vertices: 3 },
        "{out}"
    );
    let twice = Topology::new(3, &[[0, 1, 2], [2, 1, 2]]).unwrap_err();
    assert_eq!(twice, GeomError::RepeatedIndex { element: "triangle", number: 1, index: 2 }, "{twice}");
}

#[test]
fn topology_is_the_same_for_any_number_of_threads() {
    let (n, triangles) = holed_grid(&mut Random::new(3), 150, 90, 5, 5);
    let one = par::with_threads(1, || Topology::new(n, &triangles).unwrap());
    for threads in [2, 5] {
        assert_eq!(one, par::with_threads(threads, || Topology::new(n, &triangles).unwrap()));
    }
}

#[test]
fn skin_of_two_tetrahedra_is_closed_and_outward() {
    let mesh = TetMesh {
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::ONE, 9.0 * Vec3::ONE],
        tets: vec![[0, 1, 2, 3], [1, 2, 3, 4]],
    };
    let topology = mesh.topology().unwrap();
    assert_eq!((topology.faces().len(), topology.edges().len()), (7, 9));
    assert_eq!(topology.euler_characteristic(), 1);
    assert_eq!(topology.face_tets(topology.tet_faces()[0][0]), [0, 1]);
    assert_eq!(topology.tet_faces()[0][0], topology.tet_faces()[1][3]);
    let skin = mesh.boundary_surface(&topology);
    assert_eq!((skin.vertices.as_slice(), skin.tets.len()), (&[0, 1, 2, 3, 4][..], 6));
    let surface = skin.mesh.topology().unwrap();
    assert!(surface.is_closed() && surface.is_manifold() && surface.is_oriented());
    let six_volumes: f64 = skin
        .mesh
        .triangles
        .iter()
        .map(|t| t.map(|v| skin.mesh.positions[v as usize]))
        .map(|[a, b, c]| a.dot(b.cross(c)))
        .sum();
    assert!((six_volumes - 3.0).abs() < 1e-14, "{six_volumes}");
    for e in 0..9 {
        let ends = topology.edges()[e];
        let holds = |t: u32| ends.iter().all(|v| mesh.tets[t as usize].contains(v));
        assert!((0..2).all(|t| topology.edge_tets(e as u32).contains(&t) == holds(t)));
    }
    assert_eq!(topology.vertex_tets(1), [0, 1]);
    assert!(topology.vertex_edges(5).is_empty() && topology.crowded_faces().is_empty());
}

#[test]
fn measures_follow_affine_maps() {
    let mesh = shapes::Bone::default().mesh().unwrap();
    let (area, volume) = (mesh.area(), mesh.volume());
    // A rotation keeps both, a mirror image too, and a stretch multiplies the volume by its determinant.
    let turn = Affine3::from_rotation_translation(Quat::from_rotation_y(0.7), Vec3::new(1e4, -2e4, 3e4));
    let turned = mesh.clone().transformed(&turn);
    assert!((turned.area() - area).abs() < 1e-10 * area && (turned.volume() - volume).abs() < 1e-9 * volume);
    let mirror = Affine3::from_mat3(Mat3::from_diagonal(Vec3::new(-1.0, 1.0, 1.0)));
    assert!((mesh.clone().transformed(&mirror).volume() - volume).abs() < 1e-14 * volume);
    let stretch = Affine3::from_mat3(Mat3::from_diagonal(Vec3::new(2.0, 3.0, 0.5)));
    assert!((mesh.clone().transformed(&stretch).volume() - 3.0 * volume).abs() < 1e-13 * volume);
    let mut inside_out = mesh.clone();
    inside_out.flip();
    assert_eq!(inside_out.volume(), -volume);
    assert!((mesh.triangle_areas().iter().sum::<f64>() - area).abs() < 1e-13 * area);
}

#[test]
fn normals_point_away_from_the_middle_of_a_ball() {
    let mesh = shapes::icosphere(2.0, 8).unwrap();
    for (n, p) in mesh.vertex_normals().iter().zip(&mesh.positions) {
        assert!((n.length() - 1.0).abs() < 1e-15 && n.dot(p.normalize()) > 0.9999);
    }
    for (t, n) in mesh.triangle_normals().iter().enumerate() {
        let [a, b, c] = mesh.corners(t);
        assert!(n.dot(a + b + c) > 0.0 && n.dot(b - a).abs() < 1e-14 && n.dot(c - a).abs() < 1e-14);
    }
    // Area weights: on a cube corner whose faces are cut differently the normal still is the diagonal.
    let cube = shapes::cuboid(Vec3::ONE, [1, 1, 1]).unwrap();
    for n in cube.vertex_normals() {
        assert!(n.abs().min_element() > 0.3, "{n}");
    }
}

#[test]
fn midpoint_subdivision_keeps_the_surface() {
    let mesh = shapes::Gear::default().mesh().unwrap();
    let topology = mesh.topology().unwrap();
    let fine = mesh.subdivided(&topology);
    assert_eq!(fine.triangles.len(), 4 * mesh.triangles.len());
    assert_eq!(fine.positions.len(), mesh.positions.len() + topology.edge_count());
    assert!((fine.area() - mesh.area()).abs() < 1e-13 && (fine.volume() - mesh.volume()).abs() < 1e-13);
    let after = fine.topology().unwrap();
    assert!(after.is_closed() && after.is_manifold() && after.is_oriented());
    for t in 0..mesh.triangles.len() {
        let quarter = 0.25 * mesh.area_vector(t);
        assert!((4 * t..4 * t + 4).all(|k| fine.area_vector(k).distance(quarter) < 1e-15));
    }
}

#[test]
fn components_come_apart_and_together() {
    let parts = [
        shapes::Ring::default().mesh().unwrap(),
        shapes::icosphere(0.2, 3).unwrap(),
        shapes::Tee::default().mesh().unwrap(),
    ];
    let whole = TriMesh::merged(&parts);
    let components = whole.topology().unwrap().components();
    assert_eq!(components.count(), 3);
    let mut first = 0;
    for (c, part) in parts.iter().enumerate() {
        let piece = whole.extract(components.triangles(c as u32));
        assert_eq!(&piece.mesh, part);
        assert!(piece.vertices.iter().copied().eq(first..first + part.positions.len() as u32));
        first += part.positions.len() as u32;
    }
}

#[test]
fn tet_tables_equal_brute_force() {
    for mesh in [shapes::tet_ball(1.0, 3).unwrap(), shapes::tet_box(Vec3::ONE, [3, 2, 2]).unwrap()] {
        let topology = mesh.topology().unwrap();
        let (mut faces, mut edges) =
            (BTreeMap::<[u32; 3], Vec<u32>>::new(), BTreeMap::<[u32; 2], Vec<u32>>::new());
        for (t, c) in mesh.tets.iter().enumerate() {
            for k in 0..4 {
                let mut face = [c[(k + 1) % 4], c[(k + 2) % 4], c[(k + 3) % 4]];
                face.sort_unstable();
                faces.entry(face).or_default().push(t as u32);
                for l in k + 1..4 {
                    edges.entry([c[k].min(c[l]), c[k].max(c[l])]).or_default().push(t as u32);
                }
                let mut own = topology.faces()[topology.tet_faces()[t][k] as usize];
                own.sort_unstable();
                assert_eq!(own, face, "face {k} lies opposite corner {k}");
            }
            for (k, [a, b]) in TET_EDGES.into_iter().enumerate() {
                let ends = topology.edges()[topology.tet_edges()[t][k] as usize];
                assert_eq!(ends, [c[a].min(c[b]), c[a].max(c[b])]);
            }
        }
        assert!(topology.edges().iter().eq(edges.keys()));
        assert!(edges.values().enumerate().all(|(e, tets)| topology.edge_tets(e as u32) == tets));
        assert!(faces.values().enumerate().all(|(f, tets)| topology.face_tets(f as u32) == tets));
        for v in 0..mesh.positions.len() as u32 {
            let tets: Vec<u32> =
                (0u32..).zip(&mesh.tets).filter(|(_, c)| c.contains(&v)).map(|(t, _)| t).collect();
            assert_eq!(topology.vertex_tets(v), tets);
            let at: Vec<u32> =
                (0u32..).zip(edges.keys()).filter(|(_, e)| e.contains(&v)).map(|(e, _)| e).collect();
            assert_eq!(topology.vertex_edges(v), at);
        }
    }
}
