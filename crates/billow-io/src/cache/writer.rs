//! Writing a run: frames, checkpoints and a report, each whole or not at all.

use super::array::{self, Element};
use super::envelope::{self, Content};
use super::layout;
use super::lock::Lock;
use super::manifest::{self, MANIFEST_FILE, Manifest, ManifestHeader, Status};
use super::payload::{self, Place};
use crate::atomic;
use crate::error::{Error, Result};
use crate::frame::Frame;
use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many checkpoints are kept; the older one serves when the newer is damaged.
pub const CHECKPOINTS_KEPT: usize = 2;

/// The one process that adds to a run. Dropping it releases the run.
#[derive(Debug)]
pub struct Writer {
    dir: PathBuf,
    manifest: Manifest,
    arrays: SharedArrays,
    last_frame: Option<u32>,
    report: File,
    report_len: u64,
    _lock: Lock,
}

impl Writer {
    /// Starts a run in a new or empty directory.
    ///
    /// # Errors
    /// If the directory holds a run already ([`Error::RunExists`]) or anything else ([`Error::NotARun`]).
    pub fn create(dir: impl AsRef<Path>, header: &ManifestHeader) -> Result<Self> {
        Self::start(dir.as_ref(), header, false)
    }

    /// Like [`Writer::create`], but deletes a run that stands there. Any other content is refused all the same.
    ///
    /// # Errors
    /// As [`Writer::create`], and if another process is writing the run.
    pub fn replace(dir: impl AsRef<Path>, header: &ManifestHeader) -> Result<Self> {
        Self::start(dir.as_ref(), header, true)
    }

    fn start(dir: &Path, header: &ManifestHeader, replace: bool) -> Result<Self> {
        let manifest =
            Manifest::new(header).map_err(|what| Error::invalid(&dir.join(MANIFEST_FILE), what))?;
        fs::create_dir_all(dir).map_err(Error::io("create directory", dir))?;
        let occupied = is_run(dir)?;
        if occupied && !replace {
            return Err(Error::RunExists { path: dir.to_path_buf() });
        }
        let lock = Lock::take(dir)?;
        if occupied {
            clear(dir)?;
        }
        // The manifest comes first: it marks everything that follows as ours.
        manifest.write(dir)?;
        for (file, text) in manifest.scene.iter().zip(&header.scene) {
            atomic::write(&dir.join(&file.file), text.text.as_bytes())?;
        }
        Self::ready(dir, manifest, None, lock)
    }

    /// Continues a run after frame `last_frame_to_keep`; later frames, checkpoints and report lines are deleted.
    /// `None` keeps the manifest and the scene only.
    ///
    /// # Errors
    /// If there is no run, another process is writing it, or frame `last_frame_to_keep` is not there.
    pub fn resume(dir: impl AsRef<Path>, last_frame_to_keep: impl Into<Option<u32>>) -> Result<Self> {
        let (dir, keep) = (dir.as_ref(), last_frame_to_keep.into());
        Manifest::read(dir)?;
        let lock = Lock::take(dir)?;
        let mut manifest = Manifest::read(dir)?;
        let frames = layout::frames(dir)?;
        if let Some(index) = keep
            && !frames.contains(&index)
        {
            let present = frames.first().copied().zip(frames.last().copied());
            return Err(Error::NoSuchFrame { path: dir.to_path_buf(), index, present });
        }
        // Newest first: whatever moment this stops, no gap appears among the frames left.
        let later = |index: &&u32| keep.is_none_or(|keep| **index > keep);
        for index in layout::checkpoints(dir)?.iter().rev().filter(later) {
            remove(&layout::checkpoint(dir, *index))?;
        }
        for index in frames.iter().rev().filter(later) {
            remove(&layout::frame(dir, *index))?;
        }
        trim_report(dir, keep)?;
        manifest.status = Status::Running;
        manifest.message = None;
        manifest.write(dir)?;
        Self::ready(dir, manifest, keep, lock)
    }

    fn ready(dir: &Path, manifest: Manifest, last_frame: Option<u32>, lock: Lock) -> Result<Self> {
        atomic::remove_stale_temps(dir)?;
        for name in [layout::FRAMES, layout::SHARED, layout::CHECKPOINT] {
            let sub = dir.join(name);
            fs::create_dir_all(&sub).map_err(Error::io("create directory", &sub))?;
            atomic::remove_stale_temps(&sub)?;
        }
        atomic::sync_dir(dir)?;
        let path = dir.join(layout::REPORT);
        let report =
            OpenOptions::new().create(true).append(true).open(&path).map_err(Error::io("open", &path))?;
        let report_len = report.metadata().map_err(Error::io("read", &path))?.len();
        let arrays = SharedArrays {
            dir: dir.to_path_buf(),
            stored: layout::arrays(dir)?.into_iter().collect(),
            share_all: last_frame.is_none(),
            last: HashMap::new(),
        };
        Ok(Self { dir: dir.to_path_buf(), manifest, arrays, last_frame, report, report_len, _lock: lock })
    }

    /// The run's directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The manifest as last written.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The last frame the run holds.
    pub fn last_frame(&self) -> Option<u32> {
        self.last_frame
    }

    /// Adds a frame; returns the bytes written. When this returns, the frame survives a power failure.
    ///
    /// # Errors
    /// If frames do not come in increasing order, the frame is inconsistent, or the disk refuses. After an error
    /// the run is as it was before the call, and the call can be repeated.
    pub fn write_frame(&mut self, frame: &Frame) -> Result<u64> {
        let path = layout::frame(&self.dir, frame.index);
        if let Some(last) = self.last_frame
            && frame.index <= last
        {
            return Err(Error::invalid(&path, format!("frame {} comes after frame {last}", frame.index)));
        }
        let bytes = payload::encode(&path, frame, &mut self.arrays)?;
        atomic::write(&path, &bytes)?;
        self.arrays.share_all = false;
        self.last_frame = Some(frame.index);
        Ok(bytes.len() as u64)
    }

    /// Stores the state from which frame `index` + 1 can be computed, and drops all but the last two of them.
    /// Write it after frame `index`: a checkpoint without its frame is ignored.
    ///
    /// # Errors
    /// If the disk refuses; older checkpoints are then untouched.
    pub fn write_checkpoint(&mut self, index: u32, state: &[u8]) -> Result<u64> {
        let mut bytes = envelope::begin(Content::Checkpoint);
        bytes.extend(index.to_le_bytes());
        bytes.extend((state.len() as u64).to_le_bytes());
        bytes.extend(lz4_flex::block::compress(state));
        let bytes = envelope::seal(bytes);
        atomic::write(&layout::checkpoint(&self.dir, index), &bytes)?;
        for old in layout::checkpoints(&self.dir)?.iter().rev().skip(CHECKPOINTS_KEPT) {
            remove(&layout::checkpoint(&self.dir, *old))?;
        }
        Ok(bytes.len() as u64)
    }

    /// Appends a line to `report.jsonl`. A field `frame` ties the line to a frame: resuming before that frame
    /// removes it.
    ///
    /// # Errors
    /// If the disk refuses; the report then ends with the line before.
    pub fn append_report(&mut self, line: &serde_json::Value) -> Result<()> {
        let path = self.dir.join(layout::REPORT);
        let text = format!("{line}\n");
        if let Err(error) = self.report.write_all(text.as_bytes()) {
            // Take back half a line; should that fail too, readers skip a line that does not parse.
            let _ = self.report.set_len(self.report_len);
            return Err(Error::writing(&path, text.len() as u64)(error));
        }
        self.report_len += text.len() as u64;
        Ok(())
    }

    /// Replaces the driver's part of the manifest.
    ///
    /// # Errors
    /// If the disk refuses; the manifest is then as before.
    pub fn set_driver(&mut self, driver: serde_json::Value) -> Result<()> {
        let manifest = Manifest { driver, ..self.manifest.clone() };
        manifest.write(&self.dir)?;
        self.manifest = manifest;
        Ok(())
    }

    /// Changes the last frame the run is going to have, for example to continue a finished run.
    ///
    /// # Errors
    /// If the disk refuses; the manifest is then as before.
    pub fn set_last_frame(&mut self, last_frame: u32) -> Result<()> {
        let manifest = Manifest { last_frame, ..self.manifest.clone() };
        manifest.write(&self.dir)?;
        self.manifest = manifest;
        Ok(())
    }

    /// Closes the run with a final status, and a message if it did not finish.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn finish(mut self, status: Status, message: Option<&str>) -> Result<()> {
        let path = self.dir.join(layout::REPORT);
        self.report.sync_all().map_err(Error::io("flush", &path))?;
        self.manifest.status = status;
        self.manifest.message = message.map(str::to_owned);
        self.manifest.write(&self.dir)
    }
}

/// Decides which arrays are written once for the whole run: those of the first frame, and those that a frame has
/// in common with the frame before it.
#[derive(Debug)]
struct SharedArrays {
    dir: PathBuf,
    /// Hashes of the arrays in the shared folder.
    stored: HashSet<u128>,
    /// Set during the first frame, when nothing is known yet about what stays the same.
    share_all: bool,
    /// What each slot held in the frame before.
    last: HashMap<String, Placed>,
}

#[derive(Debug)]
struct Placed {
    hash: u128,
    /// Kept for shared arrays only: the same allocation next time needs no hashing.
    array: Option<Arc<dyn Any + Send + Sync>>,
}

/// Arrays below this size stay in the frame; a file of their own would cost more [bytes].
const SMALLEST_SHARED: usize = 512;

impl Place for SharedArrays {
    fn array<T: Element>(&mut self, out: &mut Vec<u8>, slot: &str, items: &Arc<Vec<T>>) -> Result<()> {
        let last = self.last.get(slot);
        if let Some(Placed { hash, array: Some(array) }) = last
            && std::ptr::addr_eq(Arc::as_ptr(array), Arc::as_ptr(items))
        {
            payload::put_reference(out, *hash);
            return Ok(());
        }
        let raw = array::to_raw(items);
        let hash = array::content_hash::<T>(&raw);
        let repeated = last.is_some_and(|last| last.hash == hash);
        let share =
            raw.len() >= SMALLEST_SHARED && (self.share_all || repeated || self.stored.contains(&hash));
        if share {
            self.store::<T>(hash, &raw)?;
            payload::put_reference(out, hash);
        } else {
            payload::put_inline::<T>(out, &raw);
        }
        let array = share.then(|| Arc::clone(items) as Arc<dyn Any + Send + Sync>);
        self.last.insert(slot.to_owned(), Placed { hash, array });
        Ok(())
    }
}

impl SharedArrays {
    fn store<T: Element>(&mut self, hash: u128, raw: &[u8]) -> Result<()> {
        if !self.stored.contains(&hash) {
            let mut bytes = envelope::begin(Content::Array);
            array::put::<T>(&mut bytes, raw);
            atomic::write(&layout::shared(&self.dir, hash), &envelope::seal(bytes))?;
            self.stored.insert(hash);
        }
        Ok(())
    }
}

/// Whether `dir` holds a run; an error if it holds anything else. Nothing, or what a run killed before its first
/// manifest leaves, counts as empty.
fn is_run(dir: &Path) -> Result<bool> {
    if dir.join(MANIFEST_FILE).exists() {
        Manifest::read(dir)?;
        return Ok(true);
    }
    for entry in fs::read_dir(dir).map_err(Error::io("list", dir))? {
        let name = entry.map_err(Error::io("list", dir))?.file_name();
        if name != layout::LOCK && !atomic::is_temp(&name) {
            return Err(manifest::not_a_run(dir));
        }
    }
    Ok(false)
}

/// Deletes what a run consists of, newest data first, and nothing else.
fn clear(dir: &Path) -> Result<()> {
    for index in layout::checkpoints(dir)?.iter().rev() {
        remove(&layout::checkpoint(dir, *index))?;
    }
    for index in layout::frames(dir)?.iter().rev() {
        remove(&layout::frame(dir, *index))?;
    }
    for hash in layout::arrays(dir)? {
        remove(&layout::shared(dir, hash))?;
    }
    for file in Manifest::read(dir)?.scene {
        // The name comes from a file anyone may have edited: only names this crate gives are deleted.
        if file.file.starts_with("scene") && file.file.ends_with(".toml") && !file.file.contains(['/', '\\'])
        {
            remove(&dir.join(file.file))?;
        }
    }
    remove(&dir.join(layout::REPORT))
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", path)(error)),
        _ => Ok(()),
    }
}

/// Drops report lines that belong to frames after `keep`, and what a killed process left of its last line.
fn trim_report(dir: &Path, keep: Option<u32>) -> Result<()> {
    let path = dir.join(layout::REPORT);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::io("read", &path)(error)),
    };
    let mut kept = Vec::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|b| *b == b'\n').filter(|line| line.ends_with(b"\n")) {
        let Ok(value) = serde_json::from_slice::<serde_json::Value>(line) else { continue };
        let frame = value.get("frame").and_then(serde_json::Value::as_u64);
        if frame.is_none_or(|frame| keep.is_some_and(|keep| frame <= u64::from(keep))) {
            kept.extend_from_slice(line);
        }
    }
    if kept.len() == bytes.len() { Ok(()) } else { atomic::write(&path, &kept) }
}
