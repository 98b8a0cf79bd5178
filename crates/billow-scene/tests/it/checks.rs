//! The judge finds what is wrong with a run.

use crate::support::{MIXED, run_in, scene};
use billow_io::Shape;
use billow_io::cache::{Reader, Status, Writer};
use billow_num::Vec3;
use billow_scene::Loader;
use billow_scene::check::{CheckReport, check_run};
use billow_scene::driver::{RunError, Silent};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn short(extra: &str) -> String {
    format!("{}\n{extra}", MIXED.replace("frames = 40", "frames = 6"))
}

fn finished(dir: &Path, extra: &str) -> PathBuf {
    let out = dir.join("run");
    run_in(&scene(&short(extra)), &out, 1).unwrap();
    out
}

fn verdict(dir: &Path) -> CheckReport {
    let one = check_run(dir, 1, &Silent).unwrap();
    assert_eq!(one, check_run(dir, 2, &Silent).unwrap(), "the verdict depends on threads");
    one
}

/// Replaces frame 6 by a changed one.
fn tamper(dir: &Path, change: impl FnOnce(&mut billow_io::Frame)) {
    let mut frame = Reader::open(dir).unwrap().read(6).unwrap();
    change(&mut frame);
    let mut writer = Writer::resume(dir, 5).unwrap();
    writer.write_frame(&frame).unwrap();
    writer.finish(Status::Finished, None).unwrap();
}

#[test]
fn a_good_run_passes() {
    let dir = tempfile::tempdir().unwrap();
    let report = verdict(&finished(dir.path(), ""));
    assert!(report.passed() && report.frames == 7 && report.expected_frames == 7, "{report:#?}");
    assert!(serde_json::to_value(&report).unwrap()["bad_frames"].is_array());
}

#[test]
fn crossings_bad_numbers_and_inverted_tetrahedra_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let out = finished(
        dir.path(),
        "[mesh.block]\nshape = \"tet-box\"\ncells = [2, 2, 2]\n[body.block]\nmesh = \"block\"\nposition = [0, 9, 9]",
    );
    tamper(&out, |frame| {
        let floor = frame.objects[0].pose.position;
        frame.objects.iter_mut().find(|o| o.name == "ball").unwrap().pose.position = floor;
    });
    let report = verdict(&out);
    assert!(
        report.crossings > 0 && report.bad_frames.len() == 1 && report.bad_frames[0].frame == 6,
        "{report:#?}"
    );
    assert!(report.bad_frames[0].problems[0].contains("of `floor` with triangle"), "{report:#?}");

    tamper(&out, |frame| {
        frame.stats.insert("energy".into(), f64::NAN);
        let block = frame.objects.iter_mut().find(|o| o.name == "block").unwrap();
        let Shape::Tets { positions, .. } = &mut block.shape else { panic!() };
        let mut moved = positions.to_vec();
        moved[13] = Vec3::new(5.0, 0.0, 0.0);
        *positions = Arc::new(moved);
        frame.objects.iter_mut().find(|o| o.name == "ball").unwrap().pose.position =
            Vec3::new(0.0, -4.0, 2.0);
    });
    let report = verdict(&out);
    assert!(report.bad_frames[0].inverted > 0 && report.bad_frames[0].non_finite == 1, "{report:#?}");
}

#[test]
fn damaged_and_missing_frames_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let out = finished(dir.path(), "");
    let file = out.join("frames/000003.frame");
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    std::fs::remove_file(out.join("frames/000005.frame")).unwrap();
    let report = verdict(&out);
    assert_eq!(report.bad_frames.iter().map(|f| f.frame).collect::<Vec<_>>(), [3]);
    assert!(report.bad_frames[0].problems[0].contains("000003.frame is damaged"), "{report:#?}");
    assert_eq!(report.problems, ["frame 5 missing although the run says it is finished"]);
}

#[test]
fn the_scenes_own_checks_pass_fail_and_are_skipped() {
    let dir = tempfile::tempdir().unwrap();
    let extra = r#"
        [check.fall]
        kind = "path"
        body = "ball"
        position = ["3 + 0.5*sin(3*t)", 0, 2]
        [check.wrong-path]
        kind = "path"
        body = "ball"
        position = [3, 0, 2]
        tolerance = 0.1
        [check.energy]
        kind = "constant"
        statistic = "tee.energy"
        relative = 1e-12
        [check.not-constant]
        kind = "constant"
        statistic = "tee.height"
        [check.too-high]
        kind = "range"
        statistic = "tee.height"
        max = 3.2
        [check.flips]
        kind = "flips"
        body = "tee"
        axis = [1, 0, 0]
        along = [1, 0, 0]
        at_least = 1
        at_most = 1
        [check.later]
        kind = "range"
        statistic = "energy"
        needs_frame = 7
    "#;
    let report = verdict(&finished(dir.path(), extra));
    let verdicts: Vec<_> = report.checks.iter().map(|c| (c.name.as_str(), c.passed)).collect();
    let expected = [
        ("fall", Some(true)),
        ("wrong-path", Some(false)),
        ("energy", Some(true)),
        ("not-constant", Some(false)),
        ("too-high", Some(false)),
        ("flips", Some(true)),
        ("later", None),
    ];
    assert_eq!(verdicts, expected, "{report:#?}");
    assert!(!report.passed());
}

#[test]
fn a_scene_may_end_the_run_at_the_first_crossing() {
    let dir = tempfile::tempdir().unwrap();
    let sinking = "[body.stone]\nmesh = \"ball\"\nposition = [0, 3, 0.6]\nmotion = \"free\"\n[output]\naudit = \"fail\"";
    let error = run_in(&scene(&short(sinking)), &dir.path().join("run"), 1).unwrap_err();
    let RunError::Crossing { frame, pairs, ref first } = error else { panic!("{error}") };
    assert!(frame > 1 && pairs > 0 && first.contains("`floor`") && first.contains("`stone`"), "{error}");
    let reader = Reader::open(dir.path().join("run")).unwrap();
    assert_eq!((reader.frames().len() as u32, reader.status()), (frame, Status::Failed));

    let allowed =
        sinking.replace("audit = \"fail\"", "audit = \"fail\"\nmay_cross = [[\"stone\", \"floor\"]]");
    run_in(&scene(&short(&allowed)), &dir.path().join("allowed"), 1).unwrap();
    let report = sinking.replace("fail", "report");
    let counted = run_in(&scene(&short(&report)), &dir.path().join("counted"), 1).unwrap();
    assert!(counted.finished() && counted.crossings >= pairs);
    let gravity =
        Loader::text("a.toml", short(sinking)).set(["simulation.gravity=[0,0,0]".to_owned()]).load().unwrap();
    run_in(&gravity, &dir.path().join("floating"), 1).unwrap();
}
