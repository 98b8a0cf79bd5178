//! `billow.json`: what a run is, in a form people and scripts can read.

use super::envelope::FORMAT_VERSION;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// File name of the manifest.
pub const MANIFEST_FILE: &str = "billow.json";

/// What a driver says about a run when it starts.
#[derive(Clone, Debug, PartialEq)]
pub struct ManifestHeader {
    /// Title of the scene.
    pub title: String,
    /// Program that makes the run.
    pub program: String,
    /// Frames per second of simulated time [1/s].
    pub fps: f64,
    /// First frame of the run, usually 0, the initial state.
    pub first_frame: u32,
    /// Last frame the run is going to have.
    pub last_frame: u32,
    /// Which way is up.
    pub up_axis: UpAxis,
    /// Scene files as read, the main one first; stored so that the run can be resumed without the originals.
    pub scene: Vec<SceneText>,
    /// Anything else the driver wants to find again.
    pub driver: serde_json::Value,
}

impl Default for ManifestHeader {
    fn default() -> Self {
        Self {
            title: String::new(),
            program: concat!("billow ", env!("CARGO_PKG_VERSION")).into(),
            fps: 24.0,
            first_frame: 0,
            last_frame: 0,
            up_axis: UpAxis::Z,
            scene: Vec::new(),
            driver: serde_json::Value::Null,
        }
    }
}

/// A scene file and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneText {
    /// Name the scene used for it.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// The axis that points up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UpAxis {
    /// y is up.
    Y,
    /// z is up, the convention of scene files.
    #[default]
    Z,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// A process is writing it. On disk this also stands when that process was killed; see
    /// [`Reader::status`](super::Reader::status).
    Running,
    /// All frames are there.
    Finished,
    /// Stopped on request or by a kill; can be resumed.
    Interrupted,
    /// Stopped by an error.
    Failed,
}

/// The contents of `billow.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the run format.
    pub billow_run_format: u32,
    /// Program that made the run.
    pub program: String,
    /// Title of the scene.
    pub title: String,
    /// Frames per second of simulated time [1/s].
    pub fps: f64,
    /// First frame of the run.
    pub first_frame: u32,
    /// Last frame the run is going to have.
    pub last_frame: u32,
    /// Which way is up.
    pub up_axis: UpAxis,
    /// How far it has come, as last written.
    pub status: Status,
    /// Why it stopped, if it did not finish.
    #[serde(default)]
    pub message: Option<String>,
    /// Copies of the scene files, the main one first.
    #[serde(default)]
    pub scene: Vec<SceneFile>,
    /// Anything else the driver stored.
    #[serde(default)]
    pub driver: serde_json::Value,
}

/// A scene file kept in the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SceneFile {
    /// File name in the run's directory.
    pub file: String,
    /// Name the scene used for it.
    pub name: String,
}

impl Manifest {
    pub(crate) fn new(header: &ManifestHeader) -> std::result::Result<Self, String> {
        if !(header.fps.is_finite() && header.fps > 0.0) {
            return Err(format!("{} frames per second; the rate must be positive", header.fps));
        }
        if header.first_frame > header.last_frame {
            return Err(format!("first frame {} after last frame {}", header.first_frame, header.last_frame));
        }
        let scene = header.scene.iter().enumerate().map(|(k, text)| SceneFile {
            file: if k == 0 { "scene.toml".into() } else { format!("scene-{k}.toml") },
            name: text.name.clone(),
        });
        Ok(Self {
            billow_run_format: FORMAT_VERSION,
            program: header.program.clone(),
            title: header.title.clone(),
            fps: header.fps,
            first_frame: header.first_frame,
            last_frame: header.last_frame,
            up_axis: header.up_axis,
            status: Status::Running,
            message: None,
            scene: scene.collect(),
            driver: header.driver.clone(),
        })
    }

    /// Reads and checks the manifest of the run in `dir`.
    pub(crate) fn read(dir: &Path) -> Result<Self> {
        #[derive(Deserialize)]
        struct Version {
            billow_run_format: u32,
        }
        let path = dir.join(MANIFEST_FILE);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(not_a_run(dir)),
            Err(error) => return Err(Error::io("read", &path)(error)),
        };
        let damaged = |error: serde_json::Error| Error::corrupt(&path, error.to_string());
        // The version is read first: a newer manifest may hold anything else.
        let found = serde_json::from_str::<Version>(&text).map_err(damaged)?.billow_run_format;
        if found > FORMAT_VERSION {
            return Err(Error::NewerFormat { path, found, supported: FORMAT_VERSION });
        }
        let manifest: Self = serde_json::from_str(&text).map_err(damaged)?;
        if !(manifest.fps.is_finite() && manifest.fps > 0.0) {
            return Err(Error::corrupt(&path, format!("{} frames per second", manifest.fps)));
        }
        Ok(manifest)
    }

    pub(crate) fn write(&self, dir: &Path) -> Result<()> {
        let path = dir.join(MANIFEST_FILE);
        let mut text =
            serde_json::to_string_pretty(self).map_err(|e| Error::invalid(&path, e.to_string()))?;
        text.push('\n');
        crate::atomic::write(&path, text.as_bytes())
    }
}

/// Says what stands in a directory that has no manifest.
pub(crate) fn not_a_run(dir: &Path) -> Error {
    let found = match std::fs::read_dir(dir) {
        Ok(mut entries) => match entries.find_map(std::result::Result::ok) {
            Some(entry) => {
                format!("it has no {MANIFEST_FILE} but for example {:?}", entry.file_name().to_string_lossy())
            }
            None => "it is empty".into(),
        },
        Err(error) => error.to_string(),
    };
    Error::NotARun { path: dir.to_path_buf(), found }
}
