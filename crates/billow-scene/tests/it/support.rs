//! Small scenes and runs that several tests share.

use billow_io::Frame;
use billow_io::cache::{Reader, frame_to_bytes};
use billow_scene::driver::{ResumeOptions, RunError, RunOptions, RunReport, Silent, resume, run};
use billow_scene::{Loader, Scene};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Flying, keyframed and scripted bodies over a floor.
pub(crate) const MIXED: &str = r#"
    title = "mixed"
    [simulation]
    frames = 40
    substeps = 3
    [mesh.floor]
    shape = "plane"
    [mesh.tee]
    shape = "tee"
    detail = 2
    [mesh.ball]
    shape = "icosphere"
    parts = 3
    [body.floor]
    mesh = "floor"
    [body.tee]
    mesh = "tee"
    position = [0, 0, 3]
    motion = "free"
    velocity = [0, 0.3, 6]
    angular_velocity = [0.1, 0.2, 9]
    [body.ball]
    mesh = "ball"
    motion = "scripted"
    position = ["3 + 0.5*sin(3*t)", 0, 2]
    rotation = { axis = [1, 2, 3], degrees = "200*t" }
    [body.lift]
    mesh = "ball"
    position = [-3, 0, 1]
    motion = "keyframed"
    times = [0, 0.5, 1.5]
    positions = [[0, 0, 0], [0, 0, 1], [1, 0, 0]]
"#;

/// The scene of a text.
pub(crate) fn scene(text: &str) -> Scene {
    Loader::text("test.toml", text).load().unwrap_or_else(|problems| panic!("{problems}"))
}

/// Runs a scene quietly.
pub(crate) fn run_in(scene: &Scene, out: &Path, threads: usize) -> Result<RunReport, RunError> {
    let cancel = AtomicBool::new(false);
    let out = PathBuf::from(out);
    run(
        scene,
        &RunOptions {
            out,
            first: 0,
            frames: None,
            threads,
            overwrite: false,
            progress: &Silent,
            cancel: &cancel,
        },
    )
}

/// Resumes a run quietly.
pub(crate) fn resume_in(dir: &Path, frames: Option<u32>, threads: usize) -> Result<RunReport, RunError> {
    let cancel = AtomicBool::new(false);
    let options =
        ResumeOptions { frames, threads, accept_other_version: false, progress: &Silent, cancel: &cancel };
    resume(dir, &options)
}

/// All frames of a run.
pub(crate) fn frames(dir: &Path) -> Vec<Frame> {
    let reader = Reader::open(dir).unwrap();
    reader.frames().iter().map(|k| reader.read(*k).unwrap()).collect()
}

/// Fails unless two runs have the same frames, bit for bit.
pub(crate) fn assert_same_frames(a: &Path, b: &Path) {
    let (a, b) = (frames(a), frames(b));
    assert_eq!(a.len(), b.len());
    for (x, y) in a.iter().zip(&b) {
        assert_eq!(x.index, y.index);
        assert!(frame_to_bytes(x).unwrap() == frame_to_bytes(y).unwrap(), "frame {} differs", x.index);
    }
}
