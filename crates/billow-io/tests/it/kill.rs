//! A writer in another process, killed without warning while this one reads.

use crate::samples::Sample;
use billow_io::Error;
use billow_io::cache::{ManifestHeader, Reader, Status, Writer, frame_to_bytes};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const DIR: &str = "BILLOW_IO_TEST_KILL_DIR";

/// Does something in the child process only: resumes the run and writes until it is killed, or for a minute if the
/// parent is gone.
#[test]
fn child() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let start = Instant::now();
    let reader = Reader::open(&dir).unwrap();
    let last = reader.latest_checkpoint().unwrap().map(|(last, _)| last);
    let mut writer = Writer::resume(&dir, last).unwrap();
    let sample = Sample::new(40);
    for index in last.map_or(0, |last| last + 1)..100_000 {
        if start.elapsed() > Duration::from_secs(60) {
            return;
        }
        writer.write_frame(&sample.frame(index)).unwrap();
        writer.write_checkpoint(index, &index.to_le_bytes().repeat(1000)).unwrap();
        writer.append_report(&serde_json::json!({"frame": index})).unwrap();
    }
}

fn spawn(dir: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["kill::child", "--exact"])
        .env(DIR, dir)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Waits until the run has `n` frames, reading each as soon as it appears.
fn follow(dir: &Path, n: usize) -> usize {
    let (start, mut reader, mut seen) = (Instant::now(), Reader::open(dir).unwrap(), 0);
    while seen < n {
        assert!(start.elapsed() < Duration::from_secs(30), "only {seen} of {n} frames after 30 s");
        reader.refresh().unwrap();
        for index in reader.frames().iter().skip(seen) {
            // The resuming writer takes back the frames after its checkpoint; half a frame there never is.
            assert!(matches!(reader.read(*index), Ok(_) | Err(Error::NoSuchFrame { .. })));
        }
        seen = reader.frames().len();
    }
    seen
}

#[test]
fn a_killed_writer_leaves_a_run_that_opens_and_resumes() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    drop(Writer::create(dir, &ManifestHeader { last_frame: 100_000, ..Default::default() }).unwrap());
    let mut frames = 0;
    for round in 0..6 {
        let mut child = spawn(dir);
        frames = follow(dir, frames + 3 + round % 3);
        std::thread::sleep(Duration::from_micros(900 * round as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        let reader = Reader::open(dir).unwrap();
        assert_eq!(reader.status(), Status::Interrupted);
        let (last, state) = reader.latest_checkpoint().unwrap().unwrap();
        assert!(last as usize + 2 >= frames && state == last.to_le_bytes().repeat(1000));
    }
    let (reader, sample) = (Reader::open(dir).unwrap(), Sample::new(40));
    for (k, index) in reader.frames().iter().enumerate() {
        assert_eq!(k, *index as usize);
        let read = frame_to_bytes(&reader.read(*index).unwrap()).unwrap();
        assert_eq!(read, frame_to_bytes(&sample.frame(*index)).unwrap());
    }
}
