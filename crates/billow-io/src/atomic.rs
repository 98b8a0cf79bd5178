//! Files that appear whole or not at all.
//!
//! [`write`] stores the bytes in a temporary file beside the target, forces them to the disk, renames, and forces
//! the directory entry. A reader sees the old file, no file, or the complete new one, whatever moment the process
//! or the machine stops.

use crate::error::{Error, Result};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Ending of temporary files; whoever holds the run's lock may delete them.
pub(crate) const TEMP_ENDING: &str = ".tmp";

/// Stores `bytes` under `path`, replacing what was there in one step.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let temp = temp_path(path);
    let stored = store(&temp, bytes).and_then(|()| {
        fault::check(0)?;
        fs::rename(&temp, path)
    });
    if let Err(error) = stored {
        fault::unless_crashed(|| {
            // The write has failed already; a temporary file that cannot be removed is cleaned at the next resume.
            let _ = fs::remove_file(&temp);
        });
        return Err(Error::writing(path, bytes.len() as u64)(error));
    }
    sync_dir(parent(path))
}

/// A file written piece by piece that appears under its name when it is complete. Dropping it before
/// [`AtomicFile::commit`] leaves no trace.
#[derive(Debug)]
pub struct AtomicFile {
    file: Option<BufWriter<File>>,
    path: PathBuf,
    temp: PathBuf,
    written: u64,
}

impl AtomicFile {
    /// Starts the file that will be called `path`.
    ///
    /// # Errors
    /// If its directory does not allow that.
    pub fn create(path: &Path) -> Result<Self> {
        let temp = temp_path(path);
        let file = File::create(&temp).map_err(Error::io("create", &temp))?;
        let file = Some(BufWriter::with_capacity(1 << 18, file));
        Ok(Self { file, path: path.to_path_buf(), temp, written: 0 })
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let file = self.file.as_mut().expect("the file is open until commit");
        file.write_all(bytes).map_err(Error::writing(&self.path, self.written + bytes.len() as u64))?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// Bytes appended so far.
    pub fn len(&self) -> u64 {
        self.written
    }

    /// Whether nothing was appended yet.
    pub fn is_empty(&self) -> bool {
        self.written == 0
    }

    /// Overwrites bytes near the start, for headers that are known last.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn patch(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        let file = self.file.as_mut().expect("the file is open until commit");
        let patched = file
            .seek(SeekFrom::Start(offset))
            .and_then(|_| file.write_all(bytes))
            .and_then(|()| file.seek(SeekFrom::End(0)));
        patched.map(drop).map_err(Error::writing(&self.path, self.written))
    }

    /// Completes the file; returns its size.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn commit(mut self) -> Result<u64> {
        let mut file = self.file.take().expect("the file is open until commit");
        let stored = file.flush().and_then(|()| file.get_ref().sync_all());
        drop(file);
        let stored = stored.and_then(|()| fs::rename(&self.temp, &self.path));
        if let Err(error) = stored {
            // The write has failed already; a temporary file that cannot be removed does no harm.
            let _ = fs::remove_file(&self.temp);
            return Err(Error::writing(&self.path, self.written)(error));
        }
        sync_dir(parent(&self.path))?;
        Ok(self.written)
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            // Nobody is left to report to; a temporary file that cannot be removed does no harm.
            let _ = fs::remove_file(&self.temp);
        }
    }
}

/// Makes the entries of a directory survive a power failure.
pub(crate) fn sync_dir(dir: &Path) -> Result<()> {
    // Directories cannot be opened as files everywhere; where they cannot, the rename itself is all there is.
    #[cfg(unix)]
    File::open(dir).and_then(|d| d.sync_all()).map_err(Error::io("flush directory", dir))?;
    let _ = dir;
    Ok(())
}

/// Deletes the temporary files an interrupted [`write`] left in `dir`; returns how many there were.
pub(crate) fn remove_stale_temps(dir: &Path) -> Result<usize> {
    let mut removed = 0;
    for entry in fs::read_dir(dir).map_err(Error::io("list", dir))? {
        let entry = entry.map_err(Error::io("list", dir))?;
        if is_temp(&entry.file_name()) {
            fs::remove_file(entry.path()).map_err(Error::io("remove", &entry.path()))?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Whether a file name is one that [`write`] gives to its temporary files.
pub(crate) fn is_temp(name: &OsStr) -> bool {
    name.to_str().is_some_and(|n| n.starts_with('.') && n.ends_with(TEMP_ENDING))
}

fn temp_path(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(TEMP_ENDING);
    path.with_file_name(name)
}

fn store(temp: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(temp)?;
    for chunk in bytes.chunks(fault::CHUNK) {
        fault::check(chunk.len())?;
        file.write_all(chunk)?;
    }
    file.sync_all()
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir,
        _ => Path::new("."),
    }
}

/// Failures on demand, so that tests can stop a write at any byte. Compiles to nothing outside tests.
#[cfg(not(test))]
mod fault {
    pub(super) const CHUNK: usize = usize::MAX;
    pub(super) fn check(_bytes: usize) -> std::io::Result<()> {
        Ok(())
    }
    pub(super) fn unless_crashed(f: impl FnOnce()) {
        f();
    }
}

#[cfg(test)]
pub(crate) mod fault {
    use std::cell::Cell;
    use std::io;

    /// Small pieces, so that a write can stop in its middle.
    pub(super) const CHUNK: usize = 64;

    /// What happens when the budget is used up.
    #[derive(Clone, Copy, PartialEq)]
    pub(crate) enum Fault {
        /// The device reports that it is full; the program goes on and cleans up.
        DiskFull,
        /// The process dies: nothing is cleaned up.
        Crash,
    }

    thread_local!(static PLAN: Cell<Option<(u64, Fault)>> = const { Cell::new(None) });

    /// Lets `budget` pieces through on this thread, then fails every further one; `None` ends it.
    pub(crate) fn plan(plan: Option<(u64, Fault)>) {
        PLAN.set(plan);
    }

    pub(super) fn check(_bytes: usize) -> io::Result<()> {
        match PLAN.get() {
            None => Ok(()),
            Some((0, _)) => Err(io::Error::from(io::ErrorKind::StorageFull)),
            Some((left, fault)) => {
                PLAN.set(Some((left - 1, fault)));
                Ok(())
            }
        }
    }

    pub(super) fn unless_crashed(f: impl FnOnce()) {
        if !matches!(PLAN.get(), Some((_, Fault::Crash))) {
            f();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_keeps_the_old_file_and_leaves_no_temporary() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        write(&path, &[1; 1000]).unwrap();
        for budget in 0..8 {
            fault::plan(Some((budget, fault::Fault::DiskFull)));
            let error = write(&path, &[2; 500]).unwrap_err();
            fault::plan(None);
            assert!(matches!(error, Error::DiskFull { size: 500, .. }), "{error}");
            assert_eq!(fs::read(&path).unwrap(), [1; 1000]);
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        }
        write(&path, &[2; 500]).unwrap();
        assert_eq!(fs::read(&path).unwrap(), [2; 500]);
    }

    #[test]
    fn a_crash_leaves_a_temporary_that_cleaning_removes() {
        let dir = tempfile::tempdir().unwrap();
        fault::plan(Some((2, fault::Fault::Crash)));
        write(&dir.path().join("a"), &[2; 500]).unwrap_err();
        fault::plan(None);
        assert_eq!(remove_stale_temps(dir.path()).unwrap(), 1);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_that_is_really_full_is_reported_with_path_and_size() {
        let error = store(Path::new("/dev/full"), &[0; 100]).map_err(Error::writing(Path::new("x"), 100));
        assert!(matches!(error.unwrap_err(), Error::DiskFull { size: 100, .. }));
    }
}
