//! Every command does what its help says.

use crate::support::{Place, crossing_scene, frames};
use serde_json::Value;

fn short_run(place: &Place, name: &str) {
    place.billow(&["run", "tumble", "-o", name, "--frames", "0..6"]).ok();
}

#[test]
fn the_gallery_can_be_listed_shown_copied_and_run_from_the_copy() {
    let place = Place::new();
    let list = place.billow(&["gallery", "--json"]).ok().json();
    let names: Vec<&str> =
        list["scenes"].as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"tumble"), "{names:?}");
    let text = place.billow(&["gallery", "show", "tumble"]).ok().stdout;
    assert!(text.contains("[body."));
    for name in names {
        place.billow(&["gallery", "copy", name, "mine"]).ok();
        let scene = format!("mine/{name}.toml");
        let report = place.billow(&["run", &scene, "-o", name, "--frames", "2", "--json"]).ok().json();
        assert_eq!(
            (report["last_frame"].as_u64(), report["crossing_pairs"].as_u64()),
            (Some(2), Some(0)),
            "{report}"
        );
    }
}

#[test]
fn a_run_ends_with_one_json_object_that_scripts_can_rely_on() {
    let place = Place::new();
    let report = place.billow(&["run", "tumble", "--frames", "..3", "--threads", "1", "--json"]).ok().json();
    for key in ["seconds_per_frame", "seconds", "sub_steps", "crossing_pairs"] {
        assert!(report[key].is_number(), "{key} in {report}");
    }
    assert!(report["seconds_per_stage"].as_object().is_some_and(|stages| !stages.is_empty()), "{report}");
    assert_eq!(report["run"], "out/tumble");
    if cfg!(target_os = "linux") {
        assert!(report["peak_memory_bytes"].as_u64().is_some_and(|n| n > 1_000_000), "{report}");
    }
    // The same command again never writes over the first run.
    let again = place.billow(&["run", "tumble", "--frames", "..3", "--json"]).ok().json();
    assert_eq!(again["run"], "out/tumble-2");
}

#[test]
fn quiet_says_nothing_and_set_changes_the_scene() {
    let place = Place::new();
    let outcome = place.billow(&["-q", "run", "tumble", "-o", "run", "--set", "simulation.frames=2"]).ok();
    assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("", ""));
    assert_eq!(frames(&place.path("run")).len(), 3);
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let place = Place::new();
    for threads in ["1", "2", "7"] {
        place.billow(&["run", "juggle", "-o", threads, "--frames", "8", "--threads", threads]).ok();
    }
    let one = frames(&place.path("1"));
    assert_eq!(one.len(), 9);
    assert!(one == frames(&place.path("2")) && one == frames(&place.path("7")));
}

#[test]
fn only_the_frames_asked_for_are_kept() {
    let place = Place::new();
    place.billow(&["run", "tumble", "-o", "all", "--frames", "0..8"]).ok();
    place.billow(&["run", "tumble", "-o", "tail", "--frames", "5..8"]).ok();
    let (all, tail) = (frames(&place.path("all")), frames(&place.path("tail")));
    assert_eq!(tail.len(), 4);
    assert!(all[5..] == tail[..], "the same frames, only fewer");
    let report = place.billow(&["check", "tail", "--json"]).ok().json();
    assert_eq!(report["frames"], 4, "{report}");
}

#[test]
fn check_passes_a_good_run_and_names_a_damaged_frame() {
    let place = Place::new();
    short_run(&place, "run");
    let report = place.billow(&["check", "run", "--json"]).ok().json();
    assert_eq!((report["ok"].as_bool(), report["frames"].as_u64()), (Some(true), Some(7)), "{report}");
    let frame = place.path("run/frames/000003.frame");
    let mut bytes = std::fs::read(&frame).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&frame, bytes).unwrap();
    let outcome = place.billow(&["check", "run", "--json"]);
    assert_eq!(outcome.code, 3, "{outcome:?}");
    assert!(outcome.stdout.contains("000003.frame"), "{outcome:?}");
}

#[test]
fn check_finds_bodies_that_pass_through_each_other() {
    let place = Place::new();
    place.write("cross.toml", &crossing_scene("report"));
    let outcome = place.billow(&["run", "cross.toml", "-o", "run", "--json"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let outcome = place.billow(&["check", "run", "--json"]);
    assert_eq!(outcome.code, 3, "{outcome:?}");
    assert!(outcome.stdout.contains("still") && outcome.stdout.contains("mover"), "{outcome:?}");
}

#[test]
fn exports_hold_every_frame_and_the_range_asked_for() {
    let place = Place::new();
    short_run(&place, "run");
    let usd = place.billow(&["export", "run", "--format", "usd", "-o", "scene.usda", "--json"]).ok().json();
    assert_eq!(usd["frames"], 7);
    let text = std::fs::read_to_string(place.path("scene.usda")).unwrap();
    assert!(text.starts_with("#usda 1.0") && text.contains("timeCodesPerSecond = 24"), "{}", &text[..400]);
    place.billow(&["export", "run", "-f", "usd"]).ok();
    assert!(std::fs::read(place.path("run.usdc")).unwrap().starts_with(b"PXR-USDC"));
    let ply =
        place.billow(&["export", "run", "-f", "ply", "-o", "ply", "--frames", "2..4", "--json"]).ok().json();
    assert_eq!((ply["frames"].as_u64(), ply["files"].as_array().map(Vec::len)), (Some(3), Some(6)), "{ply}");
    let obj = place.billow(&["export", "run", "-f", "obj", "--json"]).ok().json();
    let first = obj["files"][0].as_str().unwrap().to_string();
    let mesh = place.billow(&["info", &first, "--json"]).ok().json();
    assert_eq!((mesh["kind"].as_str(), mesh["ok"].as_bool()), (Some("mesh"), Some(true)), "{mesh}");
}

#[test]
fn info_tells_what_runs_scenes_and_meshes_hold() {
    let place = Place::new();
    short_run(&place, "run");
    place.billow(&["gallery", "copy", "tumble"]).ok();
    let run = place.billow(&["info", "run", "--json"]).ok().json();
    assert_eq!(
        (run["kind"].as_str(), run["status"].as_str(), run["frames"].as_u64()),
        (Some("run"), Some("finished"), Some(7))
    );
    assert!(run["objects"].as_array().is_some_and(|o| o.len() > 1), "{run}");
    let scene = place.billow(&["info", "tumble.toml", "--json"]).ok().json();
    assert_eq!(scene["kind"], "scene");
    place.write("open.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    let mesh = place.billow(&["info", "open.obj", "--json"]).ok().json();
    assert_eq!(
        (mesh["closed"].as_bool(), mesh["boundary_edges"].as_u64(), mesh["area"].as_f64()),
        (Some(false), Some(3), Some(0.5))
    );
}

#[test]
fn the_schema_describes_every_gallery_scene_and_completions_are_scripts() {
    let place = Place::new();
    let schema: Value = serde_json::from_str(&place.billow(&["schema"]).ok().stdout).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert!(schema["properties"]["simulation"].is_object(), "{schema}");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(place.billow(&["completions", shell]).ok().stdout.contains("billow"));
    }
}

#[test]
fn bench_measures_the_scenes_it_is_given() {
    let place = Place::new();
    let report = place.billow(&["bench", "tumble", "juggle", "--frames", "..2", "--json"]).ok().json();
    let scenes = report["scenes"].as_array().unwrap();
    assert!(scenes.len() == 2 && scenes.iter().all(|s| s["seconds_per_frame"].is_number()), "{report}");
    assert!(!place.path("out").exists(), "a benchmark leaves nothing behind");
}

#[test]
fn every_help_page_has_an_example() {
    let place = Place::new();
    for command in [
        "run",
        "resume",
        "check",
        "export",
        "info",
        "gallery",
        "schema",
        "bench",
        "completions",
        "sdf",
        "surface",
    ] {
        let help = place.billow(&[command, "--help"]).ok().stdout;
        assert!(help.contains("Example") && help.contains(&format!("billow {command}")), "{help}");
    }
}
