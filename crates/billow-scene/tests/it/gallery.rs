//! Every gallery scene runs and passes its own checks.

use billow_scene::check::check_run;
use billow_scene::driver::{RunOptions, Silent, run};
use billow_scene::{Loader, gallery};
use std::sync::atomic::AtomicBool;

/// How far a gallery scene runs in the tests, and how coarse.
fn shortened(name: &str) -> (u32, &'static [&'static str]) {
    match name {
        "drape" => (24, &["mesh.sheet.nodes=[24, 24]"]),
        "twist" => (30, &["mesh.sheet.nodes=[20, 20]"]),
        "pile" => (14, &["mesh.sheet.nodes=[20, 20]"]),
        "flag" => (16, &["mesh.flag.nodes=[24, 16]"]),
        "curtain" => (10, &["mesh.curtain.nodes=[30, 20]"]),
        "tablecloth" => (12, &["mesh.cloth.nodes=[24, 24]"]),
        "layers" => (8, &["mesh.sheet.nodes=[12, 10]"]),
        "buddha-soft" | "buddha-stiff" => (8, &["mesh.figure.detail=20"]),
        "robe" => (4, &["mesh.cape.rings=12", "cloth_solver.preroll=0.3"]),
        "rings" | "rings-500" => (20, &["body.ring.array.most=60"]),
        "bones" => (12, &["body.bone.array.count=[2, 2, 2]", "mesh.bone.segments=24", "mesh.bone.bands=8"]),
        "silo" => (6, &["body.high.array.count=[3, 3, 12]", "body.middle.array.count=[3, 3, 6]"]),
        "dominoes" | "cups" | "wall" => (10, &[]),
        "mesh-figurine" => (1, &["mesh.figure.detail=60"]),
        name if name.starts_with("mesh-") => (1, &[]),
        _ => (30, &[]),
    }
}

#[test]
fn every_gallery_scene_runs_and_passes_its_checks() {
    let mut wrong = String::new();
    for scene in gallery::list() {
        let whole = Loader::gallery(scene.name).load().unwrap_or_else(|p| panic!("{}:\n{p}", scene.name));
        assert!(whole.warnings().is_empty(), "{:?}", whole.warnings());
        let (frames, coarser) = shortened(scene.name);
        let coarser = coarser.iter().map(ToString::to_string);
        let loaded = Loader::gallery(scene.name).set(coarser).load().unwrap();
        let frames = loaded.frames().min(frames);
        assert!(!scene.title.is_empty() && scene.description.len() > 40, "{} needs words", scene.name);
        assert!(!loaded.checks().is_empty(), "{} has no checks", scene.name);
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("run");
        let cancel = AtomicBool::new(false);
        let options = RunOptions {
            out: out.clone(),
            first: 0,
            frames: Some(frames),
            threads: 2,
            overwrite: false,
            progress: &Silent,
            cancel: &cancel,
        };
        let report = run(&loaded, &options).unwrap_or_else(|e| panic!("{}: {e}", scene.name));
        assert!(report.finished() && report.frames == frames + 1);
        let verdict = check_run(&out, 2, &Silent).unwrap();
        if !verdict.passed() || !verdict.checks.iter().any(|c| c.passed == Some(true)) {
            let first = verdict.bad_frames.first();
            let failed: Vec<_> = verdict.checks.iter().filter(|c| c.passed == Some(false)).collect();
            wrong +=
                &format!("{}: {} crossings, first {first:?}, {failed:?}\n", scene.name, verdict.crossings);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn the_handle_turns_over_as_often_as_it_should() {
    let sparse = ["output.every=4".to_owned(), "output.audit=off".to_owned()];
    let scene = Loader::gallery("tumble").set(sparse).load().unwrap();
    let dir = tempfile::tempdir().unwrap();
    crate::support::run_in(&scene, dir.path(), 2).unwrap();
    let verdict = check_run(dir.path(), 2, &Silent).unwrap();
    assert!(verdict.passed() && verdict.checks.iter().all(|c| c.passed == Some(true)), "{verdict:#?}");
}

#[test]
fn copies_are_complete_and_never_replace_other_files() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["tumble", "juggle"] {
        let written = gallery::get(name).unwrap().copy_to(dir.path()).unwrap();
        assert_eq!(written[0], dir.path().join(format!("{name}.toml")));
        Loader::file(&written[0]).load().unwrap();
    }
    std::fs::write(dir.path().join("stage.toml"), "# mine\n").unwrap();
    let error = gallery::get("orrery").unwrap().copy_to(dir.path()).unwrap_err();
    assert!(error.to_string().contains("stage.toml exists and is different"), "{error}");
    assert!(!dir.path().join("orrery.toml").exists());
    assert_eq!(gallery::get("clockwrok").unwrap_err(), Some("clockwork"));
}
