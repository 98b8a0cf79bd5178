//! The run behind the page: what it holds now, and its frames in the form they are sent.
//!
//! Only this module touches files, through [`billow_io::cache::Reader`] and by frame number alone: no part of a
//! request ever becomes part of a path. A background thread looks for new frames and fills the [`Index`].

use crate::index::Index;
use crate::lru::Lru;
use crate::wire::{self, Anchor, Geometry, Skins};
use billow_io::cache::Reader;
use billow_io::{Frame, Object, Shape};
use billow_num::Vec3;
use serde_json::{Value, json};
use std::any::Any;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant, SystemTime};

/// Encoded frames and fields kept [bytes].
const ENCODED_BYTES: usize = 256 << 20;
/// Decoded frames kept; fields look at the first frame and the one before.
const DECODED_FRAMES: usize = 6;
/// Shared arrays whose encoding is kept.
const SHARED_SHAPES: usize = 8192;
/// Largest message: what browsers hold in one buffer [bytes].
const LARGEST: usize = i32::MAX as usize;
/// Shortest time between two notices of progress within a frame.
const PROGRESS_EVERY: Duration = Duration::from_millis(250);

/// Why something was not found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// It does not exist.
    NotFound(String),
    /// It exists and cannot be read or sent.
    Damaged(String),
}

/// A run that may still be growing.
#[derive(Debug)]
pub(crate) struct Source {
    dir: PathBuf,
    reader: RwLock<Option<Reader>>,
    now: Mutex<Now>,
    changed: Condvar,
    index: Mutex<Index>,
    decoded: Mutex<Lru<u32, Arc<Frame>>>,
    encoded: Mutex<Lru<Key, Arc<Vec<u8>>>>,
    shapes: Mutex<HashMap<[usize; 2], SharedShape>>,
    first: Mutex<Option<Arc<First>>>,
    skins: Skins,
}

/// What changes while a run is written.
#[derive(Debug)]
struct Now {
    /// Grows with every change.
    version: u64,
    /// Grows when frames that were there are gone: a run was replaced or taken back.
    epoch: u64,
    /// Frame in the making and how much of it is done [-].
    progress: Option<(u32, f64)>,
    told: Instant,
    closed: bool,
    /// Size and time of the first frame's file.
    stamp: Option<(u64, SystemTime)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Frame(u32),
    Field(u32, String),
}

/// The run's first frame, which later ones are compared with.
#[derive(Debug)]
struct First {
    frame: Arc<Frame>,
    anchor: Anchor,
}

/// An array kept so that its address stays its own.
type Pin = Arc<dyn Any + Send + Sync>;
/// An encoded shape with the arrays it was made from.
type SharedShape = (Vec<Pin>, Arc<Geometry>);

impl Source {
    /// The run in `dir`, which need not exist yet.
    pub(crate) fn new(dir: &Path) -> Self {
        let now =
            Now { version: 1, epoch: 0, progress: None, told: Instant::now(), closed: false, stamp: None };
        let source = Self {
            dir: dir.to_path_buf(),
            reader: RwLock::new(None),
            now: Mutex::new(now),
            changed: Condvar::new(),
            index: Mutex::default(),
            decoded: Mutex::new(Lru::new(DECODED_FRAMES)),
            encoded: Mutex::new(Lru::new(ENCODED_BYTES)),
            shapes: Mutex::default(),
            first: Mutex::default(),
            skins: Skins::default(),
        };
        source.refresh();
        source
    }

    /// Looks for new frames; wakes whoever waits if anything changed.
    pub(crate) fn refresh(&self) {
        let mut reader = self.reader.write().unwrap_or_else(PoisonError::into_inner);
        let before: Vec<u32> = reader.as_ref().map(|r| r.frames().to_vec()).unwrap_or_default();
        let changed = match reader.as_mut().map(Reader::refresh) {
            Some(Ok(changed)) => changed,
            Some(Err(_)) => {
                // The run is being replaced or was removed.
                *reader = None;
                true
            }
            None => {
                *reader = Reader::open(&self.dir).ok();
                reader.is_some()
            }
        };
        let after = reader.as_ref().map(Reader::frames).unwrap_or_default();
        // A run that was replaced may have as many frames again by now; its first one is another file.
        let stamp = after.first().and_then(|index| stamp(&self.dir, *index));
        let replaced = before.first() == after.first() && stamp != lock(&self.now).stamp;
        let lost = !before.is_empty()
            && (replaced || before.iter().any(|index| after.binary_search(index).is_err()));
        lock(&self.now).stamp = stamp;
        if lost {
            // Whoever describes the run waits for the reader, and so sees the new epoch with nothing of the old one.
            *reader = Reader::open(&self.dir).ok();
            lock(&self.now).epoch += 1;
            self.forget();
        }
        drop(reader);
        if changed || lost {
            self.announce();
        }
    }

    /// Drops everything made from frames that no longer stand.
    fn forget(&self) {
        *lock(&self.index) = Index::default();
        lock(&self.decoded).clear();
        lock(&self.encoded).clear();
        lock(&self.shapes).clear();
        *lock(&self.first) = None;
        self.skins.clear();
    }

    fn announce(&self) {
        let mut now = lock(&self.now);
        now.version += 1;
        now.told = Instant::now();
        self.changed.notify_all();
    }

    /// Tells how far the frame in the making has come.
    pub(crate) fn report_progress(&self, frame: u32, fraction: f64) {
        let mut now = lock(&self.now);
        let new_frame = now.progress.is_none_or(|(known, _)| known != frame);
        now.progress = Some((frame, fraction));
        if new_frame || now.told.elapsed() > PROGRESS_EVERY {
            now.version += 1;
            now.told = Instant::now();
            self.changed.notify_all();
        }
    }

    /// Ends all waiting.
    pub(crate) fn close(&self) {
        lock(&self.now).closed = true;
        self.changed.notify_all();
    }

    /// Waits until the run differs from `version`, at most for `time`, and describes it.
    pub(crate) fn watch(&self, version: u64, time: Duration) -> Value {
        let now = lock(&self.now);
        let same = |now: &mut Now| now.version == version && !now.closed;
        drop(self.changed.wait_timeout_while(now, time, same).unwrap_or_else(PoisonError::into_inner));
        self.describe()
    }

    /// The run as the page needs to know it.
    pub(crate) fn describe(&self) -> Value {
        let reader = self.open();
        let (version, epoch, progress) = {
            let now = lock(&self.now);
            (now.version, now.epoch, now.progress)
        };
        let Some(reader) = reader.as_ref() else {
            return json!({ "version": version, "epoch": epoch, "status": "waiting", "frames": [] });
        };
        let manifest = reader.manifest();
        json!({
            "version": version,
            "epoch": epoch,
            "name": self.dir.file_name().map(|n| n.to_string_lossy()),
            "title": manifest.title,
            "program": manifest.program,
            "fps": manifest.fps,
            "first": manifest.first_frame,
            "last": manifest.last_frame,
            "up": manifest.up_axis,
            "status": reader.status(),
            "message": manifest.message,
            "frames": ranges(reader.frames()),
            "progress": progress.map(|(frame, fraction)| json!({ "frame": frame, "fraction": fraction })),
            "look": manifest.driver.get("look"),
            "indexed": lock(&self.index).len(),
        })
    }

    /// Whether another process or thread is writing the run now.
    pub(crate) fn is_growing(&self) -> bool {
        self.open().as_ref().is_none_or(|r| r.status() == billow_io::cache::Status::Running)
    }

    /// Statistics, bounds and extremes, with the rows after the first `after`.
    pub(crate) fn table(&self, after: usize) -> Value {
        let mut value = lock(&self.index).json(after);
        value["epoch"] = lock(&self.now).epoch.into();
        value
    }

    /// Looks at the next frame that the index does not hold; false if it holds them all.
    pub(crate) fn index_next(&self) -> bool {
        let (known, epoch) = (lock(&self.index).len(), self.epoch());
        let next = self.open().as_ref().and_then(|r| r.frames().get(known).copied());
        let Some(next) = next else { return false };
        let found = self.read(next);
        {
            let mut index = lock(&self.index);
            // The run may have been replaced while the frame was read.
            if index.len() != known || self.epoch() != epoch {
                return true;
            }
            match found {
                Ok(frame) => index.add(&frame),
                Err(Missing::NotFound(what) | Missing::Damaged(what)) => index.add_damaged(next, what),
            }
        }
        let done = self.open().as_ref().is_none_or(|r| r.frames().len() == known + 1);
        if done || lock(&self.now).told.elapsed() > PROGRESS_EVERY {
            self.announce();
        }
        true
    }

    /// The catalogue of a frame: names and fields of its objects, as JSON.
    pub(crate) fn catalogue(&self, index: u32) -> Result<Vec<u8>, Missing> {
        Ok(wire::catalogue(&*self.read(index)?).0)
    }

    /// A frame as it is sent.
    pub(crate) fn frame(&self, index: u32) -> Result<Arc<Vec<u8>>, Missing> {
        if let Some(bytes) = lock(&self.encoded).get(&Key::Frame(index)) {
            return Ok(bytes);
        }
        let epoch = self.epoch();
        let frame = self.read(index)?;
        let first = self.first()?;
        let geometry = self.geometry(&frame);
        let size: usize =
            geometry.iter().map(|g| g.vertex_array.bytes.len() + g.index_array.bytes.len()).sum();
        if size > LARGEST {
            let what = format!("frame {index} takes {size} bytes; a page can hold {LARGEST}");
            return Err(Missing::Damaged(what));
        }
        let bytes = Arc::new(wire::frame(&frame, &geometry, &first.anchor));
        self.keep(epoch, Key::Frame(index), &bytes);
        Ok(bytes)
    }

    /// An array that a frame names without bringing it.
    pub(crate) fn part(&self, index: u32, object: usize, indices: bool) -> Result<Arc<Vec<u8>>, Missing> {
        let frame = self.read(index)?;
        let found = frame.objects.get(object);
        let object =
            found.ok_or_else(|| Missing::NotFound(format!("frame {index} has no object {object}")))?;
        let geometry = self.shape(object);
        let array = if indices { &geometry.index_array } else { &geometry.vertex_array };
        Ok(Arc::new(array.bytes.clone()))
    }

    /// A field of a frame as it is sent.
    pub(crate) fn field(&self, index: u32, name: &str) -> Result<Arc<Vec<u8>>, Missing> {
        let key = Key::Field(index, name.to_string());
        if let Some(bytes) = lock(&self.encoded).get(&key) {
            return Ok(bytes);
        }
        let epoch = self.epoch();
        let frame = self.read(index)?;
        let (mut first, mut before) = (None, None);
        if wire::is_derived(name) {
            first = Some(self.first()?);
            let previous = self.open().as_ref().and_then(|r| {
                let at = r.frames().binary_search(&index).ok()?;
                r.frames().get(at.checked_sub(1)?).copied()
            });
            before = previous.map(|index| self.read(index)).transpose()?;
        }
        let others = wire::Others { first: first.as_ref().map(|f| &*f.frame), before: before.as_deref() };
        let bytes = Arc::new(wire::field(name, &frame, others, &self.skins));
        self.keep(epoch, key, &bytes);
        Ok(bytes)
    }

    fn epoch(&self) -> u64 {
        lock(&self.now).epoch
    }

    /// Keeps an encoded message unless the run it was made from is gone.
    fn keep(&self, epoch: u64, key: Key, bytes: &Arc<Vec<u8>>) {
        let mut encoded = lock(&self.encoded);
        if self.epoch() == epoch {
            encoded.put(key, Arc::clone(bytes), bytes.len());
        }
    }

    fn open(&self) -> RwLockReadGuard<'_, Option<Reader>> {
        self.reader.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a frame that is known to be there.
    fn read(&self, index: u32) -> Result<Arc<Frame>, Missing> {
        if let Some(frame) = lock(&self.decoded).get(&index) {
            return Ok(frame);
        }
        let epoch = self.epoch();
        let reader = self.open();
        let absent = || Missing::NotFound(format!("the run has no frame {index}"));
        let reader = reader.as_ref().ok_or_else(absent)?;
        reader.frames().binary_search(&index).map_err(|_| absent())?;
        let frame = Arc::new(reader.read(index).map_err(|error| Missing::Damaged(error.to_string()))?);
        let mut decoded = lock(&self.decoded);
        if self.epoch() == epoch {
            decoded.put(index, Arc::clone(&frame), 1);
        }
        Ok(frame)
    }

    fn first(&self) -> Result<Arc<First>, Missing> {
        if let Some(first) = &*lock(&self.first) {
            return Ok(Arc::clone(first));
        }
        let epoch = self.epoch();
        let index = self.open().as_ref().and_then(|r| r.frames().first().copied());
        let frame = self.read(index.ok_or_else(|| Missing::NotFound("the run has no frames yet".into()))?)?;
        let anchor = Anchor::of(&frame, &self.geometry(&frame));
        let made = Arc::new(First { frame, anchor });
        let mut first = lock(&self.first);
        if self.epoch() == epoch {
            *first = Some(Arc::clone(&made));
        }
        Ok(made)
    }

    fn geometry(&self, frame: &Frame) -> Vec<Arc<Geometry>> {
        frame.objects.iter().map(|object| self.shape(object)).collect()
    }

    /// The encoded shape of an object; shapes that frames have in common are encoded once.
    fn shape(&self, object: &Object) -> Arc<Geometry> {
        let Some((key, pins)) = shared_arrays(&object.shape) else {
            return Arc::new(wire::geometry(object, &self.skins));
        };
        if let Some((_, geometry)) = lock(&self.shapes).get(&key) {
            return Arc::clone(geometry);
        }
        let geometry = Arc::new(wire::geometry(object, &self.skins));
        let mut shapes = lock(&self.shapes);
        if shapes.len() >= SHARED_SHAPES {
            shapes.clear();
        }
        shapes.insert(key, (pins, Arc::clone(&geometry)));
        geometry
    }
}

/// Addresses and owners of a shape's arrays if the reader shares them between frames.
fn shared_arrays(shape: &Shape) -> Option<([usize; 2], Vec<Pin>)> {
    fn pin<T: Send + Sync + 'static>(array: &Arc<Vec<T>>) -> (usize, Pin) {
        (Arc::as_ptr(array) as usize, Arc::clone(array) as Pin)
    }
    let shared = |positions: &Arc<Vec<Vec3>>| Arc::strong_count(positions) > 1;
    let pins = match shape {
        Shape::Triangles { positions, triangles } if shared(positions) => [pin(positions), pin(triangles)],
        Shape::Tets { positions, tets } if shared(positions) => [pin(positions), pin(tets)],
        Shape::Lines { positions, segments } if shared(positions) => [pin(positions), pin(segments)],
        Shape::Points { positions } if shared(positions) => [pin(positions), pin(positions)],
        _ => return None,
    };
    Some((pins.each_ref().map(|(at, _)| *at), pins.into_iter().map(|(_, owner)| owner).collect()))
}

/// Size and time of a frame's file, as the cache lays it out.
fn stamp(dir: &Path, index: u32) -> Option<(u64, SystemTime)> {
    let about = dir.join("frames").join(format!("{index:06}.frame")).metadata().ok()?;
    Some((about.len(), about.modified().ok()?))
}

/// Frame numbers as runs of consecutive ones: `[[first, last], …]`.
fn ranges(frames: &[u32]) -> Vec<[u32; 2]> {
    let mut found: Vec<[u32; 2]> = Vec::new();
    for &index in frames {
        match found.last_mut() {
            Some([_, last]) if *last + 1 == index => *last = index,
            _ => found.push([index, index]),
        }
    }
    found
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_numbers_are_told_as_ranges() {
        assert_eq!(ranges(&[]), Vec::<[u32; 2]>::new());
        assert_eq!(ranges(&[0, 1, 2, 5, 7, 8]), [[0, 2], [5, 5], [7, 8]]);
    }
}
