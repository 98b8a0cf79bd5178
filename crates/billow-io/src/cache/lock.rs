//! One writer per run.
//!
//! The lock is the operating system's advisory lock on `billow.lock`. It ends with the process that took it,
//! however that ends, so a lock file left by a killed run never stands in the way.

use super::layout;
use crate::error::{Error, Result};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

/// Held while a run is being written.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

/// Readers look at the lock for an instant; a writer that meets one tries again.
const ATTEMPTS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(20);

impl Lock {
    /// Takes the lock of the run in `dir`, which must exist.
    pub(crate) fn take(dir: &Path) -> Result<Self> {
        let path = dir.join(layout::LOCK);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(Error::io("open", &path))?;
        for attempt in 1..=ATTEMPTS {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if attempt < ATTEMPTS => std::thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::Locked { path: dir.to_path_buf(), owner: owner(&mut file) });
                }
                Err(TryLockError::Error(error)) => return Err(Error::io("lock", &path)(error)),
            }
        }
        // The number is only for the message another writer prints: no harm if the disk is too full for it.
        let _ = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        Ok(Self { _file: file })
    }

    /// Whether some process holds the lock at this moment.
    pub(crate) fn is_held(dir: &Path) -> bool {
        File::open(dir.join(layout::LOCK))
            .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}

fn owner(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(16).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
