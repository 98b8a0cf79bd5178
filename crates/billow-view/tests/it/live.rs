//! A run that grows, is replaced, or is damaged while it is shown.

use crate::client::get;
use crate::scene;
use billow_view::{Options, Server};
use serde_json::json;
use std::time::{Duration, Instant};

/// Asks until the run looks as wanted.
fn until(server: &Server, what: &str, wanted: impl Fn(&serde_json::Value) -> bool) -> serde_json::Value {
    let start = Instant::now();
    let mut version = 0;
    loop {
        let run = get(server, &format!("watch/{version}")).json();
        if wanted(&run) {
            return run;
        }
        version = run["version"].as_u64().unwrap();
        assert!(start.elapsed() < Duration::from_secs(30), "not {what} after 30 s: {run}");
    }
}

#[test]
fn frames_appear_as_they_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let server = Server::watch(&run, &Options::default()).unwrap();
    assert_eq!(get(&server, "run").json()["status"], "waiting");
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| scene::write(&run, 8, 8, Duration::from_millis(150)).unwrap());
        let early = until(&server, "begun", |r| !r["frames"].as_array().unwrap().is_empty());
        assert_eq!(early["status"], "running");
        assert!(!writer.is_finished(), "news come while the run is written");
        server.report_progress(3, 0.5);
    });
    let done = until(&server, "finished", |r| r["status"] == "finished" && r["indexed"] == 8);
    assert_eq!((&done["frames"], &done["last"], &done["up"]), (&json!([[0, 7]]), &json!(7), &json!("z")));
    let table = get(&server, "table/0").json();
    assert_eq!(table["rows"].as_array().unwrap().len(), 8);
    assert!(table["rows"][5]["stats"]["collisions"].is_number());
    assert!(table["fields"]["strain"][1].as_f64().unwrap() > 0.0);
}

#[test]
fn a_replaced_run_is_noticed_and_nothing_old_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    scene::write(&run, 5, 8, Duration::ZERO).unwrap();
    let server = Server::open(&run, &Options::default()).unwrap();
    let before = until(&server, "known", |r| r["indexed"] == 5);
    let old = get(&server, "frame/2").body;
    scene::write(&run, 5, 9, Duration::ZERO).unwrap();
    let after = until(&server, "replaced", |r| r["epoch"] != before["epoch"] && r["indexed"] == 5);
    assert_eq!(after["frames"], json!([[0, 4]]));
    let new = get(&server, "frame/2").body;
    assert!(new.len() > old.len(), "a finer sheet takes more bytes: {} and {}", old.len(), new.len());
    let table = get(&server, "table/0").json();
    assert!(table["rows"].as_array().unwrap().iter().all(|row| row.get("error").is_none()), "{table}");
}

#[test]
fn a_damaged_frame_is_told_and_the_others_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    scene::write(&run, 4, 8, Duration::ZERO).unwrap();
    let broken = run.join("frames/000002.frame");
    let bytes = std::fs::read(&broken).unwrap();
    std::fs::write(&broken, &bytes[..bytes.len() / 2]).unwrap();
    let server = Server::open(&run, &Options::default()).unwrap();
    until(&server, "known", |r| r["indexed"] == 4);
    let found = get(&server, "frame/2");
    assert_eq!(found.status, 500);
    assert!(String::from_utf8_lossy(&found.body).contains("000002.frame"), "the answer names the file");
    assert_eq!(get(&server, "frame/3").status, 200);
    assert!(get(&server, "table/0").json()["rows"][2]["error"].is_string());
}

#[test]
fn shared_meshes_are_fetched_by_part_and_frames_stay_small() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    scene::write(&run, 3, 30, Duration::ZERO).unwrap();
    let server = Server::open(&run, &Options::default()).unwrap();
    let frame = get(&server, "frame/2").body;
    assert_eq!(&frame[..4], b"BVF1");
    let names = get(&server, "catalogue/2").json();
    let names: Vec<&str> =
        names["objects"].as_array().unwrap().iter().map(|o| o["name"].as_str().unwrap()).collect();
    let u32_at = |at: usize| u32::from_le_bytes(frame[at..at + 4].try_into().unwrap()) as usize;
    let record = |name: &str| 40 + 176 * names.iter().position(|n| *n == name).unwrap();
    // The rolling ball sends neither vertices nor triangles, the waving sheet its vertices alone.
    let offsets = |name: &str| [record(name) + 144, record(name) + 168].map(u32_at);
    assert_eq!(offsets("ball"), [0, 0]);
    assert!(offsets("sheet")[0] > 0 && offsets("sheet")[1] == 0);
    assert_eq!(u32_at(record("sheet") + 148), 31 * 31 * 12);
    let ball = names.iter().position(|n| *n == "ball").unwrap();
    assert_eq!(get(&server, &format!("part/2/{ball}/vertices")).body.len(), u32_at(record("ball") + 148));
    assert_eq!(get(&server, &format!("part/2/{ball}/indices")).body.len(), u32_at(record("ball") + 172));
}
