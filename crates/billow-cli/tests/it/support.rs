//! Running the command in an empty folder.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// An empty folder to run commands in.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// `billow ARGS`, yet to be started: nobody at the keyboard, and no screen.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_billow"));
        command.args(args).current_dir(self.folder.path()).env("NO_COLOR", "1").stdin(Stdio::null());
        command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
        command
    }

    /// Runs `billow ARGS` to its end.
    pub(crate) fn billow(&self, args: &[&str]) -> Outcome {
        Outcome::new(self.command(args).output().unwrap())
    }

    /// Starts `billow ARGS` and leaves it running.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }
}

/// A scene in which one box passes through another, with what to do about it.
pub(crate) fn crossing_scene(audit: &str) -> String {
    format!(
        "[simulation]\nframes = 4\n[output]\naudit = \"{audit}\"\n[mesh.box]\nshape = \"box\"\nsize = [1, 1, 1]\n\
         [body.still]\nmesh = \"box\"\n[body.mover]\nmesh = \"box\"\nmotion = \"scripted\"\n\
         position = [\"3 - 20*t\", 0.13, 0.21]\n"
    )
}

/// What a finished command left behind.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Outcome {
    pub(crate) fn new(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Insists that it worked.
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, 0, "{self:?}");
        self
    }

    /// The JSON object in the last line of standard output.
    pub(crate) fn json(&self) -> Value {
        let last = self.stdout.lines().last().unwrap_or_else(|| panic!("no output: {self:?}"));
        serde_json::from_str(last).unwrap_or_else(|error| panic!("{error} in {last}"))
    }
}

/// All files below a folder with their contents, by relative name; locks and reports with clock times are left out.
pub(crate) fn frames(run: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(run.join("frames"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "frame"))
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(path).unwrap()))
        .collect();
    files.sort();
    files
}
