//! Ctrl-C and `kill -9` lose nothing: the resumed run has the same bits as one that never stopped.
#![cfg(unix)]

use crate::support::{Outcome, Place, frames};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

const FRAMES: &str = "..60";

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// Waits until the run in `folder` has written frame `k`.
fn wait_for_frame(place: &Place, folder: &str, k: u32) {
    let frame = place.path(folder).join(format!("frames/{k:06}.frame"));
    let start = Instant::now();
    while !frame.exists() {
        assert!(start.elapsed() < Duration::from_secs(120), "{} never came", frame.display());
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn ctrl_c_stops_in_order_and_resume_finishes_bit_for_bit() {
    let place = Place::new();
    place.billow(&["run", "juggle", "-o", "whole", "--frames", FRAMES]).ok();
    let child = place.start(&["run", "juggle", "-o", "stopped", "--frames", FRAMES, "--json"]);
    wait_for_frame(&place, "stopped", 3);
    signal(&child, "-INT");
    let outcome = Outcome::new(child.wait_with_output().unwrap());
    if outcome.code == 130 {
        assert!(outcome.stderr.contains("billow resume stopped"), "{outcome:?}");
        let info = place.billow(&["info", "stopped", "--json"]).ok().json();
        assert_eq!(info["status"], "interrupted", "{info}");
    } else {
        assert_eq!(outcome.code, 0, "too fast to be stopped, or broken: {outcome:?}");
    }
    place.billow(&["resume", "stopped"]).ok();
    assert!(frames(&place.path("stopped")) == frames(&place.path("whole")));
    place.billow(&["check", "stopped"]).ok();
}

#[test]
fn a_killed_run_resumes_bit_for_bit_however_often_it_is_killed() {
    let place = Place::new();
    place.billow(&["run", "juggle", "-o", "whole", "--frames", FRAMES]).ok();
    let mut child = place.start(&["run", "juggle", "-o", "killed", "--frames", FRAMES]);
    for k in [2, 9, 17, 18, 40] {
        wait_for_frame(&place, "killed", k);
        signal(&child, "-KILL");
        child.wait().unwrap();
        child = place.start(&["resume", "killed", "--threads", "2"]);
    }
    let outcome = Outcome::new(child.wait_with_output().unwrap());
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let (killed, whole) = (frames(&place.path("killed")), frames(&place.path("whole")));
    assert_eq!(killed.len(), 61);
    assert!(killed == whole);
}

#[test]
fn a_finished_run_can_be_made_longer() {
    let place = Place::new();
    place.billow(&["run", "tumble", "-o", "long", "--frames", "..10"]).ok();
    place.billow(&["run", "tumble", "-o", "grown", "--frames", "..4"]).ok();
    place.billow(&["resume", "grown", "--frames", "..10"]).ok();
    assert!(frames(&place.path("grown")) == frames(&place.path("long")));
}

#[test]
fn two_processes_cannot_write_one_run() {
    let place = Place::new();
    let child = place.start(&["run", "juggle", "-o", "run", "--frames", "..400"]);
    wait_for_frame(&place, "run", 1);
    let second = place.billow(&["resume", "run"]);
    signal(&child, "-KILL");
    child.wait_with_output().unwrap();
    assert_eq!(second.code, 2, "{second:?}");
    assert!(second.stderr.contains("is being written by process"), "{second:?}");
}
