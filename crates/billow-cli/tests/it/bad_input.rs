//! Bad input ends in a clear message with the place, and in the exit code for bad input.

use crate::support::Place;

#[test]
fn unknown_scenes_get_advice() {
    let place = Place::new();
    let outcome = place.billow(&["run", "tumbel"]);
    assert_eq!(outcome.code, 2, "{outcome:?}");
    assert!(
        outcome.stderr.contains("did you mean `tumble`?") && outcome.stderr.contains("billow gallery"),
        "{outcome:?}"
    );
    let outcome = place.billow(&["run", "nowhere/shot.toml"]);
    assert_eq!(outcome.code, 2, "{outcome:?}");
    assert!(outcome.stderr.contains("nowhere/shot.toml"), "{outcome:?}");
}

#[test]
fn all_problems_of_a_scene_are_shown_with_line_and_remedy() {
    let place = Place::new();
    place.write(
        "shot.toml",
        "[simulation]\nfraems = 10\nfps = -24\n\n[body.ball]\nmesh = \"bal\"\n[mesh.ball]\nshape = \"icosphere\"\nradius = \"big\"\n",
    );
    let outcome = place.billow(&["run", "shot.toml"]);
    assert_eq!(outcome.code, 2, "{outcome:?}");
    for part in [
        "shot.toml:2:1",
        "`frames`",
        "shot.toml:3:",
        "-24",
        "shot.toml:6:",
        "did you mean \"ball\"?",
        "shot.toml:9:",
        "radius",
    ] {
        assert!(outcome.stderr.contains(part), "{part} is missing from\n{}", outcome.stderr);
    }
    assert!(!place.path("out").exists(), "nothing is written for a scene that cannot run");
}

#[test]
fn overrides_are_checked_like_files() {
    let place = Place::new();
    let outcome = place.billow(&["run", "tumble", "--set", "simulation.substps=3"]);
    assert_eq!(outcome.code, 2, "{outcome:?}");
    assert!(outcome.stderr.contains("--set") && outcome.stderr.contains("substeps"), "{outcome:?}");
}

#[test]
fn folders_that_are_no_runs_and_missing_ones_are_refused() {
    let place = Place::new();
    std::fs::create_dir(place.path("photos")).unwrap();
    place.write("photos/cat.jpg", "meow");
    for command in [
        &["check", "photos"][..],
        &["resume", "photos"],
        &["export", "photos", "-f", "usd"],
        &["info", "photos"],
    ] {
        let outcome = place.billow(command);
        assert_eq!(outcome.code, 2, "{command:?}: {outcome:?}");
        assert!(outcome.stderr.contains("photos"), "{outcome:?}");
    }
    for command in
        [&["check", "gone"][..], &["resume", "gone"], &["export", "gone", "-f", "ply"], &["info", "gone.obj"]]
    {
        let outcome = place.billow(command);
        assert_eq!(outcome.code, 2, "{command:?}: {outcome:?}");
        assert!(outcome.stderr.contains("gone"), "{outcome:?}");
    }
    let outcome = place.billow(&["run", "tumble", "-o", "photos", "--overwrite", "--frames", "1"]);
    assert_eq!(outcome.code, 2, "{outcome:?}");
    assert_eq!(std::fs::read_to_string(place.path("photos/cat.jpg")).unwrap(), "meow");
}

#[test]
fn an_existing_run_is_not_written_over_unless_asked() {
    let place = Place::new();
    place.billow(&["run", "tumble", "-o", "run", "--frames", "2"]).ok();
    let outcome = place.billow(&["run", "tumble", "-o", "run", "--frames", "1"]);
    assert_eq!(outcome.code, 2, "{outcome:?}");
    assert!(
        outcome.stderr.contains("--overwrite") && outcome.stderr.contains("billow resume run"),
        "{outcome:?}"
    );
    let report =
        place.billow(&["run", "tumble", "-o", "run", "--frames", "1", "--overwrite", "--json"]).ok().json();
    assert_eq!(report["last_frame"], 1);
}

#[test]
fn json_output_carries_errors_too() {
    let place = Place::new();
    let outcome = place.billow(&["run", "tumbel", "--json"]);
    let report = outcome.json();
    assert_eq!(
        (report["ok"].as_bool(), report["error"].as_str(), report["exit_code"].as_i64()),
        (Some(false), Some("bad-input"), Some(2))
    );
}

#[test]
fn impossible_arguments_are_explained() {
    let place = Place::new();
    let outcome = place.billow(&["run", "tumble", "--frames", "9..3"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("lies before"), "{outcome:?}");
    let outcome = place.billow(&["export", "x", "--format", "fbx"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("usd"), "{outcome:?}");
}
