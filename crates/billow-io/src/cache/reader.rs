//! Reading a run, also while another process is still writing it.

use super::array::{self, Element};
use super::envelope::{self, Content};
use super::layout;
use super::lock::Lock;
use super::manifest::{Manifest, SceneText, Status};
use super::payload::{self, Cursor, Fetch};
use crate::error::{Error, Result};
use crate::frame::Frame;
use std::any::Any;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Access to the frames of a run, in any order and from several threads.
#[derive(Debug)]
pub struct Reader {
    dir: PathBuf,
    manifest: Manifest,
    frames: Vec<u32>,
    shared: Mutex<HashMap<u128, Arc<dyn Any + Send + Sync>>>,
}

/// LZ4 cannot expand a byte to more than this many.
const LZ4_MAX_RATIO: u64 = 255;

impl Reader {
    /// Opens the run in `dir`.
    ///
    /// # Errors
    /// If there is no run, its manifest is damaged, or a newer program wrote it.
    pub fn open(dir: impl AsRef<Path>) -> Result<Self> {
        let dir = dir.as_ref().to_path_buf();
        let (manifest, frames) = (Manifest::read(&dir)?, layout::frames(&dir)?);
        Ok(Self { dir, manifest, frames, shared: Mutex::default() })
    }

    /// Looks again at what the run holds; returns whether anything changed.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn refresh(&mut self) -> Result<bool> {
        let (manifest, frames) = (Manifest::read(&self.dir)?, layout::frames(&self.dir)?);
        let changed = manifest != self.manifest || frames != self.frames;
        (self.manifest, self.frames) = (manifest, frames);
        Ok(changed)
    }

    /// The run's directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The manifest as of the last look.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The run's status now: a run that says it is running while nobody holds its lock was interrupted.
    pub fn status(&self) -> Status {
        match self.manifest.status {
            Status::Running if !Lock::is_held(&self.dir) => Status::Interrupted,
            status => status,
        }
    }

    /// Numbers of the frames present at the last look, increasing.
    pub fn frames(&self) -> &[u32] {
        &self.frames
    }

    /// Reads a frame. Arrays that frames have in common are shared between them.
    ///
    /// # Errors
    /// If the frame is missing or damaged; the message names the file.
    pub fn read(&self, index: u32) -> Result<Frame> {
        let path = layout::frame(&self.dir, index);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let present = self.frames.first().copied().zip(self.frames.last().copied());
                return Err(Error::NoSuchFrame { path: self.dir.clone(), index, present });
            }
            Err(error) => return Err(Error::io("read", &path)(error)),
        };
        let frame = payload::decode(&path, &bytes, &mut Shared(self))?;
        if frame.index != index {
            return Err(Error::corrupt(
                &path,
                format!("it holds frame {} instead of frame {index}", frame.index),
            ));
        }
        Ok(frame)
    }

    /// Numbers of the checkpoints present now, increasing.
    ///
    /// # Errors
    /// If the directory cannot be listed.
    pub fn checkpoints(&self) -> Result<Vec<u32>> {
        layout::checkpoints(&self.dir)
    }

    /// Reads the checkpoint of frame `index`.
    ///
    /// # Errors
    /// If it is missing or damaged.
    pub fn read_checkpoint(&self, index: u32) -> Result<Vec<u8>> {
        let path = layout::checkpoint(&self.dir, index);
        let bytes = fs::read(&path).map_err(Error::io("read", &path))?;
        let mut from = Cursor { left: envelope::open(&path, Content::Checkpoint, &bytes)? };
        let damaged = |what: String| Error::corrupt(&path, what);
        let found = from.u32().map_err(damaged)?;
        let size = from.u64().map_err(damaged)?;
        if found != index {
            return Err(damaged(format!("it belongs to frame {found} instead of frame {index}")));
        }
        if size / LZ4_MAX_RATIO > from.left.len() as u64 {
            return Err(damaged(format!("{} packed bytes cannot hold {size}", from.left.len())));
        }
        lz4_flex::block::decompress(from.left, size as usize).map_err(|e| damaged(e.to_string()))
    }

    /// The newest checkpoint that is intact and whose frame is there, with its frame number.
    ///
    /// # Errors
    /// If there are checkpoints but none of them can be used.
    pub fn latest_checkpoint(&self) -> Result<Option<(u32, Vec<u8>)>> {
        let frames = layout::frames(&self.dir)?;
        let mut failure = None;
        for index in self.checkpoints()?.into_iter().rev().filter(|index| frames.contains(index)) {
            match self.read_checkpoint(index).and_then(|state| self.read(index).map(|_| state)) {
                Ok(state) => return Ok(Some((index, state))),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(None), Err)
    }

    /// The scene files stored with the run, the main one first.
    ///
    /// # Errors
    /// If one is missing.
    pub fn scene(&self) -> Result<Vec<SceneText>> {
        let read = |file: &super::SceneFile| {
            let path = self.dir.join(&file.file);
            let text = fs::read_to_string(&path).map_err(Error::io("read", &path))?;
            Ok(SceneText { name: file.name.clone(), text })
        };
        self.manifest.scene.iter().map(read).collect()
    }

    /// The complete lines of `report.jsonl`.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn report(&self) -> Result<Vec<serde_json::Value>> {
        let path = self.dir.join(layout::REPORT);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::io("read", &path)(error)),
        };
        Ok(bytes.split(|b| *b == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }
}

struct Shared<'a>(&'a Reader);

impl Fetch for Shared<'_> {
    fn array<T: Element>(&mut self, hash: u128) -> Result<Arc<Vec<T>>> {
        let Self(reader) = self;
        let path = layout::shared(&reader.dir, hash);
        let mut cache = reader.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(array) = cache.get(&hash) {
            return Arc::clone(array)
                .downcast()
                .map_err(|_| Error::corrupt(&path, "two arrays of different element types have its name"));
        }
        let bytes = fs::read(&path).map_err(Error::io("read", &path))?;
        let mut from = Cursor { left: envelope::open(&path, Content::Array, &bytes)? };
        let items = array::get::<T>(&mut from).map_err(|what| Error::corrupt(&path, what))?;
        if array::content_hash::<T>(&array::to_raw(&items)) != hash {
            return Err(Error::corrupt(&path, "its content does not match its name"));
        }
        let items = Arc::new(items);
        cache.insert(hash, Arc::clone(&items) as Arc<dyn Any + Send + Sync>);
        Ok(items)
    }
}
