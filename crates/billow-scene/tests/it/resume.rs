//! Runs survive anything: kills, interrupts, extensions; and do not depend on threads.

use crate::support::{MIXED, assert_same_frames, frames, resume_in, run_in, scene};
use billow_io::cache::{Reader, Status};
use billow_scene::Loader;
use billow_scene::driver::{Event, RunError, RunOptions, run};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Begins or continues a run in a process of its own, to be killed.
fn child(dir: &Path, threads: usize, begin: bool) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "resume::child_process", "--nocapture"])
        .env("BILLOW_TEST_DIR", dir)
        .env("BILLOW_TEST_THREADS", threads.to_string())
        .env("BILLOW_TEST_BEGIN", begin.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// Not a test of its own: what [`child`] runs.
#[test]
fn child_process() {
    let Some(dir) = std::env::var_os("BILLOW_TEST_DIR") else { return };
    let threads = std::env::var("BILLOW_TEST_THREADS").unwrap().parse().unwrap();
    let result = match std::env::var("BILLOW_TEST_BEGIN").as_deref() {
        Ok("true") => run_in(&scene(MIXED), Path::new(&dir), threads),
        _ => resume_in(Path::new(&dir), None, threads),
    };
    match result {
        Ok(_) => println!("child: done"),
        Err(error) => println!("child: {error}"),
    }
}

/// Lets the child work for a while and kills it (SIGKILL on Unix).
fn kill_after(mut child: Child, pause: Duration) {
    std::thread::sleep(pause);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn killing_a_run_at_any_moment_changes_no_bit_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let whole = dir.path().join("whole");
    let began = Instant::now();
    assert!(child(&whole, 1, true).status().unwrap().success());
    let length = began.elapsed().as_micros() as u64;
    let mut random = 7_u64;
    let (mut partial, mut attempt) = (0, 0);
    // At least six runs, and until enough kills fell inside one.
    while attempt < 6 || (partial < 5 && attempt < 40) {
        let threads = 1 + attempt % 2;
        let out = dir.path().join(format!("killed-{attempt}"));
        for kill in 0..3 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let pause = Duration::from_micros((random >> 33) % length);
            let begin = !out.join("billow.json").exists();
            kill_after(child(&out, threads, begin).spawn().unwrap(), pause);
            if let Ok(reader) = Reader::open(&out) {
                partial += usize::from((1..41).contains(&reader.frames().len()));
                assert!(reader.frames().iter().enumerate().all(|(i, k)| i == *k as usize), "kill {kill}");
            }
        }
        let resumed = out.join("billow.json").exists().then(|| resume_in(&out, None, threads));
        match resumed {
            Some(Ok(_)) => {}
            // Killed before it began: then it may simply be started again.
            Some(Err(RunError::Refused { reason, .. })) if reason.contains("before it began") => {
                run_in(&scene(MIXED), &out, threads).unwrap();
            }
            None => drop(run_in(&scene(MIXED), &out, threads).unwrap()),
            Some(Err(error)) => panic!("{error}"),
        }
        assert_eq!(Reader::open(&out).unwrap().status(), Status::Finished);
        assert_same_frames(&whole, &out);
        attempt += 1;
    }
    assert!(partial >= 5, "only {partial} kills fell inside a run");
}

#[test]
fn results_do_not_depend_on_threads() {
    let dir = tempfile::tempdir().unwrap();
    let path = |n: usize| dir.path().join(n.to_string());
    for threads in [1, 2, 5] {
        run_in(&scene(MIXED), &path(threads), threads).unwrap();
    }
    assert_same_frames(&path(1), &path(2));
    assert_same_frames(&path(1), &path(5));
}

#[test]
fn an_interrupt_finishes_the_sub_step_and_the_run_can_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let (whole, cut) = (dir.path().join("whole"), dir.path().join("cut"));
    run_in(&scene(MIXED), &whole, 1).unwrap();
    let cancel = AtomicBool::new(false);
    let progress = |event: &Event<'_>| {
        if matches!(event, Event::SubStep { frame: 12, fraction, .. } if *fraction < 0.5) {
            cancel.store(true, Ordering::Relaxed);
        }
        assert!(!matches!(event, Event::Frame(f) if f.index >= 12), "went on after the interrupt");
    };
    let options = RunOptions {
        out: cut.clone(),
        first: 0,
        frames: None,
        threads: 1,
        overwrite: false,
        progress: &progress,
        cancel: &cancel,
    };
    let report = run(&scene(MIXED), &options).unwrap();
    assert!(report.cancelled && !report.finished() && report.last == 11);
    assert_eq!(Reader::open(&cut).unwrap().status(), Status::Interrupted);
    assert!(
        matches!(run(&scene(MIXED), &options), Err(RunError::Cache(m)) if m.to_string().contains("already holds a run"))
    );
    let rest = resume_in(&cut, None, 2).unwrap();
    assert_eq!((rest.first, rest.last, rest.frames), (12, 40, 29));
    assert_same_frames(&whole, &cut);
}

#[test]
fn a_finished_run_can_be_extended_and_equals_a_longer_one() {
    let dir = tempfile::tempdir().unwrap();
    let (short, long) = (dir.path().join("short"), dir.path().join("long"));
    let loader = |frames: u32| {
        Loader::text("test.toml", MIXED).set([format!("simulation.frames={frames}")]).load().unwrap()
    };
    run_in(&loader(10), &short, 1).unwrap();
    run_in(&loader(25), &long, 1).unwrap();
    assert_eq!(resume_in(&short, None, 1).unwrap().frames, 0);
    let report = resume_in(&short, Some(25), 1).unwrap();
    assert_eq!((report.frames, report.finished()), (15, true));
    assert_eq!(Reader::open(&short).unwrap().manifest().last_frame, 25);
    assert_same_frames(&long, &short);
}

#[test]
fn a_time_limit_stops_the_run_and_leaves_it_resumable() {
    let dir = tempfile::tempdir().unwrap();
    let limited =
        Loader::text("test.toml", MIXED).set(["simulation.time_limit=1e-9".to_owned()]).load().unwrap();
    let report = run_in(&limited, dir.path(), 1).unwrap();
    assert!(report.cancelled && report.frames == 1 && report.last == 0);
    assert_eq!(Reader::open(dir.path()).unwrap().status(), Status::Interrupted);
    assert!(resume_in(dir.path(), None, 1).unwrap().cancelled);
}

#[test]
fn only_every_nth_frame_is_kept_if_the_scene_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let (all, some) = (dir.path().join("all"), dir.path().join("some"));
    run_in(&scene(MIXED), &all, 1).unwrap();
    let sparse = Loader::text("test.toml", MIXED).set(["output.every=7".to_owned()]).load().unwrap();
    run_in(&sparse, &some, 1).unwrap();
    let (all, some) = (frames(&all), frames(&some));
    assert_eq!(some.iter().map(|f| f.index).collect::<Vec<_>>(), [0, 7, 14, 21, 28, 35, 40]);
    assert!(some.iter().all(|f| *f == all[f.index as usize]));
}

#[test]
fn runs_of_other_versions_and_edited_scenes_are_refused_with_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("run");
    let short = Loader::text("test.toml", MIXED).set(["simulation.frames=3".to_owned()]).load().unwrap();
    run_in(&short, &out, 1).unwrap();
    let manifest = std::fs::read_to_string(out.join("billow.json")).unwrap();
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(manifest.contains(&version));
    std::fs::write(out.join("billow.json"), manifest.replace(&version, "\"version\": \"0.0.1\"")).unwrap();
    let error = resume_in(&out, Some(5), 1).unwrap_err().to_string();
    assert!(error.contains("version 0.0.1 of the program began this run"), "{error}");
    std::fs::write(out.join("billow.json"), &manifest).unwrap();

    let copy = out.join("scene.toml");
    let text = std::fs::read_to_string(&copy).unwrap();
    std::fs::write(&copy, text.replace("[0.1, 0.2, 9]", "[0.1, 0.2, 8]")).unwrap();
    let error = resume_in(&out, Some(5), 1).unwrap_err().to_string();
    assert!(error.contains("its copy of the scene was changed"), "{error}");
    std::fs::write(&copy, text).unwrap();
    resume_in(&out, Some(5), 1).unwrap();
    let error = resume_in(dir.path(), None, 1).unwrap_err().to_string();
    assert!(error.contains("is not the directory of a Billow run"), "{error}");
}

#[test]
fn a_run_keeps_the_meshes_and_includes_it_was_made_from() {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("source");
    std::fs::create_dir(&source).unwrap();
    std::fs::write(
        source.join("tet.obj"),
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n",
    )
    .unwrap();
    std::fs::write(source.join("mesh.part"), "[mesh.tet]\nfile = \"tet.obj\"\n").unwrap();
    let text = "include = [\"mesh.part\"]\n[simulation]\nframes = 4\n[body.tet]\nmesh = \"tet\"\nmotion = \"free\"\nangular_velocity = [1, 2, 3]\n";
    std::fs::write(source.join("scene.text"), text).unwrap();
    let load = || Loader::file(source.join("scene.text")).load().unwrap();
    let (whole, cut) = (dir.path().join("whole"), dir.path().join("cut"));
    run_in(&load(), &whole, 1).unwrap();
    let shorter =
        Loader::file(source.join("scene.text")).set(["simulation.frames=2".to_owned()]).load().unwrap();
    run_in(&shorter, &cut, 1).unwrap();
    std::fs::remove_dir_all(&source).unwrap();
    resume_in(&cut, Some(4), 1).unwrap();
    assert_same_frames(&whole, &cut);
}

#[cfg(unix)]
#[test]
fn a_full_disk_ends_the_run_with_a_clear_message_and_nothing_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let (whole, out) = (dir.path().join("whole"), dir.path().join("run"));
    run_in(&scene(MIXED), &whole, 1).unwrap();
    let inner = child(&out, 1, true);
    let mut limited = Command::new("sh");
    // Files above two blocks are refused, as on a full disk; the signal that would end the process is ignored.
    limited.args(["-c", "trap '' XFSZ; ulimit -f 2; exec \"$@\"", "sh"]).arg(inner.get_program());
    limited.args(inner.get_args()).envs(inner.get_envs().filter_map(|(k, v)| Some((k, v?))));
    let output = limited.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("disk full") && said.contains("resume"), "{said}");
    assert_eq!(Reader::open(&out).unwrap().frames().len(), 0);
    resume_in(&out, None, 1).unwrap();
    assert_same_frames(&whole, &out);
}
