//! Every gallery scene runs and passes its own checks.

use billow_scene::check::check_run;
use billow_scene::driver::{RunOptions, Silent, run};
use billow_scene::{Loader, gallery};
use std::sync::atomic::AtomicBool;

/// Gallery scenes run this far in the tests.
const SHORTENED: u32 = 30;

#[test]
fn every_gallery_scene_runs_and_passes_its_checks() {
    for scene in gallery::list() {
        let loaded = Loader::gallery(scene.name).load().unwrap_or_else(|p| panic!("{}:\n{p}", scene.name));
        assert!(!scene.title.is_empty() && scene.description.len() > 40, "{} needs words", scene.name);
        assert!(loaded.warnings().is_empty(), "{:?}", loaded.warnings());
        assert!(!loaded.checks().is_empty(), "{} has no checks", scene.name);
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("run");
        let cancel = AtomicBool::new(false);
        let options = RunOptions {
            out: out.clone(),
            frames: Some(loaded.frames().min(SHORTENED)),
            threads: 2,
            overwrite: false,
            progress: &Silent,
            cancel: &cancel,
        };
        let report = run(&loaded, &options).unwrap();
        assert!(report.finished() && report.frames == loaded.frames().min(SHORTENED) + 1);
        let verdict = check_run(&out, 2, &Silent).unwrap();
        assert!(verdict.passed(), "{}: {verdict:#?}", scene.name);
        assert!(verdict.checks.iter().any(|c| c.passed == Some(true)), "{verdict:#?}");
    }
}
