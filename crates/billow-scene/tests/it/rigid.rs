//! Rigid bodies in scene files: they run, stop, go on bit for bit, and are judged by an independent meter.

use crate::support::{assert_same_frames, frames, resume_in, run_in, scene};
use billow_io::cache::{Status, Writer};
use billow_scene::Loader;
use billow_scene::check::{CheckReport, check_run};
use billow_scene::driver::Silent;

/// Boxes, balls and rings that fall on a floor, a slope and a lift.
const HEAP: &str = r#"
    [simulation]
    frames = 36
    [mesh.floor]
    shape = "plane"
    [mesh.slope]
    shape = "box"
    size = [2, 2, 0.2]
    [mesh.crate]
    shape = "box"
    size = [0.4, 0.3, 0.3]
    [mesh.ball]
    shape = "icosphere"
    radius = 0.2
    [mesh.ring]
    shape = "torus"
    radius = 0.3
    tube_radius = 0.1
    segments = 16
    tube_segments = 10
    [material.rough]
    friction = 0.8
    restitution = 0.2
    rolling = 0.01
    [body.floor]
    mesh = "floor"
    collision = "ground"
    [body.slope]
    mesh = "slope"
    position = [2, 0, 0.8]
    rotation = { axis = [0, 1, 0], degrees = -25 }
    [body.lift]
    mesh = "slope"
    position = [-2, 0, 0.2]
    motion = "keyframed"
    times = [0.2, 1.2]
    positions = [[0, 0, 0], [0, 0, 0.6]]
    [body.crate]
    mesh = "crate"
    material = "rough"
    position = [-2, 0, 0.7]
    motion = "rigid"
    array = { kind = "grid", count = [2, 2, 2], spacing = [0.5, 0.5, 0.4], jitter = [0.02, 0.02, 0.02], seed = 5 }
    [body.ball]
    mesh = "ball"
    material = "rough"
    position = [2, 0, 2.2]
    motion = "rigid"
    mass = 3
    velocity = [0, 0.3, 0]
    [body.ring]
    mesh = "ring"
    position = [0, 0, 2]
    motion = "rigid"
    array = { kind = "scatter", count = 4, size = [1.6, 1.6, 2], seed = 2 }
    [check.apart]
    kind = "penetration"
    max = 3e-3
    mean = 2e-3
"#;

fn judged(dir: &std::path::Path) -> CheckReport {
    check_run(dir, 2, &Silent).unwrap()
}

fn refused(text: &str) -> String {
    Loader::text("wrong.toml", text).load().unwrap_err().to_string()
}

#[test]
fn a_heap_lands_and_stays_apart_for_any_number_of_threads() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let heap = scene(HEAP);
    run_in(&heap, one.path(), 1).unwrap();
    run_in(&heap, two.path(), 2).unwrap();
    assert_same_frames(one.path(), two.path());
    let verdict = judged(one.path());
    assert!(verdict.passed(), "{verdict:#?}");
    let all = frames(one.path());
    // Crates ride the lift, shapes are stored once, statistics are there.
    let last = all.last().unwrap();
    assert!(last.object("crate-0").unwrap().pose.position.z > 1.0);
    assert!(last.stats["rigid-contacts"] > 8.0 && last.stats["crate.lowest"] > 0.9);
    assert!(last.stats["ring.highest"] < 1.0 && last.stats["ball.speed"] < 5.0);
    assert!(
        (heap.bodies().iter().find(|b| b.name == "ball").unwrap().mass.unwrap().mass - 3.0).abs() < 1e-12
    );
}

#[test]
fn a_run_that_was_stopped_goes_on_bit_for_bit() {
    let (whole, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run_in(&scene(HEAP), whole.path(), 2).unwrap();
    let dir = parts.path().join("run");
    let short = Loader::text("test.toml", HEAP).set(["simulation.time_limit=1e9".into()]).load().unwrap();
    let cancel = std::sync::atomic::AtomicBool::new(false);
    let stop = |event: &billow_scene::driver::Event<'_>| {
        if let billow_scene::driver::Event::Frame(f) = event
            && f.index == 17
        {
            cancel.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    };
    let options = billow_scene::driver::RunOptions {
        out: dir.clone(),
        first: 0,
        frames: None,
        threads: 1,
        overwrite: false,
        progress: &stop,
        cancel: &cancel,
    };
    assert!(billow_scene::driver::run(&short, &options).unwrap().cancelled);
    resume_in(&dir, None, 2).unwrap();
    assert_same_frames(whole.path(), &dir);
}

#[test]
fn the_box_that_is_pushed_into_the_floor_fails_the_check() {
    let text = HEAP.replace("positions = [[0, 0, 0], [0, 0, 0.6]]", "positions = [[0, 0, 0], [0, 0, 0]]");
    let dir = tempfile::tempdir().unwrap();
    let squeezed = Loader::text("test.toml", text.clone()).set(["simulation.frames=12".into()]);
    run_in(&squeezed.load().unwrap(), dir.path(), 2).unwrap();
    assert!(judged(dir.path()).passed());
    // A ceiling that comes down to where there is no room left.
    let press = "\n[body.press]\nmesh = \"slope\"\nposition = [-2, 0, 2]\nmotion = \"keyframed\"\ntimes = [0, 0.4]\npositions = [[0, 0, 0], [0, 0, -1.4]]\n";
    let dir = tempfile::tempdir().unwrap();
    let squeezed = Loader::text("test.toml", text + press).set(["simulation.frames=12".into()]);
    run_in(&squeezed.load().unwrap(), dir.path(), 2).unwrap();
    let verdict = judged(dir.path());
    let failed = verdict.checks.iter().find(|c| c.name == "apart").unwrap();
    assert!(!verdict.passed() && failed.passed == Some(false), "{verdict:#?}");
    assert!(failed.message.contains("crate-"), "{}", failed.message);
}

#[test]
fn rings_that_come_apart_fail_the_check_although_nothing_overlaps() {
    // The solver keeps linked rings linked; a stored frame in which they are not is judged wrong.
    let text = r#"
        [simulation]
        frames = 1
        gravity = [0, 0, 0]
        [mesh.ring]
        shape = "torus"
        [body.a]
        mesh = "ring"
        motion = "rigid"
        [body.b]
        mesh = "ring"
        motion = "rigid"
        position = [0.5, 0, 0]
        rotation = { axis = [1, 0, 0], degrees = 90 }
    "#;
    let dir = tempfile::tempdir().unwrap();
    run_in(&scene(text), dir.path(), 1).unwrap();
    assert!(judged(dir.path()).passed());
    let mut apart = frames(dir.path()).pop().unwrap();
    apart.objects[1].pose.position.x += 3.0;
    let mut writer = Writer::resume(dir.path(), 0).unwrap();
    writer.write_frame(&apart).unwrap();
    writer.finish(Status::Finished, None).unwrap();
    let verdict = judged(dir.path());
    let found = verdict.overlaps.as_ref().unwrap();
    assert!(!verdict.passed() && found.relinked == 1 && found.largest == 0.0, "{verdict:#?}");
}

#[test]
fn arrays_share_their_shape_and_have_names_and_colours() {
    let text = r#"
        [mesh.box]
        shape = "box"
        [body.tower]
        mesh = "box"
        motion = "rigid"
        position = [0, 0, 0.5]
        array = { kind = "grid", count = [1, 1, 12], spacing = [1, 1, 1], most = 11, colours = [[1, 0, 0], [0, 0, 1]] }
        [body.fence]
        mesh = "box"
        array = { kind = "circle", count = 8, radius = 5 }
        [body.post]
        mesh = "box"
        position = [0, 0, 30]
        array = { kind = "list", positions = [[0, 0, 0], [3, 0, 0]], rotations = [{ euler = [0, 0, 45] }, { euler = [0, 0, 0] }] }
    "#;
    let scene = scene(text);
    let bodies = scene.bodies();
    assert_eq!(bodies.len(), 21);
    assert_eq!(bodies[0].name, "tower-00");
    assert_eq!(bodies[1].colour.unwrap().to_array(), [0.0, 0.0, 1.0]);
    let positions = |k: usize| bodies[k].shape.positions().as_ptr();
    assert!((1..21).all(|k| positions(k) == positions(0)));
    assert_eq!(scene.look().objects.keys().filter(|name| name.starts_with("tower-")).count(), 11);
}

#[test]
fn a_floor_bears_the_weight_of_what_sleeps_on_it_and_shells_are_bodies_too() {
    let text = r#"
        [simulation]
        frames = 24
        [rigid_solver]
        sleep = 0.2
        [mesh.floor]
        shape = "plane"
        [mesh.box]
        shape = "box"
        [mesh.bowl]
        shape = "cup"
        open = true
        bottom_radius = 0.3
        top_radius = 0.5
        height = 0.3
        segments = 16
        [material.dull]
        restitution = 0
        thickness = 0.01
        [body.floor]
        mesh = "floor"
        material = "dull"
        collision = "ground"
        [body.box]
        mesh = "box"
        material = "dull"
        motion = "rigid"
        mass = 20
        position = [0, 0, 0.5]
        [body.bowl]
        mesh = "bowl"
        material = "dull"
        motion = "rigid"
        mass = 5
        position = [2, 0, 0.02]
    "#;
    let dir = tempfile::tempdir().unwrap();
    run_in(&scene(text), dir.path(), 2).unwrap();
    let verdict = judged(dir.path());
    assert!(verdict.passed(), "{verdict:#?}");
    let last = frames(dir.path()).pop().unwrap();
    let weight = 25.0 * 9.80665;
    assert!((last.stats["floor.load"] / weight - 1.0).abs() < 0.02, "{:?}", last.stats);
    assert_eq!(last.stats["rigid-asleep"], 2.0, "{:?}", last.stats);
}

#[test]
fn the_documents_sequence_is_asked_for_by_name_and_obeys_the_same_laws() {
    let text = r#"
        [simulation]
        frames = 12
        fps = 24
        [rigid_solver]
        method = "document"
        collision_geometry = "re-evolved"
        [mesh.floor]
        shape = "plane"
        [mesh.box]
        shape = "box"
        [mesh.ball]
        shape = "icosphere"
        radius = 0.1
        [material.lively]
        restitution = 1
        friction = 0
        [material.dull]
        restitution = 0
        [body.floor]
        mesh = "floor"
        material = "dull"
        collision = "ground"
        [body.box]
        mesh = "box"
        material = "dull"
        motion = "rigid"
        position = [0, 0, 0.5]
        array = { kind = "grid", count = [1, 1, 3], spacing = [1, 1, 1] }
        [body.cue]
        mesh = "ball"
        material = "lively"
        motion = "rigid"
        position = [-0.5, 4, 5]
        velocity = [2, 0, 0]
        [body.object]
        mesh = "ball"
        material = "lively"
        motion = "rigid"
        position = [0, 4, 5]
    "#;
    let dir = tempfile::tempdir().unwrap();
    run_in(&scene(text), dir.path(), 2).unwrap();
    let verdict = judged(dir.path());
    assert!(verdict.passed(), "{verdict:#?}");
    let last = frames(dir.path()).pop().unwrap();
    let at = |name: &str| last.objects.iter().find(|o| o.name == name).unwrap().pose.position;
    // The stack stands; of two equal balls that fall, the second takes over the speed of the first after 0.15 s.
    let time = 12.0 / 24.0;
    let heights = ["box-0", "box-1", "box-2"].map(|name| at(name).z);
    assert!(heights.iter().zip([0.5, 1.5, 2.5]).all(|(z, exact)| (z - exact).abs() < 1e-3), "{heights:?}");
    assert!((at("cue").x + 0.2).abs() < 0.02 && (at("object").x - 2.0 * (time - 0.15)).abs() < 0.02);
    assert!((at("object").z - (5.0 - 0.5 * 9.80665 * time * time)).abs() < 1e-3, "{}", at("object"));
}

#[test]
fn a_cylinder_and_a_capsule_roll_to_rest_where_their_materials_say() {
    let text = r#"
        [simulation]
        frames = 60
        fps = 24
        substeps = 4
        [mesh.floor]
        shape = "plane"
        [mesh.log]
        shape = "cylinder"
        radius = 0.1
        height = 0.3
        transform = { rotate = { euler = [90, 0, 0] } }
        [mesh.pill]
        shape = "capsule"
        radius = 0.1
        length = 0.2
        segments = 48
        transform = { rotate = { euler = [90, 0, 0] } }
        [material.dull]
        restitution = 0
        friction = 0.6
        [material.heavy]
        restitution = 0
        friction = 0.6
        rolling = 0.06
        spinning = 0.01
        [body.floor]
        mesh = "floor"
        material = "dull"
        collision = "ground"
        [body.log]
        mesh = "log"
        material = "heavy"
        motion = "rigid"
        position = [0, 0, 0.1]
        velocity = [0.8, 0, 0]
        angular_velocity = [0, 8, 0]
        [body.pill]
        mesh = "pill"
        material = "heavy"
        motion = "rigid"
        position = [0, 1, 0.1005]
        velocity = [0.8, 0, 0]
        angular_velocity = [0, 8, 0]
    "#;
    let dir = tempfile::tempdir().unwrap();
    run_in(&scene(text), dir.path(), 2).unwrap();
    assert!(judged(dir.path()).passed());
    let last = frames(dir.path()).pop().unwrap();
    // (1 + I/mr²) v²/2μg, with I/mr² = ½ and (½·0.2 + ⅖·4/3·0.1)/(0.2 + 4/3·0.1).
    let free = 0.8 * 0.8 / (2.0 * 0.06 * 9.80665);
    for (name, inertia) in [("log", 0.5), ("pill", 0.46)] {
        let (way, law) = (last.object(name).unwrap().pose.position.x, (1.0 + inertia) * free);
        assert!((way / law - 1.0).abs() < 0.03, "{name}: {way} {law} m");
        assert!(last.stats[&format!("{name}.speed")] < 1e-9, "{name}");
    }
}

#[test]
fn mistakes_are_named_with_their_place() {
    const BOX: &str = "[mesh.box]\nshape = \"box\"\n[body.a]\nmesh = \"box\"\nmotion = \"rigid\"\n";
    let cases = [
        ("mass = -1\n", "wrong.toml:6:8: error: `mass` is -1 [kg], but must be greater than 0"),
        ("collision = \"ground\"\n", "wrong.toml:6:13: error: `a` is a rigid body and cannot have collision"),
        (
            "array = { kind = \"gird\" }\n",
            "wrong.toml:6:18: error: `kind` is the string \"gird\", but must be one of grid",
        ),
        ("array = { kind = \"scatter\", count = 900, size = [2, 2, 2] }\n", "do not fit into a box"),
        (
            "array = { kind = \"grid\", count = [2, 1, 1], spacing = [0.9, 1, 1] }\n",
            "`a-0` and `a-1` overlap by 0.1000 m",
        ),
        (
            "[material.x]\nrolling = -0.1\n",
            "wrong.toml:7:11: error: `rolling` is -0.1, but must be from 0 to 10",
        ),
        ("[material.x]\nspinning = nan\n", "wrong.toml:7:12: error: `spinning` must be a finite number"),
        ("[rigid_solver]\nmethod = \"documnt\"\n", "wrong.toml:7:10: error: `method`"),
        (
            "[check.x]\nkind = \"path\"\nbody = \"a-7\"\nposition = [0, 0, 0]\n",
            "there is no body called \"a-7\"",
        ),
        (
            "[body.b]\nmesh = \"box\"\nmotion = \"rigid\"\nposition = [0.5, 0, 0]\n",
            "wrong.toml:6:7: error: `a` and `b` overlap by 0.5000 m at the start",
        ),
    ];
    for (more, expected) in cases {
        let said = refused(&format!("{BOX}{more}"));
        assert!(said.contains(expected), "{more}\n{said}");
    }
    let open = "[mesh.p]\nshape = \"cone\"\ncaps = false\n[body.p]\nmesh = \"p\"\nmotion = \"rigid\"\ncollision = \"level-set\"\n";
    assert!(
        refused(open).contains("wrong.toml:4:7: error: a level set of `p` needs a closed mesh"),
        "{}",
        refused(open)
    );
    let none = "[mesh.p]\nshape = \"box\"\n[body.p]\nmesh = \"p\"\n[check.c]\nkind = \"penetration\"\n";
    assert!(refused(none).contains("there are no rigid bodies"), "{}", refused(none));
}
