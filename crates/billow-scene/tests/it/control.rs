//! Cloth that begins crossed, has no way out, or meets bodies that deform and bodies without thickness.

use crate::cloth::{positions, run_frames};
use crate::support::{assert_same_frames, frames, resume_in, run_in, scene};
use billow_io::Values;
use billow_num::Vec3;
use billow_scene::Loader;
use billow_scene::check::check_run;
use billow_scene::driver::{RunError, Silent};

/// A sheet held at its corners, and another one whose lowest corner pokes through it, rises, and comes down again.
const POKED: &str = r#"
    [simulation]
    frames = 20
    substeps = 6
    gravity = [0, 0, 0]
    [mesh.sheet]
    shape = "cloth"
    nodes = [10, 10]
    [mesh.flag]
    shape = "cloth"
    size = [0.4, 0.4]
    nodes = [5, 5]
    [cloth.sheet]
    mesh = "sheet"
    [cloth.sheet.pin.corners]
    nearest = [[-0.5, -0.5, 0], [0.5, -0.5, 0], [-0.5, 0.5, 0], [0.5, 0.5, 0]]
    [cloth.flag]
    mesh = "flag"
    position = [0.03, 0.02, 0.278]
    rotation = { euler = [90, 45, 0] }
    [cloth.flag.pin.most]
    inside = [[-1, -1, 0.05], [1, 1, 1]]
    motion = "scripted"
    displacement = [0, 0, "0.05*sin(2*pi*t/0.8)"]
    [air]
    density = 0
    [cloth_solver]
    audit = true
"#;

#[test]
fn cloth_that_begins_crossed_is_refused_with_the_pairs_or_left_alone_until_it_parts() {
    let problems = Loader::text("test.toml", POKED).load().unwrap_err().to_string();
    assert!(problems.contains("`sheet` and `flag` cross at the start"), "{problems}");
    assert!(problems.contains("these triangles cross: ") && problems.contains('–'), "{problems}");
    assert!(problems.contains("allow_initial_crossings = true"), "{problems}");

    let allowed = POKED.replace("audit = true", "audit = true\n    allow_initial_crossings = true");
    let loaded = scene(&allowed);
    assert!(loaded.warnings().iter().any(|w| w.to_string().contains("left alone until they part")));
    let dir = tempfile::tempdir().unwrap();
    let (whole, cut) = (dir.path().join("whole"), dir.path().join("cut"));
    run_in(&loaded, &whole, 2).unwrap_or_else(|e| panic!("{e}"));
    let verdict = check_run(&whole, 1, &Silent).unwrap();
    assert!(verdict.passed() && verdict.crossings > 0, "{verdict:#?}");
    let parted = verdict.checks.iter().find(|c| c.name == "initial crossings").unwrap();
    assert!(parted.message.contains("parted"), "{}", parted.message);
    // They have parted for good: the corner comes down again and pushes the sheet before it.
    let last = &frames(&whole)[14];
    let corner = positions(last, "flag").iter().map(|x| x.z).fold(f64::INFINITY, f64::min);
    let lowest = positions(last, "sheet").iter().map(|x| x.z).fold(f64::INFINITY, f64::min);
    assert!(corner < -0.03 && lowest < -0.02, "corner {corner}, sheet {lowest}");
    // Interrupted while crossed, it goes on with the same bits.
    let short = Loader::text("test.toml", &*allowed).set(["simulation.frames=1".to_owned()]).load().unwrap();
    run_in(&short, &cut, 2).unwrap();
    resume_in(&cut, Some(20), 1).unwrap();
    assert_same_frames(&whole, &cut);
}

#[test]
fn nodes_driven_through_each_other_end_the_run_with_the_place_and_the_time() {
    // Two sheets, each held everywhere, pass through each other: nobody can give way.
    let text = r#"
        [simulation]
        frames = 24
        substeps = 2
        max_halvings = 3
        [mesh.sheet]
        shape = "cloth"
        nodes = [5, 5]
        [cloth.low]
        mesh = "sheet"
        [cloth.low.pin.all]
        inside = [[-1, -1, -1], [1, 1, 1]]
        [cloth.high]
        mesh = "sheet"
        position = [0.02, 0.03, 0.1]
        [cloth.high.pin.all]
        inside = [[-1, -1, -1], [1, 1, 1]]
        motion = "scripted"
        displacement = [0, 0, "-0.4*t"]
    "#;
    let dir = tempfile::tempdir().unwrap();
    let error = run_in(&scene(text), dir.path(), 1).unwrap_err();
    let RunError::Step { time, ref body, place, ref reason, .. } = error else { panic!("{error}") };
    // They meet after a quarter of a second.
    assert!((0.2..0.27).contains(&time), "{time}");
    assert!(body.is_some() && place.is_some_and(|p| p.z.abs() < 0.01 && p.x.abs() < 0.6), "{error:?}");
    assert!(reason.contains("`low`") && reason.contains("`high`"), "{reason}");
    // What was computed before is there and sound.
    let verdict = check_run(dir.path(), 1, &Silent).unwrap();
    assert!(verdict.frames >= 5 && verdict.crossings == 0, "{verdict:#?}");
}

#[test]
fn bodies_that_deform_carry_cloth_and_never_cut_it() {
    let text = r#"
        [simulation]
        frames = 20
        substeps = 6
        [mesh.sheet]
        shape = "cloth"
        size = [0.8, 0.8]
        nodes = [17, 17]
        [mesh.small]
        shape = "icosphere"
        radius = 0.15
        parts = 5
        [mesh.large]
        shape = "icosphere"
        radius = 0.15
        parts = 5
        transform = { scale = [1.3, 1.3, 2] }
        [body.heart]
        mesh = "small"
        morph = ["small", "large", "small"]
        morph_times = [0, 0.4, 0.8]
        position = [0, 0, 0.15]
        [mesh.floor]
        shape = "plane"
        [body.floor]
        mesh = "floor"
        position = [0, 0, -0.2]
        collision = "ground"
        [cloth.sheet]
        mesh = "sheet"
        position = [0, 0, 0.31]
        [cloth_solver]
        audit = true
    "#;
    let (dir, all) = run_frames(text);
    let verdict = check_run(&dir.path().join("run"), 2, &Silent).unwrap();
    assert!(verdict.passed() && verdict.crossings == 0, "{verdict:#?}");
    // The body deforms in the frames as the scene says, and lifts the sheet that lies on it.
    let top = |frame: usize| positions(&all[frame], "heart").iter().map(|x| x.z).fold(0.0, f64::max);
    for (frame, factor) in [(5, 1.0 + 5.0 / 9.6), (19, 1.0 + 0.2 / 9.6)] {
        assert!((top(frame) - factor * top(0)).abs() < 1e-9, "frame {frame}: {}", top(frame));
    }
    assert!(all[10].stats["sheet.highest"] > 0.43, "{}", all[10].stats["sheet.highest"]);
    // Contacts per vertex are there to be seen, where the sheet touches; later it flies off.
    let Values::Integer(contacts) = &all[8].object("sheet").unwrap().attribute("contacts").unwrap().values
    else {
        panic!("counts")
    };
    let touching = |i: &usize| contacts[*i] > 0;
    let count = (0..contacts.len()).filter(touching).count();
    assert!(count > 5 && count < contacts.len() - 5, "{count}");
    let wrong = text.replace("[1.3, 1.3, 2] }", "2 }\n        [mesh.other]\n        shape = \"torus\"");
    let wrong = wrong.replace("\"large\", \"small\"]", "\"other\", \"large\"]");
    let problems = Loader::text("test.toml", wrong).load().unwrap_err().to_string();
    assert!(problems.contains("does not have the triangles of"), "{problems}");
}

#[test]
fn cloth_sticks_to_a_surface_that_shears_away_under_it() {
    let text = r#"
        [simulation]
        frames = 12
        substeps = 8
        [mesh.sheet]
        shape = "cloth"
        size = [0.3, 0.3]
        nodes = [7, 7]
        [mesh.plate]
        shape = "plane"
        size = [1.5, 1.5]
        segments = [9, 9]
        [mesh.away]
        shape = "plane"
        size = [1.5, 1.5]
        segments = [9, 9]
        transform = { translate = [0.3, 0.1, 0] }
        [body.plate]
        mesh = "plate"
        morph = ["plate", "away"]
        morph_times = [0, 1]
        [cloth.sheet]
        mesh = "sheet"
        position = [0, 0, 0.001]
        [air]
        density = 0
    "#;
    let (_dir, all) = run_frames(text);
    let (before, after) = (positions(&all[6], "sheet"), positions(&all[12], "sheet"));
    for (a, b) in before.iter().zip(after) {
        // Six frames at the speed of the plate.
        let moved = *b - *a;
        assert!((moved - Vec3::new(0.3, 0.1, 0.0) * 0.25).length() < 1e-5, "{moved}");
    }
}

#[test]
fn a_needle_a_blade_and_a_table_leg_hold_cloth_without_piercing_it() {
    let text = r#"
        [simulation]
        frames = 16
        substeps = 8
        [mesh.sheet]
        shape = "cloth"
        size = [0.7, 0.7]
        nodes = [20, 20]
        [mesh.needle]
        shape = "box"
        size = [0.002, 0.002, 0.4]
        [mesh.blade]
        shape = "plane"
        size = [0.4, 0.3]
        [mesh.leg]
        shape = "box"
        size = [0.03, 0.03, 0.4]
        [body.needle]
        mesh = "needle"
        position = [0.013, 0.017, -0.21]
        rotation = { axis = [1, 1, 0], degrees = 5 }
        [body.blade]
        mesh = "blade"
        position = [0.2, 0, -0.16]
        rotation = { axis = [1, 0, 0], degrees = 90 }
        [body.leg]
        mesh = "leg"
        position = [-0.24, -0.2, -0.21]
        [cloth.sheet]
        mesh = "sheet"
        [cloth_solver]
        audit = true
    "#;
    let (dir, all) = run_frames(text);
    let verdict = check_run(&dir.path().join("run"), 2, &Silent).unwrap();
    assert!(verdict.crossings == 0 && verdict.bad_frames.is_empty(), "{verdict:#?}");
    // Held up by what stands below it while its corners hang.
    let last = &all[16];
    let (highest, lowest) = (last.stats["sheet.highest"], last.stats["sheet.lowest"]);
    assert!(highest > -0.04 && lowest < -0.15, "{lowest} … {highest}");
    // Friction keeps it from sliding off.
    let middle: Vec3 = positions(last, "sheet").iter().sum::<Vec3>() / 400.0;
    assert!(middle.x.hypot(middle.y) < 0.1, "{middle}");
}
