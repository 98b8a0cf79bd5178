//! Where things are in a run's directory.

use crate::error::{Error, Result};
use std::path::{Path, PathBuf};

pub(crate) const FRAMES: &str = "frames";
pub(crate) const SHARED: &str = "shared";
pub(crate) const CHECKPOINT: &str = "checkpoint";
pub(crate) const REPORT: &str = "report.jsonl";
pub(crate) const LOCK: &str = "billow.lock";

const FRAME_ENDING: &str = "frame";
const CHECKPOINT_ENDING: &str = "state";
const ARRAY_ENDING: &str = "array";

pub(crate) fn frame(dir: &Path, index: u32) -> PathBuf {
    dir.join(FRAMES).join(format!("{index:06}.{FRAME_ENDING}"))
}

pub(crate) fn checkpoint(dir: &Path, index: u32) -> PathBuf {
    dir.join(CHECKPOINT).join(format!("{index:06}.{CHECKPOINT_ENDING}"))
}

pub(crate) fn shared(dir: &Path, hash: u128) -> PathBuf {
    dir.join(SHARED).join(format!("{hash:032x}.{ARRAY_ENDING}"))
}

/// Numbers of the complete frames, in order.
pub(crate) fn frames(dir: &Path) -> Result<Vec<u32>> {
    numbered(&dir.join(FRAMES), FRAME_ENDING)
}

/// Numbers of the complete checkpoints, in order.
pub(crate) fn checkpoints(dir: &Path) -> Result<Vec<u32>> {
    numbered(&dir.join(CHECKPOINT), CHECKPOINT_ENDING)
}

/// Content hashes of the complete shared arrays, in order.
pub(crate) fn arrays(dir: &Path) -> Result<Vec<u128>> {
    let dir = dir.join(SHARED);
    let hashes = stems(&dir, ARRAY_ENDING)?.into_iter().filter_map(|stem| {
        let hash = u128::from_str_radix(&stem, 16).ok()?;
        (format!("{hash:032x}") == stem).then_some(hash)
    });
    let mut hashes: Vec<u128> = hashes.collect();
    hashes.sort_unstable();
    Ok(hashes)
}

fn numbered(dir: &Path, ending: &str) -> Result<Vec<u32>> {
    // Only names this crate writes count, so that a copy such as "000012 (1).frame" is no frame.
    let numbers = stems(dir, ending)?.into_iter().filter_map(|stem| {
        let index: u32 = stem.parse().ok()?;
        (format!("{index:06}") == stem).then_some(index)
    });
    let mut numbers: Vec<u32> = numbers.collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// Names in `dir` with the given ending, without it. A directory that is not there yet has none.
fn stems(dir: &Path, ending: &str) -> Result<Vec<String>> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("list", dir)(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let name = entry.map_err(Error::io("list", dir))?.file_name();
        if let Some((stem, end)) = name.to_str().and_then(|n| n.rsplit_once('.'))
            && end == ending
        {
            found.push(stem.to_owned());
        }
    }
    Ok(found)
}
