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
        assert!(quality.max_aspect < 10.0, "blobs {seed}: {}", quality.max_aspect);
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
