//! Cloth from scene files: control, obstacles, guarantees, refinement.

use crate::support::{assert_same_frames, frames, resume_in, run_in, scene};
use billow_io::{Frame, Shape, Values};
use billow_num::Vec3;
use billow_scene::Loader;
use billow_scene::check::check_run;
use billow_scene::driver::{RunError, Silent};
use billow_scene::refine::{RefineOptions, refine_run};

/// A small sheet in empty space without air.
const SHEET: &str = r#"
    [simulation]
    frames = 12
    substeps = 4
    [mesh.sheet]
    shape = "cloth"
    nodes = [9, 9]
    [cloth.sheet]
    mesh = "sheet"
    [air]
    density = 0
"#;

/// A sheet that falls on a ball and a box.
const DRAPED: &str = r#"
    [simulation]
    frames = 14
    substeps = 6
    [mesh.sheet]
    shape = "cloth"
    nodes = [22, 22]
    [mesh.ball]
    shape = "icosphere"
    radius = 0.25
    parts = 10
    [mesh.box]
    shape = "box"
    size = [0.2, 0.2, 0.3]
    [mesh.floor]
    shape = "plane"
    [body.ball]
    mesh = "ball"
    position = [0, 0, 0.25]
    [body.box]
    mesh = "box"
    position = [0.42, 0.1, 0.16]
    [body.floor]
    mesh = "floor"
    collision = "ground"
    [cloth.sheet]
    mesh = "sheet"
    position = [0, 0, 0.52]
    [cloth_solver]
    audit = true
"#;

pub(crate) fn run_frames(text: &str) -> (tempfile::TempDir, Vec<Frame>) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("run");
    run_in(&scene(text), &out, 2).unwrap_or_else(|e| panic!("{e}"));
    let all = frames(&out);
    (dir, all)
}

pub(crate) fn positions<'a>(frame: &'a Frame, name: &str) -> &'a [Vec3] {
    frame.object(name).unwrap().shape.positions()
}

#[test]
fn pins_hold_follow_bodies_and_let_go() {
    let text = format!(
        r#"{SHEET}
        [cloth.sheet.pin.left]
        inside = [[-0.51, -1, -1], [-0.49, 1, 1]]
        until = 0.25
        [cloth.sheet.pin.right]
        nearest = [[0.5, -0.5, 0], [0.5, 0.5, 0]]
        motion = "attached"
        body = "hand"
        [cloth.sheet.pin.middle]
        nodes = [40]
        motion = "scripted"
        displacement = [0, 0, "0.2*sin(3*t)"]
        [mesh.hand]
        shape = "icosphere"
        radius = 0.05
        parts = 2
        [body.hand]
        mesh = "hand"
        position = [0.8, 0, 0]
        collision = "none"
        motion = "keyframed"
        times = [0, 0.5]
        positions = [[0, 0, 0], [0, 0, 0.3]]
        rotations = [{{ axis = [1, 0, 0], degrees = 0 }}, {{ axis = [1, 0, 0], degrees = 20 }}]
    "#
    );
    let (_dir, all) = run_frames(&text);
    let start = positions(&all[0], "sheet").to_vec();
    for frame in &all {
        let (x, t) = (positions(frame, "sheet"), frame.time);
        // Held nodes are exactly where the scene says.
        for i in 0..81 {
            if start[i].x < -0.49 {
                let moved = x[i].distance(start[i]);
                assert_eq!(moved == 0.0, t <= 0.25, "node {i} at {t}: {moved}");
            }
        }
        assert!((x[40] - start[40] - Vec3::Z * 0.2 * (3.0 * t).sin()).length() < 1e-12);
        let hand = frame.object("hand").unwrap().pose;
        let before = all[0].object("hand").unwrap().pose;
        for corner in [Vec3::new(0.5, -0.5, 0.0), Vec3::new(0.5, 0.5, 0.0)] {
            let i = start.iter().position(|p| p.distance(corner) < 1e-12).unwrap();
            assert!(x[i].distance(hand.point(before.inverse_point(corner))) < 1e-12);
        }
    }
}

#[test]
fn gravity_and_wind_follow_their_formulas() {
    let falling = SHEET.replace("substeps = 4", "substeps = 4\n    gravity = [0, 0, \"-10*step(0.25, t)\"]");
    let (_dir, all) = run_frames(&falling);
    for frame in &all {
        let late = (frame.time - 0.25).max(0.0);
        let height = frame.stats["sheet.height"];
        assert!((height + 5.0 * late * late).abs() < 1e-6, "{}: {height}", frame.time);
    }
    // A gust from below lifts the sheet, and it comes down when the gust is over.
    let blown = SHEET.replace("density = 0", "density = 1.2\n    wind = [0, 0, \"9*(t < 0.25)\"]");
    let (_dir, all) = run_frames(&blown);
    let speed = |k: usize| all[k + 1].stats["sheet.height"] - all[k].stats["sheet.height"];
    assert!(speed(5) > 0.0, "{}", speed(5));
    assert!(speed(11) < speed(6) - 0.01);
}

#[test]
fn every_integrator_can_be_chosen_and_falls_freely() {
    for integrator in ["coupled", "implicit", "central", "staggered", "monotone", "explicit-march"] {
        for limiting in ["gauss-seidel", "jacobi", "off"] {
            let overrides = [
                format!("cloth_solver.integrator={integrator}"),
                format!("cloth_solver.strain_limiting={limiting}"),
                "simulation.frames=3".to_owned(),
            ];
            let scene = Loader::text("sheet.toml", SHEET).set(overrides).load().unwrap();
            let dir = tempfile::tempdir().unwrap();
            run_in(&scene, dir.path(), 1).unwrap();
            let height = frames(dir.path())[3].stats["sheet.height"];
            let expected = -0.5 * 9.80665 * (3.0f64 / 24.0).powi(2);
            assert!((height / expected - 1.0).abs() < 5e-3, "{integrator}: {height} for {expected}");
        }
    }
}

#[test]
fn cloth_meets_exact_sharp_and_endless_bodies_without_a_crossing() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (dir.path().join("one"), dir.path().join("two"));
    run_in(&scene(DRAPED), &one, 1).unwrap_or_else(|e| panic!("{e}"));
    let verdict = check_run(&one, 2, &Silent).unwrap();
    assert!(verdict.passed() && verdict.crossings == 0, "{verdict:#?}");
    let last = &frames(&one)[14];
    let x = positions(last, "sheet");
    assert!(x.iter().all(|p| p.z > 0.0 && p.distance(Vec3::new(0.0, 0.0, 0.25)) > 0.25));
    assert!(last.stats["contacts"] > 0.0 && last.stats["object-contacts"] > 0.0);
    // What a viewer shows per vertex.
    let sheet = last.object("sheet").unwrap();
    let Values::Scalar(strain) = &sheet.attribute("strain").unwrap().values else { panic!("scalars") };
    let largest = strain.iter().fold(0.0f32, |m, s| m.max(*s));
    assert!((f64::from(largest) - last.stats["sheet.strain"]).abs() < 1e-6);
    assert!(sheet.attribute("velocity").is_some());

    // The same bits with other numbers of threads, and when interrupted and continued.
    let short = Loader::text("test.toml", DRAPED).set(["simulation.frames=9".to_owned()]).load().unwrap();
    run_in(&short, &two, 2).unwrap();
    let (a, b) = (frames(&one), frames(&two));
    for (x, y) in a.iter().zip(&b) {
        assert_eq!(x, y, "frame {}", x.index);
    }
    let three = dir.path().join("three");
    run_in(&short, &three, 2).unwrap();
    resume_in(&three, Some(14), 2).unwrap();
    assert_same_frames(&one, &three);
}

#[test]
fn cloth_settles_before_frame_zero_while_bodies_stand_still() {
    let text = DRAPED
        .replace("audit = true", "preroll = 3.0\n    preroll_drag = 6")
        .replace("position = [0, 0, 0.25]", "motion = \"scripted\"\n    position = [\"0.3*t\", 0, 0.25]");
    let text = text.replace("frames = 14", "frames = 2");
    let (_dir, all) = run_frames(&text);
    assert!(all[0].stats["sheet.speed"] < 0.1, "{}", all[0].stats["sheet.speed"]);
    assert!(all[0].stats["sheet.lowest"] < 0.3, "{}", all[0].stats["sheet.lowest"]);
    assert_eq!(all[0].object("ball").unwrap().pose.position.x, 0.0);
    assert!(all[2].object("ball").unwrap().pose.position.x > 0.02);
}

#[test]
fn what_cannot_be_avoided_ends_with_place_and_time() {
    // Two plates, both prescribed, close on a sheet and pass through each other's place.
    let text = r#"
        [simulation]
        frames = 24
        substeps = 2
        max_halvings = 3
        [mesh.sheet]
        shape = "cloth"
        nodes = [5, 5]
        [mesh.plate]
        shape = "plane"
        size = [2, 2]
        [body.floor]
        mesh = "plate"
        collision = "mesh"
        [body.press]
        mesh = "plate"
        collision = "mesh"
        motion = "scripted"
        position = [0, 0, "0.2 - 0.5*t"]
        [cloth.sheet]
        mesh = "sheet"
        position = [0, 0, 0.1]
    "#;
    let dir = tempfile::tempdir().unwrap();
    let error = run_in(&scene(text), dir.path(), 1).unwrap_err();
    let RunError::Step { time, ref body, place, ref reason, .. } = error else { panic!("{error}") };
    assert!((0.15..0.45).contains(&time), "{time}");
    assert!(body.is_some() && place.is_some_and(|p| p.z.abs() < 0.05), "{error:?}");
    assert!(reason.contains("driven through"), "{reason}");
}

#[test]
fn refined_frames_are_smoother_and_have_no_crossing() {
    let dir = tempfile::tempdir().unwrap();
    let (coarse, fine) = (dir.path().join("coarse"), dir.path().join("fine"));
    run_in(&scene(DRAPED), &coarse, 2).unwrap();
    let options = RefineOptions { out: fine.clone(), levels: 2, crease: None, threads: 2, overwrite: false };
    let report = refine_run(&coarse, &options, &Silent).unwrap();
    assert_eq!((report.frames, report.crossings), (15, 0), "{report:?}");
    assert_eq!(report.triangles, 16 * 2 * 21 * 21);
    let verdict = check_run(&fine, 2, &Silent).unwrap();
    assert!(verdict.passed() && verdict.crossings == 0, "{verdict:#?}");
    let (a, b) = (frames(&coarse), frames(&fine));
    let (x, y) = (positions(&a[14], "sheet"), positions(&b[14], "sheet"));
    assert!(y.len() > 14 * x.len());
    // Two levels would leave a quarter of the angles if nothing were in the way.
    assert!(bends(&b[14]) < 0.4 * bends(&a[14]), "{} {}", bends(&b[14]), bends(&a[14]));
    // The same bits for one thread.
    let again = dir.path().join("again");
    refine_run(&coarse, &RefineOptions { out: again.clone(), threads: 1, ..options }, &Silent).unwrap();
    assert_same_frames(&fine, &again);
    // A run without cloth has nothing to refine.
    let bare = dir.path().join("bare");
    run_in(&scene(crate::support::MIXED), &bare, 1).unwrap();
    let options =
        RefineOptions { out: dir.path().join("x"), levels: 1, crease: None, threads: 1, overwrite: false };
    let error = refine_run(&bare, &options, &Silent).unwrap_err().to_string();
    assert!(error.contains("no cloth"), "{error}");
}

/// Mean angle between neighbouring triangles of the sheet [rad].
fn bends(frame: &Frame) -> f64 {
    let Shape::Triangles { positions, triangles } = &frame.object("sheet").unwrap().shape else { panic!() };
    let topology = billow_geom::mesh::Topology::new(positions.len(), triangles).unwrap();
    let normal = |t: u32| {
        let [a, b, c] = triangles[t as usize].map(|i| positions[i as usize]);
        (b - a).cross(c - a).normalize()
    };
    let pairs = (0..topology.edge_count() as u32).filter_map(|e| topology.edge_pair(e));
    let angles: Vec<f64> = pairs.map(|[s, t]| normal(s).angle_between(normal(t))).collect();
    angles.iter().sum::<f64>() / angles.len() as f64
}
