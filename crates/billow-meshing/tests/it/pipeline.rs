//! Whole meshes: sound whatever the shape, close to the surface, the same bits for any number of threads.

use crate::shapes::{Blobs, Formula};
use billow_levelset::{Ball, Collider, Torus};
use billow_meshing::{Body, Compression, Mesher, MeshingError, Quality, Sizing, Soundness, mesh};
use billow_num::{Vec3, par};

#[test]
fn a_ball_has_its_volume_and_every_boundary_node_on_the_surface() {
    let ball = Ball::new(Vec3::new(0.1, -0.2, 0.3), 1.0).unwrap();
    let meshed = mesh(&ball, &Mesher::new(Sizing::uniform(0.12, 3))).unwrap();
    let quality = Quality::new(&meshed.candidate.mesh);
    assert!(
        quality.max_aspect < 4.5 && quality.min_dihedral > 22.0 && quality.max_dihedral < 135.0,
        "{quality:?}"
    );
    assert!((quality.volume / (4.0 / 3.0 * std::f64::consts::PI) - 1.0).abs() < 0.01);
    assert!(meshed.candidate.boundary_positions().iter().all(|x| ball.phi(*x, 0.0).abs() < 1e-6));
    assert_eq!((meshed.soundness.surfaces, meshed.soundness.genus), (1, 0));
}

#[test]
fn two_threads_give_the_bits_of_one() {
    let ring = Torus::new(Vec3::ZERO, Vec3::Z, 1.0, 0.3).unwrap();
    let run = |threads| {
        par::with_threads(threads, || mesh(&ring, &Mesher::new(Sizing::adaptive(0.06, 0.2, 3))).unwrap())
    };
    let (one, two, seven) = (run(1), run(2), run(7));
    assert_eq!(one.candidate.mesh, two.candidate.mesh);
    assert_eq!(one.candidate.mesh, seven.candidate.mesh);
    assert_eq!(one.soundness.genus, 1);
    assert!(one.candidate.mesh.tets.len() > 3000);
}

#[test]
fn the_inner_ring_of_a_torus_is_finer() {
    // [Bri03] figure 5.5: curvature is larger on the inner ring although it is a saddle.
    let ring = Torus::new(Vec3::ZERO, Vec3::Z, 1.0, 0.4).unwrap();
    let sizing = Sizing { curvature: 0.88, interpolation: f64::INFINITY, ..Sizing::adaptive(0.06, 0.5, 3) };
    let meshed = mesh(&ring, &Mesher::new(sizing)).unwrap();
    let at = |inner: bool| {
        let x = &meshed.candidate.mesh.positions;
        let centre = |f: &[u32; 3]| f.iter().map(|n| x[*n as usize]).sum::<Vec3>() / 3.0;
        let here = |f: &&[u32; 3]| {
            let c = centre(f);
            (c.truncate().length() < 0.75) == inner && c.z.abs() < 0.3
        };
        let area = |f: &[u32; 3]| {
            let [a, b, c] = f.map(|n| x[n as usize]);
            0.5 * (b - a).cross(c - a).length()
        };
        let areas: Vec<f64> = meshed.candidate.boundary.iter().filter(here).map(area).collect();
        areas.iter().sum::<f64>() / areas.len() as f64
    };
    assert!(at(true) < 0.6 * at(false), "{} against {}", at(true), at(false));
}

/// The limits that published meshes miss: aspect ratio 4.5, dihedral angles 22° to 135°.
fn within_limits(quality: &Quality) -> bool {
    quality.max_aspect <= 4.5 && quality.min_dihedral >= 22.0 && quality.max_dihedral <= 135.0
}

/// Whatever the field, the result is a sound mesh or a refusal in words.
fn assert_sound_or_refused(
    solid: &dyn Collider,
    sizing: Sizing<'_>,
    what: &str,
) -> Option<(Quality, Soundness)> {
    match mesh(solid, &Mesher::new(sizing)) {
        Ok(meshed) => {
            let found = Soundness::new(&meshed.candidate.mesh);
            assert!(found.is_sound(), "{what}: {}", found.problem());
            Some((Quality::new(&meshed.candidate.mesh), found))
        }
        Err(MeshingError::Empty { .. } | MeshingError::TooMany { .. }) => None,
        Err(error) => panic!("{what}: {error}"),
    }
}

#[test]
fn random_blobs_give_sound_meshes() {
    for seed in 0..12 {
        let blobs = Blobs::random(seed, 6);
        let (quality, _) =
            assert_sound_or_refused(&blobs, Sizing::uniform(0.1, 2), &format!("blobs {seed}")).unwrap();
        assert!(within_limits(&quality), "blobs {seed}: {quality:?}");
    }
}

#[test]
fn thin_sheets_give_sound_meshes_or_are_refused() {
    for (k, thickness) in [0.3, 0.12, 0.06, 0.03, 0.01].into_iter().enumerate() {
        let tilt = Vec3::new(0.3, 0.2 * k as f64, 1.0).normalize();
        let sheet =
            Formula::new(1.0, move |x: Vec3| (x.dot(tilt).abs() - 0.5 * thickness).max(x.length() - 0.8));
        assert_sound_or_refused(&sheet, Sizing::uniform(0.1, 2), &format!("sheet of {thickness}"));
    }
}

#[test]
fn parts_thinner_than_the_lattice_are_reported_and_whole_meshes_raise_no_alarm() {
    let ball = |x: Vec3| x.length() - 0.4;
    let report = |thickness: f64| {
        let fin = move |x: Vec3| {
            ((x.z - 0.0137).abs() - 0.5 * thickness).max(x.y.abs() - 0.3).max((x.x - 0.6).abs() - 0.6)
        };
        let finned = Formula::new(1.3, move |x: Vec3| ball(x).min(fin(x)));
        mesh(&finned, &Mesher::new(Sizing::uniform(0.1, 1))).unwrap().selection
    };
    for thickness in [0.001, 0.004, 0.008] {
        let found = report(thickness);
        // No node of the lattice lies in the fin, so only the surface gives it away.
        assert!(found.unresolved > 20 && found.lost_nodes == 0, "{thickness}: {found:?}");
        // The place named is on the fin, not on the ball.
        assert!(found.lost_at.is_some_and(|at| at[0] > 0.4 && at[2].abs() < 0.1), "{thickness}: {found:?}");
    }
    let thick = report(0.4);
    assert_eq!((thick.lost_nodes, thick.unresolved), (0, 0), "{thick:?}");
    let blobs = Blobs::random(3, 6);
    let whole = mesh(&blobs, &Mesher::new(Sizing::uniform(0.06, 2))).unwrap().selection;
    assert_eq!((whole.lost_nodes, whole.unresolved, whole.lost_at), (0, 0, None));
}

/// Mean distance from points of a crease to the nearest edge of the mesh's boundary.
fn crease_gap(meshed: &billow_meshing::Meshed, crease: &[Vec3]) -> f64 {
    let x = &meshed.candidate.mesh.positions;
    let ends = |f: &[u32; 3]| [[f[0], f[1]], [f[1], f[2]], [f[2], f[0]]];
    let edges: Vec<[Vec3; 2]> =
        meshed.candidate.boundary.iter().flat_map(ends).map(|e| e.map(|n| x[n as usize])).collect();
    let gap = |p: &Vec3| {
        let to_edge = |[a, b]: &[Vec3; 2]| {
            let s = ((*p - *a).dot(*b - *a) / (*b - *a).length_squared()).clamp(0.0, 1.0);
            p.distance(a.lerp(*b, s))
        };
        edges.iter().map(to_edge).fold(f64::INFINITY, f64::min)
    };
    crease.iter().map(gap).sum::<f64>() / crease.len() as f64
}

/// Points of the twelve edges of a box.
fn box_creases(half: Vec3) -> Vec<Vec3> {
    let point = |k: usize| {
        let (edge, along) = (k / 40, (k % 40) as f64 / 39.0 * 2.0 - 1.0);
        let sign = |bit: usize| if edge & bit == 0 { 1.0 } else { -1.0 };
        let axis = edge / 4;
        let mut p = Vec3::ZERO;
        (p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3]) = (along, sign(1), sign(2));
        p * half
    };
    (0..12 * 40).map(point).collect()
}

/// Gap of the crease, error of the volume and shapes, with creases rounded or kept.
fn with_creases(solid: &dyn Collider, crease: &[Vec3], volume: f64, sharp: bool) -> (f64, f64, Quality) {
    let mut mesher = Mesher::new(Sizing::uniform(0.1, 1));
    mesher.optimisation.sharp = sharp;
    let meshed = mesh(solid, &mesher).expect("a solid this plain can be meshed");
    let quality = Quality::new(&meshed.candidate.mesh);
    (crease_gap(&meshed, crease), quality.volume / volume - 1.0, quality)
}

#[test]
fn sharp_edges_and_corners_are_kept_if_asked() {
    use billow_levelset::{Cuboid, Cylinder, Frame, Layout, Moving, SparseGrid};
    use billow_num::{Pose, Quat};
    // A box that no plane of the lattice is parallel to, by its formula and sampled; a cylinder.
    let half = Vec3::new(0.7, 0.5, 0.4);
    let turn = Quat::from_axis_angle(Vec3::new(0.3, 0.8, 0.5).normalize(), 0.7);
    let pose = Pose { position: Vec3::new(0.013, 0.029, 0.041), rotation: turn };
    let turned = Moving { body: Cuboid::new(half).unwrap(), motion: pose };
    let frame = Frame { origin: Vec3::ZERO, spacing: 0.01, half_width: 4.0 };
    let sampled = billow_meshing::DistanceField::new(
        SparseGrid::of_collider(frame, Layout::default(), &turned, 0.0).unwrap(),
    );
    let edges: Vec<Vec3> = box_creases(half).into_iter().map(|p| pose.point(p)).collect();
    let cylinder = Cylinder::new(Vec3::ZERO, Vec3::new(0.3, 0.5, 0.7), 0.4).unwrap();
    let axis = Vec3::new(0.3, 0.5, 0.7);
    let u = axis.any_orthonormal_vector();
    let v = axis.normalize().cross(u);
    let rim = |k: usize| {
        let (s, c) = (k as f64 / 60.0 * std::f64::consts::TAU).sin_cos();
        0.4 * (c * u + s * v) + if k < 60 { Vec3::ZERO } else { axis }
    };
    let rims: Vec<Vec3> = (0..120).map(rim).collect();
    let box_volume = 8.0 * half.x * half.y * half.z;
    let cylinder_volume = std::f64::consts::PI * 0.16 * axis.length();
    let cases: [(&str, &dyn Collider, &[Vec3], f64); 3] = [
        ("box", &turned, &edges, box_volume),
        ("sampled box", &sampled, &edges, box_volume),
        ("cylinder", &cylinder, &rims, cylinder_volume),
    ];
    for (name, solid, crease, volume) in cases {
        let [round, sharp] = [false, true].map(|sharp| with_creases(solid, crease, volume, sharp));
        assert!(sharp.0 < 0.5 * round.0, "{name}: {} against {}", sharp.0, round.0);
        assert!(sharp.1.abs() < 0.5 * round.1.abs(), "{name}: {} against {}", sharp.1, round.1);
        assert!(sharp.2.max_aspect < 8.0, "{name}: {}", sharp.2.max_aspect);
        println!("{name}: gap {} to {}, volume {} to {}", round.0, sharp.0, round.1, sharp.1);
    }
}

#[test]
fn spheres_that_touch_or_nearly_touch_give_sound_meshes() {
    for gap in [-0.1, -0.01, 0.0, 0.01, 0.05, 0.1] {
        let ball = |x: Vec3, s: f64| (x - s * Vec3::new(0.4 + 0.5 * gap, 0.0, 0.0)).length() - 0.4;
        let pair = Formula::new(1.0, move |x: Vec3| ball(x, 1.0).min(ball(x, -1.0)));
        let result = assert_sound_or_refused(&pair, Sizing::uniform(0.08, 2), &format!("gap {gap}"));
        assert!(result.is_some());
    }
}

#[test]
fn genus_follows_the_shape() {
    for holes in [0u32, 1, 2, 5, 20] {
        // A slab with a row of round holes.
        let length = 0.5 * f64::from(holes.max(1)) + 0.5;
        let plate = Formula::within(Vec3::new(0.5 * length, 0.3, 0.12), move |x: Vec3| {
            let slab = (x.z.abs() - 0.12).max(x.y.abs() - 0.3).max(x.x.abs() - 0.5 * length);
            let hole = |k: u32| {
                let centre = 0.5 * (f64::from(k) - 0.5 * f64::from(holes.saturating_sub(1)));
                0.14 - (x.x - centre).hypot(x.y)
            };
            (0..holes).map(hole).fold(slab, f64::max)
        });
        let sizing = Sizing::uniform(0.07, 1);
        let (_, found) = assert_sound_or_refused(&plate, sizing, &format!("{holes} holes")).unwrap();
        assert_eq!((found.genus, found.surfaces), (u64::from(holes), 1), "{holes} holes");
    }
}

#[test]
fn noise_gives_sound_meshes_or_is_refused() {
    use billow_num::rng::Stream;
    for seed in 0..3u64 {
        // Distances with errors as large as the lattice, different at every point.
        let noisy = Formula::new(1.0, move |x: Vec3| {
            let key = x
                .to_array()
                .iter()
                .fold(seed, |h, v| h.rotate_left(21) ^ v.to_bits().wrapping_mul(0x9E37_79B9_7F4A_7C15));
            x.length() - 0.7 + Stream::new(seed, 1).at(key).range(-0.2, 0.2)
        });
        assert_sound_or_refused(&noisy, Sizing::uniform(0.2, 1), &format!("noise {seed}"));
    }
    let bad = Formula::new(1.0, |x: Vec3| if x.x > 0.3 { f64::NAN } else { x.length() - 0.5 });
    assert!(matches!(mesh(&bad, &Mesher::new(Sizing::uniform(0.1, 2))), Err(MeshingError::NotFinite { .. })));
    let empty = Formula::new(1.0, |_| 1.0);
    assert!(mesh(&empty, &Mesher::new(Sizing::uniform(0.1, 2))).is_err());
    let full = Formula::new(1.0, |_| -1.0);
    assert!(matches!(mesh(&full, &Mesher::new(Sizing::uniform(0.2, 1))), Err(MeshingError::Topology { .. })));
}

#[test]
fn springs_and_finite_elements_also_reach_the_surface() {
    let ring = Torus::new(Vec3::ZERO, Vec3::Z, 1.0, 0.35).unwrap();
    let mut aspects = Vec::new();
    let bodies = [Body::Springs, Body::ELEMENTS].map(|body| Compression::Simulate { body, sweeps: 40 });
    for compression in [bodies[0], bodies[1], Compression::Optimise] {
        let mesher = Mesher { compression, ..Mesher::new(Sizing::uniform(0.2, 1)) };
        let run = |threads| par::with_threads(threads, || mesh(&ring, &mesher).unwrap());
        let meshed = run(1);
        assert_eq!(meshed.candidate.mesh, run(2).candidate.mesh, "{compression:?}");
        let gap = meshed.optimisation.largest_gap;
        assert!(gap < 0.01, "{compression:?} leaves a gap of {gap}");
        aspects.push(Quality::new(&meshed.candidate.mesh).max_aspect);
    }
    // [Bri03] table 5.2: optimisation gives the better shapes.
    assert!(aspects[2] < aspects[0] && aspects[2] < aspects[1], "{aspects:?}");
}
